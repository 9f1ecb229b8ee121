"""Haystack's documents as rankings and judgements: what names a document, and what grades it.

Documents are read by their attributes (``id``, ``content``, ``meta``, ``score``) and never changed;
Haystack itself is not needed here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from beir_eval.core.arrays import starts_of
from beir_eval.core.run import Run
from beir_eval.core.run_sources.lists import ListSource
from beir_eval.core.run_sources.scores import is_finite_number
from beir_eval.errors import InputError, SettingError, some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.core.arrays import Floats
    from beir_eval.core.qrels import Qrels

_Name = TypeVar("_Name")

_META = "meta."
#: No field of a document yields such an id: it stands for one that cannot be told from others.
_UNNAMED = "\0unnamed "


@dataclass(frozen=True, slots=True)
class DocumentNames:
    """What a document goes by.

    A value that is missing or empty names nothing. Text is taken as it is, an integer as its
    decimal string (and so a float that is whole), anything else as JSON.

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
        """Return the name of each document; None or "" for what cannot be told from others."""
        if self.collapse is None and self.fields == ("content",):
            return [document.content for document in documents]
        if self.collapse is None and self.fields == ("id",):
            return [document.id for document in documents]
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


class Rankings(NamedTuple):
    """Lists of documents as a run, and how many of them have no name: they match nothing."""

    run: Run
    unnamed: int


def rankings_of(
    query_ids: Sequence[str],
    retrieved: Sequence[Sequence[Any]],
    names: DocumentNames,
    *,
    scored: bool = False,
) -> Rankings:
    """Return lists of documents as a run.

    Args:
        query_ids: distinct ids, one for each list. [Q]
        retrieved: the documents of each query, best first. [Q]
        names: what a document goes by.
        scored: whether ``Document.score`` ranks, instead of the order.

    Raises:
        InputError: something is no document, or has no score where one is needed.
    """
    listed = _named(query_ids, retrieved, names, "retrieved")
    starts = starts_of(np.fromiter(map(len, listed), np.int64, len(listed)))
    flat = list(chain.from_iterable(listed))
    unnamed = [] if all(flat) else [place for place, name in enumerate(flat) if not name]
    for place in unnamed:
        flat[place] = f"{_UNNAMED}{place}"
    doc_ids = cast("list[str]", flat)
    scores = _scores(query_ids, retrieved) if scored else None
    return Rankings(Run.from_source(ListSource(query_ids, starts, doc_ids, scores)), len(unnamed))


def _scores(query_ids: Sequence[str], retrieved: Sequence[Sequence[Any]]) -> Floats:
    for query_id, documents in zip(query_ids, retrieved, strict=True):
        for document in documents:
            if isinstance(document.score, bool) or not is_finite_number(document.score):
                msg = (
                    f"order='score' needs a number as the score of every document, but for query "
                    f"{query_id!r} document {document.id!r} has {document.score!r}; rank by the "
                    "order of the lists with order='given'"
                )
                raise InputError(msg)
    return np.array(
        [float(document.score) for documents in retrieved for document in documents], np.float64
    )


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
    listed = _named(query_ids, truth, names, "ground-truth")
    for query_id, documents, named in zip(query_ids, truth, listed, strict=True):
        grades = grades_of(query_id, documents)
        found = highest(zip(named, grades, strict=True))
        if not all(found):
            unnamed += sum(not name for name in named)
            found = {name: grade for name, grade in found.items() if name}
        judged[query_id] = cast("dict[str, float]", found)
    return Judgements(judged, unnamed)


def highest(pairs: Iterable[tuple[_Name, float]]) -> dict[_Name, float]:
    """Return {name: its highest grade}."""
    grades: dict[_Name, float] = {}
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
    for document, score in zip(documents, scores, strict=True):
        if isinstance(score, bool) or not is_finite_number(score):
            msg = (
                f"the score of ground-truth document {document.id!r} for query {query_id!r} is "
                f"{score!r}; it is the grade, and must be a finite number"
            )
            raise InputError(msg)
    return [float(score) for score in scores]


def _named(
    query_ids: Sequence[str], lists: Sequence[Sequence[Any]], names: DocumentNames, what: str
) -> list[list[str | None]]:
    if all(type(documents) is list for documents in lists):
        with suppress(AttributeError):
            return list(map(names.of, lists))
    listed = []  # once more, to name what is wrong
    for query_id, documents in zip(query_ids, lists, strict=True):
        with documents_expected(query_id, documents, what):
            listed.append(names.of(documents))
    return listed


@contextmanager
def documents_expected(query_id: str, documents: Any, what: str) -> Iterator[None]:
    """Turn what happens when other things are handed over than Documents into an InputError."""
    problem = f"the {what} documents of query {query_id!r} must be a list of Documents"
    if isinstance(documents, (str, Mapping)) or not isinstance(documents, Sequence):
        msg = f"{problem}, not {type(documents).__name__}"
        raise InputError(msg)
    try:
        yield
    except AttributeError as error:
        wrong = [one for one in documents if not hasattr(one, "meta")]
        msg = f"{problem}, but it holds {wrong[0]!r:.80}" if wrong else f"{problem}: {error}"
        raise InputError(msg) from error


def check_lists(what: str, lists: Any) -> None:
    """Raise InputError unless this is a list with an entry for each query."""
    if isinstance(lists, (str, Mapping)) or not isinstance(lists, Sequence):
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
