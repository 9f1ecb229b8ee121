"""Measure this package against its peers and write ``RESULTS.md``: ``make bench``.

Each side of a row runs in its own process. The sides run in turns, so that the load of the machine
affects both. A ratio compares two neighbouring runs; the table shows the median, the smallest and
the largest ratio. Before anything is timed, both sides must give the same means.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import shutil
import statistics
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import cases
import growth
from installed import installed_wheel
from measuring import HERE, PYTHON, Times, in_turns, whole_processes

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = HERE / "RESULTS.md"
PACKAGES = ("numpy", "polars", "pytrec_eval-terrier", "ranx", "beir-eval")
HEADER = "| path and shape | against | seconds | ours | times faster | peak memory, ours | theirs |"
#: What ``--only`` takes.
PARTS = ("dicts", "arrays", "component", "drop-ins", "files", "processes")
#: The numbers of queries of the two cases with top-k arrays.
ARRAY_QUERIES = (100_000, 1_000_000)


def mebibytes(size: int) -> str:
    """Return a size in bytes as text in MiB."""
    return f"{size / 2**20:,.0f} MiB"


def echo(line: str) -> str:
    """Print a line of the table at once, to show the progress, and return it."""
    print(line, flush=True)
    return line


def seconds_text(seconds: float) -> str:
    """Return seconds as text, with four decimals below a hundredth."""
    return f"{seconds:.4f}" if seconds < 0.01 else f"{seconds:.3f}"


def row(name: str, against: str, ours: Times, theirs: Times) -> str:
    """Return the row of the table that compares two sides; ``against`` labels the other side."""
    pairs = zip(theirs.seconds, ours.seconds, strict=False)
    ratios = [their_seconds / our_seconds for their_seconds, our_seconds in pairs]
    spread = f" ({min(ratios):.1f}-{max(ratios):.1f})" if len(ratios) > 1 else ""
    return echo(
        f"| {name} | {against} | {seconds_text(theirs.median)} | {seconds_text(ours.median)} "
        f"| **{statistics.median(ratios):.1f}**{spread} "
        f"| {mebibytes(ours.peak)} | {mebibytes(theirs.peak)} |"
    )


def row_without_peer(name: str, ours: Times) -> str:
    """Return a row of the table for our side only."""
    return echo(f"| {name} | | | {ours.median:.3f} | | {mebibytes(ours.peak)} | |")


def dict_rows(repetitions: int, *, with_ranx: bool) -> list[str]:
    """Measure every shape of dicts and return the rows.

    Every shape is measured with both kinds of ids, and with garbage collection frozen and on.
    """
    rows = []
    for shape in cases.DICT_SHAPES:
        for ids in cases.IDS:
            for collection in ("frozen", "on"):
                is_first = ids == "own" and collection == "frozen"
                sides = ["beir-eval", "pytrec_eval"]
                if is_first:
                    sides += ["reading", *(["ranx"] if with_ranx else [])]
                case = f"dicts {shape.queries} {shape.documents} {shape.judged} {ids}"
                times = in_turns(case, sides, repetitions, collection)
                ours = times.pop("beir-eval")
                for against, theirs in times.items():
                    label = "reading the scores alone" if against == "reading" else against
                    name = f"dicts, {shape}, {ids} ids, collection {collection}"
                    rows.append(row(name, label, ours, theirs))
    return rows


def array_rows(repetitions: int) -> list[str]:
    """Measure top-k arrays and return the rows."""
    rows = []
    for queries in ARRAY_QUERIES:
        has_peer = queries == ARRAY_QUERIES[0]
        sides = ["beir-eval", *(["pytrec_eval"] if has_peer else [])]
        times = in_turns(f"arrays {queries} 100", sides, repetitions)
        name = f"top-k arrays, {queries:,} × 100, judgements as dicts"
        if has_peer:
            against = "pytrec_eval, its dicts included"
            rows.append(row(name, against, times["beir-eval"], times["pytrec_eval"]))
        else:
            rows.append(row_without_peer(name, times["beir-eval"]))
        times = in_turns(f"ready {queries} 100", ["beir-eval", "one pass"], repetitions)
        ours = times["beir-eval"]
        name = (
            f"top-k arrays, {queries:,} × 100, `Qrels`; {mebibytes(ours.beyond)} beyond the input"
        )
        rows.append(row(name, "one pass over both arrays", ours, times["one pass"]))
    return rows


def component_rows(repetitions: int) -> list[str]:
    """Measure the component beside Haystack's four evaluators and return the rows."""
    rows = []
    for queries, documents in cases.COMPONENT_SIZES:
        for words in cases.COMPONENT_WORDS:
            for field in ("content", "id"):
                case = f"component {queries} {documents} {words} {field}"
                times = in_turns(case, ["beir-eval", "Haystack"], repetitions)
                name = f"`BEIREvaluator`, {queries:,} × {documents}, {words:,} words, by {field}"
                ours, theirs = times["beir-eval"], times["Haystack"]
                rows.append(row(name, "Haystack's four evaluators", ours, theirs))
    return rows


