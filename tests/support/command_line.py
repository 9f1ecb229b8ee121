"""Commands, run in this process."""

from typer.testing import CliRunner

from beir_eval.cli.app import app


def run(*arguments):
    """Return the result of a command with these arguments."""
    return CliRunner().invoke(app, list(map(str, arguments)))


def output_of(result):
    """Return what a command printed, with white space collapsed."""
    return " ".join(result.output.split())
