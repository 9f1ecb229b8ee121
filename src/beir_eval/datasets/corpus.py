"""``Corpus`` and readers of queries: JSON-lines files and tables, read row by row when used.

Of a large corpus an index is saved: the position of each document in its file.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import tempfile
import weakref
import zlib
from abc import ABC, abstractmethod
from array import array
from contextlib import suppress
from functools import cached_property
from hashlib import blake2b, sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.adapters.dataset_folder import ID_NAMES
from beir_eval.core.atomic_writes import write_atomically
from beir_eval.core.files import is_gzip, parquet_errors
from beir_eval.core.ids import id_text
from beir_eval.errors import FileFormatError, needs_extra, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

#: The fields that may hold the text of a record; the first match is used.
_TEXT_NAMES = ("text", "contents", "query")
#: The begin of a record whose first key is "_id" with an id that has no escapes: most records.
_PLAIN_ID = re.compile(rb'[ \t]*\{[ \t]*"_id"[ \t]*:[ \t]*"([^"\\\x00-\x1f\x80-\xff]+)"')
#: Rows of a Parquet file that are read at a time.
_BATCH_ROWS = 10_000
#: The column that is added to the rows of a Parquet file to number them.
_INDEX_COLUMN = "beir-eval: index of the row"
#: Files with at least so many bytes get an index that is saved.
_LARGE_FILE = 64 * 2**20
#: Part of the names of the saved files; another number for another layout of the table.
_VERSION = 1
_HASH_BYTES = 8


class Document(NamedTuple):
    """One document: its id, its title ("" without a title), its text and its metadata."""

    doc_id: str
    title: str
    text: str
    metadata: Mapping[str, Any] = {}


class Corpus(ABC):
    """The documents of a data set, read when they are used and not kept in memory.

    Iterating yields each ``Document`` in the order of the file. ``documents(doc_ids)`` returns some
    of them. ``corpus[doc_id]`` returns one document; the first look-up reads the whole file, to
    index the positions of the documents. ``len(corpus)`` reads the file if there is no index yet.

    The index of a JSON-lines file of 64 MiB or more is saved in the user's cache folder
    (``$XDG_CACHE_HOME/beir-eval``, by default ``~/.cache/beir-eval``), 16 bytes for each document.
    It is used again until the file changes. If it cannot be saved, it is built again when needed.
    """

    #: The file, the folder or the table, as error messages name it.
    name: str

    @abstractmethod
    def _documents_with_positions(self) -> Iterator[tuple[int, Document]]:
        """Yield (position, document) in the order of the file; see ``_document_at``."""

    @abstractmethod
    def _document_at(self, position: int) -> Document:
        """Return the document at a position: a byte offset, or the index of a row."""

    def __iter__(self) -> Iterator[Document]:
        """Yield every document in the order of the file.

        Raises:
            FileFormatError: a record is malformed, or has no id or no text.
        """
        for _, document in self._documents_with_positions():
            yield document

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        """{doc_id: position} of all documents."""
        positions: dict[str, int] = {}
        for position, document in self._documents_with_positions():
            if document.doc_id in positions:
                raise FileFormatError(
                    self.name, f"document {shown(document.doc_id)} is listed twice"
                )
            positions[document.doc_id] = position
        return positions

    @cached_property
    def _count(self) -> int:
        return sum(1 for _ in self)

    def documents(self, doc_ids: Collection[str]) -> dict[str, Document]:
        """Return {doc_id: document} of those documents that the corpus has, in its order.

        Without an index, this is faster than one look-up after the other: the file is read until
        the last document is found. Of documents with the same id, the first is returned.

        Raises:
            FileFormatError: a record that was read is malformed, or has no id or no text.
        """
        wanted = frozenset(doc_ids)
        documents: dict[str, Document] = {}
        for document in self._candidates(wanted) if wanted else ():
            if document.doc_id in wanted:
                documents.setdefault(document.doc_id, document)
                if len(documents) == len(wanted):
                    break
        return documents

    def _candidates(self, _wanted: frozenset[str]) -> Iterator[Document]:
        """Yield at least the wanted documents that the corpus has, in the order of the file."""
        return iter(self)

    def _position_of(self, doc_id: object) -> int | None:
        return self._positions.get(doc_id)  # type: ignore[call-overload, no-any-return]

    def __len__(self) -> int:
        """Return the number of documents; ids that are listed twice are not looked for.

        Raises:
            FileFormatError: a record is malformed, or has no id or no text.
        """
        return len(self._positions) if "_positions" in vars(self) else self._count

    def __contains__(self, doc_id: object) -> bool:
        """Return whether the corpus has a document of this id.

        Raises:
            FileFormatError: a record is malformed, or two documents have the same id.
        """
        return self._position_of(doc_id) is not None

    def __getitem__(self, doc_id: str) -> Document:
        """Return the document of this id.

        Raises:
            KeyError: there is no document of this id.
            FileFormatError: a record is malformed, or two documents have the same id.
        """
        position = self._position_of(doc_id)
        if position is None:
            raise KeyError(doc_id)
        return self._document_at(position)

    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of all documents in order; this reads the whole corpus.

        Raises:
            FileFormatError: a record is malformed, or has no id or no text.
        """
        import hashlib  # noqa: PLC0415 - loads OpenSSL, and few callers use it

        digest = hashlib.sha256()
        for document in self:
            parts = document if document.metadata else document[:3]
            digest.update(json.dumps(parts, default=repr).encode())
        return digest.hexdigest()

    def as_dict(self) -> dict[str, dict[str, str]]:
        """Return {doc_id: {"title": …, "text": …}}, all in memory, as BEIR's retrievers expect it.

        Raises:
            FileFormatError: a record is malformed, or two documents have the same id.
        """
        documents = list(self)
        texts = {
            document.doc_id: {"title": document.title, "text": document.text}
            for document in documents
        }
        if len(texts) < len(documents):
            raise FileFormatError(self.name, "a document is listed twice")
        return texts

    def __repr__(self) -> str:
        """Return ``Corpus('name')``; no document is read."""
        return f"Corpus({self.name!r})"


