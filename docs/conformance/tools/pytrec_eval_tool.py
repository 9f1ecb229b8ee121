"""pytrec_eval as a command of ``docs/conformance/run.py``, with its own readers of files."""

import sys

import pytrec_eval

NAMES = {
    "nDCG@5": "ndcg_cut_5",
    "MAP": "map",
    "MRR": "recip_rank",
    "P@5": "P_5",
    "Recall@5": "recall_5",
    "IPrec@0.3": "iprec_at_recall_0.30",
    "IPrec@0.7": "iprec_at_recall_0.70",
}


def main(qrels, run, measures):
    """Print every query's scores and the means over the queries that it scores."""
    with open(qrels) as qrels_file, open(run) as run_file:  # noqa: PTH123 - its readers take files
        judged, rankings = pytrec_eval.parse_qrel(qrels_file), pytrec_eval.parse_run(run_file)
    names = [NAMES[measure] for measure in measures.split(",")]
    scores = pytrec_eval.RelevanceEvaluator(judged, set(names)).evaluate(rankings)
    for measure, name in zip(measures.split(","), names, strict=True):
        for query, by_name in scores.items():
            print(query, measure, by_name[name])
        if values := [by_name[name] for by_name in scores.values()]:
            print("all", measure, pytrec_eval.compute_aggregated_measure(name, values))


if __name__ == "__main__":
    main(*sys.argv[1:])
