"""``evaluate_pipeline_stages``: which stage of a Haystack pipeline lost the relevant documents?"""

from __future__ import annotations

from statistics import mean, median
from typing import TYPE_CHECKING, Any

from beir_eval.comparison.records import ComparisonSettings
from beir_eval.comparison.stages.account import StageGraph
from beir_eval.comparison.stages.evaluate_stages import stage_measures, stages_of_runs
from beir_eval.comparison.stages.result import ComponentSeconds
from beir_eval.core.run import Run
from beir_eval.datasets.dataset import Dataset, load_dataset
from beir_eval.errors import InputError, SettingError, first_few
from beir_eval.inspection.finding import LEAST_QUERIES, TOP
from beir_eval.integrations.haystack.evaluate_pipeline import (
    gold_of,
    retrieve_and_evaluate,
    with_answers,
)
from beir_eval.integrations.haystack.retriever import PipelineRetriever
from beir_eval.integrations.retrieval.documents import AUTO
from beir_eval.integrations.retrieval.evaluate_dataset import (
    dataset_first,
    evaluated_judgements,
)
from beir_eval.integrations.retrieval.run_queries import DEFAULT_CHECKED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from beir_eval.comparison.stages.result import StagedResult
    from beir_eval.core.qrels import Qrels
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.integrations.haystack.evaluate_pipeline import GoldAnswers
    from beir_eval.integrations.haystack.pipeline_stages import PipelineStages
    from beir_eval.integrations.haystack.retriever import Inputs
    from beir_eval.integrations.haystack.stage_tracer import QueryRecord
    from beir_eval.integrations.retrieval.run_queries import Retrieved
    from beir_eval.measures import Measure, MeasureLike


def evaluate_pipeline_stages(  # noqa: PLR0913 - one keyword a setting
    dataset: Dataset | str | Path,
    pipeline: Any,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    rel: float | None = None,
    inputs: Inputs | None = None,
    documents_from: str | None = None,
    name: str = "pipeline",
    concurrency: int = 1,
    limit: int | None = None,
    save_run: str | Path | None = None,
    fresh: bool = False,
    check_saved: int = DEFAULT_CHECKED,
    on_error: str = "stop",
    document_comparison_field: str | Sequence[str] = "id",
    collapse: str | None = AUTO,
    progress: bool = True,
    pair: Sequence[str] | None = None,
    alpha: float = 0.05,
    margin: float = 0.01,
    draws: int | None = None,
    rng: int = 0,
    answers_from: str | None = None,
    gold_answers: GoldAnswers | None = None,
) -> StagedResult:
    """Run a pipeline for every judged query, and return where it loses relevant documents.

    Each output of Documents is a *stage*, also inside SuperComponents, and so is an output of
    answers, with the documents that the first answer cites. One run of the pipeline shows them all,
    with the seconds of every component; the pipeline is not changed. ``evaluate_stages`` says what
    ceilings, losses and verdicts are.

    In a loop the last run of a component counts. A stage that did not run for a query, behind a
    router, counts with an empty ranking there; how many queries it ran for is said. A component
    with retrievers of its own is one stage.

    Args:
        dataset: as for ``evaluate_pipeline``.
        pipeline: likewise.
        measures: the measures, or their names; by default nDCG@10. Verdicts are on the first.
        rel: as for ``evaluate_pipeline``.
        inputs: likewise.
        documents_from: the output of the last stage; by default as for ``evaluate_pipeline``. An
            output of answers stands for the documents that they cite.
        name: likewise.
        concurrency: likewise. With more than 1 the seconds of a component contain waiting, so they
            do not stand beside verdicts.
        limit: likewise.
        save_run: likewise; the rankings of all stages are saved beside the answers. Queries whose
            saved answers lack them are run again.
        fresh: likewise.
        check_saved: likewise.
        on_error: likewise. Of a query that fails, the stages before count.
        document_comparison_field: likewise, for all stages.
        collapse: likewise, for all stages.
        progress: likewise.
        pair: as for ``evaluate_stages``.
        alpha: likewise.
        margin: likewise.
        draws: likewise.
        rng: likewise.
        answers_from: as for ``evaluate_pipeline``.
        gold_answers: likewise.

    Returns:
        The stages; ``result`` is that of ``evaluate_pipeline``.

    Raises:
        RetrievalError, RunError, SettingError, MeasureError, InputError, FileFormatError, OSError:
            as ``evaluate_pipeline``.
        InputError: the pipeline has a single stage, or its last stage ran for no query.
        SettingError: a component replaces Haystack's tracer in each run, so that its stages cannot
            be seen.
    """
    dataset, pipeline = dataset_first(dataset, pipeline)
    data = dataset if isinstance(dataset, Dataset) else load_dataset(dataset)
    retriever = PipelineRetriever(
        pipeline,
        inputs=inputs,
        documents_from=documents_from,
        document_comparison_field=document_comparison_field,
        collapse=collapse,
        concurrency=concurrency,
        check_saved=check_saved,
        progress=progress,
        keep_stages=True,
        answers_from=answers_from,
    )
    gold = gold_of(data, answers_from, gold_answers)
    settings = ComparisonSettings(
        correction="holm", alpha=alpha, margin=margin, draws=draws, rng=rng
    )
    parsed = stage_measures(measures, rel)
    retrieved, result = retrieve_and_evaluate(
        retriever,
        data,
        parsed,
        on_error=on_error,
        save_run=save_run,
        fresh=fresh,
        run_name=name,
        limit=limit,
        keep_top=0,
        fingerprint=False,
    )
    qrels = evaluated_judgements(data, limit, "the pipeline")
    result = with_answers(result, retrieved, gold)
    return stages_of_pipeline(
        retriever, retrieved, result, qrels, measures=parsed, settings=settings, pair=pair
    )


