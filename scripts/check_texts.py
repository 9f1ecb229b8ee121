"""Check that a test states each number and name in the texts that users read: `make check`.

    python scripts/check_texts.py [FOLDER]

The texts are the facts of findings, the notes on a result, and the reasons and notes of a gate. A
field of such an f-string, or of a template for ``format``, is guarded if a string of a test, or a
line of a TOML file below ``tests``, has the words on both sides of it with a value between them.
Fields whose values are words or other texts in the same code are left out. Each field without a
guard is printed as a line ``path:line: problem``; the exit status is 1 if there is any. Files are
parsed, not imported.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: All texts of these but errors are checked; elsewhere those of functions with a finding.
WHOLE = tuple(
    f"src/beir_eval/{name}"
    for name in (
        "comparison/gate.py",
        "comparison/gate_output.py",
        "evaluation/notes.py",
        "inspection",
    )
)
#: {expression: why no test need state it}.
EXEMPT = {
    "texts['remedy']": "the remedies are in texts.toml and have no fields",
}
#: How many letters beside a field must be in the string of a test.
LETTERS = 15
#: What stands for any value in the string of a test that is an f-string itself.
COMPUTED = "0"
#: Calls whose value begins with a number.
COUNTS = ("_quantity(", "number_of(", "len(", "sum(", "_counted(")


class Field(NamedTuple):
    """A field of a template."""

    expression: str
    is_number: bool = False
    is_text: bool = False


Parts: TypeAlias = "list[str | Field]"


class Texts(ast.NodeVisitor):
    """The templates of a file that users read, each with its line."""

    def __init__(self, *, is_whole: bool) -> None:
        self.templates: list[tuple[int, Parts]] = []
        self._is_read = is_whole
        self._values: dict[str, list[ast.expr]] = defaultdict(list)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Read a function; not the names that others assign."""
        before = self._is_read, self._values
        self._is_read |= "Finding.from_code(" in ast.unparse(node)
        self._values = defaultdict(list)
        for inner in ast.walk(node):
            if isinstance(inner, ast.Assign):
                for target in inner.targets:
                    self._assign(target, inner.value)
            elif isinstance(inner, ast.AugAssign):
                self._assign(inner.target, inner.value)
        self.generic_visit(node)
        self._is_read, self._values = before

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._values[target.id].append(value)
        elif isinstance(target, ast.Tuple):
            values = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
            for inner, part in zip(target.elts, values, strict=True):
                self._assign(inner, part)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Skip errors."""

    def visit_Assign(self, node: ast.Assign) -> None:
        """Skip the messages of errors."""
        if ast.unparse(node.targets[0]) != "msg":
            self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        """Skip docstrings."""
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Read an f-string, and those in its fields."""
        parts: Parts = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.visit(part.value)
                expression = ast.unparse(part.value)
                is_number = part.format_spec is not None or expression.startswith(COUNTS)
                parts.append(Field(expression, is_number, self._is_text(part.value)))
            else:
                parts.append(ast.literal_eval(part))
        self._add(node, parts)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Read a template for ``format``; braces after a backslash or a bracket are a pattern's."""
        if isinstance(node.value, str) and re.search(r"(?<![\w\])])\{[a-z]+\}", node.value):
            parts: Parts = []
            for text, field, _, _ in Formatter().parse(node.value):
                parts += [text, *([Field(field)] if field else [])]
            self._add(node, parts)

    def _add(self, node: ast.expr, parts: Parts) -> None:
        has_words = any(isinstance(part, str) and re.search("[a-z]{2}", part) for part in parts)
        if self._is_read and has_words:
            self.templates.append((node.lineno, parts))

    def _is_text(self, node: ast.expr) -> bool:
        """Return whether an expression is a text of the same function, checked by itself."""
        if isinstance(node, ast.Name):
            values = self._values[node.id]
            return bool(values) and all(map(self._is_text, values))
        if isinstance(node, ast.IfExp):
            return self._is_text(node.body) and self._is_text(node.orelse)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Dict):
            return all(map(self._is_text, node.value.values))
        is_constant = isinstance(node, ast.Constant) and isinstance(node.value, str)
        return is_constant or isinstance(node, ast.JoinedStr)


