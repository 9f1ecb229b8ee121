"""The command ``beir-eval convert``: write a run, or judgements, in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from beir_eval.adapters.formats import RUN_FORMATS
from beir_eval.adapters.readers import read_qrels, read_run
from beir_eval.adapters.writers import write_qrels, write_run
from beir_eval.cli.console import check_targets, console, naming_options, print_errors
from beir_eval.cli.input_files import opened_inputs
from beir_eval.cli.option_sets import ColumnOptions, takes_options
from beir_eval.cli.options import stated_columns

#: The usual file ending of each format that can be written.
_ENDINGS = ", ".join(row.endings[0] for row in RUN_FORMATS.formats if row.write)


@takes_options
def convert(  # noqa: PLR0913 - one parameter per option
    source: Annotated[
        Path,
        typer.Argument(
            help="The file to read, or - for standard input; its content tells the format."
        ),
    ],
    target: Annotated[
        Path, typer.Argument(help=f"The file to write: {_ENDINGS}, also .gz or .zst.")
    ],
    *,
    qrels: Annotated[
        bool, typer.Option("--qrels", help="The file holds judgements, not a run.")
    ] = False,
    read_as: Annotated[
        str | None,
        typer.Option("--from", help="The format of SOURCE; by default detected.", metavar="NAME"),
    ] = None,
    write_as: Annotated[
        str | None,
        typer.Option(
            "--to", help="The format of TARGET, if its name does not say.", metavar="NAME"
        ),
    ] = None,
    tables: ColumnOptions,
) -> None:
    """Write a run (or judgements) in another format; no number changes."""
    with print_errors(), opened_inputs([source]) as [source_file]:
        check_targets([source_file], [target])
        if qrels:
            with naming_options(format="--from"), stated_columns(tables) as names:
                judgements = read_qrels(source_file, format=read_as, columns=names)
            with naming_options(format="--to"):
                write_qrels(judgements, target, format=write_as)
            console.print(
                Text(f"{target}: {len(judgements.doc_ids)} judgements of {len(judgements)} queries")
            )
        else:
            with naming_options(format="--from"), stated_columns(tables) as names:
                run = read_run(source_file, format=read_as, columns=names)
            with naming_options(format="--to"):
                write_run(run, target, format=write_as)
            console.print(Text(f"{target}: {len(read_run(target))} queries"))
