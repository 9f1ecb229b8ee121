"""Print the section of CHANGELOG.md of a version: python scripts/release_notes.py 0.1.0."""

from __future__ import annotations

import re
import sys
from pathlib import Path

CHANGELOG = Path(__file__).parents[1] / "CHANGELOG.md"


def notes_of(version: str, changelog: str) -> str:
    """Return the text below the heading of a version.

    Raises:
        SystemExit: the changelog has no such version.
    """
    heading = re.search(rf"^## \[{re.escape(version)}\].*$", changelog, re.MULTILINE)
    if heading is None:
        msg = f"CHANGELOG.md has no section for {version}; rename Unreleased to it"
        raise SystemExit(msg)
    return changelog[heading.end() :].partition("\n## ")[0].strip()


if __name__ == "__main__":
    print(notes_of(sys.argv[1], CHANGELOG.read_text(encoding="utf-8")))
