"""Signs that document ids of a run are spelled otherwise, rounded or shifted."""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import filterfalse, islice
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.errors import number_of, shown
from beir_eval.inspection.finding import (
    LEAST_DIFFERENT,
    LEAST_QUERIES,
    STANDARD_ERRORS,
    TOP,
    Finding,
)
from beir_eval.inspection.spellings import IdMatcher, searchable_ids, spelling_differences

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking_sample import RankingSample

#: In how many rankings spellings are compared: fewer if many documents are judged for each query.
_MOST_RANKINGS, _FEWEST_RANKINGS, _MOST_JUDGEMENTS = 30, 8, 4_000
#: How many retrieved ids that are not judged are compared, of each, and with how many judged ones.
_MOST_LISTED, _MOST_WANTED = 20, 300
#: At least this many pairs for each retrieved document that is judged as it stands.
_LEAST_SHARE = 0.03
#: Ids as they are written if they were read as floats, such as "1.23457e+06".
_ROUNDED_ID = re.compile(r"\d(\.\d+)?e\+\d+")
#: From here on 32-bit floats have not all whole numbers; those that they have are even.
_FLOAT_32 = 2**24
#: So many digits a float has.
_MOST_DIGITS = 15
#: How many ids are compared with the pattern.
_MOST_IDS = 1_000
#: In how many rankings their neighbours are looked for: first few, then more.
_FEW_RANKINGS, _MORE_RANKINGS = 6, 30
#: How many times more often a neighbour must be relevant than the document itself.
_TIMES_MORE = 1.5


def spellings(qrels: Qrels, sample: RankingSample) -> Iterator[Finding]:
    """Yield a finding for each way in which some ids of the run are spelled otherwise."""
    pairs = nearly_equal(qrels, sample)
    return check_spellings("document", "the run", pairs, is_sample=True)


def check_spellings(
    kind: str, owner: str, pairs: Iterable[tuple[str, str]], *, is_sample: bool = False
) -> Iterator[Finding]:
    """Yield "ids-nearly-match" for each difference between two spellings.

    Args:
        kind: "query" or "document".
        owner: whose ids are not those of the qrels, such as "the run".
        pairs: (id of the qrels, id of the owner), as ``IdMatcher`` yields them.
        is_sample: whether these are some pairs of more.
    """
    for difference, different in spelling_differences(pairs):
        ids = f"some {kind} ids" if is_sample else number_of(len(different), f"{kind} id")
        effect = ", and count as unjudged" if is_sample else ""
        yield Finding.from_code(
            "ids-nearly-match",
            f"{ids} of the qrels and of {owner} differ in {difference.phrase} only{effect}",
            count=len(different),
            examples=(f"{shown(ours)} and {shown(theirs)}" for ours, theirs in different),
        )


def nearly_equal(
    qrels: Qrels, sample: RankingSample, *, is_thorough: bool = False
) -> Sequence[tuple[str, str]]:
    """Return (judged id, retrieved id) of two spellings of the same id.

    Args:
        qrels: the judgements.
        sample: rankings of the run.
        is_thorough: whether all rankings are looked at, and few pairs are some. Else fewer than 3%
            of the matching ids are none: some ids begin or end with others.
    """
    pairs: list[tuple[str, str]] = []
    num_matched = 0
    most = max(_FEWEST_RANKINGS, _MOST_JUDGEMENTS * len(qrels) // len(qrels.doc_ids))
    most, most_listed, most_wanted = min(most, _MOST_RANKINGS), _MOST_LISTED, _MOST_WANTED
    if is_thorough:
        most = most_listed = most_wanted = sys.maxsize
    for row, documents in sample.judged_rankings(most):
        judged = qrels.doc_ids[int(qrels.starts[row]) : int(qrels.starts[row + 1])]
        retrieved = sample.doc_ids[documents]
        listed = list(filterfalse(set(judged).__contains__, retrieved))
        num_matched += len(retrieved) - len(listed)
        if listed:
            absent = list(filterfalse(set(retrieved).__contains__, judged))
            pairs += IdMatcher(absent, most_wanted).pairs(listed[:most_listed])
    return pairs if is_thorough or len(pairs) >= _LEAST_SHARE * num_matched else []


def rounded_ids(qrels: Qrels, sample: RankingSample) -> Iterator[Finding]:
    """Yield a finding if ids of documents were numbers that lost digits as floats.

    They have an exponent, or all are large numbers that a 32-bit float can hold, which half of
    the smallest of them are by chance.
    """
    step = max(1, len(qrels.doc_ids) // _MOST_IDS)
    for ids, whose in ((sample.doc_ids[:_MOST_IDS], "run"), (qrels.doc_ids[::step], "qrels")):
        different = dict.fromkeys(searchable_ids(ids))
        rounded = [text for text in different if "e+" in text and _ROUNDED_ID.fullmatch(text)]
        if len(rounded) < LEAST_DIFFERENT and are_floats(islice(different, LEAST_DIFFERENT)):
            rounded = list(different) if are_floats(different) else []
        if len(rounded) >= LEAST_DIFFERENT:
            yield Finding.from_code(
                "rounded-ids",
                f"{len(rounded):,} of {len(different):,} document ids of the {whose} look "
                "like numbers that were rounded, so that different ids may be the same",
                count=len(rounded),
                total=len(different),
                examples=map(shown, rounded),
            )


def _is_number(text: str) -> bool:
    """Return whether an id is a whole number that a float can hold."""
    return len(text) <= _MOST_DIGITS and text.isdecimal()


def are_floats(ids: Iterable[str]) -> bool:
    """Return whether all ids are large numbers that a 32-bit float can hold."""
    return all(
        _is_number(text) and (number := int(text)) > _FLOAT_32 and int(np.float32(number)) == number
        for text in ids
    )


def shifted_ids(qrels: Qrels, sample: RankingSample) -> Iterator[Finding]:
    """Yield a finding if ids are numbers that are 1 more or less than those of the qrels."""
    hits = _hits_of_neighbours(qrels, sample, _FEW_RANKINGS)
    if hits[0] > max(hits[-1], hits[1]):
        return
    hits = _hits_of_neighbours(qrels, sample, _MORE_RANKINGS)
    step = 1 if hits[1] > hits[-1] else -1
    # Neighbours may be relevant together, as passages of a document.
    is_no_chance = hits[step] - hits[0] > STANDARD_ERRORS * hits.total() ** 0.5
    if is_no_chance and hits[step] > max(LEAST_QUERIES, _TIMES_MORE * hits[0]):
        yield Finding.from_code(
            "ids-nearly-match",
            f"document ids of the run seem to be 1 {'less' if step == 1 else 'more'} than "
            f"those of the qrels: so {hits[step]:,} of the first documents that were looked at "
            f"would be relevant, and as they are {hits[0]:,}",
            count=hits[step],
        )


def _hits_of_neighbours(qrels: Qrels, sample: RankingSample, most: int) -> Counter[int]:
    """Return {-1, 0 or 1: how many first documents are relevant after adding it to their ids}.

    Args:
        qrels: the judgements.
        sample: rankings of a run.
        most: how many rankings are looked at.
    """
    hits: Counter[int] = Counter()
    for row, documents in sample.judged_rankings(most):
        numbers = [
            int(sample.doc_ids[at])
            for at in sample.best_positions(documents, TOP)
            if _is_number(sample.doc_ids[at])
        ]
        grades = qrels.grades_of_row(row) if numbers else {}
        hits.update(
            step
            for number in numbers
            for step in (-1, 0, 1)
            if grades.get(str(number + step), 0) > 0
        )
    return hits
