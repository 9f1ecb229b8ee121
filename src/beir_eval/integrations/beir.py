"""BEIR's ``EvaluateRetrieval`` over this package's engine: one changed import line, same numbers.

``from beir_eval.integrations.beir import EvaluateRetrieval`` instead of
``from beir.retrieval.evaluation import EvaluateRetrieval``. Neither beir nor pytrec_eval is needed,
but for the retriever that is handed over. docs/beir.md says what is the same and what is not.
"""

from __future__ import annotations

import glob
import heapq
import logging
import operator
import sys
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from beir_eval.adapters.readers import read_run
from beir_eval.adapters.writers import write_run
from beir_eval.core.ids import repeated_ids
from beir_eval.core.qrels import Qrels
from beir_eval.errors import MeasureError, QrelsError, RunError, SettingError
from beir_eval.evaluation.evaluator import evaluate
from beir_eval.measures import (
    MAP,
    MRR,
    Measure,
    MeasureLike,
    Precision,
    R_cap,
    Recall,
    Success,
    nDCG,
)

if TYPE_CHECKING:
    from pathlib import Path

    from beir_eval.evaluation.result import EvaluationResult

__all__ = ["EvaluateRetrieval", "evaluate_full", "load_runfile", "save_runfile"]

logger = logging.getLogger(__name__)

#: {query_id: {doc_id: grade}}, {query_id: {doc_id: score}}, {"NDCG@10": 0.5}.
_Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
_Results: TypeAlias = Mapping[str, Mapping[str, float]]
_Scores: TypeAlias = dict[str, float]

K_VALUES = (1, 3, 5, 10, 100, 1000)
_DIGITS = 5
_CUSTOM: Mapping[str, tuple[str, Measure]] = {
    **dict.fromkeys(("mrr", "mrr@k", "mrr_cut"), ("MRR", MRR)),
    **dict.fromkeys(("recall_cap", "r_cap", "r_cap@k"), ("R_cap", R_cap)),
    **dict.fromkeys(
        ("acc", "top_k_acc", "accuracy", "accuracy@k", "top_k_accuracy"), ("Accuracy", Success)
    ),
}
_HOLE = ("hole", "hole@k")


def evaluate_full(
    qrels: _Qrels,
    results: _Results,
    k_values: Sequence[int] = K_VALUES,
    *,
    ignore_identical_ids: bool = True,
    measures: Iterable[MeasureLike] | None = None,
) -> EvaluationResult:
    """Return every score by BEIR's rules, unrounded, with what was counted and set.

    BEIR's rules: ties as trec_eval 9, documents whose id is that of their query left out, means
    over the judged queries that are in the results. ``result.counted`` names the missing ones.

    Args:
        qrels: {query_id: {doc_id: grade}} or ``Qrels``.
        results: {query_id: {doc_id: score}} or ``Run``.
        k_values: the cutoffs of nDCG, MAP, Recall, R_cap, Precision and MRR.
        ignore_identical_ids: leave out documents whose id is that of their query.
        measures: other measures instead.

    Raises:
        QueryMismatchError, MeasureError, QrelsError, RunError: see ``evaluate``.

    >>> result = evaluate_full({"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 0.9}}, [10])
    >>> result["NDCG@10"], result.counted.queries_missing
    (1.0, ('r',))
    """
    suite = (nDCG, MAP, Recall, R_cap, Precision, MRR)
    cutoffs = _cutoffs(k_values)
    return evaluate(
        qrels,
        results,
        [measure @ k for measure in suite for k in cutoffs] if measures is None else measures,
        ties="trec_eval9",
        missing="skip",
        drop_identical_ids=ignore_identical_ids,
        name="beir",
    )


