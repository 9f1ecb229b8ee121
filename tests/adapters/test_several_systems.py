"""A file that holds several systems is refused, and ``where=`` reads one of them."""

import json

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import Qrels, Run, evaluate, read_qrels, read_run
from beir_eval.adapters.formats import text_runs
from beir_eval.errors import FileFormatError, InputError
from beir_eval.validation import validate
from written_files import write_table

DENSE = {"q1": {"a": 0.9, "b": 0.5}, "q2": {"a": 0.7}}
BM25 = {"q1": {"c": 30.0, "d": 20.0}, "q2": {"c": 10.0}}
QRELS = {"q1": {"a": 1}, "q2": {"a": 1}}
KINDS = ["trec", "csv", "semicolons", "jsonl", "array", "parquet"]


def rows_of(runs, column="system"):
    return [
        {column: system, "query_id": query, "doc_id": doc, "rank": rank, "score": score}
        for system, run in runs.items()
        for query, docs in run.items()
        for rank, (doc, score) in enumerate(docs.items(), start=1)
    ]


def write(path, rows, kind, column="system"):
    """Write rows in a format; of TREC, the column is the tag."""
    if kind == "array":
        path.write_text(json.dumps(rows, indent=1))
    elif kind == "trec":
        line = f"{{query_id}} Q0 {{doc_id}} {{rank}} {{score}} {{{column}}}\n"
        path.write_text("".join(line.format(**row) for row in rows))
    else:
        write_table(path, rows, kind)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_of_two_systems_is_refused_with_both_and_the_way_to_one(tmp_path, kind):
    path = write(tmp_path / "run", rows_of({"dense": DENSE, "bm25": BM25}), kind)
    column = "tag" if kind == "trec" else "system"
    with pytest.raises(FileFormatError, match="'dense', 'bm25'") as caught:
        read_run(path)
    assert f"choose one with where={{'{column}': 'dense'}}, or write a file for each" in str(
        caught.value
    )
    assert "first" not in str(caught.value)
    assert caught.value.path == path


@st.composite
def systems(draw):
    """Draw two to four systems that each list some documents for the same query."""
    names = draw(st.lists(st.sampled_from("ABCDE"), min_size=2, max_size=4, unique=True))
    docs = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=3, unique=True)
    return {
        name: {
            query: {doc: float(9 - rank) for rank, doc in enumerate(draw(docs))}
            for query in ("q1", "q2")
        }
        for name in names
    }


@given(runs=systems(), kind=st.sampled_from(KINDS), random=st.randoms(use_true_random=False))
def test_systems_in_any_order_of_lines_are_refused_and_each_is_read_by_its_name(
    tmp_path_factory, runs, kind, random
):
    rows = rows_of(runs)
    random.shuffle(rows)
    path = write(tmp_path_factory.mktemp("runs") / "run", rows, kind)
    with pytest.raises(FileFormatError, match="several systems"):
        read_run(path)
    for name, run in runs.items():
        chosen = read_run(path, where={"tag" if kind == "trec" else "system": name})
        assert chosen.as_dict() == run


RUNS_OF_ONE = {
    "a tag for each query": "q1 Q0 a 1 9 one\nq2 Q0 a 1 8 two\n",
    "the tag says where a document comes from": "q Q0 a 1 9 one\nq Q0 b 2 8 two\nq Q0 c 3 7 one\n",
    "a last column that is no tag": "".join(f"q Q0 d{n} {n % 7} {n} t{n}\n" for n in range(60)),
}


@pytest.mark.parametrize("content", RUNS_OF_ONE.values(), ids=RUNS_OF_ONE)
@pytest.mark.parametrize("separator", [" ", "  ", "\t"])
def test_a_run_of_one_system_with_several_tags_is_read(tmp_path, content, separator):
    path = tmp_path / "run"
    path.write_text(content.replace(" ", separator))
    assert sum(len(docs) for _, docs, _ in read_run(path).rankings()) == content.count("\n")


