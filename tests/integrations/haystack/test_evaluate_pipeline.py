"""Haystack pipelines over data sets: indexing, retrieval and evaluation give the same numbers."""

import math
import time

import numpy as np
import pytest
from haystack import Document, Pipeline, component
from haystack.components.builders import PromptBuilder
from haystack.components.evaluators import DocumentMRREvaluator
from haystack.components.joiners import DocumentJoiner
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.components.routers import ConditionalRouter
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from hypothesis import example, given
from hypothesis import strategies as st

from beir_eval import EvaluationResult, evaluate, load_dataset, read_run
from beir_eval.benchmark import Benchmark
from beir_eval.datasets import demo
from beir_eval.errors import (
    BeirEvalWarning,
    FileFormatError,
    InputError,
    RetrievalError,
    SettingError,
)
from beir_eval.integrations.haystack import (
    PipelineRetriever,
    beir_documents,
    evaluate_pipeline,
    index,
)
from beir_eval.integrations.retrieval.documents import strictly_decreasing_scores
from capitals import QRELS, QUERIES, TEXTS, make_store, retrieving
from data_sets import write_dataset
from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator
from pipeline_parts import Answers, pipeline_of
from processes import python

MEASURES = ["nDCG@10", "MAP@100", "Recall@100", "MRR@10", "nDCG"]


@pytest.fixture
def dataset(tmp_path):
    """The folder of a data set of capitals."""
    return write_dataset(tmp_path / "capitals", TEXTS, QUERIES, QRELS)


@component
class Flaky:
    """Passes documents on, records its queries, and fails for some of them."""

    def __init__(self, failing=()):
        self.failing, self.queries = list(failing), []

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document], query: str):
        self.queries.append(query)
        if query in self.failing:
            raise ConnectionError("no luck")
        return {"documents": documents}

    def to_dict(self):
        return {"type": "Flaky", "init_parameters": {}}


def flaky_pipeline(failing=(), **settings):
    pipeline = retrieving(**settings)
    pipeline.add_component("flaky", Flaky(failing))
    pipeline.connect("retriever.documents", "flaky.documents")
    return pipeline, pipeline.get_component("flaky")


# The same numbers


def test_a_pipeline_over_the_bundled_data_has_the_numbers_of_its_saved_run(tmp_path):
    store = InMemoryDocumentStore()
    assert index(demo.FOLDER, store, batch_size=50) == 174
    result = evaluate_pipeline(
        demo.FOLDER,
        retrieving(store, top_k=100),
        measures=MEASURES,
        name="bm25",
        save_run=tmp_path / "bm25.trec",
    )
    assert result.name == "bm25"
    assert len(result.query_ids) == 30
    saved = evaluate(demo.FOLDER, tmp_path / "bm25.trec", MEASURES)
    assert result.per_query == saved.per_query


any_score = st.one_of(
    st.sampled_from([0.0, 1.0, 1.0 + 1e-12, 2.5, -3.0, 1e300, 1e-320, math.inf]),
    st.floats(-10, 10),
    st.none(),
)


@example(given_scores=[1.0 + 1e-12, 1.0], sort=False)  # different in double precision only
@given(st.lists(any_score, max_size=8), st.booleans())
def test_scores_for_a_ranking_decrease_strictly_also_in_single_precision(given_scores, sort):
    if sort and None not in given_scores:
        given_scores = sorted(given_scores, reverse=True)
    float32_scores = np.array(strictly_decreasing_scores(given_scores)).astype(np.float32)
    assert len(float32_scores) == len(given_scores)
    assert (np.diff(float32_scores) < 0).all()
    assert np.isfinite(float32_scores).all()


def answering(answers):
    """Return a pipeline that answers "0" with the first list of documents, "1" with the second."""
    return pipeline_of(one=Answers(lambda query: answers[int(query)]))


lists_of_documents = st.lists(
    st.builds(
        Document,
        id=st.sampled_from("abcdef"),
        content=st.just("text"),
        meta=st.sampled_from([{}, {"source_id": "a"}, {"source_id": "whole"}]),
        score=any_score,
    ),
    max_size=8,
)


@pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")
@given(st.lists(lists_of_documents, min_size=1, max_size=3), st.sampled_from([None, "source_id"]))
def test_a_pipeline_and_the_component_rank_the_same_documents_alike(answers, collapse):
    grades = {"a": 2, "c": 1, "whole": 1, "elsewhere": 1}
    qrels = {str(number): grades for number in range(len(answers))}
    collapse_field = collapse and f"meta.{collapse}"
    pipeline = answering(answers)
    run = PipelineRetriever(pipeline, collapse=collapse_field)({query: query for query in qrels})
    evaluator = BEIREvaluator(qrels=qrels, collapse=collapse_field)
    component_result = evaluator.run(retrieved_documents=answers, query_ids=list(qrels))["result"]
    assert evaluate(qrels, run).per_query == component_result.per_query
    assert evaluate(qrels, run, order="given").per_query == component_result.per_query


def test_a_repeated_document_keeps_its_first_score_and_one_without_a_name_is_left_out():
    names_and_scores = [("a", 0.9), ("b", 0.5), ("", 0.4), ("a", 0.3), (None, 0.2)]
    documents = [
        Document(content="x", meta={"name": name}, score=score) for name, score in names_and_scores
    ]
    retriever = PipelineRetriever(answering([documents]), document_comparison_field="meta.name")
    run, retrieval = retriever.retrieve({"0": "0"})
    [(_, doc_ids, ranking_scores)] = run.rankings()
    assert (list(doc_ids), ranking_scores.tolist()) == (["a", "b"], [0.9, 0.5])
    assert retrieval.left_out == 3


def test_integer_ids_of_documents_and_queries_mean_their_decimal_strings():
    retriever = PipelineRetriever(answering([[Document(id=7, content="x")]]))
    run = retriever({0: "0"})
    assert [(query_id, list(doc_ids)) for query_id, doc_ids, _ in run.rankings()] == [("0", ["7"])]


# Inputs and outputs


def joined_retrievers():
    store = make_store()
    pipeline = retrieving(store)
    pipeline.add_component("again", InMemoryBM25Retriever(store, top_k=5))
    pipeline.add_component("joiner", DocumentJoiner())
    pipeline.connect("retriever.documents", "joiner.documents")
    pipeline.connect("again.documents", "joiner.documents")
    return pipeline


def test_every_mandatory_text_input_gets_the_query_and_the_last_documents_are_evaluated(dataset):
    result = evaluate_pipeline(dataset, joined_retrievers(), measures=["MRR", "num_ret"])
    assert result["MRR"] == 1.0
    assert result["num_ret"] > 9


def test_documents_that_only_feed_a_prompt_builder_are_evaluated_too(dataset):
    pipeline = retrieving()
    template = "{% for one in documents %}{{ one.content }}{% endfor %} {{ question }}"
    pipeline.add_component("prompt", PromptBuilder(template=template))
    pipeline.connect("retriever.documents", "prompt.documents")
    retriever = PipelineRetriever(pipeline)
    assert retriever.origin.settings["inputs"] == "retriever.query, prompt.question"
    assert retriever.origin.settings["documents_from"] == "retriever.documents"
    assert evaluate_pipeline(dataset, pipeline, measures="MRR")["MRR"] == 1.0


def test_inputs_and_output_can_be_set(dataset):
    pipeline = joined_retrievers()
    with pytest.warns(BeirEvalWarning, match=r"again\.documents returned no document"):
        by_function = evaluate_pipeline(
            dataset,
            pipeline,
            measures=["num_ret"],
            inputs=lambda query_id, text: {
                "retriever": {"query": text, "top_k": 1},
                "again": {"query": query_id},
            },
            documents_from="retriever.documents",
        )
    assert by_function["num_ret"] == 3
    by_name = evaluate_pipeline(
        dataset, pipeline, measures="MRR", inputs=["retriever.query", "again.query"]
    )
    assert by_name["MRR"] == 1.0


