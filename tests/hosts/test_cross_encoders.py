"""The evaluators of cross-encoders, with a real model: small, and with random weights."""

import csv
from typing import Any, NamedTuple

import numpy as np
import pytest
from datasets import Dataset as Rows
from sentence_transformers.cross_encoder import CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.cross_encoder import evaluation as hosts
from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

from beir_eval import EvaluationResult, Run, evaluate, load_dataset, read_run
from beir_eval.datasets import demo
from beir_eval.errors import InputError, RunError
from beir_eval.integrations import sentence_transformers as ours
from tiny_transformers import tiny_cross_encoder

AT_K = 5


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_cross_encoder(tmp_path_factory.mktemp("model"))


class Demo(NamedTuple):
    """The bundled data set, {doc_id: text}, and a run."""

    dataset: Any
    texts: dict
    run: dict


def best(run, query, k):
    ranking = run[query]
    return sorted(ranking, key=lambda doc: (ranking[doc], doc), reverse=True)[:k]


@pytest.fixture(scope="module")
def bundled():
    """The documents that BM25 did not find follow in the run, so that every list is long."""
    dataset = load_dataset(demo.FOLDER)
    texts = {
        document.doc_id: f"{document.title} {document.text}".strip() for document in dataset.corpus
    }
    last = {doc: -float(rank) for rank, doc in enumerate(texts, start=1)}
    of_bm25 = read_run(demo.RUNS[0]).as_dict()
    return Demo(dataset, texts, {query: last | ranking for query, ranking in of_bm25.items()})


def binary_samples(dataset, texts, run, k=8):
    return [
        {
            "query": dataset.queries[query],
            "positive": [texts[doc] for doc, grade in grades.items() if grade > 0],
            "documents": [texts[doc] for doc in best(run, query, k)],
        }
        for query, grades in dataset.qrels.as_dict().items()
    ]


@pytest.mark.parametrize(("always", "compatible"), [(True, True), (True, False), (False, True)])
def test_a_real_cross_encoder_has_the_numbers_files_and_card_of_sentence_transformers(
    model, bundled, tmp_path, always, compatible
):
    samples = binary_samples(*bundled)
    settings = {"name": "demo", "at_k": AT_K, "always_rerank_positives": always}
    host = hosts.CrossEncoderRerankingEvaluator(samples, **settings)
    own = ours.CrossEncoderRerankingEvaluator(samples, compatible=compatible, **settings)
    expected = host(model, str(tmp_path / "host"), 0.5, 5)
    card_of_host = model.model_card_data.eval_results_dict[host]
    actual = own(model, str(tmp_path / "own"), 0.5, 5)
    assert list(actual) == list(expected)
    assert actual == pytest.approx(expected, abs=1e-12)
    assert own.primary_metric == host.primary_metric == f"demo_ndcg@{AT_K}"
    assert model.model_card_data.eval_results_dict[own] == card_of_host
    [file] = (tmp_path / "host").glob("*.csv")
    rows = [list(csv.reader((tmp_path / who / file.name).open())) for who in ("host", "own")]
    assert rows[0][0] == rows[1][0]
    np.testing.assert_allclose(*(np.array(table[1], float) for table in rows), atol=1e-12)


def test_graded_documents_are_ranked_again_and_their_grades_count(model, bundled, tmp_path):
    dataset, texts, run = bundled
    own = ours.CrossEncoderRerankingEvaluator.from_dataset(dataset, run, rerank_k=8, at_k=AT_K)
    metrics = own(model, str(tmp_path), 1.0, 7)
    qrels = dataset.qrels.as_dict()
    assert len({grade for grades in qrels.values() for grade in grades.values()}) > 2
    reranked = {}
    for query, grades in qrels.items():
        documents = {*best(run, query, 8), *(doc for doc, grade in grades.items() if grade > 0)}
        pairs = [(dataset.queries[query], texts[doc]) for doc in documents]
        reranked[query] = dict(zip(documents, model.predict(pairs).tolist(), strict=True))
    # Scores of one pair depend on the others in its batch, in the last digits only.
    measures = [f"nDCG@{AT_K}", f"MRR@{AT_K}", "MAP"]
    expected = evaluate(dataset.qrels, reranked, measures)
    result = EvaluationResult.load(tmp_path / "beir_eval/demo/reranked/step-7.json")
    assert result.query_ids == expected.query_ids
    for measure in measures:
        np.testing.assert_allclose(result.scores(measure), expected.scores(measure), atol=1e-9)
    assert metrics[f"demo_ndcg@{AT_K}"] == result[f"nDCG@{AT_K}"]
    relevant_only = ours.CrossEncoderRerankingEvaluator.from_dataset(
        dataset, run, rerank_k=8, at_k=AT_K, compatible=True
    )
    host = hosts.CrossEncoderRerankingEvaluator(
        binary_samples(dataset, texts, run), name="demo", at_k=AT_K
    )
    assert relevant_only(model) == pytest.approx(host(model), abs=1e-12)
    assert metrics[f"demo_ndcg@{AT_K}"] != pytest.approx(relevant_only(model)[f"demo_ndcg@{AT_K}"])