@pytest.mark.parametrize("size", [1, 30, 200, 1 << 22])
@pytest.mark.parametrize("tag", ["bm26", "a-much-longer-tag", "m25", "b"])
def test_another_tag_is_seen_in_parts_of_every_size(tmp_path, monkeypatch, size, tag):
    monkeypatch.setattr(text_runs, "_PART_SIZE", size)
    monkeypatch.setattr(text_runs, "_CHECKED_SIZE", max(size // 2, 1))
    path = write(tmp_path / "run", rows_of({"bm25": DENSE, tag: BM25}), "trec")
    for data in (path.read_bytes(), path.read_bytes().replace(b"\n", b"\r\n")):
        path.write_bytes(data)
        with pytest.raises(FileFormatError, match=f"'bm25', '{tag}'"):
            read_run(path)


def test_lines_of_one_tag_are_read_by_polars(tmp_path, monkeypatch):
    monkeypatch.setattr(text_runs, "_columns_of_lines", None)
    path = write(tmp_path / "run", rows_of({"dense": DENSE}), "trec")
    assert read_run(path).as_dict() == DENSE


@pytest.mark.parametrize("column", ["Model", "run_name", "fold", "annotator", "split", "tag"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "array", "parquet"])
def test_every_column_that_tells_systems_apart_is_known_in_tables(tmp_path, column, kind):
    rows = rows_of({"one": DENSE, "two": BM25}, column)
    path = write(tmp_path / "run", rows, kind)
    with pytest.raises(FileFormatError, match=f"the column '{column}' has the values 'one', 'two'"):
        read_run(path)
    for row in rows:
        row["grade"] = row["score"]
    write(path, [{key: row[key] for key in row if key != "score"} for row in rows], kind)
    with pytest.raises(FileFormatError, match=f"the column '{column}' has the values 'one', 'two'"):
        read_qrels(path)
    assert read_qrels(path, where={column: "two"}).as_dict() == Qrels(BM25).as_dict()


def test_where_takes_any_column_and_several(tmp_path):
    rows = [{**row, "lang": lang} for row in rows_of({"dense": DENSE}) for lang in ("de", "en")]
    path = write(tmp_path / "run.csv", rows, "csv")
    assert read_run(path, where={"lang": "de", "system": "dense"}).as_dict() == DENSE


@pytest.mark.parametrize("kind", KINDS)
def test_a_value_that_no_row_has_is_refused_with_those_that_rows_have(tmp_path, kind):
    path = write(tmp_path / "run", rows_of({"dense": DENSE, "bm25": BM25}), kind)
    column = "tag" if kind == "trec" else "system"
    with pytest.raises(FileFormatError, match=f"where= states {column}=x, .* 'dense', 'bm25'"):
        read_run(path, where={column: "x"})


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_the_file_lacks_is_refused(tmp_path, kind):
    path = write(tmp_path / "run", rows_of({"dense": DENSE}), kind)
    with pytest.raises(FileFormatError, match="where= states lang=de, but no file has the column"):
        read_run(path, where={"lang": "de"})


def test_a_malformed_line_of_another_system_is_refused(tmp_path):
    path = write(tmp_path / "run", rows_of({"dense": DENSE, "bm25": BM25}), "trec")
    path.write_text(path.read_text() + "q3 Q0 a 1 0.5\n")
    with pytest.raises(FileFormatError, match="line 7: 5 columns"):
        read_run(path, where={"tag": "dense"})


FRAMES = {
    "polars": pl.DataFrame,
    "pandas": pd.DataFrame,
    "pyarrow": pa.Table.from_pylist,
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_dataframe_of_systems_is_refused_and_its_rows_of_one_are_read(make):
    rows = rows_of({"dense": DENSE, "bm25": BM25})
    for read in (Run.from_dataframe, lambda frame: evaluate(QRELS, frame, ["MRR"])):
        with pytest.raises(InputError, match="pass the rows of one, filtered") as caught:
            read(make(rows))
        assert "'dense'" in str(caught.value)
        assert "'bm25'" in str(caught.value)
    of_one = make([row for row in rows if row["system"] == "dense"])
    assert evaluate(QRELS, of_one, ["MRR"])["MRR"] == 1.0
    judged = make([{"grade": 1, **row} for row in rows])
    with pytest.raises(InputError, match="the column 'system' has the values"):
        Qrels.from_dataframe(judged, grade="grade")


def test_validate_takes_where_for_the_files_that_have_the_column(tmp_path):
    path = write(tmp_path / "run", rows_of({"dense": DENSE, "bm25": BM25}), "trec")
    (tmp_path / "q.txt").write_text("q1 0 a 1\nq2 0 a 1\n")
    validation = validate(tmp_path / "q.txt", path, where={"tag": "bm25"})
    assert [summary.documents for summary in validation.inputs][-1] == 3
