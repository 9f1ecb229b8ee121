"""Which stage passes documents to which, where relevant ones are lost, and what that costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from beir_eval.errors import InputError, first_few, shown
from beir_eval.evaluation.evaluator import evaluate_without_warning
from beir_eval.significance.equivalence import lower_bound
from beir_eval.significance.paired_tests import t_intervals
from beir_eval.significance.power import FEWEST_DIFFERING
from beir_eval.significance.validation import FEWEST_QUERIES, TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from beir_eval.core.arrays import Floats
    from beir_eval.core.qrels import Qrels
    from beir_eval.evaluation.evaluator import Evaluator

    #: {query_id: the ranking of a stage}.
    Candidates = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class StageGraph:
    """The stages of a pipeline, and the stages that each gets documents from.

    Attributes:
        inputs: {stage: its inputs}, in the order in which documents flow.
        last: the stage whose documents are the answer.
        question: the one pair that is compared, a stage and what it is compared with; None: all.
    """

    inputs: dict[str, tuple[str, ...]]
    last: str
    question: tuple[str, str] | None = None

    @classmethod
    def from_inputs(
        cls,
        stages: Sequence[str],
        inputs: Mapping[str, str | Sequence[str]] | None,
        pair: Sequence[str] | None = None,
    ) -> StageGraph:
        """Return the graph of some stages, of which the last one given is the last.

        Args:
            stages: their names, without repeats.
            inputs: {stage: its inputs}; other stages get no documents from these. None: each stage
                gets its documents from the one before.
            pair: the one pair that is compared; None: all.

        Raises:
            InputError: an unknown stage, the last stage as an input, stages in a circle, or a pair
                that is not of two stages.
        """
        if inputs is None:
            pairs = zip(stages[1:], stages, strict=False)
            inputs = dict(pairs)
        listed = {
            stage: (given,) if isinstance(given := inputs.get(stage, ()), str) else tuple(given)
            for stage in stages
        }
        unknown = {*inputs, *(name for names in listed.values() for name in names)} - {*stages}
        if unknown:
            names = first_few(sorted(unknown))
            msg = f"inputs: there is no stage {names}; there are {first_few(stages)}"
            raise InputError(msg)
        last = stages[-1]
        after = [stage for stage, names in listed.items() if last in names]
        if after:
            msg = f"inputs: {shown(last)} is the last stage, but an input of {first_few(after)}"
            raise InputError(msg)
        try:
            order = list(TopologicalSorter(listed).static_order())
        except CycleError as error:
            msg = f"inputs: stages in a circle: {' <- '.join(error.args[1])}"
            raise InputError(msg) from error
        if pair is not None and (len(pair) != 2 or len({*pair} & {*stages}) != 2):  # noqa: PLR2004
            msg = (
                f"pair: two different stages were expected, not {shown(pair)}; there are "
                f"{first_few(stages)}"
            )
            raise InputError(msg)
        question = None if pair is None else (pair[0], pair[1])
        return cls({stage: listed[stage] for stage in order}, last, question)

    @property
    def sources(self) -> list[str]:
        """The stages without inputs that lead to the last one."""
        return [stage for stage in self.leading if not self.inputs[stage]]

    @cached_property
    def leading(self) -> list[str]:
        """The stages whose documents reach the last one, and it, in the order of documents."""
        reached = {self.last}
        for stage in reversed(self.inputs):
            if stage in reached:
                reached.update(self.inputs[stage])
        return [stage for stage in self.inputs if stage in reached]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pair in question, or each stage with its inputs and the last one with each source."""
        if self.question is not None:
            return [self.question]
        edges = [(stage, before) for stage in self.inputs for before in self.inputs[stage]]
        direct = [(self.last, source) for source in self.sources if source != self.last]
        return list(dict.fromkeys([*edges, *direct]))


class PlaceOfLoss(NamedTuple):
    """Where relevant documents are that the last stage does not have.

    Attributes:
        kind: "dropped" (a stage lacks them, and an input of it had them; no later stage does so),
            "branch" (only a stage has them that leads nowhere) or "never" (no stage has them).
        stage: the stage that dropped them; "" for the other kinds.
    """

    kind: Literal["dropped", "branch", "never"]
    stage: str = ""


@dataclass(frozen=True)
class MeasureAccount:
    """What is missing on a measure, by query. Q queries.

    Attributes:
        measured: the scores of the last stage, f8[Q].
        order: what a perfect order of its documents would gain, f8[Q].
        losses: {place: what its relevant documents would gain besides, f8[Q]}, last stage first.
    """

    measured: Floats
    order: Floats
    losses: Mapping[PlaceOfLoss, Floats]


def relevant_of(qrels: Qrels, *, drop_identical_ids: bool) -> dict[str, dict[str, float]]:
    """Return {query_id: {doc_id: grade}} of the documents with a grade above 0.

    Args:
        qrels: the judgements.
        drop_identical_ids: whether a document with the id of the query is left out, since no
            ranking keeps it, as those that the qrels exclude.
    """
    return {
        query_id: {
            doc_id: grade
            for doc_id, grade in grades.items()
            if grade > 0
            and not (drop_identical_ids and doc_id == query_id)
            and doc_id not in qrels.excluded.get(query_id, ())
        }
        for query_id, grades in qrels.as_dict().items()
    }