def stages_of_pipeline(  # noqa: PLR0913 - one keyword a setting
    retriever: PipelineRetriever,
    retrieved: Retrieved,
    result: EvaluationResult,
    qrels: Qrels,
    *,
    measures: Sequence[Measure],
    settings: ComparisonSettings,
    pair: Sequence[str] | None = None,
) -> StagedResult:
    """Return the stages of a pipeline that has run with ``keep_stages``.

    Args:
        retriever: the pipeline.
        retrieved: its answers.
        result: their evaluation.
        qrels: the judgements that it was evaluated by.
        measures: the measures of the stages.
        settings: those of the tests.
        pair: as for ``evaluate_stages``.

    Raises:
        InputError, SettingError: as ``evaluate_pipeline_stages``.
    """
    stages = retriever.stages
    if stages is None:
        raise SettingError("the stages were not kept: PipelineRetriever(…, keep_stages=True)")
    rankings = _rankings_of(retriever, retrieved)
    ran = [str(stage) for stage in stages.inputs if str(stage) in rankings]
    never_ran = [str(stage) for stage in stages.inputs if str(stage) not in rankings]
    graph = _graph_of(stages, ran, pair)
    is_alone = retriever.concurrency == 1
    times = list(_component_seconds(retrieved))
    of_component = {component.name: component.run for component in times}
    remarks = [f"{stage} did not run for any query" for stage in never_ran]
    if not is_alone:
        remarks.append(
            f"the seconds of components contain waiting: {retriever.concurrency} queries ran at a "
            "time"
        )
    remarks += [
        f"{stage} orders documents for a prompt, not for a reader: its nDCG falls by design; judge "
        "the stage before"
        for stage in stages.inputs
        if stage in stages.for_prompts and stage.name in ran
    ]
    remarks += _unheard_inputs(graph, rankings, measures[0].cutoff or TOP)
    return stages_of_runs(
        qrels,
        {name: Run.from_rankings(rankings[name]) for name in graph.inputs},
        graph,
        measures,
        settings,
        seconds={
            stage.name: of_component[stage.component]
            for stage in stages.inputs
            if is_alone and stage.name in graph.inputs and stage.component in of_component
        },
        policies={"drop_identical_ids": result.settings.drop_identical_ids}
        if result.settings is not None
        else {},
        result=result,
        components=tuple(times),
        failures=_failures_of(retriever, retrieved),
        remarks=tuple(remarks),
    )


