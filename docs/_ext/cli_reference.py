"""Sphinx: the commands' reference takes the place of its mark in the source of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli_text import reference

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

PAGE = "cli"
MARK = "<!-- the commands, from their code: docs/_ext/cli_text.py -->"


def _put_in(_app: Sphinx, page: str, source: list[str]) -> None:
    if page == PAGE:
        if MARK not in source[0]:
            msg = f"{page}.md has lost its mark {MARK!r}"
            raise ValueError(msg)
        source[0] = source[0].replace(MARK, reference())


def _always(*_: object) -> list[str]:
    """Read the page anew each time: Sphinx does not see that the code has changed."""
    return [PAGE]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register with Sphinx."""
    app.connect("source-read", _put_in)
    app.connect("env-get-outdated", _always)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
