"""The evaluators of cross-encoders, which rank the documents of each query again."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sentence_transformers.cross_encoder.evaluation import (
    CrossEncoderRerankingEvaluator as _HostEvaluator,
)

from beir_eval.core.files import as_path
from beir_eval.core.ids import id_text, repeated_ids
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import InputError, RunError, check_count, check_flag, first_few, shown
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.evaluation.inputs import as_run, drops_identical_ids
from beir_eval.integrations.sentence_transformers.retrieval import append_row
from beir_eval.integrations.sentence_transformers.step_results import (
    StepResults,
    results_folder,
    step_name,
)
from beir_eval.measures import MAP, MRR, nDCG, parse_all

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    from beir_eval.core.arrays import Floats
    from beir_eval.datasets.dataset import Dataset
    from beir_eval.evaluation.inputs import RunLike
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure

logger = logging.getLogger(__name__)


class _DocumentList(NamedTuple):
    """The documents of a sample that are ranked again.

    Attributes:
        query_id: the name of the query.
        query: its text.
        documents: their texts, in the order in which the model gets them. [N]
        grades: their grades, 0 for a document that is not relevant. [N]
        missed: the grades of the relevant documents that the list lacks: no ranking has them, and
            the best possible one does.
    """

    query_id: str
    query: str
    documents: list[str]
    grades: list[float]
    missed: Sequence[float] = ()

    @property
    def is_scored(self) -> bool:
        """Whether the model scores the documents; without a relevant one the query counts as 0."""
        return any(self.grades)


class _RecordedScores:
    """A cross-encoder that keeps the scores of its last prediction.

    Args:
        model: the cross-encoder.
    """

    def __init__(self, model: Any) -> None:
        self._model, self.scores = model, np.empty(0)

    def predict(self, pairs: Any, *args: Any, **kwargs: Any) -> Any:
        """Return the scores of the pairs."""
        self.scores = self._model.predict(pairs, *args, **kwargs)
        return self.scores

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the model."""
        return getattr(self._model, name)


