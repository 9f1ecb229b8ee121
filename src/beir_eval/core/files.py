"""Files: their paths and names, read with clear errors (gzip and zstd too), hashed.

Also the kind of a file that was taken for another one, for messages that name the right call.
"""

from __future__ import annotations

import errno
import io
import math
import os
import re
import zlib
from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from beir_eval.core.column_names import DOC_NAMES, QUERY_NAMES, matching_names
from beir_eval.errors import FileFormatError, InputError, MissingExtraError, needs_extra, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
PARQUET_MAGIC = b"PAR1"
#: The size of a ``FileContent``'s head.
HEAD_SIZE = 1 << 16
#: The sizes of the first and of the largest part in which packed data is read.
_FIRST_PART, _LARGEST_PART = 1 << 13, 1 << 26
#: zlib's number for data in the format of gzip.
GZIP_FORMAT = 31
#: {byte order mark: encoding}; the marks of UTF-32 come first, since one begins as one of UTF-16.
_WIDE_MARKS = {
    b"\xff\xfe\0\0": "UTF-32LE",
    b"\0\0\xfe\xff": "UTF-32BE",
    b"\xff\xfe": "UTF-16LE",
    b"\xfe\xff": "UTF-16BE",
}
#: Bytes that are searched for the signs of a binary file.
_EXAMINED = 4096
#: The bytes of a character of UTF-32, and the highest value of the third of them.
_WIDEST, _HIGHEST_PLANE = 4, 0x10
#: The share of the characters of a text in UTF-16 that are blanks, digits, line ends and the like;
#: and the share if the text has no other bytes than those of ASCII text and zeros.
_LEAST_ZEROS, _LEAST_ZEROS_OF_ASCII = 0.1, 0.5
_ASCII_TEXT = bytes([0, *b"\t\n\v\f\r", *range(32, 127)])
_ZERO_BYTES = re.compile(rb"\0*")
#: (what messages call the record, the class that loads it, fields that only it has).
#: ``core`` imports none of these classes; a test compares the rows with them.
SAVED_RECORDS = (
    ("result", "EvaluationResult", {"query_ids", "values", "provenance"}),
    ("comparison", "Comparison", {"systems", "scores", "differences"}),
    ("comparison by slices", "SlicedComparison", {"columns", "slices"}),
    ("curve of checkpoints", "CheckpointCurve", {"checkpoints", "points"}),
    ("result of stages", "StagedResult", {"stages", "losses"}),
    ("comparison over data sets", "AcrossDatasets", {"averages", "by_dataset"}),
    ("experiment power", "ExperimentPower", {"fewest_differing", "smallest_margin"}),
    ("choice", "ChoiceResult", {"chosen_in", "in_sample"}),
    ("validation", "Validation", {"inputs", "findings"}),
    ("score table", "TableFacts", {"max_grade"}),
)
_TREC_COLUMNS = 6


def as_path(path: object, label: str = "the path") -> Path:
    """Return a path that a user passed.

    Args:
        path: a text or a path object.
        label: what the message calls the path.

    Raises:
        InputError: it is neither, or cannot be the name of a file, as with a zero byte or too many
            characters.
    """
    try:
        text = os.fspath(path)  # type: ignore[call-overload]
    except TypeError:
        text = None
    if not isinstance(text, str):
        msg = f"{label} must be text or a Path, not {shown(path)} of type {type(path).__name__}"
        raise InputError(msg)
    if "\0" in text:
        msg = f"{label} contains a zero byte: {shown(text)}"
        raise InputError(msg)
    try:
        os.fsencode(text)
    except UnicodeEncodeError as error:
        msg = f"{label} cannot be the name of a file: {shown(text)}"
        raise InputError(msg) from error
    if _is_too_long(text):
        msg = (
            f"{label} is too long for the name of a file: {shown(text)}, {len(text):,} characters; "
            "pass the path of a file, not its content"
        )
        raise InputError(msg)
    return Path(path)  # type: ignore[arg-type]


def _is_too_long(path: str) -> bool:
    """Return whether the system refuses a path for its length; the limits differ by file system."""
    try:
        os.lstat(path)
    except OSError as error:
        return error.errno == errno.ENAMETOOLONG
    return False


