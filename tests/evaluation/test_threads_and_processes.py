"""One evaluator gives the same scores in many threads, and in forked and spawned processes."""

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from threading import Barrier

import numpy as np
import polars as pl
import pytest

from beir_eval import Evaluator, Qrels, Run

#: Made runs have many ties.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*have the score of another one.*"),
]
THREADS = 16
MEASURES = ["nDCG@10", "MAP", "Recall@5", "MRR", "bpref", "R_cap@5", "ERR@5"]


def made_case(seed=0):
    """Return qrels and runs of every kind of source, with ties and missing queries."""
    rng = np.random.default_rng(seed)
    docs = [f"d{number}" for number in range(60)]

    def drawn(count, values):
        chosen = rng.choice(docs, count, replace=False).tolist()
        return dict(zip(chosen, rng.integers(0, values, count).tolist(), strict=True))

    qrels = {f"q{number}": drawn(12, 4) for number in range(40)}
    run = {query: drawn(25, 9) for query in list(qrels)[3:]}
    rows = [(query, doc, score) for query, ranked in run.items() for doc, score in ranked.items()]
    query_ids, doc_ids, scores = map(list, zip(*rows, strict=True))
    columns = {"query_id": query_ids, "doc_id": doc_ids, "score": scores}
    ids = np.array([rng.permutation(60)[:10] for _ in qrels])
    runs = [
        run,
        Run.from_columns(*columns.values()),
        Run.from_dataframe(pl.DataFrame(columns)),
        Run.from_rankings({query: list(ranked) for query, ranked in run.items()}),
        Run.from_arrays(ids, -np.sort(ids), query_ids=list(qrels), doc_ids=docs),
    ]
    return qrels, runs


def scores_of(evaluator, run):
    return evaluator.evaluate(run).values.array.tobytes()


def test_one_evaluator_and_its_runs_serve_16_threads_at_once():
    qrels, runs = made_case()
    expected = [scores_of(Evaluator(qrels, MEASURES), run) for run in made_case()[1]]
    # Threads change places far more often than usual, and nothing is cached before they begin.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(3):
            evaluator, runs = Evaluator(Qrels(qrels), MEASURES), made_case()[1]
            start = Barrier(THREADS)

            def work(thread, evaluator=evaluator, runs=runs, start=start):
                start.wait()
                order = [(thread + step) % len(runs) for step in range(len(runs))]
                return {index: scores_of(evaluator, runs[index]) for index in order}

            with ThreadPoolExecutor(THREADS) as pool:
                for scores in pool.map(work, range(THREADS)):
                    assert [scores[index] for index in range(len(runs))] == expected
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize(
    "method",
    [name for name in ("fork", "spawn") if name in multiprocessing.get_all_start_methods()],
)
def test_an_evaluator_and_its_runs_go_to_other_processes(method):
    qrels, runs = made_case()
    evaluator = Evaluator(qrels, MEASURES)
    expected = [scores_of(evaluator, run) for run in runs]
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(evaluator.evaluate, runs)) == list(map(evaluator.evaluate, runs))
    assert [scores_of(evaluator, run) for run in runs] == expected
