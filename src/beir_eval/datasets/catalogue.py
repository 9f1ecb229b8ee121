"""The catalogue of BEIR's data sets: splits, sizes, licences, conventions, BM25 scores, averages.

The data are in ``catalogue.toml``, which also names the sources of the numbers.
"""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from beir_eval.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The address of BEIR's public archives.
ARCHIVES = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets"
#: The averages that papers report, by their number of data sets.
_GROUP_SIZES = (13, 14, 18)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetInfo:
    """The conventions of one data set.

    Attributes:
        name: BEIR's name, for example "scifact".
        title: the name in papers, for example "SciFact".
        queries: the number of queries in ``split``.
        documents: the number of documents in the corpus.
        relevant_per_query: the mean number of relevant documents per query in ``split``.
        licence: the licence of the data; sources disagree on some.
        split: the split on which results are reported.
        graded: whether there are grades above 1.
        drop_identical_ids: whether retrieved documents with the id of their query are dropped.
        groups: the reported averages that include the data set, each named by its number of data
            sets: 13, 14 or 18.
        parts: the names of the sub-folders, if the data set has several; its score is then the
            unweighted mean of theirs.
        bm25: nDCG@10 of Anserini's BM25: first with title and text in one field (flat), then in
            two fields (multifield). None: the catalogue has no score.
        md5: the MD5 checksum of the public archive; None: there is no public archive.
        note: other conventions, as a sentence.
    """

    name: str
    title: str
    queries: int
    documents: int
    relevant_per_query: float
    licence: str
    split: str = "test"
    graded: bool = False
    drop_identical_ids: bool = False
    groups: tuple[int, ...] = _GROUP_SIZES
    parts: tuple[str, ...] = ()
    bm25: tuple[float | None, float | None] = (None, None)
    md5: str | None = None
    note: str = ""

    @property
    def url(self) -> str | None:
        """The address of the public archive; None if the data are not public."""
        return None if self.md5 is None else f"{ARCHIVES}/{self.name}.zip"


def _read_catalogue() -> Iterator[DatasetInfo]:
    content = files("beir_eval.datasets").joinpath("catalogue.toml").read_text(encoding="utf-8")
    for name, fields in tomllib.loads(content).items():
        bm25 = fields.pop("bm25_flat", None), fields.pop("bm25_multifield", None)
        lists = {key: tuple(value) for key, value in fields.items() if isinstance(value, list)}
        yield DatasetInfo(name=name, bm25=bm25, **fields | lists)


#: The conventions of all BEIR data sets, by name.
DATASETS: Mapping[str, DatasetInfo] = {info.name: info for info in _read_catalogue()}
#: The averages that papers report: {number of data sets: their names}.
REPORTED_AVERAGES: Mapping[int, tuple[str, ...]] = {
    size: tuple(info.name for info in DATASETS.values() if size in info.groups)
    for size in _GROUP_SIZES
}
#: Other spellings of names, in lower case, with BEIR's name.
_OTHER_NAMES = {"touche2020": "webis-touche2020", "dbpedia": "dbpedia-entity"}


def find_info(name: str) -> DatasetInfo | None:
    """Return the conventions of a BEIR data set; None for any other data set.

    Args:
        name: the name in any case, with or without a prefix: "SciFact", "BeIR/scifact".
    """
    short = name.rpartition("/")[2].lower().replace("_", "-")
    short = _OTHER_NAMES.get(short, short)
    return DATASETS.get(short)


def split_or_default(name: str, split: str | None) -> str:
    """Return a split; None means the official one of a BEIR data set, or "test".

    Args:
        name: the name of the data set, as for ``find_info``.
        split: the name of the split that was stated, if any.
    """
    if split is not None:
        return split
    info = find_info(name)
    return "test" if info is None else info.split


def parent_info(name: str) -> DatasetInfo | None:
    """Return the conventions of the data set that this one is a part of, or None.

    Args:
        name: the path of the part, for example "cqadupstack/android".
    """
    group_name, _, part = name.rpartition("/")
    group = find_info(group_name)
    return group if group is not None and part.lower() in group.parts else None


def info_of(name: str) -> DatasetInfo:
    """Return the conventions of a BEIR data set.

    Args:
        name: the name in any case, with or without a prefix: "SciFact", "BeIR/scifact".

    Raises:
        SettingError: BEIR has no data set of that name; the message suggests similar names.

    >>> info_of("arguana").drop_identical_ids
    True
    """
    info = find_info(name)
    if info is None:
        similar = difflib.get_close_matches(name.lower(), DATASETS, n=2, cutoff=0.5)
        hint = f"did you mean {' or '.join(similar)}? " if similar else ""
        msg = f"BEIR has no data set {name!r}; {hint}`beir-eval list datasets` lists them all"
        raise SettingError(msg)
    return info
