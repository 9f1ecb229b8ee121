"""Tables of other tools are read by the names of their columns, or refused with the way out."""

import duckdb
import pandas as pd
import polars as pl
import pytest

from beir_eval import Run, read_run

PYTERRIER = {
    "qid": ["q1", "q1", "q2"],
    "docid": [17, 4, 17],
    "docno": ["d1", "d2", "d1"],
    "rank": [0, 1, 0],
    "score": [9.5, 8.25, 7.0],
    "query": ["first", "first", "second"],
}
PYTERRIER_RUN = {"q1": {"d1": 9.5, "d2": 8.25}, "q2": {"d1": 7.0}}


def write(tmp_path, content, name):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


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
    path = tmp_path / f"run.{ending}"
    frame = pl.DataFrame(PYTERRIER)
    frame.write_csv(path) if ending == "csv" else frame.write_parquet(path)
    assert read_run(path).as_dict() == PYTERRIER_RUN


def test_without_docno_docid_is_the_document(tmp_path):
    frame = pl.DataFrame(PYTERRIER).drop("docno")
    frame.write_csv(tmp_path / "run.csv")
    expected = {"q1": {"17": 9.5, "4": 8.25}, "q2": {"17": 7.0}}
    assert Run.from_dataframe(frame).as_dict() == expected
    assert read_run(tmp_path / "run.csv").as_dict() == expected
