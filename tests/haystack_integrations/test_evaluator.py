"""BEIREvaluator as a component and in pipelines: its inputs, scores, warnings and errors."""

import asyncio
import copy
import inspect
import json
import math
import warnings

import pytest
from haystack import Document, Pipeline
from haystack.core.serialization import component_from_dict, component_to_dict

from beir_eval import Qrels, Run, write_qrels
from beir_eval.errors import (
    BeirEvalWarning,
    InputError,
    MeasureError,
    QrelsError,
    SettingError,
)
from capitals import QRELS, retrieving
from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator
from pipeline_parts import Answers, pipeline_of
from processes import python

MEASURES = ["nDCG@10", "Recall@2", "MRR"]


def docs(*names, **fields):
    return [Document(id=name, content=f"text of {name}", **fields) for name in names]


def scored(**score_of):
    return [Document(id=name, content=name, score=score) for name, score in score_of.items()]


def test_a_call_without_judgements_asks_for_judgements_only():
    with pytest.raises(InputError, match="nothing to judge by: pass ground_truth_documents, or"):
        BEIREvaluator().run(retrieved_documents=[docs("a")])


def test_lists_of_different_lengths_are_named_if_the_caller_passed_them():
    truth = [docs("a"), docs("b")]
    with pytest.raises(InputError) as caught:
        BEIREvaluator().run(truth, [docs("a")])
    assert str(caught.value).endswith("ground_truth_documents: 2, retrieved_documents: 1")
    with pytest.raises(InputError, match="ground_truth_documents: 2, queries of the Run: 1"):
        BEIREvaluator().run(truth, Run({"q": {"a": 1.0}}))
    with pytest.raises(InputError, match="retrieved_documents: 2, query_ids: 1"):
        BEIREvaluator().run(truth, truth, query_ids=["q"])


# As a component


def test_it_takes_and_returns_what_haystacks_evaluators_do():
    outputs = BEIREvaluator(MEASURES).run(
        ground_truth_documents=[docs("a", "b"), docs("c")],
        retrieved_documents=[docs("x", "a"), []],
    )
    assert outputs["individual_scores"] == [
        1 / math.log2(3) / (1 + 1 / math.log2(3)),
        0.0,
    ]
    assert outputs["score"] == outputs["individual_scores"][0] / 2
    assert outputs["metrics"] == {"nDCG@10": outputs["score"], "Recall@2": 0.25, "MRR": 0.25}
    assert outputs["results"]["Recall@2"] == {"score": 0.25, "individual_scores": [0.5, 0.0]}
    assert outputs["result"].scores("MRR").tolist() == [0.5, 0.0]


def test_the_order_of_a_list_never_passes_through_float32():
    near = scored(**{f"d{rank}": 1e300 / rank for rank in range(1, 21)})
    outputs = BEIREvaluator("MRR").run([scored(d3=1)], [near])
    assert (outputs["score"], outputs["result"].warnings()) == (1 / 3, [])


def test_the_outputs_are_exactly_those_declared():
    declared = set(BEIREvaluator.run._output_types_cache)
    outputs = BEIREvaluator().run([docs("a")], [docs("a")])
    assert set(outputs) == declared
    assert inspect.signature(BEIREvaluator.run) == inspect.signature(BEIREvaluator.run_async)


def test_the_primary_measure_is_evaluated_too_in_any_spelling():
    evaluator = BEIREvaluator(["MAP"], primary="recip_rank")
    outputs = evaluator.run([docs("a")], [docs("x", "a")])
    assert outputs["score"] == outputs["metrics"]["MRR"] == 0.5
    assert list(outputs["metrics"]) == ["MAP", "MRR"]


