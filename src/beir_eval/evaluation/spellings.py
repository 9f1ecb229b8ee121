"""Ids that would match if they were spelled alike: white space, case, zeros, a prefix, a suffix.

``nearly_equal`` compares all ids that it is given; ``nearly_equal_in_sample`` looks at a few
rankings, which takes two milliseconds.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote

from beir_eval.core.ids import NOT_AN_ID
from beir_eval.errors import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking_sample import RankingSample

#: The character that some programs write at the beginning of a text.
BYTE_ORDER_MARK = "\ufeff"
_LEADING_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_FLOAT = re.compile(r"(?<=\d)\.0$")
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
#: Longer ids are texts.
_LONGEST_ID = 200
_SCHEME = re.compile(r"(?i)https?://")
_QUOTES = "\"'`\u201c\u201d\u2018\u2019"


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


def _normal_form(text: str) -> str:
    return unicodedata.normalize("NFC", plain_id(text))


def without_zeros(text: str) -> str:
    """Return an id without the leading zeros of its numbers."""
    return _LEADING_ZEROS.sub("", text)


def without_quotes(text: str) -> str:
    """Return an id without quotation marks around it."""
    return text.strip(_QUOTES) or text


def without_fraction(text: str) -> str:
    """Return a whole number that was written as a float, such as "12.0", without its fraction."""
    return _FLOAT.sub("", text)


def without_separators(text: str) -> str:
    """Return a number without separators of thousands, and a UUID without hyphens."""
    if "," in text and _THOUSANDS.fullmatch(text):
        return text.replace(",", "")
    if "-" in text and _UUID.fullmatch(text):
        return text.replace("-", "")
    return text


def plain_address(text: str) -> str:
    """Return an address without http:// or https://, percent signs, and a slash at its end."""
    if "%" in text:
        text = unquote(text)
    return _SCHEME.sub("", text, count=1).rstrip("/") or text if "/" in text else text


#: {what differs: the change that undoes it}, in the order in which they are made.
_CHANGES: Mapping[str, Callable[[str], str]] = {
    "encoding": _normal_form,
    "white space around the id": str.strip,
    "quotation marks around the id": without_quotes,
    "'.0' at the end, as of whole numbers read as floats": without_fraction,
    "upper and lower case": str.casefold,
    "separators inside a number or a UUID": without_separators,
    "http or https, percent signs or a slash at the end": plain_address,
    "leading zeros": without_zeros,
}
#: Differences that may also be those of two ids; so few pairs of them show nothing.
_MAY_BE_DIFFERENT, _LEAST_PAIRS = ("upper and lower case", "leading zeros"), 3
#: Where a prefix may end: behind a separator, or between a letter and a number.
_PREFIX_END = re.compile(r"(?<=[\W_])(?!$)|(?<=[^\W\d_])(?=\d)")
#: How the differences of a prefix and of a suffix begin in words.
_PREFIX, _SUFFIX = "the prefix ", "the suffix "
_LETTER = re.compile(r"[^\W\d_]")
#: Where a suffix may begin.
_SEPARATORS = re.compile(r"[\W_]+")
#: A suffix of chunks: a separator and a number.
_CHUNK = re.compile(r"([\W_]+(?:chunk|passage|part|p|c)?[\W_]*)\d+")


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
    if folded(first) != folded(second):
        if longer.endswith(shorter):
            return f"{_PREFIX}{shown(longer.removesuffix(shorter))}"
        if longer.startswith(shorter):
            suffix = longer.removeprefix(shorter)
            chunk = _CHUNK.fullmatch(suffix)
            return f"{_SUFFIX}{shown(suffix if chunk is None else f'{chunk[1]}…')}"
    return "white space, case, zeros or encoding"


class SpellingDifference(NamedTuple):
    """Ids that differ in one way only.

    Attributes:
        difference: what differs, such as "upper and lower case" or "the prefix 'doc_'".
        pairs: (id of the qrels, id of the run or the corpus), each once.
    """

    difference: str
    pairs: Sequence[tuple[str, str]]


def spelling_differences(pairs: Iterable[tuple[str, str]]) -> Iterator[SpellingDifference]:
    """Yield each difference between two spellings that is no coincidence.

    Of several prefixes or suffixes only the commonest is yielded; others may be part of the ids.

    Args:
        pairs: (id of the qrels, other id), as ``nearly_equal`` yields them.
    """
    by_difference: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for pair in dict.fromkeys(pairs):
        by_difference[_difference(*pair)].append(pair)
    affixes = [
        name
        for name, different in by_difference.items()
        if name.startswith((_PREFIX, _SUFFIX))
        # One side has it, the other not.
        and len({len(ours) < len(theirs) for ours, theirs in different}) == 1
    ]
    commonest = max(affixes, key=lambda name: len(by_difference[name]), default=None)
    for difference, different in by_difference.items():
        is_affix = difference.startswith((_PREFIX, _SUFFIX))
        may_be_different = is_affix or difference in _MAY_BE_DIFFERENT
        if may_be_different and len(different) < _LEAST_PAIRS:
            continue
        if not is_affix or difference == commonest:
            yield SpellingDifference(difference, different)


