"""One number of ours and made cases, for the tests that hold it against another tool's."""

import random

from beir_eval import evaluate


def ours(qrels, run, measure, **settings):
    """Return the mean of one measure."""
    return evaluate(qrels, run, [measure], **settings)[measure]


def made_case(*, grades=(0, 1), tied=False, complete=False, queries=40, docs="abcdefghijkl"):
    """Return qrels and a run of a few documents for each query, made with a fixed seed.

    Every query has a relevant document; documents are single letters, as ranx compiles anew for
    ids of another length. The run has all documents where it is complete, otherwise
    some; its scores are few where it may be tied. They are above 0, and exact as float32.
    """
    rng = random.Random(7)
    qrels, run = {}, {}
    for number in range(queries):
        judged = {doc: rng.choice(grades) for doc in rng.sample(docs, rng.randint(2, len(docs)))}
        judged[rng.choice(docs)] = max(grades)
        retrieved = docs if complete else rng.sample(docs, rng.randint(1, len(docs)))
        values = [rng.randint(1, 4) for _ in docs] if tied else rng.sample(range(1, 99), len(docs))
        query = f"q{number:03}"
        qrels[query] = judged
        run[query] = {doc: value / 4 for doc, value in zip(retrieved, values, strict=False)}
    return qrels, run
