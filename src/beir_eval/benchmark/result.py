"""``BenchmarkResult``: scores by data set and system, and the averages that papers report."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from beir_eval._version import __version__
from beir_eval.benchmark.systems import mteb_task
from beir_eval.datasets.catalogue import (
    DATASETS,
    REPORTED_AVERAGES,
    DatasetInfo,
    find_info,
    parent_info,
)
from beir_eval.display.document import Document, Sentence, Shown, warnings_latex
from beir_eval.display.tables import (
    UNKNOWN,
    Cell,
    ScoreFormat,
    Table,
    first_that_fits,
    latex_table,
    score_text,
)
from beir_eval.errors import NotEvaluatedError, SettingError, number_of
from beir_eval.evaluation.coverage import warnings_on
from beir_eval.evaluation.depths import judged_depth, judged_share, share_text
from beir_eval.evaluation.notes import exclusion_sentences
from beir_eval.evaluation.tables import best_text, score_cells
from beir_eval.measures import MeasureLike, nDCG, parse, parse_all
from beir_eval.measures.names import name_in
from beir_eval.measures.scales import scale_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure

#: The heading of the column of published scores: flat BM25 of Anserini.
BASELINE = "BM25 (Anserini)"
#: The measure of the published scores.
_BASELINE_MEASURE = nDCG @ 10


@dataclass(frozen=True, eq=False, repr=False)
class BenchmarkResult(Shown):
    """The results of a benchmark, by system and data set.

    Attributes:
        results: {system: {data set: result}}.
        failures: {system: {data set: error message}} of systems that failed on a data set.
        infos: {data set: BEIR's conventions}, None for a data set that is not BEIR's.
        splits: {data set: split}. For BEIR's data sets, only the official split counts in averages
            and has a published BM25 score.
    """

    results: Mapping[str, Mapping[str, EvaluationResult]]
    failures: Mapping[str, Mapping[str, str]]
    infos: Mapping[str, DatasetInfo | None]
    splits: Mapping[str, str]

    def _canonical(self, name: str) -> str:
        """Return BEIR's name ("scifact" for "BeIR/SciFact"), or the name of another data set."""
        info = self.infos.get(name)
        if info is not None:
            return info.name
        group = parent_info(name)
        return name if group is None else f"{group.name}/{name.rpartition('/')[2].lower()}"

    def _official(self) -> dict[str, str]:
        """Return {BEIR's name: name here}, without data sets on a split that is not official."""
        return {
            self._canonical(name): name
            for name, info in self.infos.items()
            if info is None or self.splits[name] == info.split
        }

    def score(self, system: str, name: str, measure: MeasureLike) -> float:
        """Return the mean of a measure for a system on a data set; NaN if it has no result.

        For a data set in parts (CQADupStack) this is the unweighted mean of all parts, NaN if the
        system has no result for one of them.

        Args:
            system: the name of the system.
            name: the name of the data set.
            measure: the measure, or its name in any spelling that ``parse`` reads.

        Raises:
            NotEvaluatedError: there is no such system or data set, or the result does not have the
                measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        by_dataset = self.results.get(system)
        if by_dataset is None:
            msg = f"there is no system {system!r}; there are {', '.join(self.results)}"
            raise NotEvaluatedError(msg)
        if name in by_dataset:
            return by_dataset[name][measure]
        if name in self.infos:
            return math.nan
        known = find_info(name)
        if known is None or not known.parts:
            msg = f"there is no data set {name!r}; there are {', '.join(self.infos)}"
            raise NotEvaluatedError(msg)
        official = self._official()
        part_results = [
            by_dataset.get(official.get(f"{known.name}/{part}", "")) for part in known.parts
        ]
        scores = [result[measure] for result in part_results if result is not None]
        return (
            math.fsum(scores) / len(part_results) if len(scores) == len(part_results) else math.nan
        )

    def rows(self, measure: MeasureLike = _BASELINE_MEASURE) -> list[tuple[str, list[float]]]:
        """Return (name, the score of each system) for each row of the table; NaN without a score.

        The rows are the data sets; CQADupStack, as the mean of its twelve forums, if a forum is one
        of them; and the averages over 13, 14 and 18 data sets that papers report, each only if a
        system has all of its data sets.

        Args:
            measure: the measure, or its name in any spelling that ``parse`` reads.

        Raises:
            NotEvaluatedError: a result does not have the measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        official = self._official()
        in_parts = [
            name
            for name, info in DATASETS.items()
            if name not in official and any(f"{name}/{part}" in official for part in info.parts)
        ]
        scores = {
            name: [self.score(system, name, measure) for system in self.results]
            for name in (*self.infos, *in_parts)
        }
        name_of = official | {name: name for name in in_parts}
        averages = {
            f"average of {size}": _means_of([scores[name_of[name]] for name in names])
            for size, names in REPORTED_AVERAGES.items()
            if set(names) <= set(name_of)
        }
        averages = {name: of for name, of in averages.items() if not all(map(math.isnan, of))}
        inside = {
            official.get(f"{name}/{part}") for name in in_parts for part in DATASETS[name].parts
        }
        whole = [of_dataset for name, of_dataset in scores.items() if name not in inside]
        if len(whole) > 1 and not averages:
            averages = {"average": _means_of(whole)}
        return [*scores.items(), *averages.items()]

    def to_table(
        self,
        measure: MeasureLike = _BASELINE_MEASURE,
        *,
        baseline: bool = True,
        digits: int | None = None,
        percent: bool = False,
    ) -> Table:
        """Return a table of scores, data sets × systems, with averages (see ``rows``).

        Args:
            measure: the measure, or its name in any spelling that ``parse`` reads.
            baseline: whether nDCG@10 has a last column with the published scores of BM25 (Anserini,
                flat). Other measures have no such column.
            digits: the number of decimals; by default 4, or 2 in percent.
            percent: whether a measure from 0 to 1 is in percent.

        Raises:
            NotEvaluatedError: a result does not have the measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        written, scale = ScoreFormat(digits, percent), scale_of(str(parse(measure)), {})
        rows: list[list[str | Cell]] = [
            [name, *score_cells(scores, scale, written)] for name, scores in self.rows(measure)
        ]
        header = [str(parse(measure)), *self.results]
        if baseline and parse(measure) == _BASELINE_MEASURE:
            header.append(BASELINE)
            official = {name: self.infos[name] for name in self._official().values()}
            infos = {**DATASETS, **dict.fromkeys(self.infos), **official}
            for row in rows:
                info = infos.get(str(row[0]))
                bm25 = math.nan if info is None or info.bm25[0] is None else info.bm25[0]
                row.append(written.text(bm25, scale.bounds))
        return Table(header, rows)

    def systems_table(
        self,
        measure: MeasureLike = _BASELINE_MEASURE,
        *,
        digits: int | None = None,
        percent: bool = False,
    ) -> Table:
        """Return a table of scores, systems × data sets, sorted by the last column, best in bold.

        The last columns are the averages that papers report; if there are none, the average over
        all data sets, without a value for a system that lacks one.

        Args:
            measure: the measure, or its name in any spelling that ``parse`` reads.
            digits: the number of decimals; by default 4, or 2 in percent.
            percent: whether a measure from 0 to 1 is in percent.

        Raises:
            NotEvaluatedError: a result does not have the measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        name, (_, last) = str(parse(measure)), self.rows(measure)[-1]
        by_dataset = self.to_table(measure, baseline=False, digits=digits, percent=percent)
        table = by_dataset.transposed(name)
        scale = scale_of(name, {})
        ranked = sorted(
            zip(last, table.rows, strict=True),
            key=lambda row: (math.isnan(row[0]), -scale.gains(row[0])),
        )
        return Table(table.header, [row for _, row in ranked])

    def to_latex(
        self,
        measures: Iterable[MeasureLike] | MeasureLike = _BASELINE_MEASURE,
        *,
        by_system: bool = False,
        baseline: bool = True,
        digits: int | None = None,
        percent: bool = False,
    ) -> str:
        """Return a LaTeX table with caption and label for each measure, which needs booktabs.

        Warnings and failures are comments above.

        Args:
            measures: the measures, or their names in any spelling that ``parse`` reads.
            by_system: whether systems are rows, as ``systems_table``; else data sets are.
            baseline: as for ``to_table``.
            digits: the number of decimals; by default 4, or 2 in percent.
            percent: whether measures from 0 to 1 are in percent.

        Raises:
            NotEvaluatedError, MeasureError: as for ``to_table``.
        """
        tables = [
            latex_table(
                self.systems_table(measure, digits=digits, percent=percent)
                if by_system
                else self.to_table(measure, baseline=baseline, digits=digits, percent=percent),
                caption=f"{measure} by data set.{ScoreFormat(percent=percent).remark()}",
                label=f"tab:data-sets{f'-{number}' if number > 1 else ''}",
            )
            for number, measure in enumerate(parse_all(measures), 1)
        ]
        above = warnings_latex([*self.warnings(), *self.failure_sentences()])
        return above + "\n\n".join(tables)

    def document(
        self,
        measures: Iterable[MeasureLike] | MeasureLike | None = None,
        *,
        baseline: bool = True,
        by_system: bool = False,
    ) -> Document:
        """Return failures, a table for each measure, and what was counted.

        Args:
            measures: the measures, or their names in any spelling that ``parse`` reads; by default
                nDCG@10, or the first one if it was not evaluated.
            baseline: whether nDCG@10 has a last column with the published scores of BM25 (Anserini,
                flat). Other measures have no such column.
            by_system: whether systems are rows, as ``systems_table``; else data sets are.
        """
        if measures is None:
            every = (result for of_system in self.results.values() for result in of_system.values())
            names = next((result.measures for result in every), (str(_BASELINE_MEASURE),))
            measures = _BASELINE_MEASURE if str(_BASELINE_MEASURE) in names else names[0]
        parsed = parse_all(measures)
        warnings = (
            sentence
            for system, by_dataset in self.results.items()
            for name, result in by_dataset.items()
            for sentence in warnings_on(
                result, f"{system}, {name}", measures=list(map(str, parsed)), dataset=name
            )
        )
        return Document(
            warnings=list(dict.fromkeys(warnings)),
            sentences=list(map(Sentence, [*self._answers(parsed), *self.failure_sentences()])),
            tables=[
                self.systems_table(measure)
                if by_system
                else self._with_counts(self.to_table(measure, baseline=baseline), measure)
                for measure in parsed
            ],
            notes=list(self._notes()),
        )

    def _answers(self, measures: Sequence[Measure]) -> Iterator[str]:
        """Yield which system has the best average of the first measure, or score."""
        count, (_, scores) = len(self.infos), self.rows(measures[0])[-1]
        average = "average " if count > 1 else ""
        datasets = number_of(count, "data set")
        known = {
            name: score
            for name, score in zip(self.results, scores, strict=True)
            if not math.isnan(score)
        }
        if len(scores) == 1 and known:
            [(name, score)] = known.items()
            yield f"{name}: {average}{measures[0]} {score_text(score)}, {datasets}"
        elif len(known) > 1:
            have = "" if len(known) == len(scores) else f", {len(known)} systems have all"
            best = best_text(average, str(measures[0]), known)
            yield f"{best} ({datasets}{have}; not tested: use --compare)"

    def _with_counts(self, table: Table, measure: Measure) -> Table:
        """Return a table of data sets with the queries and judged shares of each, if it fits."""
        counts: dict[str, tuple[str, str]] = {}
        for name in self.infos:
            results = [of_system[name] for of_system in self.results.values() if name in of_system]
            shares = sorted(
                judged_share([result], judged_depth(str(measure))) for result in results
            )
            known = [share_text(share) for share in shares if not math.isnan(share)]
            judged = "\u2013".join(dict.fromkeys(known[:1] + known[-1:]))
            queries = max((result.num_queries for result in results), default=0)
            counts[name] = (f"{queries:,}", f"{judged}%" if judged else UNKNOWN)
        versions = []
        for kept in (("queries", "judged"), ("queries",), ()):
            rows = [
                (row[0], *counts.get(str(row[0]), ("", ""))[: len(kept)], *row[1:])
                for row in table.rows
            ]
            versions.append([Table((table.header[0], *kept, *table.header[1:]), rows)])
        return first_that_fits(versions)[0]

    def _notes(self) -> Iterator[str]:
        """Yield which conventions of data sets were followed or not, and what was counted."""
        for name, info in self.infos.items():
            if info is not None and info.drop_identical_ids:
                yield f"{name}: documents whose id is that of their query are left out"
        for name, info in self.infos.items():
            if info is not None and self.splits[name] != info.split:
                yield f"{name}: the split is {self.splits[name]}, the official one {info.split}"
        for name in self.infos:
            of_dataset = {
                system: results[name] for system, results in self.results.items() if name in results
            }
            yield from (f"{name}: {sentence}" for sentence in exclusion_sentences(of_dataset))
        for system, by_dataset in self.results.items():
            for name, result in by_dataset.items():
                if result.counted is None:
                    yield f"{system}, {name}: scores computed elsewhere, nothing was counted"
                elif copies := result.counted.duplicates:
                    yield (
                        f"{system}, {name}: {copies} entries repeat a document; the better one "
                        "counts"
                    )

    def to_json(self) -> str:
        """Return all means and failures as JSON.

        The object has "results", {system: {data set: {measure: mean}}} with null for an undefined
        mean, "failures", {system: {data set: error message}}, and "warnings", a list of sentences.
        """
        means = {
            system: {
                name: {
                    measure: None if math.isnan(mean) else mean
                    for measure, mean in result.aggregate.items()
                }
                for name, result in by_dataset.items()
            }
            for system, by_dataset in self.results.items()
        }
        content = {"results": means, "failures": self.failures, "warnings": self.warnings()}
        return json.dumps(content, indent=1, sort_keys=True)

    def failure_sentences(self) -> list[str]:
        """Return a sentence for each system that failed on a data set, with the reason."""
        return [
            f"{system}, {name}: failed with {problem}"
            for system, by_dataset in self.failures.items()
            for name, problem in by_dataset.items()
        ]

    def mteb(self, system: str, name: str, *, revision: str = "") -> dict[str, Any]:
        """Return one result in the layout of MTEB's result files.

        Scores are rounded to five decimals; measures that MTEB does not have are left out.

        Args:
            system: the name of the system.
            name: the name of the data set.
            revision: the revision of the data set, for "dataset_revision".

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
            "task_name": mteb_task(self._canonical(name)),
            "mteb_version": f"beir-eval {__version__}",
            "scores": {self.splits[name]: [scores]},
        }


def _means_of(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean of each column."""
    return [math.fsum(scores) / len(rows) for scores in zip(*rows, strict=True)]
