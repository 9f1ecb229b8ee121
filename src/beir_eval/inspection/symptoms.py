"""Symptoms: unusual numbers of an evaluation, of which each says that a search is worth its time.

They are computed from the relevance matrix and a first look at some rankings, in a few calls of
numpy. A symptom is no finding: weak systems have some too.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.inspection.document_ids import are_floats
from beir_eval.inspection.finding import (
    LEAST_DOCUMENTS,
    LEAST_QUERIES,
    LEAST_RANKINGS,
    LEAST_SHARE,
    MOST_RANKINGS,
    TOP,
)
from beir_eval.inspection.judgements import is_deep_pool
from beir_eval.inspection.spellings import searchable_ids
from beir_eval.inspection.unmatched_ids import common_prefix

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from beir_eval.core.arrays import Ints
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking_sample import RankingSample
    from beir_eval.core.relevance_matrix import RelevanceMatrix

#: If so many queries find nothing relevant in their first ten documents, or of a deep pool so few
#: of these documents are judged, ids or queries may be other ones.
_MOST_FAILED, _FEW_JUDGED = 0.85, 0.5
#: Of so few queries, a tenth that fails is looked at.
_FEW_QUERIES = 60
#: How much longer than the longest row of failures that chance makes one is; in units of the
#: spread of that length.
_LONGER = 3.0
#: The share of judged documents in rankings that have the score of another document.
_MANY_TIED = 0.25
#: How many ids of the qrels are looked at, one of how many that were seen of the run, and the share
#: of ids in a form that the other side does not have.
_MOST_IDS, _STEP, _LEAST_OTHER = 80, 4, 0.02
#: Of ids in more forms than this, and than this share of them, the forms show nothing.
_MOST_FORMS, _MOST_FORMS_SHARE = 10, 0.2
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
        of_ids: the form of each id; empty if there is a text among them.
        forms: the different ones.
        prefix: what all ids begin with, up to its last letter.
        zeros: how many numbers with leading zeros there are for each id.
        are_floats: whether some ids are written as floats, or the first ones may be rounded.
    """

    of_ids: Sequence[str] = ()
    forms: AbstractSet[str] = frozenset()
    prefix: str = ""
    zeros: float = 0.0
    are_floats: bool = False

    @classmethod
    def from_ids(cls, ids: Sequence[str]) -> IdForms:
        """Return the forms of some ids, in a time that their length hardly changes."""
        if not ids or len(searchable_ids(ids)) < len(ids):
            return cls()
        text = "\n".join(ids)
        forms = text.translate(_FORM)
        for letters in ("aaaa", "aa", "aa", "AAAA", "AA", "AA"):
            forms = forms.replace(letters, letters[0])
        lines = forms.split("\n")
        return cls(
            lines,
            frozenset(lines),
            re.sub(r"[\W\d_]+$", "", common_prefix(ids)),
            len(_LEADING_ZERO.findall(text)) / len(ids),
            "e+" in text or are_floats(ids[:_FEW_IDS]),
        )

    @property
    def are_many(self) -> bool:
        """Whether nearly each id is written in its own way, as addresses and titles are."""
        return len(self.forms) > max(_MOST_FORMS, _MOST_FORMS_SHARE * len(self.of_ids))

    def differ(self, others: IdForms) -> bool:
        """Return whether some ids of one side are written as none of the other is."""
        if not self.of_ids or not others.of_ids:
            return False
        if self.are_many or others.are_many or self.prefix != others.prefix:
            return True
        fewer, more = sorted((self.zeros, others.zeros))
        if more - fewer > _OTHER_ZEROS or fewer == 0 < more:
            return True
        return any(
            sum(map((ours.forms - theirs.forms).__contains__, ours.of_ids))
            >= _LEAST_OTHER * len(ours.of_ids)
            for ours, theirs in ((self, others), (others, self))
            if ours.forms - theirs.forms
        )