@pytest.mark.parametrize(
    ("measures", "primary"),
    [
        (None, "nDCG@10"),
        (["MRR", "nDCG@10"], "nDCG@10"),
        (["MRR", "nDCG@5"], "MRR"),
        ("MRR", "MRR"),
    ],
)
def test_the_score_is_that_of_ndcg_at_10_or_else_of_the_first_measure(measures, primary):
    evaluator = BEIREvaluator(measures)
    assert str(evaluator.primary) == primary
    assert evaluator.measures == BEIREvaluator(measures, primary=primary).measures
    outputs = evaluator.run([docs("a", "b")], [docs("x", "a")])
    assert outputs["score"] == outputs["metrics"][primary]


def test_the_threshold_rel_applies_to_the_score_too():
    assert str(BEIREvaluator(["MRR", "P@1"], rel=2).primary) == "MRR(rel=2)"


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"measures": ["nDCG@5", "Precision(rel=2)@5"], "primary": "P@1", "rel": 2},
        {"document_comparison_field": ["meta.file", "meta.page"], "unjudged": "skip"},
        {"collapse": "meta.source_id", "order": "score", "qrels": QRELS},
        {"qrels": Qrels(QRELS).select(["q2"])},
        {"spans": {"path": "spans.jsonl", "corpus": "data", "ranks": "chunks", "overlap": 0.5}},
        {"spans": "spans.jsonl", "unjudged": "skip"},
        {"qrels": "qrels.tsv", "split": "train", "duplicates": "keep"},
    ],
)
def test_settings_survive_serialisation_to_a_dict_and_json(settings):
    evaluator = BEIREvaluator(**settings)
    data = json.loads(json.dumps(component_to_dict(evaluator, "evaluator")))
    restored = component_from_dict(BEIREvaluator, data, "evaluator")
    assert component_to_dict(restored, "evaluator") == data
    assert restored.measures == evaluator.measures
    assert (
        data["type"]
        == "haystack_integrations.components.evaluators.beir_eval.evaluator.BEIREvaluator"
    )


def test_a_haystack_compatible_evaluator_survives_serialisation_too():
    evaluator = BEIREvaluator.haystack_compatible(primary="Success")
    data = component_to_dict(evaluator, "evaluator")
    assert component_to_dict(component_from_dict(BEIREvaluator, data, ""), "evaluator") == data


# In a pipeline


def with_evaluator(pipeline, evaluator):
    pipeline.add_component("evaluator", evaluator)
    pipeline.connect("retriever.documents", "evaluator.retrieved_documents")
    return pipeline


REQUEST = {"retriever": {"query": "capital of France"}, "evaluator": {"query_ids": ["q1"]}}


def test_a_pipeline_without_retrieved_documents_is_refused_before_anything_runs():
    queries = []

    def search(query):
        queries.append(query)
        return docs("paris")

    pipeline = pipeline_of(
        retriever=Answers(search), evaluator=BEIREvaluator(MEASURES, qrels=QRELS)
    )
    with pytest.raises(ValueError, match="Missing mandatory input 'retrieved_documents'"):
        pipeline.run(REQUEST)
    assert queries == []
    pipeline.connect("retriever.documents", "evaluator.retrieved_documents")
    assert pipeline.run(REQUEST)["evaluator"]["metrics"]["MRR"] == 1.0


def test_a_pipeline_in_an_event_loop_gives_the_same_outputs():
    pipeline = with_evaluator(retrieving(), BEIREvaluator(MEASURES, qrels=QRELS))
    async_pipeline = with_evaluator(retrieving(is_async=True), BEIREvaluator(MEASURES, qrels=QRELS))
    expected = pipeline.run(REQUEST)["evaluator"]
    assert asyncio.run(async_pipeline.run_async(REQUEST))["evaluator"] == expected


IN_ANOTHER_PROCESS = """
import json, sys
from haystack import Pipeline
assert "beir_eval" not in sys.modules
data = json.loads(sys.stdin.read())
pipeline = Pipeline.loads(data["yaml"])
from haystack import Document
lists = [[Document.from_dict(one) for one in listed] for listed in data["documents"]]
outputs = pipeline.run({"evaluator": {"retrieved_documents": lists, "query_ids": ["q1", "q2"]}})
print(json.dumps([outputs["evaluator"]["metrics"], outputs["evaluator"]["individual_scores"]]))
"""


