"""Whatever the format: a damaged file is an error that names it. A new format joins by itself."""

import io

import polars as pl
import pytest

from beir_eval import evaluate, read_qrels, read_run, write_qrels, write_run
from beir_eval.adapters.formats import QRELS_FORMATS, RUN_FORMATS
from beir_eval.errors import DuplicateDocumentError, FileFormatError

RUN = {"q1": {"d1": 3.5, "d2": 2.5}, "q2": {"lastdoc": 0.125}}
QRELS = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"lastdoc": 0.125}}
#: A file of each format that is read only.
READ_ONLY = {
    "msmarco": "q1\td1\t1\t3.5\nq1\td2\t2\t2.5\nq2\tlastdoc\t1\t0.125\n",
    "jsonl": '{"query_id": "q1", "docs": {"d1": 3.5, "d2": 2.5}}\n'
    '{"query_id": "q2", "docs": {"lastdoc": 0.125}}\n',
    "qrels of jsonl": '{"query_id": "q1", "doc_id": "d1", "grade": 2}\n'
    '{"query_id": "q1", "doc_id": "d2", "grade": 1}\n'
    '{"query_id": "q2", "doc_id": "lastdoc", "grade": 0.125}\n',
}
DAMAGES = {
    "a cut line": lambda data: data[: data.index(b"lastdoc") + 4],
    "a repeated document": lambda data: data.replace(b"d2", b"d1"),
    "NaN": lambda data: data.replace(b"0.125", b"NaN"),
    "an empty id": lambda data: data.replace(b"lastdoc", b""),
}
TABLES = {
    "run": (RUN_FORMATS, RUN, write_run, read_run),
    "qrels": (QRELS_FORMATS, QRELS, write_qrels, read_qrels),
}


def damaged(name, data, damage):
    """Return the bytes of a file with the damage; a Parquet file is damaged in its values."""
    if name != "parquet" or damage == "a cut line":
        return DAMAGES[damage](data if b"lastdoc" in data else b"lastdoc" + data)
    rows = pl.read_parquet(data).write_csv().encode()
    table = io.BytesIO()
    pl.read_csv(DAMAGES[damage](rows)).write_parquet(table)
    return table.getvalue()


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    ("kind", "row"),
    [
        pytest.param(kind, row, id=f"{kind} {row.name}")
        for kind, (table, *_) in TABLES.items()
        for row in table.formats
    ],
)
def test_a_damaged_file_is_an_error_that_names_it(kind, row, damage, tmp_path):
    _, content, write, read = TABLES[kind]
    path = tmp_path / "damaged-file"
    if row.write:
        write(content, path, format=row.name)
    else:
        names = READ_ONLY.keys() & {f"{kind} of {row.name}", row.name}
        assert names, (
            f"READ_ONLY needs a file of the format {row.name!r} with the content of {kind.upper()}"
        )
        path.write_text(READ_ONLY[max(names, key=len)])
    assert read(path, format=row.name).as_dict() == content
    path.write_bytes(damaged(row.name, path.read_bytes(), damage))
    if kind == "run" and damage == "a repeated document":
        with pytest.raises(DuplicateDocumentError, match=r"damaged-file: .* repeats 'd1'"):
            evaluate(QRELS, path, "MRR")  # which decides, not the reader
        return
    with pytest.raises(FileFormatError, match="damaged-file"):
        read(path, format=row.name)
