"""Check the rules of this repository that ruff, mypy and import-linter do not know: `make check`.

    python scripts/check_style.py [FOLDER]

FOLDER is the repository unless another is given, such as a copy with ``src`` alone: what a folder
lacks is not checked. Files are parsed, not imported. Each problem is printed as a line
``path:line: problem``; the exit status is 1 if there is any. ``RULES`` lists the rules.
"""

from __future__ import annotations

import argparse
import ast
import gc
import re
import sys
import tomllib
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

CODE = ("conftest.py", "src", "tests", "benchmarks", "scripts", "docs/_ext")
#: Words that could name anything: use the thing instead, such as `measure`, `result`, `index`.
VAGUE = {"one", "ones", "found", "place", "places", "asked", "said", "told", "thing"}
#: The nodes that choose a name, and their field with it.
NAMES = {
    ast.Name: "id",
    ast.Attribute: "attr",
    ast.arg: "arg",
    ast.alias: "asname",
    ast.FunctionDef: "name",
    ast.AsyncFunctionDef: "name",
    ast.ClassDef: "name",
    ast.ExceptHandler: "name",
    ast.MatchAs: "name",
    ast.MatchStar: "name",
    ast.MatchMapping: "rest",
}
#: Files begin with an underscore only if they are these: what a package exports is public.
PRIVATE = {"_version.py", "_trec_eval_names.py"}
#: Functions that import the modules named in their arguments.
IMPORTERS = {"lazy_exports", "import_module", "importlib.import_module", "__import__"}
#: Packages that hold data only.
UNTESTED = {"datasets/demo"}
#: Folders of tests that belong to an environment or a subject, and to no package.
SUBJECTS = {"against", "docs", "fuzz", "haystack_integrations", "hosts", "spark"}


class Problem(NamedTuple):
    """A breach of a rule: the file, the line and a text."""

    path: Path
    line: int
    text: str


class Import(NamedTuple):
    """An import that runs, at once or later: the line, the module and the name from it, if any."""

    line: int
    module: str
    name: str | None


