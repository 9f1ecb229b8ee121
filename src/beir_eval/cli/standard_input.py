"""The argument ``-``: judgements or a run from standard input."""

from __future__ import annotations

import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from beir_eval.cli.console import show_in_messages
from beir_eval.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: What messages call the input behind ``-``.
STANDARD_INPUT = "standard input"
_DASH = "-"


@contextmanager
def opened_inputs(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """Yield the paths, with a temporary copy of standard input in place of ``-``.

    The copy is named "stdin", as a system in it is then. It is removed at the end of the ``with``
    block. Readers detect the format of a file from its content, and may read it more than once.

    Args:
        paths: the files that a command reads, as the user named them.

    Raises:
        InputError: ``-`` is named twice, or standard input is closed.
    """
    dashes = [path for path in paths if str(path) == _DASH]
    if not dashes:
        yield list(paths)
        return
    if len(dashes) > 1:
        msg = "- is named twice, but standard input can be read only once; name a file instead"
        raise InputError(msg)
    if sys.stdin is None:
        msg = "- names standard input, which is closed; name a file instead"
        raise InputError(msg)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "stdin")
        show_in_messages(copy, STANDARD_INPUT)
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield [copy if str(path) == _DASH else path for path in paths]
