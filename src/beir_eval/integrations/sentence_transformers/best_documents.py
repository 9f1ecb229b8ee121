"""The best documents of every query, from scores of one part of the corpus after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from beir_eval.errors import RunError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.core.arrays import Floats, Ints


class BestDocuments:
    """The k best documents of each query; documents with equal scores are in a given order.

    The result does not depend on how the corpus is divided.

    Args:
        query_ids: the queries. [Q]
        number: k.
        tie_order: the place of each document of the corpus among documents with its score, i8[N].

    Attributes:
        rows: the row of each document in the corpus, best first, i8[Q, <= k].
        scores: their scores, f8[Q, <= k].
    """

    rows: Ints
    scores: Floats

    def __init__(self, query_ids: Sequence[object], number: int, tie_order: Ints) -> None:
        self._query_ids, self._number, self._tie_order = query_ids, number, tie_order
        self.rows = np.empty((len(query_ids), 0), dtype=np.int64)
        self.scores = np.empty((len(query_ids), 0))

    def add(self, scores: torch.Tensor, first_row: int) -> None:
        """Add the scores of consecutive documents of the corpus.

        Args:
            scores: higher is better, [Q, documents].
            first_row: the row of the first of these documents in the corpus.

        Raises:
            RunError: a score is not a finite number.
        """
        scores = scores.detach()
        number = min(self._number, scores.shape[1])
        top_scores, columns = torch.topk(scores, number, dim=1, sorted=False)
        self._check_finite(top_scores)
        lowest = top_scores.min(dim=1, keepdim=True).values
        # topk picks any of the documents that tie at the end.
        is_ambiguous = ((scores >= lowest).sum(dim=1) > number).cpu().numpy()
        new_rows = columns.cpu().numpy() + first_row
        new_scores = top_scores.cpu().double().numpy()
        tie_order = self._tie_order[first_row : first_row + scores.shape[1]]
        for query in np.flatnonzero(is_ambiguous).tolist():
            row = scores[query].cpu().double().numpy()
            picked = _pick(row, float(lowest[query]), number, tie_order)
            new_rows[query], new_scores[query] = picked + first_row, row[picked]
        rows = np.concatenate([self.rows, new_rows], axis=1)
        all_scores = np.concatenate([self.scores, new_scores], axis=1)
        order = np.lexsort((self._tie_order[rows], -all_scores), axis=-1)[:, : self._number]
        self.rows = np.take_along_axis(rows, order, axis=1)
        self.scores = np.take_along_axis(all_scores, order, axis=1)

    def _check_finite(self, scores: torch.Tensor) -> None:
        """Raise RunError for a score that is no finite number; topk takes NaN for the highest."""
        is_finite = torch.isfinite(scores).all(dim=1).cpu().numpy()
        if not is_finite.all():
            query = int(np.flatnonzero(~is_finite)[0])
            row = scores[query].cpu().double().numpy()
            msg = (
                f"the model gives a document the score {row[~np.isfinite(row)][0]:g} for query "
                f"{shown(self._query_ids[query])}, and such documents cannot be ranked; a finite "
                "number was expected. Has the training diverged? Check the loss, or lower the "
                "learning rate"
            )
            raise RunError(msg)


def _pick(scores: Floats, lowest: float, number: int, tie_order: Ints) -> Ints:
    """Return the columns of the best documents, in any order.

    Args:
        scores: the scores of one query, f8[N].
        lowest: the lowest of the best scores.
        number: how many documents.
        tie_order: the place of each document among documents with its score, i8[N].
    """
    above = np.flatnonzero(scores > lowest)
    tied = np.flatnonzero(scores == lowest)
    first = np.argpartition(tie_order[tied], number - len(above) - 1)[: number - len(above)]
    return np.concatenate([above, tied[first]])
