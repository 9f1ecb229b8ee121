"""Evaluators of encoders that retrieve: dense, sparse and multi-vector.

The relevant documents that an evaluator is given are its judgements (``judged_queries``).
``BestDocuments`` is the ranking, from scores of one part of the corpus after the other.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from sentence_transformers.multi_vector_encoder.evaluation import (
    MultiVectorInformationRetrievalEvaluator as _HostMultiVectorEvaluator,
)
from sentence_transformers.sentence_transformer.evaluation import (
    InformationRetrievalEvaluator as _HostEvaluator,
)
from sentence_transformers.sparse_encoder.evaluation import (
    SparseInformationRetrievalEvaluator as _HostSparseEvaluator,
)
from tqdm import trange

from beir_eval.core.files import as_path
from beir_eval.core.ids import id_text
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import InputError, RunError, check_flag, first_few, shown, warn_caller
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.evaluation.inputs import as_qrels, drops_identical_ids
from beir_eval.measures import MAP, MRR, Precision, Recall, Success, nDCG, parse_all

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path
    from typing import Self

    from torch import Tensor

    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.datasets.dataset import Dataset
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure, MeasureLike

logger = logging.getLogger(__name__)

#: The folder inside the output folder of the trainer's evaluators.
FOLDER = "beir_eval"
_NOT_IN_FILE_NAMES = re.compile(r"[^\w.+-]+")

#: How many documents are ranked for measures without a cutoff.
_WITHOUT_CUTOFF = 1000


class _RankedHere(_HostEvaluator):
    """The evaluator of sentence-transformers, with our ranking, measures and saved results.

    In the classes of sparse and multi-vector encoders it comes after the class of
    sentence-transformers, which then adds to it what it adds to ``InformationRetrievalEvaluator``.

    Attributes:
        results: {score function: result} of the last evaluation.
        main_result: the result of the score function of ``primary_metric``; None before the first
            evaluation.
    """

    _compatible: bool
    _given_measures: Any
    results: dict[str, EvaluationResult]
    main_result: EvaluationResult | None

    def __init__(
        self, queries: Any, corpus: Any, relevant_docs: Any, *args: Any, **kwargs: Any
    ) -> None:
        judged = judged_queries(queries, relevant_docs, only_relevant=self._compatible)
        relevant = {query_id: set(grades) for query_id, grades in judged.items()}
        super().__init__(queries, corpus, relevant, *args, **kwargs)
        qrels = Qrels(judged)
        if not isinstance(relevant_docs, Mapping):
            qrels = qrels.excluding_as(as_qrels(relevant_docs))
        self._evaluator = Evaluator(
            qrels,
            self.measures,
            drop_identical_ids=not self._compatible and drops_identical_ids(relevant_docs),
            fingerprint=True,
        )
        self._drops_identical = not self._compatible and drops_identical_ids(relevant_docs)
        self._query_texts = list(map(id_text, self.queries_ids))
        self._doc_texts = list(map(id_text, self.corpus_ids))
        self._tie_order = self._order_of_ties()
        self._step_results = StepResults()
        self._step = step_name(-1, -1)
        self.results, self.main_result = {}, None
        if not self._compatible:
            self.csv_file = f"beir_eval{'_' if self.name else ''}{self.name}_results.csv"

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures; the first is the primary one unless ``compatible``."""
        if self._given_measures is not None and not self._compatible:
            return tuple(parse_all(self._given_measures))
        by_cutoffs: list[tuple[Any, Sequence[int]]] = [
            (nDCG, sorted(self.ndcg_at_k, reverse=True)),
            (MRR, self.mrr_at_k),
            (MAP, self.map_at_k),
            (Success, self.accuracy_at_k),
            (Precision, self.precision_recall_at_k),
            (Recall, self.precision_recall_at_k),
        ]
        return tuple(parse_all([name @ k for name, cutoffs in by_cutoffs for k in cutoffs]))

    def _order_of_ties(self) -> Ints:
        """Return the place of each document among documents with its score, i8[N].

        Ascending by id in sentence-transformers, descending as text in trec_eval.
        """
        if self._compatible:
            ranks: Ints = self.get_corpus_id_ranks().numpy()
            return ranks
        order = sorted(range(len(self._doc_texts)), key=self._doc_texts.__getitem__, reverse=True)
        position_of = np.empty(len(order), dtype=np.int64)
        position_of[order] = np.arange(len(order))
        return position_of

    def _append_csv_headers(self, score_function_names: Iterable[str]) -> None:
        if self._compatible:
            super()._append_csv_headers(score_function_names)
            return
        for name in score_function_names:
            self.csv_headers += [f"{name}-{measure}" for measure in map(str, self.measures)]

    def __call__(
        self,
        model: Any,
        output_path: str | None = None,
        epoch: int = -1,
        steps: int = -1,
        *args: Any,
        **kwargs: Any,
    ) -> dict[str, float]:
        """Evaluate a model, and save the results if there is a folder for them.

        Args:
            model: the encoder.
            output_path: the folder for the CSV file and, in ``beir_eval/<name>/<score function>``,
                the results; None writes nothing, as on all processes but the first.
            epoch: the epoch, a fraction in a trainer; -1 outside of training.
            steps: the global step, -1 outside of training; it names the result: "step-500".
            args: passed on to ``compute_all_metrics``.
            kwargs: passed on to ``compute_all_metrics``.

        Returns:
            {name of the evaluator, of the score function and of the measure: mean}.

        Raises:
            RunError: a score is not a finite number.
            OSError: a file cannot be written.
        """
        self._step = step_name(epoch, steps)
        call = super().__call__ if self._compatible else self._call
        metrics: dict[str, float] = call(model, output_path, epoch, steps, *args, **kwargs)
        prefix = f"{self.name}_" if self.name else ""
        primary = (self.primary_metric or "").removeprefix(prefix)
        self.main_result = next(
            (result for name, result in self.results.items() if primary.startswith(f"{name}_")),
            None,
        )
        if output_path is not None:
            for name, result in self.results.items():
                self._step_results.save(result, self.results_folder(output_path, name))
        return metrics

    def results_folder(self, output_path: str | Path, score_function: str) -> Path:
        """Return the folder of the saved results of one score function.

        Args:
            output_path: the folder passed to the evaluator: ``<output_dir>/eval`` in a trainer.
            score_function: the name of a score function, such as "cosine".
        """
        return results_folder(output_path, self.name or "retrieval", score_function)

    def _call(
        self,
        model: Any,
        output_path: str | None,
        epoch: int,
        steps: int,
        *args: Any,
        **kwargs: Any,
    ) -> dict[str, float]:
        """Return the measures of this package; write the CSV file and the data of the card."""
        if self._score_functions_from_model:
            self.score_functions = self._model_score_functions(model)
            if self.score_function_names != sorted(self.score_functions):
                self.score_function_names = sorted(self.score_functions)
                self.csv_headers = ["epoch", "steps"]
                self._append_csv_headers(self.score_function_names)
                self.primary_metric = None
        means = self.compute_all_metrics(model, *args, **kwargs, output_path=output_path)  # type: ignore[misc]
        if output_path is not None and self.write_csv:
            row = [epoch, steps]
            row += [value for name in self.score_function_names for value in means[name].values()]
            _append_row(as_path(output_path) / self.csv_file, self.csv_headers, row)
        if not self.primary_metric:
            first = str(self.measures[0])
            main = (
                self.main_score_function.value
                if self.main_score_function
                else max(means, key=lambda name: means[name][first])
            )
            self.primary_metric = f"{main}_{first}"
        metrics = self.prefix_name_to_metrics(
            {
                f"{name}_{measure}": mean
                for name, by_measure in means.items()
                for measure, mean in by_measure.items()
            },
            self.name,
        )
        self.store_metrics_in_model_card_data(model, metrics, epoch, steps)
        return metrics

    def compute_all_metrics(
        self,
        model: Any,
        corpus_model: Any = None,
        corpus_embeddings: Any = None,
        output_path: str | None = None,
    ) -> dict[str, Any]:
        """Return the means by score function, and set ``results``.

        Args:
            model: encodes the queries.
            corpus_model: encodes the corpus; None: ``model``.
            corpus_embeddings: the embeddings of the corpus [N, …], instead of encoding it.
            output_path: the folder for predictions, if they are written.

        Returns:
            {score function: {"ndcg@k": {k: mean}, …}} with ``compatible=True``; else
            {score function: {measure: mean}}.

        Raises:
            RunError: a score is not a finite number.
        """
        best = self._rank(model, corpus_model or model, corpus_embeddings)
        logger.info("Queries: %d", len(self.queries))
        logger.info("Corpus: %d\n", len(self.corpus))
        means: dict[str, Any] = {}
        for name in self.score_function_names:
            documents = best[name]
            if self.write_predictions and output_path is not None:
                self._write_predictions(documents, as_path(output_path), name)
            # In sentence-transformers ties are in the ascending order of ids: that order is given.
            run = Run.from_arrays(
                documents.rows,
                None if self._compatible else documents.scores,
                query_ids=self._query_texts,
                doc_ids=self._doc_texts,
            )
            result = self._evaluator.evaluate(run, name=self._step)
            self.results[name] = result
            logger.info("Score-Function: %s", name)
            if self._compatible:
                means[name] = self._compatible_means(result)
                self.output_scores(means[name])
            else:
                means[name] = dict(result.aggregate)
                for measure, mean in means[name].items():
                    logger.info("%s: %.4f", measure, mean)
        return means

    def _rank(
        self, model: Any, corpus_model: Any, corpus_embeddings: Any
    ) -> dict[str, BestDocuments]:
        """Return {score function: the best documents of every query}."""
        number = max(measure.cutoff or _WITHOUT_CUTOFF for measure in self.measures)
        number += self._drops_identical
        queries = self.embed_inputs(
            model,
            self.queries,
            encode_fn_name="query",
            prompt_name=self.query_prompt_name,
            prompt=self.query_prompt,
        )
        best = {
            name: BestDocuments(self.queries_ids, number, self._tie_order)
            for name in self.score_function_names
        }
        for first in trange(
            0,
            len(self.corpus),
            self.corpus_chunk_size,
            desc="Corpus Chunks",
            disable=not self.show_progress_bar,
        ):
            last = min(first + self.corpus_chunk_size, len(self.corpus))
            if corpus_embeddings is None:
                documents = self.embed_inputs(
                    corpus_model,
                    self.corpus[first:last],
                    encode_fn_name="document",
                    prompt_name=self.corpus_prompt_name,
                    prompt=self.corpus_prompt,
                )
            else:
                documents = _rows_of(corpus_embeddings, first, last)
            for name in self.score_function_names:
                score_function: Any = self.score_functions[name]  # type: ignore[index]
                best[name].add(score_function(queries, documents), first)
        return best

    def _compatible_means(self, result: EvaluationResult) -> dict[str, dict[int, float]]:
        """Return the means as sentence-transformers defines and groups them.

        Its MAP@k divides by min(k, R), R the number of relevant documents; MAP@k of trec_eval, and
        of the result, divides by R.
        """
        num_relevant = np.array([len(self.relevant_docs[query]) for query in self.queries_ids])

        def means(measure: Any, cutoffs: Iterable[int]) -> dict[int, float]:
            return {cutoff: result[measure @ cutoff] for cutoff in cutoffs}

        return {
            "accuracy@k": means(Success, self.accuracy_at_k),
            "precision@k": means(Precision, self.precision_recall_at_k),
            "recall@k": means(Recall, self.precision_recall_at_k),
            "ndcg@k": means(nDCG, self.ndcg_at_k),
            "mrr@k": means(MRR, self.mrr_at_k),
            "map@k": {
                k: float(
                    np.mean(result.scores(MAP @ k) * num_relevant / np.minimum(k, num_relevant))
                )
                for k in self.map_at_k
            },
        }

    def _write_predictions(self, best: BestDocuments, folder: Path, score_function: str) -> None:
        """Write the ranking of every query as JSON lines, as sentence-transformers does."""
        folder.mkdir(parents=True, exist_ok=True)
        file_name = self.predictions_file.replace(".jsonl", f"_{score_function}.jsonl")
        with (folder / file_name).open("w", encoding="utf-8") as file:
            for query_id, query, rows, scores in zip(
                self.queries_ids,
                self.queries,
                best.rows.tolist(),
                best.scores.tolist(),
                strict=True,
            ):
                documents = [
                    {"corpus_id": self.corpus_ids[row], "score": score}
                    for row, score in zip(rows, scores, strict=True)
                ]
                line = {"query_id": query_id, "query": query, "results": documents}
                file.write(json.dumps(line) + "\n")


