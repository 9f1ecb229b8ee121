"""BEIRAnswerEvaluator: ranked answers of readers and generators against gold answers."""

import asyncio
import inspect

import pytest
from haystack import ExtractedAnswer, GeneratedAnswer, Pipeline, component
from haystack.core.errors import PipelineConnectError
from haystack.core.serialization import component_from_dict, component_to_dict

from beir_eval.errors import InputError, SettingError
from haystack_integrations.components.evaluators.beir_eval import BEIRAnswerEvaluator
from pipeline_parts import pipeline_of


def generated(*texts):
    return [GeneratedAnswer(data=text, query="q", documents=[]) for text in texts]


def extracted(*texts):
    return [ExtractedAnswer(query="q", score=0.5, data=text) for text in texts]


@component
class Reader:
    @component.output_types(answers=list[ExtractedAnswer])
    def run(self, query: str):
        return {"answers": extracted("Berlin", query, None)}


def test_top_n_accuracy_mrr_map_and_ndcg_of_ranked_answers():
    outputs = BEIRAnswerEvaluator().run(
        predicted_answers=[generated("Elon Musk", "Tony", "the Stark!"), generated("Paris")],
        ground_truth_answers=["Stark", "paris"],
    )
    assert list(outputs["metrics"]) == [
        *("Success@1", "Success@3", "Success@5", "Success@10"),
        *("MRR@10", "MAP@10", "nDCG@10"),
    ]
    assert outputs["score"] == outputs["metrics"]["Success@1"] == 0.5
    assert outputs["metrics"]["Success@3"] == 1.0
    assert outputs["results"]["MRR@10"]["individual_scores"] == [1 / 3, 1.0]
    assert outputs["metrics"]["nDCG@10"] == 0.75


def test_texts_generated_and_extracted_answers_count_alike():
    evaluator = BEIRAnswerEvaluator("MRR")
    mixed = [["x", "Stark"], generated("x", "Stark"), extracted(None, "Stark")]
    outputs = evaluator.run(["Stark"] * 3, mixed)
    assert outputs["individual_scores"] == [0.5, 0.5, 0.5]


def test_gold_lists_hold_several_answers_or_the_aliases_of_one():
    predicted, gold = [["Bonn", "NYC"]], [["New York", "NYC"]]
    assert BEIRAnswerEvaluator("Recall").run(gold, predicted)["score"] == 0.5
    aliases = BEIRAnswerEvaluator("Recall", gold_lists="aliases")
    assert aliases.run(gold, predicted)["score"] == 1.0


def test_one_reader_connects_to_the_evaluator_and_a_second_does_not():
    pipeline = pipeline_of(reader=Reader(), second=Reader(), evaluator=BEIRAnswerEvaluator("MRR"))
    pipeline.connect("reader.answers", "evaluator.predicted_answers")
    inputs = {
        "reader": {"query": "Stark"},
        "second": {"query": "x"},
        "evaluator": {"ground_truth_answers": ["Stark"]},
    }
    outputs = Pipeline.loads(pipeline.dumps(), **modules_to_allow()).run(inputs)["evaluator"]
    assert outputs["score"] == 0.5
    with pytest.raises(PipelineConnectError, match="already connected"):
        pipeline.connect("second.answers", "evaluator.predicted_answers")


def modules_to_allow():
    """Return the argument with which Haystack 3 imports Reader; Haystack 2 needs none."""
    parameters = inspect.signature(Pipeline.loads).parameters
    return {"allowed_modules": [Reader.__module__]} if "allowed_modules" in parameters else {}


def test_run_async_returns_the_outputs_of_run():
    evaluator = BEIRAnswerEvaluator("MRR")
    assert asyncio.run(evaluator.run_async(["a"], [["a"]])) == evaluator.run(["a"], [["a"]])


def test_settings_survive_serialisation_to_a_dict():
    evaluator = BEIRAnswerEvaluator(
        ["Success@3", "MAP"], primary="MAP", match="f1", threshold=0.7, gold_lists="aliases"
    )
    data = component_to_dict(evaluator, "evaluator")
    restored = component_from_dict(BEIRAnswerEvaluator, data, "evaluator")
    assert component_to_dict(restored, "evaluator") == data
    assert restored.run(["New York City"], [["New York"]])["score"] == 1.0


@pytest.mark.parametrize("settings", [{"match": "llm"}, {"gold_lists": "x"}])
def test_an_invalid_setting_is_refused(settings):
    with pytest.raises(SettingError):
        BEIRAnswerEvaluator(**settings)


@pytest.mark.parametrize(
    ("predicted", "gold", "options", "message"),
    [
        (["x", "Berlin"], ["Berlin"], {}, "a list of 2 answers for 1 questions"),
        ([["a"]], ["a"], {"query_ids": ["1", "2"]}, "1 entries, for 2 query_ids"),
        ([["a"]] * 2, ["a"] * 2, {"query_ids": ["1", "1"]}, "1 are distinct"),
        ([["a"]], ["a"], {"query_ids": [None]}, "an id must be text"),
    ],
)
def test_inputs_that_do_not_fit_together_are_refused(predicted, gold, options, message):
    with pytest.raises(InputError, match=message):
        BEIRAnswerEvaluator().run(gold, predicted, **options)
