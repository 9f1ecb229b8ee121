"""A file that can mean two things is refused, or a warning says so."""

import warnings

import pytest

from beir_eval import read_qrels, read_run, write_qrels
from beir_eval.errors import BeirEvalWarning, FileFormatError
from written_files import write_file


def test_a_first_line_of_two_formats_is_refused_unless_the_format_is_stated(tmp_path):
    path = write_file(tmp_path, "q2\t0 q2\t0\n")
    with pytest.raises(FileFormatError, match=r"line 1: .* TREC's qrels if .* or format='beir'"):
        read_qrels(path)
    assert read_qrels(path, format="trec").as_dict() == {"q2": {"q2": 0.0}}
    assert read_qrels(path, format="beir").as_dict() == {"q2": {"0 q2": 0.0}}
    headed = write_file(tmp_path, "query-id\tcorpus-id\tscore\nq2\t0 q2\t0\n")
    assert read_qrels(headed).as_dict() == {"q2": {"0 q2": 0.0}}


def test_an_id_of_two_words_is_not_ambiguous(tmp_path):
    path = write_file(tmp_path, "my query\td1\t1\n")
    assert read_qrels(path).as_dict() == {"my query": {"d1": 1.0}}


def test_only_ascii_white_space_makes_a_line_blank(tmp_path):
    assert read_qrels(write_file(tmp_path, "q 0 d 1\n \t\n")).as_dict() == {"q": {"d": 1.0}}
    with pytest.raises(FileFormatError, match="line 2: 1 columns"):
        read_qrels(write_file(tmp_path, "q 0 d 1\n\u00a0\n"))
    with pytest.raises(FileFormatError, match="line 2: 1 columns"):
        read_run(write_file(tmp_path, "q Q0 d 1 2 t\n\u00a0\n"))


@pytest.mark.parametrize("lines", ["q 0 d 1\n", "q\td\t1\n"])
def test_a_zero_byte_anywhere_in_qrels_is_refused_with_its_line(tmp_path, lines):
    path = write_file(tmp_path, lines * 2_000 + lines.replace("d", "d\0"))
    with pytest.raises(FileFormatError, match="line 2001: a zero byte"):
        read_qrels(path)


def test_a_run_with_ranks_that_is_read_as_qrels_is_a_warning(tmp_path):
    path = write_file(tmp_path, "q\ta\t1\nq\tb\t2\nq\tc\t3\nr\ta\t1\n")
    with pytest.warns(BeirEvalWarning, match=r"the grades of every query are 1, 2, …"):
        read_qrels(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_qrels(write_file(tmp_path, "q\ta\t1\nq\tb\t2\nr\ta\t1\n"))
        read_qrels(write_file(tmp_path, "q\ta\t1\nq\tb\t2\nq\tc\t3\nr\ta\t2\n"))


def test_fractional_grades_of_documents_1_to_n_are_read_as_they_were_written(tmp_path):
    qrels = {"q": {"1": 0.5, "2": 0.25}}
    write_qrels(qrels, tmp_path / "q.trec")
    assert read_qrels(tmp_path / "q.trec").as_dict() == qrels
