"""A BEIR script: load, retrieve with BM25, evaluate. ``beir_script.py FOLDER`` prints JSON."""

import json
import sys

import bm25s
import Stemmer
from beir.datasets.data_loader import GenericDataLoader
from beir.retrieval.evaluation import EvaluateRetrieval


class BM25:
    """Lucene BM25 (k1 = 1.5, b = 0.75), title and text, English stop words, Snowball stems."""

    def search(self, corpus, queries, top_k, *_, **__):
        doc_ids = list(corpus)
        texts = [f"{corpus[doc]['title']} {corpus[doc]['text']}".strip() for doc in doc_ids]
        index = bm25s.BM25(k1=1.5, b=0.75)
        index.index(self.tokens(texts), show_progress=False)
        top, scores = index.retrieve(
            self.tokens(list(queries.values())), k=min(top_k, len(doc_ids)), show_progress=False
        )
        return {
            query: {doc_ids[doc]: score for doc, score in zip(docs, values, strict=True)}
            for query, docs, values in zip(queries, top.tolist(), scores.tolist(), strict=True)
        }

    def tokens(self, texts):
        stemmer = Stemmer.Stemmer("english")
        return bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False)


corpus, queries, qrels = GenericDataLoader(sys.argv[1]).load(split="test")
retriever = EvaluateRetrieval(BM25(), score_function="dot")
results = retriever.retrieve(corpus, queries)
ndcg, _map, recall, precision = retriever.evaluate(qrels, results, retriever.k_values)
mrr = retriever.evaluate_custom(qrels, results, retriever.k_values, metric="mrr")
sys.stdout.write(json.dumps([ndcg, _map, recall, precision, mrr]))