def name_as_text(name: str) -> str:
    r"""Return the name of a file with ``\xff`` for each byte that is not UTF-8.

    Such a byte is a surrogate in the name, which no file of text can contain.

    >>> name_as_text("bm25"), name_as_text("caf\udce9")
    ('bm25', 'caf\\xe9')
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def part_of_file_name(name: str) -> str:
    """Return a name as a part of the name of a file: a part of a path in it is no folder.

    >>> part_of_file_name("runs/bm25")
    'runs_bm25'
    """
    for separator in filter(None, ("/", os.sep, os.altsep)):
        name = name.replace(separator, "_")
    return name


class FileContent:
    """The content of a file, decompressed if its first bytes are those of gzip or zstd.

    Attributes:
        path: the file.
        head: the first 64 KiB of the decompressed content.

    Raises:
        FileFormatError: a compressed file is truncated or damaged.
        MissingExtraError: a zstd file without the package zstandard.
        OSError: the file does not exist, is a folder, or is not readable.
    """

    def __init__(self, path: Path) -> None:
        """Read the first bytes of ``path``; read all of a compressed file or a pipe."""
        self.path = path
        self._unpacked: bytes | None = None
        with path.open("rb") as file:
            self.head = file.read(HEAD_SIZE)
            # A pipe can be read only once.
            if not path.is_file() or self.head.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
                self._unpacked = unpack(path, self.head + file.read())
                self.head = self._unpacked[:HEAD_SIZE]

    @classmethod
    def from_bytes(cls, path: Path, data: bytes) -> FileContent:
        """Return content that stands for that of a file, such as a corrected copy of it.

        Args:
            path: the file, for messages.
            data: the decompressed content.
        """
        content = cls.__new__(cls)
        content.path, content.head, content._unpacked = path, data[:HEAD_SIZE], data  # noqa: SLF001
        return content

    def data(self) -> bytes:
        """Return the whole content."""
        return self.path.read_bytes() if self._unpacked is None else self._unpacked

    def whole_lines_of_head(self) -> FileContent:
        """Return a content of the first bytes only, without a line that they cut."""
        end = len(self.head) if len(self.head) < HEAD_SIZE else self.head.rfind(b"\n") + 1
        return FileContent.from_bytes(self.path, self.head[:end])

    def source(self) -> Path | io.BytesIO:
        """Return what polars can read the content from: the path, or a buffer of the bytes.

        A buffer is needed for a compressed file, and for a path with unprintable characters:
        polars cannot open a path that is not valid Unicode.
        """
        if self._unpacked is None and str(self.path).isprintable():
            return self.path.absolute()
        return io.BytesIO(self.data())

    def spans(self, size: int) -> list[tuple[int, int]]:
        """Return where parts of about ``size`` bytes begin and end; each ends with a line."""
        if self._unpacked is not None:
            return _spans(io.BytesIO(self._unpacked), size)
        with self.path.open("rb") as file:
            return _spans(file, size)

    def part(self, begin: int, end: int) -> bytes:
        """Return the bytes of a span; several threads may do so at once."""
        if self._unpacked is not None:
            return self._unpacked[begin:end]
        with self.path.open("rb") as file:
            file.seek(begin)
            return file.read(end - begin)

    def text(self) -> str:
        """Return the whole content as text; a UTF-8 byte order mark is dropped.

        Raises:
            FileFormatError: the file is binary or not UTF-8.
        """
        return decode(self.path, self.data())


def _spans(file: BinaryIO, size: int) -> list[tuple[int, int]]:
    """Return what ``FileContent.spans`` describes."""
    total = file.seek(0, io.SEEK_END)
    ends = [0]
    while ends[-1] < total:
        file.seek(ends[-1] + size - 1)
        file.readline()
        ends.append(min(file.tell(), total))
    return list(pairwise(ends))


def plain_name(path: Path) -> str:
    """Return a file's name without .gz and .zst."""
    return path.name.removesuffix(".gz").removesuffix(".zst")


def file_stem(path: Path) -> str:
    """Return a file's name without its extension, and without .gz and .zst: a system's name."""
    name = name_as_text(plain_name(path))
    return name.rpartition(".")[0] or name


def is_gzip(path: Path) -> bool:
    """Return whether a file starts with the first bytes of gzip."""
    with path.open("rb") as file:
        return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC


def is_packed(path: Path) -> bool:
    """Return whether a file starts with the first bytes of gzip or zstd."""
    with path.open("rb") as file:
        return file.read(len(ZSTD_MAGIC)).startswith((GZIP_MAGIC, ZSTD_MAGIC))


