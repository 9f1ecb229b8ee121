"""Sphinx extension: show examples without the marks that only doctest needs.

``<BLANKLINE>`` becomes an empty line, and empty lines at the end are removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

#: How doctest writes an empty line of output.
BLANK_LINE = "<BLANKLINE>"


def _trim_examples(_app: Sphinx, document: nodes.document) -> None:
    for block in document.findall(nodes.literal_block):
        text = block.astext()
        if text.startswith(">>>"):
            lines = ["" if line == BLANK_LINE else line for line in text.splitlines()]
            text = "\n".join(lines).rstrip()
            block.rawsource = text
            block.children = [nodes.Text(text)]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register with Sphinx."""
    app.connect("doctree-read", _trim_examples)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
