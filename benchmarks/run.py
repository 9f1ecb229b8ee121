"""Measure this package against its peers and write ``RESULTS.md``: ``make bench``.

Each side of a row runs in a process of its own; the sides take turns, so that both see the same
machine. A ratio is that of two neighbouring runs; the table shows the median and the extremes.
Before anything is timed, both sides must have given the same numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import cases

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
PACKAGES = ("numpy", "polars", "pytrec_eval-terrier", "ranx", "beir-eval")
HEADER = "| path and shape | against | seconds | ours | times faster | peak memory, ours | theirs |"


class Times(NamedTuple):
    """What one side took, run by run, and its highest memory."""

    seconds: list[float]
    peak: int


class Worker:
    """One side of a case in its own process."""

    def __init__(self, case: str, side: str) -> None:
        """Start the process and wait until its data are made."""
        self.name = f"{side} of {case}"
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), case, side],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._answer()

    def run(self) -> dict[str, Any]:
        """Let it run once and return what it says."""
        if self.process.stdin is None:
            raise AssertionError
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        if self.process.stdout is None:
            raise AssertionError
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.name} has died")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


def check_same(ours: dict[str, float], theirs: dict[str, float], tolerance: float) -> None:
    """Exit unless both sides gave the same numbers."""
    for name, value in theirs.items():
        if abs(ours[name] - value) > tolerance:
            sys.exit(f"{name}: ours {ours[name]!r}, theirs {value!r}")


def in_turns(case: str, sides: list[str], repetitions: int) -> dict[str, Times]:
    """Run the sides of a case in turns; the first run of each is the check, and not counted."""
    workers = {side: Worker(case, side) for side in sides}
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    peak = dict.fromkeys(sides, 0)
    try:
        first = {side: worker.run() for side, worker in workers.items()}
        for side, answer in first.items():
            # pytrec_eval's means are plain sums; ranx sums grades in single precision.
            if answer["numbers"]:
                tolerance = 1e-3 if side == "ranx" else 1e-9
                check_same(first[sides[0]]["numbers"], answer["numbers"], tolerance)
        for _ in range(repetitions):
            for side, worker in workers.items():
                answer = worker.run()
                seconds[side].append(answer["seconds"])
                peak[side] = answer["peak"]
        if "ranx" in first:
            seconds["ranx, first call"] = [first["ranx"]["seconds"]]
            peak["ranx, first call"] = peak["ranx"]
    finally:
        for worker in workers.values():
            worker.stop()
    return {side: Times(times, peak[side]) for side, times in seconds.items()}


def whole_processes(commands: dict[str, list[str]], repetitions: int) -> dict[str, Times]:
    """Start each command in turns; a run lasts from start to end of the process."""
    seconds: dict[str, list[float]] = {side: [] for side in commands}
    peak = dict.fromkeys(commands, 0)
    printed: dict[str, str] = {}
    for repetition in range(repetitions + 1):
        for side, command in commands.items():
            with tempfile.TemporaryFile("w+") as output:
                start = time.perf_counter()
                process = subprocess.Popen(command, stdout=output)
                _, status, usage = os.wait4(process.pid, 0)
                taken = time.perf_counter() - start
                output.seek(0)
                printed[side] = output.read()
            if status:
                sys.exit(f"{side} failed")
            if repetition:  # the first one warms the file cache
                seconds[side].append(taken)
                peak[side] = max(peak[side], usage.ru_maxrss * 1024)
    numbers = [json.loads(text) for text in printed.values() if text.startswith("{")]
    for other in numbers[1:]:
        check_same(numbers[0], other, 1e-9)
    return {side: Times(times, peak[side]) for side, times in seconds.items()}


def row(name: str, against: str, ours: Times, theirs: Times) -> str:
    """Return one row of the table."""
    pairs = zip(theirs.seconds, ours.seconds, strict=False)
    ratios = [their_seconds / our_seconds for their_seconds, our_seconds in pairs]
    spread = f" ({min(ratios):.1f}-{max(ratios):.1f})" if len(ratios) > 1 else ""
    return (
        f"| {name} | {against} | {statistics.median(theirs.seconds):.3f} "
        f"| {statistics.median(ours.seconds):.3f} "
        f"| **{statistics.median(ratios):.1f}**{spread} "
        f"| {ours.peak / 2**20:,.0f} MiB | {theirs.peak / 2**20:,.0f} MiB |"
    )


def dict_rows(repetitions: int, *, with_ranx: bool) -> list[str]:
    """Measure every shape of dicts."""
    rows = []
    for shape in cases.DICT_SHAPES:
        name = f"dicts, {shape}"
        sides = ["beir-eval", "pytrec_eval", "reading", *(["ranx"] if with_ranx else [])]
        times = in_turns(name, sides, repetitions)
        ours = times.pop("beir-eval")
        for against, theirs in times.items():
            label = "reading the scores alone" if against == "reading" else against
            rows.append(row(name, label, ours, theirs))
            print(rows[-1], flush=True)
    return rows


def array_rows(repetitions: int) -> list[str]:
    """Measure top-k arrays."""
    name = "top-k arrays, 100,000 × 100"
    times = in_turns(name, ["beir-eval", "pytrec_eval"], repetitions)
    found = row(name, "pytrec_eval, its dicts included", times["beir-eval"], times["pytrec_eval"])
    print(found, flush=True)
    return [found]


def process_rows(repetitions: int) -> list[str]:
    """Measure files, imports and the command, from start to end of a process."""
    python = sys.executable
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        script = [python, str(HERE / "cases.py")]
        # Not in this process: a child's peak memory starts with that of its parent.
        subprocess.run([*script, "write", folder], check=True)
        times = whole_processes(
            {
                "TREC": [*script, "ours", folder, "run.trec"],
                "pytrec_eval": [*script, "theirs", folder, "run.trec"],
                "Parquet": [*script, "ours", folder, "run.parquet"],
            },
            repetitions,
        )
        size = (Path(folder) / "run.trec").stat().st_size / 2**20
        name = f"TREC file of {size:,.0f} MiB, whole process"
        rows.append(row(name, "pytrec_eval", times["TREC"], times["pytrec_eval"]))
        rows.append(
            row("Parquet file of the same run", "our TREC", times["Parquet"], times["TREC"])
        )
    imports = whole_processes(
        {name: [python, "-c", f"import {name}"] for name in ("beir_eval", "ranx")}, repetitions
    )
    rows.append(row("import, whole process", "ranx", imports["beir_eval"], imports["ranx"]))
    for one in rows:
        print(one, flush=True)
    return rows


def main() -> None:
    """Measure everything that was asked for and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--without-ranx", action="store_true")
    asked = parser.parse_args()
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    lines = [
        "# Measured speed",
        "",
        (
            "Made by `make bench`. 24 numbers (nDCG, MAP, Recall, Precision at 1, 3, 5, 10, 100, "
            "1000), means included, duplicates checked. Each side runs in its own process, the "
            f"sides taking turns {asked.repetitions} times after a first run that checks that both "
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
        "|" + "---|" * HEADER.count(" | ") + "---|",
        *dict_rows(asked.repetitions, with_ranx=not asked.without_ranx),
        *array_rows(asked.repetitions),
        *process_rows(asked.repetitions),
    ]
    RESULTS.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
