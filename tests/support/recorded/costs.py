"""What each path costs without a clock: bytecodes of our own files, and kilobytes allocated.

``sys.settrace`` counts the bytecodes that files under ``src`` execute, in all threads; those of
numpy and of other packages do not count. ``tracemalloc`` counts the memory of the lines of these
files: the most that is allocated between one line and the next, beyond what was before, summed over
all lines. So each array that numpy makes on the way counts, whether it is kept or not. Both counts
are the same in every run with the same versions of Python and of packages. Each path is called once
before it is counted: what is cached costs nothing.

A call on few queries mostly inspects its input, and hardly shows a copy of each ranking. So
differences are recorded too: what more queries cost, longer rankings, and more queries where every
sample is full. One row has rankings of other queries, which are inspected more closely; some have
the most that is allocated at once, for a run of two blocks.
"""

import contextlib
import gc
import io
import itertools
import logging
import platform
import random
import re
import sys
import tempfile
import threading
import tracemalloc
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
from haystack import Document

import beir_eval
from beir_eval.adapters.formats import text_runs
from beir_eval.integrations.beir import EvaluateRetrieval
from beir_eval.integrations.pytrec_eval import RelevanceEvaluator
from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator

SOURCE = str(Path(beir_eval.__file__).parents[1])
VERSION = f"Python {'.'.join(platform.python_version_tuple()[:2])}"
#: A higher cost than this share of the record fails; so does a lower one, until it is recorded.
MOST, LEAST = 1.05, 0.8
#: Smaller changes say nothing: a bytecode for each of 400 queries; what an allocator rounds.
SLACK = {"bytecodes": 400, "kB": 40}
REMEDY = (
    "If this is intended, record it with `.venv/bin/python tests/support/recorded/record.py write "
    "costs`, and say why in the commit message"
)


class Size(NamedTuple):
    """The number of queries, and of the documents of each ranking."""

    queries: int
    documents: int


FEW, MORE, LONGER = Size(20, 50), Size(40, 50), Size(20, 100)
#: More queries than any sample has.
MANY, MORE_OF_MANY = Size(200, 20), Size(600, 20)
#: Two blocks: rankings are read in blocks of 100,000 scores.
BLOCKS = Size(2000, 100)


