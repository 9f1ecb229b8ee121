"""What identifies a retriever: what it holds, the files of own code that it comes from, versions.

Saved answers are reused if these are equal. Code that was installed into ``site-packages`` is known
by the version of its package. Any other code is the user's *own*: a class or function is known by
the SHA-256 of the file that defines it; one of a notebook or script (``__main__``) by its own
source, for the other cells or lines may change.

Not known are the modules that own code imports, data files, environment variables, and models and
services elsewhere. They are left to the queries that are run again.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import inspect
import json
import re
import site
import sys
import sysconfig
import types
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from beir_eval.core.files import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_MAIN = "__main__"
#: This package is known by its version, also in an editable install.
_OUR_PACKAGES = ("beir_eval", "haystack_integrations.components.evaluators.beir_eval")
_PLAIN_TYPES = (str, bytes, int, float, complex, bool, type(None))
_FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)
#: How many levels of values are read. The attributes of an object count as 3 levels, so that the
#: connections and caches deep inside the client of a service are not read.
_DEPTH, _OBJECT_LEVELS = 9, 3
#: Longer lists and dicts are the content of an index, not settings.
_MOST_ITEMS = 1_000
#: Names of secrets, but not those of settings such as ``id_key`` and ``max_tokens``.
_SECRET = re.compile(r"(api|access)_?key|token$|secret|password", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
#: What differs in every process.
_RANDOM = re.compile(rf" at 0x[0-9a-f]+|{_UUID.pattern}", re.IGNORECASE)


class Code(NamedTuple):
    """The code behind a retriever.

    Attributes:
        own: {own module, or name in ``__main__``: SHA-256}.
        packages: {package: version}, without Python's own modules.
    """

    own: dict[str, str]
    packages: dict[str, str]


def code_of(objects: Iterable[Any]) -> Code:
    """Return the code of the classes of objects, and of classes and functions themselves.

    Args:
        objects: instances, classes and functions, such as the components of a pipeline.
    """
    own: dict[str, str] = {}
    packages: dict[str, str] = {}
    definitions = {
        part
        for item in objects
        for value in objects_in(item, _OBJECT_LEVELS - 1)  # functions are opened, objects are not
        for part in _definitions_of(value)
    }
    for part in definitions:
        module = part.__module__ or ""
        file = getattr(sys.modules.get(module), "__file__", None)
        if module == _MAIN:
            own[f"{_MAIN}.{part.__qualname__}"] = sha256_of(_source_of(part))
        elif any(module == ours or module.startswith(f"{ours}.") for ours in _OUR_PACKAGES):
            packages["beir-eval"] = importlib.metadata.version("beir-eval")
        elif file is not None and _is_installed(path := Path(file).resolve()):
            for package in _packages_of().get(module.partition(".")[0], ()):
                packages[package] = importlib.metadata.version(package)
        elif file is not None and module not in own:
            own[module] = file_sha256(path) if path.is_file() else ""
    return Code(dict(sorted(own.items())), dict(sorted(packages.items())))


def _definitions_of(value: Any) -> tuple[Any, ...]:
    """Return a function, or the class of an object with those that it is derived from."""
    if isinstance(value, types.FunctionType):
        return (value,)
    return inspect.getmro(value if isinstance(value, type) else type(value))


def _is_installed(path: Path) -> bool:
    """Return whether a file is of Python's own modules or of an installed package."""
    if not {"site-packages", "dist-packages"}.isdisjoint(path.parts):
        return True
    return any(path.is_relative_to(folder) for folder in _library_folders())


@functools.cache
def _library_folders() -> tuple[Path, ...]:
    paths = sysconfig.get_paths()
    folders = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    return tuple(Path(folder).resolve() for folder in (*folders, site.getusersitepackages()))


@functools.cache
def _packages_of() -> Mapping[str, list[str]]:
    """Return {top-level module: the packages that install it}; this takes 0.3 seconds."""
    return importlib.metadata.packages_distributions()


def sha256_of(*values: Any) -> str:
    """Return the SHA-256 of what values hold."""
    text = "\n".join(map(text_of, values))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def text_of(value: Any) -> str:
    """Return what a value holds as text: plain values, arrays, functions, attributes of objects.

    Of a function these are its source, its defaults, and the variables of the function around it;
    lists and dicts there may be caches, and are left out. Of a component of Haystack they are what
    ``to_dict`` returns, if it can. Secrets, addresses and random ids are left out.
    """
    return _RANDOM.sub("", _text_of(value, _DEPTH))