def drop_in_rows(repetitions: int) -> list[str]:
    """Measure the drop-ins on small runs beside what they replace and return the rows."""
    rows = []
    for shape in cases.DROP_IN_SHAPES:
        for tool in ("pytrec_eval", "BEIR"):
            sides = [f"drop-in of {tool}", tool]
            case = f"drop-ins {shape.queries} {shape.documents} {shape.judged}"
            ours, theirs = in_turns(case, sides, repetitions).values()
            rows.append(row(f"drop-in of {tool}, {shape}", tool, ours, theirs))
    return rows


def file_rows(repetitions: int, command: str) -> list[str]:
    """Measure whole processes that evaluate run files, and return the rows.

    Args:
        repetitions: how often each process runs.
        command: the path of ``beir-eval``.
    """
    measures = [f"{name}@{k}" for name in ("nDCG", "MAP", "Recall", "P") for k in cases.CUTOFFS]
    options = [part for name in measures for part in ("-m", name)]
    trec_eval = shutil.which("trec_eval")
    with tempfile.TemporaryDirectory() as folder:
        script = [PYTHON, str(HERE / "cases.py")]
        # Written by another process: the peak memory of a child starts with that of its parent.
        subprocess.run([*script, "write", folder], check=True)
        qrels, trec, parquet = (f"{folder}/{name}" for name in cases.FILES)
        three_columns = (
            "import polars; polars.read_csv("
            f"{trec!r}, separator=' ', has_header=False, columns=[0, 2, 4])"
        )
        commands = {
            "TREC": [command, "evaluate", qrels, trec, *options],
            "pytrec_eval": [*script, "pytrec_eval", folder],
            "polars reading three columns": [PYTHON, "-c", three_columns],
            "Parquet": [command, "evaluate", qrels, parquet, *options],
        }
        if trec_eval:
            cutoffs = ",".join(map(str, cases.CUTOFFS))
            names = [part for name in cases.NAMES for part in ("-m", f"{name}.{cutoffs}")]
            commands["trec_eval"] = [trec_eval, *names, qrels, trec]
        times = whole_processes(commands, repetitions)
        size = (Path(folder) / "run.trec").stat().st_size
    ours = times.pop("TREC")
    parquet_times = times.pop("Parquet")
    name = f"`beir-eval evaluate`, TREC file of {mebibytes(size)}, whole process"
    rows = [row(name, against, ours, theirs) for against, theirs in times.items()]
    if not trec_eval:
        rows.append(echo(f"| {name} | trec_eval: not at hand | | {ours.median:.3f} | | | |"))
    return [*rows, row("the same run as Parquet", "our TREC", parquet_times, ours)]