class CrossEncoderRerankingEvaluator(_HostEvaluator):
    """Evaluates how a CrossEncoder ranks the documents of each query again.

    It takes the place and the arguments of sentence-transformers' own
    ``CrossEncoderRerankingEvaluator``. Each evaluation saves an ``EvaluationResult``, named after
    its step, in ``<output_dir>/eval/beir_eval/<name>/reranked``.

    Args:
        samples: as of sentence-transformers: [{"query", "positive", and "documents" or
            "negative"}]. "positive" may also be {document: grade}; documents with a grade above 0
            are relevant. "query_id" names the query; by default it is the number of the sample,
            from 0: "0", "1", ….
        args: further arguments of sentence-transformers' evaluator.
        compatible: whether the numbers are those of sentence-transformers: a document is relevant
            or not, documents with equal scores share their gains, and with
            ``always_rerank_positives=False`` relevant documents that a list lacks do not count. By
            default they count as never found, as in ``evaluate``; grades count; and documents with
            equal scores are in the order of trec_eval: by the number of the document in its list,
            descending as text, as in saved results in both cases. Without grades, equal scores and
            documents that a list lacks, the numbers are the same. Keys are those of
            sentence-transformers in both cases.
        kwargs: further keywords of sentence-transformers' evaluator.

    Attributes:
        main_result: the result of the last evaluation; None before.

    Raises:
        InputError: a sample lacks a key, two have the same "query_id", or a grade is not a number.
        RunError: in an evaluation: the model does not return one number for each pair, or a score
            is not a finite number.
        MissingExtraError: sentence-transformers is not installed.
    """

    main_result: EvaluationResult | None

    def __init__(self, samples: Any, *args: Any, compatible: bool = False, **kwargs: Any) -> None:
        check_flag("compatible", compatible)
        given = list(samples.values() if isinstance(samples, Mapping) else samples)
        for number, sample in enumerate(given):
            _check_sample(sample, number)
        query_ids = [id_text(sample.get("query_id", number)) for number, sample in enumerate(given)]
        if repeated := repeated_ids(query_ids):
            msg = f"samples: the query_id of two samples is {first_few(repeated)}; they must differ"
            raise InputError(msg)
        super().__init__([_host_sample(sample) for sample in given], *args, **kwargs)
        self._compatible = compatible
        grades = [_grades_of(sample["positive"]) for sample in given]
        if compatible:
            grades = [{doc: float(grade > 0) for doc, grade in of.items()} for of in grades]
        self._lists = [
            self._reranked(*parts) for parts in zip(query_ids, self.samples, grades, strict=True)
        ]
        self._evaluator = self._evaluator_of(self._lists, fingerprint=True)
        self._base_means = self._means_before(query_ids, grades)
        self._step_results = StepResults()
        self.main_result = None

    @classmethod
    def from_dataset(
        cls, dataset: Dataset, run: RunLike, *, rerank_k: int = 100, **settings: Any
    ) -> Self:
        """Return an evaluator that ranks the best documents of a run again.

        A document is its title, a blank and its text, and is known by it. With
        ``always_rerank_positives=True``, as by default in sentence-transformers, all relevant
        documents are added to the list; False ranks again only what the run has found, and other
        relevant documents count as never found (with ``compatible=True`` they do not count).

        Args:
            dataset: the data set, of ``load_dataset`` or ``load_from_hub``.
            run: the run; queries that it lacks have only the relevant documents, if these are
                added.
            rerank_k: the number of documents of each ranking; equal scores are in trec_eval's
                order.
            settings: keywords of the class; ``name`` is that of the data set by default.

        Raises:
            InputError: the corpus lacks documents of the run, or relevant ones.
            SettingError: ``rerank_k`` is not a whole number from 1.
            RunError, FileFormatError: the run or a document cannot be read.
        """
        check_count("rerank_k", rerank_k)
        rankings, qrels = as_run(run).as_dict(), dataset.qrels.as_dict()
        drops_identical = drops_identical_ids(dataset)
        best = {
            query: _best(ranking, rerank_k, without=query if drops_identical else None)
            for query, ranking in rankings.items()
            if query in qrels
        }
        relevant = {
            query: {doc: grade for doc, grade in grades.items() if grade > 0}
            for query, grades in qrels.items()
        }
        wanted = {doc for ranking in [*best.values(), *relevant.values()] for doc in ranking}
        text_of = {
            doc: f"{document.title} {document.text}".strip()
            for doc, document in dataset.corpus.documents(wanted).items()
        }
        if missing := wanted - text_of.keys():
            msg = (
                f"the corpus of {dataset.name} lacks {len(missing):,} documents that are relevant "
                f"or in the run: {first_few(sorted(missing))}; a cross-encoder needs their texts"
            )
            raise InputError(msg)
        samples = [
            {
                "query_id": query,
                "query": dataset.queries[query],
                "positive": {text_of[doc]: grade for doc, grade in grades.items()},
                "documents": [text_of[doc] for doc in best.get(query, ())],
            }
            for query, grades in relevant.items()
            if query in dataset.queries
        ]
        settings.setdefault("name", dataset.name)
        return cls(samples, **settings)

    @property
    def _keeps_missed(self) -> bool:
        """Whether relevant documents that a list lacks count as never found."""
        return not self._compatible and not self.always_rerank_positives

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of the saved results: nDCG@k, MRR@k and MAP."""
        return tuple(parse_all([nDCG @ self.at_k, MRR @ self.at_k, MAP]))

    def __call__(
        self, model: Any, output_path: str | None = None, epoch: int = -1, steps: int = -1
    ) -> dict[str, float]:
        """Evaluate a model, and save the result if there is a folder for it.

        Args:
            model: the cross-encoder.
            output_path: the folder for the CSV file and the results; None writes nothing.
            epoch: the epoch, a fraction in a trainer; -1 outside of training.
            steps: the global step, -1 outside of training.

        Returns:
            The means: "map", "mrr@k", "ndcg@k", the same with "base_" of the lists of documents,
            all after the name of the evaluator.

        Raises:
            RunError: a score is not a finite number.
            OSError: a file cannot be written.
        """
        name = step_name(epoch, steps)
        if self._compatible:
            recorded: Any = _RecordedScores(model)
            metrics: dict[str, float] = super().__call__(recorded, output_path, epoch, steps)
            self.main_result = self._result(recorded.scores, name)
        else:
            self.main_result = self._result(self._predict(model), name)
            metrics = self._report(model, self.main_result, output_path, epoch, steps)
        if output_path is not None:
            self._step_results.save(self.main_result, self.results_folder(output_path))
        return metrics

    def results_folder(self, output_path: str | Path) -> Path:
        """Return the folder of the saved results.

        Args:
            output_path: the folder passed to the evaluator: ``<output_dir>/eval`` in a trainer.
        """
        return results_folder(output_path, self.name or "reranking", "reranked")

    def _predict(self, model: Any) -> Any:
        """Return the scores of the documents of all lists, one list after the other."""
        pairs = [
            [row.query, document]
            for row in self._lists
            if row.is_scored
            for document in row.documents
        ]
        if not pairs:
            return np.empty(0)
        return model.predict(
            pairs,
            prompt_name=self.prompt_name,
            batch_size=self.batch_size,
            convert_to_numpy=True,
            show_progress_bar=self.show_progress_bar,
        )

    def _report(
        self,
        model: Any,
        result: EvaluationResult,
        output_path: str | None,
        epoch: int,
        steps: int,
    ) -> dict[str, float]:
        """Return the means by key; write the CSV file and the data of the card."""
        means = self._means(result)
        if output_path is not None and self.write_csv:
            row = [epoch, steps, *means.values()]
            append_row(as_path(output_path) / self.csv_file, self.csv_headers, row)
        for key, mean in means.items():
            logger.info("%s: %s%.4f", key, self._before(key), mean)
        metrics = means | {f"base_{key}": mean for key, mean in self._base_means.items()}
        metrics = self.prefix_name_to_metrics(metrics, self.name)
        card: dict[str, Any] = metrics
        if self._base_means:
            with_gain = {
                key: f"{mean:.4f} ({mean - self._base_means[key]:+.4f})"
                for key, mean in means.items()
            }
            card = self.prefix_name_to_metrics(with_gain, self.name)  # type: ignore[arg-type]
        self.store_metrics_in_model_card_data(model, card, epoch, steps)
        return metrics

    def _before(self, key: str) -> str:
        """Return the mean of the lists as they came, for the log."""
        return f"{self._base_means[key]:.4f} -> " if self._base_means else ""

    def _means(self, result: EvaluationResult) -> dict[str, float]:
        """Return {key of sentence-transformers: mean}."""
        k = self.at_k
        return {"map": result[MAP], f"mrr@{k}": result[MRR @ k], f"ndcg@{k}": result[nDCG @ k]}

    def _means_before(
        self, query_ids: list[str], grades: list[dict[str, float]]
    ) -> dict[str, float]:
        """Return the means of the lists as they came; empty if there are only negatives.

        As in sentence-transformers, relevant documents that a list lacks follow at its end, unless
        they count as never found; and a list without a relevant document counts as 0.
        """
        lists, scores = [], []
        samples: Any = self.samples
        for query_id, sample, of_sample in zip(query_ids, samples, grades, strict=True):
            documents = sample.get("documents")
            if not documents:
                continue
            all_documents = list(documents)
            if not self._keeps_missed:
                listed = set(documents)
                all_documents += [doc for doc in sample["positive"] if doc not in listed]
            row = self._document_list(query_id, sample, all_documents, of_sample)
            lists.append(row)
            has_relevant = any(row.grades[: len(documents)])
            scores.append(
                [-float(rank) for rank in range(len(all_documents))] if has_relevant else []
            )
        if not lists:
            return {}
        run = Run({row.query_id: _numbered(of) for row, of in zip(lists, scores, strict=True)})
        return self._means(self._evaluator_of(lists).evaluate(run, name="before"))

    def _evaluator_of(self, lists: list[_DocumentList], *, fingerprint: bool = False) -> Evaluator:
        """Return an evaluator of queries whose documents have their number in the list as id."""
        qrels = Qrels({row.query_id: _numbered([*row.grades, *row.missed]) for row in lists})
        return Evaluator(qrels, self.measures, fingerprint=fingerprint)

    def _result(self, scores: Any, name: str) -> EvaluationResult:
        """Return the result of all samples.

        Args:
            scores: the scores of the documents of every sample that has a relevant one, one sample
                after the other, f8[N].
            name: the name of the result.

        Raises:
            RunError: the model did not return one number for each document.
        """
        values: Floats = np.asarray(scores, dtype=np.float64)
        num_pairs = sum(len(row.documents) for row in self._lists if row.is_scored)
        if values.shape != (num_pairs,):
            msg = (
                f"the model returned scores of shape {values.shape} for {num_pairs:,} pairs of "
                "query and document; one number for each pair was expected, as of a CrossEncoder "
                "with num_labels=1"
            )
            raise RunError(msg)
        rankings: dict[str, dict[str, float]] = {}
        first = 0
        for row in self._lists:
            last = first + (len(row.documents) if row.is_scored else 0)
            rankings[row.query_id] = _numbered(values[first:last].tolist())
            first = last
        return self._evaluator.evaluate(Run(rankings), name=name)

    def _reranked(self, query_id: str, sample: Any, grades: dict[str, float]) -> _DocumentList:
        """Return the documents of a sample, in the order of sentence-transformers' prediction."""
        positive, documents = sample["positive"], sample.get("documents")
        if documents and not self.always_rerank_positives:
            ranked = list(documents)
        elif documents:
            ranked = [*positive, *(document for document in documents if document not in grades)]
        else:
            # A negative is not relevant, whatever is positive.
            of_negatives = [0.0] * len(sample.get("negative") or ())
            of_positives = [grades[document] for document in positive]
            ranked = [*positive, *(sample.get("negative") or ())]
            return _DocumentList(query_id, sample["query"], ranked, of_positives + of_negatives)
        return self._document_list(query_id, sample, ranked, grades)

    def _document_list(
        self, query_id: str, sample: Any, documents: list[str], grades: dict[str, float]
    ) -> _DocumentList:
        """Return documents with their grades, and the grades of those that the list lacks.

        Args:
            query_id: the name of the query.
            sample: the sample of the query.
            documents: the texts of the documents. [N]
            grades: {relevant document: grade}.
        """
        listed = set(documents)
        missed = [grades[document] for document in sample["positive"] if document not in listed]
        return _DocumentList(
            query_id,
            sample["query"],
            documents,
            [grades.get(document, 0.0) for document in documents],
            missed if self._keeps_missed else (),
        )


