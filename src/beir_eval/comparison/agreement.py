"""Similarity of rankings, without judgements: of two runs (``agree``), and of pairs compared.

``agree`` returns an ``Agreement``; ``likeness_of`` the ``Likeness`` of each pair in a comparison.
"""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import BaseModel, BeforeValidator, PlainSerializer

from beir_eval.comparison.rank_similarity import kendall_distance, overlap, rbo, spearman
from beir_eval.comparison.verdict_sentences import range_text, value_or_unknown
from beir_eval.core.ranking import TIES_WITHOUT_GRADES, best_first
from beir_eval.core.run import Run
from beir_eval.core.saved import FROZEN
from beir_eval.display.document import Document, Shown
from beir_eval.display.tables import Table, score_text
from beir_eval.errors import (
    DuplicateDocumentError,
    QueryMismatchError,
    check_choice,
    check_count,
    first_few,
    number_of,
    shown,
)
from beir_eval.evaluation.inputs import as_run
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.evaluation.unmatched_ids import IdGroups, MatchCounts, UnmatchedIds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.comparison.decisions import Decisions
    from beir_eval.comparison.result import Comparison
    from beir_eval.evaluation.inputs import RunLike
    from beir_eval.evaluation.result import EvaluationResult

#: Likeness is left out for more pairs of systems, or for more pairs times queries.
MOST_PAIRS, MOST_RANKING_PAIRS = 45, 100_000
#: The rows of ``Likeness.values``.
LIKENESS_ROWS = ("rbo", "overlap", "kendall_distance")
_COLUMNS = ("system", "against", "RBO", "RBO bounds", "overlap", "Kendall distance")

#: A number that may be NaN, which JSON writes as null.
_FloatOrNaN = Annotated[
    float,
    BeforeValidator(lambda value: math.nan if value is None else value),
    PlainSerializer(lambda value: None if math.isnan(value) else value, when_used="json"),
]


class Agreement(Shown, BaseModel):
    """The agreement of two runs, query by query and on average.

    Attributes:
        first, second: the names of the runs.
        k: how many top documents of each ranking are compared.
        p: the persistence of RBO.
        penalty: Kendall's penalty for pairs of documents that one list lacks.
        query_ids: the queries that both runs have. [Q]
        per_query: {measure: values}, one value for each query, NaN where undefined. [Q] The
            measures are kendall_distance, spearman, rbo (extrapolated), rbo_lowest, rbo_residual
            and overlap.
        only_first, only_second: how many queries only one of the runs has; they are left out.
        unmatched_ids: what shows that the document ids of the two runs do not match, the first run
            in the place of the qrels; None if they match, or nothing shows that they do not.
    """

    model_config = FROZEN

    first: str
    second: str
    k: int
    p: float
    penalty: float
    query_ids: tuple[str, ...]
    per_query: dict[str, tuple[_FloatOrNaN, ...]]
    only_first: int
    only_second: int
    unmatched_ids: UnmatchedIds | None = None

    def document(self) -> Document:
        """Return warnings on ids and queries that the runs do not share, and the means."""
        notes = [
            f"the first {self.k} documents of {self.first} and {self.second}",
            f"rbo has the persistence {self.p:g}",
            "kendall_distance is 0 for the same order and 1 for the reverse one",
            f"a pair of documents that one list lacks counts {self.penalty:g} in it",
        ]
        return Document(warnings=self._warnings(), tables=[self.to_table], notes=notes)

    def to_table(self) -> Table:
        """Return a table of the means and of the number of queries that each is taken over."""
        scored = self.num_defined
        rows = [(name, score_text(mean), str(scored[name])) for name, mean in self.mean.items()]
        return Table(("similarity", "mean", "queries"), rows)

    def __repr__(self) -> str:
        """Return the runs and the size, not the content."""
        queries = number_of(len(self.query_ids), "query", "queries")
        return f"Agreement({self.first!r}, {self.second!r}, {queries})"

    def _warnings(self) -> list[str]:
        sentences = []
        if self.unmatched_ids is not None:
            examples = self.unmatched_ids.examples(f"{self.first} has", f"{self.second} has")
            reason = self.unmatched_ids.reason
            sentences.append(
                f"document ids do not match: the first {self.k} documents of {self.first} and "
                f"{self.second} have hardly any in common ({examples}); "
                + (f"likely reason: {reason}" if reason else "check that both use the same ids")
            )
        sentences += [
            f"queries that only {name} has, left out: {count}"
            for name, count in ((self.first, self.only_first), (self.second, self.only_second))
            if count
        ]
        return sentences

    @property
    def mean(self) -> dict[str, float]:
        """{measure: mean over the queries for which it is defined}; NaN without such queries."""
        means = {}
        for measure, values in self.per_query.items():
            defined = [value for value in values if not math.isnan(value)]
            means[measure] = math.fsum(defined) / len(defined) if defined else math.nan
        return means

    @property
    def num_defined(self) -> dict[str, int]:
        """{measure: number of queries for which it is defined}."""
        return {
            measure: sum(not math.isnan(value) for value in values)
            for measure, values in self.per_query.items()
        }


