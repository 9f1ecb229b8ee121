"""Warnings of document ids that do not match, and silence where they do."""

import random
import re
import tomllib
import warnings
from pathlib import Path

import pytest

from beir_eval import BeirEvalWarning, Run, evaluate
from beir_eval.errors import QueryMismatchError

#: {cause: why ids do not match}.
REASONS = tomllib.loads((Path(__file__).parent / "facts.toml").read_text())["reasons"]
QUERIES = [f"q{number}" for number in range(60)]
_RANDOM = random.Random(0)
NUMBERS = [str(number) for number in _RANDOM.sample(range(1000, 900_000), 600)]
CORPORA = {
    "numbers": NUMBERS,
    "letters": [f"Doc{number}x" for number in NUMBERS],
    "padded": [number.zfill(8) for number in NUMBERS],
    "prefixed": [f"MED-{number}" for number in NUMBERS],
}


def example(corpus, *, hit_share=0.6, k=10):
    """Return qrels with one judged document per query, and a run that finds some of them."""
    generator = random.Random(1)
    qrels, run = {}, {}
    for query in QUERIES:
        judged, *retrieved = generator.sample(corpus, k + 1)
        if generator.random() < hit_share:
            retrieved[0] = judged
        qrels[query] = {judged: 1}
        run[query] = {doc_id: float(k - rank) for rank, doc_id in enumerate(retrieved)}
    return qrels, run


def respelled(run, change):
    """Return the run with changed document ids."""
    return {
        query: {change(doc): score for doc, score in docs.items()} for query, docs in run.items()
    }


@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize(("hit_share", "k"), [(0.6, 10), (0.1, 10), (0.05, 1), (0.0, 20)])
def test_a_weak_retriever_with_the_right_ids_gets_no_warning(corpus, hit_share, k):
    qrels, run = example(CORPORA[corpus], hit_share=hit_share, k=k)
    if hit_share or k > 1:
        assert evaluate(qrels, run, "nDCG@10").warnings() == []


ROW_OF = {doc_id: str(row) for ids in CORPORA.values() for row, doc_id in enumerate(ids)}


@pytest.mark.parametrize(
    ("corpus", "change", "cause"),
    [
        ("numbers", "msmarco_{}".format, "prefix"),
        ("numbers", "{}.txt".format, "suffix"),
        ("numbers", lambda doc: f"{doc}#{int(doc) % 7}", "chunks"),
        ("prefixed", lambda doc: doc[4:], "prefix-of-qrels"),
        ("prefixed", lambda doc: f"doc_{doc[4:]}", "two-prefixes"),
        ("letters", str.upper, "case"),
        ("padded", lambda doc: doc.lstrip("0"), "zeros"),
        ("numbers", lambda doc: doc.zfill(9), "zeros"),
        ("numbers", lambda doc: f"{int(doc):,}", "separators"),
        ("letters", "http://{}".format, "addresses"),
        ("letters", "\ufeff{}".format, "encoding"),
        *((corpus, ROW_OF.get, "rows") for corpus in CORPORA),
        ("letters", lambda doc: doc[::-1], "unknown"),
    ],
)
@pytest.mark.parametrize("hit_share", [0.6, 0.1])
def test_changed_document_ids_are_a_warning_with_ids_of_both_sides_and_the_reason(
    corpus, change, cause, hit_share
):
    qrels, run = example(CORPORA[corpus], hit_share=hit_share)
    with pytest.warns(BeirEvalWarning, match="bad: document ids do not match") as caught:
        result = evaluate(qrels, respelled(run, change), "nDCG@10", name="bad")
    assert caught[0].filename == __file__
    [warning] = result.warnings()
    fact = "document ids do not match: none of the 600 retrieved documents of 60 judged queries is"
    assert warning.startswith(f"check first: {fact} judged (")
    reason = REASONS[cause]
    words = f"). Likely reason: {reason}. Use the same data set" if reason else "). Use the same"
    assert words in warning
    [of_qrels, of_run] = re.findall(r"have '([^']*)'|has '([^']*)'", warning)
    assert of_qrels[0] in {doc_id for judged in qrels.values() for doc_id in judged}
    assert of_run[1] in {
        repr(change(doc_id)).strip("'") for docs in run.values() for doc_id in docs
    }
    assert result.notes()[0] == warning


