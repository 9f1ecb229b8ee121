"""The typer application ``app``, with all commands of ``beir-eval`` registered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from beir_eval._version import __version__
from beir_eval.cli.agree import agree
from beir_eval.cli.audit import audit
from beir_eval.cli.bench import bench
from beir_eval.cli.compare import compare
from beir_eval.cli.console import console, fail
from beir_eval.cli.convert import convert
from beir_eval.cli.datasets import list_datasets
from beir_eval.cli.demo import demo
from beir_eval.cli.evaluate import evaluate
from beir_eval.cli.haystack import haystack
from beir_eval.cli.ledger import add, show
from beir_eval.cli.measures import measures
from beir_eval.cli.power import power
from beir_eval.cli.validate import validate

if TYPE_CHECKING:
    from collections.abc import Callable

#: An example of each command, shown below its help and in the documentation.
EXAMPLES = {
    "evaluate": "beir-eval evaluate qrels.trec bm25.trec -m nDCG@10 -m Recall@100",
    "compare": "beir-eval compare qrels.trec bm25.trec dense.trec --baseline bm25",
    "validate": "beir-eval validate scifact bm25.trec dense.trec --strict",
    "bench": "beir-eval bench DATASETS RUNS --baseline bm25 --markdown table.md",
    "haystack": "beir-eval haystack bm25.yaml path/to/scifact --index -m nDCG@10",
    "ledger add": "beir-eval ledger add run.jsonl step-100.json --baseline bm25.json -m nDCG@10",
    "ledger show": "beir-eval ledger show run.jsonl --markdown looks.md",
    "agree": "beir-eval agree bm25.trec dense.trec -k 100",
    "power": "beir-eval power qrels.trec -m nDCG@10",
    "audit": "beir-eval audit -n 10 -m Recall@5 -v 1.00 -b 0.70",
    "measures": "beir-eval measures nDCG",
    "datasets": "beir-eval datasets arguana",
    "convert": "beir-eval convert bm25.trec bm25.parquet",
    "demo": "beir-eval demo --html demo.html",
}

app = typer.Typer(
    help="Evaluate retrieval: the BEIR measures, exact, and honest about what was counted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"Example: {EXAMPLES['compare']}",
)


@app.callback(invoke_without_command=True)
def _print_version(
    *, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    if version:
        console.print(f"beir-eval {__version__}", highlight=False)
        raise typer.Exit


class _Command(TyperCommand):
    """A command that refuses empty arguments, and names ``--measure`` for ``--metric``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, or end the command with one line and exit code 2."""
        has_measures = any("--measure" in parameter.opts for parameter in self.params)
        for before, argument in zip(["", *args], args, strict=False):
            name, equals, value = argument.partition("=")
            is_option = name.startswith("--")
            # An empty path would mean the current folder.
            if not argument or (is_option and equals and not value):
                option = name or (before if before.startswith("-") else "")
                what = f"{option} has an empty value" if option else "an argument is an empty path"
                fail(f"{what}; if it is a variable of the shell, set it")
            if name in {"--metric", "--metrics"} and has_measures:
                fail(f"there is no option {name}; did you mean --measure (-m)?")
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed


def _register(
    name: str, command: Callable[..., None], short_help: str, group: typer.Typer = app
) -> None:
    """Add a command, with its example below its help.

    Args:
        name: the name; that of a command in a group begins with the name of the group.
        command: the function.
        short_help: its description in the list of commands.
        group: the application, or a group of commands.
    """
    last_word = name.rpartition(" ")[2]
    epilog = f"Example: {EXAMPLES[name]}"
    group.command(last_word, cls=_Command, short_help=short_help, epilog=epilog)(command)


# The help lists the commands in this order: the most used first.
_register("evaluate", evaluate, "Evaluate runs and print the means.")
_register("compare", compare, "Compare systems: is one better?")
_register("validate", validate, "Report what is suspicious in qrels and runs.")
_register("bench", bench, "Evaluate many runs on many data sets.")
_register("haystack", haystack, "Evaluate a Haystack pipeline.")
_ledger = typer.Typer(
    help="Record each look at a test set during training; verdicts that hold over all looks.",
    no_args_is_help=True,
    rich_markup_mode=None,
    epilog=f"Example: {EXAMPLES['ledger add']}",
)
app.add_typer(_ledger, name="ledger", short_help="Record looks at a test set during training.")
_register("ledger add", add, "Record checkpoints.", _ledger)
_register("ledger show", show, "Print all looks.", _ledger)
_register("agree", agree, "Show how alike two runs rank.")
_register("power", power, "Show what judged queries can detect.")
_register("audit", audit, "Show what a published mean supports.")
_register("measures", measures, "List the measures, or show one.")
_register("datasets", list_datasets, "List BEIR's data sets, or show one.")
_register("convert", convert, "Write a run in another format.")
_register("demo", demo, "Evaluate the bundled runs and write a report.")
