"""The command ``beir-eval fuse``: write one run from several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from beir_eval.adapters.writers import write_run
from beir_eval.cli.console import check_targets, console, print_errors
from beir_eval.cli.input_files import opened_inputs
from beir_eval.cli.option_sets import takes_options
from beir_eval.cli.options import RunReading, read_runs, run_files
from beir_eval.errors import SettingError
from beir_eval.fusion import METHODS, NORMALISATIONS
from beir_eval.fusion import fuse as fused_run


@takes_options
def fuse(
    runs: Annotated[list[Path], typer.Argument(help="Run files, two or more, or a folder.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The run file to write.", metavar="FILE")
    ],
    *,
    method: Annotated[
        str, typer.Option(help=f"One of: {', '.join(METHODS)}.", metavar="NAME")
    ] = METHODS[0],
    weights: Annotated[
        str | None,
        typer.Option(help="A number for each run, such as .7,.3.", metavar="NUMBERS"),
    ] = None,
    normalise: Annotated[
        str | None,
        typer.Option(
            help=f"Make scores comparable for sum and max. One of: {', '.join(NORMALISATIONS)}.",
            metavar="NAME",
        ),
    ] = None,
) -> None:
    """Fuse runs by ranks (rrf) or scores, and write the fused run."""
    with print_errors(), opened_inputs(runs) as inputs:
        files = run_files(inputs)
        check_targets(files, [output])
        fused = fused_run(
            read_runs(files, RunReading()),
            method,
            weights=None if weights is None else _numbers(weights),
            normalise=normalise,
        )
        write_run(fused, output)
        console.print(Text(f"{output}: {len(fused):,} queries, {len(files)} runs fused"))


def _numbers(text: str) -> list[float]:
    """Return the numbers of ``--weights``."""
    try:
        return [float(number) for number in text.split(",")]
    except ValueError as error:
        msg = f"--weights {text}: numbers with commas between them were expected, such as .7,.3"
        raise SettingError(msg) from error
