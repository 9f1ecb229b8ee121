"""A progress bar where somebody watches: on a terminal or in a notebook.

tqdm draws it. The bar is not needed for the work: without that package there is none.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

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
    tqdm = _tqdm() if shown and _is_watched() else None
    if tqdm is None:
        yield lambda *_, **__: None
        return
    with suppress(OSError):  # the output of a notebook has no size
        if not all(os.get_terminal_size(sys.stderr.fileno())):
            settings |= SIZE_WHERE_UNKNOWN
    with tqdm(delay=REFRESH_SECONDS if patient else 0, **settings) as bar:

        def advance(steps: int = 1, description: str | None = None) -> None:
            if description is not None:
                bar.set_description_str(description, refresh=False)
            bar.update(steps)

        def refresh_until_done() -> None:
            while not done.wait(REFRESH_SECONDS):
                bar.refresh()
                bar.delay = 0  # tqdm clears no bar that it believes to be waiting still

        done = Event()
        clock = Thread(target=refresh_until_done, daemon=True)
        clock.start()
        try:
            yield advance
        finally:
            done.set()
            clock.join()


def _is_watched() -> bool:
    # The output of a notebook is not a terminal.
    return "ipykernel.zmqshell" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


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
