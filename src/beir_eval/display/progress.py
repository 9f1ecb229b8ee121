"""A progress bar, shown on a terminal or in a notebook only.

tqdm draws it; if that package is not installed, no bar is shown.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from beir_eval.display.tables import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: How often the bar is drawn again in the middle of a step; a patient bar appears at the first.
REFRESH_SECONDS = 1.0
#: Where a terminal does not know its size (0 x 0), tqdm would draw nothing.
SIZE_WHERE_UNKNOWN = {"ncols": 80, "nrows": 24}


@contextmanager
def progress_bar(
    *, shown: bool = True, patient: bool = False, **settings: Any
) -> Iterator[Callable[..., None]]:
    """Show a bar on stderr; yield ``advance(steps=1, description=None)``, which moves it.

    Args:
        shown: whether a bar is wanted.
        patient: whether the bar appears only once the work has taken a second.
        settings: those of tqdm, such as ``total``, ``desc`` and ``leave``.
    """
    tqdm = _tqdm() if shown and _can_show() else None
    if tqdm is None:
        yield lambda *_, **__: None
        return
    with suppress(OSError):  # the output of a notebook has no size
        if not all(os.get_terminal_size(sys.stderr.fileno())):
            settings |= SIZE_WHERE_UNKNOWN
    with tqdm(delay=REFRESH_SECONDS if patient else 0, **settings) as bar:

        def advance(steps: int = 1, description: str | None = None) -> None:
            if description is not None:
                bar.set_description_str(printable(description), refresh=False)
            bar.update(steps)

        def refresh_until_done() -> None:
            while not done.wait(REFRESH_SECONDS):
                bar.refresh()
                bar.delay = 0  # tqdm does not clear a bar that it believes to be delayed

        done = Event()
        clock = Thread(target=refresh_until_done, daemon=True)
        clock.start()
        try:
            yield advance
        finally:
            done.set()
            clock.join()


def _can_show() -> bool:
    """Return whether stderr is a terminal, or the code runs in a notebook."""
    if "ipykernel.zmqshell" in sys.modules:
        return True
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()


def _tqdm() -> Any:
    """Return tqdm's bar for a terminal or a notebook; None where tqdm is not installed."""
    try:
        with warnings.catch_warnings():
            # Without ipywidgets a notebook gets the bar as text: no reason to warn.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    return tqdm
