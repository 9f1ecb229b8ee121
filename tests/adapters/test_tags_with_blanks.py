"""A TREC run whose tag contains blanks is read; a blank in an id is refused with its line."""

import gzip

import pytest

from beir_eval import evaluate, read_run
from beir_eval.adapters import run_parts
from beir_eval.errors import FileFormatError
from written_files import write_file

TAG = "BM25 (k1=0.9 b=0.4)"
RUN = {"q1": {"d1": 9.5, "d2": 8.5}, "q2": {"d1": -0.25}, "q3": {"d9": 3.0}}
LINES = [
    f"{query} Q0 {doc} {rank} {score} {TAG}\n"
    for query, docs in RUN.items()
    for rank, (doc, score) in enumerate(docs.items(), start=1)
]


FORMS = {
    "blanks": "".join(LINES),
    "tabs between columns": "".join("\t".join(line.split(" ", 5)) for line in LINES),
    "CRLF": "".join(LINES).replace("\n", "\r\n"),
    "comments": "# a comment\n\n" + "\n# another\n".join(LINES),
    "packed": gzip.compress("".join(LINES).encode()),
}


@pytest.mark.parametrize("content", FORMS.values(), ids=FORMS)
def test_a_tag_with_blanks_that_every_line_has_is_read(tmp_path, content):
    path = write_file(tmp_path, content)
    assert read_run(path).as_dict() == RUN
    assert read_run(path, format="trec").as_dict() == RUN


@pytest.mark.parametrize("size", [1, 40, 1 << 22])
def test_a_tag_with_blanks_is_read_in_parts_of_every_size(tmp_path, monkeypatch, size):
    monkeypatch.setattr(run_parts, "_PART_SIZE", size)
    path = write_file(tmp_path, "".join(LINES))
    qrels = {query: {"d1": 1} for query in RUN}
    assert evaluate(qrels, read_run(path, parts=True)) == evaluate(qrels, RUN)


REFUSED = {
    "a blank in the first document": (1, LINES[0].replace("d1", "my d1") + LINES[1]),
    "a blank in a later document": (2, LINES[0] + LINES[1].replace("d2", "my d2")),
    "a blank in a query": (2, LINES[0] + LINES[1].replace("q1", "my q1")),
    "a line with another tag": (2, LINES[0] + LINES[1].replace("k1=0.9", "k1=0.8")),
    "a line with a tag of one word": (2, LINES[0] + LINES[1].replace(TAG, "BM25")),
    "a rank that is no whole number": (2, LINES[0] + LINES[1].replace(" 2 ", " 2.5 ")),
    "a score that is no number": (2, LINES[0] + LINES[1].replace("8.5", "high")),
    "a blank in the only document": (1, "q1 Q0 d 7 1 0.9 BM25\n"),
    "a tag that begins with a number": (1, "q1 Q0 d1 1 0.9 2 stages\n"),
    "a tag with a blank in a later line only": (2, "q1 Q0 d1 1 0.9 BM25\n" + LINES[1]),
}


@pytest.mark.parametrize(("line", "content"), REFUSED.values(), ids=REFUSED)
def test_a_blank_that_may_belong_to_an_id_is_refused_with_its_line(tmp_path, line, content):
    path = write_file(tmp_path, content)
    with pytest.raises(FileFormatError, match=rf"line {line}: \d columns, expected 6 \("):
        read_run(path)
    with pytest.raises(FileFormatError, match=rf"line {line}: \d columns, expected 6 \("):
        evaluate({"q1": {"d1": 1}}, read_run(path, parts=True))


def test_a_part_with_another_tag_is_refused_with_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(run_parts, "_PART_SIZE", 1)
    path = write_file(tmp_path, "".join(LINES) + "q4 Q0 d1 1 2.0 BM25 (k1=0.9 b=0.75)\n")
    with pytest.raises(FileFormatError, match=r"line 5: 8 columns, .* Write a tag without blanks"):
        evaluate({"q1": {"d1": 1}}, read_run(path, parts=True))


def test_a_last_line_whose_tag_is_cut_off_is_called_so(tmp_path):
    with pytest.raises(FileFormatError, match=r"line 4: .* the file may be cut off"):
        read_run(write_file(tmp_path, "".join(LINES)[:-5]))
