"""What was compared and decided, without how it is shown, and how it is found by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
from pydantic import ConfigDict, Field, PrivateAttr

from beir_eval.comparison.coverage import SystemCoverage, coverage_of
from beir_eval.comparison.differences import pairs_to_compare
from beir_eval.comparison.rank_similarity import Likeness
from beir_eval.comparison.records import (
    CommonQueries,
    ComparisonSettings,
    Difference,
    DocumentToJudge,
    GateCheck,
    QueryDifference,
    SystemMean,
    TieRange,
    Verdict,
)
from beir_eval.comparison.to_judge import ComparedRuns
from beir_eval.core.saved import FROZEN, Saved
from beir_eval.errors import NotEvaluatedError, SettingError, first_few, shown
from beir_eval.evaluation.given_scores import check_measure_names, check_unique
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.measures.names import name_among
from beir_eval.measures.scales import ScoreScale

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.comparison.records import PairDifference
    from beir_eval.evaluation.records import Retrieval
    from beir_eval.measures import MeasureLike


ComparedT = TypeVar("ComparedT", bound="Compared")
PairType = TypeVar("PairType", bound="PairDifference")


@dataclass(frozen=True)
class Index:
    """Finds what a comparison holds.

    Attributes:
        systems: the names of the systems. [S]
        measures: the names of the measures. [M]
        baseline: the system that the others are compared with; None if all pairs are compared.
    """

    systems: Sequence[str]
    measures: Sequence[str] = ()
    baseline: str | None = None

    def measure(self, measure: MeasureLike, system: object = None) -> str:
        """Return the name of a measure.

        Args:
            measure: the measure, or its name in any spelling that ``parse`` reads.
            system: what was given as the system, if one was: the two may be in the wrong order.

        Raises:
            NotEvaluatedError: the measure was not compared, or is a system.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        is_system = isinstance(measure, str) and measure in self.systems
        if is_system and system is not None and system not in self.systems:
            msg = (
                f"{shown(measure)} is a system: the measure is the first argument, as in "
                f"({shown(system)}, {shown(measure)})"
            )
            raise NotEvaluatedError(msg)
        name = name_among(self.measures, measure)
        if name not in self.measures:
            msg = f"{name} was not compared; the comparison holds {', '.join(self.measures)}"
            raise NotEvaluatedError(msg)
        return name

    def system(self, system: object) -> str:
        """Return a system, or raise NotEvaluatedError if it was not compared."""
        if not (isinstance(system, str) and system in self.systems):
            msg = f"there is no system {shown(system)}; there are {first_few(self.systems)}"
            raise NotEvaluatedError(msg)
        return system

    def pair(self, system: str | None, against: str | None) -> tuple[str, str]:
        """Return a system and the one it is compared with.

        Args:
            system: None for the only one that is not the baseline, or the second of two.
            against: None for the baseline, or the other of two.

        Raises:
            NotEvaluatedError: one of them was not compared.
            SettingError: None could be several.
        """
        if system is None:
            others = [name for name in self.systems if name != self.baseline]
            if len(others) > 1 and len(self.systems) > 2:  # noqa: PLR2004 - a pair
                msg = f"name the system: there are {first_few(others)}"
                raise SettingError(msg)
            system = others[-1]
        self.system(system)
        if against is not None:
            return system, self.system(against)
        if self.baseline not in (None, system):
            return system, str(self.baseline)
        others = [name for name in self.systems if name != system]
        if len(others) != 1:
            msg = f"name what {shown(system)} is compared with: there are {first_few(others)}"
            raise SettingError(msg)
        return system, others[0]

    def difference(self, pairs: Iterable[PairType], system: str, against: str | None) -> PairType:
        """Return the difference system − against, turned round if only the opposite is there.

        Args:
            pairs: the differences on one measure.
            system: the system.
            against: as for ``pair``.

        Raises:
            NotEvaluatedError, SettingError: as ``pair``; or the pair was not compared.
        """
        names = self.pair(system, against)
        for pair in pairs:
            if (pair.system, pair.against) == names:
                return pair
            if (pair.against, pair.system) == names:
                return pair.reversed()
        system, other = map(shown, names)
        others = "all other pairs were" if self.baseline is None else f"only with {self.baseline!r}"
        msg = f"{system} was not compared with {other}, {others}"
        raise NotEvaluatedError(msg)


