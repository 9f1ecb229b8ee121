"""Check that the project does not grow beyond its budget, a table of pyproject.toml: `make check`.

    python scripts/check_size.py [--write] [FOLDER]

Counted are the code lines of each package under ``src`` and of the tests: those that are not blank
and hold more than a comment or a docstring; the files under ``src``; the names that ``beir_eval``
exports, and all that users may rely on; the commands and options of the command line; and the lines
of recorded results. The exit status is 1 if a number is higher than the budget. ``--write`` lowers
the budget to what is lower now; nothing but an edit by hand raises it. FOLDER is the repository
unless another is given.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import tokenize
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

#: Whose names users may rely on.
PUBLIC = (
    "beir_eval",
    "beir_eval.benchmark",
    "beir_eval.comparison",
    "beir_eval.errors",
    "beir_eval.integrations.beir",
    "beir_eval.integrations.haystack",
    "beir_eval.integrations.pytrec_eval",
    "beir_eval.measures",
    "beir_eval.report",
    "beir_eval.significance",
    "haystack_integrations.components.evaluators.beir_eval",
)
QUESTION = (
    "do two of the three uses (Haystack evaluator, BEIR runs, comparing checkpoints) need this? If "
    "so, raise the number in pyproject.toml by hand and say why in the commit message; if not, "
    "remove as much"
)


def code_lines(path: Path) -> int:
    """Return how many lines of a file are not blank, and hold more than comments or docstrings."""
    with path.open("rb") as file:
        lines = {
            line
            for token in tokenize.tokenize(file.readline)
            if token.string.strip() and token.type not in {tokenize.COMMENT, tokenize.ENCODING}
            for line in range(token.start[0], token.end[0] + 1)
        }
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:
            case (
                ast.Module(body=[first, *_])
                | ast.ClassDef(body=[first, *_])
                | ast.FunctionDef(body=[first, *_])
                | ast.AsyncFunctionDef(body=[first, *_])
            ) if ast.get_docstring(node, clean=False) is not None:
                lines -= {*range(first.lineno, (first.end_lineno or 0) + 1)}
    return len(lines)


def sizes_of_files(root: Path) -> Counter[str]:
    """Return the numbers that can be counted without an import."""
    sizes: Counter[str] = Counter()
    for path in (root / "src").rglob("*.py"):
        package = path.relative_to(root / "src").parent.parts
        length = 2 if package[0] == "beir_eval" else 1
        sizes[f"code lines of {'.'.join(package[:length])}"] += code_lines(path)
        sizes["files under src"] += 1
    sizes["code lines of tests"] = sum(map(code_lines, (root / "tests").rglob("*.py")))
    for path in (root / "tests" / "support" / "recorded").glob("*.txt"):
        sizes["recorded lines"] += len(path.read_text(encoding="utf-8").splitlines())
    return sizes


def exported_names(module: str) -> set[str]:
    """Return the names in ``__all__`` of a module; without it, the classes that it defines."""
    content = vars(import_module(module))
    own = {
        name
        for name, value in content.items()
        if isinstance(value, type) and value.__module__ == module and not name.startswith("_")
    }
    return set(content.get("__all__", own))


def sizes_of_interface() -> Counter[str]:
    """Return the numbers of exported names, and of commands and options of the command line."""
    typer, app = import_module("typer"), import_module("beir_eval.cli.app").app
    commands: list[Any] = []
    groups: list[Any] = [typer.main.get_command(app)]
    while groups:
        for command in groups.pop().commands.values():
            (groups if hasattr(command, "commands") else commands).append(command)
    parameters = [parameter for command in commands for parameter in command.params]
    sizes = Counter(f"{parameter.param_type_name}s" for parameter in parameters)
    return Counter(
        {
            "names at the top": len(exported_names("beir_eval")),
            "names": len(set[str]().union(*map(exported_names, PUBLIC))),
            "commands": len(commands),
            "options": sizes["options"],
        }
    )


def lowered(settings: str, sizes: Counter[str]) -> str:
    """Return the text of pyproject.toml with the sizes that are lower; without those of nothing."""

    def lower(entry: re.Match[str]) -> str:
        size = min(sizes[entry[1]], int(entry[2]))
        return f'"{entry[1]}" = {size}\n' if size else ""

    head, table, rest = re.split(r"(?m)^(\[tool\.beir-eval\.budget\]\n(?:.+\n)+)", settings)
    return head + re.sub(r'(?m)^"(.+)" = (\d+)\n', lower, table) + rest


def main(arguments: list[str] | None = None) -> int:
    """Print the sizes in a line and what is beyond the budget, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="lower the budget to the sizes")
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[1])
    options = parser.parse_args(arguments)
    path = options.folder / "pyproject.toml"
    settings = path.read_text(encoding="utf-8")
    budget = Counter(tomllib.loads(settings)["tool"]["beir-eval"]["budget"])
    sizes = sizes_of_files(options.folder) + sizes_of_interface()
    packages = {name for name in sizes if name.startswith("code lines of ")}
    code = sum(sizes[name] for name in packages - {"code lines of tests"})
    others = sorted({*sizes} - packages | {"code lines of tests"})
    print(
        f"{code:,} code lines under src;", ", ".join(f"{name} {sizes[name]:,}" for name in others)
    )
    for name in sorted(sizes):
        if sizes[name] > budget[name]:
            print(f"{name}: {sizes[name]:,}, but the budget is {budget[name]:,}: {QUESTION}")
    if options.write:
        path.write_text(lowered(settings, sizes), encoding="utf-8")
    elif gains := sorted(name for name in budget if sizes[name] < budget[name]):
        differences = ", ".join(f"{name} by {budget[name] - sizes[name]:,}" for name in gains)
        print(f"below the budget, so keep the gain with --write: {differences}")
    return int(bool(sizes - budget))


if __name__ == "__main__":
    sys.exit(main())
