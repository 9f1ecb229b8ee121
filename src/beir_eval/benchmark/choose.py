"""``choose``: the best of several candidates, with a test that knows of the choice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from beir_eval.benchmark.compare_benchmark import compare_benchmark
from beir_eval.benchmark.comparison_result import AcrossDatasets
from beir_eval.benchmark.dataset_scores import (
    about,
    check_other_queries,
    shared_datasets,
    shared_scale,
    stratum_of,
)
from beir_eval.comparison.alignment import align_scores, check_baseline, repeats_by_system
from beir_eval.comparison.compare import compare
from beir_eval.comparison.coverage import (
    SystemCoverage,
    coverage_of,
    warn_of_content,
    warnings_of,
)
from beir_eval.comparison.differences import too_few_clusters
from beir_eval.comparison.records import Verdict
from beir_eval.comparison.result import Comparison
from beir_eval.comparison.sampling import checked_clusters
from beir_eval.comparison.verdict_sentences import (
    measure_text,
    p_text,
    signed_range_text,
    signed_text,
)
from beir_eval.core.arrays import is_iterable
from beir_eval.core.saved import Saved
from beir_eval.display.document import Document, Sentence, Shown
from beir_eval.display.tables import Cell, Table
from beir_eval.errors import InputError, ResultError, SettingError, first_few, number_of, shorten
from beir_eval.evaluation.notes import exclusion_sentences
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.measures.names import name_among
from beir_eval.significance.chosen_again import chosen_again
from beir_eval.significance.equivalence import check_alpha
from beir_eval.significance.stratified import balanced
from beir_eval.significance.validation import check_seed, row_means

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.measures import MeasureLike
    from beir_eval.significance.sign_vectors import Keys

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
            if it loses on none, with clusters, or with several data sets.
        comparison: with ``dev``, the comparison of the candidate with the baseline.
        alike: names that differ in a seed only: repeats are no candidates.
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
    alike: tuple[str, ...] = ()
    coverage: tuple[SystemCoverage, ...] = ()
    excluded: tuple[str, ...] = ()

    def document(self) -> Document:
        """Return the verdict, the gain on the queries that chose and on others, and what limits."""
        warnings = warnings_of(self.coverage, (self.candidate, self.against))
        if self.alike:
            warnings.append(
                f"{first_few(self.alike)} differ in a seed only: the best of several repeats says "
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

    def __repr__(self) -> str:
        """Return the choice and its verdict in one line."""
        chosen = f"{shorten(self.candidate, 40)!r} of {len(self.candidates)}"
        return f"ChoiceResult({self.measure}: {chosen}, {self.verdict})"

    @property
    def _sample(self) -> str:
        measure = measure_text(self.measure, higher_is_better=self.higher_is_better)
        sets = f", {number_of(len(self.by_dataset), 'data set')}" if self.by_dataset else ""
        clusters = "" if self.num_clusters is None else f" in {self.num_clusters:,} clusters"
        return f"{measure}{sets}, {self.num_queries:,} queries{clusters}"

    @property
    def _conclusion(self) -> str:
        of = f"the best of {len(self.candidates)}"
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
        known = self.low is not None and self.high is not None
        interval = signed_range_text(self.low or 0.0, self.high or 0.0) if known else "few differ"
        header = (f"gain over {self.against}", self.measure)
        return Table(
            (*header, f"{100 - 100 * self.alpha:g}% interval", "p if equal", "verdict"),
            [
                ("on the queries that chose", signed_text(self.in_sample), "", "", ""),
                (
                    "on others",
                    signed_text(self.held_out),
                    interval,
                    p_text(self.p),
                    Cell(self.verdict, verdict=self.verdict),
                ),
            ],
        )

    def _sentences(self) -> Iterable[str]:
        """Yield how often it was chosen, what decides, and where it loses."""
        often = sorted(self.chosen_in.items(), key=lambda entry: -entry[1])
        if len(often) == 1:
            yield "The same was chosen in every part, so both gains are the same."
        else:
            (first, most), (second, fewer), *_ = often
            parts = sum(self.chosen_in.values())
            yield f"{first} was chosen in {most} of {parts} parts, {second} in {fewer}."
        yield f"p up to {self.alpha / 2:g} decides; every draw of the test chooses again."
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
    check_alpha(alpha)
    is_one = isinstance(baseline, str | EvaluationResult) or not is_iterable(baseline)
    baselines: tuple[Any, ...] = (baseline,) if is_one else tuple(baseline)
    baselines = tuple(name for name in baselines if name is not None)
    table = choosing = _Table.from_results(results, measure, clusters)
    if dev is not None:
        with about("dev"):
            choosing = _Table.from_results(dev, table.measure, None)
        if others := sorted({*choosing.systems} ^ {*table.systems}):
            msg = f"results and dev need the same systems; only one of them has {first_few(others)}"
            raise ResultError(msg)
    for name in baselines:
        check_baseline(name, choosing.systems)
    baselines = tuple(dict.fromkeys(baselines))
    candidates = tuple(name for name in choosing.systems if name not in baselines)
    if not baselines or len(candidates) < _FEWEST_CANDIDATES:
        msg = (
            f"to choose needs a baseline and two candidates or more, not "
            f"{first_few(candidates) or 'none'}; compare compares two systems"
        )
        raise InputError(msg)
    if dev is not None:
        settings: dict[str, Any] = {"alpha": alpha, "draws": draws, "rng": rng}
        if clusters is not None:
            settings["clusters"] = clusters
        return _chosen_on_dev(choosing, table, candidates, baselines, settings)
    if choosing.num_queries < _FEWEST_QUERIES:
        msg = (
            f"{choosing.num_queries} queries are too few to choose and to test on: "
            f"{_FEWEST_QUERIES} or more were expected, or other queries to choose on (dev=)"
        )
        raise InputError(msg)
    tests = {
        name: chosen_again(
            choosing.gains(candidates, name, with_baseline=True),
            choosing.keys,
            strata=choosing.strata,
            alpha=alpha,
            draws=10_000 if draws is None else draws,
            rng=rng,
        )
        for name in baselines
    }
    warn_of_content(choosing.coverage)
    against = max(baselines, key=lambda name: (tests[name].p, -tests[name].held_out))
    test, names = tests[against], [*candidates, against]
    chosen = names[test.best]
    return ChoiceResult(
        **_of_candidate(choosing, candidates, chosen, baselines, against),
        coverage=choosing.coverage,
        excluded=tuple(_exclusions(choosing, dict.fromkeys((chosen, against)))),
        in_sample=test.in_sample,
        held_out=test.held_out,
        low=None if np.isnan(test.low) else test.low,
        high=None if np.isnan(test.high) else test.high,
        p=test.p,
        alpha=alpha,
        verdict="better" if test.decides(alpha) else "undecided",
        chosen_in={
            name: count for name, count in zip(names, test.chosen.tolist(), strict=True) if count
        },
    )


def _of_candidate(
    table: _Table,
    candidates: tuple[str, ...],
    chosen: str,
    baselines: tuple[str, ...],
    against: str,
) -> dict[str, Any]:
    """Return the fields of a choice that its candidate has, from the table of its test."""
    [gains] = table.gains([chosen], against)
    loss = None
    if table.query_ids and gains.min() < 0:
        loss = table.query_ids[int(gains.argmin())], float(gains.min())
    return {
        "measure": table.measure,
        "higher_is_better": table.sign > 0,
        "candidates": candidates,
        "candidate": chosen,
        "baselines": baselines,
        "against": against,
        "num_queries": table.num_queries,
        "num_clusters": table.num_clusters,
        "num_chose": table.num_queries,
        "left_out": table.left_out,
        "by_dataset": {
            name: table.sign * (means[chosen] - means[against])
            for name, means in table.datasets.items()
        },
        "largest_loss": loss,
        "alike": _alike(candidates),
    }


def _alike(candidates: Sequence[str]) -> tuple[str, ...]:
    """Return the candidates that differ in a seed only from another one."""
    bases = [_SEED.sub("", name) for name in candidates]
    return tuple(
        name
        for name, base in zip(candidates, bases, strict=True)
        if base != name and bases.count(base) > 1
    )


def _chosen_on_dev(
    dev: _Table,
    table: _Table,
    candidates: tuple[str, ...],
    baselines: tuple[str, ...],
    settings: Mapping[str, Any],
) -> ChoiceResult:
    """Return the choice on ``dev``, with the comparison of the candidate on ``table``."""
    if dev.sign != table.sign:
        msg = f"{dev.measure}: higher is better in one of dev and results, and lower in the other"
        raise ResultError(msg)
    check_other_queries(
        dev.by_system, table.by_system, by_name=bool(dev.datasets and table.datasets)
    )
    means = row_means(dev.gains(candidates, baselines[0]))
    chosen = candidates[int(np.argmax(means))]
    compared: Any = compare_benchmark if table.datasets else compare
    comparisons = {}
    for name in baselines:
        pair = {system: table.by_system[system] for system in (chosen, name)}
        alone = pair if table.datasets else {system: pair[system][""] for system in pair}
        comparisons[name] = compared(alone, table.measure, baseline=name, **settings)
    outcomes = {name: comparison.differences[0] for name, comparison in comparisons.items()}
    against = max(
        baselines,
        key=lambda name: (
            outcomes[name].verdict != "better",
            outcomes[name].p,
            -table.sign * outcomes[name].difference,
        ),
    )
    outcome = outcomes[against]
    low, high = sorted((table.sign * outcome.low, table.sign * outcome.high))
    fields = _of_candidate(table, candidates, chosen, baselines, against)
    return ChoiceResult(
        **fields | {"num_chose": dev.num_queries, "left_out": dev.left_out},
        in_sample=float(dev.gains([chosen], against).mean()),
        held_out=table.sign * outcome.difference,
        low=low,
        high=high,
        p=outcome.p,
        alpha=settings["alpha"],
        verdict=outcome.verdict,
        chosen_in={},
        comparison=comparisons[against],
    )


def _exclusions(choosing: _Table, systems: Iterable[str]) -> Iterator[str]:
    """Yield how many documents of systems the judgements of each data set exclude."""
    by_system = {system: choosing.by_system[system] for system in systems}
    for dataset in next(iter(by_system.values())):
        prefix = f"{dataset}: " if dataset else ""
        of_dataset = {system: results[dataset] for system, results in by_system.items()}
        yield from (f"{prefix}{sentence}" for sentence in exclusion_sentences(of_dataset))


class _Table(NamedTuple):
    """The scores of all systems on one measure, over one data set or several.

    Attributes:
        measure: its canonical name.
        systems: their names. [S]
        rows: numbers by unit (query, or cluster) whose mean is that of the data sets, f8[S, N].
        sign: 1, or -1 if lower scores are better.
        keys: the key of each unit, u8[N].
        strata: the data set of each unit, i8[N]; None if there is one.
        query_ids: the query of each unit; empty for clusters and several data sets. [N]
        num_queries: the number of queries.
        num_clusters: that of their clusters; None if queries are not related.
        left_out: the number of queries without a score of every system.
        by_system: {system: {data set: result}}; one data set has the name "".
        datasets: {data set: {system: mean}}, if there are several.
        coverage: what is known of the results that miss queries or match nothing.
    """

    measure: str
    systems: tuple[str, ...]
    rows: Floats
    sign: float
    keys: Keys
    strata: Ints | None
    query_ids: Sequence[str]
    num_queries: int
    num_clusters: int | None
    left_out: int
    by_system: Mapping[str, Mapping[str, Any]]
    datasets: Mapping[str, Mapping[str, float]]
    coverage: tuple[SystemCoverage, ...]

    @classmethod
    def from_results(
        cls, results: Any, measure: MeasureLike, clusters: Mapping[str, str] | None
    ) -> _Table:
        """Return the table of what ``choose`` takes."""
        systems: Any = getattr(results, "results", results)
        are_several = (
            isinstance(systems, Mapping)
            and systems
            and all(isinstance(of_system, Mapping) for of_system in systems.values())
        )
        if not are_several:
            systems = {
                name: {"": repeats[0] if len(repeats) == 1 else repeats}
                for name, repeats in repeats_by_system(systems).items()
            }
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
        if are_several:
            if clusters is not None:
                raise SettingError("clusters are for one data set")
            return cls._from_datasets(dict(systems), measure)
        alone = {name: by_dataset[""] for name, by_dataset in systems.items()}
        aligned = align_scores(alone, measure, None, checked_clusters(clusters))
        whole = aligned.by_measure[0]
        scores = whole.where_defined()
        if too_few := too_few_clusters(scores):
            raise InputError(too_few)
        units = scores.units
        query_ids = [
            query_id
            for query_id, known in zip(aligned.query_ids, whole.is_defined, strict=True)
            if known
        ]
        return cls(
            measure=scores.measure,
            systems=scores.systems,
            rows=units.rows,
            sign=1.0 if scores.scale.higher_is_better else -1.0,
            keys=units.keys,
            strata=None,
            query_ids=query_ids if units.weights is None else (),
            num_queries=len(query_ids),
            num_clusters=scores.num_clusters,
            left_out=len(aligned.query_ids) - len(query_ids),
            by_system=systems,
            datasets={},
            coverage=coverage_of(aligned.results, aligned.measures),
        )

    @classmethod
    def _from_datasets(cls, systems: dict[str, Mapping[str, Any]], measure: MeasureLike) -> _Table:
        names, _ = shared_datasets(systems, None)
        first = next(iter(systems.values()))[names[0]]
        measure_name = name_among(first.custom_measures, measure)
        strata = [stratum_of(name, systems, measure_name, None) for name in names]
        scores = [stratum.scores for stratum in strata]
        return cls(
            measure=measure_name,
            systems=tuple(systems),
            rows=balanced(scores, units=[stratum.unit for stratum in strata]),
            sign=1.0 if shared_scale(measure_name, strata).higher_is_better else -1.0,
            keys=np.concatenate([stratum.keys for stratum in strata]),
            strata=np.repeat(np.arange(len(strata)), [array.shape[1] for array in scores]),
            query_ids=(),
            num_queries=sum(array.shape[1] for array in scores),
            num_clusters=None,
            left_out=sum(stratum.left_out for stratum in strata),
            by_system=systems,
            datasets={
                stratum.name: dict(zip(systems, row_means(stratum.scores).tolist(), strict=True))
                for stratum in strata
            },
            coverage=tuple(covered for stratum in strata for covered in stratum.coverage),
        )

    def gains(
        self, systems: Sequence[str], baseline: str, *, with_baseline: bool = False
    ) -> Floats:
        """Return the gain of each system over a baseline by unit, f8[., N]; zeros for itself."""
        named = [*systems, baseline] if with_baseline else systems
        rows = self.rows[[self.systems.index(name) for name in named]]
        return np.asarray(self.sign * (rows - self.rows[self.systems.index(baseline)]))
