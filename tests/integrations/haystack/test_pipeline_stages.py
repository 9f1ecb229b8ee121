"""Every stage of a Haystack pipeline is seen in one run, and the pipeline is not changed."""

import json

import haystack
import pytest
from haystack import Document, GeneratedAnswer, Pipeline, SuperComponent, component, tracing
from haystack.components.builders import AnswerBuilder
from haystack.components.joiners import BranchJoiner, DocumentJoiner
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.components.routers import ConditionalRouter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.tracing import Span, Tracer

from beir_eval.comparison.stages import StagedResult
from beir_eval.errors import BeirEvalWarning, InputError, RetrievalError, SettingError
from beir_eval.integrations.haystack import (
    PipelineRetriever,
    evaluate_pipeline,
    evaluate_pipeline_stages,
    index,
)
from data_sets import write_dataset
from pipeline_parts import Answers, pipeline_of

#: ``Ranker`` does not look at the query.
pytestmark = pytest.mark.filterwarnings("ignore:.*the rankings hold .* relevant documents")

TEXTS = {
    f"d{number}": f"{'oven ' * (number % 4 + 1)}{'pump ' * (number % 3)}kettle number {number}"
    for number in range(24)
}
QUERIES = {f"q{number}": f"{('oven', 'pump')[number % 2]} {number}" for number in range(8)}
JUDGED = {f"q{number}": {f"d{number + 3}": 2, f"d{number + 9}": 1} for number in range(8)}
ASYNC = getattr(haystack, "AsyncPipeline", Pipeline)  # Haystack 2 has a class of its own


@pytest.fixture
def folder(tmp_path):
    return write_dataset(tmp_path / "kitchen", TEXTS, QUERIES, JUDGED)


@pytest.fixture
def store(folder):
    store = InMemoryDocumentStore()
    index(folder, store, progress=False)
    return store


#: The queries for which ``Ranker`` fails.
FAILING = set()


@pytest.fixture
def failing():
    yield FAILING
    FAILING.clear()


@component
class Ranker:
    """Keeps the documents with the highest texts, best first; fails for some queries."""

    def __init__(self, keep=6):
        self.keep = keep

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document], query: str):
        if query in FAILING:
            raise ConnectionError("no luck")
        ranked = sorted(documents, key=lambda document: document.content, reverse=True)
        return {"documents": ranked[: self.keep]}


def hybrid(store, ranker=None, kind=Pipeline):
    pipeline = kind()
    pipeline.add_component("many", InMemoryBM25Retriever(store, top_k=15))
    pipeline.add_component("few", InMemoryBM25Retriever(store, top_k=5, scale_score=True))
    pipeline.add_component("joiner", DocumentJoiner(join_mode="concatenate", top_k=12))
    pipeline.add_component("ranker", ranker or Ranker())
    for source, target in (("many", "joiner"), ("few", "joiner"), ("joiner", "ranker")):
        pipeline.connect(f"{source}.documents", f"{target}.documents")
    return pipeline


def staged(pipeline, folder, **settings):
    return evaluate_pipeline_stages(folder, pipeline, progress=False, **settings)


def rankings(pipeline, folder, **settings):
    """Return {stage: {query: documents}} as the tracer has seen them, and the retriever."""
    retriever = PipelineRetriever(pipeline, keep_stages=True, **settings)
    retrieved = retriever.retrieve_answers(QUERIES, rankings_vary=False)
    seen = {}
    for query, answer in retrieved.answers.items():
        for stage, doc_ids in answer.stages.items():
            seen.setdefault(stage, {})[query] = list(doc_ids)
    return seen, retriever


def include_outputs(pipeline, inputs):
    """Return {component: {query: documents}}, as Haystack's ``include_outputs_from`` has them."""
    names = {name for name, _ in pipeline.walk()}
    of_queries = {
        query: pipeline.run(inputs(text), include_outputs_from=names)
        for query, text in QUERIES.items()
    }
    return {
        name: {
            query: list(dict.fromkeys(d.meta["beir_doc_id"] for d in output[name]["documents"]))
            for query, output in of_queries.items()
            if "documents" in output.get(name, {})
        }
        for name in names
    }


