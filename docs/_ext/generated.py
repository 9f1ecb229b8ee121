"""Sphinx extension: insert what is generated from the code into the pages of ``PAGES``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cli_text
import findings_text
import measures_text

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

#: {page: (the line that is replaced, what makes the text)}.
PAGES = {
    "cli": ("<!-- the commands, from their code: docs/_ext/cli_text.py -->", cli_text.reference),
    "measures": (
        "<!-- the measures, from their docstrings: docs/_ext/measures_text.py -->",
        measures_text.reference,
    ),
    "validate": (
        "<!-- the findings, from their texts: docs/_ext/findings_text.py -->",
        findings_text.reference,
    ),
}


def _insert(_app: Sphinx, page: str, source: list[str]) -> None:
    if page in PAGES:
        mark, reference = PAGES[page]
        if mark not in source[0]:
            msg = f"{page}.md has lost its mark {mark!r}"
            raise ValueError(msg)
        source[0] = source[0].replace(mark, reference())


def _outdated_pages(*_: object) -> list[str]:
    """Return the pages, so that every build reads them: Sphinx does not see changes of the code."""
    return [*PAGES]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register with Sphinx."""
    app.connect("source-read", _insert)
    app.connect("env-get-outdated", _outdated_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
