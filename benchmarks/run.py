"""Measure this package against its peers and write ``RESULTS.md``: ``make bench``.

Each side of a row runs in its own process. The sides run in turns, so that the load of the machine
affects both. A ratio compares two neighbouring runs; the table shows the median, the smallest and
the largest ratio. Before anything is timed, both sides must give the same means.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import cases
import growth
from measuring import HERE, PYTHON, Times, in_turns, whole_processes

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = HERE / "RESULTS.md"
PACKAGES = ("numpy", "polars", "pytrec_eval-terrier", "ranx", "beir-eval")
HEADER = "| path and shape | against | seconds | ours | times faster | peak memory, ours | theirs |"
#: The numbers of queries of the two cases with top-k arrays.
ARRAY_QUERIES = (100_000, 1_000_000)


def mebibytes(size: int) -> str:
    """Return a size in bytes as text in MiB."""
    return f"{size / 2**20:,.0f} MiB"


def echo(line: str) -> str:
    """Print a line of the table at once, to show the progress, and return it."""
    print(line, flush=True)
    return line


def row(name: str, against: str, ours: Times, theirs: Times) -> str:
    """Return the row of the table that compares two sides; ``against`` labels the other side."""
    pairs = zip(theirs.seconds, ours.seconds, strict=False)
    ratios = [their_seconds / our_seconds for their_seconds, our_seconds in pairs]
    spread = f" ({min(ratios):.1f}-{max(ratios):.1f})" if len(ratios) > 1 else ""
    return echo(
        f"| {name} | {against} | {theirs.median:.3f} | {ours.median:.3f} "
        f"| **{statistics.median(ratios):.1f}**{spread} "
        f"| {mebibytes(ours.peak)} | {mebibytes(theirs.peak)} |"
    )


def row_without_peer(name: str, ours: Times) -> str:
    """Return a row of the table for our side only."""
    return echo(f"| {name} | | | {ours.median:.3f} | | {mebibytes(ours.peak)} | |")


def dict_rows(repetitions: int, *, with_ranx: bool) -> list[str]:
    """Measure every shape of dicts and return the rows."""
    rows = []
    for shape in cases.DICT_SHAPES:
        sides = ["beir-eval", "pytrec_eval", "reading", *(["ranx"] if with_ranx else [])]
        case = f"dicts {shape.queries} {shape.documents} {shape.judged}"
        times = in_turns(case, sides, repetitions)
        ours = times.pop("beir-eval")
        for against, theirs in times.items():
            label = "reading the scores alone" if against == "reading" else against
            rows.append(row(f"dicts, {shape}", label, ours, theirs))
    return rows


def array_rows(repetitions: int) -> list[str]:
    """Measure top-k arrays and return the rows."""
    fewer, more = ARRAY_QUERIES
    times = in_turns(f"arrays {fewer} 100", ["beir-eval", "pytrec_eval"], repetitions)
    ours = times["beir-eval"]
    large = in_turns(f"arrays {more} 100", ["beir-eval"], repetitions)["beir-eval"]
    return [
        row(
            f"top-k arrays, {fewer:,} × 100",
            "pytrec_eval, its dicts included",
            ours,
            times["pytrec_eval"],
        ),
        row_without_peer(
            f"top-k arrays, {more:,} × 100: {large.median / ours.median:.1f} times the seconds of "
            f"{fewer:,}, {mebibytes(large.beyond)} beyond the input",
            large,
        ),
    ]


def file_rows(repetitions: int) -> list[str]:
    """Measure whole processes that evaluate run files, and return the rows."""
    with tempfile.TemporaryDirectory() as folder:
        script = [PYTHON, str(HERE / "cases.py")]
        # Written by another process: the peak memory of a child starts with that of its parent.
        subprocess.run([*script, "write", folder], check=True)
        times = whole_processes(
            {
                "TREC": [*script, "ours", folder, "run.trec"],
                "pytrec_eval": [*script, "theirs", folder, "run.trec"],
                "Parquet": [*script, "ours", folder, "run.parquet"],
            },
            repetitions,
        )
        size = (Path(folder) / "run.trec").stat().st_size
    name = f"TREC file of {mebibytes(size)}, whole process"
    return [
        row(name, "pytrec_eval", times["TREC"], times["pytrec_eval"]),
        row("Parquet file of the same run", "our TREC", times["Parquet"], times["TREC"]),
    ]


def process_rows(repetitions: int, *, with_ranx: bool) -> list[str]:
    """Measure whole processes of the import and of the command, and return the rows."""
    names = ("beir_eval", "ranx") if with_ranx else ("beir_eval",)
    commands = {name: [PYTHON, "-c", f"import {name}"] for name in names}
    imports = whole_processes(commands, repetitions)
    ours = imports["beir_eval"]
    rows = [
        row("import, whole process", "ranx", ours, imports["ranx"])
        if with_ranx
        else row_without_peer("import, whole process", ours)
    ]
    data = os.environ.get("BEIR_EVAL_REALDATA")
    if data:
        files = [f"{data}/scifact", f"{data}/runs/scifact/deng_e5.trec"]
        command = [str(Path(PYTHON).with_name("beir-eval")), "evaluate", *files]
        times = whole_processes({"evaluate": command}, repetitions)["evaluate"]
        rows.append(row_without_peer("`beir-eval evaluate` on SciFact, whole process", times))
    return rows


def growth_lines(repetitions: int) -> list[str]:
    """Measure how the cost grows, draw it, and return the section."""
    seconds = growth.measure(repetitions)
    growth.draw(seconds)
    about = " ".join(str(growth.__doc__).split("\n\n")[1].split())
    return ["", "## Growth", "", about, "", *growth.table(seconds), "", "![Growth](growth.png)"]


def heading(repetitions: int) -> list[str]:
    """Return the lines above the table: how and where it was measured."""
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return [
        "# Measured speed",
        "",
        (
            "Made by `make bench`. 24 numbers (nDCG, MAP, Recall, Precision at 1, 3, 5, 10, 100, "
            "1000), means included, duplicates checked. Each side runs in its own process, the "
            f"sides taking turns {repetitions} times after a first run that checks that both "
            "give the same numbers. Seconds are medians; the ratio is the median of neighbouring "
            "runs (smallest-largest). Peak memory is the highest resident size of the process, "
            "its data included."
        ),
        "",
        (
            f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python "
            f"{platform.python_version()}, {versions}"
        ),
        "",
        HEADER,
        "|" + "---|" * (HEADER.count(" | ") + 1),
    ]


def replace_rows(lines: list[str], rows: list[str]) -> list[str]:
    """Return the lines with each row replaced by the new row of the same name and peer."""
    new_rows = {tuple(row.split(" | ")[:2]): row for row in rows}
    return [new_rows.get(tuple(line.split(" | ")[:2]), line) for line in lines]


def main() -> None:
    """Measure the parts that the options select and write RESULTS.md."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--without-ranx", action="store_true")
    parser.add_argument("--without-growth", action="store_true")
    parser.add_argument("--only", choices=("dicts", "arrays", "files", "processes"))
    options = parser.parse_args()
    with_ranx = not options.without_ranx
    parts: dict[str, Callable[[], list[str]]] = {
        "dicts": lambda: dict_rows(options.repetitions, with_ranx=with_ranx),
        "arrays": lambda: array_rows(options.repetitions),
        "files": lambda: file_rows(options.repetitions),
        "processes": lambda: process_rows(options.repetitions, with_ranx=with_ranx),
    }
    if options.only:  # the other rows stay as they were measured before
        lines = replace_rows(RESULTS.read_text().splitlines(), parts[options.only]())
    else:
        lines = heading(options.repetitions)
        for measure_rows in parts.values():
            lines += measure_rows()
        if not options.without_growth:
            lines += growth_lines(options.repetitions)
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
