"""The order of a whole ranking, for what needs all of it: files and rank agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.core.arrays import Floats

#: The tie rules that need no judgements.
PLAIN_TIES = ("trec_eval", "trec_eval9", "input")


def best_first(doc_ids: Sequence[str], scores: Floats, ties: str) -> list[int]:
    """Return the places of the documents by score; equal scores by the tie rule."""
    if ties == "trec_eval9":
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32).astype(np.float64)
    if ties == "input":
        places = list(range(len(doc_ids)))
    else:
        places = sorted(range(len(doc_ids)), key=doc_ids.__getitem__, reverse=True)
    places.sort(key=scores.tolist().__getitem__, reverse=True)
    return places
