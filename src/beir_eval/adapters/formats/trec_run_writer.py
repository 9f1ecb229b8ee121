"""The writer of TREC runs.

It is not in the module of their reader (``text_runs``), because that needs polars, an extra.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval.adapters.formats.text_lines import encode_utf8, trec_word
from beir_eval.core.ranking import best_first
from beir_eval.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.core.arrays import Floats, Ints


def write_trec(rankings: Sequence[tuple[str, Sequence[str], Floats]], tag: str) -> bytes:
    """Return the bytes of format "trec": query, Q0, document, rank, score, tag.

    Args:
        rankings: (query id, document ids, scores f8[N]) of each query.
        tag: the last column.

    Raises:
        InputError: an id contains white space, begins with # or is not Unicode.
        RunError: the run has no document.
    """
    lines = []
    for query, docs, scores in rankings:
        word = trec_word(query)
        ranks = _ranks(docs, scores).tolist()
        for doc, rank, score in zip(docs, ranks, scores.tolist(), strict=True):
            lines.append(f"{word} Q0 {trec_word(doc)} {rank} {score!r} {tag}\n")
    if not lines:
        raise RunError("the run holds no document, and a TREC file without a line is no run")
    return encode_utf8("".join(lines))


def _ranks(docs: Sequence[str], scores: Floats) -> Ints:
    """Return the 1-based rank of each document in the order of trec_eval, i8[N].

    The order is by score, then by document id, both descending.

    Args:
        docs: document ids. [N]
        scores: f8[N].
    """
    ranks = np.empty(len(docs), dtype=np.int64)
    ranks[best_first(docs, scores, "trec_eval10")] = np.arange(1, len(docs) + 1)
    return ranks
