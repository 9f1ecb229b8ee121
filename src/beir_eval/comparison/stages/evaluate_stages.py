"""``evaluate_stages``: which stage of a pipeline lost the relevant documents?"""

from __future__ import annotations

import math
import sys
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.comparison.alignment import align_scores
from beir_eval.comparison.differences import Pair, Pairs, Tests, differences_together, tests_of
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.comparison.stages.account import (
    StageGraph,
    accounts_of,
    ceiling_run,
    mean_and_interval,
    places_of,
    relevant_of,
    scores_of,
)
from beir_eval.comparison.stages.result import Loss, Reason, Stage, StagedResult
from beir_eval.errors import InputError, MeasureError, QueryMismatchError, about_system, first_few
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning
from beir_eval.evaluation.inputs import (
    JudgedFolder,
    as_qrels,
    as_run,
    conventions_of,
    excluding,
)
from beir_eval.measures import parse_all, with_rel
from beir_eval.measures.names import registered
from beir_eval.measures.scales import scale_of
from beir_eval.significance.corrections import correct
from beir_eval.significance.equivalence import margin_tests
from beir_eval.significance.validation import FEWEST_QUERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from beir_eval.comparison.alignment import MeasureScores
    from beir_eval.comparison.records import Difference
    from beir_eval.comparison.stages.account import Candidates, MeasureAccount, PlaceOfLoss
    from beir_eval.core.arrays import Floats
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run import Run
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure, MeasureLike