def test_the_list_as_it_came_is_measured_with_its_grades():
    samples = [{"query": "q", "positive": {"a": 3, "b": 1, "c": 0}, "documents": ["b", "c", "a"]}]

    class InOrder:
        model_card_data = None

        def predict(self, pairs, **_settings):
            return -np.arange(len(pairs), dtype=float)

    own = ours.CrossEncoderRerankingEvaluator(samples)
    own.store_metrics_in_model_card_data = lambda *_arguments: None
    metrics = own(InOrder())
    ideal = 3 + 1 / np.log2(3)
    assert metrics["base_ndcg@10"] == pytest.approx((1 + 3 / np.log2(4)) / ideal)
    assert metrics["ndcg@10"] == 1  # the positives come first, in the order of their mapping
    assert metrics["base_map"] == pytest.approx((1 + 2 / 3) / 2)


@pytest.mark.parametrize(
    ("samples", "problem"),
    [
        ([{"query": "q", "positive": ["a"]}], r"samples\[0\] has 'query', 'positive'; a dict with"),
        (
            [{"query": "q", "positive": "a", "negative": [], "documents": []}],
            r"either \"documents\" or \"negative\" was expected",
        ),
        (
            [{"query": "q", "positive": {"a": "high"}, "negative": ["b"]}],
            "with numbers as grades, not {'a': 'high'}",
        ),
        (
            [{"query_id": "x", "query": "q", "positive": "a", "negative": ["b"]}] * 2,
            "the query_id of two samples is 'x'",
        ),
    ],
)
def test_samples_that_cannot_be_ranked_are_an_error_before_any_evaluation(samples, problem):
    with pytest.raises(InputError, match=problem):
        ours.CrossEncoderRerankingEvaluator(samples)


def test_documents_without_a_text_are_an_error(bundled):
    with pytest.raises(InputError, match=r"lacks 1 documents .*'nowhere'; a cross-encoder needs"):
        ours.CrossEncoderRerankingEvaluator.from_dataset(bundled.dataset, {"q01": {"nowhere": 1.0}})


def test_documents_that_the_retriever_missed_count_as_never_found_as_in_evaluate(model, bundled):
    dataset, texts, run = bundled
    measures = [f"nDCG@{AT_K}", f"MRR@{AT_K}", "MAP"]
    top = {query: best(run, query, 8) for query in run}
    own = ours.CrossEncoderRerankingEvaluator.from_dataset(
        dataset, run, rerank_k=8, at_k=AT_K, always_rerank_positives=False
    )
    metrics = own(model)
    reranked = {}
    for query, documents in top.items():
        pairs = [(dataset.queries[query], texts[doc]) for doc in documents]
        reranked[query] = dict(zip(documents, model.predict(pairs).tolist(), strict=True))
    expected = evaluate(dataset.qrels, reranked, measures)
    before = evaluate(dataset.qrels, Run.from_rankings(top), measures)
    keys = [f"demo_ndcg@{AT_K}", f"demo_mrr@{AT_K}", "demo_map"]
    for key, measure in zip(keys, measures, strict=True):
        assert metrics[key] == pytest.approx(expected[measure], abs=1e-9)
        assert metrics[key.replace("demo_", "demo_base_")] == pytest.approx(
            before[measure], abs=1e-9
        )


@pytest.mark.parametrize("shape", [(3, 2), (3, 1), (2,)])
def test_other_than_one_score_a_pair_is_an_error(shape):
    class Classes:
        model_card_data = None

        def predict(self, pairs, **_settings):
            return np.zeros(shape)

    samples = [{"query": "q", "positive": ["a"], "negative": ["b", "c"]}]
    own = ours.CrossEncoderRerankingEvaluator(samples)
    with pytest.raises(RunError, match=r"for 3 pairs .*one number for each pair was expected"):
        own(Classes())


