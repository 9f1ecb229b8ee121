"""Documents and queries in files: JSON lines and Parquet, read when they are asked for."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
import weakref
import zlib
from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from beir_eval.core.files import is_gzip, parquet_errors
from beir_eval.core.ids import id_text
from beir_eval.errors import FileFormatError, needs_extra

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_ID_NAMES = ("_id", "id", "doc_id", "docid", "corpus-id", "query-id", "query_id")
_TEXT_NAMES = ("text", "contents", "query")
#: Rows of a Parquet file that are held at a time.
_BATCH = 10_000


class Document(NamedTuple):
    """One document: its id, its title ("" where it has none) and its text."""

    doc_id: str
    title: str
    text: str


class Corpus(ABC):
    """The documents of a data set: none is read before it is asked for, and none is kept.

    Iterating yields each ``Document`` in the order of the file. ``corpus[doc_id]`` looks one up;
    the first look-up reads the file once for an index of places. ``len(corpus)`` counts once.
    """

    #: The file, the folder or the table.
    name: str

    @abstractmethod
    def _placed(self) -> Iterator[tuple[int, Document]]:
        """Yield every document with the place by which ``_at`` finds it."""

    @abstractmethod
    def _at(self, place: int) -> Document:
        """Return the document at a place."""

    def __iter__(self) -> Iterator[Document]:
        """Yield every document in the order of the file.

        Raises:
            FileFormatError: a record is none, or has no id or no text.
        """
        for _, document in self._placed():
            yield document

    @cached_property
    def _place_of(self) -> Mapping[str, int]:
        place_of: dict[str, int] = {}
        for place, document in self._placed():
            if document.doc_id in place_of:
                raise FileFormatError(self.name, f"document {document.doc_id!r} stands twice")
            place_of[document.doc_id] = place
        return place_of

    @cached_property
    def _count(self) -> int:
        return sum(1 for _ in self)

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self._place_of) if "_place_of" in vars(self) else self._count

    def __contains__(self, doc_id: object) -> bool:
        """Return whether there is a document of that id."""
        return doc_id in self._place_of

    def __getitem__(self, doc_id: str) -> Document:
        """Return one document.

        Raises:
            KeyError: there is no document of that id.
        """
        return self._at(self._place_of[doc_id])

    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of all documents, in their order; reads the whole corpus."""
        import hashlib  # noqa: PLC0415 - loads OpenSSL, and few ask for it

        digest = hashlib.sha256()
        for document in self:
            digest.update(json.dumps(document).encode())
        return digest.hexdigest()

    def as_dict(self) -> dict[str, dict[str, str]]:
        """Return {doc_id: {"title", "text"}}, all in memory: what BEIR's retrievers take.

        Raises:
            FileFormatError: a document stands twice.
        """
        listed = list(self)
        texts = {one.doc_id: {"title": one.title, "text": one.text} for one in listed}
        if len(texts) < len(listed):
            raise FileFormatError(self.name, "a document stands twice")
        return texts

    def __repr__(self) -> str:
        """Return the name, not the content."""
        return f"Corpus({self.name!r})"


