"""The typer application ``app``, with all commands of ``beir-eval``."""

from beir_eval.cli.commands import make_app

app = make_app()
