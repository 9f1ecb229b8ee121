"""Compare the drop-ins with the tools that they replace, on random cases.

    python benchmarks/drop_in.py [pytrec_eval|beir|haystack] [cases] [seed]

Prints how many cases differ, by the row of docs/drop-in.md that lists the difference, and each
difference that no row lists. Ends with status 1 if there is one. The cases leave out what ends the
interpreter in pytrec_eval; the tests of those rows have it.
"""

from __future__ import annotations

import copy
import logging
import math
import random
import sys
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.errors import BeirEvalError, BeirEvalWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

PAGE = Path(__file__).parents[1] / "docs" / "drop-in.md"
CASES = {"pytrec_eval": 100_000, "beir": 20_000, "haystack": 20_000}
SHOWN = 10

IDS = ["", " ", "a", "b", "c", "d", "e", "10", "9", "é", "\U0001f600", "long document id"]
SCORES = [0.0, -0.0, 1.0, 1.0, 0.5, -2.5, 0.1234567890, 0.1234567891, 16777216.0, 16777217.0]
ODD_SCORES = [math.inf, -math.inf, 1e39, -1e39, 1e-50, 3.4028235e38, 3, True, sys.maxsize]

#: (ours, theirs, the row that lists the difference or None for a difference that none lists)
Difference = tuple[Any, Any, "str | None"]


def outcome(function: Callable[[], Any]) -> Any:
    """Return what a function returns, or the exception that it raises."""
    try:
        return function()
    except Exception as error:  # noqa: BLE001 - whatever the other tool raises
        return error


def same(mine: Any, theirs: Any) -> bool:
    """Return whether outcomes are equal: NaN equals NaN, and errors are of theirs' class."""
    if isinstance(theirs, Exception):
        return isinstance(mine, type(theirs))
    if isinstance(theirs, float):
        both_nan = isinstance(mine, float) and math.isnan(mine) and math.isnan(theirs)
        return both_nan or bool(mine == theirs)
    if isinstance(theirs, dict):
        return (
            isinstance(mine, dict)
            and mine.keys() == theirs.keys()
            and all(same(mine[key], value) for key, value in theirs.items())
        )
    if isinstance(theirs, (list, tuple)):
        return (
            isinstance(mine, type(theirs))
            and len(mine) == len(theirs)
            and all(map(same, mine, theirs))
        )
    return bool(mine == theirs)


def random_score(rng: random.Random) -> Any:
    """Return a random number, often one of a few, so that there are ties; sometimes an odd one."""
    kind = rng.random()
    if kind < 0.3:
        return rng.random()
    return rng.choice(SCORES) if kind < 0.9 else rng.choice(ODD_SCORES)


