"""Judgements of unjudged documents, and what they say about bounds and verdicts of a comparison."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval import Run, compare_runs
from beir_eval.comparison.differences import pairs_to_compare
from beir_eval.comparison.unjudged.bounds import Bounds
from beir_eval.comparison.unjudged.pool import Pool
from beir_eval.measures import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval import Comparison

#: Measures with bounds and without, with cutoffs and without.
MEASURES = (
    "nDCG@3",
    'nDCG(gain="exp")@2',
    "nDCG",
    "DCG@3",
    "CG@2",
    "Precision@3",
    "Precision",
    "Precision(rel=2)@3",
    "Recall@1",
    "Recall@3",
    "R_cap@3",
    "F1@3",
    "RBP@3",
    "MRR@3",
    "MRR",
    "Success@2",
    "MAP@2",
    "MAP",
    "ERR@3",
    "bpref",
    "Rprec",
    "nDCG(judged_only=True)@3",
)
CORRECTIONS = ("max-t", "holm", "bonferroni", "none")
_TOLERANCE = 1e-9


@dataclass
class Case:
    """Judgements and runs that are compared.

    Attributes:
        qrels: {query: {document: grade}}.
        runs: {system: rankings by query, one for each repeat}.
        settings: those of ``compare_runs``.
    """

    qrels: Mapping[str, Mapping[str, int]]
    runs: Mapping[str, Sequence[Mapping[str, Sequence[str]]]]
    settings: dict[str, Any] = field(default_factory=dict)

    def compare(self, qrels: Mapping[str, Mapping[str, int]], **settings: Any) -> Comparison:
        """Compare the runs on other judgements."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # made runs look like mistakes
            return compare_runs(
                qrels,
                {
                    name: [Run.from_rankings(ranking) for ranking in repeats]
                    for name, repeats in self.runs.items()
                },
                likeness_k=None,
                **(self.settings | settings),
            )

    @classmethod
    def random(cls, rng: np.random.Generator, measures: Sequence[str] = MEASURES) -> Case:
        """Draw 7 to 11 queries and two or three systems, each of one run or of two repeats."""
        documents = [f"d{number}" for number in range(int(rng.integers(5, 13)))]
        queries = [f"q{number}" for number in range(int(rng.integers(7, 12)))]
        highest, share = int(rng.integers(1, 4)), rng.choice([0.3, 0.7, 0.95])
        qrels = {query: _judged(rng, documents, share, highest) for query in queries}
        runs: dict[str, list[dict[str, list[str]]]] = {}
        for name, skill in zip("abc"[: int(rng.integers(2, 4))], rng.random(3) * 3, strict=False):
            repeats = 2 if rng.random() < 0.1 else 1
            runs[name] = [
                {query: _ranking(rng, documents, qrels[query], skill) for query in queries}
                for _ in range(repeats)
            ]
        settings = {
            "measures": [str(name) for name in rng.choice(measures, 2, replace=False)],
            "correction": str(rng.choice(CORRECTIONS)),
            "test": "sign_flip",
            "alpha": 0.2,
            "margin": float(rng.choice([0.01, 0.3])),
            "repeats": "averaged",
            "no_relevant": str(rng.choice(["zero", "zero", "skip"])),
            "baseline": str(rng.choice([None, "a"])) if rng.random() < 0.3 else None,
        }
        if settings["baseline"] == "None":
            settings["baseline"] = None
        if rng.random() < 0.3:
            settings |= {"test": "t", "correction": str(rng.choice(CORRECTIONS[2:]))}
        return cls(qrels, runs, settings)

    def completion(self, rng: np.random.Generator, depth: int = 3) -> dict[str, Mapping[str, int]]:
        """Draw judgements in which unjudged documents have grades, retrieved or not.

        Args:
            rng: draws them.
            depth: the top of the rankings; mostly documents in the top of one system are graded.
        """
        highest = max(
            (max(grades.values(), default=0) for grades in self.qrels.values()), default=1
        )
        highest = max(highest, 1)
        system = self.runs[str(rng.choice(list(self.runs)))][0]
        others = [repeats[0] for repeats in self.runs.values() if repeats[0] is not system]
        kind, share = rng.choice(["top", "below", "any", "elsewhere"]), rng.random()
        completed: dict[str, Mapping[str, int]] = {}
        for query, grades in self.qrels.items():
            top = list(system.get(query, ()))
            tops_of_others = {doc for other in others for doc in other.get(query, ())[:depth]}
            candidates = {
                "top": [doc for doc in top[:depth] if doc not in tops_of_others],
                "below": top[depth:],
                "any": [doc for run in (system, *others) for doc in run.get(query, ())],
                "elsewhere": [],
            }[str(kind)]
            if kind == "elsewhere" or rng.random() < 0.2:
                candidates = [*candidates, *(f"new{n}" for n in range(int(rng.integers(0, 8))))]
            new = {
                doc: int(highest if rng.random() < 0.6 else rng.integers(0, highest + 1))
                for doc in candidates
                if doc not in grades and rng.random() < max(share, 0.2)
            }
            completed[query] = {**grades, **new}
        return completed


