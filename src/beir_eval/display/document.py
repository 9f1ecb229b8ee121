"""``Document``: what a result shows, as plain text, Markdown and HTML; warnings as LaTeX too.

A result fills the slots of its document once, and the order of the slots is that of every output:
the conclusions, the warnings, the tables, and how to read them. ``print``, the terminal, notebooks,
Markdown and the report show all of it; details are for Markdown, ``--detail`` and the report. Above
the conclusions stand the warnings of an input that looks wrong.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from beir_eval.display.tables import markdown_list, markdown_text
from beir_eval.errors import escape_controls, one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from beir_eval.display.tables import Table


#: How a warning begins that an input looks wrong.
CHECK_FIRST = "check first: "
#: The most characters of the first conclusion in a ``repr``.
_REPR_LENGTH = 90


class Sentence(NamedTuple):
    """A conclusion in one sentence, and its verdict, which sets its colour; "" for none."""

    text: str
    verdict: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """What a result shows, in reading order.

    Attributes:
        heading: what it is about; shown where documents follow each other.
        warnings: what limits the conclusions; those that begin with ``CHECK_FIRST`` stand above.
        sentences: the conclusions.
        tables: the tables.
        notes: how to read what is above: methods, marks, what was left out.
        details: makes the documents that only some outputs show.
    """

    heading: str = ""
    warnings: Sequence[str] = ()
    sentences: Sequence[Sentence] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    details: Callable[[], Iterable[Document]] = tuple

    def split_warnings(self) -> tuple[list[str], list[str]]:
        """Return the warnings above the conclusions, and those below."""
        first = [text for text in self.warnings if text.startswith(CHECK_FIRST)]
        return first, [text for text in self.warnings if text not in first]

    def text(self) -> str:
        """Return the document without details as plain text, each sentence on a line of its own."""
        first, warnings = (
            [one_line(warning_text(text)) for text in texts] for texts in self.split_warnings()
        )
        conclusions = [one_line(text) for text, _ in self.sentences]
        parts = [
            "\n".join([*first, *conclusions, *warnings]),
            *(table.text() for table in self.tables),
            "\n".join(map(one_line, self.notes)),
        ]
        return "\n\n".join(filter(None, parts))

    def markdown(self, depth: int = 3) -> str:
        """Return the whole document as GitHub-flavoured Markdown.

        Args:
            depth: the level of the headings of details.
        """
        first, warnings = (warnings_markdown(texts).rstrip("\n") for texts in self.split_warnings())
        parts = [
            first,
            markdown_list(text for text, _ in self.sentences).rstrip("\n"),
            warnings,
            *(table.markdown() for table in self.tables),
            markdown_list(self.notes).rstrip("\n"),
            *(
                f"{'#' * depth} {markdown_text(detail.heading)}\n\n"
                f"{detail.markdown(depth + 1).rstrip()}"
                for detail in self.details()
            ),
        ]
        return "\n\n".join(filter(None, parts)) + "\n"

    def titled_markdown(self) -> str:
        """Return the whole document as Markdown below its heading, which begins no section."""
        return f"**{markdown_text(self.heading)}**\n\n{self.markdown()}"

    def html(self) -> str:
        """Return the document without details as HTML for a notebook, all text escaped."""
        first, warnings = self.split_warnings()
        sentences = [f"<p>{html.escape(text)}</p>\n" for text, _ in self.sentences]
        notes = "".join(f"<li>{html.escape(note)}</li>\n" for note in self.notes)
        return "".join(
            [
                warnings_html(first),
                *sentences,
                warnings_html(warnings),
                *(table.html() for table in self.tables),
                f"<ul>{notes}</ul>\n" if notes else "",
            ]
        )


def joined(documents: Iterable[Document]) -> list[Document]:
    """Return documents that follow each other, each warning and each note the first time only."""
    shown: list[Document] = []
    seen: set[str] = set()
    for document in documents:
        warnings, notes = (
            [text for text in texts if text not in seen]
            for texts in (document.warnings, document.notes)
        )
        shown.append(replace(document, warnings=warnings, notes=notes))
        seen.update(document.warnings, document.notes)
    return shown


def markdown_of(documents: Iterable[Document]) -> str:
    """Return documents that follow each other as Markdown, each below its heading if it has one."""
    return "\n".join(
        section_markdown(document.heading, document.markdown())
        if document.heading
        else document.markdown()
        for document in joined(documents)
    )


def section_markdown(heading: str, content: str) -> str:
    """Return Markdown as a section below its heading."""
    return f"## {markdown_text(heading)}\n\n{content}"


class Shown:
    """A result that is shown as a document; its outputs are those of the document."""

    def document(self) -> Document:
        """Return what the result shows: warnings, conclusions, tables and notes."""
        raise NotImplementedError

    def warnings(self) -> list[str]:
        """Return what a reader must know before the conclusions; mostly an empty list."""
        return list(self.document().warnings)

    def notes(self) -> list[str]:
        """Return the warnings, then how to read the tables: methods, marks, what was left out."""
        document = self.document()
        of_details = (note for detail in document.details() for note in detail.notes)
        return [*document.warnings, *document.notes, *of_details]

    def to_markdown(self) -> str:
        """Return warnings, conclusions, tables, notes and details as GitHub-flavoured Markdown."""
        return self.document().markdown()

    def _repr_html_(self) -> str:
        return self.document().html()

    def __repr__(self) -> str:
        """Return the first conclusion, not the content."""
        text = next((text for text, _ in self.document().sentences), "")
        return f"{type(self).__name__}({shorten(one_line(text), _REPR_LENGTH)})"

    def __str__(self) -> str:
        """Return warnings, conclusions, tables and notes as plain text."""
        return self.document().text()


def warning_text(sentence: str) -> str:
    """Return a warning as a line of text."""
    return sentence if sentence.startswith(CHECK_FIRST) else f"warning: {sentence}"


def warnings_markdown(sentences: Iterable[str]) -> str:
    """Return each sentence as a quoted paragraph of Markdown; "" for no sentence."""
    return "".join(f"> **Warning:** {markdown_text(sentence)}\n\n" for sentence in sentences)


def warnings_html(sentences: Iterable[str]) -> str:
    """Return each sentence as a paragraph of HTML, escaped; "" for no sentence."""
    return "".join(
        f"<p><strong>Warning:</strong> {html.escape(sentence)}</p>\n" for sentence in sentences
    )


def warnings_latex(sentences: Iterable[str]) -> str:
    """Return each sentence as a comment of LaTeX on a line of its own; "" for no sentence."""
    return "".join(
        f"% Warning: {escape_controls(' '.join(sentence.split()))}\n" for sentence in sentences
    )
