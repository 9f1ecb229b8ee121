"""The table of a benchmark: data sets × systems, with the averages that papers report."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from beir_eval._version import __version__
from beir_eval.datasets.catalogue import DATASETS, GROUPS, DatasetInfo, group_of, known_info
from beir_eval.display.tables import Table, markdown_list, number
from beir_eval.errors import NotEvaluatedError, SettingError
from beir_eval.measures import MeasureLike, nDCG, parse
from beir_eval.measures.names import name_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from beir_eval.evaluation.result import EvaluationResult

BASELINE = "BM25 (Anserini)"
_BASELINE_MEASURE = nDCG @ 10
_MTEB_TASKS = {
    "msmarco": "MSMARCO",
    "trec-covid": "TRECCOVID",
    "nfcorpus": "NFCorpus",
    "nq": "NQ",
    "hotpotqa": "HotpotQA",
    "fiqa": "FiQA2018",
    "arguana": "ArguAna",
    "webis-touche2020": "Touche2020",
    "quora": "QuoraRetrieval",
    "dbpedia-entity": "DBPedia",
    "scidocs": "SCIDOCS",
    "fever": "FEVER",
    "climate-fever": "ClimateFEVER",
    "scifact": "SciFact",
    **{
        f"cqadupstack/{forum}": f"CQADupstack{forum.capitalize()}Retrieval"
        for forum in DATASETS["cqadupstack"].parts
    },
}


@dataclass(frozen=True, eq=False)
class BenchmarkResult:
    """All results of a benchmark.

    Attributes:
        results: {system: {data set: result}}.
        failures: {system: {data set: what went wrong}}.
        infos: {data set: BEIR's conventions, None where it is not BEIR's}.
        splits: {data set: split}; only official splits enter averages and have a baseline.
    """

    results: Mapping[str, Mapping[str, EvaluationResult]]
    failures: Mapping[str, Mapping[str, str]]
    infos: Mapping[str, DatasetInfo | None]
    splits: Mapping[str, str]

    def _canonical(self, name: str) -> str:
        """Return BEIR's own name ("scifact" for "BeIR/SciFact"), the name itself for others."""
        info = self.infos.get(name)
        if info is not None:
            return info.name
        group = group_of(name)
        return name if group is None else f"{group.name}/{name.rpartition('/')[2].lower()}"

    def _official(self) -> dict[str, str]:
        """Return {BEIR's name: name here} of the data sets whose split is the official one."""
        return {
            self._canonical(name): name
            for name, info in self.infos.items()
            if info is None or self.splits[name] == info.split
        }

    def score(self, system: str, name: str, measure: MeasureLike) -> float:
        """Return the mean of a measure; NaN where the system has none for this data set.

        For a data set in parts (CQADupStack) it is the unweighted mean of all parts, NaN where one
        is missing.

        Raises:
            NotEvaluatedError: there is no such system or data set.
        """
        of_system = self.results.get(system)
        if of_system is None:
            msg = f"there is no system {system!r}; there are {', '.join(self.results)}"
            raise NotEvaluatedError(msg)
        if name in of_system:
            return of_system[name][measure]
        if name in self.infos:
            return math.nan
        known = known_info(name)
        if known is None or not known.parts:
            msg = f"there is no data set {name!r}; there are {', '.join(self.infos)}"
            raise NotEvaluatedError(msg)
        official = self._official()
        found = [of_system.get(official.get(f"{known.name}/{part}", "")) for part in known.parts]
        scores = [one[measure] for one in found if one is not None]
        return math.fsum(scores) / len(found) if len(scores) == len(found) else math.nan

    def rows(self, measure: MeasureLike = _BASELINE_MEASURE) -> list[tuple[str, list[float]]]:
        """Return (data set or average, the score of every system), NaN where there is none.

        Below the data sets: CQADupStack as the mean of its twelve forums, and the averages over 13,
        14 and 18 data sets that papers report, each only where some system has all of them.
        """
        systems = list(self.results)
        official = self._official()
        wholes = [
            name
            for name, info in DATASETS.items()
            if name not in official and any(f"{name}/{part}" in official for part in info.parts)
        ]
        rows = [
            (name, [self.score(system, name, measure) for system in systems])
            for name in (*self.infos, *wholes)
        ]
        there = official | {name: name for name in wholes}
        for size, names in GROUPS.items():
            if set(names) <= set(there):
                columns = [
                    math.fsum(self.score(system, there[name], measure) for name in names) / size
                    for system in systems
                ]
                if not all(map(math.isnan, columns)):
                    rows.append((f"average of {size}", columns))
        return rows

    def to_table(self, measure: MeasureLike = _BASELINE_MEASURE, *, baseline: bool = True) -> Table:
        """Return data sets × systems; for nDCG@10 with a column of Anserini's BM25 (flat)."""
        wanted = baseline and parse(measure) == _BASELINE_MEASURE
        header = [str(parse(measure)), *self.results, *([BASELINE] if wanted else [])]
        rows = []
        official = set(self._official().values())
        for name, scores in self.rows(measure):
            known = self.infos.get(name, DATASETS.get(name))
            is_official = name in official or name not in self.infos
            flat = known.bm25[0] if known is not None and is_official else None
            last = [number(math.nan if flat is None else flat)] if wanted else []
            rows.append([name, *map(number, scores), *last])
        return Table(header, rows)

    def notes(self) -> list[str]:
        """Return what a reader of the table must know: conventions, missing queries, failures."""
        notes = [
            f"{name}: documents whose id is that of their query are left out"
            for name, info in self.infos.items()
            if info is not None and info.drop_identical_ids
        ]
        notes += [
            f"{name}: the split is {self.splits[name]}, the official one {info.split}"
            for name, info in self.infos.items()
            if info is not None and self.splits[name] != info.split
        ]
        for system, of_system in self.results.items():
            for name, result in of_system.items():
                counted, where = result.counted, f"{system}, {name}"
                if missing := len(counted.queries_missing):
                    judged = counted.queries_judged
                    notes.append(
                        f"{where}: {missing} of {judged} judged queries missing, count as 0"
                    )
                if copies := counted.duplicates:
                    notes.append(
                        f"{where}: {copies} entries repeat a document; the better one counts"
                    )
        notes += [
            f"{system}, {name}: failed with {problem}"
            for system, of_system in self.failures.items()
            for name, problem in of_system.items()
        ]
        return notes

    def to_markdown(
        self, measure: MeasureLike = _BASELINE_MEASURE, *, baseline: bool = True
    ) -> str:
        """Return the table and the notes as markdown."""
        notes = markdown_list(self.notes())
        table = self.to_table(measure, baseline=baseline).markdown()
        return f"{table}\n" + (f"\n{notes}" if notes else "")

    def to_json(self) -> str:
        """Return {system: {data set: {measure: mean}}} as JSON, null where a mean is undefined."""
        means = {
            system: {
                name: {
                    one: None if math.isnan(mean) else mean
                    for one, mean in result.aggregate.items()
                }
                for name, result in of_system.items()
            }
            for system, of_system in self.results.items()
        }
        return json.dumps({"results": means, "failures": self.failures}, indent=1, sort_keys=True)

    def mteb(self, system: str, name: str, *, revision: str = "") -> dict[str, Any]:
        """Return one result in the layout of MTEB's result files.

        Raises:
            NotEvaluatedError: the system has no result for the data set.
            SettingError: nDCG@10, MTEB's main score, was not evaluated.
        """
        result = self.results.get(system, {}).get(name)
        if result is None:
            msg = f"{system!r} has no result for {name!r}"
            raise NotEvaluatedError(msg)
        scores: dict[str, Any] = {}
        for measure, mean in result.aggregate.items():
            key = name_in("mteb", parse(measure))
            if key is not None:
                scores[key] = round(mean, 5)
        if "ndcg_at_10" not in scores:
            msg = "MTEB's main score is nDCG@10; evaluate it"
            raise SettingError(msg)
        scores |= {
            "main_score": scores["ndcg_at_10"],
            "hf_subset": "default",
            "languages": ["eng-Latn"],
        }
        return {
            "dataset_revision": revision,
            "task_name": _MTEB_TASKS.get(self._canonical(name), name),
            "mteb_version": f"beir-eval {__version__}",
            "scores": {self.splits[name]: [scores]},
        }

    def _repr_html_(self) -> str:
        notes = Table(("counted",), [(note,) for note in self.notes()])
        return self.to_table().html() + (notes.html() if notes.rows else "")

    def __repr__(self) -> str:
        """Return the size, not the content."""
        return f"BenchmarkResult({len(self.infos)} data sets, {len(self.results)} systems)"
