"""Names in the code say what they hold."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [
    path
    for folder in ("src", "tests", "benchmarks", "scripts", "docs/_ext")
    for path in sorted((ROOT / folder).rglob("*.py"))
] + [ROOT / "conftest.py"]
#: Words that could name anything: use the thing instead, such as `measure`, `result`, `index`.
VAGUE = {"one", "ones", "found", "place", "places", "asked", "said", "told", "thing"}


def names_of(tree):
    """Yield (line, name) for each name that a file chooses: of variables, attributes, imports …"""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.alias):
            yield node.lineno, node.asname
        elif isinstance(node, ast.MatchMapping):
            yield node.lineno, node.rest
        elif isinstance(
            node,
            ast.FunctionDef
            | ast.AsyncFunctionDef
            | ast.ClassDef
            | ast.ExceptHandler
            | ast.MatchAs
            | ast.MatchStar,
        ):
            yield node.lineno, node.name


@pytest.mark.parametrize(
    "code",
    [
        "one = 1",
        "one: int = 1",
        "first, *one = []",
        "self.one = 1",
        "(one := 1)",
        "for one in []: pass",
        "[0 for one in []]",
        "with file as one: pass",
        "def f(one): pass",
        "def f(*one): pass",
        "def f(*, one): pass",
        "lambda one: 0",
        "def one(): pass",
        "async def one(): pass",
        "class one: pass",
        "import module as one",
        "from module import name as one",
        "try: pass\nexcept Error as one: pass",
        "match 1:\n case one: pass",
        "match 1:\n case [*one]: pass",
        "match 1:\n case {**one}: pass",
    ],
)
def test_the_name_is_read_from_every_kind_of_definition(code):
    assert "one" in [name for _, name in names_of(ast.parse(code))]


def test_no_name_is_a_vague_word():
    vague = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in FILES
        for line, name in names_of(ast.parse(path.read_text(encoding="utf-8")))
        if name and name.strip("_") in VAGUE
    ]
    assert vague == []


def factories_of(tree):
    """Return the names of the class methods and static methods that a file defines."""
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and {"classmethod", "staticmethod"} & set(map(ast.unparse, node.decorator_list))
    ]


def test_no_factory_is_called_of():
    for decorator in ("classmethod", "staticmethod"):
        code = f"class Run:\n  @{decorator}\n  def of(rows): pass"
        assert factories_of(ast.parse(code)) == ["of"]
    factories = [
        name
        for path in (ROOT / "src").rglob("*.py")
        for name in factories_of(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert factories
    assert "of" not in factories
