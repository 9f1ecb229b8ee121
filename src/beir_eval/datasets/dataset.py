"""BEIR's data sets: corpus, queries, judgements and conventions, from a folder or from the hub."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval.adapters.dataset_folder import find_dataset_files, is_dataset, name_of
from beir_eval.adapters.readers import read_qrels
from beir_eval.core.qrels import Qrels
from beir_eval.datasets.catalogue import DatasetInfo, known_info
from beir_eval.datasets.corpus import (
    Corpus,
    JsonlCorpus,
    ParquetRows,
    TableCorpus,
    queries_of_rows,
    read_queries,
)
from beir_eval.errors import FileFormatError, SettingError, needs_extra

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: The tables of a data set on the hub that hold judgements, by preference.
_QRELS_CONFIGS = ("qrels", "default")


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset:
    """One data set, ready to be retrieved from and evaluated on.

    Attributes:
        name: the name of its folder, or of the data set on the hub.
        split: which judgements these are.
        corpus: the documents; not read before they are asked for.
        queries: {query_id: text} of the judged queries that have a text.
        qrels: the judgements of the split.
        info: BEIR's conventions; None for a data set that is not BEIR's.
    """

    name: str
    split: str
    corpus: Corpus
    queries: Mapping[str, str]
    qrels: Qrels
    info: DatasetInfo | None

    @property
    def queries_without_text(self) -> tuple[str, ...]:
        """The judged queries that the queries file lacks: no retriever can answer them."""
        return tuple(one for one in self.qrels.query_ids if one not in self.queries)

    def __repr__(self) -> str:
        """Return the size, not the content."""
        return f"Dataset({self.name!r}, split={self.split!r}, {len(self.queries)} queries)"


def load_dataset(path: str | Path, split: str | None = None) -> Dataset:
    """Read a data set from its folder: queries and judgements now, the corpus when it is asked for.

    Layouts: BEIR's (``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv``, packed or not,
    with a header or without), and Hugging Face's as they lie on a disk: ``BeIR/x`` with its
    judgements in ``x-qrels`` beside it, ``mteb/x`` and NanoBEIR (Parquet tables in ``corpus``,
    ``queries`` and ``qrels``, ``default`` or ``data``).

    Args:
        path: the folder.
        split: which judgements; by default the official split of a BEIR data set of that name,
            else "test".

    Raises:
        FileFormatError: a file is missing or is not what it should be; several data sets.
        MissingExtraError: Parquet tables without polars.
        OSError: a file cannot be read.
    """
    folder = Path(path)
    if not folder.is_dir():
        problem = "no such folder; a data set is a folder with corpus, queries and qrels"
        raise FileFormatError(folder, problem)
    if not is_dataset(folder) and (parts := _parts(folder)):
        problem = f"{len(parts)} data sets ({', '.join(parts)}): read them with load_datasets"
        raise FileFormatError(folder, problem)
    name = name_of(folder)
    split = _split_of(name, split)
    files = find_dataset_files(folder, split)
    is_table = files.corpus[0].suffix == ".parquet"
    corpus: Corpus = (
        TableCorpus(str(folder / "corpus"), ParquetRows(files.corpus))
        if is_table
        else JsonlCorpus(files.corpus[0])
    )
    qrels = _joined([read_qrels(file) for file in files.qrels])
    return _dataset(name, split, corpus, _queries(files.queries), qrels)


def load_datasets(path: str | Path, split: str | None = None) -> dict[str, Dataset]:
    """Read a folder of data sets, such as CQADupStack's twelve forums: {name: Dataset}.

    The folder of a single data set gives that one.

    Raises:
        FileFormatError, MissingExtraError, OSError: as ``load_dataset``; no data set at all.
    """
    folder = Path(path)
    if is_dataset(folder):
        return {name_of(folder): load_dataset(folder, split)}
    parts = _parts(folder)
    if not parts:
        problem = "no data set in this folder: no corpus.jsonl, corpus.jsonl.gz or corpus/*.parquet"
        raise FileFormatError(folder, problem)
    return {name: load_dataset(folder / name, split) for name in parts}


def load_from_hub(name: str, split: str | None = None, *, revision: str | None = None) -> Dataset:
    """Read a data set from Hugging Face's hub (or its local cache), with the package ``datasets``.

    Layouts: ``BeIR/x`` with its judgements in ``BeIR/x-qrels``, ``mteb/x``, NanoBEIR.

    Args:
        name: the repository, for example "mteb/scifact"; or a folder laid out like one.
        split: which judgements; by default the official split of a BEIR data set of that name,
            else "test".
        revision: a commit, branch or tag of the repository.

    Raises:
        MissingExtraError: the package ``datasets`` is not installed.
        SettingError: the repository has no such table or split.
        FileFormatError: a row has no id or no text.
    """
    with needs_extra("datasets", "hub", "loading from the hub"):
        import datasets  # noqa: PLC0415 - an extra
    split = _split_of(name, split)
    configs = datasets.get_dataset_config_names(name, revision=revision)
    judged_in = next((config for config in _QRELS_CONFIGS if config in configs), None)
    has_qrels = judged_in is not None and {"corpus", "queries"} <= set(configs)
    source = (name, judged_in, revision) if has_qrels else (f"{name}-qrels", None, None)
    table = _table(*source, split)
    columns = {one.lower().replace("-", "_"): one for one in table.column_names}
    wanted = [columns.get(one) for one in ("query_id", "corpus_id", "score")]
    if None in wanted:
        msg = f"{source[0]}: the judgements must have query-id, corpus-id and score, not {columns}"
        raise SettingError(msg)
    qrels = Qrels.from_columns(*(table[one] for one in wanted))
    corpus = TableCorpus(name, _table(name, "corpus", revision, split))
    queries = queries_of_rows(name, _table(name, "queries", revision, split))
    return _dataset(name, split, corpus, queries, qrels)


def _table(name: str, config: str | None, revision: str | None, split: str) -> Any:
    """Return one table: the split of that name, or the only one there is."""
    import datasets  # noqa: PLC0415 - an extra

    found = datasets.load_dataset(name, config, revision=revision)
    if split in found:
        return found[split]
    if config in ("corpus", "queries") and len(found) == 1:
        return next(iter(found.values()))
    msg = (
        f"{name} has no split {split!r} of {config or 'its judgements'}; it has {', '.join(found)}"
    )
    raise SettingError(msg)


def _split_of(name: str, stated: str | None) -> str:
    if stated is not None:
        return stated
    info = known_info(name)
    return "test" if info is None else info.split


def _parts(folder: Path) -> list[str]:
    """Return the sub-folders that are data sets."""
    return sorted(one.name for one in folder.glob("[!.]*") if one.is_dir() and is_dataset(one))


def _queries(files: tuple[Path, ...]) -> Iterable[tuple[str, str]]:
    if files[0].suffix == ".parquet":
        return queries_of_rows(files[0], ParquetRows(files))
    return chain.from_iterable(read_queries(file) for file in files)


def _dataset(
    name: str, split: str, corpus: Corpus, queries: Iterable[tuple[str, str]], qrels: Qrels
) -> Dataset:
    """Return the data set with the texts of its judged queries, in the order of the judgements."""
    judged = set(qrels.query_ids)
    text_of = {query_id: text for query_id, text in queries if query_id in judged}
    return Dataset(
        name=name,
        split=split,
        corpus=corpus,
        queries={query: text_of[query] for query in qrels.query_ids if query in text_of},
        qrels=qrels,
        info=known_info(name),
    )


def _joined(parts: list[Qrels]) -> Qrels:
    """Return the judgements of all parts of a table."""
    if len(parts) == 1:
        return parts[0]
    rows = [
        (query_id, doc_id, grade)
        for part in parts
        for query_id, judged in part.as_dict().items()
        for doc_id, grade in judged.items()
    ]
    return Qrels.from_columns(*zip(*rows, strict=True))