def bytecodes(call):
    """Return how many bytecodes of our own files a call executes."""
    counter = itertools.count()
    advance = counter.__next__  # no other thread can interrupt it

    def count(_frame, event, _argument):
        if event == "opcode":
            advance()

    def enter(frame, _event, _argument):
        if not frame.f_code.co_filename.startswith(SOURCE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return count

    usual = threading.gettrace()
    threading.settrace(enter)
    try:
        _trace(call, enter)
    finally:
        threading.settrace(usual)
    return next(counter)


def kilobytes(call):
    """Return how many kilobytes the lines of our own files allocate."""
    total = before = 0
    get, reset = tracemalloc.get_traced_memory, tracemalloc.reset_peak

    def add(_frame, _event, _argument):
        nonlocal total, before
        now, peak = get()
        if peak > before:
            total += peak - before
        before = now
        reset()

    def enter(frame, event, argument):
        if not frame.f_code.co_filename.startswith(SOURCE):
            return None
        add(frame, event, argument)
        return add

    with _allocations():
        before, _ = get()
        _trace(call, enter)
    return total // 1024


def kilobytes_at_once(call):
    """Return the most kilobytes that are allocated at once during a call."""
    with _allocations():
        call()
        _, peak = tracemalloc.get_traced_memory()
    return peak // 1024


def _trace(call, enter):
    usual = sys.gettrace()
    sys.settrace(enter)
    try:
        call()
    finally:
        sys.settrace(usual)


@contextlib.contextmanager
def _allocations():
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


@cache
def judged_run(size, *, are_exchanged=False):
    """Return qrels and a run: fifteen of sixteen rankings are good, or all fit the query before."""
    rng = random.Random(0)
    doc_ids = [f"d{number}" for number in range(size.queries * size.documents // 2)]
    run = {
        f"q{query}": {doc_id: rng.random() for doc_id in rng.sample(doc_ids, size.documents)}
        for query in range(size.queries)
    }
    judged = []
    for query, ranking in enumerate(run.values()):
        best = sorted(ranking, key=ranking.get, reverse=True)
        some = best[:3] + best[5:8] if query % 16 else rng.sample(best, 6)
        judged.append({doc_id: rng.randint(0, 2) for doc_id in some})
        judged[-1] |= {best[0 if query % 16 else -1]: 2, **{f"d{10**6 + n}": 1 for n in range(3)}}
    if are_exchanged:
        others = judged[1:] + judged[:1]
        judged = [other | dict.fromkeys(own, 0) for other, own in zip(others, judged, strict=True)]
    return dict(zip(run, judged, strict=True)), run


def evaluate(size, **options):
    """Return a call of ``evaluate`` on dicts."""
    return partial(beir_eval.evaluate, *judged_run(size, **options))


class AtOnce(Executor):
    """Calls what is submitted at once: memory of two threads depends on which of them is ahead."""

    def __init__(self, _workers):
        """Accept the number of threads."""

    def submit(self, call, *arguments):
        """Return the ended future of the call."""
        future = Future()
        future.set_result(call(*arguments))
        return future


def evaluate_file(size):
    """Return a call of ``evaluate`` on a TREC run in the working folder."""
    qrels, run = judged_run(size)
    beir_eval.write_run(run, "run.trec")
    call = partial(beir_eval.evaluate, qrels, "run.trec")
    return mock.patch.object(text_runs, "ThreadPoolExecutor", AtOnce)(call)


def evaluate_columns(size):
    """Return a call that makes a run of columns and evaluates it."""
    qrels, run = judged_run(size)
    rows = [(query, *row) for query, ranking in run.items() for row in ranking.items()]
    queries, documents, scores = map(list, zip(*rows, strict=True))
    columns = queries, documents, np.array(scores)
    return lambda: beir_eval.evaluate(qrels, beir_eval.Run.from_columns(*columns))


def evaluate_prepared(size):
    """Return a call of an ``Evaluator`` on a ``Run``, both made before."""
    qrels, run = judged_run(size)
    return partial(beir_eval.Evaluator(qrels).evaluate, beir_eval.Run(run))


def pytrec_eval_drop_in(size):
    """Return a call of pytrec_eval's class."""
    qrels, run = judged_run(size)
    measures = {"ndcg_cut.10", "map", "recall.100"}
    return partial(RelevanceEvaluator(qrels, measures).evaluate, run)


def beir_drop_in(size):
    """Return a call of BEIR's class."""
    return partial(EvaluateRetrieval.evaluate, *judged_run(size), [1, 10, 100])


def component(size, *, field, words):
    """Return a call of the component on documents with contents of so many words."""
    qrels, run = judged_run(size)
    rng = random.Random(0)
    vocabulary = [f"word{number}" for number in range(2000)]
    ids = dict.fromkeys(itertools.chain(*run.values(), *qrels.values()))
    documents = {
        doc_id: Document(id=doc_id, content=" ".join(rng.choices(vocabulary, k=words)))
        for doc_id in ids
    }
    retrieved = [
        [documents[doc_id] for doc_id in sorted(ranking, key=ranking.get, reverse=True)]
        for ranking in run.values()
    ]
    truth = [
        [documents[doc_id] for doc_id in judged if judged[doc_id]] for judged in qrels.values()
    ]
    evaluator = BEIREvaluator(document_comparison_field=field)
    return partial(evaluator.run, ground_truth_documents=truth, retrieved_documents=retrieved)


def compare_runs(size):
    """Return a call of ``compare_runs`` on a run and its reverse."""
    qrels, run = judged_run(size)
    reverse = {
        query_id: {doc_id: -score for doc_id, score in ranking.items()}
        for query_id, ranking in run.items()
    }
    runs = {"run": run, "reverse": reverse}
    return partial(beir_eval.compare_runs, qrels, runs, ["nDCG@10"], baseline="run", draws=200)


def validate(size):
    """Return a call of ``validate``."""
    return partial(beir_eval.validate, *judged_run(size))


class Column(NamedTuple):
    """A count of calls of a size, or what such a call costs more than one of a smaller size."""

    count: Callable
    size: Size
    smaller: Size | None = None

    @property
    def unit(self):
        return "bytecodes" if self.count is bytecodes else "kB"


COLUMNS = {
    "bytecodes": Column(bytecodes, FEW),
    "kB": Column(kilobytes, FEW),
    "more queries": Column(bytecodes, MORE, FEW),
    "longer rankings": Column(bytecodes, LONGER, FEW),
    "more of many": Column(bytecodes, MORE_OF_MANY, MANY),
    "their kB": Column(kilobytes, MORE_OF_MANY, MANY),
    "kB at once": Column(kilobytes_at_once, BLOCKS),
}
ALL = tuple(COLUMNS)
FEW_QUERIES, MANY_QUERIES = ALL[:4], ALL[4:6]
#: {path: (what returns a call of it on data of a size, the columns that are counted)}
PATHS = {
    "evaluate, dicts": (evaluate, ALL),
    "evaluate, rankings of other queries": (partial(evaluate, are_exchanged=True), ALL[4:5]),
    "evaluate, file": (evaluate_file, FEW_QUERIES + MANY_QUERIES),
    "evaluate, columns": (evaluate_columns, FEW_QUERIES + MANY_QUERIES),
    "Evaluator, prepared": (evaluate_prepared, ALL[:2] + MANY_QUERIES),
    "pytrec_eval drop-in": (pytrec_eval_drop_in, ALL),
    "BEIR drop-in": (beir_drop_in, FEW_QUERIES + MANY_QUERIES),
    "component, by id": (partial(component, field="id", words=30), ALL[:5]),
    "component, 30 words": (partial(component, field="content", words=30), ALL[:3]),
    "component, 90 words": (partial(component, field="content", words=90), ALL[:2]),
    "compare_runs": (compare_runs, FEW_QUERIES),
    "validate": (validate, FEW_QUERIES),
}


def record():
    """Return the costs as lines: the version of Python, the columns, and a row for each path."""
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        logging.disable()
        gc.collect()
        gc.freeze()
        gc.disable()
        try:
            rows = [(path, *costs_of(*PATHS[path])) for path in PATHS]
        finally:
            gc.unfreeze()
            gc.enable()
            logging.disable(logging.NOTSET)
    width = max(map(len, PATHS))
    return [
        "  ".join([cells[0].ljust(width), *(cell.rjust(15) for cell in cells[1:])])
        for cells in [(VERSION, *COLUMNS), *rows]
    ]


def costs_of(make, names):
    """Return the cell of each column: a count, or "-" if it is not counted."""
    counts = {}
    for count, *sizes in (COLUMNS[name] for name in names):
        for size in filter(None, sizes):
            if (count, size) not in counts:
                call = make(size)
                call()
                gc.collect()
                counts[count, size] = count(call)
    cells = dict.fromkeys(COLUMNS, "-")
    for name in names:
        count, size, smaller = COLUMNS[name]
        less = counts[count, smaller] if smaller else 0
        cells[name] = f"{counts[count, size] - less:,}"
    return cells.values()


def is_of_this_python(recorded):
    """Return whether the record is of this version of Python; others have other bytecodes."""
    return recorded[0].startswith(f"{VERSION} ")


def changes(recorded, now):
    """Return a line for each cost that rose or fell too far, and what to do then.

    Args:
        recorded, now: what ``record`` returned, then and now.
    """
    old, new = _costs_of_lines(recorded), _costs_of_lines(now)
    if (recorded[0], old.keys()) != (now[0], new.keys()):
        lines = ["the record has other paths or columns, or is of another version of Python"]
        return [*lines, REMEDY]
    lines = []
    for (path, column), before in old.items():
        cost, unit = new[path, column], COLUMNS[column].unit
        if not _is_near(cost, before, SLACK[unit]):
            factor = f", {cost / before:.2f} times as many" if before > 0 else ""
            gain = ": record the gain, so that it is kept" if cost < before else ""
            lines.append(
                f"{path}, {column}: {before:,} {unit} recorded, {cost:,} now{factor}{gain}"
            )
    return [*lines, REMEDY] if lines else []


def _is_near(cost, before, slack):
    share = MOST - 1 if cost > before else 1 - LEAST
    return abs(cost - before) <= share * abs(before) + slack


def _costs_of_lines(lines):
    """Return {(path, column): cost}."""
    (_, *columns), *rows = (re.split(r"\s{2,}", line) for line in lines)
    return {
        (path, column): int(cell.replace(",", ""))
        for path, *cells in rows
        for column, cell in zip(columns, cells, strict=True)
        if cell != "-"
    }
