"""Signs of mistakes in judgements: whatever the run, and where judged documents are ranked."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.errors import first_few, shown
from beir_eval.inspection.finding import (
    LEAST_DIFFERENT,
    LEAST_DOCUMENTS,
    LEAST_LONG,
    LEAST_QUERIES,
    STANDARD_ERRORS,
    TOP,
    Finding,
)
from beir_eval.measures.names import lacks_rel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from beir_eval.core.arrays import Floats
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.relevance_matrix import RelevanceMatrix
    from beir_eval.measures import Measure

#: The share of negative grades that an evaluation reports; those of web tracks, for spam, are few.
_MOST_NEGATIVE = 0.5
#: Ids of MS MARCO's passages; those of its documents, for which grade 1 counts, begin with D.
_PASSAGE_ID = re.compile(r"\d+|msmarco_(v2\.1_)?(passage|segmented)_.+|msmarco_v2\.1_doc_.+#.+")
#: How many ids are compared with the pattern.
_MOST_IDS = 100
#: The tracks judged some 200 passages of each query; other data sets with these grades judge few.
_DEEP_POOL = 50
#: The highest grade of these tracks.
_DEEP_LEARNING_GRADE = 3
#: So many different grades are a scale, and no single grade of what is relevant.
SCALE = 3
#: The share of rankings that are in the order of their labels; of 65 real runs it is .13 at most.
_IN_ORDER = 0.9
#: The share of rankings that begin with all judged documents and no other; of 69 real runs it is 0.
_JUDGED_FIRST = 0.5
#: The share of grades that count lines.
_MOST_NUMBERED = 0.9
#: How many measures are named.
_MOST_NAMES = 5
#: The usual range of grades: trec_eval's negative grades, and scales up to 10.
_LOWEST_GRADE, _HIGHEST_GRADE = -2, 10
_HIGHEST_PERCENTAGE = 100
#: Scales of fractional grades, such as means of votes, have at most this many different numbers.
_MOST_LEVELS = 25
#: The share of a query's numbers that are different: scores rarely repeat, grades always do.
DIFFERENT_SHARE = 0.9
#: Scores of at least so many documents per query show that, over a range wider than usual grades.
_LEAST_DOCUMENTS, _USUAL_RANGE = 4, 3
#: How many numbers, and queries, are examined to see whether grades look like scores.
_MOST_NUMBERS, _MOST_QUERIES = 10_000, 100
#: By how much the mean relative ranks of two grades must differ.
_BEHIND = 0.1
#: Of few grades without 0 the lowest may mean not relevant if at least this share of the judgements
#: have it, and this share of the first ten documents is judged. Of 23 real runs on TREC's pools, it
#: is .90 or more; where only the relevant documents are listed, .86 or less.
_LOWEST_SHARE, _ALL_RELEVANT = 0.3, 0.88


def findings_of_qrels(
    qrels: Qrels,
    measures: Iterable[Measure],
    *,
    is_deep_learning: bool = False,
    is_thorough: bool = False,
) -> Iterator[Finding]:
    """Yield what looks like a mistake in judgements, whatever the run.

    Args:
        qrels: the judgements.
        measures: the measures for which they are meant.
        is_deep_learning: whether their name is that of a TREC Deep Learning track.
        is_thorough: whether what fewer than six queries show is reported too; ``validate`` has
            another finding on fractions.
    """
    measures = tuple(measures)
    lowest, highest = qrels.grades.min(), qrels.max_grade
    is_enough, is_deep = is_thorough or len(qrels) >= LEAST_QUERIES, is_deep_pool(qrels)
    if qrels.has_fractional_grades and not is_thorough:
        num_fractions = int(np.count_nonzero(qrels.grades % 1))
        yield from fractional_grades(num_fractions, len(qrels.grades), measures)
    if is_enough and highest <= 0:
        yield _without_relevant(qrels)
    if is_enough and lowest < 0:
        yield from _negative(qrels, is_thorough=is_thorough)
    if is_enough and any(measure.parameters for measure in measures):
        yield from _level_above_grades(qrels, measures)
    if (is_deep or is_deep_learning) and lowest >= 0 and highest == _DEEP_LEARNING_GRADE:
        yield from _deep_learning_grades(qrels, measures)
    if is_deep and lowest >= 1:
        yield from _without_zero(qrels)
    # Numbers of which most are 1 more than the one before go up to 9 at least.
    if highest >= 1 / (1 - _MOST_NUMBERED):
        yield from _numbered(qrels)
    if qrels.excluded:
        yield from _relevant_and_excluded(qrels)


def fractional_grades(
    num_fractions: int, num_judged: int, measures: Iterable[Measure]
) -> Iterator[Finding]:
    """Yield a finding on fractions if a measure without a threshold counts every one.

    Args:
        num_fractions: how many grades are fractions.
        num_judged: how many grades there are.
        measures: the measures.
    """
    if names := [str(measure) for measure in measures if lacks_rel(measure)]:
        yield Finding.from_code(
            "fractional-grades",
            "the qrels hold fractional grades, and every grade above 0 counts as relevant for "
            f"{first_few(names)}",
            count=num_fractions,
            total=num_judged,
        )


def is_deep_pool(qrels: Qrels) -> bool:
    """Return whether many documents are judged for each query, as in the pools of TREC."""
    return len(qrels.grades) >= _DEEP_POOL * len(qrels) > 0


def _without_relevant(qrels: Qrels) -> Finding:
    queries = "the judged query has" if len(qrels) == 1 else f"the {len(qrels):,} queries have"
    return Finding.from_code(
        "no-relevant-documents",
        f"no document is relevant, so nothing is measured: {queries} no grade above 0",
        count=len(qrels),
        total=len(qrels),
    )


def _negative(qrels: Qrels, *, is_thorough: bool) -> Iterator[Finding]:
    """Yield a finding if most grades are negative; ``validate`` reports any."""
    count = int(np.count_nonzero(qrels.grades < 0))
    least = max(LEAST_DIFFERENT, _MOST_NEGATIVE * len(qrels.grades))
    if is_thorough or count > least:
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
        more = f" and {len(levels) - _MOST_NAMES} more" if len(levels) > _MOST_NAMES else ""
        yield Finding.from_code(
            "level-above-grades",
            f"no document has a grade of {min(levels.values()):g} or more, so nothing is "
            f"relevant in {', '.join([*levels][:_MOST_NAMES])}{more}: the highest grade is "
            f"{qrels.max_grade:g}",
            count=len(qrels),
            total=len(qrels),
        )


def _deep_learning_grades(qrels: Qrels, measures: Iterable[Measure]) -> Iterator[Finding]:
    """Yield a finding for passages that are judged as in TREC's Deep Learning tracks.

    The tracks count grade 1 ("related") as not relevant for passages in binary measures; for
    documents they count it as relevant. Source: the notes of NIST on the judgements of 2019 to
    2022, https://trec.nist.gov/data/deep2019.html; Craswell et al., Overview of the TREC 2019 deep
    learning track, arXiv:2003.07820.

    Args:
        qrels: judgements of many documents for each query, or of this name, from 0 to 3.
        measures: the measures.
    """
    grades = qrels.grades
    is_scale = (grades == 1).any() and (grades == 2).any() and (grades % 1 == 0).all()  # noqa: PLR2004
    if not is_scale or not any(map(lacks_rel, measures)):
        return
    step = max(1, len(qrels.doc_ids) // _MOST_IDS)
    if all(map(_PASSAGE_ID.fullmatch, qrels.doc_ids[::step])) and all(
        map(str.isdecimal, qrels.query_ids)
    ):
        count = int(np.count_nonzero(grades == 1))
        yield Finding.from_code(
            "deep-learning-grades",
            f"all measures except nDCG and ERR count grade 1 as relevant ({count:,} judgements); "
            "TREC Deep Learning counts 2 and 3",
            count=count,
            total=len(grades),
        )


def _without_zero(qrels: Qrels) -> Iterator[Finding]:
    """Yield a finding if a deep pool has no grade below 1, as where a scale begins at 1.

    Of shallow judgements, or of two or three grades, often only the relevant ones are listed, as in
    BEIR's judgements of the Deep Learning track.
    """
    distinct, num_judged = np.unique(qrels.grades), len(qrels.grades)
    if len(distinct) > SCALE:
        yield Finding.from_code(
            "grades-without-zero",
            f"all {num_judged:,} judged documents count as relevant, some "
            f"{num_judged / len(qrels):,.0f} of each query: the lowest of {len(distinct)} "
            f"grades is {distinct[0]:g}",
            count=num_judged,
            total=num_judged,
        )


def _numbered(qrels: Qrels) -> Iterator[Finding]:
    """Yield a finding if grades count the lines; of one query they may be a ranking."""
    num_judged = len(qrels.grades)
    num_steps = int(np.count_nonzero(np.diff(qrels.grades) == 1))
    is_enough = num_judged >= LEAST_DIFFERENT and len(qrels) > 1
    if is_enough and num_steps >= _MOST_NUMBERED * (num_judged - 1):
        yield Finding.from_code(
            "numbered-grades",
            f"grades look like numbers of lines or ranks: {num_steps:,} of {num_judged:,} "
            "are 1 more than the one before",
            count=num_steps,
            total=num_judged,
        )


def _relevant_and_excluded(qrels: Qrels) -> Iterator[Finding]:
    """Yield a finding on relevant documents that no ranking can keep."""
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


def grades_look_like_scores(qrels: Qrels) -> bool:
    """Return whether the grades may be the scores of a run.

    They are if they are fractions, or beyond usual grades, with more than 25 different numbers; or
    if there are four or more per query, over a wider range than 0 to 3, that rarely repeat within a
    query, as ranks do. Whole numbers from 0 to 100 must also be listed in order, as most runs are:
    they may be percentages of a judge. Fewer than six queries show nothing.

    Args:
        qrels: the judgements.
    """
    if len(qrels) < LEAST_QUERIES:
        return False
    grades, lowest, highest = qrels.grades, qrels.grades.min(), qrels.max_grade
    are_usual = are_usual_grades(grades)
    # From -2 to -1 the lowest grade is that of spam.
    if are_usual and (highest - lowest <= _USUAL_RANGE or lowest < 0):
        return False
    if not are_many_levels(grades) and not _rarely_repeat(qrels):
        return False
    may_be_percentages = lowest >= 0 and highest <= _HIGHEST_PERCENTAGE
    if not may_be_percentages or (grades != np.floor(grades)).any():
        return True
    steps = list(map(np.diff, _grades_of_first(qrels)))
    num_in_order = sum(bool((step <= 0).all() or (step >= 0).all()) for step in steps)
    return num_in_order >= DIFFERENT_SHARE * len(steps)


def are_usual_grades(numbers: Floats) -> bool:
    """Return whether all numbers are whole and within the usual range of grades."""
    is_within = numbers.min() >= _LOWEST_GRADE and numbers.max() <= _HIGHEST_GRADE
    return bool(is_within and (numbers == np.floor(numbers)).all())


def are_many_levels(numbers: Floats) -> bool:
    """Return whether numbers are no usual grades, and more different ones than a scale has."""
    num_different = len(np.unique(numbers[:_MOST_NUMBERS]))
    return num_different > _MOST_LEVELS and not are_usual_grades(numbers)


def _grades_of_first(qrels: Qrels) -> list[Floats]:
    """Return the grades of the first queries, f8 each."""
    starts = qrels.starts[: _MOST_QUERIES + 1].tolist()
    return [qrels.grades[slice(*ends)] for ends in pairwise(starts)]


def _rarely_repeat(qrels: Qrels) -> bool:
    """Return whether there are several numbers per query, of a wide range, that rarely repeat."""
    is_wide = qrels.max_grade - qrels.grades.min() > _USUAL_RANGE
    if not is_wide or len(qrels.grades) < _LEAST_DOCUMENTS * len(qrels):
        return False
    first = _grades_of_first(qrels)
    num_different = sum(len(np.unique(grades)) for grades in first)
    return num_different >= DIFFERENT_SHARE * sum(map(len, first))


# Where judged documents are ranked


def lowest_grade_counts(qrels: Qrels, matrix: RelevanceMatrix) -> Iterator[Finding]:
    """Yield a finding if most first documents of a deep pool count as relevant, and none is 0.

    So it is with a scale that begins at 1. Of two or three grades often only the relevant documents
    are listed, but then no system finds that many.
    """
    lowest = qrels.grades.min()
    is_long = matrix.num_retrieved >= TOP
    if lowest < 1 or not is_deep_pool(qrels) or len(np.unique(qrels.grades)) > SCALE:
        return
    if is_long.sum() < LEAST_QUERIES:
        return
    count, total = int(np.count_nonzero(qrels.grades == lowest)), len(qrels.grades)
    cells = matrix.cells.upto(TOP)
    share = float(is_long[cells.row].sum()) / (TOP * int(is_long.sum()))
    if _LOWEST_SHARE * total <= count < total and share >= _ALL_RELEVANT:
        yield Finding.from_code(
            "grades-without-zero",
            f"{share:.0%} of the top {TOP} count as relevant: no grade is 0, and {count:,} of "
            f"{total:,} are {lowest:g}",
            count=count,
            total=total,
        )


def inverted_grades(qrels: Qrels, matrix: RelevanceMatrix) -> Iterator[Finding]:
    """Yield a finding if the lowest grade is ranked before the highest.

    The first documents of systems are judged, so that judged documents of low grades tend to be
    ranked late. Not so where other negatives were chosen; they are few.
    """
    cells, grades = matrix.cells, matrix.cells.grade
    if not len(grades):
        return
    relative = (cells.rank - 0.5) / matrix.num_retrieved[cells.row]
    is_lowest, is_highest = grades == grades.min(), grades == grades.max()
    # Over all queries at once, which is cheap, a fifth is asked for: half loses one of 23 mistakes.
    if relative[is_highest].mean() - relative[is_lowest].mean() <= _BEHIND / 5:
        return
    distinct = np.unique(grades)
    if len(distinct) < SCALE:
        return
    low, high = map(matrix.mean_relative_ranks, map(cells.where, (is_lowest, is_highest)))
    have_both = ~np.isnan(low) & ~np.isnan(high)
    if np.count_nonzero(have_both) < LEAST_QUERIES:
        return
    low, high = low[have_both], high[have_both]
    behind = high - low
    error = float(behind.std(ddof=1)) / len(behind) ** 0.5
    if behind.mean() > max(_BEHIND, STANDARD_ERRORS * error):
        yield Finding.from_code(
            "inverted-grades",
            f"grades seem inverted: documents of grade {distinct[-1]:g} tend to be ranked behind "
            f"those of grade {distinct[0]:g}, with a mean rank at {high.mean():.0%} of the length "
            f"of the ranking, the others' at {low.mean():.0%}",
            count=len(behind),
            total=len(qrels),
        )


def findings_of_labels(qrels: Qrels, matrix: RelevanceMatrix) -> Iterator[Finding]:
    """Yield a finding if rankings know the judgements, or the judgements a ranking.

    Rankings begin with exactly the judged documents, three or more; or else hardly any judged
    document is ranked below one of a lower grade, which a ranking shows if it holds five judged
    documents or more, of different grades.

    Args:
        qrels: the judgements.
        matrix: the relevance matrix of all judged queries and the run.
    """
    cells, num_judged = matrix.cells, qrels.num_judged
    is_longer = (num_judged >= LEAST_DOCUMENTS) & (matrix.num_retrieved > num_judged)
    num_first = matrix.count(cells.row[cells.rank <= num_judged[cells.row]])
    count = int(np.count_nonzero(is_longer & (num_first == num_judged)))
    total = int(np.count_nonzero(is_longer))
    if total >= LEAST_QUERIES and count >= _JUDGED_FIRST * total:
        yield Finding.from_code(
            "judgements-of-this-run",
            f"{count:,} of {total:,} rankings begin with all judged documents and no other: the "
            "judgements seem to be made from this run",
            count=count,
            total=total,
        )
        return
    steps = np.diff(cells.grade)
    steps[cells.row[1:] != cells.row[:-1]] = 0
    num_rises, num_falls = (matrix.count(cells.row[1:][of]) for of in (steps > 0, steps < 0))
    is_known = (matrix.count(cells.row) >= LEAST_LONG) & (num_rises + num_falls > 0)
    count = int(np.count_nonzero(is_known & (num_rises == 0)))
    total = int(np.count_nonzero(is_known))
    if total >= LEAST_QUERIES and count >= _IN_ORDER * total:
        yield Finding.from_code(
            "sorted-by-labels",
            f"{count:,} of {total:,} rankings with judged documents of several grades are sorted "
            "by their labels",
            count=count,
            total=total,
        )
