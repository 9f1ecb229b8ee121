"""ranx as a command of ``docs/conformance/run.py``."""

import os
import sys

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # compiling takes longer than the cases
import ranx

NAMES = {
    "nDCG@5": "ndcg@5",
    "MAP": "map",
    "MRR": "mrr",
    "P@5": "precision@5",
    "Recall@5": "recall@5",
}


def main(qrels, run, measures):
    """Print every query's scores and the means."""
    names = {NAMES[measure]: measure for measure in measures.split(",")}
    judged, rankings = (
        ranx.Qrels.from_file(qrels, kind="trec"),
        ranx.Run.from_file(run, kind="trec"),
    )
    means = ranx.evaluate(judged, rankings, list(names), return_mean=True)
    means = means if isinstance(means, dict) else {next(iter(names)): means}
    for name, value in means.items():
        print("all", names[name], float(value))
        for query, score in rankings.scores[name].items():
            print(query, names[name], float(score))


if __name__ == "__main__":
    main(*sys.argv[1:])
