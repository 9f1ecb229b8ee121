"""The commands of ``beir-eval``, and the typer application of all of them or of one."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from beir_eval._version import __version__
from beir_eval.cli.console import console, fail
from beir_eval.core.imports import import_name

if TYPE_CHECKING:
    from collections.abc import Sequence

#: {name: the function, and its description in the list of commands}. The help lists the commands in
#: this order: the most used first. The name of a command in a group begins with that of the group.
COMMANDS = {
    "evaluate": ("beir_eval.cli.evaluate:evaluate", "Evaluate runs and print the means."),
    "compare": ("beir_eval.cli.compare:compare", "Compare systems: is one better?"),
    "validate": ("beir_eval.cli.validate:validate", "Report what is suspicious in qrels and runs."),
    "bench": ("beir_eval.cli.bench:bench", "Evaluate many runs on many data sets."),
    "haystack": ("beir_eval.cli.haystack:haystack", "Evaluate or compare Haystack pipelines."),
    "retrieve": (
        "beir_eval.cli.retrieve:retrieve",
        "Run the queries through a server or a command.",
    ),
    "ledger add": ("beir_eval.cli.ledger:add", "Record checkpoints."),
    "ledger show": ("beir_eval.cli.ledger:show", "Print all looks."),
    "agree": ("beir_eval.cli.agree:agree", "Show how alike two runs rank."),
    "power": ("beir_eval.cli.power:power", "Show what judged queries can detect."),
    "measures": ("beir_eval.cli.measures:measures", "List the measures, or show one."),
    "datasets": ("beir_eval.cli.datasets:list_datasets", "List BEIR's data sets, or show one."),
    "convert": ("beir_eval.cli.convert:convert", "Write a run in another format."),
    "demo": ("beir_eval.cli.demo:demo", "Evaluate the bundled runs and write a report."),
}
#: {name of a group of commands: its help, and its description in the list of commands}
_GROUPS = {
    "ledger": (
        "Record each look at a test set during training; verdicts that hold over all looks.",
        "Record looks at a test set during training.",
    )
}
#: An example of each command, shown below its help and in the documentation.
EXAMPLES = {
    "evaluate": "beir-eval evaluate qrels.trec bm25.trec -m nDCG@10 -m Recall@100",
    "compare": "beir-eval compare qrels.trec bm25.trec dense.trec --baseline bm25",
    "validate": "beir-eval validate scifact bm25.trec dense.trec --strict",
    "bench": "beir-eval bench DATASETS RUNS --baseline bm25 --markdown table.md",
    "haystack": "beir-eval haystack bm25.yaml path/to/scifact --index -m nDCG@10",
    "retrieve": "beir-eval retrieve scifact --url 'http://localhost:8080/search?q={query}' "
    "--results data.hits --id document_id --output run.trec",
    "ledger add": "beir-eval ledger add run.jsonl step-100.json --baseline bm25.json -m nDCG@10",
    "ledger show": "beir-eval ledger show run.jsonl --markdown looks.md",
    "agree": "beir-eval agree bm25.trec dense.trec -k 100",
    "power": "beir-eval power qrels.trec -m nDCG@10",
    "measures": "beir-eval measures nDCG",
    "datasets": "beir-eval datasets arguana",
    "convert": "beir-eval convert bm25.trec bm25.parquet",
    "demo": "beir-eval demo --html demo.html",
}


def make_app(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the application with the command that the arguments name, or with all commands.

    One command starts faster than all of them, because the modules of the others are not imported.

    Args:
        arguments: those of the command line.
    """
    app = typer.Typer(
        help="Evaluate retrieval: the BEIR measures, exact, and honest about what was counted.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog=f"Example: {EXAMPLES['compare']}",
    )
    app.callback(invoke_without_command=True)(_print_version)
    first = arguments[0] if arguments else ""
    named = [name for name in COMMANDS if name.partition(" ")[0] == first]
    groups = {"": app}
    for name in named or COMMANDS:
        origin, description = COMMANDS[name]
        group, _, last_word = name.rpartition(" ")
        if group not in groups:
            groups[group] = typer.Typer(
                help=_GROUPS[group][0],
                no_args_is_help=True,
                rich_markup_mode=None,
                epilog=f"Example: {EXAMPLES[name]}",
            )
            app.add_typer(groups[group], name=group, short_help=_GROUPS[group][1])
        groups[group].command(
            last_word,
            cls=_Command,
            short_help=description,
            epilog=f"Example: {EXAMPLES[name]}",
        )(import_name(origin))
    return app


def _print_version(
    *, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    if version:
        console.print(f"beir-eval {__version__}", highlight=False)
        raise typer.Exit


class _Command(TyperCommand):
    """A command that refuses empty arguments, and names ``--measure`` for ``--metric``.

    ``--steps`` may have no value; the command then receives an empty text.
    """

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
        if any("--steps" in parameter.opts for parameter in self.params):
            args = [
                "--steps=" if argument == "--steps" and not _is_pattern(after) else argument
                for argument, after in zip_longest(args, args[1:])
            ]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed


def _is_pattern(argument: str | None) -> bool:
    """Return whether the argument after ``--steps`` is its value: no option, file or folder."""
    if argument is None:
        return False
    # A pattern has a group.
    return "(" in argument or not (argument.startswith("-") or Path(argument).exists())
