"""Comparisons, and texts of queries and documents, for the tests of reports and figures."""

import numpy as np

from beir_eval import compare_runs, evaluate_stages, read_qrels, read_run
from beir_eval.benchmark import BenchmarkResult
from beir_eval.datasets import demo, load_dataset

#: A name or text that a page must show as text and never run.
HOSTILE = "</script><img src=x onerror=window.hacked=1><b>&amp;"

MEASURES = ("nDCG@10", "Recall@10")


def bundled():
    """Return a comparison of the bundled runs, and the texts of their data set."""
    runs = {path.stem: read_run(path) for path in demo.RUNS}
    comparison = compare_runs(read_qrels(demo.FOLDER), runs, MEASURES, baseline="bm25-plain")
    dataset = load_dataset(demo.FOLDER)
    return comparison, {"queries": dataset.queries, "corpus": dataset.corpus}


def hostile():
    """Return a comparison and texts in which every name and every text is hostile."""
    qrels, run, other_run = {}, {}, {}
    for number in range(8):
        query = f"{HOSTILE} query {number}"
        good_doc, bad_doc = f"{HOSTILE} good", f"{HOSTILE} bad"
        qrels[query] = {good_doc: 1}
        run[query] = {good_doc: 2.0, bad_doc: 1.0}
        other_run[query] = {good_doc: 1.0, bad_doc: 2.0}
    systems = {f"{HOSTILE} one": run, f"{HOSTILE} two": other_run}
    comparison = compare_runs(qrels, systems, ["MRR@10"], baseline=f"{HOSTILE} two")
    corpus = {
        f"{HOSTILE} {which}": {"title": f"{HOSTILE} title", "text": f"{HOSTILE} text"}
        for which in ("good", "bad")
    }
    return comparison, {
        "queries": {query: f"{HOSTILE} text of {query}" for query in qrels},
        "corpus": corpus,
    }


def made(num_queries, num_systems, depth=10, *, measures=("nDCG@10",), seed=0):
    """Return a comparison of systems that rank the only relevant document at random.

    No other document is retrieved twice.
    """
    rng = np.random.default_rng(seed)
    qrels = {f"q{number}": {f"right {number}": 1} for number in range(num_queries)}
    runs = {}
    for system in range(num_systems):
        runs[f"system {system}"] = {
            query: {
                f"right {number}" if index == rank else f"d{system}-{number}-{index}": float(-index)
                for index in range(depth)
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
        likeness_k=None,
        keep_top=10,
    )


def benchmark_of(*comparisons):
    """Return a benchmark with a data set for each comparison: "set 0", "set 1", …"""
    names = [f"set {number}" for number in range(len(comparisons))]
    results = {
        system: {
            name: comparison.results[system][0]
            for name, comparison in zip(names, comparisons, strict=True)
        }
        for system in comparisons[0].systems
    }
    return BenchmarkResult(results, {}, dict.fromkeys(names), dict.fromkeys(names, "test"))


def staged():
    """Return the stages of two runs, one of them with a name of HTML."""
    qrels = {f"q{number}": {"a": 2, "b": 1, "c": 1} for number in range(12)}
    bm25 = {query: {"x": 3.0, "a": 2.0, "b": 1.0} for query in qrels}
    ranked = {query: {"a": 2.0, "x": 1.0} for query in qrels}
    return evaluate_stages(qrels, {"bm25": bm25, "<b>ranker": ranked}, ["nDCG@10", "Recall@10"])
