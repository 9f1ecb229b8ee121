"""The command line's reference as Markdown, read from the commands themselves.

Nothing of Sphinx is needed here, so that the tests can ask what the page says.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import typer

from beir_eval.cli.app import app

PROGRAM = "beir-eval"
#: What stands for a value; a parameter's annotation says which.
_WORDS = {Path: "PATH", str: "TEXT", int: "INTEGER", float: "NUMBER"}
#: What Markdown takes for markup; underscores within words it leaves alone.
_MARKUP = re.compile(r"[\\\\`*<$\[]")
#: A default that the help text states itself, since it is made in the command.
_DEFAULT = re.compile(r"\\\[default: (.+)\]$")


def commands() -> dict[str, Any]:
    """Return the commands by name, as typer makes them, sorted."""
    group: Any = typer.main.get_command(app)
    return dict(sorted(group.commands.items()))


def reference() -> str:
    """Return a section for each command: usage, what it does, arguments, options."""
    return "\n\n".join(_section(name, command) for name, command in commands().items())


def _section(name: str, command: Any) -> str:
    hints = get_type_hints(inspect.unwrap(command.callback), include_extras=True)
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    usage = " ".join([PROGRAM, name, *map(_in_usage, arguments)] + ["[OPTIONS]"] * bool(options))
    parts = [f"## {PROGRAM} {name}", f"```text\n{usage}\n```", inspect.cleandoc(command.help)]
    for title, listed in (("Arguments", arguments), ("Options", options)):
        if listed:
            parts += [f"**{title}**", *(_entry(one, hints[one.name]) for one in listed)]
    return "\n\n".join(parts)


def _word(hint: Any) -> str:
    """Return the word that stands for a parameter's value; none for a flag."""
    # Of list[Path], Path | None and the like the first named part says what is expected.
    while get_origin(hint) is not None or get_args(hint):
        hint = get_args(hint)[0]
    return _WORDS.get(hint, "")


def _in_usage(argument: Any) -> str:
    name = argument.name.upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _entry(parameter: Any, hint: Any) -> str:
    """Return one item of a definition list: how it is written, and what it means."""
    # Not the parameter's own help: typer 0.20 with click 8.5 loses that of arguments.
    text = _DEFAULT.sub(r"Default: `\1`.", _escaped(hint.__metadata__[0].help))
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`\n: {text}"
    written = sorted([*parameter.opts, *parameter.secondary_opts], key=len)
    term = " ".join([", ".join(f"`{one}`" for one in written), _word(hint)]).rstrip()
    if parameter.multiple and "repeat" not in text:
        text += " May be repeated."
    if parameter.default not in (None, False):
        text += f" Default: `{parameter.default}`."
    return f"{term}\n: {text}"


def _escaped(text: str) -> str:
    """Return the text on one line, and so that Markdown shows it as it is."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))
