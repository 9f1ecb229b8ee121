"""``AcrossDatasets``: the result of a comparison over several data sets, and its records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, Field, SerializerFunctionWrapHandler, model_serializer

from beir_eval.comparison.charts import forest_of
from beir_eval.comparison.compared import Index, check_names
from beir_eval.comparison.coverage import SystemCoverage, warnings_of, with_warning_column
from beir_eval.comparison.limits import queries_only_note
from beir_eval.comparison.records import (
    OPPOSITE,
    ComparisonSettings,
    HighEnd,
    LowEnd,
    Verdict,
    reversed_fields,
)
from beir_eval.comparison.tables import evidence_cells, marked
from beir_eval.comparison.verdict_sentences import (
    common_queries_text,
    headline_of,
    mean_interval_text,
    measure_text,
    p_text,
    percent_text,
    signed_range_text,
    signed_text,
    source_notes,
)
from beir_eval.core.saved import FROZEN, Saved
from beir_eval.display.document import Document, Sentence, Shown, warnings_latex
from beir_eval.display.tables import (
    NONE,
    Cell,
    ScoreFormat,
    Table,
    latex_table,
    record_rows,
    score_text,
    table_of,
)
from beir_eval.errors import check_flag, number_of
from beir_eval.evaluation.given_scores import check_unique
from beir_eval.evaluation.tables import score_cells
from beir_eval.measures.scales import ScoreScale, scale_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from beir_eval.display.figure import Figure


@dataclass(frozen=True, slots=True, kw_only=True)
class AcrossSettings:
    """The settings of a comparison over data sets, checked once.

    Attributes:
        hierarchical: whether verdicts and intervals are about other data sets like these.
        correction: the correction of p-values for multiple comparisons, "max-t". Not checked:
            ``compare_benchmark`` sets it.
        alpha: the level of significance of the verdicts; intervals have the confidence 1 − alpha.
        on: what happens if a system lacks a data set or a query, or has other judgements: "error",
            "intersection" or "any-judgements".
        draws: the number of random sign vectors of the test; None: 100,000, or 20,000 for more than
            1,000 queries or 500 pairs.
        rng: the seed of the random numbers.

    Raises:
        SettingError: a setting has another value.
    """

    hierarchical: bool
    correction: str
    alpha: float
    on: str
    draws: int | None
    rng: int

    def __post_init__(self) -> None:
        """Check the settings that users pass, and keep numpy's numbers as Python's, for JSON."""
        check_flag("hierarchical", self.hierarchical)
        checked = ComparisonSettings(alpha=self.alpha, on=self.on, draws=self.draws, rng=self.rng)
        for name in ("alpha", "draws", "rng"):
            object.__setattr__(self, name, getattr(checked, name))


class DatasetScores(BaseModel):
    """The means of all systems on one data set.

    Attributes:
        name: the name of the data set.
        parts: {part: number of queries} of its parts, such as CQADupStack's forums; a data set
            without parts is its own part.
        means: {system: mean}; with several parts, the unweighted mean of the means on them.
    """

    model_config = FROZEN

    name: str
    parts: dict[str, int]
    means: dict[str, float]

    @property
    def num_queries(self) -> int:
        """The number of queries on which all systems have a score."""
        return sum(self.parts.values())


class ChosenRow(BaseModel):
    """The system that a row is: the best of several on other queries.

    Attributes:
        system: its name among them.
        of: how many they are.
        datasets: the data sets that chose, by the unweighted average.
    """

    model_config = FROZEN

    system: str
    of: int
    datasets: tuple[str, ...]


class SystemAverage(BaseModel):
    """The average of one system over all data sets.

    Attributes:
        system: its name.
        average: the unweighted mean of its means on the data sets.
        low, high: the bootstrap interval of the average, with confidence 1 − alpha, not corrected.
        rank: its rank by average, 1 for the best; systems with the same average share the better
            rank.
        rank_low, rank_high: the interval of the rank, from the same resamples.
        first: the share of resamples in which it has the best average.
        groups: the letters of its groups; systems of one group do not differ significantly. ""
            with a baseline, since not all pairs are compared then.
    """

    model_config = FROZEN

    system: str
    average: float
    low: float
    high: float
    rank: int
    rank_low: int
    rank_high: int
    first: float
    groups: str = ""


class AverageDifference(BaseModel):
    """The difference of the averages of two systems, always system − against.

    Attributes:
        system, against: the names of the two.
        difference: the difference of their averages.
        low, high: the interval of the difference, with confidence 1 − alpha for all pairs together;
            it excludes 0 exactly if the verdict is "better" or "worse". −infinity and infinity
            where there are too few queries, or data sets, to bound it.
        p: the p-value of the sign-flip test, uncorrected, above 0; with ``hierarchical`` whole data
            sets are flipped. Of a system with as many repeats on all data sets, the larger of this
            and that over queries and repeats (but with ``hierarchical``).
        p_corrected: the p-value corrected over all differences, by max-T; that over repeats by
            Holm.
        better, worse: the number of data sets on which the mean of ``system`` is better, worse.
        significantly_better, significantly_worse: the number of data sets on which it is
            significantly better, worse, corrected by Holm over data sets and differences.
        verdict: "better" or "worse" if p_corrected <= alpha and the difference is not 0;
            "identical" if no query has another score; else "undecided".
    """

    model_config = FROZEN

    system: str
    against: str
    difference: float
    low: LowEnd
    high: HighEnd
    p: float
    p_corrected: float
    better: int
    worse: int
    significantly_better: int
    significantly_worse: int
    verdict: Verdict

    def reversed(self) -> Self:
        """Return the same difference with the two systems exchanged."""
        counts = {
            "better": self.worse,
            "worse": self.better,
            "significantly_better": self.significantly_worse,
            "significantly_worse": self.significantly_better,
        }
        return self.model_copy(update=reversed_fields(self) | counts)


class DatasetDifference(BaseModel):
    """The difference of the means of two systems on one data set, always system − against.

    Attributes:
        dataset, system, against: the names of the data set and of the two systems.
        difference: the difference of their means; 0 if they differ only by rounding.
        p: the p-value of the sign-flip test, uncorrected, above 0; of a system with repeats, the
            larger of this and that over queries and repeats.
        p_corrected: the p-value corrected by Holm over data sets and pairs.
        verdict: "better" or "worse" if p_corrected <= alpha and the difference is not 0;
            "identical" if no query has another score; else "undecided".
    """

    model_config = FROZEN

    dataset: str
    system: str
    against: str
    difference: float
    p: float
    p_corrected: float
    verdict: Verdict


class CommonAverages(BaseModel):
    """The comparison over the queries that every system has, as ``CommonQueries``.

    Attributes:
        num_queries: the number of queries that all systems have, over all data sets.
        differences: the difference of the averages of every pair over the common queries, with the
            same settings; empty if fewer than two queries of a data set are common.
    """

    model_config = FROZEN

    num_queries: int
    differences: tuple[AverageDifference, ...]


class AcrossDatasets(Shown, Saved):
    """The result of a comparison over several data sets; frozen, saved as JSON.

    Attributes:
        schema_version: the version of the layout of saved comparisons.
        measure: the canonical name of the measure, or the name of a custom one.
        baseline: the system that the others are compared with; None if all pairs are compared.
        datasets: the means and numbers of queries on each data set.
        averages: the average of every system with interval and rank, best average first.
        differences: the difference of the averages of every pair, with p-values and verdict.
        by_dataset: the difference of every pair on every data set, ordered by data set.
        groups: if all pairs are compared, the longest sequences of systems, ordered by average, in
            which no two differ significantly; else empty. A system can be in several groups. Two
            systems without a common group need not differ: it is enough that a system between them
            differs from one of them.
        settings: the settings of the comparison.
        left_out: {data set: systems that lack it} of the data sets that are not compared, with
            on="intersection".
        gaps: {system: data sets that it lacks} of systems without an average, beside a baseline;
            ``by_dataset`` has them on the others.
        queries_left_out: {data set or part: number of queries left out of the results of a system,
            of the system with the most queries}. A query is left out if not all systems have a
            score for it.
        custom_scale: the bounds of a custom measure, and whether higher scores are better; None for
            a measure of this package.
        computed_elsewhere: the systems with scores that this package did not compute.
        coverage: the results that miss judged queries or whose document ids do not match those of
            the qrels, by system and data set, with the warnings; empty for none.
        on_common_queries: the comparison over the queries that all systems have, if a system misses
            judged queries and these count as empty rankings; else None.
        chosen: {name of a row: the system that was chosen for it on other queries}.
        repeats: {system: {data set: the mean of each of its repeats}} of systems with repeats,
            which p covers; that of the average if it has as many on all data sets.
    """

    WHAT: ClassVar[str] = "comparison over data sets"

    measure: str
    baseline: str | None
    datasets: tuple[DatasetScores, ...]
    averages: tuple[SystemAverage, ...]
    differences: tuple[AverageDifference, ...]
    by_dataset: tuple[DatasetDifference, ...]
    groups: tuple[tuple[str, ...], ...]
    settings: AcrossSettings
    left_out: dict[str, tuple[str, ...]]
    gaps: dict[str, tuple[str, ...]]
    chosen: dict[str, ChosenRow]
    queries_left_out: dict[str, int]
    custom_scale: ScoreScale | None = None
    computed_elsewhere: tuple[str, ...] = ()
    coverage: tuple[SystemCoverage, ...] = ()
    on_common_queries: CommonAverages | None = None
    repeats: dict[str, dict[str, tuple[float, ...]]] = Field(default_factory=dict)

    @model_serializer(mode="wrap")
    def _without_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out ``repeats`` where there are none."""
        written: dict[str, Any] = handler(self)
        if not self.repeats:
            written.pop("repeats", None)
        return written

    @property
    def _num_queries(self) -> int:
        """The number of queries that are compared, over all data sets."""
        return sum(dataset.num_queries for dataset in self.datasets)

    @property
    def _custom_measures(self) -> dict[str, ScoreScale]:
        """{name: scale} of the measure if it is a custom one, else {}."""
        return {} if self.custom_scale is None else {self.measure: self.custom_scale}

    def _check_loaded(self) -> None:
        """Raise ValueError unless systems, measure and data sets have possible names."""
        custom = self._custom_measures
        check_names(self.systems, self.baseline, [self.measure], custom)
        check_unique("datasets", [dataset.name for dataset in self.datasets])

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, best average first: [S]."""
        return tuple(average.system for average in self.averages)

    def average(self, system: str) -> SystemAverage:
        """Return the average of one system.

        Args:
            system: its name.

        Raises:
            NotEvaluatedError: there is no such system.
        """
        return self.averages[self.systems.index(self._index.system(system))]

    def difference(self, system: str, against: str | None = None) -> AverageDifference:
        """Return the difference of the averages of two systems, ``system`` − ``against``.

        Args:
            system: the name of a system.
            against: the name of the system that it is compared with; by default the baseline, or
                the other of two systems.

        Raises:
            NotEvaluatedError: the pair was not compared.
            SettingError: ``against`` has no default, so it must be named.
        """
        return self._index.difference(self.differences, system, against)

    @property
    def _index(self) -> Index:
        return Index(self.systems, baseline=self.baseline)

    # Export

    def to_table(self) -> Table:
        """Return a table of the systems: average, interval, rank, and of all pairs groups."""
        columns: dict[str, Callable[[SystemAverage], str]] = {
            "system": lambda row: row.system,
            f"average {self.measure}": lambda row: score_text(row.average),
            "interval": lambda row: mean_interval_text(row.low, row.high, " … "),
            "rank": lambda row: str(row.rank),
            "ranks": lambda row: f"{row.rank_low} … {row.rank_high}",
            "first": lambda row: f"{row.first:.0%}",
        }
        if self.baseline is None:
            columns["groups"] = lambda row: row.groups
        return table_of(self.averages, columns)

    def document(self, *, by_system: bool = False) -> Document:
        """Return the verdict, the means and differences, what it holds for; as details the rest.

        Args:
            by_system: whether systems are rows if two are compared, as they are if there are more.
        """
        left_out = [
            f"{name} is not part of these averages: no result of {', '.join(systems)}."
            for name, systems in self.left_out.items()
        ]
        left_out += [f"{sentence}." for sentence in self._row_sentences()]
        is_alone = len(self.systems) == 2 and not (self.gaps or self.repeats)  # noqa: PLR2004
        is_pair = is_alone and (not by_system or self.baseline is None)
        table = self._pair_table() if is_pair else self._systems_table()
        return Document(
            heading="By the average over data sets",
            warnings=warnings_of(self.coverage),
            sentences=[self.headline()],
            tables=[table],
            notes=[*left_out, *self._scope(is_pair=is_pair)],
            details=lambda: [
                Document(heading="Averages", tables=[self.to_table()]),
                Document(heading="Differences of the averages", tables=[self.differences_table()]),
                Document(heading="Method", notes=list(self._notes())),
            ],
        )

    def _row_sentences(self) -> Iterator[str]:
        """Yield what each chosen row is, what ± is, and which rows have gaps."""
        for name, row in self.chosen.items():
            yield f"{name}: the best of {row.of} on {', '.join(row.datasets)}, {row.system}"
        if self.repeats:
            counts = {name: {*map(len, sets.values())} for name, sets in self.repeats.items()}
            listed = ", ".join(f"{'/'.join(map(str, of))} of {name}" for name, of in counts.items())
            yield (
                f"±: standard deviation of the means of repeats ({listed}); where it stands, the "
                "test is over queries and repeats, elsewhere over queries only"
            )
        lacking: dict[str, list[str]] = {}
        for system, names in self.gaps.items():
            lacking.setdefault(", ".join(names), []).append(system)
        for listed, systems in lacking.items():
            yield f"no result on {listed}, so no average: {', '.join(systems)}"

    def _pair_table(self) -> Table:
        """Return a table of a pair: a row for each data set, and the average."""
        [average] = self.differences
        systems = (average.against, average.system)
        rows = []
        for dataset, pair in zip(self.datasets, self.by_dataset, strict=True):
            means = (score_text(dataset.means[name]) for name in systems)
            rows.append((dataset.name, f"{dataset.num_queries:,}", *means, *_evidence(pair)))
        if len(rows) > 1:
            means = (score_text(self.average(name).average) for name in systems)
            rows.append(("average", "", *means, *_evidence(average)))
        p = "adj. p" if len(self.by_dataset) > 1 else "p"
        return Table((self.measure, "queries", *systems, "diff.", p, "verdict"), rows)

    def _systems_table(self) -> Table:
        """Return means, systems × data sets, and what averages differ from that of a baseline.

        Marks behind means are of the single data sets.
        """
        means = self._means_table()
        if self.baseline is None:
            return means
        rows: list[tuple[str | Cell, ...]] = []
        evidence_of = {pair.system: evidence_cells(pair) for pair in self.differences}
        for system, *cells, average in means.rows:
            word = "baseline" if system == self.baseline else ""
            difference, interval, _, verdict = evidence_of.get(str(system), ("", "", "", word))
            unmarked = getattr(average, "text", average)
            rows.append((system, *cells, unmarked, difference, interval, verdict))
        adjusted = "adj. " if len(self.differences) > 1 else ""
        interval = f"{adjusted}{percent_text(1 - self.settings.alpha)} interval"
        return Table((*means.header, "diff.", interval, "verdict"), rows)

    def _scope(self, *, is_pair: bool) -> Iterator[str]:
        """Yield the interval of a pair, what marks mean, and what the verdict is about."""
        pair = self.differences[0]
        if not is_pair:
            ending = "" if self.baseline is None else " on this data set"
            yield f"{self._meaning_of_marks}{ending}."
        elif pair.low or pair.high:
            percent = percent_text(1 - self.settings.alpha)
            ends = signed_range_text(pair.low, pair.high)
            average = "average " if len(self.datasets) > 1 else ""
            yield f"The {percent} interval of the {average}difference: {ends}."
        if self.settings.hierarchical:
            yield "This is about other data sets like these."
        elif len(self.datasets) > 1:
            others = "For others like them, in Python: compare_benchmark(hierarchical=True)."
            yield f"This holds for these data sets. {others}"

    def differences_table(self) -> Table:
        """Return a table of the differences of the averages, with p-values and verdicts."""
        rows = []
        for pair in self.differences:
            signed, interval, corrected, verdict = evidence_cells(pair)
            counts = f"{pair.better}/{pair.worse}"
            significant = f"{pair.significantly_better}/{pair.significantly_worse}"
            cells = (signed, interval, p_text(pair.p), corrected, counts, significant, verdict)
            rows.append((pair.system, pair.against, *cells))
        evidence = ("difference", "interval", "p", "corrected")
        counted = ("data sets better/worse", "significantly")
        return Table(("system", "against", *evidence, *counted, "verdict"), rows)

    def headline(self) -> Sentence:
        """Return the verdicts on all pairs in one sentence, for the first line of an output."""
        count, first = len(self.datasets), self.differences[0]
        scale = scale_of(self.measure, self._custom_measures)
        measure = measure_text(self.measure, higher_is_better=scale.higher_is_better)
        label = f"{measure}, {number_of(count, 'data set')}"
        sentence = headline_of(label, self.differences, self.baseline)
        on_average = " on average" if count > 1 and sentence.verdict != "identical" else ""
        text = f"{sentence.text}{on_average}"
        if len(self.differences) == 1 and first.verdict != "undecided" and on_average:
            same, opposite = first.significantly_better, first.significantly_worse
            if first.verdict == "worse":
                same, opposite = opposite, same
            which = {count: "both" if count == 2 else "all"}.get(same, f"{same} of {count}")  # noqa: PLR2004 - both
            text += f", and on {which}" if same else ""
            text += f"; {OPPOSITE[first.verdict]} on {opposite} of {count}" if opposite else ""
        common = self.on_common_queries
        if common is None:
            return Sentence(text, sentence.verdict)
        where = common_queries_text(common.num_queries, self._num_queries)
        if not common.differences:
            return Sentence(f"{text}. {label}{where}: too few for a verdict", "undecided")
        over_common = headline_of(label + where, common.differences, self.baseline)
        verdict = sentence.verdict if sentence.verdict == over_common.verdict else "undecided"
        return Sentence(f"{text}. {over_common.text}{on_average}", verdict)

    def plot(self, *, most: int | None = None) -> Figure:
        """Return a forest plot: the differences of the averages with their intervals.

        Args:
            most: how many differences to draw at most, the largest in absolute value; None draws
                all.
        """
        simultaneous = "simultaneous " if len(self.differences) > 1 else ""
        return forest_of(
            self.differences,
            f"the average {self.measure}",
            self.baseline,
            margin=None,
            intervals=f"{simultaneous}{percent_text(1 - self.settings.alpha)} intervals",
            most=most,
        )

    @property
    def _tests(self) -> tuple[str, str]:
        """The tests on single data sets and of the averages, each with its correction."""
        sets, number = "two-sided sign flips of queries", len(self.by_dataset)
        if number > 1:
            sets += f", Holm over {number} comparisons"
        averages, number = "flips within each data set", len(self.differences)
        if self.settings.hierarchical:
            averages = "sign flips of data sets"
        if number > 1:
            averages += f", max-T over {number} comparisons"
        return sets, averages

    @property
    def _meaning_of_marks(self) -> str:
        """What marks or letters beside the means say, as a sentence."""
        if self.baseline is None:
            return "Systems that share a letter do not differ significantly"
        has_same = any(pair.verdict == "identical" for pair in self.by_dataset)
        return f"▲ better, ▼ worse than {self.baseline}{', = identical' * has_same}"

    def to_latex(self, *, digits: int | None = None, percent: bool = False) -> str:
        """Return the means, systems × data sets, as LaTeX, with caption and label.

        It needs the package booktabs. The best mean of a data set is bold; marks of significance
        are superscripts, which the caption explains, with the queries of each data set, the test,
        and over how many comparisons it is corrected.

        Args:
            digits: the number of decimals; by default 4, or 2 in percent.
            percent: whether measures from 0 to 1 are in percent.
        """
        scores, (sets, averages) = ScoreFormat(digits, percent), self._tests
        sizes = ", ".join(
            f"{dataset.name} ({number_of(dataset.num_queries, 'query')})"
            for dataset in self.datasets
        )
        tests = f"{sets}; averages: {averages}" if self.baseline else f"averages: {averages}"
        caption = (
            f"{self.measure} on {sizes}; best in bold. {self._meaning_of_marks} ({tests}; level "
            f"{self.settings.alpha:g}).{scores.remark()}"
            f"{''.join(f' {sentence}.' for sentence in self._row_sentences())}"
        )
        table = latex_table(self._means_table(scores), caption=caption, label="tab:data-sets")
        return warnings_latex(self.warnings()) + table

    def _means_table(self, scores: ScoreFormat = ScoreFormat()) -> Table:  # noqa: B008 - frozen
        """Return a table of means and averages, systems × data sets.

        Cells have marks of significance to the baseline, and the best of each column is marked.

        Args:
            scores: how scores are written.
        """
        scale = scale_of(self.measure, self._custom_measures)
        averages = {average.system: average.average for average in self.averages}
        groups = {average.system: average.groups for average in self.averages}
        means = [*((dataset.name, dataset.means) for dataset in self.datasets), (None, averages)]
        verdicts: dict[tuple[str | None, str], str] = {
            (pair.dataset, pair.system): pair.verdict for pair in self.by_dataset
        }
        verdicts |= {(None, pair.system): pair.verdict for pair in self.differences}
        rows, columns = (*self.systems, *self.gaps), []
        for number, (name, of_system) in enumerate(means):
            written = score_cells(list(of_system.values()), scale, scores)
            cells = dict(zip(of_system, written, strict=True))
            for system, cell in cells.items():
                if repeats := self._repeat_means(system)[number] if system in self.repeats else ():
                    spread = scores.text(stdev(repeats), scale.bounds)
                    cells[system] = replace(cell, text=f"{cell.text} ± {spread}")
                if self.baseline is not None:
                    cells[system] = marked(cells[system], verdicts.get((name, system), ""))
                elif name is None:
                    cells[system] = replace(cells[system], mark=groups[system])
            columns.append([cells.get(system, Cell(NONE)) for system in rows])
        header = (self.measure, *(dataset.name for dataset in self.datasets), "average")
        return Table(header, list(zip(rows, *columns, strict=True)))

    def _repeat_means(self, system: str) -> list[tuple[float, ...]]:
        """Return the means of a system's repeats on each data set, and their averages."""
        means = [self.repeats[system].get(dataset.name, ()) for dataset in self.datasets]
        has_average = len(set(map(len, means))) == 1 and not self.settings.hierarchical
        return [*means, tuple(map(fmean, zip(*means, strict=True))) if has_average else ()]

    def to_csv(self) -> str:
        """Return the differences of the averages as CSV, a line for each.

        The last column, "warning", holds the warnings on the two systems; it is mostly empty.
        """
        return with_warning_column(
            record_rows(self.differences),
            self.coverage,
            ((difference.system, difference.against) for difference in self.differences),
        )

    def _notes(self) -> Iterator[str]:
        """Yield how tests, intervals and ranks were made, and what was left out."""
        alpha, (sets, averages) = self.settings.alpha, self._tests
        sample, kind, resampled = "queries of these data sets", "BCa", "queries"
        if self.settings.hierarchical:
            sample, kind, resampled = "data sets", "percentile", "data sets, and queries"
        yield (
            f"{number_of(len(self.datasets), 'data set')}, {self._num_queries} queries; the "
            "average is the unweighted mean of the data sets' means, queries are never pooled"
        )
        yield f"single data sets: {sets}; averages: {averages}; level {alpha:g}"
        yield queries_only_note(sample)
        yield (
            f"averages and ranks: {kind} bootstrap, {percent_text(1 - alpha)} each, resampling "
            f"{resampled} within each data set"
        )
        yield from source_notes(self.computed_elsewhere, self._custom_measures)
        for dataset in self.datasets:
            if list(dataset.parts) != [dataset.name]:
                yield (
                    f"{dataset.name}: the mean of {len(dataset.parts)} parts, which count as one "
                    "data set"
                )
        for name, count in self.queries_left_out.items():
            queries = number_of(count, "query")
            yield f"{name}: {queries} left out that not all systems have a score for"


def _evidence(pair: AverageDifference | DatasetDifference) -> tuple[str | Cell, ...]:
    """Return a difference, its corrected p and the verdict as cells."""
    p = p_text(pair.p_corrected)
    return signed_text(pair.difference), p, Cell(pair.verdict, verdict=pair.verdict)
