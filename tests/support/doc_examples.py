"""Check the examples of the documentation that are not doctests: consoles, scripts, workflows.

In a console, a line that begins with "$ " is a command, and the lines below it are its output
("..." matches any text). A console that shows output is run. If it shows none, and in a workflow,
only the arguments of the ``beir-eval`` commands are checked: the command and its options must
exist. A script (``py``) runs in its own process.
"""

import doctest
import os
import shlex
import subprocess
import sys
from pathlib import Path

import cli_text

PROMPT = "$ "
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def steps_of(block):
    """Return (command, expected output) of each step."""
    steps = []
    for line in block.splitlines():
        if line.startswith(PROMPT):
            steps.append((line.removeprefix(PROMPT), []))
        elif line.strip():
            steps[-1][1].append(line)
    return [(command, "\n".join(printed)) for command, printed in steps]


def check_console(example):
    """Return the problems of a console example, or None."""
    steps = steps_of(str(example.parsed).replace("\\\n", " "))
    shows_output = any(printed for _, printed in steps)
    problems = [
        problem
        for step in steps
        if (problem := (_problem_of_running if shows_output else _problem_of_arguments)(*step))
    ]
    return "\n".join(problems) or None


def check_workflow(example):
    """Return the problems of the commands in a YAML example, or None."""
    text = str(example.parsed).replace("\\\n", " ")
    commands = [line.strip() for line in text.splitlines() if line.strip().startswith("beir-eval ")]
    return (
        "\n".join(filter(None, (_problem_of_arguments(command, "") for command in commands)))
        or None
    )


def check_script(example):
    """Return the error output of a script that fails, or None."""
    process = subprocess.run(
        [sys.executable, "-c", str(example.parsed)], check=False, capture_output=True, text=True
    )
    return process.stderr if process.returncode else None


def _problem_of_running(command, expected):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    process = subprocess.run(  # noqa: S602 - the documentation's own commands, as a reader types them
        command,
        shell=True,
        check=False,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    if process.returncode or not doctest.OutputChecker().check_output(
        expected, process.stdout, FLAGS
    ):
        return f"$ {command}\nexit code {process.returncode}, printed:\n{process.stdout}"
    return None


def _problem_of_arguments(command, _):
    words = shlex.split(command, comments=True)
    if words[0] != "beir-eval" or words[1].startswith("--"):
        return None
    _, name, *arguments = words
    try:
        cli_text.commands()[name].make_context(name, list(arguments))
    except Exception as error:  # noqa: BLE001 - the names of typer's errors change with its version
        return f"$ {command}\nis not taken: {error!r}"
    return None
