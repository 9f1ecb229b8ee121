"""The code behind a retriever is known by hashes of own modules and versions of packages."""

import functools
import hashlib
import importlib
import json
import sys
import types
from importlib import metadata

import numpy as np
import pytest

from beir_eval import Qrels
from beir_eval.core.own_code import bytecode_text, code_of, value_text
from beir_eval.core.qrels import highest_grades_of

MODULES = {
    "own_app/__init__.py": "",
    "own_app/ranker.py": """
import json
import sys
import own_settings
import own_missing.sub
import own_settings.not_a_package
from own_settings import DEPTH
from . import order
from .deep.tools import same
class Base:
    pass
class Ranker(Base):
    def run(self):
        import own_lazy.sub
def rank():
    pass
""",
    "own_app/order.py": "from .deep import tools\n",
    "own_app/deep/__init__.py": "",
    "own_app/deep/tools.py": """
from ..order import x
from ...beyond import y
import own_folder.part
""",
    "own_settings.py": "DEPTH = 2\n",
    "own_lazy/__init__.py": "",
    "own_lazy/sub.py": "this is no Python\n",
    "own_folder/part.py": "",  # a folder without __init__.py
    "own_unused.py": "",
}
IMPORTED = {
    "own_app.ranker": "own_app/ranker.py",
    "own_app": "own_app/__init__.py",
    "own_app.order": "own_app/order.py",
    "own_app.deep": "own_app/deep/__init__.py",
    "own_app.deep.tools": "own_app/deep/tools.py",
    "own_settings": "own_settings.py",
    "own_lazy.sub": "own_lazy/sub.py",
    "own_folder.part": "own_folder/part.py",
}


@pytest.fixture
def own_modules(tmp_path, monkeypatch):
    """Write the modules; return their folder. None of them stays imported."""
    for name, text in MODULES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


def ranker_of(folder):
    """Return the module of the ranker as it is in memory; it cannot be imported as a whole."""
    importlib.import_module("own_app")
    importlib.import_module("own_settings")
    importlib.import_module("own_folder")
    module = types.ModuleType("own_app.ranker")
    module.__file__ = str(folder / "own_app/ranker.py")
    sys.modules["own_app.ranker"] = module
    namespace = {"__name__": "own_app.ranker"}
    text = MODULES["own_app/ranker.py"].partition("class Base")
    exec("".join(text[1:]), namespace)  # noqa: S102 - a test
    return namespace


def test_own_modules_are_known_by_their_bytes_and_those_that_they_import(own_modules):
    code = code_of([ranker_of(own_modules)["Ranker"]()])
    expected = {
        name: hashlib.sha256((own_modules / file).read_bytes()).hexdigest()
        for name, file in IMPORTED.items()
    }
    assert code == (expected, {})
    assert list(code.own) == sorted(code.own)


def test_a_module_whose_file_is_gone_is_named_without_a_hash(own_modules):
    ranker = ranker_of(own_modules)["Ranker"]
    (own_modules / "own_app/ranker.py").unlink()
    assert code_of([ranker]).own == {"own_app.ranker": ""}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda names: names["Ranker"],
        lambda names: names["Ranker"](),
        lambda names: names["Ranker"]().run,
        lambda names: functools.partial(print, names["rank"], key=1),
        lambda names: functools.partial(names["rank"], 1, key=names["Base"]),
        lambda names: functools.lru_cache(names["rank"]),
    ],
    ids=["class", "instance", "method", "argument of a partial", "partial", "decorated"],
)
def test_code_is_found_behind_every_kind_of_callable(own_modules, wrap):
    assert "own_app.ranker" in code_of([wrap(ranker_of(own_modules))]).own


def test_installed_packages_are_known_by_their_version():
    objects = [np.zeros(1), np.random.default_rng(), Qrels, json.JSONEncoder, 3]
    versions = {name: metadata.version(name) for name in ("beir-eval", "numpy")}
    assert code_of(objects) == ({}, versions)