def test_the_level_of_relevance_is_that_of_measures_that_state_none(dataset):
    expected = evaluate_pipeline(dataset, retrieving(), measures=["MRR(rel=1)", "nDCG@10"])
    result = evaluate_pipeline(dataset, retrieving(), measures=["MRR", "nDCG@10"], rel=1)
    assert (result.measures, result.values) == (expected.measures, expected.values)


@pytest.mark.parametrize("inputs", [None, "retriever.query"])
def test_an_evaluator_in_the_pipeline_gets_the_id_of_the_query(dataset, inputs):
    expected = evaluate_pipeline(dataset, retrieving(), measures="MRR")
    pipeline = retrieving()
    pipeline.add_component("evaluator", BEIREvaluator("MRR", qrels=QRELS))
    pipeline.connect("retriever.documents", "evaluator.retrieved_documents")
    result = evaluate_pipeline(dataset, pipeline, measures="MRR", inputs=inputs)
    assert result.values == expected.values
    retriever = PipelineRetriever(pipeline, inputs=inputs)
    assert retriever.origin.settings["inputs"] == "retriever.query, evaluator.query_ids"


def test_a_pipeline_whose_evaluator_needs_ground_truth_is_refused_with_the_remedy(dataset):
    pipeline = pipeline_of(
        evaluator=DocumentMRREvaluator(), retriever=InMemoryBM25Retriever(make_store())
    )
    with pytest.raises(SettingError, match="pass a pipeline without its evaluator"):
        evaluate_pipeline(dataset, pipeline)


def unjoined_retrievers():
    pipeline = retrieving()
    pipeline.add_component("second", InMemoryBM25Retriever(make_store()))
    return pipeline


@component
class TwoTexts:
    @component.output_types(documents=list[Document])
    def run(self, query: str, language: str):
        return {"documents": []}


@component
class NeedsNothing:
    @component.output_types(documents=list[Document])
    def run(self, top_k: int = 3):
        return {"documents": []}


@pytest.mark.parametrize(
    ("make_pipeline", "settings", "message"),
    [
        (unjoined_retrievers, {}, r"several: retriever\.documents, second\.documents"),
        (retrieving, {"documents_from": "retriever.answers"}, r"it has retriever\.documents"),
        (retrieving, {"inputs": ["retriever.text"]}, "no input 'retriever.text'"),
        (lambda: pipeline_of(one=NeedsNothing()), {}, r"no input of the pipeline takes a query"),
        (lambda: pipeline_of(one=PromptBuilder("{{ query }}")), {}, "none among one.prompt"),
        (retrieving, {"limit": 0}, "limit must be"),
        (retrieving, {"on_error": "ignore"}, "on_error="),
        (retrieving, {"collapse": "source"}, "'meta.<key>'"),
        (InMemoryDocumentStore, {}, "a Haystack pipeline or component was expected"),
        (lambda: pipeline_of(one=TwoTexts()), {}, r"needs one\.language .*state what takes it"),
    ],
)
def test_settings_that_are_invalid_or_cannot_be_inferred_are_refused(
    dataset, make_pipeline, settings, message
):
    with pytest.raises(SettingError, match=message):
        evaluate_pipeline(dataset, make_pipeline(), **settings)


def test_an_inputs_function_that_returns_no_dict_is_named_in_the_error(dataset):
    with pytest.raises(RetrievalError, match=r"inputs\(query_id, text\) must return"):
        evaluate_pipeline(dataset, retrieving(), measures="MRR", inputs=lambda _, text: text)


def test_an_object_that_is_no_data_set_is_refused():
    with pytest.raises(SettingError, match="a Dataset or its folder"):
        evaluate_pipeline({"q": {}}, retrieving())
    with pytest.raises(SettingError, match="were expected, not"):
        index(Document(content="x"), InMemoryDocumentStore())


def test_the_data_set_and_the_pipeline_are_told_apart_in_either_order(dataset):
    pipeline = retrieving()
    first = evaluate_pipeline(load_dataset(dataset), pipeline, "MRR")
    for data in (dataset, str(dataset), load_dataset(dataset)):
        assert evaluate_pipeline(pipeline, data, "MRR").values == first.values


