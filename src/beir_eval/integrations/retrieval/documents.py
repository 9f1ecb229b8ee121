"""The names of retrieved documents, and rankings of them.

``DocumentNames`` returns the name of each document, a ``Ranking`` holds the names for one query, an
``Answer`` is what a retriever returned for it, and ``run_from_rankings`` returns the run. The code
reads the attributes ``id``, ``content``, ``meta`` and ``score``, which Haystack's ``Document`` and
``RetrievedDocument`` have, and changes none.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beir_eval.core.arrays import is_iterable
from beir_eval.core.ids import id_text, ids_as_text
from beir_eval.core.run import Run
from beir_eval.core.run_sources.lists import source_from_lists
from beir_eval.errors import InputError, SettingError, shown
from beir_eval.evaluation.coverage import with_counts
from beir_eval.inspection.finding import Finding, without
from beir_eval.inspection.unmatched_ids import UNMATCHED, IdGroups, unmatched_ids

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.core.qrels import Qrels
    from beir_eval.evaluation.result import EvaluationResult

_METADATA_PREFIX = "meta."
#: The key of metadata in which the Haystack function ``index`` puts the id of the judged document.
#: Cleaners and splitters keep metadata, so that chunks have it too.
BEIR_DOC_ID = "beir_doc_id"
#: The value of ``collapse`` that counts a document with this key as the document that it names.
AUTO = "auto"
#: From so many queries on, the evaluation finds out whether the ids differ.
_MANY_QUERIES, _MOST_QUERIES = 6, 100
#: Longer names, such as contents, are not compared character by character.
_LONGEST_NAME = 300
#: What Haystack makes an id of, if a Document is created without one (SHA-256); also UUIDs.
_HASH = re.compile(r"[0-9a-f]{32,}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
#: How many documents of a ranking are read for the documents that they may be chunks of.
_PARENTS_READ = 10


@dataclass(frozen=True, slots=True)
class DocumentNames:
    """The fields that identify a document; their values are its name.

    A document without a value, or with an empty one, has no name. Text is used as it is, an integer
    as its decimal string. In metadata, a float that is a whole number is used like an integer, and
    any other value as JSON.

    Attributes:
        fields: "content", "id" or "meta.a.b"; several make a composite key, which is written as a
            JSON list of their texts, without blanks: ``["a.pdf","3"]``.
        collapse: the field with the name of the document that a chunk is a part of. A document
            that has this field gets that name, so that all chunks of a document have one name. A
            document without it is no chunk: it gets its name from ``fields``.
        is_automatic: whether ``collapse`` was not stated. Then it is no mistake if documents lack
            it.

    Raises:
        SettingError: there is no field, or another field than "content", "id" or "meta.<key>"; or
            ``collapse`` is one of ``fields``.
    """

    fields: tuple[str, ...]
    collapse: str | None = None
    is_automatic: bool = False

    def __post_init__(self) -> None:
        """Check the fields."""
        for field in (*self.fields, *([] if self.collapse is None else [self.collapse])):
            if field not in ("content", "id") and not _is_metadata_field(field):
                msg = (
                    f"a document is identified by 'content', 'id' or 'meta.<key>', not by {field!r}"
                )
                raise SettingError(msg)
        if not self.fields:
            msg = "at least one field must identify a document: 'content', 'id' or 'meta.<key>'"
            raise SettingError(msg)
        if self.collapse in self.fields:
            msg = (
                f"collapse={self.collapse!r} is the field that identifies documents, so it makes "
                "no chunk a part of another document; leave collapse out, or name the field with "
                "the document that a chunk is a part of"
            )
            raise SettingError(msg)

    @classmethod
    def from_fields(cls, field: str | Iterable[str], collapse: str | None = None) -> DocumentNames:
        """Return the names by one field, or by several as a composite key.

        Args:
            field: the field or fields.
            collapse: as the attribute; or "auto": ``meta.beir_doc_id`` if documents are identified
                by their id, else None.

        Raises:
            SettingError: as the class.
        """
        if not isinstance(field, str) and not is_iterable(field):
            msg = (
                "a document is identified by 'content', 'id' or 'meta.<key>', not by "
                f"{shown(field)}"
            )
            raise SettingError(msg)
        fields = (field,) if isinstance(field, str) else tuple(field)
        if collapse != AUTO:
            return cls(fields, collapse)
        if fields != ("id",):
            return cls(fields)
        return cls(fields, f"{_METADATA_PREFIX}{BEIR_DOC_ID}", is_automatic=True)

    @property
    def are_contents(self) -> bool:
        """Whether documents are identified by their contents."""
        return self.fields == ("content",) and self.collapse is None

    @property
    def label(self) -> str:
        """The fields, for messages."""
        return " + ".join(self.fields)

    def names_of(self, documents: Sequence[Any]) -> list[str | None]:
        """Return the name of each document; None or "" for a document without a name.

        Raises:
            TypeError: the only field is "id", and an id is neither text nor an integer.
        """
        return self.read(documents).names

    def read(self, documents: Sequence[Any]) -> ReadNames:
        """Return the name of each document, and which documents are chunks of others.

        Raises:
            TypeError: the only field is "id", and an id is neither text nor an integer.
        """
        if self.are_contents:  # Haystack checks that it is text
            return ReadNames([document.content for document in documents])
        if self.fields == ("id",):
            if self.collapse is None:
                return ReadNames(_as_names([document.id for document in documents]))
            if self.is_automatic:
                ids = [document.id for document in documents if BEIR_DOC_ID not in document.meta]
                if len(ids) == len(documents):  # the usual case, in one pass
                    return ReadNames(_as_names(ids))
        if self.collapse is None:
            return ReadNames(list(map(self._own_name, documents)))
        names: list[str | None] = []
        is_chunk: list[bool] = []
        without_parent = 0
        for document in documents:
            parent = _value_as_text(field_value(document, self.collapse))
            names.append(self._own_name(document) if parent is None else parent)
            is_chunk.append(parent is not None and parent != _value_as_text(document.id))
            without_parent += parent is None
        return ReadNames(names, is_chunk, 0 if self.is_automatic else without_parent)

    def _own_name(self, document: Any) -> str | None:
        """Return the name of a document that is not a part of another one."""
        texts = [_value_as_text(field_value(document, field)) for field in self.fields]
        if len(texts) == 1:
            return texts[0]
        if None in texts:
            return None
        return json.dumps(texts, ensure_ascii=False, separators=(",", ":"))


class ReadNames(NamedTuple):
    """The names of N documents.

    Attributes:
        names: the name of each; None or "" for a document without a name. [N]
        is_chunk: whether each counts as another document, of which it is a chunk [N]; empty if none
            does.
        without_parent: the number of documents that lack the field ``DocumentNames.collapse``; 0 if
            it was not stated.
    """

    names: list[str | None]
    is_chunk: Sequence[bool] = ()
    without_parent: int = 0


def _as_names(ids: list[Any]) -> list[str | None]:
    """Return ids as names; None for an empty one."""
    if set(map(type, ids)) <= {str}:
        return ids
    return [id_text(doc_id) if doc_id is not None and doc_id != "" else None for doc_id in ids]


def _is_metadata_field(field: object) -> bool:
    return isinstance(field, str) and all(field.split(".")) and field.startswith(_METADATA_PREFIX)


def field_value(document: Any, field: str) -> Any:
    """Return the value of the field "content", "id" or "meta.a.b"; None if a key is missing."""
    if not field.startswith(_METADATA_PREFIX):
        return getattr(document, field)
    value = document.meta
    for key in field.removeprefix(_METADATA_PREFIX).split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def _value_as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 3.0 == 3 in Python, so both get one name
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=repr)
    except (TypeError, ValueError):  # keys that cannot be sorted, a list that contains itself
        return repr(value)


class Ranking(NamedTuple):
    """The names of the documents retrieved for one query, best first.

    Attributes:
        doc_ids: the names.
        scores: the score of each document; None if their order is the ranking.
        unnamed: the number of documents without a name; they match no judged document.
        without_parent: the number of documents that lack the field ``DocumentNames.collapse``.
        chunks: the number of documents that count as the document that they are a part of.
        further_chunks: how many of these were left out, because the ranking has their document.
    """

    doc_ids: list[str]
    scores: list[float] | None
    unnamed: int = 0
    without_parent: int = 0
    chunks: int = 0
    further_chunks: int = 0

    @classmethod
    def distinct_from_documents(
        cls, query_id: str, documents: Sequence[Any], names: DocumentNames
    ) -> Ranking:
        """Return a ranking that can be written to a run file: each document once, with a score.

        Of repeated documents the first is kept; documents without a name are left out. Every tool
        that sorts by the scores gets this order (see ``strictly_decreasing_scores``).

        Raises:
            InputError: an object is not a document.
        """
        score_of: dict[str, Any] = {}
        unnamed = chunks = further_chunks = 0
        check_documents(query_id, documents, "retrieved")
        try:
            read = names.read(documents)
            are_chunks = read.is_chunk or repeat(object=False)
            for name, document, is_chunk in zip(read.names, documents, are_chunks, strict=False):
                if not name:
                    unnamed += 1
                    continue
                if is_chunk:
                    chunks += 1
                    further_chunks += name in score_of
                score_of.setdefault(name, document.score)
            doc_ids = ids_as_text(list(score_of))
        except NOT_DOCUMENTS as error:
            raise documents_error(query_id, documents, "retrieved", error) from error
        scores = strictly_decreasing_scores(list(score_of.values()))
        return cls(doc_ids, scores, unnamed, read.without_parent, chunks, further_chunks)


class Answer(NamedTuple):
    """The documents that a retriever returned for one query.

    Attributes:
        ranking: ids and scores, each document once.
        left_out: the number of documents that were repeated or have no name.
        seconds: how long the query took; None if it is not known.
        parents: {field: its values in the first documents}, for fields that may hold the document
            that a chunk is a part of; empty for an answer that was saved before.
        outputs: {output of the pipeline: the number of documents that it had}, for each output of
            documents that ran; empty if they are not known.
        part: (documents written, documents of the corpus), if the store has a part of a corpus.
        stages: {stage: the ids of its documents} of the stages that ran; None if they were not
            kept, or are not known.
        times: {component: (seconds of its run, seconds beside it, number of runs)}.
        texts: the generated answers, best first; None if they were not kept.
        texts_from: the output that they are from.
    """

    ranking: Ranking
    left_out: int
    seconds: float | None
    parents: Mapping[str, frozenset[str]] = {}
    outputs: Mapping[str, int] = {}
    part: tuple[int, int] | None = None
    stages: Mapping[str, Sequence[str]] | None = None
    times: Mapping[str, tuple[float, float, int]] = {}
    texts: Sequence[str] | None = None
    texts_from: str = ""


def answer_from_documents(
    query_id: str,
    documents: Sequence[RetrievedDocument],
    names: DocumentNames,
    seconds: float,
    *,
    parents: Mapping[str, frozenset[str]] | None = None,
) -> Answer:
    """Return the answer to a query, with each document once.

    Args:
        query_id: the query.
        documents: the retrieved documents, best first.
        names: the fields that identify a document.
        seconds: how long the query took.
        parents: {field: its values}, for fields that may hold the document that a chunk is a part
            of.
    """
    ranking = Ranking.distinct_from_documents(query_id, list(documents), names)
    return Answer(ranking, len(documents) - len(ranking.doc_ids), seconds, parents or {})


def run_from_rankings(rankings: Mapping[str, Ranking]) -> Run:
    """Return a run with these rankings, {query_id: ranking}; either all have scores or none."""
    names = [ranking.doc_ids for ranking in rankings.values()]
    scores = [ranking.scores for ranking in rankings.values() if ranking.scores is not None]
    flat_scores = np.array(list(chain.from_iterable(scores)), np.float64) if scores else None
    return Run.from_source(source_from_lists(list(rankings), names, flat_scores))


def strictly_decreasing_scores(scores: Sequence[float | None]) -> list[float]:
    """Return scores that decrease strictly along the ranking, also in single precision.

    Tools break ties in different ways. With these scores there are none, so all tools rank alike.

    - Scores that decrease strictly in single precision are returned as they are.
    - If neighbouring scores are equal in single precision, all scores are rounded to float32, and
      each score that is not below the one before is set to the next lower float32.
    - If a score is missing, not finite in single precision, or higher than the one before, the
      scores are replaced by n, n-1, …, 1.

    >>> strictly_decreasing_scores([0.9, 0.5])
    [0.9, 0.5]
    >>> strictly_decreasing_scores([2.0, 2.0, 1.0])
    [2.0, 1.9999998807907104, 1.0]
    >>> strictly_decreasing_scores([None, None]), strictly_decreasing_scores([0.1, 0.9])
    ([2.0, 1.0], [2.0, 1.0])
    """
    by_rank = [float(rank) for rank in range(len(scores), 0, -1)]
    if not all(score is not None and math.isfinite(score) for score in scores):
        return by_rank
    double = np.array(scores, dtype=np.float64)
    with np.errstate(over="ignore"):
        single = double.astype(np.float32)
    if (double[1:] > double[:-1]).any() or not np.isfinite(single).all():
        return by_rank
    decreasing: list[float] = double.tolist()
    if (single[1:] < single[:-1]).all():
        return decreasing
    lowest = np.float32(-np.inf)
    for index in range(1, len(single)):
        if single[index] >= single[index - 1]:
            single[index] = np.nextafter(single[index - 1], lowest)
    decreasing = single.astype(np.float64).tolist()
    return decreasing if np.isfinite(single).all() else by_rank


#: What reading the attributes of an object that is no document raises.
NOT_DOCUMENTS = (AttributeError, TypeError)


def check_documents(query_id: str, documents: Any, what: str) -> None:
    """Raise InputError unless the documents of a query are a list.

    Args:
        query_id: the query, for the message.
        documents: the documents of the query.
        what: which documents, for the message: "retrieved" or "ground-truth".
    """
    # The first check is fast for the usual case; abstract classes are slower.
    if type(documents) is not list and not is_sequence(documents):
        msg = f"{_documents_expected(query_id, what)}, not {type(documents).__name__}"
        raise InputError(msg)


def documents_error(
    query_id: str, documents: Sequence[Any], what: str, error: Exception
) -> InputError:
    """Return the error about a list with an object that is no document.

    Args:
        query_id: the query.
        documents: the documents of the query.
        what: which documents: "retrieved" or "ground-truth".
        error: one of ``NOT_DOCUMENTS``, raised when they were read.
    """
    not_documents = [document for document in documents if not hasattr(document, "meta")]
    detail = f", but it holds {shown(not_documents[0])}" if not_documents else f": {error}"
    return InputError(f"{_documents_expected(query_id, what)}{detail}")


def _documents_expected(query_id: str, what: str) -> str:
    return f"the {what} documents of query {query_id!r} must be a list of Documents"


def is_sequence(value: Any) -> bool:
    """Return whether a value is a list or the like, and not text."""
    return isinstance(value, Sequence) and not isinstance(value, (str, Mapping))


def without_parent(collapse: str | None, lacking: int, total: int) -> Iterator[Finding]:
    """Yield a finding if retrieved documents lack the field ``collapse``.

    Args:
        collapse: the field.
        lacking: the number of retrieved documents that lack it.
        total: the number of retrieved documents.
    """
    if lacking:
        some = f"{lacking:,} of the {total:,} retrieved documents do not have"
        if lacking == total:
            some = f"none of the {total:,} retrieved documents has"
        yield Finding.from_code(
            "without-parent",
            f"collapse={collapse!r}: {some} this field; each counts as a document of its own",
            count=lacking,
            total=total,
        )


def with_unmatched_names(  # noqa: PLR0913 - what is known of both sides, and two remedies
    result: EvaluationResult,
    run: Run,
    qrels: Qrels,
    *,
    if_empty: str,
    advice: Callable[[], str],
    are_contents: bool = False,
) -> EvaluationResult:
    """Return the result with the reason why no query has a retrieved document that is judged.

    It is the result itself if a query has one, or if the names may well be the same, and the
    queries only missed.

    Args:
        result: the evaluation of the run; for six queries or more it says whether the ids differ.
        run: the run.
        qrels: the judgements.
        if_empty: what to do if no document was retrieved.
        advice: returns the likely reason if none is known, as a clause with the remedy; or "".
        are_contents: whether documents are identified by their contents.
    """
    counted = result.counted
    if counted is None or counted.documents_judged:
        return result
    row_of = {query_id: row for row, query_id in enumerate(qrels.query_ids)}
    ranked = (
        (qrels.grades_of_row(row_of[query_id]), doc_ids)
        for query_id, doc_ids, _ in run.rankings()
        if query_id in row_of and doc_ids
    )
    pairs = list(islice(ranked, _MOST_QUERIES))
    if not pairs:
        nothing = Finding.from_code(
            "nothing-retrieved",
            "no document was retrieved for any judged query",
            count=len(qrels),
            total=len(qrels),
            examples=(if_empty,),
        )
        return with_counts(result, findings=(*counted.findings, nothing))
    judged, retrieved = zip(*pairs, strict=True)
    groups = IdGroups.from_names(
        judged,
        retrieved,
        search_ids=not are_contents,
        owners=("the judgements", "the retrieved documents"),
    )
    difference = groups.difference()
    is_known = difference.cause not in {None, "row numbers", "swapped columns", "chunks"}
    if len(pairs) < _MANY_QUERIES:
        differ = is_known or _names_differ(groups, are_contents=are_contents)
    else:
        differ = any(finding.code == UNMATCHED for finding in counted.findings)
    if not differ:
        return result
    if not is_known:
        difference = difference._replace(reason=advice())
    unmatched = unmatched_ids(counted, difference)
    others = without(counted.findings, UNMATCHED, "ids-nearly-match")
    return with_counts(result, findings=(unmatched, *others))


def parents_in(documents: Sequence[Any]) -> dict[str, frozenset[str]]:
    """Return {"meta.key": its values} of the first documents.

    Any of these fields may hold the document that a chunk is a part of.

    Args:
        documents: the documents of one query, best first.
    """
    values: dict[str, set[str]] = {}
    for document in documents[:_PARENTS_READ]:
        for key, value in document.meta.items():
            if isinstance(key, str) and isinstance(value, (str, int)) and "." not in key:
                name = _value_as_text(value)
                if name is not None and len(name) <= _LONGEST_NAME:
                    values.setdefault(f"{_METADATA_PREFIX}{key}", set()).add(name)
    return {field: frozenset(names) for field, names in values.items()}


def field_with_judged(
    parents: Mapping[str, Mapping[str, frozenset[str]]], qrels: Qrels
) -> str | None:
    """Return the field that names judged documents for the most queries; None if no field does.

    Args:
        parents: {query_id: {field: its values in the retrieved documents}}.
        qrels: the judgements.
    """
    row_of = {query_id: row for row, query_id in enumerate(qrels.query_ids)}
    matched: dict[str, int] = {}
    for query_id, values in parents.items():
        if query_id in row_of:
            judged = qrels.grades_of_row(row_of[query_id]).keys()
            for field, names in values.items():
                if not judged.isdisjoint(names):
                    matched[field] = matched.get(field, 0) + 1
    return max(matched, key=matched.__getitem__, default=None)


def parent_advice(
    parents: Mapping[str, Mapping[str, frozenset[str]]], qrels: Qrels, option: str
) -> str:
    """Return the reason if retrieved documents are chunks whose ids are not those of documents.

    It is "" unless the values of a field are judged documents.

    Args:
        parents: {query_id: {field: its values in the retrieved documents}}.
        qrels: the judgements.
        option: the keyword that names the field.
    """
    field = field_with_judged(parents, qrels)
    return f"another field names judged documents: {option}={field!r} counts these" if field else ""


def _names_differ(groups: IdGroups, *, are_contents: bool) -> bool:
    """Return whether the names of a few queries, of which none matches, cannot be the same.

    - Names of one side are hashes, and those of the other are not.
    - No retrieved document has a name.
    - With two queries or more, no two names of both sides are alike but for their digits; contents
      are the same or not.

    Args:
        groups: the names of the judged and of the retrieved documents of each query.
        are_contents: whether names are contents.
    """
    wanted, listed = (set(chain.from_iterable(side)) for side in (groups.wanted, groups.listed))
    if not wanted:
        return False
    are_hashes, others_are = (
        {bool(_HASH.fullmatch(name)) for name in side} for side in (wanted, listed)
    )
    differ = not are_contents and are_hashes.isdisjoint(others_are)
    if len(groups.listed) > 1:
        forms, other_forms = (
            set() if are_contents else {_DIGITS.sub("0", name) for name in side}
            for side in (wanted, listed)
        )
        are_alike = any("0" in form for form in forms & other_forms)
        differ = differ or (wanted.isdisjoint(listed) and not are_alike)
    return differ


class RetrievedDocument(NamedTuple):
    """A document of any host, with the attributes that ``DocumentNames`` reads.

    Attributes:
        id: its id; None without one.
        content: its text.
        meta: its metadata.
        score: its score; None without one.
    """

    id: Any
    content: str | None = None
    meta: Mapping[str, Any] = {}
    score: float | None = None
