"""A drop-in replacement for BEIR's ``EvaluateRetrieval``: its interface and its numbers.

In code written for BEIR, change one line: write
``from beir_eval.integrations.beir import EvaluateRetrieval`` instead of
``from beir.retrieval.evaluation import EvaluateRetrieval``. You need neither beir nor pytrec_eval,
unless your retriever uses them. docs/beir.md lists the differences from BEIR.
"""

from __future__ import annotations

import glob
import heapq
import logging
import operator
import re
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from beir_eval.adapters.readers import read_run
from beir_eval.adapters.writers import write_run
from beir_eval.core.arrays import is_iterable
from beir_eval.core.ids import repeated_ids
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import MeasureError, QrelsError, RunError, SettingError, shown
from beir_eval.evaluation.evaluator import Evaluator, for_drop_in
from beir_eval.integrations.pytrec_eval import evaluate_with_infinite_scores, without_empty_ids
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

#: BEIR's loggers: that of ``evaluate``, and that of ``evaluate_custom``, which is the root logger.
_LOGGER = logging.getLogger("beir.retrieval.evaluation")
_CUSTOM_LOGGER = logging.getLogger()

#: {query_id: {doc_id: grade}}
_Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
#: {query_id: {doc_id: score}}
_Results: TypeAlias = Mapping[str, Mapping[str, float]]
#: {"NDCG@10": 0.5}
_Scores: TypeAlias = dict[str, float]

K_VALUES = (1, 3, 5, 10, 100, 1000)
_DIGITS = 5
_CUSTOM_METRICS: Mapping[str, tuple[str, Measure]] = {
    **dict.fromkeys(("mrr", "mrr@k", "mrr_cut"), ("MRR", MRR)),
    **dict.fromkeys(("recall_cap", "r_cap", "r_cap@k"), ("R_cap", R_cap)),
    **dict.fromkeys(
        ("acc", "top_k_acc", "accuracy", "accuracy@k", "top_k_accuracy"), ("Accuracy", Success)
    ),
}
_HOLE_METRICS = ("hole", "hole@k")
#: The texts that BEIR's ``evaluate`` takes as cutoffs.
_DECIMAL_TEXT = re.compile(r"[1-9][0-9]{0,8}")


def evaluate_full(
    qrels: _Qrels,
    results: _Results,
    k_values: Sequence[int | str] = K_VALUES,
    *,
    ignore_identical_ids: bool = True,
    measures: Iterable[MeasureLike] | None = None,
) -> EvaluationResult:
    """Return an EvaluationResult with unrounded scores, evaluated by BEIR's rules.

    BEIR's rules: ties are broken as in trec_eval 9, documents whose id is that of their query are
    left out, and means are over the judged queries that are in the results.
    ``result.counted.queries_missing`` lists the judged queries that the results lack.

    Args:
        qrels: {query_id: {doc_id: grade}} or ``Qrels``.
        results: {query_id: {doc_id: score}} or ``Run``; not changed.
        k_values: the cutoffs of nDCG, MAP, Recall, R_cap, Precision and MRR.
        ignore_identical_ids: leave out documents whose id is that of their query.
        measures: the measures to compute instead of these six at ``k_values``.

    Raises:
        QueryMismatchError: the qrels and the results have no query in common.
        MeasureError: a measure is unknown, a cutoff is below 1, or ``k_values`` is empty.
        QrelsError, RunError: an id is not valid, a grade is not a finite number, or a score is NaN
            or not a number.

    >>> result = evaluate_full({"q": {"a": 1}, "r": {"b": 1}}, {"q": {"a": 0.9}}, [10])
    >>> result["NDCG@10"], result.counted.queries_missing
    (1.0, ('r',))
    """
    suite = (nDCG, MAP, Recall, R_cap, Precision, MRR)
    cutoffs = _cutoffs(k_values)
    return evaluate_with_infinite_scores(
        lambda run: for_drop_in(
            Evaluator(
                Qrels.coerce(qrels),  # converted here: BEIR takes no paths
                [measure @ k for measure in suite for k in cutoffs]
                if measures is None
                else measures,
                ties="trec_eval9",
                missing="skip",
                drop_identical_ids=ignore_identical_ids,
            )
        ).evaluate(Run.coerce(run), name="beir"),
        results,
    )


