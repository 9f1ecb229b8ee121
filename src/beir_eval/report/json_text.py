"""JSON that is safe inside an HTML element, and its size in bytes."""

from __future__ import annotations

import json
from typing import Any


def json_for_html(value: Any) -> str:
    """Return a value as JSON without ``<``, so that it cannot end the HTML element around it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # UTF-8 cannot encode half of a surrogate pair; JSON can escape it.
    encodable = text.encode("utf-8", "backslashreplace").decode()
    return encodable.replace("<", "\\u003c")


def size_of(value: Any) -> int:
    """Return the number of bytes that a value takes as JSON in the file."""
    return len(json_for_html(value).encode())