@pytest.mark.parametrize(("kind", "concurrency"), [(Pipeline, 1), (ASYNC, 1), (ASYNC, 8)])
def test_the_stages_are_those_that_haystack_can_be_asked_for(folder, store, kind, concurrency):
    pipeline = hybrid(store, kind=kind)
    before = tracing.tracer.actual_tracer, pipeline.dumps()
    seen, retriever = rankings(pipeline, folder, concurrency=concurrency)
    assert (tracing.tracer.actual_tracer, pipeline.dumps()) == before
    texts = ("many", "few", "ranker")
    expected = include_outputs(
        hybrid(store), lambda text: {name: {"query": text} for name in texts}
    )
    assert seen == expected
    assert {str(stage): {*map(str, ins)} for stage, ins in retriever.stages.inputs.items()} == {
        "many": set(),
        "few": set(),
        "joiner": {"few", "many"},
        "ranker": {"joiner"},
    }


def test_the_last_stage_is_what_evaluate_pipeline_returns(folder, store, tmp_path):
    measures = ["nDCG@10", "Recall@5"]
    result = staged(hybrid(store), folder, measures=measures)
    alone = evaluate_pipeline(folder, hybrid(store), measures=measures, progress=False, keep_top=0)
    assert result.result.values == alone.values
    assert result.result.model_copy(update={"retrieval": None}) == alone.model_copy(
        update={"retrieval": None}
    )
    for measure in measures:
        losses = sum(loss.loss for loss in result.losses if loss.measure == measure)
        assert result.best[measure] - alone[measure] == pytest.approx(losses, abs=1e-12)
    assert [component.name for component in result.components] == [
        "few",
        "many",
        "joiner",
        "ranker",
    ]
    assert all(component.run > 0 < component.copying for component in result.components)
    assert result.stage("ranker").seconds == result.components[-1].run
    assert "ms a query" in result.to_markdown()
    result.save(tmp_path / "stages.json")
    assert StagedResult.load(tmp_path / "stages.json") == result


def test_with_concurrency_no_seconds_stand_beside_verdicts(folder, store):
    result = staged(hybrid(store, kind=ASYNC), folder, concurrency=4)
    assert result.stage("ranker").seconds is None
    assert "it adds" not in str(result)
    assert "the seconds of components contain waiting: 4 queries ran at a time" in str(result)


def test_stages_inside_super_components_are_seen_once(folder, store):
    inner = pipeline_of(bm25=InMemoryBM25Retriever(store, top_k=10), cut=Ranker(keep=8))
    inner.connect("bm25.documents", "cut.documents")
    middle = pipeline_of(search=SuperComponent(inner, output_mapping={"cut.documents": "found"}))
    outer = pipeline_of(
        box=SuperComponent(middle, output_mapping={"search.found": "found"}), ranker=Ranker(keep=3)
    )
    outer.connect("box.found", "ranker.documents")
    seen, retriever = rankings(outer, folder)
    stages = retriever.stages
    assert {str(stage): list(map(str, inputs)) for stage, inputs in stages.inputs.items()} == {
        "box/search/bm25": [],
        "box/search/cut": ["box/search/bm25"],
        "ranker": ["box/search/cut"],
    }
    assert {name: len(of_stage["q1"]) for name, of_stage in seen.items()} == {
        "box/search/bm25": 10,
        "box/search/cut": 8,
        "ranker": 3,
    }
    alone = staged(SuperComponent(inner, output_mapping={"cut.documents": "found"}), folder)
    assert alone.last.endswith("/cut")


def router(store, conditions):
    """Return a pipeline with a retriever behind each condition, joined again."""
    pipeline = Pipeline()
    routes = [
        {"condition": condition, "output": "{{query}}", "output_name": word, "output_type": str}
        for word, condition in conditions.items()
    ]
    pipeline.add_component("router", ConditionalRouter(routes))
    pipeline.add_component("join", DocumentJoiner())
    for word, top_k in zip(conditions, (6, 9), strict=True):
        pipeline.add_component(word, InMemoryBM25Retriever(store, top_k=top_k))
        pipeline.connect(f"router.{word}", f"{word}.query")
        pipeline.connect(f"{word}.documents", "join.documents")
    return pipeline


def test_a_stage_behind_a_router_has_empty_rankings_for_the_queries_it_did_not_run_for(
    folder, store
):
    conditions = {word: f"{{{{query.startswith('{word}')}}}}" for word in ("oven", "pump")}
    result = staged(router(store, conditions), folder)
    assert {stage.name: stage.num_queries for stage in result.stages} == {
        "oven": 4,
        "pump": 4,
        "join": 8,
    }
    assert any("oven 4, pump 4" in sentence for sentence in result.warnings())
    assert {pair.num_queries for pair in result.differences} == {8}
    [alone] = staged(router(store, conditions), folder, pair=("join", "oven")).differences
    assert (alone.system, alone.against) == ("join", "oven")