class EvaluateRetrieval:
    """BEIR's class for retrieval and evaluation, with the interface of beir 2.2.

    Args:
        retriever: an object with BEIR's ``search(corpus, queries, top_k, score_function)``.
        k_values: cutoffs, whole numbers or their decimal text; the highest is the number of
            documents retrieved per query.
        score_function: the name of a score function, which ``retrieve`` passes to the retriever.

    Raises:
        MeasureError: a cutoff is below 1, or no cutoff is given.

    >>> qrels, results = {"q": {"a": 1}}, {"q": {"x": 0.9, "a": 0.8}}
    >>> ndcg, _map, recall, precision = EvaluateRetrieval.evaluate(qrels, results, [1, 10])
    >>> ndcg, recall
    ({'NDCG@1': 0.0, 'NDCG@10': 0.63093}, {'Recall@1': 0.0, 'Recall@10': 1.0})
    """

    def __init__(
        self,
        retriever: Any = None,
        k_values: Sequence[int | str] = [1, 3, 5, 10, 100, 1000],
        score_function: str | None = "cos_sim",
    ) -> None:
        """Check the cutoffs and keep the settings."""
        values: Any = k_values
        is_copied = is_iterable(values) and not isinstance(values, (str, tuple))
        self.k_values = list(values) if is_copied else values
        self.top_k = max(_cutoffs(self.k_values))
        self.retriever = retriever
        self.score_function = score_function

    evaluate_full = staticmethod(evaluate_full)

    def retrieve(
        self, corpus: dict[str, dict[str, str]], queries: dict[str, str], **kwargs: Any
    ) -> dict[str, dict[str, float]]:
        """Return the retriever's results, {query_id: {doc_id: score}}.

        Args:
            corpus: {doc_id: {"title": …, "text": …}}, as from ``Dataset.corpus.as_dict()``.
            queries: {query_id: text}.
            kwargs: further arguments of the retriever's ``search``.

        Raises:
            SettingError: (a ValueError) there is no retriever.
        """
        results: dict[str, dict[str, float]] = self._retriever().search(
            corpus, queries, self.top_k, self.score_function, **kwargs
        )
        return results

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
        """Return the results of a retriever that encodes to files and searches these files.

        Args:
            corpus: {doc_id: {"title": …, "text": …}}.
            queries: {query_id: text}.
            encode_output_path: the folder of the files with embeddings.
            overwrite: whether existing files are written again.
            query_filename: the name of the file with the embeddings of the queries.
            corpus_filename: the names of the files with the embeddings of the corpus, a pattern.
            kwargs: further arguments of the retriever's ``encode`` and ``search_from_files``.

        Raises:
            SettingError: (a ValueError) there is no retriever.
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
        results: dict[str, dict[str, float]] = retriever.search_from_files(
            query_embeddings_file=f"{encode_output_path}/{query_filename}",
            corpus_embeddings_files=glob.glob(f"{encode_output_path}/{corpus_filename}"),  # noqa: PTH207 - text, as in BEIR
            top_k=self.top_k,
            **kwargs,
        )
        return results

    def _retriever(self) -> Any:
        if self.retriever is None:
            msg = "there is no retriever; hand one over: EvaluateRetrieval(retriever)"
            raise SettingError(msg)
        return self.retriever

    @staticmethod
    def evaluate(
        qrels: dict[str, dict[str, int]],
        results: dict[str, dict[str, float]],
        k_values: Sequence[int | str],
        ignore_identical_ids: bool = True,  # noqa: FBT001, FBT002 - BEIR's signature
    ) -> tuple[_Scores, _Scores, _Scores, _Scores]:
        """Return nDCG, MAP, Recall and Precision as BEIR does: ({"NDCG@k": …}, {"MAP@k": …}, …).

        The keys are NDCG@k, MAP@k, Recall@k and P@k. The values are means over the queries that are
        judged and in the results, rounded to 5 digits. ``evaluate_full`` rounds nothing and lists
        the judged queries that the results lack.

        Args:
            qrels: {query_id: {doc_id: grade}}, or ``Qrels``.
            results: {query_id: {doc_id: score}}; not changed.
            k_values: cutoffs, whole numbers or their decimal text; one that is listed twice counts
                once.
            ignore_identical_ids: leave out documents whose id is that of their query. (BEIR removes
                them from the results.)

        Raises:
            QueryMismatchError: the qrels and the results have no query in common.
            MeasureError: a cutoff is below 1, or no cutoff is given.
            QrelsError, RunError: qrels or results are not mappings, an id is not valid, a grade is
                not a finite number, or a score is NaN or not a number.
        """
        cutoffs = _cutoffs(k_values)
        measure_of = {"NDCG": nDCG, "MAP": MAP, "Recall": Recall, "P": Precision}
        if ignore_identical_ids:
            _LOGGER.info("documents whose id is that of their query are left out")
        remaining = without_empty_ids(results)
        result = evaluate_full(
            without_empty_ids(qrels),
            remaining,
            cutoffs,
            ignore_identical_ids=ignore_identical_ids,
            measures=[measure @ k for measure in measure_of.values() for k in cutoffs],
        )
        indices = _query_indices(result, remaining)
        all_scores = [
            {
                f"{name}@{k}": _mean(result.scores(measure @ k)[indices], len(indices))
                for k in cutoffs
            }
            for name, measure in measure_of.items()
        ]
        for scores in all_scores:
            _log_scores(_LOGGER, scores)
        return all_scores[0], all_scores[1], all_scores[2], all_scores[3]

    @staticmethod
    def evaluate_custom(
        qrels: dict[str, dict[str, int]],
        results: dict[str, dict[str, float]],
        k_values: Sequence[int | str],
        metric: str,
    ) -> _Scores:
        """Return BEIR's MRR, capped recall, hole or accuracy: {"MRR@k": …}.

        The keys are MRR@k, R_cap@k, Hole@k or Accuracy@k. Each value is the sum over the queries in
        the results, divided by the number of queries in the qrels, rounded to 5 digits.

        Documents with equal scores are ranked in the order of the results here, and by document id
        in ``evaluate``: with ties, MRR may contradict nDCG. Documents whose id is that of their
        query are left out, as in BEIR after ``evaluate``, which removes them from its input.

        Hole@k of a query is the number of its first k documents that are not judged for any query,
        divided by k even if fewer than k documents are retrieved.

        Args:
            qrels: {query_id: {doc_id: grade}}, or ``Qrels``.
            results: {query_id: {doc_id: score}}; not changed. Queries without qrels count for hole
                only (BEIR raises KeyError).
            k_values: cutoffs, whole numbers or their decimal text; one that is listed twice counts
                once.
            metric: "mrr", "recall_cap" (or "r_cap"), "hole", "accuracy" (or "top_k_accuracy",
                "acc"), in upper or lower case.

        Raises:
            MeasureError: another metric (BEIR returns None), a cutoff is below 1, or no cutoff is
                given.
            QrelsError, RunError: the qrels are empty, or qrels, results or a ranking are not
                mappings. Except for hole, also: an id is not valid, a grade is not a finite number,
                or a score is NaN or not a number.
            QueryMismatchError: the results have queries, and none in common with the qrels; not for
                hole.
        """
        cutoffs = _cutoffs(k_values)
        metric_name = str(metric).lower()
        remaining = _without_identical_ids(results)
        if metric_name in _HOLE_METRICS:
            scores = _hole_scores(qrels, remaining, cutoffs)
        elif metric_name in _CUSTOM_METRICS:
            name, measure = _CUSTOM_METRICS[metric_name]
            scores = _custom_scores(qrels, remaining, {f"{name}@{k}": measure @ k for k in cutoffs})
        else:
            known = ", ".join(sorted([*_CUSTOM_METRICS, *_HOLE_METRICS]))
            msg = f"there is no metric {metric!r}; known are {known}"
            raise MeasureError(msg)
        _log_scores(_CUSTOM_LOGGER, scores)
        return scores


def save_runfile(
    output_file: str | Path, results: _Results, run_name: str = "beir", top_k: int = 1000
) -> None:
    """Write results as a TREC run, with ranks from 1.

    BEIR writes rank 0 on every line. The file is written completely or not at all.

    Args:
        output_file: the path of the file.
        results: {query_id: {doc_id: score}}; not changed.
        run_name: the tag in the last column.
        top_k: how many documents of each query are written, those with the highest scores.

    Raises:
        RunError: there is no document, an id is empty or contains white space, or a score is not a
            finite number.
        OSError: the file cannot be written.
    """
    top = {
        query_id: dict(heapq.nlargest(top_k, ranking.items(), key=itemgetter(1)))
        for query_id, ranking in results.items()
    }
    write_run(top, output_file, format="trec", tag=run_name)


def load_runfile(input_file: str | Path) -> dict[str, dict[str, float]]:
    """Return the run in a file as {query_id: {doc_id: score}}.

    Args:
        input_file: the path of the file, in any format that ``read_run`` reads.

    Raises:
        FileFormatError: the content does not fit the format.
        RunError: a document is listed twice for a query, or the run has no scores.
        OSError: the file cannot be read.
    """
    results: dict[str, dict[str, float]] = {}
    for query_id, doc_ids, scores in read_run(input_file).rankings():
        if scores is None:
            msg = f"{input_file}: the run has ranks and no scores; read it with read_run"
            raise RunError(msg)
        ranking = dict(zip(doc_ids, scores.tolist(), strict=True))
        if len(ranking) < len(doc_ids):
            doc_id = repeated_ids(doc_ids)[0]
            listed = f"document {shown(doc_id)} is listed twice for query {shown(query_id)}"
            msg = f"{input_file}: {listed}"
            raise RunError(msg)
        results[query_id] = ranking
    return results


def _cutoffs(k_values: object) -> list[int]:
    """Return each cutoff once; a cutoff may also be decimal text, without a sign or leading zeros.

    Raises:
        MeasureError: a cutoff is not a whole number above 0, or no cutoff is given.
    """
    if isinstance(k_values, str) or not is_iterable(k_values):
        msg = f"k_values must be a list of cutoffs, not {shown(k_values)}"
        raise MeasureError(msg)
    cutoffs: list[int] = []
    for k in k_values:
        number = int(k) if isinstance(k, str) and _DECIMAL_TEXT.fullmatch(k) else k
        try:
            cutoff = 0 if isinstance(number, bool) else operator.index(number)
        except TypeError:
            cutoff = 0
        if cutoff < 1:
            msg = f"a cutoff must be a whole number above 0, not {shown(k)}"
            raise MeasureError(msg)
        cutoffs.append(cutoff)
    if not cutoffs:
        msg = "k_values is empty; name at least one cutoff"
        raise MeasureError(msg)
    return list(dict.fromkeys(cutoffs))


def _without_identical_ids(results: Any) -> Any:
    """Return the results without documents whose id is that of their query, in new rankings."""
    if not isinstance(results, Mapping):
        return results  # the evaluation raises the error
    return {
        query_id: {doc: score for doc, score in ranking.items() if str(doc) != str(query_id)}
        if isinstance(ranking, Mapping) and (query_id in ranking or str(query_id) in ranking)
        else ranking
        for query_id, ranking in results.items()
    }


def _query_indices(result: EvaluationResult, results: _Results) -> list[int]:
    """Return the indices of the evaluated queries in the order of ``results``, as BEIR sums them.

    ``result.query_ids`` may be in another order.
    """
    index_of = {query_id: index for index, query_id in enumerate(result.query_ids)}
    return [index_of[str(query_id)] for query_id in results if str(query_id) in index_of]


def _mean(scores: Any, count: int) -> float:
    """Return the rounded sum of the scores divided by ``count``.

    The scores are added one after the other, as in BEIR: a more exact sum may change a digit.
    """
    return round(float(np.add.accumulate(scores)[-1]) / count, _DIGITS)


def _custom_scores(qrels: _Qrels | Qrels, results: Any, measures: Mapping[str, Measure]) -> _Scores:
    """Return the mean of each measure over the queries of the qrels, by its key in the results."""
    judgements: Any = qrels
    if not results and isinstance(judgements, (Qrels, Mapping)) and len(judgements):
        return dict.fromkeys(measures, 0.0)
    readable = Qrels.coerce(without_empty_ids(qrels))
    run = without_empty_ids(results)
    result = evaluate_with_infinite_scores(
        lambda run: for_drop_in(
            Evaluator(readable, list(measures.values()), ties="input", missing="skip")
        ).evaluate(Run.coerce(run)),
        run,
    )
    indices = _query_indices(result, run)
    return {
        name: _mean(result.scores(measure)[indices], len(qrels))
        for name, measure in measures.items()
    }


def _hole_scores(qrels: Any, results: _Results, cutoffs: Sequence[int]) -> _Scores:
    if isinstance(qrels, Qrels):
        doc_id_lists: Iterable[Iterable[Any]] = [qrels.doc_ids]
    elif isinstance(qrels, Mapping) and all(isinstance(docs, Mapping) for docs in qrels.values()):
        doc_id_lists = qrels.values()
    else:
        msg = f"the qrels must be {{query_id: {{doc_id: grade}}}}, not {shown(qrels)}"
        raise QrelsError(msg)
    if not len(qrels):
        msg = "the qrels are empty: there is no judgement in them, so nothing can be evaluated"
        raise QrelsError(msg)
    judged = {str(doc_id) for doc_ids in doc_id_lists for doc_id in doc_ids}
    totals = dict.fromkeys(cutoffs, 0.0)
    for query_id, ranking in results.items():
        try:
            top = heapq.nlargest(max(cutoffs), ranking.items(), key=itemgetter(1))
        except TypeError as error:
            msg = f"the scores of query {query_id!r} cannot be compared: {error}"
            raise RunError(msg) from error
        unjudged = [str(doc_id) not in judged for doc_id, _ in top]
        for k in cutoffs:
            totals[k] += sum(unjudged[:k]) / k
    return {f"Hole@{k}": round(total / len(qrels), _DIGITS) for k, total in totals.items()}


def _log_scores(logger: logging.Logger, scores: _Scores) -> None:
    logger.info("\n")  # an empty line, as in BEIR
    for name, value in scores.items():
        logger.info("%s: %.4f", name, value)
