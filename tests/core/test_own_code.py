"""The code behind a retriever is known by hashes of own modules and versions of packages."""

import copy
import functools
import hashlib
import importlib
import json
import sys
import types
import uuid
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pydantic import BaseModel, PrivateAttr

from beir_eval import Qrels
from beir_eval.core.own_code import code_of, objects_in, text_of
from beir_eval.core.qrels import highest_grades_of

RANKER = """
import own_settings
class Base:
    pass
class Ranker(Base):
    def run(self):
        pass
def rank():
    pass
"""


@pytest.fixture
def ranker(tmp_path, monkeypatch):
    """Write an own module and one that it imports; return the first. None stays imported."""
    (tmp_path / "own_ranker.py").write_text(RANKER)
    (tmp_path / "own_settings.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("own_ranker")
    for name in ("own_ranker", "own_settings"):
        del sys.modules[name]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda ranker: ranker.Ranker,
        lambda ranker: ranker.Ranker(),
        lambda ranker: type("Derived", (ranker.Ranker,), {"__module__": "builtins"}),
        lambda ranker: ranker.Ranker().run,
        lambda ranker: functools.partial(print, ranker.rank, key=1),
        lambda ranker: functools.partial(ranker.rank, 1, key=ranker.Base),
        lambda ranker: functools.lru_cache(ranker.rank),
    ],
    ids=["class", "instance", "derived", "method", "argument of a partial", "partial", "decorated"],
)
def test_own_code_is_known_by_the_file_that_defines_it_behind_every_kind_of_callable(ranker, wrap):
    code = code_of([wrap(ranker)])
    assert code == ({"own_ranker": hashlib.sha256(RANKER.encode()).hexdigest()}, {})


def test_a_module_whose_file_is_gone_is_named_without_a_hash(ranker):
    Path(ranker.__file__).unlink()
    assert code_of([ranker.Ranker]).own == {"own_ranker": ""}


def test_installed_packages_are_known_by_their_version():
    objects = [np.zeros(1), np.random.default_rng(), Qrels, json.JSONEncoder, 3]
    versions = {name: metadata.version(name) for name in ("beir-eval", "numpy")}
    assert code_of(objects) == ({}, versions)


def ranker_of_script(text, monkeypatch, path=None):
    """Return the class ``Ranker`` of a text that runs as ``__main__``; without a path no file."""
    main = types.ModuleType("__main__")
    if path is not None:
        path.write_text(text)
        main.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "__main__", main)
    exec(compile(text, str(path or "<input>"), "exec"), vars(main))  # noqa: S102 - a test
    return main.Ranker


def test_a_class_of_a_script_is_known_by_its_source(tmp_path, monkeypatch):
    script = "X = 1\nclass Ranker:\n    def run(self):\n        return 1\n"
    codes = [
        code_of([ranker_of_script(text, monkeypatch, tmp_path / f"{number}.py")]).own
        for number, text in enumerate(
            [script, script.replace("X = 1", "X = 2"), script.replace("return 1", "return 2")]
        )
    ]
    assert all(set(code) == {"__main__.Ranker"} for code in codes)
    assert codes[0] == codes[1] != codes[2]


def test_code_typed_into_an_interpreter_is_known_by_its_bytecode(monkeypatch):
    versions = []
    for size in (1, 1, 2):
        text = f"class Ranker:\n    def run(self):\n        return lambda: {size}\n"
        [(key, sha256)] = code_of([ranker_of_script(text, monkeypatch)()]).own.items()
        assert key == "__main__.Ranker"
        versions.append(sha256)
    assert versions[0] == versions[1] != versions[2]


def function_of(text, **variables):
    """Return a function without a file, whose bytecode is its source."""
    return eval(f"lambda {', '.join(variables)}: lambda: {text}")(**variables)  # noqa: S307 - a test


class Private(BaseModel):
    """Holds a setting in a private attribute, which ``to_dict`` leaves out."""

    _setting: int = PrivateAttr()

    def __init__(self, setting):
        super().__init__()
        self._setting = setting

    def to_dict(self):
        return {}


