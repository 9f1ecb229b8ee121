"""Fingerprints of pipelines and functions: SHA-256 hashes of their settings and their code."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import types
from typing import TYPE_CHECKING, Any

from beir_eval.core.own_code import bytecode_text, value_text
from beir_eval.integrations.haystack.components import is_pipeline

if TYPE_CHECKING:
    from collections.abc import Callable

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MAX_DEPTH = 16
_PLAIN_TYPES = (str, int, float, bool, type(None))


def fingerprint_of_pipeline(pipeline: Any) -> str:
    """Return the SHA-256 of a pipeline's components, their settings and their connections.

    The settings of a component are those that its ``to_dict`` returns. If ``to_dict`` fails, for
    example because a secret is a token, they are its attributes. The index name that an
    InMemoryDocumentStore generates, another one in every process, is left out.
    """
    content = {name: _component_settings(component) for name, component in sorted(pipeline.walk())}
    connections = sorted(
        f"{sender}.{key}.{receiver}" for sender, receiver, key in pipeline.graph.edges(keys=True)
    )
    return _sha256([_without_generated_index_names(content), connections])


def settings_of_store(store: Any) -> str:
    """Return the settings of a document store as text, without a generated name of an index."""
    return json.dumps(
        _without_generated_index_names(_component_settings(store)), sort_keys=True, default=repr
    )


def fingerprint_of_function(function: Callable[..., Any]) -> str:
    """Return the SHA-256 of a function's bytecode, defaults and closure values.

    Of a bound method it covers the attributes of its object too, and of a partial its arguments.
    For a callable without code, it is the SHA-256 of its attributes.
    """
    return _sha256(_PlainValues().of_function(function))


def _component_settings(component: Any, reader: _PlainValues | None = None) -> Any:
    """Return the class name of a component, and its serialised settings or its attributes.

    Args:
        component: the component.
        reader: what reads the attributes, if it has read the object that the component is in.
    """
    class_name = f"{type(component).__module__}.{type(component).__qualname__}"
    try:
        serialised = component.to_dict() if hasattr(component, "to_dict") else None
        json.dumps(serialised, default=repr)
    except Exception:  # noqa: BLE001 - whatever the component raises
        serialised = None
    if serialised is not None:
        return [class_name, serialised]
    return [class_name, (reader or _PlainValues()).of_object(component)]


class _PlainValues:
    """Reads objects as plain values, each object once, down to ``_MAX_DEPTH`` levels."""

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self._kept: list[Any] = []  # an object of the same id must not take its place

    def of(self, value: Any, depth: int = 0) -> Any:
        """Return the plain values in an object, in containers and in functions."""
        if isinstance(value, _PLAIN_TYPES):
            return value
        if hasattr(value, "tobytes") and hasattr(value, "shape"):
            return value_text(value)
        if depth >= _MAX_DEPTH or id(value) in self._seen:
            return type(value).__qualname__
        self._seen.add(id(value))
        self._kept.append(value)
        return self._of_parts(value, depth)

    def _of_parts(self, value: Any, depth: int) -> Any:
        """Return the values in a container, a function, a pipeline, or another object."""
        if isinstance(value, dict):
            return {str(key): self.of(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (list, tuple, set, frozenset)):
            items = [self.of(item, depth + 1) for item in value]
            return sorted(map(repr, items)) if isinstance(value, (set, frozenset)) else items
        if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
            return self.of_function(value, depth + 1)
        if is_pipeline(value):
            return fingerprint_of_pipeline(value)
        if depth and hasattr(value, "to_dict"):  # a component or a store inside another component
            return _without_generated_index_names(_component_settings(value, self))
        return self.of_object(value, depth)

    def of_function(self, function: Any, depth: int = 0) -> Any:
        """Return what a function consists of."""
        if isinstance(function, functools.partial):
            values = self.of([function.args, function.keywords], depth + 1)
            return [self.of_function(function.func, depth + 1), values]
        code = getattr(function, "__code__", None)
        if code is None:
            wrapped = getattr(function, "__wrapped__", None)
            if callable(wrapped):
                return self.of_function(wrapped, depth + 1)
            return self.of(function, depth + 1)
        cells = getattr(function, "__closure__", None) or ()
        held = [
            function.__defaults__,
            function.__kwdefaults__,
            [cell.cell_contents for cell in cells],
            getattr(function, "__self__", None),
        ]
        return [bytecode_text(code), self.of(held, depth + 1)]

    def of_object(self, value: Any, depth: int = 0) -> Any:
        """Return the class and the attributes of an object."""
        attributes = {
            name: attribute
            for name, attribute in getattr(value, "__dict__", {}).items()
            if not name.startswith("__") and not isinstance(attribute, type)
        }
        return (
            [type(value).__qualname__, self.of(attributes, depth + 1)]
            if attributes
            else repr(value)
        )


def _without_generated_index_names(content: Any) -> Any:
    """Return serialised content with an empty index name in each InMemoryDocumentStore."""
    if isinstance(content, list):
        return [_without_generated_index_names(item) for item in content]
    if not isinstance(content, dict):
        return content
    is_in_memory_store = str(content.get("type", "")).endswith("InMemoryDocumentStore")
    cleaned = {key: _without_generated_index_names(value) for key, value in content.items()}
    parameters = cleaned.get("init_parameters")
    if (
        is_in_memory_store
        and isinstance(parameters, dict)
        and _UUID.fullmatch(str(parameters.get("index")))
    ):
        cleaned["init_parameters"] = {**parameters, "index": ""}
    return cleaned


def _sha256(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, default=repr)
    return hashlib.sha256(_ADDRESS.sub("", text).encode(errors="surrogatepass")).hexdigest()
