"""``choose``: the best of several candidates, with a test that knows of the choice."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from beir_eval.benchmark.compare_benchmark import compare_benchmark, measure_name
from beir_eval.benchmark.comparison_result import AcrossDatasets
from beir_eval.benchmark.dataset_scores import (
    about,
    check_other_queries,
    mean_scores,
    results_by_system,
    shared_datasets,
    shared_scale,
    stratum_of,
)
from beir_eval.comparison.alignment import check_baseline, repeats_by_system
from beir_eval.comparison.compare import checked_clusters, compare
from beir_eval.comparison.coverage import (
    SystemCoverage,
    warn_of_content,
    warnings_of,
)
from beir_eval.comparison.records import Verdict
from beir_eval.comparison.result import Comparison
from beir_eval.comparison.verdict_sentences import (
    measure_text,
    p_text,
    signed_range_text,
    signed_text,
)
from beir_eval.core.saved import Saved
from beir_eval.display.document import Document, Sentence, Shown
from beir_eval.display.tables import Cell, Table
from beir_eval.errors import InputError, ResultError, SettingError, first_few, number_of
from beir_eval.evaluation.notes import exclusion_sentences
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.tables import check_same_scale
from beir_eval.significance.chosen_again import chosen_again
from beir_eval.significance.stratified import balanced
from beir_eval.significance.validation import LEVEL_TOLERANCE, check_seed, row_means

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.benchmark.dataset_scores import Stratum
    from beir_eval.core.arrays import Floats
    from beir_eval.measures import MeasureLike

#: Of fewer queries, parts of a fifth choose hardly better than at random.
_FEWEST_QUERIES, _FEWEST_CANDIDATES = 30, 2
#: The end or middle of a name that says which repeat of a system it is.
_SEED = re.compile(r"(?i)[-_. ]?(?:seed|repeat|trial)[-_=]?\d+")


class ChoiceResult(Shown, Saved):
    """The best of several candidates, and whether it is better than a baseline.

    Without ``dev`` the gain "held out" and its test are over queries that did not choose: each
    query is measured with the candidate that is best on the other four fifths. A gain is above 0 if
    the candidate is better, also where lower scores are better.

    Attributes:
        measure: the canonical name of the measure.
        higher_is_better: whether higher scores of it are better.
        candidates: what was chosen from.
        candidate: the best of them over the queries that chose; without ``dev`` the baseline if
            that is better than all of them.
        baselines: the systems that must all be beaten.
        against: the one of them with the highest p, which the numbers below are about.
        in_sample: the gain of the candidate over it on the queries that chose.
        held_out: the gain on queries that did not choose; with ``dev``, on the others.
        low, high: the interval of that gain; None if fewer than ten queries differ.
        p: its p; without ``dev`` one-sided, and half of alpha decides.
        alpha: the level.
        verdict: "better" or "undecided"; with ``dev`` that of the comparison.
        chosen_in: {candidate: how many parts of the queries chose it}; empty with ``dev``.
        num_queries: the number of queries of that gain.
        num_clusters: the number of their clusters; None if queries are not related.
        num_chose: the number of queries that chose.
        left_out: the number of queries that could not choose, since not every system has a score
            for them.
        by_dataset: {data set: the gain of the candidate on it}, if there are several.
        largest_loss: the query on which the candidate loses most, and its gain there, below 0; None
            if it loses on none, or with several data sets.
        comparison: with ``dev``, the comparison of the candidate with the baseline.
        coverage: the results that miss judged queries or whose document ids do not match, with the
            warnings; empty for none, and with ``dev``.
        excluded: how many documents the judgements exclude, in sentences; empty with ``dev``.
    """

    WHAT: ClassVar[str] = "choice"
    REMEDY: ClassVar[str] = "choose again"

    measure: str
    higher_is_better: bool
    candidates: tuple[str, ...]
    candidate: str
    baselines: tuple[str, ...]
    against: str
    in_sample: float
    held_out: float
    low: float | None
    high: float | None
    p: float
    alpha: float
    verdict: Verdict
    chosen_in: dict[str, int]
    num_queries: int
    num_clusters: int | None
    num_chose: int
    left_out: int
    by_dataset: dict[str, float]
    largest_loss: tuple[str, float] | None
    comparison: Comparison | AcrossDatasets | None = None
    coverage: tuple[SystemCoverage, ...] = ()
    excluded: tuple[str, ...] = ()

    def document(self) -> Document:
        """Return the verdict, the gain on the queries that chose and on others, and what limits."""
        warnings = warnings_of(self.coverage, (self.candidate, self.against))
        if alike := _alike(self.candidates):
            warnings.append(
                f"{first_few(alike)} differ in a seed only: the best of several repeats says "
                "something of these rankings, not of the system"
            )
        if self.left_out:
            count = number_of(self.left_out, "query")
            warnings.append(f"{count} without a score of every system: left out of the choice")
        beaten = []
        if len(self.baselines) > 1:
            beaten = [f"Better means better than each of {first_few(self.baselines)}."]
        if self.comparison is not None:
            document = self.comparison.document()
            chosen = (
                f"Chosen on {self.num_chose:,} other queries: {self.candidate}, the best of "
                f"{len(self.candidates)} (gain over {self.against} there: "
                f"{signed_text(self.in_sample)})."
            )
            return replace(
                document,
                heading="Choice",
                warnings=[*warnings, *document.warnings],
                sentences=[*document.sentences, *map(Sentence, (chosen, *beaten))],
            )
        return Document(
            heading="Choice",
            warnings=warnings,
            sentences=[Sentence(f"{self._sample}: {self._conclusion}", self.verdict)],
            tables=[self._table()],
            notes=[*beaten, *self._sentences(), *self.excluded],
        )

    @property
    def _sample(self) -> str:
        measure = measure_text(self.measure, higher_is_better=self.higher_is_better)
        sets = f", {number_of(len(self.by_dataset), 'data set')}" if self.by_dataset else ""
        clusters = "" if self.num_clusters is None else f" in {self.num_clusters:,} clusters"
        return f"{measure}{sets}, {self.num_queries:,} queries{clusters}"

    @property
    def _conclusion(self) -> str:
        of = f"the {'highest' if self.higher_is_better else 'lowest'} of {len(self.candidates)}"
        if self.candidate == self.against:
            return f"none of {len(self.candidates)} has a better mean than {self.against}"
        if self.verdict == "better":
            return f"{self.candidate}, {of}, is better than {self.against}"
        return (
            f"{self.candidate} is {of}, but no gain over {self.against} is shown on queries that "
            "did not choose it"
        )

    def _table(self) -> Table:
        """Return the gain on the queries that chose, and on others with its test."""
        interval = "few differ"
        if self.low is not None and self.high is not None:
            interval = signed_range_text(self.low, self.high)
        level = f"{100 - 100 * self.alpha:g}% interval"
        evidence = (interval, p_text(self.p), Cell(self.verdict, verdict=self.verdict))
        return Table(
            (f"gain over {self.against}", self.measure, level, "one-sided p", "verdict"),
            [
                ("on queries used to choose", signed_text(self.in_sample), "", "", ""),
                ("on held-out queries", signed_text(self.held_out), *evidence),
            ],
        )

    def _sentences(self) -> Iterable[str]:
        """Yield how often it was chosen, what decides, and where it loses."""
        often = sorted(self.chosen_in.items(), key=lambda entry: -entry[1])
        if len(often) == 1:
            yield "The same was chosen in every part, so both gains are the same."
        else:
            (first, most), (second, fewer), *_ = often
            total = sum(self.chosen_in.values())
            choices = f"Of {total} choices, each on a part of the queries,"
            yield f"{choices} {most} fell on {first}, {fewer} on {second}."
        yield f"Better means p of at most {self.alpha / 2:g}; the test includes the choice."
        if self.by_dataset:
            gains = ", ".join(f"{name} {signed_text(x)}" for name, x in self.by_dataset.items())
            yield f"{self.candidate} by data set: {gains}."
        if self.largest_loss is not None:
            query, loss = self.largest_loss
            yield f"{self.candidate} loses most on {query} ({loss:+.2f})."


def choose(  # noqa: PLR0913 - one keyword a part of the method
    results: Any,
    baseline: str | Iterable[str],
    measure: MeasureLike = "nDCG@10",
    *,
    dev: Any = None,
    clusters: Mapping[str, str] | None = None,
    alpha: float = 0.05,
    draws: int | None = None,
    rng: int = 0,
) -> ChoiceResult:
    """Return the best of several candidates, and whether it is better than a baseline.

    With ``dev`` the candidate is chosen there, and compared with the baseline on ``results``, whose
    queries are others: an ordinary comparison. Without, the choice is repeated in every draw of the
    test (``significance.chosen_again``), which loses less than to cut the queries in two. It is not
    for candidates that were made by looking at these scores, as an optimiser makes them: only
    queries that the search never saw can judge these.

    Args:
        results: the candidates and the baseline: {name: result}, results with different names, or
            for several data sets {name: {data set: result}} or a ``BenchmarkResult``; then one
            candidate is chosen for all, by the unweighted average. Ties: the first one given.
        baseline: the name of the system to beat, or several, of which each must be beaten.
        measure: the measure that chooses and decides.
        dev: results of the same systems on other queries, in one of these forms.
        clusters: {query_id: label} of related queries, which are in one part and share their sign;
            for one data set, and six clusters or more.
        alpha: the level, below .5; without ``dev`` half of it decides on the side of "better".
        draws: the number of random sign vectors; None: 10,000, and with ``dev`` as ``compare``.
        rng: the seed of the random numbers.

    Raises:
        InputError: there are fewer than two candidates, six clusters, or without ``dev`` 30
            queries; or ``dev`` has queries of ``results``.
        ResultError, QueryMismatchError, NotEvaluatedError, MeasureError: as for ``compare``.
        SettingError: a setting has another value, the baseline is no system, or ``draws`` is too
            few for any p to decide.
    """
    check_seed(rng)
    is_one = isinstance(baseline, str | EvaluationResult)
    baselines: tuple[Any, ...] = (baseline,) if is_one else tuple(baseline)
    table = choosing = _Table.from_results(results, measure, clusters)
    if dev is not None:
        with about("dev"):
            choosing = _Table.from_results(dev, table.measure, None)
        if others := sorted({*choosing.by_system} ^ {*table.by_system}):
            msg = f"results and dev need the same systems; only one of them has {first_few(others)}"
            raise ResultError(msg)
    for name in baselines:
        check_baseline(name, tuple(choosing.by_system))
    baselines = tuple(dict.fromkeys(baselines))
    candidates = tuple(name for name in choosing.by_system if name not in baselines)
    if not baselines or len(candidates) < _FEWEST_CANDIDATES:
        msg = (
            f"to choose needs a baseline and two candidates or more, not "
            f"{first_few(candidates) or 'none'}; compare compares two systems"
        )
        raise InputError(msg)
    settings: dict[str, Any] = {"alpha": alpha, "draws": draws, "rng": rng}
    if dev is not None:
        settings |= {} if clusters is None else {"clusters": clusters}
        outcome = _chosen_on_dev(choosing, table, candidates, baselines, settings)
    elif table.num_queries < _FEWEST_QUERIES:
        msg = (
            f"{table.num_queries} queries are too few to choose and to test on: "
            f"{_FEWEST_QUERIES} or more were expected, or other queries to choose on (dev=)"
        )
        raise InputError(msg)
    else:
        outcome = _chosen_again(table, candidates, baselines, settings)
    chosen, against = outcome["candidate"], outcome["against"]
    gains = table.strata[0].scale.gains
    means = mean_scores(table.strata, tuple(table.by_system)) if table.strata[0].name else []
    return ChoiceResult(
        **outcome,
        measure=table.measure,
        higher_is_better=table.strata[0].scale.higher_is_better,
        candidates=candidates,
        baselines=baselines,
        alpha=alpha,
        num_queries=table.num_queries,
        num_clusters=table.num_clusters,
        num_chose=choosing.num_queries,
        left_out=choosing.left_out,
        by_dataset={of.name: gains(of.means[chosen] - of.means[against]) for of in means},
        largest_loss=None if means else table.largest_loss(chosen, against),
    )


def _alike(candidates: Sequence[str]) -> list[str]:
    """Return the candidates that differ in a seed only from another one."""
    bases = [_SEED.sub("", name) for name in candidates]
    return [
        name
        for name, base in zip(candidates, bases, strict=True)
        if base != name and bases.count(base) > 1
    ]


def _chosen_again(
    table: _Table,
    candidates: tuple[str, ...],
    baselines: tuple[str, ...],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what is chosen on the queries that test it, with a test that chooses again."""
    keys = [stratum.keys for stratum in table.strata]
    stated = {name: value for name, value in settings.items() if value is not None}
    stated |= {"strata": np.repeat(np.arange(len(keys)), list(map(len, keys)))}
    tests = {
        name: chosen_again(table.gains([*candidates, name], name), np.concatenate(keys), **stated)
        for name in baselines
    }
    coverage = tuple(covered for stratum in table.strata for covered in stratum.coverage)
    warn_of_content(coverage)
    against = max(baselines, key=lambda name: (tests[name].p, -tests[name].held_out))
    test, names = tests[against], [*candidates, against]
    is_better = test.p <= settings["alpha"] / 2 * (1 + LEVEL_TOLERANCE)
    return {
        "candidate": names[test.best],
        "against": against,
        "in_sample": test.in_sample,
        "held_out": test.held_out,
        "low": None if np.isnan(test.low) else test.low,
        "high": None if np.isnan(test.high) else test.high,
        "p": test.p,
        "verdict": "better" if is_better else "undecided",
        "chosen_in": {
            name: count for name, count in zip(names, test.chosen.tolist(), strict=True) if count
        },
        "coverage": coverage,
        "excluded": tuple(_exclusions(table, dict.fromkeys((names[test.best], against)))),
    }


