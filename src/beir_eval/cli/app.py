"""The typer application ``app``, with all commands of ``beir-eval`` registered."""

from __future__ import annotations

from typing import Annotated

import typer

from beir_eval._version import __version__
from beir_eval.cli.agree import agree
from beir_eval.cli.audit import audit
from beir_eval.cli.bench import bench
from beir_eval.cli.compare import compare
from beir_eval.cli.console import console
from beir_eval.cli.convert import convert
from beir_eval.cli.datasets import list_datasets
from beir_eval.cli.demo import demo
from beir_eval.cli.evaluate import evaluate
from beir_eval.cli.haystack import haystack
from beir_eval.cli.measures import measures
from beir_eval.cli.power import power
from beir_eval.cli.validate import validate

app = typer.Typer(
    help="Evaluate retrieval: the BEIR measures, exact, and honest about what was counted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _print_version(
    *, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    if version:
        console.print(f"beir-eval {__version__}", highlight=False)
        raise typer.Exit


# The help lists the commands in this order: the most used first.
app.command(short_help="Evaluate runs and print the means.")(evaluate)
app.command(short_help="Compare systems: is one better?")(compare)
app.command(short_help="Report what is suspicious in qrels and runs.")(validate)
app.command(short_help="Evaluate many runs on many data sets.")(bench)
app.command(short_help="Evaluate a Haystack pipeline.")(haystack)
app.command(short_help="Show how alike two runs rank.")(agree)
app.command(short_help="Show what judged queries can detect.")(power)
app.command(short_help="Show what a published mean supports.")(audit)
app.command(short_help="List the measures, or show one.")(measures)
app.command("datasets", short_help="List BEIR's data sets, or show one.")(list_datasets)
app.command(short_help="Write a run in another format.")(convert)
app.command(short_help="Evaluate the bundled runs and write a report.")(demo)
