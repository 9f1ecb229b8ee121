"""Measure how much the differences of real systems vary between queries, for each measure.

    BEIR_EVAL_REALDATA=folder python benchmarks/usual_spreads.py

Prints the table ``SPREADS`` of ``beir_eval.comparison.experiments``: the 10%, 50% and 90% quantiles
of the standard deviation of the differences, over pairs of runs that differ. Repeated calls of the
same re-ranker count once. Runs are compared on the queries that both have, at least 30.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from real_differences import DATASETS, real_data

from beir_eval import evaluate, read_qrels, read_run
from beir_eval.comparison.experiments import SPREADS

FEWEST_QUERIES = 30
QUANTILES = (0.1, 0.5, 0.9)


def main() -> None:
    """Print a line of the table for each measure."""
    deviations: dict[str, list[float]] = {measure: [] for measure in SPREADS}
    for judgements, folder in DATASETS.values():
        qrels = read_qrels(real_data() / judgements)
        results = []
        for path in sorted((real_data() / folder).iterdir()):
            run = read_run(path)
            shared = set(run.query_ids) & set(qrels.query_ids)
            if len(shared) < FEWEST_QUERIES or (
                "repeat" in path.stem and "repeat1" not in path.stem
            ):
                continue
            results.append(evaluate(qrels, run, list(SPREADS), duplicates="first", missing="skip"))
        for first, second in combinations(results, 2):
            row_of = {query_id: row for row, query_id in enumerate(second.query_ids)}
            rows = [row for row, query_id in enumerate(first.query_ids) if query_id in row_of]
            others = [row_of[first.query_ids[row]] for row in rows]
            if len(rows) < FEWEST_QUERIES:
                continue
            for measure, values in deviations.items():
                differences = first.scores(measure)[rows] - second.scores(measure)[others]
                if differences.any():
                    values.append(float(differences.std(ddof=1)))
    for measure, values in deviations.items():
        low, usual, high = np.quantile(values, QUANTILES)
        print(f'    "{measure}": ({low:.3f}, {usual:.3f}, {high:.3f}),  # {len(values)} pairs')


if __name__ == "__main__":
    main()
