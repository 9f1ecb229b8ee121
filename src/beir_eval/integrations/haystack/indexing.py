"""Writing a data set's corpus to a DocumentStore, as Haystack's Documents.

What ``index`` has written to the stores of this process is remembered, for checks of saved answers
and of what a store lacks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from haystack import Document
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from beir_eval.core.progress import progress_bar
from beir_eval.datasets.dataset import Dataset, load_dataset
from beir_eval.errors import InputError, SettingError, check_count, shown, warn_caller
from beir_eval.integrations.haystack.components import (
    code_of_components,
    is_pipeline,
    models_of,
    sha256_of_pipeline,
    stores_of,
)
from beir_eval.integrations.haystack.sockets import documents_input
from beir_eval.integrations.retrieval.documents import BEIR_DOC_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from beir_eval.datasets.corpus import Corpus

#: The key of metadata that says that only a part of the corpus was written.
PART = "beir_part"


def beir_documents(
    dataset: Dataset | str | Path, *, id_key: str = BEIR_DOC_ID
) -> Iterator[Document]:
    """Yield the documents of a data set as Haystack's Documents, in the order of its corpus.

    ``id`` is the document's id in the judgements; ``content`` is the title and the text, separated
    by a blank, as in BEIR's own retrievers; ``meta`` has the metadata of the corpus, the title as
    "title", and the id again as "beir_doc_id". Cleaners and splitters change ids and keep the
    metadata, so that chunks can be counted as the document that they are a part of.

    Args:
        dataset: a ``Dataset``, or its folder.
        id_key: the key of metadata with the id. With another key than "beir_doc_id", evaluate with
            ``collapse="meta.<key>"``.

    Raises:
        InputError: the metadata of a document has this key already.
        FileFormatError, OSError: the data set cannot be read.
    """
    data = dataset if isinstance(dataset, Dataset) else load_dataset(dataset)
    for document in data.corpus:
        if id_key in document.metadata:
            msg = (
                f"document {shown(document.doc_id)} of {data.name} has the metadata {id_key!r} "
                "already; name another key for the id of the document: id_key='doc_id', and "
                "collapse='meta.doc_id' when evaluating"
            )
            raise InputError(msg)
        meta = {**document.metadata, "title": document.title, id_key: document.doc_id}
        content = f"{document.title} {document.text}".strip()
        yield Document(id=document.doc_id, content=content, meta=meta)


def index(  # noqa: PLR0913 - one keyword a setting
    dataset: Dataset | str | Path | Iterable[Document],
    target: Any,
    *,
    batch_size: int = 1000,
    limit: int | None = None,
    id_key: str = BEIR_DOC_ID,
    progress: bool = True,
) -> int:
    """Write the corpus of a data set to a DocumentStore, in batches.

    Args:
        dataset: a ``Dataset``, its folder, or Documents.
        target: a DocumentStore, in which documents with the same id are overwritten; or an indexing
            pipeline that takes documents and writes them, for example with an embedder.
        batch_size: how many documents are written at a time.
        limit: write only this many documents; None for all. Of a data set, all judged documents are
            written, and others in the order of the corpus. Scores on a part are higher than on the
            whole corpus: every later result says that there is only a part.
        id_key: the key of metadata with the id of the document, as of ``beir_documents``.
        progress: whether to show a progress bar, on a terminal or in a notebook.

    Returns:
        The number of documents of the data set that were passed to the target. A pipeline that
        splits documents writes more; ``store.count_documents()`` counts those.

    Raises:
        SettingError: ``dataset`` or ``target`` is something else, the pipeline does not have
            exactly one input of Documents, ``batch_size`` or ``limit`` is below 1, or ``limit`` is
            below the number of judged documents.
        InputError: the metadata of a document has the key ``id_key`` already, or a judged document
            is listed twice.
        FileFormatError, OSError: the data set cannot be read.

    Warns:
        BeirEvalWarning: documents of a store in memory were replaced by others of the same id.
    """
    check_count("batch_size", batch_size)
    if limit is not None:
        check_count("limit", limit)
    write = _writer(target)
    documents, judged, part = _selected(dataset, limit, id_key)
    digest = hashlib.sha256()
    absent = set(judged)
    replaced = 0
    passed = 0
    with progress_bar(shown=progress, desc="documents", unit="") as advance:
        while batch := list(islice(documents, batch_size)):
            for document in batch:  # 2.2 us a document; the texts of a batch joined, 3.9 us
                digest.update(_content_text(document).encode(errors="surrogatepass"))
            _check_judged_once(batch, judged, absent)
            replaced += _num_replaced(target, batch)
            try:
                write(batch)
            except Exception as error:
                error.add_note(f"while writing documents {batch[0].id!r} to {batch[-1].id!r}")
                raise
            passed += len(batch)
            advance(len(batch))
    stores = [target]
    if is_pipeline(target):
        digest.update(sha256_of_pipeline(target).encode())
        digest.update(json.dumps(code_of_components(target).own).encode())
        stores = [store for _, store in stores_of(target)]
    models = models_of(target, "DocumentEmbedder") if is_pipeline(target) else frozenset()
    record_written(stores, digest.hexdigest(), absent=frozenset(absent), part=part, models=models)
    if replaced:
        documents_were = "document was" if replaced == 1 else "documents were"
        warn_caller(
            f"{replaced:,} {documents_were} replaced in the store: the same id, another content; "
            "if that was another corpus, give each corpus its own store"
        )
    return passed


def _selected(
    dataset: Dataset | str | Path | Iterable[Document], limit: int | None, id_key: str
) -> tuple[Iterator[Document], set[str], tuple[int, int] | None]:
    """Return the documents to write, the ids of the judged ones, and what part they are.

    Args:
        dataset: as of ``index``.
        limit: likewise.
        id_key: likewise.
    """
    if isinstance(dataset, Document) or not isinstance(dataset, (str, Path, Dataset, Iterable)):
        msg = f"a data set, its folder or Documents were expected, not {type(dataset).__name__}"
        raise SettingError(msg)
    if not isinstance(dataset, (str, Path, Dataset)):
        documents = iter(dataset)
        return (documents, set(), None) if limit is None else _first(documents, limit)
    data = dataset if isinstance(dataset, Dataset) else load_dataset(dataset)
    judged = set(data.qrels.doc_ids)
    documents = beir_documents(data, id_key=id_key)
    if limit is None:
        return documents, judged, None
    return _part(documents, data.corpus, judged, limit)


def _check_judged_once(batch: list[Document], judged: set[str], absent: set[str]) -> None:
    """Remove the ids of a batch from the judged documents that are absent so far.

    Raises:
        InputError: a judged document is listed twice.
    """
    for document in batch:
        if document.id in absent:
            absent.remove(document.id)
        elif document.id in judged:
            msg = (
                f"the corpus lists the judged document {shown(document.id)} twice; the second "
                "would replace the first in the store: remove one of them"
            )
            raise InputError(msg)


def _num_replaced(target: Any, batch: list[Document]) -> int:
    """Return how many documents of a store in memory a batch replaces with another content."""
    if not isinstance(target, InMemoryDocumentStore):
        return 0
    stored = target.storage
    return sum(
        document.id in stored and stored[document.id].content != document.content
        for document in batch
    )


def _content_text(document: Document) -> str:
    """Return id, content, metadata and embedding of a document as a text to hash."""
    embedding = b""
    if document.embedding is not None:
        embedding = np.asarray(document.embedding).tobytes()
    return f"{document.id}\0{document.content}\0{document.meta}\0{embedding!r}\0"


def _first(
    documents: Iterator[Document], limit: int
) -> tuple[Iterator[Document], set[str], tuple[int, int] | None]:
    """Return what ``_selected`` does, of the first documents."""
    first = list(islice(documents, limit))
    if next(documents, None) is None:
        return iter(first), set(), None
    part = f"{limit} of more"
    marked = (replace(document, meta={**document.meta, PART: part}) for document in first)
    return marked, set(), (limit, 0)


def _part(
    documents: Iterator[Document], corpus: Corpus, judged: set[str], limit: int
) -> tuple[Iterator[Document], set[str], tuple[int, int] | None]:
    """Return what ``_selected`` does, of the judged documents and others up to a limit.

    Args:
        documents: the documents of the corpus.
        corpus: the corpus.
        judged: the ids of the judged documents.
        limit: how many documents.

    Raises:
        SettingError: there are more judged documents.
    """
    total = present = 0
    for document in corpus:
        total += 1
        present += document.doc_id in judged
    if present > limit:
        msg = (
            f"limit={limit}: the corpus has {present:,} judged documents, without which no score "
            f"means anything; write at least these, limit={present}"
        )
        raise SettingError(msg)

    def selected() -> Iterator[Document]:
        others = limit - present
        for document in documents:
            if document.id not in judged:
                others -= 1
                if others < 0:
                    continue
            if limit < total:
                document.meta[PART] = f"{limit} of {total}"
            yield document

    return selected(), judged, (limit, total) if limit < total else None


def _writer(target: Any) -> Callable[[list[Document]], Any]:
    """Return a function that writes a batch of documents to the target."""
    if hasattr(target, "write_documents"):
        return lambda batch: target.write_documents(batch, policy=DuplicatePolicy.OVERWRITE)
    if is_pipeline(target):
        socket = documents_input(target)
        return lambda batch: target.run({socket.component: {socket.name: batch}})
    msg = f"a DocumentStore or a pipeline was expected to write to, not {type(target).__name__}"
    raise SettingError(msg)


@dataclass
class _Written:
    """What was written to one store.

    Attributes:
        hashes: the SHA-256 of each corpus, the latest last; a dict in place of an ordered set.
        absent: the judged documents of the latest corpus that it does not have.
        part: (documents written, documents of the corpus) of the latest corpus; None if it was
            written as a whole.
        models: the names of the models that embedded its documents.
    """

    hashes: dict[str, None] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    part: tuple[int, int] | None = None
    models: frozenset[str] = frozenset()


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


def record_written(stores: Iterable[Any], sha256: str, **latest: Any) -> None:
    """Record that a corpus was written to stores.

    Args:
        stores: the stores.
        sha256: the SHA-256 of the documents, and of what they were written through.
        latest: the other attributes of ``_Written``.
    """
    for key in {store_key(store) for store in stores}:
        hashes = _WRITTEN[key].hashes if key in _WRITTEN else {}
        hashes.pop(sha256, None)
        hashes[sha256] = None
        _WRITTEN[key] = _Written(hashes, **latest)


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


def _written_to(stores: Iterable[Any]) -> list[_Written]:
    return [_WRITTEN[key] for key in map(store_key, stores) if key in _WRITTEN]


def absent_from_corpus(stores: Iterable[Any]) -> frozenset[str]:
    """Return the judged documents that the corpora written to these stores do not have."""
    return frozenset().union(*(written.absent for written in _written_to(stores)))


def written_models(stores: Iterable[Any]) -> frozenset[str]:
    """Return the models that embedded the documents of the corpora written to these stores."""
    return frozenset().union(*(written.models for written in _written_to(stores)))


def is_known(stores: Iterable[Any]) -> bool:
    """Return whether this process has written to each of these stores, of which there are some."""
    keys = {store_key(store) for store in stores}
    return bool(keys) and keys <= _WRITTEN.keys()


def written_part(stores: Iterable[Any]) -> tuple[int, int] | None:
    """Return the part of a corpus that was written to one of these stores; None if none was."""
    parts = (written.part for written in _written_to(stores))
    return next((part for part in parts if part is not None), None)