def random_qrels(rng: random.Random, queries: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return qrels; each query has a grade that is not negative, or no judgement."""
    qrels = {}
    for query in queries:
        docs = rng.sample(IDS, rng.randint(0, 8))
        judged = {doc: rng.choice([0, 0, 1, 1, 2, 3, -1]) for doc in docs}
        if docs and max(judged.values()) < 0:
            judged[docs[0]] = rng.randint(0, 2)
        qrels[query] = judged
    return qrels


def random_run(rng: random.Random, queries: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return a run of these queries; in one of ten, rankings may be empty."""
    lowest = 0 if rng.random() < 0.1 else 1
    return {
        query: {doc: random_score(rng) for doc in rng.sample(IDS, rng.randint(lowest, len(IDS)))}
        for query in queries
    }


def has_nan(run: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a score is NaN."""
    return any(
        isinstance(score, float) and math.isnan(score)
        for ranking in run.values()
        for score in ranking.values()
    )


# pytrec_eval


_WITH_CUTOFFS = ("P", "recall", "map_cut", "ndcg_cut", "success", "relative_P")
_REST = ("", "", "", "", "x", "_7", ".x", ",", " ", ",x", "\n")


def random_measures(rng: random.Random, supported: Sequence[str]) -> set[str]:
    """Return names: of measures, nicknames, with parameters, and with text after them."""
    measures = set()
    for _ in range(rng.randint(1, 5)):
        kind = rng.random()
        name = rng.choice(supported)
        if kind < 0.5:
            measures.add(name)
        elif kind < 0.55:
            measures.add(rng.choice(["official", "set", "all_trec"]))
        elif kind < 0.85:
            cutoffs = rng.sample([1, 2, 3, 5, 7, 10, 1000], rng.randint(1, 3))
            listed = ",".join(map(str, cutoffs))
            rest = rng.choice(_REST)
            measures.add(f"{rng.choice(_WITH_CUTOFFS)}{rng.choice('._')}{listed}{rest}")
        elif kind < 0.95:
            levels = rng.sample(["0.1", "0.25", "0.35", "0.5", "1", "1.5", "0"], rng.randint(1, 3))
            prefix = rng.choice(["iprec_at_recall", "11pt_avg", "Rprec_mult", "set_F", "utility"])
            measures.add(f"{prefix}{rng.choice('._')}{','.join(levels)}{rng.choice(_REST)}")
        elif name not in {"G", "Rndcg", "ndcg", "ndcg_rel", *_WITH_CUTOFFS, "Rprec_mult"}:
            measures.add(f"{name}_5")
    return measures or {"map"}


def spoil(rng: random.Random, numbers: dict[str, dict[str, Any]], values: Sequence[Any]) -> None:
    """Replace one number of qrels or a run by one of these values."""
    queries = [query for query, docs in numbers.items() if docs]
    if queries:
        docs = numbers[rng.choice(queries)]
        docs[rng.choice(list(docs))] = rng.choice(values)


def pytrec_eval_case(rng: random.Random) -> Iterator[tuple[Any, Difference | None]]:
    """Yield (case, difference) for pytrec_eval: RelevanceEvaluator.evaluate."""
    import pytrec_eval as theirs_module  # noqa: PLC0415 - only one tool need be installed

    import beir_eval.integrations.pytrec_eval as our_module  # noqa: PLC0415

    queries = rng.sample(["q", "r", "", "a", "é"], rng.randint(1, 4))
    qrels = random_qrels(rng, queries)
    run: Any = random_run(rng, rng.sample([*queries, "x"], rng.randint(0, len(queries) + 1)))
    spoiled = rng.random()
    if spoiled < 0.03:
        spoil(rng, run, [math.nan, None, "1", np.float32(0.5), np.float64(0.5), [1.0]])
    elif spoiled < 0.05:
        spoil(rng, qrels, [1.0, 0.5, "1", None, np.int64(1), True])
    elif spoiled < 0.06:
        run[rng.choice(["q", 7])] = rng.choice([None, {5: 1.0}, []])
    measures = random_measures(rng, sorted(theirs_module.supported_measures))
    settings = {
        "relevance_level": rng.choice([1, 1, 1, 2, 3]),
        "judged_docs_only_flag": rng.random() < 0.3,
    }
    before = copy.deepcopy((qrels, run))

    def evaluate(module: Any) -> Any:
        return module.RelevanceEvaluator(qrels, measures, **settings).evaluate(run)

    mine, theirs = outcome(lambda: evaluate(our_module)), outcome(lambda: evaluate(theirs_module))
    case = (*before, measures, settings)
    if repr((qrels, run)) != repr(before):
        yield case, ("our input has changed", before, None)
    elif not same(mine, theirs):
        row = _pytrec_eval_row(case, mine, theirs)
        yield case, (mine, theirs, row)
    elif isinstance(mine, dict) and list(mine) != list(theirs):
        yield case, (list(mine), list(theirs), None)
    else:
        yield case, None


def _pytrec_eval_row(case: Any, mine: Any, theirs: Any) -> str | None:
    """Return the row of docs/drop-in.md that lists this difference; None if there is none."""
    if isinstance(mine, BeirEvalError):
        if isinstance(theirs, (TypeError, SystemError)):
            return "pytrec-eval-types"
        rows = {
            "utility takes four": "pytrec-eval-utility",
            "multiple must be": "pytrec-eval-levels",
            "recall must be": "pytrec-eval-levels",
        }
        named = (row for words, row in rows.items() if words in str(mine))
        return next(named, "pytrec-eval-nan" if has_nan(case[1]) else None)
    if isinstance(mine, Exception):
        return None
    if isinstance(theirs, TypeError):
        return "pytrec-eval-more-types"
    if isinstance(theirs, Exception) or mine.keys() != theirs.keys():
        return None
    rows_of_values = {
        _row_of_value(case, query, name, mine[query].get(name), value)
        for query, values in theirs.items()
        for name, value in values.items()
        if not same(mine[query].get(name), value)
    }
    return None if None in rows_of_values else next(iter(rows_of_values), None)


def _row_of_value(case: Any, query: str, name: str, mine: Any, theirs: float) -> str | None:
    qrels, run, _, settings = case
    if mine != 0:
        return None
    if name in {"runid", "relstring"}:
        return "pytrec-eval-runid"
    judged = {doc for doc, grade in qrels[query].items() if grade >= 0}
    docs = run[query].keys()
    if not (docs & judged if settings["judged_docs_only_flag"] else docs):
        return "pytrec-eval-empty"
    return "pytrec-eval-relative-p" if "relative_P" in name and math.isnan(theirs) else None


# BEIR


def beir_case(  # noqa: C901 - one case
    rng: random.Random,
) -> Iterator[tuple[Any, Difference | None]]:
    """Yield (case, difference) for BEIR: all calls, ``evaluate`` first and last."""
    from beir.retrieval.evaluation import (  # type: ignore[import-untyped] # noqa: PLC0415
        EvaluateRetrieval as Theirs,
    )

    from beir_eval.integrations.beir import EvaluateRetrieval as Ours  # noqa: PLC0415

    queries = rng.sample(IDS, rng.randint(1, 4))  # documents with their query's id are frequent
    qrels = random_qrels(rng, queries)
    extra = ["extra"] if rng.random() < 0.05 else []
    run = random_run(rng, [*rng.sample(queries, rng.randint(0, len(queries))), *extra])
    for ranking in run.values():
        if rng.random() < 0.9:
            ranking["z"] = random_score(rng)
    if rng.random() < 0.02:
        spoil(rng, run, [math.nan])
    k_values: list[Any] = rng.sample([1, 2, 3, 5, 10, 1000], rng.randint(1, 4))
    if rng.random() < 0.05:
        k_values = list(map(str, k_values))
    elif rng.random() < 0.05:
        k_values.append(k_values[0])
    ignore = rng.random() < 0.7
    custom = ["mrr", "recall_cap", "hole", "accuracy"]
    rng.shuffle(custom)
    for calls in (["evaluate", *custom], [*custom, "evaluate"]):
        my_run, their_run = copy.deepcopy(run), copy.deepcopy(run)
        for call in calls:

            def evaluate(tool: Any, results: Any, call: str = call) -> Any:
                if call == "evaluate":
                    return tool.evaluate(qrels, results, k_values, ignore)
                return tool.evaluate_custom(qrels, results, k_values, call)

            left = {query: dict(ranking) for query, ranking in their_run.items()}
            mine = outcome(lambda: evaluate(Ours, my_run))  # noqa: B023
            theirs = outcome(lambda: evaluate(Theirs, their_run))  # noqa: B023
            case = (qrels, run, k_values, ignore, calls, call)
            if repr(my_run) != repr(run):
                yield case, ("our input has changed", my_run, None)
            elif same(mine, theirs):
                yield case, None
            else:
                row = _beir_row(call, qrels, left, k_values, mine, theirs)
                yield case, (mine, theirs, row)


def _beir_row(  # noqa: PLR0913, PLR0917 - one argument a fact
    call: str, qrels: Any, run: Any, k_values: Any, mine: Any, theirs: Any
) -> str | None:
    """Return the row of docs/drop-in.md that lists this difference; None if there is none."""
    refused = isinstance(mine, BeirEvalError)
    failed = isinstance(theirs, Exception)
    common = [query for query in run if qrels.get(query)]
    is_judged_query = call not in {"evaluate", "hole"}
    no_relevant = any(max([*qrels.get(query, {}).values(), 0]) <= 0 for query in run)
    rows = {
        "beir-nan": has_nan(run) and (refused or call == "hole"),
        "beir-empty-qrels": not any(qrels.values()) and refused,
        "beir-text-cutoffs": isinstance(theirs, TypeError) and isinstance(k_values[0], str),
        "beir-extra-query": is_judged_query and isinstance(theirs, KeyError) and not refused,
        "beir-no-common-query": not common and refused,
        "beir-nothing-relevant": call == "recall_cap"
        and isinstance(theirs, ZeroDivisionError)
        and no_relevant
        and not refused,
        "beir-repeated-cutoff": len(set(k_values)) < len(k_values) and not refused and not failed,
        "beir-own-ids-kept": call != "evaluate"
        and any(query in ranking for query, ranking in run.items()),
    }
    return next((row for row, applies in rows.items() if applies), None)


# Haystack


_VALUES = [None, "", "1", 1, 1.0, True, False, 0, 2, "Rome", 2.5, math.nan]
_UNHASHABLE = [[1], [1.0], [True], ["x"], [], {}, {"a": 1}, {"a": True, "b": [2]}, [[1], {"a": {}}]]
_GRADES: list[list[float | None]] = [
    [None],
    [0.0, 0.25, 1.0, 2.0, 3.5],
    [None, 1.0],
    [1.0, -1.0],
    [2.0, math.nan, math.inf],
]


def haystack_case(rng: random.Random) -> Iterator[tuple[Any, Difference | None]]:
    """Yield (case, difference) for Haystack: each of its evaluators."""
    from haystack import Document  # noqa: PLC0415
    from haystack.components import evaluators  # noqa: PLC0415

    from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator  # noqa: PLC0415

    field = rng.choice(["content", "id", "meta.page", "meta.at.page"])
    values = _VALUES + _UNHASHABLE if rng.random() < 0.1 else _VALUES

    def document(scores: Sequence[float | None]) -> Any:
        meta: dict[str, Any] = {}
        if rng.random() < 0.9:
            page = rng.choice(values)
            meta = {"page": page} if field == "meta.page" else {"at": {"page": page}}
        content = rng.choice([None, "", "Paris", "Rome", "Oslo", "é", "a b"])
        return Document(
            id=str(rng.randint(1, 6)), content=content, meta=meta, score=rng.choice(scores)
        )

    def lists(size: int, score_lists: Sequence[Sequence[float | None]]) -> list[list[Any]]:
        made = []
        for _ in range(size):
            scores = rng.choice(score_lists)
            made.append([document(scores) for _ in range(rng.randint(0, 8))])
        return made

    size = rng.randint(0, 3) if rng.random() < 0.05 else rng.randint(1, 4)
    grades = _GRADES if rng.random() < 0.2 else _GRADES[:2]
    truth = lists(size, grades)
    retrieved = lists(size if rng.random() < 0.97 else rng.randint(0, 3), [[None], [0.5, -3.0]])
    by_field = {"document_comparison_field": field}
    theirs_of: dict[str, Any] = {
        "nDCG": evaluators.DocumentNDCGEvaluator(**by_field),
        "MAP": evaluators.DocumentMAPEvaluator(**by_field),
        "MRR": evaluators.DocumentMRREvaluator(**by_field),
        "Success": evaluators.DocumentRecallEvaluator("single_hit", **by_field),
        "Recall": evaluators.DocumentRecallEvaluator("multi_hit", **by_field),
    }
    before = repr((truth, retrieved))
    for name, evaluator in theirs_of.items():
        ours = BEIREvaluator.haystack_compatible(primary=name, document_comparison_field=field)
        mine = outcome(lambda: ours.run(truth, retrieved))  # noqa: B023
        theirs = outcome(lambda: evaluator.run(truth, retrieved))  # noqa: B023
        case = (field, name, truth, retrieved)
        if isinstance(mine, dict) and isinstance(theirs, dict):
            mine = {key: mine[key] for key in theirs}
        if repr((truth, retrieved)) != before:
            yield case, ("our input has changed", before, None)
        elif same(mine, theirs) and not (
            isinstance(theirs, Exception) and not str(mine).startswith(str(theirs))
        ):
            yield case, None
        else:
            yield case, (mine, theirs, _haystack_row(name, mine, theirs))


def _haystack_row(name: str, mine: Any, theirs: Any) -> str | None:
    if isinstance(theirs, TypeError) and "unhashable" in str(theirs):
        allowed = isinstance(mine, (dict, BeirEvalError)) and name in {"nDCG", "Success", "Recall"}
        return "haystack-unhashable" if allowed else None
    if name == "nDCG" and isinstance(mine, BeirEvalError) and isinstance(theirs, dict):
        return "haystack-no-grades"
    return None


MAKERS: dict[str, Callable[[random.Random], Iterator[tuple[Any, Difference | None]]]] = {
    "pytrec_eval": pytrec_eval_case,
    "beir": beir_case,
    "haystack": haystack_case,
}


def main(tool: str, cases: int, seed: int) -> int:
    """Compare one tool, and return the number of differences that no row lists."""
    page = PAGE.read_text(encoding="utf-8")
    by_row: Counter[str | None] = Counter()
    comparisons = 0
    rng = random.Random(seed)  # noqa: S311 - no cryptography
    begin = time.perf_counter()
    for number in range(cases):
        for case, difference in MAKERS[tool](rng):
            comparisons += 1
            if difference is None:
                continue
            mine, theirs, row = difference
            if row is not None and f"| `{row}` |" not in page:
                row = None
            by_row[row] += 1
            if row is None and by_row[None] <= SHOWN:
                print(f"not listed, case {number}: {case!r:.1500}")
                print(f"   ours:   {mine!r:.600}\n   theirs: {theirs!r:.600}")
    unlisted = by_row.pop(None, 0)
    seconds = time.perf_counter() - begin
    print(
        f"{tool}, seed {seed}: {cases:,} cases, {comparisons:,} comparisons, "
        f"{comparisons - unlisted - by_row.total():,} equal, {by_row.total():,} differ as listed, "
        f"{unlisted:,} differ in another way; {seconds:.0f} s"
    )
    for row, count in sorted(by_row.items(), key=str):
        print(f"   {row}: {count:,}")
    return unlisted


if __name__ == "__main__":
    logging.disable()
    warnings.simplefilter("ignore", BeirEvalWarning)
    warnings.simplefilter("ignore", RuntimeWarning)
    names = sys.argv[1:2] or list(CASES)
    totals = [
        main(
            name,
            int(sys.argv[2]) if len(sys.argv) > 2 else CASES[name],
            int(sys.argv[3]) if len(sys.argv) > 3 else 0,
        )
        for name in names
    ]
    sys.exit(1 if any(totals) else 0)
