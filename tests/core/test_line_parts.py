"""Files read in parts of whole lines, packed or not."""

import gzip

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from beir_eval.core.line_parts import line_parts, unpacked_blocks
from beir_eval.errors import FileFormatError

PACK = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}

contents = st.lists(st.sampled_from([b"", b"a", b"a line", b"a longer line of text"])).map(
    b"\n".join
)


@pytest.mark.parametrize("ending", PACK)
@given(content=contents, size=st.integers(1, 40))
def test_parts_are_whole_lines_that_add_up_to_the_content(tmp_path_factory, ending, content, size):
    path = tmp_path_factory.mktemp("parts") / f"run{ending}"
    path.write_bytes(PACK[ending](content))
    parts = list(line_parts(path, size))
    assert b"".join(part.data for part in parts) == content
    assert all(part.data.endswith(b"\n") for part in parts[:-1])
    first_line = 1
    for part in parts:
        assert part.first_line == first_line
        first_line += part.data.count(b"\n")
    assert not parts or parts[-1].bytes_read == path.stat().st_size


@pytest.mark.parametrize("ending", PACK)
def test_blocks_add_up_to_the_content_and_may_end_within_a_line(tmp_path, ending):
    path = tmp_path / f"run{ending}"
    path.write_bytes(PACK[ending](b"a line\nanother line\n"))
    blocks = list(unpacked_blocks(path, 5))
    assert b"".join(blocks) == b"a line\nanother line\n"
    assert ending or [len(block) for block in blocks] == [5, 5, 5, 5]


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_packed_files_one_after_the_other_are_one_content(tmp_path, ending):
    path = tmp_path / f"run{ending}"
    path.write_bytes(PACK[ending](b"a\n") + PACK[ending](b"b\n"))
    assert b"".join(part.data for part in line_parts(path, 1)) == b"a\nb\n"


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_packed_file_may_be_longer_than_what_is_read_at_a_time(tmp_path, ending, monkeypatch):
    monkeypatch.setattr("beir_eval.core.line_parts._PACKED_SIZE", 7)
    path = tmp_path / f"run{ending}"
    content = b"".join(b"line %d\n" % number for number in range(100))
    path.write_bytes(PACK[ending](content))
    assert b"".join(part.data for part in line_parts(path, 50)) == content


def test_zero_bytes_after_a_gzip_file_are_ignored(tmp_path):
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"a\n") + b"\0" * 10 + gzip.compress(b"b\n") + b"\0" * 10)
    assert b"".join(part.data for part in line_parts(path, 1)) == b"a\nb\n"


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_packed_file_that_is_cut_off_or_damaged_is_named(tmp_path, ending):
    path = tmp_path / f"run{ending}"
    packed = PACK[ending](b"a line\n" * 100)
    for damaged in (packed[:-5], packed[:8] + b"\xff\xff\xff" + packed[11:]):
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=rf"run{ending}: the packed file is truncated"):
            list(line_parts(path, 10))


def test_reading_a_packed_file_may_end_early(tmp_path):
    path = tmp_path / "run.gz"
    path.write_bytes(gzip.compress(b"a line\n" * 100))
    parts = line_parts(path, 10)
    assert next(parts).data.startswith(b"a line\na line\n")
    parts.close()
