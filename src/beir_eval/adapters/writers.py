"""Writing of qrels and run files: ``write_qrels``, ``write_run``.

A file is written completely or not at all.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.adapters.formats import QRELS_FORMATS, RUN_FORMATS, Format, FormatTable, load
from beir_eval.adapters.formats.text_lines import trec_word
from beir_eval.core.atomic_writes import write_atomically
from beir_eval.core.files import as_path
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import BeirEvalWarning, SettingError, check_choice, first_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PACKED_ENDINGS = (".gz", ".zst")


def write_run(
    run: Run | Mapping[Any, Any],
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - as read_run names it
    tag: str = "beir-eval",
) -> None:
    """Write a run to a file, exactly: ``read_run`` returns the same scores.

    Rows are written in the order of the run. The ranks of a TREC file count from 1 in the order of
    trec_eval (score, then document id, both descending), whatever the order of the rows. The n
    documents of a ranking without scores get the scores n, n−1, …, 1. Only JSON can represent an
    empty ranking; the other formats leave it out, with a warning.

    Args:
        run: ``Run``, {query_id: {doc_id: score}} or a dataframe.
        path: the file to write; it is compressed if its name ends in ``.gz`` or ``.zst``.
        format: "trec", "json", "csv" or "parquet"; None chooses it by the ending of the name:
            ``.trec``, ``.txt``, ``.run``, ``.qrels``; ``.json``; ``.csv``; ``.parquet``.
        tag: the last column of a TREC file, the name of the system.

    Raises:
        SettingError: the ending belongs to no format, or the format cannot be written.
        InputError: the tag is empty, contains white space or begins with # (in any format), an id
            contains white space, a zero byte or begins with # (TREC), contains a zero byte (CSV),
            an id is not Unicode, or ``path`` is not a path.
        RunError: the run is invalid, a ranking lists a document twice (JSON), or the run has no
            document (TREC, CSV).
        MissingExtraError: polars is needed for Parquet and for a dataframe, or zstandard for
            ``.zst``.
        OSError: the file cannot be written.
    """
    target = as_path(path)
    file_format = format_to_write(target, format)
    trec_word(tag)
    rankings = [
        (query, docs, np.arange(len(docs), 0.0, -1) if scores is None else scores)
        for query, docs, scores in Run.coerce(run).rankings()
    ]
    empty = [query for query, docs, _ in rankings if not docs]
    if empty and not file_format.keeps_empty:
        warnings.warn(
            f"empty rankings are left out, since {file_format.name} cannot contain them: "
            f"{first_few(empty)}; JSON can",
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

    ``read_qrels`` returns the same grades.

    Args:
        qrels: ``Qrels``, {query_id: {doc_id: grade}} or a dataframe.
        path: the file to write; it is compressed if its name ends in ``.gz`` or ``.zst``.
        format: "trec", "beir", "json", "csv" or "parquet"; None chooses it by the ending of the
            name: ``.trec``, ``.txt``, ``.run``, ``.qrels``; ``.tsv``; ``.json``; ``.csv``;
            ``.parquet``.

    Raises:
        SettingError: the ending belongs to no format, or the format cannot be written.
        InputError: an id contains white space or begins with # (TREC), contains a tab or a line
            break or has blanks at its ends (BEIR), contains a zero byte (CSV), or is not Unicode.
        QrelsError: the qrels are invalid.
        MissingExtraError: polars is needed for Parquet and for a dataframe, or zstandard for
            ``.zst``.
        OSError: the file cannot be written.
    """
    target = as_path(path)
    file_format = format_to_write(target, format, QRELS_FORMATS)
    rows = [
        (query, doc, grade)
        for query, documents in Qrels.coerce(qrels).as_dict().items()
        for doc, grade in documents.items()
    ]
    write_atomically(target, load(file_format.write, "writing Parquet")(rows))


def format_to_write(
    path: Path, stated: str | None = None, formats: FormatTable = RUN_FORMATS
) -> Format:
    """Return the format in which a file is written.

    Args:
        path: the file, whose ending chooses the format if ``stated`` is None.
        stated: the name of the format.
        formats: the formats of runs or those of judgements.

    Raises:
        SettingError: the ending or the name belongs to no format that can be written.
    """
    by_name = {
        file_format.name: file_format for file_format in formats.formats if file_format.write
    }
    if stated is not None:
        check_choice("format", stated, by_name)
        return by_name[stated]
    by_ending = {
        ending: file_format
        for file_format in by_name.values()
        for ending in file_format.written_endings or file_format.endings
    }
    ending = Path(path.stem).suffix if path.suffix in _PACKED_ENDINGS else path.suffix
    if ending not in by_ending:
        msg = (
            f"the name {path.name!r} does not say which format to write; end it in "
            f"{', '.join(by_ending)} or state format= one of {', '.join(by_name)}"
        )
        raise SettingError(msg)
    return by_ending[ending]


def check_ids(ids: Iterable[str], file_format: Format) -> None:
    """Raise InputError for an id that a file of this format cannot contain."""
    for text in ids:
        file_format.check_id(text)
