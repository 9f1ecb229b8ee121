"""A comparison by slices as text: markdown, CSV."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from beir_eval.comparison.tables import COLUMNS, MARKS, difference_cells, sentence
from beir_eval.display.tables import Table, markdown_text, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.comparison.records import Difference
    from beir_eval.comparison.slices.records import Slice, Sliced


def to_table(sliced: Sliced) -> Table:
    """Return slices × systems: means, with a mark where a verdict was reached.

    A line for each slice and measure; the first column names the slice.
    """
    header = ("slice", "queries", "measure", *sliced.systems)
    rows = [
        _row(sliced, one, measure)
        for one in sliced.slices
        for measure in sliced.measures
        if measure not in one.too_small
    ]
    return Table(header, rows)


def _row(sliced: Sliced, one: Slice, measure: str) -> list[str]:
    mean = {each.system: each.mean for each in one.means if each.measure == measure}
    cells = [
        f"{number(mean[system])} {_marks(sliced, one, measure, system)}".strip()
        for system in sliced.systems
    ]
    return [name_of(sliced, one), str(one.num_queries), measure, *cells]


def _marks(sliced: Sliced, one: Slice, measure: str, system: str) -> str:
    """Return the mark against the baseline; for all pairs the systems that it is better than."""
    mine = [
        each if each.system == system else each.reversed()
        for each in one.differences
        if each.measure == measure and system in (each.system, each.against)
    ]
    if sliced.baseline is not None:
        return "" if system == sliced.baseline else MARKS[mine[0].verdict]
    beaten = [each.against for each in mine if each.verdict == "better"]
    return f"> {', '.join(beaten)}" if beaten else ""


def name_of(sliced: Sliced, one: Slice) -> str:
    """Return a slice's name for a table: with its column where there are several."""
    return one.label if len(sliced.columns) == 1 else f"{one.column}: {one.label}"


def differences_table(sliced: Sliced) -> Table:
    """Return every difference of every slice with its evidence."""
    margin = sliced.settings.margin
    rows = [
        (name_of(sliced, one), str(each.num_queries), *difference_cells(each, margin))
        for one in sliced.slices
        for each in one.differences
    ]
    return Table(("slice", "queries", *COLUMNS), rows)


def notes_of(sliced: Sliced) -> Iterator[str]:
    """Yield what a reader of the tables must know."""
    settings = sliced.settings
    for measure in sliced.measures:
        count = sum(each.measure == measure for one in sliced.slices for each in one.differences)
        yield (
            f"{measure}: corrected by {settings.correction} over the {count} comparisons of all "
            f"slices; better and worse at {settings.alpha:g}"
        )
    yield (
        "intervals are those of single differences, not corrected. A system that is better in one "
        "slice and undecided in another has not been shown to gain more in the first"
    )
    yield (
        "▲ better than the baseline, ▼ worse, = equal within the margin"
        if sliced.baseline is not None
        else "> names the systems that one is better than"
    )
    for one in sliced.slices:
        if one.too_small:
            all_of_them = len(one.too_small) == len(sliced.measures)
            measures = "" if all_of_them else f" with a score for {', '.join(one.too_small)}"
            yield (
                f"{name_of(sliced, one)}: too small, {one.num_queries} "
                f"{'query' if one.num_queries == 1 else 'queries'}{measures and ', fewer than 2'}"
                f"{measures}"
            )
    for system, count in sliced.left_out.items():
        yield f"{system}: {count} queries left out that others do not have"


def to_markdown(sliced: Sliced) -> str:
    """Return verdicts that were reached, means, differences and notes."""
    verdicts = "".join(
        f"- {markdown_text(_sentence(sliced, one, each))}\n"
        for one in sliced.slices
        for each in one.differences
        if each.verdict in ("better", "worse")
    )
    notes = "".join(f"- {markdown_text(note)}\n" for note in notes_of(sliced))
    tables = f"{to_table(sliced).markdown()}\n\n{differences_table(sliced).markdown()}"
    return (f"{verdicts}\n" if verdicts else "") + f"{tables}\n\n{notes}"


def _sentence(sliced: Sliced, one: Slice, each: Difference) -> str:
    return f"{name_of(sliced, one)}: {sentence(each, sliced.settings.margin)}"


def to_csv(sliced: Sliced) -> str:
    """Return every difference, one a line, with its slice and all its fields.

    A slice that is too small for a measure has a line too, empty but for its number of queries.
    """
    listed = [each for one in sliced.slices for each in one.differences]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    fields = [one for one in (type(listed[0]).model_fields if listed else ()) if one != "measure"]
    writer.writerow(("column", "slice", "slice_queries", "measure", *fields))
    for one in sliced.slices:
        start = (one.column, one.label, one.num_queries)
        for each in one.differences:
            writer.writerow((*start, each.measure, *(getattr(each, field) for field in fields)))
        for measure in one.too_small:
            writer.writerow((*start, measure, *[""] * len(fields)))
    return text.getvalue()
