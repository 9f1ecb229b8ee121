"""Check that tests notice the faulty changes of ``known_mutants.toml``: `make known-mutants`.

    python scripts/known_mutants.py [WORD ...]

Each change is made in a clone of the last commit below ``.mutants``, and the quick tests of its
folder run until one fails; for changes of speed the test of costs, which `make check` compares too.
With words, only changes whose file or folder of tests has one of them.
Survivors and changes that no longer apply are printed; the exit status is 1 if there are any.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CLONE = ROOT / ".mutants" / "known"
#: The tests of changes that only make a path slower.
COSTS = "tests/test_costs.py"
#: What tests import, besides this package: once, since each change is tested in a fork.
PRELOADED = ("haystack", "hypothesis.extra.numpy", "numpy", "polars", "pydantic", "scipy.stats")


def main() -> None:
    """Make each change and run its tests; exit with 1 if any survives."""
    mutants = tomllib.loads((ROOT / "scripts" / "known_mutants.toml").read_text())["mutant"]
    words = sys.argv[1:]
    shutil.rmtree(CLONE, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", ROOT, CLONE], check=True)  # noqa: S607
    os.chdir(CLONE)
    sys.path[:0] = [str(CLONE / "src"), str(CLONE)]
    os.environ |= {"PYTHONPATH": str(CLONE / "src"), "BEIR_EVAL_HYPOTHESIS": "few"}
    sys.dont_write_bytecode = True
    for name in PRELOADED:
        import_module(name)
    chosen = [
        mutant
        for mutant in mutants
        if not words or any(word in mutant["file"] + mutant["tests"] for word in words)
    ]
    for tests in dict.fromkeys(mutant["tests"] for mutant in chosen):
        if not do_pass(tests):
            sys.exit(f"{tests} fails without a change")
    failed = 0
    for mutant in chosen:
        path = CLONE / "src" / mutant["file"]
        source = path.read_text()
        outcome = "applies nowhere or twice"
        if source.count(mutant["old"]) == 1:
            path.write_text(source.replace(mutant["old"], mutant["new"]))
            outcome = "survived" if do_pass(mutant["tests"]) else "killed"
            path.write_text(source)
        failed += outcome != "killed"
        print(f"{outcome}: {mutant['file']}: {mutant['new'].strip() or mutant['old']}", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} killed")
    sys.exit(failed > 0)


def do_pass(tests: str) -> bool:
    """Return whether the quick tests or the costs pass, in a copy of this process."""
    child = os.fork()
    if not child:
        status = 1
        try:
            output = os.open(os.devnull, os.O_WRONLY)
            os.dup2(output, 1)
            os.dup2(output, 2)
            marks = "costs" if tests == COSTS else "not slow and not costs and not simulation"
            options = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-n0", "-m", marks]
            status = int(pytest.main([*options, tests]))
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    return status == 0


if __name__ == "__main__":
    main()
