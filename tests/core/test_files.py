"""Files are read whole or in parts, unpacked, and refused with the file's name."""

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest
import zstandard
from pydantic import Field

from beir_eval.core.atomic_writes import (
    check_can_write,
    sync_folder,
    write_all,
    write_atomically,
)
from beir_eval.core.dataframes import frame_of_records
from beir_eval.core.files import (
    FileContent,
    as_path,
    check_is_text,
    file_sha256,
    file_stem,
    import_zstandard,
    is_gzip,
    is_packed,
    is_parquet,
    parquet_errors,
    part_of_file_name,
    read_number,
    unpack,
    wide_encoding,
)
from beir_eval.core.saved import Saved
from beir_eval.errors import FileFormatError, InputError, MissingExtraError, ResultError

TEXT = "q1 d1 1\nq2 d2 é\nthe last line has no end"


@pytest.fixture(params=["plain", "gz", "zst"])
def text_file(request, tmp_path):
    path = tmp_path / "file"
    data = TEXT.encode()
    if request.param == "gz":
        data = gzip.compress(data[:10]) + gzip.compress(data[10:]) + b"\0\0"
    elif request.param == "zst":
        data = zstandard.compress(data)
    path.write_bytes(data)
    return path


def test_content_is_read_whole_and_in_parts_that_end_with_a_line(text_file):
    content = FileContent(text_file)
    assert content.text() == content.data().decode() == TEXT
    assert content.head == TEXT.encode()
    for size in (1, 5, 1000):
        parts = [content.part(*span) for span in content.spans(size)]
        assert b"".join(parts) == TEXT.encode()
        assert all(part.endswith(b"\n") for part in parts[:-1])
        assert all(part[size - 1 :].count(b"\n") <= 1 for part in parts)


def test_zero_bytes_behind_a_zstd_file_are_refused_as_zstd_refuses_them(tmp_path):
    path = tmp_path / "run.zst"
    path.write_bytes(zstandard.compress(TEXT.encode()) + b"\0")
    with pytest.raises(FileFormatError, match="truncated or damaged"):
        FileContent(path).text()


def test_polars_gets_a_path_where_it_can_open_it(text_file, tmp_path):
    source = FileContent(text_file).source()
    if text_file.read_bytes() == TEXT.encode():
        assert source == text_file
    else:
        assert source.read() == TEXT.encode()
    odd = tmp_path / "odd\nname"
    odd.write_text(TEXT)
    assert FileContent(odd).source().read() == TEXT.encode()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
def test_a_pipe_is_read_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    code = f"open({str(pipe)!r}, 'w').write('q1 d1 1')"
    with subprocess.Popen([sys.executable, "-c", code]):
        content = FileContent(pipe)
        assert (content.text(), content.text()) == ("q1 d1 1", "q1 d1 1")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (gzip.compress(b"x" * 1000, mtime=0)[:-4], "truncated or damaged"),
        (b"\x28\xb5\x2f\xfd" + b"no zstd", "truncated or damaged"),
        (b"a\0b", "a binary file"),
        (b"line\n\xff", "not UTF-8 text; convert"),
    ],
)
def test_damaged_files_are_refused_with_their_name(tmp_path, data, problem):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(FileFormatError, match=problem) as caught:
        FileContent(path).text()
    assert "file" in str(caught.value)


def test_the_name_of_a_file_is_that_of_its_system(tmp_path):
    assert file_stem(Path("runs/bm25.trec.gz")) == "bm25"
    assert file_stem(Path("bm25")) == "bm25"
    path = tmp_path / "file"
    path.write_bytes(gzip.compress(b""))
    assert is_gzip(path)
    assert file_sha256(Path(os.devnull)).startswith("e3b0c442")


def test_errors_of_parquet_readers_are_errors_of_the_file():
    class PanicException(BaseException):
        """An error that polars raises, which is not an Exception."""

    for error in (ValueError("broken"), PanicException("broken")):
        with (
            pytest.raises(FileFormatError, match=r"not a readable Parquet file \(broken\)"),
            parquet_errors(Path("file")),
        ):
            raise error
    with pytest.raises(KeyboardInterrupt), parquet_errors(Path("file")):
        raise KeyboardInterrupt