class EvaluateRetrieval:
    """Retrieve with a BEIR retriever and evaluate: the interface of beir 2.2.

    Args:
        retriever: anything with BEIR's ``search(corpus, queries, top_k, score_function)``.
        k_values: cutoffs; the highest is how many documents are retrieved.
        score_function: passed on to the retriever.

    >>> qrels, results = {"q": {"a": 1}}, {"q": {"x": 0.9, "a": 0.8}}
    >>> ndcg, _map, recall, precision = EvaluateRetrieval.evaluate(qrels, results, [1, 10])
    >>> ndcg, recall
    ({'NDCG@1': 0.0, 'NDCG@10': 0.63093}, {'Recall@1': 0.0, 'Recall@10': 1.0})
    """

    def __init__(
        self,
        retriever: Any = None,
        k_values: list[int] = [1, 3, 5, 10, 100, 1000],  # noqa: B006 - BEIR's signature; not changed
        score_function: str | None = "cos_sim",
    ) -> None:
        """Take a retriever, cutoffs and the name of a score function."""
        self.k_values = list(k_values)
        self.top_k = max(_cutoffs(self.k_values))
        self.retriever = retriever
        self.score_function = score_function

    evaluate_full = staticmethod(evaluate_full)

    def retrieve(
        self, corpus: dict[str, dict[str, str]], queries: dict[str, str], **kwargs: Any
    ) -> dict[str, dict[str, float]]:
        """Return {query_id: {doc_id: score}} of the retriever.

        Args:
            corpus: {doc_id: {"title", "text"}}; ``Dataset.corpus.as_dict()`` makes it.
            queries: {query_id: text}.
            kwargs: passed on to the retriever's ``search``.

        Raises:
            SettingError: a ValueError: there is no retriever.
        """
        found: dict[str, dict[str, float]] = self._retriever().search(
            corpus, queries, self.top_k, self.score_function, **kwargs
        )
        return found

    def encode_and_retrieve(  # noqa: PLR0913, PLR0917 - BEIR's signature
        self,
        corpus: dict[str, dict[str, str]],
        queries: dict[str, str],
        encode_output_path: str = "./embeddings/",
        overwrite: bool = False,  # noqa: FBT001, FBT002
        query_filename: str = "queries.pkl",
        corpus_filename: str = "corpus.*.pkl",
        **kwargs: Any,
    ) -> dict[str, dict[str, float]]:
        """Let the retriever encode to files, and search in these files.

        Raises:
            SettingError: a ValueError: there is no retriever.
        """
        retriever = self._retriever()
        retriever.encode(
            corpus,
            queries,
            encode_output_path=encode_output_path,
            overwrite=overwrite,
            query_filename=query_filename,
            corpus_filename=corpus_filename,
            **kwargs,
        )
        found: dict[str, dict[str, float]] = retriever.search_from_files(
            query_embeddings_file=f"{encode_output_path}/{query_filename}",
            corpus_embeddings_files=glob.glob(f"{encode_output_path}/{corpus_filename}"),  # noqa: PTH207 - text, as BEIR hands over
            top_k=self.top_k,
            **kwargs,
        )
        return found

    def _retriever(self) -> Any:
        if self.retriever is None:
            msg = "there is no retriever; hand one over: EvaluateRetrieval(retriever)"
            raise SettingError(msg)
        return self.retriever

    @staticmethod
    def evaluate(
        qrels: dict[str, dict[str, int]],
        results: dict[str, dict[str, float]],
        k_values: list[int],
        ignore_identical_ids: bool = True,  # noqa: FBT001, FBT002 - BEIR's signature
    ) -> tuple[_Scores, _Scores, _Scores, _Scores]:
        """Return nDCG, MAP, Recall and Precision: ({"NDCG@k": …}, {"MAP@k": …}, …).

        Means over the queries that are judged and in the results, rounded to 5 digits: BEIR's
        numbers. ``evaluate_full`` counts missing queries, rounds nothing, and says what it counted.

        Args:
            qrels: {query_id: {doc_id: grade}}, or ``Qrels``.
            results: {query_id: {doc_id: score}}; left as it is.
            k_values: cutoffs; one that is named twice counts once.
            ignore_identical_ids: leave out documents whose id is that of their query, in this call
                and in later ones with the same rankings. (BEIR removes them from the results.)
                Rankings with such documents stay in memory until a later call finds them unused.

        Raises:
            QueryMismatchError: no query in common.
            MeasureError: a cutoff below 1.
            QrelsError, RunError: a grade or a score is not a finite number.
        """
        cutoffs = _cutoffs(k_values)
        named = {"NDCG": nDCG, "MAP": MAP, "Recall": Recall, "P": Precision}
        if ignore_identical_ids:
            logger.info("documents whose id is that of their query are left out")
            _identical_ids_ignored.add(results)
        remaining = _identical_ids_ignored.applied_to(results)
        result = evaluate_full(
            qrels,
            remaining,
            cutoffs,
            ignore_identical_ids=ignore_identical_ids,
            measures=[measure @ k for measure in named.values() for k in cutoffs],
        )
        order = _places(result, results)
        found = [
            {f"{name}@{k}": _mean(result.scores(measure @ k)[order], len(order)) for k in cutoffs}
            for name, measure in named.items()
        ]
        for scores in found:
            _log(scores)
        return found[0], found[1], found[2], found[3]

    @staticmethod
    def evaluate_custom(
        qrels: dict[str, dict[str, int]],
        results: dict[str, dict[str, float]],
        k_values: list[int],
        metric: str,
    ) -> _Scores:
        """Return BEIR's MRR, capped recall, hole or accuracy: {"MRR@k": …}.

        Sums over the results, divided by the number of queries in the qrels, rounded to 5 digits.
        Equal scores stand in the order given here, by document id in ``evaluate``: an MRR may
        contradict the nDCG. Hole is the share of the first k documents that are judged for no
        query at all, divided by k even where fewer were retrieved. Documents whose id is that of
        their query count, unless ``evaluate`` has ignored them in the same rankings.

        Args:
            qrels: {query_id: {doc_id: grade}}.
            results: {query_id: {doc_id: score}}; left as it is. Queries without qrels count for
                hole only (BEIR stops at them).
            k_values: cutoffs; one that is named twice counts once.
            metric: "mrr", "recall_cap" ("r_cap"), "hole", "accuracy" ("top_k_accuracy", "acc").

        Raises:
            MeasureError: another metric (BEIR returns None), or a cutoff below 1.
            QueryMismatchError, QrelsError, RunError: as ``evaluate``.
        """
        cutoffs = _cutoffs(k_values)
        asked = str(metric).lower()
        remaining = _identical_ids_ignored.applied_to(results)
        if asked in _HOLE:
            scores = _hole(qrels, remaining, cutoffs)
        elif asked in _CUSTOM:
            name, measure = _CUSTOM[asked]
            suite = [measure @ k for k in cutoffs]
            result = evaluate(qrels, remaining, suite, ties="input", missing="skip")
            order = _places(result, remaining)
            scores = {
                f"{name}@{k}": _mean(result.scores(measure @ k)[order], len(qrels)) for k in cutoffs
            }
        else:
            known = ", ".join(sorted([*_CUSTOM, *_HOLE]))
            msg = f"there is no metric {metric!r}; known are {known}"
            raise MeasureError(msg)
        _log(scores)
        return scores


