"""``evaluate_stages``: which stage of a pipeline lost the relevant documents?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.comparison.alignment import align_scores
from beir_eval.comparison.differences import (
    Pair,
    Pairs,
    Tests,
    corrected_together,
    equality_p_of,
    tests_of,
    with_verdicts,
)
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.comparison.stages.account import (
    accounts_of,
    ceiling_run,
    mean_and_interval,
    places_of,
    ranks_of_relevant,
    relevant_of,
)
from beir_eval.comparison.stages.graph import StageGraph
from beir_eval.comparison.stages.result import Loss, Reason, Stage, StagedResult
from beir_eval.errors import InputError, MeasureError, first_few
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning
from beir_eval.evaluation.inputs import JudgedFolder, as_qrels, as_run, conventions_of
from beir_eval.measures import parse_all, with_rel
from beir_eval.measures.names import registered
from beir_eval.measures.scales import scale_of
from beir_eval.significance import correct
from beir_eval.significance.validation import FEWEST_QUERIES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from beir_eval.comparison.alignment import MeasureScores
    from beir_eval.comparison.records import Difference
    from beir_eval.comparison.stages.account import Candidates, MeasureAccount, PlaceOfLoss
    from beir_eval.core.arrays import Floats, Mask
    from beir_eval.core.run import Run
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure, MeasureLike


def evaluate_stages(  # noqa: PLR0913 - one keyword a setting
    qrels: Any,
    stages: Mapping[str, Any],
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    inputs: Mapping[str, str | Sequence[str]] | None = None,
    seconds: Mapping[str, float] | None = None,
    rel: float | None = None,
    alpha: float = 0.05,
    margin: float = 0.01,
    draws: int | None = None,
    rng: int = 0,
    **policies: Any,
) -> StagedResult:
    """Return where a pipeline loses relevant documents, and which of its stages is worth it.

    A stage is the ranking after a part of a pipeline: of a retriever, a joiner, a ranker. The
    *ceiling* of a stage is the measure of its documents in the best order. The *account* of a
    measure adds up exactly: the measure of an ideal ranking is that of the last stage, plus what
    the wrong order of its documents costs, plus what each stage dropped, plus what no stage
    retrieved. A document is dropped at the last stage that lacks it although an input of that stage
    had it. Each loss is the rise of the ceiling when its documents are put back, the last stage
    first; that is the only order in which each document is put back where it was lost.

    Args:
        qrels: the judgements, in any form that ``evaluate`` takes.
        stages: {name: its run}, in the order of documents; the last one is the answer.
        measures: the measures, or their names; by default nDCG@10. Verdicts are on the first.
        inputs: {stage: the stages it gets documents from}, such as {"joiner": ["bm25", "dense"],
            "ranker": "joiner"}; a stage that is not named gets documents from none of these. None:
            each stage gets its documents from the one before.
        seconds: {stage: the seconds that a query takes in it}, where they are known.
        rel: the lowest relevant grade of measures that take one and state none.
        alpha: the level of the verdicts, and of the intervals of losses.
        margin: the smallest difference that matters.
        draws: the number of random sign vectors, as for ``compare``.
        rng: the seed of the sign vectors.
        policies: further settings of ``evaluate``, such as ``ties``.

    Raises:
        InputError: fewer than two stages, stages in a circle, a name in ``inputs`` or ``seconds``
            that is no stage, or a stage whose ranks are characters or chunks.
        SettingError, MeasureError, FileFormatError: as for ``evaluate``.

    >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
    >>> found = {query: {"x": 2.0, "a": 1.0} for query in qrels}
    >>> ranked = {query: {"a": 2.0, "x": 1.0} for query in qrels}
    >>> staged = evaluate_stages(qrels, {"bm25": found, "ranker": ranked}, "MRR")
    >>> staged.stage("bm25").means, staged.stage("bm25").ceilings
    ({'MRR': 0.5}, {'MRR': 1.0})
    """
    if len(stages) < 2:  # noqa: PLR2004 - a pair
        msg = "stages are two or more: {'bm25': 'bm25.trec', 'ranker': 'ranker.trec'}"
        raise InputError(msg)
    graph = StageGraph.from_inputs(list(stages), inputs)
    times = dict(seconds or {})
    if unknown := [name for name in times if name not in graph.inputs]:
        msg = f"seconds: there is no stage {first_few(unknown)}; there are {first_few(stages)}"
        raise InputError(msg)
    parsed = stage_measures(measures, rel)
    settings = ComparisonSettings(
        correction="holm", alpha=alpha, margin=margin, draws=draws, rng=rng
    )
    runs = {name: as_run(run) for name, run in stages.items()}
    if of_text := [name for name, run in runs.items() if run.ranks != "documents"]:
        msg = (
            f"the ranks of {first_few(of_text)} are {runs[of_text[0]].ranks}, and stages are of "
            "documents: pass runs of document ids, as Run(chunks, collapse=) makes from chunk ids"
        )
        raise InputError(msg)
    return stages_of_runs(qrels, runs, graph, parsed, settings, seconds=times, policies=policies)


def stage_measures(
    measures: Iterable[MeasureLike] | MeasureLike | None, rel: float | None
) -> tuple[Measure, ...]:
    """Return the measures of stages; nDCG@10 for None.

    Args:
        measures: as for ``evaluate_stages``.
        rel: likewise.

    Raises:
        MeasureError: a measure does not exist, or is not about relevant documents alone.
    """
    parsed = with_rel(parse_all("nDCG@10" if measures is None else measures), rel)
    for measure in parsed:
        if not measure.has_tie_extremes:
            msg = (
                f"{measure} depends on judged documents that are not relevant, so relevant ones "
                "that were lost do not account for it; choose another measure for stages"
            )
            raise MeasureError(msg)
    return parsed


def stages_of_runs(  # noqa: PLR0913 - what evaluate_stages and pipelines pass on
    qrels: Any,
    runs: Mapping[str, Run],
    graph: StageGraph,
    measures: Sequence[Measure],
    settings: ComparisonSettings,
    *,
    seconds: Mapping[str, float],
    policies: Mapping[str, Any],
    result: EvaluationResult | None = None,
    **of_host: Any,
) -> StagedResult:
    """Return the result of stages.

    Args:
        qrels: as for ``evaluate_stages``.
        runs: {stage: its run}; a query that a run lacks is one that the stage did not run for.
        graph: which stage passes documents to which.
        measures: the measures.
        settings: those of the tests.
        seconds: as for ``evaluate_stages``.
        policies: the settings of ``Evaluator``.
        result: the result of the last stage, if it has been evaluated.
        of_host: the fields of ``StagedResult`` that a host knows.
    """
    judgements = as_qrels(qrels)
    judged = JudgedFolder(judgements, conventions_of(qrels))
    options = dict(policies)
    keep_top = options.pop("keep_top", 0)

    def evaluator_of(keep_top: int) -> Evaluator:
        return Evaluator(judged, measures, keep_top=keep_top, **options)

    evaluator = evaluator_of(keep_top)
    results = {
        name: evaluate_without_warning(evaluator, run, name)
        if result is not None and name == graph.last  # its warnings were given
        else evaluator.evaluate(run, name=name)
        for name, run in runs.items()
    }
    names, last = results[graph.last].measures, results[graph.last]
    candidates = {
        name: {query_id: list(doc_ids) for query_id, doc_ids, _ in run.rankings()}
        for name, run in runs.items()
    }
    relevant = relevant_of(judgements)
    lost_from = places_of(relevant, candidates, graph)
    measured = {measure: last.scores(measure) for measure in names}
    accounts = accounts_of(evaluator, measured, candidates[graph.last], relevant, lost_from)
    ran = {
        name: np.array([query_id in by_query for query_id in last.query_ids])
        for name, by_query in candidates.items()
    }
    below = _relevant_below_cutoffs(evaluator_of, runs[graph.last], names)
    num_in_last = sum(map(len, relevant.values())) - sum(
        len(doc_ids) for documents in lost_from.values() for doc_ids in documents.values()
    )
    return StagedResult(
        measures=names,
        stages=tuple(
            _stage(name, graph, results[name], candidates[name], ran[name], ceiling, seconds)
            for name, ceiling in _ceilings(evaluator, candidates, relevant, graph)
        ),
        last=graph.last,
        num_relevant=sum(map(len, relevant.values())),
        kept={measure: num_in_last - below[measure] for measure in names},
        best={measure: _mean(_ideal_of(account)) for measure, account in accounts.items()},
        losses=tuple(
            loss
            for measure, account in accounts.items()
            for loss in _losses(measure, account, lost_from, below[measure], settings.alpha)
        ),
        differences=tuple(_differences(results, candidates, graph, settings)),
        settings=settings,
        result=result or last,
        ranks=_ranks_by_stage(relevant, [candidates[name] for name in graph.inputs]),
        **of_host,
    )


def _ranks_by_stage(
    relevant: Mapping[str, Mapping[str, float]], by_stage: Sequence[Candidates]
) -> dict[str, dict[str, tuple[int, ...]]]:
    """Return {query_id: {relevant document: its rank in each stage}}; 0 where it is missing."""
    ranks: dict[str, dict[str, tuple[int, ...]]] = {}
    for query_id, documents in relevant.items():
        rank_of = [
            {doc_id: rank for rank, doc_id in enumerate(stage.get(query_id, ()), start=1)}
            for stage in by_stage
        ]
        ranks[query_id] = {
            doc_id: tuple(ranks_of_stage.get(doc_id, 0) for ranks_of_stage in rank_of)
            for doc_id in documents
        }
    return ranks


def _ceilings(
    evaluator: Evaluator,
    candidates: Mapping[str, Candidates],
    relevant: Mapping[str, Mapping[str, float]],
    graph: StageGraph,
) -> Iterator[tuple[str, EvaluationResult]]:
    """Yield each stage with the result of its documents in the best order."""
    for name in graph.inputs:
        run = ceiling_run(candidates[name], relevant)
        yield name, evaluate_without_warning(evaluator, run, name)


def _stage(  # noqa: PLR0913, PLR0917 - the facts on one stage
    name: str,
    graph: StageGraph,
    result: EvaluationResult,
    candidates: Candidates,
    ran: Mask,
    ceiling: EvaluationResult,
    seconds: Mapping[str, float],
) -> Stage:
    query_ids = [query_id for query_id, has in zip(result.query_ids, ran, strict=True) if has]
    lengths = [len(candidates[query_id]) for query_id in query_ids]
    return Stage(
        name=name,
        inputs=graph.inputs[name],
        num_queries=len(query_ids),
        documents=sum(lengths) / max(1, len(lengths)),
        means={measure: _mean(result.scores(measure)[ran]) for measure in result.measures},
        ceilings={measure: _mean(ceiling.scores(measure)[ran]) for measure in result.measures},
        seconds=seconds.get(name),
    )


def _mean(scores: Floats) -> float:
    defined = scores[~np.isnan(scores)]
    return math.fsum(defined) / len(defined) if len(defined) else math.nan


def _ideal_of(account: MeasureAccount) -> Floats:
    ideal: Floats = account.measured + account.order + sum(account.losses.values())
    return ideal


def _relevant_below_cutoffs(
    evaluator_of: Callable[[int], Evaluator], run: Run, measures: Sequence[str]
) -> dict[str, int]:
    """Return {measure: how many relevant documents the run has below its cutoff}."""
    deepest = max((len(doc_ids) for _, doc_ids, _ in run.rankings()), default=0)
    with_top = evaluate_without_warning(evaluator_of(max(1, deepest)), run)
    ranks = [
        rank
        for _, rank in ranks_of_relevant(
            {query_id: top.grades for query_id, top in (with_top.top or {}).items()}
        )
    ]
    cutoffs = {
        measure: None if (parsed := registered(measure)) is None else parsed.cutoff
        for measure in measures
    }
    return {
        measure: 0 if cutoff is None else sum(rank > cutoff for rank in ranks)
        for measure, cutoff in cutoffs.items()
    }


def _losses(
    measure: str,
    account: MeasureAccount,
    lost_from: Mapping[PlaceOfLoss, Mapping[str, Sequence[str]]],
    below: int,
    alpha: float,
) -> Iterator[Loss]:
    """Yield the losses of a measure: the order, then the places as documents are put back."""
    defined = ~np.isnan(_ideal_of(account))
    limit = scale_of(measure, {}).range or math.inf

    reasons: list[tuple[Reason, str, int, Floats]] = [("order", "", below, account.order)]
    for loss_place, values in account.losses.items():
        count = sum(map(len, lost_from[loss_place].values()))
        reasons.append((loss_place.kind, loss_place.stage, count, values))
    for reason, stage, documents, values in reasons:
        loss, low, high = mean_and_interval(values[defined], alpha, limit)
        yield Loss(
            measure=measure,
            reason=reason,
            stage=stage,
            documents=documents,
            loss=loss,
            low=low,
            high=high,
        )


def _differences(
    results: Mapping[str, EvaluationResult],
    candidates: Mapping[str, Candidates],
    graph: StageGraph,
    settings: ComparisonSettings,
) -> Iterator[Difference]:
    """Yield the differences of all pairs of stages on each measure, corrected over the pairs."""
    measures = results[graph.last].measures
    aligned = align_scores({name: [result] for name, result in results.items()}, measures, "error")
    ran = {
        name: np.array([query_id in by_query for query_id in aligned.query_ids])
        for name, by_query in candidates.items()
    }
    for scores in aligned.by_measure:
        all_tests = [
            tests for pair in graph.pairs for tests in _tests_of_pair(scores, pair, ran, settings)
        ]
        if not all_tests:
            continue
        equality = correct(np.concatenate([equality_p_of(tests) for tests in all_tests]), "holm")
        corrected = corrected_together(all_tests, settings)
        for tests, of_pair, p_equal in zip(all_tests, corrected, equality, strict=True):
            yield from with_verdicts(
                tests, of_pair, np.array([p_equal]), num_comparisons=len(all_tests)
            )


def _tests_of_pair(
    scores: MeasureScores,
    pair: tuple[str, str],
    ran: Mapping[str, Mask],
    settings: ComparisonSettings,
) -> list[Tests]:
    """Return the test of a pair over the queries for which both ran; none for fewer than two."""
    rows = [scores.systems.index(name) for name in pair]
    of_pair = scores._replace(
        systems=pair,
        repeats=[scores.repeats[row] for row in rows],
        scores=np.asfortranarray(scores.scores[rows]),
    )
    queries = of_pair.is_defined & ran[pair[0]] & ran[pair[1]]
    if queries.sum() < FEWEST_QUERIES:
        return []
    return tests_of([of_pair.select(queries)], Pairs([Pair(0, 1)]), settings)
