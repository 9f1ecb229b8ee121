"""Reading of qrels and run files: ``read_qrels``, ``read_run``."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from beir_eval.adapters.dataset_folder import find_qrels_file
from beir_eval.adapters.exclusions import with_listed_exclusions
from beir_eval.adapters.formats import QRELS_FORMATS, RUN_FORMATS, Format, FormatTable, load
from beir_eval.adapters.run_size import RUN_FILE, is_too_large
from beir_eval.core.column_names import NO_COLUMNS, QRELS_ROLES, RUN_ROLES, StatedColumns
from beir_eval.core.files import FileContent, as_path
from beir_eval.core.imports import import_name
from beir_eval.core.ranking_sample import StatedRanking, stated_rankings
from beir_eval.errors import FileFormatError, InputError, SettingError, shown

#: How many lines are looked at for ranks.
_MOST_RANKS = 1_000
#: The formats of runs that may list ranks beside scores.
_FORMATS_WITH_RANKS = ("trec", "msmarco", "csv", "jsonl", "parquet")

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run import Run
    from beir_eval.core.run_sources.chunks import ChunkIds


def read_qrels(
    path: str | Path,
    *,
    split: str | None = None,
    format: str | None = None,  # noqa: A002
    columns: Mapping[str, str] | StatedColumns | None = None,
    where: Mapping[str, str] | None = None,
) -> Qrels:
    """Return the judgements of a file, or of a split of a data-set folder.

    The format is detected from the content of the file unless ``format`` names one of
    ``adapters.formats.QRELS_FORMATS``:

    - "trec": query, iteration, document, grade, separated by blanks or tabs; lines that start with
      ``#`` are comments;
    - "beir": query, document, grade, separated by tabs; a header row is optional;
    - "json": ``{query_id: {doc_id: grade}}``, or ``{query_id: [doc_id, …]}``;
    - "jsonl": one object ``{"query_id": …, "doc_id": …, "grade": …}`` per line, or a query with
      ``{"query_id": …, "docs": [doc_id, …]}``;
    - "csv": values below a header, separated by commas, semicolons or tabs, with column names that
      ``Qrels.from_dataframe`` recognises, such as ``query_id,doc_id,grade``;
    - "parquet": columns with names that ``Qrels.from_dataframe`` recognises.

    Files compressed with gzip or zstd are decompressed, whatever their names. Grades may be
    fractions ("1.0", "0.5"). Documents without grades, in lists or in a CSV file with columns of
    ids (and of texts and iterations) only, have grade 1.

    Args:
        path: a file; or a data-set folder, as BEIR publishes it (``qrels/<split>.tsv``) or as
            downloaded from Hugging Face. Its queries may list documents to leave out of their
            rankings, in the field ``excluded_ids`` as in BRIGHT (see ``Qrels.excluding``).
        split: the split of a folder, "test" by default; not allowed for a file.
        format: the name of the format; None detects it.
        columns: the names of columns that have no usual names, such as {"doc_id": "passage",
            "grade": "label"}; the keys are query_id, doc_id and grade. For CSV, Parquet and JSON
            lines.
        where: {column: value}, such as {"split": "test"}: only rows with this value count, of CSV,
            Parquet and JSON lines. A table with several values in a column called system, model,
            run, tag, method, split, fold or annotator is refused until one is chosen.

    Returns:
        The judgements.

    Raises:
        FileFormatError: the content does not have the format: a line has another number of columns,
            a grade is not a finite number, a document is judged twice with different grades, there
            is no judgement, or the file is binary or damaged. Also if four columns look like an MS
            MARCO run (the second is not always 0 or always Q0, the documents of the first query
            are 1, 2, …, and one of its grades is a fraction), if the first line can be TREC's or
            BEIR's (``format`` decides), or if a folder lacks the split or has its judgements in
            several files (``load_dataset`` reads these).
        SettingError: ``split`` for a file, a ``split`` that is not a name, an unknown format, or
            ``columns`` for a format without names of columns.
        MissingExtraError: polars is needed for a Parquet file, or zstandard for a zstd file.
        InputError: ``path`` is neither text nor a path, or contains a zero byte.
        OSError: the file cannot be read.

    Warns:
        BeirEvalWarning: the grades of every query of a file with three columns are 1, 2, … in the
            order of the lines, as in an MS MARCO run; or the header of a BEIR file names the
            document before the query.
    """
    source = as_path(path)
    names = StatedColumns.read(columns, QRELS_ROLES, where)
    if source.is_dir():
        file = find_qrels_file(source, split or "test")
        return with_listed_exclusions(qrels_from_content(FileContent(file), format, names), source)
    if split is not None:
        msg = f"split={shown(split)} belongs to a data-set folder, but {path} is a file"
        raise SettingError(msg)
    return qrels_from_content(FileContent(source), format, names)


def read_run(  # noqa: PLR0913 - one keyword a fact
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002
    columns: Mapping[str, str] | StatedColumns | None = None,
    where: Mapping[str, str] | None = None,
    collapse: ChunkIds | None = None,
    parts: bool | None = None,
) -> Run:
    """Return the run of a file.

    The format is detected from the content of the file unless ``format`` names one of
    ``adapters.formats.RUN_FORMATS``:

    - "trec": query, Q0, document, rank, score, tag, separated by blanks or tabs. Documents are
      ranked by score; the rank is ignored, as in trec_eval. Lines that start with ``#`` are
      comments. A tag may contain blanks if it is the same in every line, does not begin with a
      number, and follows a whole rank and a score;
    - "msmarco": query, document, rank, and optionally a score, separated by blanks or tabs.
      Documents are ranked by score if there is one, and by rank otherwise. The third of three
      columns is the rank if its numbers are whole, different for each query, and begin at 0 or 1,
      in any order; it is the score if those of each query have a fraction or never increase;
    - "json": ``{query_id: {doc_id: score}}``, or MTEB's predictions of a single split;
    - "jsonl": one query per line, ``{"query_id": …, "docs": …}``, where the documents are
      ``{doc_id: score}``, a list of ids (best first), of ``[doc_id, score]`` or of objects; or one
      document per line, ``{"query_id": …, "doc_id": …, "score": …}``;
    - "csv": values below a header, separated by commas, semicolons or tabs, with column names that
      ``Run.from_dataframe`` recognises, such as ``query_id,doc_id,score``;
    - "parquet": columns with names that ``Run.from_dataframe`` recognises.

    Files compressed with gzip or zstd are decompressed, whatever their names. A document listed
    twice for a query is kept twice; ``evaluate(duplicates=…)`` sets the rule for it. The
    lines of one query need not follow each other.

    Args:
        path: the file.
        format: the name of the format; None detects it.
        columns: the names of columns that have no usual names, such as {"doc_id": "passage"}; the
            keys are query_id, doc_id and score. For CSV, Parquet and JSON lines with one document
            each.
        where: {column: value}, such as {"system": "bm25"}: only rows with this value count, of CSV,
            Parquet and JSON lines; in TREC runs the last column is called tag. A file of several
            systems is refused until one is chosen: a table with several values in a column called
            system, model, run, tag, method, split, fold or annotator, and a TREC run with several
            tags (at most 50) that list the same document or rank for a query.
        collapse: if the ids are those of chunks, the separator after the id of their document, such
            as "#", or a regular expression with one group, that id. The best chunk of each document
            counts; an id of another form counts as a document.
        parts: whether the rows of the file are read in parts, and checked, each time that they are
            needed, instead of now and into memory: of TREC, CSV, Parquet, and MS MARCO with scores.
            None: if the run would take more than half of the free memory.

    Returns:
        The run. Whether it is read in parts (``is_in_parts``) changes no result.

    Raises:
        FileFormatError: the content does not have the format: a line has another number of columns,
            a score is not a finite number, a rank is not a whole number, there is no query, or the
            file is binary or damaged. Three columns: also if the third holds neither ranks nor
            scores, or whole numbers up to 4 that may be grades. MS MARCO with scores: also if
            the second column is always 0 or always Q0, as in TREC qrels. Also if ``path`` is a
            folder.
        SettingError: an unknown format; ``columns`` for a format without names of columns;
            ``collapse`` is neither a separator nor a pattern with one group, or ``parts`` is True
            with it.
        MissingExtraError: polars is needed for a Parquet file, or zstandard for a zstd file.
        InputError: ``path`` is neither text nor a path, or contains a zero byte.
        OSError: the file cannot be read.

    Warns:
        BeirEvalWarning: polars is not installed, so that TREC and MS MARCO files are read line by
            line; said once.
    """
    names = StatedColumns.read(columns, RUN_ROLES, where)
    if parts is None:
        parts = collapse is None and is_too_large(as_path(path), format, names)
    if parts:
        if collapse is not None:
            raise SettingError("chunks become documents in memory: leave out parts= or collapse=")
        return _run_in_parts(_path_of_file(path), format, names)
    content = run_content(path)
    run = run_from_content(content, format, names)
    if collapse is None:
        run.stated_ranks = stated_ranks_of(content, format, names)
    else:
        run = run.collapsed(collapse)
    run.is_slow_to_read = True
    return run


def _run_in_parts(path: Path, stated: str | None, columns: StatedColumns) -> Run:
    """Return the run of a file that is read in parts; every error names the file.

    Args:
        path: the file.
        stated: the name of the format; None detects it.
        columns: what is stated about columns, as for ``read_run``.

    Raises:
        FileFormatError, SettingError, MissingExtraError, OSError: as ``read_run``.
    """
    file = import_name(RUN_FILE)(path, stated, columns)
    with _naming(path, file.format, columns):
        run: Run = file.run()
    run.is_slow_to_read = True
    with suppress(InputError, ValueError, TypeError, IndexError):  # raised again at evaluation
        run.stated_ranks = stated_ranks_of(file.head, stated, columns)
    return run


def read_mteb_predictions(path: str | Path) -> dict[str, Run]:
    """Return the runs of a file that MTEB writes into its ``prediction_folder``.

    ``read_run`` reads the file too if it has one split. The package mteb is not needed.

    Args:
        path: a file ``<task>_predictions.json``:
            ``{"mteb_model_meta": …, subset: {split: {query_id: {doc_id: score}}}}``.

    Returns:
        ``{"<subset>/<split>": run}``, such as ``{"default/test": run}``.

    Raises:
        FileFormatError: the content has another shape, or a score is not a finite number.
        InputError: ``path`` is neither text nor a path, or contains a zero byte.
        OSError: the file cannot be read.
    """
    content = run_content(path)
    return dict(load("json_formats:read_mteb_runs", "reading predictions")(content))


def run_content(path: str | Path) -> FileContent:
    """Return the content of a run file, to be read.

    Raises:
        FileFormatError: ``path`` is a folder.
        InputError: ``path`` is neither text nor a path, or contains a zero byte.
    """
    return FileContent(_path_of_file(path))


def _path_of_file(path: str | Path) -> Path:
    """Return the path of a run file, or raise what ``run_content`` does."""
    source = as_path(path)
    if source.is_dir():
        problem = (
            "a folder, not a run file; read each file in it: {file.stem: read_run(file) for "
            f"file in Path({str(path)!r}).glob('*')}}"
        )
        raise FileFormatError(source, problem)
    return source


def qrels_from_content(
    content: FileContent, stated: str | None = None, columns: StatedColumns = NO_COLUMNS
) -> Qrels:
    """Return the judgements in the content of a file.

    Args:
        content: the content.
        stated: the name of the format; None detects it.
        columns: what is stated about columns, as for ``read_qrels``.

    Raises:
        FileFormatError, SettingError, MissingExtraError: as ``read_qrels``.
    """
    qrels: Qrels = _read(content, QRELS_FORMATS, stated, columns, "reading a Parquet file")
    return qrels


def run_from_content(
    content: FileContent, stated: str | None = None, columns: StatedColumns = NO_COLUMNS
) -> Run:
    """Return the run in the content of a file.

    Args:
        content: the content.
        stated: the name of the format; None detects it.
        columns: what is stated about columns, as for ``read_run``.

    Raises:
        FileFormatError, SettingError, MissingExtraError: as ``read_run``.
    """
    run: Run = _read(content, RUN_FORMATS, stated, columns, "reading a run file")
    return run


def ranks_in_content(
    content: FileContent,
    stated: str | None = None,
    columns: StatedColumns = NO_COLUMNS,
    *,
    only_head: bool = False,
) -> Iterator[tuple[str, str, float]]:
    """Yield (query, rank, score) of every line of a run that has ranks beside scores.

    Nothing for a run of another format, without ranks, or of which only some rows count. The rank
    is text, as the file has it.

    Args:
        content: the content of a run that was read without an error.
        stated: the name of the format; None detects it.
        columns: the names of columns, as for ``read_run``.
        only_head: whether to read the first lines or rows of the file only.
    """
    file_format = RUN_FORMATS.choose(content, stated, columns)
    module = file_format.read.partition(":")[0]
    if file_format.name in _FORMATS_WITH_RANKS and not columns.where:
        read = load(f"{module}:rows_with_ranks", "reading a run file")
        if only_head and module == "parquet":
            yield from read(content, columns, _MOST_RANKS)
            return
        part = content.whole_lines_of_head() if only_head else content
        yield from read(part, columns) if file_format.has_columns else read(part)


def stated_ranks_of(
    content: FileContent, stated: str | None = None, columns: StatedColumns = NO_COLUMNS
) -> list[StatedRanking]:
    """Return the ranks in the first 1,000 lines of a run that has ranks beside scores, by query.

    Args:
        content: the content of a run that was read without an error.
        stated: the name of the format; None detects it.
        columns: what is stated about columns, as for ``read_run``.
    """
    lines = ranks_in_content(content, stated, columns, only_head=True)
    return stated_rankings(islice(lines, _MOST_RANKS))


def _read(
    content: FileContent,
    formats: FormatTable,
    stated: str | None,
    columns: StatedColumns,
    purpose: str,
) -> Any:
    """Return what the reader of a file's format returns; every error names the file."""
    file_format = formats.choose(content, stated, columns)
    read = load(file_format.read, purpose)
    takes_columns = file_format.has_columns or file_format.has_tag
    with _naming(content.path, file_format, columns):
        return read(content, columns) if takes_columns else read(content)


@contextmanager
def _naming(path: Path, file_format: Format, columns: StatedColumns) -> Iterator[None]:
    """Name the file in the errors of the ``with`` block, and check that it has what is stated.

    Args:
        path: the file.
        file_format: its format.
        columns: what is stated about its columns.

    Raises:
        SettingError: names of columns are stated, and the format has none.
        FileFormatError: the file lacks a column.
    """
    if columns and not columns.is_shared and not file_format.has_columns:
        msg = (
            f"{path}: columns= names the columns of CSV, Parquet and JSON lines, but this "
            f"file has the format {file_format.name!r}, without names; leave columns= out"
        )
        raise SettingError(msg)
    try:
        yield
        if not columns.is_shared:
            columns.refuse_unused()
    except FileFormatError:
        raise
    except InputError as error:
        raise FileFormatError(path, str(error)) from error
