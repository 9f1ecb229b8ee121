"""Sphinx: examples without what only the tests need at their ends.

An example that runs ends in an empty line, and shows empty lines of its output as <BLANKLINE>.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

EMPTY = "<BLANKLINE>"


def _trim(_app: Sphinx, document: nodes.document) -> None:
    for block in document.findall(nodes.literal_block):
        text = block.astext()
        if text.startswith(">>>"):
            lines = ["" if line == EMPTY else line for line in text.splitlines()]
            shown = "\n".join(lines).rstrip()
            block.rawsource = shown
            block.children = [nodes.Text(shown)]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register with Sphinx."""
    app.connect("doctree-read", _trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
