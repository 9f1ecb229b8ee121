"""Writing runs and judgements: all of a file or nothing."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.adapters.formats import QRELS_FORMATS, RUN_FORMATS, Format, FormatTable, load
from beir_eval.adapters.formats.text_lines import trec_word
from beir_eval.core.files import write_atomically
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import BeirEvalWarning, SettingError, check_choice, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PACKED = (".gz", ".zst")


def write_run(
    run: Run | Mapping[Any, Any],
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - as read_run names it
    tag: str = "beir-eval",
) -> None:
    """Write a run to a file, exactly: read again, it gives the same numbers to the last bit.

    The rows keep the order of the run. TREC ranks count from 1 in the order of trec_eval (score,
    then document id descending), whatever the order of the rows. A run without scores gets n, n−1,
    …, 1. Only JSON can say that a ranking is empty; the others leave it out, with a warning.

    Args:
        run: ``Run``, {query_id: {doc_id: score}} or a dataframe.
        path: where to; ``.gz`` and ``.zst`` names are packed.
        format: "trec", "json" or "parquet"; by default the ending of the name says which.
        tag: the last column of TREC.

    Raises:
        SettingError: the ending says no format, or the format cannot be written.
        RunError: an id with white space (TREC), a document that stands twice (JSON), no document.
        MissingExtraError: Parquet without polars.
        OSError: the file cannot be written.
    """
    target = Path(path)
    file_format = format_for(target, format)
    trec_word(tag)
    rankings = [
        (query, docs, np.arange(len(docs), 0.0, -1) if scores is None else scores)
        for query, docs, scores in Run.coerce(run).rankings()
    ]
    empty = [query for query, docs, _ in rankings if not docs]
    if empty and not file_format.keeps_empty:
        warnings.warn(
            f"empty rankings are lost, which {file_format.name} cannot say: {some(empty)}; "
            "JSON can",
            BeirEvalWarning,
            stacklevel=2,
        )
    write_atomically(target, load(file_format.write, "writing Parquet")(rankings, tag))


def write_qrels(
    qrels: Qrels | Mapping[Any, Any],
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - as read_qrels names it
) -> None:
    """Write judgements to a file, best grade first within each query.

    Args:
        qrels: ``Qrels``, {query_id: {doc_id: grade}} or a dataframe.
        path: where to; ``.gz`` and ``.zst`` names are packed; ``.tsv`` is BEIR's layout.
        format: "trec", "beir", "json" or "parquet"; by default the ending of the name says which.

    Raises:
        SettingError: the ending says no format, or the format cannot be written.
        InputError: an id with white space (TREC) or a tab (BEIR).
        MissingExtraError: Parquet without polars.
        OSError: the file cannot be written.
    """
    target = Path(path)
    file_format = format_for(target, format, QRELS_FORMATS)
    rows = [
        (query, doc, grade)
        for query, documents in Qrels.coerce(qrels).as_dict().items()
        for doc, grade in documents.items()
    ]
    write_atomically(target, load(file_format.write, "writing Parquet")(rows))


def format_for(path: Path, stated: str | None = None, formats: FormatTable = RUN_FORMATS) -> Format:
    """Return the format that a file's name says, or the one stated.

    Raises:
        SettingError: neither says one that can be written.
    """
    by_name = {row.name: row for row in formats.formats if row.write}
    if stated is not None:
        check_choice("format", stated, by_name)
        return by_name[stated]
    by_ending = {
        ending: row for row in by_name.values() for ending in row.written_endings or row.endings
    }
    ending = Path(path.stem).suffix if path.suffix in _PACKED else path.suffix
    if ending not in by_ending:
        msg = (
            f"the name {path.name!r} does not say which format to write; end it in "
            f"{', '.join(by_ending)} or state format= one of {', '.join(by_name)}"
        )
        raise SettingError(msg)
    return by_ending[ending]


def check_ids(ids: Iterable[str], file_format: Format) -> None:
    """Raise InputError for an id that a run file of this format cannot hold."""
    for text in ids:
        file_format.check_id(text)
