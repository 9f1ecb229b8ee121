"""Converting a data set's corpus to Haystack's Documents, and writing it to a DocumentStore."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from haystack import Document
from haystack.document_stores.types import DuplicatePolicy

from beir_eval.datasets.dataset import Dataset, load_dataset
from beir_eval.display.progress import progress_bar
from beir_eval.errors import SettingError, check_count
from beir_eval.integrations.haystack.sockets import documents_input

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def beir_documents(dataset: Dataset | str | Path) -> Iterator[Document]:
    """Yield the documents of a data set as Haystack's Documents, in the order of its corpus.

    ``id`` is the document's id in the judgements; ``content`` is the title and the text, separated
    by a blank, as in BEIR's own retrievers; ``meta["title"]`` is the title.

    Args:
        dataset: a ``Dataset``, or its folder.

    Raises:
        FileFormatError, OSError: the data set cannot be read.
    """
    data = dataset if isinstance(dataset, Dataset) else load_dataset(dataset)
    for document in data.corpus:
        content = f"{document.title} {document.text}".strip()
        yield Document(id=document.doc_id, content=content, meta={"title": document.title})


def index(
    dataset: Dataset | str | Path | Iterable[Document],
    target: Any,
    *,
    batch_size: int = 1000,
    limit: int | None = None,
    progress: bool = True,
) -> int:
    """Write the corpus of a data set to a DocumentStore, in batches.

    Args:
        dataset: a ``Dataset``, its folder, or Documents.
        target: a DocumentStore, in which documents with the same id are overwritten; or an indexing
            pipeline that takes documents and writes them, for example with an embedder.
        batch_size: how many documents are written at a time.
        limit: write only this many documents, the first of the corpus; None for all.
        progress: whether to show a progress bar, on a terminal or in a notebook.

    Returns:
        The number of documents of the data set that were passed to the target. A pipeline that
        splits documents writes more; ``store.count_documents()`` counts those.

    Raises:
        SettingError: ``dataset`` or ``target`` is something else, the pipeline does not have
            exactly one input of Documents, or ``batch_size`` or ``limit`` is below 1.
        FileFormatError, OSError: the data set cannot be read.
    """
    check_count("batch_size", batch_size)
    if limit is not None:
        check_count("limit", limit)
    write = _writer(target)
    if isinstance(dataset, Document) or not isinstance(dataset, (str, Path, Dataset, Iterable)):
        msg = f"a data set, its folder or Documents were expected, not {type(dataset).__name__}"
        raise SettingError(msg)
    documents = (
        beir_documents(dataset) if isinstance(dataset, (str, Path, Dataset)) else iter(dataset)
    )
    selected = islice(documents, limit)
    passed = 0
    with progress_bar(shown=progress, desc="documents", unit="") as advance:
        while batch := list(islice(selected, batch_size)):
            try:
                write(batch)
            except Exception as error:
                error.add_note(f"while writing documents {batch[0].id!r} to {batch[-1].id!r}")
                raise
            passed += len(batch)
            advance(len(batch))
    return passed


def _writer(target: Any) -> Callable[[list[Document]], Any]:
    """Return a function that writes a batch of documents to the target."""
    if hasattr(target, "write_documents"):
        return lambda batch: target.write_documents(batch, policy=DuplicatePolicy.OVERWRITE)
    if hasattr(target, "graph") and hasattr(target, "run"):
        socket = documents_input(target)
        return lambda batch: target.run({socket.component: {socket.name: batch}})
    msg = f"a DocumentStore or a pipeline was expected to write to, not {type(target).__name__}"
    raise SettingError(msg)
