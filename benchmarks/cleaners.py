"""Where the chunks of cleaned texts are placed: Haystack's cleaners before its splitter.

    BEIR_EVAL_REALDATA=../shared/data python benchmarks/cleaners.py

The five texts of chunking_evaluation's data. Where a chunk truly begins is known from what the
cleaner left of each character. A place is wrong if it is further away than the chunk is long, and
inexact if it begins more than three characters from the true one.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from haystack import Document
from haystack.components.preprocessors import DocumentCleaner, DocumentSplitter
from measuring import put_section

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from beir_eval.spans.locating import Part, locate_all
from beir_eval.spans.texts import DocumentTexts
from chunking_data import read  # type: ignore[import-not-found]

if TYPE_CHECKING:
    from collections.abc import Callable

#: A footnote or the like, about 4% of the texts.
BRACKETS = r"\[[^\]]*\]|\([^)]*\)"


class Cleaning(NamedTuple):
    """A cleaner of Haystack, and the characters that it leaves, with where each stood."""

    cleaner: DocumentCleaner
    left: Callable[[str], list[tuple[str, int]]]
    words: int


def each_character(change: Callable[[str], str]) -> Callable[[str], list[tuple[str, int]]]:
    """Return what is left of a text of which each character is changed by itself."""
    return lambda text: [
        (left, at) for at, character in enumerate(text) for left in change(character)
    ]


def without_brackets(text: str) -> list[tuple[str, int]]:
    """Return the characters outside of brackets."""
    removed = {
        at for match in re.finditer(BRACKETS, text) for at in range(match.start(), match.end())
    }
    return [(character, at) for at, character in enumerate(text) if at not in removed]


def to_ascii(character: str) -> str:
    """Return what is left of a character as ASCII."""
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()


CLEANINGS = {
    "default, 15 words": Cleaning(DocumentCleaner(), each_character(str), 15),
    "default, 60 words": Cleaning(DocumentCleaner(), each_character(str), 60),
    "ascii_only, 60 words": Cleaning(
        DocumentCleaner(ascii_only=True), each_character(to_ascii), 60
    ),
    "NFKC, 60 words": Cleaning(
        DocumentCleaner(unicode_normalization="NFKC"),
        each_character(lambda character: unicodedata.normalize("NFKC", character)),
        60,
    ),
    "brackets removed, 60 words": Cleaning(
        DocumentCleaner(remove_regex=BRACKETS), without_brackets, 60
    ),
}


def placed(cleaning: Cleaning, doc_id: str, text: str) -> Counter[str]:
    """Return the counts of the alignment of the chunks of one text, and of wrong places."""
    cleaned = cleaning.cleaner.run([Document(content=text)])["documents"]
    left = [(character, at) for character, at in cleaning.left(text) if not character.isspace()]
    content = cleaned[0].content or ""
    is_known = "".join(character for character, _ in left) == "".join(content.split())
    splitter = DocumentSplitter(split_by="word", split_length=cleaning.words, split_overlap=0)
    parts, starts, indents = [], [], []
    number, end = 0, 0
    for chunk in splitter.run(cleaned)["documents"]:
        start, piece = chunk.meta["split_idx_start"], chunk.content or ""
        number += sum(not character.isspace() for character in content[end:start])
        end = start
        parts.append(Part(doc_id, start, start + len(piece), piece))
        starts.append(left[number][1] if is_known and piece.strip() else None)
        indents.append(len(piece) - len(piece.lstrip()))
    counts: Counter[str] = Counter(chunks=len(parts))
    for hinted in (True, False):
        listed = parts if hinted else [part._replace(start=None, end=None) for part in parts]
        located, alignment = locate_all(listed, DocumentTexts({doc_id: text}))
        wrong = "wrong place" if hinted else "without offsets"
        if hinted:
            counts.update(asdict(alignment))
            counts["right offsets"] = sum(
                start is not None and abs((part.start or 0) + first - start) <= 3
                for part, start, first in zip(parts, starts, indents, strict=True)
            )
        for part, start, first in zip(listed, starts, indents, strict=True):
            if start is not None and located[part].start >= 0:
                distance = abs(located[part].start + first - start)
                counts[wrong] += distance > max(len(part.text or ""), 3)
                counts["inexact"] += hinted and distance > 3
    return counts


def main() -> None:
    """Place the chunks after each cleaner, and write the table."""
    corpora, _, _ = read(Path(os.environ["BEIR_EVAL_REALDATA"]) / "chunking")
    columns = ["chunks", "right offsets", "stated", "exact", "white_space", "letters", "fuzzy"]
    columns += ["lost", "inexact", "wrong place", "without offsets"]
    lines = [
        f"| cleaner | {' | '.join(column.replace('_', ' ') for column in columns)} |",
        "|:---|" + "---:|" * len(columns),
    ]
    for name, cleaning in CLEANINGS.items():
        counts: Counter[str] = Counter()
        for doc_id, text in corpora.items():
            counts.update(placed(cleaning, doc_id, text))
        lines.append(f"| {name} | {' | '.join(f'{counts[column]:,}' for column in columns)} |")
        print(lines[-1], flush=True)
    put_section("Chunks placed after Haystack's cleaners", lines)


if __name__ == "__main__":
    main()
