"""The reference of the command line as Markdown, generated from the typer commands.

This module does not import Sphinx, so that the tests can use it.
"""

from __future__ import annotations

import inspect
import re
from typing import Any, get_type_hints

import typer

from beir_eval.cli.app import app
from beir_eval.cli.commands import EXAMPLES
from beir_eval.cli.option_sets import COMMON

PROGRAM = "beir-eval"
#: Characters that must be escaped in Markdown; underscores within words need not be.
_MARKUP = re.compile(r"[\\\\`*<$\[]")
#: A default that the help text states, for a parameter whose default in the code is None.
_DEFAULT = re.compile(r"\\\[default: (.+)\]$")


def commands() -> dict[str, Any]:
    """Return {name: click command} of all commands, sorted by name."""
    application: Any = typer.main.get_command(app)
    return dict(sorted(application.commands.items()))


def reference() -> str:
    """Return a section for each command: usage, description, arguments, options, example."""
    return "\n\n".join(_section(name, command) for name, command in commands().items())


def _section(name: str, command: Any) -> str:
    hints = get_type_hints(inspect.unwrap(command.callback), include_extras=True)
    arguments = [
        parameter for parameter in command.params if parameter.param_type_name == "argument"
    ]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    usage = " ".join([PROGRAM, name, *map(_usage, arguments)] + ["[OPTIONS]"] * bool(options))
    parts = [f"## {PROGRAM} {name}", f"```text\n{usage}\n```", inspect.cleandoc(command.help)]
    sections: dict[str, list[Any]] = {"Arguments": arguments, COMMON: []}
    for option in options:
        sections.setdefault(option.rich_help_panel, []).append(option)
    for title, parameters in sections.items():
        if parameters:
            parts += [
                f"**{title}**",
                *(_entry(parameter, hints[parameter.name]) for parameter in parameters),
            ]
    return "\n\n".join([*parts, "**Example**", f"```console\n$ {EXAMPLES[name]}\n```"])


def _usage(argument: Any) -> str:
    name = argument.name.upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _entry(parameter: Any, hint: Any) -> str:
    """Return the item of a parameter in a Markdown definition list."""
    # Not parameter.help: typer 0.20 with click 8.5 loses the help of arguments.
    text = _DEFAULT.sub(r"Default: `\1`.", _escaped(hint.__metadata__[0].help))
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`\n: {text}"
    spellings = sorted([*parameter.opts, *parameter.secondary_opts], key=len)
    term = " ".join(
        [", ".join(f"`{spelling}`" for spelling in spellings), parameter.metavar or ""]
    ).rstrip()
    if parameter.multiple and "repeat" not in text:
        text += " May be repeated."
    if parameter.default not in (None, False):
        text += f" Default: `{parameter.default}`."
    return f"{term}\n: {text}"


def _escaped(text: str) -> str:
    """Return the text on one line, with Markdown's special characters escaped."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
