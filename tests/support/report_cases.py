"""Comparisons and texts that reports are written of."""

import numpy as np

from beir_eval import compare_runs, read_qrels, read_run
from beir_eval.datasets import demo, load_dataset

#: What must show as text, wherever it comes from.
HOSTILE = "</script><img src=x onerror=window.hacked=1><b>&amp;"

MEASURES = ("nDCG@10", "Recall@10")


def bundled():
    """The bundled runs compared, and the texts of their data set."""
    runs = {path.stem: read_run(path) for path in demo.RUNS}
    found = compare_runs(read_qrels(demo.FOLDER), runs, MEASURES, baseline="bm25-plain")
    dataset = load_dataset(demo.FOLDER)
    return found, {"queries": dataset.queries, "corpus": dataset.corpus}


def hostile():
    """Two systems, queries and documents whose names and texts are all hostile."""
    qrels, run, other = {}, {}, {}
    for number in range(8):
        query = f"{HOSTILE} query {number}"
        good, bad = f"{HOSTILE} good", f"{HOSTILE} bad"
        qrels[query] = {good: 1}
        run[query] = {good: 2.0, bad: 1.0}
        other[query] = {good: 1.0, bad: 2.0}
    systems = {f"{HOSTILE} one": run, f"{HOSTILE} two": other}
    found = compare_runs(qrels, systems, ["MRR@10"], baseline=f"{HOSTILE} two")
    corpus = {
        f"{HOSTILE} {which}": {"title": f"{HOSTILE} title", "text": f"{HOSTILE} text"}
        for which in ("good", "bad")
    }
    return found, {"queries": {one: f"{HOSTILE} text of {one}" for one in qrels}, "corpus": corpus}


def made(num_queries, num_systems, depth=10, *, measures=("nDCG@10",), seed=0):
    """Systems that find the one relevant document at random ranks; every document is its own."""
    rng = np.random.default_rng(seed)
    qrels = {f"q{number}": {f"right {number}": 1} for number in range(num_queries)}
    runs = {}
    for system in range(num_systems):
        runs[f"system {system}"] = {
            query: {
                f"right {number}" if place == rank else f"d{system}-{number}-{place}": float(-place)
                for place in range(depth)
            }
            for number, (query, rank) in enumerate(
                zip(qrels, rng.integers(0, depth + 3 - system % 3, num_queries), strict=True)
            )
        }
    return compare_runs(
        qrels,
        runs,
        list(measures),
        baseline="system 0",
        draws=2000,
        trust=False,
        likeness_k=None,
        keep_top=10,
    )
