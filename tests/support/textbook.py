"""The same rules and measures, implemented with full sorts and loops over ranks.

This module shares no code with the package. It is the reference where no other tool has the rule.
"""

import math

import numpy as np


def rank_documents(rows, judged, order="score", ties="trec_eval9", duplicates="error"):
    """Return the ids of one ranking, best first, with ``None`` for each copy that is kept.

    ``rows`` are (document, score) in the order given. If a document is repeated, its entry with
    the best score counts, or the first of those with equal scores; its other entries are copies,
    which gain nothing, as if unjudged.
    """
    entries = []
    for position, (doc, score) in enumerate(rows):
        with np.errstate(over="ignore"):
            value = np.float64(score if ties in {"trec_eval10", "input"} else np.float32(score))
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
        "trec_eval10": lambda entry: (entry[1].encode("utf-8", "surrogatepass"), -entry[0]),
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


def judged_share(grades, judged, k):
    retrieved = grades[:k]
    num_judged = sum(grade is not None and grade >= 0 for grade in retrieved)
    return num_judged / len(retrieved) if retrieved else math.nan


def bpref(grades, judged, k, rel=None):
    num_relevant = sum(is_relevant(grade, rel) for grade in judged.values())
    num_others = sum(grade >= 0 and not is_relevant(grade, rel) for grade in judged.values())
    others_above, summed = 0, 0.0
    for grade in grades[:k]:
        if is_relevant(grade, rel):
            if others_above:
                summed -= min(others_above, num_relevant) / min(num_others, num_relevant)
            summed += 1
        elif grade is not None and grade >= 0:
            others_above += 1
    return summed / num_relevant if num_relevant else 0.0


def inferred_ap(grades, judged, k, rel=None):
    num_relevant = sum(is_relevant(grade, rel) for grade in judged.values())
    relevant_above = judged_above = pooled_above = 0
    summed = 0.0
    for rank, grade in enumerate(grades[:k], start=1):
        if is_relevant(grade, rel):
            estimate = (relevant_above + 0.00001) / (judged_above + 0.00002)
            summed += 1 / rank + pooled_above / rank * estimate
        relevant_above += is_relevant(grade, rel)
        judged_above += grade is not None and grade >= 0
        pooled_above += grade is not None
    return summed / num_relevant if num_relevant else 0.0


def interpolated_precision(grades, judged, k, recall, needed):
    """``needed`` gives the number of documents from recall times the number of relevant ones."""
    num_needed = needed(recall * sum(is_relevant(grade) for grade in judged.values()))
    best = hits = 0
    for rank, grade in enumerate(grades[:k], start=1):
        hits += is_relevant(grade)
        if is_relevant(grade) and hits >= num_needed:
            best = max(best, hits / rank)
    return best


def eleven_point_average(grades, judged, k, needed):
    points = [tenths / 10 for tenths in range(11)]
    return sum(interpolated_precision(grades, judged, k, at, needed) for at in points) / 11


def _gain(grade, gain):
    return gain(grade) if grade is not None and grade > 0 else 0.0


def _ideal_gains(judged, gain):
    return sorted((_gain(grade, gain) for grade in judged.values() if grade > 0), reverse=True)


def normalized_gain(grades, judged, k, gain=lambda grade: grade):
    ideal = _ideal_gains(judged, gain)
    cost = gained = summed = 0.0
    for rank, grade in enumerate(grades[:k], start=1):
        cost += max(ideal[rank - 1], 1) if rank <= len(ideal) else 1
        gained += _gain(grade, gain)
        if _gain(grade, gain):
            summed += _gain(grade, gain) / math.log2(2 + cost - gained)
    return summed / sum(ideal) if ideal else 0.0


def binary_gain(grades, judged, k):
    num_relevant = sum(is_relevant(grade) for grade in judged.values())
    others_above, summed = 0, 0.0
    for grade in grades[:k]:
        if is_relevant(grade):
            summed += 1 / math.log2(2 + others_above)
        else:
            others_above += 1
    return summed / num_relevant if num_relevant else 0.0


def ndcg_at_falls(grades, judged, gain=lambda grade: grade):
    """The mean of NDCG at each depth at which the ideal ranking falls, and of the whole."""
    ideal = _ideal_gains(judged, gain)
    depths = [n for n in range(1, len(ideal) + 1) if ideal[n:] == [] or ideal[n] < ideal[n - 1]]
    if depths and len(grades) >= len(ideal) + 2:
        depths.append(len(grades))
    terms = [ndcg(grades, judged, depth, gain) for depth in depths]
    return sum(terms) / len(terms) if terms else 0.0


def ndcg_at_documents(grades, judged, gain=lambda grade: grade):
    """The mean of NDCG at the rank of each document with a gain; at the end if not retrieved."""
    ranks = [rank for rank, grade in enumerate(grades, start=1) if _gain(grade, gain)]
    num_documents = len(_ideal_gains(judged, gain))
    deepest = len(grades) + num_documents
    ranks += [deepest] * (num_documents - len(ranks))
    terms = [ndcg(grades, judged, rank, gain) for rank in ranks]
    return sum(terms) / len(terms) if terms else 0.0


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
