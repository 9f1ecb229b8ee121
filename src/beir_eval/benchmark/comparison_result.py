"""What a comparison over several data sets found: ``AcrossDatasets``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel

from beir_eval.comparison.records import ComparisonSettings, Direction, mirrored
from beir_eval.comparison.tables import (
    marked_cell,
    mean_cell,
    p_text,
    signed,
    signed_range,
    verdict_sentence,
)
from beir_eval.core.saved import FROZEN, Saved
from beir_eval.display.tables import Cell, Table, markdown_list, number, records_csv
from beir_eval.errors import NotEvaluatedError, SettingError, some

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self


@dataclass(frozen=True, slots=True, kw_only=True)
class AcrossSettings:
    """How verdicts are reached: checked once, then passed on whole.

    The meaning of each is that of ``compare_benchmark``'s argument.

    Raises:
        SettingError: a value that does not exist.
    """

    hierarchical: bool
    correction: str
    alpha: float
    on: str
    draws: int
    rng: int

    def __post_init__(self) -> None:
        """Check what users state, as a comparison on one data set does."""
        if not isinstance(self.hierarchical, bool):
            msg = f"hierarchical must be True or False, not {self.hierarchical!r}"
            raise SettingError(msg)
        plain = ComparisonSettings(alpha=self.alpha, on=self.on, draws=self.draws, rng=self.rng)
        for name in ("alpha", "draws", "rng"):
            object.__setattr__(self, name, getattr(plain, name))


class DatasetScores(BaseModel):
    """One data set.

    Attributes:
        name: the data set.
        parts: what it is the mean of, {part: number of queries}: CQADupStack's forums, or just the
            data set itself.
        means: by system.
    """

    model_config = FROZEN

    name: str
    parts: dict[str, int]
    means: dict[str, float]

    @property
    def num_queries(self) -> int:
        """Queries on which all systems have a score."""
        return sum(self.parts.values())


class SystemAverage(BaseModel):
    """One system over all data sets.

    Attributes:
        system: its name.
        average: the unweighted mean of its means on the data sets.
        low, high: the bootstrap interval of the average, at confidence 1 − alpha.
        rank: 1 is the highest average; systems that tie share the better rank.
        rank_low, rank_high: the interval of the rank, from the same resamples.
        first: the share of resamples in which it is first.
        groups: letters of the groups of systems that cannot be told apart that it belongs to; ""
            where there is a baseline, since not all pairs are compared.
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
    """One system against another over all data sets; a difference is always system − against.

    Attributes:
        system, against: their names.
        difference: of the averages.
        low, high: its bootstrap interval, at confidence 1 − alpha.
        p: by flipping signs of queries within each data set, uncorrected, above 0.
        p_corrected: corrected for all differences.
        better, worse: on how many data sets the mean is higher, lower.
        significantly_better, significantly_worse: on how many of them that is significant,
            corrected by Holm over data sets and differences.
        verdict: "better" or "worse" where p_corrected <= alpha, else "undecided".
    """

    model_config = FROZEN

    system: str
    against: str
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float
    better: int
    worse: int
    significantly_better: int
    significantly_worse: int
    verdict: Direction

    def reversed(self) -> Self:
        """Return the same pair as seen from the other system."""
        counts = {
            "better": self.worse,
            "worse": self.better,
            "significantly_better": self.significantly_worse,
            "significantly_worse": self.significantly_better,
        }
        return self.model_copy(update=mirrored(self) | counts)


class DatasetDifference(BaseModel):
    """One pair on one data set.

    Attributes:
        dataset, system, against: their names.
        difference: of the means.
        p: by sign flips, uncorrected, above 0.
        p_corrected: by Holm over data sets and pairs.
        verdict: from p_corrected.
    """

    model_config = FROZEN

    dataset: str
    system: str
    against: str
    difference: float
    p: float
    p_corrected: float
    verdict: Direction


