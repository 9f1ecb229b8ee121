"""Haystack's documents as rankings and judgements: what names a document, and what grades it.

The way from documents to a ``Run``, for the component and for ``evaluate_pipeline``:
``DocumentNames`` names them, a ``Ranking`` holds those of one query, ``run_from_rankings`` makes
the run.

Documents are read by their attributes (``id``, ``content``, ``meta``, ``score``) and never changed;
Haystack itself is not needed here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from beir_eval.core.ids import checked_ids, id_text, ids_as_text, repeated_ids
from beir_eval.core.run import Run
from beir_eval.core.run_sources.lists import source_from_lists
from beir_eval.core.run_sources.scores import is_finite_number
from beir_eval.errors import InputError, SettingError, some

if TYPE_CHECKING:
    from beir_eval.core.qrels import Qrels

_Name = TypeVar("_Name")

_META = "meta."
#: No field of a document yields such an id: it stands for one that cannot be told from others.
_UNNAMED = "\0unnamed "


@dataclass(frozen=True, slots=True)
class DocumentNames:
    """What a document goes by.

    A value that is missing or empty names nothing. Text is taken as it is, an integer as its
    decimal string (and so, in metadata, a float that is whole). Anything else in metadata is taken
    as JSON; an id or a content of another type is an error.

    Attributes:
        fields: "content", "id" or "meta.a.b"; several make a composite key, which is written as a
            JSON list of their texts, without blanks: ``["a.pdf","3"]``.
        collapse: a field that names the document that this one is a part of; where a document has
            it, it goes by that, so that all chunks of one document are the same document.

    Raises:
        SettingError: another field.
    """

    fields: tuple[str, ...]
    collapse: str | None = None

    def __post_init__(self) -> None:
        """Check the fields."""
        for field in (*self.fields, *([] if self.collapse is None else [self.collapse])):
            if field not in ("content", "id") and not _is_meta(field):
                msg = f"a document goes by 'content', 'id' or 'meta.<key>', not by {field!r}"
                raise SettingError(msg)
        if not self.fields:
            msg = "a document must go by at least one field: 'content', 'id' or 'meta.<key>'"
            raise SettingError(msg)

    @classmethod
    def by(cls, field: str | Iterable[str], collapse: str | None = None) -> DocumentNames:
        """Take one field, or several for a composite key."""
        if not isinstance(field, str) and not isinstance(field, Iterable):
            msg = f"a document goes by 'content', 'id' or 'meta.<key>', not by {field!r}"
            raise SettingError(msg)
        return cls((field,) if isinstance(field, str) else tuple(field), collapse)

    def of(self, documents: Iterable[Any]) -> list[str | None]:
        """Return the name of each document; None or "" for what cannot be told from others.

        Raises:
            TypeError: an id is neither text nor an integer.
        """
        if self.collapse is None and self.fields == ("content",):
            return [document.content for document in documents]  # text: Haystack has checked that
        if self.collapse is None and self.fields == ("id",):
            ids = [document.id for document in documents]
            if set(map(type, ids)) <= {str}:
                return ids
            return [id_text(one) if one is not None and one != "" else None for one in ids]
        return [self._of(document) for document in documents]

    def _of(self, document: Any) -> str | None:
        if self.collapse is not None:
            whole = _text(field_of(document, self.collapse))
            if whole is not None:
                return whole
        parts = [_text(field_of(document, field)) for field in self.fields]
        if len(parts) == 1:
            return parts[0]
        if None in parts:
            return None
        return json.dumps(parts, ensure_ascii=False, separators=(",", ":"))


def _is_meta(field: object) -> bool:
    return isinstance(field, str) and all(field.split(".")) and field.startswith(_META)


def field_of(document: Any, field: str) -> Any:
    """Return the value of "content", "id" or "meta.a.b"; None where a key is missing."""
    if not field.startswith(_META):
        return getattr(document, field)
    value = document.meta
    for key in field.removeprefix(_META).split("."):
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    return value


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # as Python finds them equal
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(int(value))
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=repr)
    except (TypeError, ValueError):  # keys that cannot be sorted, a list that holds itself
        return repr(value)


class Ranking(NamedTuple):
    """The documents of one query by name, best first.

    Attributes:
        doc_ids: their names.
        scores: one for each; None if their order is the ranking.
        unnamed: how many of them have no name: they match nothing.
    """

    doc_ids: list[str]
    scores: list[float] | None
    unnamed: int = 0

    @classmethod
    def from_documents(
        cls, query_id: str, documents: Sequence[Any], names: DocumentNames, *, scored: bool = False
    ) -> Ranking:
        """Return all documents at their ranks, including unnamed and repeated ones.

        Args:
            query_id: the query, for errors.
            documents: best first.
            names: what a document goes by.
            scored: whether ``Document.score`` ranks, instead of the order.

        Raises:
            InputError: something is no document, or has no score where one is needed.
        """
        with DocumentsExpected(query_id, documents, "retrieved"):
            doc_ids = names.of(documents)
            scores = _ranking_scores(query_id, documents) if scored else None
        unnamed = [] if all(doc_ids) else [rank for rank, name in enumerate(doc_ids) if not name]
        for rank in unnamed:
            doc_ids[rank] = f"{_UNNAMED}{rank}"
        return cls(cast("list[str]", doc_ids), scores, len(unnamed))

    @classmethod
    def distinct_from_documents(
        cls, query_id: str, documents: Sequence[Any], names: DocumentNames
    ) -> Ranking:
        """Return a ranking that a run file can hold: each document once, and scores.

        A document that the ranking holds already is left out, and so is one without a name. The
        scores put the documents in this order for every reader (see ``telling_scores``).

        Raises:
            InputError: something is no document.
        """
        score_of: dict[str, Any] = {}
        with DocumentsExpected(query_id, documents, "retrieved"):
            for name, document in zip(names.of(documents), documents, strict=True):
                if name:
                    score_of.setdefault(name, document.score)
            doc_ids = ids_as_text(list(score_of))
        return cls(doc_ids, telling_scores(list(score_of.values())))


def run_from_rankings(rankings: Mapping[str, Ranking]) -> Run:
    """Return {query_id: ranking} as a run; all rankings have scores, or none has."""
    names = [ranking.doc_ids for ranking in rankings.values()]
    scores = [ranking.scores for ranking in rankings.values() if ranking.scores is not None]
    flat_scores = np.array(list(chain.from_iterable(scores)), np.float64) if scores else None
    return Run.from_source(source_from_lists(list(rankings), names, flat_scores))


def _ranking_scores(query_id: str, documents: Sequence[Any]) -> list[float]:
    scores = [document.score for document in documents]
    wrong = _first_not_finite(scores)
    if wrong is not None:
        msg = (
            f"order='score' needs a number as the score of every document, but for query "
            f"{query_id!r} document {documents[wrong].id!r} has {scores[wrong]!r}; rank by the "
            "order of the lists with order='given'"
        )
        raise InputError(msg)
    return list(map(float, scores))


def _first_not_finite(scores: Sequence[Any]) -> int | None:
    """Return the index of the first score that is no finite number; None if all are."""
    if set(map(type, scores)) <= {float} and all(map(math.isfinite, scores)):
        return None
    wrong = (isinstance(score, bool) or not is_finite_number(score) for score in scores)
    return next((index for index, is_wrong in enumerate(wrong) if is_wrong), None)


def telling_scores(scores: Sequence[float | None]) -> list[float]:
    """Return scores that say the order of this list to everybody, also in single precision.

    Scores that fall from each document to the next are kept. Equal ones, which tools order each in
    their own way, are told apart by the last digit of a float32. Where scores are missing or do not
    follow the order (the order is the ranking), they are replaced by n, n-1, …, 1.

    >>> telling_scores([0.9, 0.5])
    [0.9, 0.5]
    >>> telling_scores([2.0, 2.0, 1.0])
    [2.0, 1.9999998807907104, 1.0]
    >>> telling_scores([None, None]), telling_scores([0.1, 0.9])
    ([2.0, 1.0], [2.0, 1.0])
    """
    by_rank = [float(rank) for rank in range(len(scores), 0, -1)]
    if not all(score is not None and math.isfinite(score) for score in scores):
        return by_rank
    given = np.array(scores, dtype=np.float64)
    with np.errstate(over="ignore"):
        single = given.astype(np.float32)
    if (given[1:] > given[:-1]).any() or not np.isfinite(single).all():
        return by_rank
    told: list[float] = given.tolist()
    if (single[1:] < single[:-1]).all():
        return told
    lowest = np.float32(-np.inf)
    for place in range(1, len(single)):
        if single[place] >= single[place - 1]:
            single[place] = np.nextafter(single[place - 1], lowest)
    told = single.astype(np.float64).tolist()
    return told if np.isfinite(single).all() else by_rank


class Judgements(NamedTuple):
    """Ground-truth documents as {query_id: {name: grade}}, and how many of them have no name."""

    grades: dict[str, dict[str, float]]
    unnamed: int


def judgements_of(
    query_ids: Sequence[str], truth: Sequence[Sequence[Any]], names: DocumentNames
) -> Judgements:
    """Return lists of ground-truth documents as judgements.

    The grade is ``Document.score``, or 1 where a list has no scores; a document that stands twice
    keeps its highest.

    Raises:
        InputError: something is no document, a score is not a number, or a list has documents with
            and without one.
    """
    judged: dict[str, dict[str, float]] = {}
    unnamed = 0
    for query_id, documents in zip(query_ids, truth, strict=True):
        with DocumentsExpected(query_id, documents, "ground-truth"):
            named = names.of(documents)
            grades = grades_of(query_id, documents)
        found = highest(list(zip(named, grades, strict=True)))
        if not all(found):
            unnamed += sum(not name for name in named)
            found = {name: grade for name, grade in found.items() if name}
        judged[query_id] = cast("dict[str, float]", found)
    return Judgements(judged, unnamed)


def highest(pairs: Sequence[tuple[_Name, float]]) -> dict[_Name, float]:
    """Return {name: its highest grade}."""
    grades = dict(pairs)
    if len(grades) < len(pairs):
        grades = {}
        for name, grade in pairs:
            if name not in grades or grade > grades[name]:
                grades[name] = grade
    return grades


def grades_of(query_id: str, documents: Sequence[Any]) -> list[float]:
    """Return the grade of each ground-truth document of one query.

    Raises:
        InputError: a score is not a number, or only some documents have one.
    """
    scores = [document.score for document in documents]
    if scores.count(None) == len(scores):
        return [1.0] * len(scores)
    if None in scores:
        msg = (
            f"query {query_id!r}: either all or none of its ground-truth documents must have a "
            "score, which is their grade"
        )
        raise InputError(msg)
    wrong = _first_not_finite(scores)
    if wrong is not None:
        msg = (
            f"the score of ground-truth document {documents[wrong].id!r} for query {query_id!r} is "
            f"{scores[wrong]!r}; it is the grade, and must be a finite number"
        )
        raise InputError(msg)
    return list(map(float, scores))


class DocumentsExpected:
    """A context that reads the documents of one query; other objects raise InputError."""

    __slots__ = ("_documents", "_query_id", "_what")

    def __init__(self, query_id: str, documents: Any, what: str) -> None:
        """Check that it is a list of documents; ``what``: "retrieved" or "ground-truth"."""
        self._query_id, self._documents, self._what = query_id, documents, what
        is_list = type(documents) is list  # the usual case; the abstract classes take longer
        if not is_list and not _is_sequence(documents):
            msg = f"{self._problem()}, not {type(documents).__name__}"
            raise InputError(msg)

    def __enter__(self) -> None:
        """Do nothing: the list has been checked."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Name the object that lacks the attributes of a document."""
        if isinstance(error, (AttributeError, TypeError)):
            wrong = [one for one in self._documents if not hasattr(one, "meta")]
            found = f", but it holds {wrong[0]!r:.80}" if wrong else f": {error}"
            msg = f"{self._problem()}{found}"
            raise InputError(msg) from error

    def _problem(self) -> str:
        return f"the {self._what} documents of query {self._query_id!r} must be a list of Documents"


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, Mapping))