def _judged(
    rng: np.random.Generator, documents: Sequence[str], share: float, highest: int
) -> dict[str, int]:
    judged = {
        doc: int(rng.choice([-1, 0, 0, *range(1, highest + 1)]))
        for doc in documents
        if rng.random() < share
    }
    return judged or {documents[0]: highest}


def _ranking(
    rng: np.random.Generator, documents: Sequence[str], grades: Mapping[str, int], skill: float
) -> list[str]:
    value = {doc: rng.normal() + skill * grades.get(doc, 0) for doc in documents}
    length = int(rng.choice([0, 2, len(documents), len(documents), len(documents)]))
    return sorted(documents, key=lambda doc: -value[doc])[:length]


def refutations(
    case: Case, comparison: Comparison, qrels: Mapping[str, Mapping[str, int]]
) -> Iterator[str]:
    """Yield what judgements refute of the bounds and verdicts of a comparison.

    Args:
        case: the runs.
        comparison: on the judgements of the case.
        qrels: a completion of these.
    """
    completed = case.compare(qrels, unjudged=False)
    for effect, before, after in zip(
        comparison.unjudged or (), comparison.differences, completed.differences, strict=True
    ):
        label = f"{effect.measure}, {effect.system} vs {effect.against}"
        if effect.low is not None and not (
            effect.low - _TOLERANCE <= after.difference <= effect.high + _TOLERANCE
        ):
            yield f"{label}: {after.difference} is not within {effect.low} and {effect.high}"
        if effect.verdict_change == "cannot" and after.verdict != before.verdict:
            yield f"{label}: {before.verdict} became {after.verdict}"


def unconfirmed(case: Case, comparison: Comparison) -> Iterator[str]:
    """Yield each verdict that "could" change although neither completion changes it.

    Args:
        case: the runs.
        comparison: on the judgements of the case, of results with their top documents.
    """
    from beir_eval.core.qrels import Qrels  # noqa: PLC0415 - one caller

    results = [comparison.results[system] for system in comparison.systems]
    pool = Pool(Qrels(case.qrels), comparison.query_ids, results)
    pool.rank_top(results)
    pairs = pairs_to_compare(comparison.systems, comparison.baseline).listed
    for name in comparison.measures:
        scores = comparison.scores[name].array
        compared = ~np.isnan(scores).any(axis=0)
        bounds = Bounds(pool, parse(name), scores, compared)
        effects = [effect for effect in comparison.unjudged if effect.measure == name]
        for pair, effect in zip(pairs, effects, strict=True):
            if effect.verdict_change != "could":
                continue
            before = comparison.difference(name, effect.system, effect.against).verdict
            verdicts = set()
            for end in ("lowest", "highest"):
                [grades] = bounds.completions([pair], end)
                completed = {query: dict(judged) for query, judged in case.qrels.items()}
                is_used = ~np.isnan(grades) & compared[pool.row]
                for document in np.flatnonzero(is_used).tolist():
                    query = pool.query_ids[int(pool.row[document])]
                    completed[query][pool.doc_ids[document]] = int(grades[document])
                after = case.compare(completed, unjudged=False)
                verdicts.add(after.difference(name, effect.system, effect.against).verdict)
            if verdicts == {before}:
                yield f"{name}, {effect.system} vs {effect.against}: {before}"