def _chosen_on_dev(
    dev: _Table,
    table: _Table,
    candidates: tuple[str, ...],
    baselines: tuple[str, ...],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what is chosen on ``dev``, with its comparison on ``table``."""
    scale = table.strata[0].scale
    check_same_scale(table.measure, ("results", scale), ("dev", dev.strata[0].scale))
    are_several = bool(table.strata[0].name)
    by_name = are_several and bool(dev.strata[0].name)
    check_other_queries(dev.by_system, table.by_system, by_name=by_name)
    means = row_means(dev.gains(candidates, baselines[0]))
    chosen = candidates[int(np.argmax(means))]
    compared: Any = compare_benchmark if are_several else compare
    comparisons = {}
    for name in baselines:
        pair: Any = {system: table.by_system[system] for system in (chosen, name)}
        pair = pair if are_several else {system: pair[system][""] for system in pair}
        comparisons[name] = compared(pair, table.measure, baseline=name, **settings)
    outcomes = {name: comparison.differences[0] for name, comparison in comparisons.items()}
    against = max(
        baselines,
        key=lambda name: (
            outcomes[name].verdict != "better",
            outcomes[name].p,
            -scale.gains(outcomes[name].difference),
        ),
    )
    outcome = outcomes[against]
    low, high = sorted(map(scale.gains, (outcome.low, outcome.high)))
    return {
        "candidate": chosen,
        "against": against,
        "in_sample": float(dev.gains([chosen], against).mean()),
        "held_out": scale.gains(outcome.difference),
        "low": low,
        "high": high,
        "p": outcome.p,
        "verdict": outcome.verdict,
        "chosen_in": {},
        "comparison": comparisons[against],
    }


def _exclusions(table: _Table, systems: Iterable[str]) -> Iterator[str]:
    """Yield how many documents of systems the judgements of each data set exclude."""
    for name in (stratum.name for stratum in table.strata):
        of_dataset = {system: table.by_system[system][name] for system in systems}
        prefix = f"{name}: " if name else ""
        yield from (f"{prefix}{sentence}" for sentence in exclusion_sentences(of_dataset))


class _Table(NamedTuple):
    """The scores of all systems on one measure, over one data set or several.

    Attributes:
        measure: its canonical name.
        by_system: {system: {data set: result}}; one data set has the name "".
        strata: the scores on each data set or part.
        num_clusters: the number of clusters of the queries; None if these are not related.
    """

    measure: str
    by_system: Mapping[str, Mapping[str, Any]]
    strata: Sequence[Stratum]
    num_clusters: int | None

    @classmethod
    def from_results(
        cls, results: Any, measure: MeasureLike, clusters: Mapping[str, str] | None
    ) -> _Table:
        """Return the table of what ``choose`` takes."""
        systems: Any = getattr(results, "results", results)
        values = list(systems.values()) if isinstance(systems, Mapping) else []
        if not values or not all(isinstance(of_system, Mapping) for of_system in values):
            systems = {
                name: {"": repeats[0] if len(repeats) == 1 else repeats}
                for name, repeats in repeats_by_system(systems).items()
            }
        elif clusters is not None:
            raise SettingError("clusters are for one data set")
        if others := [
            f"{system}, {name}" if name else system
            for system, by_dataset in systems.items()
            for name, result in by_dataset.items()
            if not isinstance(result, EvaluationResult)
        ]:
            msg = (
                "one EvaluationResult of each candidate was expected, not repeats or runs, as for "
                f"{first_few(others)}"
            )
            raise ResultError(msg)
        systems, labels = results_by_system(systems), checked_clusters(clusters)
        name, (names, _) = measure_name(measure, systems), shared_datasets(systems, None)
        strata = [stratum_of(dataset, systems, name, None, labels) for dataset in names]
        shared_scale(name, strata)
        return cls(name, systems, strata, None if labels is None else len(strata[0].keys))

    @property
    def num_queries(self) -> int:
        """The number of queries with a score of every system."""
        return sum(len(stratum.is_common) for stratum in self.strata)

    @property
    def left_out(self) -> int:
        """The number of other queries."""
        return sum(stratum.left_out for stratum in self.strata)

    def largest_loss(self, system: str, against: str) -> tuple[str, float] | None:
        """Return the query of the only data set with the lowest gain, and this if it is below 0."""
        ours, theirs = (
            dict(zip(result.query_ids, result.scores(self.measure).tolist(), strict=True))
            for result in (self.by_system[system][""], self.by_system[against][""])
        )
        gains = self.strata[0].scale.gains
        losses = [(gain, key) for key in ours if (gain := gains(ours[key] - theirs[key])) < 0]
        return min(losses)[::-1] if losses else None

    def gains(self, systems: Sequence[str], baseline: str) -> Floats:
        """Return gains over a baseline, whose mean is that of the data sets, by unit: f8[., N]."""
        rows = balanced(
            [stratum.scores for stratum in self.strata],
            units=[stratum.unit for stratum in self.strata],
        )
        row_of = {name: row for row, name in enumerate(self.by_system)}
        differences = rows[[row_of[name] for name in systems]] - rows[row_of[baseline]]
        return np.asarray(self.strata[0].scale.gains(differences))
