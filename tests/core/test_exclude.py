"""Documents that are excluded for a query leave its ranking before ranks are counted."""

import gzip
import json
import math
import warnings

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import (
    BeirEvalWarning,
    Evaluator,
    Qrels,
    Run,
    compare,
    compare_runs,
    evaluate,
    evaluate_stages,
    load_dataset,
    read_qrels,
    read_run,
)
from beir_eval.errors import FileFormatError, QrelsError, ResultError
from data_sets import write_dataset

#: As in BRIGHT: the answer is below two documents that are excluded for the query.
QRELS = {"q1": {"answer": 1}, "q2": {"a": 1, "b": 1}}
RUN = {
    "q1": {"near": 0.9, "other": 0.8, "copy": 0.7, "answer": 0.6},
    "q2": {"x": 0.9, "a": 0.8, "near": 0.7, "b": 0.6},
}
EXCLUDE = {"q1": ["near", "copy"], "q3": ["answer"]}


def test_the_answer_moves_up_past_excluded_documents():
    before = evaluate(QRELS, RUN, ["MRR", "nDCG@10"])
    after = evaluate(QRELS, RUN, ["MRR", "nDCG@10"], exclude=EXCLUDE)
    assert before.scores("MRR").tolist() == [1 / 4, 1 / 2]
    assert after.scores("MRR").tolist() == [1 / 2, 1 / 2]
    assert after.scores("nDCG@10")[0] == 1 / math.log2(3)
    # "near" is excluded for q1 only: q2 ranks as before
    assert after.scores("nDCG@10")[1] == before.scores("nDCG@10")[1]


def test_the_number_of_relevant_documents_stays():
    with pytest.warns(BeirEvalWarning, match="1 relevant document is excluded for the query"):
        result = evaluate(QRELS, RUN, ["Recall@10", "num_rel"], exclude={"q2": ["a"]})
    assert result.scores("Recall@10").tolist() == [1, 1 / 2]
    assert result["num_rel"] == 1 + 2


def test_relevant_and_excluded_documents_are_counted_by_hand_and_named():
    exclude = {"q1": ["answer", "near"], "q2": ["b", "x"]}
    with pytest.warns(BeirEvalWarning):
        result = evaluate(QRELS, RUN, "MRR", exclude=exclude)
    [finding] = result.counted.findings
    assert finding.code == "relevant-and-excluded"
    # answer of q1 and b of q2, of 3 relevant documents
    assert (finding.count, finding.total) == (2, 3)
    assert finding.examples == ("'q1' 'answer'", "'q2' 'b'")


def test_the_count_is_said_and_saved():
    result = evaluate(QRELS, RUN, "MRR", exclude={"q1": ["near", "copy"], "q2": ["x", "none"]})
    assert result.counted.excluded == (3, 2)
    assert "3 excluded documents left out of 2 rankings" in str(result)
    assert type(result).model_validate_json(result.model_dump_json()).counted == result.counted
    nothing = evaluate(QRELS, RUN, "MRR", exclude={"q1": ["none"]})
    assert "no ranking holds a document that is excluded for its query" in str(nothing)
    assert evaluate(QRELS, RUN, "MRR").counted.excluded is None


def test_the_hash_of_the_list_is_recorded_and_of_the_list_alone():
    def provenance(exclude):
        return evaluate(QRELS, RUN, "MRR", exclude=exclude, fingerprint=True).provenance

    listed = provenance(EXCLUDE)
    assert listed.excluded_sha256 == provenance({"q1": {"copy", "near"}}).excluded_sha256
    assert listed.excluded_sha256 != provenance({"q1": ["near"]}).excluded_sha256
    without = provenance(None)
    assert without.excluded_sha256 is None
    assert without == evaluate(QRELS, RUN, "MRR", fingerprint=True).provenance
    assert (
        len({listed.qrels_hash, without.qrels_hash, provenance({"q1": ["near"]}).qrels_hash}) == 3
    )
    assert listed.qrels_sha256 != without.qrels_sha256


def test_every_kind_of_run_and_part_of_a_run_gives_the_same_scores(tmp_path):
    measures = ["MRR", "nDCG@3", "MAP", "Recall@2"]
    expected = evaluate(QRELS, RUN, measures, exclude=EXCLUDE).values
    rows = [(q, d, s) for q, ranking in RUN.items() for d, s in ranking.items()]
    path = tmp_path / "run.trec"
    path.write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, d, s in rows))
    runs = [
        Run.from_columns(*zip(*rows, strict=True)),
        Run.from_rankings({q: list(ranking) for q, ranking in RUN.items()}),
        Run.from_arrays(
            [list(ranking) for ranking in RUN.values()],
            np.array([list(ranking.values()) for ranking in RUN.values()]),
            query_ids=list(RUN),
        ),
        read_run(path),
        read_run(path, parts=True),
    ]
    for run in runs:
        assert evaluate(QRELS, run, measures, exclude=EXCLUDE).values == expected