def in_source(source, name):
    return Document(id=name, content="x", meta={"source_id": source} if source else {})


def test_documents_that_lack_the_collapse_field_are_counted_in_a_warning(tmp_path):
    documents = [in_source("a", "1"), in_source("a", "2"), in_source(None, "b")]
    retriever = PipelineRetriever(answering([documents]), collapse="meta.source_id")
    for _ in range(2):  # the second call reads the saved answers
        with pytest.warns(BeirEvalWarning, match="1 of the 3 retrieved documents do not have this"):
            run, retrieval = retriever.retrieve({"0": "0"}, save_run=tmp_path / "run.trec")
        assert [list(doc_ids) for _, doc_ids, _ in run.rankings()] == [["a", "b"]]
        assert (retrieval.without_parent, retrieval.further_chunks) == (1, 1)


def test_copies_and_documents_without_a_name_are_counted_separately(dataset):
    documents = [
        Document(content="x", meta={"name": name}) for name in ("paris", None, "", "paris")
    ]

    result = evaluate_pipeline(
        dataset,
        pipeline_of(one=Answers(lambda _: documents)),
        measures="MRR",
        document_comparison_field="meta.name",
    )
    assert [note for note in result.notes() if note.endswith("left out")] == [
        "3 further copies of documents that the ranking holds already: left out",
        "6 retrieved documents without a name: left out",
    ]


def test_documents_that_match_nothing_cause_a_warning(dataset):
    store = InMemoryDocumentStore()
    index([Document(id="x", content="capital of France by a fjord")], store)
    with (
        pytest.warns(
            BeirEvalWarning, match="the store has none of the 5 judged documents: 'paris', "
        ),
        pytest.warns(BeirEvalWarning, match=r"none of the 2 retrieved .*the run has 'x'\)"),
    ):
        evaluate_pipeline(dataset, retrieving(store), measures="MRR")


# Concurrency


def test_several_queries_at_a_time_give_the_same_scores(dataset):
    expected = evaluate_pipeline(dataset, retrieving(), measures=MEASURES)
    result = evaluate_pipeline(dataset, retrieving(is_async=True), measures=MEASURES, concurrency=2)
    assert result.values == expected.values
    assert list(result.retrieval.seconds) == list(QUERIES)


# Failures


def test_the_first_failure_stops_the_evaluation_and_names_the_query(dataset):
    pipeline, flaky = flaky_pipeline([QUERIES["q2"]])
    with pytest.raises(RetrievalError, match=r"query 'q2' \('Norway fjord'\).*no luck"):
        evaluate_pipeline(dataset, pipeline, measures="MRR")
    assert flaky.queries == [QUERIES["q1"], QUERIES["q2"]]


def test_a_query_routed_past_the_retriever_counts_as_empty(dataset):
    pipeline = Pipeline()
    routes = [
        {"condition": condition, "output": "{{query}}", "output_name": name, "output_type": str}
        for name, condition in (("no", "{{'fjord' in query}}"), ("yes", "{{True}}"))
    ]
    pipeline.add_component("router", ConditionalRouter(routes))
    pipeline.add_component("retriever", InMemoryBM25Retriever(make_store(), top_k=3))
    pipeline.connect("router.yes", "retriever.query")
    result = evaluate_pipeline(dataset, pipeline, measures="MRR")
    assert result.per_query["q2"]["MRR"] == 0.0
    assert result.counted.queries_empty == ("q2",)
    assert result["MRR"] == 2 / 3


def test_the_time_to_load_models_counts_for_no_query(dataset, monkeypatch):
    clock, seconds_of_loading = time.perf_counter, []
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + sum(seconds_of_loading))

    @component
    class Loads:
        def warm_up(self):
            if not seconds_of_loading:
                seconds_of_loading.append(1000)

        @component.output_types(documents=list[Document])
        def run(self, query: str):
            return {"documents": [Document(id="oslo")]}

    result = evaluate_pipeline(dataset, pipeline_of(one=Loads()), measures="MRR")
    assert seconds_of_loading
    assert max(result.retrieval.seconds.values()) < 1000


