"""Apply recipes of docs/extending.md to a clone, and run what a change must pass there.

    python scripts/try_recipes.py [measure|format|option|host ...]

Each recipe alone: all quick tests, then the linter, types, import contracts, style and numbers in
texts. What a recipe leaves to do (a table of the tests that must grow, a name in docs/api.md) fails
here and says so. By hand: a recipe takes about four minutes on two processors.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECIPES = ("measure", "format", "option", "host")
#: The tests that apply the recipes, which one already is.
OTHERS = ("--ignore=tests/docs/test_contributing.py",)
CHECKS = (
    (
        "pytest",
        "-q",
        "-m",
        "not slow and not costs",
        "-nlogical",
        "--dist=loadfile",
        "--tb=line",
        *OTHERS,
    ),
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
)
SCRIPTS = ("scripts/check_style.py", "scripts/check_texts.py")


def recipes_of_tests() -> Any:
    """Return the module of the tests that apply recipes."""
    spec = spec_from_file_location("recipes", ROOT / "tests" / "docs" / "test_contributing.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError("tests/docs/test_contributing.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def try_recipe(name: str) -> bool:
    """Return whether everything passes in a clone with a recipe; print what does not."""
    recipes = recipes_of_tests()
    passed = True
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, "clone")
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)  # noqa: S607
        files = [recipes.apply(diff, clone) for diff in recipes.diffs_named(name)]
        print(f"{name}: {', '.join(str(file.relative_to(clone)) for file in files)}")
        environment = os.environ | {"PYTHONPATH": str(clone / "src")}
        commands = [[sys.executable, "-m", *check] for check in CHECKS]
        commands += [[sys.executable, script] for script in SCRIPTS]
        for command in commands:
            done = subprocess.run(
                command, cwd=clone, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                passed = False
                output = done.stdout[-4000:] or done.stderr
                print(f"{name}: {' '.join(command[1:])}\n{output}")
    print(f"{name}: {'passed' if passed else 'failed'}")
    return passed


def main() -> int:
    """Try the recipes that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recipes", nargs="*", metavar="RECIPE", help=", ".join(RECIPES))
    names = parser.parse_args().recipes or RECIPES
    failed = [name for name in names if not try_recipe(name)]
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
