"""Commands, run in this process."""

from typer.testing import CliRunner

from beir_eval.cli.app import app


def run(*arguments):
    """Return the result of a command with these arguments."""
    return CliRunner().invoke(app, list(map(str, arguments)))


def output_of(result):
    """Return what a command printed, with white space collapsed."""
    return " ".join(result.output.split())


def success(result):
    """Return what a command printed that succeeded, with white space collapsed."""
    assert result.exit_code == 0, result.output
    return output_of(result)


def refusal(result):
    """Return what a command printed that ended with the exit code 2, with white space collapsed."""
    assert result.exit_code == 2, result.output
    return output_of(result)