def places_of(
    relevant: Mapping[str, Mapping[str, float]],
    candidates: Mapping[str, Candidates],
    graph: StageGraph,
) -> dict[PlaceOfLoss, dict[str, list[str]]]:
    """Return {place: {query_id: relevant documents}} of those that the last stage does not have.

    The places are disjoint; they are ordered as documents are put back: the last stage first.

    Args:
        relevant: {query_id: {doc_id: grade}}.
        candidates: {stage: {query_id: its documents}}.
        graph: which stage passes documents to which.
    """
    backwards = list(reversed(graph.leading))
    documents_by_place: dict[PlaceOfLoss, dict[str, list[str]]] = {
        PlaceOfLoss("dropped", stage): {} for stage in backwards if graph.inputs[stage]
    }
    if len(graph.leading) < len(graph.inputs):
        documents_by_place[PlaceOfLoss("branch")] = {}
    documents_by_place[PlaceOfLoss("never")] = {}
    for query_id, grades in relevant.items():
        held = {stage: {*by_query.get(query_id, ())} for stage, by_query in candidates.items()}
        for doc_id in grades:
            if doc_id not in held[graph.last]:
                loss_place = _place_of(doc_id, held, backwards, graph)
                documents_by_place[loss_place].setdefault(query_id, []).append(doc_id)
    return documents_by_place


def _place_of(
    doc_id: str, held: Mapping[str, AbstractSet[str]], backwards: Sequence[str], graph: StageGraph
) -> PlaceOfLoss:
    for stage in backwards:
        had = any(doc_id in held[before] for before in graph.inputs[stage])
        if had and doc_id not in held[stage]:
            return PlaceOfLoss("dropped", stage)
    is_in_branch = any(doc_id in documents for documents in held.values())
    return PlaceOfLoss("branch" if is_in_branch else "never")


def ceiling_run(
    candidates: Candidates, relevant: Mapping[str, Mapping[str, float]]
) -> dict[str, dict[str, float]]:
    """Return the candidates of a stage in the best order: by grade, all others below."""
    return {
        query_id: _best_order(doc_ids, relevant[query_id])
        for query_id, doc_ids in candidates.items()
    }


def _best_order(doc_ids: Iterable[str], grades: Mapping[str, float]) -> dict[str, float]:
    """Return {doc_id: score} in the best order, without ties: the same for every tie rule."""
    ordered = sorted(dict.fromkeys(doc_ids), key=lambda doc_id: -grades.get(doc_id, 0.0))
    return {doc_id: -float(rank) for rank, doc_id in enumerate(ordered)}


def accounts_of(
    evaluator: Evaluator,
    measured: Mapping[str, Floats],
    last: Candidates,
    relevant: Mapping[str, Mapping[str, float]],
    documents_by_place: Mapping[PlaceOfLoss, Mapping[str, Sequence[str]]],
) -> dict[str, MeasureAccount]:
    """Return {measure: its account}: order + losses = the measure of an ideal run − measured.

    The documents of each place are put back among those of the last stage, one place after the
    other, in the best order; what the measure rises is the loss of that place.

    Args:
        evaluator: evaluates the measures, with the settings of the stages.
        measured: {measure: the scores of the last stage, f8[Q]}.
        last: the documents of the last stage.
        relevant: {query_id: {doc_id: grade}}.
        documents_by_place: as ``places_of`` returns them.
    """
    run = ceiling_run(last, relevant)
    before = scores_of(evaluator, run, measured)
    orders = {measure: before[measure] - scores for measure, scores in measured.items()}
    losses: dict[str, dict[PlaceOfLoss, Floats]] = {measure: {} for measure in measured}
    for loss_place, documents in documents_by_place.items():
        for query_id, doc_ids in documents.items():
            run[query_id] = _best_order([*run.get(query_id, ()), *doc_ids], relevant[query_id])
        after = scores_of(evaluator, run, measured) if documents else before
        for measure in measured:
            losses[measure][loss_place] = after[measure] - before[measure]
        before = after
    return {
        measure: MeasureAccount(scores, orders[measure], losses[measure])
        for measure, scores in measured.items()
    }


def scores_of(
    evaluator: Evaluator, run: Mapping[str, Mapping[str, float]], measures: Mapping[str, object]
) -> dict[str, Floats]:
    """Return {measure: the scores of a run, f8[Q]}, NaN where the measure is undefined."""
    result = evaluate_without_warning(evaluator, run)
    return {measure: result.scores(measure) for measure in measures}


def mean_and_interval(values: Floats, alpha: float, limit: float) -> tuple[float, float, float]:
    """Return the mean of losses with an interval, which ends at 0 and at the largest loss.

    It is the t interval. Where few queries lose anything, the sample may contain none of those that
    lose most: then the upper end is not below that of ``lower_bound``, also for a loss of 0.

    Args:
        values: losses, without NaN, f8[N].
        alpha: the interval has confidence 1 − alpha.
        limit: the largest possible loss; infinite if there is none.

    Returns:
        The mean and the ends of the interval; NaN and all that is possible for no query.
    """
    if len(values) < FEWEST_QUERIES:
        return float(values.mean()) if len(values) else math.nan, 0.0, limit
    mean = float(values.mean())
    deviation = float(values.std(ddof=1))
    ends = t_intervals(np.array([mean]), np.array([deviation]), len(values), np.array([alpha]))
    low, high = (float(end[0]) for end in ends)
    num_losing = np.count_nonzero(values > TOLERANCE)
    if num_losing < FEWEST_DIFFERING and limit < math.inf:
        high = max(high, -lower_bound(-values, alpha=alpha / 2, score_range=limit))
    elif not num_losing:
        high = limit
    return mean if num_losing else 0.0, max(low, 0.0), min(high, limit)
