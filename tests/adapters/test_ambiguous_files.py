"""A file that can mean two things is refused, or a warning says so."""

import gzip
import warnings

import pytest
import zstandard

from beir_eval import read_qrels, read_run, write_qrels
from beir_eval.errors import BeirEvalWarning, FileFormatError, InputError
from time_limit import time_limit
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


@pytest.mark.parametrize("number", ["\u0661", "1_0", "\uff11", "1\x1c"])
def test_only_ascii_digits_are_numbers(tmp_path, number):
    with pytest.raises(FileFormatError, match="is not a finite number"):
        read_qrels(write_file(tmp_path, f"q 0 d {number}\n"))
    with pytest.raises(FileFormatError, match="is not a finite number"):
        read_run(write_file(tmp_path, f"q Q0 d 1 {number} t\n"))


def test_only_ascii_white_space_makes_a_line_blank(tmp_path):
    assert read_qrels(write_file(tmp_path, "q 0 d 1\n \t\n")).as_dict() == {"q": {"d": 1.0}}
    with pytest.raises(FileFormatError, match="line 2: 1 columns"):
        read_qrels(write_file(tmp_path, "q 0 d 1\n\u00a0\n"))
    with pytest.raises(FileFormatError, match="line 2: 1 columns"):
        read_run(write_file(tmp_path, "q Q0 d 1 2 t\n\u00a0\n"))


def test_comments_of_any_length_before_the_first_line_are_skipped(tmp_path):
    comments = "# comment\n" * 20_000
    assert len(read_run(write_file(tmp_path, f"{comments}q Q0 d 1 2 t\n"))) == 1
    assert len(read_qrels(write_file(tmp_path, f"{comments}q 0 d 1\n"))) == 1


def test_a_first_line_of_any_length_is_read(tmp_path):
    long_id = "d" * 100_000
    run = read_run(write_file(tmp_path, f"q Q0 {long_id} 1 2 t\n"))
    assert next(run.rankings())[1] == [long_id]


@pytest.mark.parametrize("lines", ["q 0 d 1\n", "q\td\t1\n"])
def test_a_zero_byte_anywhere_in_qrels_is_refused_with_its_line(tmp_path, lines):
    path = write_file(tmp_path, lines * 2_000 + lines.replace("d", "d\0"))
    with pytest.raises(FileFormatError, match="line 2001: a zero byte"):
        read_qrels(path)


def test_a_zero_byte_anywhere_in_a_run_is_refused_with_its_line(tmp_path):
    lines = "".join(f"q Q0 d{number} 1 2 t\n" for number in range(1_000))
    with pytest.raises(FileFormatError, match="line 1001: a zero byte"):
        read_run(write_file(tmp_path, f"{lines}q Q0 d\0 1 2 t\n"))


@pytest.mark.parametrize("ending", ["trec", "tsv"])
def test_an_id_with_a_zero_byte_is_not_written_as_text(tmp_path, ending):
    with pytest.raises(InputError, match="zero byte"):
        write_qrels({"q": {"d\0": 1}}, tmp_path / f"q.{ending}")


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


@pytest.mark.parametrize(
    ("compress", "padding"),
    [(gzip.compress, b"\0" * 100), (zstandard.ZstdCompressor().compress, b"")],
)
def test_a_file_of_many_packed_members_is_read_in_linear_time(tmp_path, compress, padding):
    member = compress(b"q Q0 d 1 2 t\n")
    path = write_file(tmp_path, member * 100_000 + padding)
    with time_limit(20):
        run = read_run(path)
    assert len(next(run.rankings())[1]) == 100_000
    with pytest.raises(FileFormatError, match="truncated or damaged"):
        read_run(write_file(tmp_path, (member * 3)[:-1]))
