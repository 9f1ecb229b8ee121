"""What a comparison by slices found: ``SlicedComparison``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import BaseModel

from beir_eval.comparison.records import ComparisonSettings, Difference, SystemMean
from beir_eval.comparison.tables import (
    COLUMNS,
    difference_cells,
    left_out_notes,
    mean_cell,
    sentence,
)
from beir_eval.core.saved import FROZEN, Saved, stated_in_full
from beir_eval.display.tables import Cell, Table, csv_text, markdown_list, number
from beir_eval.errors import NotEvaluatedError, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Slice(BaseModel):
    """The queries of one label.

    Attributes:
        column: the column that the label is of.
        label: the label; "(none)" for the queries that have none.
        num_queries: how many they are.
        too_small: the measures for which fewer than two of them have a score, so that nothing can
            be compared.
        means: every system on every other measure.
        differences: every pair on every other measure, corrected over all slices.
    """

    model_config = FROZEN

    column: str
    label: str
    num_queries: int
    too_small: tuple[str, ...]
    means: tuple[SystemMean, ...]
    differences: tuple[Difference, ...]


class SlicedComparison(Saved):
    """What a comparison by slices found; frozen, saved as JSON.

    Attributes:
        schema_version: the version of this layout.
        systems: names, in the order given. [S]
        baseline: the system that the others are compared with; None where all pairs are.
        measures: canonical names. [M]
        num_queries: queries that all systems have.
        columns: names of the columns.
        slices: every slice of every column, those too small to compare included.
        settings: how the verdicts were reached.
        left_out: queries that a system has and others have not, by system.
    """

    WHAT: ClassVar[str] = "comparison by slices"

    systems: tuple[str, ...]
    baseline: str | None
    measures: tuple[str, ...]
    num_queries: int
    columns: tuple[str, ...]
    slices: tuple[Slice, ...]
    settings: Annotated[ComparisonSettings, stated_in_full(ComparisonSettings)]
    left_out: dict[str, int]

    def slice(self, label: str, column: str | None = None) -> Slice:
        """Return one slice; the column may be left out where just one has the label.

        Raises:
            NotEvaluatedError: there is no such slice, or several columns have one.
        """
        found = [one for one in self.slices if one.label == label and column in (None, one.column)]
        if len(found) == 1:
            return found[0]
        if found:
            columns = some(one.column for one in found)
            msg = f"several columns have a slice {label!r}; name one of {columns}"
            raise NotEvaluatedError(msg)
        there = [one.label for one in self.slices if column in (None, one.column)]
        msg = f"there is no slice {label!r}; there are {some(there) or 'none'}"
        raise NotEvaluatedError(msg)

    @property
    def too_small(self) -> Sequence[Slice]:
        """The slices in which nothing could be compared."""
        return [one for one in self.slices if len(one.too_small) == len(self.measures)]

    # Other shapes

    def to_table(self) -> Table:
        """Return slices × systems: means, with a mark where a verdict was reached.

        A row for each slice and measure; the first column names the slice.
        """
        rows = [
            self._row(one, measure)
            for one in self.slices
            for measure in self.measures
            if measure not in one.too_small
        ]
        return Table(("slice", "queries", "measure", *self.systems), rows)

    def _row(self, one: Slice, measure: str) -> list[str | Cell]:
        mean = {each.system: each.mean for each in one.means if each.measure == measure}
        cells = [self._mean_cell(one, measure, system, mean[system]) for system in self.systems]
        return [self._name(one), str(one.num_queries), measure, *cells]

    def _mean_cell(self, one: Slice, measure: str, system: str, mean: float) -> str | Cell:
        """Return a mean: with the mark against the baseline, or what the system is better than."""
        mine = [
            each if each.system == system else each.reversed()
            for each in one.differences
            if each.measure == measure and system in (each.system, each.against)
        ]
        if self.baseline is not None:
            return mean_cell(mean, "" if system == self.baseline else mine[0].verdict)
        beaten = [each.against for each in mine if each.verdict == "better"]
        return f"{number(mean)} > {', '.join(beaten)}" if beaten else number(mean)

    def _name(self, one: Slice) -> str:
        """Return a slice's name for a table: with its column where there are several."""
        return one.label if len(self.columns) == 1 else f"{one.column}: {one.label}"

    def to_markdown(self) -> str:
        """Return verdicts, means, differences and notes as GitHub-flavoured markdown."""
        margin = self.settings.margin
        listed = [(self._name(one), each) for one in self.slices for each in one.differences]
        verdicts = markdown_list(
            f"{name}: {sentence(each, margin)}"
            for name, each in listed
            if each.verdict in ("better", "worse")
        )
        tables = f"{self.to_table().markdown()}\n\n{self._differences_table().markdown()}"
        notes = markdown_list(self.notes())
        return (f"{verdicts}\n" if verdicts else "") + f"{tables}\n\n{notes}"

    def _differences_table(self) -> Table:
        margin = self.settings.margin
        rows = [
            (self._name(one), str(each.num_queries), *difference_cells(each, margin).values())
            for one in self.slices
            for each in one.differences
        ]
        return Table(("slice", "queries", *COLUMNS), rows)

    def to_csv(self) -> str:
        """Return every difference of every slice with its evidence, one a line.

        A slice that is too small for a measure has a line too, empty but for its number of queries.
        """
        known = any(one.differences for one in self.slices)
        fields = [one for one in (Difference.model_fields if known else ()) if one != "measure"]
        rows: list[Sequence[object]] = [("column", "slice", "slice_queries", "measure", *fields)]
        for one in self.slices:
            start = (one.column, one.label, one.num_queries)
            rows += [
                (*start, each.measure, *(getattr(each, field) for field in fields))
                for each in one.differences
            ]
            rows += [(*start, measure, *[""] * len(fields)) for measure in one.too_small]
        return csv_text(rows)

    def notes(self) -> list[str]:
        """Return what a reader of the tables must know."""
        return list(self._notes())

    def _notes(self) -> Iterator[str]:
        settings = self.settings
        for measure in self.measures:
            count = sum(each.measure == measure for one in self.slices for each in one.differences)
            yield (
                f"{measure}: corrected by {settings.correction} over the {count} comparisons of "
                f"all slices; better and worse at {settings.alpha:g}"
            )
        yield (
            "intervals are those of single differences, not corrected. A system that is better in "
            "one slice and undecided in another has not been shown to gain more in the first"
        )
        yield (
            "▲ better than the baseline, ▼ worse, = equal within the margin"
            if self.baseline is not None
            else "> names the systems that one is better than"
        )
        for one in self.slices:
            if one.too_small:
                all_of_them = len(one.too_small) == len(self.measures)
                measures = "" if all_of_them else f" with a score for {', '.join(one.too_small)}"
                yield (
                    f"{self._name(one)}: too small, {one.num_queries} "
                    f"{'query' if one.num_queries == 1 else 'queries'}"
                    f"{measures and ', fewer than 2'}{measures}"
                )
        yield from left_out_notes(self.left_out)

    def _repr_html_(self) -> str:
        return self.to_table().html()

    def __repr__(self) -> str:
        """Return what it is, not the content."""
        return f"SlicedComparison({len(self.to_table().rows)} rows)"
