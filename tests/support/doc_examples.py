"""The examples of the documentation that are no doctests: consoles, scripts, workflows.

In a console a line that begins with "$ " is a command, and the lines below it are what it prints
("..." stands for any text). A console that shows output is run. Where it shows none, and in a
workflow, the ``beir-eval`` commands must be ones that the command line takes: the command exists,
and so do its options. A script (``py``) runs in a process of its own.
"""

import doctest
import os
import shlex
import subprocess
import sys
from pathlib import Path

import typer

from beir_eval.cli.app import app

PROMPT = "$ "
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def steps_of(block):
    """Return (command, what it prints) of each step."""
    steps = []
    for line in block.splitlines():
        if line.startswith(PROMPT):
            steps.append((line.removeprefix(PROMPT), []))
        elif line.strip():
            steps[-1][1].append(line)
    return [(command, "\n".join(printed)) for command, printed in steps]


def check_console(example):
    """Say what is wrong with a console example; None where nothing is."""
    steps = steps_of(str(example.parsed))
    shows_output = any(printed for _, printed in steps)
    wrong = [problem for step in steps if (problem := (_ran if shows_output else _taken)(*step))]
    return "\n".join(wrong) or None


def check_workflow(example):
    """Say what is wrong with the commands of a YAML example; None where nothing is."""
    text = str(example.parsed).replace("\\\n", " ")
    commands = [line.strip() for line in text.splitlines() if line.strip().startswith("beir-eval ")]
    return "\n".join(filter(None, (_taken(one, "") for one in commands))) or None


def check_script(example):
    """Say what is wrong with a script; None where nothing is."""
    done = subprocess.run(
        [sys.executable, "-c", str(example.parsed)], check=False, capture_output=True, text=True
    )
    return done.stderr if done.returncode else None


def _ran(command, expected):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(  # noqa: S602 - the documentation's own commands, as a reader types them
        command,
        shell=True,
        check=False,
        env=os.environ | {"PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    if done.returncode or not doctest.OutputChecker().check_output(expected, done.stdout, FLAGS):
        return f"$ {command}\nexit code {done.returncode}, printed:\n{done.stdout}"
    return None


def _taken(command, _):
    words = shlex.split(command, comments=True)
    if words[0] != "beir-eval" or words[1].startswith("--"):
        return None
    commands = typer.main.get_command(app).commands
    try:
        commands[words[1]].make_context(words[1], words[2:])
    except Exception as error:  # noqa: BLE001 - typer brings its errors along, under changing names
        return f"$ {command}\nis not taken: {error!r}"
    return None
