"""Checks of text: traces of another encoding, lines that are not UTF-8."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.core.files import FileContent
from beir_eval.errors import number_of, shown
from beir_eval.inspection.finding import Finding
from beir_eval.inspection.spellings import plain_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: The character that stands for bytes that could not be decoded.
_REPLACEMENT = "\ufffd"


def with_latin1_lines(content: FileContent) -> tuple[FileContent, list[int]]:
    """Return the content with each line as UTF-8, and the numbers of the lines that were not.

    Args:
        content: the content of a text file; lines that are not UTF-8 are taken for Latin-1.
    """
    lines, numbers = content.data().split(b"\n"), []
    for number, line in enumerate(lines, start=1):
        try:
            line.decode()
        except UnicodeDecodeError:
            numbers.append(number)
            lines[number - 1] = line.decode("latin-1").encode()
    return FileContent.from_bytes(content.path, b"\n".join(lines)), numbers


def check_encodings(
    ids: Iterable[Iterable[str]], num_ids: int, lines: Sequence[int]
) -> Iterator[Finding]:
    """Yield "mixed-encodings" for the lines of a file and for its ids.

    Args:
        ids: groups of ids.
        num_ids: how many ids there are.
        lines: the numbers of the lines that are not UTF-8.
    """
    if lines:
        yield Finding.from_code(
            "mixed-encodings",
            f"{number_of(len(lines), 'line')} of other text than UTF-8",
            count=len(lines),
            examples=[f"line {number}" for number in lines],
        )
    unusual = [
        text
        for group in ids
        for text in group
        if not text.isascii() and (_REPLACEMENT in text or plain_id(text) != text)
    ]
    if unusual:
        yield Finding.from_code(
            "mixed-encodings",
            f"{number_of(len(unusual), 'id')} with a byte order mark, or decoded wrongly",
            count=len(unusual),
            total=num_ids,
            examples=[
                f"{shown(text)}, meant as {shown(plain_id(text))}"
                if _REPLACEMENT not in text
                else shown(text)
                for text in dict.fromkeys(unusual)
            ],
        )
