"""beir-eval as a command of ``docs/conformance/run.py``."""

import sys

from beir_eval import evaluate
from beir_eval.measures import parse

RULE = "trec_eval10"


def main(qrels, run, measures):
    """Print every query's scores and the means, by the rules of trec_eval 10."""
    parsed = [parse(name) for name in measures.split(",")]
    by_rule = [
        measure(rounding=RULE) if "rounding" in measure.definition.defaults else measure
        for measure in parsed
    ]
    result = evaluate(qrels, run, by_rule, ties=RULE)
    for measure, ours in zip(measures.split(","), by_rule, strict=True):
        for query, score in zip(result.query_ids, result.scores(ours), strict=True):
            print(query, measure, float(score))
        print("all", measure, result[ours])


if __name__ == "__main__":
    main(*sys.argv[1:])
