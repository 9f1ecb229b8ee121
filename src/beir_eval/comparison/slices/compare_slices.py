"""Where is one system better than another: the comparison by slices of the queries.

``compare_slices`` compares within every slice and corrects over all of them. A slice is a label of
a column {query_id: label}, such as ``by_length``, ``by_num_relevant``, ``by_metadata`` and ``cut``
make.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.comparison.alignment import check_baseline, join
from beir_eval.comparison.differences import evidence_of, means_of, pairs_of, with_verdicts
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.comparison.slices.columns import columns_of
from beir_eval.comparison.slices.result import Slice, SlicedComparison
from beir_eval.errors import InputError, check_choice, some
from beir_eval.significance import correct
from beir_eval.significance.corrections import CORRECTIONS
from beir_eval.significance.validation import FEWEST_QUERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from beir_eval.comparison.alignment import MeasureScores, SystemResults
    from beir_eval.comparison.differences import Pairs
    from beir_eval.comparison.records import Difference, SystemMean
    from beir_eval.core.arrays import Mask
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike

#: The label of queries that have none.
NONE = "(none)"


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
    check_baseline(baseline, joined.systems)
    pairs = pairs_of(joined.systems, baseline)
    drafts = list(_drafts(columns, joined.query_ids))
    for scores in joined.by_measure:
        _measure(drafts, scores, pairs, settings)
    return SlicedComparison(
        systems=joined.systems,
        baseline=baseline,
        measures=joined.measures,
        num_queries=len(joined.query_ids),
        columns=tuple(columns),
        slices=tuple(
            Slice(
                column=draft.column,
                label=draft.label,
                num_queries=int(draft.queries.sum()),
                too_small=tuple(draft.too_small),
                means=tuple(draft.means),
                differences=tuple(draft.differences),
            )
            for draft in drafts
        ),
        settings=settings,
        left_out=joined.left_out,
    )


@dataclass(frozen=True, eq=False)
class _SliceDraft:
    """A slice that is filled measure by measure; ``queries`` are those in it, bool[Q]."""

    column: str
    label: str
    queries: Mask
    too_small: list[str] = field(default_factory=list)
    means: list[SystemMean] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)


def _drafts(
    columns: Mapping[str, Mapping[str, str]], query_ids: Sequence[str]
) -> Iterator[_SliceDraft]:
    """Yield every slice, still empty."""
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
                yield _SliceDraft(name, label, labels == label)


def _measure(
    drafts: Sequence[_SliceDraft], scores: MeasureScores, pairs: Pairs, settings: ComparisonSettings
) -> None:
    """Add one measure to every slice that is large enough, corrected over all slices."""
    defined = scores.is_defined
    evidence: list[Difference] = []
    compared: list[_SliceDraft] = []
    for draft in drafts:
        queries = draft.queries & defined
        if queries.sum() < FEWEST_QUERIES:
            draft.too_small.append(scores.measure)
            continue
        in_slice = scores.on(queries)
        draft.means.extend(means_of(in_slice, settings))
        of_slice = evidence_of(in_slice, pairs, settings)
        evidence += of_slice
        compared += [draft] * len(of_slice)
    p_corrected = correct([difference.p for difference in evidence], settings.correction)
    differences = with_verdicts(evidence, p_corrected, settings)
    for draft, difference in zip(compared, differences, strict=True):
        draft.differences.append(difference)
