"""What a comparison of systems found: ``Comparison``."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import numpy as np
from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from beir_eval.comparison.charts import KINDS, forest_of, pair_of
from beir_eval.comparison.likeness import (
    LIKENESS_ROWS,
    Likeness,
    likeness_notes,
    likeness_section,
)
from beir_eval.comparison.records import (
    ComparisonSettings,
    Difference,
    DocumentToJudge,
    PairTrust,
    QueryDifference,
    SystemMean,
    Verdict,
)
from beir_eval.comparison.robustness.tables import trust_notes, trust_section
from beir_eval.comparison.tables import (
    differences_table,
    notes_of,
    to_markdown,
    to_table,
)
from beir_eval.core.saved import FROZEN, Saved, stated_in_full
from beir_eval.display.tables import markdown_list, records_csv
from beir_eval.errors import NotEvaluatedError, SettingError, check_choice, some
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.measures import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from beir_eval.display.figure import Figure
    from beir_eval.display.tables import Table
    from beir_eval.measures import MeasureLike


class Comparison(Saved):
    """What a comparison of systems found; frozen, saved as JSON.

    Attributes:
        schema_version: the version of this layout.
        systems: names, in the order given. [S]
        baseline: the system that the others are compared with; None where all pairs are.
        measures: canonical names. [M]
        query_ids: the queries that all systems have, sorted. [Q]
        scores: by measure the scores of every system, f8[S, Q]; the mean where it has repeats; NaN
            where the measure is undefined for it.
        means: every system on every measure.
        differences: every pair on every measure, with evidence and verdict.
        settings: how the verdicts were reached.
        left_out: queries that a system has and others have not, by system.
        trust: what unjudged documents and ties could change about each difference; without the
            runs, the judged shares only. None where it was not looked at.
        to_judge: for each measure the unjudged documents that could change most, at most 1000.
        likeness: how alike each pair ranks; None where it was not looked at.

    >>> from beir_eval import compare_runs
    >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
    >>> best = {query: {"a": 2.0, "x": 1.0} for query in qrels}
    >>> worse = {query: {"a": 1.0, "x": 2.0} for query in qrels}
    >>> found = compare_runs(qrels, {"B": worse, "A": best}, ["MRR"], baseline="B")
    >>> found.difference("MRR", "A").difference, found.difference("MRR", "A").verdict
    (0.5, 'better')
    """

    model_config = ConfigDict(**FROZEN, ignored_types=(cached_property,))

    WHAT = "comparison"

    systems: tuple[str, ...]
    baseline: str | None
    measures: tuple[str, ...]
    query_ids: tuple[str, ...]
    scores: dict[str, ScoreMatrix]
    means: tuple[SystemMean, ...]
    differences: tuple[Difference, ...]
    settings: Annotated[ComparisonSettings, stated_in_full(ComparisonSettings)]
    left_out: dict[str, int] = Field(default_factory=dict)
    trust: tuple[PairTrust, ...] | None = None
    to_judge: tuple[DocumentToJudge, ...] | None = None
    likeness: tuple[Likeness, ...] | None = None
    _results: dict[str, list[EvaluationResult]] | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _check_shapes(self) -> Comparison:
        expected = (len(self.systems), len(self.query_ids))
        if set(self.scores) != set(self.measures) or any(
            one.array.shape != expected for one in self.scores.values()
        ):
            msg = f"scores must hold [systems, queries] = {expected} for every measure"
            raise ValueError(msg)
        return self

    @property
    def results(self) -> dict[str, list[EvaluationResult]] | None:
        """The results that were compared, by system, a list each: its repeats.

        A comparison that was read from a file has none: they are not saved with it.
        """
        return None if self._results is None else dict(self._results)

    def _made_from(self, results: dict[str, list[EvaluationResult]]) -> Comparison:
        self._results = results
        return self

    def __eq__(self, other: object) -> bool:
        """Compare all that is saved."""
        if not isinstance(other, Comparison):
            return NotImplemented
        return all(getattr(self, one) == getattr(other, one) for one in Comparison.model_fields)

    __hash__ = None  # type: ignore[assignment]

    # What was found

    @cached_property
    def verdicts(self) -> dict[tuple[str, str, str], Verdict]:
        """{(measure, system, against): verdict}."""
        return {(one.measure, one.system, one.against): one.verdict for one in self.differences}

    def mean(self, measure: MeasureLike, system: str) -> SystemMean:
        """Return one system on one measure.

        Raises:
            NotEvaluatedError: the comparison does not hold it.
        """
        name = self._measure(measure)
        self._system(system)
        return next(one for one in self.means if (one.measure, one.system) == (name, system))

    def difference(
        self, measure: MeasureLike, system: str, against: str | None = None
    ) -> Difference:
        """Return the difference of one pair on one measure, by default against the baseline.

        Where the pair was compared the other way round, the same is returned as seen from here.

        Raises:
            NotEvaluatedError: the pair or the measure was not compared.
        """
        name, other = self._measure(measure), self._against(system, against)
        for one in self.differences:
            if one.measure == name and (one.system, one.against) == (system, other):
                return one
            if one.measure == name and (one.system, one.against) == (other, system):
                return one.reversed()
        msg = f"{system!r} was not compared with {other!r}, only with {self.baseline!r}"
        raise NotEvaluatedError(msg)

    def per_query(self, measure: MeasureLike) -> dict[str, dict[str, float]]:
        """Return {query_id: {system: score}}, made anew on every access."""
        columns = self.scores[self._measure(measure)].array.T.tolist()
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
        """Return the queries on which a system lost most, worst first; at most ``n``.

        Args:
            measure: the measure.
            n: how many.
            system: by default the one that is not the baseline, where there is just one.
            against: by default the baseline, or the other one of two systems.
        """
        return [one for one in self._by_difference(measure, system, against) if one.difference < 0][
            :n
        ]

    def improvements(
        self,
        measure: MeasureLike,
        n: int = 10,
        *,
        system: str | None = None,
        against: str | None = None,
    ) -> list[QueryDifference]:
        """Return the queries on which a system gained most, best first; as ``regressions``."""
        found = self._by_difference(measure, system, against)[::-1]
        return [one for one in found if one.difference > 0][:n]

    def documents_to_judge(
        self, n: int = 20, *, measure: MeasureLike | None = None
    ) -> list[DocumentToJudge]:
        """Return the unjudged documents whose judgement would settle most, at most ``n``.

        First those that, being relevant, change the differences of the means most, added up over
        the pairs. At most 1000 are known for each measure.

        Args:
            n: how many.
            measure: by default the first.

        Raises:
            NotEvaluatedError: the measure was not compared, or the comparison had no runs.
        """
        name = self.measures[0] if measure is None else self._measure(measure)
        if self.to_judge is None:
            msg = "documents to judge are known to compare_runs(qrels, runs) with trust=True"
            raise NotEvaluatedError(msg)
        return [one for one in self.to_judge if one.measure == name][:n]

    def likeness_per_query(
        self, system: str | None = None, against: str | None = None
    ) -> dict[str, dict[str, float]]:
        """Return {query_id: {"rbo": …, "overlap": …, "kendall_distance": …}} for one pair.

        Args:
            system: by default the one that is not the baseline, where there is just one.
            against: by default the baseline, or the other one of two systems.

        Raises:
            NotEvaluatedError: the likeness of this pair is not known.
        """
        pair = set(self._pair(system, against))
        for one in self.likeness or ():
            if {one.system, one.against} == pair:
                columns = one.values.array.T.tolist()
                return {
                    query_id: dict(zip(LIKENESS_ROWS, values, strict=True))
                    for query_id, values in zip(self.query_ids, columns, strict=True)
                }
        msg = f"how alike {' and '.join(map(repr, sorted(pair)))} rank is not known"
        raise NotEvaluatedError(msg)

    def _by_difference(
        self, measure: MeasureLike, system: str | None, against: str | None
    ) -> list[QueryDifference]:
        array = self.scores[self._measure(measure)].array
        ours, theirs = (array[self.systems.index(one)] for one in self._pair(system, against))
        difference = ours - theirs
        order = np.argsort(difference, kind="stable")  # NaN last
        return [
            QueryDifference(
                query_id=self.query_ids[place],
                score=float(ours[place]),
                against=float(theirs[place]),
                difference=float(difference[place]),
            )
            for place in order.tolist()
            if not np.isnan(difference[place])
        ]

    def _measure(self, measure: MeasureLike) -> str:
        name = str(parse(measure))
        if name not in self.measures:
            msg = f"{name} was not compared; the comparison holds {', '.join(self.measures)}"
            raise NotEvaluatedError(msg)
        return name

    def _system(self, system: str) -> str:
        if system not in self.systems:
            msg = f"there is no system {system!r}; there are {some(self.systems)}"
            raise NotEvaluatedError(msg)
        return system

    def _pair(self, system: str | None, against: str | None) -> tuple[str, str]:
        """Return a system and the one it is compared with, each by default the only one there."""
        chosen = self._only_system() if system is None else self._system(system)
        return chosen, self._against(chosen, against)

    def _only_system(self) -> str:
        others = [one for one in self.systems if one != self.baseline]
        if len(others) == 1:
            return others[0]
        if len(self.systems) == 2:  # noqa: PLR2004 - a pair
            return self.systems[1]
        msg = f"name the system: there are {some(others)}"
        raise SettingError(msg)

    def _against(self, system: str, against: str | None) -> str:
        self._system(system)
        if against is not None:
            return self._system(against)
        if self.baseline is not None and system != self.baseline:
            return self.baseline
        others = [one for one in self.systems if one != system]
        if len(others) == 1:
            return others[0]
        msg = f"name what {system!r} is compared with: there are {some(others)}"
        raise SettingError(msg)

    # Other shapes

    def to_table(self) -> Table:
        """Return systems × measures: means, with a mark where a verdict is "better" or "worse"."""
        return to_table(self)

    def differences_table(self) -> Table:
        """Return every difference with its evidence, a row each."""
        return differences_table(self)

    def to_markdown(self) -> str:
        """Return verdicts, means, differences, trust and likeness as GitHub-flavoured markdown."""
        notes = markdown_list(self.notes())
        return f"{to_markdown(self)}{trust_section(self)}{likeness_section(self)}\n{notes}"

    def notes(self) -> list[str]:
        """Return what a reader of the tables must know, in sentences."""
        return [*notes_of(self), *trust_notes(self), *likeness_notes(self)]

    def to_latex(self) -> str:
        """Return the table of means as LaTeX (booktabs): best bold, significance superscript."""
        return to_table(self).latex()

    def to_csv(self) -> str:
        """Return every difference with its evidence, one a line."""
        return records_csv(self.differences)

    def plot(
        self,
        kind: str = "forest",
        measure: MeasureLike | None = None,
        *,
        system: str | None = None,
        against: str | None = None,
        queries: Mapping[str, str] | None = None,
    ) -> Figure:
        """Return a figure: a notebook shows it, ``figure.save("forest.svg")`` writes it.

        Args:
            kind: "forest" (every difference with its interval), "queries" (one bar a query, from
                the greatest loss to the greatest gain) or "scatter" (one point a query).
            measure: by default the first.
            system: for one pair, as ``regressions``.
            against: for one pair, as ``regressions``.
            queries: {query_id: text}, shown where a notebook draws the figure and the pointer
                rests on a query.

        Raises:
            SettingError: another kind; a pair that must be named.
            NotEvaluatedError: the measure was not compared.
        """
        check_choice("kind", kind, KINDS)
        name = self.measures[0] if measure is None else self._measure(measure)
        if kind == "forest":
            return forest_of(self, name)
        return pair_of(self, kind, name, *self._pair(system, against), texts=queries)

    def _repr_html_(self) -> str:
        return self.to_table().html() + self.differences_table().html()

    def __repr__(self) -> str:
        """Return the size, not the content."""
        return (
            f"Comparison({len(self.systems)} systems, {len(self.measures)} measures, "
            f"{len(self.query_ids)} queries)"
        )

    __str__ = __repr__
