"""What a set of judged queries can show, before any run exists."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import BaseModel

from beir_eval.comparison.verdict_sentences import one_digit
from beir_eval.core.saved import FROZEN, Saved
from beir_eval.display.document import Document, Sentence, Shown
from beir_eval.display.tables import Table, score_text
from beir_eval.errors import InputError, MeasureError, SettingError
from beir_eval.evaluation.inputs import as_qrels
from beir_eval.measures import Measure, parse, parse_all
from beir_eval.significance import smallest_margin
from beir_eval.significance.equivalence import detectable_equality
from beir_eval.significance.power import minimum_detectable_difference, smallest_p

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.evaluation.inputs import QrelsLike
    from beir_eval.measures.names import MeasureLike

#: The measures that ``experiment_power`` describes by default.
MEASURES = ("nDCG@10", "MAP@100", "Recall@100", "MRR@10", "Precision@10")
#: The standard deviations of differences between real systems: the 10%, 50% and 90% quantile of
#: pairs of runs on TREC-DL 2019, TREC-COVID and SciFact. ``benchmarks/usual_spreads.py`` prints it.
SPREADS = {
    "nDCG@10": (0.115, 0.207, 0.377),
    "nDCG@100": (0.060, 0.222, 0.346),
    "MAP@100": (0.043, 0.205, 0.398),
    "MAP@1000": (0.043, 0.210, 0.398),
    "Recall@10": (0.025, 0.085, 0.417),
    "Recall@100": (0.105, 0.245, 0.371),
    "Recall@1000": (0.138, 0.250, 0.371),
    "R_cap@10": (0.121, 0.230, 0.417),
    "Precision@10": (0.056, 0.169, 0.253),
    "MRR@10": (0.137, 0.236, 0.408),
    "Success@1": (0.216, 0.366, 0.513),
    "Success@5": (0.152, 0.218, 0.453),
    "Success@10": (0.152, 0.152, 0.427),
    "F1@10": (0.038, 0.094, 0.116),
    "ERR@10": (0.168, 0.231, 0.303),
    "RBP(p=0.8)": (0.082, 0.167, 0.224),
    "Rprec": (0.049, 0.190, 0.479),
    "bpref": (0.023, 0.198, 0.359),
}
#: With fewer queries the sign-flip test has less power: 64% for 80% with 6, 76% with 8.
_FEW_QUERIES = 12
_LABELS = ("similar", "usual", "very different")
_SOURCE = (
    "Similar, usual, very different: of 47 pairs of real runs, 10%, 50%, 90% differ less from "
    "query to query. If you know the standard deviation of your differences, state it with sd="
)


class MeasurePower(BaseModel):
    """What the queries can show with one measure, for one spread of the differences.

    Attributes:
        measure: the canonical name of the measure.
        spread: "similar", "usual" or "very different" among real systems, or "given".
        sd: the standard deviation over queries of the differences, in the unit of the measure.
        spread_of: the measure that the standard deviation was measured for; another cutoff of the
            same measure if this cutoff has none, and "" if it was given.
        detectable: the smallest true difference that is detected with this power, in the same unit;
            None if no difference within the range of the measure is.
        equal_within: the smallest margin within which equal systems are called equal with this
            power, in the same unit; None if no margin within the range is.
    """

    model_config = FROZEN

    measure: str
    spread: str
    sd: float
    spread_of: str
    detectable: float | None
    equal_within: float | None


class ExperimentPower(Shown, Saved):
    """What a set of judged queries can show.

    Attributes:
        num_queries: Q, the number of judged queries.
        num_without_relevant: how many of them have no relevant document (no grade above 0): all
            systems score alike on them in most measures.
        alpha: the level of the verdicts.
        power: the probability of detecting the difference, or of calling equal systems equal.
        fewest_differing: with fewer differing queries, no comparison can be significant.
        smallest_margin: the smallest margin within which so many queries can show equality at all,
            for measures from 0 to 1.
        rows: the measures, each for several spreads of the differences.
    """

    WHAT: ClassVar[str] = "experiment power"
    REMEDY: ClassVar[str] = "compute it again"

    num_queries: int
    num_without_relevant: int
    alpha: float
    power: float
    fewest_differing: int
    smallest_margin: float
    rows: tuple[MeasurePower, ...]

    def to_table(self) -> Table:
        """Return a table with two rows for each measure and a column for each spread."""
        groups = self._by_measure()
        names = ["measure"] if len(groups) > 1 else []
        spreads = [row.spread for row in next(iter(groups.values()))]
        rows = [
            (*([measure] if names else []), what, *map(_size_text, sizes))
            for measure, group in groups.items()
            for what, sizes in (
                ("usually shown", [row.detectable for row in group]),
                ("equivalence shown within", [row.equal_within for row in group]),
            )
        ]
        return Table((*names, "if systems are", *spreads), rows)

    def _by_measure(self) -> dict[str, list[MeasurePower]]:
        """Return the rows of each measure."""
        groups: dict[str, list[MeasurePower]] = {}
        for row in self.rows:
            groups.setdefault(row.measure, []).append(row)
        return groups

    def document(self) -> Document:
        """Return what so many queries usually show, for which systems, and the method."""
        groups = self._by_measure()
        return Document(
            sentences=[Sentence(self._sentence(*group)) for group in groups.items()],
            tables=[self.to_table()],
            notes=list(self._notes()),
            details=lambda: [Document(heading="Method", notes=list(self._method()))],
        )

    def _sentence(self, measure: str, rows: Sequence[MeasurePower]) -> str:
        """Return which difference on a measure is usually shown."""
        queries = f"{self.num_queries:,} queries"
        if self.num_queries < self.fewest_differing:
            least = f"{self.fewest_differing} must differ for a p of at most {self.alpha:g}"
            return f"{queries} can show no difference of {measure}: {least}"
        usual = rows[len(rows) // 2].detectable
        if usual is None:
            return f"{queries} can usually show no difference of {measure}"
        low, high = rows[0].detectable, rows[-1].detectable
        between = f" ({low:.2g} {'or more' if high is None else f'to {high:.2g}'})"
        about = f"{queries} can usually show a difference of about {one_digit(usual)} {measure}"
        return about + (between if len(rows) > 1 else "")

    def _notes(self) -> Iterator[str]:
        """Yield what changes the numbers of the table."""
        if self.num_without_relevant:
            yield (
                f"{self.num_without_relevant:,} of the queries have no relevant document: systems "
                "hardly ever differ on them"
            )
        for measure, origin in {row.measure: row.spread_of for row in self.rows}.items():
            if origin not in ("", measure):
                yield f"{measure}: spreads of {origin}, the nearest cutoff that was measured"
        if any(row.detectable is not None for row in self.rows):
            yield "To show half the difference, you need four times as many queries."
            if self.num_queries < _FEW_QUERIES:
                yield "With so few queries, sign flips show less than the t test of the table."
        if any(row.spread_of for row in self.rows):
            yield _SOURCE

    def _method(self) -> Iterator[str]:
        """Yield what the words mean, and what so many queries can never show."""
        yield (
            f"usually shown: a true difference of this size is significant in {self.power:.0%} of "
            f"such experiments (single comparisons at level {self.alpha:g}). If systems differ on "
            f"fewer than {self.fewest_differing} queries, no difference can be significant"
        )
        yield (
            f"equivalence: if two systems are truly equal, {self.power:.0%} of such "
            "experiments rule out a difference of this size or more. With "
            f"{self.num_queries:,} queries, that size is never below {self.smallest_margin:.3f}, "
            "for a measure from 0 to 1"
        )


def _size_text(size: float | None) -> str:
    """Return a difference with three decimals; "n/a" for none."""
    return score_text(math.nan if size is None else size, 3)


def experiment_power(
    qrels: QrelsLike,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    sd: float | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
) -> ExperimentPower:
    """Return what a comparison on these judged queries can show, before any run exists.

    It depends on how much the differences of two systems vary between queries. That is known only
    afterwards: the result covers similar, usual and very different real systems.

    Args:
        qrels: ``Qrels``, {query_id: {doc_id: grade}}, or a dataframe that ``Qrels.from_dataframe``
            takes.
        measures: the measures, as ``Measure`` or name; by default nDCG@10, MAP@100, Recall@100,
            MRR@10 and Precision@10.
        sd: the standard deviation over queries of the differences that you expect, above 0, in the
            unit of the measures; for example from an earlier comparison. By default three values
            that were measured on real systems.
        alpha: the level of the verdicts.
        power: the probability of detecting the difference, above alpha.

    Returns:
        For each measure and standard deviation the smallest detectable difference
        (``power.minimum_detectable_difference``) and the smallest margin for "equivalent"
        (``equivalence.detectable_equality``). Both are for differences without many ties: the more
        queries tie, the less can be shown.

    Raises:
        QrelsError: there is no judgement, an id is empty or of another type, or a grade is not a
            finite number.
        MeasureError: a measure does not exist, cannot be compared, or no measure is named.
        InputError: fewer than two queries are judged, or the usual spreads of a measure are not
            known and ``sd`` is not given.
        SettingError: sd is not above 0, or is above the range of a measure; alpha is not between 0
            and ½, or power is not between alpha and 1.
        MissingExtraError: scipy is not installed.

    >>> qrels = {f"q{number}": {"a": 1} for number in range(100)}
    >>> row = experiment_power(qrels, "nDCG@10", sd=0.2).rows[0]
    >>> round(row.detectable, 3), round(row.equal_within, 3)
    (0.057, 0.072)
    """
    judged = as_qrels(qrels)
    chosen = parse_all(MEASURES if measures is None else measures)
    for measure in chosen:
        if measure.definition.aggregate != "mean" or not measure.definition.rates_systems:
            msg = f"{measure} is not compared: it is no mean over queries, or says what is unjudged"
            raise MeasureError(msg)
    num_queries = len(judged)
    if num_queries < 2:  # noqa: PLR2004 - a spread
        raise InputError("1 judged query: nothing can be shown with less than 2")
    if sd is not None and not 0 < sd < math.inf:
        msg = f"sd must be a number above 0, not {sd!r}"
        raise SettingError(msg)
    least = smallest_margin(num_queries, alpha=alpha)
    fewest = next(count for count in range(2, 2000) if smallest_p(count) <= alpha)
    rows = [
        _measure_power(measure, spread, num_queries, alpha=alpha, power=power)
        for measure in chosen
        for spread in _spreads(measure, sd)
    ]
    if num_queries < fewest:
        rows = [row.model_copy(update={"detectable": None}) for row in rows]
    num_relevant = np.bincount(judged.row[judged.grades > 0], minlength=num_queries)
    return ExperimentPower(
        num_queries=num_queries,
        num_without_relevant=int((num_relevant == 0).sum()),
        alpha=alpha,
        power=power,
        fewest_differing=fewest,
        smallest_margin=least,
        rows=tuple(rows),
    )


def _spreads(measure: Measure, sd: float | None) -> Iterator[tuple[str, float, str]]:
    """Yield (name, standard deviation, measure that it was measured for) of each spread.

    Raises:
        InputError: no spreads of this measure are known.
    """
    if sd is not None:
        yield "given", float(sd), ""
        return
    candidates = [parse(name) for name in SPREADS]
    same = [
        candidate
        for candidate in candidates
        if (candidate.name, candidate.parameters) == (measure.name, measure.parameters)
    ]
    if not same:
        msg = (
            f"how much differences of {measure} vary between queries is not known; give their "
            "standard deviation with sd=, for example from an earlier comparison"
        )
        raise InputError(msg)
    # As a ratio; a measure without a cutoff is like one with a very high one.
    logarithm = math.log(measure.cutoff or 10_000)
    nearest = min(same, key=lambda other: abs(math.log(other.cutoff or 10_000) - logarithm))
    for label, deviation in zip(_LABELS, SPREADS[str(nearest)], strict=True):
        yield label, deviation, str(nearest)


def _measure_power(
    measure: Measure,
    spread: tuple[str, float, str],
    num_queries: int,
    **levels: float,
) -> MeasurePower:
    """Return what the queries can show with one measure and spread, at levels alpha and power."""
    label, deviation, origin = spread
    score_range = None if measure.bounds is None else measure.bounds[1] - measure.bounds[0]
    limit = math.inf if score_range is None else score_range
    if deviation > limit:
        msg = (
            f"differences of {measure} have a standard deviation of at most {limit:g}, not "
            f"{deviation:g}: did you mean {deviation / 100:g}?"
        )
        raise SettingError(msg)
    detectable = minimum_detectable_difference(deviation, num_queries, **levels)
    equal_within = detectable_equality(deviation, num_queries, score_range=score_range, **levels)
    return MeasurePower(
        measure=str(measure),
        spread=label,
        sd=deviation,
        spread_of=origin,
        detectable=detectable if detectable < limit else None,
        equal_within=equal_within if equal_within < limit else None,
    )
