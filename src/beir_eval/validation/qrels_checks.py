"""Checks of judgements: disagreements, grades; and, of runs too, headers and encodings."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.core.arrays import position_in_row
from beir_eval.core.column_names import DOC_NAMES, QUERY_NAMES, matching_names
from beir_eval.errors import first_few, number_of, shown
from beir_eval.inspection.finding import Finding
from beir_eval.inspection.judgements import findings_of_qrels
from beir_eval.inspection.spellings import plain_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.qrels import Qrels
    from beir_eval.measures import Measure
    from beir_eval.validation.inputs import QrelsInput

#: The character that stands for bytes that could not be decoded.
_REPLACEMENT = "\ufffd"
#: The highest usual grade.
_HIGHEST_GRADE = 10
#: Fewer grades than this that count 1, 2, … may well be grades.
_FEWEST_RANKS = 3
#: Names of data sets with the passages of the TREC Deep Learning tracks.
_DEEP_LEARNING_NAME = re.compile(r"(?i)(?<![a-z])(dl|deep[-_ ]?learning)[-_ ]?(20)?(19|2[0-3])")


def check_qrels(judged: QrelsInput, measures: Iterable[Measure]) -> Iterator[Finding]:
    """Yield the findings about judgements.

    Args:
        judged: the judgements, as they were read.
        measures: the measures for which they are meant.
    """
    qrels = judged.qrels
    yield from _check_repetitions(judged)
    documents = (
        (query_id, qrels.doc_ids[begin:end])
        for query_id, begin, end in zip(
            qrels.query_ids, qrels.starts.tolist(), qrels.starts[1:].tolist(), strict=False
        )
    )
    yield from check_header(documents)
    yield from check_encodings(
        (qrels.query_ids, qrels.doc_ids), len(qrels) + len(qrels.doc_ids), judged.bad_lines
    )
    yield from _check_grades(qrels)
    yield from findings_of_qrels(
        qrels,
        measures,
        is_deep_learning=_DEEP_LEARNING_NAME.search(judged.name) is not None,
        is_thorough=True,
    )


def of_ids(
    code: str,
    ids: Sequence[str],
    fact: str,
    total: int,
    *,
    examples: Iterable[str] | None = None,
) -> Iterator[Finding]:
    """Yield a finding on some ids; none if there are none.

    Args:
        code: as for ``Finding.from_code``.
        ids: what it concerns.
        fact: what follows their number.
        total: of how many they are.
        examples: None: the ids.
    """
    if ids:
        listed = map(shown, ids) if examples is None else examples
        counted = f"{len(ids):,} {fact}"
        yield Finding.from_code(code, counted, count=len(ids), total=total, examples=listed)


def check_header(rankings: Iterable[tuple[str, Sequence[str]]]) -> Iterator[Finding]:
    """Yield "header-read-as-data" if a query and one of its documents are names of columns.

    Args:
        rankings: (query id, document ids) of each query.
    """
    for query_id, doc_ids in rankings:
        if matching_names([query_id], QUERY_NAMES) and matching_names(doc_ids, DOC_NAMES):
            header = matching_names(doc_ids, DOC_NAMES)[0]
            yield Finding.from_code(
                "header-read-as-data",
                f"the query {shown(query_id)} has the document {shown(header)}: these are names of "
                "columns",
                count=1,
            )


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
    meant = (
        shown(text) if _REPLACEMENT in text else f"{shown(text)}, meant as {shown(plain_id(text))}"
        for text in dict.fromkeys(unusual)
    )
    noun = "id" if len(unusual) == 1 else "ids"
    fact = f"{noun} with a byte order mark, or decoded wrongly"
    yield from of_ids("mixed-encodings", unusual, fact, num_ids, examples=meant)


def _check_repetitions(judged: QrelsInput) -> Iterator[Finding]:
    disagreements, total = judged.disagreements, len(judged.qrels.doc_ids)
    doc_ids = [doc_id for _, doc_id in disagreements]
    are = "document is" if len(doc_ids) == 1 else "documents are"
    if disagreements and judged.iterations:
        fact = (
            f"{are} judged more than once for a query, and the second column "
            f"({first_few(judged.iterations)}) tells the judgements apart: they are by subtopic, "
            "or by round"
        )
        yield from of_ids("judgements-by-subtopic", doc_ids, fact, total, examples=())
        return
    fact = f"{are} judged twice for a query, with different grades"
    grades = (
        f"{shown(doc_id)} for query {shown(query_id)}: {' and '.join(map('{:g}'.format, stated))}"
        for (query_id, doc_id), stated in disagreements.items()
    )
    yield from of_ids("judgements-disagree", doc_ids, fact, total, examples=grades)
    if judged.num_repeated:
        yield Finding.from_code(
            "judgements-repeated",
            f"{number_of(judged.num_repeated, 'judgement')} listed again with the same grade",
            count=judged.num_repeated,
            total=total + judged.num_repeated,
        )


def _check_grades(qrels: Qrels) -> Iterator[Finding]:
    grades, total = qrels.grades, len(qrels.grades)
    are_ranks = _are_ranks(qrels)
    unusual = (grades != np.floor(grades)) | (grades > _HIGHEST_GRADE)
    if are_ranks:
        yield Finding.from_code(
            "grades-look-like-ranks",
            "the grades of every query are 1, 2, … in the order of the lines",
            count=total,
            total=total,
        )
    elif unusual.any():
        count = int(np.count_nonzero(unusual))
        values = Counter(grades[unusual].tolist())
        yield Finding.from_code(
            "unusual-grades",
            f"{count:,} of {total:,} grades are fractions or above {_HIGHEST_GRADE}; the grades "
            f"go from {grades.min():g} to {grades.max():g}",
            count=count,
            total=total,
            examples=[f"grade {value:g}" for value, _ in values.most_common(3)],
        )
    if not (grades == 0).any() and not are_ranks:
        yield Finding.from_code(
            "positives-only",
            f"none of {total:,} judgements has grade 0 (judged and not relevant)",
            count=total,
            total=total,
        )
    num_relevant = np.bincount(qrels.row[grades > 0], minlength=len(qrels))
    without = [qrels.query_ids[row] for row in np.flatnonzero(num_relevant == 0).tolist()]
    if len(without) < len(qrels):
        fact = f"of {len(qrels):,} judged queries have no relevant document"
        yield from of_ids("queries-without-relevant", without, fact, len(qrels))
    if qrels.queries_without_judgements:
        num_queries = len(qrels) + qrels.queries_without_judgements
        yield Finding.from_code(
            "queries-without-judgements",
            f"{qrels.queries_without_judgements:,} of {num_queries:,} queries of the qrels judge "
            "no document",
            count=qrels.queries_without_judgements,
            total=num_queries,
        )


def _are_ranks(qrels: Qrels) -> bool:
    """Return whether the grades of every query are 1, 2, … in the order given, to 3 at least."""
    expected = position_in_row(qrels.row) + 1
    return bool((qrels.grades == expected).all() and expected.max() >= _FEWEST_RANKS)