@pytest.mark.parametrize("text", ["", "x", "1_0", "nan", "inf", "1e999", "٣", "1\x1f"])
def test_only_finite_numbers_of_ascii_digits_are_numbers(text):
    assert read_number(Path("file"), 3, "score", " 1e2 ".strip()) == 100.0
    with pytest.raises(FileFormatError, match=r"the score .* is not a finite number"):
        read_number(Path("file"), 3, "score", text)


def test_zst_without_its_package_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match="zstandard"):
        import_zstandard()
    with pytest.raises(MissingExtraError, match="zstandard"):
        unpack(Path("file"), b"\x28\xb5\x2f\xfd")
    for write in (check_can_write, lambda path: write_atomically(path, b"")):
        with pytest.raises(MissingExtraError):
            write(tmp_path / "run.zst")
    assert list(tmp_path.iterdir()) == []


def test_records_make_a_table_with_a_column_of_floats_for_what_is_always_missing():
    frame = frame_of_records([{"name": "a", "low": None}, {"name": "b", "low": None}])
    assert frame.rows() == [("a", None), ("b", None)]
    assert list(map(str, frame.dtypes)) == ["String", "Float64"]


# Writing


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_what_is_written_is_read_again(tmp_path, suffix):
    path = tmp_path / f"file{suffix}"
    write_atomically(path, TEXT.encode())
    assert FileContent(path).text() == TEXT
    assert (path.read_bytes() == TEXT.encode()) == (suffix == "")


def test_a_device_is_written_to_and_a_folder_is_refused(tmp_path):
    write_atomically(Path(os.devnull), b"x")
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path, b"x")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="needs /dev/fd (Unix)")
def test_a_pipe_that_a_link_names_is_written_to():
    reading, writing = os.pipe()
    write_atomically(Path(f"/dev/fd/{writing}"), b"q1 d1")
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        assert file.read() == b"q1 d1"


def test_files_that_take_parts_of_the_data_get_all_of_it():
    class Slow(bytearray):
        def write(self, data):
            self.extend(data[:2])
            return min(2, len(data))

    file = Slow()
    write_all(file, b"abcde")
    assert bytes(file) == b"abcde"


def test_a_folder_is_synced_where_that_is_possible(tmp_path):
    sync_folder(tmp_path)
    sync_folder(tmp_path / "missing")


# Paths


@pytest.mark.parametrize(
    ("path", "problem"),
    [(3, "must be text or a Path, not 3"), (b"x", "must be text"), ("a\0b", "zero byte"),
     ("\ud800", "cannot be the name of a file"),
     ('{"q": 1}' * 1000, r"too long for the name of a file: .*, 8,000 characters; pass the path")],
)  # fmt: skip
def test_what_cannot_be_a_path_is_refused(path, problem):
    assert as_path("run.trec") == Path("run.trec")
    with pytest.raises(InputError, match=problem):
        as_path(path)


# Saved records


class Thing(Saved):
    """A record to save."""

    WHAT = "thing"
    sizes: tuple[int, ...]
    names: dict[str, float] = Field(default_factory=dict)
    title: str = ""

    def _check_loaded(self):
        if self.sizes == (13,):
            raise ValueError("sizes: 13 is not a size")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not a saved thing"),
        ("[" * 100_000, "not a saved thing"),
        ("[]", "layout 2 was expected, found a list; compare again"),
        ('{"schema_version": 1}', "layout 2 was expected, found schema_version 1"),
        ('{"schema_version": 2, "sizes": ["x"]}', r"sizes\.0: "),
        ('{"schema_version": 2, "sizes": [13]}', "sizes: 13 is not a size"),
        (
            '{"schema_version": 2, "sizes": ["a", "b", "c", "d", "e", "f", "g", "h"]}',
            "more problems",
        ),
        (
            '{"q1": {"d1": 1}}',
            r"this is JSON of a run or of judgements, not a saved thing; read it with read_run\(",
        ),
        ('{"query_ids": [], "values": [], "provenance": {}}', r"this is a saved result.*load\("),
        (
            '[{"query_ids": [], "values": [], "provenance": {}}]',
            r"a list whose first entry is a saved result.*EvaluationResult\.from_content\(",
        ),
        ("[1, 2]", "layout 2 was expected, found a list"),
        ("q1 Q0 d1 1 0.5 bm25\n", r"this is a TREC run, not a saved thing; read it with read_run"),
        ("\n<html>\n", "this is an HTML page, such as a report, not a saved thing$"),
        ("qid,docno,score\n1,2,3\n", "this is CSV of a run or of judgements"),
        ("some words\n", "not a saved thing: Expecting value"),
    ],
)
def test_another_file_is_refused_with_the_field_or_with_what_reads_it(tmp_path, text, problem):
    path = tmp_path / "record.json"
    path.write_text(text)
    with pytest.raises(ResultError, match=problem):
        Thing.load(path)


