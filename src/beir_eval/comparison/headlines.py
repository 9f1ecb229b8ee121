"""The verdicts on a measure in one sentence, for the first lines of outputs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from beir_eval.comparison.verdict_sentences import measure_text
from beir_eval.display.document import Sentence

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from beir_eval.comparison.compared import Compared
    from beir_eval.comparison.records import Difference, PairDifference

#: The order of the verdicts in a sentence.
_ORDER = ("better", "worse", "equivalent", "identical", "undecided")
_TWO = 2


def headline_of(
    label: str,
    differences: Sequence[PairDifference],
    baseline: str | None,
    *,
    margin: float = 0.0,
) -> Sentence:
    """Return the verdicts on the pairs in one sentence, which begins with ``label``.

    Args:
        label: what was measured, such as "nDCG@10".
        differences: the difference of each pair.
        baseline: the system that the others are compared with; None if all pairs are compared.
        margin: the smallest difference that matters; 0 if the verdicts know no margin.
    """
    text, verdict = verdicts_of(differences, baseline, margin)
    return Sentence(f"{label}: {text}", verdict)


def headlines(
    comparison: Compared, differences: Sequence[Difference] | None = None, where: str = ""
) -> list[Sentence]:
    """Return the verdicts on all measures: a sentence for all measures with the same verdicts.

    Args:
        comparison: the comparison.
        differences: its differences on some measures, or those over some queries; None for all.
        where: follows the names of the measures in each sentence.
    """
    pairs_of: dict[str, list[Difference]] = {}
    for pair in comparison.differences if differences is None else differences:
        label = measure_text(pair.measure, higher_is_better=pair.higher_is_better)
        pairs_of.setdefault(label, []).append(pair)
    labels_of: dict[Sentence, list[str]] = {}
    for label, pairs in pairs_of.items():
        verdicts = verdicts_of(pairs, comparison.baseline, comparison.settings.margin)
        labels_of.setdefault(verdicts, []).append(label)
    return [
        Sentence(f"{', '.join(labels)}{where}: {text}", verdict)
        for (text, verdict), labels in labels_of.items()
    ]


def common_headlines(comparison: Compared, measures: Collection[str]) -> list[Sentence]:
    """Return the verdicts over the queries that all systems have, if a system lacks some.

    There is a sentence for all of these measures with the same verdicts, or one that says why there
    are none; an empty list if every system has all queries.
    """
    on_common = comparison.on_common_queries
    if on_common is None:
        return []
    where = common_queries_text(on_common.num_queries, len(comparison.query_ids))
    if not on_common.differences:
        text = f"{', '.join(comparison.measures)}{where}: too few for a verdict"
        return [Sentence(text, "undecided")]
    pairs = [pair for pair in on_common.differences if pair.measure in measures]
    return headlines(comparison, pairs, where)


def common_queries_text(num_common: int, num_judged: int) -> str:
    """Return over which queries a verdict is, to follow the name of a measure.

    >>> common_queries_text(153, 300)
    ', over the 153 of 300 queries that all systems have'
    """
    return f", over the {num_common:,} of {num_judged:,} queries that all systems have"


def verdicts_of(
    differences: Sequence[PairDifference], baseline: str | None, margin: float
) -> Sentence:
    """Return the verdicts on the pairs in one sentence, without the name of the measure.

    Args:
        differences: as of ``headline_of``.
        baseline: likewise.
        margin: likewise.
    """
    if len(differences) == 1:
        return Sentence(_pair_phrase(differences[0], margin), differences[0].verdict)
    if baseline is None:
        return _verdict_on_the_best(differences, margin)
    counts = Counter(pair.verdict for pair in differences)
    number = len(differences)
    parts: list[str] = []
    for verdict in sorted(counts, key=_ORDER.index):
        count = counts[verdict]
        who = f"{count} of {number}" if not parts else str(count)
        if number == _TWO:
            who = " and ".join(pair.system for pair in differences if pair.verdict == verdict)
        elif count == number:
            who = f"all {number}"
        parts.append(f"{who} {_phrase(verdict, count, '' if parts else baseline, margin)}")
    return Sentence(", ".join(parts), common_verdict(differences))


def common_verdict(differences: Sequence[PairDifference]) -> str:
    """Return the verdict on all pairs; "undecided" if there are several."""
    verdicts = {difference.verdict for difference in differences}
    return verdicts.pop() if len(verdicts) == 1 else "undecided"


def _pair_phrase(pair: PairDifference, margin: float) -> str:
    """Return the verdict on two systems, and whether a difference is below the margin."""
    if pair.verdict == "undecided":
        return f"undecided whether {pair.system} or {pair.against} is better"
    if pair.verdict == "identical":
        return f"{pair.system} and {pair.against} score the same on every query"
    if pair.verdict == "equivalent":
        return f"{pair.system} and {pair.against} differ by less than {margin:g}"
    phrase = f"{pair.system} is {pair.verdict} than {pair.against}"
    if abs(pair.difference) >= margin:
        return phrase
    is_shown = max(abs(pair.low), abs(pair.high)) < margin
    return f"{phrase} by less than {margin:g}{'' if is_shown else ' (estimated)'}"


def _phrase(verdict: str, count: int, baseline: str, margin: float) -> str:
    """Return how some systems stand to the baseline, which is named unless it was before.

    Args:
        verdict: the verdict on each of them.
        count: how many they are.
        baseline: the name of the baseline; "" if the sentence has it.
        margin: the smallest difference that matters.
    """
    are, ending = ("is", "s") if count == 1 else ("are", "")
    if verdict == "identical":
        return f"score{ending} the same as {baseline or 'it'} on every query"
    if verdict == "equivalent":
        return f"differ{ending} from {baseline or 'it'} by less than {margin:g}"
    than = "against" if verdict == "undecided" else "than"
    return f"{are} {verdict} {than} {baseline}" if baseline else f"{are} {verdict}"


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
    are, rest = "are", f"the other {len(others)}"
    if len(others) == 1:
        are, rest = "is", others[0]
    if others and all((name, other) in wins for name in first for other in others):
        text += f"; {all_first} are better than {rest}"
    elif others:
        text += f"; {rest} {are} not best"
    return Sentence(text, common_verdict(differences))