def agree(  # noqa: PLR0913 - one keyword a setting
    first: RunLike,
    second: RunLike,
    *,
    k: Any = 10,
    p: float = 0.9,
    penalty: float = 0.5,
    order: str = "score",
    ties: str = "trec_eval9",
    duplicates: str = "error",
    names: Any = ("first", "second"),
) -> Agreement:
    """Return the ranking similarity of the first k documents, for every query of both runs.

    The measures are ``kendall_distance``, ``spearman``, ``rbo`` and ``overlap``.

    Args:
        first: ``Run``, {query_id: {doc_id: score}}, a dataframe or the path of a run file.
        second: the other run, in one of the same forms.
        k: how many top documents of each ranking to compare, a whole number above 0. All measures,
            RBO included, see these documents only.
        p: the persistence of RBO, at least 1e-6 and below 1: higher values give lower ranks more
            weight.
        penalty: what a pair of documents counts in Kendall's distance if one of the lists has
            neither of the two; from 0 to 1.
        order: "score" (highest first) or "given" (the order of the run is the ranking).
        ties: the order of equal scores: "trec_eval9" (document id descending, scores as float32),
            "trec_eval10" (the same in double precision) or "input" (as given).
        duplicates: a document listed twice in the first k raises an error ("error"), or only its
            best-ranked copy counts and the ranking closes up ("first").
        names: the names of the two runs, a tuple of two texts.

    Returns:
        The values of every query that both runs have, and their means.

    Raises:
        QueryMismatchError: the runs have no query in common.
        SettingError: an argument has a value that does not exist or is out of range.
        DuplicateDocumentError: a document is listed twice in the first k of a ranking, with
            duplicates="error".
        RunError: a run is not usable.

    >>> agree({"q": {"a": 2.0, "b": 1.0}}, {"q": {"a": 1.0, "b": 2.0}}).mean["kendall_distance"]
    1.0
    """
    check_choice("order", order, ("score", "given"))
    check_choice("ties", ties, TIES_WITHOUT_GRADES)
    check_choice("duplicates", duplicates, ("error", "first"))
    check_count("k", k)
    k = operator.index(k)
    first_ranked, second_ranked = (
        _doc_ids_by_query(as_run(run), order, ties, duplicates) for run in (first, second)
    )
    shared_ids = [query_id for query_id in first_ranked if query_id in second_ranked]
    if not shared_ids:
        msg = (
            f"the two runs have no query in common: {names[0]!r} has {first_few(first_ranked)}, "
            f"{names[1]!r} has {first_few(second_ranked)}"
        )
        raise QueryMismatchError(msg)
    similarities = [
        _query_similarities(
            query_id, first_ranked[query_id], second_ranked[query_id], k, p, penalty
        )
        for query_id in shared_ids
    ]
    unmatched = _unmatched_ids(
        [first_ranked[query_id][:k] for query_id in shared_ids],
        [second_ranked[query_id][:k] for query_id in shared_ids],
        names,
    )
    return Agreement(
        first=names[0],
        second=names[1],
        k=k,
        p=p,
        penalty=penalty,
        query_ids=tuple(shared_ids),
        per_query={
            name: tuple(values[name] for values in similarities) for name in similarities[0]
        },
        only_first=len(first_ranked) - len(shared_ids),
        only_second=len(second_ranked) - len(shared_ids),
        unmatched_ids=unmatched,
    )


