"""The saved index of a large corpus: the position of each document in its file."""

from __future__ import annotations

import io
import os
from array import array
from contextlib import suppress
from hashlib import blake2b, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.atomic_writes import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

#: Part of the names of the saved files; another number for another layout of the table.
_VERSION = 1
_HASH_BYTES = 8


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
