"""The commands of ``beir-eval``, and the typer application of all of them or of one."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from beir_eval._version import __version__
from beir_eval.cli.console import console, fail
from beir_eval.cli.option_sets import COMMON
from beir_eval.core.imports import import_name

if TYPE_CHECKING:
    from collections.abc import Sequence

#: {name: the function, its arguments in the first line of its help, and its description in the list
#: of commands}
COMMANDS = {
    "evaluate": (
        "beir_eval.cli.evaluate:evaluate",
        "QRELS RUN...",
        "Evaluate runs and print the means.",
    ),
    "compare": (
        "beir_eval.cli.compare:compare",
        "QRELS RUN... | RESULTS...",
        "Compare systems: is one better?",
    ),
    "choose": (
        "beir_eval.cli.choose:choose",
        "QRELS RUN... --baseline NAME",
        "Choose the best run: is it better?",
    ),
    "bench": (
        "beir_eval.cli.bench:bench",
        "DATASETS RUN...",
        "Evaluate many runs on many data sets.",
    ),
    "haystack": (
        "beir_eval.cli.haystack:haystack",
        "PIPELINE.yaml... DATASET",
        "Evaluate or compare Haystack pipelines.",
    ),
    "validate": (
        "beir_eval.cli.validate:validate",
        "QRELS [RUN...]",
        "Report what is suspicious in qrels and runs.",
    ),
    "power": (
        "beir_eval.cli.power:power",
        "QRELS",
        "Show what judged queries can detect.",
    ),
    "list": (
        "beir_eval.cli.list:list_all",
        "measures|datasets [NAME]",
        "List measures or data sets.",
    ),
    "fuse": ("beir_eval.cli.fuse:fuse", "RUN RUN...", "Write one run from several."),
    "convert": ("beir_eval.cli.convert:convert", "FROM TO", "Write a run in another format."),
    "demo": ("beir_eval.cli.demo:demo", "", "Evaluate the bundled runs and write a report."),
}
#: {section of the list of commands: its commands}, the most used first.
SECTIONS = {
    "Measure and compare": ("evaluate", "compare", "choose", "bench"),
    "Get rankings": ("haystack", "fuse"),
    "Look at the data": ("validate", "power"),
    "Look up, convert, try": ("list", "convert", "demo"),
}
#: An example of each command, shown below its help and in the documentation.
EXAMPLES = {
    "evaluate": "beir-eval evaluate qrels.trec bm25.trec -m nDCG@10 -m MAP --rel 2 -o means.md",
    "compare": "beir-eval compare qrels.trec bm25.trec dense.trec --baseline bm25 -o c.html",
    "choose": "beir-eval choose qrels.trec bm25.trec dense.trec --fuse -o choice.md",
    "bench": "beir-eval bench DATASETS RUNS --compare --baseline bm25 -o table.md",
    "haystack": "beir-eval haystack bm25.yaml path/to/scifact --index -m nDCG@10",
    "validate": "beir-eval validate scifact bm25.trec dense.trec --strict",
    "power": "beir-eval power qrels.trec -m nDCG@10",
    "list": "beir-eval list measures nDCG",
    "fuse": "beir-eval fuse bm25.trec dense.trec --weights .3,.7 -o hybrid.trec",
    "convert": "beir-eval convert bm25.trec bm25.parquet",
    "demo": "beir-eval demo -o demo.html",
}
#: {option of other programs: the option for it here, and a remedy}, for the commands that have it.
_ELSEWHERE = {
    **dict.fromkeys(("--metric", "--metrics"), ("--measure", "did you mean --measure (-m)?")),
    **dict.fromkeys(
        ("--html", "--json", "--csv", "--markdown", "--latex", "--junit", "--table", "--per-query"),
        ("--output", "-o FILE writes a file, in the format that its ending names"),
    ),
}
#: {what people type as a command: where it is}
_ANOTHER_COMMAND = {
    "check": "beir-eval validate QRELS RUN...",
    "gate": "beir-eval compare QRELS RUN... --gate MEASURE",
    "report": "beir-eval compare QRELS RUN... -o report.html",
    "stages": "beir-eval evaluate QRELS RUN... --stages",
    "index": "beir-eval haystack PIPELINE.yaml DATASET --index",
    "measures": "beir-eval list measures",
    "datasets": "beir-eval list datasets",
}
#: The width of the gaps left and right of the names of sections.
_GAPS = 6
_IS_SHORT = "beir_eval.is_short_help"
#: A help of more sections than this is shortened by ``-h``.
_FEW_SECTIONS = 3


def make_app(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the application with the command that the arguments name, or with all commands.

    One command starts faster than all of them, because the modules of the others are not imported.

    Args:
        arguments: those of the command line.
    """
    app = typer.Typer(
        cls=_Group,
        help="Evaluate retrieval: the BEIR measures, exact, and honest about what was counted.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog=f"Example: {EXAMPLES['compare']}",
    )
    app.callback(invoke_without_command=True)(_print_version)
    first = arguments[0] if arguments else ""
    for name in [first] if first in COMMANDS else COMMANDS:
        origin, _, description = COMMANDS[name]
        app.command(
            name,
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


class _Group(TyperGroup):
    """The list of commands, in sections, without typer's options for shell completion."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options that the help shows and the parser knows."""
        parameters: list[Any] = super().get_params(ctx)
        for parameter in parameters:
            if parameter.name in {"install_completion", "show_completion"}:
                parameter.hidden = True
        return parameters

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the first argument names, or say where it is."""
        if args and args[0] not in self.commands and args[0] in _ANOTHER_COMMAND:
            fail(f"there is no command {args[0]}; it is {_ANOTHER_COMMAND[args[0]]}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - click's
        """Write the commands by section."""
        for section, names in SECTIONS.items():
            with formatter.section(section):
                formatter.write_dl(
                    [
                        (f"{name:<8}", self.commands[name].get_short_help_str(60))
                        for name in names
                        if name in self.commands
                    ]
                )


class _Command(TyperCommand):
    """A command that refuses empty arguments, and says what it has for options of other programs.

    ``--help`` explains all options in sections, ``-h`` the common ones, and names the others.
    ``--steps`` may have no value; the command then receives an empty text.
    """

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the arguments and options for the first line of the help."""
        # The path begins with the program, which has blanks in "python -m beir_eval".
        program = ctx.find_root().command_path
        name = ctx.command_path.removeprefix(program).strip()
        return [*filter(None, [COMMANDS[name][1]]), "[OPTIONS]"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options by section."""
        sections: dict[str, list[tuple[str, tuple[str, str]]]] = {"Arguments": [], COMMON: []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":  # without the words for its type
                name, explanation = str(parameter.name), record[1].removesuffix("[required]")
                sections["Arguments"].append((name, (name.upper(), explanation.rstrip())))
            else:
                section = getattr(parameter, "rich_help_panel", None) or COMMON
                name = max(parameter.opts, key=len)
                sections.setdefault(section, []).append((name, record))
        is_short = ctx.meta[_IS_SHORT] and len(sections) > _FEW_SECTIONS
        further: list[tuple[str, str]] = []
        for section, entries in sections.items():
            if is_short and section not in {"Arguments", COMMON}:
                further.append((section, ", ".join(name for name, _ in entries)))
            elif entries:
                are_all = section == COMMON and not sections.keys() - {"Arguments", COMMON}
                with formatter.section("Options" if are_all else section):
                    formatter.write_dl([record for _, record in entries])
        if further:
            with formatter.section("More options (--help explains them)"):
                width = formatter.width - max(len(section) for section, _ in further) - _GAPS
                # Not wrapped by click, which would break the lines within a name.
                formatter.write_dl(
                    [
                        (section, "\b\n" + fill(names, width, break_on_hyphens=False))
                        for section, names in further
                    ]
                )

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, or end the command with one line and exit code 2."""
        ctx.meta[_IS_SHORT] = "-h" in args
        known = {name for parameter in self.params for name in parameter.opts}
        for before, argument in zip(["", *args], args, strict=False):
            name, equals, value = argument.partition("=")
            is_option = name.startswith("--")
            # An empty path would mean the current folder.
            if not argument or (is_option and equals and not value):
                option = name or (before if before.startswith("-") else "")
                what = f"{option} has an empty value" if option else "an argument is an empty path"
                fail(f"{what}; if it is a variable of the shell, set it")
            instead, remedy = _ELSEWHERE.get(name, ("", ""))
            if instead in known:
                fail(f"there is no option {name}; {remedy}")
        if "--steps" in known:
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
