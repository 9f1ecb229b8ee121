"""The command ``beir-eval list measures``: list the measures, or describe one."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from beir_eval.cli.console import console, new_table, print_errors
from beir_eval.measures import JUDGED_ONLY, Definition, definition_of, definitions

_NO_DOCSTRINGS = (
    "No description: Python runs with -OO, which removes it. Run without -OO to see formula and "
    "source."
)


def measures(
    name: Annotated[
        str | None, typer.Argument(help="Show this one: definition and source.")
    ] = None,
) -> None:
    """List the measures, or show one with its formula, source and an example."""
    with print_errors():
        if name is None:
            console.print(_measures_table())
            if not any(definition.summary for definition in definitions().values()):
                console.print(_NO_DOCSTRINGS)
            console.print("Parameters go in brackets, the cutoff behind @: Precision(rel=2)@5")
            return
        definition = definition_of(name)
        console.print(f"[bold]{escape(definition.name)}[/bold]  ({_parameters_text(definition)})")
        console.print(definition.documentation or _NO_DOCSTRINGS, markup=False)


def _measures_table() -> Table:
    """Return a table of all measures: name, first line of the documentation, other names."""
    table = new_table()
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