def _best(ranking: Mapping[str, float], number: int, *, without: str | None) -> list[str]:
    """Return the best documents of a ranking, equal scores in trec_eval's order.

    Args:
        ranking: {doc_id: score}.
        number: the number of documents.
        without: a document that is left out, if any.
    """
    ordered = sorted(((score, doc) for doc, score in ranking.items()), reverse=True)
    return [doc for _, doc in ordered if doc != without][:number]


def _check_sample(sample: Any, number: int) -> None:
    """Raise InputError if a sample lacks a key."""
    expected = 'a dict with "query", "positive" and either "documents" or "negative" was expected'
    if not {"query", "positive"} <= sample.keys() or (
        ("documents" in sample) == ("negative" in sample)
    ):
        msg = f"samples[{number}] has {first_few(map(str, sample)) or 'no keys'}; {expected}"
        raise InputError(msg)


def _host_sample(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sample as sentence-transformers takes it: its positives are a list."""
    positive = sample["positive"]
    if isinstance(positive, Mapping):
        positive = list(_grades_of(positive))
    return {**sample, "positive": [positive] if isinstance(positive, str) else list(positive)}


def _grades_of(positive: Any) -> dict[str, float]:
    """Return {relevant document: grade}; a document without a stated grade has the grade 1."""
    if isinstance(positive, str):
        return {positive: 1.0}
    if not isinstance(positive, Mapping):
        return dict.fromkeys(positive, 1.0)
    try:
        return {document: float(grade) for document, grade in positive.items() if grade > 0}
    except (TypeError, ValueError) as error:
        msg = (
            f'"positive" must be {{document: grade}} with numbers as grades, not {shown(positive)}'
        )
        raise InputError(msg) from error


def _numbered(values: Any) -> dict[str, float]:
    """Return {number in the list: value}."""
    return {str(number): float(value) for number, value in enumerate(values)}
