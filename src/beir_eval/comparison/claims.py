"""``audit_claim``: what a published mean on so many queries supports."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel

from beir_eval.core.saved import FROZEN, Saved
from beir_eval.errors import InputError, MeasureError, SettingError
from beir_eval.measures import parse
from beir_eval.significance import bounded_mean_interval, proportion_interval, smallest_p
from beir_eval.significance.reported_means import p_range_of_counts
from beir_eval.significance.validation import check_share, is_whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.measures import Measure
    from beir_eval.measures.names import MeasureLike

#: Measures whose score is 0 or 1 for every query: with any cutoff, and with cutoff 1.
_ALWAYS_BINARY, _BINARY_AT_1 = ("Success",), ("MRR", "Precision", "R_cap")
_SMALL_P = 0.0001
_DECIMALS = re.compile(r"\d*\.(\d+)")


class ReportedMean(BaseModel):
    """A published mean, and what it supports.

    Attributes:
        text: the mean as it was published.
        lowest, highest: the means that are printed like this, by rounding.
        low, high: the confidence interval of the true mean.
        counts: for scores of 0 and 1, the smallest and largest number of queries that can score 1.
    """

    model_config = FROZEN

    text: str
    lowest: float
    highest: float
    low: float
    high: float
    counts: tuple[int, int] | None


class ClaimAudit(Saved):
    """What published means on so many queries support.

    Attributes:
        measure: the canonical name of the measure; "" if it is not given.
        num_queries: Q, the number of queries.
        binary: whether every score is 0 or 1.
        confidence: the level of the intervals, 1 − alpha.
        alpha: the level at which the difference is judged.
        value: the mean in question.
        baseline: the mean that it is compared with, if any.
        smallest_p: the smallest p that any scores of the queries with these means can have in the
            two-sided sign-flip test; None without a baseline.
        largest_p: the largest one; None without a baseline, or if it is not known.
        if_binary: the audit that would hold if every score were 0 or 1, where that is possible and
            not known; else None.
    """

    WHAT: ClassVar[str] = "audit"
    REMEDY: ClassVar[str] = "audit again"

    measure: str
    num_queries: int
    binary: bool
    confidence: float
    alpha: float
    value: ReportedMean
    baseline: ReportedMean | None
    smallest_p: float | None
    largest_p: float | None
    if_binary: ClaimAudit | None = None

    @property
    def could_be_significant(self) -> bool | None:
        """Whether the difference can have been significant; None without a baseline."""
        return None if self.smallest_p is None else self.smallest_p <= self.alpha

    def sentences(self) -> list[str]:
        """Return what the means support: the intervals, then the difference."""
        return list(self._sentences())

    def _sentences(self) -> Iterator[str]:
        label = self.measure or "mean"
        for mean, role in ((self.value, ""), (self.baseline, "baseline, ")):
            if mean is not None:
                yield (
                    f"{role}{label} {mean.text} on {self.num_queries:,} queries"
                    f"{_counts_text(mean, self.num_queries)}: {self._interval_text(mean)}"
                )
        if self.binary:
            yield "every score is 0 or 1: the intervals are exact (Clopper and Pearson)"
        else:
            yield (
                "the intervals hold for any scores from 0 to 1 with these means (Hoeffding); with "
                "the scores of the queries they are mostly narrower"
            )
        if self.baseline is not None:
            yield self._difference_sentence(self.baseline)
            yield "p is that of the two-sided sign-flip test; both means are of the same queries"
        if self.if_binary is not None:
            yield from self._binary_sentences(self.if_binary)

    def _interval_text(self, mean: ReportedMean) -> str:
        return f"the {self.confidence:.0%} interval of the true mean is {_range_text(mean)}"

    @staticmethod
    def _binary_sentences(audit: ClaimAudit) -> Iterator[str]:
        """Yield what holds if every score is 0 or 1."""
        sentence = (
            "if every score is 0 or 1, such as Recall with one relevant document per query, the "
            f"exact interval is {_range_text(audit.value)}"
        )
        if audit.baseline is None:
            yield sentence
        else:
            yield f"{sentence}, that of the baseline {_range_text(audit.baseline)}"
            yield f"then {audit._difference_sentence(audit.baseline)}"

    def _difference_sentence(self, baseline: ReportedMean) -> str:
        """Return whether the difference can have been significant."""
        lowest = self.value.lowest - baseline.highest
        highest = self.value.highest - baseline.lowest
        difference = f"the difference, {lowest:+.3f} to {highest:+.3f} before rounding,"
        if lowest == highest:
            difference = f"the difference of {lowest:+.3f}"
        smallest = _p_text(self.smallest_p or 0.0)
        if not self.could_be_significant:
            return (
                f"{difference} could not have been significant at {self.alpha:g}: the smallest p "
                f"that scores with these means can have is {smallest}"
            )
        if self.largest_p is not None and self.largest_p <= self.alpha:
            return (
                f"{difference} is significant at {self.alpha:g} whatever the scores of the queries "
                f"are: p is at most {_p_text(self.largest_p)}"
            )
        p_range = (
            f"can be as small as {smallest}"
            if self.largest_p is None
            else f"is from {smallest} to {_p_text(self.largest_p)}"
        )
        return (
            f"{difference} could have been significant at {self.alpha:g}: p {p_range}, depending "
            "on the scores of the queries. The means alone do not show whether it was"
        )


def audit_claim(  # noqa: PLR0913 - one keyword per setting
    num_queries: int,
    value: str | float,
    baseline: str | float | None = None,
    *,
    measure: MeasureLike | None = None,
    binary: bool | None = None,
    alpha: float = 0.05,
) -> ClaimAudit:
    """Return what a published mean supports: its interval, and whether a difference can be real.

    It needs no scores, only the numbers of a table. A printed mean stands for all means that are
    rounded to it: the interval and the p-values are the widest over these.

    Args:
        num_queries: the number of queries that the means are over, at least 1.
        value: the mean as printed, from 0 to 1, with its decimals: text such as "0.70", since the
            float 0.7 has one decimal only.
        baseline: the mean on the same queries that it is compared with, as printed; None to audit
            the interval only.
        measure: the measure, as ``Measure`` or name. Success@k, and MRR, Precision and R_cap at 1,
            are known to score 0 or 1.
        binary: whether every score is 0 or 1, such as those of Recall if every query has one
            relevant document. By default the measure decides; if it does not, the result also says
            what would hold then (``if_binary``).
        alpha: the level of the test; the interval has confidence 1 − alpha.

    Returns:
        For scores of 0 and 1 the exact interval (``significance.proportion_interval``), otherwise
        that for any scores from 0 to 1 (``significance.bounded_mean_interval``). The p-values are
        those of the two-sided sign-flip test. For scores of 0 and 1, p is smallest if as few
        queries as possible differ, k of them, all in one direction: 2^(1−k). For other scores it is
        smallest if all queries differ by the same: 2^(1−Q). The largest p is known for scores of
        0 and 1 only.

    Raises:
        InputError: a mean is not a decimal number from 0 to 1, or no number of queries with score 1
            gives it.
        MeasureError: the measure does not exist, or its scores are not from 0 to 1.
        SettingError: ``num_queries`` is not a whole number from 1, or alpha is not between 0 and 1.
        MissingExtraError: scipy is not installed.

    >>> audit = audit_claim(10, "1.00", "0.70", measure="Success@5")
    >>> round(audit.value.low, 3), audit.smallest_p, audit.could_be_significant
    (0.692, 0.25, False)
    """
    if not is_whole_number(num_queries, least=1):
        msg = f"num_queries must be a whole number from 1, not {num_queries!r}"
        raise SettingError(msg)
    check_share("alpha", alpha)
    parsed = None if measure is None else parse(measure)
    if parsed is not None and parsed.bounds != (0, 1):
        msg = (
            f"the scores of {parsed} are not from 0 to 1, so their mean alone supports no interval"
        )
        raise MeasureError(msg)
    is_binary = _is_binary(parsed) if binary is None else bool(binary)
    confidence = 1 - alpha
    reported = _reported_mean(value, num_queries, confidence, is_binary=is_binary)
    other = (
        None
        if baseline is None
        else _reported_mean(baseline, num_queries, confidence, is_binary=is_binary)
    )
    smallest, largest = (None, None) if other is None else _p_range(reported, other, num_queries)
    if_binary = None
    if binary is None and not is_binary:
        with suppress(InputError):  # scores of 0 and 1 cannot have these means
            if_binary = audit_claim(
                num_queries, value, baseline, measure=parsed, binary=True, alpha=alpha
            )
    return ClaimAudit(
        measure="" if parsed is None else str(parsed),
        num_queries=int(num_queries),
        binary=is_binary,
        confidence=confidence,
        alpha=float(alpha),
        value=reported,
        baseline=other,
        smallest_p=smallest,
        largest_p=largest,
        if_binary=if_binary,
    )


def _is_binary(measure: Measure | None) -> bool:
    """Return whether a measure is known to score 0 or 1."""
    if measure is None:
        return False
    at_1 = measure.cutoff == 1 and measure.name in _BINARY_AT_1
    return at_1 or measure.name in _ALWAYS_BINARY


def _reported_mean(
    value: str | float, num_queries: int, confidence: float, *, is_binary: bool
) -> ReportedMean:
    """Return a mean with the interval that it supports.

    Raises:
        InputError: it is not a decimal number from 0 to 1, or impossible for scores of 0 and 1.
    """
    text = str(value).strip()
    decimals = _DECIMALS.fullmatch(text)
    if decimals is None or float(text) > 1:
        msg = (
            f"a mean must be a decimal number from 0 to 1 as printed, such as 0.70, not {text!r}; "
            "divide percentages by 100"
        )
        raise InputError(msg)
    half_unit = 0.5 * 10.0 ** -len(decimals[1])
    lowest, highest = max(0.0, float(text) - half_unit), min(1.0, float(text) + half_unit)
    if not is_binary:
        low = bounded_mean_interval(lowest, num_queries, confidence=confidence)[0]
        high = bounded_mean_interval(highest, num_queries, confidence=confidence)[1]
        return ReportedMean(
            text=text, lowest=lowest, highest=highest, low=low, high=high, counts=None
        )
    fewest = math.ceil(round(lowest * num_queries, 9))
    most = math.floor(round(highest * num_queries, 9))
    if fewest > most:
        below, above = (f"{count / num_queries:.{len(decimals[1])}f}" for count in (most, fewest))
        msg = (
            f"{num_queries} scores of 0 and 1 cannot have the mean {text}; the nearest are {below} "
            f"and {above}. Check the number of queries, or whether every score is 0 or 1"
        )
        raise InputError(msg)
    return ReportedMean(
        text=text,
        lowest=fewest / num_queries,
        highest=most / num_queries,
        low=proportion_interval(fewest, num_queries, confidence=confidence)[0],
        high=proportion_interval(most, num_queries, confidence=confidence)[1],
        counts=(fewest, most),
    )


def _p_range(
    value: ReportedMean, baseline: ReportedMean, num_queries: int
) -> tuple[float, float | None]:
    """Return the smallest and the largest p of any scores with these means; None if not known."""
    if value.counts is not None and baseline.counts is not None:
        first, second = (
            range(mean.counts[0], mean.counts[1] + 1)
            for mean in (value, baseline)
            if mean.counts is not None
        )
        return p_range_of_counts(first, second, num_queries)
    means = (value.lowest, value.highest, baseline.lowest, baseline.highest)
    return (1.0 if len(set(means)) == 1 else smallest_p(num_queries)), None


def _counts_text(mean: ReportedMean, num_queries: int) -> str:
    """Return how many queries score 1, for scores of 0 and 1."""
    if mean.counts is None:
        return ""
    low, high = mean.counts
    counts = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f" ({counts} of {num_queries:,} score 1)"


def _range_text(mean: ReportedMean) -> str:
    """Return the interval that a mean supports."""
    return f"{mean.low:.3f} to {mean.high:.3f}"


def _p_text(p: float) -> str:
    """Return a p-value with three digits, small ones as a bound."""
    return f"{p:.3g}" if p >= _SMALL_P else f"below {_SMALL_P:g}"