class Project:
    """The files of a folder that is laid out like this repository."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.package = root / "src" / "beir_eval"

    @cached_property
    def trees(self) -> dict[Path, ast.Module]:
        """The parsed Python files by path."""
        paths = [
            path
            for name in CODE
            for path in [self.root / name, *sorted((self.root / name).rglob("*.py"))]
            if path.is_file()
        ]
        return {path: ast.parse(path.read_text(encoding="utf-8"), path) for path in paths}

    @cached_property
    def modules(self) -> dict[str, Path]:
        """The paths of the modules of beir_eval by name; a package has its ``__init__.py``."""
        return {
            ".".join(path.relative_to(self.package.parent).with_suffix("").parts).removesuffix(
                ".__init__"
            ): path
            for path in self.trees
            if path.is_relative_to(self.package)
        }

    @cached_property
    def imports(self) -> dict[str, list[Import]]:
        """The imports of each module of beir_eval that run: not those for type checkers."""
        return {module: list(self._imports_of(module)) for module in self.modules}

    def _imports_of(self, module: str) -> Iterator[Import]:
        path = self.modules[module]
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        nodes: list[ast.AST] = [self.trees[path]]
        while nodes:
            node = nodes.pop()
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                nodes += node.orelse
                continue
            nodes += ast.iter_child_nodes(node)
            if isinstance(node, ast.Import):
                yield from (Import(node.lineno, alias.name, None) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                origin = resolve_name("." * node.level + (node.module or ""), package)
                yield from (Import(node.lineno, origin, alias.name) for alias in node.names)
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in IMPORTERS:
                for constant in ast.walk(node):
                    if isinstance(constant, ast.Constant) and constant.value in self.modules:
                        yield Import(constant.lineno, str(constant.value), None)


def vague_names(project: Project) -> Iterator[Problem]:
    """Variables, arguments, functions, attributes and import aliases say what they hold."""
    for path, tree in project.trees.items():
        for node in ast.walk(tree):
            field = NAMES.get(type(node))
            if field is None or isinstance(getattr(node, "ctx", None), ast.Load | ast.Del):
                continue
            name = getattr(node, field)
            if name and name.strip("_") in VAGUE:
                text = f"the name {name} is vague: say what it holds"
                yield Problem(path, node.lineno, text)  # type: ignore[attr-defined]


def factories_called_of(project: Project) -> Iterator[Problem]:
    """A class method or static method that makes an object is called ``from_x``, not ``of``."""
    for path in project.modules.values():
        for node in ast.walk(project.trees[path]):
            if isinstance(node, ast.FunctionDef) and node.name == "of":
                decorators = {ast.unparse(decorator) for decorator in node.decorator_list}
                if decorators & {"classmethod", "staticmethod"}:
                    yield Problem(path, node.lineno, "the factory is called of: call it from_x")


def import_cycles(project: Project) -> Iterator[Problem]:
    """Imports that run, at once or inside a function, form no cycle; the first one is reported."""
    lines: dict[str, dict[str, int]] = {}
    for module, imports in project.imports.items():
        lines[module] = {}
        for line, origin, name in imports:
            target = f"{origin}.{name}" if f"{origin}.{name}" in project.modules else origin
            if target in project.modules:
                lines[module].setdefault(target, line)
    try:
        TopologicalSorter(lines).prepare()
    except CycleError as error:
        cycle = error.args[1]  # each module is imported by the next
        text = f"imports form a cycle: {' imports '.join(reversed(cycle))}"
        yield Problem(project.modules[cycle[-1]], lines[cycle[-1]][cycle[-2]], text)


def names_from_the_top(project: Project) -> Iterator[Problem]:
    """Modules import modules from ``beir_eval``, and names from where they are defined."""
    for module, imports in project.imports.items():
        for line, origin, name in imports:
            if origin == "beir_eval" and name and f"beir_eval.{name}" not in project.modules:
                text = f"{name} is imported from beir_eval: import it from its own module"
                yield Problem(project.modules[module], line, text)


def foreign_lazy_exports(project: Project) -> Iterator[Problem]:
    """A package other than the top one exports lazily from its own modules only."""
    for package, path in project.modules.items():
        for call in ast.walk(project.trees[path]):
            if (
                package != "beir_eval"
                and isinstance(call, ast.Call)
                and ast.unparse(call.func) == "lazy_exports"
            ):
                for origin, names in ast.literal_eval(call.args[1]).items():
                    if not origin.startswith(f"{package}."):
                        text = f"{names} exported from {origin}, a module of another package"
                        yield Problem(path, call.lineno, text)


def private_modules(project: Project) -> Iterator[Problem]:
    """No file name begins with an underscore, except those in ``PRIVATE``."""
    for path in project.modules.values():
        if path.name[0] == "_" != path.name[1] and path.name not in PRIVATE:
            yield Problem(path, 1, "the module has a leading underscore: see PRIVATE")


def misplaced_tests(project: Project) -> Iterator[Problem]:
    """The tests of a package are in the folder or file of the same name, and vice versa.

    Those of a host can be in ``tests/hosts/test_<host>.py``, or in a folder below ``tests``.
    """
    tests = project.root / "tests"
    if not tests.is_dir():
        return
    packages = {
        path.parent.relative_to(project.package)
        for path in project.modules.values()
        if path.name == "__init__.py"
    } - {Path()}
    for package in sorted(packages):
        files = [(tests / package).parent / f"test_{package.name}.py"]
        files += [tests / "hosts" / f"test_{package.name}.py", *(tests / package).glob("test_*.py")]
        if package.name in SUBJECTS:
            files += (tests / package.name).glob("test_*.py")
        if package.as_posix() not in UNTESTED and not any(file.exists() for file in files):
            text = f"the package has no tests in tests/{package.as_posix()}"
            yield Problem(project.package / package / "__init__.py", 1, text)
    for file in sorted(tests.rglob("test_*.py")):
        folder = file.parent.relative_to(tests)
        if folder.parts and folder.parts[0] not in SUBJECTS and folder not in packages:
            text = f"no package is called {folder.as_posix()}: see SUBJECTS"
            yield Problem(file, 1, text)


def layout_of_the_guide(project: Project) -> Iterator[Problem]:
    """The layout in .github/CONTRIBUTING.md names every package, in the order of the layers."""
    guide, settings = project.root / ".github/CONTRIBUTING.md", project.root / "pyproject.toml"
    if not (guide.exists() and settings.exists()):
        return
    text = guide.read_text(encoding="utf-8")
    layout = re.search(r"(?m)^(?:    \w.+\n)+", text)
    if layout is None:
        yield Problem(guide, 1, "the layout, an indented list of packages, is missing")
        return
    line = text[: layout.start()].count("\n") + 1
    named = [
        name
        for row in layout[0].splitlines()
        for name in re.split(r"\s{2,}", row.strip())[0].split(", ")
    ]
    contracts = tomllib.loads(settings.read_text(encoding="utf-8"))["tool"]["importlinter"]
    level = {
        package: index
        for index, layer in enumerate(reversed(contracts["contracts"][0]["layers"]))
        for package in layer.split(" | ")
    }
    packages = {path.parent.name for path in project.package.glob("*/__init__.py")}
    packages |= {"errors", "_version"}
    for name in sorted(packages - {*named}):
        yield Problem(guide, line, f"the layout lacks the package {name}")
    for name in sorted({*named} - packages):
        yield Problem(guide, line, f"the layout names {name}, which is no package")
    known = [name for name in named if name in level]
    if known != sorted(known, key=level.__getitem__):
        yield Problem(guide, line, "the layout is not in the order of the layers, lowest first")


RULES = (
    vague_names,
    factories_called_of,
    import_cycles,
    names_from_the_top,
    foreign_lazy_exports,
    private_modules,
    misplaced_tests,
    layout_of_the_guide,
)


def main(arguments: list[str] | None = None) -> int:
    """Print the problems and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[1])
    project = Project(parser.parse_args(arguments).folder.resolve())
    problems = [problem for rule in RULES for problem in rule(project)]
    for path, line, text in problems:
        print(f"{path.relative_to(project.root).as_posix()}:{line}: {text}")
    return int(bool(problems))


if __name__ == "__main__":
    gc.disable()  # parsed files are many objects, all of which are kept: twice as fast
    sys.exit(main())