def test_a_stage_that_never_ran_is_named(folder, store):
    result = staged(router(store, {"oven": "{{True}}", "pump": "{{False}}"}), folder)
    assert "pump did not run for any query" in str(result)
    assert [stage.name for stage in result.stages] == ["oven", "join"]


@component
class Again:
    """Sends the query through the loop once more, and then lets the documents out."""

    def __init__(self):
        self.turns = {}

    @component.output_types(again=str, documents=list[Document])
    def run(self, documents: list[Document], query: str):
        self.turns[query] = self.turns.get(query, 0) + 1
        if self.turns[query] % 2:
            return {"again": query}
        return {"documents": documents[:4]}


def test_in_a_loop_the_last_turn_counts(folder, store):
    pipeline = pipeline_of(
        entry=BranchJoiner(str), search=InMemoryBM25Retriever(store, top_k=7), again=Again()
    )
    pipeline.connect("entry.value", "search.query")
    pipeline.connect("entry.value", "again.query")
    pipeline.connect("search.documents", "again.documents")
    pipeline.connect("again.again", "entry.value")
    inputs = lambda _query_id, text: {"entry": {"value": text}}  # noqa: E731
    result = staged(pipeline, folder, inputs=inputs, documents_from="again.documents")
    assert {stage.name: (stage.inputs, stage.documents) for stage in result.stages} == {
        "search": ((), 7.0),
        "again": (("search",), 4.0),
    }
    visits = {component.name: component.visits for component in result.components}
    assert visits == {"entry": 2, "search": 2, "again": 2}


def test_of_a_query_that_fails_the_stages_before_count(folder, store, failing):
    failing |= {QUERIES["q2"], QUERIES["q5"]}
    pipeline = hybrid(store)
    with pytest.raises(RetrievalError, match="no luck"):
        staged(pipeline, folder)
    result = staged(pipeline, folder, on_error="missing")
    assert result.failures == {"ranker": ("q2", "q5")}
    assert (
        "ranker failed for 2 queries, counted as empty rankings of the last stage: 'q2', 'q5'"
        in str(result)
    )
    assert {stage.name: stage.num_queries for stage in result.stages} == {
        "few": 8,
        "many": 8,
        "joiner": 8,
        "ranker": 6,
    }
    alone = evaluate_pipeline(folder, pipeline, progress=False, on_error="missing")
    assert result.result["nDCG@10"] == alone["nDCG@10"]


class TheirSpan(Span):
    def set_tag(self, key, value):
        pass


class TheirTracer(Tracer):
    """A tracer of someone else, which notes the components that it sees."""

    def __init__(self):
        self.names = []

    def trace(self, operation_name, tags=None, parent_span=None):
        assert parent_span is None or isinstance(parent_span, TheirSpan)
        self.names.append((tags or {}).get("haystack.component.name"))
        return self

    def __enter__(self):
        return TheirSpan()

    def __exit__(self, *_):
        pass

    def current_span(self):
        return None


@component
class EnablesTracer:
    """Passes documents on, and enables a tracer of its own, always or when it is used first."""

    def __init__(self, *, always):
        self.always, self.is_new = always, True

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document], query: str):
        if self.is_new or self.always:
            tracing.tracer.actual_tracer = TheirTracer()
        self.is_new = False
        return {"documents": list(reversed(documents))}


@pytest.fixture
def tracer():
    before = tracing.tracer.actual_tracer
    tracing.tracer.actual_tracer = theirs = TheirTracer()
    yield theirs
    tracing.tracer.actual_tracer = before


def test_a_foreign_tracer_sees_everything_and_stays(folder, store, tracer):
    staged(hybrid(store), folder)
    assert tracing.tracer.actual_tracer is tracer
    assert len(tracer.names) == len(QUERIES) * 5


def test_a_tracer_that_a_component_enables_once_hides_nothing(folder, store, tracer):
    pipeline = hybrid(store, EnablesTracer(always=False))
    result = staged(pipeline, folder)
    assert result.stage("ranker").num_queries == len(QUERIES)
    assert tracing.tracer.actual_tracer is not tracer


def test_a_tracer_that_a_component_enables_each_time_is_an_error(folder, store, tracer):
    with pytest.raises(SettingError, match="replaces Haystack's tracer whenever it runs"):
        staged(hybrid(store, EnablesTracer(always=True)), folder)


