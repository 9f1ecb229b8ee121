"""``judge_until``: two fixed systems, whose queries are judged one by one until it is decided."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import BaseModel

from beir_eval.comparison.verdict_sentences import percent_text, signed_text
from beir_eval.core.arrays import exact_sum
from beir_eval.core.ids import checked_ids, repeated_ids
from beir_eval.core.saved import FROZEN
from beir_eval.errors import InputError, JudgingError, SettingError, first_few, shown
from beir_eval.significance.bounded_mean import Wealth, lower_confidence_bound
from beir_eval.significance.validation import (
    check_positive,
    check_seed,
    check_share,
    generator,
    is_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from beir_eval.comparison.records import Verdict


class SequentialComparison(BaseModel):
    """What queries that were judged one after the other show about two systems.

    Attributes:
        verdict: "better", "worse", "equal" (within the margin), or "undecided" if the queries ended
            first.
        judged: {query_id: difference}, in the order in which the queries were judged.
        num_queries: the number of queries there are, judged or not.
        difference: the mean difference over the queries judged, system − baseline.
        low, high: the confidence sequence at the end: it contains the true mean difference after
            every query with a probability of at least 1 − alpha. It lies above 0 (or has its end
            there) if the verdict is "better", below 0 if it is "worse", and within the margin if it
            is "equal".
        e_value: the evidence that the true difference is not 0: the wealth of fair bets that began
            with 1. If it is 0, the e-value exceeds 1/alpha at any time with a probability of at
            most alpha.
        margin: the smallest difference that matters, in the unit of the differences.
        alpha: the chance of a wrong verdict is at most this.
        score_range: no difference is larger than this.
        rng: the seed of the order.
    """

    model_config = FROZEN

    verdict: Literal["better", "worse", "equal", "undecided"]
    judged: dict[str, float]
    num_queries: int
    difference: float
    low: float
    high: float
    e_value: float
    margin: float
    alpha: float
    score_range: float
    rng: int

    def __str__(self) -> str:
        """Return the verdict with its evidence in a sentence."""
        verdict = f"equal within {self.margin:g}" if self.verdict == "equal" else self.verdict
        interval = f"{signed_text(self.low)} to {signed_text(self.high)}"
        return (
            f"{verdict} after {len(self.judged):,} of {self.num_queries:,} queries: mean "
            f"difference {signed_text(self.difference)} "
            f"({percent_text(1 - self.alpha)} confidence sequence: {interval}), "
            f"e-value {self.e_value:.3g}"
        )


def judge_until(  # noqa: PLR0913 - one keyword a setting
    query_ids: Iterable[str],
    difference: Callable[[str], float],
    *,
    margin: float = 0.01,
    alpha: float = 0.05,
    score_range: float = 1.0,
    rng: int = 0,
    judged: Mapping[str, float] | None = None,
) -> SequentialComparison:
    """Judge two fixed systems query by query, in random order, until it is decided which is better.

    For queries that are expensive to run or to judge. The evidence is valid after every query, so
    stopping as soon as it suffices needs no correction. The two systems must not change meanwhile:
    for the checkpoints of a training run use ``Ledger``.

    The verdict is about the population that the queries are a random sample of. "better": bets
    against "the true mean difference is 0 or below" have multiplied their stake by 2/alpha
    (``significance.bounded_mean.Wealth``). "worse": the same for the other side. "equal": such bets
    exclude both a difference of ``margin`` or more and one of −``margin`` or less. The probability
    of any wrong verdict is at most alpha. In simulations with differences of real runs it was 2.5%
    to 3.0% where nothing differs; a true difference of .05 at a standard deviation of .2 took a
    median of about 145 queries, while "equal" within .01 at a standard deviation of .05 took about
    690 (``benchmarks/betting.py``).

    Source: Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting, J.
    Royal Statistical Society B 86(1), 2024.

    Args:
        query_ids: the ids of all queries that could be judged, each once, in any order.
        difference: called with the id of a query; returns the score of the system minus that of the
            baseline, above 0 where the system is better, from −score_range to score_range.
        margin: the smallest difference that you consider meaningful, in the unit of the scores.
        alpha: the probability of a wrong verdict is at most this, between 0 and 1.
        score_range: the highest possible score minus the lowest, known before any query is judged.
        rng: the seed of the order, a whole number from 0. The order depends on it and on the set of
            query ids only.
        judged: {query_id: difference} of queries that an earlier call judged with the same query
            ids and seed; they are not judged again.

    Raises:
        JudgingError: ``difference`` raises an error, or returns no number within the range. Its
            attribute ``judged`` has the differences so far, to resume with. An interruption such as
            KeyboardInterrupt gets the same attribute.
        InputError: no query, a query id that is listed twice or is neither text nor an integer,
            or ``judged`` that does not fit.
        SettingError: an invalid margin, alpha, score_range, or seed.

    >>> gains = {f"q{number}": 0.4 if number % 5 else -0.2 for number in range(200)}
    >>> result = judge_until(gains, gains.get)
    >>> result.verdict, len(result.judged)
    ('better', 23)
    """
    _check_settings(margin, alpha, score_range, rng)
    order = _random_order(query_ids, rng)
    known = _check_judged(judged, set(order), score_range)
    bets = _Bets(margin, alpha, score_range)
    values: dict[str, float] = {}
    for query_id in order:
        if query_id in known:
            values[query_id] = known[query_id]
        else:
            values[query_id] = _judge(query_id, difference, score_range, known | values)
        bets.add(values[query_id])
        if bets.verdict != "undecided":
            break
    array = np.array(list(values.values()))
    low = lower_confidence_bound(array, lowest=-score_range, alpha=alpha / 2)
    high = -lower_confidence_bound(-array, lowest=-score_range, alpha=alpha / 2)
    # A bisection ends within rounding of the bound that the verdict has crossed.
    limits = {"better": (0.0, math.inf), "worse": (-math.inf, 0.0), "equal": (-margin, margin)}
    lowest, highest = limits.get(bets.verdict, (-math.inf, math.inf))
    return SequentialComparison(
        verdict=bets.verdict,
        judged=values,
        num_queries=len(order),
        difference=exact_sum(array) / len(array),
        low=max(low, lowest),
        high=min(high, highest),
        e_value=bets.e_value,
        margin=float(margin),
        alpha=float(alpha),
        score_range=float(score_range),
        rng=int(rng),
    )


class _Bets:
    """The bets that decide: each pair is against a mean at most, and at least, a reference.

    Args:
        margin: the smallest difference that matters.
        alpha: the level of all verdicts together.
        score_range: no difference is larger than this.
    """

    def __init__(self, margin: float, alpha: float, score_range: float) -> None:
        self._needed = math.log(2 / alpha)
        # Against "at least" with the signs of all values changed.
        self._bets = {
            "above 0": (1, Wealth(0.0, lowest=-score_range)),
            "below 0": (-1, Wealth(0.0, lowest=-score_range)),
            "above −margin": (1, Wealth(-margin, lowest=-score_range)),
            "below margin": (-1, Wealth(-margin, lowest=-score_range)),
        }
        self._shown: set[str] = set()

    def add(self, value: float) -> None:
        """Bet on the difference of one more query."""
        for claim, (sign, wealth) in self._bets.items():
            if wealth.add(sign * value) >= self._needed:
                self._shown.add(claim)

    @property
    def verdict(self) -> Verdict:
        """What is shown so far."""
        if "above 0" in self._shown:
            return "better"
        if "below 0" in self._shown:
            return "worse"
        return "equal" if {"above −margin", "below margin"} <= self._shown else "undecided"

    @property
    def e_value(self) -> float:
        """The mean wealth of the bets against 0 from both sides."""
        wealth = (self._bets[claim][1].log for claim in ("above 0", "below 0"))
        return sum(map(math.exp, wealth)) / 2


def _check_settings(margin: Any, alpha: Any, score_range: Any, rng: Any) -> None:
    """Raise SettingError for an invalid setting."""
    check_positive("margin", margin)
    check_share("alpha", alpha)
    check_positive("score_range", score_range)
    check_seed(rng)
    if margin >= score_range:
        msg = (
            f"margin={margin!r} must be smaller than score_range={score_range!r}: no difference is "
            "larger than the range of the scores"
        )
        raise SettingError(msg)


def _random_order(query_ids: Any, rng: int) -> list[str]:
    """Return the ids in random order, which depends on their set and the seed only.

    Raises:
        InputError: no query, or an id that is listed twice or is no id.
    """
    if isinstance(query_ids, (str, bytes)):
        msg = f"query_ids must be a list of ids, not {shown(query_ids)}"
        raise InputError(msg)
    ids = sorted(checked_ids(query_ids, "query_ids", InputError))
    if repeated := repeated_ids(ids):
        msg = f"query_ids: listed more than once: {first_few(repeated)}"
        raise InputError(msg)
    if not ids:
        raise InputError("query_ids are empty; pass the ids of the queries that can be judged")
    return [ids[index] for index in generator(rng).permutation(len(ids)).tolist()]


def _check_judged(judged: Any, query_ids: set[str], score_range: float) -> dict[str, float]:
    """Return the differences of an earlier call, checked.

    Raises:
        InputError: an id is unknown, or a value is no difference.
    """
    if judged is None:
        return {}
    values = dict(zip(checked_ids(judged, "judged", InputError), judged.values(), strict=True))
    if unknown := [query_id for query_id in values if query_id not in query_ids]:
        msg = (
            f"judged has queries that are not among query_ids: {first_few(unknown)}; pass the same "
            "query_ids as the call that judged them"
        )
        raise InputError(msg)
    for query_id, value in values.items():
        if problem := _problem_of(value, score_range):
            msg = f"judged: query {shown(query_id)}: {problem}"
            raise InputError(msg)
    return {query_id: float(value) for query_id, value in values.items()}


def _judge(
    query_id: str, difference: Callable[[str], float], score_range: float, judged: dict[str, float]
) -> float:
    """Return the difference of one query.

    Raises:
        JudgingError: it cannot be judged.
    """
    resume = (
        f"judged: {len(judged):,}, in the attribute judged of this error; pass it as judged=… to "
        "resume"
    )
    try:
        value = difference(query_id)
    except Exception as error:
        msg = f"query {shown(query_id)}: {type(error).__name__}: {error} ({resume})"
        raise JudgingError(msg, judged) from error
    except BaseException as error:
        error.judged = judged  # type: ignore[attr-defined]
        raise
    if problem := _problem_of(value, score_range):
        msg = f"query {shown(query_id)}: {problem} ({resume})"
        raise JudgingError(msg, judged)
    return float(value)


def _problem_of(value: Any, score_range: float) -> str:
    """Return what is wrong with a difference; "" if nothing is."""
    if is_number(value) and abs(value) <= score_range:
        return ""
    return (
        f"the difference must be a number from {-score_range:g} to {score_range:g}, not "
        f"{shown(value)}; score_range is the highest possible score minus the lowest"
    )