@pytest.mark.parametrize("number", [1, 2])
def test_the_retrieved_documents_that_are_judged_are_counted(number):
    qrels, run = example(NUMBERS)
    matching = [query for query in QUERIES if not run[query].keys().isdisjoint(qrels[query])]
    other = respelled(run, "doc_{}".format) | {query: run[query] for query in matching[:number]}
    fact = f"only {number} of the 600 retrieved documents of 60 judged queries (is|are) judged"
    with pytest.warns(BeirEvalWarning, match=fact):
        evaluate(qrels, other, "nDCG@10")


def test_row_numbers_of_arrays_without_doc_ids_are_recognised():
    import numpy as np  # noqa: PLC0415

    ids = np.array([[5, 3], [1, 2], [0, 4], [2, 3], [1, 5], [4, 0]])
    qrels = {f"q{row}": {NUMBERS[row]: 1, NUMBERS[row + 6]: 1} for row in range(6)}
    run = Run.from_arrays(ids, None, query_ids=list(qrels))
    with pytest.warns(BeirEvalWarning):
        result = evaluate(qrels, run, "nDCG@10")
    assert result.counted.findings[0].code == "document-ids-do-not-match"


def test_swapped_columns_are_named():
    qrels, run = example(CORPORA["numbers"])
    swapped = {}
    for query, docs in run.items():
        for doc_id, score in docs.items():
            swapped.setdefault(doc_id, {})[query] = score
    with pytest.raises(QueryMismatchError, match="columns of queries and documents are swapped"):
        evaluate(qrels, swapped, "nDCG@10")
    swapped["q0"], swapped["q1"] = {"q1": 1.0}, {"q0": 1.0, "q2": 0.5}
    with pytest.warns(BeirEvalWarning, match="columns of queries and documents are swapped"):
        evaluate(qrels, swapped, "nDCG@10")


def test_changed_query_ids_are_an_error_with_the_reason():
    qrels, run = example(CORPORA["numbers"])
    with pytest.raises(QueryMismatchError, match="begin with 'test-', those of the qrels do not"):
        evaluate(qrels, {f"test-{query}": docs for query, docs in run.items()}, "nDCG@10")
    with pytest.raises(QueryMismatchError, match="ids differ in upper and lower case only"):
        evaluate(qrels, {query.upper(): docs for query, docs in run.items()}, "nDCG@10")


def test_fewer_than_six_queries_without_a_known_reason_get_no_warning():
    qrels = {query: {"a": 1} for query in QUERIES[:5]}
    assert evaluate(qrels, {query: {"b": 1.0} for query in qrels}, "MRR").warnings() == []


def test_missing_queries_are_a_warning_with_both_means_and_no_python_warning():
    qrels, run = example(CORPORA["numbers"])
    half = {query: run[query] for query in QUERIES[:30]}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = evaluate(qrels, half, "nDCG@10")
    [warning] = result.warnings()
    over_all, over_half = result.mean_over("judged"), result.mean_over("retrieved")
    means = f"is {over_all['nDCG@10']:.4f}, and {over_half['nDCG@10']:.4f} over the other 30"
    missing = f"30 of 60 judged queries are missing, e.g. {QUERIES[30]!r}, and count as 0"
    assert warning == f"{missing}: nDCG@10 {means}"
    left_out = evaluate(qrels, half, ["MRR", "nDCG@10"], missing="skip").warnings()[0]
    means = f"is {over_half['nDCG@10']:.4f}, and {over_all['nDCG@10']:.4f} with them as 0"
    assert left_out.endswith(f"and are left out: nDCG@10 {means}")
    assert result.notes()[0] == warning