@pytest.mark.slow
def test_a_process_without_beir_eval_imported_loads_it_from_yaml_with_the_same_scores(tmp_path):
    write_qrels(QRELS, tmp_path / "qrels.tsv")
    pipeline = pipeline_of(evaluator=BEIREvaluator(MEASURES, qrels=tmp_path / "qrels.tsv"))
    lists = [docs("lyon", "paris"), docs("oslo")]
    inputs = {"evaluator": {"retrieved_documents": lists, "query_ids": ["q1", "q2"]}}
    outputs = pipeline.run(inputs)["evaluator"]
    documents = [[document.to_dict() for document in ranking] for ranking in lists]
    process = python(
        "-c",
        IN_ANOTHER_PROCESS,
        input=json.dumps({"yaml": pipeline.dumps(), "documents": documents}),
    )
    expected = [outputs["metrics"], outputs["individual_scores"]]
    assert json.loads(process.stdout.splitlines()[-1]) == expected


def test_runs_qrels_and_results_pass_through_a_pipeline_without_being_copied():
    copies = []

    class RecordingRun(Run):
        def __deepcopy__(self, memo):
            copies.append("copied")
            return super().__deepcopy__(memo)

    run, qrels = RecordingRun({"q1": {"paris": 0.9}}), Qrels(QRELS)
    pipeline = pipeline_of(evaluator=BEIREvaluator(MEASURES))
    outputs = pipeline.run({"evaluator": {"retrieved_documents": run, "qrels": qrels}})
    assert copies
    assert outputs["evaluator"]["metrics"]["MRR"] == 1.0
    result = outputs["evaluator"]["result"]
    assert copy.deepcopy(result).values is result.values


def test_no_document_is_changed_and_no_warning_of_haystack_is_raised():
    lists = [scored(a=0.1, b=0.9)]
    before = copy.deepcopy(lists)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BEIREvaluator(order="score").run([docs("a")], lists)
    assert lists == before


# The field that documents are matched by


def test_ground_truth_is_matched_by_content_unless_another_field_is_set():
    truth, retrieved = [[Document(id="1", content="same")]], [[Document(id="2", content="same")]]
    assert BEIREvaluator("MRR").run(truth, retrieved)["score"] == 1.0
    by_id = BEIREvaluator("MRR", document_comparison_field="id")
    assert by_id.run(truth, retrieved)["score"] == 0.0


def test_qrels_are_matched_by_id_and_integers_in_metadata_by_their_text():
    retrieved = [[Document(content="x", meta={"at": {"number": 7}})]]
    evaluator = BEIREvaluator(
        "MRR", document_comparison_field="meta.at.number", qrels={"q": {"7": 1}}
    )
    assert evaluator.run(retrieved_documents=retrieved, query_ids=["q"])["score"] == 1.0


def test_an_integer_id_means_its_decimal_string():
    retrieved = [[Document(id=8, content="x"), Document(id=7, content="y")]]
    by_truth = BEIREvaluator("MRR", document_comparison_field="id")
    assert by_truth.run([[Document(id=7, content="z")]], retrieved)["score"] == 0.5
    by_qrels = BEIREvaluator("MRR", qrels={"q": {"7": 1}})
    assert by_qrels.run(retrieved_documents=retrieved, query_ids=["q"])["score"] == 0.5


@pytest.mark.parametrize("wrong", [7.5, True])
def test_an_id_that_is_neither_text_nor_an_integer_is_refused(wrong):
    by_qrels = BEIREvaluator("MRR", qrels={"q": {"7": 1}})
    with pytest.raises(InputError, match=r"query 'q'.*an id must be text or an integer"):
        by_qrels.run(retrieved_documents=[[Document(id=wrong, content="x")]], query_ids=["q"])


def page(file, number):
    return Document(content=f"{file} {number}", meta={"file": file, "page": number})


