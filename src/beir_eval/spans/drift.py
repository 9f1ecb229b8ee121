"""``span_drift``: what became of judged spans when the text of their documents changed."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pydantic import BaseModel, PrivateAttr

from beir_eval.core.atomic_writes import write_atomically
from beir_eval.core.files import as_path
from beir_eval.core.saved import FROZEN
from beir_eval.display.document import Document, Sentence, Shown
from beir_eval.display.tables import Table
from beir_eval.errors import QrelsError, number_of, shown
from beir_eval.spans.locating import Part, locate_all
from beir_eval.spans.records import END_NAMES, START_NAMES, TEXT_NAMES, read_parts
from beir_eval.spans.texts import as_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from beir_eval.spans.locating import Located
    from beir_eval.spans.records import PartRecord
    from beir_eval.spans.texts import CorpusLike, DocumentTexts

#: What became of a span.
Status: TypeAlias = Literal["same", "moved", "several places", "changed", "lost", "not checked"]
#: Each status in words.
_MEANINGS: Mapping[Status, str] = {
    "same": "the text stands where the span says",
    "moved": "the same text stands elsewhere; white space may differ",
    "several places": "the text stands at several places, and which one is meant is not known",
    "changed": "similar text stands there: somebody must look",
    "lost": "nothing like it is in the document, or the corpus lacks the document",
    "not checked": "the span has no text",
}
#: How many spans of each status are listed.
_MOST_LISTED = 5


class CheckedSpan(BaseModel):
    """A span of a file, and what became of it.

    Attributes:
        line: its line in the file.
        query_id: the query.
        doc_id: the document.
        status: what became of it.
        start, end: the offsets that the file states; None without any.
        new_start, new_end: where its text stands, or most of it; None if it is lost.
    """

    model_config = FROZEN

    line: int
    query_id: str
    doc_id: str
    status: Status
    start: int | None
    end: int | None
    new_start: int | None
    new_end: int | None


class SpanDrift(Shown, BaseModel):
    """What became of each span of a file in a corpus.

    Attributes:
        spans: the spans, in the order of the file.
    """

    model_config = FROZEN

    spans: tuple[CheckedSpan, ...]
    _fixed: tuple[str, ...] = PrivateAttr(default=())

    @property
    def counts(self) -> dict[Status, int]:
        """{status: how many spans have it}, of each status that a span has."""
        counts = Counter(span.status for span in self.spans)
        return {status: counts[status] for status in _MEANINGS if counts[status]}

    def document(self) -> Document:
        """Return how many spans are where they say, and which are not."""
        counts = self.counts
        total = number_of(len(self.spans), "span")
        rows = [(status, f"{count:,}") for status, count in counts.items()]
        notes = [
            f"{status} ({_MEANINGS[status]}): {_listed(self.spans, status)}"
            for status in counts
            if status not in ("same", "not checked")
        ]
        return Document(
            sentences=[Sentence(f"{counts.get('same', 0):,} of {total} are where they say")],
            tables=[Table(("status", "spans"), rows)],
            notes=notes,
        )

    def write_fixed(self, path: str | Path) -> int:
        """Write the spans that are the same or moved, with the offsets and the text of the corpus.

        All other keys of their lines stay. Spans of another status are left out: somebody must look
        at them.

        Args:
            path: the new file, JSON lines.

        Returns:
            How many spans were written.

        Raises:
            QrelsError: there is none.
            OSError: the file cannot be written.
        """
        if not self._fixed:
            raise QrelsError("no span is the same or moved, so there is none to write")
        write_atomically(as_path(path), ("\n".join(self._fixed) + "\n").encode())
        return len(self._fixed)


def span_drift(path: str | Path, corpus: CorpusLike, *, field: str = "text") -> SpanDrift:
    """Return what became of each span of a file in a corpus, perhaps a later version of it.

    A span that has its text is looked for where it says, then anywhere in its document. Of several
    places the one that the spans around it point to exactly is taken; otherwise none is.

    Args:
        path: the spans, as ``Spans.from_jsonl`` reads them.
        corpus: the documents, as for ``Spans``.
        field: what offsets count from, as for ``Spans``.

    Raises:
        FileFormatError: a line is malformed.
        QrelsError: there is no span.
        OSError: the file cannot be read.
    """
    texts = as_texts(corpus)
    records = tuple(read_parts(path))
    if not records:
        msg = f"{path}: there is no span"
        raise QrelsError(msg)
    parts = [Part(record.id("doc_id"), *record.offsets(), record.text()) for record in records]
    located, _ = locate_all(parts, texts)
    spans: list[CheckedSpan] = []
    fixed: list[str] = []
    for record, part in zip(records, parts, strict=True):
        location = located[part]
        status = _status(part, location, texts)
        if status in ("same", "moved"):
            fixed.append(
                json.dumps(_fixed(record, part, location, texts, field), ensure_ascii=False)
            )
        shift = location.shift if field == "text" else 0
        is_found = location.start >= 0 and status not in ("lost", "not checked")
        spans.append(
            CheckedSpan(
                line=record.line,
                query_id=record.id("query_id"),
                doc_id=part.doc_id,
                status=status,
                start=part.start,
                end=part.end,
                new_start=location.start - shift if is_found else None,
                new_end=location.end - shift if is_found else None,
            )
        )
    drift = SpanDrift(spans=tuple(spans))
    drift._fixed = tuple(fixed)  # noqa: SLF001 - of this module
    return drift


def _status(part: Part, location: Located, texts: DocumentTexts) -> Status:
    aligner = texts.aligner(part.doc_id)
    if aligner is None:
        return "lost"
    if part.text is None:
        is_inside = part.start is None or location.end <= len(aligner.text)
        return "not checked" if is_inside else "lost"
    if location.stage in ("lost", "letters", "fuzzy"):
        return "lost" if location.stage == "lost" else "changed"
    if not location.is_certain:
        return "several places"
    end = (part.start or 0) + len(part.text)
    is_stated = part.start is None or (location.stage == "stated" and part.end in (None, end))
    return "same" if is_stated else "moved"


def _fixed(
    record: PartRecord, part: Part, location: Located, texts: DocumentTexts, field: str
) -> dict[str, Any]:
    """Return the record of a span with its offsets in the corpus, and the text that stands there.

    A span without offsets stays without.
    """
    aligner = texts.aligner(part.doc_id)
    if part.start is None or aligner is None:
        return dict(record.content)
    shift = location.shift if field == "text" else 0
    return dict(record.content) | {
        record.key(START_NAMES) or "start": location.start - shift,
        record.key(END_NAMES) or "end": location.end - shift,
        record.key(TEXT_NAMES) or "text": aligner.text[location.start : location.end],
    }


def _listed(spans: Sequence[CheckedSpan], status: Status) -> str:
    """Return the first few spans of a status, and how many more there are."""
    labels = [_label(span) for span in spans if span.status == status]
    more = len(labels) - _MOST_LISTED
    return ", ".join(labels[:_MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _label(span: CheckedSpan) -> str:
    """Return a span as text: its line, its document, and where it was and is."""
    old = f" {span.start}" if span.start is not None else ""
    new = f" -> {span.new_start}" if span.new_start not in (None, span.start) else ""
    return f"line {span.line} ({shown(span.doc_id)}{old}{new})"
