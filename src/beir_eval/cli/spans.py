"""Judged spans of text and ranked chunks, as inputs of ``evaluate`` and ``compare``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from beir_eval.cli.console import warn
from beir_eval.cli.option_sets import InputOptions
from beir_eval.core.files import plain_name
from beir_eval.errors import FileFormatError, InputError

if TYPE_CHECKING:
    from pathlib import Path

    from beir_eval.spans import SpanView

#: The share of a span that must be read where chunks have ranks.
_OVERLAP = 0.75


def view_of_spans(path: Path, reading: InputOptions) -> SpanView | None:
    """Return the judged spans of a file as judgements; None if it holds judgements of documents.

    Args:
        path: the file or folder of the judgements.
        reading: ``corpus``, ``ranks`` and ``overlap``; without any, a file of JSON lines is looked
            at.

    Raises:
        FileFormatError: the options are for spans, and the file holds none.
        InputError: options are set that spans do not have.
        QrelsError: a span does not fit the corpus.
    """
    stated = replace(
        InputOptions(), corpus=reading.corpus, ranks=reading.ranks, overlap=reading.overlap
    )
    is_asked_for = stated != InputOptions()
    if not is_asked_for and not plain_name(path).endswith(".jsonl"):
        return None
    from beir_eval.spans import Spans  # noqa: PLC0415 - few judge spans
    from beir_eval.spans.records import holds_spans  # noqa: PLC0415

    if path.is_dir() or not holds_spans(path):
        if not is_asked_for:
            return None
        problem = (
            "--corpus, --ranks and --overlap are for judged spans of text: JSON lines with "
            "query_id, doc_id, start and end or text"
        )
        raise FileFormatError(path, problem)
    if reading != stated:
        msg = (
            "--split, --format, --qrels-format, --columns and --chunk-ids are for judgements of "
            f"documents; {path} holds spans of text"
        )
        raise InputError(msg)
    if reading.corpus is None:
        warn("offsets of spans and chunks are taken as stated; --corpus CORPUS checks them")
    ranks = reading.ranks or "characters"
    overlap = _OVERLAP if ranks == "chunks" and reading.overlap is None else reading.overlap
    return Spans.from_jsonl(path, reading.corpus).view(ranks, overlap=overlap)
