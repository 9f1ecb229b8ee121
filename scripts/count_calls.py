"""Count the files and functions of this package that a call passes: how far a reader must go.

    python scripts/count_calls.py

Each line has the call, the number of files under ``src`` and of functions in them that it enters
(``sys.setprofile``), on two runs of the bundled data set.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import beir_eval
from beir_eval import compare_runs, evaluate, read_qrels, read_run
from beir_eval.datasets import demo

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

FOLDER = str(Path(beir_eval.__file__).parent)


def functions_of(call: Callable[[], object]) -> set[tuple[str, int]]:
    """Return (file, first line) of each function of this package that a call enters."""
    entered: set[tuple[str, int]] = set()

    def on_event(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        # Comprehensions and lambdas are part of the function around them.
        if (
            event == "call"
            and code.co_filename.startswith(FOLDER)
            and not code.co_name.startswith("<")
        ):
            entered.add((code.co_filename, code.co_firstlineno))

    sys.setprofile(on_event)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


def main() -> None:
    """Print the counts of ``evaluate`` and ``compare_runs``."""
    qrels = read_qrels(demo.FOLDER)
    runs = {path.stem: read_run(path) for path in demo.RUNS}
    first = next(iter(runs.values()))
    calls: dict[str, Callable[[], object]] = {
        "evaluate": lambda: evaluate(qrels, first, "nDCG@10"),
        "compare_runs": lambda: compare_runs(qrels, runs, "nDCG@10"),
    }
    for name, call in calls.items():
        call()  # imports and caches
        entered = functions_of(call)
        print(f"{name}: {len({file for file, _ in entered})} files, {len(entered)} functions")


if __name__ == "__main__":
    main()