def _unmatched_ids(
    first: Sequence[list[str]], second: Sequence[list[str]], names: tuple[str, str]
) -> UnmatchedIds | None:
    """Return what shows that the ids of two runs do not match; None if nothing does.

    Args:
        first: the documents of the first run, query by query. [Q]
        second: those of the second run. [Q]
        names: the names of the two runs.
    """
    counts = MatchCounts(
        judged=len(first),
        ranked=sum(map(bool, second)),
        matched=sum(
            not set(ours).isdisjoint(theirs) for ours, theirs in zip(first, second, strict=True)
        ),
        documents=sum(map(len, second)),
    )
    return IdGroups(first, second, *names).find(counts, frozenset()) if counts.are_few else None


def _query_similarities(  # noqa: PLR0913, PLR0917 - the settings of ``agree``
    query_id: str, first: Sequence[str], second: Sequence[str], k: int, p: float, penalty: float
) -> dict[str, float]:
    """Return {measure: value} for the two rankings of a query; an error names the query."""
    try:
        rank_biased = rbo(first, second, p=p, k=k)
        return {
            "kendall_distance": kendall_distance(first, second, k=k, penalty=penalty),
            "spearman": spearman(first, second, k=k),
            "rbo": rank_biased.extrapolated,
            "rbo_lowest": rank_biased.lowest,
            "rbo_residual": rank_biased.residual,
            "overlap": overlap(first, second, k=k),
        }
    except DuplicateDocumentError as error:
        msg = f"query {shown(query_id)}: {error}, or choose duplicates='first'"
        raise DuplicateDocumentError(msg) from error


def _doc_ids_by_query(run: Run, order: str, ties: str, duplicates: str) -> dict[str, list[str]]:
    """Return {query_id: doc_ids, best first}."""
    rankings = {}
    for query_id, doc_ids, scores in run.rankings():
        ranking = list(doc_ids)
        if scores is not None and order == "score":
            ranking = [ranking[position] for position in best_first(ranking, scores, ties)]
        rankings[query_id] = list(dict.fromkeys(ranking)) if duplicates == "first" else ranking
    return rankings


class Likeness(BaseModel):
    """The ranking similarity of the top documents, over the queries that both systems have.

    A number is a mean over the queries for which it is defined, or None if there is no such query.

    Attributes:
        system, against: the names of the systems; only the first of a system's repeats is compared.
        k: how many top documents of each ranking are compared at most.
        rbo: rank-biased overlap, extrapolated.
        rbo_lowest, rbo_highest: the bounds of RBO, whatever documents rank below those compared.
        overlap: the share of the documents compared that both have.
        kendall_distance: the share of document pairs that the two order differently; a pair of
            which one list has neither document counts ½.
        values: rbo, overlap and kendall_distance of every query of the comparison, f8[3, Q]; NaN
            where a system lacks the query or the value is undefined.
    """

    model_config = FROZEN

    system: str
    against: str
    k: int
    rbo: float | None
    rbo_lowest: float | None
    rbo_highest: float | None
    overlap: float | None
    kendall_distance: float | None
    values: ScoreMatrix


def likeness_of(
    decisions: Decisions, results: Mapping[str, Sequence[EvaluationResult]], k: int
) -> tuple[Likeness, ...] | None:
    """Return the likeness of each pair; None for too many pairs.

    Args:
        decisions: its pairs and queries are used.
        results: {system: results of its repeats} with their top documents, which the evaluation
            has ranked; the first repeat is compared.
        k: how many top documents to compare at most; fewer if a result has kept fewer.
    """
    if has_too_many_pairs(decisions):
        return None
    kept = [_num_kept(repeats[0]) for repeats in results.values()]
    k = min([k, *(count for count in kept if count is not None)])
    rankings = {name: _top_rankings(decisions, repeats[0]) for name, repeats in results.items()}
    return tuple(
        _pair_likeness(
            decisions,
            system,
            against,
            _agreement(rankings[system], rankings[against], k),
            k,
        )
        for system, against in _compared_pairs(decisions)
    )


