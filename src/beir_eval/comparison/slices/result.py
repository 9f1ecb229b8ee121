"""``SlicedComparison``, the result of ``compare_slices``, and its record ``Slice``."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel, Field

from beir_eval.comparison.compared import check_names
from beir_eval.comparison.coverage import SystemCoverage, warnings_of, with_warning_column
from beir_eval.comparison.limits import queries_only_note
from beir_eval.comparison.records import ComparisonSettings, Difference, SystemMean
from beir_eval.comparison.slices.interactions import (
    Interaction,
    interaction_notes,
    interaction_sentences,
    known_p_text,
    small_slices_notes,
)
from beir_eval.comparison.tables import evidence_cells, marked, pairs_table
from beir_eval.comparison.verdict_sentences import left_out_notes, some_of, source_notes
from beir_eval.core.saved import FROZEN, Saved
from beir_eval.display.document import Document, Sentence, Shown
from beir_eval.display.tables import Cell, Table, score_text, table_of
from beir_eval.errors import NotEvaluatedError, first_few, number_of, shown
from beir_eval.evaluation.given_scores import check_unique
from beir_eval.measures.scales import ScoreScale

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: The label of all queries.
ALL = "all"
#: What a reader of the verdicts of slices must know.
ONLY_TEST = "Only the p above the table compares the slices; the verdicts in the table do not."
#: The headings of a difference in the table of a pair.
_OF_PAIR = ("diff.", "adj. p", "verdict")


class Slice(BaseModel):
    """The comparison within one slice, the queries with the same label.

    Attributes:
        column: the name of the column.
        label: the label; "(none)" for queries without a label.
        num_queries: the number of queries in the slice.
        too_small: the measures that are not compared, because fewer than two of these queries have
            a score of every system.
        means: the mean of every system, for every measure that is compared.
        differences: the difference of every pair, for every measure that is compared; p-values are
            corrected over all slices.
    """

    model_config = FROZEN

    column: str
    label: str
    num_queries: int
    too_small: tuple[str, ...]
    means: tuple[SystemMean, ...]
    differences: tuple[Difference, ...]


class SlicedComparison(Shown, Saved):
    """Means and verdicts of systems within slices of the queries; frozen, saved as JSON.

    Attributes:
        schema_version: the version of the saved format.
        systems: names, in the order given. [S]
        baseline: the system with which the others are compared; None if all pairs are compared.
        measures: canonical names. [M]
        num_queries: the number of queries that all systems have.
        columns: the names of the columns.
        interactions: whether the difference of each pair differs between the slices, for every
            measure and column.
        slices: every slice of every column, including slices too small to compare.
        whole: all queries as one slice, labelled "all"; its p are corrected over the pairs only.
        settings: how the verdicts were reached.
        left_out: {system: number of queries that it has and others lack}; such queries are not
            compared.
        custom_measures: {name: its bounds, and whether higher scores are better} of the measures
            that are not measures of this package.
        computed_elsewhere: the systems whose scores this package did not compute.
        coverage: the systems with warnings, such as on judged queries that they miss; empty for
            none. Its means are over all slices.
    """

    WHAT: ClassVar[str] = "comparison by slices"

    systems: tuple[str, ...]
    baseline: str | None
    measures: tuple[str, ...]
    num_queries: int
    columns: tuple[str, ...]
    interactions: tuple[Interaction, ...]
    slices: tuple[Slice, ...]
    whole: Slice
    settings: ComparisonSettings
    left_out: dict[str, int]
    custom_measures: dict[str, ScoreScale] = Field(default_factory=dict)
    computed_elsewhere: tuple[str, ...] = ()
    coverage: tuple[SystemCoverage, ...] = ()

    def _check_loaded(self) -> None:
        """Raise ValueError unless systems, measures and slices have possible names."""
        check_names(self.systems, self.baseline, self.measures, self.custom_measures)
        check_unique("slices", [(slice_.column, slice_.label) for slice_ in self.slices])

    def slice(self, label: str, column: str | None = None) -> Slice:
        """Return one slice.

        Args:
            label: the label of the slice; "(none)" for the queries without a label.
            column: the name of the column; needed only if several columns have this label.

        Raises:
            NotEvaluatedError: there is no such slice, or several columns have this label.
        """
        matches = [
            slice_
            for slice_ in self.slices
            if slice_.label == label and column in (None, slice_.column)
        ]
        if len(matches) == 1:
            return matches[0]
        if matches:
            columns = first_few(slice_.column for slice_ in matches)
            msg = f"several columns have a slice {shown(label)}; name one of {columns}"
            raise NotEvaluatedError(msg)
        labels = [slice_.label for slice_ in self.slices if column in (None, slice_.column)]
        msg = f"there is no slice {shown(label)}; there are {first_few(labels) or 'none'}"
        raise NotEvaluatedError(msg)

    @property
    def too_small(self) -> Sequence[Slice]:
        """The slices that are too small for every measure."""
        return [slice_ for slice_ in self.slices if len(slice_.too_small) == len(self.measures)]

    # Other shapes

    def to_table(self) -> Table:
        """Return a table with a row for each slice and measure, the last for all queries.

        A cell shows the mean of a system. With a baseline it is marked ▲ (better), ▼ (worse) or =
        (equal); without one, "> names" lists the systems that this system is better than. Slices
        too small for a measure have no row.
        """
        rows = [
            (
                self.slice_name(slice_),
                str(slice_.num_queries),
                measure,
                *(
                    self._mean_cell(slice_, mean)
                    for mean in slice_.means
                    if mean.measure == measure
                ),
            )
            for slice_ in (*self.slices, self.whole)
            for measure in self.measures
            if measure not in slice_.too_small
        ]
        return Table(("slice", "queries", "measure", *self.systems), rows)

    def _table_of_pair(self, measure: str) -> Table:
        """Return the means and the difference of two systems on a measure, by slice."""
        rows = []
        for slice_ in (*self.slices, self.whole):
            means = {known.system: known.mean for known in slice_.means if known.measure == measure}
            for pair in slice_.differences:
                if pair.measure == measure:
                    scores = (score_text(means[name]) for name in (pair.against, pair.system))
                    difference, _, p, verdict = evidence_cells(pair)
                    cells = (f"{pair.num_queries:,}", *scores, difference, p, verdict)
                    rows.append((self.slice_name(slice_), *cells))
        pair = self.whole.differences[0]
        what = measure if len(self.measures) > 1 or len(self.columns) > 1 else self.columns[0]
        return Table((what, "queries", pair.against, pair.system, *_OF_PAIR), rows)

    def _mean_cell(self, slice_: Slice, of_system: SystemMean) -> str | Cell:
        """Return a mean with its mark, or with the systems that this system is better than."""
        system, mean = of_system.system, score_text(of_system.mean)
        pairs = [
            pair if pair.system == system else pair.reversed()
            for pair in slice_.differences
            if pair.measure == of_system.measure and system in (pair.system, pair.against)
        ]
        if self.baseline is not None:
            return marked(Cell(mean), "" if system == self.baseline else pairs[0].verdict)
        beaten = [pair.against for pair in pairs if pair.verdict == "better"]
        return f"{mean} > {', '.join(beaten)}" if beaten else mean

    def differences_of(self, measure: str) -> list[tuple[str, Difference]]:
        """Return the name of each slice and the differences in it on a measure."""
        return [
            (self.slice_name(slice_), difference)
            for slice_ in self.slices
            for difference in slice_.differences
            if difference.measure == measure
        ]

    def slice_name(self, slice_: Slice) -> str:
        """Return a slice's name in tables: its label, with the column if there are several."""
        of_several = len(self.columns) > 1 and slice_.column
        return f"{slice_.column}: {slice_.label}" if of_several else slice_.label

    def document(self) -> Document:
        """Return whether differences depend on the slices, means and verdicts, and the method."""
        tests = [self.interactions_table()] if len(self.interactions) > 1 else []
        tables = [self.to_table()]
        if len(self.systems) == 2:  # noqa: PLR2004 - a pair
            tables = [self._table_of_pair(measure) for measure in self.measures]
        are_compared = any(slice_.differences for slice_ in self.slices)
        notes = list(self._limits())
        if any(test.p is not None for test in self.interactions):
            notes.append(ONLY_TEST)
        return Document(
            heading="By slice",
            warnings=warnings_of(self.coverage),
            sentences=list(map(Sentence, self.interaction_sentences())),
            tables=[table for table in tables if are_compared and table.rows],
            notes=notes,
            details=lambda: [
                *(Document(heading="Gains between slices", tables=[table]) for table in tests),
                Document(
                    heading="The evidence by slice",
                    tables=[self.differences_table()],
                    notes=list(self._notes()),
                ),
            ],
        )

    def interaction_sentences(self) -> list[str]:
        """Return whether differences depend on the slices."""
        return list(interaction_sentences(self.interactions))

    def interactions_table(self) -> Table:
        """Return a table of the tests of whether gains differ between slices."""
        columns: dict[str, Callable[[Interaction], str]] = {
            "slices of": lambda test: test.column,
            "measure": lambda test: test.measure,
            "system": lambda test: test.system,
            "against": lambda test: test.against,
            "slices": lambda test: str(test.num_slices),
            "queries": lambda test: str(test.num_queries),
            "p": lambda test: known_p_text(test.p),
            "corrected p": lambda test: known_p_text(test.p_corrected),
            "gain between slices": lambda test: test.verdict,
        }
        return table_of(self.interactions, columns)

    def differences_table(self) -> Table:
        """Return a table of every difference in every slice, with its evidence and verdict."""
        pairs = [(slice_, pair) for slice_ in self.slices for pair in slice_.differences]
        number = len(pairs) // len(self.measures)
        table = pairs_table([pair for _, pair in pairs], self.settings, number)
        rows = [
            (self.slice_name(slice_), str(pair.num_queries), *row)
            for (slice_, pair), row in zip(pairs, table.rows, strict=True)
        ]
        return Table(("slice", "queries", *table.header), rows)

    def to_csv(self) -> str:
        """Return every difference of every slice with its evidence as CSV, one per line.

        A slice too small for a measure has a line without evidence: column, slice, number of
        queries and measure. The column "interaction_p_corrected" has the corrected p of the test
        of whether the difference of this pair differs between the slices of the column; it is empty
        if that was not tested. The last column, "warning", holds the warnings on the two systems;
        it is mostly empty.
        """
        has_differences = any(slice_.differences for slice_ in self.slices)
        fields = [name for name in Difference.model_fields if has_differences and name != "measure"]
        header = ("column", "slice", "slice_queries", "measure", *fields, "interaction_p_corrected")
        rows: list[Sequence[object]] = [header]
        systems_of_rows: list[Sequence[str]] = []
        p_between = {
            (test.measure, test.column, _pair_of(test)): test.p_corrected
            for test in self.interactions
        }
        for slice_ in self.slices:
            slice_columns = (slice_.column, slice_.label, slice_.num_queries)
            for pair in slice_.differences:
                evidence = (getattr(pair, field) for field in fields)
                p = p_between[pair.measure, slice_.column, _pair_of(pair)]
                rows.append((*slice_columns, pair.measure, *evidence, p))
                systems_of_rows.append((pair.system, pair.against))
            for measure in slice_.too_small:
                rows.append((*slice_columns, measure, *[""] * (len(fields) + 1)))
                systems_of_rows.append(())
        return with_warning_column(rows, self.coverage, systems_of_rows)

    def _limits(self) -> Iterator[str]:
        """Yield what limits the table."""
        if any(mean.repeats > 1 for mean in self.whole.means):
            yield "repeats are averaged: what is said of slices holds for these repeats only"
        if self.baseline is None and len(self.systems) > 2:  # noqa: PLR2004 - all pairs
            yield "> names the systems that this system is better than"
        small: dict[str, list[str]] = {}
        for slice_ in filter(lambda slice_: slice_.too_small, self.slices):
            whole = len(slice_.too_small) == len(self.measures)
            of_measures = "" if whole else f" on {', '.join(slice_.too_small)}"
            named = f"{self.slice_name(slice_)} ({number_of(slice_.num_queries, 'query')})"
            small.setdefault(of_measures, []).append(named)
        for of_measures, names in small.items():
            yield f"fewer than 2 queries with a score{of_measures}, not compared: {some_of(names)}"
        yield from small_slices_notes(self.interactions)
        yield from source_notes(self.computed_elsewhere, self.custom_measures)
        yield from left_out_notes(self.left_out)

    def _notes(self) -> Iterator[str]:
        """Yield how the tests were made."""
        yield queries_only_note()
        yield from interaction_notes(self.interactions, self.settings)
        yield (
            f"corrected by {self.settings.correction} over all slices and pairs of a measure; "
            f"better and worse at {self.settings.alpha:g}"
        )


def _pair_of(record: Interaction | Difference) -> tuple[str, ...]:
    """Return the names of the two systems of a record in sorted order."""
    return tuple(sorted((record.system, record.against)))
