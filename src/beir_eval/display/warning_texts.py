"""Warnings that stand before tables and verdicts: as Markdown, HTML and LaTeX comments."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from beir_eval.display.tables import markdown_text
from beir_eval.errors import escape_controls

if TYPE_CHECKING:
    from collections.abc import Iterable


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
