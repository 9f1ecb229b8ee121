"""The result of a comparison: the class ``Comparison``, and its scores query by query as CSV."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

from beir_eval.comparison.charts import PLOT_KINDS, forest_figure, pair_figure
from beir_eval.comparison.compared import Compared
from beir_eval.comparison.coverage import with_warning_column
from beir_eval.comparison.gate_output import gate_beside_verdicts
from beir_eval.comparison.limits import chance_table
from beir_eval.comparison.overview import document_of
from beir_eval.comparison.tables import pairs_table, shown_differences, to_latex, to_table
from beir_eval.core.ids import check_unicode
from beir_eval.display.document import Document, Shown, warnings_latex, warnings_markdown
from beir_eval.display.tables import ScoreFormat, csv_text, record_rows
from beir_eval.errors import check_choice, needs_extra
from beir_eval.evaluation.depths import unequal_depths_text
from beir_eval.measures.names import registered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from beir_eval.comparison.records import Difference
    from beir_eval.display.figure import Figure
    from beir_eval.display.tables import Table
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike

#: The columns of ``Comparison.to_query_csv``.
_QUERY_COLUMNS = (
    "measure",
    "system",
    "against",
    "query_id",
    "text",
    "score",
    "score_against",
    "difference",
    "first_relevant",
    "first_relevant_against",
)


class Comparison(Shown, Compared):
    """The result of a comparison of systems; frozen, saved as JSON.

    Attributes:
        schema_version: the version of the saved layout.
        systems: the names of the systems, in the order given. [S]
        baseline: the system that the others are compared with; None if all pairs are compared.
        measures: the canonical names of the measures, and the names of custom ones. [M]
        query_ids: the queries that all systems have, sorted. [Q]
        scores: {measure: scores of every system}, f8[S, Q]; the mean over repeats; NaN where the
            measure is undefined.
        results: {system: the results that were compared, one for each repeat}, with the top
            documents that were kept.
        means: the mean of every system on every measure.
        differences: the difference of every pair on every measure, with evidence and verdict.
        settings: the settings of tests, corrections and verdicts.
        left_out: {system: number of its queries that another system lacks}.
        ties: the means of the systems that depend on the order of equal scores, measure by measure;
            empty if there are none, or if they were not computed.
        likeness: the ranking similarity of the top documents of each pair; None if it was not
            computed.
        custom_measures: {name: its bounds, and whether higher scores are better} of the measures
            that are not measures of this package.
        computed_elsewhere: the systems whose scores, or those of a repeat, this package did not
            compute (``EvaluationResult.from_scores``). Their settings and qrels are not known, so
            they were not compared with those of the other systems.
        coverage: the systems with warnings, such as on judged queries that they miss; empty for
            none.
        deepest_rankings: {system: the number of documents in its longest ranking}, the smallest of
            its repeats; without systems whose documents were not counted.
        on_common_queries: the comparison over the queries that all systems have, if a system misses
            judged queries and these count as empty rankings; else None.
        conventions: what the evaluations followed of BEIR's conventions for a data set without
            being asked, excluded documents, and what has ranks if it is not documents, in
            sentences; mostly empty.
        clusters: the label of the cluster of each query, if queries are related; else None. [Q]
        gate: the checks of the gate that ``beir-eval compare --gate`` made; else empty, since
            ``check_gate`` returns the checks.

    >>> from beir_eval import compare_runs
    >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
    >>> best = {query: {"a": 2.0, "x": 1.0} for query in qrels}
    >>> worse = {query: {"a": 1.0, "x": 2.0} for query in qrels}
    >>> comparison = compare_runs(qrels, {"B": worse, "A": best}, ["MRR"], baseline="B")
    >>> comparison.difference("MRR", "A").difference, comparison.difference("MRR", "A").verdict
    (0.5, 'better')
    """

    def to_table(self) -> Table:
        """Return a table of means, a row for each system and a column for each measure.

        With a baseline, a mark gives the verdict: ▲ better, ▼ worse, = equivalent or identical.
        Without one, the ranks at a mean name the systems that this one is better than.
        """
        return to_table(self)

    def differences_table(self) -> Table:
        """Return a table of the differences with their evidence, a row for each."""
        return pairs_table(shown_differences(self), self.settings, self.num_comparisons)

    def chance_table(self) -> Table:
        """Return a table of the sources of chance: whether p covers each, and how.

        They are queries, related queries, repeats (seeds), comparisons, measures, a choice of
        systems by their scores, and looks.
        """
        return chance_table(self)

    def document(self, queries: Mapping[str, str] | None = None) -> Document:
        """Return verdicts, compact tables, at most six sentences, and the evidence as details.

        Args:
            queries: {query_id: text}, such as ``Dataset.queries``, to name the queries that lost
                and gained most by their texts.
        """
        return document_of(self, queries)

    def to_markdown(self) -> str:
        """Return warnings, the gate, verdicts, tables, sentences and all evidence as Markdown."""
        gate = ""
        if self.gate:
            gate = f"{gate_beside_verdicts(self).titled_markdown()}\n"
        document = self.document()
        content = replace(document, warnings=()).markdown()
        return f"{warnings_markdown(document.warnings)}{gate}{content}"

    def to_latex(self, *, digits: int | None = None, percent: bool = False) -> str:
        """Return the table of means as LaTeX, with caption and label, to paste into a paper.

        It needs the package booktabs. The best means are bold, marks are superscripts, which the
        caption explains. Warnings are comments above.

        Args:
            digits: the number of decimals; by default 4, or 2 in percent.
            percent: whether measures from 0 to 1 are in percent.
        """
        return warnings_latex(self.warnings()) + to_latex(self, ScoreFormat(digits, percent))

    def to_csv(self) -> str:
        """Return the differences with their evidence as CSV, a line for each.

        The last column, "warning", holds the warnings on the two systems; it is mostly empty.
        """
        return with_warning_column(
            record_rows(self.differences),
            self.coverage,
            ((pair.system, pair.against) for pair in self.differences),
            [self._unequal_depths_of(pair) for pair in self.differences],
        )

    def _unequal_depths_of(self, pair: Difference) -> str:
        names = (pair.system, pair.against)
        depths = {name: depth for name, depth in self.deepest_rankings.items() if name in names}
        return unequal_depths_text([pair.measure], depths)

    def to_query_csv(self, queries: Mapping[str, str] | None = None) -> str:
        """Return the scores of every pair query by query as CSV, a line for each query.

        The columns are the measure, the two systems, the query, its text, both scores, their
        difference, and in each system the rank of the first relevant document: ">10" if it is not
        among the 10 documents that were kept, "none" if no retrieved document is relevant, and
        empty if the documents are not known, as for scores that were computed elsewhere. Of a
        system's repeats, the scores are averaged and the ranks are those of the first.

        Args:
            queries: {query_id: text}, such as ``Dataset.queries``, where they are known.
        """
        rows: list[Sequence[object]] = [_QUERY_COLUMNS]
        index = {system: row for row, system in enumerate(self.systems)}
        texts = queries or {}
        for difference in self.differences:
            measure, pair = difference.measure, (difference.system, difference.against)
            parsed = registered(measure)
            rel = None if parsed is None else dict(parsed.parameters).get("rel")
            lowest = float(rel) if isinstance(rel, int | float) else math.nextafter(0.0, 1.0)
            results = [self.results[system][0] for system in pair]
            ours, theirs = (self.scores[measure].array[index[system]] for system in pair)
            scores = zip(ours.tolist(), theirs.tolist(), (ours - theirs).tolist(), strict=True)
            for query_id, of_query in zip(self.query_ids, scores, strict=True):
                numbers = ("" if math.isnan(score) else score for score in of_query)
                ranks = (_first_relevant(result, query_id, lowest) for result in results)
                rows.append((measure, *pair, query_id, texts.get(query_id, ""), *numbers, *ranks))
        return csv_text(rows)

    def to_dataframe(self) -> pl.DataFrame:
        """Return a polars DataFrame with a row for each difference.

        The columns are the fields of ``Difference``: ``measure``, ``system``, ``against``,
        ``difference``, ``low``, ``high``, ``p_corrected``, ``verdict`` and so on. A value that is
        not known is null.

        Raises:
            MissingExtraError: polars is not installed.
            InputError: the name of a system is not valid Unicode.
        """
        with needs_extra("polars", "files", "to_dataframe"):
            from beir_eval.core.dataframes import frame_of_records  # noqa: PLC0415 - an extra
        check_unicode("the comparison", self.systems)
        return frame_of_records(difference.model_dump() for difference in self.differences)

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
            kind: "forest" (all differences of a measure with their intervals), "queries" (a bar
                for each query, from the largest loss to the largest gain) or "scatter" (a point
                for each query, the score of one system over that of the other).
            measure: the measure, as a name in any spelling or a ``Measure``; by default the first.
            system: the system of a "queries" or "scatter" figure; by default the only one that is
                not the baseline, or the second of two systems without a baseline.
            against: the system it is compared with in these figures; by default the baseline, or
                the other of two systems.
            queries: {query_id: text} of these figures; a notebook shows the text of the query under
                the pointer.

        Raises:
            SettingError: another kind; or the default system is not unique, so it must be named.
            NotEvaluatedError: the measure or a system was not compared.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        check_choice("kind", kind, PLOT_KINDS)
        name = self.measures[0] if measure is None else self._index.measure(measure)
        if kind == "forest":
            return forest_figure(self, name)
        return pair_figure(self, kind, name, *self._index.pair(system, against), texts=queries)


def _first_relevant(result: EvaluationResult, query_id: str, rel: float) -> str:
    """Return the rank of the first relevant document of a query as text."""
    top = (result.top or {}).get(query_id)
    if top is None:
        is_missing = result.counted is not None and query_id in result.counted.queries_missing
        return "none" if is_missing else ""
    for rank, grade in zip(count(1), top.grades, strict=False):
        if grade is not None and grade >= rel:
            return str(rank)
    longest = max(len(other.doc_ids) for other in (result.top or {}).values())
    return f">{len(top.doc_ids)}" if len(top.doc_ids) == longest else "none"