def distinct_ids(what: str, query_ids: Iterable[Any]) -> list[str]:
    """Return the ids of queries as text.

    Raises:
        InputError: an id is neither text nor an integer, or is given twice.
    """
    queries = checked_ids(query_ids, what, InputError)
    repeated = repeated_ids(queries)
    if repeated:
        msg = f"{what} must be distinct, but {some(repeated)} stand there twice"
        raise InputError(msg)
    return queries


def check_lists(what: str, lists: Any) -> None:
    """Raise InputError unless this is a list with an entry for each query."""
    if not _is_sequence(lists):
        msg = f"{what} must be a list of lists of Documents, not {type(lists).__name__}"
        raise InputError(msg)
    if not lists:
        msg = f"{what} is empty: there is no query to evaluate"
        raise InputError(msg)


def nothing_in_common(run: Run, qrels: Qrels) -> str | None:
    """Return a sentence where no judged document was retrieved for any query; None otherwise."""
    row_of = {query_id: row for row, query_id in enumerate(qrels.query_ids)}
    shown: Sequence[str] = ()
    for query_id, docs, _ in run.rankings():
        if query_id in row_of and docs:
            if not qrels.judged(row_of[query_id]).keys().isdisjoint(docs):
                return None
            shown = shown or docs
    if not shown:
        return "No document was retrieved for any judged query: is the document store empty?"
    return (
        "Retrieved and judged documents have nothing in common, so nothing relevant was found for "
        f"any query: retrieved are {_samples(shown)}; judged are {_samples(qrels.doc_ids)}."
    )


def _samples(names: Sequence[str]) -> str:
    named = (name[:60] for name in names[:3] if not name.startswith(_UNNAMED))
    return some(named) or "documents without a name"
