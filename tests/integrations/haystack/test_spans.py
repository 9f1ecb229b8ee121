"""Pipelines over a data set with judged spans: right by default after cleaners and splitters."""

import json

import pytest
from haystack import Document
from haystack.components.preprocessors import (
    DocumentCleaner,
    HierarchicalDocumentSplitter,
)
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore

from beir_eval.errors import BeirEvalWarning, InputError, SettingError
from beir_eval.integrations.haystack import evaluate_pipeline, index
from beir_eval.spans import Spans
from command_line import output_of, run
from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator
from pipeline_parts import Answers, indexing, pipeline_of, words

FACTS = [
    "The oven is cleaned with the pyrolytic cycle at 500 degrees.",
    "The drain pump filter of the washing machine is behind the lower flap.",
    "The kettle is descaled with citric acid once in a month.",
    "Kitchen knives are sharpened on a wet stone and not with a machine.",
]
QUERIES = ["oven pyrolytic degrees", "drain pump filter flap", "kettle citric acid", "knives stone"]


@pytest.fixture
def folder(tmp_path):
    """A data set without qrels: two documents with a title, queries, and spans."""
    texts = {"a": "  \n\n ".join([*FACTS[:2], "Nothing else here."]), "b": "\n".join(FACTS[2:])}
    rows = [{"_id": doc_id, "title": "A   manual", "text": text} for doc_id, text in texts.items()]
    spans = [
        {"query_id": f"q{number}", "doc_id": doc_id, "start": text.index(fact), "text": fact}
        for number, fact in enumerate(FACTS)
        for doc_id, text in texts.items()
        if fact in text
    ]
    queries = [{"_id": f"q{number}", "text": text} for number, text in enumerate(QUERIES)]
    for name, lines in (("corpus", rows), ("queries", queries), ("spans", spans)):
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in lines))
    return tmp_path


def indexed(folder, *parts):
    """Return a pipeline over a store in which the corpus was written through these parts."""
    store = InMemoryDocumentStore()
    view = Spans.from_jsonl(folder / "spans.jsonl", folder).view()
    index(view.dataset(folder), indexing(store, *parts), progress=False)
    return pipeline_of(retriever=Answers(lambda _: store.filter_documents()))


@pytest.mark.parametrize(
    "make_parts",
    [
        lambda: [DocumentCleaner(), words(5)],
        lambda: [words(12), words(3)],
        lambda: [
            HierarchicalDocumentSplitter(block_sizes={12, 4}, split_overlap=0, split_by="word")
        ],
        lambda: [DocumentCleaner(ascii_only=True), words(7)],
    ],
    ids=["cleaner, splitter", "two splitters", "hierarchical", "ascii"],
)
def test_chunks_are_found_in_their_documents_whatever_made_them(folder, make_parts):
    pipeline = indexed(folder, *make_parts())
    result = evaluate_pipeline(
        folder, pipeline, "Recall@4000", spans=folder / "spans.jsonl", progress=False
    )
    assert result["Recall@4000"] > 0.95  # white space that a cleaner removed is between chunks
    counts = result.counted.text.alignment
    assert "lost" not in counts
    assert result.settings.ranks == "characters"


def test_a_run_is_resumed_with_its_chunks(folder, tmp_path):
    pipeline = indexed(folder, words(5))
    settings = {
        "spans": folder / "spans.jsonl",
        "progress": False,
        "ranks": "chunks",
        "overlap": 0.75,
    }
    first = evaluate_pipeline(
        folder, pipeline, "Recall@5", save_run=tmp_path / "r.json", **settings
    )
    again = evaluate_pipeline(
        folder, pipeline, "Recall@5", save_run=tmp_path / "r.json", **settings
    )
    assert again.retrieval.reused
    assert again["Recall@5"] == first["Recall@5"] > 0


def test_documents_that_index_has_not_written_are_an_error(folder):
    store = InMemoryDocumentStore()
    store.write_documents([Document(content=fact) for fact in FACTS])
    pipeline = pipeline_of(retriever=InMemoryBM25Retriever(store, top_k=20))
    with pytest.raises(InputError, match=r"have no meta\.beir_doc_id and content"):
        evaluate_pipeline(folder, pipeline, "MRR", spans=folder / "spans.jsonl", progress=False)


def test_the_command_judges_by_spans(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for length in (4, 12):
        store = InMemoryDocumentStore(index=f"spans-{length}")
        (tmp_path / "i.yaml").write_text(indexing(store, words(length)).dumps())
        pipeline = pipeline_of(retriever=InMemoryBM25Retriever(store, top_k=20))
        (tmp_path / f"p{length}.yaml").write_text(pipeline.dumps())
    arguments = ["haystack", "p12.yaml", str(folder), "--spans", str(folder / "spans.jsonl")]
    done = run(*arguments, "--index-pipeline", "i.yaml", "-o", "r.json")
    assert done.exit_code == 0, done.output
    assert "Recall@2000" in done.output
    assert "A rank is a character of the retrieved text" in output_of(done)
    refused = run(*arguments, "--stages")
    assert refused.exit_code == 2
    assert "--spans of text" in refused.output


# The component


def test_the_component_judges_retrieved_chunks_by_spans(folder):
    evaluator = BEIREvaluator(
        ["Recall@500", "MAP"], spans=folder / "spans.jsonl", primary="Recall@500"
    )
    again = BEIREvaluator.from_dict(json.loads(json.dumps(evaluator.to_dict())))
    right = [
        Document(content=f"{fact} And more.", meta={"beir_doc_id": "ab"[number > 1]})
        for number, fact in enumerate(FACTS)
    ]
    for made in (evaluator, again):
        with pytest.warns(BeirEvalWarning, match="ends before 500 for 2 queries"):
            outputs = made.run(
                retrieved_documents=[[right[0]], [right[0], right[1]], [], [right[2]]],
                query_ids=["q0", "q1", "q2", "q3"],
            )
        assert outputs["individual_scores"] == [1, 1, 0, 0]
        assert outputs["result"].counted.text.alignment["fuzzy"] == 3
    spans = {"path": folder / "spans.jsonl", "corpus": folder / "corpus.jsonl", "ranks": "chunks"}
    other = BEIREvaluator("Recall@5", spans=spans)
    outputs = other.run(retrieved_documents=[[right[1], right[0]]], query_ids=["q0"])
    assert outputs["score"] == 1
    with pytest.raises(InputError, match="beir_doc_id in its metadata"):
        other.run(retrieved_documents=[[Document(content="x")]], query_ids=["q0"])


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"spans": {"corpus": "c.jsonl"}}, "a dict with path, corpus, ranks, overlap"),
        ({"spans": {"path": "s.jsonl", "share": 0.5}}, "a dict with path, corpus, ranks, overlap"),
        ({"spans": "s.jsonl", "order": "score"}, "order='given'"),
        ({"spans": "s.jsonl", "unjudged": "zero"}, "unjudged='error' or 'skip'"),
        ({"spans": "s.jsonl", "qrels": {"q": {"a": 1}}}, "no qrels"),
    ],
)
def test_settings_of_text_that_exclude_each_other_are_refused(settings, problem):
    with pytest.raises(SettingError, match=problem):
        BEIREvaluator(**settings)
