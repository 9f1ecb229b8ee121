"""What a result records beside the scores: counts, provenance, times."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel

from beir_eval.core.saved import FROZEN

if TYPE_CHECKING:
    from collections.abc import Sequence


class Provenance(BaseModel):
    """Where the numbers come from; the hashes only with ``fingerprint=True``."""

    model_config = FROZEN

    package_version: str
    qrels_sha256: str | None = None
    run_sha256: str | None = None


class Counted(BaseModel):
    """What was met on the way to the numbers.

    Attributes:
        queries_judged: queries with at least one judgement.
        queries_missing: judged queries that the run does not have.
        queries_empty: judged queries for which the run holds an empty ranking.
        queries_without_relevant: evaluated queries whose qrels hold no grade above 0.
        queries_not_judged: queries of the run that the qrels do not have; they play no part. None
            where it cannot be told: after merging, a query may be judged in another part.
        queries_without_judgements: queries of the qrels under which nothing is judged; left out.
        duplicates: entries that repeat a document of their ranking.
        duplicates_checked: whether "all" documents were looked at for duplicates, or only those
            that are "judged" (top-k arrays, unless told otherwise).
        identical_ids: retrieved documents whose id is that of their query.
        tied_documents, tied_queries: judged documents whose score another document of the ranking
            shares, and the queries they belong to: there the tie rule decides.
        negative_judgements: judgements below 0, "pooled but unjudged".
        repeated_judgements: judgements given twice with the same grade, counted once.
        max_grade: the highest grade of the qrels, on which ERR depends.
        deepest_ranking: the length of the longest ranking.
        judged_in_top: by cutoff, how many of the first k documents are judged, and of how many.
    """

    model_config = FROZEN

    queries_judged: int
    queries_missing: tuple[str, ...]
    queries_empty: tuple[str, ...]
    queries_without_relevant: tuple[str, ...]
    queries_not_judged: int | None
    queries_without_judgements: int
    duplicates: int
    duplicates_checked: Literal["all", "judged"]
    identical_ids: int
    tied_documents: int
    tied_queries: int
    negative_judgements: int
    repeated_judgements: int
    max_grade: float
    deepest_ranking: int
    judged_in_top: dict[int, tuple[int, int]]

    @classmethod
    def joined(cls, parts: Sequence[Counted]) -> Counted:
        """Return the counts over disjoint queries: sums, lists one after the other, the deepest."""
        joined: dict[str, object] = {}
        for name in cls.model_fields:
            values = [getattr(part, name) for part in parts]
            if name in ("deepest_ranking", "max_grade"):
                joined[name] = max(values)
            elif name == "judged_in_top":
                joined[name] = {
                    cutoff: tuple(map(sum, zip(*(one[cutoff] for one in values), strict=True)))
                    for cutoff in values[0]
                }
            elif name == "queries_not_judged":
                joined[name] = None if any(value != 0 for value in values) else 0
            elif name == "duplicates_checked":
                joined[name] = min(values, key=("judged", "all").index)
            elif isinstance(values[0], tuple):
                joined[name] = tuple(one for value in values for one in value)
            else:
                joined[name] = sum(values)
        return cls.model_validate(joined)

    @property
    def queries_retrieved(self) -> int:
        """Judged queries that the run has a ranking for, empty ones included."""
        return self.queries_judged - len(self.queries_missing)

    @property
    def judged_share(self) -> dict[int, float]:
        """By cutoff k, the share of all retrieved documents in the top k that are judged."""
        return {
            cutoff: judged / retrieved if retrieved else math.nan
            for cutoff, (judged, retrieved) in self.judged_in_top.items()
        }


class Retrieval(BaseModel):
    """How the run was made, where this package had the queries run.

    Attributes:
        seconds: how long each query took, for those whose time is known.
        failures: the queries that raised an error, with its text; the run does not have them.
        left_out: retrieved documents that their ranking holds already, or that have no name.
    """

    model_config = FROZEN

    seconds: dict[str, float]
    failures: dict[str, str] = {}
    left_out: int = 0

    @classmethod
    def joined(cls, parts: Sequence[Retrieval]) -> Retrieval:
        """Return that of disjoint queries together."""
        return cls(
            seconds={query: took for part in parts for query, took in part.seconds.items()},
            failures={query: text for part in parts for query, text in part.failures.items()},
            left_out=sum(part.left_out for part in parts),
        )

    @property
    def p50(self) -> float:
        """The median of the seconds a query took; NaN where none is known."""
        return self.percentile(50)

    @property
    def p95(self) -> float:
        """The seconds that 95 % of the queries stayed below; NaN where none is known."""
        return self.percentile(95)

    def percentile(self, percent: float) -> float:
        """Return a percentile of the seconds a query took, linear between two queries."""
        took = list(self.seconds.values())
        return float(np.percentile(took, percent)) if took else math.nan