def forms_of_qrels(qrels: Qrels) -> IdForms:
    """Return how ids of judged documents are written, at some 80 of them."""
    return IdForms.from_ids(qrels.doc_ids[:: max(1, len(qrels.doc_ids) // _MOST_IDS)])


class Symptoms(NamedTuple):
    """What is unusual in an evaluation; by default all, so that everything is looked for.

    Attributes:
        few_found: hardly any ranking begins with what fits its query, or neighbours do not.
        same_first: a ranking begins with the documents of another one.
        judged_only: rankings hold judged documents only, with scores that may be grades.
        other_ids: ids are written in ways that the other side does not have.
        rounded_ids: ids may be numbers that lost digits as floats.
        scores: scores rise or are equal, or relevant documents are the last.
    """

    few_found: bool = True
    same_first: bool = True
    judged_only: bool = True
    other_ids: bool = True
    rounded_ids: bool = True
    scores: bool = True


def symptoms_of(  # noqa: PLR0913 - all that an evaluation knows
    qrels: Qrels,
    matrix: RelevanceMatrix,
    look: RankingSample,
    tied: Ints,
    judged_ids: IdForms,
    *,
    by_score: bool,
) -> Symptoms:
    """Return the symptoms of an evaluation.

    Args:
        qrels: the judgements.
        matrix: the relevance matrix of all judged queries and the run.
        look: a first look at the run.
        tied: the number of judged documents with the score of another one, of each query, i8[Q].
        judged_ids: how the ids of the qrels are written.
        by_score: whether scores rank.
    """
    num_judged = matrix.count(matrix.cells.row)
    is_ranked = matrix.num_retrieved > 0
    num_full = int(np.count_nonzero(is_ranked & (num_judged == matrix.num_retrieved)))
    least_full = max(LEAST_RANKINGS, LEAST_SHARE * np.count_nonzero(is_ranked))
    firsts = [tuple(look.doc_ids[documents]) for documents in look.slices()]
    firsts = [doc_ids for doc_ids in firsts if len(doc_ids) == TOP]
    forms = IdForms.from_ids(look.doc_ids[::_STEP])
    has_scores = by_score and look.scores is not None
    return Symptoms(
        few_found=_few_found(qrels, matrix),
        same_first=len(set(firsts)) < len(firsts),
        judged_only=has_scores and num_full >= least_full and _may_be_grades(look, qrels),
        other_ids=judged_ids.differ(forms),
        rounded_ids=forms.are_floats or judged_ids.are_floats,
        scores=_relevant_late(matrix)
        or (has_scores and (tied.sum() > _MANY_TIED * len(matrix.cells.row) or _some_rise(look))),
    )


def _few_found(qrels: Qrels, matrix: RelevanceMatrix) -> bool:
    """Return whether hardly any ranking begins with what fits its query, or neighbours do not."""
    is_ranked = matrix.num_retrieved > 0
    num_ranked = int(np.count_nonzero(is_ranked))
    if num_ranked < LEAST_QUERIES:
        return False
    has_failed = matrix.num_relevant_upto(TOP)[is_ranked] == 0
    if is_deep_pool(qrels):
        top = matrix.cells.upto(TOP)
        if len(top.row) < _FEW_JUDGED * np.minimum(matrix.num_retrieved, TOP).sum():
            return True
        has_failed |= matrix.count(top.row)[is_ranked] < _FEW_JUDGED * TOP / 2
    fits = np.flatnonzero(~has_failed)
    num_failed = num_ranked - len(fits)
    if num_failed >= _MOST_FAILED * num_ranked:
        return True
    if num_failed < LEAST_RANKINGS:
        return False
    if num_ranked <= _FEW_QUERIES:
        return num_failed >= LEAST_SHARE * num_ranked
    gaps = (fits[1:] - fits[:-1]).max(initial=0)
    longest = int(max(fits[0] + 1, gaps, num_ranked - fits[-1])) - 1
    spread = -1 / math.log(num_failed / num_ranked)
    return longest >= LEAST_RANKINGS and longest > spread * (math.log(len(fits)) + _LONGER)


def _may_be_grades(look: RankingSample, qrels: Qrels) -> bool:
    """Return whether some scores are whole numbers up to the highest grade."""
    assert look.scores is not None  # noqa: S101 - see symptoms_of
    return bool(((look.scores == np.floor(look.scores)) & (look.scores <= qrels.max_grade)).any())


def _relevant_late(matrix: RelevanceMatrix) -> bool:
    """Return whether relevant documents are, in the mean of the queries, in the second half."""
    relevant = matrix.relevant()
    relative = (relevant.rank - 0.5) / matrix.num_retrieved[relevant.row]
    counts = matrix.num_relevant_upto(None)
    sums = np.bincount(relevant.row, relative, matrix.num_queries)
    num_known = int(np.count_nonzero(counts))
    is_late = float((sums / np.maximum(counts, 1)).sum()) > MOST_RANKINGS * num_known
    return num_known >= LEAST_QUERIES and is_late


def _some_rise(look: RankingSample) -> bool:
    """Return whether a ranking of three documents or more begins with scores that never fall."""
    assert look.scores is not None  # noqa: S101 - see symptoms_of
    first, last = look.starts[:-1], look.starts[1:] - 1
    is_long = last - first >= LEAST_DOCUMENTS - 1
    num_falls = np.concatenate(([0], (look.scores[1:] < look.scores[:-1]).cumsum()))
    return bool((num_falls[last[is_long]] == num_falls[first[is_long]]).any())