def _rankings_of(
    retriever: PipelineRetriever, retrieved: Retrieved
) -> dict[str, dict[str, Sequence[str]]]:
    """Return {stage: {query_id: its documents}} of the stages that ran.

    Raises:
        SettingError: the stages of a query are not known.
    """
    rankings: dict[str, dict[str, Sequence[str]]] = {}
    unknown = [query for query, answer in retrieved.answers.items() if answer.stages is None]
    if unknown:
        msg = (
            "a component replaces Haystack's tracer whenever it runs, so the stages of "
            f"{len(unknown):,} queries cannot be seen: {first_few(unknown)}. Enable its tracer "
            "before the evaluation, and not in the component; or evaluate without stages"
        )
        raise SettingError(msg)
    for query_id, answer in retrieved.answers.items():
        for stage, doc_ids in (answer.stages or {}).items():
            rankings.setdefault(stage, {})[query_id] = doc_ids
    for query_id, record in _failed_records(retriever, retrieved):
        for stage, doc_ids in record.rankings.items():
            rankings.setdefault(stage, {})[query_id] = doc_ids
    return rankings


def _unheard_inputs(
    graph: StageGraph, rankings: Mapping[str, Mapping[str, Sequence[str]]], k: int
) -> Iterator[str]:
    """Yield the inputs of joining stages of whose own documents none is among the first ones.

    Own documents are those of its first ones that no other input has for the query, in six queries
    or more.

    Args:
        graph: which stage passes documents to which.
        rankings: {stage: {query_id: its documents}}.
        k: how many documents are the first ones.
    """
    for stage, inputs in graph.inputs.items():
        for before in inputs if len(inputs) > 1 else ():
            num_own = num_heard = 0
            for query_id, doc_ids in rankings.get(before, {}).items():
                others = (
                    rankings.get(name, {}).get(query_id, ()) for name in inputs if name != before
                )
                own = set(doc_ids[:k]).difference(*others)
                num_own += bool(own)
                num_heard += not own.isdisjoint(rankings[stage].get(query_id, ())[:k])
            if num_own >= LEAST_QUERIES and not num_heard:
                yield (
                    f"for {num_own:,} queries, no document that only {before} found is among the "
                    f"first {k} of {stage}: check how it joins scores"
                )


def _failed_records(
    retriever: PipelineRetriever, retrieved: Retrieved
) -> Iterator[tuple[str, QueryRecord]]:
    """Yield (query_id, what was recorded) of the queries that failed and have no answer.

    A query that was run again, only to compare its saved answer, has one.
    """
    for query_id, record in retriever.failed.items():
        if query_id not in retrieved.answers:
            yield query_id, record


def _graph_of(stages: PipelineStages, ran: Sequence[str], pair: Sequence[str] | None) -> StageGraph:
    """Return which stage passes documents to which, without the stages that never ran.

    Raises:
        InputError: the last stage never ran, there is a single stage, or the pair is not of two.
    """
    last = str(stages.last)
    if last not in ran:
        msg = f"{last} did not run for any query, so there is nothing to account for"
        raise InputError(msg)
    if len(ran) == 1:
        msg = f"the pipeline has one stage that ran, {last}: evaluate it without stages"
        raise InputError(msg)
    inputs: dict[str, list[str]] = {}
    for stage, befores in stages.inputs.items():
        passed: list[str] = []
        for before in map(str, befores):
            passed += [before] if before in ran else inputs[before]
        inputs[str(stage)] = list(dict.fromkeys(passed))
    names = [name for name in inputs if name in ran and name != last]
    return StageGraph.from_inputs([*names, last], {name: inputs[name] for name in ran}, pair)


def _component_seconds(retrieved: Retrieved) -> Iterator[ComponentSeconds]:
    """Yield what each component took, in the order in which they ran first."""
    taken: dict[str, list[tuple[float, float, int]]] = {}
    for answer in retrieved.answers.values():
        for name, times in answer.times.items():
            taken.setdefault(name, []).append(times)
    for name, by_query in taken.items():
        runs, copying, visits = zip(*by_query, strict=True)
        yield ComponentSeconds(
            name=name,
            num_queries=len(by_query),
            visits=mean(visits),
            run=median(runs),
            copying=median(copying),
        )


def _failures_of(
    retriever: PipelineRetriever, retrieved: Retrieved
) -> Mapping[str, tuple[str, ...]]:
    """Return {component: the queries for which it failed}."""
    failures: dict[str, list[str]] = {}
    for query_id, record in _failed_records(retriever, retrieved):
        failures.setdefault(record.failed_at or "the pipeline", []).append(query_id)
    return {name: tuple(query_ids) for name, query_ids in failures.items()}
