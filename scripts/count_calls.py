"""Count the files and functions of this package that a call passes: how long a way a reader follows.

    python scripts/count_calls.py

Each line has the call, the number of files under ``src`` and of functions in them that it enters
(``sys.setprofile``), on two runs of the bundled data set.
"""

import sys
from pathlib import Path

import beir_eval
from beir_eval import compare_runs, evaluate, read_qrels, read_run
from beir_eval.datasets import demo

FOLDER = str(Path(beir_eval.__file__).parent)


def functions_of(call):
    """Return (file, first line) of each function of this package that a call enters."""
    entered = set()

    def on_event(frame, event, _):
        code = frame.f_code
        # Comprehensions and lambdas are part of the function around them.
        if event == "call" and code.co_filename.startswith(FOLDER) and code.co_name[0] != "<":
            entered.add((code.co_filename, code.co_firstlineno))

    sys.setprofile(on_event)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


def main():
    """Print the counts of ``evaluate`` and ``compare_runs``."""
    qrels = read_qrels(demo.FOLDER)
    runs = {path.stem: read_run(path) for path in demo.RUNS}
    first = next(iter(runs.values()))
    calls = {
        "evaluate": lambda: evaluate(qrels, first, "nDCG@10"),
        "compare_runs": lambda: compare_runs(qrels, runs, "nDCG@10"),
    }
    for name, call in calls.items():
        call()  # imports and caches
        entered = functions_of(call)
        print(f"{name}: {len({file for file, _ in entered})} files, {len(entered)} functions")


if __name__ == "__main__":
    main()
