"""``fuse`` and ``fusion_grid``: one run from several, by ranks or by scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.core.ids import repeated_ids
from beir_eval.core.run import Run
from beir_eval.core.run_sources.base import is_finite_number
from beir_eval.errors import (
    DuplicateDocumentError,
    InputError,
    SettingError,
    about_system,
    check_choice,
    check_count,
    first_few,
    shown,
    warn_caller,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from beir_eval.core.arrays import Floats

METHODS = ("rrf", "sum", "max")
NORMALISATIONS = ("min-max", "z-score", "dbsf")
#: The constants and the weights of the first of two runs in ``fusion_grid``.
_GRID_K, _GRID_WEIGHTS = (1, 10, 60), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
#: Scores of runs are on different scales if the usual range of one is so many times another's.
_OTHER_SCALE = 10
#: A fused document needs two runs; a fusion grid is over the weights of two.
_TWO = 2


class _Ranking(NamedTuple):
    """The documents of a query in one run, best first, and their scores, f8[D]."""

    doc_ids: Sequence[str]
    scores: Floats


def fuse(  # noqa: PLR0913 - one keyword a part of the definition
    runs: Iterable[Any] | Mapping[str, Any],
    method: str = "rrf",
    *,
    k: float | None = None,
    weights: Iterable[float] | None = None,
    normalise: str | None = None,
    depth: int | None = None,
) -> Run:
    """Return one run from several; a fused run is a run.

    Formula: the score of a document is, over the runs r that have it, with weights w:

    - "rrf": ``Σ w_r / (k + rank_r)``, ranks from 1;
    - "sum": ``Σ w_r · s_r``; "max": ``max w_r · s_r``, where s is the score as it is, or normalised
      per query: "min-max" ``(s − min) / (max − min)``, 0 for equal scores; "z-score"
      ``(s − mean) / sd``, 0 for equal scores; "dbsf" ``(s − mean + 3 sd) / (6 sd)``, ½ for equal
      scores; sd is the population's.

    A document that a run lacks gets nothing from it. Sums are rounded once, so that the order of
    runs and queries changes no bit. Documents rank by score; of equal ones the higher id is first,
    as with ``ties="trec_eval10"``. docs/choose.md lists which call gives the scores of which tool.

    Args:
        runs: two runs or more, as ``Run`` takes them: a list, or {name: run}. Without scores, the n
            documents of a ranking have the scores n, n−1, …, 1.
        method: "rrf", "sum" or "max".
        k: the constant of "rrf", a number from 0; None: 60.
        weights: a number from 0 for each run, in their order; by default 1 each.
        normalise: how scores become comparable, for "sum" and "max": "min-max", "z-score", "dbsf",
            or None.
        depth: how many documents of each ranking take part; None for all. It cuts first.

    Raises:
        InputError: there are fewer than two runs.
        RunError: a run is not valid.
        DuplicateDocumentError: a ranking lists a document twice.
        SettingError: a setting has another value, a weight is negative or not a finite number, all
            are 0, or there is not one for each run.

    Warns:
        BeirEvalWarning: a run lacks queries of others; scores are added whose ranges differ by a
            factor of 10; or scores are normalised over rankings of different lengths.

    Source: reciprocal rank fusion: Cormack, Clarke and Büttcher, SIGIR 2009; sums and maxima of
    scores: Fox and Shaw, TREC-2, 1993; DBSF: Mazzeschi, 2023, as in Qdrant.

    >>> bm25, dense = {"q": {"a": 9.0, "b": 5.0}}, {"q": {"b": 0.9, "c": 0.7}}
    >>> fuse([bm25, dense], k=1).as_dict()["q"]  # b: 1/3 + 1/2
    {'b': 0.8333333333333333, 'a': 0.5, 'c': 0.3333333333333333}
    """
    check_choice("method", method, METHODS)
    if normalise is not None:
        check_choice("normalise", normalise, NORMALISATIONS)
    if (normalise if method == "rrf" else k) is not None:
        raise SettingError(
            "k is for method='rrf', which uses ranks alone; normalise for the others"
        )
    k = 60 if k is None else k
    if not (is_finite_number(k) and k >= 0):
        msg = f"k must be a finite number from 0, not {shown(k)}"
        raise SettingError(msg)
    ranked = _ranked(runs, depth)
    factors = _checked_weights(weights, list(ranked))
    if method == "rrf":
        return _fused(ranked, factors, partial(_by_rank, k=k))
    _warn_of_scores(ranked, normalise)
    return _fused(ranked, factors, _NORMALISED[normalise], max if method == "max" else math.fsum)


def fusion_grid(
    runs: Iterable[Any] | Mapping[str, Any], *, depth: int | None = None
) -> dict[str, Run]:
    """Return 27 fusions of two runs, from which ``choose`` takes the best.

    They are ``fuse(runs, "rrf")`` with k 1, 10 and 60, and weights .1 to .9 of the first run and
    the rest of 1 of the second.

    Args:
        runs: two runs, as ``fuse`` takes them.
        depth: how many documents of each ranking take part; None for all.

    Returns:
        {name: run}, such as "rrf k=60 bm25 .3".

    Raises:
        InputError: there are not two runs.
        RunError, DuplicateDocumentError, SettingError: as ``fuse``.

    Warns:
        BeirEvalWarning: a run lacks queries of the other.
    """
    ranked = _ranked(runs, depth)
    if len(ranked) != _TWO:
        msg = f"a fusion grid has the weights of two runs, and there are {len(ranked)}"
        raise InputError(msg)
    first, second = ranked
    return {
        f"rrf k={k} {first} {f'{weight:g}'[1:]}": _fused(
            ranked, {first: weight, second: round(1 - weight, 1)}, partial(_by_rank, k=k)
        )
        for k in _GRID_K
        for weight in _GRID_WEIGHTS
    }


def _by_rank(ranking: _Ranking, k: float) -> Floats:
    return 1 / (k + np.arange(1, 1 + len(ranking.scores)))


def _near_1(ranking: _Ranking) -> Floats:
    """Return the scores times a power of 2, which rounds nothing: their squares are floats."""
    return np.asarray(np.ldexp(ranking.scores, -np.frexp(np.abs(ranking.scores).max())[1]))


def _min_max(ranking: _Ranking) -> Floats:
    scores = _near_1(ranking)
    return np.asarray((scores - scores.min()) / (np.ptp(scores) or 1.0))


def _z_score(ranking: _Ranking) -> Floats:
    scores = _near_1(ranking)
    if not np.ptp(scores):  # the deviation of equal scores may be a rounding error
        return np.zeros_like(scores)
    return np.asarray((scores - scores.mean()) / scores.std())


#: {value of ``normalise``: a function that returns the new scores of a ranking, f8[D]}.
_NORMALISED: Mapping[str | None, Callable[[_Ranking], Floats]] = {
    None: lambda ranking: ranking.scores,
    "min-max": _min_max,
    "z-score": _z_score,
    "dbsf": lambda ranking: _z_score(ranking) / 6 + 0.5,
}


def _ranked(
    runs: Iterable[Any] | Mapping[str, Any], depth: int | None
) -> dict[str, dict[str, _Ranking]]:
    """Return {name: {query_id: the ranking}}, each ranking in the order of its scores.

    Raises:
        InputError: there are fewer than two runs, or what ``fuse`` raises for a run.
        SettingError: ``depth`` is not a whole number from 1.
    """
    if depth is not None:
        check_count("depth", depth)
    if not isinstance(runs, Mapping):
        runs = {f"run {number}": run for number, run in enumerate(runs, start=1)}
    if len(runs) < _TWO:
        msg = f"to fuse needs two runs or more, not {len(runs)}"
        raise InputError(msg)
    ranked: dict[str, dict[str, _Ranking]] = {}
    for name, run in runs.items():
        with about_system(name):
            ranked[name] = {
                query_id: _best_first(query_id, doc_ids, scores, depth)
                for query_id, doc_ids, scores in Run.coerce(run).rankings()
                if len(doc_ids)
            }
    queries = dict.fromkeys(query_id for rankings in ranked.values() for query_id in rankings)
    for name, rankings in ranked.items():
        if missing := [query_id for query_id in queries if query_id not in rankings]:
            warn_caller(
                f"{name} has no ranking for {len(missing):,} of {len(queries):,} queries "
                f"({first_few(missing)}): there the fused rankings hold the documents of others"
            )
    return ranked


def _best_first(
    query_id: str, doc_ids: Sequence[str], scores: Floats | None, depth: int | None
) -> _Ranking:
    if len(set(doc_ids)) < len(doc_ids):
        msg = (
            f"query {shown(query_id)} lists {first_few(repeated_ids(doc_ids))} more than once; "
            "leave further copies out"
        )
        raise DuplicateDocumentError(msg)
    values = np.arange(len(doc_ids), 0, -1.0) if scores is None else np.asarray(scores, np.float64)
    if not (values[1:] < values[:-1]).all():
        by_rank = sorted(zip(values.tolist(), doc_ids, strict=True), reverse=True)
        doc_ids, values = [doc_id for _, doc_id in by_rank], np.sort(values)[::-1]
    return _Ranking(doc_ids[:depth], values[:depth])


def _checked_weights(weights: Iterable[float] | None, names: Sequence[str]) -> dict[str, float]:
    """Return the weight of each run; raise SettingError as ``fuse`` describes."""
    if weights is None:
        return dict.fromkeys(names, 1.0)
    stated = list(weights)
    is_valid = all(is_finite_number(weight) and weight >= 0 for weight in stated)
    if len(stated) != len(names) or not is_valid or not any(stated):
        msg = (
            f"weights must have a finite number from 0 for each of {first_few(names)}, one of them "
            f"above 0, not {shown(weights)}"
        )
        raise SettingError(msg)
    return dict(zip(names, map(float, stated), strict=True))


def _warn_of_scores(ranked: Mapping[str, Mapping[str, _Ranking]], normalise: str | None) -> None:
    """Warn of scores on other scales, or of scores that are normalised over other depths."""
    usual = {
        name: median(
            len(ranking.scores) if normalise else float(np.ptp(ranking.scores))
            for ranking in rankings.values()
        )
        for name, rankings in ranked.items()
        if rankings
    }
    if not usual:
        return
    low, high = min(usual, key=usual.__getitem__), max(usual, key=usual.__getitem__)
    if normalise and usual[low] < usual[high]:
        warn_caller(
            f"rankings of {high} hold {usual[high]:,g} documents and those of {low} "
            f"{usual[low]:,g}, and each is normalised over its own: depth= cuts all to one length"
        )
    elif not normalise and usual[high] > _OTHER_SCALE * usual[low]:
        warn_caller(
            f"scores of a usual query range over {usual[high]:.3g} in {high} and {usual[low]:.3g} "
            f"in {low}, so {high} decides nearly alone: normalise= makes them comparable"
        )


def _fused(
    ranked: Mapping[str, Mapping[str, _Ranking]],
    weights: Mapping[str, float],
    values_of: Callable[[_Ranking], Floats],
    combine: Callable[[list[float]], float] = math.fsum,
) -> Run:
    """Return the run of the combined values, {query_id: {doc_id: score}}, best first.

    Args:
        ranked: {name: {query_id: ranking}}.
        weights: the factor of each run.
        values_of: returns the value of each document of a ranking, f8[D].
        combine: takes the weighted values of a document in all runs that have it.
    """
    parts: dict[str, dict[str, list[float]]] = {}
    for name, rankings in ranked.items():
        for query_id, ranking in rankings.items():
            of_query = parts.setdefault(query_id, {})
            values = weights[name] * values_of(ranking)
            for doc_id, value in zip(ranking.doc_ids, values.tolist(), strict=True):
                of_query.setdefault(doc_id, []).append(value)
    fused = {}
    for query_id, of_query in parts.items():
        scores = ((combine(values), doc_id) for doc_id, values in of_query.items())
        fused[query_id] = {doc_id: score for score, doc_id in sorted(scores, reverse=True)}
    return Run(fused)