def test_several_fields_make_a_composite_key():
    evaluator = BEIREvaluator("Recall", document_comparison_field=["meta.file", "meta.page"])
    truth = [[page("a.pdf", 3), page("b.pdf", 3)]]
    retrieved = [[page("a.pdf", 2), page("b.pdf", 3), page("c.pdf", 3)]]
    assert evaluator.run(truth, retrieved)["score"] == 0.5
    by_qrels = BEIREvaluator(
        "Recall",
        document_comparison_field=["meta.file", "meta.page"],
        qrels={"q": {'["b.pdf","3"]': 1}},
    )
    assert by_qrels.run(retrieved_documents=retrieved, query_ids=["q"])["score"] == 1.0


def test_chunks_count_as_the_document_they_are_parts_of_at_the_best_rank():
    chunks = [
        Document(id=f"chunk {number}", content="c", meta={"source_id": source})
        for number, source in enumerate(["x", "x", "a", "x", "a"])
    ]
    evaluator = BEIREvaluator(["MRR", "Precision@2"], primary="MRR", collapse="meta.source_id")
    outputs = evaluator.run([docs("a")], [chunks])
    assert outputs["metrics"] == {"MRR": 0.5, "Precision@2": 0.5}
    assert outputs["result"].counted.duplicates == 3


def test_retrieved_documents_that_lack_the_collapse_field_are_counted_in_a_warning(logged):
    chunk = Document(id="1", content="c", meta={"source_id": "a"})
    evaluator = BEIREvaluator("MRR", collapse="meta.source_id")
    assert evaluator.run([docs("b")], [[chunk, *docs("b")]])["score"] == 0.5
    assert "1 of the 2 retrieved documents do not have this field" in logged[0]
    logged.clear()
    assert evaluator.run([docs("b")], [docs("b")])["score"] == 1.0
    lacking = (
        "none of the 1 retrieved documents has this field; each counts as a document of its own"
    )
    assert f"collapse='meta.source_id': {lacking}" in logged[0]


def test_documents_without_the_field_match_nothing_and_keep_their_ranks(logged):
    retrieved = [[Document(content=None, id="1"), Document(content="", id="2"), *docs("a")]]
    outputs = BEIREvaluator("MRR").run([[*docs("a"), Document(content=None, id="3")]], retrieved)
    assert outputs["score"] == 1 / 3
    judged_warning, retrieved_warning = logged
    assert judged_warning.startswith("1 of 2 ground-truth documents have no content")
    assert retrieved_warning.startswith("2 of 3 retrieved documents have no content")


@pytest.mark.parametrize("field", ["title", "meta", "meta.", "meta.a..b", [], ["id", "x"], 7])
def test_an_invalid_comparison_field_is_refused(field):
    with pytest.raises(SettingError):
        BEIREvaluator(document_comparison_field=field)


# Grades and rankings


def test_the_score_of_a_ground_truth_document_is_its_grade():
    truth = [scored(a=2.0, b=1.0, c=0.0)]
    retrieved = [[Document(content="b"), Document(content="c"), Document(content="a")]]
    outputs = BEIREvaluator(["DCG", "Precision@3"], primary="DCG").run(truth, retrieved)
    assert outputs["score"] == 1 + 2 / math.log2(4)
    assert outputs["metrics"]["Precision@3"] == 2 / 3


def test_a_ground_truth_document_that_is_repeated_has_its_highest_grade():
    truth = [[*scored(a=1.0), *scored(a=3.0), *scored(a=2.0)]]
    evaluator = BEIREvaluator("DCG")
    assert evaluator.run(truth, [[Document(content="a")]])["score"] == 3.0


def test_rel_is_the_lowest_grade_that_is_relevant():
    truth, retrieved = [scored(a=2.0, b=1.0)], [[Document(content="b"), Document(content="a")]]
    outputs = BEIREvaluator(["MRR", "nDCG@10", "P(rel=1)@1"], rel=2).run(truth, retrieved)
    assert outputs["metrics"]["MRR(rel=2)"] == 0.5
    assert outputs["metrics"]["Precision(rel=1)@1"] == 1.0