SCRIPT = """
import functools
import own_settings
LIMITS = {"depth": [1, 2]}
UNUSED = 1
class Ranker:
    @staticmethod
    def order():
        return own_settings.DEPTH
    @property
    def depth(self):
        return LIMITS["depth"]
    def run(self):
        return [helper(x) for x in self.depth]
@functools.lru_cache
def helper(x):
    return lambda: again(x)
def again(x):
    return helper(x), Ranker
"""


def ranker_of_script(text, monkeypatch, path=None):
    """Return the class ``Ranker`` of a text that runs as ``__main__``; without a path no file."""
    main = types.ModuleType("__main__")
    if path is not None:
        path.write_text(text)
        main.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "__main__", main)
    exec(compile(text, str(path or "<input>"), "exec"), vars(main))  # noqa: S102 - a test
    return main.Ranker


CHANGES = {
    "the class": ("[helper(x)", "[(helper)(x)", "__main__.Ranker"),
    "a value that it uses": ("[1, 2]", "[1, 3]", "__main__.Ranker"),
    "a decorated function that it uses": ("lambda: again", "lambda : again", "__main__.helper"),
    "a function that this uses": ("helper(x), Ranker", "(helper(x), Ranker)", "__main__.again"),
    "a value that nothing uses": ("UNUSED = 1", "UNUSED = 2", None),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_class_of_a_script_is_known_by_its_source_and_what_it_uses(
    own_modules, tmp_path, monkeypatch, change
):
    old, new, named = CHANGES[change]
    assert SCRIPT.count(old) == 1
    before, after = (
        code_of([ranker_of_script(text, monkeypatch, tmp_path / f"{name}.py")]).own
        for name, text in {"before": SCRIPT, "after": SCRIPT.replace(old, new)}.items()
    )
    names = {"__main__.Ranker", "__main__.helper", "__main__.again", "own_settings"}
    assert set(before) == set(after) == names
    assert {name for name in names if before[name] != after[name]} == ({named} - {None})


def test_code_typed_into_an_interpreter_is_known_by_its_bytecode(monkeypatch):
    versions = []
    for size in (1, 1, 2):
        text = f"class Ranker:\n    def run(self):\n        return lambda: {size}\n"
        [(key, sha256)] = code_of([ranker_of_script(text, monkeypatch)()]).own.items()
        python = ".".join(map(str, sys.version_info[:2]))
        assert key == f"__main__.Ranker (bytecode of Python {python})"
        versions.append(sha256)
    assert versions[0] == versions[1] != versions[2]


def test_bytecode_as_text_holds_the_names_and_constants_of_inner_functions():
    text = bytecode_text((lambda: [len(x) for x in ("paris",)]).__code__)
    assert "paris" in text
    assert "len" in text
    assert " object at 0x" not in text  # an address differs in each process


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "None"),
        ({"a": [1, 2.5], "b": (b"x",)}, "{'a': [1, 2.5], 'b': [b'x']}"),
        ({"b", "a"}, "['a', 'b']"),
        (frozenset({2, 1}), "[1, 2]"),
        (types.SimpleNamespace(a=1), "SimpleNamespace"),
        ([[[[[[[1]]]]]]], "[[[[[[list]]]]]]"),
        ([[[[[[{}]]]]]], "[[[[[[dict]]]]]]"),
    ],
)
def test_values_as_text_have_no_addresses_and_sets_no_order(value, text):
    assert value_text(value) == text


def test_an_array_as_text_is_its_shape_and_its_bytes():
    values = np.arange(6.0)
    assert value_text(values) == f"(6,) {hashlib.sha256(values.tobytes()).hexdigest()}"
    assert value_text(values) != value_text(values.reshape(2, 3))


def test_the_highest_grade_of_a_document_is_over_all_queries():
    qrels = Qrels({"q1": {"a": 1, "b": -1}, "q2": {"a": 0, "c": 2}, "q3": {"a": 3}})
    assert highest_grades_of(qrels) == {"a": 3, "b": -1, "c": 2}