class AcrossDatasets(Saved):
    """What a comparison over several data sets found; frozen, saved as JSON.

    Attributes:
        schema_version: the version of this layout.
        measure: its canonical name.
        baseline: the system that the others are compared with; None where all pairs are.
        datasets: means and numbers of queries by data set.
        averages: every system with interval and rank, highest average first.
        differences: every pair with evidence and verdict.
        by_dataset: every pair on every data set.
        groups: where all pairs are compared, the longest runs of systems, in the order of their
            averages, no two of which differ significantly. A system may stand in several. Two that
            share none need not differ, where one that stands between them differs from one of them.
        settings: how the verdicts were reached.
        left_out: with on="intersection", {data set: the systems that do not have it}.
        queries_left_out: {data set: queries that not all systems have a score for}.
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
    queries_left_out: dict[str, int]

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, highest average first. [S]."""
        return tuple(one.system for one in self.averages)

    def average(self, system: str) -> SystemAverage:
        """Return one system over all data sets.

        Raises:
            NotEvaluatedError: there is no such system.
        """
        for one in self.averages:
            if one.system == system:
                return one
        msg = f"there is no system {system!r}; there are {some(self.systems)}"
        raise NotEvaluatedError(msg)

    def difference(self, system: str, against: str | None = None) -> AverageDifference:
        """Return one pair, by default against the baseline, as seen from ``system``.

        Raises:
            NotEvaluatedError: the pair was not compared.
        """
        other = self.baseline if against is None else against
        for one in self.differences:
            if (one.system, one.against) == (system, other):
                return one
            if (one.system, one.against) == (other, system):
                return one.reversed()
        compared = (
            "all pairs were" if self.baseline is None else f"{self.baseline!r} is the baseline"
        )
        msg = f"{system!r} was not compared with {other!r}; {compared}, of {some(self.systems)}"
        raise NotEvaluatedError(msg)

    # Other shapes

    def to_table(self) -> Table:
        """Return the systems with average, interval, rank and groups or verdict."""
        last = "groups" if self.baseline is None else f"against {self.baseline}"
        average = f"average {self.measure}"
        header = ("system", average, "interval", "rank", "ranks", "first", last)
        return Table(header, [self._row(one) for one in self.averages])

    def _row(self, one: SystemAverage) -> tuple[str | Cell, ...]:
        return (
            one.system,
            number(one.average),
            f"{number(one.low)} … {number(one.high)}",
            str(one.rank),
            f"{one.rank_low} … {one.rank_high}",
            f"{one.first:.0%}",
            one.groups if self.baseline is None else self._against_baseline(one.system),
        )

    def _against_baseline(self, system: str) -> str | Cell:
        if system == self.baseline:
            return "baseline"
        one = self.difference(system)
        return marked_cell(signed(one.difference), one.verdict)

    def to_markdown(self) -> str:
        """Return verdicts, averages, differences, data sets, notes as GitHub-flavoured markdown."""
        verdicts = markdown_list(map(self._sentence, self.differences))
        tables = "\n\n".join(
            table.markdown()
            for table in (self.to_table(), self._differences_table(), self._datasets_table())
        )
        return f"{verdicts}\n{tables}\n\n{markdown_list(self.notes())}"

    def _differences_table(self) -> Table:
        """Return every difference of the averages with its evidence."""
        header = (
            "system",
            "against",
            "difference",
            "interval",
            "p",
            "corrected",
            "data sets better/worse",
            "significantly",
            "verdict",
        )
        rows = [
            (
                one.system,
                one.against,
                signed(one.difference),
                signed_range(one.low, one.high),
                p_text(one.p),
                p_text(one.p_corrected),
                f"{one.better}/{one.worse}",
                f"{one.significantly_better}/{one.significantly_worse}",
                Cell(one.verdict, verdict=one.verdict),
            )
            for one in self.differences
        ]
        return Table(header, rows)

    def _sentence(self, one: AverageDifference) -> str:
        """Return a verdict as a sentence."""
        evidence = (
            f"corrected p {p_text(one.p_corrected)}; better on {one.better} of "
            f"{len(self.datasets)} data sets ({one.significantly_better} significantly), worse on "
            f"{one.worse} ({one.significantly_worse})"
        )
        return verdict_sentence(f"average {self.measure}", one, evidence)

    def _datasets_table(self) -> Table:
        """Return data sets × systems: means, with a mark against the baseline where it is shown."""
        *means, _ = self._means_table().turned(self.measure).rows
        rows = [
            (name, str(dataset.num_queries), *cells)
            for dataset, (name, *cells) in zip(self.datasets, means, strict=True)
        ]
        averages = [number(one.average) for one in self.averages]
        return Table((self.measure, "queries", *self.systems), [*rows, ("average", "", *averages)])

    def to_latex(self) -> str:
        """Return systems × data sets as LaTeX (booktabs): best bold, significance superscript."""
        return self._means_table().latex()

    def _means_table(self) -> Table:
        """Return systems × data sets and the average, with marks; the best are known."""
        verdicts = {}
        if self.baseline is not None:  # marks are against it
            verdicts = {(one.dataset, one.system): one.verdict for one in self.by_dataset}
        best = {one.name: max(one.means.values()) for one in self.datasets}
        best_average = max(one.average for one in self.averages)
        rows = []
        for one in self.averages:
            row: list[str | Cell] = [one.system]
            for dataset in self.datasets:
                mean = dataset.means[one.system]
                verdict = verdicts.get((dataset.name, one.system), "")
                row.append(mean_cell(mean, verdict, is_best=mean == best[dataset.name]))
            is_best = one.average == best_average
            if self.baseline is None:
                row.append(Cell(number(one.average), one.groups, is_best=is_best))
            else:
                verdict = "" if one.system == self.baseline else self.difference(one.system).verdict
                row.append(mean_cell(one.average, verdict, is_best=is_best))
            rows.append(row)
        return Table((self.measure, *(one.name for one in self.datasets), "average"), rows)

    def to_csv(self) -> str:
        """Return every difference with its evidence, one a line."""
        return records_csv(self.differences)

    def notes(self) -> list[str]:
        """Return what a reader of the tables must know."""
        return list(self._notes())

    def _notes(self) -> Iterator[str]:
        settings = self.settings
        queries = sum(one.num_queries for one in self.datasets)
        yield (
            f"{len(self.datasets)} data {'sets' if len(self.datasets) > 1 else 'set'}, "
            f"{queries} queries; the average is the unweighted mean "
            "of the data sets' means, queries are never pooled"
        )
        drawn = (
            "data sets, and queries within each" if settings.hierarchical else "queries within each"
        )
        kind = "percentile" if settings.hierarchical else "BCa"
        yield (
            f"intervals and ranks, not corrected: {kind} bootstrap at {1 - settings.alpha:.0%}, "
            f"resampling {drawn}"
            + ("" if settings.hierarchical else " data set; they hold for these data sets")
        )
        if settings.hierarchical:
            yield (
                "p and verdicts hold for these data sets; the intervals, which are wider, speak of "
                "data sets that there might have been"
            )
        correction = "Holm" if settings.correction == "holm" else "max-T"
        yield (
            "p: sign flips of queries within each data set, statistic the average of the mean "
            f"differences; corrected by {correction} over {len(self.differences)} comparisons, on "
            f"single data sets by Holm over {len(self.by_dataset)}; better and worse at "
            f"{settings.alpha:g}"
        )
        if self.baseline is None:
            yield (
                "groups: systems that share a letter cannot be told apart; runs in the order of "
                "the averages in which no two differ significantly"
            )
        else:
            yield "▲ better than the baseline, ▼ worse"
        for one in self.datasets:
            if list(one.parts) != [one.name]:
                yield f"{one.name}: the mean of {len(one.parts)} parts, which count as one data set"
        for name, systems in self.left_out.items():
            yield f"{name}: left out, no result of {', '.join(systems)}"
        for name, count in self.queries_left_out.items():
            yield f"{name}: {count} queries left out that not all systems have a score for"

    def _repr_html_(self) -> str:
        return self.to_table().html()

    def __repr__(self) -> str:
        """Return what it is, not the content."""
        return f"AcrossDatasets({len(self.to_table().rows)} rows)"
