"""The command ``beir-eval measures``: the list of measures, or one of them."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from beir_eval.cli.console import clear_errors, console, new_table
from beir_eval.measures import JUDGED_ONLY, Definition, definition_of, definitions


def measures(
    name: Annotated[
        str | None, typer.Argument(help="Show this one: definition and source.")
    ] = None,
) -> None:
    """List the measures, or show one with its formula, source and an example."""
    with clear_errors():
        if name is None:
            console.print(_measures_table())
            console.print("Parameters go in brackets, the cutoff behind @: Precision(rel=2)@5")
            return
        found = definition_of(name)
        console.print(f"[bold]{escape(found.name)}[/bold]  ({_parameters_of(found)})")
        console.print(found.documentation, markup=False)


def _measures_table() -> Table:
    """Return all measures with the first line of their definitions."""
    table = new_table()
    table.add_column("measure", no_wrap=True)
    table.add_column("what it is")
    table.add_column("also known as", overflow="fold")
    for definition in definitions().values():
        aliases = [alias for alias in definition.aliases if alias != definition.name.lower()]
        table.add_row(definition.name, definition.summary, ", ".join(aliases))
    return table


def _parameters_of(definition: Definition) -> str:
    cutoff = {"none": "no cutoff", "optional": "cutoff optional"}
    named = ", ".join([*definition.defaults, JUDGED_ONLY])
    return f"parameters: {named}; {cutoff[definition.cutoff]}"
