"""Ids that would match if they were spelled alike: white space, case, zeros, encoding."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING

from beir_eval.evaluation.unmatched_ids import without_zeros
from beir_eval.validation.encodings import plain_id
from beir_eval.validation.records import Finding, number_of, pair_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping


def _normal_form(text: str) -> str:
    return unicodedata.normalize("NFC", plain_id(text))


#: {what differs: the change that undoes it}, in the order in which they are made.
_CHANGES: Mapping[str, Callable[[str], str]] = {
    "encoding": _normal_form,
    "white space around the id": str.strip,
    "upper and lower case": str.casefold,
    "leading zeros": without_zeros,
}
#: Differences that may also be those of two ids; so few pairs of them show nothing.
_MAY_BE_DIFFERENT, _LEAST_PAIRS = ("upper and lower case", "leading zeros"), 3


def folded(text: str) -> str:
    """Return what two spellings of an id have in common."""
    for change in _CHANGES.values():
        text = change(text)
    return text


def nearly_equal(wanted: Iterable[str], listed: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (wanted id, listed id) of two spellings of the same id.

    Args:
        wanted: ids that are not listed in this spelling.
        listed: ids that are not wanted in this spelling.
    """
    by_fold = {folded(text): text for text in wanted}
    if by_fold:
        for text in listed:
            match = by_fold.get(folded(text))
            if match is not None:
                yield match, text


def _difference(first: str, second: str) -> str:
    """Return what differs between two spellings of an id."""
    for name, change in _CHANGES.items():
        if change(first) == change(second):
            return name
    return "white space, case, zeros or encoding"


def check_spellings(
    subject: str, kind: str, owner: str, pairs: Iterable[tuple[str, str]]
) -> Iterator[Finding]:
    """Yield "ids-nearly-match" for each difference between two spellings.

    Args:
        subject: the file or the system with the listed ids.
        kind: "query" or "document".
        owner: what the sentence calls the subject, such as "the run".
        pairs: (id of the qrels, id of the subject), as ``nearly_equal`` yields them.
    """
    by_difference: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pair in dict.fromkeys(pairs):
        by_difference[_difference(*pair)].append(pair)
    for difference, different in by_difference.items():
        count = len(different)
        if difference in _MAY_BE_DIFFERENT and count < _LEAST_PAIRS:
            continue
        yield Finding.from_code(
            "ids-nearly-match",
            subject,
            f"{number_of(count, f'{kind} id')} of the qrels and of {owner} differ in {difference} "
            "only",
            count=count,
            examples=pair_texts(different),
        )
