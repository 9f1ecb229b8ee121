"""Sphinx extension: convert formulas to MathML when the site is built.

Browsers render MathML without JavaScript and without a network. docutils does the conversion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata
    from sphinx.writers.html5 import HTML5Translator


def _mathml(node: nodes.Element, *, block: bool) -> str:
    text = node.astext()
    try:
        return tex2mathml(text, as_block=block)
    except MathError as error:
        msg = f"{node.source}: no MathML can be made of {text!r}: {error}"
        raise ExtensionError(msg) from error


def _visit_inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(_mathml(node, block=False))
    raise nodes.SkipNode


def _visit_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="formula">{_mathml(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register with Sphinx."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(_visit_inline, None), block_renderers=(_visit_block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