def test_a_list_of_one_document_is_ranked_again_too():
    samples = [{"query": "q", "positive": ["a"], "documents": ["a"]}]
    assert ours.CrossEncoderRerankingEvaluator(samples)._base_means["map"] == 1


def test_in_a_real_trainer_of_cross_encoders_each_step_is_saved(tmp_path, bundled):
    own = ours.CrossEncoderRerankingEvaluator.from_dataset(
        bundled.dataset, demo.RUNS[0], rerank_k=5, name="demo"
    )
    model = tiny_cross_encoder(tmp_path / "model")
    rows = {
        "query": ["a", "b", "c", "d"],
        "document": ["a", "x", "c", "y"],
        "label": [1.0, 0, 1, 0],
    }
    trainer = CrossEncoderTrainer(
        model=model,
        args=CrossEncoderTrainingArguments(
            output_dir=str(tmp_path / "out"),
            max_steps=2,
            per_device_train_batch_size=2,
            eval_strategy="steps",
            eval_steps=1,
            report_to="none",
            use_cpu=True,
            disable_tqdm=True,
        ),
        train_dataset=Rows.from_dict(rows),
        loss=BinaryCrossEntropyLoss(model),
        evaluator=own,
    )
    trainer.train()
    folder = own.results_folder(tmp_path / "out" / "eval")
    assert {path.name for path in folder.iterdir()} == {"step-1.json", "step-2.json"}
    log = [entry for entry in trainer.state.log_history if "eval_demo_ndcg@10" in entry]
    assert [entry["eval_demo_ndcg@10"] for entry in log] == [
        EvaluationResult.load(folder / f"step-{step}.json")["nDCG@10"] for step in (1, 2)
    ]


def nano_folder(folder, dataset, texts, run):
    """Write the bundled data set in the layout of NanoBEIR, with its lists of BM25."""
    qrels = dataset.qrels.as_dict()
    relevant = [(q, d) for q, grades in qrels.items() for d, grade in grades.items() if grade > 0]
    lines = ["---", "configs:"]
    for subset, rows in {
        "corpus": {"_id": list(texts), "text": list(texts.values())},
        "queries": {"_id": list(qrels), "text": [dataset.queries[query] for query in qrels]},
        "qrels": {
            "query-id": [query for query, _ in relevant],
            "corpus-id": [doc for _, doc in relevant],
        },
        "bm25": {
            "query-id": list(qrels),
            "corpus-ids": [best(run, query, 20) for query in qrels],
        },
    }.items():
        lines += [f"- config_name: {subset}", "  data_files:"]
        for split in ("NanoSciFact", "NanoNQ"):
            path = f"{subset}/{split}-00000-of-00001.parquet"
            Rows.from_dict(rows).to_parquet(folder / path)
            lines += [f"  - split: {split}", f"    path: {path}"]
    (folder / "README.md").write_text("\n".join([*lines, "---", ""]))


def test_nanobeir_of_cross_encoders_on_local_files_equals_sentence_transformers(
    model, bundled, tmp_path, monkeypatch
):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "nano"
    folder.mkdir()
    nano_folder(folder, *bundled)
    arguments = {"dataset_names": ["scifact", "nq"], "dataset_id": str(folder), "rerank_k": 6}
    host = hosts.CrossEncoderNanoBEIREvaluator(**arguments)
    own = ours.CrossEncoderNanoBEIREvaluator(**arguments, compatible=True)
    expected = host(model, str(tmp_path / "host"), 1.0, 3)
    actual = own(model, str(tmp_path / "own"), 1.0, 3)
    assert list(actual) == list(expected)
    assert actual == pytest.approx(expected, abs=1e-12)
    assert own.primary_metric == host.primary_metric
    files = {path.name for path in (tmp_path / "host").glob("*.csv")}
    assert files == {path.name for path in (tmp_path / "own").glob("*.csv")}
    result = EvaluationResult.load(tmp_path / "own/beir_eval/NanoNQ_R6/reranked/step-3.json")
    assert result.query_ids == tuple(bundled.dataset.qrels.query_ids)
    by_default = ours.CrossEncoderNanoBEIREvaluator(**arguments)(model)
    assert by_default == pytest.approx(expected, abs=1e-12)  # no two scores are equal
