"""``Spans``: judged pieces of the text of documents, one gold set for every chunker."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

from beir_eval.core.files import as_path
from beir_eval.core.ids import id_text
from beir_eval.core.judgement_errors import is_grade
from beir_eval.errors import QrelsError, check_choice, number_of, shown
from beir_eval.spans.gold import GoldSpan
from beir_eval.spans.locating import Part, locate_all
from beir_eval.spans.records import read_parts
from beir_eval.spans.texts import as_texts, warn_of_exclusions
from beir_eval.spans.views import SpanView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from beir_eval.spans.alignment import Aligner, Alignment
    from beir_eval.spans.locating import Located
    from beir_eval.spans.texts import CorpusLike, DocumentTexts

#: The values of ``field``: what offsets of spans count from.
FIELDS = ("text", "content")


class Span(NamedTuple):
    """A judged piece of the text of a document.

    Attributes:
        doc_id: the document.
        start: its first character, from 0, in code points; None if it is not stated.
        end: the character after its last one; None if it is not stated.
        text: its text; None if it is not given.
        grade: its grade.

    A span of a document id alone is the whole document.
    """

    doc_id: str
    start: int | None = None
    end: int | None = None
    text: str | None = None
    grade: float = 1.0


class Spans:
    """The judged spans of queries, checked against the text of their documents.

    ``view()`` makes judgements of them: with it ``evaluate`` and ``compare`` measure rankings of
    chunks, whatever the chunker.

    Args:
        by_query: {query_id: its spans}. A span has offsets, or its text, or both, or is a whole
            document.
        corpus: the documents: {doc_id: text}, {doc_id: {"title": …, "text": …}}, a ``Corpus``, a
            ``Dataset``, a data-set folder or its corpus file. None: offsets cannot be checked, and
            copies of a text are not found.
        field: what offsets count from: the begin of the "text" of a document, or of its "content",
            which is title, space and text.

    Attributes:
        alignment: how many different spans were found, and how.

    Raises:
        QrelsError: there is no span; an offset is impossible or beyond the text; the text of a span
            is not at its offsets, or nowhere in its document; or the corpus lacks a document.
        SettingError: ``field`` has another value.
        InputError: the corpus is of another kind.

    Warns:
        BeirEvalWarning: the corpus is a data set that excludes documents for queries.

    >>> spans = Spans({"q": [Span("d", 4, 9)]}, corpus={"d": "The quick brown fox"})
    >>> spans
    Spans(1 query, 1 span)
    """

    alignment: Alignment

    def __init__(
        self,
        by_query: Mapping[str, Iterable[Span]],
        corpus: CorpusLike | None = None,
        *,
        field: str = "text",
    ) -> None:
        """Check the spans."""
        listed = [
            (query_id, span, f"query {shown(query_id)}, span {index}")
            for query_id, spans in by_query.items()
            for index, span in enumerate(spans, start=1)
        ]
        self._set(listed, corpus, field)

    @classmethod
    def from_jsonl(
        cls, path: str | Path, corpus: CorpusLike | None = None, *, field: str = "text"
    ) -> Self:
        """Return the spans of a file with a JSON object a line, packed or not.

        The keys are ``query_id``, ``doc_id``, ``start`` and ``end`` (offsets in code points, the
        end is that of the character after the last one) and/or ``text``, and ``grade`` (1 if there
        is none).

        Args:
            path: the file.
            corpus: as of the constructor.
            field: as of the constructor.

        Raises:
            FileFormatError: a line is malformed.
            QrelsError: as of the constructor; the message names the line.
            OSError: the file cannot be read.
        """
        file = as_path(path)
        listed: list[tuple[str, Span, str]] = []
        for record in read_parts(file):
            start, end = record.offsets()
            grade = record.number("grade")
            if record.number("rank") is not None or record.number("score") is not None:
                raise record.refuse(
                    "a rank or a score is that of a retrieved chunk: judged spans were expected "
                    "here, rankings of chunks after them"
                )
            span = Span(
                record.id("doc_id"), start, end, record.text(), 1.0 if grade is None else grade
            )
            listed.append((record.id("query_id"), span, f"{file}, line {record.line}"))
        spans = cls.__new__(cls)
        spans._set(listed, corpus, field)  # noqa: SLF001 - an instance of this class
        return spans

    def _set(
        self, listed: Sequence[tuple[str, Span, str]], corpus: CorpusLike | None, field: str
    ) -> None:
        """Check and keep the spans.

        Args:
            listed: (query id, span, what messages call it).
            corpus: as of the constructor.
            field: as of the constructor.
        """
        check_choice("field", field, FIELDS)
        if not listed:
            raise QrelsError("there is no span, so nothing can be evaluated")
        self._texts: DocumentTexts | None = None if corpus is None else as_texts(corpus)
        warn_of_exclusions(corpus)
        for _, span, label in listed:
            _check_span(span, label)
        parts = [Part(*span[:4]) for _, span, _ in listed]
        # A whole document has no place.
        located, self.alignment = locate_all(filter(_has_place, parts), self._texts)
        self._by_query: dict[str, list[GoldSpan]] = {}
        problems: list[str] = []
        for (query_id, span, label), part in zip(listed, parts, strict=True):
            location = located.get(part)
            problem = self._problem(part, location, field)
            if problem:
                problems.append(f"{label}: {problem}")
                continue
            gold = self._gold_span(span, location, field)
            self._by_query.setdefault(id_text(query_id), []).append(gold)
        if problems:
            more = "" if len(problems) == 1 else f" (and {len(problems) - 1} other spans)"
            remedy = (
                ". Is this the corpus that the spans were made on? beir-eval validate SPANS "
                "--corpus CORPUS says what became of each span, and --fix writes those that moved"
            )
            msg = f"{problems[0]}{more}{remedy}"
            raise QrelsError(msg)

    def _problem(self, part: Part, location: Located | None, field: str) -> str:
        """Return what is wrong with a span in this corpus; "" if nothing is."""
        if self._texts is None:
            return "" if part.start is not None or not _has_place(part) else "offsets are needed"
        aligner = self._texts.aligner(part.doc_id)
        if aligner is None:
            return f"{self._texts.name} has no document {shown(part.doc_id)}"
        if location is None:
            return ""
        shift = location.shift if field == "text" else 0
        if part.text is None:
            length = len(aligner.text) - shift
            beyond = f"the end, {part.end}, is beyond the text of document {shown(part.doc_id)}, of"
            is_inside = (part.end or 0) <= length
            return "" if is_inside else f"{beyond} {number_of(length, 'character')}"
        if part.start is None:
            is_there = location.stage in ("exact", "white_space", "letters")
            return "" if is_there else f"document {shown(part.doc_id)} does not have its text"
        return _problem_of_offsets(aligner, part, part.text, shift)

    def _gold_span(self, span: Span, location: Located | None, field: str) -> GoldSpan:
        """Return a span in the text of its document, of which nothing is wrong."""
        if location is None:
            return GoldSpan(span.doc_id, -1, -1, span.grade, None, f"{span.doc_id}[:]")
        if span.start is None:
            start, end = location.start, location.end
        else:
            shift = location.shift if field == "text" else 0
            start = span.start + shift
            end = start + len(span.text or "") if span.end is None else span.end + shift
        aligner = None if self._texts is None else self._texts.aligner(span.doc_id)
        text = span.text if aligner is None else aligner.text[start:end]
        shift = location.shift if field == "text" else 0
        name = f"{span.doc_id}[{start - shift}:{end - shift}]"
        return GoldSpan(span.doc_id, start, end, span.grade, text, name)

    def view(
        self,
        ranks: str = "characters",
        *,
        overlap: float | None = None,
        copies: str = "any",
        repeated: str = "kept",
    ) -> SpanView:
        """Return the spans as judgements of rankings of chunks.

        Args:
            ranks: what has a rank:

                - "characters": a ranking is the text that a reader gets, character after character,
                  so that Recall@2000 is the share of the gold text in the first 2,000 characters. A
                  chunk costs as many ranks as it has characters: the unit in which different
                  chunkers can be compared;
                - "chunks": each chunk has a rank, for rankings of one chunker. Needs ``overlap``.
            overlap: None: each gold character counts. A share, above 0 and at most 1: a span counts
                as a whole, once the chunks so far hold this share of it; .75 is a good choice.
                White space does not count for it.
            copies: "any": text of at least 20 letters is the same evidence wherever it stands in
                the retrieved documents; "none": only at the place that is stated.
            repeated: text that a ranking holds again costs ranks and gains nothing ("kept"), or is
                left out of the ranking ("dropped"), as in an application that shows it once.

        Raises:
            SettingError: a value is not one of these, or whole documents are spans and ``overlap``
                is None.
        """
        return SpanView(
            self._by_query,
            self._texts,
            ranks=ranks,
            overlap=overlap,
            copies=copies,
            repeated=repeated,
        )

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self._by_query)

    def __repr__(self) -> str:
        """Return the size, not the content."""
        spans = number_of(sum(map(len, self._by_query.values())), "span")
        return f"Spans({number_of(len(self), 'query')}, {spans})"


def _has_place(part: Part) -> bool:
    return part.start is not None or part.text is not None


def _check_span(span: Span, label: str) -> None:
    """Raise QrelsError if a span is impossible in any text."""
    start, end = span.start, span.end
    problem = ""
    if (start is None) != (end is None) and span.text is None:
        problem = "both start and end are needed, or the text"
    elif start is not None and start < 0:
        problem = f"the start, {start}, is below 0"
    elif start is not None and end is not None and end <= start:
        problem = f"the end, {end}, is not after the start, {start}"
    elif span.text is not None and not span.text.strip():
        problem = "the text is empty"
    elif not is_grade(span.grade):
        problem = f"the grade is a finite number, not {shown(span.grade)}"
    if problem:
        msg = f"{label}: {problem}"
        raise QrelsError(msg)


def _problem_of_offsets(aligner: Aligner, part: Part, text: str, shift: int) -> str:
    """Return what is wrong with the offsets of a text; "" if it stands there."""
    start = part.start or 0
    end = start + len(text) if part.end is None else part.end
    if aligner.states(text, start + shift) and end == start + len(text):
        return ""
    return (
        f"document {shown(part.doc_id)} has {shown(aligner.text[start + shift : end + shift])} at "
        f"{start} to {end}, not {shown(text)}{_reason(aligner, text, start, end, shift)}"
    )


def _reason(aligner: Aligner, text: str, start: int, end: int, shift: int) -> str:
    """Return why a text may not stand at its offsets, if the cause is a usual one."""
    whole = aligner.text[shift:]
    if whole[start : end + 1] == text:
        return ": its end is that of its last character, and must be the one after it"
    for reason, encoded, unit in _OTHER_OFFSETS:
        if encoded(whole)[unit * start : unit * end] == encoded(text):
            return f": its offsets {reason}"
    return ""


#: (what offsets are, the text that they are of, its units for each of them).
_OTHER_OFFSETS: Sequence[tuple[str, Callable[[str], str | bytes], int]] = (
    (
        "count the bytes of UTF-8, and must count characters",
        lambda text: text.encode(errors="replace"),
        1,
    ),
    (
        "count UTF-16 units, as in JavaScript and Java, and must count characters",
        lambda text: text.encode("utf-16-le", errors="replace"),
        2,
    ),
    (
        r"are of a text in which \r\n was read as \n",
        lambda text: text.replace("\r\n", "\n"),
        1,
    ),
    (
        r"are of a text with \r\n at the ends of lines, and the corpus has \n",
        lambda text: text.replace("\r\n", "\n").replace("\n", "\r\n"),
        1,
    ),
)
