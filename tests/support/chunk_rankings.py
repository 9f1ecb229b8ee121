"""Rankings of chunks by BM25."""

import bm25s
import numpy as np


def bm25_rankings(corpora, queries, extents, depth: int = 60):
    """Return {query_id: [(doc_id, start, end), …]} of the best chunks by BM25.

    Scores that are equal to five decimals are in the order of the chunks: the order in which bm25s
    adds up the words of a query, and so the last digits, differ from process to process.

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
    questions = bm25s.tokenize(
        list(queries.values()), stopwords="en", show_progress=False, return_ids=False
    )
    rankings = {}
    for query_id, words in zip(queries, questions, strict=True):
        scores = np.round(np.asarray(retriever.get_scores(words), np.float64), 5)
        ranking = np.lexsort((np.arange(len(scores)), -scores))[:depth]
        rankings[query_id] = [chunks[index] for index in ranking.tolist()]
    return rankings
