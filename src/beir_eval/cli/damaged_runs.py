"""Runs that a command cannot evaluate while it evaluates the others; the last lines name them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from beir_eval.cli.console import one_line, print_error_lines
from beir_eval.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class DamagedRuns:
    """The run files of a command that could not be evaluated, each with its error.

    A single run that is damaged is an error: without it there is nothing to show. Of several, the
    others are evaluated, and whatever is printed or written says how many were not.

    Attributes:
        problems: the error of each damaged file, which begins with its path.
    """

    def __init__(self, total: int) -> None:
        """Begin without a damaged file.

        Args:
            total: the number of all run files.
        """
        self._total = total
        self.problems: list[str] = []

    @contextmanager
    def noting(self, path: Path) -> Iterator[None]:
        """Note an ``InputError`` of the ``with`` block as that of a run file, and go on.

        Args:
            path: the run file that the block reads and evaluates.

        Raises:
            InputError: there is no other run; the message names the file.
        """
        try:
            yield
        except InputError as error:
            named = error if str(path) in str(error) else InputError(f"{path}: {error}")
            if self._total == 1:
                if named is error:
                    raise
                raise named from error
            self.problems.append(one_line(str(named)))

    def sentences(self) -> list[str]:
        """Return how many runs were not evaluated and why, in a sentence or several; mostly none.

        >>> damaged = DamagedRuns(3)
        >>> with damaged.noting("b.trec"):
        ...     raise InputError("the run is empty")
        >>> damaged.sentences()
        ['1 of 3 runs was not evaluated: b.trec: the run is empty']
        """
        number = len(self.problems)
        if number == 1:
            return [f"1 of {self._total} runs was not evaluated: {self.problems[0]}"]
        if number:
            return [f"{number} of {self._total} runs were not evaluated", *self.problems]
        return []

    def end_if_none_is_left(self) -> None:
        """Print the problems and end the command with exit code 2 if every run is damaged."""
        if len(self.problems) == self._total:
            print_error_lines(self.sentences())
            raise typer.Exit(2)

    def end(self, *, in_output: bool) -> None:
        """Print the problems and end the command with exit code 2 if any run is damaged.

        Args:
            in_output: whether standard output gets the lines too, because nothing in it names the
                damaged runs yet.
        """
        if self.problems:
            print_error_lines(self.sentences(), in_output=in_output)
            raise typer.Exit(2)
