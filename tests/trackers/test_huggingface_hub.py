"""Records of the Hugging Face hub, through huggingface_hub's own readers and writers."""

import sys

import huggingface_hub
import pytest
import yaml
from huggingface_hub import ModelCard, ModelCardData
from huggingface_hub.repocard_data import model_index_to_eval_results

from beir_eval import EvaluationResult, __version__, evaluate
from beir_eval.errors import (
    FileFormatError,
    InputError,
    MissingExtraError,
    NotEvaluatedError,
    ResultError,
)
from beir_eval.integrations import huggingface_hub as ours

QRELS = {"q1": {"a": 1}, "q2": {"a": 1}}
RUN = {"q1": {"x": 2.0, "a": 1.0}}
RESULT = evaluate(QRELS, RUN, ["MRR", "Precision(rel=2)@5", "Recall@10"], name="bge")
TASK = {"dataset_id": "mteb/scifact", "task_id": "retrieval"}
DATASET = {"dataset_id": "mteb/scifact", "dataset_name": "SciFact", "dataset_split": "test"}


def test_an_entry_has_the_mean_and_says_of_what():
    entry = ours.eval_result_entry(
        RESULT, "recip_rank", **TASK, source_url="https://example.org", notes="no prompt"
    )
    assert (entry.dataset_id, entry.task_id, entry.value) == ("mteb/scifact", "retrieval", 0.25)
    assert entry.source_url == "https://example.org"
    assert entry.notes == (
        "measure: MRR; queries: 2; queries_missing: 1; order: score; ties: trec_eval; "
        "missing: zero; no_relevant: zero; duplicates: error; drop_identical_ids: False; "
        f"beir_eval: {__version__}; no prompt"
    )


def test_entries_survive_the_yaml_file_of_a_model(tmp_path):
    entries = [
        ours.eval_result_entry(RESULT, "MRR", **TASK, date="2026-11-23"),
        ours.eval_result_entry(
            RESULT, "Precision(rel=2)@5", dataset_id="mteb/nq", task_id="p", dataset_revision="abc"
        ),
    ]
    path = tmp_path / ".eval_results" / "scifact.yaml"
    ours.write_entries(path, entries)
    assert ours.read_entries(path) == entries
    assert yaml.safe_load(path.read_text())[0]["dataset"] == {
        "id": "mteb/scifact",
        "task_id": "retrieval",
    }
    assert ours.means_of_entries(ours.read_entries(path)) == {
        ("mteb/scifact", "retrieval"): {"MRR": 0.25},
        ("mteb/nq", "p"): {"Precision(rel=2)@5": 0.0},
    }


def test_the_model_index_of_a_model_card_has_every_mean(tmp_path):
    records = ours.model_index_results(RESULT, **DATASET, dataset_revision="abc")
    data = ModelCardData(model_name="bge", eval_results=records)
    ModelCard(f"---\n{data.to_yaml()}\n---\n# bge\n").save(tmp_path / "README.md")
    card = ModelCard.load(tmp_path / "README.md")
    assert card.data.eval_results == records
    assert ours.means_of_model_index(card.data.eval_results) == {"mteb/scifact": RESULT.aggregate}
    assert records[0].metric_args == {
        "queries": 2,
        "queries_missing": 1,
        "order": "score",
        "ties": "trec_eval9",
        "missing": "zero",
        "no_relevant": "zero",
        "duplicates": "error",
        "drop_identical_ids": False,
        "beir_eval": __version__,
    }


def test_records_of_others_get_canonical_names():
    index = [
        {
            "name": "other",
            "results": [
                {
                    "task": {"type": "Retrieval"},
                    "dataset": {"type": "mteb/nq", "name": "NQ"},
                    "metrics": [
                        {"type": "ndcg_at_10", "value": 0.5},
                        {"type": "main score", "value": 1},
                    ],
                }
            ],
        }
    ]
    name, records = model_index_to_eval_results(index)
    assert name == "other"
    assert ours.means_of_model_index(records) == {"mteb/nq": {"nDCG@10": 0.5, "main score": 1.0}}


def test_two_splits_are_not_mixed():
    records = ours.model_index_results(RESULT, **DATASET)
    with pytest.raises(InputError, match="two records of mteb/scifact are of MRR"):
        ours.means_of_model_index(records * 2)


def test_scores_from_elsewhere_have_no_settings():
    result = EvaluationResult.from_scores(
        "judge", {"faithful": {"q": 0.5}}, bounds=(0, 1), higher_is_better=True
    )
    entry = ours.eval_result_entry(result, "faithful", **TASK)
    assert entry.notes == f"measure: faithful; queries: 1; beir_eval: {__version__}"
    assert ours.means_of_entries([entry]) == {("mteb/scifact", "retrieval"): {"faithful": 0.5}}


def test_a_mean_that_is_nan_is_not_published():
    empty = evaluate({"q": {"a": 0}}, {"q": {"a": 1.0}}, ["MRR"], no_relevant="skip", name="e")
    with pytest.raises(ResultError, match="the mean of 'e' on MRR is NaN"):
        ours.eval_result_entry(empty, "MRR", **TASK)
    with pytest.raises(ResultError, match="NaN"):
        ours.model_index_results(empty, **DATASET)


def test_other_arguments_are_refused(tmp_path):
    with pytest.raises(NotEvaluatedError):
        ours.eval_result_entry(RESULT, "nDCG@3", **TASK)
    foreign = huggingface_hub.EvalResultEntry("a/b", "t", 0.5)
    with pytest.raises(InputError, match="has no measure in its notes"):
        ours.means_of_entries([foreign])
    foreign = huggingface_hub.EvalResultEntry("a/b", "t", "0.5 ± 0.1", notes="measure: MRR")
    with pytest.raises(InputError, match="the value must be a number"):
        ours.means_of_entries([foreign])


@pytest.mark.parametrize("text", ["- a: 1", "7", "a: [", "- dataset: {id: a}"])
def test_a_file_without_entries_is_named(text, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=r"bad\.yaml: a list of entries"):
        ours.read_entries(path)


def test_a_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'beir-eval\[hub\]'"):
        ours.eval_result_entry(RESULT, "MRR", **TASK)
