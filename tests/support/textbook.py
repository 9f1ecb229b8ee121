"""The same rules and measures, implemented with full sorts and loops over ranks.

This module shares no code with the package. It is the reference where no other tool has the rule.
"""

import math

import numpy as np


def rank_documents(rows, judged, order="score", ties="trec_eval", duplicates="error"):
    """Return the ids of one ranking, best first, with ``None`` for each copy that is kept.

    ``rows`` are (document, score) in the order given. If a document is repeated, its entry with
    the best score counts, or the first of those with equal scores; its other entries are copies,
    which gain nothing, as if unjudged.
    """
    entries = []
    for position, (doc, score) in enumerate(rows):
        value = np.float64(np.float32(score)) if ties == "trec_eval9" else np.float64(score)
        entries.append((position, doc, value if order == "score" else -position))
    seen, copies = set(), set()
    for position, doc, _ in sorted(entries, key=lambda entry: (-entry[2], entry[0])):
        if doc in seen:
            copies.add(position)
        seen.add(doc)
    if copies and duplicates == "error":
        raise ValueError(copies)
    if duplicates == "first":
        entries = [entry for entry in entries if entry[0] not in copies]

    def benefit(entry):
        return _benefit_of(None if entry[0] in copies else judged.get(entry[1]))

    by_tie = {
        "trec_eval": lambda entry: (entry[1].encode("utf-8", "surrogatepass"), -entry[0]),
        "trec_eval9": lambda entry: (entry[1].encode("utf-8", "surrogatepass"), -entry[0]),
        "input": lambda entry: -entry[0],
        "best": benefit,
        "worst": lambda entry: [-part for part in benefit(entry)],
    }[ties]
    entries.sort(key=by_tie, reverse=True)
    entries.sort(key=lambda entry: entry[2], reverse=True)
    return [None if position in copies else doc for position, doc, _ in entries]


def _benefit_of(grade):
    if grade is None:
        return (1, 0)
    return (2, grade) if grade > 0 else (0, grade)


def grades_by_rank(ids, judged):
    return [judged.get(doc) for doc in ids]


def is_relevant(grade, rel=None):
    return grade is not None and (grade > 0 if rel is None else grade >= rel)


def precision(grades, judged, k, rel=None):
    return sum(is_relevant(grade, rel) for grade in grades[:k]) / k


def recall(grades, judged, k, rel=None):
    total = sum(is_relevant(grade, rel) for grade in judged.values())
    return sum(is_relevant(grade, rel) for grade in grades[:k]) / total if total else 0.0


def average_precision(grades, judged, k, rel=None):
    total = sum(is_relevant(grade, rel) for grade in judged.values())
    hits, summed = 0, 0.0
    for rank, grade in enumerate(grades[:k], start=1):
        if is_relevant(grade, rel):
            hits += 1
            summed += hits / rank
    return summed / total if total else 0.0


def reciprocal_rank(grades, judged, k, rel=None):
    for rank, grade in enumerate(grades[:k], start=1):
        if is_relevant(grade, rel):
            return 1 / rank
    return 0.0


def dcg(grades, gain=lambda grade: grade):
    return sum(
        gain(grade) / math.log2(rank + 1)
        for rank, grade in enumerate(grades, start=1)
        if grade is not None and grade > 0
    )


def ndcg(grades, judged, k, gain=lambda grade: grade):
    ideal = dcg(sorted(judged.values(), reverse=True)[:k], gain)
    return dcg(grades[:k], gain) / ideal if ideal else 0.0


def err(grades, judged, k, max_grade):
    reached, summed = 1.0, 0.0
    for rank, grade in enumerate(grades[:k], start=1):
        satisfied = (2 ** max(grade or 0, 0) - 1) / 2**max_grade
        summed += reached * satisfied / rank
        reached *= 1 - satisfied
    return summed


def rbp(grades, judged, k, p):
    return (1 - p) * sum(
        p ** (rank - 1) for rank, grade in enumerate(grades[:k], start=1) if is_relevant(grade)
    )


def rbp_highest(grades, judged, k, p):
    """Return RBP if every unjudged document and the whole tail were relevant."""
    top_grades = grades[:k]
    judged_ranks = [
        rank for rank, grade in enumerate(top_grades, start=1) if grade is not None and grade >= 0
    ]
    relevant_ranks = {rank for rank in judged_ranks if is_relevant(top_grades[rank - 1])}
    return 1 - (1 - p) * sum(p ** (rank - 1) for rank in judged_ranks if rank not in relevant_ranks)
