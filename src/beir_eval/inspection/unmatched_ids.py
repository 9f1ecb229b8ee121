"""Document ids that are not those of the qrels: all of them, and the likely reason, or some.

Whether all are other ones is asked only if few queries retrieve a judged document. Some that are
spelled otherwise, rounded or shifted show in a sample of the rankings.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.core.ids import NOT_AN_ID
from beir_eval.errors import RunError, first_few, number_of, shown
from beir_eval.inspection.finding import (
    LEAST_DIFFERENT,
    LEAST_QUERIES,
    STANDARD_ERRORS,
    TOP,
    Finding,
)
from beir_eval.inspection.spellings import (
    KINDS,
    Difference,
    IdMatcher,
    are_floats,
    common_prefix,
    folded,
    searchable_ids,
    spelling_differences,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.ranking_sample import RankingSample
    from beir_eval.core.relevance_matrix import RelevanceMatrix
    from beir_eval.core.run import Run
    from beir_eval.evaluation.records import Counted

#: If the share of judged ids that any sampled query retrieves reaches this, the ids match.
_MATCHING_OVERLAP = 0.05
#: (smallest mean length of the rankings, share of queries that even a weak retriever matches).
_WEAK_SHARES = ((100, 0.25), (10, 0.1), (0, 0.03))
#: "Hardly any" is this many times fewer than a weak retriever matches, who matches this many.
_TIMES_FEWER, _LEAST_EXPECTED = 5, 10
#: How many retrieved ids are read, and the share of them that shows swapped columns.
_MOST_IDS = 100_000
_SWAPPED_SHARE = 0.2
#: The share of judged ids beyond the largest number of the run that shows row numbers, and how many
#: such ids are expected among as many ids as the run has.
_OUTSIDE_SHARE, _LEAST_OUTSIDE = 0.2, 10
#: The code of ids that do not match.
UNMATCHED = "document-ids-do-not-match"
#: The share of ids that have a prefix or suffix which is the reason why they do not match.
_NEARLY_ALL, _LEAST_PAIRS = 0.9, 3
#: Examples of ids of each side in a sentence.
_EXAMPLES = 2
_MOST_DIGITS = 12
#: In how many rankings ids are compared with their neighbours, and with other spellings; with these
#: in fewer if many documents are judged for each query.
_MOST_RANKINGS, _FEWEST_RANKINGS, _MOST_JUDGEMENTS = 30, 8, 4_000
#: How many retrieved ids that are not judged are compared, of each, and with how many judged ones.
_MOST_LISTED, _MOST_WANTED = 20, 300
#: At least this many pairs for each retrieved document that is judged as it stands.
_LEAST_SHARE = 0.03
#: Ids as they are written if they were read as floats, such as "1.23457e+06", and how many ids are
#: compared with this pattern.
_ROUNDED_ID, _MOST_COMPARED = re.compile(r"\d(\.\d+)?e\+\d+"), 1_000
#: How many times more often a neighbour must be relevant than the document itself.
_TIMES_MORE = 1.5


class IdDifference(NamedTuple):
    """How ids of two sides differ.

    Attributes:
        wanted, listed: a few ids of both sides; those of ``wanted`` in the other spelling if the
            cause is known.
        cause: what makes the ids differ: a key of ``spellings.KINDS``, "prefix", "suffix",
            "chunks", "row numbers" or "swapped columns"; None if it is not known.
        reason: the cause as a clause with the remedy; "" if it is not known.
    """

    wanted: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    cause: str | None = None
    reason: str = ""

    def examples(self) -> tuple[str, ...]:
        """Return the ids of both sides as a clause; none if they are not known.

        >>> IdDifference(("a",), ("b", "c")).examples(), IdDifference(("a",)).examples()
        (("the qrels have 'a', the run has 'b', 'c'",), ())
        """
        if not self.wanted or not self.listed:
            return ()
        return (f"the qrels have {first_few(self.wanted)}, the run has {first_few(self.listed)}",)


def _are_hardly_any_matched(counted: Counted) -> bool:
    """Return whether nothing matches, or five times less than even a weak retriever matches."""
    num_ranked, num_matched = counted.queries_ranked, counted.queries_matched
    depth = counted.documents_retrieved / num_ranked
    expected = next(share for least, share in _WEAK_SHARES if depth >= least) * num_ranked
    return (num_matched == 0 and num_ranked >= LEAST_QUERIES) or (
        expected >= _LEAST_EXPECTED and _TIMES_FEWER * num_matched < expected
    )


def unmatched_ids(counted: Counted, difference: IdDifference) -> Finding:
    """Return the finding that document ids of a run are not those of the qrels.

    Args:
        counted: the counts of the run.
        difference: how the ids differ.
    """
    total, number = counted.documents_retrieved, counted.documents_judged
    retrieved = f"{total:,} retrieved documents of {counted.queries_ranked:,} judged queries"
    judged = f"only {number:,} of the {retrieved} {'is' if number == 1 else 'are'} judged"
    return Finding.from_code(
        UNMATCHED,
        "document ids do not match: "
        + (judged if number else f"none of the {retrieved} is judged"),
        count=total - number,
        total=total,
        examples=difference.examples(),
        reason=difference.reason,
    )


def find_unmatched_ids(
    qrels: Qrels,
    run: Run,
    matrix: RelevanceMatrix,
    counted: Counted,
    *,
    search_ids: bool,
) -> Iterator[Finding]:
    """Yield a finding if the document ids of a run are not those of the qrels.

    The ids do not match if another spelling of the run's ids matches many more queries; or if none
    of six ranked queries or more, or hardly any, retrieves a judged document, and the sampled
    queries retrieve hardly any document that is judged for one of them.

    Hardly any: five times fewer than a weak retriever matches: 25% of the queries with 100
    documents each or more, 10% with 10 or more, else 3%; only with so many queries that such a
    retriever is expected to match 10 or more.

    Args:
        qrels: the judgements.
        run: the run.
        matrix: the relevance matrix of all judged queries and the run.
        counted: the counts of the matrix, of which ``queries_matched`` are few.
        search_ids: whether other spellings of the ids are tried; of contents they are not.
    """
    # Evenly spread queries, with about 100,000 documents in all.
    ranked = np.flatnonzero(matrix.num_retrieved)
    num_sampled = max(1, min(len(ranked), _MOST_IDS * len(ranked) // counted.documents_retrieved))
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
    groups = IdGroups.from_names(wanted, listed, search_ids=search_ids)
    # If the columns were swapped, the run's queries would be documents.
    may_be_swapped = 2 * counted.queries_ranked < counted.queries_judged
    difference = groups.difference(set(qrels.query_ids) if may_be_swapped else frozenset())
    overlap = _share_in(_distinct_ids(groups.wanted), _distinct_ids(groups.listed))
    is_shown = _are_hardly_any_matched(counted) and overlap < _MATCHING_OVERLAP
    if difference.cause is not None or is_shown:
        yield unmatched_ids(counted, difference)


def finding_of_counts(counted: Counted) -> tuple[Finding, ...]:
    """Return the finding that ids do not match, without ids, if the counts show it."""
    is_shown = counted.queries_ranked > 0 and _are_hardly_any_matched(counted)
    return (unmatched_ids(counted, IdDifference()),) if is_shown else ()


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
    difference = difference_of_lists(judged, listed)
    if difference.cause == "row numbers":
        numbers = set(map(_row_number, listed))
        is_range = numbers in (set(range(len(listed))), set(range(1, len(listed) + 1)))
        return "the run's query ids look like row numbers; use the ids" if is_range else ""
    return "" if difference.cause == "chunks" else difference.reason


def difference_of_lists(
    wanted: Collection[str], listed: Collection[str], theirs: str = "the run"
) -> IdDifference:
    """Return how the ids of a list differ from wanted ones, of which any may be meant."""
    alone = [[text] for text in searchable_ids(listed)]
    return IdGroups([set(searchable_ids(wanted))] * len(alone), alone, theirs=theirs).difference()


_REASONS: dict[str, str] = {
    **{cause: f"ids differ in {kind.phrase} only; {kind.remedy}" for cause, kind in KINDS.items()},
    "several": "ids differ in more than one way; write them alike",
    "prefix": "the ids of {owner} begin with {affix!r}, those of {other} do not; {verb} it",
    "suffix": "the ids of {owner} end in {affix!r}, those of {other} do not; {verb} it",
    "chunks": (
        "the ids of {owner} are those of chunks: count the best chunk of each document with "
        "--chunk-ids {affix!r} (collapse={affix!r})"
    ),
    "two prefixes": (
        "the ids of {owner} begin with {affix!r}, those of {other} with {verb!r}; replace it"
    ),
    "row numbers": (
        "the ids of {owner} look like row numbers; replace them by the documents' ids "
        "(Run.from_arrays takes them as doc_ids=)"
    ),
    "swapped columns": (
        "the columns of queries and documents are swapped: documents of the run are queries of the "
        "qrels"
    ),
}


@dataclass(frozen=True, eq=False)
class IdGroups:
    """Groups of wanted ids with the ids that are listed for them, such as judged and retrieved.

    Attributes:
        wanted: the wanted ids of each group. [G]
        listed: the ids that are listed for each group. [G]
        ours, theirs: what sentences call the owner of the wanted, and of the listed ids.
        is_searched: whether other spellings of the ids are tried.
    """

    wanted: Sequence[Collection[str]]
    listed: Sequence[Sequence[str]]
    ours: str = "the qrels"
    theirs: str = "the run"
    is_searched: bool = True

    @classmethod
    def from_names(
        cls,
        wanted: Iterable[Iterable[str]],
        listed: Iterable[Iterable[str]],
        *,
        search_ids: bool = True,
        owners: tuple[str, str] = ("the qrels", "the run"),
    ) -> IdGroups:
        """Return the groups of the ids that are searched; of all ids if none is.

        Args:
            wanted: the wanted ids of each group; placeholders are left out. [G]
            listed: the ids that are listed for each group; likewise. [G]
            search_ids: whether other spellings may be tried; of texts they are not.
            owners: the attributes ``ours`` and ``theirs``.
        """
        sides = [
            [[text for text in ids if not text.startswith(NOT_AN_ID)] for ids in side]
            for side in (wanted, listed)
        ]
        searched = [[list(searchable_ids(ids)) for ids in side] for side in sides]
        is_searched = search_ids and all(any(side) for side in searched)
        all_wanted, all_listed = searched if is_searched else sides
        return cls(all_wanted, all_listed, *owners, is_searched)

    def difference(self, other_ids: AbstractSet[str] = frozenset()) -> IdDifference:
        """Return how listed ids differ from wanted ones, with examples.

        Args:
            other_ids: the ids of the other kind (the queries, for documents), which show swapped
                columns; empty if they cannot be swapped.
        """
        if not self.is_searched:
            return self._with_cause(None)
        num_matched, pairs_of = self._pairs()
        # At least three times as many and three more, so that chance does not explain it; row
        # numbers match some ids by chance, once a prefix of the others is removed.
        least = 2 * num_matched + 3 if num_matched else 1
        for difference, pairs in sorted(pairs_of.items(), key=lambda item: -len(item[1])):
            of_listed = 2 * sum(len(pair[1]) > len(pair[0]) for pair in pairs) > len(pairs)
            is_usual = 2 * len(pairs) > len(self.wanted) or not self._are_row_numbers(difference)
            # One or two ids of many begin or end with others by chance.
            fewest = max(least, min(_LEAST_PAIRS, len(self.wanted)) if difference.affix else 1)
            is_reason = len(pairs) >= fewest and is_usual
            if is_reason and self._have(difference, of_listed=of_listed):
                owners = (self.theirs, self.ours) if of_listed else (self.ours, self.theirs)
                verb = "remove" if of_listed else "add"
                return self._with_pairs(difference.cause, pairs, *owners, difference.affix, verb)
        return self._of_two_prefixes() or self._with_cause(self._cause_without_match(other_ids))

    def _have(self, difference: Difference, *, of_listed: bool) -> bool:
        """Return whether nearly all ids of a side have an affix, or most a separator."""
        ids, affix = _distinct_ids(self.listed if of_listed else self.wanted), difference.affix
        if difference.cause == "chunks":
            return of_listed and 2 * sum(affix in text[1:] for text in ids) > len(ids)
        has = str.startswith if difference.cause == "prefix" else str.endswith
        return sum(has(text, affix) for text in ids) >= _NEARLY_ALL * len(ids)

    @staticmethod
    def _with_pairs(cause: str, pairs: Sequence[tuple[str, str]], *words: str) -> IdDifference:
        """Return a difference that pairs of ids show, with the words of its reason."""
        wanted, listed = zip(*pairs[:_EXAMPLES], strict=True)
        named = dict(zip(("owner", "other", "affix", "verb"), words, strict=True))
        return IdDifference(wanted, listed, cause, _REASONS[cause].format(**named))

    def _of_two_prefixes(self) -> IdDifference | None:
        """Return the difference if each side has a prefix of its own."""
        ours, theirs = (
            re.sub(r"[^\W_]*$", "", common_prefix(_distinct_ids(ids)))
            for ids in (self.wanted, self.listed)
        )
        if not ours or not theirs or ours == theirs:
            return None
        rests = {
            key: {text.removeprefix(ours): text for text in wanted}
            for key, wanted in _by_identity(self.wanted).items()
        }
        pairs = [
            (rests[id(wanted)][rest], text)
            for wanted, listed in zip(self.wanted, self.listed, strict=True)
            for text in listed
            if (rest := text.removeprefix(theirs)) in rests[id(wanted)]
        ]
        if not pairs:
            return None
        return self._with_pairs("two prefixes", pairs, self.theirs, self.ours, theirs, ours)

    def _with_cause(self, cause: str | None) -> IdDifference:
        """Return a difference that no pair of ids shows."""
        reason = _REASONS[cause].format(owner=self.theirs) if cause else ""
        return IdDifference(_first_ids(self.wanted), _first_ids(self.listed), cause, reason)

    def _pairs(self) -> tuple[int, dict[Difference, list[tuple[str, str]]]]:
        """Return how many groups match, and {difference: a pair of each other group with it}."""
        num_matched = 0
        pairs_of: dict[Difference, list[tuple[str, str]]] = {}
        matchers = {key: IdMatcher(ids) for key, ids in _by_identity(self.wanted).items()}
        for wanted, listed in zip(self.wanted, self.listed, strict=True):
            if not set(listed).isdisjoint(wanted):
                num_matched += 1
                continue
            first: dict[Difference, tuple[str, str]] = {}
            for pair in matchers[id(wanted)].pairs(listed):
                difference = Difference.from_spellings(*pair)
                first.setdefault(difference, pair)
                if difference.cause in ("suffix", "chunks"):  # suffixes of chunks vary
                    separator = re.match(r"[\W_]*", difference.affix)
                    assert separator is not None  # noqa: S101 - it may be empty
                    first.setdefault(Difference("chunks", separator[0]), pair)
            for difference, pair in first.items():
                pairs_of.setdefault(difference, []).append(pair)
        return num_matched, pairs_of

    def _cause_without_match(self, other_ids: AbstractSet[str]) -> str | None:
        """Return the likely cause if no change of the ids makes them match."""
        share = _share_in(_distinct_ids(self.listed), other_ids)
        if share >= 0.5:  # noqa: PLR2004 - most of them
            return "swapped columns"
        if self._are_row_numbers():
            return "row numbers"
        return "swapped columns" if share >= _SWAPPED_SHARE else None

    def _are_row_numbers(self, difference: Difference | None = None) -> bool:
        """Return whether listed ids are whole numbers below many of the wanted ones.

        Args:
            difference: what is undone in all ids before.
        """
        listed, wanted = _distinct_ids(self.listed), _distinct_ids(self.wanted)
        if difference is not None:
            affix = difference.affix
            listed, wanted = (
                set(folded([text.removeprefix(affix) for text in ids])) for ids in (listed, wanted)
            )
        largest = max(map(_row_number, listed), default=-1)
        if not wanted or min(map(_row_number, listed), default=-1) < 0:
            return False
        outside = sum(not 0 <= _row_number(text) <= largest for text in wanted) / len(wanted)
        return outside >= _OUTSIDE_SHARE and outside * len(listed) >= _LEAST_OUTSIDE


def _by_identity(groups: Sequence[Collection[str]]) -> dict[int, Collection[str]]:
    """Return {identity: ids} of the groups, so that ids that groups share are read once."""
    return {id(group): group for group in groups}


def _distinct_ids(groups: Sequence[Collection[str]]) -> set[str]:
    """Return the different ids of all groups."""
    return set(itertools.chain.from_iterable(_by_identity(groups).values()))


def _row_number(text: str) -> int:
    """Return an id as a whole number; -1 if it does not look like a row number."""
    is_number = text.isdecimal() and len(text) <= _MOST_DIGITS and (text[0] != "0" or text == "0")
    return int(text) if is_number else -1


def _share_in(ids: Collection[str], others: AbstractSet[str]) -> float:
    """Return the share of the ids that are among the others."""
    return sum(text in others for text in ids) / len(ids) if ids else 0.0


def _first_ids(groups: Sequence[Collection[str]]) -> tuple[str, ...]:
    """Return the first few different ids of all groups."""
    return tuple(dict.fromkeys(itertools.islice(itertools.chain(*groups), _EXAMPLES)))


# Some ids that are other ones


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


def spellings(
    qrels: Qrels, sample: RankingSample, *, is_thorough: bool = False
) -> Iterator[Finding]:
    """Yield a finding for each way in which some ids of the run are spelled otherwise.

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
        listed = list(itertools.filterfalse(set(judged).__contains__, retrieved))
        num_matched += len(retrieved) - len(listed)
        if listed:
            absent = list(itertools.filterfalse(set(retrieved).__contains__, judged))
            pairs += IdMatcher(absent, most_wanted).pairs(listed[:most_listed])
    if is_thorough or len(pairs) >= _LEAST_SHARE * num_matched:
        yield from check_spellings("document", "the run", pairs, is_sample=not is_thorough)


