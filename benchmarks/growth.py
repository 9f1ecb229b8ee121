"""How the cost grows with queries and with documents per query: a table and a picture.

Measured with one judged document a query, from 1,000 to 1,000,000 queries of 10 documents in dicts
and of 100 documents in top-k arrays, and from 10 to 10,000 documents for each of 1,000 queries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from measuring import HERE, in_turns

if TYPE_CHECKING:
    from pathlib import Path

PICTURE = HERE / "growth.png"
QUERIES = (1_000, 10_000, 100_000, 1_000_000)
DOCUMENTS = (10, 100, 1_000, 10_000)


class Line(NamedTuple):
    """One line of the picture: label, axis, name of the case for a size, and the sizes."""

    label: str
    axis: str
    case: str
    sizes: tuple[int, ...]


LINES = (
    Line("dicts, 10 documents each", "queries", "dicts {} 10 1 own", QUERIES),
    Line("top-k arrays, 100 documents each", "queries", "arrays {} 100", QUERIES),
    Line("dicts, 1,000 queries", "documents per query", "dicts 1000 {} 1 own", DOCUMENTS),
    Line("top-k arrays, 1,000 queries", "documents per query", "arrays 1000 {}", DOCUMENTS),
)


def measure(repetitions: int) -> dict[Line, list[float]]:
    """Return the median seconds of every line, one for each of its sizes."""
    seconds_of: dict[Line, list[float]] = {}
    for line in LINES:
        cases = [line.case.format(size) for size in line.sizes]
        times = [in_turns(case, ["beir-eval"], repetitions)["beir-eval"] for case in cases]
        seconds_of[line] = [side.median for side in times]
        print(line.label, [f"{seconds:.4f}" for seconds in seconds_of[line]], flush=True)
    return seconds_of


def table(seconds_of: dict[Line, list[float]]) -> list[str]:
    """Return the lines of the table: seconds, and their ratio to those of a tenth of the size."""
    rows = ["| what | grows | seconds (times the seconds of a tenth) |", "|---|---|---|"]
    for line, seconds in seconds_of.items():
        cells = [
            f"{size:,}: {cost:.4f}" + (f" (× {cost / previous:.1f})" if previous else "")
            for size, cost, previous in zip(line.sizes, seconds, [0.0, *seconds], strict=False)
        ]
        rows.append(f"| {line.label} | {line.axis} | {', '.join(cells)} |")
    return rows


def draw(seconds_of: dict[Line, list[float]], path: Path = PICTURE) -> None:
    """Save the picture, with logarithmic scales; dotted lines show proportional growth."""
    import matplotlib as mpl  # noqa: PLC0415 - only for the picture

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    figure, panels = plt.subplots(1, 2, figsize=(10, 4), sharey=True, layout="constrained")
    for panel, axis in zip(panels, ("queries", "documents per query"), strict=True):
        for line, seconds in seconds_of.items():
            if line.axis == axis:
                (drawn,) = panel.plot(line.sizes, seconds, marker="o", label=line.label)
                straight = [seconds[-1] * size / line.sizes[-1] for size in line.sizes]
                panel.plot(line.sizes, straight, linestyle=":", color=drawn.get_color())
        panel.set(xscale="log", yscale="log", xlabel=axis)
        panel.legend()
    panels[0].set_ylabel("seconds, 24 numbers (dotted: proportional)")
    figure.savefig(path, dpi=110)
