"""JSON that can stand inside an HTML element."""

from __future__ import annotations

import json
from typing import Any


def as_json(value: Any) -> str:
    """Return JSON that can stand inside an HTML element: it holds no ``<``."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Half of a surrogate pair cannot be written as UTF-8; JSON has another way to write it.
    whole = text.encode("utf-8", "backslashreplace").decode()
    return whole.replace("<", "\\u003c")


def size_of(value: Any) -> int:
    """Return how many bytes a value takes in the file."""
    return len(as_json(value).encode())
