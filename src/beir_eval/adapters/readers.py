"""Reading and writing files: ``read_qrels``, ``read_run``, ``write_qrels``, ``write_run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval.adapters.dataset_folder import find_qrels
from beir_eval.adapters.formats import QRELS_FORMATS, RUN_FORMATS, FormatTable, load
from beir_eval.core.files import FileContent
from beir_eval.errors import FileFormatError, InputError, SettingError

if TYPE_CHECKING:
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run import Run


def read_qrels(path: str | Path, *, split: str | None = None, format: str | None = None) -> Qrels:  # noqa: A002
    """Read judgements from a file or from a BEIR data-set folder.

    Formats, told by the content unless ``format`` states one:

    - "trec": query, iteration, document, grade, separated by blanks or tabs; lines that start with
      ``#`` are comments;
    - "beir": query, document, grade, separated by tabs, with a header row or without;
    - "json": ``{query_id: {doc_id: grade}}``;
    - "jsonl": one ``{"query_id", "doc_id", "grade"}`` a line;
    - "parquet": columns named as ``Qrels.from_dataframe`` recognises them.

    ``.gz`` and ``.zst`` files are unpacked. Grades may be fractions ("1.0", "0.5").

    Args:
        path: a file, or a folder that holds ``qrels/<split>.tsv``.
        split: which judgements of a folder, "test" by default; not for a file.
        format: the format of the file.

    Raises:
        FileFormatError: the content is not of that format: a line with another number of columns,
            a grade that is not a number, a document judged twice with different grades, no
            judgement at all, a truncated .gz, a binary file; a folder without that split.
        SettingError: ``split`` with a file, or an unknown format.
        MissingExtraError: a Parquet file without polars, a .zst file without zstandard.
        OSError: the file cannot be read.
    """
    source = Path(path)
    if source.is_dir():
        source = find_qrels(source, split or "test")
    elif split is not None:
        msg = f"split={split!r} belongs to a data-set folder, but {path} is a file"
        raise SettingError(msg)
    qrels: Qrels = _read(FileContent(source), QRELS_FORMATS, format, "reading a Parquet file")
    return qrels


def read_run(path: str | Path, *, format: str | None = None) -> Run:  # noqa: A002
    """Read a run.

    Formats, told by the content unless ``format`` states one:

    - "trec": query, Q0, document, rank, score, tag, separated by blanks or tabs. The rank is
      ignored, as trec_eval ignores it: scores rank. Lines that start with ``#`` are comments;
    - "msmarco": query, document, rank, and maybe a score. Without scores the ranks are the ranking;
      with scores the scores are;
    - "json": ``{query_id: {doc_id: score}}``;
    - "jsonl": one query a line, ``{"query_id": …, "docs": …}`` with ``{doc_id: score}``, a list of
      ids (best first), of ``[doc_id, score]`` or of objects; or one document a line,
      ``{"query_id", "doc_id", "score"}``;
    - "parquet": columns named as ``Run.from_dataframe`` recognises them.

    ``.gz`` and ``.zst`` files are unpacked. A document that stands twice is kept twice;
    ``evaluate(duplicates=…)`` decides about it.

    Raises:
        FileFormatError: the content is not of that format: a line with another number of columns,
            a score that is not a finite number, nothing at all, a truncated .gz, a binary file.
        SettingError: an unknown format.
        MissingExtraError: polars is not installed (JSON is read without), or zstandard for .zst.
        OSError: the file cannot be read.
    """
    run: Run = _read(FileContent(Path(path)), RUN_FORMATS, format, "reading a run file")
    return run


def _read(content: FileContent, formats: FormatTable, stated: str | None, purpose: str) -> Any:
    file_format = formats.choose(content, stated)
    try:
        return load(file_format.read, purpose)(content)
    except FileFormatError:
        raise
    except InputError as error:
        raise FileFormatError(content.path, str(error)) from error
