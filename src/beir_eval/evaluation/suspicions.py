"""Suspicions: signs of mistakes in judgements and runs that change scores without an error.

Arrays in, findings out: ``suspicions_of_qrels`` looks at the judgements once, ``suspicions_of_run``
at a sample of a run's rankings, at the ranks of the judged documents, and at the ranks that its
file states. Every evaluation does so; ``validate`` passes whole runs to the same functions.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import chain, compress, islice
from typing import TYPE_CHECKING, Literal

import numpy as np
from pydantic import BaseModel

from beir_eval.core.saved import FROZEN
from beir_eval.errors import shown
from beir_eval.evaluation.spellings import nearly_equal_in_sample, spelling_differences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from beir_eval.core.arrays import Floats
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.core.ranking_sample import RankingSample, StatedRanks
    from beir_eval.core.relevance_matrix import RelevanceMatrix
    from beir_eval.measures import Measure

#: The name of a suspicion; those that ``validate`` has too have its codes.
SuspicionCode = Literal[
    "swapped-files",
    "no-relevant-documents",
    "negative-grades",
    "deep-learning-grades",
    "grades-without-zero",
    "numbered-grades",
    "ascending-scores",
    "constant-scores",
    "tied-scores",
    "swapped-ranks-and-scores",
    "ranks-against-scores",
    "relevant-ranked-last",
    "inverted-grades",
    "judgements-as-run",
    "ids-nearly-match",
    "rounded-ids",
    "rankings-of-other-queries",
    "same-ranking",
]

#: {code: what to do}, as sentences without the last full stop.
REMEDIES: Mapping[SuspicionCode, str] = {
    "swapped-files": "Pass the qrels first, then the run",
    "no-relevant-documents": "Check that the column of grades was read",
    "negative-grades": "Use 0 for documents that are judged and not relevant",
    "deep-learning-grades": "To compare with published values, evaluate with rel=2 (--rel 2)",
    "grades-without-zero": (
        "If the lowest grade means not relevant, subtract it from all, so that it is 0"
    ),
    "numbered-grades": "Check that the column of grades was read",
    "ascending-scores": ("Negate distances. If the best document is listed last, change nothing"),
    "constant-scores": (
        "Write the scores of the system, or state that the order is the ranking: order='given'"
    ),
    "tied-scores": (
        "Write the scores of the system with all their digits, or compare ties='best' and "
        "ties='worst'"
    ),
    "swapped-ranks-and-scores": "Write query, Q0, document, rank, score and tag, in this order",
    "ranks-against-scores": (
        "Write scores that descend with the rank; rankings without scores are read too"
    ),
    "relevant-ranked-last": (
        "Negate distances, and give the parts of a ranking scores on one scale"
    ),
    "inverted-grades": "Check that the highest grade is the best one",
    "judgements-as-run": "Pass the rankings of a system as the run",
    "ids-nearly-match": "Write the ids in the same way in all files",
    "rounded-ids": "Read ids as text, not as numbers",
    "rankings-of-other-queries": "Check that each ranking has the id of its query",
    "same-ranking": "Check that the system searches for the text of each query",
}
#: What is about the judgements, whatever the run.
_OF_QRELS = (
    "no-relevant-documents",
    "negative-grades",
    "deep-learning-grades",
    "grades-without-zero",
    "numbered-grades",
)

#: More than this share of the rankings must ascend, or be constant, ...
_MOST_RANKINGS = 0.5
#: ... or so many rankings of so many documents each, and this share of them.
_LEAST_RANKINGS, _LEAST_LONG, _LEAST_SHARE = 3, 5, 0.1
#: Rankings with fewer documents ascend by chance; so do a few of them with few steps in all.
_LEAST_DOCUMENTS, _LEAST_STEPS = 3, 10
#: The share of documents with tied scores that an evaluation reports, and that ``validate`` does.
_MOST_TIED, _FEW_TIED = 0.5, 0.1
#: The share of negative grades that an evaluation reports; those of web tracks, for spam, are few.
_MOST_NEGATIVE = 0.5
#: Fewer queries show nothing about all of them.
_LEAST_QUERIES = 6
#: How many different documents, or judgements, show something.
_LEAST_DIFFERENT = 30
#: The turn of a conversation, at the end of a query's id.
_TURN = re.compile(r"[\W_]\d+$")
#: How many documents of a ranking show whose ranking it is.
_TOP = 10
#: How many judgements are compared with them, in at least so many queries.
_MOST_COMPARED, _FEWEST_COMPARED = 20_000, 30
#: The share of rankings that the right query may fit best if they were exchanged, and how well it
#: may fit compared with the best query.
_OWN_FITS, _LITTLE = 0.05, 0.25
#: How many times more often the first documents are relevant for a query than later ones, and how
#: many times better a query fits than it does by chance.
_TIMES_MORE_FIRST, _TIMES_BETTER = 2.0, 1.5
#: By how many standard errors a number must differ from what is expected by chance.
_STANDARD_ERRORS = 3.0
#: The mean relative rank of relevant documents, from 0 to 1, above which they are ranked last.
_RANKED_LAST = 0.58
#: The standard deviation of a random number between 0 and 1.
_SPREAD_OF_RANDOM_RANK = 12**-0.5
#: By how much the mean relative ranks of two grades must differ.
_BEHIND = 0.1
#: The mean relative rank below which relevant documents are ranked first.
_RANKED_FIRST = 0.5
#: Ids of MS MARCO's passages; those of its documents, for which grade 1 counts, begin with D.
_PASSAGE_ID = re.compile(r"\d+|msmarco_(v2\.1_)?(passage|segmented)_.+|msmarco_v2\.1_doc_.+#.+")
#: The tracks judged some 200 passages of each query; other data sets with these grades judge few.
_DEEP_POOL = 50
#: So many different grades are a scale, and no single grade of what is relevant.
_SCALE = 3
#: The share of grades that count lines.
_MOST_NUMBERED = 0.9
#: Ids as they are written if they were read as floats, such as "1.23457e+06".
_ROUNDED_ID = re.compile(r"\d(\.\d+)?e\+\d+")
#: From here on 32-bit floats have not all whole numbers; those that they have are even.
_FLOAT_32 = 2**24
#: So many digits a float has.
_MOST_DIGITS = 15
#: How many ids are compared with the pattern.
_MOST_IDS = 1_000
_MOST_EXAMPLES, _MOST_NAMES = 3, 5


class Suspicion(BaseModel):
    """A sign of a mistake in the judgements or in a run.

    Attributes:
        code: what it is.
        fact: what was seen, as a clause.
        count: how many rankings, judgements or ids it concerns.
        total: of how many; None if that is not known.
        examples: up to three of them.
    """

    model_config = FROZEN

    code: SuspicionCode
    fact: str
    count: int
    total: int | None = None
    examples: tuple[str, ...] = ()

    @property
    def is_about_qrels(self) -> bool:
        """Whether it is about the judgements, so that it is the same for every run."""
        return self.code in _OF_QRELS

    @property
    def sentence(self) -> str:
        """What was seen and what to do."""
        examples = f" ({'; '.join(self.examples)})" if self.examples else ""
        return f"{self.fact}{examples}. {REMEDIES[self.code]}"


# The judgements


def suspicions_of_qrels(
    qrels: Qrels,
    measures: Iterable[Measure],
    *,
    is_deep_learning: bool = False,
    is_thorough: bool = False,
) -> tuple[Suspicion, ...]:
    """Return what looks like a mistake in judgements, whatever the run.

    Args:
        qrels: the judgements.
        measures: the measures for which they are meant.
        is_deep_learning: whether their name is that of a TREC Deep Learning track.
        is_thorough: whether what fewer than six queries show is reported too.
    """
    is_enough = is_thorough or len(qrels) >= _LEAST_QUERIES
    return (
        *(_without_relevant(qrels) if is_enough else ()),
        *(_negative(qrels, is_thorough=is_thorough) if is_enough else ()),
        *_deep_learning_grades(qrels, measures, is_deep_learning=is_deep_learning),
        *_without_zero(qrels),
        *_numbered(qrels),
    )


def _without_relevant(qrels: Qrels) -> Iterator[Suspicion]:
    if qrels.max_grade <= 0:
        queries = "the judged query has" if len(qrels) == 1 else f"the {len(qrels):,} queries have"
        yield Suspicion(
            code="no-relevant-documents",
            fact=f"no document is relevant, so nothing is measured: {queries} no grade above 0",
            count=len(qrels),
            total=len(qrels),
        )


def _negative(qrels: Qrels, *, is_thorough: bool) -> Iterator[Suspicion]:
    """Yield a suspicion if most grades are negative; ``validate`` reports any."""
    count = int(np.count_nonzero(qrels.grades < 0))
    least = max(_LEAST_DIFFERENT, _MOST_NEGATIVE * len(qrels.grades))
    if count and (is_thorough or count > least):
        yield Suspicion(
            code="negative-grades",
            fact=(
                f"{count:,} of {len(qrels.grades):,} grades are below 0, which means pooled but "
                "unjudged"
            ),
            count=count,
            total=len(qrels.grades),
            examples=tuple(
                f"grade {grade:g}"
                for grade in np.unique(qrels.grades[qrels.grades < 0])[:_MOST_EXAMPLES]
            ),
        )


def _deep_learning_grades(
    qrels: Qrels, measures: Iterable[Measure], *, is_deep_learning: bool
) -> Iterator[Suspicion]:
    """Yield a suspicion for passages that are judged as in TREC's Deep Learning tracks.

    The tracks count grade 1 ("related") as not relevant for passages in binary measures; for
    documents they count it as relevant. Source: the notes of NIST on the judgements of 2019 to
    2022, https://trec.nist.gov/data/deep2019.html; Craswell et al., Overview of the TREC 2019 deep
    learning track, arXiv:2003.07820.
    """
    grades = qrels.grades
    is_deep = is_deep_learning or len(grades) >= _DEEP_POOL * len(qrels)
    if not is_deep or qrels.max_grade != 3 or not (grades >= 0).all():  # noqa: PLR2004
        return
    without_threshold = dict.fromkeys(
        str(measure).partition("@")[0]
        for measure in measures
        if "rel" in measure.definition.defaults and "rel" not in dict(measure.parameters)
    )
    is_scale = {1.0, 2.0} <= set(np.unique(grades).tolist()) <= {0.0, 1.0, 2.0, 3.0}
    if not without_threshold or not is_scale:
        return
    step = max(1, len(qrels.doc_ids) // _MOST_IDS)
    if all(map(_PASSAGE_ID.fullmatch, qrels.doc_ids[::step])) and all(
        map(str.isdecimal, qrels.query_ids)
    ):
        count = int(np.count_nonzero(grades == 1))
        yield Suspicion(
            code="deep-learning-grades",
            fact=(
                f"{count:,} of {len(grades):,} passages have grade 1, of grades up to 3; they "
                f"count as relevant in {_listed(without_threshold)}, and not in the results of "
                "the TREC Deep Learning tracks"
            ),
            count=count,
            total=len(grades),
        )


def _without_zero(qrels: Qrels) -> Iterator[Suspicion]:
    """Yield a suspicion if a deep pool has no grade 0, as where a scale begins at 1.

    Of shallow judgements, or of two or three grades, often only the relevant ones are listed, as in
    BEIR's judgements of the Deep Learning track.
    """
    lowest, num_judged = qrels.grades.min(initial=np.inf), len(qrels.grades)
    if lowest < 1 or num_judged < max(_DEEP_POOL * len(qrels), 1):
        return
    distinct = np.unique(qrels.grades)
    if len(distinct) > _SCALE:
        yield Suspicion(
            code="grades-without-zero",
            fact=(
                f"all {num_judged:,} judged documents count as relevant, some "
                f"{num_judged / len(qrels):,.0f} of each query: the lowest of {len(distinct)} "
                f"grades is {lowest:g}"
            ),
            count=num_judged,
            total=num_judged,
        )


def _numbered(qrels: Qrels) -> Iterator[Suspicion]:
    """Yield a suspicion if grades count the lines."""
    num_judged = len(qrels.grades)
    # Of one query they may be a ranking.
    if num_judged < _LEAST_DIFFERENT or len(qrels) == 1:
        return
    num_steps = int(np.count_nonzero(np.diff(qrels.grades) == 1))
    if num_steps >= _MOST_NUMBERED * (num_judged - 1):
        yield Suspicion(
            code="numbered-grades",
            fact=(
                f"grades look like numbers of lines: {num_steps + 1:,} of {num_judged:,} are 1 "
                "more than the one before"
            ),
            count=num_steps + 1,
            total=num_judged,
        )


def _listed(names: Iterable[str]) -> str:
    """Return the first names as text, and how many more there are."""
    listed = list(names)
    more = f" and {len(listed) - _MOST_NAMES} more" if len(listed) > _MOST_NAMES else ""
    return f"{', '.join(listed[:_MOST_NAMES])}{more}"


# A run


def suspicions_of_run(
    qrels: Qrels,
    matrix: RelevanceMatrix,
    sample: RankingSample,
    settings: EvaluationSettings,
    *,
    ids_match: bool,
) -> tuple[Suspicion, ...]:
    """Return what looks like a mistake in a run.

    Args:
        qrels: the judgements.
        matrix: the relevance matrix of all judged queries and the run.
        sample: rankings of the run.
        settings: how the run is evaluated; with ``order="given"`` scores are not looked at.
        ids_match: whether nothing shows that the document ids are other ones; if something does,
            only ids are looked at.
    """
    if not ids_match:
        return (*_rounded_ids(qrels, sample), *_shifted_ids(qrels, sample))
    about_rankings = tuple(suspicions_of_rankings(qrels, sample))
    if any(suspicion.code == "judgements-as-run" for suspicion in about_rankings):
        return about_rankings
    about_scores: Iterable[Suspicion] = ()
    if sample.scores is not None and settings.order == "score":
        about_scores = suspicions_of_scores(sample, relative_ranks(matrix))
    return (
        *about_scores,
        *inverted_grades(qrels, matrix),
        *_spellings(qrels, sample),
        *about_rankings,
    )


def suspicions_of_rankings(qrels: Qrels, sample: RankingSample) -> Iterator[Suspicion]:
    """Yield what looks like a mistake in the documents of rankings, whatever their scores.

    Args:
        qrels: the judgements.
        sample: rankings of a run.
    """
    yield from _judgements_as_run(qrels, sample)
    yield from _rounded_ids(qrels, sample)
    yield from _shifted_ids(qrels, sample)
    yield from _other_queries(qrels, sample)
    yield from _same_ranking(qrels, sample)


def suspicions_of_scores(
    sample: RankingSample,
    known_ranks: Floats | None = None,
    *,
    is_thorough: bool = False,
) -> Iterator[Suspicion]:
    """Yield what looks like a mistake in scores: at most one finding on their direction.

    Args:
        sample: rankings of a run, with scores.
        known_ranks: what ``relative_ranks`` returns; None if it is not known.
        is_thorough: whether what few documents show is reported too.
    """
    assert sample.scores is not None  # noqa: S101 - see above
    lists = [sample.scores[documents] for documents in sample.slices()]
    several = [scores for scores in lists if len(scores) > 1]
    is_constant = [bool((scores == scores[0]).all()) for scores in several]
    num_documents = sum(map(len, compress(several, is_constant)))
    is_enough = is_thorough or (
        sum(is_constant) >= _LEAST_RANKINGS and num_documents >= _LEAST_STEPS
    )
    if is_enough and _are_many(is_constant, several):
        yield Suspicion(
            code="constant-scores",
            fact=(
                f"all documents have the same score in {sum(is_constant):,} of {len(several):,} "
                "rankings, so the order of their ids decides"
            ),
            count=sum(is_constant),
            total=len(several),
        )
    # Of few documents the same one may be relevant for every query, as in an example.
    is_varied = is_thorough or (
        len(lists) >= _LEAST_QUERIES and len(set(sample.doc_ids)) >= _LEAST_DIFFERENT
    )
    directions: list[Suspicion] = []
    stated_ranks = sample.stated_ranks
    if stated_ranks is not None:
        directions = list(_direction_of_ranks(stated_ranks, is_thorough=is_thorough))
    # Ranks that agree with the scores show that the best document is listed last.
    if not directions and (stated_ranks is None or not _has_ranks(stated_ranks)):
        directions = list(_ascending(sample, lists, known_ranks, is_thorough=is_thorough))
    if not directions and known_ranks is not None and is_varied:
        directions = list(_relevant_last(known_ranks, is_thorough=is_thorough))
    yield from directions
    # Where all are constant, that is said.
    are_constant = is_enough and _are_many(is_constant, several)
    if is_thorough or (is_varied and not are_constant and not directions):
        yield from _tied(sample, is_thorough=is_thorough)


def _tied(sample: RankingSample, *, is_thorough: bool) -> Iterator[Suspicion]:
    """Yield a suspicion if many documents have the score of another one in their ranking.

    An evaluation looks at the first ten documents: a retriever may give all that it does not find
    the score 0.

    Args:
        sample: rankings of a run, with scores.
        is_thorough: whether all documents are looked at.
    """
    assert sample.scores is not None  # noqa: S101 - see suspicions_of_scores
    num_tied = num_documents = 0
    tied: list[Floats] = []
    for documents in sample.slices():
        scores = sample.scores[documents]
        if not is_thorough:
            scores = np.sort(scores)[-_TOP:]
        values, counts = np.unique(scores, return_counts=True)
        is_tied = counts > 1
        num_documents += len(scores)
        num_tied += int(counts[is_tied].sum())
        tied.append(np.repeat(values[is_tied], counts[is_tied]))
    if num_tied and num_tied >= (_FEW_TIED if is_thorough else _MOST_TIED) * num_documents:
        which = "documents" if is_thorough else f"documents in the top {_TOP}"
        yield Suspicion(
            code="tied-scores",
            fact=(
                f"{num_tied:,} of {num_documents:,} {which} ({num_tied / num_documents:.0%}) have "
                "the score of another one in their ranking, so the order of the ids decides"
            ),
            count=num_tied,
            total=num_documents,
            examples=tuple(
                f"{count:,} of them have {value:g}"
                for value, count in Counter(np.concatenate(tied).tolist()).most_common(1)
            ),
        )


def _are_many(flags: Sequence[bool], lists: Sequence[Floats]) -> bool:
    """Return whether most rankings have a property, or a share of the long ones that is no chance.

    Args:
        flags: which rankings have it. [S]
        lists: the rankings. [S]
    """
    if sum(flags) > _MOST_RANKINGS * len(flags):
        return True
    long = [flag for flag, ranking in zip(flags, lists, strict=True) if len(ranking) >= _LEAST_LONG]
    return sum(long) >= max(_LEAST_RANKINGS, _LEAST_SHARE * len(long))


def _ascending(
    sample: RankingSample,
    lists: Sequence[Floats],
    known_ranks: Floats | None,
    *,
    is_thorough: bool,
) -> Iterator[Suspicion]:
    """Yield a suspicion if rankings list their lowest score first, and it is not seen to be right.

    It is right if the relevant documents of these queries have the highest scores.
    """
    long = [scores for scores in lists if len(scores) >= _LEAST_DOCUMENTS]
    ascends = [
        bool(scores[0] < scores[-1] and (scores[1:] >= scores[:-1]).all()) for scores in long
    ]
    num_steps = sum(len(scores) - 1 for scores, flag in zip(long, ascends, strict=True) if flag)
    is_enough = is_thorough or sum(ascends) >= _LEAST_RANKINGS
    if num_steps < _LEAST_STEPS or not is_enough or not _are_many(ascends, long):
        return
    if known_ranks is not None:
        rows = sample.rows[[len(scores) >= _LEAST_DOCUMENTS for scores in lists]][np.array(ascends)]
        known = known_ranks[rows[rows >= 0]]
        known = known[~np.isnan(known)]
        if len(known) >= _LEAST_RANKINGS and known.mean() < _RANKED_FIRST:
            return
    yield Suspicion(
        code="ascending-scores",
        fact=(
            f"scores are ascending from the first document to the last in {sum(ascends):,} of "
            f"{len(long):,} rankings, and higher scores are better"
        ),
        count=sum(ascends),
        total=len(long),
    )


def relative_ranks(matrix: RelevanceMatrix) -> Floats:
    """Return the mean relative rank of the relevant documents of each query, f8[Q].

    0 is the first place and 1 the last; NaN without a relevant document, or with fewer than five
    retrieved ones.

    Args:
        matrix: the relevance matrix of qrels and run.
    """
    relevant = matrix.cells.where(matrix.cells.grade > 0)
    lengths = matrix.num_retrieved[relevant.row]
    relative = (relevant.rank - 0.5) / np.maximum(lengths, 1)
    counts = np.bincount(relevant.row, minlength=matrix.num_queries)
    sums = np.bincount(relevant.row, relative, minlength=matrix.num_queries)
    is_known = (counts > 0) & (matrix.num_retrieved >= _LEAST_LONG)
    means: Floats = np.where(is_known, sums / np.maximum(counts, 1), np.nan)
    return means


def _relevant_last(known_ranks: Floats, *, is_thorough: bool) -> Iterator[Suspicion]:
    """Yield a suspicion if relevant documents tend to have the lowest scores of their rankings."""
    known = known_ranks[~np.isnan(known_ranks)]
    if len(known) < _LEAST_QUERIES:
        return
    # Of few queries the spread may be small by chance; that of a random rank is known.
    spread = max(float(known.std(ddof=1)), 0.0 if is_thorough else _SPREAD_OF_RANDOM_RANK)
    mean, error = float(known.mean()), spread / len(known) ** 0.5
    if mean > _RANKED_LAST and mean - 0.5 > _STANDARD_ERRORS * error:
        yield Suspicion(
            code="relevant-ranked-last",
            fact=(
                "relevant documents tend to have the lowest scores of their rankings: their mean "
                f"rank is at {mean:.0%} of the length of the ranking, and higher scores are better"
            ),
            count=len(known),
            total=len(known_ranks),
        )


def inverted_grades(qrels: Qrels, matrix: RelevanceMatrix) -> Iterator[Suspicion]:
    """Yield a suspicion if the lowest grade of a deep pool is ranked before the highest.

    The first documents of systems are judged, so that judged documents of low grades tend to be
    ranked late. Not so where other negatives were chosen; they are few.

    Args:
        qrels: the judgements.
        matrix: the relevance matrix of qrels and run.
    """
    is_deep = len(qrels.grades) >= _DEEP_POOL * len(qrels)
    cells = matrix.cells
    if not is_deep or len(distinct := np.unique(cells.grade)) < _SCALE:
        return
    relative = cells.rank / np.maximum(matrix.num_retrieved[cells.row], 1)
    (low, num_low), (high, num_high) = (
        (np.bincount(row, values, matrix.num_queries), np.bincount(row, None, matrix.num_queries))
        for is_of_grade in (cells.grade == distinct[0], cells.grade == distinct[-1])
        for row, values in [(cells.row[is_of_grade], relative[is_of_grade])]
    )
    have_both = (num_low > 0) & (num_high > 0)
    if np.count_nonzero(have_both) < _LEAST_QUERIES:
        return
    low_ranks, high_ranks = (
        low[have_both] / num_low[have_both],
        high[have_both] / num_high[have_both],
    )
    behind = high_ranks - low_ranks
    error = float(behind.std(ddof=1)) / len(behind) ** 0.5
    if behind.mean() > max(_BEHIND, _STANDARD_ERRORS * error):
        yield Suspicion(
            code="inverted-grades",
            fact=(
                f"documents of grade {distinct[-1]:g} tend to be ranked behind those of grade "
                f"{distinct[0]:g}: their mean rank is at {high_ranks.mean():.0%} of the length of "
                f"the ranking, the others' at {low_ranks.mean():.0%}"
            ),
            count=len(behind),
            total=len(qrels),
        )


def _has_ranks(stated: StatedRanks) -> bool:
    """Return whether the ranks of a ranking of several documents are different whole numbers."""
    return any(len(ranks) > 1 and _are_different_wholes(ranks) for _, ranks, _ in stated.rankings())


def _are_different_wholes(numbers: Floats) -> bool:
    is_whole = bool((numbers == np.floor(numbers)).all())
    return is_whole and len(np.unique(numbers)) == len(numbers)


def _direction_of_ranks(stated: StatedRanks, *, is_thorough: bool) -> Iterator[Suspicion]:
    """Yield a suspicion if ranks and scores are swapped, ascend together, or disagree.

    Args:
        stated: the ranks and scores of lines.
        is_thorough: whether a single ranking that disagrees is reported.
    """
    rankings = [ranking for ranking in stated.rankings() if len(ranking[1]) > 1]
    swapped = [query for query, ranks, scores in rankings if _are_swapped(ranks, scores)]
    if len(swapped) > _MOST_RANKINGS * len(rankings):
        yield Suspicion(
            code="swapped-ranks-and-scores",
            fact=(
                f"ranks and scores look swapped: in {len(swapped):,} of {len(rankings):,} rankings "
                "looked at, the scores are 1, 2, … and the ranks descend"
            ),
            count=len(swapped),
            total=len(rankings),
        )
        return
    ranked = [ranking for ranking in rankings if _are_different_wholes(ranking[1])]
    against: list[str] = []
    num_reversed = num_steps = 0
    for query_id, ranks, scores in ranked:
        order = np.argsort(ranks, kind="stable")
        steps = np.diff(scores[order])
        rises = np.flatnonzero(steps > 0)
        if len(rises):
            first = order[rises[0] : rises[0] + 2]
            texts = [f"rank {ranks[line]:.0f} has {scores[line]:g}" for line in first.tolist()]
            against.append(f"query {shown(query_id)}: {', '.join(texts)}")
            is_reversed = bool((steps >= 0).all())
            num_reversed += is_reversed
            num_steps += len(steps) if is_reversed else 0
    if num_reversed > _MOST_RANKINGS * len(ranked) and num_steps >= _LEAST_STEPS:
        yield Suspicion(
            code="ascending-scores",
            fact=(
                f"scores are ascending with the rank in {num_reversed:,} of {len(ranked):,} "
                "rankings looked at, and higher scores are better"
            ),
            count=num_reversed,
            total=len(ranked),
            examples=tuple(against[:1]),
        )
    elif against and (is_thorough or len(against) >= _LEAST_SHARE * len(ranked)):
        yield Suspicion(
            code="ranks-against-scores",
            fact=(
                f"in {len(against):,} of {len(ranked):,} rankings looked at, a document has a "
                "higher score than one with a better rank, and scores decide"
            ),
            count=len(against),
            total=len(ranked),
            examples=tuple(against[:_MOST_EXAMPLES]),
        )


def _are_swapped(ranks: Floats, scores: Floats) -> bool:
    """Return whether the scores count 1, 2, … or 0, 1, … and the ranks descend.

    Args:
        ranks: the ranks of one ranking, in the order of the lines, f8[N].
        scores: its scores, f8[N].
    """
    counts = np.arange(len(scores)) + scores[0]
    is_count = scores[0] in {0.0, 1.0} and bool((scores == counts).all())
    return is_count and bool((np.diff(ranks) <= 0).all()) and ranks[0] > ranks[-1]


def _judgements_as_run(qrels: Qrels, sample: RankingSample) -> Iterator[Suspicion]:
    """Yield a suspicion if rankings consist of judged documents, with their grades as scores."""
    if sample.scores is None:
        return
    num_equal = num_rankings = 0
    documents_of_grades: set[str] = set()
    for row, documents in zip(sample.rows.tolist(), sample.slices(), strict=True):
        if row >= 0 and documents.start < documents.stop:
            num_rankings += 1
            scores = sample.scores[documents]
            # Mostly settled here: scores are rarely whole numbers as low as grades.
            if scores[0] == np.floor(scores[0]) <= qrels.max_grade:
                graded = qrels.grades_of_row(row)
                doc_ids = sample.doc_ids[documents]
                if list(map(graded.get, doc_ids)) == scores.tolist():
                    num_equal += 1
                    documents_of_grades.update(doc_ids)
    if (
        num_equal >= max(_LEAST_RANKINGS, _LEAST_SHARE * num_rankings)
        and len(documents_of_grades) >= _LEAST_QUERIES
    ):
        yield Suspicion(
            code="judgements-as-run",
            fact=(
                f"{num_equal:,} of {num_rankings:,} rankings looked at consist of judged documents "
                "only, with their grades as scores: the run looks like the judgements"
            ),
            count=num_equal,
            total=num_rankings,
        )


def _spellings(qrels: Qrels, sample: RankingSample) -> Iterator[Suspicion]:
    """Yield a suspicion for each way in which some ids of the run are spelled otherwise."""
    pairs = nearly_equal_in_sample(qrels, sample)
    for difference, different in spelling_differences(pairs):
        examples = tuple(f"{shown(ours)} and {shown(theirs)}" for ours, theirs in different)
        yield Suspicion(
            code="ids-nearly-match",
            fact=(
                f"some document ids of the qrels and of the run differ in {difference} only, and "
                "count as unjudged"
            ),
            count=len(different),
            examples=examples[:_MOST_EXAMPLES],
        )


def _rounded_ids(qrels: Qrels, sample: RankingSample) -> Iterator[Suspicion]:
    """Yield a suspicion if ids of documents were numbers that lost digits as floats.

    They have an exponent, or all are large numbers that a 32-bit float can hold, which half of
    the smallest of them are by chance.
    """
    step = max(1, len(qrels.doc_ids) // _MOST_IDS)
    for ids, whose in ((sample.doc_ids[:_MOST_IDS], "run"), (qrels.doc_ids[::step], "qrels")):
        different = dict.fromkeys(ids)
        rounded = [text for text in different if "e+" in text and _ROUNDED_ID.fullmatch(text)]
        if len(rounded) < _LEAST_DIFFERENT and _are_floats(islice(different, _LEAST_DIFFERENT)):
            rounded = list(different) if _are_floats(different) else []
        if len(rounded) >= _LEAST_DIFFERENT:
            yield Suspicion(
                code="rounded-ids",
                fact=(
                    f"{len(rounded):,} of {len(different):,} document ids of the {whose} look "
                    "like numbers that were rounded, so that different ids may be the same"
                ),
                count=len(rounded),
                total=len(different),
                examples=tuple(map(shown, rounded[:_MOST_EXAMPLES])),
            )


def _is_number(text: str) -> bool:
    """Return whether an id is a whole number that a float can hold."""
    return len(text) <= _MOST_DIGITS and text.isdecimal()


def _are_floats(ids: Iterable[str]) -> bool:
    """Return whether all ids are large numbers that a 32-bit float can hold."""
    return all(
        _is_number(text) and (number := int(text)) > _FLOAT_32 and int(np.float32(number)) == number
        for text in ids
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
            for at in sample.best_positions(documents, _TOP)
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


def _shifted_ids(qrels: Qrels, sample: RankingSample) -> Iterator[Suspicion]:
    """Yield a suspicion if ids are numbers that are 1 more or less than those of the qrels."""
    hits = _hits_of_neighbours(qrels, sample, _LEAST_QUERIES)
    if hits[0] > max(hits[-1], hits[1]):
        return
    hits = _hits_of_neighbours(qrels, sample, _FEWEST_COMPARED)
    step = 1 if hits[1] > hits[-1] else -1
    # Neighbours may be relevant together, as passages of a document.
    is_no_chance = hits[step] - hits[0] > _STANDARD_ERRORS * hits.total() ** 0.5
    if is_no_chance and hits[step] > max(_LEAST_QUERIES, _TIMES_BETTER * hits[0]):
        yield Suspicion(
            code="ids-nearly-match",
            fact=(
                f"document ids of the run seem to be 1 {'less' if step == 1 else 'more'} than "
                f"those of the qrels: so {hits[step]:,} of the first documents that were looked at "
                f"would be relevant, and as they are {hits[0]:,}"
            ),
            count=hits[step],
        )


def _other_queries(qrels: Qrels, sample: RankingSample) -> Iterator[Suspicion]:
    """Yield a suspicion if rankings fit other queries than theirs.

    A query fits a ranking by the sum of 1 / rank of its relevant documents among the first ten. If
    most rankings fit another query, nearly none its own, and not by chance, the rankings were
    exchanged; if more rankings fit the query after theirs than the one before, or the other
    way round, some were shifted.
    """
    most = max(_FEWEST_COMPARED, _MOST_COMPARED * len(qrels) // len(qrels.doc_ids))
    tops = {
        row: [sample.doc_ids[at] for at in sample.best_positions(documents, _TOP)]
        for row, documents in sample.judged_rankings(most)
    }
    if len(tops) < _LEAST_QUERIES:
        return
    num_failed = 0
    for row, doc_ids in tops.items():
        judgements = slice(int(qrels.starts[row]), int(qrels.starts[row + 1]))
        is_relevant = (qrels.grades[judgements] > 0).tolist()
        relevant = compress(qrels.doc_ids[judgements], is_relevant)
        num_failed += set(doc_ids).isdisjoint(relevant)
    if num_failed < max(_LEAST_RANKINGS, _LEAST_SHARE * len(tops)):
        return
    rows_of = _relevant_for(qrels, chain.from_iterable(tops.values()))
    fits = {row: _fits(rows_of, doc_ids) for row, doc_ids in tops.items()}
    own = np.array([fits[row].pop(row, 0.0) for row in tops])
    best = np.array([max(fits[row].values(), default=0.0) for row in tops])
    others_fit = int(np.count_nonzero(best > own))
    if (
        others_fit > _MOST_RANKINGS * len(tops)
        and np.count_nonzero(own > best) <= _OWN_FITS * len(tops)
        and own.sum() <= _LITTLE * best.sum()
        and _is_of_a_query(rows_of, list(tops.values()), float(best.sum()))
    ):
        yield _belongs_to_others(others_fit, len(tops), "another query than theirs better")
        return
    part_of = _conversations(qrels.query_ids)
    num_after, num_before = (
        sum(
            row + step in fits[row] and not fit and part_of(row) != part_of(row + step)
            for row, fit in zip(tops, own, strict=True)
        )
        for step in (1, -1)
    )
    most, fewest = max(num_after, num_before), min(num_after, num_before)
    is_no_chance = most - fewest >= _STANDARD_ERRORS * (most + fewest) ** 0.5
    if is_no_chance and most >= max(_LEAST_RANKINGS, _LEAST_SHARE * len(tops)):
        which = "after" if num_after > num_before else "before"
        yield _belongs_to_others(most, len(tops), f"the query {which} theirs, and not their own")


def _conversations(query_ids: Sequence[str]) -> Callable[[int], object]:
    """Return which conversation a query belongs to; a ranking may begin with the answer before.

    In ids such as "31_4" the text before the last separator is the conversation, if it is the same
    for some queries and not for all.

    Args:
        query_ids: the ids of the queries.
    """
    parts = [_TURN.sub("", query_id) for query_id in query_ids]
    return parts.__getitem__ if 1 < len(set(parts)) <= len(parts) / 2 else lambda row: row


def _belongs_to_others(count: int, total: int, what: str) -> Suspicion:
    return Suspicion(
        code="rankings-of-other-queries",
        fact=(
            f"rankings seem to belong to other queries: {count:,} of {total:,} rankings looked at "
            f"fit {what}"
        ),
        count=count,
        total=total,
    )


def _relevant_for(qrels: Qrels, doc_ids: Iterable[str]) -> dict[str, list[int]]:
    """Return {document: the queries that it is relevant for, as indices} of these documents."""
    listed = set(doc_ids)
    rows_of: dict[str, list[int]] = defaultdict(list)
    is_listed = np.fromiter(map(listed.__contains__, qrels.doc_ids), bool, len(qrels.doc_ids))
    for judgement in np.flatnonzero(is_listed & (qrels.grades > 0)).tolist():
        rows_of[qrels.doc_ids[judgement]].append(int(qrels.row[judgement]))
    return rows_of


def _fits(rows_of: Mapping[str, Sequence[int]], doc_ids: Sequence[str]) -> dict[int, float]:
    """Return {query: the sum of 1 / rank of its relevant documents} of the top of a ranking.

    Args:
        rows_of: {document: the queries that it is relevant for}.
        doc_ids: the first documents, best first.
    """
    fits: dict[int, float] = defaultdict(float)
    for rank, doc_id in enumerate(doc_ids, start=1):
        for row in rows_of.get(doc_id, ()):
            fits[row] += 1 / rank
    return fits


def _is_of_a_query(
    rows_of: Mapping[str, Sequence[int]], tops: Sequence[Sequence[str]], best: float
) -> bool:
    """Return whether rankings were made for a query, whichever it was, and not by chance.

    The first documents are relevant for some query more often than later ones; or the documents of
    a ranking are relevant for the same query more often than those of different rankings.

    Args:
        rows_of: {document: the queries that it is relevant for}.
        tops: the first documents of each ranking, best first.
        best: the sum over rankings of how well the best query fits.
    """
    first, last = (
        np.mean([doc_id in rows_of for doc_ids in tops for doc_id in doc_ids[part]] or [False])
        for part in (slice(0, 2), slice(_TOP // 2, _TOP))
    )
    if first >= _TIMES_MORE_FIRST * last:
        return True
    mixed = [
        [
            other[rank]
            for rank in range(len(doc_ids))
            if rank < len(other := tops[(index + rank) % len(tops)])
        ]
        for index, doc_ids in enumerate(tops)
    ]
    by_chance = sum(max(_fits(rows_of, doc_ids).values(), default=0.0) for doc_ids in mixed)
    return best >= _TIMES_BETTER * by_chance


def _same_ranking(qrels: Qrels, sample: RankingSample) -> Iterator[Suspicion]:
    """Yield a suspicion if queries with different relevant documents have the same ranking.

    Queries that say the same in other words have the same relevant documents too.
    """
    rows_of: dict[tuple[str, ...], list[int]] = defaultdict(list)
    num_rankings = 0
    for row, documents in zip(sample.rows.tolist(), sample.slices(), strict=True):
        if documents.stop - documents.start >= _TOP:
            num_rankings += 1
            top = tuple(sample.doc_ids[at] for at in sample.best_positions(documents, _TOP))
            rows_of[top].append(row)
    groups = [rows for rows in rows_of.values() if _have_different_answers(qrels, rows)]
    count = sum(map(len, groups))
    # Examples have few documents, so that rankings are equal by chance.
    is_enough = len(set(sample.doc_ids)) >= _LEAST_DIFFERENT or count == num_rankings >= 2 * _TOP
    if is_enough and count >= max(_LEAST_QUERIES, _LEAST_SHARE * num_rankings):
        same = "the same first documents"
        yield Suspicion(
            code="same-ranking",
            fact=(
                f"{count:,} of {num_rankings:,} rankings looked at have "
                f"{same if len(groups) == 1 else f'{same} as another one'}"
            ),
            count=count,
            total=num_rankings,
        )


def _have_different_answers(qrels: Qrels, rows: Sequence[int]) -> bool:
    """Return whether several queries have, mostly, no relevant document in common.

    Args:
        qrels: the judgements.
        rows: the queries, as indices; -1 if it is not judged, which shows nothing.
    """
    if len(rows) == 1:
        return False
    queries_of: Counter[str] = Counter()
    for row in rows:
        if row >= 0:
            queries_of.update(doc for doc, grade in qrels.grades_of_row(row).items() if grade > 0)
    return 2 * sum(count > 1 for count in queries_of.values()) <= len(queries_of)


def suspicions_of_parts(parts: Iterable[Sequence[Suspicion]]) -> tuple[Suspicion, ...]:
    """Return the suspicions of results over disjoint queries; the first of each code is kept."""
    by_code: dict[SuspicionCode, Suspicion] = {}
    for suspicion in chain.from_iterable(parts):
        by_code.setdefault(suspicion.code, suspicion)
    return tuple(by_code.values())
