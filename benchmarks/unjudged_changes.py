"""Judgements that try to refute what a comparison says about unjudged documents.

    python benchmarks/unjudged_changes.py cases [cases] [completions of each]
    python benchmarks/unjudged_changes.py real [completions]
    python benchmarks/unjudged_changes.py shares

``cases``: small random comparisons (7 to 11 queries, two or three systems, some with two repeats,
grades to 1, 2 or 3, negative ones, empty rankings, queries without relevant documents). ``real``:
pairs of runs of DL 2019, DL 2021 and TREC-COVID (in the folder that BEIR_EVAL_REALDATA names).
Completions give grades to unjudged documents in the top of one system, below it, or that no system
retrieves. Printed is how many lie outside the bounds, how many change a verdict that "cannot"
change, and how many verdicts that "could" change are not changed by the completion that the
analysis tried. ``shares``: how many verdicts cannot, could, or are not known to change.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from beir_eval import compare_runs, read_qrels, read_run
from beir_eval.comparison import differences
from completions import (  # type: ignore[import-not-found]
    MEASURES,
    Case,
    refutations,
    unconfirmed,
)

#: (qrels, folder of runs, runs): a few systems of each data set.
REAL = {
    "DL 2019": (
        "qrels/dl19-passage.trec",
        "runs/dl19",
        ("ada2.trec", "bm25.trec", "rep-llama_ties.trec", "splade-pp.trec", "tas-b.trec"),
    ),
    "DL 2021": (
        "qrels/dl21-passage.trec.gz",
        "runs/dl21",
        (
            "Fast_ForwardP_2.trec.gz",
            "NLE_P_quick.trec.gz",
            "TUW_DR_Base.trec.gz",
            "TUW_TAS-B_768.trec.gz",
            "WLUPassage.trec.gz",
        ),
    ),
    "TREC-COVID": ("qrels/trec-covid.trec", "runs/trec-covid", ("bm25.trec", "splade-pp.trec")),
}
REAL_MEASURES = (
    "nDCG@10",
    "Precision@10",
    "DCG@10",
    "R_cap@10",
    "MRR@10",
    "Success@5",
    "Recall@10",
    "Recall@100",
    "MAP",
)
DEPTH = 10


def data_sets() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Return {name: (qrels, {system: run})}."""
    folder = Path(os.environ["BEIR_EVAL_REALDATA"])
    return {
        name: (
            read_qrels(folder / qrels),
            {file.split(".")[0]: read_run(folder / runs / file) for file in files},
        )
        for name, (qrels, runs, files) in REAL.items()
    }


def _rankings_of(run: Any) -> dict[str, list[str]]:
    """Return the rankings of a run in the order of trec_eval."""
    return {
        query: sorted(scores, key=lambda doc_id: (scores[doc_id], doc_id), reverse=True)
        for query, scores in run.as_dict().items()
    }


def print_refutations(label: str, counts: Counter[str]) -> None:
    """Print the counts of one kind of case."""
    print(f"{label}: " + ", ".join(f"{name} {count:,}" for name, count in counts.items()))


def try_cases(num_cases: int, num_completions: int) -> None:
    """Try to refute random small comparisons."""
    # What is not excluded where few queries differ takes half of the time, and is not looked at.
    differences._bound_fields = lambda *_: {}  # noqa: SLF001
    names = ("completions", "differences", "outside", "cannot", "refuted", "could", "unconfirmed")
    counts = Counter(dict.fromkeys(names, 0))
    for seed in range(num_cases):
        rng = np.random.default_rng([seed, 41])
        case = Case.random(rng, MEASURES)
        try:
            comparison = case.compare(case.qrels, keep_top=100)
        except ValueError:  # fewer than two queries have a score
            counts["not comparable"] += 1
            continue
        for effect in comparison.unjudged or ():
            counts[effect.verdict_change] += 1
            counts["bounds"] += effect.low is not None
        for text in unconfirmed(case, comparison):
            counts["unconfirmed"] += 1
            print(f"seed {seed}: unconfirmed: {text}; {case.settings}")
        for _ in range(num_completions):
            completion = case.completion(rng, int(rng.integers(1, 4)))
            refuted = list(refutations(case, comparison, completion))
            counts["completions"] += 1
            counts["differences"] += len(comparison.differences)
            counts["outside"] += sum("is not within" in text for text in refuted)
            counts["refuted"] += sum("became" in text for text in refuted)
            for text in refuted:
                print(f"seed {seed}: {text}; {case.settings}")
        if seed % 1000 == 999:
            print_refutations(f"{seed + 1:,} cases", counts)
    print_refutations(f"{num_cases:,} cases", counts)


def try_real(num_completions: int) -> None:
    """Try to refute comparisons of real runs."""
    for name, (qrels, runs) in data_sets().items():
        case = Case(
            qrels.as_dict(),
            {system: [_rankings_of(run)] for system, run in runs.items()},
            {"measures": REAL_MEASURES, "draws": 20_000},
        )
        comparison = case.compare(case.qrels, keep_top=100)
        counts = Counter(effect.verdict_change for effect in comparison.unjudged or ())
        counts["bounds"] = sum(effect.low is not None for effect in comparison.unjudged or ())
        counts["unconfirmed"] = len(list(unconfirmed(case, comparison)))
        rng = np.random.default_rng(41)
        for _ in range(num_completions):
            refuted = list(refutations(case, comparison, case.completion(rng, DEPTH)))
            counts["completions"] += 1
            counts["differences"] += len(comparison.differences)
            counts["outside"] += sum("is not within" in text for text in refuted)
            counts["refuted"] += sum("became" in text for text in refuted)
            for text in refuted:
                print(f"{name}: {text}")
        print_refutations(name, counts)


def print_shares() -> None:
    """Print for each measure how many verdicts cannot, could, or are not known to change."""
    shares: dict[str, Counter[str]] = {name: Counter() for name in REAL_MEASURES}
    for qrels, runs in data_sets().values():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            comparison = compare_runs(qrels, runs, REAL_MEASURES, likeness_k=None)
        for effect in comparison.unjudged or ():
            shares[effect.measure][effect.verdict_change] += 1
    print("| measure | cannot | could | not known |\n|---|--:|--:|--:|")
    total: Counter[str] = Counter()
    for name, counts in [*shares.items(), ("all", total)]:
        if name != "all":
            total += counts
        print(f"| {name} | {counts['cannot']} | {counts['could']} | {counts['not known']} |")


def main() -> None:
    """Run one of the three."""
    kind, *numbers = sys.argv[1:]
    if kind == "shares":
        print_shares()
    elif kind == "real":
        try_real(*map(int, numbers[:1] or ["200"]))
    else:
        defaults = ["10000", "3"]
        try_cases(*map(int, [*numbers, *defaults[len(numbers) :]]))


if __name__ == "__main__":
    main()