def is_parquet(path: Path) -> bool:
    """Return whether a file starts with the first bytes of Parquet; False for what is no file."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC


@contextmanager
def parquet_errors(path: Path) -> Iterator[None]:
    """Raise FileFormatError for every error inside the ``with`` block, also for a missing file."""
    try:
        yield
    except BaseException as error:
        if not is_of_polars(error):
            raise
        # polars 1.30 adds lines about its plan.
        reason = str(error).partition("\n")[0]
        raise FileFormatError(path, f"not a readable Parquet file ({reason})") from error


def is_of_polars(error: BaseException) -> bool:
    """Return whether polars may have raised an error: its PanicException is not an Exception."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def file_sha256(path: Path) -> str:
    """Return the SHA-256 (hex) of a file's bytes."""
    import hashlib  # noqa: PLC0415 - loads OpenSSL, and is rarely needed

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def unpack(path: Path, data: bytes) -> bytes:
    """Return ``data`` decompressed if its first bytes are those of gzip or zstd, else unchanged.

    Args:
        path: the file of the data, for messages.
        data: the bytes.

    Raises:
        FileFormatError: the compressed data is truncated or damaged.
        MissingExtraError: zstd without the package zstandard.
    """
    try:
        if data.startswith(GZIP_MAGIC):
            new_decompressor = partial(zlib.decompressobj, wbits=GZIP_FORMAT)
            return _unpack_members(data, new_decompressor, padded=True)
        if data.startswith(ZSTD_MAGIC):
            return _unpack_zstd(data)
    except MissingExtraError:
        raise
    except Exception as error:
        # Each library raises its own errors for damaged data, and none of them names the file.
        problem = f"the packed file is truncated or damaged ({error}); fetch or pack it again"
        raise FileFormatError(path, problem) from error
    return data


def _unpack_zstd(data: bytes) -> bytes:
    new_decompressor = import_zstandard().ZstdDecompressor().decompressobj
    return _unpack_members(data, new_decompressor, padded=False)


def _unpack_members(data: bytes, new_decompressor: Callable[[], Any], *, padded: bool) -> bytes:
    """Return the content of packed data, which may be several packed files one after the other.

    The first member gets all of the data, further ones small parts of it: a decompressor copies
    what follows its member, which would take time quadratic in the number of members.

    Args:
        data: the packed bytes.
        new_decompressor: a function that returns a decompressor of one member.
        padded: whether zero bytes after a member are ignored, as the program gzip does; the program
            zstd refuses them.
    """
    view, position, contents = memoryview(data), 0, []
    while position < len(data):
        member, size = new_decompressor(), _FIRST_PART if position else len(data)
        while not member.eof:
            part = view[position : position + size]
            if not len(part):
                raise EOFError("the last member has no end")
            contents.append(member.decompress(part))
            position += len(part) - len(member.unused_data)
            size = min(8 * size, _LARGEST_PART)
        if padded:
            position = _ZERO_BYTES.match(data, position).end()  # type: ignore[union-attr]
    return contents[0] if len(contents) == 1 else b"".join(contents)


def import_zstandard() -> Any:
    """Return the package zstandard.

    Raises:
        MissingExtraError: it is not installed.
    """
    with needs_extra("zstandard", "files", "a .zst file"):
        import zstandard  # noqa: PLC0415 - an extra
    return zstandard


def decode(path: Path, data: bytes) -> str:
    """Return the UTF-8 text of ``data``, the bytes of ``path``; a byte order mark is dropped.

    Raises:
        FileFormatError: the data is binary, or not UTF-8 (the error has the line number).
    """
    check_is_text(path, data)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problem = "not UTF-8 text; convert the file to UTF-8"
        raise FileFormatError(path, problem, line=line) from error


def is_binary(data: bytes) -> bool:
    """Return whether the first bytes are those of UTF-16 or UTF-32, or 4,096 have a zero byte."""
    return b"\0" in data[:_EXAMINED] or data.startswith(tuple(_WIDE_MARKS))


def wide_encoding(data: bytes) -> str:
    """Return "UTF-16LE" or the like if the first bytes are text in this encoding; else "".

    Without a byte order mark, the upper bytes of characters show it: those of UTF-32 are zero, and
    in UTF-16 those of blanks, digits and line ends, whereas no lower byte of usual text is zero.

    Args:
        data: the first bytes of a file, or all.

    >>> wide_encoding("q1 0 d1 1".encode("utf-16-be")), wide_encoding(b"q1 0 d1 1")
    ('UTF-16BE', '')
    """
    for mark, encoding in _WIDE_MARKS.items():
        if data.startswith(mark):
            return encoding
    examined = data[:_EXAMINED]
    if b"\0" not in examined or len(examined) < _WIDEST:
        return ""
    first, second, third, fourth = (examined[start::_WIDEST] for start in range(_WIDEST))
    if max(fourth) == 0 and max(third) <= _HIGHEST_PLANE:
        return "UTF-32LE"
    if max(first) == 0 and max(second) <= _HIGHEST_PLANE:
        return "UTF-32BE"
    is_ascii = not examined.translate(None, _ASCII_TEXT)
    least = _LEAST_ZEROS_OF_ASCII if is_ascii else _LEAST_ZEROS
    even, odd = examined[::2], examined[1::2]
    for encoding, lower, upper in (("UTF-16LE", even, odd), ("UTF-16BE", odd, even)):
        if not lower.count(0) and upper.count(0) >= len(upper) * least:
            return encoding
    return ""


