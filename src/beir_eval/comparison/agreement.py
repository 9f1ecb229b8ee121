"""How alike two runs rank, query by query: ``agree``, and the functions that it applies.

None of them looks at judgements.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, BeforeValidator, PlainSerializer

from beir_eval.comparison.rank_similarity import kendall_distance, overlap, rbo, spearman
from beir_eval.core.ranking import PLAIN_TIES, best_first
from beir_eval.core.run import Run
from beir_eval.core.saved import FROZEN
from beir_eval.errors import (
    DuplicateDocumentError,
    QueryMismatchError,
    SettingError,
    check_choice,
    some,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


#: NaN is null in JSON.
_Value = Annotated[
    float,
    BeforeValidator(lambda value: math.nan if value is None else value),
    PlainSerializer(lambda value: None if math.isnan(value) else value, when_used="json"),
]


class Agreement(BaseModel):
    """How alike two runs are, query by query and on average.

    Attributes:
        first, second: the names of the runs.
        k, p, penalty: the depth that is compared, RBO's persistence, Kendall's penalty.
        query_ids: the queries that both runs have. [Q]
        per_query: {measure: value by query}, f8[Q] as lists; NaN where undefined. The measures are
            kendall_distance, spearman, rbo (extrapolated), rbo_lowest, rbo_residual and overlap.
        only_first, only_second: queries that one run has and the other lacks; left out.
    """

    model_config = FROZEN

    first: str
    second: str
    k: int
    p: float
    penalty: float
    query_ids: tuple[str, ...]
    per_query: dict[str, tuple[_Value, ...]]
    only_first: int
    only_second: int

    @property
    def mean(self) -> dict[str, float]:
        """{measure: mean over the queries for which it is defined}; NaN where there is none."""
        means = {}
        for name, values in self.per_query.items():
            defined = [value for value in values if not math.isnan(value)]
            means[name] = math.fsum(defined) / len(defined) if defined else math.nan
        return means

    @property
    def num_defined(self) -> dict[str, int]:
        """{measure: number of queries for which it is defined}."""
        return {
            name: sum(not math.isnan(value) for value in values)
            for name, values in self.per_query.items()
        }


def agree(  # noqa: PLR0913 - one keyword a setting
    first: Run | Mapping[Any, Any],
    second: Run | Mapping[Any, Any],
    *,
    k: Any = 10,
    p: float = 0.9,
    penalty: float = 0.5,
    order: str = "score",
    ties: str = "trec_eval",
    duplicates: str = "error",
    names: Any = ("first", "second"),
) -> Agreement:
    """Return how alike the first k documents of two runs are, for every query that both have.

    Args:
        first: ``Run``, {query_id: {doc_id: score}} or a dataframe.
        second: likewise.
        k: how deep; the whole RBO is computed from the first k documents too.
        p: RBO's persistence.
        penalty: Kendall's penalty for pairs that one list lacks altogether.
        order: "score" or "given", as in ``evaluate``.
        ties: "trec_eval", "trec_eval9" or "input", as in ``evaluate``.
        duplicates: a document that stands twice is an "error", or only its "first" (best-ranked)
            copy counts and the ranking closes up.
        names: what made the runs.

    Raises:
        QueryMismatchError: no query in common.
        SettingError: a value that does not exist.
        DuplicateDocumentError: a document stands twice in a ranking; see ``duplicates``.

    >>> agree({"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1.0, "b": 2.0}}).mean["kendall_distance"]
    1.0
    """
    check_choice("order", order, ("score", "given"))
    check_choice("ties", ties, PLAIN_TIES)
    check_choice("duplicates", duplicates, ("error", "first"))
    if not isinstance(names, tuple) or [type(name) for name in names] != [str, str]:
        msg = f"names must be two texts, not {names!r}"
        raise SettingError(msg)
    if isinstance(k, bool) or not isinstance(k, int):
        msg = f"k must be a whole number above 0, not {k!r}"
        raise SettingError(msg)
    one, other = (_rankings(Run.coerce(run), order, ties, duplicates) for run in (first, second))
    shared = [query for query in one if query in other]
    if not shared:
        msg = (
            f"the two runs have no query in common: {names[0]!r} has {some(one)}, {names[1]!r} has "
            f"{some(other)}"
        )
        raise QueryMismatchError(msg)
    rows = [_compare(query, one[query], other[query], k, p, penalty) for query in shared]
    return Agreement(
        first=names[0],
        second=names[1],
        k=k,
        p=p,
        penalty=penalty,
        query_ids=tuple(shared),
        per_query={name: tuple(row[name] for row in rows) for name in rows[0]},
        only_first=len(one) - len(shared),
        only_second=len(other) - len(shared),
    )


def _compare(  # noqa: PLR0913, PLR0917 - what ``agree`` was told
    query: str, one: Sequence[str], other: Sequence[str], k: int, p: float, penalty: float
) -> dict[str, float]:
    try:
        biased = rbo(one, other, p=p, k=k)
        return {
            "kendall_distance": kendall_distance(one, other, k=k, penalty=penalty),
            "spearman": spearman(one, other, k=k),
            "rbo": biased.extrapolated,
            "rbo_lowest": biased.lowest,
            "rbo_residual": biased.residual,
            "overlap": overlap(one, other, k=k),
        }
    except DuplicateDocumentError as error:
        msg = f"query {query!r}: {error}, or choose duplicates='first'"
        raise DuplicateDocumentError(msg) from error


def _rankings(run: Run, order: str, ties: str, duplicates: str) -> dict[str, list[str]]:
    ranked = {}
    for query, doc_ids, scores in run.rankings():
        listed = list(doc_ids)
        if scores is not None and order == "score":
            listed = [listed[place] for place in best_first(listed, scores, ties)]
        ranked[query] = list(dict.fromkeys(listed)) if duplicates == "first" else listed
    return ranked
