"""Figures of a comparison: all differences (forest), or the queries of one pair."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from beir_eval.comparison.tables import shown_differences
from beir_eval.comparison.verdict_sentences import intervals_text
from beir_eval.display import charts as display_charts
from beir_eval.display.charts import difference_rows
from beir_eval.measures.scales import scale_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.comparison.compared import Compared
    from beir_eval.comparison.records import ComparisonSettings, Difference, PairDifference
    from beir_eval.display.figure import Figure

#: The kinds of figures that ``Comparison.plot`` draws.
PLOT_KINDS = ("forest", "queries", "scatter")


def forest_figure(comparison: Compared, measure: str, *, most: int | None = None) -> Figure:
    """Return a forest plot: the differences on a measure with their intervals.

    They have the signs of the tables: system minus baseline, or of all pairs the higher mean minus
    the lower. With a baseline, a row is labelled by its system alone, and the title names it.

    Args:
        comparison: the comparison.
        measure: the canonical name of one of its measures.
        most: how many differences to draw at most, the largest in absolute value; None draws all.
    """
    differences = [pair for pair in shown_differences(comparison) if pair.measure == measure]
    return forest_of(
        differences,
        measure,
        comparison.baseline,
        margin=comparison.settings.margin,
        intervals=intervals_text(comparison.settings, len(differences)),
        most=most,
    )


def forest_of(  # noqa: PLR0913 - what to draw, and what to say of it
    differences: Sequence[PairDifference],
    what: str,
    baseline: str | None,
    *,
    margin: float | None,
    intervals: str,
    most: int | None,
) -> Figure:
    """Return a forest plot of the differences of several pairs.

    Args:
        differences: the pairs.
        what: of what they are, such as "nDCG@10".
        baseline: with what all are compared; None if each pair has another one.
        margin: the smallest difference that matters; None draws none.
        intervals: what the intervals are, such as "95% intervals".
        most: how many to draw at most, the largest in absolute value; None draws all.
    """
    drawn, of_pairs = differences, baseline is None
    if most is not None and len(differences) > most:
        drawn = sorted(differences, key=lambda pair: -abs(pair.difference))[:most]
    figure = display_charts.forest(
        [_forest_row(pair, _pair_label(pair) if of_pairs else pair.system) for pair in drawn],
        title=f"difference of {what}{'' if of_pairs else f' to {baseline}'}",
        margin=margin,
        intervals=intervals,
        of_pairs=of_pairs,
    )
    cut = f"the {len(drawn)} greatest of {len(differences)}"
    return _described(figure, cut if len(drawn) < len(differences) else "")


def forest_of_slices(
    differences: Sequence[tuple[str, Difference]],
    measure: str,
    settings: ComparisonSettings,
    *,
    most: int,
) -> Figure:
    """Return a forest plot of one pair: its difference on a measure, one row per slice.

    Args:
        differences: the name of each slice, and the difference in it; one or more.
        measure: the canonical name of the measure.
        settings: those of the comparison.
        most: how many slices to draw at most, the first ones.
    """
    drawn = differences[:most]
    figure = display_charts.forest(
        [_forest_row(pair, f"{name} ({pair.num_queries:,} queries)") for name, pair in drawn],
        title=f"difference of {measure}",
        margin=settings.margin,
        intervals=intervals_text(settings, len(differences)),
    )
    # Not in the title, which is also that of the axis: names can be long.
    cut = f"the first {len(drawn)} of {len(differences)} slices"
    of_pair = _pair_label(differences[0][1])
    return _described(figure, of_pair, cut if len(drawn) < len(differences) else "")


def _described(figure: Figure, *additions: str) -> Figure:
    """Return a figure with additions to its description and title, those that are not empty."""
    description = "; ".join(filter(None, [figure.spec["description"], *additions]))
    figure.spec.update(description=description, title=description)
    return figure


def _pair_label(difference: PairDifference) -> str:
    return f"{difference.system} − {difference.against}"


def _forest_row(difference: PairDifference, label: str) -> dict[str, Any]:
    """Return the row of a forest plot: a difference, its interval and its verdict."""
    # Of identical systems there is no interval.
    is_known = bool(difference.low or difference.high)
    return {
        "label": label,
        "difference": difference.difference,
        "low": difference.low if is_known and isfinite(difference.low) else None,
        "high": difference.high if is_known and isfinite(difference.high) else None,
        "verdict": difference.verdict,
    }


def pair_figure(  # noqa: PLR0913 - what to draw, and for which systems
    comparison: Compared,
    kind: str,
    measure: str,
    system: str,
    against: str,
    *,
    texts: Mapping[str, str] | None = None,
) -> Figure:
    """Return a figure of the queries of one pair.

    Args:
        comparison: the comparison.
        kind: "queries" (sorted bars of the differences) or "scatter" (points of both scores).
        measure: the name of one of its measures.
        system: the system from whose scores those of the other are subtracted.
        against: the system it is compared with.
        texts: {query_id: text} for the pointer to show.
    """
    array = comparison.scores[measure].array
    ours, theirs = (array[comparison.systems.index(name)].tolist() for name in (system, against))
    higher_is_better = scale_of(measure, comparison.custom_measures).higher_is_better
    rows = difference_rows(
        comparison.query_ids, ours, theirs, texts, higher_is_better=higher_is_better
    )
    draw = display_charts.query_differences if kind == "queries" else display_charts.scatter
    return draw(
        rows, measure=measure, system=system, against=against, higher_is_better=higher_is_better
    )