def unguarded(parts: Parts, tests: str) -> Iterator[Field]:
    """Yield the fields of a template that no line of the tests states."""
    for index, field in enumerate(parts):
        if isinstance(field, str) or field.is_text or field.expression in EXEMPT:
            continue
        before = beside(parts[:index][::-1], last=True)[::-1]
        after = beside(parts[index + 1 :], last=False)
        value = r"\S*\d.{0,40}?" if field.is_number else r"[^\\]{1,200}?"
        patterns = (
            "".join(".{0,200}?" if text is None else re.escape(text) for text in texts)
            for texts in (before, after)
        )
        pattern = re.compile(value.join(patterns))
        longest = max(filter(None, [*before, *after]), key=len, default="")
        if not any(map(pattern.search, lines_with(longest, tests))):
            yield field


def beside(parts: Sequence[str | Field], *, last: bool) -> list[str | None]:
    """Return the static texts on a side of a field, the nearest first; None for another field.

    They have as many letters as needed, and no more.

    Args:
        parts: the parts of this side, the nearest first.
        last: whether the end of a text is near.
    """
    texts: list[str | None] = []
    missing = LETTERS
    for part in parts:
        if isinstance(part, Field):
            texts.append(None)
            continue
        words = re.findall(r"\W*\w*", squeezed(part))
        near = words[::-1] if last else words
        kept: list[str] = []
        while near and missing > 0:
            kept.append(near.pop(0))
            missing -= sum(map(str.isalpha, kept[-1]))
        texts.append("".join(kept[::-1] if last else kept).lower())
        if missing <= 0:
            break
    return texts


def lines_with(text: str, tests: str) -> Iterator[str]:
    """Yield the lines of a text that contain another one."""
    start = tests.find(text)
    while start >= 0:
        end = tests.index("\n", start)
        yield tests[tests.rindex("\n", 0, start) + 1 : end]
        start = tests.find(text, end)


def squeezed(text: str) -> str:
    """Return a text with single blanks."""
    return re.sub(r"\s+", " ", text)


def strings_of(tests: Path) -> Iterator[str]:
    """Yield the strings of the tests; patterns without the backslashes before punctuation."""
    for path in sorted(tests.rglob("*")):
        if path.suffix == ".toml":
            yield from path.read_text(encoding="utf-8").splitlines()
        elif path.suffix == ".py":
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"), path)))
            named = {
                ast.unparse(node.targets[0]): node.value.value
                for node in nodes
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            }
            for node in nodes:
                if isinstance(node, ast.JoinedStr):
                    yield "".join(
                        str(named.get(ast.unparse(part.value), COMPUTED))
                        if isinstance(part, ast.FormattedValue)
                        else ast.literal_eval(part)
                        for part in node.values
                    )
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    yield re.sub(r"\\([^\w\s])", r"\1", node.value)


def main(arguments: list[str] | None = None) -> int:
    """Print the fields without a guard and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parents[1])
    root = parser.parse_args(arguments).folder.resolve()
    strings = dict.fromkeys(map(squeezed, strings_of(root / "tests")))
    tests = "\n".join(["", *(text for text in strings if " " in text), ""]).lower()
    status = 0
    for path in sorted((root / "src").rglob("*.py")):
        name = path.relative_to(root).as_posix()
        texts = Texts(is_whole=name.startswith(WHOLE))
        texts.visit(ast.parse(path.read_text(encoding="utf-8"), path))
        for line, parts in texts.templates:
            template = "".join(
                part if isinstance(part, str) else f"{{{part.expression}}}" for part in parts
            )
            for field in unguarded(parts, tests):
                status = 1
                print(f"{name}:{line}: no test states {{{field.expression}}} in {template!r}")
    return status


if __name__ == "__main__":
    sys.exit(main())
