"""What a pipeline cannot find is said before it counts, and no gate is decided on it."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import haystack
import pytest
from haystack import Document, Pipeline, SuperComponent, component, tracing
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentCleaner
from haystack.components.retrievers import MultiQueryTextRetriever
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.document_stores.in_memory import InMemoryDocumentStore

import pipeline_parts
from beir_eval import check_gate, compare, load_dataset
from beir_eval.benchmark import Benchmark
from beir_eval.comparison.gate import check_floors
from beir_eval.errors import BeirEvalWarning, InputError, SettingError
from beir_eval.integrations.haystack import (
    PipelineRetriever,
    beir_documents,
    evaluate_pipeline,
    index,
    store_checks,
)
from capitals import retrieving
from data_sets import write_dataset
from pipeline_parts import Answers, pipeline_of, words

TEXTS = {
    "oven": "clean  the oven with the pyrolytic cycle at 500 degrees",
    "pump": "empty  the drain pump filter of the washing machine",
    "kettle": "descale  the kettle with citric acid",
    "knives": "sharpen  kitchen knives on a wet stone",
    "bread": "bake  bread at 220 degrees for forty minutes",
    "beans": "store  coffee beans in a dark jar",
    "board": "fold  the ironing board before storing it",
}
QUERIES = {"q1": "clean oven", "q2": "drain pump", "q3": "descale kettle", "q4": "sharpen knives"}
JUDGED = {
    "q1": {"oven": 1},
    "q2": {"pump": 1},
    "q3": {"kettle": 1},
    "q4": {"knives": 2, "bread": 0},
}
NOT_STORED = "1 of 5 judged documents is not in the store, so no ranking can have them: 'kettle'"
EMPTY = "the document store of retriever is empty"
SILENT = "returned no document for any of 4 queries. Check its inputs, filters and document store"


@pytest.fixture
def folder(tmp_path):
    return write_dataset(tmp_path / "kitchen", TEXTS, QUERIES, JUDGED)


@pytest.fixture
def store(folder):
    indexed = InMemoryDocumentStore()
    index(folder, indexed, progress=False)
    return indexed


def evaluate_quietly(pipeline, folder, **settings):
    """Return the result; its warnings are read from it."""
    settings = {"measures": ["Recall@5", "MRR"], "progress": False} | settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeirEvalWarning)
        return evaluate_pipeline(folder, pipeline, **settings)


@component
class LettersTextEmbedder:
    """A text embedder that counts four letters."""

    model = "owner/letters"

    @component.output_types(embedding=list[float])
    def run(self, text: str):
        return {"embedding": [float(text.count(letter)) + 0.1 for letter in "aeio"]}


@component
class LettersDocumentEmbedder:
    model = "mirror/letters"

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]):
        embedded = [
            replace(document, embedding=LettersTextEmbedder().run(document.content)["embedding"])
            for document in documents
        ]
        return {"documents": embedded}


def dense(store):
    pipeline = pipeline_of(
        embedder=LettersTextEmbedder(), dense=InMemoryEmbeddingRetriever(store, top_k=5)
    )
    pipeline.connect("embedder.embedding", "dense.query_embedding")
    return pipeline


def hybrid(store):
    pipeline = dense(store)
    pipeline.add_component("bm25", InMemoryBM25Retriever(store, top_k=5))
    pipeline.add_component("joiner", DocumentJoiner(top_k=5))
    pipeline.connect("bm25", "joiner")
    pipeline.connect("dense", "joiner")
    return pipeline


def indexing(store, *parts):
    return pipeline_parts.indexing(store, *parts, policy="overwrite")


# Embeddings


@pytest.mark.parametrize("make_pipeline", [dense, hybrid])
def test_searching_by_embedding_without_embeddings_is_an_error_before_any_query(
    folder, store, make_pipeline
):
    with pytest.raises(SettingError, match=r"dense searches by embedding.*none of the 7 documents"):
        evaluate_pipeline(folder, make_pipeline(store), progress=False)


def test_a_retriever_inside_a_super_component_is_found_too(folder, store):
    outer = pipeline_of(inner=SuperComponent(pipeline=dense(store)))
    with pytest.raises(SettingError, match="inner/dense searches by embedding"):
        evaluate_pipeline(folder, outer, progress=False)


@pytest.mark.parametrize("make_pipeline", [dense, hybrid])
def test_an_indexing_pipeline_with_an_embedder_writes_what_is_searched(folder, make_pipeline):
    store = InMemoryDocumentStore()
    index(folder, indexing(store, LettersDocumentEmbedder()), progress=False)
    result = evaluate_pipeline(folder, make_pipeline(store), measures="num_ret", progress=False)
    assert result["num_ret"] == 4 * 5
    assert result.warnings() == []


# Judged documents that are absent


def test_judged_documents_that_the_corpus_lacks_are_counted_and_named(folder):
    kept = {name: text for name, text in TEXTS.items() if name not in {"oven", "bread"}}
    write_dataset(folder, kept, QUERIES, JUDGED)
    store = InMemoryDocumentStore()
    index(folder, store, progress=False)
    sentence = (
        "2 of 5 judged documents are not in the corpus, 1 of them relevant, so no ranking can have "
        "them: 'oven', 'bread'. Write all that are judged"
    )
    with pytest.warns(BeirEvalWarning, match=sentence):
        result = evaluate_pipeline(folder, retrieving(store), measures="MRR", progress=False)
    assert sentence in result.warnings()
    assert sentence in result.to_markdown()
    only = evaluate_quietly(retrieving(store), folder, limit=1)
    nothing, *others = only.warnings()
    assert nothing.startswith("no document was retrieved for any judged query (is the document")
    assert others == [
        "only 1 of 4 judged queries evaluated: the limit left out 3",
        "the corpus does not have the only judged document, 'oven'. Write all that are judged",
    ]


def test_judged_documents_that_the_store_lacks_are_counted_and_named(folder, store):
    store.delete_documents(["kettle"])
    result = evaluate_quietly(retrieving(store), folder)
    assert result.warnings() == [f"{NOT_STORED}. Write all that are judged"]


class Remote:
    """A store behind a network: it is asked through filters, which may be refused."""

    def __init__(self, documents, refused=()):
        self.documents, self.refused, self.requests = documents, refused, []

    def count_documents(self):
        return len(self.documents)

    def filter_documents(self, filters):
        field, values = filters["field"], filters["value"]
        self.requests.append((field, len(values)))
        if field in self.refused:
            raise NotImplementedError("no filter on", field)
        return [
            document
            for document in self.documents
            if (document.id if field == "id" else document.meta.get(field[5:])) in values
        ]


@component
class Searches:
    """A retriever of a remote store: it returns all documents."""

    def __init__(self, document_store):
        self.document_store = document_store

    @component.output_types(documents=list[Document])
    def run(self, query: str):
        documents = self.document_store.documents
        return {
            "documents": sorted(
                documents, key=lambda document: document.content.split()[0] not in query
            )
        }

    def to_dict(self):
        return {"type": "Searches", "init_parameters": {}}


def remote(documents, **settings):
    return pipeline_of(search=Searches(Remote(documents, **settings)))


def documents_of(names, **meta):
    return [
        Document(id=name, content=TEXTS[name], meta={k: v(name) for k, v in meta.items()})
        for name in names
    ]


def test_a_remote_store_is_asked_for_the_judged_documents_through_its_filters(folder):
    pipeline = remote(documents_of(["oven", "pump", "kettle"]))
    [sentence] = evaluate_quietly(pipeline, folder).warnings()
    assert sentence.startswith("2 of 5 judged documents are not in the store, 1 of them relevant")
    assert pipeline.get_component("search").document_store.requests == [
        ("meta.beir_doc_id", 5),
        ("id", 5),
    ]


def test_a_remote_store_of_many_judged_documents_is_asked_for_some(folder, monkeypatch):
    monkeypatch.setattr(store_checks, "_ASKED_AT_ONCE", 2)
    monkeypatch.setattr(store_checks, "_MOST_REQUESTS", 2)
    [sentence] = evaluate_quietly(remote(documents_of(["oven", "pump"])), folder).warnings()
    number = "2 of 4 judged documents that were asked for, of 5 are not in the store"
    assert sentence.startswith(f"{number}, so no ranking can have them: 'kettle', 'knives'")


def test_numbers_in_the_metadata_of_a_store_are_found_by_their_decimal_names(tmp_path):
    judged = {"q1": {"7": 1}, "q2": {"8": 1}}
    folder = write_dataset(tmp_path / "d", {"7": "x", "8": "y"}, {"q1": "x", "q2": "y"}, judged)
    documents = [Document(content="x", meta={"file": 7}), Document(content="y", meta={"file": 8})]
    result = evaluate_quietly(remote(documents), folder, document_comparison_field="meta.file")
    assert result.warnings() == []
    assert result["Recall@5"] == 1.0


def test_a_store_that_refuses_one_filter_is_asked_by_the_other(folder):
    pipeline = remote(documents_of(TEXTS), refused=["meta.beir_doc_id"])
    assert evaluate_quietly(pipeline, folder).warnings() == []


def test_a_store_that_cannot_be_asked_is_named_and_the_gate_is_not_decidable(folder):
    pipeline = remote(documents_of(TEXTS), refused=["meta.beir_doc_id", "id"])
    result = evaluate_quietly(pipeline, folder)
    [sentence] = result.warnings()
    assert sentence.startswith(
        "the document store of search could not be asked for the judged documents "
        "(NotImplementedError: ('no filter on', 'meta.beir_doc_id')), so whether it has them is not"
    )
    [check] = check_floors(result, {"MRR": 0.1})
    assert check.outcome == "undecided"
    assert "allow_missing=True" in check.reason
    [check] = check_floors(result, {"MRR": 0.1}, allow_missing=True)
    assert check.outcome == "passed"


def test_an_empty_store_is_named_and_the_gate_is_not_decidable(folder):
    result = evaluate_quietly(retrieving(InMemoryDocumentStore()), folder)
    assert f"{EMPTY}. Write the corpus to it first" in result.warnings()
    [check] = check_floors(result, {"MRR": 0.0}, allow_missing=True)
    assert check.outcome == "undecided"


# Components that return nothing


def nothing():
    return Answers(lambda _: [])


def joined_with_nothing(store, inner=None):
    pipeline = pipeline_of(
        bm25=InMemoryBM25Retriever(store, top_k=5),
        web=inner or nothing(),
        joiner=DocumentJoiner(top_k=5),
    )
    pipeline.connect("bm25", "joiner")
    pipeline.connect("web.documents", "joiner")
    return pipeline


def test_a_component_that_returns_nothing_for_every_query_is_named_and_stops_a_gate(folder, store):
    silent = evaluate_quietly(joined_with_nothing(store), folder, name="new")
    fact = "web.documents returned no document for any of 4 queries"
    assert silent.warnings() == [f"{fact}. Check its inputs, filters and document store"]
    alone = evaluate_quietly(retrieving(store), folder, name="old")
    [check] = check_gate(compare([alone, silent], baseline="old"), ["MRR"])
    assert check.outcome == "undecided"
    assert "web.documents returned no document" in check.reason
    assert any("web.documents" in warning for warning in check.warnings)


def test_a_component_inside_a_super_component_is_named_by_its_path(folder, store):
    inner = pipeline_of(search=nothing())
    result = evaluate_quietly(joined_with_nothing(store, SuperComponent(pipeline=inner)), folder)
    assert result.warnings() == [f"web/search.documents {SILENT}"]


def test_the_answers_of_a_saved_run_name_a_silent_component_too(folder, store, tmp_path):
    for _ in range(2):
        result = evaluate_quietly(
            joined_with_nothing(store), folder, save_run=tmp_path / "run.trec", check_saved=0
        )
        assert any("web.documents returned no document" in text for text in result.warnings())


@pytest.mark.parametrize("concurrency", [1, 4])
def test_sizes_are_counted_in_an_event_loop_as_well(folder, store, concurrency):
    pipeline = retrieving(store, is_async=True)
    retriever = PipelineRetriever(pipeline, concurrency=concurrency)
    before = tracing.tracer.actual_tracer
    _, retrieval = retriever.retrieve({f"q{n}": "zzz" for n in range(20)})
    assert [finding.sentence for finding in retrieval.findings] == [
        f"retriever.documents {SILENT.replace('4', '20')}"
    ]
    assert tracing.tracer.actual_tracer is before


# A part of the corpus


def test_a_part_holds_all_judged_documents_and_every_later_result_says_so(folder):
    store = InMemoryDocumentStore()
    assert index(folder, store, limit=6, progress=False) == 6
    stored = {document.id for document in store.filter_documents()}
    assert stored == {*TEXTS} - {"board"}
    result = evaluate_quietly(retrieving(store), folder)
    [sentence] = result.warnings()
    assert "6 of the 7 documents of the corpus: scores are higher than with all" in sentence


def test_a_part_that_cannot_hold_the_judged_documents_is_refused(folder):
    with pytest.raises(SettingError, match="limit=4: the corpus has 5 judged documents"):
        index(folder, InMemoryDocumentStore(), limit=4)


def test_a_limit_beyond_the_corpus_writes_everything_and_says_nothing(folder):
    store = InMemoryDocumentStore()
    assert index(folder, store, limit=100, progress=False) == 7
    assert evaluate_quietly(retrieving(store), folder).warnings() == []


# Chunks


def test_chunks_count_as_the_documents_that_index_wrote(folder):
    store = InMemoryDocumentStore()
    twice = [DocumentCleaner(), words(6), DocumentCleaner(), words(2)]
    assert index(folder, indexing(store, *twice), progress=False) == len(TEXTS)
    assert store.count_documents() > len(TEXTS)
    result = evaluate_pipeline(
        folder, retrieving(store, top_k=20), measures=["Success@1", "Recall@5"], progress=False
    )
    assert (result["Success@1"], result["Recall@5"]) == (1.0, 1.0)
    assert result.warnings() == []
    [note] = [text for text in result.notes() if "count as the document in meta.beir_doc" in text]
    assert f"{result.retrieval.left_out} of them left out" in note


def test_collapse_none_counts_each_chunk_and_a_stated_field_wins(folder):
    store = InMemoryDocumentStore()
    index(folder, indexing(store, words(4)), progress=False)
    for collapse, expected in ((None, 0.0), ("meta.source_id", 1.0), ("auto", 1.0)):
        result = evaluate_quietly(retrieving(store, top_k=20), folder, collapse=collapse)
        assert result["Recall@5"] == expected


def test_metadata_of_the_corpus_is_written_and_a_clash_with_the_id_is_refused(tmp_path):
    metadata = {"oven": {"lang": "en"}}
    folder = write_dataset(tmp_path / "k", TEXTS, QUERIES, JUDGED, metadata)
    store = InMemoryDocumentStore()
    index(folder, store, progress=False)
    by_id = {document.id: document.meta for document in store.filter_documents()}
    assert by_id["oven"] == {"lang": "en", "title": "", "beir_doc_id": "oven"}
    write_dataset(folder, TEXTS, QUERIES, JUDGED, {"pump": {"beir_doc_id": "x"}})
    with pytest.raises(InputError, match=r"'pump' of k has the metadata 'beir_doc_id'.*id_key="):
        index(load_dataset(folder), store, progress=False)
    other = InMemoryDocumentStore()
    index(folder, indexing(other, words(4)), id_key="doc", progress=False)
    result = evaluate_quietly(retrieving(other, top_k=20), folder, collapse="meta.doc")
    assert result["Recall@5"] == 1.0


# Single components


def test_a_retriever_and_a_super_component_are_pipelines_of_one(folder, store):
    expected = evaluate_pipeline(folder, retrieving(store, top_k=5), measures="MRR", progress=False)
    retriever = InMemoryBM25Retriever(store, top_k=5)
    for _ in range(2):
        alone = evaluate_pipeline(folder, retriever, measures="MRR", progress=False)
        assert alone.values == expected.values
    wrapped = SuperComponent(pipeline=retrieving(store, top_k=5))
    concurrency = 1 if hasattr(haystack, "AsyncPipeline") else 2  # Haystack 2: of its own class
    result = evaluate_pipeline(
        folder, wrapped, measures="MRR", progress=False, concurrency=concurrency
    )
    assert result.values == expected.values
    pipeline = Pipeline()
    pipeline.add_component("free", retriever)  # it is part of no pipeline any more
    with pytest.raises(SettingError, match="part of a pipeline already"):
        evaluate_pipeline(folder, retriever)


# Components inside components


@component
class Expand:
    @component.output_types(queries=list[str])
    def run(self, query: str):
        return {"queries": [query, f"{query} now"]}


def expanded(retriever):
    pipeline = pipeline_of(expand=Expand(), search=retriever)
    pipeline.connect("expand.queries", "search.queries")
    return pipeline


def test_the_store_of_a_retriever_inside_a_component_is_asked_too(folder, store):
    store.delete_documents(["kettle"])
    search = MultiQueryTextRetriever(retriever=InMemoryBM25Retriever(store, top_k=5))
    assert evaluate_quietly(expanded(search), folder).warnings() == [
        f"{NOT_STORED}. Write all that are judged"
    ]


def test_documents_without_an_embedding_among_others_are_counted(folder):
    store = InMemoryDocumentStore()
    index(folder, indexing(store, LettersDocumentEmbedder()), progress=False)
    without = replace(store.storage["oven"], embedding=None)
    store.write_documents([without], policy="overwrite")
    [sentence] = evaluate_quietly(dense(store), folder).warnings()
    fact = "1 of 7 documents in the store of dense has no embedding, so it cannot find them: 'oven'"
    assert sentence.startswith(fact)


# What may be the ranking


@pytest.mark.parametrize("declared", [list, Any, list[Any], Sequence, "documents"])
def test_a_component_behind_the_retriever_is_never_passed_over(folder, store, declared):
    if declared == "documents":
        declared = Sequence[Document]

    class Turns:
        def run(self, documents: list[Document]):
            return {"documents": documents[1:]}

    turns = component(Turns)
    turns.run = component.output_types(documents=declared)(turns.run)
    pipeline = retrieving(store, top_k=3)
    pipeline.add_component("turns", turns())
    pipeline.connect("retriever.documents", "turns.documents")
    stated = evaluate_quietly(pipeline, folder, documents_from="turns.documents")
    assert stated["MRR"] < evaluate_quietly(retrieving(store, top_k=3), folder)["MRR"]
    if declared == Sequence[Document]:
        assert evaluate_quietly(pipeline, folder).values == stated.values
    else:
        with pytest.raises(SettingError, match=r"state documents_from='turns\.documents'"):
            evaluate_quietly(pipeline, folder)


# Parts, loops and what index replaces


def test_a_part_of_documents_is_said_too_and_not_after_all_were_written(folder, store):
    part = InMemoryDocumentStore()
    index(beir_documents(folder), part, limit=3, progress=False)
    warned = evaluate_quietly(retrieving(part), folder).warnings()
    assert any("the store has the first 3 of more documents" in text for text in warned)
    index(folder, indexing(part), progress=False)
    assert part.count_documents() == len(TEXTS)
    assert evaluate_quietly(retrieving(part), folder).warnings() == []


def test_a_judged_document_that_the_corpus_lists_twice_is_refused(folder):
    with (folder / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "oven", "title": "", "text": "another"}\n')
    with pytest.raises(InputError, match="lists the judged document 'oven' twice"):
        index(folder, InMemoryDocumentStore(), progress=False)


def test_a_benchmark_says_what_a_pipeline_cannot_find(folder, store, tmp_path):
    store.delete_documents(["kettle"])
    result = Benchmark(
        folder, {"bm25": retrieving(store)}, folder=tmp_path / "out", measures="MRR"
    ).run()
    [warning] = result.warnings()
    assert "1 of 5 judged documents is not in the store" in warning


def findings_of(pipeline, folder, code, **settings):
    """Return the findings of a code that the retrieval has."""
    retrieval = evaluate_quietly(pipeline, folder, **settings).retrieval
    return [finding for finding in retrieval.findings if finding.code == code]


def is_not(*names):
    """Return a filter that some documents do not pass."""
    conditions = [{"field": "meta.beir_doc_id", "operator": "!=", "value": name} for name in names]
    return {"operator": "AND", "conditions": conditions}


def searching(store, search, filters=None):
    """Return a retriever of a store, made of a function from the query to documents."""
    retriever = Answers(search)
    retriever.document_store, retriever.filters = store, filters
    return pipeline_of(search=retriever)


@pytest.mark.parametrize("is_remote", [False, True])
def test_judged_documents_that_a_filter_of_a_retriever_excludes_are_counted(
    folder, store, is_remote
):
    passing = store.filter_documents
    if is_remote:
        store = SimpleNamespace(count_documents=store.count_documents, filter_documents=passing)
    filters = is_not("oven", "bread")
    pipeline = searching(store, lambda _: passing(filters), filters)
    [finding] = findings_of(pipeline, folder, "filtered-documents")
    assert finding.fact == (
        "the filters of search exclude 2 of the 5 judged documents in the store, 1 of them "
        "relevant: 'oven', 'bread'"
    )
    assert (finding.count, finding.total) == (2, 5)
    for harmless in (is_not("beans"), {"no": "filter"}):
        pipeline.get_component("search").filters = harmless
        assert findings_of(pipeline, folder, "filtered-documents") == []
    pipeline.get_component("search").filters = is_not("oven")
    own = {"inputs": lambda _, text: {"search": {"query": text}}}
    assert findings_of(pipeline, folder, "filtered-documents", **own) == []
    other = Answers(lambda _: passing(is_not("bread")))
    other.document_store, other.filters = store, is_not("bread")
    pipeline.add_component("other", other)
    last = {"documents_from": "search.documents"}  # what it excludes the other one may find
    assert findings_of(pipeline, folder, "filtered-documents", **last) == []


def test_a_text_embedder_of_another_model_than_the_documents_is_named(folder):
    store = InMemoryDocumentStore()
    index(folder, indexing(store, LettersDocumentEmbedder()), progress=False)
    pipeline = dense(store)
    assert findings_of(pipeline, folder, "other-embedding-model") == []  # a copy of the same
    pipeline.get_component("embedder").model = "owner/words"
    [finding] = findings_of(pipeline, folder, "other-embedding-model")
    assert finding.fact == "queries are embedded by words, and the documents were by letters"


def test_texts_of_relevant_documents_under_further_ids_are_counted(folder, store):
    assert findings_of(retrieving(store), folder, "further-ids") == []
    copies = [
        replace(document, id=f"copy-{document.id}", meta={})
        for document in store.filter_documents()
        if document.id in {"oven", "pump", "kettle", "bread"}  # bread is not relevant
    ]
    store.write_documents(copies[:2])
    assert findings_of(retrieving(store), folder, "further-ids") == []  # two may be chance
    store.write_documents(copies[2:])
    [finding] = findings_of(retrieving(store), folder, "further-ids")
    assert finding.fact == (
        "the store of retriever has the texts of 3 of 4 relevant documents under further ids too, "
        "which count as not relevant"
    )
    assert finding.examples == ("'oven' and 'copy-oven'", "'pump' and 'copy-pump'")


@pytest.mark.parametrize(("hits", "is_random"), [(1, True), (3, True), (4, False), (20, False)])
def test_rankings_that_hold_no_more_relevant_documents_than_random_ones_are_named(
    tmp_path, hits, is_random
):
    texts = {f"d{number}": f"text {number}" for number in range(100)}
    queries = {f"q{number}": f"query {number}" for number in range(20)}
    judged = {query: {f"d{number}": 1} for number, query in enumerate(queries)}
    folder = write_dataset(tmp_path / "many", texts, queries, judged)
    store = InMemoryDocumentStore()
    index(folder, store, progress=False)
    # 20 rankings of 10 of 100 documents hold 20 x 10 / 100 = 2 of 20 relevant ones by chance, and
    # one standard deviation more is 3.4.
    others = [f"d{number}" for number in range(90, 99)]
    names = {f"query {n}": [*others, f"d{n if n < hits else 99}"] for n in range(20)}
    pipeline = searching(store, lambda text: [store.storage[name] for name in names[text]])
    findings = findings_of(pipeline, folder, "random-rankings")
    assert len(findings) == is_random
    for finding in findings:
        assert finding.fact == (
            f"the rankings hold {hits} relevant documents, and random ones of the 100 documents in "
            "the store would hold 2.0"
        )
        assert (finding.count, finding.total) == (hits, 20)
