"""Phrases that readers had to read twice stand nowhere in the prose of the project."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: What was replaced, in lower case; each has a plainer form.
PHRASES = Path(__file__).with_name("phrases.txt").read_text(encoding="utf-8").splitlines()
ENDINGS = {".md", ".py", ".html", ".j2", ".js", ".txt", ".ipynb", ".toml", ".yml"}
PROSE = [
    ROOT / "README.md",
    ROOT / ".github" / "CONTRIBUTING.md",
    *(
        path
        for folder in ("docs", "src")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in ENDINGS and not {"_build", "vendor", "__pycache__"} & set(path.parts)
    ),
]


@pytest.fixture(scope="module")
def texts():
    """Return each file with its text in lower case."""
    return {path: path.read_text(encoding="utf-8").lower() for path in PROSE}


@pytest.mark.parametrize("phrase", PHRASES)
def test_no_page_message_or_docstring_has_a_phrase_that_was_replaced(phrase, texts):
    lines = [
        f"{path.relative_to(ROOT)}:{number}"
        for path, text in texts.items()
        if phrase in text
        for number, line in enumerate(text.splitlines(), 1)
        if phrase in line
    ]
    assert not lines