def test_failures_can_count_as_missing_and_are_reported(dataset):
    pipeline, _ = flaky_pipeline([QUERIES["q2"]])
    result = evaluate_pipeline(dataset, pipeline, measures="MRR", on_error="missing")
    assert result["MRR"] == 2 / 3
    assert result.counted.queries_missing == ("q2",)
    assert "no luck" in result.retrieval.failures["q2"]
    assert "1 missing query failed" in result.to_markdown()
    assert sum("missing" in note for note in result.notes()) == 2  # which are, and why
    assert not any("count as missing" in note for note in result.notes())


# Saved and resumed


def test_an_interrupted_evaluation_resumes_where_it_stopped(dataset, tmp_path):
    run_file = tmp_path / "bm25.trec"
    expected = evaluate_pipeline(dataset, flaky_pipeline()[0], measures=MEASURES)
    pipeline, _ = flaky_pipeline([QUERIES["q3"]])
    with pytest.raises(RetrievalError):
        evaluate_pipeline(dataset, pipeline, measures=MEASURES, save_run=run_file)
    assert not run_file.exists()
    journal = tmp_path / "bm25.trec.progress.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"query_id": "q3", "que')
    pipeline, flaky = flaky_pipeline()
    result = evaluate_pipeline(
        dataset, pipeline, measures=MEASURES, save_run=run_file, check_saved=0
    )
    assert flaky.queries == [QUERIES["q3"]]
    assert result.values == expected.values
    assert list(result.retrieval.seconds) == list(QUERIES)
    assert result.per_query == evaluate(dataset, run_file, MEASURES).per_query


def test_pipelines_with_equal_settings_have_equal_fingerprints(dataset):
    first, second = (
        PipelineRetriever(retrieving(InMemoryDocumentStore())).fingerprint for _ in range(2)
    )
    assert first == second
    assert PipelineRetriever(retrieving(), collapse="meta.a").fingerprint != first


@component
class Unserialisable:
    """Cannot be serialised, as where a setting is a token."""

    def __init__(self, size, where=None):
        self.size, self.where = size, where

    @component.output_types(documents=list[Document])
    def run(self, query: str):
        return {"documents": []}

    def to_dict(self):
        raise ValueError("no")


def test_fingerprints_differ_by_settings_also_where_these_cannot_be_serialised():
    def fingerprint(**settings):
        return PipelineRetriever(pipeline_of(one=Unserialisable(**settings))).fingerprint

    assert fingerprint(size=1) == fingerprint(size=1)
    assert fingerprint(size=1) != fingerprint(size=2)
    assert fingerprint(size=1, where={"a": [1]}) != fingerprint(size=1, where={"a": [2]})


def test_a_query_whose_text_has_changed_is_run_again(dataset, tmp_path):
    run_file = tmp_path / "bm25.trec"
    evaluate_pipeline(dataset, flaky_pipeline()[0], measures="MRR", save_run=run_file)
    text = (dataset / "queries.jsonl").read_text()
    (dataset / "queries.jsonl").write_text(text.replace("Norway fjord", "fjord"))
    pipeline, flaky = flaky_pipeline()
    evaluate_pipeline(dataset, pipeline, measures="MRR", save_run=run_file, check_saved=0)
    assert flaky.queries == ["fjord"]


def test_a_run_without_a_journal_is_neither_trusted_nor_overwritten(dataset, tmp_path):
    run_file = tmp_path / "bm25.trec"
    run_file.write_text("q1 Q0 paris 1 3.5 other\n")
    with pytest.raises(SettingError, match=r"is there without bm25\.trec\.progress\.jsonl"):
        evaluate_pipeline(dataset, retrieving(), measures="MRR", save_run=run_file)
    assert run_file.read_text() == "q1 Q0 paris 1 3.5 other\n"


