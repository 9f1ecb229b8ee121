"""How time and memory grow: a table and a picture.

One judged document a query, 24 numbers, except where these grow. Memory is the peak of the process
beyond the data. The floor looks at the input once and computes nothing: it reads the scores of
dicts, the arrays, three columns of the file with polars, or the texts of Haystack's documents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from measuring import HERE, Times, in_turns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PICTURE = HERE / "growth.png"
QUERIES = (1_000, 10_000, 100_000, 1_000_000)
DOCUMENTS = (10, 100, 1_000, 10_000)
JUDGED = (1, 10, 100, 1_000)
MEASURES = (4, 40, 400)
#: Bytes of a MiB, the unit of the table and the picture.
_MIB = 2**20


class Line(NamedTuple):
    """One line of the picture.

    Attributes:
        label: what is measured.
        axis: what grows.
        case: the name of the case, with {} for the size.
        sizes: the sizes.
        floor: the side that only looks at the input.
    """

    label: str
    axis: str
    case: str
    sizes: tuple[int, ...]
    floor: str


LINES = (
    Line("dicts, 10 documents each", "queries", "dicts {} 10 1 own", QUERIES, "reading"),
    Line("top-k arrays, 100 documents each", "queries", "arrays {} 100", QUERIES, "one pass"),
    Line("TREC file, 100 documents each", "queries", "file {} 100", QUERIES[:3], "polars"),
    Line("Haystack, 100 documents each", "queries", "haystack {} 100", QUERIES[:2], "contents"),
    Line("dicts, 1,000 queries", "documents", "dicts 1000 {} 1 own", DOCUMENTS, "reading"),
    Line("top-k arrays, 1,000 queries", "documents", "arrays 1000 {}", DOCUMENTS, "one pass"),
    Line("TREC file, 1,000 queries", "documents", "file 1000 {}", DOCUMENTS, "polars"),
    Line("Haystack, 100 queries", "documents", "haystack 100 {}", DOCUMENTS[:3], "contents"),
    Line("dicts, 300 × 1,000", "judged", "dicts 300 1000 {} own", JUDGED, "reading"),
    Line("dicts, 10,000 × 100", "measures", "measures 10000 100 {}", MEASURES, "reading"),
)


class Costs(NamedTuple):
    """The times and memory of a line, for each of its sizes, and those of its floor."""

    ours: list[Times]
    floor: list[Times]


def measure(repetitions: int) -> dict[Line, Costs]:
    """Return the costs of every line."""
    costs_of: dict[Line, Costs] = {}
    for line in LINES:
        costs_of[line] = costs = Costs([], [])
        for size in line.sizes:
            times = in_turns(line.case.format(size), ["beir-eval", line.floor], repetitions)
            costs.ours.append(times["beir-eval"])
            costs.floor.append(times[line.floor])
        print(line.label, [f"{times.median:.4f}" for times in costs.ours], flush=True)
    return costs_of


def table(costs_of: dict[Line, Costs]) -> list[str]:
    """Return the lines of the table: seconds and MiB, and their ratio to those of a tenth."""
    rows = [
        "| what | grows | seconds (times those of a tenth; of the floor) | MiB beyond the data |",
        "|---|---|---|---|",
    ]
    for line, costs in costs_of.items():
        seconds = [times.median for times in costs.ours]
        cells = [
            f"{size:,}: {cost:.4f} ({f'× {cost / previous:.1f}; ' if previous else ''}"
            f"{floor.median:.4f})"
            for size, cost, previous, floor in zip(
                line.sizes, seconds, [0.0, *seconds], costs.floor, strict=False
            )
        ]
        memory = ", ".join(f"{times.beyond / _MIB:,.0f}" for times in costs.ours)
        rows.append(f"| {line.label} | {line.axis} | {', '.join(cells)} | {memory} |")
    return rows


def draw(costs_of: dict[Line, Costs], path: Path = PICTURE) -> None:
    """Save the picture, with logarithmic scales; dotted lines are floors."""
    import matplotlib as mpl  # noqa: PLC0415 - only for the picture

    mpl.use("Agg")
    import matplotlib.pyplot as plt  # noqa: PLC0415

    axes = list(dict.fromkeys(line.axis for line in costs_of))
    units: dict[str, Callable[[Times], float]] = {
        "seconds (dotted: floor)": lambda times: times.median,
        "MiB beyond the data": lambda times: max(times.beyond, _MIB) / _MIB,
    }
    figure, panels = plt.subplots(
        2, len(axes), figsize=(4.5 * len(axes), 8), sharey="row", layout="constrained"
    )
    for row, (unit, value_of) in zip(panels, units.items(), strict=True):
        for panel, axis in zip(row, axes, strict=True):
            for line, costs in costs_of.items():
                if line.axis != axis:
                    continue
                (drawn,) = panel.plot(
                    line.sizes, list(map(value_of, costs.ours)), marker="o", label=line.label
                )
                floor = list(map(value_of, costs.floor))
                panel.plot(line.sizes, floor, linestyle=":", color=drawn.get_color())
            panel.set(xscale="log", yscale="log", xlabel=axis)
            panel.legend(fontsize="small")
        row[0].set_ylabel(unit)
    figure.savefig(path, dpi=110)
