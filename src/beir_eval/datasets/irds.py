"""Data sets of the package ir_datasets: ``load_dataset("irds:beir/scifact")``."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from beir_eval.core.qrels import Qrels
from beir_eval.datasets.corpus import Corpus, Document
from beir_eval.errors import FileFormatError, SettingError, needs_extra, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What the argument of ``load_dataset`` begins with for a data set of ir_datasets.
PREFIX = "irds:"
_QUERY_TEXTS = ("text", "title", "query")


class IrdsParts(NamedTuple):
    """What ``Dataset`` needs of a data set of ir_datasets."""

    name: str
    split: str
    corpus: Corpus
    queries: Iterator[tuple[str, str]]
    qrels: Qrels


class IrdsCorpus(Corpus):
    """The documents of a data set of ir_datasets.

    Args:
        dataset: the data set, as ``ir_datasets.load`` returns it.
        dataset_id: its id, for error messages.
    """

    def __init__(self, dataset: Any, dataset_id: str) -> None:
        """Keep the data set; documents are read when they are used."""
        self._dataset = dataset
        self.name = f"{PREFIX}{dataset_id}"

    def _documents_with_positions(self) -> Iterator[tuple[int, Document]]:
        for position, record in enumerate(self._dataset.docs_iter()):
            yield position, self._document(record)

    def _document_at(self, position: int) -> Document:
        records = self._dataset.docs_iter()
        if hasattr(records, "__getitem__"):
            return self._document(records[position])
        return self._document(next(islice(records, position, None)))

    def _document(self, record: Any) -> Document:
        """Return a document: title and text if it has both fields, else its default text."""
        title, text = getattr(record, "title", None), getattr(record, "text", None)
        if isinstance(title, str) and isinstance(text, str):
            return Document(record.doc_id, title, text)
        text = _default_text(record)
        if text is None:
            problem = f"document {shown(record.doc_id)} has no text"
            raise FileFormatError(self.name, problem)
        return Document(record.doc_id, "", text)


def read_irds(dataset_id: str, split: str | None, official_split: str) -> IrdsParts:
    """Return documents, queries and qrels of a data set of ir_datasets.

    Args:
        dataset_id: the id, with the split or without: "beir/scifact/test", "beir/scifact".
        split: the last part of the id, if ``dataset_id`` ends before it.
        official_split: the split that is used if ``split`` is None and the id has no qrels.

    Raises:
        MissingExtraError: ir_datasets is not installed.
        SettingError: ir_datasets has no such data set, or it lacks documents, queries or qrels.
        QrelsError: the judgements are empty, or judge a document twice with different grades.
    """
    with needs_extra("ir-datasets", "ir-datasets", "loading a data set of ir_datasets"):
        import ir_datasets  # noqa: PLC0415 - an extra
    dataset = _registered(ir_datasets, dataset_id if split is None else f"{dataset_id}/{split}")
    name = dataset_id
    if dataset is None:
        full_id = dataset_id if split is None else f"{dataset_id}/{split}"
        msg = f"ir_datasets has no data set {shown(full_id)}; ir_datasets.registry lists the ids"
        raise SettingError(msg)
    if split is None:
        split = official_split
        parent, _, last = dataset_id.rpartition("/")
        within = _registered(ir_datasets, f"{dataset_id}/{split}")
        if not dataset.has_qrels() and within is not None:
            dataset = within
        elif parent and (above := _registered(ir_datasets, parent)) and not above.has_qrels():
            name, split = parent, last
    lacking = [kind for kind in ("docs", "queries", "qrels") if not dataset.has(kind)]
    if lacking:
        msg = (
            f"the data set {shown(dataset_id)} of ir_datasets has no {', '.join(lacking)}; "
            "name a subset that has docs, queries and qrels, such as 'irds:beir/scifact/test'"
        )
        raise SettingError(msg)
    rows = [(qrel.query_id, qrel.doc_id, qrel.relevance) for qrel in dataset.qrels_iter()]
    return IrdsParts(
        name=name,
        split=split,
        corpus=IrdsCorpus(dataset, dataset_id),
        queries=_queries(dataset),
        qrels=Qrels.from_columns(*(zip(*rows, strict=True) if rows else ((), (), ()))),
    )


def _registered(ir_datasets: Any, dataset_id: str) -> Any:
    """Return a data set, or None if ir_datasets has none of this id."""
    try:
        return ir_datasets.load(dataset_id)
    except KeyError:
        return None


def _queries(dataset: Any) -> Iterator[tuple[str, str]]:
    """Yield (query_id, text) of all queries that have a text."""
    for query in dataset.queries_iter():
        text = _default_text(query)
        if text is not None:
            yield query.query_id, text


def _default_text(record: Any) -> str | None:
    """Return what ir_datasets calls the default text, or else the first field with a text."""
    if hasattr(record, "default_text"):
        return str(record.default_text())
    texts = (getattr(record, field, None) for field in _QUERY_TEXTS)
    return next((text for text in texts if isinstance(text, str)), None)