class JsonlCorpus(Corpus):
    """A corpus in a JSON-lines file, with or without gzip."""

    def __init__(self, path: Path) -> None:
        """Keep the path; the file is opened when documents are read."""
        self.path = path
        self.name = str(path)

    def __reduce__(self) -> tuple[type[JsonlCorpus], tuple[Path]]:
        """Pickle the path only: an unpickled corpus builds its own index."""
        return JsonlCorpus, (self.path,)

    def _documents_with_positions(self) -> Iterator[tuple[int, Document]]:
        for offset, number, record in read_records(self.path):
            yield offset, _document_from_record(self.path, number, record)

    def _candidates(self, wanted: frozenset[str]) -> Iterator[Document]:
        if self._index is not None:
            offsets = {offset for doc_id in wanted for offset in self._index.offsets(doc_id)}
            yield from map(self._document_at, sorted(offsets))
            return
        for _, number, line, doc_id in _read_ids(self.path):
            if doc_id in wanted:
                record = _parse_line(self.path, number, line)
                yield _document_from_record(self.path, number, record)

    def _position_of(self, doc_id: object) -> int | None:
        if self._index is None:
            return super()._position_of(doc_id)
        candidates = self._index.offsets(doc_id) if isinstance(doc_id, str) else []
        positions = [
            position for position in candidates if self._document_at(position).doc_id == doc_id
        ]
        if len(positions) > 1:
            raise FileFormatError(self.name, f"document {shown(str(doc_id))} is listed twice")
        return positions[0] if positions else None

    @cached_property
    def _index(self) -> CorpusIndex | None:
        """The index of a large file in which any position can be read; None for other files."""
        if self.path.stat().st_size < _LARGE_FILE or is_gzip(self.path):
            return None
        return open_index(self.path, self._offsets_and_ids)

    def _offsets_and_ids(self) -> Iterator[tuple[int, str]]:
        return ((offset, doc_id) for offset, _, _, doc_id in _read_ids(self.path))

    def __len__(self) -> int:
        """Return the number of documents; ids that are listed twice are not looked for.

        Raises:
            FileFormatError: a record is malformed, or has no id or no text.
        """
        return super().__len__() if self._index is None else len(self._index)

    def _document_at(self, position: int) -> Document:
        # Open the file for each look-up: threads and processes must not share a file position.
        with self._seekable_file.open("rb") as file:
            file.seek(position)
            number = None if position else 1  # the first line may begin with a byte order mark
            return _document_from_record(
                self.path, None, _parse_line(self.path, number, file.readline())
            )

    @cached_property
    def _seekable_file(self) -> Path:
        """The file, or a temporary unpacked copy if it is gzip, in which seeking is slow."""
        if not is_gzip(self.path):
            return self.path
        folder = tempfile.mkdtemp(prefix="beir-eval-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        copy = Path(folder, "corpus.jsonl")
        with _open_unpacked(self.path) as file, copy.open("wb") as target:
            shutil.copyfileobj(file, target)
        return copy


class TableCorpus(Corpus):
    """A corpus in a table: Parquet files, or a table of the package ``datasets``."""

    def __init__(self, name: str, rows: Sequence[Mapping[str, Any]] | ParquetRows) -> None:
        """Keep the rows; they are read when documents are used."""
        self.name = name
        self._rows = rows

    def _documents_with_positions(self) -> Iterator[tuple[int, Document]]:
        for position, row in enumerate(self._rows):
            yield position, _document_from_record(self.name, position + 1, row)

    def _document_at(self, position: int) -> Document:
        return _document_from_record(self.name, position + 1, self._rows[position])

    def _candidates(self, wanted: frozenset[str]) -> Iterator[Document]:
        if not isinstance(self._rows, ParquetRows):
            return super()._candidates(wanted)
        rows = self._rows.with_ids(wanted)
        return (_document_from_record(self.name, position + 1, row) for position, row in rows)


class ParquetRows:
    """The rows of Parquet files, read in batches."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Keep the paths; the files are opened when rows are read."""
        self._paths = list(paths)

    @cached_property
    def _frame(self) -> Any:
        with needs_extra("polars", "files", "reading a Parquet file"):
            import polars as pl  # noqa: PLC0415 - an extra
        with parquet_errors(self._paths[0]):
            return pl.scan_parquet(self._paths, glob=False)

    def _read_rows(self, begin: int, size: int) -> Any:
        """Return at most ``size`` rows from row ``begin`` (0-based), as a polars data frame."""
        frame = self._frame
        with parquet_errors(self._paths[0]):
            return frame.slice(begin, size).collect()

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        """Yield every row as {column: value}."""
        begin = 0
        while len(batch := self._read_rows(begin, _BATCH_ROWS)):
            yield from batch.iter_rows(named=True)
            begin += len(batch)

    def with_ids(self, ids: Collection[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Yield (index, {column: value}) of the rows with one of these ids, in order.

        If the ids are neither text nor whole numbers, or if there is no column of ids, yield all
        rows.
        """
        with needs_extra("polars", "files", "reading a Parquet file"):
            import polars as pl  # noqa: PLC0415 - an extra
        with parquet_errors(self._paths[0]):
            schema = self._frame.collect_schema()
        name = next((name for name in ID_NAMES if name in schema), None)
        if name is None or not (schema[name] == pl.String or schema[name].is_integer()):
            yield from enumerate(self)
            return
        with parquet_errors(self._paths[0]):
            rows = (
                self._frame.with_row_index(_INDEX_COLUMN)
                .filter(pl.col(name).cast(pl.String).is_in(list(ids)))
                .collect()
            )
        for row in rows.iter_rows(named=True):
            yield row[_INDEX_COLUMN], row

    def __getitem__(self, index: int) -> Mapping[str, Any]:
        """Return the row at an index (0-based) as {column: value}."""
        row: Mapping[str, Any] = self._read_rows(index, 1).row(0, named=True)
        return row


def read_queries(path: Path) -> Iterator[tuple[str, str]]:
    """Yield (query_id, text) of every query in a JSON-lines file.

    Raises:
        FileFormatError: a record is malformed, or has no id or no text.
    """
    for _, number, record in read_records(path):
        yield _id_and_text(path, number, record)


def read_query_metadata(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (query_id, metadata) of every query in a JSON-lines file; {} if it has no metadata.

    Raises:
        FileFormatError: a record is malformed, has no id, or has metadata other than an object.
    """
    for _, number, record in read_records(path):
        metadata = record.get("metadata")
        if not isinstance(metadata, dict | None):
            problem = f"metadata must be an object, not {shown(metadata)}"
            raise FileFormatError(path, problem, line=number)
        yield record_id(path, number, record), metadata or {}


def queries_from_rows(
    name: Path | str, rows: Iterable[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield (query_id, text) of every row in a table.

    Args:
        name: the file or table, for error messages.
        rows: the rows as {column: value}.

    Raises:
        FileFormatError: a row has no id or no text.
    """
    for number, row in enumerate(rows, start=1):
        yield _id_and_text(name, number, row)


def read_records(path: Path) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """Yield (byte offset, 1-based line number, JSON object) of every line that is not blank."""
    for offset, number, line in _read_lines(path):
        yield offset, number, _parse_line(path, number, line)


def _read_ids(path: Path) -> Iterator[tuple[int, int, bytes, str]]:
    """Yield (byte offset, 1-based line number, line, id) of every line that is not blank.

    Of most lines only the beginning is looked at, which is several times faster than reading the
    record: the rest of the line may be malformed.
    """
    for offset, number, line in _read_lines(path):
        plain = _PLAIN_ID.match(line)
        if plain is not None and line.count(b'"_id"') == 1:
            doc_id = plain[1].decode("ascii")
        else:
            doc_id = record_id(path, number, _parse_line(path, number, line))
        yield offset, number, line, doc_id


def _read_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Yield (byte offset, 1-based line number, line) of every line that is not blank."""
    with _open_unpacked(path) as file:
        offset = 0
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield offset, number, line
            offset += len(line)


def _open_unpacked(path: Path) -> IO[bytes]:
    """Open a file for reading; a gzip file is unpacked while it is read."""
    return _GzipFile(path) if is_gzip(path) else path.open("rb")  # type: ignore[return-value]


class _GzipFile(gzip.GzipFile):
    """A gzip file that raises FileFormatError, with its path, if it is damaged."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._path = path

    def __next__(self) -> bytes:
        try:
            return super().__next__()
        except (EOFError, OSError, zlib.error) as error:
            problem = f"the packed file is truncated or damaged ({error}); fetch or pack it again"
            raise FileFormatError(self._path, problem) from error


def _parse_line(path: Path, number: int | None, line: bytes) -> Mapping[str, Any]:
    """Return the JSON object of one line; raise FileFormatError if it is not one."""
    try:
        record = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise FileFormatError(path, f"not a line of JSON ({error})", line=number) from error
    if not isinstance(record, dict):
        problem = f'a record such as {{"_id": …, "text": …}} was expected, not {str(record)[:60]!r}'
        raise FileFormatError(path, problem, line=number)
    return record


def _document_from_record(
    name: Path | str, number: int | None, record: Mapping[str, Any]
) -> Document:
    """Return the document of a record; raise FileFormatError if it has no id or no text."""
    title, metadata = record.get("title"), record.get("metadata")
    doc_id, text = _id_and_text(name, number, record)
    fields = metadata if isinstance(metadata, dict) else {}
    return Document(doc_id, "" if title is None else str(title), text, fields)


def _id_and_text(
    name: Path | str, number: int | None, record: Mapping[str, Any]
) -> tuple[str, str]:
    """Return (id, text) of the record of a query or document, or raise FileFormatError."""
    return record_id(name, number, record), _record_text(name, number, record)


def record_id(name: Path | str, number: int | None, record: Mapping[str, Any]) -> str:
    """Return the id of a record, or raise FileFormatError."""
    ids = [record[field] for field in ID_NAMES if field in record]
    try:
        return id_text(ids[0])
    except (IndexError, TypeError, ValueError) as error:
        problem = f"the record has no id: expected one of {', '.join(ID_NAMES)}"
        raise FileFormatError(name, problem, line=number) from error


def _record_text(name: Path | str, number: int | None, record: Mapping[str, Any]) -> str:
    texts = [record[field] for field in _TEXT_NAMES if isinstance(record.get(field), str)]
    if not texts:
        problem = f"the record has no text: expected one of {', '.join(_TEXT_NAMES)}"
        raise FileFormatError(name, problem, line=number)
    text: str = texts[0]
    return text


class CorpusIndex:
    """The byte offsets of documents, in order of the hashes of their ids.

    The ids themselves are not kept, so that the index of millions of documents is small: a caller
    reads the documents at ``offsets(doc_id)`` and compares their ids.
    """

    def __init__(self, table: npt.NDArray[np.uint64]) -> None:
        """Keep the table, ``shape (2, documents)``: sorted hashes of ids, and byte offsets."""
        self._table = table

    @classmethod
    def build(cls, offsets_and_ids: Iterable[tuple[int, str]]) -> CorpusIndex:
        """Return the index of documents that are given as (byte offset, id)."""
        hashes, offsets = bytearray(), array("Q")
        for offset, doc_id in offsets_and_ids:
            hashes += _hash_bytes(doc_id)
            offsets.append(offset)
        table = np.array([np.frombuffer(hashes, np.dtype("<u8")), offsets], dtype=np.uint64)
        return cls(table[:, np.argsort(table[0], kind="stable")])

    def offsets(self, doc_id: str) -> list[int]:
        """Return the offsets at which a document may have this id, ascending."""
        wanted = np.frombuffer(_hash_bytes(doc_id), np.dtype("<u8"))[0]
        begin, end = (int(self._table[0].searchsorted(wanted, side)) for side in ("left", "right"))
        return [int(offset) for offset in self._table[1, begin:end]]

    def __len__(self) -> int:
        """Return the number of documents."""
        return int(self._table.shape[1])

    def as_bytes(self) -> bytes:
        """Return the table as a file of NumPy's format ``.npy``."""
        file = io.BytesIO()
        np.save(file, self._table, allow_pickle=False)
        return file.getvalue()


def open_index(
    path: Path, read_offsets_and_ids: Callable[[], Iterable[tuple[int, str]]]
) -> CorpusIndex:
    """Return the index of a file: the saved one, if the file is the same as then, or a new one.

    A new index is saved and replaces those of earlier states of the file. Without a folder to
    write to, it is returned only.

    Args:
        path: the file.
        read_offsets_and_ids: reads the file and returns (byte offset, id) of every document.
    """
    stem, state = sha256(os.fsencode(path.resolve())).hexdigest()[:32], _state_of(path)
    folder = _cache_folder()
    saved = folder / f"{stem}-{state}.npy" if folder is not None else None
    index = _load(saved) if saved is not None else None
    if index is None:
        index = CorpusIndex.build(read_offsets_and_ids())
        if saved is not None and state == _state_of(path):
            _save(index, saved, f"{stem}-*.npy")
    return index


def _hash_bytes(doc_id: str) -> bytes:
    return blake2b(doc_id.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).digest()


def _state_of(path: Path) -> str:
    """Return a text that changes with the file."""
    status = path.stat()
    state = f"{_VERSION} {status.st_size} {status.st_mtime_ns} {status.st_ino}"
    return sha256(state.encode()).hexdigest()[:32]


def _cache_folder() -> Path | None:
    """Return the folder of saved indexes, which need not exist; None for a user without a home."""
    named = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        caches = Path(named) if named else Path.home() / ".cache"
    except RuntimeError:
        return None
    return caches / "beir-eval" / "corpora" if caches.is_absolute() else None


def _load(saved: Path) -> CorpusIndex | None:
    """Return a saved index, read in parts when they are needed; None if the file is no index."""
    try:
        table: Any = np.load(saved, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    is_index = table.dtype == np.uint64 and table.ndim == 2 and len(table) == 2  # noqa: PLR2004
    return CorpusIndex(table) if is_index else None


def _save(index: CorpusIndex, saved: Path, pattern_of_earlier: str) -> None:
    """Save the index in place of earlier ones; do nothing if that is not possible."""
    with suppress(OSError):
        saved.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(saved, index.as_bytes())
        for earlier in saved.parent.glob(pattern_of_earlier):
            if earlier != saved:
                earlier.unlink(missing_ok=True)
