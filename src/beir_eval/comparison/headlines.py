"""The verdicts on a measure in one sentence, for the first lines of outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.comparison.verdict_sentences import measure_text, smaller_text
from beir_eval.display.document import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.records import PairDifference
    from beir_eval.comparison.result import Comparison

#: How many names, and how many groups of systems, a sentence lists.
MOST_NAMED = 4
#: How many systems that are worse than the best a sentence lists, before it counts them.
_MOST_WORSE = 2
#: The order of the verdicts in a sentence.
_ORDER = ("better", "worse", "equivalent", "identical", "undecided")


def headline(comparison: Comparison, measure: str | None = None) -> Sentence:
    """Return the verdicts on a measure in one sentence, which begins with the measure.

    Args:
        comparison: the comparison.
        measure: the canonical name of the measure; by default the first.
    """
    label, verdicts = _labelled_verdicts(comparison, measure or comparison.measures[0])
    return Sentence(f"{label}: {verdicts.text}", verdicts.verdict)


def headline_of(
    label: str,
    differences: Sequence[PairDifference],
    baseline: str | None,
    *,
    margin: float | None,
    higher_is_better: bool,
) -> Sentence:
    """Return the verdicts on the pairs in one sentence, which begins with ``label``.

    Args:
        label: what was measured, such as "nDCG@10".
        differences: the difference of each pair.
        baseline: the system that the others are compared with; None if all pairs are compared.
        margin: the smallest difference that matters; None if the verdicts know no margin.
        higher_is_better: whether a higher score is better.
    """
    verdicts = _verdicts(differences, baseline, margin or 0.0, higher_is_better=higher_is_better)
    return Sentence(f"{label}: {verdicts.text}", verdicts.verdict)


def headlines(comparison: Comparison, where: str = "") -> list[Sentence]:
    """Return the verdicts on all measures: a sentence for all measures with the same verdicts.

    Args:
        comparison: the comparison.
        where: follows the names of the measures in each sentence.
    """
    labels_by_verdicts: dict[Sentence, list[str]] = {}
    for measure in comparison.measures:
        label, verdicts = _labelled_verdicts(comparison, measure)
        labels_by_verdicts.setdefault(verdicts, []).append(label)
    return [
        Sentence(f"{', '.join(labels)}{where}: {verdicts.text}", verdicts.verdict)
        for verdicts, labels in labels_by_verdicts.items()
    ]


def common_headlines(comparison: Comparison) -> list[Sentence]:
    """Return the verdicts over the queries that all systems have, if a system lacks some.

    There is a sentence for all measures with the same verdicts, or one that says why there are
    none; an empty list if every system has all queries.
    """
    on_common = comparison.on_common_queries
    if on_common is None:
        return []
    where = common_queries_text(on_common.num_queries, len(comparison.query_ids))
    if not on_common.differences:
        text = f"{', '.join(comparison.measures)}{where}: too few for a verdict"
        return [Sentence(text, "undecided")]
    over_common = comparison.model_copy(
        update={"differences": on_common.differences, "on_common_queries": None}
    )
    return headlines(over_common, where)


def common_queries_text(num_common: int, num_judged: int) -> str:
    """Return over which queries a verdict is, to follow the name of a measure.

    >>> common_queries_text(153, 300)
    ', over the 153 of 300 queries that all systems have'
    """
    return f", over the {num_common:,} of {num_judged:,} queries that all systems have"


def _labelled_verdicts(comparison: Comparison, measure: str) -> tuple[str, Sentence]:
    """Return the name of a measure with its direction, and the verdicts on it."""
    differences = [pair for pair in comparison.differences if pair.measure == measure]
    higher_is_better = differences[0].higher_is_better
    return measure_text(measure, higher_is_better=higher_is_better), _verdicts(
        differences,
        comparison.baseline,
        comparison.settings.margin,
        higher_is_better=higher_is_better,
    )


def _verdicts(
    differences: Sequence[PairDifference],
    baseline: str | None,
    margin: float,
    *,
    higher_is_better: bool,
) -> Sentence:
    """Return the verdicts on the pairs in one sentence, without the name of the measure."""
    if baseline is None and len(differences) > 1:
        return _verdicts_on_pairs(differences, margin, higher_is_better=higher_is_better)
    first = differences[0]
    if len(differences) == 1 and first.verdict in ("undecided", "identical"):
        text = f"undecided whether {first.system} or {first.against} is better"
        if first.verdict == "identical":
            text = f"{first.system} and {first.against} score the same on every query"
        return Sentence(text, first.verdict)
    names_of: dict[str, list[str]] = {}
    for difference in sorted(differences, key=lambda pair: _ORDER.index(pair.verdict)):
        names_of.setdefault(_phrase(difference, margin), []).append(difference.system)
    parts = []
    for phrase, names in names_of.items():
        are_all = len(names) == len(differences) > MOST_NAMED
        subject = f"all {len(names)} others" if are_all else join_names(names)
        parts.append(f"{subject} {_is_or_are(len(names))} {phrase}")
    return Sentence("; ".join(parts), _colour(differences))


def _colour(differences: Sequence[PairDifference]) -> str:
    """Return the verdict on all pairs; a sentence with several has the colour of "undecided"."""
    verdicts = {difference.verdict for difference in differences}
    return verdicts.pop() if len(verdicts) == 1 else "undecided"


def _phrase(difference: PairDifference, margin: float) -> str:
    """Return how a system stands to the one it is compared with."""
    against = difference.against
    if difference.verdict == "identical":
        return f"identical to {against} on every query"
    if difference.verdict == "equivalent":
        return f"equivalent to {against} within {margin:g}"
    if difference.verdict == "undecided":
        return f"undecided against {against}"
    return f"{difference.verdict} than {against}{smaller_text(difference, margin)}"


def _verdicts_on_pairs(
    differences: Sequence[PairDifference], margin: float, *, higher_is_better: bool
) -> Sentence:
    """Return how the others stand to the system with the best mean."""
    sign = 1 if higher_is_better else -1
    behind: dict[str, list[PairDifference]] = {}
    for difference in differences:
        is_ahead = sign * difference.difference >= 0
        oriented = difference if is_ahead else difference.reversed()
        behind.setdefault(oriented.system, []).append(oriented)
    best, others = max(behind.items(), key=lambda item: len(item[1]))
    others = sorted(others, key=lambda difference: abs(difference.difference))
    groups: dict[str, list[str]] = {}
    for difference in others:
        groups.setdefault(_relation(difference, margin), []).append(difference.against)
    if len(groups) == 1:
        [(relation, names)] = groups.items()
        subject = f"all {len(names)} others" if len(names) > MOST_NAMED else join_names(names)
        return Sentence(
            f"{best} has the best mean; {subject} {_is_or_are(len(names))} {relation}",
            _colour(differences),
        )
    parts = [f"{best} has the best mean"]
    for relation, names in groups.items():
        is_counted = relation == "worse" and len(names) > _MOST_WORSE
        subject = f"{len(names)} others" if is_counted else join_names(names)
        parts.append(f"{subject} {_is_or_are(len(names))} {relation}")
    return Sentence("; ".join(parts), _colour(differences))


def _relation(difference: PairDifference, margin: float) -> str:
    """Return how a system stands to one with a higher mean."""
    if difference.verdict == "identical":
        return "identical on every query"
    if difference.verdict == "equivalent":
        return f"equivalent within {margin:g}"
    return "not significantly worse" if difference.verdict == "undecided" else "worse"


def _is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


def join_names(names: Sequence[str]) -> str:
    """Return names as an enumeration with "and"; the first few and a count if there are many."""
    more = len(names) - MOST_NAMED
    listed = [*names[:MOST_NAMED], f"{more} more"] if more > 0 else names
    if len(listed) == 1:
        return listed[0]
    return f"{', '.join(listed[:-1])} and {listed[-1]}"


def some_of(parts: Sequence[str]) -> str:
    """Return the first parts as a list in a sentence, with "and others" if there are more."""
    return f"{', '.join(parts[:MOST_NAMED])}{' and others' if parts[MOST_NAMED:] else ''}"
