"""What ``index`` has written to the document stores of this process."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass
class _Written:
    """What was written to one store.

    Attributes:
        hashes: the SHA-256 of each corpus, the latest last; a dict in place of an ordered set.
        absent: the judged documents of the latest corpus that it does not have.
        part: (documents written, documents of the corpus) of the latest corpus; None if it was
            written as a whole.
    """

    hashes: dict[str, None] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    part: tuple[int, int] | None = None


#: {key of the store: what was written to it}. Stores with one key share their documents.
_WRITTEN: dict[str, _Written] = {}


def store_key(store: Any) -> str:
    """Return a text that is equal for stores with the same settings, which share their documents.

    The settings of a store in memory hold the name of its index, another one for each store.
    """
    try:
        content = store.to_dict()
    except Exception:  # noqa: BLE001 - such as a secret that cannot be serialised
        content = id(store)
    return json.dumps(content, sort_keys=True, default=repr)


def record_written(
    stores: Iterable[Any], sha256: str, absent: frozenset[str], part: tuple[int, int] | None
) -> None:
    """Record that a corpus was written to stores.

    Args:
        stores: the stores.
        sha256: the SHA-256 of the documents, and of what they were written through.
        absent: the judged documents that the corpus does not have.
        part: as of ``_Written``.
    """
    for key in {store_key(store) for store in stores}:
        written = _WRITTEN.setdefault(key, _Written())
        written.hashes.pop(sha256, None)
        written.hashes[sha256] = None
        written.absent, written.part = absent, part


def written_hash(stores: Iterable[Any]) -> str | None:
    """Return the SHA-256 of all that was written to these stores; None if nothing was."""
    hashes = [
        sha256
        for key in sorted({store_key(store) for store in stores})
        if key in _WRITTEN
        for sha256 in _WRITTEN[key].hashes
    ]
    if len(hashes) <= 1:
        return hashes[0] if hashes else None
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def absent_from_corpus(stores: Iterable[Any]) -> frozenset[str]:
    """Return the judged documents that the corpora written to these stores do not have."""
    written = [_WRITTEN[key] for key in map(store_key, stores) if key in _WRITTEN]
    return frozenset.union(frozenset(), *(entry.absent for entry in written))


def is_known(stores: Iterable[Any]) -> bool:
    """Return whether this process has written to each of these stores, of which there are some."""
    keys = {store_key(store) for store in stores}
    return bool(keys) and keys <= _WRITTEN.keys()


def written_part(stores: Iterable[Any]) -> tuple[int, int] | None:
    """Return the part of a corpus that was written to one of these stores; None if none was."""
    parts = [_WRITTEN[key].part for key in map(store_key, stores) if key in _WRITTEN]
    return next((part for part in parts if part is not None), None)
