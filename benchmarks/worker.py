"""One side of one case in a process of its own: makes the data, then runs when told to.

Every line on standard input is one run; each answers with a line of JSON: seconds, the highest
memory of the process in bytes, how much of it is beyond the data, and the numbers.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from pathlib import Path

from cases import case_of


def memory() -> dict[str, int]:
    """Return the bytes held now (VmRSS), and the most held since ``forget_peak`` (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    return {name: 1024 * int(fields[name].split()[0]) for name in ("VmRSS", "VmHWM")}


def forget_peak() -> None:
    """Let the highest memory begin anew (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")


def main() -> None:
    """Serve runs until standard input ends."""
    case, side = case_of(sys.argv[1]), sys.argv[2]
    data = case.make()
    work = case.sides[side]
    gc.collect()
    forget_peak()
    before = memory()["VmRSS"]
    print(json.dumps({"ready": True}), flush=True)
    for _ in sys.stdin:
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        numbers = work(data)
        seconds = time.perf_counter() - start
        gc.enable()
        peak = memory()["VmHWM"]
        answer = {"seconds": seconds, "peak": peak, "beyond": peak - before, "numbers": numbers}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
