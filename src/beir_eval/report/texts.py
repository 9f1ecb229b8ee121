"""What people read in a report: the texts of queries, titles and texts of documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from beir_eval.datasets.corpus import Corpus
from beir_eval.errors import InputError


@dataclass(frozen=True, eq=False)
class Texts:
    """{query_id: text}, and documents by id; both may be unknown.

    ``corpus`` is a ``Corpus``, or {doc_id: text} or {doc_id: {"title", "text"}}.

    Raises:
        InputError: they are something else.
    """

    queries: Mapping[str, str] = field(default_factory=dict)
    corpus: Corpus | Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        """Check the kinds, not the content."""
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
        """Return the text of a query, cut to so many characters; "" where it is not known."""
        return excerpt(str(self.queries.get(query_id) or ""), length)

    def documents(self, wanted: set[str]) -> dict[str, tuple[str, str]]:
        """Return {doc_id: (title, text)} of the documents that the corpus has."""
        if self.corpus is None or not wanted:
            return {}
        if isinstance(self.corpus, Corpus):
            # One pass, and no further than needed: the index of look-ups would read all of it.
            known: dict[str, tuple[str, str]] = {}
            for one in self.corpus:
                if one.doc_id in wanted:
                    known[one.doc_id] = one.title, one.text
                    if len(known) == len(wanted):
                        break
            return known
        held = {doc_id: self.corpus[doc_id] for doc_id in wanted if doc_id in self.corpus}
        return {doc_id: _title_and_text(one) for doc_id, one in held.items()}


def _title_and_text(one: Any) -> tuple[str, str]:
    if isinstance(one, Mapping):
        return str(one.get("title") or ""), str(one.get("text") or "")
    return "", "" if one is None else str(one)


def excerpt(text: str, length: int) -> str:
    """Return the beginning of a text, on one line; what was cut shows as an ellipsis."""
    flat = " ".join(text.split())
    if len(flat) <= length:
        return flat
    return f"{flat[:length].rstrip()} …" if length else ""