def test_a_mix_of_documents_with_and_without_scores_is_refused():
    with pytest.raises(InputError, match=r"query at position 1.*either all or none"):
        BEIREvaluator().run([docs("a"), [*docs("a"), *scored(b=1.0)]], [docs("a")] * 2)


@pytest.mark.parametrize("score", [math.nan, math.inf, True])
def test_a_grade_must_be_a_number(score):
    with pytest.raises(InputError, match="the grade"):
        BEIREvaluator().run([scored(a=score)], [docs("a")])


GRADES = {"b": 1.0, "a": 0.4, "c": 0.5}


def test_fractional_grades_cause_one_warning(logged):
    truth = [Document(content=f"text of {name}", score=score) for name, score in GRADES.items()]
    BEIREvaluator(["MAP"]).run([truth], [docs("a")])
    qrels = {"q": {"a": 0.4}}
    BEIREvaluator(["MAP"], qrels=qrels).run(retrieved_documents=[docs("a")], query_ids=["q"])
    of_truth, of_qrels = logged
    grades = "the scores of ground-truth documents are their grades"
    assert f"{grades}, and 2 of 3 are fractions, such as 0.4. " in of_truth
    assert of_qrels.startswith("the qrels hold fractional grades")


def test_the_order_of_the_list_is_the_ranking_unless_order_is_score():
    retrieved, truth = [scored(x=0.1, a=0.9)], [[Document(content="a")]]
    assert BEIREvaluator("MRR").run(truth, retrieved)["score"] == 0.5
    by_score = BEIREvaluator("MRR", order="score")
    assert by_score.run(truth, retrieved)["score"] == 1.0


@pytest.mark.parametrize("score", [None, math.nan, True])
def test_ranking_by_score_needs_scores(score):
    retrieved = [[Document(id="a", content="a", score=score)]]
    with pytest.raises(InputError, match=r"document 'a' has .*order='given'"):
        BEIREvaluator(order="score").run([docs("a")], retrieved)


def test_a_run_ranks_by_its_scores():
    run = Run({"q1": {"lyon": 0.1, "paris": 0.9}, "q2": {}})
    evaluator = BEIREvaluator("MRR", qrels=QRELS)
    assert evaluator.run(retrieved_documents=run)["individual_scores"] == [1.0, 0.0]
    rankings = Run.from_rankings({"q3": ["x", "rome"]})
    assert evaluator.run(retrieved_documents=rankings)["score"] == 0.5


def test_a_run_can_be_judged_by_documents():
    outputs = BEIREvaluator("MRR").run(
        [[Document(id="a", content="any")]], Run({"q": {"a": 0.9}}), query_ids=["q"]
    )
    assert outputs["score"] == 1.0


@pytest.mark.parametrize(("duplicates", "expected"), [("first", 0.5), ("keep", 1 / 3)])
def test_a_duplicate_counts_as_the_setting_duplicates_says(duplicates, expected):
    evaluator = BEIREvaluator("MRR", duplicates=duplicates)
    assert evaluator.run([docs("a")], [docs("x", "x", "a")])["score"] == expected


def test_err_uses_the_highest_grade_of_all_judgements_not_only_of_the_given_queries():
    evaluator = BEIREvaluator("ERR@10", qrels=QRELS)
    outputs = evaluator.run(retrieved_documents=[docs("oslo")], query_ids=["q2"])
    assert outputs["score"] == 0.25


def test_selected_qrels_keep_the_highest_grade_of_all_qrels_through_serialisation():
    part = Qrels({"1": {"a": 1}, "2": {"b": 3}}).select([1])
    evaluator = BEIREvaluator("ERR@20", qrels=part)
    restored = BEIREvaluator.from_dict(json.loads(json.dumps(evaluator.to_dict())))
    expected = evaluator.run(retrieved_documents=[docs("a")], query_ids=["1"])["score"]
    assert (
        restored.run(retrieved_documents=[docs("a")], query_ids=["1"])["score"] == expected == 0.125
    )


