"""How a verdict looks in every output: its mark, its colours and its shape."""

from __future__ import annotations

from typing import NamedTuple


class VerdictStyle(NamedTuple):
    """How a verdict looks.

    Attributes:
        mark: behind a number in a table; "" for none.
        explanation: of the mark.
        terminal: the colour on a terminal.
        colour: in figures; visible on white and on black, distinct for the colour-blind.
        shape: of a point in a figure.
    """

    mark: str
    explanation: str
    terminal: str
    colour: str
    shape: str


VERDICTS = {
    "better": VerdictStyle("▲", "better than the baseline", "green", "#2f7de1", "triangle-right"),
    "worse": VerdictStyle("▼", "worse than the baseline", "red", "#d26a00", "triangle-left"),
    "equal": VerdictStyle(
        "=", "equal to the baseline within the margin", "cyan", "#8a63d2", "square"
    ),
    "undecided": VerdictStyle("", "", "default", "#808890", "circle"),
}
