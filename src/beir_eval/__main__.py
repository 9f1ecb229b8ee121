"""The entry point of the command ``beir-eval``, also run by ``python -m beir_eval``."""

import io
import os
import sys

from beir_eval._version import __version__
from beir_eval.errors import MissingExtraError


def main() -> None:
    """Run the command line; exit with status 2 if the packages of its extra are not installed."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller, as with >&-
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a letter that the encoding lacks becomes "?"
    arguments = sys.argv[1:]
    if arguments == ["--version"]:  # the imports below take many times as long
        sys.stdout.write(f"beir-eval {__version__}\n")
        return
    try:
        from beir_eval.cli.commands import make_app  # noqa: PLC0415 - an extra
    except ImportError as error:
        missing_extra = MissingExtraError(error.name or "typer", "cli", "the command line")
        sys.stderr.write(f"error: {missing_extra}\n")
        raise SystemExit(2) from error
    make_app(arguments)()


if __name__ == "__main__":
    main()