class _Evaluator:
    """The arguments that sentence-transformers' evaluators do not have."""

    def __init__(
        self,
        queries: Mapping[Any, Any],
        corpus: Mapping[Any, Any],
        relevant_docs: Any,
        *args: Any,
        measures: Iterable[MeasureLike] | MeasureLike | None = None,
        compatible: bool = False,
        **kwargs: Any,
    ) -> None:
        check_flag("compatible", compatible)
        self._compatible, self._given_measures = compatible, measures
        super().__init__(queries, corpus, relevant_docs, *args, **kwargs)  # type: ignore[call-arg]

    @classmethod
    def from_dataset(cls, dataset: Dataset, **settings: Any) -> Self:
        """Return an evaluator on a data set; a document is its title, a blank and its text.

        Args:
            dataset: the data set, of ``load_dataset`` or ``load_from_hub``. Its corpus is read into
                memory.
            settings: keywords of the class; ``name`` is that of the data set by default.

        Raises:
            FileFormatError: a document cannot be read.
            InputError, QrelsError, MeasureError: as the class.
        """
        corpus = {
            document.doc_id: f"{document.title} {document.text}".strip()
            for document in dataset.corpus
        }
        settings.setdefault("name", dataset.name)
        return cls(dataset.queries, corpus, dataset, **settings)


