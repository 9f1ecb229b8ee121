"""Whether qrels and run are swapped: then grades look like scores, and scores like grades.

The grades are examined once per qrels, and the scores are read only if the grades look like scores,
so that this costs next to nothing for usual qrels.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.errors import RunError
from beir_eval.inspection.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.arrays import Floats
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run import Run

#: The usual range of grades: trec_eval's negative grades, and scales up to 10.
_LOWEST_GRADE, _HIGHEST_GRADE = -2, 10
_HIGHEST_PERCENTAGE = 100
#: Scales of fractional grades, such as means of votes, have at most this many different numbers.
_MOST_LEVELS = 25
#: A run whose scores have at most this many different numbers may be qrels.
_MOST_GRADES = 5
#: The share of a query's numbers that are different: scores rarely repeat, grades always do.
_DIFFERENT_SHARE = 0.9
#: Scores of at least so many documents per query show that, over a range wider than usual grades.
_LEAST_DOCUMENTS, _USUAL_RANGE = 4, 3
#: How many scores per query there are for each grade, at least: more if the grades do not repeat.
_TIMES_MORE, _TIMES_MORE_WITHOUT_TIES = 0.5, 2
#: Fewer queries show nothing.
_LEAST_QUERIES = 6
#: How many numbers, queries and rankings are examined.
_MOST_NUMBERS, _MOST_QUERIES, _MOST_RANKINGS = 10_000, 100, 1_000


def grades_look_like_scores(qrels: Qrels) -> bool:
    """Return whether the grades may be the scores of a run.

    They are if they are fractions, or beyond usual grades, with more than 25 different numbers; or
    if there are four or more per query, over a wider range than 0 to 3, that rarely repeat within a
    query, as ranks do. Whole numbers from 0 to 100 must also be listed in order, as most runs are:
    they may be percentages of a judge. Fewer than six queries show nothing.

    Args:
        qrels: the judgements.
    """
    if len(qrels) < _LEAST_QUERIES:
        return False
    if not (_are_many_levels(qrels) or _rarely_repeat(qrels)):
        return False
    return not _may_be_percentages(qrels.grades) or _are_in_order(qrels)


def _may_be_percentages(numbers: Floats) -> bool:
    """Return whether all numbers are whole and from 0 to 100."""
    is_within = numbers.min() >= 0 and numbers.max() <= _HIGHEST_PERCENTAGE
    return bool(is_within and (numbers == np.floor(numbers)).all())


def _are_in_order(qrels: Qrels) -> bool:
    """Return whether the numbers of most queries ascend or descend, in the order of the file."""
    starts = qrels.starts[: min(len(qrels), _MOST_QUERIES) + 1].tolist()
    steps = [np.diff(qrels.grades[slice(*ends)]) for ends in pairwise(starts)]
    num_in_order = sum(bool((step <= 0).all() or (step >= 0).all()) for step in steps)
    return num_in_order >= _DIFFERENT_SHARE * len(steps)


def _are_many_levels(qrels: Qrels) -> bool:
    """Return whether the numbers are no grades, with more different ones than a scale has."""
    return (
        _are_no_grades(qrels.grades) and len(np.unique(qrels.grades[:_MOST_NUMBERS])) > _MOST_LEVELS
    )


def _are_no_grades(numbers: Floats) -> bool:
    """Return whether a number is a fraction or beyond the usual grades."""
    is_beyond = numbers.min() < _LOWEST_GRADE or numbers.max() > _HIGHEST_GRADE
    return bool(is_beyond or (numbers != np.floor(numbers)).any())


def _rarely_repeat(qrels: Qrels) -> bool:
    """Return whether there are several numbers per query, of a wide range, that rarely repeat."""
    lowest = qrels.grades.min()
    is_wide = qrels.max_grade - lowest > _USUAL_RANGE
    # From -2 to -1 the lowest grade is that of spam.
    if lowest < 0 and not _are_no_grades(qrels.grades):
        return False
    if not is_wide or len(qrels.grades) < _LEAST_DOCUMENTS * len(qrels):
        return False
    num_queries = min(len(qrels), _MOST_QUERIES)
    starts = qrels.starts[: num_queries + 1].tolist()
    num_different = sum(len(np.unique(qrels.grades[slice(*ends)])) for ends in pairwise(starts))
    return bool(num_different >= _DIFFERENT_SHARE * starts[-1])


def _scores_look_like_grades(run: Run, qrels: Qrels) -> bool:
    """Return whether the scores of a run are grades: few different, small, whole numbers.

    If those of the qrels may be grades too, these must also repeat within rankings, and have at
    most twice as many entries per query, or have at most half as many.

    Args:
        run: the run; at most 1,000 rankings are read.
        qrels: judgements whose grades look like scores.
    """
    try:
        rankings = [scores for _, _, scores in islice(run.rankings(), _MOST_RANKINGS)]
    except RunError:  # of a query that is not evaluated
        return False
    known = [scores for scores in rankings if scores is not None]
    if len(known) < len(rankings) or not known:
        return False
    scores = np.concatenate(known)
    if not len(scores) or _are_no_grades(scores) or len(np.unique(scores)) > _MOST_GRADES:
        return False
    num_different = sum(len(np.unique(ranking)) for ranking in known)
    do_repeat = num_different < _DIFFERENT_SHARE * len(scores)
    least = _TIMES_MORE if do_repeat else _TIMES_MORE_WITHOUT_TIES
    times_more = len(qrels.grades) / len(qrels) / (len(scores) / len(rankings))
    return _are_many_levels(qrels) or times_more >= least


def swapped_inputs(qrels: Qrels, run: Run) -> Iterator[Finding]:
    """Yield the finding that qrels and run are swapped, if the scores look like grades.

    Args:
        qrels: judgements whose grades look like scores.
        run: the run.
    """
    if _scores_look_like_grades(run, qrels):
        lowest, highest = float(qrels.grades.min()), float(qrels.grades.max())
        yield Finding.from_code(
            "swapped-files",
            f"the qrels look like a run (grades from {lowest:.6g} to {highest:.6g}), and the run "
            "looks like qrels (few different scores, small whole numbers)",
            count=1,
        )
