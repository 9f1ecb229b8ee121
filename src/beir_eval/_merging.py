"""Joining results over disjoint queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval._score_matrix import ScoreMatrix
from beir_eval.errors import ResultError
from beir_eval.results import Counted, EvaluationResult, check_disjoint

if TYPE_CHECKING:
    from collections.abc import Sequence


def merged(results: Sequence[EvaluationResult]) -> EvaluationResult:
    """Return one result over the queries of all; counts add up.

    Hashes of different qrels or runs are dropped: no file stands behind the whole.

    Raises:
        ResultError: they share queries, or differ in measures or settings.
    """
    first = results[0]
    for other in results[1:]:
        for what in ("measures", "settings"):
            if getattr(other, what) != getattr(first, what):
                msg = (
                    f"only results with the same {what} can be merged, but {first.name!r} has "
                    f"{getattr(first, what)} and {other.name!r} has {getattr(other, what)}"
                )
                raise ResultError(msg)
    check_disjoint(results)
    skipped = [one.skipped_values.array for one in results if one.skipped_values is not None]
    tops = [one.top for one in results if one.top is not None]
    return first.model_copy(
        update={
            "name": first.name,
            "query_ids": tuple(query_id for one in results for query_id in one.query_ids),
            "values": ScoreMatrix(np.concatenate([one.values.array for one in results], axis=1)),
            "skipped_values": ScoreMatrix(np.concatenate(skipped, axis=1)) if skipped else None,
            "counted": _counted([one.counted for one in results]),
            "provenance": first.provenance.model_copy(
                update={"qrels_sha256": None, "run_sha256": None}
            ),
            "top": {query: top for one in tops for query, top in one.items()} if tops else None,
        }
    )


def _counted(parts: Sequence[Counted]) -> Counted:
    joined: dict[str, object] = {}
    for name in Counted.model_fields:
        values = [getattr(part, name) for part in parts]
        if name == "deepest_ranking":
            joined[name] = max(values)
        elif name == "judged_in_top":
            joined[name] = {
                cutoff: (
                    sum(one[cutoff][0] for one in values),
                    sum(one[cutoff][1] for one in values),
                )
                for cutoff in values[0]
            }
        elif isinstance(values[0], tuple):
            joined[name] = tuple(one for value in values for one in value)
        else:
            joined[name] = sum(values)
    return Counted.model_validate(joined)