class InformationRetrievalEvaluator(_Evaluator, _RankedHere):
    """Evaluates how a SentenceTransformer retrieves, in a trainer or alone.

    It takes the place and the arguments of sentence-transformers' own
    ``InformationRetrievalEvaluator`` and encodes with it; ranking and measures are of this package.
    ``evaluator(model)`` returns the means.

    In a trainer each evaluation saves an ``EvaluationResult``, named "step-500" after its step, as
    ``<output_dir>/eval/beir_eval/<name>/<score function>/step-500.json``. ``beir-eval compare`` of
    that folder compares the steps.

    Args:
        queries: {query_id: text}.
        corpus: {doc_id: text}.
        relevant_docs: {query_id: set of relevant documents}, {query_id: {doc_id: grade}}, or other
            judgements that ``Evaluator`` takes: ``Qrels``, a path, a ``Dataset``. Queries without
            judgements are left out, and so are judged queries without a text.
        args: further arguments of sentence-transformers' evaluator.
        measures: the measures, the first of which is the primary one; by default nDCG, MRR, MAP,
            Success, Precision and Recall at the cutoffs ``ndcg_at_k``, ``mrr_at_k`` and so on. For
            a measure without a cutoff 1,000 documents are ranked.
        compatible: whether keys and numbers are those of sentence-transformers: a document is
            relevant or not; queries without a relevant document are left out; MAP@k divides by
            min(k, R); equal scores are in the ascending order of document ids. By default keys are
            like "cosine_nDCG@10", grades count, MAP divides by R, and equal scores are in
            trec_eval's order. Saved results have trec_eval's MAP in both cases.
        kwargs: further keywords of sentence-transformers' evaluator: ``name``, ``batch_size``,
            ``score_functions``, ``query_prompt``, ``truncate_dim`` and so on.

    Attributes:
        results: {score function: result} of the last evaluation.
        main_result: the one of the score function of ``primary_metric``; None before an evaluation.

    Raises:
        InputError: no query has judgements.
        QrelsError: the judgements are not usable.
        MeasureError: a measure does not exist, or a cutoff is impossible.
        MissingExtraError: sentence-transformers is not installed.

    Warns:
        BeirEvalWarning: judged queries have no text, unless ``compatible``.
    """