def has_too_many_pairs(decisions: Decisions | Comparison) -> bool:
    """Return whether there are too many pairs, or pairs times queries, to compute likeness."""
    num_pairs = len(_compared_pairs(decisions))
    return num_pairs > MOST_PAIRS or num_pairs * len(decisions.query_ids) > MOST_RANKING_PAIRS


def _compared_pairs(decisions: Decisions | Comparison) -> dict[tuple[str, str], None]:
    """Return the pairs (system, against) in order, each once, as the keys of a dict."""
    return dict.fromkeys(
        (difference.system, difference.against) for difference in decisions.differences
    )


def _num_kept(result: EvaluationResult) -> int | None:
    """Return how many top documents a result has kept of each ranking; None for all."""
    longest = max((len(top.doc_ids) for top in (result.top or {}).values()), default=0)
    counted = result.counted
    is_whole = not longest or (counted is not None and longest >= counted.deepest_ranking)
    return None if is_whole else longest


def _top_rankings(decisions: Decisions, result: EvaluationResult) -> Run:
    """Return the top documents of the compared queries as a run without scores."""
    top = result.top or {}
    return Run.from_rankings(
        {query_id: top[query_id].doc_ids for query_id in decisions.query_ids if query_id in top}
    )


def _agreement(first: Run, second: Run, k: int) -> Agreement | None:
    """Return the agreement of two runs; None if they share no query."""
    try:
        return agree(first, second, k=k, duplicates="first")
    except QueryMismatchError:
        return None


def _pair_likeness(
    decisions: Decisions, system: str, against: str, agreement: Agreement | None, k: int
) -> Likeness:
    """Return the likeness of a pair, with the values of the agreement at the right queries."""
    values = np.full((len(LIKENESS_ROWS), len(decisions.query_ids)), np.nan)
    means: dict[str, float] = {}
    if agreement is not None:
        column_of = {query_id: column for column, query_id in enumerate(decisions.query_ids)}
        columns = [column_of[query_id] for query_id in agreement.query_ids]
        for row, name in zip(values, LIKENESS_ROWS, strict=True):
            row[columns] = agreement.per_query[name]
        means = {name: value for name, value in agreement.mean.items() if not math.isnan(value)}
    lowest = means.get("rbo_lowest")
    return Likeness(
        system=system,
        against=against,
        k=k,
        rbo=means.get("rbo"),
        rbo_lowest=lowest,
        rbo_highest=None if lowest is None else lowest + means["rbo_residual"],
        overlap=means.get("overlap"),
        kendall_distance=means.get("kendall_distance"),
        values=ScoreMatrix.from_owned_array(values),
    )


def likeness_table(comparison: Comparison) -> Table:
    """Return the likeness of every pair as a table, one row for each pair."""
    return Table(
        _COLUMNS,
        [
            (
                likeness.system,
                likeness.against,
                value_or_unknown(likeness.rbo),
                range_text(likeness.rbo_lowest, likeness.rbo_highest),
                value_or_unknown(likeness.overlap),
                value_or_unknown(likeness.kendall_distance),
            )
            for likeness in comparison.likeness or ()
        ],
    )


def likeness_notes(comparison: Comparison) -> Iterator[str]:
    """Yield notes: why likeness was left out, or that only the first repeat was compared."""
    has_documents_to_judge = comparison.to_judge is not None
    if has_documents_to_judge and comparison.likeness is None and has_too_many_pairs(comparison):
        yield (
            f"ranking similarity is computed for at most {MOST_PAIRS} pairs, and "
            f"{MOST_RANKING_PAIRS} pairs times queries: name a baseline"
        )
    if comparison.likeness and any(mean.repeats > 1 for mean in comparison.means):
        yield "ranking similarity: of a system's repeats, the first is taken"