def process_rows(repetitions: int, command: str, *, with_ranx: bool) -> list[str]:
    """Measure whole processes of the import and of the command, and return the rows.

    Args:
        repetitions: how often each process runs.
        command: the path of ``beir-eval``.
        with_ranx: whether ranx is installed.
    """
    model = "import numpy\nfrom pydantic import BaseModel\nclass Model(BaseModel):\n    x: int"
    evaluate = "import beir_eval\nbeir_eval.evaluate({'q': {'d': 1}}, {'q': {'d': 2.0}})"
    programs = {
        "`pass`": "pass",
        "import numpy": "import numpy",
        "import numpy and a pydantic model": model,
        "import beir_eval": "import beir_eval",
        "import beir_eval, first evaluate": evaluate,
        **({"import ranx": "import ranx"} if with_ranx else {}),
    }
    commands = {name: [PYTHON, "-c", program] for name, program in programs.items()}
    commands["`beir-eval --version`"] = [command, "--version"]
    data = os.environ.get("BEIR_EVAL_REALDATA")
    if data:
        files = [f"{data}/scifact", f"{data}/runs/scifact/deng_e5.trec"]
        commands["`beir-eval evaluate` on SciFact"] = [command, "evaluate", *files]
    times = whole_processes(commands, repetitions)
    return [row_without_peer(f"{name}, whole process", process) for name, process in times.items()]


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
            "1000), means included, duplicates checked, by an installed wheel. Each side runs in "
            f"its own process, the sides taking turns {repetitions} times after a first run that "
            "checks that both give the same numbers. Seconds are medians; the ratio is the median "
            "of neighbouring runs (smallest-largest). Peak memory is the highest resident size of "
            "the process, its data included. Ids are shared (the same id is one string in all "
            "rankings) or own (each ranking has its own strings, as in a run read from a file). "
            "Garbage collection is on, as in most programs, or frozen: off, and blind to the data. "
            "It is frozen where a row does not say it."
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


def sections_of_others() -> list[str]:
    """Return the lines of the sections of RESULTS.md that other scripts write."""
    parts = re.split(r"^(?=## )", RESULTS.read_text(), flags=re.MULTILINE)[1:]
    kept = "".join(part for part in parts if not part.startswith("## Growth\n"))
    return kept.splitlines()


def replace_rows(lines: list[str], rows: list[str]) -> list[str]:
    """Return the lines with each row replaced by the new one of its name and peer, or added."""
    new_rows = {tuple(row.split(" | ")[:2]): row for row in rows}
    replaced = [new_rows.pop(tuple(line.split(" | ")[:2]), line) for line in lines]
    end = replaced.index("", replaced.index(HEADER))
    return [*replaced[:end], *new_rows.values(), *replaced[end:]]


def main() -> None:
    """Read the options, and measure an installed wheel."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--without-ranx", action="store_true")
    parser.add_argument("--without-growth", action="store_true")
    parser.add_argument("--only", choices=PARTS)
    options = parser.parse_args()
    with installed_wheel() as folder:
        measure(options, str(folder / "bin" / "beir-eval"))


def measure(options: argparse.Namespace, command: str) -> None:
    """Measure the parts that the options select and write RESULTS.md.

    Args:
        options: those of the command line.
        command: the path of ``beir-eval``.
    """
    with_ranx = not options.without_ranx
    parts: dict[str, Callable[[], list[str]]] = {
        "dicts": lambda: dict_rows(options.repetitions, with_ranx=with_ranx),
        "arrays": lambda: array_rows(options.repetitions),
        "component": lambda: component_rows(options.repetitions),
        "drop-ins": lambda: drop_in_rows(options.repetitions),
        "files": lambda: file_rows(options.repetitions, command),
        "processes": lambda: process_rows(options.repetitions, command, with_ranx=with_ranx),
    }
    if options.only:  # the other rows stay as they were measured before
        lines = replace_rows(RESULTS.read_text().splitlines(), parts[options.only]())
    else:
        lines = heading(options.repetitions)
        for measure_rows in parts.values():
            lines += measure_rows()
        if not options.without_growth:
            lines += growth_lines(options.repetitions)
        lines += ["", *sections_of_others()]
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