class SparseInformationRetrievalEvaluator(_Evaluator, _HostSparseEvaluator, _RankedHere):
    """Evaluates how a SparseEncoder retrieves: ``InformationRetrievalEvaluator`` for its vectors.

    The arguments and the numbers of active dimensions are those of sentence-transformers'
    ``SparseInformationRetrievalEvaluator``; ``measures`` and ``compatible``, the saved results and
    the errors are those of ``InformationRetrievalEvaluator``.
    """


class MultiVectorInformationRetrievalEvaluator(_Evaluator, _HostMultiVectorEvaluator, _RankedHere):
    """Evaluates how a MultiVectorEncoder retrieves: ``InformationRetrievalEvaluator`` for MaxSim.

    The arguments are those of sentence-transformers' ``MultiVectorInformationRetrievalEvaluator``;
    ``measures`` and ``compatible``, the saved results and the errors are those of
    ``InformationRetrievalEvaluator``.
    """


def _append_row(path: Path, header: Sequence[str], row: Sequence[object]) -> None:
    """Append a row to a CSV file, which gets a header if it is new.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.is_file()
    with path.open("a", encoding="utf-8") as file:
        if is_new:
            file.write(",".join(header) + "\n")
        file.write(",".join(map(str, row)) + "\n")


def _rows_of(embeddings: Any, first: int, last: int) -> Any:
    """Return some consecutive embeddings; a sparse tensor cannot be sliced."""
    if getattr(embeddings, "is_sparse", False):
        indices = torch.arange(first, last, device=embeddings.device)
        selected: Tensor = embeddings.index_select(0, indices)
        return selected
    return embeddings[first:last]


class BestDocuments:
    """The k best documents of each query; documents with equal scores are in a given order.

    The result does not depend on how the corpus is divided.

    Args:
        query_ids: the queries. [Q]
        number: k.
        tie_order: the place of each document of the corpus among documents with its score, i8[N].

    Attributes:
        rows: the row of each document in the corpus, best first, i8[Q, <= k].
        scores: their scores, f8[Q, <= k].
    """

    rows: Ints
    scores: Floats

    def __init__(self, query_ids: Sequence[object], number: int, tie_order: Ints) -> None:
        self._query_ids, self._number, self._tie_order = query_ids, number, tie_order
        self.rows = np.empty((len(query_ids), 0), dtype=np.int64)
        self.scores = np.empty((len(query_ids), 0))

    def add(self, scores: torch.Tensor, first_row: int) -> None:
        """Add the scores of consecutive documents of the corpus.

        Args:
            scores: higher is better, [Q, documents].
            first_row: the row of the first of these documents in the corpus.

        Raises:
            RunError: a score is not a finite number.
        """
        scores = scores.detach()
        number = min(self._number, scores.shape[1])
        top_scores, columns = torch.topk(scores, number, dim=1, sorted=False)
        self._check_finite(top_scores)
        lowest = top_scores.min(dim=1, keepdim=True).values
        # topk picks any of the documents that tie at the end.
        is_ambiguous = ((scores >= lowest).sum(dim=1) > number).cpu().numpy()
        new_rows = columns.cpu().numpy() + first_row
        new_scores = top_scores.cpu().double().numpy()
        tie_order = self._tie_order[first_row : first_row + scores.shape[1]]
        for query in np.flatnonzero(is_ambiguous).tolist():
            row = scores[query].cpu().double().numpy()
            picked = _pick(row, float(lowest[query]), number, tie_order)
            new_rows[query], new_scores[query] = picked + first_row, row[picked]
        rows = np.concatenate([self.rows, new_rows], axis=1)
        all_scores = np.concatenate([self.scores, new_scores], axis=1)
        order = np.lexsort((self._tie_order[rows], -all_scores), axis=-1)[:, : self._number]
        self.rows = np.take_along_axis(rows, order, axis=1)
        self.scores = np.take_along_axis(all_scores, order, axis=1)

    def _check_finite(self, scores: torch.Tensor) -> None:
        """Raise RunError for a score that is no finite number; topk takes NaN for the highest."""
        is_finite = torch.isfinite(scores).all(dim=1).cpu().numpy()
        if not is_finite.all():
            query = int(np.flatnonzero(~is_finite)[0])
            row = scores[query].cpu().double().numpy()
            msg = (
                f"the model gives a document the score {row[~np.isfinite(row)][0]:g} for query "
                f"{shown(self._query_ids[query])}, and such documents cannot be ranked; a finite "
                "number was expected. Has the training diverged? Check the loss, or lower the "
                "learning rate"
            )
            raise RunError(msg)


def _pick(scores: Floats, lowest: float, number: int, tie_order: Ints) -> Ints:
    """Return the columns of the best documents, in any order.

    Args:
        scores: the scores of one query, f8[N].
        lowest: the lowest of the best scores.
        number: how many documents.
        tie_order: the place of each document among documents with its score, i8[N].
    """
    above = np.flatnonzero(scores > lowest)
    tied = np.flatnonzero(scores == lowest)
    first = np.argpartition(tie_order[tied], number - len(above) - 1)[: number - len(above)]
    return np.concatenate([above, tied[first]])


def judged_queries(
    queries: Mapping[Any, Any], relevant_docs: Any, *, only_relevant: bool
) -> dict[Any, dict[Any, float]]:
    """Return {query_id: {doc_id: grade}} of those queries that have judgements, in their order.

    Args:
        queries: {query_id: text}; the ids may be text or integers.
        relevant_docs: {query_id: set of relevant documents}, {query_id: {doc_id: grade}}, or any
            other judgements that ``Evaluator`` takes.
        only_relevant: whether only documents with a grade above 0 are kept, with the grade 1, and
            only queries that have some; queries that are left out are then no problem.

    Raises:
        InputError: no query is judged.
        QrelsError: the judgements are not usable.

    Warns:
        BeirEvalWarning: judged queries have no text, unless ``only_relevant``.
    """
    by_query = _by_query(relevant_docs)
    if only_relevant:
        by_query = {
            query_id: {doc_id: 1.0 for doc_id, grade in grades.items() if grade > 0}
            for query_id, grades in by_query.items()
        }
    judged = {
        query_id: grades for query_id in queries if (grades := by_query.get(id_text(query_id)))
    }
    if not judged:
        msg = (
            f"no query has judgements: queries are {first_few(queries) or 'empty'}; judged are "
            f"{first_few(by_query) or 'none'}. Pass the ids of the judgements as keys of queries"
        )
        raise InputError(msg)
    known = set(map(id_text, judged))
    without_text = [query for query, grades in by_query.items() if grades and query not in known]
    if without_text and not only_relevant:
        warn_caller(
            f"{len(without_text):,} of {len(known) + len(without_text):,} judged queries have no "
            f"text in queries and are left out of every mean: {first_few(without_text)}"
        )
    return judged


def _by_query(relevant_docs: Any) -> dict[str, dict[Any, float]]:
    """Return {query_id: {doc_id: grade}}; the query ids are text."""
    if not isinstance(relevant_docs, Mapping):
        qrels: Qrels = as_qrels(relevant_docs)
        return {query_id: dict(grades) for query_id, grades in qrels.as_dict().items()}
    by_query: dict[str, dict[Any, float]] = {}
    for query_id, documents in relevant_docs.items():
        if isinstance(documents, str):
            msg = (
                f"relevant_docs of query {query_id!r} must be a set of document ids or "
                f"{{doc_id: grade}}, not the text {documents!r}; write {{{documents!r}}}"
            )
            raise InputError(msg)
        grades = documents if isinstance(documents, Mapping) else dict.fromkeys(documents, 1.0)
        by_query[id_text(query_id)] = dict(grades)
    return by_query


def step_name(epoch: float, steps: int) -> str:
    """Return the name of the result of a step.

    Args:
        epoch: the epoch, -1 outside of training.
        steps: the global step, -1 at the end of an epoch or outside of training.
    """
    if steps >= 0:
        return f"step-{steps}"
    return "evaluation" if epoch < 0 else f"epoch-{epoch:g}"


def results_folder(output_path: str | Path, *parts: str) -> Path:
    """Return the folder of the results of one evaluator.

    Args:
        output_path: the folder that the trainer passes to its evaluators.
        parts: the names of the evaluator and of the score function.
    """
    names = [_NOT_IN_FILE_NAMES.sub("_", part).strip(".") or "evaluator" for part in parts]
    return as_path(output_path).joinpath(FOLDER, *names)


class StepResults:
    """Saves results, each step once.

    A trainer evaluates its last step again when ``trainer.evaluate()`` is called after training,
    perhaps with the weights of another step (``load_best_model_at_end``). This is no result of that
    step: the first result is kept.
    """

    def __init__(self) -> None:
        self._last: dict[Path, EvaluationResult] = {}

    def save(self, result: EvaluationResult, folder: Path) -> None:
        """Save a result as ``<folder>/<its name>.json``, unless this step was just saved.

        Raises:
            OSError: the file cannot be written.
        """
        last = self._last.get(folder)
        if last is not None and last.name == result.name and result.name.startswith("step-"):
            if last != result:
                logger.warning(
                    "%s was evaluated again with other scores, so the weights of the model are not "
                    "those of this step; %s keeps the first result",
                    result.name,
                    folder / f"{result.name}.json",
                )
            return
        folder.mkdir(parents=True, exist_ok=True)
        result.save(folder / f"{result.name}.json")
        self._last[folder] = result
