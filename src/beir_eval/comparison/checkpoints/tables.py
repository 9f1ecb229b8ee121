"""The curve of a training run as text and as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.comparison.tables import p_text, signed
from beir_eval.display import charts as kinds
from beir_eval.display.tables import Table, markdown_text, number, records_csv

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.comparison.checkpoints.records import Checkpoint, Curve, Outcome, Step
    from beir_eval.display.figure import Figure

_CHANGES = (
    "steps",
    "measure",
    "difference",
    "interval",
    "p",
    "corrected",
    "won/tied/lost",
    "verdict",
)


def step_text(step: Step) -> str:
    """Return a step as it is printed.

    >>> step_text(1000000), step_text(0.5)
    ('1000000', '0.5')
    """
    return str(step)


def to_table(curve: Curve) -> Table:
    """Return checkpoints × measures: the mean with its interval, the best marked."""
    points = {(one.measure, one.name): one for one in curve.points}
    best = {(one.measure, one.best.name) for one in curve.outcomes}
    settled = {(one.measure, one.settled.name) for one in curve.outcomes}
    rows = []
    for checkpoint in curve.checkpoints:
        cells = [step_text(checkpoint.step), checkpoint.name]
        for measure in curve.measures:
            place = (measure, checkpoint.name)
            point = points[place]
            marks = ("★" if place in best else "") + ("●" if place in settled else "")
            shown = f"{number(point.mean)} ({number(point.low)} … {number(point.high)})"
            cells.append(f"{shown} {marks}".strip())
        rows.append(cells)
    return Table(("step", "checkpoint", *curve.measures), rows)


def changes_table(curve: Curve) -> Table:
    """Return every checkpoint against the one before it."""
    step = {one.name: step_text(one.step) for one in curve.checkpoints}
    rows = [
        (
            f"{step[one.against]} to {step[one.system]}",
            one.measure,
            signed(one.difference),
            f"{signed(one.low)} … {signed(one.high)}",
            p_text(one.p),
            p_text(one.p_corrected),
            f"{one.wins}/{one.ties}/{one.losses}",
            f"equal within {curve.settings.margin:g}" if one.verdict == "equal" else one.verdict,
        )
        for one in curve.changes
    ]
    return Table(_CHANGES, rows)


def sentences(curve: Curve) -> Iterator[str]:
    """Yield what each measure says about the best step, and after which nothing improved."""
    for one in curve.outcomes:
        yield _best(curve, one)
        yield _settled(one)


def _best(curve: Curve, one: Outcome) -> str:
    count = len(curve.checkpoints)
    share = next(
        each.best_in
        for each in curve.points
        if (each.measure, each.name) == (one.measure, one.best.name)
    )
    return (
        f"{one.measure}: step {_named(one.best)} is best with {number(one.score)}, in {share:.0%} "
        f"of the resamples too. The best of {count} is biased upward, here by about "
        f"{number(one.bias)} or more: report it on other queries than those it was chosen on"
    )


def _settled(one: Outcome) -> str:
    settled = _named(one.settled)
    if one.p_settled is None:
        return (
            f"{one.measure}: after every step something improved significantly, up to the last, "
            f"step {settled}: more training may improve it further"
        )
    return (
        f"{one.measure}: after step {settled} nothing improved significantly (smallest corrected "
        f"p {p_text(one.p_settled)}, {one.num_queries} queries); that a later step is no better is "
        "not shown by that"
    )


def _named(checkpoint: Checkpoint) -> str:
    return f"{step_text(checkpoint.step)} ({checkpoint.name})"


def notes_of(curve: Curve) -> Iterator[str]:
    """Yield what a reader of the tables must know."""
    settings = curve.settings
    yield (
        f"★ the best step, ● the first after which nothing improved significantly: no later step "
        f"is better at {settings.alpha:g}, one-sided sign flips, corrected by Holm over the later "
        "steps"
    )
    count = len(curve.checkpoints) - 1
    yield (
        f"intervals are BCa bootstrap intervals at {1 - settings.alpha:.0%}; each step against the "
        f"one before: two-sided sign flips, corrected by Holm over the {count} of a measure"
    )
    for name, left in curve.left_out.items():
        yield f"{name}: {left} queries left out that others do not have"


def to_markdown(curve: Curve) -> str:
    """Return what was found, the curve, the changes from step to step and notes."""
    found = "".join(f"- {markdown_text(one)}\n" for one in sentences(curve))
    notes = "".join(f"- {markdown_text(one)}\n" for one in notes_of(curve))
    return f"{found}\n{to_table(curve).markdown()}\n\n{changes_table(curve).markdown()}\n\n{notes}"


def to_csv(curve: Curve) -> str:
    """Return every point, one a line, for a plot."""
    return records_csv(curve.points)


def curve_figure(curve: Curve, measure: str) -> Figure:
    """Return one measure from step to step; the best and the settled checkpoint are marked."""
    outcome = curve.outcome(measure)
    marks = {outcome.settled.name: "no later gain shown", outcome.best.name: "best"}
    if outcome.settled == outcome.best:
        marks = {outcome.best.name: "best, no later gain shown"}
    rows = [
        {
            "step": one.step,
            "name": one.name,
            "mean": one.mean,
            "low": one.low,
            "high": one.high,
            "mark": marks.get(one.name, ""),
        }
        for one in curve.curve(measure)
    ]
    return kinds.curve(rows, measure=measure, level=1 - curve.settings.alpha)