class JsonlCorpus(Corpus):
    """A corpus of JSON lines, packed or not."""

    def __init__(self, path: Path) -> None:
        """Take the file; it is not opened."""
        self.path = path
        self.name = str(path)

    def __reduce__(self) -> tuple[type[JsonlCorpus], tuple[Path]]:
        """Pickle by the file: the index is made again where it is wanted."""
        return JsonlCorpus, (self.path,)

    def _placed(self) -> Iterator[tuple[int, Document]]:
        for offset, number, record in _records(self.path):
            yield offset, _document(self.path, number, record)

    def _at(self, place: int) -> Document:
        # Opened for each look-up: threads and processes must not move each other's place.
        with self._unpacked.open("rb") as file:
            file.seek(place)
            number = None if place else 1  # a byte order mark may begin the file
            return _document(self.path, None, _record(self.path, number, file.readline()))

    @cached_property
    def _unpacked(self) -> Path:
        """The file, or a temporary copy of what it packs: only there is a place found quickly."""
        if not is_gzip(self.path):
            return self.path
        folder = tempfile.mkdtemp(prefix="beir-eval-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        copy = Path(folder, "corpus.jsonl")
        with _open_packed(self.path) as file, copy.open("wb") as target:
            shutil.copyfileobj(file, target)
        return copy


class TableCorpus(Corpus):
    """A corpus of rows: Parquet files, or a table of the package ``datasets``."""

    def __init__(self, name: str, rows: Sequence[Mapping[str, Any]] | ParquetRows) -> None:
        """Take the rows; none is read."""
        self.name = name
        self._rows = rows

    def _placed(self) -> Iterator[tuple[int, Document]]:
        for place, row in enumerate(self._rows):
            yield place, _document(self.name, place + 1, row)

    def _at(self, place: int) -> Document:
        return _document(self.name, place + 1, self._rows[place])


class ParquetRows:
    """The rows of Parquet files, a batch at a time."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Take the files; they are not opened."""
        self._paths = list(paths)

    @cached_property
    def _frame(self) -> Any:
        with needs_extra("polars", "files", "reading a Parquet file"):
            import polars as pl  # noqa: PLC0415 - an extra
        return pl.scan_parquet(self._paths, glob=False)

    def _batch(self, begin: int, size: int) -> Any:
        with parquet_errors(self._paths[0]):
            return self._frame.slice(begin, size).collect()

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        """Yield every row."""
        begin = 0
        while len(batch := self._batch(begin, _BATCH)):
            yield from batch.iter_rows(named=True)
            begin += len(batch)

    def __getitem__(self, place: int) -> Mapping[str, Any]:
        """Return one row."""
        row: Mapping[str, Any] = self._batch(place, 1).row(0, named=True)
        return row


def read_queries(path: Path) -> Iterator[tuple[str, str]]:
    """Yield id and text of every query of a file of JSON lines.

    Raises:
        FileFormatError: a record is none, or has no id or no text.
    """
    for _, number, record in _records(path):
        yield _id_and_text(path, number, record)


def read_metadata(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield id and metadata of every query of a file of JSON lines, {} where it has none.

    Raises:
        FileFormatError: a record is none, or has no id, or metadata that is no object.
    """
    for _, number, record in _records(path):
        metadata = record.get("metadata")
        if not isinstance(metadata, dict | None):
            problem = f"metadata must be an object, not {str(metadata)[:60]!r}"
            raise FileFormatError(path, problem, line=number)
        yield _id(path, number, record), metadata or {}


def queries_of_rows(
    name: Path | str, rows: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield id and text of every row of a table."""
    for place, row in enumerate(rows, start=1):
        yield _id_and_text(name, place, row)


def _records(path: Path) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yield offset, 1-based number and JSON object of every line that is not blank."""
    with _open_packed(path) as file:
        offset = 0
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield offset, number, _record(path, number, line)
            offset += len(line)


def _open_packed(path: Path) -> IO[bytes]:
    """Open a file for reading, unpacked where it is gzip."""
    return _Unpacked(path) if is_gzip(path) else path.open("rb")  # type: ignore[return-value]


class _Unpacked(gzip.GzipFile):
    """A gzip file that names itself when it is damaged."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._path = path

    def __next__(self) -> bytes:
        try:
            return super().__next__()
        except (EOFError, OSError, zlib.error) as error:
            problem = f"the packed file is truncated or damaged ({error}); fetch or pack it again"
            raise FileFormatError(self._path, problem) from error


def _record(path: Path, number: int | None, line: bytes) -> Mapping[str, Any]:
    """Return the JSON object of one line, or raise FileFormatError."""
    try:
        record = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise FileFormatError(path, f"not a line of JSON ({error})", line=number) from error
    if not isinstance(record, dict):
        problem = f'a record such as {{"_id": …, "text": …}} was expected, not {str(record)[:60]!r}'
        raise FileFormatError(path, problem, line=number)
    return record


def _document(name: Path | str, number: int | None, record: Mapping[str, Any]) -> Document:
    title = record.get("title")
    doc_id, text = _id_and_text(name, number, record)
    return Document(doc_id, "" if title is None else str(title), text)


def _id_and_text(
    name: Path | str, number: int | None, record: Mapping[str, Any]
) -> tuple[str, str]:
    """Return id and text of a query's or document's record, or raise FileFormatError."""
    return _id(name, number, record), _text(name, number, record)


def _id(name: Path | str, number: int | None, record: Mapping[str, Any]) -> str:
    found = [record[one] for one in _ID_NAMES if one in record]
    try:
        return id_text(found[0])
    except (IndexError, TypeError, ValueError) as error:
        problem = f"the record has no id: expected one of {', '.join(_ID_NAMES)}"
        raise FileFormatError(name, problem, line=number) from error


def _text(name: Path | str, number: int | None, record: Mapping[str, Any]) -> str:
    found = [record[one] for one in _TEXT_NAMES if isinstance(record.get(one), str)]
    if not found:
        problem = f"the record has no text: expected one of {', '.join(_TEXT_NAMES)}"
        raise FileFormatError(name, problem, line=number)
    text: str = found[0]
    return text