#: How many rankings of a sample are looked at: fewer if many documents are judged for each query.
_MOST_RANKINGS, _FEWEST_RANKINGS, _MOST_JUDGEMENTS = 30, 8, 4_000
#: How many judged ids that are not retrieved, and retrieved ids that are not judged, of each.
_MOST_ABSENT, _MOST_LISTED = 100, 10
#: How many of both are folded.
_MOST_FOLDED, _MOST_LISTED_FOLDED = 300, 20
#: How often an id is searched in the ids of a ranking.
_MOST_PLACES = 4
#: At least this many pairs for each retrieved document that is judged as it stands.
_LEAST_SHARE = 0.05


def nearly_equal_in_sample(qrels: Qrels, sample: RankingSample) -> Sequence[tuple[str, str]]:
    """Return (judged id, retrieved id) of what ``nearly_equal`` finds, in a few rankings.

    Fewer pairs than 5% of the matching ids are none: some ids begin or end with others.

    Args:
        qrels: the judgements.
        sample: rankings of the run.
    """
    pairs: list[tuple[str, str]] = []
    num_matched = 0
    most = max(_FEWEST_RANKINGS, _MOST_JUDGEMENTS * len(qrels) // len(qrels.doc_ids))
    chosen = sample.judged_rankings(min(most, _MOST_RANKINGS))
    for row, documents in chosen:
        judgements = slice(int(qrels.starts[row]), int(qrels.starts[row + 1]))
        judged, retrieved = qrels.doc_ids[judgements], sample.doc_ids[documents]
        known, present = set(judged), set(retrieved)
        listed = [doc_id for doc_id in retrieved if doc_id not in known]
        num_matched += len(retrieved) - len(listed)
        listed = list(searchable_ids(listed))
        if listed:
            absent = [doc_id for doc_id in judged[:_MOST_FOLDED] if doc_id not in present]
            wanted = known.difference(present)
            pairs += _pairs_of_ranking(wanted, list(searchable_ids(absent)), listed)
    return pairs if len(pairs) >= _LEAST_SHARE * num_matched else []


def _pairs_of_ranking(
    wanted: Collection[str], absent: Sequence[str], listed: Sequence[str]
) -> Iterator[tuple[str, str]]:
    """Yield pairs of a judged id and a retrieved one that contain each other, or fold to the same.

    Args:
        wanted: the judged ids that are not retrieved.
        absent: some of them, in the order of the qrels.
        listed: the retrieved ids that are not judged.
    """
    if not wanted:
        return
    absent_text = "\n".join(["", *absent[:_MOST_ABSENT], ""])
    shortest, longest = min(map(len, wanted)), max(map(len, absent), default=0)
    for doc_id in listed[:_MOST_LISTED]:
        if len(doc_id) > shortest:  # never so if all ids have one length, as hashes have
            match = next((rest for rest in _rests(doc_id) if rest in wanted), None)
            if match is not None:
                yield match, doc_id
        if len(doc_id) < longest:
            for longer in _lines_with(doc_id, absent_text):
                yield longer, doc_id
    some_listed = listed[:_MOST_LISTED_FOLDED]
    by_fold = dict(zip(_roughly_folded(absent), absent, strict=True))
    for doc_id, rough in zip(some_listed, _roughly_folded(some_listed), strict=True):
        match = by_fold.get(rough)
        if match is not None and folded(match) == folded(doc_id):
            yield match, doc_id


def _roughly_folded(ids: Sequence[str]) -> Sequence[str]:
    """Return ids without what spellings may differ in, and without all their hyphens and commas.

    The ids are folded as one text, which takes a tenth of the time of ``folded``.
    """
    text = "\n".join(ids)
    if not text.isascii():
        text = "\n".join(map(_normal_form, ids))
    if "%" in text:
        text = unquote(text)
    for part in ("https://", "http://", "-", ","):
        text = text.replace(part, "")
    text = text.casefold()
    lines = [line.rstrip("/").lstrip("0") for line in text.split("\n")]
    # An id may have line feeds.
    return lines if len(lines) == len(ids) else list(map(folded, ids))


def _rests(doc_id: str) -> Iterator[str]:
    """Yield what is left of an id without quotation marks, a prefix or a suffix."""
    yield from without_prefixes(doc_id)
    for end in _SEPARATORS.finditer(doc_id, 1):
        yield doc_id[: end.start()]
    if not doc_id.isalnum():
        yield doc_id.strip()
        yield without_quotes(doc_id)


def _lines_with(doc_id: str, text: str) -> Iterator[str]:
    r"""Yield the lines of a text that are an id with a prefix or a suffix more.

    A prefix ends, and a suffix begins, with a character that is neither letter nor digit; or a
    prefix ends with a letter and the id begins with a digit.

    >>> list(_lines_with("12", "\ndoc_12\n412\n12.0\ndoc12\n"))
    ['doc_12', '12.0', 'doc12']
    """
    at = text.find(doc_id)
    for _ in range(_MOST_PLACES):
        if at < 0:
            return
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        before, after = text[begin:at], text[at + len(doc_id) : end]
        if _is_prefix(before, doc_id) and (not after or not after[0].isalnum()):
            yield text[begin:end]
        at = text.find(doc_id, end)


def _is_prefix(before: str, doc_id: str) -> bool:
    """Return whether a text before an id may be a prefix of it; "" may be."""
    if not before or not before[-1].isalnum():
        return True
    return before[-1].isalpha() and doc_id[0].isdecimal() and before.isalpha()
