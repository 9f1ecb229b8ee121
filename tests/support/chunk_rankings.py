"""Rankings of chunks by BM25."""

import bm25s


def bm25_rankings(corpora, queries, extents, depth: int = 60):
    """Return {query_id: [(doc_id, start, end), …]} of the best chunks by BM25.

    Args:
        corpora: {doc_id: text}.
        queries: {query_id: question}.
        extents: {doc_id: (start, end) of its chunks}.
        depth: how many chunks of a query.
    """
    chunks = [(doc_id, *extent) for doc_id in corpora for extent in extents[doc_id]]
    texts = [corpora[doc_id][start:end] for doc_id, start, end in chunks]
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    questions = bm25s.tokenize(list(queries.values()), stopwords="en", show_progress=False)
    depth = min(depth, len(chunks))
    ranked, _ = retriever.retrieve(questions, k=depth, show_progress=False)
    return {
        query_id: [chunks[index] for index in ranking]
        for query_id, ranking in zip(queries, ranked.tolist(), strict=True)
    }
