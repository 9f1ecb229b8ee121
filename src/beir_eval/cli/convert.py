"""The command ``beir-eval convert``: write a run, or judgements, in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from beir_eval.adapters.formats import RUN_FORMATS
from beir_eval.adapters.readers import read_qrels, read_run
from beir_eval.adapters.writers import write_qrels, write_run
from beir_eval.cli.console import console, print_errors

#: The usual file ending of each format that can be written.
_ENDINGS = ", ".join(row.endings[0] for row in RUN_FORMATS.formats if row.write)


def convert(
    source: Annotated[Path, typer.Argument(help="The file to read; its content tells its format.")],
    target: Annotated[
        Path, typer.Argument(help=f"The file to write: {_ENDINGS}, also .gz or .zst.")
    ],
    *,
    qrels: Annotated[
        bool, typer.Option("--qrels", help="The file holds judgements, not a run.")
    ] = False,
    read_as: Annotated[
        str | None, typer.Option("--from", help="The format of SOURCE, if it is to be stated.")
    ] = None,
    write_as: Annotated[
        str | None, typer.Option("--to", help="The format of TARGET, if its name does not say.")
    ] = None,
) -> None:
    """Write a run (or judgements) in another format; no number changes."""
    with print_errors():
        if qrels:
            judgements = read_qrels(source, format=read_as)
            write_qrels(judgements, target, format=write_as)
            console.print(
                Text(f"{target}: {len(judgements.doc_ids)} judgements of {len(judgements)} queries")
            )
        else:
            run = read_run(source, format=read_as)
            write_run(run, target, format=write_as)
            console.print(Text(f"{target}: {len(read_run(target))} queries"))
