"""The command ``beir-eval list``: list the measures or BEIR's data sets, or describe one."""

from __future__ import annotations

from typing import Annotated

import typer
from rich import box
from rich.markup import escape
from rich.table import Table as RichTable

from beir_eval.cli.console import console, print_errors, print_table
from beir_eval.display.tables import Table
from beir_eval.errors import check_choice
from beir_eval.measures import JUDGED_ONLY, Definition, definition_of, definitions


def list_all(
    kind: Annotated[str, typer.Argument(help="measures or datasets.")],
    name: Annotated[
        str | None,
        typer.Argument(
            help="Show this one: the formula, source and example of a measure, or all that is "
            "known of a data set."
        ),
    ] = None,
) -> None:
    """List the measures, or BEIR's data sets and their conventions; or show one."""
    with print_errors():
        check_choice("KIND", kind, ("measures", "datasets"))
        if kind == "measures":
            _print_measures(name)
        else:
            _print_datasets(name)


def _print_measures(name: str | None) -> None:
    """Print a table of all measures, or the definition of one."""
    if name is None:
        console.print(_measures_table())
        console.print("Parameters go in brackets, the cutoff behind @: Precision(rel=2)@5")
        return
    definition = definition_of(name)
    console.print(f"[bold]{escape(definition.name)}[/bold]  ({_parameters_text(definition)})")
    console.print(definition.documentation, markup=False)


def _measures_table() -> RichTable:
    """Return a table of all measures: name, first line of the documentation, other names."""
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("measure", no_wrap=True)
    table.add_column("what it is")
    table.add_column("also known as", overflow="fold")
    for definition in definitions().values():
        aliases = [alias for alias in definition.aliases if alias != definition.name.lower()]
        table.add_row(definition.name, definition.summary, ", ".join(aliases))
    return table


def _parameters_text(definition: Definition) -> str:
    """Return the names of the parameters, and whether the measure takes a cutoff."""
    cutoff_texts = {"none": "no cutoff", "optional": "cutoff optional"}
    names = ", ".join([*definition.defaults, JUDGED_ONLY])
    return f"parameters: {names}; {cutoff_texts[definition.cutoff]}"


def _print_datasets(name: str | None) -> None:
    """Print a table of BEIR's data sets, or all that is known of one."""
    from beir_eval.datasets.catalogue import DATASETS, info_of  # noqa: PLC0415

    if name is not None:
        info = info_of(name)
        values = {field: getattr(info, field) for field in type(info).__slots__} | {"url": info.url}
        for field, value in values.items():
            console.print(f"{field}: {_value_text(value)}", markup=False)
        return
    columns = ("name", "split", "queries", "documents", "rel/query", "BM25 nDCG@10", "notes")
    rows = []
    for info in DATASETS.values():
        marks = {
            "graded": info.graded,
            "drop identical ids": info.drop_identical_ids,
            f"mean of {len(info.parts)}": info.parts,
            "not public": not info.url,
        }
        bm25 = "" if info.bm25[0] is None else f"{info.bm25[0]:.4f}"
        counts = (f"{info.queries:,}", f"{info.documents:,}", f"{info.relevant_per_query}")
        notes = ", ".join(mark for mark, applies in marks.items() if applies)
        rows.append((info.name, info.split, *counts, bm25, notes))
    print_table(Table(columns, rows))


def _value_text(value: object) -> str:
    """Return the value of a field as text; None and empty values become "-"."""
    if isinstance(value, tuple):
        return ", ".join("-" if item is None else str(item) for item in value) or "-"
    return "-" if value is None or value == "" else str(value)
