"""A process that runs one side of one case: ``python benchmarks/worker.py CASE SIDE COLLECTION``.

It makes the data once, then runs the side for every line on standard input. Each run prints a line
of JSON: seconds, peak memory of the process in bytes, peak memory without the data, and the means.
Garbage collection is "on", as in most programs, or "frozen": off, and blind to the data.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path

from cases import case_from_name


def memory() -> dict[str, int]:
    """Return the memory in bytes: now (VmRSS), and its peak since ``reset_peak`` (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return {name: 1024 * int(fields[name].split()[0]) for name in ("VmRSS", "VmHWM")}


def reset_peak() -> None:
    """Reset the peak memory of this process to its current memory (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


def main() -> None:
    """Run the side for every line until standard input ends."""
    case, side, collection = case_from_name(sys.argv[1]), sys.argv[2], sys.argv[3]
    data = case.make()
    run_side = case.sides[side]
    gc.collect()
    reset_peak()
    before = memory()["VmRSS"]
    print(json.dumps({"ready": True}), flush=True)
    for _ in sys.stdin:
        gc.collect()
        if collection == "frozen":
            gc.freeze()
            gc.disable()
        start = time.perf_counter()
        numbers = run_side(data)
        seconds = time.perf_counter() - start
        gc.enable()
        gc.unfreeze()
        peak = memory()["VmHWM"]
        answer = {"seconds": seconds, "peak": peak, "beyond": peak - before, "numbers": numbers}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