def _text_of(value: Any, depth: int) -> str:
    if isinstance(value, _PLAIN_TYPES):
        return repr(value)
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, (type, types.ModuleType)):
        return f"{name} {value.__name__}"
    if hasattr(type(value), "shape"):  # the object of a database may have any attribute
        has_bytes = hasattr(type(value), "tobytes")
        content = hashlib.sha256(value.tobytes()).hexdigest() if has_bytes else ""
        return f"{name} {value.shape} {content}"
    # A callable object inside another one may be a model, whose attributes change while it is used.
    is_model = depth <= _DEPTH - _OBJECT_LEVELS and callable(value)
    if depth <= 0 or (is_model and not isinstance(value, _FUNCTIONS)):
        return name
    levels, parts = _parts_of(value)
    texts = [f"{key}: {_text_of(part, depth - levels)}" for key, part in sorted(parts.items())]
    return f"{name}({', '.join(texts)})"


def objects_in(value: Any, depth: int = _DEPTH) -> Iterator[Any]:
    """Yield the functions and objects of which a value consists, itself included.

    Args:
        value: the value.
        depth: how many levels are read.
    """
    if isinstance(value, _PLAIN_TYPES):
        return
    yield value
    if depth <= 0 or isinstance(value, (type, types.ModuleType)) or hasattr(type(value), "shape"):
        return
    levels, parts = _parts_of(value)
    if levels <= depth:
        for part in parts.values():
            yield from objects_in(part, depth - levels)


def _parts_of(value: Any) -> tuple[int, dict[str, Any]]:
    """Return as how many levels the parts of a value count, and {name: part}."""
    attributes = getattr(value, "__dict__", {})
    levels, parts = 1, {}
    if isinstance(value, Mapping):
        # Random ids are those of nodes or of traces, of which LlamaIndex has more with each query.
        named = ((str(key), item) for key, item in value.items() if not _UUID.fullmatch(str(key)))
        parts = _settings(dict(islice(named, _MOST_ITEMS + 1)))
    elif isinstance(value, (list, tuple, set, frozenset)):
        items = islice(value, _MOST_ITEMS + 1)
        ordered = sorted(items, key=repr) if isinstance(value, (set, frozenset)) else items
        parts = _settings({str(index): item for index, item in enumerate(ordered)})
    elif isinstance(value, functools.partial):
        parts = {"function": value.func, "args": value.args, "keywords": value.keywords}
    elif isinstance(value, types.MethodType):
        parts = {"function": value.__func__, "object": value.__self__}
    elif isinstance(value, types.FunctionType):
        levels = _OBJECT_LEVELS
        around = zip(value.__code__.co_freevars, value.__closure__ or (), strict=True)
        held = {name: cell.cell_contents for name, cell in around}
        parts = {name: item for name, item in held.items() if not isinstance(item, (list, dict))}
        parts |= {"source": _source_of(value), "defaults": value.__defaults__}
        parts |= {"keywords": value.__kwdefaults__}
    elif callable(attributes.get("__wrapped__")):  # of a decorator such as lru_cache
        parts = {"function": attributes["__wrapped__"]}
    else:
        levels = _OBJECT_LEVELS
        if hasattr(type(value), "__pydantic_private__"):
            attributes = {**attributes, **(value.__pydantic_private__ or {})}
        parts = _serialised(value) or _settings(attributes)
        parts = parts or {"text": repr(value)}
    return levels, parts


def _settings(items: dict[str, Any]) -> dict[str, Any]:
    """Return the items that are settings: no secrets, and none of a list or dict that is longer."""
    if len(items) > _MOST_ITEMS:
        return {}
    return {
        name: item
        for name, item in items.items()
        if not name.startswith("__") and not _SECRET.search(name)
    }


def _serialised(value: Any) -> dict[str, Any]:
    """Return what ``to_dict`` of a component or pipeline of Haystack returns, as one text."""
    try:
        content = type(value).to_dict(value)
        if {"init_parameters", "components"}.isdisjoint(content):
            return {}
        return {"settings": json.dumps(content, sort_keys=True, default=text_of)}
    except Exception:  # noqa: BLE001 - there is none, or whatever it raises
        return {}


def _source_of(item: Any) -> str:
    """Return the source of a class or function; if it was typed into an interpreter, bytecode."""
    # From Python 3.13 on, code that was made of a string has the source of ``python -c``.
    if getattr(getattr(item, "__code__", None), "co_filename", "") != "<string>":
        with suppress(OSError, TypeError, SyntaxError):
            return inspect.getsource(item)
    members = vars(item).values() if isinstance(item, type) else (item,)
    functions = (getattr(member, "fget", member) for member in members)
    codes = (getattr(inspect.unwrap(function), "__code__", None) for function in functions)
    return "\n".join(_bytecode_text(code) for code in codes if code is not None)


def _bytecode_text(code: types.CodeType) -> str:
    """Return the bytecode, the names and the constants of a code object as text."""
    constants = [
        _bytecode_text(constant) if isinstance(constant, types.CodeType) else repr(constant)
        for constant in code.co_consts
    ]
    return f"{code.co_code.hex()} {code.co_names} {constants}"