def test_a_limit_removes_nothing_from_a_saved_run_and_queries_that_failed_run_again(
    dataset, tmp_path
):
    run_file = tmp_path / "bm25.trec"
    pipeline, _ = flaky_pipeline([QUERIES["q1"]])
    evaluate_pipeline(dataset, pipeline, measures="MRR", save_run=run_file, on_error="missing")
    pipeline, flaky = flaky_pipeline()
    settings = {"measures": "MRR", "save_run": run_file, "limit": 2, "check_saved": 0}
    result = evaluate_pipeline(dataset, pipeline, **settings)
    assert flaky.queries == [QUERIES["q1"]]
    assert (result.query_ids, result["MRR"]) == (("q1", "q2"), 1.0)
    assert set(read_run(run_file).query_ids) == set(QUERIES)


@pytest.mark.usefixtures("locks_of_each_platform")
def test_two_processes_cannot_use_one_journal_at_once(dataset, tmp_path):
    run_file = tmp_path / "bm25.trec"
    errors = []

    def evaluate_again(_query):
        with pytest.raises(SettingError, match="another process is at work") as caught:
            evaluate_pipeline(dataset, retrieving(), measures="MRR", save_run=run_file)
        errors.append(caught)
        return [Document(id="paris")]

    pipeline = pipeline_of(one=Answers(evaluate_again))
    evaluate_pipeline(dataset, pipeline, measures="MRR", save_run=run_file)
    assert len(errors) == 3


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("run.xyz", "does not say which format"),
        ("runs/bm25.trec", "there is no folder .*runs; make it first"),
    ],
)
def test_a_run_that_could_not_be_saved_is_refused_before_the_first_query(
    dataset, tmp_path, name, problem
):
    pipeline, flaky = flaky_pipeline()
    with pytest.raises((InputError, SettingError), match=problem):
        evaluate_pipeline(dataset, pipeline, save_run=tmp_path / name)
    assert flaky.queries == []
    assert not (tmp_path / "runs").exists()


def test_an_id_that_the_format_cannot_hold_is_refused_with_the_first_query(dataset, tmp_path):
    store = InMemoryDocumentStore()
    index([Document(id="my file.pdf", content="capital of France")], store)
    with (
        pytest.warns(BeirEvalWarning, match="none of the 5 judged"),
        pytest.raises(InputError, match=r"'my file\.pdf' contains white space"),
    ):
        evaluate_pipeline(
            dataset, retrieving(store), measures="MRR", save_run=tmp_path / "run.trec"
        )
    assert list(tmp_path.glob("run*")) == []


def test_a_run_without_documents_warns_of_an_empty_store_and_is_not_saved(dataset, tmp_path):
    with (
        pytest.warns(BeirEvalWarning, match="the document store of retriever is empty"),
        pytest.warns(BeirEvalWarning, match=r"empty\? index\(dataset, store\) writes"),
        pytest.warns(BeirEvalWarning, match=r"retriever\.documents returned no document"),
    ):
        result = evaluate_pipeline(
            dataset,
            retrieving(InMemoryDocumentStore()),
            measures="MRR",
            save_run=tmp_path / "run.trec",
        )
    assert result["MRR"] == 0.0
    assert not (tmp_path / "run.trec").exists()


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "[]",
        "nonsense",
    ],
)
def test_the_error_for_a_damaged_journal_names_file_and_line(dataset, tmp_path, line):
    run_file = tmp_path / "bm25.trec"
    evaluate_pipeline(dataset, retrieving(), measures="MRR", save_run=run_file)
    journal = tmp_path / "bm25.trec.progress.jsonl"
    journal.write_text(journal.read_text() + line + "\n")
    with pytest.raises(FileFormatError, match=r"progress\.jsonl, line 5"):
        evaluate_pipeline(dataset, retrieving(), measures="MRR", save_run=run_file)


# Queries and data sets


def test_a_limit_restricts_queries_and_judgements(dataset):
    result = evaluate_pipeline(dataset, retrieving(), measures="MRR", limit=2)
    assert result.query_ids == ("q1", "q2")
    assert result.counted.queries_judged == 2
    assert result.counted.max_grade == 2
    assert "only 2 of 3 judged queries evaluated: the limit left out 1" in result.warnings()
    everything = evaluate_pipeline(dataset, retrieving(), measures="MRR", limit=3)
    assert "3 queries" in everything.notes()


