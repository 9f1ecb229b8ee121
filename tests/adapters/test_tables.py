"""Tables of other tools are read by the names of their columns, or refused with the way out."""

import duckdb
import pandas as pd
import polars as pl
import pytest

from beir_eval import Qrels, Run, read_qrels, read_run
from beir_eval.errors import BeirEvalWarning, FileFormatError, InputError
from written_files import write_file, write_table

PYTERRIER = {
    "qid": ["q1", "q1", "q2"],
    "docid": [17, 4, 17],
    "docno": ["d1", "d2", "d1"],
    "rank": [0, 1, 0],
    "score": [9.5, 8.25, 7.0],
    "query": ["first", "first", "second"],
}
PYTERRIER_RUN = {"q1": {"d1": 9.5, "d2": 8.25}, "q2": {"d1": 7.0}}


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow", "duckdb"])
def test_in_the_frames_of_pyterrier_docno_is_the_document(kind):
    frame = pl.DataFrame(PYTERRIER)
    if kind == "duckdb":
        frame = duckdb.from_arrow(frame.to_arrow())
    elif kind != "polars":
        frame = pd.DataFrame(PYTERRIER) if kind == "pandas" else frame.to_arrow()
    assert Run.from_dataframe(frame).as_dict() == PYTERRIER_RUN


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_in_the_files_of_pyterrier_docno_is_the_document(tmp_path, ending):
    path = write_table(tmp_path / f"run.{ending}", PYTERRIER, ending)
    assert read_run(path).as_dict() == PYTERRIER_RUN


def test_without_docno_docid_is_the_document(tmp_path):
    frame = pl.DataFrame(PYTERRIER).drop("docno")
    frame.write_csv(tmp_path / "run.csv")
    expected = {"q1": {"17": 9.5, "4": 8.25}, "q2": {"17": 7.0}}
    assert Run.from_dataframe(frame).as_dict() == expected
    assert read_run(tmp_path / "run.csv").as_dict() == expected


RUN = {"q1": {"d1": 3.5, "d2": 2.0}, "q2": {"d1": -0.5}}
RUN_HEADERS = {
    "PyTerrier": "qid,docno,score",
    "ranx": "q_id,doc_id,score",
    "trectools": "query,docid,score",
    "MTEB": "query-id,corpus-id,score",
    "Elasticsearch": "query_id,_id,_score",
    "a reranker": "queryId,documentId,relevance_score",
    "a table of topics": "topic,doc,similarity_score",
}
QRELS = {"q1": {"d1": 2.0, "d2": 0.0}, "q2": {"d1": 1.0}}
QRELS_HEADERS = {
    "PyTerrier": "qid,docno,label",
    "trectools": "query,docid,rel",
    "MTEB": "query-id,corpus-id,score",
    "a language model as judge": "qid,pid,label",
    "a judgement list": "query,document,judgment",
    "ratings": "query,doc_id,rating",
}


def table(header, nested, separator):
    rows = [(query, doc, number) for query, docs in nested.items() for doc, number in docs.items()]
    lines = [header.split(","), *([query, doc, str(number)] for query, doc, number in rows)]
    return "".join(separator.join(cells) + "\n" for cells in lines)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("header", RUN_HEADERS.values(), ids=RUN_HEADERS)
def test_the_headers_of_runs_of_other_tools_are_read(tmp_path, header, separator):
    path = write_file(tmp_path, table(header, RUN, separator), "run.txt")
    assert read_run(path).as_dict() == RUN


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("header", QRELS_HEADERS.values(), ids=QRELS_HEADERS)
def test_the_headers_of_judgements_of_other_tools_are_read(tmp_path, header, separator):
    path = write_file(tmp_path, table(header, QRELS, separator), "qrels.txt")
    assert read_qrels(path).as_dict() == QRELS


def test_dataframes_are_read_by_the_same_names():
    frame = pl.DataFrame({"query": ["q1", "q1"], "doc": ["d1", "d2"], "_score": [2, 1]})
    assert Run.from_dataframe(frame).as_dict() == {"q1": {"d1": 2.0, "d2": 1.0}}
    frame = pl.DataFrame({"query": ["q1"], "document": ["d1"], "judgement": [2]})
    assert Qrels.from_dataframe(frame).as_dict() == {"q1": {"d1": 2.0}}


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "frame"])
def test_of_two_scores_one_must_be_stated(tmp_path, kind):
    """The score of a retriever may stand beside that of a re-ranker."""
    row = {"query_id": "q1", "doc_id": "d1", "score": 1.5, "rerank_score": 0.25, "max_score": 1.5}
    if kind == "frame":
        with pytest.raises(InputError, match="several columns that could be score"):
            Run.from_dataframe(pl.DataFrame([row]))
        run = Run.from_dataframe(pl.DataFrame([row]), score="score")
        assert run.as_dict() == {"q1": {"d1": 1.5}}
        return
    path = write_table(tmp_path / f"run.{kind}", [row], kind)
    with pytest.raises(InputError, match=r"several .*'score'(,| and) 'rerank_score'"):
        read_run(path)
    for name in ("score", "rerank_score"):
        run = read_run(path, columns={"score": name})
        assert run.as_dict() == {"q1": {"d1": row[name]}}


def test_a_usual_name_takes_precedence_over_any_other_name(tmp_path):
    content = "query,query_id,document,doc_id,rating,relevance\nx,q1,y,d1,5,1\n"
    assert read_qrels(write_file(tmp_path, content, "qrels.csv")).as_dict() == {"q1": {"d1": 1.0}}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_all_columns_of_a_run_or_of_judgements_may_stand_below_a_header(tmp_path, separator):
    run = "query,q0,docid,rank,score,system\nq1,Q0,d1,1,2.5,s\nq1,Q0,d2,2,1.5,s\n"
    path = write_file(tmp_path, run.replace(",", separator), "run.txt")
    assert read_run(path).as_dict() == {"q1": {"d1": 2.5, "d2": 1.5}}
    qrels = "query_id,iteration,doc_id,relevance\nq1,0,d1,2\nq1,0,d2,0\n"
    path = write_file(tmp_path, qrels.replace(",", separator), "qrels.txt")
    assert read_qrels(path).as_dict() == {"q1": {"d1": 2.0, "d2": 0.0}}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_cells_may_be_quoted_and_the_first_header_may_be_empty(tmp_path, separator):
    lines = [["", "qid", '"docno"', "score"], ["0", '"q 1"', f'"d{separator}1"', "2"]]
    content = "".join(separator.join(cells) + "\r\n" for cells in lines)
    path = write_file(tmp_path, "\ufeff" + content, "run.csv")
    assert read_run(path).as_dict() == {"q 1": {f"d{separator}1": 2.0}}


def test_qrels_of_beir_whose_header_names_the_document_first_are_a_warning(tmp_path):
    path = write_file(tmp_path, "corpus-id\tquery-id\tscore\nd1\tq1\t2\n", "qrels.tsv")
    with pytest.warns(BeirEvalWarning, match="the header names corpus-id before query-id"):
        assert read_qrels(path).as_dict() == {"d1": {"q1": 2.0}}
    assert read_qrels(path, format="csv").as_dict() == {"q1": {"d1": 2.0}}


def test_qrels_of_beir_are_not_read_as_a_run(tmp_path):
    path = write_file(tmp_path, "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\n", "test.tsv")
    with pytest.raises(FileFormatError, match=r"look like judgements, .* with read_qrels"):
        read_run(path)