@component
class Cites:
    """Answers with the two first documents."""

    @component.output_types(answers=list[GeneratedAnswer])
    def run(self, documents: list[Document], query: str):
        return {"answers": [GeneratedAnswer(data="yes", query=query, documents=documents[:2])]}


def test_the_documents_that_an_answer_cites_are_a_stage(folder, store):
    pipeline = hybrid(store)
    pipeline.add_component("cites", Cites())
    pipeline.connect("ranker.documents", "cites.documents")
    result = staged(pipeline, folder, documents_from="cites.answers", measures="Recall@2")
    assert result.last == "cites"
    assert (result.stage("cites").documents, result.stage("cites").inputs) == (2.0, ("ranker",))
    assert staged(pipeline, folder, documents_from="ranker.documents").last == "ranker"


def scored(first, highest):
    """Return a retriever of twelve documents from a first one on, with falling scores."""
    names = [f"d{first + rank}" for rank in range(12)]
    documents = [
        Document(id=name, content=TEXTS[name], score=highest - rank)
        for rank, name in enumerate(names)
    ]
    return Answers(lambda _: documents)


@pytest.mark.filterwarnings("ignore:.*rankings do not fit their queries")
@pytest.mark.parametrize(
    ("first", "highest", "is_named"),
    [(0, 10.0, True), (0, 90.0, False), (8, 10.0, False), (12, 80.0, True)],
)
def test_a_joined_input_whose_own_documents_are_never_among_the_first_is_named(
    folder, first, highest, is_named
):
    # "words" finds d8 to d19, with scores from 90 down to 79.
    joiner = DocumentJoiner(join_mode="concatenate")
    pipeline = pipeline_of(words=scored(8, 90.0), vectors=scored(first, highest), joiner=joiner)
    for source in ("words", "vectors"):
        pipeline.connect(f"{source}.documents", "joiner.documents")
    remarks = [text for text in staged(pipeline, folder).remarks if "only" in text]
    expected = (
        "for 8 queries, no document that only vectors found is among the first 10 of joiner: check "
        "how it joins scores"
    )
    assert remarks == [expected] * is_named


def test_a_ranker_for_prompts_is_called_so(folder, store):
    pipeline = pipeline_of(search=InMemoryBM25Retriever(store, top_k=6))
    pipeline.add_component("prompt order", LostInTheMiddleRanker())
    pipeline.connect("search.documents", "prompt order.documents")
    result = staged(pipeline, folder)
    assert "prompt order orders documents for a prompt, not for a reader" in str(result)


def test_answers_that_were_saved_without_stages_are_given_again(folder, store, tmp_path):
    run = tmp_path / "run.trec"
    evaluate_pipeline(folder, hybrid(store), save_run=run, progress=False)
    result = staged(hybrid(store), folder, save_run=run)
    assert result.losses == staged(hybrid(store), folder).losses
    assert result.result.retrieval.reused == ()
    lines = run.with_name("run.trec.progress.jsonl").read_text().splitlines()
    assert ["stages" in json.loads(line) for line in lines[1:]] == [False] * 8 + [True] * 8
    assert staged(hybrid(store), folder, save_run=run).result.retrieval.reused[0].answers == 8


def test_a_pipeline_of_one_stage_and_an_output_that_is_no_stage_are_refused(folder, store):
    pipeline = pipeline_of(search=InMemoryBM25Retriever(store))
    with pytest.raises(InputError, match="one stage that ran, search: evaluate it without stages"):
        staged(pipeline, folder)


@component
class Renames:
    """Returns documents with other ids."""

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]):
        return {"documents": [Document(content=document.content) for document in documents]}


def test_a_stage_with_other_ids_is_warned_of_by_its_name(folder, store):
    pipeline = hybrid(store)
    pipeline.add_component("renames", Renames())
    pipeline.connect("many.documents", "renames.documents")
    with pytest.warns(BeirEvalWarning, match="renames: document ids do not match") as caught:
        result = staged(pipeline, folder, documents_from="ranker.documents")
    assert sum("renames" in str(warning.message) for warning in caught) == 1
    assert result.stage("renames").inputs == ("many",)


# Answers from the same run

GOLD = {query: [f"Answer {number}", "unsure"] for number, query in enumerate(QUERIES)}


