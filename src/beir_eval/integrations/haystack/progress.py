"""A progress bar where somebody watches: on a terminal or in a notebook."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from tqdm import TqdmWarning

with warnings.catch_warnings():
    # Without ipywidgets a notebook gets the bar as text: no reason to warn on import.
    warnings.simplefilter("ignore", TqdmWarning)
    from tqdm.auto import tqdm


def progress_bar(*, shown: bool, **settings: Any) -> Any:
    """Return a bar of tqdm; silent where it is not to be shown, or nobody watches.

    tqdm's own ``disable=None`` asks for a terminal, which the output of a notebook is not.
    """
    watched = False if "ipykernel.zmqshell" in sys.modules else None
    return tqdm(disable=watched if shown else True, **settings)