# Queries


def test_the_mean_is_over_the_queries_passed_in_and_scores_keep_their_order():
    outputs = BEIREvaluator("MRR", qrels=QRELS).run(
        retrieved_documents=[docs("x", "rome"), docs("paris")], query_ids=["q3", "q1"]
    )
    assert outputs["individual_scores"] == [0.5, 1.0]
    assert outputs["score"] == 0.75


def test_a_query_without_judgements_is_an_error():
    with pytest.raises(InputError, match=r"1 of 2 queries have no judgements: 'q9'.*unjudged="):
        BEIREvaluator(qrels=QRELS).run(
            retrieved_documents=[docs("rome"), docs("a")], query_ids=["q3", "q9"]
        )
    with pytest.raises(InputError, match="have no judgements: '1'"):
        BEIREvaluator().run([docs("a"), []], [docs("a")] * 2)


def test_a_query_without_judgements_can_be_left_out_of_the_mean_and_is_counted():
    evaluator = BEIREvaluator("MRR", qrels=QRELS, unjudged="skip")
    outputs = evaluator.run(
        retrieved_documents=[docs("a"), docs("x", "rome"), []], query_ids=["q9", "q3", "q1"]
    )
    assert math.isnan(outputs["individual_scores"][0])
    assert outputs["individual_scores"][1:] == [0.5, 0.0]
    assert outputs["score"] == 0.25
    assert outputs["result"].counted.queries_not_judged == 1
    by_documents = BEIREvaluator("MRR", unjudged="skip")
    outputs = by_documents.run([[], docs("b")], [docs("a"), docs("b")])
    assert math.isnan(outputs["individual_scores"][0])
    assert outputs["score"] == 1.0


def test_a_document_with_the_content_nothing_is_not_judged_for_a_query_without_truth():
    evaluator = BEIREvaluator("Judged@1", unjudged="zero")
    with pytest.warns(BeirEvalWarning, match="do not match"):
        outputs = evaluator.run(
            [[], [Document(content="y")]], [[Document(content="nothing")], docs("x")]
        )
    assert outputs["individual_scores"] == [0.0, 0.0]


def test_a_query_without_judgements_can_score_0():
    for evaluator, arguments in (
        (BEIREvaluator(MEASURES, unjudged="zero"), {"ground_truth_documents": [[], docs("b")]}),
        (
            BEIREvaluator(MEASURES, unjudged="zero", qrels={"1": {"b": 1}}),
            {"query_ids": ["0", "1"]},
        ),
    ):
        outputs = evaluator.run(retrieved_documents=[docs("a"), docs("b")], **arguments)
        assert outputs["individual_scores"] == [0.0, 1.0]
        assert outputs["score"] == 0.5


@pytest.mark.parametrize("unjudged", ["error", "skip"])
def test_no_judged_query_at_all_is_an_error_that_shows_the_ids_of_the_qrels(unjudged):
    evaluator = BEIREvaluator(qrels=QRELS, unjudged=unjudged)
    message = r"none of the 1 queries has a judgement: 'q9'; the qrels have 'q1', 'q2', 'q3'"
    with pytest.raises(InputError, match=message) as caught:
        evaluator.run(retrieved_documents=[docs("a")], query_ids=["q9"])
    assert "skip" not in str(caught.value)
    with pytest.raises(InputError, match="pass ground-truth documents"):
        BEIREvaluator(unjudged=unjudged).run([[]], [docs("a")])


def test_a_list_of_measures_for_haystacks_rules_is_answered_with_the_right_call():
    with pytest.raises(SettingError, match=r"haystack_compatible\(primary='MRR'\)"):
        BEIREvaluator.haystack_compatible(["MRR"])