def check_is_text(path: Path, data: bytes) -> None:
    """Check that ``data``, the bytes of ``path``, may be UTF-8 text, or raise FileFormatError."""
    if encoding := wide_encoding(data):
        name = encoding if not data.startswith(tuple(_WIDE_MARKS)) else encoding[:6]
        problem = (
            f"{encoding} text, where UTF-8 was expected; convert it, such as with iconv -f {name} "
            "-t UTF-8 FILE > NEW_FILE"
        )
        raise FileFormatError(path, problem)
    if is_binary(data):
        problem = "a binary file, where lines of text were expected"
        raise FileFormatError(path, problem)


def split_fields(line: str) -> list[str]:
    """Split a line at ASCII white space only, as trec_eval does.

    >>> split_fields("q1  d1 1")
    ['q1', 'd1', '1']
    """
    return [field.decode() for field in line.encode().split()]


def read_number(path: Path, line: int, label: str, text: str) -> float:
    """Return the finite number that ``text`` spells.

    Args:
        path: the file, for messages.
        line: the 1-based line number, for messages.
        label: what messages call the number, for example "score".
        text: the text of the number.

    Raises:
        FileFormatError: the text is not a finite number.
    """
    value = _number(text)
    if value is None:
        has_comma = text.count(",") == 1 and is_number(text.replace(",", "."))
        hint = ": write a decimal point, not a comma" if has_comma else ""
        problem = f"the {label} {shown(text)} is not a finite number{hint}"
        raise FileFormatError(path, problem, line=line)
    return value


def is_number(text: str) -> bool:
    """Return whether a text spells a finite number, as ``read_number`` reads it."""
    return _number(text) is not None


def _number(text: str) -> float | None:
    """Return the finite number that a text spells; None if it spells none."""
    try:
        value = float(text)
    except ValueError:
        return None
    # float() also reads "1_0" as 10, digits of other scripts, and control characters around them.
    if not math.isfinite(value) or "_" in text or not (text.isascii() and text.isprintable()):
        return None
    return value


def kind_of_json(content: object) -> tuple[str, str]:
    """Return what parsed JSON is, and the call that reads it; two empty texts if it is unknown.

    >>> kind_of_json({"q1": {"d1": 0.5}})
    ('JSON of a run or of judgements', 'read_run(path) or read_qrels(path)')
    """
    if isinstance(content, list) and content:
        kind, call = kind_of_json(content[0])
        if kind.startswith("a saved "):
            return (
                f"a list whose first entry is {kind}, as evaluate -o r.json writes it",
                f"{call.partition('.')[0]}.from_content(entry, path) for each entry",
            )
        return "", ""
    if not isinstance(content, Mapping) or not content:
        return "", ""
    for kind, name, fields in SAVED_RECORDS:
        if fields <= content.keys():
            return f"a saved {kind}", f"{name}.load(path)"
    if all(isinstance(value, Mapping) for value in content.values()):
        return "JSON of a run or of judgements", "read_run(path) or read_qrels(path)"
    return "", ""


def kind_of_text(text: str) -> tuple[str, str]:
    """Return what a text that is not JSON is, and the call that reads it; else two empty texts.

    Args:
        text: the text of a file, or its beginning.

    >>> kind_of_text("q1 Q0 d1 1 0.9 bm25")
    ('a TREC run', 'read_run(path)')
    """
    line = next((line for line in text.splitlines() if line.strip()), "")
    if line.lstrip().startswith("<"):
        return "an HTML page, such as a report", ""
    if len(line.split()) == _TREC_COLUMNS:
        return "a TREC run", "read_run(path)"
    names = [name.strip(' "') for name in line.split(",")]
    if matching_names(names, QUERY_NAMES) and matching_names(names, DOC_NAMES):
        return "CSV of a run or of judgements", "read_run(path) or read_qrels(path)"
    return "", ""
