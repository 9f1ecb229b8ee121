"""ir_measures as a command of ``conformance/run.py``."""

import sys

import ir_measures

NAMES = {"nDCG@5": "nDCG@5", "MAP": "AP", "MRR": "RR", "P@5": "P@5", "Recall@5": "R@5"}


def main(qrels, run, measures):
    """Print every query's scores and the means."""
    parsed = {ir_measures.parse_measure(NAMES[name]): name for name in measures.split(",")}
    judged = list(ir_measures.read_trec_qrels(qrels))
    rankings = list(ir_measures.read_trec_run(run))
    scores = ir_measures.calc(list(parsed), judged, rankings)
    for metric in scores[1]:
        print(metric.query_id, parsed[metric.measure], metric.value)
    for measure, value in scores[0].items():
        print("all", parsed[measure], value)


if __name__ == "__main__":
    main(*sys.argv[1:])
