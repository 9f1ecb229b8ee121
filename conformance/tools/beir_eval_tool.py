"""beir-eval as a command of ``conformance/run.py``."""

import sys

from beir_eval import evaluate


def main(qrels, run, measures):
    """Print every query's scores and the means."""
    result = evaluate(qrels, run, measures.split(","))
    for measure in measures.split(","):
        for query, score in zip(result.query_ids, result.scores(measure), strict=True):
            print(query, measure, float(score))
        print("all", measure, result[measure])


if __name__ == "__main__":
    main(*sys.argv[1:])
