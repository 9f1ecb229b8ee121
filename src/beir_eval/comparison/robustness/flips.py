"""The answer to "could unjudged documents change this verdict?" for every pair on one measure.

``flips_of`` combines ``certificates`` (could not) with a search for completions of the judgements
that change verdicts (could). What neither decides is not known.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.comparison.alignment import ROUNDING_TOLERANCE, without_rounding_noise
from beir_eval.comparison.differences import (
    Tests,
    equality_p_of,
    uncorrected_tests,
    verdict_of,
)
from beir_eval.comparison.robustness.certificates import (
    EqualityTest,
    tests_at_ends,
    unchangeable,
)
from beir_eval.comparison.robustness.ranges import Ranges
from beir_eval.significance import correct
from beir_eval.significance.multiple_comparisons import max_t_p
from beir_eval.significance.randomisation import randomise
from beir_eval.significance.validation import is_at_most

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.comparison.alignment import MeasureScores
    from beir_eval.comparison.differences import Pairs
    from beir_eval.comparison.records import ComparisonSettings, VerdictFlip
    from beir_eval.comparison.robustness.bounds import MeasureBounds, PairBounds
    from beir_eval.core.arrays import Floats, Ints, Mask
    from beir_eval.significance.randomisation import FlippedFamily, Largest
    from beir_eval.significance.sign_vectors import SignVectors

#: All completions are tried if there are at most so many, times pairs.
_FEW_COMPLETIONS = 512
#: Random completions that are tried, and the sign vectors with which they are first tested.
_RANDOM_COMPLETIONS, _FIRST_DRAWS = 200, 2_000
#: Random completions are fewer if scores × sign vectors, or holes × systems, would exceed this.
_WORK = 2_000_000_000
_HOLE_WORK = 20_000_000
#: Verdicts are confirmed with all sign vectors in parts of so many comparisons.
_CONFIRMED_TOGETHER = 1_000


@dataclass(frozen=True, eq=False)
class ObservedFamily:
    """The comparisons of one measure, as observed.

    Attributes:
        scores: the scores of all systems on the queries compared.
        pairs: the systems that are compared. [D]
        verdicts: the observed verdict of each pair. [D]
        is_compared: the queries compared, among those of the bounds, bool[Q].
        settings: the test, the correction, the level and the margin.
        signs: the random sign vectors of the test.
    """

    scores: MeasureScores
    pairs: Pairs
    verdicts: Sequence[str]
    is_compared: Mask
    settings: ComparisonSettings
    signs: SignVectors

    def under(self, scores: Floats) -> MeasureScores:
        """Return the observed scores with others in their place, f8[S, Q]."""
        return self.scores._replace(scores=without_rounding_noise(scores[:, self.is_compared]))

    def ranges(self, bounds: Sequence[PairBounds]) -> Ranges:
        """Return the differences that all D pairs can have."""
        low, high = (
            np.stack([getattr(pair, end)[self.is_compared] for pair in bounds])
            for end in ("low", "high")
        )
        ends = [np.where(np.abs(end) <= ROUNDING_TOLERANCE, 0.0, end) for end in (low, high)]
        return Ranges(ends[0], np.maximum(*ends), self.scores.keys)


def flips_of(
    observed: ObservedFamily,
    measure_bounds: MeasureBounds,
    bounds: Sequence[PairBounds],
    *,
    is_complete: bool,
) -> list[VerdictFlip]:
    """Return for each pair whether unjudged documents could change its verdict. [D].

    Args:
        observed: the comparisons as observed.
        measure_bounds: the scores under every completion.
        bounds: how far the completions can move each pair. [D]
        is_complete: whether the bounds cover all unjudged documents that count for the measure.
    """
    if not observed.settings.has_flips_tested:
        return ["not known"] * len(bounds)
    search = _Search(observed, measure_bounds, bounds)
    if search.has_few_completions:
        could = search.flipped_by_any()
        return [_answer(could=flip, could_not=is_complete) for flip in could.tolist()]
    ranges = observed.ranges(bounds)
    could_not = np.zeros(len(bounds), dtype=np.bool_)
    could = np.zeros(len(bounds), dtype=np.bool_)
    # The ranges are of queries; no certificate is known for clusters.
    if observed.settings.test == "sign_flip" and observed.scores.clusters is None:
        ends = tests_at_ends(ranges, observed.signs)
        if is_complete and all(pair.exact for pair in bounds):
            could_not = unchangeable(
                observed.verdicts,
                ranges,
                ends,
                observed.settings,
                observed.signs,
                EqualityTest(observed.settings.margin, observed.scores.scale.range),
            )
        could = _lost_at_ends(observed, ranges, ends.p_low, ends.p_high)
    could[search.flipped(np.flatnonzero(~(could | could_not)))] = True
    return [
        _answer(could=flip, could_not=certain)
        for flip, certain in zip(could.tolist(), could_not.tolist(), strict=True)
    ]


def _answer(*, could: bool, could_not: bool) -> VerdictFlip:
    if could:
        return "could"
    return "could not" if could_not else "not known"


def _lost_at_ends(observed: ObservedFamily, ranges: Ranges, p_low: Floats, p_high: Floats) -> Mask:
    """Return which verdicts change at an end of their pair's own range, whatever the others do.

    "better" and "worse" are lost if the mean changes its sign or the uncorrected p, which no
    correction lowers, is above the level; "equal" if the mean is beyond the margin.
    """
    verdicts, alpha = np.array(observed.verdicts), observed.settings.alpha
    margin = observed.settings.margin
    means = ranges.low.mean(axis=1), ranges.high.mean(axis=1)
    return np.asarray(
        np.select(
            [verdicts == "better", verdicts == "worse", verdicts == "equal"],
            [
                (means[0] <= 0) | ~is_at_most(p_low, alpha),
                (means[1] >= 0) | ~is_at_most(p_high, alpha),
                (means[0] < -margin) | (means[1] > margin),
            ],
            default=False,
        ).astype(np.bool_)
    )


class _Search:
    """A search for completions that change verdicts.

    Tried are the extremes of each pair, and random completions: of all holes, and mixtures of
    extremes. They are tested with few sign vectors; what then changes a verdict is tested with all.
    """

    def __init__(
        self,
        observed: ObservedFamily,
        measure_bounds: MeasureBounds,
        bounds: Sequence[PairBounds],
    ) -> None:
        self._observed, self._measure_bounds, self._bounds = observed, measure_bounds, bounds

    @property
    def has_few_completions(self) -> bool:
        """Whether there are so few completions that all of them can be tried."""
        num_holes, num_pairs = len(self._measure_bounds.holes), len(self._bounds)
        return 1 << min(num_holes, 60) <= _FEW_COMPLETIONS // num_pairs or not num_holes

    def flipped_by_any(self) -> Mask:
        """Return which verdicts another completion changes, bool[D], from all of them."""
        num_holes = len(self._measure_bounds.holes)
        codes = np.arange(1, 1 << num_holes)[:, None]
        completions = (codes >> np.arange(num_holes)) % 2 == 1
        return np.asarray(self._verdict_changes(list(completions)).any(axis=0))

    def flipped(self, pairs: Ints) -> Ints:
        """Return which of some pairs, i8[P], have another verdict under a completion, i8[<=P]."""
        flipped: Ints = np.zeros(0, dtype=np.int64)
        if not len(pairs):
            return flipped
        completions = [*self._extremes(pairs), *self._random(pairs)]
        first = self._verdict_changes(completions, is_first=True)
        remaining = pairs
        for _ in range(2):
            chosen = list(_covering(first, remaining))
            if not chosen:
                break
            confirmed = self._verdict_changes([completions[index] for index in chosen])
            flipped = np.concatenate([flipped, remaining[confirmed[:, remaining].any(axis=0)]])
            remaining = np.setdiff1d(remaining, flipped)
            first[chosen] = False
        return flipped

    def _extremes(self, pairs: Ints) -> Iterator[Mask]:
        for pair in pairs.tolist():
            yield self._bounds[pair].lowest
            yield self._bounds[pair].highest

    def _random(self, pairs: Ints) -> Iterator[Mask]:
        """Yield random completions, alternately of all holes and between a pair's extremes."""
        observed, holes = self._observed, self._measure_bounds.holes
        size = max(observed.scores.scores.size * self._first_signs().draws, 1)
        per_completion = max(
            (len(holes) + observed.scores.scores.shape[1]) * len(observed.pairs.listed), 1
        )
        count = min(_RANDOM_COMPLETIONS, _WORK // size, _HOLE_WORK // per_completion)
        rng = np.random.default_rng(observed.settings.rng)
        for number in range(count):
            share = rng.random()
            if number % 2:
                yield rng.random(len(holes)) < share
                continue
            pair = self._bounds[int(rng.choice(pairs))]
            ends = [pair.lowest, pair.highest, np.zeros_like(pair.lowest)]
            first, second = (ends[index] for index in rng.choice(3, size=2, replace=False))
            is_first = rng.random(len(holes.starts) - 1) < share
            yield np.where(is_first[holes.query], first, second)

    def _first_signs(self) -> SignVectors:
        signs = self._observed.signs
        return replace(signs, draws=min(signs.draws, _FIRST_DRAWS))

    def _verdict_changes(self, completions: Sequence[Mask], *, is_first: bool = False) -> Mask:
        """Return which verdicts change under each of C completions, bool[C, D].

        Args:
            completions: which holes are relevant. [C]
            is_first: whether this is a first look, with few sign vectors.
        """
        observed = self._observed
        signs = self._first_signs() if is_first else observed.signs
        size = max(_CONFIRMED_TOGETHER // len(observed.pairs.listed), 1)
        changes = np.zeros((len(completions), len(observed.pairs.listed)), dtype=np.bool_)
        for begin in range(0, len(completions), size):
            scores = [
                observed.under(self._measure_bounds.scores(completion))
                for completion in completions[begin : begin + size]
            ]
            verdicts = verdicts_of(
                scores, observed.pairs, observed.settings, signs, is_first=is_first
            )
            changes[begin : begin + size] = np.array(verdicts) != np.array(observed.verdicts)
        return changes


def _covering(changes: Mask, pairs: Ints) -> Iterator[int]:
    """Yield completions until each pair that one of them changes is changed by one yielded.

    Args:
        changes: which verdicts change under each completion, bool[C, D].
        pairs: the pairs that matter, i8[P].
    """
    open_changes = changes[:, pairs].copy()
    while open_changes.any():
        best = int(open_changes.sum(axis=1).argmax())
        yield best
        open_changes[:, open_changes[best]] = False


def verdicts_of(
    all_scores: Sequence[MeasureScores],
    pairs: Pairs,
    settings: ComparisonSettings,
    signs: SignVectors,
    *,
    is_first: bool = False,
) -> list[list[str]]:
    """Return the verdicts of all pairs, [D], for several sets of scores, from one pass. [C].

    They are those of ``differences.differences_of`` for the same sign vectors; the intervals, which
    it computes too, are left out.

    Args:
        all_scores: C sets of scores of all systems, without NaN.
        pairs: the systems that are compared.
        settings: the test, the correction, the level and the margin.
        signs: the random sign vectors.
        is_first: whether this is a first look, with a faster test of equality that says "equal"
            more often.
    """
    is_family = len(pairs.listed) > 1
    correction = settings.correction if is_family else "none"
    if correction == "tukey":
        return [_tukey_verdicts(scores, pairs, settings, signs) for scores in all_scores]
    largest: Largest = {"max-t": "family", "max-t-step-down": "step-down"}.get(correction, "none")  # type: ignore[assignment]
    flipped_families = randomise(
        [pairs.family(scores) for scores in all_scores], signs, largest=largest
    )
    verdicts = []
    for scores, flipped in zip(all_scores, flipped_families, strict=True):
        p = _uncorrected_p(scores, pairs, settings, flipped)
        if largest == "none":
            p_corrected = correct(p, correction)
        else:
            p_corrected = max_t_p(flipped, step_down=largest == "step-down")
        tests = Tests(scores, pairs, settings, flipped, p, [])
        is_significant = is_at_most(p_corrected, settings.alpha) & tests.can_decide
        verdicts.append(_verdicts(tests, is_significant, is_first=is_first))
    return verdicts


def _uncorrected_p(
    scores: MeasureScores, pairs: Pairs, settings: ComparisonSettings, flipped: FlippedFamily
) -> Floats:
    if settings.test == "sign_flip":
        return flipped.p()
    with warnings.catch_warnings():
        # The comparison itself has shown what scipy warns of, such as few queries.
        warnings.simplefilter("ignore", UserWarning)
        p, _ = uncorrected_tests(scores, pairs, settings)
    return p


def _tukey_verdicts(
    scores: MeasureScores, pairs: Pairs, settings: ComparisonSettings, signs: SignVectors
) -> list[str]:
    [flipped] = randomise([pairs.family(scores)], signs, level=settings.alpha)
    tests = Tests(scores, pairs, settings, flipped, flipped.p(), [])
    return _verdicts(tests, tests.corrected().is_significant & tests.can_decide)


def _verdicts(tests: Tests, is_significant: Mask, *, is_first: bool = False) -> list[str]:
    """Return the verdicts; a first look takes the p of equality of the t tests alone."""
    settings, means = tests.settings, tests.flipped.means
    gains = tests.scores.scale.gains(means)
    p_equal = np.ones(len(means))
    equality = EqualityTest(settings.margin, tests.scores.scale.range)
    if tests.scores.clusters is not None:
        p_equal = correct(equality_p_of(tests), "holm")
    elif equality.can_be_shown(tests.flipped.num_queries, settings.alpha):
        rows = tests.pairs.differences(tests.scores.scores)
        # The test of equality never has a lower p than the t tests, which are fast.
        p_equal = correct(equality.lowest_p_of_t(rows, rows), "holm")
        if not is_first and (is_at_most(p_equal, settings.alpha) & ~is_significant).any():
            p_equal = correct(equality_p_of(tests), "holm")
    return [
        verdict_of(gain, p, settings.alpha, is_significant=significant)
        for gain, p, significant in zip(
            gains.tolist(), p_equal.tolist(), is_significant.tolist(), strict=True
        )
    ]
