"""Retrievers on judged spans of text: what they return are chunks, placed in the corpus."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval.datasets.dataset import Dataset
from beir_eval.errors import InputError, shown, warn_caller
from beir_eval.integrations.retrieval.documents import BEIR_DOC_ID
from beir_eval.spans import Chunk, Chunks, Spans

if TYPE_CHECKING:
    from beir_eval.core.run import Run
    from beir_eval.spans import SpanView

#: The fields that name a chunk: its document and its text. Offsets in metadata are not among them,
#: since cleaners and second splitters leave wrong ones; a text is looked for in its document.
CHUNK_FIELDS = (f"meta.{BEIR_DOC_ID}", "content")


def judged_by_spans(
    dataset: Dataset | str | Path, spans: Any, ranks: str, overlap: float | None
) -> tuple[Dataset, SpanView]:
    """Return a data set whose judgements are spans of its documents, and their view.

    Args:
        dataset: a ``Dataset``, or a folder with corpus and queries; its qrels are not read.
        spans: ``Spans``, or the path of their file.
        ranks: as of ``Spans.view``.
        overlap: likewise.

    Raises:
        FileFormatError, OSError: a file is missing or malformed.
        QrelsError: a span does not fit the corpus.
        SettingError: ``ranks`` or ``overlap`` has no such value.
    """
    if isinstance(spans, (str, Path)):
        spans = Spans.from_jsonl(spans, dataset)
    view = spans.view(ranks, overlap=overlap)
    if not isinstance(dataset, Dataset):
        return view.dataset(dataset), view
    return replace(dataset, qrels=view.qrels), view


def check_chunks(run: Run, unnamed: int) -> None:
    """Raise InputError if no retrieved document says what it is a chunk of, and warn of some.

    Args:
        run: the rankings of those that do.
        unnamed: the number of those that do not.
    """
    if not unnamed:
        return
    named = sum(len(names) for _, names, _ in run.rankings())
    fields = " and ".join(CHUNK_FIELDS)
    of_all = f"{unnamed:,} of {named + unnamed:,} retrieved documents"
    problem = f"{of_all} have no {fields}, which index writes"
    if not named:
        msg = f"{problem}: write the corpus to the store with it, so that chunks can be placed"
        raise InputError(msg)
    warn_caller(f"{problem}: they are left out")


def run_of_chunks(run: Run, view: SpanView) -> Run:
    """Return rankings of chunks, named by ``CHUNK_FIELDS``, as a run on judged spans.

    Args:
        run: the rankings.
        view: the spans.

    Raises:
        InputError: a name is another one.
    """
    by_query = {query_id: list(map(_chunk, names)) for query_id, names, _ in run.rankings()}
    return view.run(Chunks(by_query, view.texts))


def _chunk(name: str) -> Chunk:
    try:
        doc_id, text = json.loads(name)
    except ValueError as error:
        msg = (
            f"a chunk is named by {' and '.join(CHUNK_FIELDS)}, which index writes; "
            f"{shown(name)} is not: was the corpus written by index?"
        )
        raise InputError(msg) from error
    return Chunk(doc_id, text=text)