def rounded_ids(qrels: Qrels, sample: RankingSample) -> Iterator[Finding]:
    """Yield a finding if ids of documents were numbers that lost digits as floats.

    They have an exponent, or all are large numbers that a 32-bit float can hold, which half of
    the smallest of them are by chance.
    """
    step = max(1, len(qrels.doc_ids) // _MOST_COMPARED)
    for ids, whose in ((sample.doc_ids[:_MOST_COMPARED], "run"), (qrels.doc_ids[::step], "qrels")):
        different = list(dict.fromkeys(searchable_ids(ids)))
        rounded = [text for text in different if "e+" in text and _ROUNDED_ID.fullmatch(text)]
        if len(rounded) < LEAST_DIFFERENT:
            rounded = different if are_floats(different) else []
        if len(rounded) >= LEAST_DIFFERENT:
            yield Finding.from_code(
                "rounded-ids",
                f"{len(rounded):,} of {len(different):,} document ids of the {whose} look "
                "like numbers that were rounded, so that different ids may be the same",
                count=len(rounded),
                total=len(different),
                examples=map(shown, rounded),
            )


def shifted_ids(qrels: Qrels, sample: RankingSample) -> Iterator[Finding]:
    """Yield a finding if ids are numbers that are 1 more or less than those of the qrels."""
    # {-1, 0 or 1: how many first documents are relevant after adding it to their ids}
    hits: Counter[int] = Counter()
    for row, documents in sample.judged_rankings(_MOST_RANKINGS):
        best = map(_row_number, sample.best_ids(documents, TOP))
        numbers = [number for number in best if number >= 0]
        grades = qrels.grades_of_row(row) if numbers else {}
        hits.update(
            step
            for number in numbers
            for step in (-1, 0, 1)
            if grades.get(str(number + step), 0) > 0
        )
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
