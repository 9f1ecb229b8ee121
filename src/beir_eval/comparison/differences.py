"""Tests, intervals and verdicts for the differences of systems on one measure."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.comparison.records import (
    FEWEST_CLUSTERS,
    PERMUTATION_CORRECTIONS,
    Difference,
    SystemMean,
    Verdict,
    check_margin,
)
from beir_eval.errors import MissingExtraError, SettingError
from beir_eval.significance import PAIRED_TESTS, smallest_margin
from beir_eval.significance.corrections import correct, corrected_tests
from beir_eval.significance.effect_sizes import Spread, effect_of
from beir_eval.significance.equivalence import lower_bound, margin_tests
from beir_eval.significance.multiple_comparisons import max_t_tests
from beir_eval.significance.paired_tests import t_intervals, t_p_values, two_sided_t_p
from beir_eval.significance.power import FEWEST_DIFFERING, estimate_power_of_scores
from beir_eval.significance.randomisation import Family, randomise, rank_at
from beir_eval.significance.repeats import (
    CrossedTests,
    crossed_power,
    crossed_tests,
    noise_that_undoes,
)
from beir_eval.significance.sign_vectors import DRAWS_OF_MANY_QUERIES, SignVectors
from beir_eval.significance.validation import check_draws_suffice, is_at_most, residuals, row_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.alignment import MeasureScores
    from beir_eval.comparison.records import ComparisonSettings, Direction
    from beir_eval.core.arrays import Floats
    from beir_eval.significance.corrections import CorrectedTests
    from beir_eval.significance.power import PowerEstimate
    from beir_eval.significance.randomisation import FlippedFamily, Largest

#: All pairs of more systems than this are too many to read and to test.
MOST_SYSTEMS_IN_PAIRS = 100
#: The probability of detecting a difference that ``Difference.detectable`` is for.
POWER = 0.8
#: Why no detectable difference is known if it would be larger than the measure allows.
NONE_POSSIBLE = "too few queries to detect any difference that the measure can have"
#: The power of more pairs is simulated only if they have one baseline: it takes as long as all the
#: rest, and a table of so many pairs shows none.
MOST_PAIRS = 45
#: For more pairs than this, the tests draw as few sign vectors as for many queries.
MANY_PAIRS = 500
#: Extreme draws, of all pairs and measures, that are kept at a time; each takes up to 48 bytes.
_KEPT_DRAWS = 3_000_000


class Pair(NamedTuple):
    """Indices of two systems: ``system`` is compared with ``against``."""

    system: int
    against: int


@dataclass(frozen=True)
class Pairs:
    """The pairs of systems that are compared.

    Attributes:
        listed: the pairs. [D]
    """

    listed: Sequence[Pair]

    @property
    def are_many(self) -> bool:
        """Whether these are all pairs of more systems than power is simulated for."""
        return len(self.listed) > MOST_PAIRS and len({pair.against for pair in self.listed}) > 1

    def differences(self, scores: Floats) -> Floats:
        """Return the differences of the scores of every pair: f8[S, Q] -> f8[D, Q]."""
        return np.stack([scores[pair.system] - scores[pair.against] for pair in self.listed])

    def family(self, scores: MeasureScores) -> Family:
        """Return the pairs as comparisons of one family."""
        system, against = np.array(self.listed).T
        units = scores.units
        return Family(units.rows, units.keys, system, against, units.weights)


def pairs_to_compare(systems: Sequence[str], baseline: str | None) -> Pairs:
    """Return the pairs of every other system and the baseline; without a baseline, all pairs.

    In each of all pairs, the later system is compared with the earlier one.

    Raises:
        SettingError: there is no baseline, and more than ``MOST_SYSTEMS_IN_PAIRS`` systems.
    """
    num_systems = len(systems)
    if baseline is not None:
        baseline_index = systems.index(baseline)
        return Pairs(
            [
                Pair(system, baseline_index)
                for system in range(num_systems)
                if system != baseline_index
            ]
        )
    if num_systems > MOST_SYSTEMS_IN_PAIRS:
        msg = (
            f"{num_systems} systems are {num_systems * (num_systems - 1) // 2} pairs; name a "
            f"baseline to compare with, or pass at most {MOST_SYSTEMS_IN_PAIRS} systems"
        )
        raise SettingError(msg)
    return Pairs(
        [Pair(system, against) for system in range(num_systems) for against in range(system)]
    )


@dataclass(frozen=True, eq=False)
class Tests:
    """The tests of all pairs on one measure, before the correction. D pairs, N queries.

    Attributes:
        scores: the scores of all systems, without NaN.
        pairs: the systems that are compared.
        settings: test, correction, interval, levels, margin and seed.
        draws: how many sign vectors were drawn, where not all were tried.
        flipped: the randomisation distributions of the pairs.
        p_over_queries: uncorrected p-values of the test over queries, f8[D].
        notes: the note of each test to its readers; mostly empty. [D]
        crossed: the tests over queries and repeats; None if repeats are averaged.
    """

    scores: MeasureScores
    pairs: Pairs
    settings: ComparisonSettings
    draws: int
    flipped: FlippedFamily
    p_over_queries: Floats
    notes: Sequence[str]
    crossed: CrossedTests | None = None

    @cached_property
    def p(self) -> Floats:
        """Uncorrected p-values, f8[D]; 1 if there are too few clusters for any verdict.

        With random repeats, they are the larger of that over queries and that over queries and
        repeats.
        """
        if not self.can_decide:
            return np.ones(len(self.p_over_queries))
        if self.crossed is None:
            return self.p_over_queries
        return np.maximum(self.p_over_queries, self.crossed.p())

    @cached_property
    def deviations(self) -> Floats:
        """The standard deviations of the differences by unit, f8[D].

        Those of clusters are about what the mean difference adds to a cluster of their size.
        """
        units = self.scores.units
        if units.weights is None:
            return self.flipped.deviations
        return unit_deviations(self.pairs.differences(units.rows), units.weights)

    @property
    def can_decide(self) -> bool:
        """Whether there are enough units, that is queries or clusters, for any verdict."""
        return not too_few_clusters(self.scores)

    def intervals(self, levels: Floats) -> tuple[Floats, Floats]:
        """Return the ends of the test's intervals, f8[D] and f8[D], each at its own level, f8[D].

        With random repeats, an interval contains that over queries and that over queries and
        repeats.
        """
        if not self.can_decide:
            return np.full(len(self.p), -np.inf), np.full(len(self.p), np.inf)
        if PAIRED_TESTS[self.settings.test].interval == "t":
            low, high = self.t_intervals(levels)
        else:
            low, high = self.flipped.intervals(levels)
        if self.crossed is None:
            return low, high
        crossed_low, crossed_high = self.crossed.intervals(levels)
        return np.minimum(low, crossed_low), np.maximum(high, crossed_high)

    def t_intervals(self, levels: Floats) -> tuple[Floats, Floats]:
        """Return t intervals; unbounded if equal differences are too few to be significant."""
        means, deviations = self.flipped.means, self.deviations
        low, high = t_intervals(means, deviations, self.flipped.num_queries, levels)
        is_unknown = (deviations == 0) & (means != 0) & ~is_at_most(self.p_over_queries, levels)
        return np.where(is_unknown, -np.inf, low), np.where(is_unknown, np.inf, high)

    def corrected(self) -> CorrectedTests:
        """Return the corrected tests of this measure, and the intervals that agree with them."""
        settings = self.settings
        if not self.can_decide:
            means = self.flipped.means
            return corrected_tests(means, self.p, self.intervals, "none", settings.alpha)
        if len(self.p) > 1 and settings.correction in PERMUTATION_CORRECTIONS:
            return max_t_tests(self.flipped, settings.alpha)
        return corrected_tests(
            self.flipped.means, self.p, self.intervals, self.correction_of_p, settings.alpha
        )

    @property
    def correction_of_p(self) -> str:
        """The correction that takes p-values; "none" for a single pair."""
        return "none" if len(self.p) == 1 else self.settings.correction


def differences_together(
    all_tests: Sequence[Tests], settings: ComparisonSettings
) -> list[list[Difference]]:
    """Return the differences with their verdicts of several tests, corrected over all of them.

    Args:
        all_tests: the tests of pairs on one measure, such as those within each slice.
        settings: the correction, which takes p-values only, and the level.
    """
    lengths = [len(tests.p) for tests in all_tests]

    def intervals(levels: Floats) -> tuple[Floats, Floats]:
        parts = np.split(levels, np.cumsum(lengths)[:-1])
        ends = [tests.intervals(part) for tests, part in zip(all_tests, parts, strict=True)]
        low, high = map(np.concatenate, zip(*ends, strict=True))
        return low, high

    corrected = corrected_tests(
        np.concatenate([tests.flipped.means for tests in all_tests]),
        np.concatenate([tests.p for tests in all_tests]),
        intervals,
        settings.correction,
        settings.alpha,
    ).split(lengths)
    p_equal = correct(np.concatenate([equality_p_of(tests) for tests in all_tests]), "holm")
    return [
        with_verdicts(tests, of_tests, p, num_comparisons=sum(lengths))
        for tests, of_tests, p in zip(
            all_tests, corrected, np.split(p_equal, np.cumsum(lengths)[:-1]), strict=True
        )
    ]


def sign_vectors_for(num_queries: int, pairs: Pairs, *, draws: int | None, rng: int) -> SignVectors:
    """Return the sign vectors that the tests of a comparison use.

    Args:
        num_queries: the largest number of queries on which a measure is compared.
        pairs: the systems to compare.
        draws: the number of sign vectors; None means 100,000, or 20,000 for more than 1,000 queries
            or 500 pairs.
        rng: the seed.
    """
    if draws is None and len(pairs.listed) > MANY_PAIRS:
        draws = DRAWS_OF_MANY_QUERIES
    return SignVectors.choose(num_queries, draws, rng)


def tests_of(
    measures: Sequence[MeasureScores], pairs: Pairs, settings: ComparisonSettings
) -> list[Tests]:
    """Return the tests of all pairs on every measure, from one pass over the sign vectors.

    Args:
        measures: the scores of all systems on each measure, without NaN. [M]
        pairs: the systems to compare.
        settings: test, correction, interval, levels, margin and seed.
    """
    is_family = len(pairs.listed) > 1 and settings.correction == "max-t"
    largest: Largest = "family" if is_family else "none"
    num_queries = max(scores.scores.shape[1] for scores in measures)
    signs = sign_vectors_for(num_queries, pairs, draws=settings.draws, rng=settings.rng)
    # The extreme draws of all measures of a group are in memory at the same time.
    kept = rank_at(settings.alpha, signs.draws, exact=False) * len(pairs.listed)
    group_size = max(1, _KEPT_DRAWS // max(kept, 1))
    families = [
        flipped
        for begin in range(0, len(measures), group_size)
        for flipped in randomise(
            [pairs.family(scores) for scores in measures[begin : begin + group_size]],
            signs,
            level=settings.alpha,
            largest=largest,
        )
    ]
    tests = []
    for scores, flipped in zip(measures, families, strict=True):
        if settings.test == "sign_flip":
            p, notes = flipped.p(), [""] * len(pairs.listed)
        else:
            p, notes = uncorrected_tests(scores, pairs, settings)
        crossed = crossed_tests_of(scores, pairs, settings)
        tests.append(Tests(scores, pairs, settings, signs.draws, flipped, p, notes, crossed))
    return tests


def uncorrected_tests(
    scores: MeasureScores, pairs: Pairs, settings: ComparisonSettings
) -> tuple[Floats, list[str]]:
    """Return the p of all pairs by a test other than sign flips, f8[D], and the notes. [D]."""
    units = scores.units
    rows = pairs.differences(units.rows)
    if units.weights is not None:
        deviations = unit_deviations(rows, units.weights)
        return t_p_values(row_means(rows), deviations, rows.shape[1]), [""] * len(rows)
    method = PAIRED_TESTS[settings.test]
    results = [method.test_differences(row, draws=settings.draws, rng=settings.rng) for row in rows]
    return np.array([result.p for result in results]), [result.note for result in results]


def unit_deviations(rows: Floats, weights: Floats | None) -> Floats:
    """Return the standard deviations of rows by query or by cluster: f8[D, U] -> f8[D].

    Args:
        rows: scores or differences by unit, as in ``alignment.Units``.
        weights: the weights of clusters, f8[U]; None for queries.
    """
    return np.asarray(residuals(rows, weights).std(axis=1, ddof=1))


def crossed_tests_of(
    scores: MeasureScores, pairs: Pairs, settings: ComparisonSettings
) -> CrossedTests | None:
    """Return the tests over queries and repeats, or None if repeats are averaged."""
    if not settings.has_random_repeats:
        return None
    return crossed_tests(
        [scores.units_of(repeats).rows for repeats in scores.repeats],
        pairs.listed,
        paired=settings.repeats == "paired",
        deterministic=[
            index for index, system in enumerate(scores.systems) if system in settings.deterministic
        ],
        weights=scores.units.weights,
    )


def differences_of(
    measures: Sequence[MeasureScores], pairs: Pairs, settings: ComparisonSettings
) -> list[Difference]:
    """Return the differences with their verdicts, measure by measure, in the order of the pairs.

    Args:
        measures: the scores of all systems on each measure, without NaN. [M]
        pairs: the systems to compare.
        settings: test, correction, interval, levels, margin and seed.
    """
    return [
        difference
        for tests in tests_of(measures, pairs, settings)
        for difference in with_verdicts(
            tests,
            tests.corrected(),
            correct(equality_p_of(tests), "holm"),
            num_comparisons=len(tests.p),
        )
    ]


def equality_p_of(tests: Tests) -> Floats:
    """Return the p of equality within the margin of every pair, uncorrected, f8[D]."""
    if not tests.can_decide:
        return np.ones(len(tests.p))
    units, margin = tests.scores.units, tests.settings.margin
    p = margin_tests(
        tests.pairs.differences(units.rows),
        delta=margin,
        score_range=tests.scores.scale.range,
        weights=units.weights,
    ).p_equal
    return p if tests.crossed is None else np.maximum(p, tests.crossed.p_equal(margin))


def with_verdicts(
    tests: Tests,
    corrected: CorrectedTests,
    p_equal: Floats,
    *,
    num_comparisons: int,
    alternative: str = "two-sided",
) -> list[Difference]:
    """Return the differences of one measure with all their evidence, in the order of the pairs.

    Args:
        tests: the tests of the pairs.
        corrected: the corrected tests and their intervals.
        p_equal: the corrected p of equality within the margin, f8[D].
        num_comparisons: over how many comparisons these are corrected.
        alternative: "two-sided"; or "less" or "greater" if the power is that of one side alone, at
            half the level. It is then stated unless the system is worse.

    Raises:
        SettingError: the margin is half of the range of the measure or more, or the draws are too
            few for any p to reach the level.
    """
    settings, scores, flipped = tests.settings, tests.scores, tests.flipped
    check_margin(settings.margin, scores.scale.range)
    if settings.test == "sign_flip":
        is_divided = settings.correction in ("holm", "bonferroni")
        check_draws_suffice(tests.draws, settings.alpha / (num_comparisons if is_divided else 1))
    low, high, confidence = _shown_intervals(tests, corrected)
    score_range, units = scores.scale.range, scores.units
    margin_limit = None
    if score_range is not None:
        margin_limit = smallest_margin(
            flipped.num_queries,
            # No p is below alpha after the correction if the smallest is above this.
            alpha=settings.alpha / num_comparisons,
            score_range=score_range,
            weights=units.weights,
        )
    residual_spread = Spread.from_scores(scores.scores)
    p_queries = None
    if tests.crossed is not None and tests.can_decide:
        p_queries = correct(tests.p_over_queries, tests.correction_of_p)
        p_queries[np.isinf(tests.crossed.degrees_of_freedom)] = math.nan
    p_t = None
    if scores.clusters is not None:
        p_t = t_p_values(flipped.means, tests.deviations, flipped.num_queries)
    means = row_means(scores.scores).tolist()
    differences = []
    for index, pair in enumerate(tests.pairs.listed):
        row = scores.scores[pair.system] - scores.scores[pair.against]
        unit_row = units.rows[pair.system] - units.rows[pair.against]
        mean = float(flipped.means[index])
        ends = float(low[index]), float(high[index])
        gains = scores.scale.gains(row)
        is_flipped = settings.test == "sign_flip"
        few_differ = np.count_nonzero(unit_row) < FEWEST_DIFFERING
        is_significant = bool(corrected.is_significant[index])
        gain, equality = float(scores.scale.gains(mean)), float(p_equal[index])
        verdict = verdict_of(gain, ends, equality, settings, is_shown=is_significant)
        if not np.count_nonzero(row) and not any(
            np.ptp(scores.repeats[system], axis=0).any() for system in pair
        ):
            verdict = "identical"
        differences.append(
            Difference(
                measure=scores.measure,
                system=scores.systems[pair.system],
                against=scores.systems[pair.against],
                difference=mean,
                mean=means[pair.system],
                mean_against=means[pair.against],
                low=ends[0],
                high=ends[1],
                confidence=float(confidence[index]),
                **_effect_fields(
                    "effect", mean, ends, Spread.from_differences(row), settings.alpha
                ),
                **_effect_fields("residual_effect", mean, ends, residual_spread, settings.alpha),
                p=float(tests.p[index]),
                p_t=two_sided_t_p(unit_row) if p_t is None else float(p_t[index]),
                p_corrected=float(corrected.p_corrected[index]),
                p_equal=float(p_equal[index]),
                smallest_margin=margin_limit,
                wins=int((gains > 0).sum()),
                ties=int((gains == 0).sum()),
                losses=int((gains < 0).sum()),
                num_queries=len(row),
                **_power_fields(
                    tests,
                    index,
                    unit_row,
                    float(corrected.own_levels[index]),
                    num_comparisons,
                    alternative=alternative,
                    is_detected=is_significant
                    if alternative == "two-sided"
                    else verdict == "worse",
                ),
                **(bound_fields(tests, ends, unit_row, num_comparisons) if few_differ else {}),
                **_repeat_fields(
                    tests,
                    index,
                    float(corrected.own_levels[index]),
                    is_significant=is_significant,
                ),
                num_clusters=scores.num_clusters,
                p_queries=None
                if p_queries is None or math.isnan(p_queries[index])
                else float(p_queries[index]),
                draws=int(flipped.num_distinct[index]) if is_flipped else 0,
                exact=is_flipped and bool(flipped.exact[index]),
                verdict=verdict,
                note=tests.notes[index]
                if tests.can_decide
                else f"no verdict: {too_few_clusters(scores)}",
                higher_is_better=scores.scale.higher_is_better,
            )
        )
    return differences


def _shown_intervals(tests: Tests, corrected: CorrectedTests) -> tuple[Floats, Floats, Floats]:
    """Return low and high ends of the intervals that are shown, and their confidence, f8[D] each.

    These are the intervals of the test, or those that the settings ask for: they belong to no test,
    and they are not corrected.
    """
    settings = tests.settings
    alone = np.full(len(tests.p), settings.alpha)
    if not tests.can_decide:
        return *tests.intervals(alone), 1 - alone
    if settings.interval == "t":
        return *tests.t_intervals(alone), 1 - alone
    return corrected.low, corrected.high, 1 - corrected.levels


def too_few_clusters(scores: MeasureScores) -> str:
    """Return that there are too few clusters for any verdict; "" if there are not."""
    number = scores.num_clusters
    if number is None or number >= FEWEST_CLUSTERS:
        return ""
    return f"fewer than {FEWEST_CLUSTERS} clusters ({number}) decide nothing"


def bound_fields(
    tests: Tests, ends: tuple[float, float], differences: Floats, num_comparisons: int
) -> dict[str, Any]:
    """Return the loss and the gain that are not excluded; none for a measure without bounds.

    Args:
        tests: the tests of the pairs.
        ends: the ends of the interval of this pair, which may reach further than the bounds.
        differences: its differences by unit, f8[U].
        num_comparisons: the number of comparisons that are corrected together.
    """
    score_range = tests.scores.scale.range
    if score_range is None:
        return {}
    is_corrected = tests.settings.correction != "none"
    alpha = tests.settings.alpha / 2 / (num_comparisons if is_corrected else 1)  # of each side
    low, high = (
        sign
        * lower_bound(
            sign * differences,
            alpha=alpha,
            score_range=score_range,
            weights=tests.scores.units.weights,
        )
        for sign in (1, -1)
    )
    # An interval that is unbounded says nothing; one that reaches further is not contradicted.
    low = low if math.isinf(ends[0]) else min(low, ends[0])
    high = high if math.isinf(ends[1]) else max(high, ends[1])
    below, above = (min(max(0.0, size), score_range) for size in (-low, high))
    if not tests.scores.scale.higher_is_better:
        below, above = above, below
    return {"loss_not_excluded": below, "gain_not_excluded": above}


def _power_fields(  # noqa: PLR0913 - the facts on one pair
    tests: Tests,
    index: int,
    differences: Floats,
    level: float,
    num_comparisons: int,
    *,
    alternative: str,
    is_detected: bool,
) -> dict[str, Any]:
    """Return the fields on power of a difference; None for what is not known, or was detected.

    Args:
        tests: the tests of the pairs.
        index: which of them.
        differences: its differences by unit, f8[U].
        level: the level at which the difference was tested.
        num_comparisons: the number of comparisons that are corrected together.
        alternative: as for ``with_verdicts``.
        is_detected: whether the difference was detected: then power says nothing more.
    """
    sizes = ("detectable", "detectable_low", "detectable_high")
    names = (*sizes, "queries_low", "queries_high")

    def unknown(note: str) -> dict[str, Any]:
        return {**dict.fromkeys(names), "power_note": note}

    if is_detected or not tests.can_decide:
        return unknown("" if is_detected else "power is not known")
    if tests.pairs.are_many:
        return unknown(f"power is estimated for at most {MOST_PAIRS} pairs: name a baseline")
    margin, score_range = tests.settings.margin, tests.scores.scale.range
    try:
        power = estimate_power_of_scores(
            differences,
            score_range,
            delta=margin,
            alpha=level if alternative == "two-sided" else level / 2,
            power=POWER,
            alternative=alternative,
        )
    except MissingExtraError as error:  # the verdict needs no scipy
        install = f"pip install 'beir-eval[{error.extra}]'"
        return unknown(f"power is not known without {error.package} ({install})")
    fields = {name: getattr(power, name) for name in names}
    fields["power_note"] = _power_note(tests, power, num_comparisons)
    if tests.crossed is not None and power.detectable is not None:
        crossed = crossed_power(
            tests.crossed, index, differences, delta=margin, alpha=level, power=POWER
        )
        fields = {**asdict(crossed), "power_note": ""}
    if fields["detectable"] is None:
        return fields
    possible = possible_sizes([fields[name] for name in sizes], score_range)
    if possible is None:
        return unknown(NONE_POSSIBLE)
    return fields | dict(zip(sizes, possible, strict=True))


def possible_sizes(sizes: Sequence[float], score_range: float | None) -> list[float] | None:
    """Return sizes of differences, none larger than any difference of the measure can be.

    Args:
        sizes: the detectable difference, and the low and the high end of its range.
        score_range: the largest difference there can be; None if there is none.

    Returns:
        The sizes; None if all are too large.
    """
    if score_range is None:
        return list(sizes)
    return None if min(sizes) >= score_range else [min(size, score_range) for size in sizes]


def _power_note(tests: Tests, power: PowerEstimate, num_comparisons: int) -> str:
    """Return why power is not known, without the level of the correction; mostly "".

    Args:
        tests: the tests of the pairs.
        power: the estimate, at the level at which the pair was tested.
        num_comparisons: the number of comparisons that are corrected together.
    """
    note, settings = power.note, tests.settings
    is_two_sided = power.alternative == "two-sided"
    if is_two_sided and power.num_differing and not power.could_be_significant:
        differ = "query differs" if power.num_differing == 1 else "queries differ"
        note = f"{power.num_differing} {differ}: too few "
        if settings.test == "t":  # whose p has no such limit
            note += "to estimate power"
        elif power.smallest_p > settings.alpha:
            note += f"for significance at {settings.alpha:g}"
        else:
            note += f"for significance after correction for {num_comparisons} comparisons"
    if tests.scores.clusters is None:
        return note
    return note.replace("queries", "clusters").replace("query", "cluster")


def _repeat_fields(
    tests: Tests, index: int, level: float, *, is_significant: bool
) -> dict[str, Any]:
    """Return the fields on the noise of repeats of a difference.

    Args:
        tests: the tests of the pairs.
        index: which of them.
        level: the level at which the difference was tested.
        is_significant: whether it was detected: else no noise can undo it.
    """
    crossed = tests.crossed
    if crossed is not None:
        freedom = float(crossed.degrees_of_freedom[index])
        if math.isinf(freedom):
            return {}
        return {
            "repeat_deviation": float(crossed.deviations[index]),
            "repeat_variance": float(crossed.repeat_variances[index]),
            "repeat_freedom": freedom,
        }
    share = sum(
        1 / len(tests.scores.repeats[system])
        for system in tests.pairs.listed[index]
        if tests.scores.systems[system] not in tests.settings.deterministic
    )
    if not is_significant or not share:
        return {}
    noise = noise_that_undoes(
        float(tests.flipped.means[index]),
        float(tests.deviations[index]) ** 2 / tests.flipped.num_queries,
        tests.flipped.num_queries,
        share,
        level=level,
    )
    return {"noise_to_undo": noise}


def _effect_fields(
    name: str, mean: float, ends: tuple[float, float], spread: Spread, level: float
) -> dict[str, Any]:
    """Return the fields of an effect size and its interval; infinite values are None."""
    effect = effect_of(mean, *ends, spread, level)
    if not math.isfinite(effect.size):
        return dict.fromkeys((name, f"{name}_low", f"{name}_high"))
    return {
        name: effect.size,
        f"{name}_low": effect.low if math.isfinite(effect.low) else None,
        f"{name}_high": effect.high if math.isfinite(effect.high) else None,
    }


def verdict_of(
    gain: float,
    interval: tuple[float, float],
    p_equal: float,
    settings: ComparisonSettings,
    *,
    is_shown: bool,
) -> Verdict:
    """Return the verdict.

    Args:
        gain: the mean difference, above 0 if the system is better.
        interval: its interval, as it is shown.
        p_equal: the corrected p of equality within the margin.
        settings: those of the comparison.
        is_shown: whether the difference is significant at their level.
    """
    if is_shown and gain:
        return "better" if gain > 0 else "worse"
    is_inside = max(map(abs, interval)) < settings.margin
    return "equivalent" if p_equal <= settings.alpha and is_inside else "undecided"


def direction_of(difference: float, p_corrected: float, alpha: float) -> Direction:
    """Return "better" or "worse" if the difference is significant, otherwise "undecided"."""
    if is_at_most(np.array(p_corrected), alpha) and difference:
        return "better" if difference > 0 else "worse"
    return "undecided"


def means_of(scores: MeasureScores, settings: ComparisonSettings) -> list[SystemMean]:
    """Return mean, interval and spread of every system.

    Args:
        scores: the scores of all systems, without NaN.
        settings: the t intervals have confidence 1 − alpha.
    """
    query_means = np.stack([repeats.mean(axis=0) for repeats in scores.repeats])
    means = row_means(query_means)
    units = scores.units_of(query_means)
    deviations = unit_deviations(units.rows, units.weights)
    levels = np.full(len(means), settings.alpha)
    low, high = t_intervals(means, deviations, units.rows.shape[1], levels)
    system_means = []
    for index, (system, repeats) in enumerate(zip(scores.systems, scores.repeats, strict=True)):
        repeat_means = repeats.mean(axis=1)
        is_single = len(repeat_means) == 1
        mean = float(means[index])
        system_means.append(
            SystemMean(
                measure=scores.measure,
                system=system,
                mean=mean,
                low=float(low[index]),
                high=float(high[index]),
                repeats=len(repeat_means),
                spread=None if is_single else float(repeat_means.std(ddof=1)),
                lowest=mean if is_single else float(repeat_means.min()),
                highest=mean if is_single else float(repeat_means.max()),
            )
        )
    return system_means
