"""Writing runs as TREC: not beside their reader, which needs polars; this needs no extra."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval.adapters.formats.text_lines import encoded, trec_word
from beir_eval.core.ranking import best_first
from beir_eval.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.core.arrays import Floats, Ints


def write_trec(rankings: Sequence[tuple[str, Sequence[str], Floats]], tag: str) -> bytes:
    """Return "trec": query, Q0, document, rank, score, tag.

    Raises:
        InputError: an id with white space, or not Unicode.
        RunError: no document at all.
    """
    lines = []
    for query, docs, scores in rankings:
        word = trec_word(query)
        ranks = _ranks(docs, scores).tolist()
        for doc, rank, score in zip(docs, ranks, scores.tolist(), strict=True):
            lines.append(f"{word} Q0 {trec_word(doc)} {rank} {score!r} {tag}\n")
    if not lines:
        raise RunError("the run holds no document, and a TREC file without a line is no run")
    return encoded("".join(lines))


def _ranks(docs: Sequence[str], scores: Floats) -> Ints:
    """Return the rank of each row by trec_eval's rule: score, then document id, descending."""
    ranks = np.empty(len(docs), dtype=np.int64)
    ranks[best_first(docs, scores, "trec_eval")] = np.arange(1, len(docs) + 1)
    return ranks
