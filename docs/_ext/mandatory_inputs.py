"""Sphinx extension: show inputs that a Haystack component requires without a default.

In Python their default is Haystack's marker for "no default", so that a required input may follow
an optional one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from haystack.core.component import InputSocket

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def _remove_marker(*arguments: Any) -> tuple[str, str | None] | None:
    signature, return_annotation = arguments[-2:]
    if signature is None:
        return None
    return signature.replace(f"={InputSocket.default_value}", ""), return_annotation


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register with Sphinx."""
    app.connect("autodoc-process-signature", _remove_marker)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
