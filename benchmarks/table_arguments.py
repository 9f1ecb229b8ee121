"""The command line of the simulations: names of tables, and a number of simulations."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def table_arguments(tables: Iterable[str]) -> tuple[list[str], int | None]:
    """Return the tables named on the command line, or all, and the number of simulations if stated.

    Args:
        tables: the names of all tables.
    """
    arguments, known = sys.argv[1:], list(tables)
    numbers = [int(argument) for argument in arguments if argument.isdigit()]
    return [name for name in arguments if name in known] or known, numbers[0] if numbers else None
