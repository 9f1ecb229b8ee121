"""Where ``haystack_compatible`` differs from Haystack: its rows of docs/drop-in.md."""

import math

import haystack.version
import pytest
from haystack import Document
from haystack.components.evaluators import (
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
)

from beir_eval.errors import InputError, SettingError
from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator

IS_CURRENT = int(haystack.version.__version__.partition(".")[0]) >= 3
A, B, X = (Document(content=text) for text in "abx")


@pytest.mark.row("haystack-no-grades")
def test_ndcg_refuses_scores_that_are_no_grades():
    for score in (-1.0, math.nan, math.inf):
        truth = [[Document(content="a", score=2.0), Document(content="b", score=score)]]
        assert isinstance(DocumentNDCGEvaluator().run(truth, [[A, B]])["score"], (int, float))
        with pytest.raises(InputError, match=str(score)):
            BEIREvaluator.haystack_compatible().run(truth, [[A, B]])


@pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")
@pytest.mark.row("haystack-left-out")
def test_ndcg_is_left_out_if_only_other_measures_take_the_scores(caplog):
    truth = [[Document(content="a", score=1.0), B]]
    outputs = BEIREvaluator.haystack_compatible(primary="MRR").run(truth, [[X, B]])
    assert outputs["score"] == DocumentMRREvaluator().run(truth, [[X, B]])["score"] == 1 / 2
    for names in (outputs["metrics"], outputs["results"], outputs["result"].measures):
        assert list(names) == ["MAP", "MRR", "Success", "Recall"]
    assert "nDCG is left out: Either none or all documents" in caplog.text


@pytest.mark.row("haystack-unhashable")
def test_lists_and_dicts_are_values_for_every_measure():
    field = "meta.page"
    for value, equal in (([1], [1.0]), ({"b": [2], "a": True}, {"a": 1, "b": [2]})):
        case = (
            [[Document(content="", meta={"page": value})]],
            [[Document(content="", meta={"page": equal})]],
        )
        outputs = BEIREvaluator.haystack_compatible(document_comparison_field=field).run(*case)
        assert set(outputs["metrics"].values()) == {1.0}
        assert DocumentMAPEvaluator(document_comparison_field=field).run(*case)["score"] == 1.0
        with pytest.raises(TypeError, match="unhashable"):
            DocumentRecallEvaluator(document_comparison_field=field).run(*case)


@pytest.mark.row("haystack-field")
def test_an_unknown_field_is_refused_when_the_component_is_made():
    evaluator = DocumentMRREvaluator(document_comparison_field="embedding")
    with pytest.raises(ValueError, match="Unsupported document_comparison_field: 'embedding'"):
        evaluator.run([[A]], [[A]])
    with pytest.raises(SettingError, match="Unsupported document_comparison_field: 'embedding'"):
        BEIREvaluator.haystack_compatible(document_comparison_field="embedding")
    for field in ("meta.", "meta.a..b"):
        assert DocumentMRREvaluator(document_comparison_field=field).run([[A]], [[A]])["score"] == 0
        with pytest.raises(SettingError):
            BEIREvaluator.haystack_compatible(document_comparison_field=field)


@pytest.mark.row("haystack-not-documents")
def test_other_objects_than_documents_are_input_errors():
    for documents in (["a"], [None], None):
        with pytest.raises((AttributeError, TypeError)):
            DocumentMRREvaluator().run([[A]], [documents])
        with pytest.raises(InputError, match="query at position 0"):
            BEIREvaluator.haystack_compatible().run([[A]], [documents])


@pytest.mark.row("haystack-outputs")
def test_the_outputs_have_all_five_measures():
    theirs = DocumentMRREvaluator().run([[A]], [[A]])
    ours = BEIREvaluator.haystack_compatible(primary="MRR").run([[A]], [[A]])
    assert {key: ours[key] for key in theirs} == theirs
    assert ours.keys() - theirs.keys() == {"metrics", "results", "result"}
    assert list(ours["results"]) == ["nDCG", "MAP", "MRR", "Success", "Recall"]


@pytest.mark.row("haystack-versions")
def test_the_numbers_are_those_of_haystack_3_with_every_version():
    truth, retrieved = [[Document(content="a", id="1"), B]], [[Document(content="a", id="2")]]
    ours = BEIREvaluator.haystack_compatible().run(truth, retrieved)["metrics"]
    assert ours["nDCG"] == pytest.approx(1 / (1 + 1 / math.log2(3)), abs=1e-15)
    assert ours["MAP"] == 1 / 2
    assert DocumentNDCGEvaluator().run(truth, retrieved)["score"] == (
        ours["nDCG"] if IS_CURRENT else 0
    )
    assert DocumentMAPEvaluator().run(truth, retrieved)["score"] == (1 / 2 if IS_CURRENT else 1)
