"""Count the files and functions that a call of ours passes through, on the bundled data.

``python scripts/count_calls.py`` prints a line for each job; ``--list`` names the functions too.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import beir_eval
from beir_eval.datasets import demo

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

PACKAGE = str(Path(beir_eval.__file__).parent)


def functions_of(call: Callable[[], object]) -> set[tuple[str, str]]:
    """Return (file, function) of what a call enters under src; not the functions inside these."""
    entered: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_outer = "<locals>" not in code.co_qualname
        if event == "call" and is_outer and code.co_filename.startswith(PACKAGE):
            entered.add((code.co_filename.removeprefix(PACKAGE), code.co_qualname))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


def main() -> None:
    """Count each job after a first call, which imports."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    qrels = beir_eval.load_dataset(demo.FOLDER).qrels
    runs = {path.stem: beir_eval.read_run(path).as_dict() for path in demo.RUNS[:2]}
    run = next(iter(runs.values()))
    comparison = beir_eval.compare_runs(qrels, runs)
    jobs: dict[str, Callable[[], object]] = {
        "evaluate": lambda: beir_eval.evaluate(qrels, run),
        "evaluate and compare two": lambda: beir_eval.compare_runs(qrels, runs),
        "print a comparison": lambda: str(comparison),
    }
    for job, call in jobs.items():
        call()
        entered = functions_of(call)
        print(f"{job}: {len({file for file, _ in entered})} files, {len(entered)} functions")
        if options.list:
            print("\n".join(f"  {file} {name}" for file, name in sorted(entered)))


if __name__ == "__main__":
    main()
