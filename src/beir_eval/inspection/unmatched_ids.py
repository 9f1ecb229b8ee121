"""Document ids that match nothing: whether the ids of qrels and run differ, and the likely reason.

Most runs are settled by three counts, which the evaluation knows anyway. The ids themselves are
read only if few queries retrieve a judged document.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel

from beir_eval.core.ids import NOT_AN_ID
from beir_eval.core.saved import FROZEN
from beir_eval.errors import RunError
from beir_eval.inspection.spellings import KINDS, searchable_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.relevance_matrix import RelevanceMatrix
    from beir_eval.core.run import Run

#: The ids are read only if fewer queries than this share retrieve a judged document.
_FEW_MATCHED = 0.2
#: If the share of judged ids that any sampled query retrieves reaches this, the ids match.
_MATCHING_OVERLAP = 0.05
#: (smallest mean length of the rankings, share of queries that even a weak retriever matches).
_WEAK_SHARES = ((100, 0.25), (10, 0.1), (0, 0.03))
#: "Hardly any" is this many times fewer than a weak retriever matches, who matches this many.
#: The sign-flip test cannot decide with fewer queries, and so few may well match nothing.
_LEAST_QUERIES = 6
_TIMES_FEWER, _LEAST_EXPECTED = 5, 10
#: How many retrieved ids are read, and the share of them that shows swapped columns.
_MOST_IDS = 100_000
_SWAPPED_SHARE = 0.2
#: The share of judged ids beyond the largest number of the run that shows row numbers, and how many
#: such ids are expected among as many ids as the run has.
_OUTSIDE_SHARE, _LEAST_OUTSIDE = 0.2, 10
#: Examples of ids, and the characters of each, in a sentence.
_EXAMPLES, _LONGEST_ID = 3, 60
_MOST_DIGITS = 12
#: What may follow the id of a document in the id of its chunk.
_CHUNK_SEPARATORS = ("#", "::", "@", "|", "/", ":", "_", "-", ".")


#: How the ids of gold answers, and of predictions that are none, begin in judged answers.
ANSWER_PREFIXES = GOLD_PREFIX, PREDICTION_PREFIX = "gold ", "prediction "


class UnmatchedIds(BaseModel):
    """Ids of a run that do not match those of the qrels, or hardly any of them.

    Attributes:
        qrels_ids: a few ids of judged documents; empty if they are not known.
        run_ids: a few ids of retrieved documents; those of the qrels in the run's spelling if the
            cause is known.
        cause: what makes the ids differ: a key of ``inspection.ids.KINDS``, "prefix", "suffix",
            "chunks", "row numbers" or "swapped columns"; None if it is not known.
        reason: the cause as a clause with the remedy; "" if it is not known.
    """

    model_config = FROZEN

    qrels_ids: tuple[str, ...] = ()
    run_ids: tuple[str, ...] = ()
    cause: str | None = None
    reason: str = ""

    def examples(self) -> str:
        """Return the ids of both sides as a sentence; "" if they are not known."""
        if not self.qrels_ids:
            return ""
        return f"the qrels have {_id_list(self.qrels_ids)}, the run has {_id_list(self.run_ids)}"


def _id_list(ids: Sequence[str]) -> str:
    """Return ids as text, each in quotes and cut to a readable length."""
    cut = (text if len(text) <= _LONGEST_ID else f"{text[: _LONGEST_ID - 1]}…" for text in ids)
    return ", ".join(map(repr, cut))


@dataclass(frozen=True)
class MatchCounts:
    """How many queries retrieve a judged document.

    Attributes:
        judged: the number of judged queries.
        ranked: the number of those that have at least one document in the run.
        matched: the number of those whose ranking holds a judged document.
        documents: the number of documents in all these rankings.
    """

    judged: int
    ranked: int
    matched: int
    documents: int

    @property
    def are_few(self) -> bool:
        """Whether so few queries retrieve a judged document that the ids must be compared."""
        return (
            self.judged >= _LEAST_QUERIES
            and self.ranked > 0
            and self.matched < _FEW_MATCHED * self.ranked
        )

    @property
    def are_hardly_any(self) -> bool:
        """Whether nothing matches, or five times less than even a weak retriever matches."""
        depth = self.documents / self.ranked
        expected = next(share for least, share in _WEAK_SHARES if depth >= least) * self.ranked
        return (self.matched == 0 and self.ranked >= _LEAST_QUERIES) or (
            expected >= _LEAST_EXPECTED and _TIMES_FEWER * self.matched < expected
        )


def find_unmatched_ids(
    qrels: Qrels,
    run: Run,
    matrix: RelevanceMatrix,
    counts: MatchCounts,
    *,
    search_ids: bool = True,
) -> UnmatchedIds | None:
    """Return what shows that the document ids of a run are not those of the qrels; None if not so.

    The ids do not match if another spelling of the run's ids matches many more queries; or if none
    of six ranked queries or more, or hardly any, retrieves a judged document, and the sampled
    queries retrieve hardly any document that is judged for one of them.

    Qrels of fewer than six queries get no warning: the sign-flip test cannot decide with so few.
    Hardly any: five times fewer than a weak retriever matches: 25% of the queries with 100
    documents each or more, 10% with 10 or more, else 3%; only with so many queries that such a
    retriever is expected to match 10 or more. Predicted answers (``answers_to_relevance``) get no
    warning.

    Args:
        qrels: the judgements.
        run: the run.
        matrix: the relevance matrix of all judged queries and the run.
        counts: the counts of the matrix.
        search_ids: whether other spellings of the ids are tried; of contents they are not.
    """
    if not counts.are_few:
        return None
    # Evenly spread queries, with about 100,000 documents in all.
    ranked = np.flatnonzero(matrix.num_retrieved)
    num_sampled = max(1, min(len(ranked), _MOST_IDS * len(ranked) // counts.documents))
    sampled = ranked[np.unique(np.linspace(0, len(ranked) - 1, num_sampled).astype(np.int64))]
    sample = qrels.select([qrels.query_ids[row] for row in sampled.tolist()])
    ids_of_row: dict[int, list[str]] = {}
    for block in run.blocks(sample):
        ids = block.ids_at(np.arange(int(block.starts[-1]), dtype=np.int64))
        bounds = itertools.pairwise(block.starts.tolist())
        rankings = (ids[begin:end] for begin, end in bounds)
        ids_of_row.update(zip(block.rows.tolist(), rankings, strict=True))
    rows = sorted(ids_of_row)  # whatever the order of the blocks
    wanted = [sample.grades_of_row(row) for row in rows]
    listed = [ids_of_row[row] for row in rows]
    if all(doc_id.startswith(ANSWER_PREFIXES) for ids in listed for doc_id in ids):
        return None  # a prediction that is no gold answer is an id of its own
    groups = IdGroups.from_names(wanted, listed, search_ids=search_ids)
    # If the columns were swapped, the run's queries would be documents.
    may_be_swapped = 2 * counts.ranked < counts.judged
    unmatched = groups.unmatched_ids(set(qrels.query_ids) if may_be_swapped else frozenset())
    if unmatched.cause is not None:
        return unmatched
    overlap = _share_in(_distinct_ids(groups.wanted), _distinct_ids(groups.listed))
    return unmatched if counts.are_hardly_any and overlap < _MATCHING_OVERLAP else None


def unmatched_ids_of_parts(
    parts: Sequence[UnmatchedIds | None], counts: Mapping[str, Any]
) -> UnmatchedIds | None:
    """Return what shows that ids do not match over the queries of several results together.

    Parts that are too small to show anything may do so together; then no ids are known.

    Args:
        parts: what each result shows.
        counts: the fields of ``Counted`` over all parts, before this one.
    """
    first = next((part for part in parts if part is not None), None)
    if counts["queries_matched"] is None or counts["documents_retrieved"] is None:
        return first
    num_judged = counts["queries_judged"]
    match_counts = MatchCounts(
        judged=num_judged,
        ranked=num_judged - len(counts["queries_missing"]) - len(counts["queries_empty"]),
        matched=counts["queries_matched"],
        documents=counts["documents_retrieved"],
    )
    if match_counts.are_few and first is not None and first.cause is not None:
        return first
    return (first or UnmatchedIds()) if unmatched_ids_of_counts(match_counts) else None


def unmatched_ids_of_counts(counts: MatchCounts) -> UnmatchedIds | None:
    """Return whether counts alone show that ids do not match; no ids and no reason are known.

    Args:
        counts: the counts over all queries.
    """
    return UnmatchedIds() if counts.are_few and counts.are_hardly_any else None


def reason_of_query_ids(query_ids: Sequence[str], run: Run) -> str:
    """Return the likely reason why a run has no judged query, as a clause; "" if it is not known.

    Args:
        query_ids: the judged queries.
        run: a run without any of them.
    """
    judged = set(query_ids)
    listed = list(itertools.islice(run.query_ids, _MOST_IDS))
    documents: list[str] = []
    try:
        for _, doc_ids, _ in itertools.islice(run.rankings(), 100):
            documents += doc_ids
    except RunError:  # the ranking of a query that is not evaluated
        documents = []
    if documents and _share_in(documents, judged) >= _SWAPPED_SHARE:
        return _REASONS["swapped columns"]
    wanted, alone = set(searchable_ids(judged)), [[text] for text in searchable_ids(listed)]
    groups = IdGroups([wanted] * len(alone), alone, may_be_chunks=False)
    unmatched = groups.unmatched_ids(frozenset())
    if unmatched.cause == "row numbers":
        numbers = set(map(_row_number, listed))
        is_range = numbers in (set(range(len(listed))), set(range(1, len(listed) + 1)))
        return "the run's query ids look like row numbers; use the ids" if is_range else ""
    return unmatched.reason


_REASONS: dict[str, str] = {
    **{cause: f"ids differ in {kind.phrase} only; {kind.remedy}" for cause, kind in KINDS.items()},
    "row numbers": (
        "the ids of {theirs} look like row numbers; replace them by the documents' ids "
        "(Run.from_arrays takes them as doc_ids=)"
    ),
    "swapped columns": (
        "the columns of queries and documents are swapped: documents of the run are queries of the "
        "qrels"
    ),
}


@dataclass(frozen=True)
class _Spelling:
    """A change of ids that may make two spellings equal.

    Attributes:
        cause: what it undoes.
        reason: the cause as a clause with the remedy.
        of_wanted, of_listed: the changes of the wanted and of the listed ids.
    """

    cause: str
    reason: str
    of_wanted: Callable[[str], str]
    of_listed: Callable[[str], str]


@dataclass(frozen=True, eq=False)
class IdGroups:
    """Groups of wanted ids with the ids that are listed for them, such as judged and retrieved.

    Attributes:
        wanted: the wanted ids of each group. [G]
        listed: the ids that are listed for each group. [G]
        ours, theirs: what sentences call the owner of the wanted, and of the listed ids.
        may_be_chunks: whether listed ids may be those of chunks of documents.
        is_searched: whether other spellings of the ids are tried.
    """

    wanted: Sequence[Collection[str]]
    listed: Sequence[Sequence[str]]
    ours: str = "the qrels"
    theirs: str = "the run"
    may_be_chunks: bool = True
    is_searched: bool = True

    @classmethod
    def from_names(
        cls,
        wanted: Iterable[Iterable[str]],
        listed: Iterable[Iterable[str]],
        *,
        search_ids: bool = True,
        owners: tuple[str, str] = ("the qrels", "the run"),
        may_be_chunks: bool = True,
    ) -> IdGroups:
        """Return the groups of the ids that are searched; of all ids if none is.

        Args:
            wanted: the wanted ids of each group; placeholders are left out. [G]
            listed: the ids that are listed for each group; likewise. [G]
            search_ids: whether other spellings may be tried; of texts they are not.
            owners: the attributes ``ours`` and ``theirs``.
            may_be_chunks: as the attribute.
        """
        sides = [
            [[text for text in ids if not text.startswith(NOT_AN_ID)] for ids in side]
            for side in (wanted, listed)
        ]
        searched = [[list(searchable_ids(ids)) for ids in side] for side in sides]
        is_searched = search_ids and all(any(side) for side in searched)
        all_wanted, all_listed = searched if is_searched else sides
        return cls(all_wanted, all_listed, *owners, may_be_chunks, is_searched)

    def unmatched_ids(self, other_ids: AbstractSet[str]) -> UnmatchedIds:
        """Return the likely cause why listed ids are not wanted ones, with examples.

        Args:
            other_ids: the ids of the other kind (the queries, for documents), which show swapped
                columns; empty if they cannot be swapped.
        """
        if not self.is_searched:
            return UnmatchedIds(qrels_ids=_first_ids(self.wanted), run_ids=_first_ids(self.listed))
        matched = sum(1 for _ in self._matches(_same, _same))
        best: tuple[int, _Spelling, list[tuple[str, str]]] | None = None
        for spelling in self._spellings():
            pairs = list(self._matches(spelling.of_wanted, spelling.of_listed))
            # At least three times as many and three more, so that chance does not explain it.
            is_clear = len(pairs) >= (3 * matched + 3 if matched else 1)
            if is_clear and (best is None or len(pairs) > best[0]):
                best = len(pairs), spelling, pairs
        # Row numbers match some ids by chance, once a prefix of the others is removed.
        if best is not None and (
            2 * best[0] > len(self.wanted) or not self._are_row_numbers(best[1])
        ):
            _, spelling, pairs = best
            wanted, listed = zip(*pairs[:_EXAMPLES], strict=True)
            return UnmatchedIds(
                qrels_ids=wanted, run_ids=listed, cause=spelling.cause, reason=spelling.reason
            )
        cause = self._cause_without_match(other_ids)
        return UnmatchedIds(
            qrels_ids=_first_ids(self.wanted),
            run_ids=_first_ids(self.listed),
            cause=cause,
            reason=_REASONS[cause].format(theirs=self.theirs) if cause else "",
        )

    def _matches(
        self, of_wanted: Callable[[str], str], of_listed: Callable[[str], str]
    ) -> Iterator[tuple[str, str]]:
        """Yield (wanted id, listed id) of the first match of each group that has one."""
        cached: tuple[Collection[str], dict[str, str]] | None = None
        for wanted, listed in zip(self.wanted, self.listed, strict=True):
            if cached is None or cached[0] is not wanted:  # groups may share their wanted ids
                cached = wanted, {of_wanted(text): text for text in wanted}
            for text in listed:
                original = cached[1].get(of_listed(text))
                if original is not None:
                    yield original, text
                    break

    def _spellings(self) -> Iterator[_Spelling]:
        """Yield the changes to try: each prefix only if all ids of a side have it."""
        for cause, kind in KINDS.items():
            yield _Spelling(cause, _REASONS[cause], kind.change, kind.change)
        wanted, listed = (_distinct_ids(ids) for ids in (self.wanted, self.listed))
        for owner, other, ids, verb in (
            (self.theirs, self.ours, listed, "remove"),
            (self.ours, self.theirs, wanted, "add"),
        ):
            for affix, have, removed in _common_affixes(ids):
                reason = f"the ids of {owner} {have}, those of {other} do not; {verb} it"
                changes = (_same, removed) if verb == "remove" else (removed, _same)
                yield _Spelling(affix, reason, *changes)
        for separator in _CHUNK_SEPARATORS if self.may_be_chunks else ():
            if 2 * sum(separator in text[1:] for text in listed) > len(listed):
                reason = (
                    f"the ids of {self.theirs} are those of chunks: count the best chunk of each "
                    f"document with --chunk-ids {separator!r} (collapse={separator!r})"
                )
                yield _Spelling("chunks", reason, _same, _without_chunk(separator))
        name, other_name = (re.sub(r"[^\W_]*$", "", common_prefix(ids)) for ids in (wanted, listed))
        if name and other_name and name != other_name:
            reason = (
                f"the ids of {self.theirs} begin with {other_name!r}, those of {self.ours} with "
                f"{name!r}; replace it"
            )
            yield _Spelling("prefix", reason, _prefix_remover(name), _prefix_remover(other_name))

    def _cause_without_match(self, other_ids: AbstractSet[str]) -> str | None:
        """Return the likely cause if no change of the ids makes them match."""
        share = _share_in(_distinct_ids(self.listed), other_ids)
        if share >= 0.5:  # noqa: PLR2004 - most of them
            return "swapped columns"
        if self._are_row_numbers():
            return "row numbers"
        return "swapped columns" if share >= _SWAPPED_SHARE else None

    def _are_row_numbers(self, spelling: _Spelling | None = None) -> bool:
        """Return whether listed ids are whole numbers below many of the wanted ones.

        Args:
            spelling: how the ids are changed before; None leaves them as they are.
        """
        listed, wanted = _distinct_ids(self.listed), _distinct_ids(self.wanted)
        if spelling is not None:
            listed, wanted = (
                set(map(spelling.of_listed, listed)),
                set(map(spelling.of_wanted, wanted)),
            )
        largest = max(map(_row_number, listed), default=-1)
        if not wanted or min(map(_row_number, listed), default=-1) < 0:
            return False
        outside = sum(not 0 <= _row_number(text) <= largest for text in wanted) / len(wanted)
        return outside >= _OUTSIDE_SHARE and outside * len(listed) >= _LEAST_OUTSIDE


def _distinct_ids(groups: Sequence[Collection[str]]) -> set[str]:
    """Return the different ids of all groups; a collection that groups share is read once."""
    return set(itertools.chain.from_iterable({id(group): group for group in groups}.values()))


def _same(text: str) -> str:
    return text


def common_prefix(ids: Collection[str]) -> str:
    """Return the longest text that all ids begin with."""
    if not ids:
        return ""
    first, last = min(ids), max(ids)
    pairs = enumerate(zip(first, last, strict=False))
    return first[: next((index for index, pair in pairs if pair[0] != pair[1]), len(first))]


def _common_affixes(
    ids: Collection[str],
) -> Iterator[tuple[str, str, Callable[[str], str]]]:
    """Yield (affix, what the ids have, the change that removes it) of what all ids have.

    Prefixes are yielded shortest first, but none that could cut a number; a suffix begins with
    neither letter nor digit.
    """
    prefix = common_prefix(ids)
    for length in range(1, len(prefix) + 1):
        if not prefix[length - 1].isdecimal():
            yield "prefix", f"begin with {prefix[:length]!r}", _prefix_remover(prefix[:length])
    suffix = common_prefix([text[::-1] for text in ids])[::-1]
    if suffix := re.sub(r"^[^\W_]+", "", suffix):
        yield "suffix", f"end in {suffix!r}", lambda text: text.removesuffix(suffix)


def _row_number(text: str) -> int:
    """Return an id as a whole number; -1 if it does not look like a row number."""
    is_number = text.isdecimal() and len(text) <= _MOST_DIGITS and (text[0] != "0" or text == "0")
    return int(text) if is_number else -1


def _prefix_remover(prefix: str) -> Callable[[str], str]:
    return lambda text: text.removeprefix(prefix)


def _without_chunk(separator: str) -> Callable[[str], str]:
    """Return a function that removes the last separator, and what follows, from an id."""
    return lambda text: text.rpartition(separator)[0] or text


def _share_in(ids: Collection[str], others: AbstractSet[str]) -> float:
    """Return the share of the ids that are among the others."""
    return sum(text in others for text in ids) / len(ids) if ids else 0.0


def _first_ids(groups: Sequence[Collection[str]]) -> tuple[str, ...]:
    """Return the first few different ids of all groups."""
    return tuple(dict.fromkeys(itertools.islice(itertools.chain(*groups), _EXAMPLES)))
