"""Whether the gain of one system over another differs between the slices: tests and sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel

from beir_eval.comparison.differences import sign_vectors_for
from beir_eval.comparison.verdict_sentences import MOST_NAMED, p_text, some_of
from beir_eval.core.saved import FROZEN
from beir_eval.significance import slice_interaction
from beir_eval.significance.corrections import correct
from beir_eval.significance.interaction import FEWEST_IN_SLICE, FEWEST_SLICES
from beir_eval.significance.validation import is_at_most

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.comparison.alignment import MeasureScores
    from beir_eval.comparison.differences import Pairs
    from beir_eval.comparison.records import ComparisonSettings

#: The name of a column that has none.
UNNAMED = "slice"


class Interaction(BaseModel):
    """The test of whether the difference of two systems differs between the slices of a column.

    Attributes:
        measure: the canonical name of the measure.
        column: the name of the column.
        system, against: the names of the systems.
        p: the p of ``significance.slice_interaction``, not corrected; None if it was not tested.
        p_corrected: p corrected for all columns and pairs of this measure; None if it was not
            tested.
        num_slices: the number of slices in the test, those of 10 or more queries on which all
            systems have a score.
        num_queries: the number of queries in these slices.
        too_small: the labels of the slices with fewer such queries, which have no part in the test.
        draws: the number of random permutations of the labels; 0 if it was not tested.
        verdict: "differs" if p_corrected <= alpha, otherwise "undecided"; "not tested" if there are
            fewer than two such slices.
    """

    model_config = FROZEN

    measure: str
    column: str
    system: str
    against: str
    p: float | None
    p_corrected: float | None
    num_slices: int
    num_queries: int
    too_small: tuple[str, ...]
    draws: int
    verdict: Literal["differs", "undecided", "not tested"]


def interactions_of(
    measures: Sequence[MeasureScores],
    columns: Mapping[str, Sequence[str]],
    label_order: Sequence[str],
    pairs: Pairs,
    settings: ComparisonSettings,
) -> list[Interaction]:
    """Return the tests of all pairs, by measure and column.

    Args:
        measures: the scores of all systems on each measure, NaN where undefined. [M]
        columns: {column name: the label of each query. [Q]}.
        label_order: the labels of all columns, in the order in which they are listed.
        pairs: the systems to compare.
        settings: the correction, which is over all columns and pairs of a measure, the level, the
            number of draws and the seed.
    """
    # Measures that are defined on the same queries share the permutations.
    groups: dict[bytes, list[int]] = {}
    for index, scores in enumerate(measures):
        groups.setdefault(scores.is_defined.tobytes(), []).append(index)
    rank_of = {label: rank for rank, label in enumerate(label_order)}
    tests: dict[int, list[Interaction]] = {index: [] for index in range(len(measures))}
    for column, labels in columns.items():
        order = sorted(set(labels), key=rank_of.__getitem__)
        for group in groups.values():
            shared = [measures[index] for index in group]
            interactions = _tests_of_column(shared, column, (labels, order), pairs, settings)
            for index, of_measure in zip(group, interactions, strict=True):
                tests[index] += of_measure
    return [
        interaction
        for of_measure in tests.values()
        for interaction in _with_verdicts(of_measure, settings)
    ]


def _tests_of_column(
    measures: Sequence[MeasureScores],
    column: str,
    labels_and_order: tuple[Sequence[str], Sequence[str]],
    pairs: Pairs,
    settings: ComparisonSettings,
) -> list[list[Interaction]]:
    """Return the tests of every pair on each measure, before the correction, [M].

    Args:
        measures: the scores on measures that are defined on the same queries. [M]
        column: the name of the column.
        labels_and_order: the label of each query, [Q], and the labels in the order of the slices.
        pairs: the systems to compare.
        settings: the number of draws and the seed.
    """
    labels, order = labels_and_order
    queries = np.flatnonzero(measures[0].is_defined)
    # In an order that depends on the queries only, so that p does not depend on other systems.
    queries = queries[np.argsort(measures[0].keys[queries], kind="stable")]
    label_of = [labels[query] for query in queries.tolist()]
    counts = dict.fromkeys(order, 0) | Counter(label_of)
    large = [label for label, count in counts.items() if count >= FEWEST_IN_SLICE]
    num_queries = sum(counts[label] for label in large)
    draws = 0
    p: list[list[float | None]] = [[None] * len(pairs.listed) for _ in measures]
    if len(large) >= FEWEST_SLICES:
        draws = sign_vectors_for(num_queries, pairs, draws=settings.draws, rng=settings.rng).draws
        tested = slice_interaction(
            np.concatenate([pairs.differences(scores.scores[:, queries]) for scores in measures]),
            label_of,
            draws=draws,
            rng=settings.rng,
        )
        p = [[*row] for row in tested.p.reshape(len(measures), -1).tolist()]
    return [
        [
            Interaction(
                measure=scores.measure,
                column=column,
                system=scores.systems[pair.system],
                against=scores.systems[pair.against],
                p=p_of_pair,
                p_corrected=p_of_pair,
                num_slices=len(large),
                num_queries=num_queries,
                too_small=tuple(label for label in counts if label not in large),
                draws=draws,
                verdict="not tested",
            )
            for pair, p_of_pair in zip(pairs.listed, p_of_measure, strict=True)
        ]
        for scores, p_of_measure in zip(measures, p, strict=True)
    ]


def _with_verdicts(
    interactions: Sequence[Interaction], settings: ComparisonSettings
) -> list[Interaction]:
    """Return the tests on one measure with corrected p and verdicts; "not tested" stays."""
    p = np.array([np.nan if test.p is None else test.p for test in interactions])
    corrected = correct(p, settings.correction)
    differs = is_at_most(corrected, settings.alpha).tolist()
    return [
        interaction
        if interaction.p is None
        else interaction.model_copy(
            update={
                "p_corrected": float(p_corrected),
                "verdict": "differs" if is_different else "undecided",
            }
        )
        for interaction, p_corrected, is_different in zip(
            interactions, corrected, differs, strict=True
        )
    ]


# Sentences


def interaction_sentences(interactions: Sequence[Interaction]) -> Iterator[str]:
    """Yield whether differences depend on a column, by measure and column."""
    groups: dict[tuple[str, str], list[Interaction]] = {}
    for interaction in interactions:
        groups.setdefault((interaction.measure, interaction.column), []).append(interaction)
    has_one_measure = len({measure for measure, _ in groups}) == 1
    for (measure, column), group in groups.items():
        label = f"By {column}" if has_one_measure else f"{measure}, by {column}"
        yield from (f"{label}: {sentence}" for sentence in _sentences_of_group(group))


def _sentences_of_group(group: Sequence[Interaction]) -> Iterator[str]:
    """Yield the sentences on all pairs of one measure and column."""
    by_p = sorted(group, key=lambda test: 1 if test.p_corrected is None else test.p_corrected)
    differing = [test for test in by_p if test.verdict == "differs"]
    for test in differing[:MOST_NAMED]:
        which = "" if len(group) == 1 else f" of {test.system} from {test.against}"
        yield f"the difference{which} depends on it ({_p_of(test)})"
    if len(differing) > MOST_NAMED:
        yield f"{len(differing) - MOST_NAMED} more of {len(group)} differences depend on it"
    others = [test for test in by_p if test.verdict != "differs"]
    if not others:
        return
    test, number = others[0], f"{len(others)} of {len(group)}"
    if len(others) == len(group):
        number = "both" if len(group) == 2 else f"all {len(group)}"  # noqa: PLR2004
    which = "" if len(group) == 1 else f" for {number} pairs"
    if test.p is None:
        yield (
            f"not tested{which} whether the difference depends on it: fewer than {FEWEST_SLICES} "
            f"slices have {FEWEST_IN_SLICE} queries with a score"
        )
    else:
        smallest = "" if len(others) == 1 else "smallest "
        yield f"undecided{which} whether the difference depends on it ({smallest}{_p_of(test)})"


def _p_of(interaction: Interaction) -> str:
    """Return the p of a test, as text."""
    is_corrected = interaction.p_corrected != interaction.p
    return f"{'adj. ' if is_corrected else ''}p {known_p_text(interaction.p_corrected)}"


def known_p_text(p: float | None) -> str:
    """Return a p as text; "n/a" if nothing was tested."""
    return "n/a" if p is None else p_text(p)


def interaction_notes(
    interactions: Sequence[Interaction], settings: ComparisonSettings
) -> Iterator[str]:
    """Yield how the tests were made."""
    draws_of: dict[str, list[int]] = {}
    for test in interactions:
        if test.p is not None:
            draws_of.setdefault(test.measure, []).append(test.draws)
    for measure, draws in draws_of.items():
        corrected = f", corrected by {settings.correction} over {len(draws)} tests"
        yield (
            f"{measure}: whether gains differ between slices: Welch's statistic, labels permuted "
            f"{max(draws):,} times{corrected if len(draws) > 1 else ''}"
        )


def small_slices_notes(interactions: Sequence[Interaction]) -> Iterator[str]:
    """Yield which slices have no part in the tests."""
    small: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
    for test in interactions:
        if test.too_small:
            small.setdefault((test.column, test.too_small), {})[test.measure] = None
    num_measures = len({test.measure for test in interactions})
    for (column, labels), measures in small.items():
        of_measures = "" if len(measures) == num_measures else f" of {', '.join(measures)}"
        yield (
            f"{column}: not in the test of all slices{of_measures}, fewer than {FEWEST_IN_SLICE} "
            f"queries with a score: {some_of(labels)}"
        )
