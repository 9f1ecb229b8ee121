"""Evaluate a local data set with MTEB, print scores: ``mteb_run.py ours|theirs [predictions]``.

Run in its own process by ``test_mteb``: with "ours" the C extension is absent.
"""

import json
import sys
import tempfile
from pathlib import Path

if sys.argv[1] == "ours":
    sys.modules["pytrec_eval_ext"] = None
    import beir_eval.integrations.pytrec_eval as ours

    ours.install()

import mteb
from datasets import Dataset
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.models.model_meta import ModelMeta

TEXTS = {f"d{number}": "word " * (number % 5) + f"only{number % 7}" for number in range(40)}
QUERIES = {f"q{number}": f"word only{number}" for number in range(6)}
QRELS = {
    query: {
        doc: 1 + number % 2
        for number, doc in enumerate(TEXTS)
        if number % (7 + position) == position
    }
    for position, query in enumerate(QUERIES)
}


UNKNOWN = ("reference", "date", "domains", "task_subtypes", "license", "annotations_creators")
UNKNOWN += ("dialect", "sample_creation", "bibtex_citation")


class Local(AbsTaskRetrieval):
    metadata = TaskMetadata(
        name="Local",
        description="A data set made on the spot.",
        dataset={"path": "local/nothing", "revision": "1"},
        type="Retrieval",
        category="t2t",
        modalities=["text"],
        eval_splits=["test"],
        eval_langs=["eng-Latn"],
        main_score="ndcg_at_10",
        **dict.fromkeys(UNKNOWN),
    )

    def load_data(self, *_, **__):
        test = {
            "corpus": Dataset.from_list(
                [{"id": doc, "title": "", "text": text} for doc, text in TEXTS.items()]
            ),
            "queries": Dataset.from_list(
                [{"id": query, "text": text} for query, text in QUERIES.items()]
            ),
            "relevant_docs": QRELS,
            "top_ranked": None,
        }
        self.dataset = {"default": {"test": test}}
        self.data_loaded = True


class Overlap:
    """Scores a document by the number of words that it shares with the query: many ties."""

    mteb_model_meta = ModelMeta.create_empty({"name": "local/overlap", "revision": "1"})

    def index(self, corpus, **_):
        self.words = {row["id"]: row["text"].split() for row in corpus}

    def search(self, queries, *, top_k, **_):
        return {
            row["id"]: {
                doc: float(sum(words.count(word) for word in row["text"].split()))
                for doc, words in list(self.words.items())[:top_k]
            }
            for row in queries
        }


with tempfile.TemporaryDirectory() as folder:
    result = mteb.evaluate(
        Overlap(),
        Local(),
        cache=mteb.ResultCache(Path(folder)),
        show_progress_bar=False,
        prediction_folder=sys.argv[2] if len(sys.argv) > 2 else None,
    )
(scores,) = result.task_results[0].scores["test"]
sys.stdout.write(json.dumps({"scores": scores, "qrels": QRELS}))
