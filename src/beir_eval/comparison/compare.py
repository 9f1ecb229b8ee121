"""Is system B better than A, by how much, and on which queries: ``compare``, ``compare_runs``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beir_eval.comparison.alignment import check_baseline, join
from beir_eval.comparison.differences import differences_of, means_of, pairs_of
from beir_eval.comparison.likeness import likeness_of
from beir_eval.comparison.records import ComparisonSettings, Difference, SystemMean
from beir_eval.comparison.result import Comparison
from beir_eval.comparison.robustness.analysis import (
    is_looked_at,
    trust_with_runs,
    trust_without_runs,
)
from beir_eval.comparison.robustness.bounds import depth_of
from beir_eval.core.run import Run
from beir_eval.errors import InputError, ResultError, SettingError, check_count
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.measures import parse_all

if TYPE_CHECKING:
    from collections.abc import Iterable

    from beir_eval.comparison.alignment import SystemResults
    from beir_eval.core.qrels import Qrels, QrelsMapping
    from beir_eval.core.run import RunMapping
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike

#: How deep to look at how alike rankings are, unless told.
_LIKENESS_K = 10


def compare(  # noqa: PLR0913 - one keyword a setting
    results: Mapping[str, SystemResults] | Iterable[EvaluationResult],
    baseline: str | None = None,
    *,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    test: str = "sign_flip",
    correction: str | None = None,
    alpha: float = 0.05,
    margin: float = 0.01,
    on: str = "error",
    draws: int = 100_000,
    rng: int = 0,
) -> Comparison:
    """Compare systems by their results on the same queries.

    Args:
        results: {name: result}, or results with different names. A system may be a list of results,
            its repeats: averaged for each query, their spread shown.
        baseline: the system that all others are compared with; without one, all pairs are.
        measures: which of the measures to compare; by default all that every result holds and that
            are means over queries.
        test: "sign_flip" (randomisation of the mean difference), "t" (paired t test), or, where
            they must be reported, "wilcoxon" or "sign".
        correction: for the differences of one measure: with a baseline "holm" by default, for all
            pairs "max-t"; "bonferroni", "benjamini-hochberg", "tukey" (randomised Tukey HSD, all
            pairs), "none".
        alpha: the level of the verdicts; intervals have the confidence 1 − alpha.
        margin: δ, the smallest difference that matters, in the unit of the measures.
        on: systems with different queries are an "error", or compared on their "intersection".
        draws: sign vectors that are drawn; all of them are tried where there are no more.
        rng: the seed.

    A query on which a measure is undefined for some system is left out for that measure.

    Raises:
        ResultError: fewer than two systems, or results that were evaluated differently.
        QueryMismatchError: different queries (named), or none in common.
        NotEvaluatedError, MeasureError: a measure that a result lacks, or that is no mean.
        InputError: fewer than two queries.
        SettingError: a value that does not exist; all pairs of more than 100 systems.
        MissingExtraError: scipy is not installed.

    >>> from beir_eval import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
    >>> runs = {"B": {query: {"a": 1, "x": 2} for query in qrels}}
    >>> runs["A"] = {query: {"a": 2, "x": 1} for query in qrels}
    >>> results = {name: evaluate(qrels, run, ["MRR"]) for name, run in runs.items()}
    >>> found = compare(results, "B").difference("MRR", "A")
    >>> found.difference, found.p, found.wins, found.verdict  # p: 2 of 2^8 flips
    (0.5, 0.0078125, 8, 'better')
    """
    settings = ComparisonSettings(
        test=test,
        correction=_correction(correction, test, baseline),
        alpha=alpha,
        margin=margin,
        on=on,
        draws=draws,
        rng=rng,
    )
    joined = join(results, measures, on)
    check_baseline(baseline, joined.systems)
    pairs = pairs_of(joined.systems, baseline)
    means: list[SystemMean] = []
    differences: list[Difference] = []
    for scores in joined.by_measure:
        compared = scores.where_defined()
        means += means_of(compared, settings)
        differences += differences_of(compared, pairs, settings)
    found = Comparison(
        systems=joined.systems,
        baseline=baseline,
        measures=joined.measures,
        query_ids=joined.query_ids,
        scores={one.measure: ScoreMatrix.owning(one.scores) for one in joined.by_measure},
        means=tuple(means),
        differences=tuple(differences),
        settings=settings,
        left_out=joined.left_out,
    )
    known: dict[str, Any] = {"trust": trust_without_runs(found, joined.results)}
    if all(repeats[0].top is not None for repeats in joined.results.values()):
        known["likeness"] = likeness_of(found, joined.results, _LIKENESS_K)
    return found.model_copy(update=known)._made_from(joined.results)  # noqa: SLF001 - its own package


def _correction(stated: str | None, test: str, baseline: str | None) -> str:
    if stated == "tukey" and baseline is not None:
        msg = "correction='tukey' is for all pairs; with a baseline choose 'holm' or 'max-t'"
        raise SettingError(msg)
    return stated or ("max-t" if baseline is None and test == "sign_flip" else "holm")


def compare_runs(  # noqa: PLR0913 - one keyword a setting
    qrels: Qrels | QrelsMapping,
    runs: Mapping[str, Run | RunMapping],
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    baseline: str | None = None,
    test: str = "sign_flip",
    correction: str | None = None,
    alpha: float = 0.05,
    margin: float = 0.01,
    on: str = "error",
    draws: int = 100_000,
    rng: int = 0,
    trust: bool = True,
    likeness_k: int | None = _LIKENESS_K,
    **policies: Any,
) -> Comparison:
    """Evaluate runs on one qrels and compare them.

    Args:
        qrels: as ``evaluate``.
        runs: {name: run}; a list of runs is one system's repeats.
        measures: what to compute; by default nDCG@10, which a verdict is mostly asked for.
        baseline: as ``compare``; so are test, correction, alpha, margin, on, draws and rng.
        test: see there.
        correction: see there.
        alpha: see there.
        margin: see there.
        on: see there.
        draws: see there.
        rng: see there.
        trust: find out what unjudged documents and ties could change about each difference
            (``PairTrust``), and which documents to judge: with a baseline, or for all pairs of at
            most 10 systems.
        likeness_k: how deep to look at how alike the rankings are (``Likeness``), for at most 45
            pairs, and 100,000 pairs times queries; None leaves it out.
        policies: keywords of ``Evaluator``: order, ties, missing, no_relevant, duplicates, …;
            ``keep_top`` is at least as deep as trust and likeness look.

    Raises:
        BeirEvalError: as ``evaluate`` and ``compare``.
    """
    if not isinstance(runs, Mapping):
        msg = f"runs must be {{name: run}}, not {type(runs).__name__}"
        raise ResultError(msg)
    chosen = parse_all("nDCG@10" if measures is None else measures)  # type: ignore[arg-type]
    if likeness_k is not None:
        check_count("likeness_k", likeness_k)
    deepest = max([likeness_k or 0, *(depth_of(one) for one in chosen if trust)])
    asked = policies.pop("keep_top", 0)
    check_count("keep_top", asked, least=0)
    evaluator = Evaluator(qrels, chosen, keep_top=max(deepest, asked), **policies)
    of_system = {
        name: [Run.coerce(one) for one in (run if isinstance(run, (list, tuple)) else [run])]
        for name, run in runs.items()
    }
    results = {
        name: [_evaluated(evaluator, one, name) for one in repeats]
        for name, repeats in of_system.items()
    }
    found = compare(
        results,
        baseline,
        measures=chosen,
        test=test,
        correction=correction,
        alpha=alpha,
        margin=margin,
        on=on,
        draws=draws,
        rng=rng,
    )
    known: dict[str, Any] = {"trust": None}
    if trust and is_looked_at(found):
        pairs, documents = trust_with_runs(found, evaluator.qrels, of_system, results)
        known = {"trust": pairs, "to_judge": documents}
    if likeness_k is not None:
        known["likeness"] = likeness_of(found, results, int(likeness_k))
    return found.model_copy(update=known)


def _evaluated(evaluator: Evaluator, run: Run, name: str) -> EvaluationResult:
    """Return the result of one run; what is wrong with it names the system."""
    try:
        return evaluator.evaluate(run, name=name)
    except InputError as error:
        error.args = (f"{name}: {error}",)
        raise
