"""Texts that a report shows: queries, and titles and texts of documents, cut to a length."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from beir_eval.datasets.corpus import Corpus
from beir_eval.errors import InputError


@dataclass(frozen=True, eq=False)
class Texts:
    """The texts of a data set's queries and documents; both may be unknown.

    Attributes:
        queries: {query_id: text}.
        corpus: a ``Corpus``, {doc_id: text} or {doc_id: {"title", "text"}}; None if unknown.

    Raises:
        InputError: an argument has another type.
    """

    queries: Mapping[str, str] = field(default_factory=dict)
    corpus: Corpus | Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Check the types of both arguments, not their content."""
        if not isinstance(self.queries, Mapping):
            msg = f"queries must be {{query_id: text}}, not {type(self.queries).__name__}"
            raise InputError(msg)
        if not isinstance(self.corpus, Corpus | Mapping | None):
            msg = (
                "corpus must be a Dataset's, {doc_id: text} or {doc_id: {'title', 'text'}}, not "
                f"{type(self.corpus).__name__}"
            )
            raise InputError(msg)

    def query(self, query_id: str, length: int) -> str:
        """Return the text of a query, cut to ``length`` characters; "" if it is unknown."""
        return excerpt(str(self.queries.get(query_id) or ""), length)

    def documents(self, wanted: set[str]) -> dict[str, tuple[str, str]]:
        """Return {doc_id: (title, text)} of those wanted documents that the corpus has."""
        if self.corpus is None or not wanted:
            return {}
        if isinstance(self.corpus, Corpus):
            return {
                doc_id: (document.title, document.text)
                for doc_id, document in self.corpus.documents(wanted).items()
            }
        documents = {doc_id: self.corpus[doc_id] for doc_id in wanted if doc_id in self.corpus}
        return {doc_id: _title_and_text(document) for doc_id, document in documents.items()}


def _title_and_text(document: Any) -> tuple[str, str]:
    if isinstance(document, Mapping):
        return str(document.get("title") or ""), str(document.get("text") or "")
    return "", "" if document is None else str(document)


def excerpt(text: str, length: int) -> str:
    """Return the first ``length`` characters of a text on one line.

    If the text is longer, " …" follows; with ``length`` 0 the result is "".
    """
    flat = " ".join(text.split())
    if len(flat) <= length:
        return flat
    return f"{flat[:length].rstrip()} …" if length else ""
