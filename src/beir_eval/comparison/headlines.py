"""The verdicts on a measure in one sentence, for the first lines of outputs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from beir_eval.comparison.verdict_sentences import MOST_NAMED, measure_text, smaller_text
from beir_eval.display.document import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.compared import Compared
    from beir_eval.comparison.records import PairDifference

#: The order of the verdicts in a sentence.
_ORDER = ("better", "worse", "equivalent", "identical", "undecided")
_TWO = 2


def headline(comparison: Compared, measure: str | None = None) -> Sentence:
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
) -> Sentence:
    """Return the verdicts on the pairs in one sentence, which begins with ``label``.

    Args:
        label: what was measured, such as "nDCG@10".
        differences: the difference of each pair.
        baseline: the system that the others are compared with; None if all pairs are compared.
        margin: the smallest difference that matters; None if the verdicts know no margin.
    """
    verdicts = _verdicts(differences, baseline, margin or 0.0)
    return Sentence(f"{label}: {verdicts.text}", verdicts.verdict)


def headlines(comparison: Compared, where: str = "") -> list[Sentence]:
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


def common_headlines(comparison: Compared) -> list[Sentence]:
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


def _labelled_verdicts(comparison: Compared, measure: str) -> tuple[str, Sentence]:
    """Return the name of a measure with its direction, and the verdicts on it."""
    differences = [pair for pair in comparison.differences if pair.measure == measure]
    label = measure_text(measure, higher_is_better=differences[0].higher_is_better)
    return label, _verdicts(differences, comparison.baseline, comparison.settings.margin)


def _verdicts(
    differences: Sequence[PairDifference], baseline: str | None, margin: float
) -> Sentence:
    """Return the verdicts on the pairs in one sentence, without the name of the measure."""
    colour = _colour(differences)
    if len(differences) == 1:
        return Sentence(_pair_phrase(differences[0], margin), colour)
    if baseline is None:
        return _verdict_on_the_best(differences, margin)
    counts = Counter(pair.verdict for pair in differences)
    number = len(differences)
    parts: list[str] = []
    for verdict in sorted(counts, key=_ORDER.index):
        count = counts[verdict]
        who = f"{count} of {number}" if not parts else str(count)
        if count == number:
            who = "both" if number == _TWO else f"all {number}"
        parts.append(f"{who} {_phrase(verdict, count, '' if parts else baseline, margin)}")
    return Sentence(", ".join(parts), colour)


def _colour(differences: Sequence[PairDifference]) -> str:
    """Return the verdict on all pairs; a sentence with several has the colour of "undecided"."""
    verdicts = {difference.verdict for difference in differences}
    return verdicts.pop() if len(verdicts) == 1 else "undecided"


def _pair_phrase(pair: PairDifference, margin: float) -> str:
    """Return the verdict on two systems."""
    if pair.verdict == "undecided":
        return f"undecided whether {pair.system} or {pair.against} is better"
    if pair.verdict == "identical":
        return f"{pair.system} and {pair.against} score the same on every query"
    if pair.verdict == "equivalent":
        return f"{pair.system} and {pair.against} differ by less than {margin:g}"
    smaller = smaller_text(pair, margin)
    return f"{pair.system} is {pair.verdict} than {pair.against}{smaller}"


def _phrase(verdict: str, count: int, baseline: str, margin: float) -> str:
    """Return how some systems stand to the baseline, which is named unless it was before.

    Args:
        verdict: the verdict on each of them.
        count: how many they are.
        baseline: the name of the baseline; "" if the sentence has it.
        margin: the smallest difference that matters.
    """
    are, ending = "is" if count == 1 else "are", "s" if count == 1 else ""
    if verdict == "identical":
        return f"score{ending} the same as {baseline or 'it'} on every query"
    if verdict == "equivalent":
        return f"differ{ending} from {baseline or 'it'} by less than {margin:g}"
    against = {"undecided": f" against {baseline}"}.get(verdict, f" than {baseline}")
    return f"{are} {verdict}{against if baseline else ''}"


def _verdict_on_the_best(differences: Sequence[PairDifference], margin: float) -> Sentence:
    """Return which of several systems may be the best: those that no other one is better than."""
    wins = {
        (pair.system, pair.against) if pair.verdict == "better" else (pair.against, pair.system)
        for pair in differences
        if pair.verdict in ("better", "worse")
    }
    systems = dict.fromkeys(name for pair in differences for name in (pair.system, pair.against))
    behind = {worse for _, worse in wins}
    # All, if each is worse than another one, as it may be by chance.
    first = [name for name in systems if name not in behind] or list(systems)
    if len(first) == 1:
        return Sentence(f"{first[0]} is the best of {len(systems)}", "better")
    others = [name for name in systems if name not in first]
    among_first = {
        pair.verdict for pair in differences if {pair.system, pair.against}.isdisjoint(others)
    }
    who, all_first = " and ".join(first), "both"
    if len(first) > _TWO:
        who, all_first = f"{len(first)}" if others else f"all {len(first)}", f"all {len(first)}"
    if among_first == {"identical"}:
        text = f"{who} score the same on every query"
    elif among_first <= {"identical", "equivalent"}:
        text = f"{who} differ by less than {margin:g}"
    else:
        which = f"whether {' or '.join(first)}" if len(first) == _TWO else f"which of {len(first)}"
        text = f"undecided {which} is best"
    if others and all((name, other) in wins for name in first for other in others):
        text += f"; {all_first} are better than {_others(others)}"
    elif others:
        text += f"; {_others(others)} {'is' if len(others) == 1 else 'are'} not best"
    return Sentence(text, _colour(differences))


def _others(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"the other {len(names)}"


def join_names(names: Sequence[str]) -> str:
    """Return names as an enumeration with "and"; the first few and a count if there are many."""
    more = len(names) - MOST_NAMED
    listed = [*names[:MOST_NAMED], f"{more} more"] if more > 0 else names
    if len(listed) == 1:
        return listed[0]
    return f"{', '.join(listed[:-1])} and {listed[-1]}"