@pytest.mark.parametrize("arguments", [([docs("a")], docs("a")), (docs("a"), [docs("a")])])
def test_documents_that_are_not_in_a_list_for_each_query_are_answered_with_the_right_form(
    arguments,
):
    with pytest.raises(InputError, match=r"list of lists of Documents.*pass \[documents\]"):
        BEIREvaluator().run(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"retrieved_documents": []}, "retrieved_documents is empty"),
        ({"retrieved_documents": [docs("a")]}, "query_ids are needed"),
        ({"retrieved_documents": [docs("a")], "query_ids": ["q1", "q2"]}, "query_ids: 2"),
        ({"retrieved_documents": [docs("a")] * 2, "query_ids": ["q1", "q1"]}, "distinct"),
        ({"retrieved_documents": [docs("a")] * 2, "query_ids": "q1"}, "must be a list of ids"),
        ({"retrieved_documents": docs("a"), "query_ids": ["q1"]}, "list of Documents"),
        ({"retrieved_documents": [["a"]], "query_ids": ["q1"]}, "it holds 'a'"),
        ({"query_ids": ["q1"]}, "retrieved_documents are missing"),
        ({"ground_truth_documents": [docs("a")]}, "pass retrieved_documents by name"),
        ({"ground_truth_documents": Run({"q1": {"a": 1.0}})}, "retrieved_documents are missing"),
        ({"retrieved_documents": [docs("a")], "ground_truth_documents": [docs("a")]}, "both"),
    ],
)
def test_inputs_that_do_not_fit_together_are_refused(arguments, message):
    evaluator = BEIREvaluator(qrels=QRELS)
    with pytest.raises(InputError, match=message):
        evaluator.run(**arguments)


# Qrels


def test_qrels_in_a_file_are_read_once_at_warm_up(tmp_path):
    file = tmp_path / "qrels.tsv"
    write_qrels(QRELS, file)
    evaluator = BEIREvaluator("MRR", qrels=str(file))
    evaluator.warm_up()
    file.unlink()
    evaluator.warm_up()
    assert evaluator.run(retrieved_documents=[docs("rome")], query_ids=["q3"])["score"] == 1.0


def test_qrels_can_be_a_data_set_folder_and_a_split(tmp_path):
    (tmp_path / "qrels").mkdir()
    write_qrels({"q": {"a": 1}}, tmp_path / "qrels" / "train.tsv")
    evaluator = BEIREvaluator("MRR", qrels=tmp_path, split="train")
    assert evaluator.run(retrieved_documents=[docs("a")], query_ids=["q"])["score"] == 1.0


def test_qrels_that_changed_since_they_were_serialised_are_refused(tmp_path):
    file = tmp_path / "qrels.tsv"
    write_qrels(QRELS, file)
    evaluator = BEIREvaluator(qrels=file)
    evaluator.warm_up()
    data = evaluator.to_dict()
    assert data["judgements"]["sha256"] == Qrels(QRELS).fingerprint()
    assert BEIREvaluator.from_dict(data).to_dict() == data
    write_qrels({"q1": {"paris": 1}}, file)
    # As a pipeline in YAML too, and if it is saved again before it reads the qrels.
    pipeline = pipeline_of(evaluator=BEIREvaluator.from_dict(data))
    loaded = Pipeline.loads(pipeline.dumps())
    for changed in (BEIREvaluator.from_dict(data), loaded.get_component("evaluator")):
        with pytest.raises(QrelsError, match="the judgements have changed"):
            changed.warm_up()


def test_qrels_passed_to_run_take_precedence_over_those_of_the_constructor():
    evaluator = BEIREvaluator("MRR", qrels={"q": {"b": 1}})
    outputs = evaluator.run(retrieved_documents=[docs("a")], query_ids=["q"], qrels={"q": {"a": 1}})
    assert outputs["score"] == 1.0


# Warnings and settings


def test_retrieved_documents_that_are_not_judged_cause_a_warning_with_ids_of_both_sides(logged):
    BEIREvaluator(qrels=QRELS).run(
        retrieved_documents=[docs("a", "b"), docs("c")], query_ids=["q1", "q2"]
    )
    [sentence] = logged
    assert "none of the 3 retrieved documents of 2 judged queries is judged" in sentence
    assert "(the qrels have 'paris', 'lyon', the run has 'a', 'b')" in sentence
    assert "identified by id here; document_comparison_field names another field" in sentence


