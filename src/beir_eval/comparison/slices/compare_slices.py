"""``compare_slices``: comparison of systems within slices of the queries.

A column {query_id: label} divides the queries into slices, one for each label. ``by_length``,
``by_num_relevant``, ``by_metadata`` and ``cut`` return such columns. The p-values of all slices are
corrected together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.comparison.alignment import align_scores, check_baseline, repeats_by_system
from beir_eval.comparison.differences import (
    differences_together,
    means_of,
    pairs_to_compare,
    tests_of,
)
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.comparison.slices.columns import columns_of
from beir_eval.comparison.slices.interactions import interactions_of
from beir_eval.comparison.slices.result import ALL, Slice, SlicedComparison
from beir_eval.errors import InputError, check_choice, first_few
from beir_eval.significance.corrections import CORRECTIONS
from beir_eval.significance.validation import FEWEST_QUERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from beir_eval.comparison.alignment import MeasureScores, SystemResults
    from beir_eval.comparison.differences import Pairs, Tests
    from beir_eval.comparison.records import Difference
    from beir_eval.core.arrays import Mask
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike

#: The label of the slice of queries without a label.
NO_LABEL = "(none)"


class _Part(NamedTuple):
    """A slice: its column and label, and which of the queries compared are in it, bool[Q]."""

    column: str
    label: str
    queries: Mask


def compare_slices(  # noqa: PLR0913 - one keyword a setting
    results: Mapping[str, SystemResults] | Iterable[EvaluationResult],
    slices: Mapping[str, Any],
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    baseline: str | None = None,
    test: str = "sign_flip",
    correction: str = "holm",
    alpha: float = 0.05,
    margin: float = 0.01,
    on: str = "error",
    draws: int | None = None,
    rng: int = 0,
) -> SlicedComparison:
    """Return a comparison of systems within every slice of the queries, corrected over all slices.

    A test over all slices says whether the gain of a system differs between them
    (``significance.slice_interaction``); the verdicts of the slices do not say it. A query on which
    a measure is undefined for some system is left out for that measure. A slice in which fewer than
    two queries remain is not compared; the result lists it as too small. Slices of fewer than ten
    have no part in the test over all slices.

    Args:
        results: {name: result}, or results with different names. A system may be a list of results,
            its repeats; their scores are averaged for each query.
        slices: one column, {query_id: label}, or several, {column name: {query_id: label}}. A label
            is text, True or False; a column of numbers is cut into four slices of about equal size
            (use ``cut`` for other edges, and text for numbers that are labels). Slices are listed
            in the order in which their labels first occur in the column; queries without a label
            form the slice "(none)".
        measures: the measures to compare; by default all that every result contains and that are
            means over queries for which more is better.
        baseline: the name of the system with which all others are compared; None compares all
            pairs.
        test: "sign_flip" (randomisation test of the mean difference) or "t" (paired t test).
        correction: the correction over all slices of all columns and all pairs of systems, for each
            measure: "holm", "bonferroni" or "none". The tests over all slices are corrected in the
            same way, over all columns and pairs. The p of equality is always corrected by Holm.
        alpha: the level of the verdicts; the interval of a difference has the level at which this
            difference was tested, a confidence of 1 − alpha or more.
        margin: the smallest difference you consider meaningful, in the unit of the measures.
        on: systems evaluated on different queries or judgements are an "error", or are compared on
            the "intersection" of their queries, with "any-judgements" also if these were judged
            otherwise.
        draws: the number of random sign vectors, and of permutations of the labels; None: 100,000,
            or 20,000 for more than 1,000 queries or 500 pairs. If a pair has no more sign vectors
            than this, up to their opposites, all of them are used.
        rng: the seed of the sign vectors and permutations, a whole number from 0.

    Raises:
        InputError: ``slices`` has another shape, no query compared has a label in some column, a
            label is neither text, True, False nor a number, or a query id in ``slices`` is neither
            text nor an integer or is empty.
        SettingError: an invalid setting, an unknown baseline, or all pairs of more than 100
            systems.
        ResultError: fewer than two systems, two of the same name, or results that were evaluated
            with different settings or on different judgements.
        QueryMismatchError: different queries with ``on="error"``, or no query in common.
        NotEvaluatedError: a measure that a result lacks.
        MeasureError: an unknown measure, one that cannot be compared, or none in common.
        MissingExtraError: scipy is not installed, and the test is not "sign_flip".

    Warns:
        BeirEvalWarning: the document ids of a system do not match those of the qrels.

    >>> from beir_eval import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(17)}
    >>> runs = {"B": {query: {"a": 1, "x": 2} for query in qrels}}
    >>> runs["A"] = runs["B"] | {f"q{n}": {"a": 2, "x": 1} for n in range(8)}
    >>> results = {name: evaluate(qrels, run, ["MRR"], name=name) for name, run in runs.items()}
    >>> topics = {f"q{n}": "one" if n < 8 else "two" for n in range(16)}
    >>> slices = compare_slices(results, topics, baseline="B").slices
    >>> [(part.label, *(pair.verdict for pair in part.differences)) for part in slices]
    [('one', 'better'), ('two', 'identical'), ('(none)',)]
    """
    check_choice("correction", correction, CORRECTIONS)
    settings = ComparisonSettings(
        test=test,
        correction=correction,
        alpha=alpha,
        margin=margin,
        on=on,
        draws=draws,
        rng=rng,
    )
    columns = columns_of(slices)
    joined = align_scores(repeats_by_system(results), measures, on)
    check_baseline(baseline, joined.systems)
    pairs = pairs_to_compare(joined.systems, baseline)
    labels = _labels_by_column(columns, joined.query_ids)
    parts = list(_parts_of(columns, labels))
    all_queries = _Part("", ALL, np.ones(len(joined.query_ids), dtype=np.bool_))
    [whole] = _compared([all_queries], joined.by_measure, pairs, settings)
    return SlicedComparison(
        systems=joined.systems,
        baseline=baseline,
        num_queries=len(joined.query_ids),
        columns=tuple(columns),
        interactions=tuple(
            interactions_of(
                joined.by_measure, labels, [part.label for part in parts], pairs, settings
            )
        ),
        slices=_compared(parts, joined.by_measure, pairs, settings),
        whole=whole,
        settings=settings,
        **joined.stated(),
    )


def _labels_by_column(
    columns: Mapping[str, Mapping[str, str]], query_ids: Sequence[str]
) -> dict[str, list[str]]:
    """Return {column name: the label of each query. [Q]}.

    Args:
        columns: {column name: {query_id: label}}.
        query_ids: the queries compared. [Q]

    Raises:
        InputError: no query compared has a label in some column.
    """
    labels_by_column = {}
    for name, column in columns.items():
        labels = [column.get(query_id, NO_LABEL) for query_id in query_ids]
        if set(labels) == {NO_LABEL}:
            msg = (
                f"{name}: no query has a label. The queries compared are {first_few(query_ids)}, "
                f"the column has {first_few(column) or 'none'}"
            )
            raise InputError(msg)
        labels_by_column[name] = labels
    return labels_by_column


def _parts_of(
    columns: Mapping[str, Mapping[str, str]], labels_by_column: Mapping[str, Sequence[str]]
) -> Iterator[_Part]:
    """Yield every slice.

    Args:
        columns: {column name: {query_id: label}}.
        labels_by_column: {column name: the label of each query compared. [Q]}.
    """
    for name, column in columns.items():
        labels = np.array(labels_by_column[name], dtype=object)
        present = set(labels_by_column[name])
        for label in dict.fromkeys((*column.values(), NO_LABEL)):
            if label in present:
                yield _Part(name, label, labels == label)


def _compared(
    parts: Sequence[_Part],
    measures: Sequence[MeasureScores],
    pairs: Pairs,
    settings: ComparisonSettings,
) -> tuple[Slice, ...]:
    """Return the comparison within each slice, corrected over all slices and pairs of a measure.

    Args:
        parts: the slices.
        measures: the scores of all systems on each measure, NaN where undefined. [M]
        pairs: the pairs of systems to compare.
        settings: test, correction, level and margin.
    """
    fields: list[dict[str, list[Any]]] = [
        {"too_small": [], "means": [], "differences": []} for _ in parts
    ]
    for scores in measures:
        tested: list[tuple[list[Difference], Tests]] = []
        for part, of_part in zip(parts, fields, strict=True):
            queries = part.queries & scores.is_defined
            if queries.sum() < FEWEST_QUERIES:
                of_part["too_small"].append(scores.measure)
                continue
            selected = scores.select(queries)
            of_part["means"] += means_of(selected, settings)
            [tests] = tests_of([selected], pairs, settings)
            tested.append((of_part["differences"], tests))
        all_tests = [tests for _, tests in tested]
        corrected = differences_together(all_tests, settings) if tested else []
        for (listed, _), of_slice in zip(tested, corrected, strict=True):
            listed.extend(of_slice)
    return tuple(
        Slice(
            column=part.column,
            label=part.label,
            num_queries=int(part.queries.sum()),
            **{name: tuple(values) for name, values in of_part.items()},
        )
        for part, of_part in zip(parts, fields, strict=True)
    )
