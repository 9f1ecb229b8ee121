"""The chunks of a run count as their documents: the best chunk of each."""

import re

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import Qrels, Run, evaluate, read_run, write_run
from beir_eval.core.run_sources.chunks import judged_documents
from beir_eval.errors import (
    BeirEvalWarning,
    DuplicateDocumentError,
    QueryMismatchError,
    SettingError,
)

QRELS = {f"q{i}": {f"d{i}": 1, "d#9": 1} for i in range(8)}
CHUNKS = {f"q{i}": {"x#1": 5.0, f"d{i}#1": 3.0, f"d{i}#2": 9.0, "d#9#1": 1.0} for i in range(8)}


def ranking_of(run):
    return [
        (query, list(docs), None if scores is None else list(scores))
        for query, docs, scores in run.rankings()
    ]


def test_a_document_has_the_best_score_of_its_chunks_and_the_position_of_the_first():
    run = Run({"q": {"a#1": 2.0, "b#1": 5.0, "a#2": 7.0, "plain": 1.0}}, collapse="#")
    assert ranking_of(run) == [("q", ["a", "b", "plain"], [7.0, 5.0, 1.0])]
    assert run.chunk_counts == {"chunks": 3, "further_chunks": 1, "ids_not_of_chunks": 1}
    unscored = Run.from_rankings({"q": ["a#1", "b#1", "a#2"]}, collapse="#")
    assert ranking_of(unscored) == [("q", ["a", "b"], None)]


@pytest.mark.parametrize("collapse", ["#", r"(.+)#\d+", re.compile(r"(.+)#\d+")])
def test_every_way_to_make_a_run_takes_the_form_of_the_ids(tmp_path, collapse):
    rows = [(q, doc, score) for q, docs in CHUNKS.items() for doc, score in docs.items()]
    queries, docs, scores = (list(column) for column in zip(*rows, strict=True))
    frame = pl.DataFrame({"query_id": queries, "doc_id": docs, "score": scores})
    write_run(CHUNKS, tmp_path / "run.trec")
    frame.write_parquet(tmp_path / "run.parquet")
    runs = [
        Run(CHUNKS, collapse=collapse),
        Run.from_columns(queries, docs, scores, collapse=collapse),
        Run.from_dataframe(frame, collapse=collapse),
        Run.from_arrays(
            np.array(docs).reshape(8, 4), np.array(scores).reshape(8, 4),
            query_ids=list(CHUNKS), collapse=collapse,
        ),
        read_run(tmp_path / "run.trec", collapse=collapse),
        read_run(tmp_path / "run.parquet", collapse=collapse),
    ]  # fmt: skip
    expected = {f"q{i}": {"x": 5.0, f"d{i}": 9.0, "d#9": 1.0} for i in range(8)}
    for run in runs:
        assert run.as_dict() == expected
        assert evaluate(QRELS, run, "MRR")["MRR"] == 1.0


def test_the_result_counts_the_chunks():
    result = evaluate(QRELS, Run(CHUNKS, collapse="#"), "MRR")
    counted = result.counted
    assert (counted.chunks, counted.further_chunks, counted.ids_not_of_chunks) == (32, 8, 0)


@pytest.mark.parametrize("separator", ["(", "[", "::", "_c"])
def test_a_separator_is_no_regular_expression(separator):
    run = Run({"q": {f"a{separator}1": 1.0, f"a{separator}2": 2.0}}, collapse=separator)
    assert run.as_dict() == {"q": {"a": 2.0}}


@pytest.mark.parametrize("collapse", ["", 3, "(a)(b)", re.compile("a")])
def test_what_is_neither_a_separator_nor_a_pattern_of_one_group_is_refused(collapse):
    with pytest.raises(SettingError, match="one group, that id"):
        Run({"q": {"a#1": 1.0}}, collapse=collapse)


@pytest.mark.parametrize("collapse", ["@", r"#\d+"])
def test_a_form_that_no_id_has_causes_a_warning(collapse):
    with pytest.warns(BeirEvalWarning, match=r"no id of the run has this form, such as 'x#1'"):
        Run(CHUNKS, collapse=collapse)


def test_a_chunk_that_is_listed_twice_stays_a_duplicate():
    run = Run.from_columns(["q"] * 3, ["a#1", "a#1", "a#2"], [3.0, 2.0, 1.0], collapse="#")
    with pytest.raises(DuplicateDocumentError):
        evaluate({"q": {"a": 1}}, run, "MRR")


@pytest.mark.filterwarnings("ignore:collapse=:beir_eval.BeirEvalWarning")
@given(
    st.dictionaries(
        st.from_regex(r"[abc](#[123])?", fullmatch=True), st.integers(0, 3).map(float), max_size=9
    )
)
def test_a_collapsed_run_has_the_scores_of_the_best_chunks(ranking):
    best: dict[str, float] = {}
    for doc, score in ranking.items():
        parent = doc.partition("#")[0]
        best[parent] = max(score, best.get(parent, score))
    assert Run({"q": ranking}, collapse="#").as_dict() == {"q": best}
    qrels = {"q": {"a": 2, "b": 1}}
    measures = ["nDCG@2", "MRR", "Recall@1"]
    collapsed = evaluate(qrels, Run({"q": ranking}, collapse="#"), measures)
    assert collapsed.values == evaluate(qrels, {"q": best}, measures).values


@pytest.mark.parametrize("separator", ["#", "::", "_", "-"])
def test_the_warning_on_ids_that_match_nothing_proposes_the_form_that_helps(separator):
    run = {f"q{i}": {f"d{i}{separator}{n}": 3.0 - n for n in range(3)} for i in range(8)}
    qrels = {f"q{i}": {f"d{i}": 1} for i in range(8)}
    remedy = rf"--chunk-ids '{re.escape(separator)}' \(collapse='{re.escape(separator)}'\)"
    with pytest.warns(BeirEvalWarning, match=remedy):
        evaluate(qrels, run, "MRR")
    assert evaluate(qrels, Run(run, collapse=separator), "MRR")["MRR"] == 1.0


def test_query_ids_are_never_called_those_of_chunks():
    with pytest.raises(QueryMismatchError, match="no query in common") as caught:
        evaluate(QRELS, {f"{query}.0": docs for query, docs in CHUNKS.items()}, "MRR")
    assert "chunks" not in str(caught.value)


def test_judgements_of_chunks_are_those_of_their_documents_with_the_highest_grade():
    qrels = Qrels({"q": {"a#1": 0, "a#2": 2, "b": 1}})
    with pytest.warns(BeirEvalWarning, match="the judgements are of chunks, such as 'a#1'"):
        judged = judged_documents(qrels, "#", ["a", "b"])
    assert judged.as_dict() == {"q": {"a": 2, "b": 1}}
    assert judged_documents(qrels, "#", ["a#1"]) is qrels
