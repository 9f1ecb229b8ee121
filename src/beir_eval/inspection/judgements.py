"""Signs of mistakes in judgements, whatever the run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.core.qrels import has_fractional_grades
from beir_eval.errors import first_few, shown
from beir_eval.inspection.finding import (
    LEAST_DIFFERENT,
    LEAST_QUERIES,
    Finding,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from beir_eval.core.arrays import Floats
    from beir_eval.core.qrels import Qrels
    from beir_eval.measures import Measure

#: The share of negative grades that an evaluation reports; those of web tracks, for spam, are few.
_MOST_NEGATIVE = 0.5
#: Ids of MS MARCO's passages; those of its documents, for which grade 1 counts, begin with D.
_PASSAGE_ID = re.compile(r"\d+|msmarco_(v2\.1_)?(passage|segmented)_.+|msmarco_v2\.1_doc_.+#.+")
#: How many ids are compared with the pattern.
_MOST_IDS = 100
#: The tracks judged some 200 passages of each query; other data sets with these grades judge few.
_DEEP_POOL = 50
#: So many different grades are a scale, and no single grade of what is relevant.
SCALE = 3
#: The share of grades that count lines.
_MOST_NUMBERED = 0.9
#: How many measures are named.
_MOST_NAMES = 5


def findings_of_qrels(
    qrels: Qrels,
    measures: Iterable[Measure],
    *,
    is_deep_learning: bool = False,
    is_thorough: bool = False,
) -> tuple[Finding, ...]:
    """Return what looks like a mistake in judgements, whatever the run.

    Args:
        qrels: the judgements.
        measures: the measures for which they are meant.
        is_deep_learning: whether their name is that of a TREC Deep Learning track.
        is_thorough: whether what fewer than six queries show is reported too; ``validate`` has
            another finding on fractions.
    """
    measures = tuple(measures)
    is_enough = is_thorough or len(qrels) >= LEAST_QUERIES
    return (
        *(() if is_thorough else fractional_grades(qrels.grades, measures)),
        *(_without_relevant(qrels) if is_enough else ()),
        *(_negative(qrels, is_thorough=is_thorough) if is_enough else ()),
        *(_level_above_grades(qrels, measures) if is_enough else ()),
        *_deep_learning_grades(qrels, measures, is_deep_learning=is_deep_learning),
        *_without_zero(qrels),
        *_numbered(qrels),
        *_relevant_and_excluded(qrels),
    )


def fractional_grades(grades: Floats, measures: Iterable[Measure]) -> Iterator[Finding]:
    """Yield a finding on fractions, of which a measure without a threshold counts every one.

    Args:
        grades: the grades, f8[J].
        measures: the measures.
    """
    if has_fractional_grades(grades) and (
        names := [
            str(measure)
            for measure in measures
            if "rel" in measure.definition.defaults and "rel" not in dict(measure.parameters)
        ]
    ):
        yield Finding.from_code(
            "fractional-grades",
            "the qrels hold fractional grades, and every grade above 0 counts as relevant for "
            f"{first_few(names)}",
            count=int(np.count_nonzero(grades % 1)),
            total=len(grades),
        )


def is_deep_pool(qrels: Qrels) -> bool:
    """Return whether many documents are judged for each query, as in the pools of TREC."""
    return len(qrels.grades) >= _DEEP_POOL * len(qrels) > 0


def _without_relevant(qrels: Qrels) -> Iterator[Finding]:
    if qrels.max_grade <= 0:
        queries = "the judged query has" if len(qrels) == 1 else f"the {len(qrels):,} queries have"
        yield Finding.from_code(
            "no-relevant-documents",
            f"no document is relevant, so nothing is measured: {queries} no grade above 0",
            count=len(qrels),
            total=len(qrels),
        )


def _negative(qrels: Qrels, *, is_thorough: bool) -> Iterator[Finding]:
    """Yield a finding if most grades are negative; ``validate`` reports any."""
    count = int(np.count_nonzero(qrels.grades < 0))
    least = max(LEAST_DIFFERENT, _MOST_NEGATIVE * len(qrels.grades))
    if count and (is_thorough or count > least):
        finding = Finding.from_code(
            "negative-grades",
            f"{count:,} of {len(qrels.grades):,} grades are below 0, which means pooled but "
            "unjudged",
            count=count,
            total=len(qrels.grades),
            examples=map("grade {:g}".format, np.unique(qrels.grades[qrels.grades < 0])),
        )
        # Some are a note, most a warning.
        yield finding if is_thorough else finding.model_copy(update={"level": "warning"})


def _level_above_grades(qrels: Qrels, measures: Iterable[Measure]) -> Iterator[Finding]:
    """Yield a finding on measures whose level of relevance no grade reaches."""
    levels = {
        str(measure): level
        for measure in measures
        if isinstance(level := dict(measure.parameters).get("rel"), int | float)
        and level > qrels.max_grade > 0
    }
    if levels:
        yield Finding.from_code(
            "level-above-grades",
            f"no document has a grade of {min(levels.values()):g} or more, so nothing is "
            f"relevant in {_listed(levels)}: the highest grade is {qrels.max_grade:g}",
            count=len(qrels),
            total=len(qrels),
        )


def _deep_learning_grades(
    qrels: Qrels, measures: Iterable[Measure], *, is_deep_learning: bool
) -> Iterator[Finding]:
    """Yield a finding for passages that are judged as in TREC's Deep Learning tracks.

    The tracks count grade 1 ("related") as not relevant for passages in binary measures; for
    documents they count it as relevant. Source: the notes of NIST on the judgements of 2019 to
    2022, https://trec.nist.gov/data/deep2019.html; Craswell et al., Overview of the TREC 2019 deep
    learning track, arXiv:2003.07820.
    """
    grades = qrels.grades
    is_deep = is_deep_learning or is_deep_pool(qrels)
    if not is_deep or qrels.max_grade != 3 or not (grades >= 0).all():  # noqa: PLR2004
        return
    has_threshold = [
        "rel" not in measure.definition.defaults or "rel" in dict(measure.parameters)
        for measure in measures
    ]
    is_scale = (grades == 1).any() and (grades == 2).any() and (grades % 1 == 0).all()  # noqa: PLR2004
    if all(has_threshold) or not is_scale:
        return
    step = max(1, len(qrels.doc_ids) // _MOST_IDS)
    if all(map(_PASSAGE_ID.fullmatch, qrels.doc_ids[::step])) and all(
        map(str.isdecimal, qrels.query_ids)
    ):
        count = int(np.count_nonzero(grades == 1))
        yield Finding.from_code(
            "deep-learning-grades",
            f"grade 1 counts as relevant, though not for nDCG and ERR ({count:,} judgements); TREC "
            "Deep Learning counts 2 and 3",
            count=count,
            total=len(grades),
        )


def _without_zero(qrels: Qrels) -> Iterator[Finding]:
    """Yield a finding if a deep pool has no grade 0, as where a scale begins at 1.

    Of shallow judgements, or of two or three grades, often only the relevant ones are listed, as in
    BEIR's judgements of the Deep Learning track.
    """
    lowest, num_judged = qrels.grades.min(initial=np.inf), len(qrels.grades)
    if lowest < 1 or not is_deep_pool(qrels):
        return
    distinct = np.unique(qrels.grades)
    if len(distinct) > SCALE:
        yield Finding.from_code(
            "grades-without-zero",
            f"all {num_judged:,} judged documents count as relevant, some "
            f"{num_judged / len(qrels):,.0f} of each query: the lowest of {len(distinct)} "
            f"grades is {lowest:g}",
            count=num_judged,
            total=num_judged,
        )


def _numbered(qrels: Qrels) -> Iterator[Finding]:
    """Yield a finding if grades count the lines."""
    num_judged = len(qrels.grades)
    # Of one query they may be a ranking; and numbers that mostly rise by 1 go up to 9 at least.
    if (
        num_judged < LEAST_DIFFERENT
        or len(qrels) == 1
        or qrels.max_grade < 1 / (1 - _MOST_NUMBERED)
    ):
        return
    num_steps = int(np.count_nonzero(np.diff(qrels.grades) == 1))
    if num_steps >= _MOST_NUMBERED * (num_judged - 1):
        yield Finding.from_code(
            "numbered-grades",
            f"grades look like numbers of lines or ranks: {num_steps:,} of {num_judged:,} "
            "are 1 more than the one before",
            count=num_steps,
            total=num_judged,
        )


def _relevant_and_excluded(qrels: Qrels) -> Iterator[Finding]:
    """Yield a finding on relevant documents that no ranking can keep."""
    if not qrels.excluded:
        return
    both = [
        f"{shown(query_id)} {shown(doc_id)}"
        for row, query_id in zip(qrels.find_rows([*qrels.excluded]), qrels.excluded, strict=True)
        for doc_id, grade in qrels.grades_of_row(row).items()
        if grade > 0 and doc_id in qrels.excluded[query_id]
    ]
    if both:
        relevant = "document is" if len(both) == 1 else "documents are"
        yield Finding.from_code(
            "relevant-and-excluded",
            f"{len(both):,} relevant {relevant} excluded for the query and so not found",
            count=len(both),
            total=int(np.count_nonzero(qrels.grades > 0)),
            examples=both,
        )


def _listed(names: Iterable[str]) -> str:
    """Return the first names as text, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - _MOST_NAMES} more" if len(listed) > _MOST_NAMES else ""
    return f"{', '.join(listed[:_MOST_NAMES])}{more}"
