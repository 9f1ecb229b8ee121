"""Phrases that readers had to read twice stand nowhere in the prose of the project."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: What was replaced, in lower case; each has a plainer form.
PHRASES = (
    "stands twice",
    "goes by trec_eval",
    "told by their content",
    "what is made of",
    "nothing is none",
    "hand over",
    "go on from it another time",
    "may it ship",
    "could turn that",
    "would settle most",
    "told apart",
    "in 4 cases of 5",
    "with the score of another entry",
    "the queries it takes",
    "as it was asked for",
    "need be installed",
    "mend the run",
    "someone else's files",
    "p covers the chance",
    "so many queries show",
    "could lie from",
    "the test of equality cannot show",
    "would be detected that often",
    "no outcome could have been significant",
    "intervals: of the test",
    "whose order is arbitrary",
    "whether training has settled",
    "on the same queries is too high",
    "without effect",
    "beyond the deepest ranking",
    " that the run has: ",
    "what the repeats are",
    "what a published mean supports",
    "to the last bit",
    "which chance",
    "how far it can be trusted",
    "how alike",
)
ENDINGS = {".md", ".py", ".html", ".j2", ".js", ".txt", ".ipynb", ".toml", ".yml"}
PROSE = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "llms.txt",
    *(
        path
        for folder in ("docs", "src", "notebooks", "conformance")
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
