"""A provider for ir_measures: its measures, computed by this package's engine.

``install()`` makes ``ir_measures.calc_aggregate`` and the like, and what calls them
(``pyterrier.Experiment``), use it for every measure that it supports. ``provider`` can also be used
by itself, as any other: ``provider.calc_aggregate(measures, qrels, run)``.

It supports the measures of ir_measures' provider ``pytrec_eval``, with the same numbers. Of other
providers it supports none: they break ties differently or round (docs/faq.md).

Different from the provider ``pytrec_eval``:

- One ranking of the run serves all measures; there, each ``rel`` and ``judged_only`` needs its own.
- ``NumRet`` counts all documents; there, it counts the judged ones if a measure that was requested
  with it has ``judged_only=True``.
- Ids may be integers, grades may be fractions.
- Recall levels that are equal to two decimals (``IPrec@0.101``, ``IPrec@0.1``) get the same value;
  there, only the last of them gets it and the others 0.
- ``SetP(relative=True)`` of a query without relevant documents is 0, not NaN.
- A cutoff of 0 is an error; there, it ends the process.
- An iterator without items, such as a generator that was read before, is an error; there, every
  score is 0, or nothing is scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from beir_eval.errors import QrelsError, RunError, needs_extra
from beir_eval.evaluation.evaluator import Evaluator, for_drop_in
from beir_eval.integrations._trec_eval_names import Value, values_of_measures
from beir_eval.integrations.pytrec_eval import (
    EMPTY_ID,
    evaluate_with_infinite_scores,
    without_empty_ids,
)
from beir_eval.measures import JUDGED_ONLY, Measure

with needs_extra("ir_measures", "ir-measures", "the provider of ir_measures"):
    import ir_measures
    from ir_measures import Evaluator as HostEvaluator
    from ir_measures import measures as names
    from ir_measures.providers.base import NOT_PROVIDED, Choices
    from ir_measures.providers.base import Any as AnyValue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["BeirEvalProvider", "install", "provider", "uninstall"]

#: {measure of ir_measures: the name in trec_eval of a measure with these parameters}
_TREC_EVAL_NAMES: Mapping[str, Callable[[Any], str]] = {
    "P": lambda measure: f"P_{measure['cutoff']}",
    "RR": lambda _: "recip_rank",
    "Rprec": lambda _: "Rprec",
    "AP": lambda measure: _with_cutoff("map", "map_cut", measure),
    "nDCG": lambda measure: _with_cutoff("ndcg", "ndcg_cut", measure),
    "R": lambda measure: f"recall_{measure['cutoff']}",
    "Bpref": lambda _: "bpref",
    "NumRet": lambda measure: "num_ret" if measure["rel"] is NOT_PROVIDED else "num_rel_ret",
    "NumQ": lambda _: "num_q",
    "NumRel": lambda _: "num_rel",
    "SetAP": lambda _: "set_map",
    # trec_eval reads the number as the square of F's beta, and ir_measures passes beta.
    "SetF": lambda measure: "set_F" if measure["beta"] == 1 else f"set_F_{measure['beta']}",
    "SetP": lambda measure: "set_relative_P" if measure["relative"] else "set_P",
    "SetR": lambda _: "set_recall",
    "Success": lambda measure: f"success_{measure['cutoff']}",
    "IPrec": lambda measure: f"iprec_at_recall_{measure['recall']:.2f}",
    "infAP": lambda _: "infAP",
}


class BeirEvalProvider(ir_measures.providers.Provider):
    """The provider ``beir_eval``: computes the measures of ir_measures' provider ``pytrec_eval``.

    Ties are broken as in trec_eval 9: scores as float32, ids descending. A query that the run lacks
    gets the measure's default, 0, from ir_measures.

    Attributes:
        NAME: "beir_eval", the key in ``ir_measures.providers.registry``.
        SUPPORTED_MEASURES: what ``supports`` accepts, in ir_measures' terms.
    """

    NAME = "beir_eval"
    SUPPORTED_MEASURES = [  # noqa: RUF012 - ir_measures' interface
        names._P(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),  # noqa: SLF001
        # RR@k of other providers orders ties by ids ascending.
        names._RR(cutoff=Choices(NOT_PROVIDED), rel=AnyValue(), judged_only=AnyValue()),  # noqa: SLF001
        names._Rprec(rel=AnyValue(), judged_only=AnyValue()),  # noqa: SLF001
        names._AP(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),  # noqa: SLF001
        # nDCG(dcg="exp-log2") of other providers is rounded.
        names._nDCG(  # noqa: SLF001
            cutoff=AnyValue(), dcg=Choices("log2"), gains=AnyValue(), judged_only=AnyValue()
        ),
        names._R(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),  # noqa: SLF001
        names._Bpref(rel=AnyValue()),  # noqa: SLF001
        names._NumRet(rel=AnyValue()),  # noqa: SLF001
        names._NumQ(),  # noqa: SLF001
        names._NumRel(rel=Choices(1)),  # noqa: SLF001
        names._SetAP(rel=AnyValue(), judged_only=AnyValue()),  # noqa: SLF001
        names._SetF(rel=AnyValue(), beta=AnyValue(), judged_only=AnyValue()),  # noqa: SLF001
        names._SetP(rel=AnyValue(), relative=AnyValue(), judged_only=AnyValue()),  # noqa: SLF001
        names._SetR(rel=AnyValue()),  # noqa: SLF001
        names._Success(cutoff=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),  # noqa: SLF001
        names._IPrec(recall=AnyValue(), rel=AnyValue(), judged_only=AnyValue()),  # noqa: SLF001
        names._infAP(rel=AnyValue()),  # noqa: SLF001
    ]

    def supports(self, measure: ir_measures.Measure) -> bool:
        """Return whether this provider computes a measure with these parameters.

        A measure that the user defined with ``ir_measures.define`` is not supported, whatever its
        name is.
        """
        return not hasattr(measure, "runtime_impl") and super().supports(measure)

    def _evaluator(self, measures: Iterable[ir_measures.Measure], qrels: Any) -> _RunEvaluator:
        """Return the evaluator of runs against these qrels, in any format of ir_measures.

        Raises:
            ValueError: a measure is not supported.
            MeasureError: (a ValueError) a parameter is out of range, such as a cutoff of 0.
            QrelsError: (a ValueError) an id or a grade is not valid, or the qrels are an iterator
                without items.
        """
        # A pipeline of ir_measures passes a set; PyTerrier orders its columns as values arrive.
        distinct = sorted(set(measures), key=str)
        if unsupported := [str(measure) for measure in distinct if not self.supports(measure)]:
            msg = f"the provider {self.NAME} does not compute {', '.join(unsupported)}"
            raise ValueError(msg)
        judgements = ir_measures.util.QrelsConverter(qrels).as_dict_of_dict()
        if not judgements and isinstance(qrels, Iterator):
            raise QrelsError(_no_items("qrels"))
        return _RunEvaluator(distinct, judgements)


class _RunEvaluator(HostEvaluator):
    """Computes some measures for runs against one set of qrels.

    Args:
        measures: the measures, each once.
        qrels: {query_id: {doc_id: grade}}; not changed.
    """

    def __init__(
        self, measures: list[ir_measures.Measure], qrels: Mapping[Any, Mapping[Any, float]]
    ) -> None:
        super().__init__(measures, set(qrels))
        self._query_ids = {str(query_id) or EMPTY_ID: query_id for query_id in qrels}
        measures_of_gains: dict[str, list[ir_measures.Measure]] = {}
        for measure in measures:
            measures_of_gains.setdefault(_gains_key(measure), []).append(measure)
        self._parts = (
            [_Part(same_gains, qrels) for same_gains in measures_of_gains.values()]
            if any(qrels.values())
            else []
        )

    def _iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        """Yield the values of the queries that are judged and in the run, in the run's order.

        Raises:
            RunError: (a ValueError) a score is NaN or not a number, an id is not valid, or the run
                is an iterator without items.
        """
        rankings = ir_measures.util.RunConverter(run).as_dict_of_dict()
        if not rankings and isinstance(run, Iterator):
            raise RunError(_no_items("run"))
        scores = without_empty_ids(rankings)
        judged = [str(query_id) for query_id in scores if str(query_id) in self._query_ids]
        for part in self._parts if judged else []:
            row_of, columns = part.values(scores)
            for query_id in judged:
                if query_id not in row_of:
                    continue
                row = row_of[query_id]
                for measure, column in columns:
                    yield ir_measures.Metric(
                        query_id=self._query_ids[query_id], measure=measure, value=column[row]
                    )


class _Part:
    """The measures of a request that share the gains of grades, and are evaluated together.

    Args:
        measures: measures that map grades to the same gains, or do not map them.
        qrels: {query_id: {doc_id: grade}}; not changed.
    """

    def __init__(
        self, measures: list[ir_measures.Measure], qrels: Mapping[Any, Mapping[Any, float]]
    ) -> None:
        self._values = [(measure, *_value_of(measure)) for measure in measures]
        gains = _gains_of(measures[0])
        if gains:
            qrels = {
                query_id: {doc_id: gains.get(grade, grade) for doc_id, grade in judged.items()}
                for query_id, judged in qrels.items()
            }
        needed = dict.fromkeys(measure for _, _, adapted in self._values for measure in adapted)
        evaluator = Evaluator(
            without_empty_ids(qrels), list(needed), ties="trec_eval9", missing="skip"
        )
        self._evaluator = for_drop_in(evaluator)

    def values(
        self, run: Any
    ) -> tuple[dict[str, int], list[tuple[ir_measures.Measure, list[float]]]]:
        """Return {query_id: row} and, for each measure, its values by row."""
        result = evaluate_with_infinite_scores(self._evaluator.evaluate, run)
        columns = [
            (measure, value.formula(*map(result.scores, adapted)).tolist())
            for measure, value, adapted in self._values
        ]
        return {query_id: row for row, query_id in enumerate(result.query_ids)}, columns


def _no_items(name: str) -> str:
    """Return the message for an iterator without items.

    Args:
        name: "qrels" or "run". ir_measures also passes an empty list as an iterator, if several
            providers compute the measures.
    """
    past = "judged" if name == "qrels" else "retrieved"
    return (
        f"the iterator {name} has no items: a generator, as of ir_measures.read_trec_{name}, can "
        f"be read once, and this one was read before or is empty. Pass a list each time, "
        f"{name} = list({name}); if nothing was {past}, pass {{}}"
    )


def _value_of(measure: ir_measures.Measure) -> tuple[Value, list[Measure]]:
    """Return trec_eval's value, and our measures for it with ir_measures' parameters."""
    (value,) = values_of_measures([_TREC_EVAL_NAMES[str(measure.NAME)](measure)])
    changes: dict[str, Any] = {}
    if "rel" in measure.SUPPORTED_PARAMS and measure["rel"] is not NOT_PROVIDED:
        changes["rel"] = measure["rel"]
    if "judged_only" in measure.SUPPORTED_PARAMS and measure["judged_only"]:
        changes[JUDGED_ONLY] = True
    return value, [
        ours(
            **{
                name: setting
                for name, setting in changes.items()
                if name == JUDGED_ONLY or name in ours.definition.defaults
            }
        )
        for ours in value.measures
    ]


def _with_cutoff(without: str, with_cutoff: str, measure: Any) -> str:
    """Return trec_eval's name of a measure whose cutoff is optional."""
    cutoff = measure["cutoff"]
    return without if cutoff is NOT_PROVIDED else f"{with_cutoff}_{cutoff}"


def _gains_of(measure: ir_measures.Measure) -> dict[Any, Any]:
    """Return nDCG's mapping of grades to gains, {grade: gain}; grades not in it are their gains."""
    if "gains" not in measure.SUPPORTED_PARAMS or measure["gains"] is NOT_PROVIDED:
        return {}
    return dict(measure["gains"])


def _gains_key(measure: ir_measures.Measure) -> str:
    return repr(sorted(_gains_of(measure).items()))


#: The provider that ``install`` installs.
provider = BeirEvalProvider()


def install() -> None:
    """Make ir_measures compute with this package what it supports, in the current process.

    The provider gets the first position in ``ir_measures.DefaultPipeline``, and is registered as
    ``ir_measures.providers.registry["beir_eval"]``. A second call changes nothing.
    """
    uninstall()
    ir_measures.providers.register(provider)
    ir_measures.DefaultPipeline.providers.insert(0, provider)


def uninstall() -> None:
    """Undo ``install``: ir_measures computes with its own providers again."""
    ir_measures.providers.registry.pop(provider.NAME, None)
    pipeline = ir_measures.DefaultPipeline
    pipeline.providers = [other for other in pipeline.providers if other is not provider]
