"""Evaluate relations of duckdb, and check that the result is that of the same rows as columns."""

import random

import duckdb
import pyarrow as pa

from beir_eval import Qrels, Run, evaluate

MEASURES = ["nDCG@3", "MAP", "MRR"]


def columns(rows):
    return [list(column) for column in zip(*rows, strict=True)]


def relation(rows, *names):
    return duckdb.from_arrow(pa.table(dict(zip(names, columns(rows), strict=True))))


def check(rng):
    """Check one random case."""
    judged = [(query, doc, rng.randint(0, 3)) for query in "pq" for doc in rng.sample("abcd", 3)]
    rows = [(query, doc, rng.random()) for query in "pqr" for doc in rng.sample("abcde", 4)]
    qrels, run = Qrels.from_columns(*columns(judged)), Run.from_columns(*columns(rows))
    expected = evaluate(qrels, run, MEASURES)
    qrels = relation(judged, "query_id", "doc_id", "relevance")
    run = relation(rows, "qid", "docno", "score")
    assert evaluate(qrels, run, MEASURES) == expected
    actual = evaluate(Qrels.from_dataframe(qrels), Run.from_dataframe(run), MEASURES)
    assert actual == expected


if __name__ == "__main__":
    for seed in range(25):
        check(random.Random(seed))