def save_runfile(
    output_file: str | Path, results: _Results, run_name: str = "beir", top_k: int = 1000
) -> None:
    """Write results as a TREC run, the best ``top_k`` of each query, with ranks from 1.

    (BEIR writes rank 0 everywhere.) The file appears whole or not at all.

    Raises:
        RunError: an id holds white space, a score is not a finite number.
        OSError: the file cannot be written.
    """
    top = {
        query_id: dict(heapq.nlargest(top_k, ranking.items(), key=itemgetter(1)))
        for query_id, ranking in results.items()
    }
    write_run(top, output_file, format="trec", tag=run_name)


def load_runfile(input_file: str | Path) -> dict[str, dict[str, float]]:
    """Read a run file, in any format that ``read_run`` knows: {query_id: {doc_id: score}}.

    Raises:
        FileFormatError: a line is not of the format.
        RunError: a document stands twice for a query, or the run has no scores.
    """
    found: dict[str, dict[str, float]] = {}
    for query_id, doc_ids, scores in read_run(input_file).rankings():
        if scores is None:
            msg = f"{input_file}: the run has ranks and no scores; read it with read_run"
            raise RunError(msg)
        ranking = dict(zip(doc_ids, scores.tolist(), strict=True))
        if len(ranking) < len(doc_ids):
            doc_id = repeated_ids(doc_ids)[0]
            msg = f"{input_file}: document {doc_id!r} stands twice for query {query_id!r}"
            raise RunError(msg)
        found[query_id] = ranking
    return found


def _cutoffs(k_values: Iterable[int]) -> list[int]:
    """Return each cutoff once, or raise MeasureError."""
    cutoffs: list[int] = []
    for k in k_values:
        if isinstance(k, bool) or not hasattr(k, "__index__") or operator.index(k) < 1:
            msg = f"a cutoff must be a whole number above 0, not {k!r}"
            raise MeasureError(msg)
        cutoffs.append(operator.index(k))
    if not cutoffs:
        msg = "k_values is empty; name at least one cutoff"
        raise MeasureError(msg)
    return list(dict.fromkeys(cutoffs))


