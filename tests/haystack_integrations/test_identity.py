"""Which documents the component takes for the same, and what it says where it cannot know."""

import math
from pathlib import Path

import pytest
from haystack import Document

from beir_eval.datasets import demo
from beir_eval.errors import InputError, SettingError
from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator


def texts(*contents):
    return [Document(content=content) for content in contents]


def chunk(parent, number, content="text"):
    return Document(
        id=f"{parent}-{number}", content=f"{content} {number}", meta={"beir_doc_id": parent}
    )


# Ground truth that nothing can match


def test_ground_truth_without_content_counts_as_never_found(logged):
    truth = [texts("paris", None), texts(None), texts("oslo")]
    retrieved = [texts("paris"), texts("rome"), texts("oslo")]
    outputs = BEIREvaluator(["Recall", "nDCG"]).run(truth, retrieved)
    assert outputs["results"]["Recall"]["individual_scores"] == [0.5, 0.0, 1.0]
    ideal = 1 + 1 / math.log2(3)
    assert outputs["results"]["nDCG"]["individual_scores"] == [1 / ideal, 0.0, 1.0]
    assert outputs["result"].warnings() == logged
    [sentence] = logged
    assert sentence.startswith("2 of 4 ground-truth documents have no content: they match nothing")
    assert "count as never found. They are of queries '0', '1'" in sentence


def test_ground_truth_without_content_can_be_an_error():
    truth, retrieved = [texts("paris", None)], [texts("paris")]
    with pytest.raises(
        InputError, match=r"ground-truth documents have no content.*: 1 in queries 'q7'"
    ):
        BEIREvaluator(unmatched="error").run(truth, retrieved, query_ids=["q7"])
    with pytest.raises(SettingError, match="unmatched="):
        BEIREvaluator(unmatched="ignore")


@pytest.mark.usefixtures("logged")
def test_two_documents_without_content_are_two_documents_and_never_the_retrieved_one():
    truth, retrieved = [texts(None, None, "a")], [texts(None, "a")]
    outputs = BEIREvaluator(["Recall", "MRR"]).run(truth, retrieved)
    assert outputs["metrics"] == {"Recall": 1 / 3, "MRR": 0.5}


# Chunks


@pytest.mark.usefixtures("logged")
def test_chunks_of_indexed_documents_count_as_the_documents_with_qrels():
    retrieved = [[chunk("paris", 1), chunk("rome", 1), chunk("paris", 2), chunk("oslo", 1)]]
    settings = {"qrels": {"q": {"oslo": 1}}, "measures": ["MRR"]}
    request = {"retrieved_documents": retrieved, "query_ids": ["q"]}
    outputs = BEIREvaluator(**settings).run(**request)
    assert outputs["score"] == 1 / 3
    assert "4 chunks count as their document" in outputs["result"].notes()
    assert BEIREvaluator(collapse=None, **settings).run(**request)["score"] == 0.0
    stated = BEIREvaluator(collapse="meta.source_id", **settings)
    assert stated.run(**request)["score"] == 0.0
    by_chunk = BEIREvaluator("MRR", qrels={"q": {"oslo-1": 1}}, collapse=None)
    assert by_chunk.run(**request)["score"] == 0.25


def test_chunks_match_ground_truth_if_all_documents_say_what_they_are_chunks_of():
    truth = [[Document(id="paris", content="whole", meta={"beir_doc_id": "paris"})]]
    retrieved = [[chunk("rome", 1), chunk("paris", 1)]]
    assert BEIREvaluator("MRR").run(truth, retrieved)["score"] == 0.5
    without = [[Document(id="paris", content="text 1")]]
    assert BEIREvaluator("MRR").run(without, retrieved)["score"] == 1.0  # by content, as before


def test_the_compatible_preset_and_other_duplicates_collapse_nothing():
    assert BEIREvaluator.haystack_compatible().collapse is None
    assert BEIREvaluator(duplicates="keep").collapse is None
    assert BEIREvaluator().collapse == "auto"


def test_collapse_on_a_field_that_identifies_documents_is_refused():
    with pytest.raises(SettingError, match=r"collapse='meta\.file' is the field that identifies"):
        BEIREvaluator(document_comparison_field=["meta.file", "meta.page"], collapse="meta.file")


def test_the_advice_on_chunks_names_a_field_only_if_it_names_judged_documents(logged):
    document = Document(content="c", meta={"source_id": "hash", "file": "paris"})
    BEIREvaluator(qrels={"q": {"paris": 1}}).run(retrieved_documents=[[document]], query_ids=["q"])
    assert "collapse='meta.file' counts these" in logged[0]
    assert "source_id" not in logged[0]


# Words and paths


def test_errors_name_queries_by_their_ids_or_else_by_their_positions():
    truth, retrieved = [texts("a"), texts("b")], [texts("a"), "b"]
    with pytest.raises(InputError, match="query at position 1 must be a list"):
        BEIREvaluator().run(truth, retrieved)
    with pytest.raises(InputError, match="query '1' must be a list"):
        BEIREvaluator().run(truth, retrieved, query_ids=["0", "1"])


def test_the_compatible_preset_refuses_several_fields():
    with pytest.raises(SettingError, match="one field only"):
        BEIREvaluator.haystack_compatible(document_comparison_field=["id", "meta.page"])


def test_a_relative_path_of_qrels_is_saved_as_an_absolute_one(monkeypatch):
    folder = Path(demo.FOLDER)
    monkeypatch.chdir(folder.parent)
    evaluator = BEIREvaluator("MRR", qrels=folder.name)
    saved = evaluator.to_dict()["init_parameters"]["qrels"]
    monkeypatch.chdir("/")
    assert Path(saved) == folder
    loaded = BEIREvaluator.from_dict(evaluator.to_dict())
    loaded.warm_up()