def test_queries_without_a_text_count_as_missing(dataset):
    lines = (dataset / "queries.jsonl").read_text().splitlines()
    (dataset / "queries.jsonl").write_text("\n".join(lines[:2]))
    result = evaluate_pipeline(dataset, retrieving(), measures="MRR")
    assert result.counted.queries_missing == ("q3",)
    (dataset / "queries.jsonl").write_text('{"_id": "other", "text": "x"}')
    with pytest.raises(InputError, match="no judged query has a text"):
        evaluate_pipeline(dataset, retrieving(), measures="MRR")


def test_the_time_of_each_query_is_recorded_and_saved(dataset, tmp_path):
    start = time.perf_counter()
    result = evaluate_pipeline(dataset, retrieving(), measures="MRR")
    retrieval = result.retrieval
    assert 0 < retrieval.p50 <= retrieval.p95 <= time.perf_counter() - start
    assert retrieval.p95 == np.percentile(list(retrieval.seconds.values()), 95)
    result.save(tmp_path / "result.json")
    assert EvaluationResult.load(tmp_path / "result.json").retrieval == retrieval
    assert any(note.startswith("time per query: median") for note in result.notes())


# Corpus


def test_documents_keep_their_ids_and_have_title_and_text(dataset):
    (dataset / "corpus.jsonl").write_text(
        '{"_id": "1", "title": "A", "text": "b c"}\n'
        '{"_id": "2", "title": "", "text": "d", "metadata": {"lang": "no"}}\n'
    )
    documents = list(beir_documents(dataset))
    assert [(document.id, document.content, document.meta) for document in documents] == [
        ("1", "A b c", {"title": "A", "beir_doc_id": "1"}),
        ("2", "d", {"lang": "no", "title": "", "beir_doc_id": "2"}),
    ]


def test_documents_are_written_in_batches_through_a_writing_pipeline(dataset):
    store, sizes = InMemoryDocumentStore(), []
    write = store.write_documents

    def write_and_record(documents, **options):
        sizes.append(len(documents))
        return write(documents, **options)

    store.write_documents = write_and_record
    pipeline = pipeline_of(writer=DocumentWriter(store))
    assert index(dataset, pipeline, batch_size=2) == 5
    assert sizes == [2, 2, 1]
    assert {document.id for document in store.filter_documents()} == set(TEXTS)


def test_the_error_for_a_failed_write_names_its_batch(dataset):
    class Full:
        def write_documents(self, documents, policy):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full") as caught:
        index(dataset, Full(), batch_size=2)
    assert caught.value.__notes__ == ["while writing documents 'paris' to 'berlin'"]


@pytest.mark.parametrize("target", [retrieving, dict])
def test_index_accepts_only_a_store_or_a_writing_pipeline(dataset, target):
    with pytest.raises(SettingError):
        index(dataset, target())


# Reports and benchmarks


def test_a_benchmark_takes_pipelines_as_systems(dataset, tmp_path):
    pipeline, flaky = flaky_pipeline()
    systems = {
        "bm25": pipeline,
        "top1": PipelineRetriever(retrieving(top_k=1), documents_from="retriever.documents"),
    }
    result = Benchmark([dataset], systems, folder=tmp_path / "out", measures=["nDCG@10"]).run()
    assert result.failures == {}
    expected = evaluate_pipeline(dataset, retrieving(), measures="nDCG@10")
    assert result.results["bm25"]["capitals"]["nDCG@10"] == expected["nDCG@10"]
    number_of_queries = len(flaky.queries)
    assert (
        Benchmark([dataset], systems, folder=tmp_path / "out", measures=["nDCG@10"]).run().results
    )
    assert len(flaky.queries) == number_of_queries


def test_without_haystack_the_error_names_the_install_line():
    code = "import sys; sys.modules['haystack'] = None; import beir_eval.integrations.haystack as h"
    done = python("-c", f"{code}; h.index", check=False)
    assert "pip install 'beir-eval[haystack]'" in done.stderr
