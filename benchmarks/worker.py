"""One side of one case in a process of its own: makes the data, then runs when told to.

Every line on standard input is one run; each answers with a line of JSON: seconds, peak memory in
bytes, and the numbers.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import time

from cases import CASES


def main() -> None:
    """Serve runs until standard input ends."""
    case, side = CASES[sys.argv[1]], sys.argv[2]
    data = case.make()
    work = case.sides[side]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"ready": True, "data_bytes": before * 1024}), flush=True)
    for _ in sys.stdin:
        gc.collect()
        gc.disable()
        start = time.perf_counter()
        numbers = work(data)
        seconds = time.perf_counter() - start
        gc.enable()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps({"seconds": seconds, "peak": peak, "numbers": numbers}), flush=True)


if __name__ == "__main__":
    main()
