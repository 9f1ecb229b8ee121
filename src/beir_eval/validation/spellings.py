"""Ids that would match if they were spelled alike: white space, case, zeros, encoding, prefix."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING

from beir_eval.errors import shown
from beir_eval.evaluation.unmatched_ids import without_zeros
from beir_eval.validation.encodings import plain_id
from beir_eval.validation.records import Finding, number_of, pair_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


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
#: Where a prefix may end: behind a separator, or between a letter and a number.
_PREFIX_END = re.compile(r"(?<=[\W_])(?!$)|(?<=[^\W\d_])(?=\d)")
#: How the difference of a prefix begins in words.
_PREFIX = "the prefix "
_LETTER = re.compile(r"[^\W\d_]")


def folded(text: str) -> str:
    """Return what two spellings of an id have in common."""
    for change in _CHANGES.values():
        text = change(text)
    return text


def without_prefixes(text: str) -> Iterator[str]:
    """Yield what is left of an id without a prefix, for each prefix that it may have.

    A prefix has a letter: "57-" of "57-2" is the number of a document, and 2 that of a passage.

    >>> list(without_prefixes("msmarco_doc12-3"))
    ['doc12-3', '12-3', '3']
    """
    first_letter = _LETTER.search(text)
    if first_letter is not None:
        for end in _PREFIX_END.finditer(text, first_letter.end()):
            yield text[end.start() :]


def nearly_equal(wanted: Iterable[str], listed: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield (wanted id, listed id) of two spellings of the same id, or if one has a prefix more.

    Args:
        wanted: ids that are not listed in this spelling.
        listed: ids that are not wanted in this spelling.
    """
    known = set(wanted)
    by_fold = {folded(text): text for text in known}
    by_rest: dict[str, str] = {}
    for text in sorted(known, key=lambda text: (len(text), text)):
        for rest in without_prefixes(text):
            by_rest.setdefault(rest, text)
    if known:
        for text in listed:
            match = by_fold.get(folded(text)) or by_rest.get(text)
            if match is None:
                match = next((rest for rest in without_prefixes(text) if rest in known), None)
            if match is not None:
                yield match, text


def _difference(first: str, second: str) -> str:
    """Return what differs between two spellings of an id."""
    for name, change in _CHANGES.items():
        if change(first) == change(second):
            return name
    shorter, longer = sorted((first, second), key=len)
    if folded(first) != folded(second) and longer.endswith(shorter):
        return f"{_PREFIX}{shown(longer.removesuffix(shorter))}"
    return "white space, case, zeros or encoding"


def _commonest_prefix(
    by_difference: Mapping[str, Sequence[tuple[str, str]]],
) -> str | None:
    """Return the difference with the most pairs of those that are prefixes; None without any."""
    prefixes = [difference for difference in by_difference if difference.startswith(_PREFIX)]
    return max(prefixes, key=lambda prefix: len(by_difference[prefix]), default=None)


def check_spellings(
    subject: str, kind: str, owner: str, pairs: Iterable[tuple[str, str]]
) -> Iterator[Finding]:
    """Yield "ids-nearly-match" for each difference between two spellings.

    Of several prefixes only the commonest is reported; others may be part of the ids.

    Args:
        subject: the file or the system with the listed ids.
        kind: "query" or "document".
        owner: what the sentence calls the subject, such as "the run".
        pairs: (id of the qrels, id of the subject), as ``nearly_equal`` yields them.
    """
    by_difference: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pair in dict.fromkeys(pairs):
        by_difference[_difference(*pair)].append(pair)
    commonest_prefix = _commonest_prefix(by_difference)
    for difference, different in by_difference.items():
        count = len(different)
        is_prefix = difference.startswith(_PREFIX)
        may_be_different = is_prefix or difference in _MAY_BE_DIFFERENT
        if may_be_different and count < _LEAST_PAIRS:
            continue
        if is_prefix and difference != commonest_prefix:
            continue
        yield Finding.from_code(
            "ids-nearly-match",
            subject,
            f"{number_of(count, f'{kind} id')} of the qrels and of {owner} differ in {difference} "
            "only",
            count=count,
            examples=pair_texts(different),
        )
