"""Sphinx extension: insert the reference of the commands into the page ``cli.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli_text import reference

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

PAGE = "cli"
#: The line of the page that the reference replaces.
MARK = "<!-- the commands, from their code: docs/_ext/cli_text.py -->"


def _insert_reference(_app: Sphinx, page: str, source: list[str]) -> None:
    if page == PAGE:
        if MARK not in source[0]:
            msg = f"{page}.md has lost its mark {MARK!r}"
            raise ValueError(msg)
        source[0] = source[0].replace(MARK, reference())


def _outdated_pages(*_: object) -> list[str]:
    """Return the page, so that every build reads it: Sphinx does not see changes of the code."""
    return [PAGE]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register with Sphinx."""
    app.connect("source-read", _insert_reference)
    app.connect("env-get-outdated", _outdated_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
