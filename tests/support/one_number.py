"""The mean of one measure, and generated cases, for comparisons with other tools."""

import random

from beir_eval import evaluate


def ours(qrels, run, measure, **settings):
    """Return the mean of one measure."""
    return evaluate(qrels, run, [measure], **settings)[measure]


def made_case(*, grades=(0, 1), tied=False, complete=False, queries=40, docs="abcdefghijkl"):
    """Return qrels and a run of a few documents for each query, generated with a fixed seed.

    Every query has a relevant document. Document ids are single letters, because ranx compiles
    again for ids of another length. The run holds all documents if ``complete``, otherwise some.
    If ``tied``, scores have only four values. All scores are above 0 and exact as float32.
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
