"""What a score must be."""

from __future__ import annotations

import struct
from typing import NoReturn

import numpy as np

from beir_eval.core.arrays import read_floats
from beir_eval.errors import RunError


def is_finite_number(value: object) -> bool:
    """Return whether ``value`` is a number (of any type) that is neither NaN nor infinite."""
    try:
        return bool(np.isfinite(read_floats([value], 1)).all())
    except (struct.error, TypeError, OverflowError, ValueError):
        return False


def refuse_score(query_id: str, doc_id: object, score: object) -> NoReturn:
    """Raise RunError about one score."""
    msg = (
        f"the score of document {doc_id!r} for query {query_id!r} is {score!r}; a score must be "
        "a finite number"
    )
    raise RunError(msg)
