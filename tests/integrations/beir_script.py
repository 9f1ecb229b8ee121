"""A BEIR script: load, retrieve, evaluate. ``beir_script.py FOLDER RUN`` prints JSON."""

import json
import sys

from beir.datasets.data_loader import GenericDataLoader
from beir.retrieval.evaluation import EvaluateRetrieval

from beir_eval import read_run


class Saved:
    """A retriever that answers with a saved run."""

    def search(self, _corpus, queries, _top_k, *_, **__):
        rankings = read_run(sys.argv[2]).as_dict()
        return {query: rankings[query] for query in queries}


corpus, queries, qrels = GenericDataLoader(sys.argv[1]).load(split="test")
retriever = EvaluateRetrieval(Saved(), score_function="dot")
results = retriever.retrieve(corpus, queries)
ndcg, _map, recall, precision = retriever.evaluate(qrels, results, retriever.k_values)
mrr = retriever.evaluate_custom(qrels, results, retriever.k_values, metric="mrr")
sys.stdout.write(json.dumps([ndcg, _map, recall, precision, mrr]))
