"""Names in the code say what they hold."""

import ast
from pathlib import Path

import beir_eval

ROOT = Path(__file__).parents[1]
FILES = [
    path
    for folder in ("src", "tests", "benchmarks", "scripts", "docs/_ext")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
#: Words that could name anything: use the thing instead, such as `measure`, `result`, `index`.
VAGUE = {"one", "ones", "found", "place", "places", "asked", "said", "told", "thing"}


def names_of(tree):
    """Yield (line, name) for each variable, argument, function and class that a file defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def test_no_name_is_a_vague_word():
    vague = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in FILES
        for line, name in names_of(ast.parse(path.read_text(encoding="utf-8")))
        if name in VAGUE
    ]
    assert vague == []


def test_no_factory_is_called_of():
    factories = [
        node.name
        for path in Path(beir_eval.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
        and any(ast.unparse(decorator) == "classmethod" for decorator in node.decorator_list)
    ]
    assert factories
    assert "of" not in factories
