"""The same rules, written the slow and obvious way: full sorts and loops over ranks.

Nothing here is shared with the package; it is what the package is held against where no other
tool has the rule.
"""

import math

import numpy as np


def rank_documents(rows, judged, order="score", ties="trec_eval", duplicates="error"):
    """Return the ids of one ranking, best first; ``None`` stands for a copy that is kept.

    ``rows`` are (document, score) in the order given. Of a document's copies the one with the
    best score counts, of equal ones the first given; the others gain nothing, as if unjudged.
    """
    entries = []
    for place, (doc, score) in enumerate(rows):
        kept = np.float64(np.float32(score)) if ties == "trec_eval9" else np.float64(score)
        entries.append((place, doc, kept if order == "score" else -place))
    seen, spare = set(), set()
    for place, doc, _ in sorted(entries, key=lambda entry: (-entry[2], entry[0])):
        if doc in seen:
            spare.add(place)
        seen.add(doc)
    if spare and duplicates == "error":
        raise ValueError(spare)
    if duplicates == "first":
        entries = [entry for entry in entries if entry[0] not in spare]

    def fortune(entry):
        return _fortune(None if entry[0] in spare else judged.get(entry[1]))

    by_tie = {
        "trec_eval": lambda entry: (entry[1].encode(), -entry[0]),
        "trec_eval9": lambda entry: (entry[1].encode(), -entry[0]),
        "input": lambda entry: -entry[0],
        "best": fortune,
        "worst": lambda entry: [-part for part in fortune(entry)],
    }[ties]
    entries.sort(key=by_tie, reverse=True)
    entries.sort(key=lambda entry: entry[2], reverse=True)
    return [None if place in spare else doc for place, doc, _ in entries]


def _fortune(grade):
    if grade is None:
        return (1, 0)
    return (2, grade) if grade > 0 else (0, grade)


def grades_by_rank(ids, judged):
    return [judged.get(doc) for doc in ids]


def is_relevant(grade, rel=None):
    return grade is not None and (grade > 0 if rel is None else grade >= rel)


def precision(found, judged, k, rel=None):
    return sum(is_relevant(grade, rel) for grade in found[:k]) / k


def recall(found, judged, k, rel=None):
    total = sum(is_relevant(grade, rel) for grade in judged.values())
    return sum(is_relevant(grade, rel) for grade in found[:k]) / total if total else 0.0


def average_precision(found, judged, k, rel=None):
    total = sum(is_relevant(grade, rel) for grade in judged.values())
    hits, summed = 0, 0.0
    for rank, grade in enumerate(found[:k], start=1):
        if is_relevant(grade, rel):
            hits += 1
            summed += hits / rank
    return summed / total if total else 0.0


def reciprocal_rank(found, judged, k, rel=None):
    for rank, grade in enumerate(found[:k], start=1):
        if is_relevant(grade, rel):
            return 1 / rank
    return 0.0


def dcg(grades, gain=lambda grade: grade):
    return sum(
        gain(grade) / math.log2(rank + 1)
        for rank, grade in enumerate(grades, start=1)
        if grade is not None and grade > 0
    )


def ndcg(found, judged, k, gain=lambda grade: grade):
    ideal = dcg(sorted(judged.values(), reverse=True)[:k], gain)
    return dcg(found[:k], gain) / ideal if ideal else 0.0


def err(found, judged, k, max_grade):
    reached, summed = 1.0, 0.0
    for rank, grade in enumerate(found[:k], start=1):
        satisfied = (2 ** max(grade or 0, 0) - 1) / 2**max_grade
        summed += reached * satisfied / rank
        reached *= 1 - satisfied
    return summed


def rbp(found, judged, k, p):
    return (1 - p) * sum(
        p ** (rank - 1) for rank, grade in enumerate(found[:k], start=1) if is_relevant(grade)
    )


def rbp_highest(found, judged, k, p):
    """RBP if every unjudged document and the whole tail were relevant."""
    shown = found[:k]
    judged_bad = [
        rank for rank, grade in enumerate(shown, start=1) if grade is not None and grade >= 0
    ]
    good = {rank for rank in judged_bad if is_relevant(shown[rank - 1])}
    return 1 - (1 - p) * sum(p ** (rank - 1) for rank in judged_bad if rank not in good)