def test_a_folder_is_not_a_saved_record(tmp_path):
    with pytest.raises(ResultError, match="a folder, not the file of a saved thing"):
        Thing.load(tmp_path)


def test_a_key_or_a_text_that_is_not_unicode_cannot_be_saved(tmp_path):
    replacement = Thing(sizes=(1, 2), names={"\ufffd": 0.5})
    replacement.save(tmp_path / "replacement.json")
    assert Thing.load(tmp_path / "replacement.json") == replacement
    for wrong in ({"names": {"\ud800": 0.5}}, {"title": "\ud800"}):
        with pytest.raises(ResultError, match="not saved, the thing contains text"):
            Thing(sizes=(1, 2), **wrong).save(tmp_path / "record.json")
    assert [path.name for path in tmp_path.iterdir()] == ["replacement.json"]


def test_completion_offers_no_deprecated_methods():
    names = dir(Thing(sizes=()))
    assert {"save", "load", "model_dump"} <= set(names)
    assert not {"dict", "json", "copy", "parse_raw"} & set(names)


def test_the_first_bytes_of_a_file_show_whether_it_is_packed_or_parquet(tmp_path):
    shown = {b"\x1f\x8b\x08": (True, False), b"\x28\xb5\x2f\xfd": (True, False)}
    shown |= {b"PAR1": (False, True), b"PAR": (False, False), b"": (False, False)}
    for number, (content, expected) in enumerate(shown.items()):
        path = tmp_path / str(number)
        path.write_bytes(content)
        assert (is_packed(path), is_parquet(path)) == expected
    assert not is_parquet(tmp_path)
    assert not is_parquet(tmp_path / "missing")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_wide_text_is_refused_by_the_name_of_its_encoding(tmp_path, encoding, mark):
    data = (mark + "q1 0 d1 1\n" * 20).encode(encoding)
    name = encoding.upper().replace("-LE", "LE").replace("-BE", "BE").replace("-", "")
    assert wide_encoding(data).replace("-", "") == name
    with pytest.raises(FileFormatError, match="UTF-8 was expected; convert it"):
        check_is_text(tmp_path / "qrels.trec", data)


def test_binary_files_are_no_text_and_text_is(tmp_path):
    with pytest.raises(FileFormatError, match="a binary file"):
        check_is_text(tmp_path / "run.trec", b"\x00\x01\x02\x00" * 50 + b"\xff" * 51)
    check_is_text(tmp_path / "run.trec", "q1 0 d\u00e9 1\n".encode())
    assert not wide_encoding(b"q\x00")


def test_the_head_of_a_file_ends_with_a_whole_line(tmp_path):
    short = tmp_path / "short.tsv"
    short.write_bytes(b"q1\td1\t1\nq2\td2")
    assert FileContent(short).whole_lines_of_head().data() == b"q1\td1\t1\nq2\td2"
    long = tmp_path / "long.tsv"
    long.write_bytes(b"q1\td1\t1\n" * 50_000)
    head = FileContent(long).whole_lines_of_head().data()
    assert head.endswith(b"1\n")
    assert 60_000 < len(head) < 70_000


def test_a_name_with_a_path_in_it_is_one_part_of_a_file_name():
    assert part_of_file_name("runs/bm25") == "runs_bm25"