def check_names(
    systems: Sequence[str],
    baseline: str | None,
    measures: Sequence[str],
    custom_measures: Mapping[str, ScoreScale],
) -> None:
    """Check the systems and the measures of a loaded comparison.

    Args:
        systems: the names of the systems. [S]
        baseline: one of them, or None.
        measures: the names of the measures. [M]
        custom_measures: {name: scale} of those that are not measures of this package.

    Raises:
        ValueError: a name is listed twice, the baseline is not among the systems, or a measure is
            neither a custom one nor named canonically; the message begins with the field.
    """
    check_unique("systems", systems)
    check_unique("measures", measures)
    if baseline is not None and baseline not in systems:
        msg = f"baseline: {baseline!r} is not among the systems {first_few(systems)}"
        raise ValueError(msg)
    check_measure_names(measures, custom_measures)


class Compared(Saved):
    """The values of a ``Comparison``, which has its attributes."""

    model_config = ConfigDict(**FROZEN, ignored_types=(cached_property,))

    WHAT = "comparison"

    systems: tuple[str, ...]
    baseline: str | None
    measures: tuple[str, ...]
    query_ids: tuple[str, ...]
    scores: dict[str, ScoreMatrix]
    results: dict[str, tuple[EvaluationResult, ...]]
    means: tuple[SystemMean, ...]
    differences: tuple[Difference, ...]
    settings: ComparisonSettings
    left_out: dict[str, int] = Field(default_factory=dict)
    ties: tuple[TieRange, ...] = ()
    likeness: tuple[Likeness, ...] | None = None
    custom_measures: dict[str, ScoreScale] = Field(default_factory=dict)
    computed_elsewhere: tuple[str, ...] = ()
    coverage: tuple[SystemCoverage, ...] = ()
    deepest_rankings: dict[str, int] = Field(default_factory=dict)
    on_common_queries: CommonQueries | None = None
    conventions: tuple[str, ...] = ()
    clusters: tuple[str, ...] | None = None
    gate: tuple[GateCheck, ...] = ()
    #: The runs; None if they are not known.
    _runs: ComparedRuns | None = PrivateAttr(None)

    def _check_loaded(self) -> None:
        """Raise ValueError for an impossible name or shape, and for means or pairs of others."""
        check_names(self.systems, self.baseline, self.measures, self.custom_measures)
        check_unique("query_ids", self.query_ids)
        shape = (len(self.systems), len(self.query_ids))
        if set(self.scores) != set(self.measures) or any(
            matrix.array.shape != shape for matrix in self.scores.values()
        ):
            msg = f"scores must hold [systems, queries] = {shape} for every measure"
            raise ValueError(msg)
        if self.clusters is not None and len(self.clusters) != len(self.query_ids):
            msg = f"clusters: {len(self.query_ids)} labels were expected, one for each query"
            raise ValueError(msg)
        systems, results = self.systems, self.results
        pairs = [
            (systems[pair.system], systems[pair.against])
            for pair in pairs_to_compare(systems, self.baseline).listed
        ]
        differences = [(pair.measure, (pair.system, pair.against)) for pair in self.differences]
        means = [(mean.measure, mean.system) for mean in self.means]
        for name, stated, expected in (
            ("results", [*results], [*(results and systems)]),
            ("means", means, [*product(self.measures, systems)]),
            ("differences", differences, [*product(self.measures, pairs)]),
        ):
            if sorted(stated) != sorted(expected):
                msg = f"{name}: one was expected for each of {first_few(expected)}"
                raise ValueError(msg)
        for likeness in self.likeness or ():
            if not {likeness.system, likeness.against} <= {*systems}:
                pair = f"{likeness.system!r} or {likeness.against!r}"
                msg = f"likeness: {pair} is not among the systems"
                raise ValueError(msg)

    def with_retrieval(self, retrievals: Mapping[str, Sequence[Retrieval | None]]) -> Self:
        """Return a copy whose results have the times and failures of their queries, for reports.

        Args:
            retrievals: {system: the retrieval of each of its repeats}.
        """
        results = {
            system: tuple(
                result.model_copy(update={"retrieval": retrieval})
                for result, retrieval in zip(repeats, retrievals[system], strict=True)
            )
            for system, repeats in self.results.items()
        }
        coverage = coverage_of(results, self.measures)
        return self.model_copy(update={"results": results, "coverage": coverage})

    def __eq__(self, other: object) -> bool:
        """Return whether all fields are equal but the results, whose queries have any order."""
        if not isinstance(other, Compared):
            return NotImplemented
        compared = Compared.model_fields.keys() - {"results"}
        return all(getattr(self, field) == getattr(other, field) for field in compared)

    __hash__ = None  # type: ignore[assignment]

    # Values

    @property
    def num_comparisons(self) -> int:
        """The number of comparisons of each measure, which are corrected together."""
        num_systems = len(self.systems)
        return num_systems * (num_systems - 1) // 2 if self.baseline is None else num_systems - 1

    @cached_property
    def verdicts(self) -> dict[tuple[str, str, str], Verdict]:
        """{(measure, system, against): verdict}."""
        return {
            (difference.measure, difference.system, difference.against): difference.verdict
            for difference in self.differences
        }

    def mean(self, measure: MeasureLike, system: str) -> SystemMean:
        """Return the mean of one system on one measure, with its interval.

        Args:
            measure: the measure, as a name in any spelling or a ``Measure``.
            system: the name of the system.

        Raises:
            NotEvaluatedError: the comparison does not hold the system or the measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        key = self._index.measure(measure, system), self._index.system(system)
        return next(mean for mean in self.means if (mean.measure, mean.system) == key)

    def __getitem__(self, measure: MeasureLike) -> tuple[Difference, ...]:
        """Return the differences of all pairs on one measure, in the order of ``differences``.

        Raises:
            NotEvaluatedError: the comparison does not hold the measure.
            MeasureError: as ``difference``.
        """
        name = self._index.measure(measure, self.systems[0])
        return tuple(pair for pair in self.differences if pair.measure == name)

    def difference(
        self, measure: MeasureLike, system: str, against: str | None = None
    ) -> Difference:
        """Return the difference of one pair on one measure: system − against.

        If the comparison holds against − system, the reversed difference is returned.

        Args:
            measure: the measure, as a name in any spelling or a ``Measure``.
            system: the name of the system.
            against: the system it is compared with; by default the baseline, or the other of two
                systems.

        Raises:
            NotEvaluatedError: the comparison does not hold the pair or the measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
            SettingError: ``against`` has no default, so it must be named.
        """
        name = self._index.measure(measure, system)
        pairs = (pair for pair in self.differences if pair.measure == name)
        return self._index.difference(pairs, system, against)

    def per_query(self, measure: MeasureLike) -> dict[str, dict[str, float]]:
        """Return {query_id: {system: score}} as new dicts; NaN where the measure is undefined.

        Args:
            measure: the measure, as a name in any spelling or a ``Measure``.

        Raises:
            NotEvaluatedError: the measure was not compared.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        columns = self.scores[self._index.measure(measure)].array.T.tolist()
        return {
            query_id: dict(zip(self.systems, scores, strict=True))
            for query_id, scores in zip(self.query_ids, columns, strict=True)
        }

    def regressions(
        self,
        measure: MeasureLike,
        n: int = 10,
        *,
        system: str | None = None,
        against: str | None = None,
    ) -> list[QueryDifference]:
        """Return the queries on which a system lost most, worst first.

        Args:
            measure: the measure, as a name in any spelling or a ``Measure``.
            n: the number of queries at most.
            system: the name of the system; by default the only one that is not the baseline, or
                the second of two systems without a baseline.
            against: the system it is compared with; by default the baseline, or the other of two
                systems.

        Raises:
            NotEvaluatedError: the measure or a system was not compared.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
            SettingError: the default system is not unique, so it must be named.
        """
        pair = self._index.pair(system, against)
        return lost_and_gained(self, self._index.measure(measure), *pair)[0][:n]

    def improvements(
        self,
        measure: MeasureLike,
        n: int = 10,
        *,
        system: str | None = None,
        against: str | None = None,
    ) -> list[QueryDifference]:
        """Return the queries on which a system gained most, best first.

        Args:
            measure: the measure, as a name in any spelling or a ``Measure``.
            n: the number of queries at most.
            system: the name of the system; by default the only one that is not the baseline, or
                the second of two systems without a baseline.
            against: the system it is compared with; by default the baseline, or the other of two
                systems.

        Raises:
            NotEvaluatedError: the measure or a system was not compared.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
            SettingError: the default system is not unique, so it must be named.
        """
        pair = self._index.pair(system, against)
        return lost_and_gained(self, self._index.measure(measure), *pair)[1][:n]

    def documents_to_judge(
        self, n: int = 20, *, measure: MeasureLike | None = None
    ) -> list[DocumentToJudge]:
        """Return the unjudged documents most worth judging, best first.

        These are the documents that would change the differences of the means most if they were
        relevant: each is judged alone, with the highest grade, and the systems are scored again.
        The absolute changes are added up over the pairs. Documents are looked for down to the
        cutoff of the measure, or in the first 100 of each ranking without one; at most 1,000 are
        listed. They are computed here, from the runs, so a large comparison takes a while.

        Args:
            n: the number of documents at most.
            measure: the measure, as a name in any spelling or a ``Measure``; by default the first.

        Raises:
            NotEvaluatedError: the measure was not compared; ties="best" or "worst", by which a
                judgement changes ranks; or the runs are not known: only what ``compare_runs``
                returns has them, not what ``load`` or another process returns, and not for text.
            RunError: the run was changed after the comparison.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        name = self.measures[0] if measure is None else self._index.measure(measure)
        if self._runs is None:
            msg = (
                "documents to judge need judgements and ranked documents, which only the result of "
                "compare_runs(qrels, runs) has; saved results and comparisons do not"
            )
            raise NotEvaluatedError(msg)
        return self._runs.documents_to_judge(self, name)[:n]

    @property
    def _index(self) -> Index:
        return Index(self.systems, self.measures, self.baseline)

    def __getstate__(self) -> dict[Any, Any]:
        """Pickle all but the runs, which may be large."""
        return {**super().__getstate__(), "__pydantic_private__": {"_runs": None}}


def lost_and_gained(
    comparison: Compared, measure: str, system: str, against: str
) -> tuple[list[QueryDifference], list[QueryDifference]]:
    """Return the queries on which a system lost, worst first, and gained, best first.

    Args:
        comparison: the comparison.
        measure: the canonical name of one of its measures.
        system: the name of one of its systems.
        against: that of another.
    """
    is_higher_better = next(
        pair.higher_is_better for pair in comparison.differences if pair.measure == measure
    )
    scores = comparison.scores[measure].array
    ours, theirs = (scores[comparison.systems.index(name)] for name in (system, against))
    gains = ours - theirs if is_higher_better else theirs - ours
    order = np.argsort(gains, kind="stable").tolist()  # NaN last

    def records(indices: Iterable[int]) -> list[QueryDifference]:
        return [
            QueryDifference(
                query_id=comparison.query_ids[index],
                score=float(ours[index]),
                against=float(theirs[index]),
                difference=float(ours[index] - theirs[index]),
            )
            for index in indices
        ]

    lost = [index for index in order if gains[index] < 0]
    gained = [index for index in reversed(order) if gains[index] > 0]
    return records(lost), records(gained)
