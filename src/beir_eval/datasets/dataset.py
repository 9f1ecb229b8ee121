"""``Dataset`` (corpus, queries, qrels, conventions), loaded from a folder or the hub."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from beir_eval.adapters.dataset_folder import (
    dataset_name,
    find_dataset_files,
    is_dataset,
    table_files,
)
from beir_eval.adapters.exclusions import EXCLUDED_IDS, excluding_listed, with_listed_exclusions
from beir_eval.adapters.readers import read_qrels
from beir_eval.core.files import as_path
from beir_eval.core.qrels import Qrels
from beir_eval.datasets.catalogue import DatasetInfo, find_info, split_or_default
from beir_eval.datasets.corpus import (
    Corpus,
    JsonlCorpus,
    ParquetRows,
    TableCorpus,
    queries_from_rows,
    read_queries,
)
from beir_eval.errors import FileFormatError, InputError, SettingError, needs_extra, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

#: The configurations of a repository on the hub that may hold the qrels; the first match is used.
_QRELS_CONFIGS = ("qrels", "default")


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset:
    """One split of a data set: corpus, queries and qrels.

    Attributes:
        name: the name of the folder, or of the repository on the hub.
        split: the name of the split, for example "test".
        corpus: the documents, read from the file whenever they are used.
        queries: {query_id: text} of the judged queries that have a text, in the order of the qrels.
        qrels: the judgements of the split.
        info: the conventions of a BEIR data set; None for any other data set.
        query_files: the files that the queries were read from; empty if they were no files.
    """

    name: str
    split: str
    corpus: Corpus
    queries: Mapping[str, str]
    qrels: Qrels
    info: DatasetInfo | None
    query_files: tuple[Path, ...] = ()

    @property
    def queries_without_text(self) -> tuple[str, ...]:
        """The ids of the judged queries without a text: no retriever can answer them."""
        return tuple(query_id for query_id in self.qrels.query_ids if query_id not in self.queries)

    def __repr__(self) -> str:
        """Return name, split and number of queries."""
        return f"Dataset({self.name!r}, split={self.split!r}, {len(self.queries)} queries)"


def load_dataset(path: str | Path, split: str | None = None) -> Dataset:
    """Return the data set in a folder: queries and qrels are read now, the corpus when it is used.

    Supported layouts: that of BEIR (``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv``,
    with or without gzip, with or without a header), and those of repositories downloaded from the
    hub: ``BeIR/x`` with the qrels in a folder ``x-qrels`` beside it; ``mteb/x`` and NanoBEIR, with
    Parquet tables in ``corpus``, ``queries`` and one of ``qrels``, ``default`` or ``data``.

    Args:
        path: the folder.
        split: the name of the split, for example "dev"; by default the official split if the name
            of the folder is that of a BEIR data set, else "test".

    Raises:
        FileFormatError: there is no such folder, a file is missing or malformed, the split does not
            exist, or the folder holds several data sets.
        QrelsError: the qrels consist of several files, which judge a document differently.
        SettingError: ``split`` is not a valid name.
        MissingExtraError: the tables are Parquet files and polars is not installed.
        OSError: a file cannot be read.
    """
    folder = as_path(path)
    if not folder.is_dir():
        problem = "no such folder; a data set is a folder with corpus, queries and qrels"
        if find_info(folder.name) is not None:
            problem += f". download_dataset({folder.name!r}) fetches it and returns its folder"
        raise FileFormatError(folder, problem)
    if not is_dataset(folder) and (names := _dataset_names(folder)):
        problem = f"{len(names)} data sets ({', '.join(names)}): read them with load_datasets"
        raise FileFormatError(folder, problem)
    name = dataset_name(folder)
    split = split_or_default(name, split)
    files = find_dataset_files(folder, split)
    qrels = with_listed_exclusions(_join_qrels([read_qrels(file) for file in files.qrels]), folder)
    corpus = corpus_from_files(folder, files.corpus)
    queries = queries_from_files(files.queries)
    return replace(_new_dataset(name, split, corpus, queries, qrels), query_files=files.queries)


def dataset_with_judgements(folder: Path, qrels: Qrels) -> Dataset:
    """Return the corpus and the queries of a folder, with judgements that are not in it.

    Args:
        folder: the data set, with qrels or without.
        qrels: the judgements.

    Raises:
        FileFormatError: the folder has no corpus or no queries, or one of them is malformed.
    """
    corpus, queries = (table_files(folder, table) for table in ("corpus", "queries"))
    if not corpus or not queries:
        missing = "corpus" if not corpus else "queries"
        raise FileFormatError(folder, f"no {missing} in this folder; {missing}.jsonl was expected")
    name = dataset_name(folder)
    made = _new_dataset(
        name, "spans", corpus_from_files(folder, corpus), queries_from_files(queries), qrels
    )
    return replace(made, query_files=queries)


def corpus_from_files(folder: Path, files: tuple[Path, ...]) -> Corpus:
    """Return the corpus of a data-set folder; its files are opened when documents are read.

    Args:
        folder: the data set.
        files: one JSON-lines file, or the parts of a Parquet table.
    """
    if files[0].suffix == ".parquet":
        return TableCorpus(str(folder / "corpus"), ParquetRows(files))
    return JsonlCorpus(files[0])


def load_datasets(path: str | Path, split: str | None = None) -> dict[str, Dataset]:
    """Return {name: Dataset} of a folder of data sets, such as the twelve forums of CQADupStack.

    Args:
        path: a folder of data-set folders, or the folder of a single data set.
        split: the name of the split, for all data sets; by default, for each of them, the official
            split if its name is that of a BEIR data set, else "test".

    Raises:
        FileFormatError: there is no data set in the folder, or one cannot be read.
        QrelsError: the qrels of a data set consist of several files, which judge a document
            differently.
        SettingError: ``split`` is not a valid name.
        MissingExtraError: the tables are Parquet files and polars is not installed.
        OSError: a file cannot be read.
    """
    folder = as_path(path)
    if is_dataset(folder):
        return {dataset_name(folder): load_dataset(folder, split)}
    names = _dataset_names(folder)
    if not names:
        problem = "no data set in this folder: no corpus.jsonl, corpus.jsonl.gz or corpus/*.parquet"
        raise FileFormatError(folder, problem)
    return {name: load_dataset(folder / name, split) for name in names}


def load_from_hub(name: str, split: str | None = None, *, revision: str | None = None) -> Dataset:
    """Return a data set of the Hugging Face hub (or its local cache), read by ``datasets``.

    Supported layouts: ``BeIR/x`` with the qrels in ``BeIR/x-qrels``; ``mteb/x``; NanoBEIR. Other
    errors of the package ``datasets`` are not caught, for example for a missing repository.

    Args:
        name: the repository, for example "mteb/scifact", or a folder with the same layout.
        split: the name of the split, for example "dev"; by default the official split if the name
            is that of a BEIR data set, else "test".
        revision: a commit, branch or tag of the repository; it does not apply to ``BeIR/x-qrels``.

    Raises:
        MissingExtraError: the package ``datasets`` is not installed.
        SettingError: the repository has no such split, or its qrels lack a column.
        QrelsError: the judgements are empty, have an invalid id or grade, or judge a document twice
            with different grades.
        FileFormatError: a query has no id or no text. Documents are checked when they are read.
    """
    with needs_extra("datasets", "hub", "loading from the hub"):
        import datasets  # noqa: PLC0415 - an extra
    split = split_or_default(name, split)
    configs = datasets.get_dataset_config_names(name, revision=revision)
    qrels_config = next((config for config in _QRELS_CONFIGS if config in configs), None)
    has_qrels = qrels_config is not None and {"corpus", "queries"} <= set(configs)
    source = (name, qrels_config, revision) if has_qrels else (f"{name}-qrels", None, None)
    table = _load_table(*source, split)
    columns = {column.lower().replace("-", "_"): column for column in table.column_names}
    qrels_columns = [columns.get(column) for column in ("query_id", "corpus_id", "score")]
    if None in qrels_columns:
        msg = f"{source[0]}: the judgements must have query-id, corpus-id and score, not {columns}"
        raise SettingError(msg)
    qrels = Qrels.from_columns(*(table[column] for column in qrels_columns))
    corpus = TableCorpus(name, _load_table(name, "corpus", revision, split))
    queries = _load_table(name, "queries", revision, split)
    if EXCLUDED_IDS in queries.column_names:
        qrels = excluding_listed(qrels, name, enumerate(queries, start=1))
    return _new_dataset(name, split, corpus, queries_from_rows(name, queries), qrels)


def _load_table(name: str, config: str | None, revision: str | None, split: str) -> Any:
    """Return one table of a repository: the split of that name.

    A corpus or queries with a single split of another name are used for every split.

    Raises:
        SettingError: there is no such split.
    """
    import datasets  # noqa: PLC0415 - an extra

    splits = datasets.load_dataset(name, config, revision=revision)
    if split in splits:
        return splits[split]
    if config in ("corpus", "queries") and len(splits) == 1:
        return next(iter(splits.values()))
    msg = (
        f"{name} has no split {split!r} of {config or 'its judgements'}; it has {', '.join(splits)}"
    )
    raise SettingError(msg)


def _dataset_names(folder: Path) -> list[str]:
    """Return the names of the sub-folders that are data sets."""
    return sorted(
        inside.name for inside in folder.glob("[!.]*") if inside.is_dir() and is_dataset(inside)
    )


def queries_from_files(files: tuple[Path, ...]) -> Iterable[tuple[str, str]]:
    """Return (query_id, text) of all queries in the files."""
    if files[0].suffix == ".parquet":
        return queries_from_rows(files[0], ParquetRows(files))
    return chain.from_iterable(read_queries(file) for file in files)


def _new_dataset(
    name: str, split: str, corpus: Corpus, queries: Iterable[tuple[str, str]], qrels: Qrels
) -> Dataset:
    """Return the data set with its judged queries only, in the order of the qrels."""
    judged = set(qrels.query_ids)
    texts: dict[str, str] = {}
    for query_id, text in queries:
        if query_id in judged and texts.setdefault(query_id, text) != text:
            msg = (
                f"{name}: query {shown(query_id)} is listed twice, as {shown(texts[query_id])} and "
                f"as {shown(text)}; keep one text of each query"
            )
            raise InputError(msg)
    return Dataset(
        name=name,
        split=split,
        corpus=corpus,
        queries={query_id: texts[query_id] for query_id in qrels.query_ids if query_id in texts},
        qrels=qrels,
        info=find_info(name),
    )


def _join_qrels(parts: list[Qrels]) -> Qrels:
    """Return the qrels of a table that consists of several files."""
    if len(parts) == 1:
        return parts[0]
    rows = [
        (query_id, doc_id, grade)
        for part in parts
        for query_id, judged in part.as_dict().items()
        for doc_id, grade in judged.items()
    ]
    return Qrels.from_columns(*zip(*rows, strict=True))
