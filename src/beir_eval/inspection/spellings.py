"""How ids are written: two spellings of an id, and which ids of two lists are the same.

``KINDS`` has each way in which spellings differ; ``IdMatcher`` pairs the ids of two lists that its
callers choose; ``spelling_differences`` says what differs; ``IdForms`` shows without any search
whether two lists are written alike.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from itertools import compress, count, permutations
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

import numpy as np

from beir_eval.core.ids import NOT_AN_ID
from beir_eval.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

#: The character that some programs write at the beginning of a text.
BYTE_ORDER_MARK = "\ufeff"
#: Longer ids are texts.
_LONGEST_ID = 200


def searchable_ids(ids: Collection[str]) -> Collection[str]:
    """Return the ids of which other spellings are looked for: no texts, and no placeholders."""
    # Mostly settled without a loop: all are short, and the smallest is no placeholder.
    if not ids or (max(map(len, ids)) <= _LONGEST_ID and not min(ids).startswith(NOT_AN_ID)):
        return ids
    return [text for text in ids if len(text) <= _LONGEST_ID and not text.startswith(NOT_AN_ID)]


def plain_id(text: str) -> str:
    """Return an id without traces of another encoding.

    A byte order mark at its beginning is removed, and UTF-8 that was decoded as Windows-1252 or
    Latin-1 is decoded again.
    """
    if text.isascii():
        return text
    text = text.removeprefix(BYTE_ORDER_MARK)
    for encoding in ("cp1252", "latin-1"):
        try:
            return text.encode(encoding).decode()
        except UnicodeError:
            continue
    return text


class Kind(NamedTuple):
    """A way in which two spellings of an id differ.

    Attributes:
        phrase: what differs, in words.
        remedy: what to do about it.
        change: what undoes it in each line of a text, so that many ids take few calls.
        signs: texts of which ids have one if the change changes them; none if that is not known.
        may_be_two: whether ids that differ so may be two ids, so that few pairs show nothing.
    """

    phrase: str
    remedy: str
    change: Callable[[str], str]
    signs: Sequence[str] = ()
    may_be_two: bool = False


def _remover(pattern: str) -> Callable[[str], str]:
    """Return a function that removes what matches a pattern in each line of a text."""
    compiled = re.compile(f"(?m){pattern}")
    return lambda text: compiled.sub("", text)


def _encoded_alike(text: str) -> str:
    if text.isascii():
        return text
    return "\n".join(unicodedata.normalize("NFC", plain_id(line)) for line in text.split("\n"))


def _stripped(text: str) -> str:
    return "\n".join(map(str.strip, text.split("\n")))


_THOUSANDS = re.compile(r"(?m)^\d{1,3}(,\d{3})+$")
_UUID = re.compile(r"(?im)^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def _without_separators(text: str) -> str:
    text = _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text)
    return _UUID.sub(lambda uuid: uuid[0].replace("-", ""), text)


_without_scheme_and_slash = _remover(r"^(?i:https?://)(?=.)|(?<=.)/+$")

_QUOTES = "\"'`\u201c\u201d\u2018\u2019"
_WRITE_ALIKE = "change the ids of one of the two"

#: {cause: kind}, in the order in which differences are undone.
KINDS: Mapping[str, Kind] = {
    "encoding": Kind(
        "encoding", "read both files as UTF-8, without a byte order mark", _encoded_alike
    ),
    "white space": Kind("white space around the id", "remove it", _stripped),
    "quotation marks": Kind(
        "quotation marks around the id",
        "remove them",
        _remover(rf"^[{_QUOTES}]+(?=.)|(?<=.)[{_QUOTES}]+$"),
        _QUOTES,
    ),
    "floats": Kind(
        "'.0' at the end (whole numbers read as floats)",
        "read the column of ids as text, for example with dtype=str",
        _remover(r"(?<=\d)\.0$"),
        (".0",),
    ),
    "case": Kind("upper and lower case", _WRITE_ALIKE, str.casefold, may_be_two=True),
    "separators": Kind(
        "separators inside a number or a UUID", _WRITE_ALIKE, _without_separators, (",", "-")
    ),
    "address": Kind(
        "http or https, percent signs or a slash at the end",
        _WRITE_ALIKE,
        lambda text: _without_scheme_and_slash(unquote(text)),
        ("/", "%"),
    ),
    "zero padding": Kind(
        "leading zeros", _WRITE_ALIKE, _remover(r"(?<!\d)0+(?=\d)"), ("0",), may_be_two=True
    ),
}
#: Fewer pairs of what may be two ids show nothing.
_LEAST_PAIRS = 3


def _fold(text: str) -> str:
    for kind in KINDS.values():
        if not kind.signs or any(map(text.__contains__, kind.signs)):
            text = kind.change(text)
    return text


def folded(ids: Collection[str]) -> list[str]:
    """Return what the spellings of each id have in common, N texts.

    >>> folded(["'007'", "MED-10.0"])
    ['7', 'med-10']
    """
    lines = _fold("\n".join(ids)).split("\n")
    return lines if len(lines) == len(ids) else list(map(_fold, ids))  # an id may have line feeds


#: Where a prefix may end: behind a separator, or between a letter and a number.
_PREFIX_END = re.compile(r"(?<=[\W_])(?!$)|(?<=[^\W\d_])(?=\d)")
_LETTER = re.compile(r"[^\W\d_]")
#: Where a suffix may begin.
_SEPARATORS = re.compile(r"[\W_]+")


def _rests(text: str) -> Iterator[str]:
    """Yield what is left of an id without a prefix or a suffix, for each that it may have.

    A prefix has a letter: "57-" of "57-2" is the number of a document, and 2 that of a passage.

    >>> list(_rests("msmarco_doc12-3"))
    ['doc12-3', '12-3', '3', 'msmarco', 'msmarco_doc12']
    """
    first_letter = _LETTER.search(text)
    if first_letter is not None:
        for end in _PREFIX_END.finditer(text, first_letter.end()):
            yield text[end.start() :]
    for separator in _SEPARATORS.finditer(text, 1):
        yield text[: separator.start()]


class IdMatcher:
    """Finds other spellings of the ids of a list: those that fold alike, or have an affix more.

    Ids of more than 200 characters, and placeholders, are not searched.
    """

    def __init__(self, wanted: Collection[str], most: int | None = None) -> None:
        """Read the ids.

        Args:
            wanted: the ids.
            most: how many wanted ids are folded, and of a third of these prefixes and suffixes are
                removed; None for all, as of listed ids.
        """
        wanted = list(searchable_ids(wanted))
        self._wanted = set(wanted)
        wanted = wanted[:most]
        self._by_fold = dict(zip(folded(wanted), wanted, strict=True))
        with_rests = wanted if most is None else wanted[: most // 3]
        with_rests = [text for text in with_rests if not text.isdecimal()]
        self._by_rest = {
            rest: text
            # Of several ids with one rest, the shortest is kept.
            for text in sorted(with_rests, key=lambda text: (len(text), text), reverse=True)
            for rest in _rests(text)
        }

    def pairs(self, listed: Collection[str]) -> Iterator[tuple[str, str]]:
        """Yield (wanted id, listed id) of two spellings of the same id.

        Args:
            listed: ids that are not wanted in this spelling.
        """
        listed = list(searchable_ids(listed)) if self._wanted else []
        for text, fold in zip(listed, folded(listed), strict=True):
            match = self._by_fold.get(fold) or self._by_rest.get(text)
            if match is None and not text.isdecimal():
                match = next((rest for rest in _rests(text) if rest in self._wanted), None)
            if match is not None:
                yield match, text


#: A suffix of chunks: a separator and a number.
_CHUNK = re.compile(r"([\W_]+(?:chunk|passage|part|p|c)?[\W_]*)\d+")
#: What differs if it is not one thing.
_SEVERAL = "white space, case, zeros or encoding"


class Difference(NamedTuple):
    """What differs between two spellings of an id.

    Attributes:
        cause: a key of ``KINDS``, "prefix", "suffix", "chunks" or "several".
        affix: the prefix or suffix; of chunks, how it begins.
    """

    cause: str
    affix: str = ""

    @property
    def phrase(self) -> str:
        """The difference in words, such as "upper and lower case" or "the prefix 'doc_'"."""
        if self.affix:
            kind = "prefix" if self.cause == "prefix" else "suffix"
            return f"the {kind} {shown(f'{self.affix}…' if self.cause == 'chunks' else self.affix)}"
        return KINDS[self.cause].phrase if self.cause in KINDS else _SEVERAL

    @classmethod
    def from_spellings(cls, first: str, second: str) -> Difference:
        """Return what differs between two spellings of an id."""
        for cause, kind in KINDS.items():
            if kind.change(first) == kind.change(second):
                return cls(cause)
        shorter, longer = sorted((first, second), key=len)
        if _fold(first) != _fold(second):
            if longer.endswith(shorter):
                return cls("prefix", longer.removesuffix(shorter))
            if longer.startswith(shorter):
                suffix = longer.removeprefix(shorter)
                chunk = _CHUNK.fullmatch(suffix)
                return cls("suffix", suffix) if chunk is None else cls("chunks", chunk[1])
        return cls("several")


def spelling_differences(
    pairs: Iterable[tuple[str, str]],
) -> Iterator[tuple[Difference, Sequence[tuple[str, str]]]]:
    """Yield each difference between two spellings that is no coincidence, with its pairs.

    Of several prefixes or suffixes only the commonest is yielded; others may be part of the ids.

    Args:
        pairs: (id of the qrels, other id), as ``IdMatcher`` yields them.
    """
    by_difference: dict[Difference, list[tuple[str, str]]] = defaultdict(list)
    for pair in dict.fromkeys(pairs):
        by_difference[Difference.from_spellings(*pair)].append(pair)
    affixes = [
        difference
        for difference, different in by_difference.items()
        if difference.affix
        # One side has it, the other not.
        and len({len(ours) < len(theirs) for ours, theirs in different}) == 1
    ]
    commonest = max(affixes, key=lambda difference: len(by_difference[difference]), default=None)
    for difference, different in by_difference.items():
        is_uncertain = difference.affix or (
            difference.cause in KINDS and KINDS[difference.cause].may_be_two
        )
        if is_uncertain and len(different) < _LEAST_PAIRS:
            continue
        if not difference.affix or difference == commonest:
            yield difference, different


def common_prefix(ids: Collection[str]) -> str:
    """Return the longest text that all ids begin with."""
    first, last = min(ids, default=""), max(ids, default="")
    is_other = (ours != theirs for ours, theirs in zip(first, last, strict=False))
    return first[: next(compress(count(), is_other), len(first))]


#: From here on 32-bit floats have not all whole numbers; those that they have are even.
_FLOAT_32 = 2**24
#: So many digits a float has.
_MOST_DIGITS = 15


def are_floats(ids: Iterable[str]) -> bool:
    """Return whether all ids are large numbers that a 32-bit float can hold."""
    return all(
        len(text) <= _MOST_DIGITS
        and text.isdecimal()
        and (number := int(text)) > _FLOAT_32
        and int(np.float32(number)) == number
        for text in ids
    )


#: Of ids in more forms than this, and than this share of them, the forms show nothing; and the
#: share of ids in a form that the other side does not have.
_MOST_FORMS, _MOST_FORMS_SHARE, _LEAST_OTHER = 10, 0.2, 0.02
#: By how much the numbers of leading zeros for each id differ.
_OTHER_ZEROS = 0.15
#: So many first ids that a 32-bit float can hold are a sign that all are.
_FEW_IDS = 6
_FORM = str.maketrans(
    {
        **dict.fromkeys("0123456789"),
        **dict.fromkeys("bcdefghijklmnopqrstuvwxyz", "a"),
        **dict.fromkeys("BCDEFGHIJKLMNOPQRSTUVWXYZ", "A"),
    }
)
_LEADING_ZERO = re.compile(r"(?<!\d)0\d")


class IdForms(NamedTuple):
    """How ids are written: their signs, with "a" for letters, without digits.

    Attributes:
        forms: how many ids have each form; empty if there is a text among them.
        prefix: what all ids begin with, up to its last letter.
        zeros: how many numbers with leading zeros there are for each id.
        are_floats: whether some ids are written as floats, or the first ones may be rounded.
        are_many: whether nearly each id is written in its own way, as addresses and titles are.
    """

    forms: Mapping[str, int] = MappingProxyType({})
    prefix: str = ""
    zeros: float = 0.0
    are_floats: bool = False
    are_many: bool = False

    @classmethod
    def from_ids(cls, ids: Sequence[str]) -> IdForms:
        """Return the forms of some ids, in a time that their length hardly changes."""
        if not ids or len(searchable_ids(ids)) < len(ids):
            return cls()
        text = "\n".join(ids)
        forms = text.translate(_FORM)
        for letters in ("aaaa", "aa", "aa", "AAAA", "AA", "AA"):
            forms = forms.replace(letters, letters[0])
        num_ids_of = Counter(forms.split("\n"))
        return cls(
            num_ids_of,
            re.sub(r"[\W\d_]+$", "", common_prefix(ids)),
            len(_LEADING_ZERO.findall(text)) / len(ids),
            "e+" in text or are_floats(ids[:_FEW_IDS]),
            len(num_ids_of) > max(_MOST_FORMS, _MOST_FORMS_SHARE * len(ids)),
        )

    def differ(self, others: IdForms) -> bool:
        """Return whether some ids of one side are written as none of the other is."""
        if not self.forms or not others.forms:
            return False
        if self.are_many or others.are_many or self.prefix != others.prefix:
            return True
        fewer, more = sorted((self.zeros, others.zeros))
        if more - fewer > _OTHER_ZEROS or fewer == 0 < more:
            return True
        return any(
            sum(number for form, number in ours.items() if form not in theirs)
            >= max(1, _LEAST_OTHER * sum(ours.values()))
            for ours, theirs in permutations((self.forms, others.forms))
        )
