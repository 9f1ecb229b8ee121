"""List the public names of the package, and those that went without a word in CHANGELOG.md.

    python scripts/public_names.py              print the names
    python scripts/public_names.py --since REV  what the revision had and CHANGELOG.md does not
                                                name, and every stable name that is gone

The names are those that the packages export, the public members of their classes, and the arguments
of their functions.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from importlib import import_module
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[1]
NOT_INSTALLED = object()
PACKAGES = [
    "",
    "adapters",
    "benchmark",
    "comparison",
    "core",
    "datasets",
    "display",
    "errors",
    "evaluation",
    "integrations.beir",
    "integrations.haystack",
    "integrations.ir_measures",
    "integrations.pytrec_eval",
    "integrations.retrieval",
    "integrations.sentence_transformers",
    "measures",
    "report",
    "significance",
    "validation",
]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--since", metavar="REV", help="a revision to compare with")
    options = parser.parse_args()
    names = list(public_names())
    if options.since:
        missing = missing_names(names_of_revision(options.since), names)
        print(*missing, sep="\n")
        sys.exit(1 if missing else 0)
    else:
        print(*names, sep="\n")


def public_names() -> Iterator[str]:
    """Yield the names, sorted within each package."""
    for name, value in exports():
        if value is NOT_INSTALLED:
            yield name
        elif not isinstance(value, ModuleType):
            yield from members(name, value)


def unknown_members(names: Iterable[str]) -> set[str]:
    """Return the names inside exports whose extra is not installed here."""
    owners = tuple(
        name + mark for name, value in exports() if value is NOT_INSTALLED for mark in ".("
    )
    return {name for name in names if name.startswith(owners)}


def exports() -> Iterator[tuple[str, Any]]:
    """Yield each exported name and its value, or NOT_INSTALLED where its extra is missing."""
    for package in PACKAGES:
        name = f"beir_eval.{package}".rstrip(".")
        try:
            module = import_module(name)
        except ModuleNotFoundError as error:
            if error.name and not error.name.startswith("beir_eval"):
                raise
            continue  # an older revision without this package
        for exported in sorted(getattr(module, "__all__", ())):
            try:
                yield f"{name}.{exported}", getattr(module, exported)
            except ImportError:
                yield f"{name}.{exported}", NOT_INSTALLED


def members(name: str, value: Any) -> Iterator[str]:
    """Yield a name, and the names in it: arguments of a function, members of a class."""
    yield name
    if not inspect.isclass(value):
        if callable(value):
            yield from (f"{name}({argument})" for argument in arguments(value))
        return
    inherited = set(dir(object)) | {"model_config"}
    for ancestor in value.__mro__:
        if not ancestor.__module__.startswith("beir_eval"):
            inherited |= set(dir(ancestor))
    fields = {field for kind in value.__mro__ for field in getattr(kind, "__annotations__", {})}
    yield from (f"{name}({argument})" for argument in arguments(value))
    for member in sorted((set(dir(value)) | fields) - inherited):
        if not member.startswith("_"):
            yield f"{name}.{member}"
            function = getattr(value, member, None)
            if inspect.isroutine(function):
                yield from (f"{name}.{member}({argument})" for argument in arguments(function))


def arguments(function: Any) -> list[str]:
    """Return the names of a function's arguments."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return []
    return [name for name in parameters if name not in {"self", "cls"}]


def names_of_revision(revision: str) -> list[str]:
    """Return the public names that a revision of this repository had."""
    git = ["git", "-C", str(ROOT), "archive", revision, "src"]
    archive = subprocess.run(git, check=True, capture_output=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(archive)) as files:
            files.extractall(folder, filter="data")
        settings = {**os.environ, "PYTHONPATH": str(Path(folder, "src"))}
        command = [sys.executable, __file__]
        printed = subprocess.run(
            command, check=True, capture_output=True, text=True, env=settings
        ).stdout
    return printed.splitlines()


def unnamed(before: Iterable[str], now: Iterable[str]) -> list[str]:
    """Return the names that are gone and that no code word of CHANGELOG.md contains."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", changelog))))
    gone = set(before) - set(now)
    # The arguments of a function go with it.
    gone = {name for name in gone if name.partition("(")[0] not in gone - {name}}
    return sorted(name for name in gone if re.findall(r"\w+", name)[-1] not in words)


def stable_names() -> list[str]:
    """Return the names that docs/api.md calls stable, with the name of the package."""
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    table = page.partition("| stable |")[2].partition("\n\n")[0].partition("|---|---|")[2]
    return [f"beir_eval.{name}" for name in re.findall(r"`([\w.]+)`", table)]


def missing_names(before: Iterable[str], now: Iterable[str]) -> list[str]:
    """Return the names that are gone and may not be: see docs/api.md."""
    before, now = set(before), set(now)
    stable = {name for name in before - now if name.partition("(")[0] in {*stable_names()}}
    return sorted(stable.union(unnamed(before, now)))


if __name__ == "__main__":
    main()