class Serialised:
    """States its settings as a component of Haystack does."""

    def __init__(self, held):
        self.settings, self.is_loaded = {"held": held}, []

    def to_dict(self):
        self.is_loaded.append(True)
        return {"type": "Serialised", "init_parameters": self.settings}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, "1"),
        ({"a": [1, 2.5], "b": (b"x",)}, {"a": [1, 2.5], "b": (b"y",)}),
        ({"b", "a"}, {"a", "c"}),
        (np.arange(6.0), np.arange(6.0).reshape(2, 3)),
        (np.arange(2000), np.arange(2000)[::-1]),
        (Path("a"), Path("b")),
        (SimpleNamespace(a=SimpleNamespace(b=1)), SimpleNamespace(a=SimpleNamespace(b=2))),
        (function_of("'paris'"), function_of("'rome'")),
        (function_of("[len(x) for x in 'a']"), function_of("[str(x) for x in 'a']")),
        (function_of("size", size=1), function_of("size", size=2)),
        (functools.partial(print, 1), functools.partial(print, 2)),
        (SimpleNamespace(f=function_of("1")), SimpleNamespace(f=function_of("2"))),
        (Serialised(Path("a")), Serialised(Path("b"))),
        (SimpleNamespace(held=Serialised(1)), SimpleNamespace(held=Serialised(2))),
        (Path, Fraction),
        (Private(1), Private(2)),
    ],
)
def test_texts_differ_by_what_values_hold(first, second):
    assert text_of(first) == text_of(copy.copy(first)) != text_of(second)
    assert " at 0x" not in text_of(first)


class Index:
    """Holds an attribute for each of many documents."""

    def __init__(self, length):
        vars(self).update({f"document {number}": length for number in range(1_001)})


class Model:
    """Changes an attribute while it is used."""

    def __init__(self, state):
        self.state = state

    def __call__(self):
        pass


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"b", "a", "c"}, {"c", "a", "b"}),
        ({"api_key": "a", "hf_token": "b"}, {"api_key": "c", "hf_token": "d"}),
        ({"index": str(uuid.uuid4())}, {"index": str(uuid.uuid4())}),
        ({str(uuid.uuid4()): 1}, {}),
        (dict.fromkeys(range(1_001), 1), dict.fromkeys(range(1_001), 2)),
        ([1] * 1_001, [2] * 1_001),
        (Index(1), Index(2)),
        (function_of("seen", seen=[]), function_of("seen", seen=[1])),
        (SimpleNamespace(model=Model("new")), SimpleNamespace(model=Model("used"))),
    ],
    ids=[
        *("order", "sets", "secrets", "random ids", "traces", "dict", "list", "attributes"),
        *("caches", "model"),
    ],
)
def test_texts_leave_out_secrets_random_ids_indexes_caches_and_models(first, second):
    assert text_of(first) == text_of(second)


def test_settings_whose_names_look_like_those_of_secrets_count():
    for name in ("id_key", "max_tokens", "bm25_tokenization_regex", "keywords"):
        assert text_of({name: 1}) != text_of({name: 2}), name


def test_no_attribute_of_an_object_that_has_any_is_called():
    class Database:
        def __init__(self, name):
            self.name = name

        def __getattr__(self, name):
            return lambda *_: pytest.fail(f"{name} was called")

    first, second = (SimpleNamespace(database=Database(name)) for name in "ab")
    assert text_of(first) != text_of(second)
    assert first.database in list(objects_in(first))


def test_objects_that_hold_each_other_have_a_text():
    first = SimpleNamespace(items=[])
    first.items.append(SimpleNamespace(parent=first, items=first.items))
    assert "SimpleNamespace" in text_of(first)
    assert first in list(objects_in(first))


def test_the_highest_grade_of_a_document_is_over_all_queries():
    qrels = Qrels({"q1": {"a": 1, "b": -1}, "q2": {"a": 0, "c": 2}, "q3": {"a": 3}})
    assert highest_grades_of(qrels) == {"a": 3, "b": -1, "c": 2}