IDS = st.sampled_from("abcdefgh")


@given(
    st.dictionaries(IDS, st.integers(0, 4), min_size=1),
    st.dictionaries(IDS, st.integers(0, 2), min_size=1),
    st.sets(IDS),
    st.sampled_from(["trec_eval9", "trec_eval10", "input", "best", "worst"]),
)
def test_exclusion_equals_a_run_without_the_documents(ranking, grades, excluded, ties):
    measures = ["nDCG@3", "MAP", "Recall@2", "bpref", "Precision@5"]
    shorter = {doc: score for doc, score in ranking.items() if doc not in excluded}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = evaluate({"q": grades}, {"q": ranking}, measures, ties=ties, exclude={"q": excluded})
        by_hand = evaluate({"q": grades}, {"q": shorter}, measures, ties=ties)
    assert ours.values == by_hand.values
    assert ours.counted.excluded in {
        (len(ranking) - len(shorter), len(shorter) < len(ranking)),
        None,
    }


def test_copies_and_the_query_itself_are_excluded_too():
    rows = [("q", "q", 5), ("q", "b", 4), ("q", "b", 3), ("q", "a", 2)]
    run = Run.from_columns(*zip(*rows, strict=True))
    result = evaluate(
        {"q": {"a": 1}},
        run,
        "MRR",
        duplicates="first",
        drop_identical_ids=True,
        exclude={"q": ["b", "q"]},
    )
    assert result["MRR"] == 1
    assert (result.counted.excluded, result.counted.identical_ids) == ((3, 1), 1)


def test_a_comparison_leaves_them_out_of_every_system_and_says_so():
    qrels = {f"q{n}": {"a": 1} for n in range(8)}
    runs = {
        "A": {q: {"a": 2.0, "x": 1.0} for q in qrels},
        "B": {q: {"x": 2.0, "y": 1.5, "a": 1.0} for q in qrels},
    }
    comparison = compare_runs(
        qrels, runs, "MRR", baseline="B", exclude={q: ["x", "y"] for q in qrels}
    )
    assert comparison.difference("MRR", "A").verdict == "identical"
    sentence = "documents excluded for their query are left out (8 of A, 16 of B)"
    assert sentence in " ".join(str(comparison).split())
    assert "x" not in {doc.doc_id for doc in comparison.documents_to_judge(5)}


def test_an_excluded_relevant_document_is_no_loss_of_a_stage():
    qrels = {f"q{n}": {"a": 1, "b": 1} for n in range(8)}
    first = {q: {"a": 2.0, "b": 1.0} for q in qrels}
    stages = {"first": first, "second": {q: {"a": 1.0} for q in qrels}}
    with pytest.warns(BeirEvalWarning, match="8 relevant documents are excluded"):
        staged = evaluate_stages(qrels, stages, "Recall@10", exclude={q: ["b"] for q in qrels})
    assert [stage.means["Recall@10"] for stage in staged.stages] == [1 / 2, 1 / 2]
    assert staged.best == {"Recall@10": 1 / 2}
    assert staged.num_relevant == 8
    assert "documents excluded for their query are left out (0 of second)" in str(staged)
    assert not any(loss.documents or loss.loss for loss in staged.losses)


