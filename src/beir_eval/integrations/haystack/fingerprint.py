"""What tells one pipeline, or one function, from another: hashes of all that can be read."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_DEEPEST = 4
_PLAIN = (str, int, float, bool, type(None))


def fingerprint_of_pipeline(pipeline: Any) -> str:
    """Return the SHA-256 of a pipeline's components, their settings and their connections.

    Components are read as they serialise themselves; one that cannot, as by a secret that is a
    token, by its attributes. The name that an InMemoryDocumentStore makes up for its index anew in
    every process is left out.
    """
    content = {name: _component(one) for name, one in sorted(pipeline.walk())}
    connections = sorted(
        f"{sender}.{key}.{receiver}" for sender, receiver, key in pipeline.graph.edges(keys=True)
    )
    return _sha256([_without_made_up_names(content), connections])


def fingerprint_of_function(function: Callable[..., Any]) -> str:
    """Return the SHA-256 of a function's code, constants and what it closes over."""
    code = getattr(function, "__code__", None)
    if code is None:
        return _sha256(_state(function, 0))
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    parts = [code.co_code.hex(), repr(code.co_consts), code.co_names, _state(cells, 0)]
    return _sha256(parts)


def _component(component: Any) -> Any:
    kind = f"{type(component).__module__}.{type(component).__qualname__}"
    try:
        serialised = component.to_dict() if hasattr(component, "to_dict") else None
        json.dumps(serialised, default=repr)
    except Exception:  # noqa: BLE001 - the component's own
        serialised = None
    return [kind, _state(component, 0) if serialised is None else serialised]


def _state(value: Any, depth: int) -> Any:
    """Return the plain values that an object is made of, not deeper than a few levels."""
    if isinstance(value, _PLAIN):
        return value
    if depth >= _DEEPEST:
        return type(value).__qualname__
    if isinstance(value, dict):
        return {str(key): _state(one, depth + 1) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        listed = [_state(one, depth + 1) for one in value]
        return sorted(map(repr, listed)) if isinstance(value, (set, frozenset)) else listed
    fields = {
        name: one
        for name, one in getattr(value, "__dict__", {}).items()
        if not name.startswith("__") and not callable(one)
    }
    return [type(value).__qualname__, _state(fields, depth + 1)] if fields else repr(value)


def _without_made_up_names(content: Any) -> Any:
    if isinstance(content, list):
        return [_without_made_up_names(one) for one in content]
    if not isinstance(content, dict):
        return content
    made_up = str(content.get("type", "")).endswith("InMemoryDocumentStore")
    cleaned = {key: _without_made_up_names(value) for key, value in content.items()}
    parameters = cleaned.get("init_parameters")
    if made_up and isinstance(parameters, dict) and _UUID.fullmatch(str(parameters.get("index"))):
        cleaned["init_parameters"] = {**parameters, "index": ""}
    return cleaned


def _sha256(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, default=repr)
    return hashlib.sha256(_ADDRESS.sub("", text).encode(errors="surrogatepass")).hexdigest()