HASH = Document(content="x").id


@pytest.mark.parametrize(
    ("judged", "retrieved"),
    [
        ({"q1": {"paris": 1}}, [docs("lyon")]),
        ({"q1": {"MED-10": 1}, "q2": {"MED-7": 1}}, [docs("MED-3"), docs("MED-20", "MED-21")]),
        ({"q1": {HASH: 1}}, [[Document(content="y")]]),
    ],
)
def test_queries_that_only_miss_cause_no_warning(logged, judged, retrieved):
    BEIREvaluator(qrels=judged).run(retrieved_documents=retrieved, query_ids=list(judged))
    assert logged == []


def test_a_query_that_misses_its_text_causes_no_warning(logged):
    BEIREvaluator().run([[Document(content="Paris")]], [[Document(content="Lyon")]])
    assert logged == []


@pytest.mark.parametrize(
    ("judged", "document", "message"),
    [
        ("paris", Document(content="x"), "document_comparison_field names another field"),
        ("paris", Document(id="PARIS"), "ids differ in upper and lower case only"),
        ("7", Document(id="x" * 5000, meta={"n": ""}), None),
    ],
)
def test_one_query_is_enough_if_its_ids_differ_plainly(logged, judged, document, message):
    BEIREvaluator(qrels={"q": {judged: 1}}).run(retrieved_documents=[[document]], query_ids=["q"])
    assert [message in text for text in logged] == [True] * (message is not None)


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"measures": ["nDCG@0"]}, MeasureError),
        ({"primary": "nonsense"}, MeasureError),
        ({"order": "random"}, SettingError),
        ({"unjudged": "ignore"}, SettingError),
        ({"collapse": "source_id"}, SettingError),
        ({"collapse": "meta.source_id", "duplicates": "keep"}, SettingError),
        ({"qrels": {}}, QrelsError),
        ({"qrels": QRELS, "split": "test"}, SettingError),
        ({"rules": "haystack"}, SettingError),
    ],
)
def test_an_invalid_setting_is_refused(settings, error):
    with pytest.raises(error):
        BEIREvaluator(**settings)


def test_haystacks_rules_accept_neither_a_run_nor_qrels():
    evaluator = BEIREvaluator.haystack_compatible()
    with pytest.raises(InputError, match="not a Run"):
        evaluator.run([docs("a")], Run({"0": {"a": 1.0}}))
    with pytest.raises(InputError, match="pass ground_truth_documents"):
        evaluator.run(retrieved_documents=[docs("a")], query_ids=["q"], qrels=QRELS)


def test_a_query_id_that_is_a_number_is_no_document_of_haystack():
    documents = [[Document(content="Paris")], [Document(content="Rome")]]
    evaluator = BEIREvaluator.haystack_compatible(primary="MRR")
    outputs = evaluator.run(
        ground_truth_documents=documents, retrieved_documents=documents, query_ids=["0", "1"]
    )
    assert not [note for note in outputs["result"].notes() if "id of the query" in note]


def test_documents_that_qrels_exclude_are_excluded_after_saving_and_for_unjudged_queries_too():
    qrels = Qrels({"q1": {"answer": 1}}).excluding({"q1": ["near"]})
    retrieved = [[Document(id="near"), Document(id="answer")], [Document(id="x")]]
    for unjudged, ids, mean in (("zero", ["q1", "q9"], 1 / 2), ("error", ["q1"], 1.0)):
        component = BEIREvaluator("MRR", qrels=qrels, unjudged=unjudged)
        for evaluator in (component, BEIREvaluator.from_dict(component.to_dict())):
            result = evaluator.run(retrieved_documents=retrieved[: len(ids)], query_ids=ids)
            assert result["score"] == mean