@component
class Generates:
    """A generator made of a function: the number of the query in words that differ."""

    @component.output_types(replies=list[str])
    def run(self, documents: list[Document], query: str):
        if query in FAILING:
            raise ConnectionError("no luck")
        number = query.rsplit(maxsplit=1)[-1]
        return {"replies": ["unsure" if int(number) % 3 == 0 else f"the answer {number}!", "x"]}


def rag(store):
    pipeline = hybrid(store)
    pipeline.add_component("generator", Generates())
    pipeline.add_component("answers", AnswerBuilder())
    pipeline.connect("ranker.documents", "generator.documents")
    pipeline.connect("generator.replies", "answers.replies")
    pipeline.connect("ranker.documents", "answers.documents")
    return pipeline


RAG = {"documents_from": "ranker.documents", "answers_from": "generator.replies"}


@pytest.mark.parametrize("output", ["generator.replies", "answers.answers"])
def test_documents_and_answers_are_measured_in_one_run(folder, store, output):
    settings = {**RAG, "answers_from": output, "gold_answers": GOLD, "progress": False}
    result = evaluate_pipeline(folder, rag(store), measures=["nDCG@10"], **settings)
    assert result.measures == ("nDCG@10", "EM", "token F1", "contains")
    assert result["EM"] == result["contains"] == 1.0
    documents = evaluate_pipeline(folder, hybrid(store), measures=["nDCG@10"], progress=False)
    assert result["nDCG@10"] == documents["nDCG@10"]
    assert "EM: a custom measure" in " ".join(result.notes())


def test_a_whole_pipeline_killed_and_resumed_has_documents_citations_and_answers(
    folder, store, tmp_path, failing
):
    run, pipeline = tmp_path / "rag.trec", rag(store)
    settings = {"answers_from": RAG["answers_from"], "gold_answers": GOLD, "measures": "Recall@5"}
    whole = staged(pipeline, folder, documents_from="answers.answers", **settings)
    assert [stage.name for stage in whole.stages][-1] == "answers"
    failing.add(QUERIES["q6"])
    cited = {**settings, "documents_from": "answers.answers", "save_run": run}
    with pytest.raises(RetrievalError):
        staged(pipeline, folder, **cited)
    failing.clear()
    resumed = staged(pipeline, folder, **cited)
    assert resumed.result.retrieval.reused[0].answers == 6
    assert resumed.result.values == whole.result.values
    assert resumed.losses == whole.losses


def test_gold_answers_come_from_the_metadata_of_the_queries_or_are_asked_for(
    folder, store, tmp_path
):
    with pytest.raises(SettingError, match="pass gold_answers="):
        evaluate_pipeline(folder, rag(store), progress=False, **RAG)
    with pytest.raises(SettingError, match="gold_answers are for answers_from="):
        evaluate_pipeline(folder, rag(store), progress=False, gold_answers=GOLD)
    with pytest.raises(InputError, match="no gold answers"):
        evaluate_pipeline(folder, rag(store), progress=False, gold_answers={"x": "y"}, **RAG)
    queries = folder / "queries.jsonl"
    lines = [json.loads(line) for line in queries.read_text().splitlines()]
    for line in lines[:4]:
        line["metadata"] = {"answers": GOLD[line["_id"]]}
    queries.write_text("\n".join(map(json.dumps, lines)) + "\n")
    result = evaluate_pipeline(folder, rag(store), progress=False, **RAG)
    assert result.num_scored["EM"] == 4
    assert result.num_scored["nDCG@10"] == 8


def test_a_query_that_fails_has_an_empty_answer(folder, store, failing):
    failing.add(QUERIES["q1"])
    settings = {**RAG, "gold_answers": GOLD, "on_error": "missing", "progress": False}
    result = evaluate_pipeline(folder, rag(store), **settings)
    assert result["EM"] == 7 / 8


def test_saved_answers_of_another_output_are_not_reused(folder, store, tmp_path):
    settings = {"gold_answers": GOLD, "save_run": tmp_path / "r.trec", "progress": False}
    pipeline = rag(store)
    pipeline.add_component("parrot", Parrot())
    pipeline.connect("ranker.documents", "parrot.documents")
    for output, score in (("generator.replies", 1), ("parrot.replies", 0), ("parrot.replies", 0)):
        result = evaluate_pipeline(folder, pipeline, **{**RAG, "answers_from": output}, **settings)
        assert result["EM"] == score
    assert result.retrieval.reused[0].answers == 8


@component
class Parrot:
    """Another generator, which is never right."""

    @component.output_types(replies=list[str])
    def run(self, documents: list[Document]):
        return {"replies": ["parrot"]}
