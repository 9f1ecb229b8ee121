"""What is agreed about each BEIR data set: its split, its exceptions, its baseline, its averages.

Sizes, archives and checksums: the README of BEIR. BM25: Anserini's regressions for BEIR (flat, and
with title and text as two fields). Licences: the task metadata of MTEB 2.26, and for SciFact its
repository; sources disagree on some, so ask the owner before use.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from beir_eval.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

ARCHIVES = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets"
_UNSTATED = "not specified"
_FROM_ITS_OWNER = "to be had from its owner"
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


CQADUPSTACK = (
    *("android", "english", "gaming", "gis", "mathematica", "physics"),
    *("programmers", "stats", "tex", "unix", "webmasters", "wordpress"),
)

_INFOS = (
    DatasetInfo(
        name="msmarco",
        title="MS MARCO",
        split="dev",
        queries=6980,
        documents=8_841_823,
        relevant_per_query=1.1,
        groups=(),
        bm25=(0.228, None),
        md5="444067daf65d982533ea17ebd59501e4",
        licence="msr-la-nc",
        note=(
            "Its test split is TREC-DL 2019: 43 queries, grades 0 to 3; recall and MAP are "
            "reported there at rel=2. Left out of the averages: models are trained on it."
        ),
    ),
    DatasetInfo(
        name="trec-covid",
        title="TREC-COVID",
        queries=50,
        documents=171_332,
        relevant_per_query=493.5,
        graded=True,
        bm25=(0.5947, 0.6559),
        md5="ce62140cb23feb9becf6270d0d1fe6d1",
        licence=_UNSTATED,
        note="Capped recall (R_cap) is reported: no top 100 holds 493 documents.",
    ),
    DatasetInfo(
        name="nfcorpus",
        title="NFCorpus",
        queries=323,
        documents=3633,
        relevant_per_query=38.2,
        graded=True,
        bm25=(0.3218, 0.3254),
        md5="a89dba18a62ef92f7d323ec890a0d38d",
        licence=_UNSTATED,
    ),
    DatasetInfo(
        name="nq",
        title="NQ",
        queries=3452,
        documents=2_681_468,
        relevant_per_query=1.2,
        bm25=(0.3055, 0.3285),
        md5="d4d3d2e48787a744b6f6e691ff534307",
        licence="cc-by-nc-sa-3.0",
    ),
    DatasetInfo(
        name="hotpotqa",
        title="HotpotQA",
        queries=7405,
        documents=5_233_329,
        relevant_per_query=2.0,
        bm25=(0.6330, 0.6027),
        md5="f412724f78b0d91183a0e86805e16114",
        licence="cc-by-sa-4.0",
    ),
    DatasetInfo(
        name="fiqa",
        title="FiQA-2018",
        queries=648,
        documents=57_638,
        relevant_per_query=2.6,
        bm25=(0.2361, 0.2361),
        md5="17918ed23cd04fb15047f73e6c3bd9d9",
        licence=_UNSTATED,
    ),
    DatasetInfo(
        name="arguana",
        title="ArguAna",
        queries=1406,
        documents=8674,
        relevant_per_query=1.0,
        drop_identical_ids=True,
        bm25=(0.3970, 0.4142),
        md5="8ad3e3c2a5867cdced806d6503f29b99",
        licence="cc-by-sa-4.0",
        note="Its queries are documents of the corpus, which find themselves first.",
    ),
    DatasetInfo(
        name="webis-touche2020",
        title="Touché-2020",
        queries=49,
        documents=382_545,
        relevant_per_query=19.0,
        graded=True,
        bm25=(0.4422, 0.3673),
        md5="46f650ba5a527fc69e0a6521c5a23563",
        licence="cc-by-sa-4.0",
    ),
    DatasetInfo(
        name="cqadupstack",
        title="CQADupStack",
        queries=13_145,
        documents=457_199,
        relevant_per_query=1.4,
        groups=(14, 18),
        parts=CQADUPSTACK,
        bm25=(0.3021, 0.2987),
        md5="4e41456d7df8ee7760a7f866133bda78",
        licence="apache-2.0",
        note="Twelve forums; the unweighted mean of the twelve is reported.",
    ),
    DatasetInfo(
        name="quora",
        title="Quora",
        queries=10_000,
        documents=522_931,
        relevant_per_query=1.6,
        drop_identical_ids=True,
        bm25=(0.7886, 0.7886),
        md5="18fb154900ba42a600f84b839c173167",
        licence=_UNSTATED,
        note="Its queries are documents of the corpus, which find themselves first.",
    ),
    DatasetInfo(
        name="dbpedia-entity",
        title="DBPedia",
        queries=400,
        documents=4_635_922,
        relevant_per_query=38.2,
        graded=True,
        bm25=(0.3180, 0.3128),
        md5="c2a39eb420a3164af735795df012ac2c",
        licence="mit",
    ),
    DatasetInfo(
        name="scidocs",
        title="SCIDOCS",
        queries=1000,
        documents=25_657,
        relevant_per_query=4.9,
        bm25=(0.1490, 0.1581),
        md5="38121350fc3a4d2f48850f6aff52e4a9",
        licence="cc-by-sa-4.0",
        note="Its qrels name documents of grade 0 too.",
    ),
    DatasetInfo(
        name="fever",
        title="FEVER",
        queries=6666,
        documents=5_416_568,
        relevant_per_query=1.2,
        bm25=(0.6513, 0.7530),
        md5="5a818580227bfb4b35bb6fa46d9b6c03",
        licence="cc-by-nc-sa-3.0",
    ),
    DatasetInfo(
        name="climate-fever",
        title="Climate-FEVER",
        queries=1535,
        documents=5_416_593,
        relevant_per_query=3.0,
        bm25=(0.1651, 0.2129),
        md5="8b66f0a9126c521bae2bde127b4dc99d",
        licence="cc-by-sa-4.0",
    ),
    DatasetInfo(
        name="scifact",
        title="SciFact",
        queries=300,
        documents=5183,
        relevant_per_query=1.1,
        bm25=(0.6789, 0.6647),
        md5="5f7d1de60b170fc8027bb7898e2efca1",
        licence="claims CC BY 4.0, abstracts ODC-By 1.0",
    ),
    DatasetInfo(
        name="bioasq",
        title="BioASQ",
        queries=500,
        documents=14_914_602,
        relevant_per_query=4.7,
        groups=(18,),
        bm25=(0.5225, 0.4646),
        licence=_FROM_ITS_OWNER,
    ),
    DatasetInfo(
        name="signal1m",
        title="Signal-1M",
        queries=97,
        documents=2_866_316,
        relevant_per_query=19.6,
        graded=True,
        groups=(18,),
        bm25=(0.3304, 0.3304),
        licence=_FROM_ITS_OWNER,
    ),
    DatasetInfo(
        name="trec-news",
        title="TREC-NEWS",
        queries=57,
        documents=594_977,
        relevant_per_query=19.6,
        graded=True,
        groups=(18,),
        bm25=(0.3952, 0.3977),
        licence=_FROM_ITS_OWNER,
    ),
    DatasetInfo(
        name="robust04",
        title="Robust04",
        queries=249,
        documents=528_155,
        relevant_per_query=69.9,
        graded=True,
        groups=(18,),
        bm25=(0.4070, 0.4070),
        licence=_FROM_ITS_OWNER,
    ),
)

#: All of BEIR's data sets, by name.
DATASETS: Mapping[str, DatasetInfo] = {info.name: info for info in _INFOS}
#: The averages that papers report: how many data sets, and which.
GROUPS: Mapping[int, tuple[str, ...]] = {
    size: tuple(info.name for info in _INFOS if size in info.groups) for size in _CORE
}
_OTHER_NAMES = {"touche2020": "webis-touche2020", "dbpedia": "dbpedia-entity"}


def known_info(name: str) -> DatasetInfo | None:
    """Return the conventions of a data set of that name ("SciFact", "BeIR/scifact"), or None."""
    short = name.rpartition("/")[2].lower().replace("_", "-")
    short = _OTHER_NAMES.get(short, short)
    return DATASETS.get(short)


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
