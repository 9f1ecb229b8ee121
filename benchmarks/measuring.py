"""Time several sides in turns, each in its own process, and write sections of RESULTS.md."""

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
    """The time and memory of one side.

    Attributes:
        seconds: the seconds of each run.
        peak: the peak memory of the process in bytes.
        beyond: how much of the peak is not the input data, in bytes.
    """

    seconds: list[float]
    peak: int
    beyond: int = 0

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return statistics.median(self.seconds)


class Worker:
    """A process that runs one side of a case (``worker.py``)."""

    def __init__(self, case: str, side: str, collection: str) -> None:
        """Start the process and wait until it has made its data."""
        self.name = f"{side} of {case}"
        self.process = subprocess.Popen(
            [PYTHON, str(HERE / "worker.py"), case, side, collection],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._read_answer()

    def run(self) -> dict[str, Any]:
        """Run the side once and return its times, memory and means."""
        if self.process.stdin is None:
            raise AssertionError
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        return self._read_answer()

    def _read_answer(self) -> dict[str, Any]:
        """Return the next line of JSON that the process prints."""
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
    """Exit with a message unless both sides give the same means, within a tolerance."""
    for name, value in theirs.items():
        if abs(ours[name] - value) > tolerance:
            sys.exit(f"{name}: ours {ours[name]!r}, theirs {value!r}")


def in_turns(
    case: str, sides: list[str], repetitions: int, collection: str = "frozen"
) -> dict[str, Times]:
    """Return {side: times} of a case, whose sides run in turns.

    The first run of each side is not counted: it checks that all sides give the same means.

    Args:
        case: the name of the case, as ``case_from_name`` reads it.
        sides: the names of its sides.
        repetitions: how often each side runs.
        collection: garbage collection, "on" or "frozen".
    """
    workers = {side: Worker(case, side, collection) for side in sides}
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
        side: Times(side_seconds, answers[side]["peak"], answers[side]["beyond"])
        for side, side_seconds in seconds.items()
    }
    if "ranx" in first:
        times["ranx, first call"] = Times([first["ranx"]["seconds"]], first["ranx"]["peak"])
    return times


def whole_processes(commands: dict[str, list[str]], repetitions: int) -> dict[str, Times]:
    """Return {side: times} of commands that run in turns, each from start to end of its process."""
    seconds: dict[str, list[float]] = {side: [] for side in commands}
    peak = dict.fromkeys(commands, 0)
    printed: dict[str, str] = {}
    for repetition in range(repetitions + 1):
        for side, command in commands.items():
            with tempfile.TemporaryFile("w+") as output:
                start = time.perf_counter()
                process = subprocess.Popen(command, stdout=output)
                _, status, usage = os.wait4(process.pid, 0)
                elapsed = time.perf_counter() - start
                output.seek(0)
                printed[side] = output.read()
            if status:
                sys.exit(f"{side} failed")
            if repetition:  # the first run warms the file cache
                seconds[side].append(elapsed)
                peak[side] = max(peak[side], usage.ru_maxrss * 1024)
    numbers = [json.loads(text) for text in printed.values() if text.startswith("{")]
    for theirs in numbers[1:]:
        check_same(numbers[0], theirs, 1e-9)
    return {side: Times(times, peak[side]) for side, times in seconds.items()}


def highest_memory(pid: int | str = "self") -> int:
    """Return the highest resident size of a process so far, in bytes; 0 if it has ended.

    ``ru_maxrss`` would begin with that of the parent.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    # A process that is about to end has no such line.
    return 1024 * int((status.partition("VmHWM:")[2].split() or ["0"])[0])


def put_section(title: str, lines: list[str]) -> None:
    """Replace the section of this title in RESULTS.md, or append it."""
    results = HERE / "RESULTS.md"
    before, _, rest = results.read_text().partition(f"\n## {title}\n")
    _, heading, after = rest.partition("\n## ")
    section = "\n".join([f"## {title}", "", *lines])
    results.write_text(f"{before.rstrip()}\n\n{section}\n" + f"{heading}{after}")
