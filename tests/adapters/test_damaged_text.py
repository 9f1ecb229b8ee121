"""Files in UTF-16 and UTF-32, and files that are cut off, are refused by name with the remedy."""

import gzip

import pytest

from beir_eval import read_qrels, read_run
from beir_eval.errors import FileFormatError

QRELS = "q1 0 d1 1\nq1 0 d2 0\n"
TEXTS = {
    "TREC qrels": (read_qrels, QRELS, "trec"),
    "TREC run": (read_run, "q1 Q0 d1 1 0.5 tag\n", "trec"),
    "JSON": (read_run, '{"q1": {"d1": 0.5}}', "json"),
    "CSV": (read_run, "query_id,doc_id,score\nq1,d1,0.5\n", "csv"),
    "other letters": (read_run, "вопрос Q0 ответ 1 0.5 модель\n" * 3, "trec"),
}
ENCODINGS = ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["no mark", "byte order mark"])
@pytest.mark.parametrize("kind", TEXTS)
def test_text_in_utf_16_or_utf_32_is_refused_with_its_name(tmp_path, kind, mark, encoding):
    read, text, format_name = TEXTS[kind]
    path = tmp_path / "file"
    path.write_bytes((mark + text).encode(encoding))
    name = encoding.upper().replace("-LE", "LE").replace("-BE", "BE")
    iconv = name[:6] if mark else name
    for stated in (None, format_name):
        with pytest.raises(
            FileFormatError, match=f"file: {name} text, .*iconv -f {iconv} -t UTF-8"
        ):
            read(path, format=stated)
    path.write_bytes(gzip.compress((mark + text).encode(encoding)))
    with pytest.raises(FileFormatError, match=f"{name} text"):
        read(path)


@pytest.mark.parametrize("cut", ["q4", "q4 0", "q4 0 d7", "q4 0 d7 "])
def test_a_last_line_of_trec_qrels_that_is_too_short_is_called_cut_off(tmp_path, cut):
    path = tmp_path / "qrels"
    path.write_text(QRELS + cut)
    with pytest.raises(FileFormatError, match=r"line 3: \d columns, .* may be cut off"):
        read_qrels(path)
    path.write_text(QRELS + cut + "\n")
    with pytest.raises(FileFormatError, match=r"separated by blanks or tabs$"):
        read_qrels(path)
    path.write_text(QRELS + cut + "\n" + QRELS.rstrip())
    with pytest.raises(FileFormatError, match=r"line 3: .* separated by blanks or tabs$"):
        read_qrels(path)


@pytest.mark.parametrize("header", ["", "query-id\tcorpus-id\tscore\n"])
@pytest.mark.parametrize("cut", ["q4", "q4\td7"])
def test_a_last_line_of_beir_qrels_that_is_too_short_is_called_cut_off(tmp_path, header, cut):
    path = tmp_path / "qrels"
    path.write_text(header + "q1\td1\t1\nq1\td2\t0\n" + cut)
    with pytest.raises(FileFormatError, match=r"line \d: \d columns, .* may be cut off"):
        read_qrels(path)
