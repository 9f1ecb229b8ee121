"""Fingerprints of pipelines and functions: SHA-256 hashes of their settings and their code."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MAX_DEPTH = 4
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
    """Return the SHA-256 of a function's bytecode, constants, names, defaults and closure values.

    The attributes of a bound method's object are not included. For a callable without code, it is
    the SHA-256 of its attributes.
    """
    code = getattr(function, "__code__", None)
    if code is None:
        return _sha256(_plain_values(function, 0))
    closure_values = [cell.cell_contents for cell in function.__closure__ or ()]
    parts = [
        code.co_code.hex(),
        repr(code.co_consts),
        code.co_names,
        _plain_values([function.__defaults__, function.__kwdefaults__], 0),
        _plain_values(closure_values, 0),
    ]
    return _sha256(parts)


def _component_settings(component: Any) -> Any:
    """Return the class name of a component, and its serialised settings or its attributes."""
    class_name = f"{type(component).__module__}.{type(component).__qualname__}"
    try:
        serialised = component.to_dict() if hasattr(component, "to_dict") else None
        json.dumps(serialised, default=repr)
    except Exception:  # noqa: BLE001 - whatever the component raises
        serialised = None
    return [class_name, _plain_values(component, 0) if serialised is None else serialised]


def _plain_values(value: Any, depth: int) -> Any:
    """Return the plain values in an object and its attributes, down to ``_MAX_DEPTH`` levels."""
    if isinstance(value, _PLAIN_TYPES):
        return value
    if depth >= _MAX_DEPTH:
        return type(value).__qualname__
    if isinstance(value, dict):
        return {str(key): _plain_values(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = [_plain_values(item, depth + 1) for item in value]
        return sorted(map(repr, items)) if isinstance(value, (set, frozenset)) else items
    attributes = {
        name: attribute
        for name, attribute in getattr(value, "__dict__", {}).items()
        if not name.startswith("__") and not callable(attribute)
    }
    return (
        [type(value).__qualname__, _plain_values(attributes, depth + 1)]
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
