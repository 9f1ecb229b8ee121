"""spanchor and chunking_evaluation: recall and precision of chunks on real gold spans."""

import math

import pytest

from beir_eval import evaluate
from beir_eval.spans import Chunk, Chunks, Spans
from chunk_rankings import bm25_rankings
from chunking_data import fixed, read

pytestmark = pytest.mark.peers

spanchor_recall = pytest.importorskip("spanchor.evaluation.recall")
spanchor_precision = pytest.importorskip("spanchor.evaluation.precision")
spanchor_hit = pytest.importorskip("spanchor.evaluation.hit")


@pytest.fixture(scope="module")
def data(realdata):
    return read(realdata / "chunking")


@pytest.fixture(scope="module", params=[(400, 0), (400, 200)], ids=["400", "400/200"])
def ranked(request, data):
    corpora, queries, _ = data
    extents = {doc_id: fixed(text, *request.param) for doc_id, text in corpora.items()}
    return bm25_rankings(corpora, queries, extents, depth=5)


def chunks_of(ranked, corpora):
    return Chunks(
        {
            query_id: [Chunk(doc_id, start, end) for doc_id, start, end in ranking]
            for query_id, ranking in ranked.items()
        },
        corpora,
    )


def on_one_axis(corpora):
    """Return {doc_id: where it begins} on one axis, documents apart from each other."""
    begins, at = {}, 0
    for doc_id, text in corpora.items():
        begins[doc_id] = at
        at += len(text) + 10
    return begins


def test_recall_and_precision_of_five_chunks_are_those_of_spanchor(data, ranked):
    corpora, _, gold = data
    view = Spans(gold, corpora).view(repeated="dropped", copies="none")
    result = evaluate(view.qrels, view.run(chunks_of(ranked, corpora)), ["Recall", "Precision"])
    begins = on_one_axis(corpora)
    for position, query_id in enumerate(result.query_ids):
        wanted = [(begins[s.doc_id] + s.start, begins[s.doc_id] + s.end) for s in gold[query_id]]
        shown = [(begins[doc] + start, begins[doc] + end) for doc, start, end in ranked[query_id]]
        for name, function in (
            ("Recall", spanchor_recall.recall_at_k),
            ("Precision", spanchor_precision.precision_at_k),
        ):
            ours = result.scores(name)[position]
            assert math.isclose(ours, function(wanted, shown, 5), abs_tol=1e-12)


def test_spans_found_at_half_of_their_text_are_those_of_spanchor(data, ranked):
    corpora, _, gold = data
    without = {query: [span._replace(text=None) for span in spans] for query, spans in gold.items()}
    view = Spans(without).view("chunks", overlap=0.5, copies="none")  # white space counts
    run = view.run(chunks_of(ranked, None))
    result = evaluate(view.qrels, run, ["Success", "Recall"])
    begins = on_one_axis(corpora)
    for position, query_id in enumerate(result.query_ids):
        wanted = [(begins[s.doc_id] + s.start, begins[s.doc_id] + s.end) for s in gold[query_id]]
        shown = [(begins[doc] + start, begins[doc] + end) for doc, start, end in ranked[query_id]]
        hit = spanchor_hit.hit_at_k(wanted, shown, 5)
        whole = spanchor_hit.full_evidence_at_k(wanted, shown, 5)
        assert result.scores("Success")[position] == hit
        assert (result.scores("Recall")[position] == 1) == bool(whole)


def test_five_chunks_of_400_have_the_numbers_of_chunking_evaluation(data):
    # It is on GitHub only, and needs chromadb; its numbers were recorded.
    corpora, queries, gold = data
    extents = {doc_id: fixed(text, 400) for doc_id, text in corpora.items()}
    ranked = bm25_rankings(corpora, queries, extents, depth=5)
    view = Spans(gold, corpora).view(copies="none")
    result = evaluate(view.qrels, view.run(chunks_of(ranked, corpora)), ["Recall", "Precision"])
    assert result["Recall"] == pytest.approx(0.6987970807, abs=1e-10)
    assert result["Precision"] == pytest.approx(0.0861659318, abs=1e-10)
