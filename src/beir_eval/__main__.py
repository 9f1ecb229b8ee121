"""The command ``beir-eval``, also as ``python -m beir_eval``."""

import io
import sys

from beir_eval.errors import MissingExtraError


def main() -> None:
    """Run the command line, or say which extra it lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows "?"
    try:
        from beir_eval.cli.app import app  # noqa: PLC0415 - an extra
    except ImportError as error:
        missing = MissingExtraError(error.name or "typer", "cli", "the command line")
        sys.stderr.write(f"error: {missing}\n")
        raise SystemExit(2) from error
    app()


if __name__ == "__main__":
    main()
