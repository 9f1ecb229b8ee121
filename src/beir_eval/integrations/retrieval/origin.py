"""What made the answers of a retriever, and how it differs from what there is now.

Saved answers are reused if they are of an equal ``Origin``. That of a search function is its name,
what it is bound to and the user's own code.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import platform
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from beir_eval._version import __version__
from beir_eval.core.own_code import code_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The layout of a journal's first line.
LAYOUT = 2
_PYTHON = "Python"
#: Objects inside a retriever are described down to this depth.
_MAX_DEPTH = 3
#: Larger lists and dicts are the content of an index, not settings.
_MOST_SETTINGS = 20
_PLAIN_TYPES = (str, int, float, bool, type(None))
_SECRET = re.compile(r"key|token|secret|password", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What made the answers of a retriever.

    Attributes:
        settings: what identifies the retriever and its settings: plain values.
        own_code: {own module: SHA-256}, of ``own_code.code_of``.
        packages: {package: version}, with Python's and that of beir-eval.
        corpus: the SHA-256 of the documents that this process has written to its stores; None if it
            has written none.
        stored_documents: the number of documents in its stores; None if it is not known.
    """

    settings: Mapping[str, Any]
    own_code: Mapping[str, str] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)
    corpus: str | None = None
    stored_documents: int | None = None

    @property
    def _versions(self) -> dict[str, str]:
        ours = {"beir-eval": __version__, _PYTHON: platform.python_version()}
        return {**self.packages, **ours}

    def to_record(self) -> dict[str, Any]:
        """Return the first line of a journal."""
        return {
            "version": LAYOUT,
            "made_by": dict(self.settings),
            "own_code": dict(self.own_code),
            "packages": self._versions,
            "corpus": self.corpus,
            "stored_documents": self.stored_documents,
        }

    def differences(self, saved: Mapping[str, Any]) -> list[str]:
        """Return what differs from a journal's first line so that its answers are not reused.

        What is not known on one of both sides does not differ.

        Args:
            saved: the first line, of ``to_record``.
        """
        settings = saved["made_by"]
        names = sorted({*settings, *self.settings})
        differing = [name for name in names if settings.get(name) != self.settings.get(name)]
        changed = {
            name
            for name in {*saved["own_code"], *self.own_code}
            if saved["own_code"].get(name) != self.own_code.get(name)
        }
        differing += [f"the code of {name}" for name in sorted(changed)]
        if None not in (self.corpus, saved["corpus"]) and self.corpus != saved["corpus"]:
            differing.append("the corpus")
        numbers = (saved["stored_documents"], self.stored_documents)
        if None not in numbers and numbers[0] != numbers[1]:
            differing.append(
                f"the number of stored documents, {numbers[0]:,} then and {numbers[1]:,} now"
            )
        return differing

    def changed_versions(self, saved: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
        """Return {package: (version then, version now)} of those that differ; "" for none."""
        then, now = saved["packages"], self._versions
        return {
            name: (then.get(name, ""), now.get(name, ""))
            for name in sorted({*then, *now})
            if then.get(name) != now.get(name)
        }


def origin_of_search(search: Any, documents_go_by: str) -> Origin:
    """Return what makes the answers of a search function.

    Its settings are hashed: its name, and the texts and numbers that it is bound to: attributes of
    its object, and of the objects in them down to 3 levels; arguments of a partial; defaults, and
    variables of the function around it. The content of an index is not included, and neither are
    random ids and attributes whose names say that they are secret.

    Args:
        search: the function, a method, a partial or a callable object.
        documents_go_by: the fields that identify a document.
    """
    bound = _bound_to(search)
    code = code_of([search, *_objects_in(list(bound.values()), _MAX_DEPTH)])
    text = json.dumps(_settings_of_attributes(bound, _MAX_DEPTH), sort_keys=True)
    digest = hashlib.sha256(_UUID.sub("", text).encode(errors="backslashreplace"))
    settings = {"retriever": digest.hexdigest(), "documents_go_by": documents_go_by}
    return Origin(settings=settings, own_code=code.own, packages=code.packages)


def _bound_to(search: Any) -> dict[str, Any]:
    """Return {name: value} of what a function has beside its argument, and its own name."""
    if isinstance(search, functools.partial):
        given = {f"argument {index}": value for index, value in enumerate(search.args)}
        return {**_bound_to(search.func), **given, **search.keywords}
    name = getattr(search, "__qualname__", "")
    if not inspect.isfunction(search):
        owner = search.__self__ if inspect.ismethod(search) else search
        return {"function": name, "object": _kind_of(owner), **_attributes_of(owner)}
    around = zip(search.__code__.co_freevars, search.__closure__ or (), strict=True)
    values = {variable: cell.cell_contents for variable, cell in around}
    # A list or a dict out there may be a cache or a record, which grows.
    values = {key: value for key, value in values.items() if not isinstance(value, (list, dict))}
    defaults = enumerate(search.__defaults__ or ())
    given = {f"default {index}": value for index, value in defaults}
    return {"function": name, **values, **given, **(search.__kwdefaults__ or {})}


def _attributes_of(value: Any) -> dict[str, Any]:
    """Return the attributes of an object; Pydantic keeps private ones apart."""
    private = getattr(value, "__pydantic_private__", None) or {}
    return {**getattr(value, "__dict__", {}), **private}


def _kind_of(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _objects_in(value: Any, depth: int) -> Iterator[Any]:
    """Yield an object and those among its attributes, down to a depth, whose code it may run."""
    if isinstance(value, (list, tuple)) and len(value) <= _MOST_SETTINGS:
        for item in value:
            yield from _objects_in(item, depth)
        return
    if isinstance(value, (*_PLAIN_TYPES, list, tuple, dict, set, frozenset, bytes)):
        return
    yield value
    if depth:
        for attribute in _attributes_of(value).values():
            yield from _objects_in(attribute, depth - 1)


def _settings_of(value: Any, depth: int) -> Any:
    if isinstance(value, _PLAIN_TYPES):
        return value
    if isinstance(value, dict):
        # Random ids are those of nodes or of traces, of which LlamaIndex has more with each query.
        named = ((name, item) for name, item in value.items() if not _UUID.fullmatch(str(name)))
        value = dict(islice(named, _MOST_SETTINGS + 1))
    if isinstance(value, (list, tuple, dict)) and (len(value) > _MOST_SETTINGS or not depth):
        return type(value).__qualname__
    if isinstance(value, (list, tuple)):
        return [_settings_of(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return _settings_of_attributes(value, depth)
    kind = _kind_of(value)
    if not depth or callable(value):
        return kind
    return [kind, _settings_of_attributes(_attributes_of(value), depth)]


def _settings_of_attributes(attributes: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    return {
        str(name): _settings_of(attribute, depth - 1)
        for name, attribute in attributes.items()
        if not _SECRET.search(str(name))
    }
