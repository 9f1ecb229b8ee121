"""Interpolated precision of trec_eval 9 with a fused multiply-add, for ``../run.py``.

Calculated in exact fractions: no such build of trec_eval was run. ``benchmarks/published.py``
compares the rule with what a build printed. Only the standard library is used.
"""

import sys
from fractions import Fraction
from pathlib import Path


def rows_of(path):
    """Return the columns of each line."""
    return [line.split() for line in Path(path).read_text().splitlines()]


def best_precision(docs, relevant, recall):
    """Return the highest precision at ranks with enough relevant documents."""
    # The product is exact. Only the sum is rounded, to a double.
    needed = int(float(Fraction(recall) * len(relevant) + Fraction(0.9)))
    hits = [sum(doc in relevant for doc in docs[:rank]) for rank in range(1, len(docs) + 1)]
    return max((n / rank for rank, n in enumerate(hits, start=1) if n >= needed), default=0.0)


def main(qrels, run, measures):
    """Print every query's scores and the means."""
    relevant, rankings = {}, {}
    for query, _, doc, grade in rows_of(qrels):
        if int(grade) > 0:
            relevant.setdefault(query, set()).add(doc)
    for query, _, doc, _, score, _ in rows_of(run):
        rankings.setdefault(query, []).append((float(score), doc))
    for measure in measures.split(","):
        values = []
        for query, ranking in rankings.items():
            docs = [doc for _, doc in sorted(ranking, reverse=True)]
            recall = float(measure.removeprefix("IPrec@"))
            values.append(best_precision(docs, relevant[query], recall))
            print(query, measure, values[-1])
        print("all", measure, sum(values) / len(values))


if __name__ == "__main__":
    main(*sys.argv[1:])
