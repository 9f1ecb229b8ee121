"""The command ``beir-eval audit``: what a published mean on so many queries supports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from beir_eval.cli.console import check_targets, console, print_errors
from beir_eval.cli.results_output import write_texts


def audit(  # noqa: PLR0913, PLR0917 - one parameter per option
    queries: Annotated[int, typer.Option("-n", "--queries", min=1, help="The number of queries.")],
    value: Annotated[str, typer.Option("-v", "--value", help="The mean as printed, from 0 to 1.")],
    baseline: Annotated[
        str | None,
        typer.Option(
            "-b",
            "--baseline-value",
            help="The mean that it is compared with, on the same queries.",
        ),
    ] = None,
    measure: Annotated[
        str | None, typer.Option("-m", "--measure", help="The measure: some score 0 or 1 only.")
    ] = None,
    binary: Annotated[
        bool | None,
        typer.Option(
            "--binary/--no-binary",
            help="Whether every score is 0 or 1; by default the measure decides.",
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="The level of the test and the intervals.")] = 0.05,
    json: Annotated[Path | None, typer.Option(help="Write all numbers.")] = None,
) -> None:
    """Show what a published mean supports, and whether a difference can be significant."""
    with print_errors():
        from beir_eval.comparison.claims import audit_claim  # noqa: PLC0415

        check_targets([], [json])
        result = audit_claim(queries, value, baseline, measure=measure, binary=binary, alpha=alpha)
        write_texts({json: result.model_dump_json})
        for sentence in result.sentences():
            console.print(Text(sentence))