def _places(result: EvaluationResult, results: _Results) -> list[int]:
    """Return the evaluated queries in the order of the results, in which BEIR adds them up."""
    place_of = {query_id: place for place, query_id in enumerate(result.query_ids)}
    return [place_of[str(query)] for query in results if str(query) in place_of]


def _mean(scores: Any, count: int) -> float:
    """Add up one after the other, as BEIR does: another order may change the fifth digit."""
    return round(float(np.add.accumulate(scores)[-1]) / count, _DIGITS)


def _hole(qrels: _Qrels | Qrels, results: _Results, cutoffs: Sequence[int]) -> _Scores:
    if not len(qrels):
        msg = "the qrels are empty: there is no judgement in them, so nothing can be evaluated"
        raise QrelsError(msg)
    listed = [qrels.doc_ids] if isinstance(qrels, Qrels) else qrels.values()
    judged = {str(doc_id) for documents in listed for doc_id in documents}
    totals = dict.fromkeys(cutoffs, 0.0)
    for query_id, ranking in results.items():
        if not isinstance(ranking, Mapping):
            msg = f"the ranking of query {query_id!r} must be {{doc_id: score}}, not {ranking!r}"
            raise RunError(msg)
        top = heapq.nlargest(max(cutoffs), ranking.items(), key=itemgetter(1))
        unjudged = [str(doc_id) not in judged for doc_id, _ in top]
        for k in cutoffs:
            totals[k] += sum(unjudged[:k]) / k
    return {f"Hole@{k}": round(total / len(qrels), _DIGITS) for k, total in totals.items()}


def _log(scores: _Scores) -> None:
    for name, value in scores.items():
        logger.info("%s: %.4f", name, value)


class _Ignored(NamedTuple):
    """A ranking, and the ids of its documents that BEIR would have removed from it."""

    ranking: Mapping[str, float]
    doc_ids: set[str]

    def references(self) -> int:
        """Return how many references to the ranking there are, this one among them."""
        return sys.getrefcount(self.ranking)


class _IdenticalIdsIgnored:
    """What BEIR's ``evaluate`` would have removed from the caller's rankings.

    BEIR removes documents with their query's id from the results that it gets, so later evaluations
    of the same rankings do not see them either. Here the results stay whole, and what was ignored
    is remembered by the identity of the ranking. A dict cannot be referenced weakly: a ranking is
    kept until a later call finds that nobody else refers to it.
    """

    #: A call checks as many rankings as it evaluates, and this many more. So its cost does not grow
    #: with the number remembered.
    _MORE_CHECKED = 16
    _REFERENCES_OF_OURS = _Ignored({}, set()).references()

    def __init__(self) -> None:
        self._ignored: OrderedDict[int, _Ignored] = OrderedDict()
        self._lock = Lock()

    def add(self, results: _Results) -> None:
        """Remember the documents of these results that have their query's id."""
        if not isinstance(results, Mapping):
            return  # refused where it is evaluated
        with self._lock:
            for query_id, ranking in results.items():
                if not (type(ranking) is dict or isinstance(ranking, Mapping)):
                    continue
                if query_id in ranking or (type(query_id) is not str and str(query_id) in ranking):
                    ignored = self._ignored.setdefault(id(ranking), _Ignored(ranking, set()))
                    ignored.doc_ids.update((query_id, str(query_id)))

    def applied_to(self, results: _Results) -> _Results:
        """Return the results as BEIR would have left them; rankings that change are copied."""
        if not self._ignored or not isinstance(results, Mapping):
            return results
        shortened = {}
        with self._lock:
            self._forget_unreachable(len(results) + self._MORE_CHECKED)
            for query_id, ranking in results.items():
                ignored = self._ignored.get(id(ranking))
                if ignored is not None:
                    shortened[query_id] = copy = dict(ranking)
                    for doc_id in ignored.doc_ids:
                        copy.pop(doc_id, None)
        return {**results, **shortened} if shortened else results

    def _forget_unreachable(self, number: int) -> None:
        """Check rankings until so many were found in use, those checked longest ago first."""
        in_use = 0
        while in_use < min(number, len(self._ignored)):
            key, ignored = next(iter(self._ignored.items()))
            if ignored.references() > self._REFERENCES_OF_OURS:
                self._ignored.move_to_end(key)
                in_use += 1
            else:
                del self._ignored[key]


_identical_ids_ignored = _IdenticalIdsIgnored()
