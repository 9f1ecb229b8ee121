"""ir_measures as a command of ``docs/conformance/run.py``."""

import sys

import ir_measures

#: Others have the same name.
NAMES = {"MAP": "AP", "MRR": "RR", "Recall@5": "R@5"}


def main(qrels, run, measures):
    """Print every query's scores and the means."""
    names = measures.split(",")
    parsed = {ir_measures.parse_measure(NAMES.get(name, name)): name for name in names}
    judged = list(ir_measures.read_trec_qrels(qrels))
    rankings = list(ir_measures.read_trec_run(run))
    scores = ir_measures.calc(list(parsed), judged, rankings)
    for metric in scores[1]:
        print(metric.query_id, parsed[metric.measure], metric.value)
    for measure, value in scores[0].items():
        print("all", parsed[measure], value)


if __name__ == "__main__":
    main(*sys.argv[1:])
