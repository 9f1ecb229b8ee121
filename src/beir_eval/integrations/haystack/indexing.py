"""A data set's corpus as Haystack's Documents, and into a DocumentStore."""

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
    """Yield the documents of a data set for a DocumentStore, in the order of its corpus.

    ``id`` is the document's id, by which it is judged; ``content`` title and text with a blank
    between them, as BEIR's own retrievers take them; ``meta["title"]`` the title.

    Raises:
        FileFormatError, OSError: the corpus cannot be read.
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
    """Write the corpus of a data set to a DocumentStore, in batches; return how many documents.

    Args:
        dataset: a ``Dataset``, its folder, or Documents.
        target: a DocumentStore, whose documents of the same id are written over; or a pipeline
            that takes documents and writes them (with an embedder, say).
        batch_size: how many documents are handed over at a time.
        limit: only the first documents.
        progress: whether a progress bar is shown, on a terminal or in a notebook.

    Raises:
        SettingError: the target is neither, or a pipeline without one input of Documents.
        FileFormatError, OSError: the corpus cannot be read.
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
    wanted = islice(documents, limit)
    written = 0
    with progress_bar(shown=progress, desc="documents", unit="") as advance:
        while batch := list(islice(wanted, batch_size)):
            try:
                write(batch)
            except Exception as error:
                error.add_note(f"while writing documents {batch[0].id!r} to {batch[-1].id!r}")
                raise
            written += len(batch)
            advance(len(batch))
    return written


def _writer(target: Any) -> Callable[[list[Document]], Any]:
    if hasattr(target, "write_documents"):
        return lambda batch: target.write_documents(batch, policy=DuplicatePolicy.OVERWRITE)
    if hasattr(target, "graph") and hasattr(target, "run"):
        socket = documents_input(target)
        return lambda batch: target.run({socket.component: {socket.name: batch}})
    msg = f"a DocumentStore or a pipeline was expected to write to, not {type(target).__name__}"
    raise SettingError(msg)
