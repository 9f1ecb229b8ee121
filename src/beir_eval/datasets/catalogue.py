"""What is agreed about each BEIR data set: its split, its exceptions, its baseline, its averages.

``catalogue.toml`` lists the data sets, and the sources of the numbers.
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

ARCHIVES = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets"
_CORE = (13, 14, 18)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetInfo:
    """The conventions of one data set.

    Attributes:
        name: BEIR's name.
        title: the name in papers.
        split: the one whose numbers are reported.
        queries: in that split.
        documents: in the corpus.
        relevant_per_query: on average, in that split.
        graded: whether grades go beyond 1.
        drop_identical_ids: whether documents whose id is that of their query are left out.
        groups: the averages it belongs to, named by their size: 13, 14 or 18 data sets.
        parts: the sub-folders whose unweighted mean is its number.
        bm25: nDCG@10 of Anserini's BM25, flat and multifield; None where there is none.
        licence: that of the data, as MTEB states it; sources disagree on some.
        md5: checksum of the public archive; None where there is none.
        note: what else must be known.
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
    groups: tuple[int, ...] = _CORE
    parts: tuple[str, ...] = ()
    bm25: tuple[float | None, float | None] = (None, None)
    md5: str | None = None
    note: str = ""

    @property
    def url(self) -> str | None:
        """The public archive; None where the data must be had from their owner."""
        return None if self.md5 is None else f"{ARCHIVES}/{self.name}.zip"


def _read_catalogue() -> Iterator[DatasetInfo]:
    content = files("beir_eval.datasets").joinpath("catalogue.toml").read_text(encoding="utf-8")
    for name, stated in tomllib.loads(content).items():
        bm25 = stated.pop("bm25_flat", None), stated.pop("bm25_multifield", None)
        lists = {key: tuple(value) for key, value in stated.items() if isinstance(value, list)}
        yield DatasetInfo(name=name, bm25=bm25, **stated | lists)


#: All of BEIR's data sets, by name.
DATASETS: Mapping[str, DatasetInfo] = {info.name: info for info in _read_catalogue()}
#: The averages that papers report: how many data sets, and which.
GROUPS: Mapping[int, tuple[str, ...]] = {
    size: tuple(info.name for info in DATASETS.values() if size in info.groups) for size in _CORE
}
_OTHER_NAMES = {"touche2020": "webis-touche2020", "dbpedia": "dbpedia-entity"}


def known_info(name: str) -> DatasetInfo | None:
    """Return the conventions of a data set of that name ("SciFact", "BeIR/scifact"), or None."""
    short = name.rpartition("/")[2].lower().replace("_", "-")
    short = _OTHER_NAMES.get(short, short)
    return DATASETS.get(short)


def group_of(name: str) -> DatasetInfo | None:
    """Return the data set in parts that this one is a part of ("cqadupstack/android"), or None."""
    whole, _, part = name.rpartition("/")
    group = known_info(whole)
    return group if group is not None and part.lower() in group.parts else None


def info_of(name: str) -> DatasetInfo:
    """Return the conventions of a data set.

    Raises:
        SettingError: BEIR has no data set of that name; the message names the nearest.

    >>> info_of("arguana").drop_identical_ids
    True
    """
    info = known_info(name)
    if info is None:
        near = difflib.get_close_matches(name.lower(), DATASETS, n=2, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        msg = f"BEIR has no data set {name!r}; {hint}`beir-eval datasets` lists them all"
        raise SettingError(msg)
    return info