def test_a_file_has_two_columns(tmp_path):
    path = tmp_path / "excluded.txt.gz"
    path.write_bytes(gzip.compress(b"# query document\nq1 near\n\nq1\tcopy\n"))
    result = evaluate(QRELS, RUN, "MRR", exclude=path)
    assert result.provenance == evaluate(QRELS, RUN, "MRR", exclude=EXCLUDE).provenance


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1 near\nq1\n", "line 2: two columns were expected"),
        ("q1 0 near 1\n", "line 1: two columns were expected, query and document, not 4"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(tmp_path, content, message):
    path = tmp_path / "excluded.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(FileFormatError, match=message) as caught:
        Evaluator(QRELS, exclude=path)
    assert "excluded.txt" in str(caught.value)


def test_ids_with_blanks_are_separated_by_tabs(tmp_path):
    path = tmp_path / "excluded.tsv"
    path.write_text("q 1\tbad doc\n")
    qrels = Qrels({"q 1": {"a": 1}})
    assert evaluate(qrels, {"q 1": {"bad doc": 2, "a": 1}}, "MRR", exclude=path)["MRR"] == 1


@pytest.mark.parametrize(
    ("exclude", "message"),
    [
        (["near"], "exclude must be"),
        ({"q1": "near"}, "must be a list of ids"),
        ({"q1": ["near", ""]}, "must be a list of ids"),
        ({"q1": b"near"}, "must be a list of ids"),
        ({"Q1": ["near"]}, "no judged query: it lists 'Q1', and the qrels judge 'q1', 'q2'; name"),
    ],
)
def test_a_list_that_excludes_nothing_meant_is_refused(exclude, message):
    with pytest.raises(QrelsError, match=message):
        Evaluator(QRELS, exclude=exclude)


def test_judged_spans_have_no_excluded_documents():
    qrels = Qrels(QRELS)
    qrels.ranks = "characters"
    with pytest.raises(QrelsError, match="where documents are judged"):
        qrels.excluding(EXCLUDE)


def test_a_data_set_carries_its_list_in_its_queries(tmp_path):
    queries = [
        {"_id": "q1", "text": "one", "excluded_ids": ["near", "copy"]},
        {"_id": "q2", "text": "two", "metadata": {"excluded_ids": ["N/A"]}},
        {"_id": "q3", "text": "of another split", "excluded_ids": ["answer"]},
    ]
    folder = data_set(tmp_path / "data", queries)
    expected = Evaluator(QRELS, "MRR", exclude=EXCLUDE).evaluate(RUN)
    for qrels in (folder, load_dataset(folder), read_qrels(folder)):
        result = evaluate(qrels, RUN, "MRR")
        assert (result.values, result.counted) == (expected.values, expected.counted)
    assert evaluate(folder, RUN, "MRR", exclude={}).scores("MRR").tolist() == [1 / 4, 1 / 2]


def test_a_selection_of_queries_keeps_what_is_excluded():
    qrels = Qrels(QRELS).excluding({"q1": ["near"], "q2": ["x"]})
    assert dict(qrels.select(["q2"]).excluded) == {"q2": frozenset({"x"})}
    assert qrels.select(["q2"]).query_hashes.sum() + qrels.select(["q1"]).query_hashes.sum() == (
        qrels.query_hashes.sum()
    )


def data_set(folder, queries, *, parquet=False):
    """Write the data set of ``QRELS`` with these queries, and return its folder."""
    documents = {doc: "t" for ranking in RUN.values() for doc in ranking}
    write_dataset(folder, documents, {}, QRELS)
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    if parquet:
        (folder / "queries.jsonl").unlink()
        (folder / "queries").mkdir()
        pl.DataFrame(queries).write_parquet(folder / "queries" / "test-00000-of-00001.parquet")
    return folder


@pytest.mark.parametrize("key", ["_id", "query-id"])
@pytest.mark.parametrize("parquet", [False, True])
def test_tables_and_other_names_of_the_id_carry_the_list_too(tmp_path, key, parquet):
    queries = [
        {key: "q1", "text": "one", "excluded_ids": ["near", "copy"]},
        {key: "q2", "text": "two", "excluded_ids": ["N/A"]},
        {key: "q3", "text": "without a list", "metadata": "excluded_ids"},
    ]
    folder = data_set(tmp_path / "data", queries, parquet=parquet)
    for qrels in (folder, read_qrels(folder), load_dataset(folder)):
        assert evaluate(qrels, RUN, "MRR").counted.excluded == (2, 1)


@pytest.mark.parametrize(
    "line",
    [
        '{"_id": "q1", "text": "t", "metadata": "x", "excluded_ids": "near"}',
        '{"_id": "q1", "text": "t", "excluded_ids": [""]}',
        '["excluded_ids"]',
    ],
)
def test_a_wrong_list_of_a_data_set_is_named_with_its_line(tmp_path, line):
    folder = data_set(tmp_path / "data", [])
    (folder / "queries.jsonl").write_text('{"_id": "q2", "text": "t", "metadata": "x"}\n' + line)
    with pytest.raises(FileFormatError, match=r"queries\.jsonl, line 2: "):
        evaluate(folder, RUN, "MRR")


def test_results_of_other_queries_are_not_compared_if_documents_are_excluded_in_one_alone():
    qrels = QRELS | {"q3": {"a": 1}}
    listed = evaluate(QRELS, RUN, "MRR", exclude=EXCLUDE, missing="skip")
    unlisted = evaluate(qrels, RUN, "MRR", missing="skip")
    with pytest.raises(ResultError, match="on different qrels or excluded documents"):
        compare({"A": listed, "B": unlisted}, on="intersection")