def evaluate_stages(  # noqa: PLR0913 - one keyword a setting
    qrels: Any,
    stages: Mapping[str, Any],
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    inputs: Mapping[str, str | Sequence[str]] | None = None,
    pair: Sequence[str] | None = None,
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

    All of this is over all judged queries: a query that a stage did not answer is an empty ranking.
    With ``missing="skip"`` it is over the queries that all stages have.

    Args:
        qrels: the judgements, in any form that ``evaluate`` takes.
        stages: {name: its run}, in the order of documents; the last one is the answer.
        measures: the measures, or their names; by default nDCG@10. Verdicts are on the first.
        inputs: {stage: the stages it gets documents from}, such as {"joiner": ["bm25", "dense"],
            "ranker": "joiner"}; a stage that is not named gets documents from none of these. None:
            each stage gets its documents from the one before.
        pair: the two stages that are the question, ("ranker", "bm25"), which are then tested alone,
            without a correction for other pairs. None: each stage is compared with its inputs, and
            the last one with each stage without inputs.
        seconds: {stage: the seconds that a query takes in it}, where they are known.
        rel: the lowest relevant grade of measures that take one and state none.
        alpha: the level of the verdicts, and of the intervals of losses.
        margin: the smallest difference that matters.
        draws: the number of random sign vectors, as for ``compare``.
        rng: the seed of the sign vectors.
        policies: further settings of ``evaluate``, such as ``ties``.

    Raises:
        InputError: fewer than two stages, stages in a circle, a name in ``inputs``, ``pair`` or
            ``seconds`` that is no stage, or a stage whose ranks are characters or chunks.
        QueryMismatchError: as for ``evaluate``, or no query is in all stages (missing="skip").
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
    graph = StageGraph.from_inputs(list(stages), inputs, pair)
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
        MeasureError: a measure does not exist, is no mean over queries, or is not about relevant
            documents alone.
    """
    parsed = with_rel(parse_all("nDCG@10" if measures is None else measures), rel)
    for measure in parsed:
        if measure.definition.aggregate != "mean":
            msg = f"{measure} is no mean over queries, so losses do not add up to it"
            raise MeasureError(msg)
        if not measure.has_tie_extremes or not measure.definition.higher_is_better:
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
    options = dict(policies)
    judgements = excluding(as_qrels(qrels), options.pop("exclude", None))
    keep_top = options.pop("keep_top", 0)
    left_out: tuple[str, ...] = ()
    if options.get("missing") == "skip":
        judgements, left_out = _answered_by_all(judgements, runs)
    judged = JudgedFolder(judgements, conventions_of(qrels))
    evaluator = Evaluator(judged, measures, keep_top=sys.maxsize, **options)
    results = {}
    for name, run in runs.items():
        with about_system(name):
            results[name] = (
                evaluate_without_warning(evaluator, run, name)
                if result is not None and name == graph.last  # its warnings were given
                else evaluator.evaluate(run, name=name)
            )
    names, last = results[graph.last].measures, results[graph.last]
    if result is None:
        alone = Evaluator(judged, measures, keep_top=keep_top, **options)
        result = evaluate_without_warning(alone, runs[graph.last], graph.last)
    candidates = {
        name: {query_id: top.doc_ids for query_id, top in (of_stage.top or {}).items()}
        for name, of_stage in results.items()
    }
    drops = last.settings is not None and last.settings.drop_identical_ids
    relevant = relevant_of(judgements, drop_identical_ids=drops)
    lost_from = places_of(relevant, candidates, graph)
    measured = {measure: last.scores(measure) for measure in names}
    accounts = accounts_of(evaluator, measured, candidates[graph.last], relevant, lost_from)
    ranks = _ranks_by_stage(relevant, [candidates[name] for name in graph.inputs])
    at = list(graph.inputs).index(graph.last)
    in_last = [by_stage[at] for of_query in ranks.values() for by_stage in of_query.values()]
    kept = {measure: _num_kept(in_last, measure) for measure in names}
    below = {measure: len(in_last) - in_last.count(0) - kept[measure] for measure in names}
    differences, p_gains = _differences(results, graph, settings)
    return StagedResult(
        measures=names,
        stages=tuple(
            Stage(
                name=name,
                inputs=inputs,
                num_queries=len(candidates[name]),
                documents=sum(map(len, candidates[name].values())) / max(1, len(candidates[name])),
                means={measure: _mean(results[name].scores(measure)) for measure in names},
                ceilings={
                    measure: _mean(scores)
                    for measure, scores in scores_of(
                        evaluator, ceiling_run(candidates[name], relevant), measured
                    ).items()
                },
                seconds=seconds.get(name),
            )
            for name, inputs in graph.inputs.items()
        ),
        last=graph.last,
        num_relevant=len(in_last),
        kept=kept,
        best={measure: _mean(_ideal_of(account)) for measure, account in accounts.items()},
        losses=tuple(
            loss
            for measure, account in accounts.items()
            for loss in _losses(measure, account, lost_from, below[measure], settings.alpha)
        ),
        differences=differences,
        p_gains=p_gains,
        left_out=left_out,
        settings=settings,
        result=result,
        ranks=ranks,
        **of_host,
    )


def _answered_by_all(qrels: Qrels, runs: Mapping[str, Run]) -> tuple[Qrels, tuple[str, ...]]:
    """Return the judgements of the queries that all stages have, and the other judged queries.

    Raises:
        QueryMismatchError: there is no such query.
    """
    shared = set.intersection(*({*map(str, run.query_ids)} for run in runs.values()))
    answered = [query_id for query_id in qrels.query_ids if query_id in shared]
    if not answered:
        msg = f"missing='skip': no judged query is in all stages: {first_few(runs)}"
        raise QueryMismatchError(msg)
    left_out = tuple(query_id for query_id in qrels.query_ids if query_id not in shared)
    return qrels.select(answered) if left_out else qrels, left_out


def _num_kept(ranks: Sequence[int], measure: str) -> int:
    """Return how many of the ranks, 0 for none, are within the cutoff of a measure."""
    parsed = registered(measure)
    cutoff = None if parsed is None else parsed.cutoff
    return sum(0 < rank <= (cutoff or rank) for rank in ranks)


def _ranks_by_stage(
    relevant: Mapping[str, Mapping[str, float]], by_stage: Sequence[Candidates]
) -> dict[str, dict[str, tuple[int, ...]]]:
    """Return {query_id: {relevant document: its rank in each stage}}; 0 where it is missing."""
    ranks: dict[str, dict[str, tuple[int, ...]]] = {}
    for query_id, documents in relevant.items():
        rank_of = [
            # Of copies, the first one counts.
            dict(reversed([*zip(stage.get(query_id, ()), count(1), strict=False)]))
            for stage in by_stage
        ]
        ranks[query_id] = {
            doc_id: tuple(ranks_of_stage.get(doc_id, 0) for ranks_of_stage in rank_of)
            for doc_id in documents
        }
    return ranks


def _mean(scores: Floats) -> float:
    defined = scores[~np.isnan(scores)]
    return math.fsum(defined) / len(defined) if len(defined) else math.nan


def _ideal_of(account: MeasureAccount) -> Floats:
    ideal: Floats = account.measured + account.order + sum(account.losses.values())
    return ideal


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
    results: Mapping[str, EvaluationResult], graph: StageGraph, settings: ComparisonSettings
) -> tuple[tuple[Difference, ...], tuple[float, ...]]:
    """Return the differences of all pairs of stages on each measure, corrected over the pairs.

    With the corrected p of each that the first stage gains the margin or more, one-sided.
    """
    measures = results[graph.last].measures
    aligned = align_scores({name: [result] for name, result in results.items()}, measures, "error")
    differences: list[Difference] = []
    p_gains: list[float] = []
    for scores in aligned.by_measure:
        all_tests = [
            tests for pair in graph.pairs for tests in _tests_of_pair(scores, pair, settings)
        ]
        if not all_tests:
            continue
        p_gains += correct(
            np.concatenate([_p_gain_of(tests) for tests in all_tests]), "holm"
        ).tolist()
        for of_pair in differences_together(all_tests, settings):
            differences += of_pair
    return tuple(differences), tuple(p_gains)


def _p_gain_of(tests: Tests) -> Floats:
    """Return the p of "the stage gains the margin or more", one-sided and uncorrected, f8[1]."""
    scores = tests.scores
    rows = tests.pairs.differences(scores.scores)
    return margin_tests(rows, delta=tests.settings.margin, score_range=scores.scale.range).p_better


def _tests_of_pair(
    scores: MeasureScores, pair: tuple[str, str], settings: ComparisonSettings
) -> list[Tests]:
    """Return the test of a pair over the queries with scores; none for fewer than two."""
    rows = [scores.systems.index(name) for name in pair]
    of_pair = scores._replace(
        systems=pair,
        repeats=[scores.repeats[row] for row in rows],
        scores=np.asfortranarray(scores.scores[rows]),
    )
    queries = of_pair.is_defined
    if queries.sum() < FEWEST_QUERIES:
        return []
    return tests_of([of_pair.select(queries)], Pairs([Pair(0, 1)]), settings)
