"""Inputs of a validation, read so that what is suspicious stays visible.

Judgements that disagree and lines that are not UTF-8 are collected instead of refused, and the
ranks of runs are kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from beir_eval.adapters.dataset_folder import (
    dataset_name,
    find_qrels_files,
    split_names,
    table_files,
)
from beir_eval.adapters.exclusions import with_listed_exclusions
from beir_eval.adapters.readers import (
    qrels_from_content,
    ranks_in_content,
    run_content,
    run_from_content,
)
from beir_eval.core.column_names import NO_COLUMNS, StatedColumns
from beir_eval.core.files import FileContent, as_path, file_stem, name_as_text
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.datasets.catalogue import split_or_default
from beir_eval.datasets.corpus import Corpus, Document, JsonlCorpus, read_queries
from beir_eval.datasets.dataset import Dataset, corpus_from_files, queries_from_files
from beir_eval.errors import (
    BeirEvalError,
    DisagreeingJudgementsError,
    FileFormatError,
    SettingError,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_Read = TypeVar("_Read")


@dataclass(frozen=True, eq=False, kw_only=True)
class QrelsInput:
    """Judgements with what reading them showed.

    Attributes:
        name: the file, or "qrels".
        qrels: the judgements; of those that disagree the first.
        disagreements: {(query id, document id): its grades}; of those by subtopic or round all.
        num_repeated: how many judgements are listed again with the same grade.
        bad_lines: the numbers of the lines that are not UTF-8.
        iterations: the texts of the second column of TREC qrels, if judgements are repeated and it
            tells all of them apart; else empty.
    """

    name: str
    qrels: Qrels
    disagreements: Mapping[tuple[str, str], Sequence[float]] = field(default_factory=dict)
    num_repeated: int = 0
    bad_lines: Sequence[int] = ()
    iterations: Sequence[str] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class RunInput:
    """A run with what reading it showed.

    Attributes:
        name: the name of the system.
        run: the run.
        bad_lines: the numbers of the lines that are not UTF-8.
        ranks: a function that returns (query, rank, score) of every line of a file with ranks.
    """

    name: str
    run: Run
    bad_lines: Sequence[int] = ()
    ranks: Callable[[], Iterable[tuple[str, str, float]]] = tuple


@dataclass(frozen=True, eq=False, kw_only=True)
class QueriesInput:
    """The queries of a data set.

    Attributes:
        name: the file, or "queries".
        texts: {query_id: text}; of queries that are listed twice the first.
        repeated: {query_id: its texts} of these.
    """

    name: str
    texts: Mapping[str, str]
    repeated: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of_rows(cls, name: str, rows: Iterable[tuple[str, str]]) -> QueriesInput:
        """Return the queries of (id, text) rows.

        Args:
            name: the file.
            rows: the rows; a query may be listed twice.
        """
        texts: dict[str, str] = {}
        repeated: dict[str, list[str]] = {}
        for query_id, text in rows:
            if query_id in texts:
                repeated.setdefault(query_id, [texts[query_id]]).append(text)
            else:
                texts[query_id] = text
        return cls(name=name, texts=texts, repeated=repeated)


@dataclass(frozen=True, eq=False, kw_only=True)
class CorpusInput:
    """The documents of a data set, read when they are used.

    Attributes:
        name: the file, or "corpus".
        documents: the documents.
    """

    name: str
    documents: Iterable[Document]


@dataclass(frozen=True, eq=False, kw_only=True)
class DatasetInput:
    """Judgements with the corpus and the queries, as far as they are known.

    Attributes:
        judged: the judgements of one split.
        corpus: the documents; None if they are not known.
        queries: the queries; None if they are not known.
        folder: the data-set folder; None if the judgements are not those of a folder.
        judged_elsewhere: a function that returns the queries that other splits of the folder judge;
            it raises FileFormatError or QrelsError if these cannot be read. None without a folder.
    """

    judged: QrelsInput
    corpus: CorpusInput | None = None
    queries: QueriesInput | None = None
    folder: Path | None = None
    judged_elsewhere: Callable[[], set[str] | None] = lambda: None


def dataset_input(
    qrels: Any, split: str | None, qrels_format: str | None, columns: StatedColumns = NO_COLUMNS
) -> DatasetInput:
    """Return what the first argument of ``validate`` refers to.

    Args:
        qrels: a path of a file or a folder, a ``Dataset``, ``Qrels``, a mapping or a dataframe.
        split: the split of a folder.
        qrels_format: the name of the format of the judgements; None detects it.
        columns: the names of their columns.

    Raises:
        FileFormatError, QrelsError: the judgements cannot be read.
        SettingError: ``split`` for another input than a folder, or not a name; or an unknown
            format.
    """
    path = as_path(qrels) if isinstance(qrels, str | Path) else None
    if path is not None and path.is_dir():
        return _folder_input(path, split, qrels_format, columns)
    if split is not None:
        msg = f"split={shown(split)} belongs to a data-set folder, but the qrels are not a folder"
        raise SettingError(msg)
    if path is not None:
        return DatasetInput(judged=_read_qrels([path], qrels_format, columns))
    if isinstance(qrels, Dataset):
        return DatasetInput(
            judged=_from_qrels(qrels.name, qrels.qrels),
            corpus=corpus_input(qrels.corpus),
            queries=QueriesInput(name=qrels.name, texts=qrels.queries),
        )
    try:
        judged = _from_qrels("qrels", Qrels.coerce(qrels))
    except DisagreeingJudgementsError as error:  # in a dataframe
        judged = _from_columns("qrels", error.columns, [], 0)
    return DatasetInput(judged=judged)


def _folder_input(
    folder: Path, split: str | None, qrels_format: str | None, columns: StatedColumns
) -> DatasetInput:
    split = split_or_default(dataset_name(folder), split)
    judged = _read_qrels(find_qrels_files(folder, split), qrels_format, columns)
    judged = replace(judged, qrels=with_listed_exclusions(judged.qrels, folder))
    corpus = queries = None
    if files := table_files(folder, "corpus", split):
        corpus = corpus_input(corpus_from_files(folder, files))
    if files := table_files(folder, "queries", split):
        queries = QueriesInput.of_rows(str(files[0]), queries_from_files(files))

    def judged_elsewhere() -> set[str]:
        others = [name for name in split_names(folder) if name != split]
        return {
            query_id
            for files in (find_qrels_files(folder, name) for name in others)
            for query_id in _read_qrels(files, qrels_format, columns).qrels.query_ids
        }

    return DatasetInput(
        judged=judged,
        corpus=corpus,
        queries=queries,
        folder=folder,
        judged_elsewhere=judged_elsewhere,
    )


def _from_qrels(name: str, qrels: Qrels) -> QrelsInput:
    return QrelsInput(name=name, qrels=qrels, num_repeated=qrels.repeated_judgements)


def _read_qrels(
    files: Sequence[Path], stated_format: str | None, names: StatedColumns
) -> QrelsInput:
    """Return the judgements of a file, or of the parts of a table; by default of any format."""
    columns: list[list[Any]] = [[], [], []]
    bad_lines: list[int] = []
    iterations: Sequence[str] = ()
    num_repeated = 0
    for file in files:
        with _naming_qrels_format():
            judgements, _, numbers = _read(
                FileContent(file), partial(_judgements_in, columns=names), stated_format
            )
        bad_lines += numbers
        if isinstance(judgements, Qrels):
            if len(files) == 1:
                return replace(_from_qrels(str(file), judgements), bad_lines=numbers)
            num_repeated += judgements.repeated_judgements
            values = _columns_of(judgements)
        else:
            iterations, values = judgements.iterations, judgements.columns
        columns = [[*column, *more] for column, more in zip(columns, values, strict=True)]
    return _from_columns(str(files[0]), columns, bad_lines, num_repeated, iterations)


@contextmanager
def _naming_qrels_format() -> Iterator[None]:
    """Name the argument ``qrels_format`` in errors of readers, which call it ``format``."""
    try:
        yield
    except BeirEvalError as error:
        error.args = tuple(
            re.sub(r"\bformat=", "qrels_format=", text) if isinstance(text, str) else text
            for text in error.args
        )
        raise


def _judgements_in(
    content: FileContent, stated_format: str | None, columns: StatedColumns
) -> Qrels | DisagreeingJudgementsError:
    """Return the judgements of a file; the error, which has their columns, if some disagree."""
    try:
        return qrels_from_content(content, stated_format, columns)
    except FileFormatError as error:
        if not isinstance(error.__cause__, DisagreeingJudgementsError):
            raise
        return error.__cause__


def _columns_of(qrels: Qrels) -> Sequence[Sequence[Any]]:
    """Return query ids, document ids and grades."""
    query_ids = [qrels.query_ids[row] for row in qrels.row.tolist()]
    return query_ids, qrels.doc_ids, qrels.grades.tolist()


def _from_columns(
    name: str,
    columns: Sequence[Sequence[Any]],
    bad_lines: list[int],
    num_repeated: int,
    iterations: Sequence[str] = (),
) -> QrelsInput:
    """Return the judgements of columns, of which some may disagree."""
    judged: dict[str, dict[str, float]] = {}
    grades_of: dict[tuple[str, str], list[float]] = {}
    for query_id, doc_id, grade in zip(*columns, strict=True):
        judged.setdefault(query_id, {}).setdefault(doc_id, grade)
        grades = grades_of.setdefault((query_id, doc_id), [])
        if iterations or grade not in grades:
            grades.append(grade)
    disagreements = {key: grades for key, grades in grades_of.items() if len(grades) > 1}
    num_different = sum(map(len, grades_of.values()))
    return QrelsInput(
        name=name,
        qrels=Qrels(judged),
        disagreements=disagreements,
        num_repeated=num_repeated + len(columns[0]) - num_different,
        bad_lines=bad_lines,
        iterations=iterations,
    )


def _read(
    content: FileContent,
    reader: Callable[[FileContent, str | None], _Read],
    stated_format: str | None,
) -> tuple[_Read, FileContent, list[int]]:
    """Return what a reader returns, the content that it read, and the lines that are not UTF-8."""
    try:
        return reader(content, stated_format), content, []
    except FileFormatError as error:
        if not isinstance(error.__cause__, UnicodeDecodeError):
            raise
    content, bad_lines = with_latin1_lines(content)
    return reader(content, stated_format), content, bad_lines


def corpus_input(corpus: Any) -> CorpusInput:
    """Return a corpus.

    Args:
        corpus: a ``Corpus``, the path of a JSON-lines file, {doc_id: text}, or
            {doc_id: {"title", "text"}}.
    """
    if isinstance(corpus, str | Path):
        corpus = JsonlCorpus(as_path(corpus, "corpus"))
    if isinstance(corpus, Corpus):
        return CorpusInput(name=corpus.name, documents=corpus)
    return CorpusInput(name="corpus", documents=list(map(_document, corpus.items())))


def _document(entry: tuple[object, Any]) -> Document:
    doc_id, content = entry
    if isinstance(content, Mapping):
        title, text = content.get("title") or "", content.get("text") or ""
        return Document(str(doc_id), str(title), str(text))
    return Document(str(doc_id), "", str(content))


def queries_input(queries: Any) -> QueriesInput:
    """Return the texts of queries.

    Args:
        queries: {query_id: text}, or the path of a JSON-lines file.

    Raises:
        FileFormatError: a record is malformed.
    """
    if isinstance(queries, str | Path):
        path = as_path(queries, "queries")
        return QueriesInput.of_rows(str(path), read_queries(path))
    texts = {str(query_id): str(text) for query_id, text in queries.items()}
    return QueriesInput(name="queries", texts=texts)


def run_inputs(
    runs: Any, run_format: str | None, columns: StatedColumns = NO_COLUMNS
) -> Iterator[RunInput]:
    """Yield the runs, each read when it is needed.

    Args:
        runs: {name: run}, a list of paths, or a single run; a run is a path, a ``Run``,
            {query_id: {doc_id: score}} or a dataframe.
        run_format: the name of the format of the files; None detects it.
        columns: the names of their columns.

    Raises:
        FileFormatError, RunError: a run cannot be read, or a path is that of a folder.
        SettingError: an unknown format.
    """
    for name, source in _named_runs(runs).items():
        if isinstance(source, str | Path):
            run, content, bad_lines = _read(
                run_content(source), partial(run_from_content, columns=columns), run_format
            )
            ranks = partial(ranks_in_content, content, run_format, columns)
            yield RunInput(name=name, run=run, bad_lines=bad_lines, ranks=ranks)
        else:
            yield RunInput(name=name, run=Run.coerce(source))


def _named_runs(runs: Any) -> Mapping[str, Any]:
    """Return {name: run}."""
    if isinstance(runs, str | Path):
        return {_stem(runs): runs}
    if isinstance(runs, Mapping):
        return {"run": runs} if _is_run_mapping(runs) else {str(name): runs[name] for name in runs}
    if isinstance(runs, list | tuple):
        stems = list(map(_stem, runs))
        names = stems if len(set(stems)) == len(stems) else list(map(str, runs))
        return dict(zip(names, runs, strict=True))
    return {"run": runs}


def _stem(path: str | Path) -> str:
    return name_as_text(file_stem(as_path(path)))


def _is_run_mapping(runs: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is {query_id: {doc_id: score}}, and not {name: run}."""
    rankings = next((value for value in runs.values() if value is not None), None)
    if not isinstance(rankings, Mapping):
        return False
    return not any(isinstance(value, Mapping) for value in rankings.values())


def with_latin1_lines(content: FileContent) -> tuple[FileContent, list[int]]:
    """Return the content with each line as UTF-8, and the numbers of the lines that were not.

    Args:
        content: the content of a text file; lines that are not UTF-8 are taken for Latin-1.
    """
    lines, numbers = content.data().split(b"\n"), []
    for number, line in enumerate(lines, start=1):
        try:
            line.decode()
        except UnicodeDecodeError:
            numbers.append(number)
            lines[number - 1] = line.decode("latin-1").encode()
    return FileContent.from_bytes(content.path, b"\n".join(lines)), numbers
