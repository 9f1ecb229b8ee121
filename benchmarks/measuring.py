"""Timing of several sides in turns, each in processes of its own."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
PYTHON = sys.executable


class Times(NamedTuple):
    """What one side took, run by run; its highest memory, and how much of that is not its data."""

    seconds: list[float]
    peak: int
    beyond: int = 0

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return statistics.median(self.seconds)


class Worker:
    """One side of a case in its own process."""

    def __init__(self, case: str, side: str) -> None:
        """Start the process and wait until its data are made."""
        self.name = f"{side} of {case}"
        self.process = subprocess.Popen(
            [PYTHON, str(HERE / "worker.py"), case, side],
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
    answers: dict[str, dict[str, Any]] = {}
    try:
        first = {side: worker.run() for side, worker in workers.items()}
        for side, answer in first.items():
            # pytrec_eval's means are plain sums; ranx sums grades in single precision.
            if answer["numbers"]:
                tolerance = 1e-3 if side == "ranx" else 1e-9
                check_same(first[sides[0]]["numbers"], answer["numbers"], tolerance)
        for _ in range(repetitions):
            for side, worker in workers.items():
                answers[side] = worker.run()
                seconds[side].append(answers[side]["seconds"])
    finally:
        for worker in workers.values():
            worker.stop()
    times = {
        side: Times(taken, answers[side]["peak"], answers[side]["beyond"])
        for side, taken in seconds.items()
    }
    if "ranx" in first:
        times["ranx, first call"] = Times([first["ranx"]["seconds"]], first["ranx"]["peak"])
    return times


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


def put_section(title: str, lines: list[str]) -> None:
    """Put a section in its place in RESULTS.md, or at its end."""
    results = HERE / "RESULTS.md"
    before, _, rest = results.read_text().partition(f"\n## {title}\n")
    _, heading, after = rest.partition("\n## ")
    section = "\n".join([f"## {title}", "", *lines])
    results.write_text(f"{before.rstrip()}\n\n{section}\n" + f"{heading}{after}")
