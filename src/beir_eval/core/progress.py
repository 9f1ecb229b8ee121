"""``progress_bar``: a bar drawn by tqdm, on a terminal or in a notebook only.

Without the package tqdm no bar is shown.
"""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from beir_eval.errors import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Seconds between two redraws during a step, and until a ``delayed`` bar appears.
REFRESH_SECONDS = 1.0
#: The size for a terminal that reports 0 x 0; without it tqdm would draw nothing.
_DEFAULT_SIZE = {"ncols": 80, "nrows": 24}


@contextmanager
def progress_bar(
    *, shown: bool = True, delayed: bool = False, **settings: Any
) -> Iterator[Callable[..., None]]:
    """Show a progress bar on stderr; yield ``advance(steps=1, description=None)``, which moves it.

    Args:
        shown: whether to show a bar; if not, ``advance`` does nothing.
        delayed: whether the bar appears only after a second, so that short work shows none.
        settings: keyword arguments of tqdm, such as ``total``, ``desc`` and ``leave``.
    """
    tqdm = _tqdm() if shown and _can_show() else None
    if tqdm is None:
        yield lambda *_, **__: None
        return
    with suppress(OSError):  # stderr of a notebook is no terminal and has no size
        if not all(os.get_terminal_size(sys.stderr.fileno())):
            settings |= _DEFAULT_SIZE
    with tqdm(delay=REFRESH_SECONDS if delayed else 0, **settings) as bar:

        def advance(steps: int = 1, description: str | None = None) -> None:
            if description is not None:
                bar.set_description_str(one_line(description), refresh=False)
            bar.update(steps)

        def refresh_until_done() -> None:
            while not done.wait(REFRESH_SECONDS):
                bar.refresh()
                bar.delay = 0  # tqdm does not clear a bar that still has a delay

        done = Event()
        refresher = Thread(target=refresh_until_done, daemon=True)
        refresher.start()
        try:
            yield advance
        finally:
            done.set()
            refresher.join()


def _can_show() -> bool:
    """Return whether stderr is a terminal or the code runs in a notebook."""
    if "ipykernel.zmqshell" in sys.modules:
        return True
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()


def _tqdm() -> Any:
    """Return the tqdm class for a terminal or a notebook; None if tqdm is not installed."""
    try:
        with warnings.catch_warnings():
            # tqdm warns if ipywidgets is missing; the bar is then shown as text.
            warnings.simplefilter("ignore")
            from tqdm.auto import tqdm  # noqa: PLC0415 - an extra
    except ImportError:
        return None
    return tqdm
