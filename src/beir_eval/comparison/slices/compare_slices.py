"""Where is one system better than another: the comparison by slices of the queries.

``compare_slices`` compares within every slice and corrects over all of them. A slice is a label of
a column {query_id: label}, such as ``by_length``, ``by_num_relevant``, ``by_metadata`` and ``cut``
make.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.comparison.alignment import baseline_of, join
from beir_eval.comparison.differences import (
    differences_of,
    means_of,
    pairs_of,
    verdict_of,
)
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.comparison.slices.columns import columns_of
from beir_eval.comparison.slices.result import Slice, SlicedComparison
from beir_eval.errors import InputError, check_choice, some
from beir_eval.significance import correct, equivalence
from beir_eval.significance.corrections import CORRECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from beir_eval.comparison.alignment import Joined, SystemResults
    from beir_eval.comparison.differences import Pair
    from beir_eval.comparison.records import Difference, SystemMean
    from beir_eval.core.arrays import Floats, Mask
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike

#: The label of queries that have none.
NONE = "(none)"
_FEWEST = 2


def compare_slices(  # noqa: PLR0913 - one keyword a setting
    results: Mapping[str, SystemResults] | Iterable[EvaluationResult],
    slices: Mapping[str, Any],
    baseline: str | None = None,
    *,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    test: str = "sign_flip",
    correction: str = "holm",
    alpha: float = 0.05,
    margin: float = 0.01,
    on: str = "error",
    draws: int = 100_000,
    rng: int = 0,
) -> SlicedComparison:
    """Compare systems within every slice of the queries, corrected over all slices.

    Args:
        results: as ``compare``.
        slices: {query_id: label}, or {name: {query_id: label}} for several columns. A column of
            numbers is cut into four parts of about equal size (``cut`` cuts otherwise); numbers
            that are labels must be text. Slices come in the order in which the column first names
            them; queries without a label are the slice "(none)".
        baseline: as ``compare``.
        measures: as ``compare``.
        test: as ``compare``.
        correction: over slices × pairs of one measure, all columns together: "holm", "bonferroni",
            "benjamini-hochberg" or "none". The p of equality is corrected by Holm likewise.
        alpha: as ``compare``.
        margin: as ``compare``.
        on: as ``compare``.
        draws: as ``compare``.
        rng: as ``compare``.

    A slice with fewer than two queries cannot be compared; it is listed as too small.

    Raises:
        InputError: no query compared has a label, or a label is none.
        BeirEvalError: as ``compare``.

    >>> from beir_eval import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(17)}
    >>> runs = {"B": {query: {"a": 1, "x": 2} for query in qrels}}
    >>> runs["A"] = runs["B"] | {f"q{n}": {"a": 2, "x": 1} for n in range(8)}
    >>> results = {name: evaluate(qrels, run, ["MRR"], name=name) for name, run in runs.items()}
    >>> topics = {f"q{n}": "one" if n < 8 else "two" for n in range(16)}
    >>> found = compare_slices(results, topics, "B")
    >>> [(one.label, *(each.verdict for each in one.differences)) for one in found.slices]
    [('one', 'better'), ('two', 'equal'), ('(none)',)]
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
    joined = join(results, measures, on)
    baseline_of(baseline, joined.systems)
    pairs = pairs_of(joined.systems, baseline)
    places = list(_places(columns, joined.query_ids))
    found = [
        _measured(joined, [chosen for *_, chosen in places], place, pairs, baseline, settings)
        for place in range(len(joined.measures))
    ]
    return SlicedComparison(
        systems=joined.systems,
        baseline=baseline,
        measures=joined.measures,
        num_queries=len(joined.query_ids),
        columns=tuple(columns),
        slices=tuple(
            Slice(
                column=column,
                label=label,
                num_queries=int(chosen.sum()),
                too_small=tuple(
                    name
                    for name, of_measure in zip(joined.measures, found, strict=True)
                    if of_measure[number] is None
                ),
                means=tuple(one for measure in found for one in (measure[number] or ((), ()))[0]),
                differences=tuple(
                    one for measure in found for one in (measure[number] or ((), ()))[1]
                ),
            )
            for number, (column, label, chosen) in enumerate(places)
        ),
        settings=settings,
        left_out=joined.left_out,
    )


def _places(
    columns: Mapping[str, Mapping[str, str]], query_ids: Sequence[str]
) -> Iterator[tuple[str, str, Mask]]:
    """Yield column, label and bool[Q] of every slice."""
    for name, column in columns.items():
        labels = np.array([column.get(query_id, NONE) for query_id in query_ids], dtype=object)
        there = set(labels.tolist())
        if there == {NONE}:
            msg = (
                f"{name}: no query has a label. The queries compared are {some(query_ids)}, the "
                f"column has {some(column) or 'none'}"
            )
            raise InputError(msg)
        for label in dict.fromkeys((*column.values(), NONE)):
            if label in there:
                yield name, label, labels == label


def _measured(  # noqa: PLR0913, PLR0917 - what one measure's verdicts come from
    joined: Joined,
    slices: Sequence[Mask],
    place: int,
    pairs: Sequence[Pair],
    baseline: str | None,
    settings: ComparisonSettings,
) -> list[tuple[Sequence[SystemMean], Sequence[Difference]] | None]:
    """Return means and differences of one measure by slice, None where it is too small."""
    name, scores = joined.measures[place], joined.scores(place)
    defined = ~np.isnan(scores).any(axis=0)
    raw = replace(settings, correction="none")
    found: list[tuple[Sequence[SystemMean], list[Difference]] | None] = []
    p_equal: list[float] = []
    for in_slice in slices:
        chosen = in_slice & defined
        if chosen.sum() < _FEWEST:
            found.append(None)
            continue
        repeats: list[Floats] = [one[:, place, chosen] for one in joined.repeats]
        here = scores[:, chosen]
        found.append(
            (
                means_of(name, joined.systems, repeats, settings),
                differences_of(name, joined.systems, here, pairs, baseline, raw),
            )
        )
        p_equal += [
            equivalence(
                here[one.system] - here[one.against], delta=settings.margin, alpha=settings.alpha
            ).p
            for one in pairs
        ]
    return list(_corrected(found, p_equal, settings))


def _corrected(
    found: Sequence[tuple[Sequence[SystemMean], Sequence[Difference]] | None],
    p_equal: Sequence[float],
    settings: ComparisonSettings,
) -> Iterator[tuple[Sequence[SystemMean], Sequence[Difference]] | None]:
    """Yield the same with p-values corrected over all slices, and the verdicts they give."""
    listed = [one.p for of_slice in found if of_slice for one in of_slice[1]]
    corrected = iter(
        zip(
            correct(listed, settings.correction).tolist() if listed else [],
            correct(p_equal, "holm").tolist() if listed else [],
            strict=True,
        )
    )
    for of_slice in found:
        if of_slice is None:
            yield None
            continue
        means, differences = of_slice
        yield (
            means,
            [
                one.model_copy(
                    update={
                        "p_corrected": p,
                        "p_equal": equal,
                        "verdict": verdict_of(one.difference, p, equal, settings.alpha),
                    }
                )
                for one, (p, equal) in zip(
                    differences, [next(corrected) for _ in differences], strict=True
                )
            ],
        )
