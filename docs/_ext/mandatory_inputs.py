"""Sphinx: an input that Haystack requires is shown without a default.

Its default in Python is Haystack's marker for "no default", so that it may follow an optional one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haystack.core.component import InputSocket

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def _without_marker(*event: Any) -> tuple[str, str | None] | None:
    signature, returns = event[-2:]
    if signature is None:
        return None
    return signature.replace(f"={InputSocket.default_value}", ""), returns


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register with Sphinx."""
    app.connect("autodoc-process-signature", _without_marker)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
