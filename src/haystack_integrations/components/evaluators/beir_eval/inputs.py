"""A component's judged spans, and conversion of its inputs to qrels of the same queries."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from itertools import chain
from pathlib import Path
from typing import Any

from haystack import Document

from beir_eval.core.ids import distinct_ids
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import InputError, SettingError, first_few, shown
from beir_eval.integrations.haystack.documents import (
    NO_RELEVANT_DOCUMENT,
    Judgements,
    check_lists,
    judgements_from_documents,
)
from beir_eval.integrations.retrieval.documents import BEIR_DOC_ID, NOT_DOCUMENTS, DocumentNames
from beir_eval.measures import Measure
from beir_eval.spans import Spans, SpanView

UNJUDGED = ("error", "skip", "zero")
UNMATCHED = ("missed", "error")
_NUMBERED_QUERY = re.compile(r"query '(\d+)'")


@dataclass(frozen=True)
class JudgedSpans:
    """Judged spans of text in a file, and what counts.

    Attributes:
        path: the file.
        corpus: the data-set folder or the corpus file of the documents.
        ranks: what has a rank, "characters" or "chunks".
        overlap: the share of a span that counts; None: each character, or .75 for chunks.
    """

    path: str
    corpus: str
    ranks: str = "characters"
    overlap: float | None = None

    @classmethod
    def from_setting(cls, setting: str | Path | Mapping[str, Any]) -> "JudgedSpans":
        """Return the spans that a setting names; their paths hold in every folder.

        Raises:
            SettingError: a dict without a path, or with another key.
        """
        stated = dict(setting) if isinstance(setting, Mapping) else {"path": setting}
        known = [field.name for field in fields(cls)]
        if "path" not in stated or not stated.keys() <= set(known):
            keys = ", ".join(known)
            msg = f"spans: a file, or a dict with {keys}, was expected, not {shown(setting)}"
            raise SettingError(msg)
        path = Path(stated["path"]).absolute()
        corpus = Path(stated.get("corpus") or path.parent).absolute()
        return cls(**stated | {"path": str(path), "corpus": str(corpus)})

    def view(self) -> SpanView:
        """Return the judgements in the file.

        Raises:
            FileFormatError, OSError: a file cannot be read.
            QrelsError: a span does not fit the corpus.
            SettingError: ``ranks`` or ``overlap`` has no such value.
        """
        overlap = 0.75 if self.overlap is None and self.ranks == "chunks" else self.overlap
        return Spans.from_jsonl(self.path, self.corpus).view(self.ranks, overlap=overlap)


def with_rel(measure: Measure, rel: float | None) -> Measure:
    """Return the measure with the threshold ``rel``, if it takes one and none is set."""
    takes_rel = "rel" in measure.definition.defaults
    if rel is None or not takes_rel or "rel" in dict(measure.parameters):
        return measure
    return measure(rel=rel)


def resolve_query_ids(
    retrieved: list[list[Document]] | Run,
    truth: list[list[Document]] | None,
    query_ids: list[str] | None,
) -> list[str]:
    """Return the ids of the queries: ``query_ids``, those of a ``Run``, or numbers from 0.

    Args:
        retrieved: the retrieved documents of each query [Q]; or a ``Run``.
        truth: the ground-truth documents of each query [Q]; None if qrels are used.
        query_ids: the ids, if the caller passes them. [Q]

    Raises:
        InputError: there is no query, lists have different lengths, an id is not valid or is listed
            twice, or qrels are used without ids.
    """
    lengths: dict[str, int] = {}
    if truth is not None:
        check_lists("ground_truth_documents", truth)
        lengths["ground_truth_documents"] = len(truth)
    if not isinstance(retrieved, Run):
        check_lists("retrieved_documents", retrieved)
        lengths["retrieved_documents"] = len(retrieved)
    if query_ids is not None:
        queries = distinct_ids(query_ids, "query_ids", InputError)
    elif isinstance(retrieved, Run):
        queries = list(retrieved.query_ids)
    elif truth is None:
        msg = "query_ids are needed with qrels: one for each list of retrieved documents"
        raise InputError(msg)
    else:
        queries = [str(number) for number in range(len(retrieved))]
    if not queries or any(length != len(queries) for length in lengths.values()):
        if query_ids is not None:
            lengths["query_ids"] = len(queries)
        elif isinstance(retrieved, Run):
            lengths["queries of the Run"] = len(queries)
        counts = ", ".join(f"{argument}: {length}" for argument, length in lengths.items())
        msg = f"one entry for each query was expected everywhere, but there are {counts}"
        raise InputError(msg)
    return queries


def judgements_of(
    queries: list[str], truth: list[list[Document]], names: DocumentNames, unmatched: str
) -> Judgements:
    """Return ground-truth documents as judgements.

    Args:
        queries: the ids of the queries. [Q]
        truth: the ground-truth documents of each query. [Q]
        names: the fields that identify a document.
        unmatched: whether a document without them counts as never found ("missed") or is an
            "error".

    Raises:
        InputError: an object is not a document, grades are not valid, or a document cannot match,
            with "error".
    """
    judgements = judgements_from_documents(queries, truth, names)
    if judgements.unnamed and unmatched == "error":
        msg = (
            f"ground-truth documents have no {names.label}, so nothing can match them: "
            f"{sum(judgements.unnamed.values())} in queries {first_few(judgements.unnamed)}. Add "
            "it, identify documents by another field with document_comparison_field, or count "
            "them as never found with unmatched='missed'"
        )
        raise InputError(msg)
    return judgements


def qrels_from_judgements(queries: list[str], judgements: Judgements, unjudged: str) -> Qrels:
    """Return judgements as qrels of these queries.

    Args:
        queries: the ids of the queries. [Q]
        judgements: those of the queries.
        unjudged: whether a query without judgements is an "error", left out ("skip"), or has no
            relevant documents ("zero").

    Raises:
        InputError: a query has no judgements (with "error"; with "skip", if no query has any).
    """
    judged = {query_id for query_id, grades in judgements.grades.items() if grades}
    _check_judged(queries, judged, unjudged, "")
    fill = NO_RELEVANT_DOCUMENT if unjudged == "zero" else {}
    return Qrels({query_id: judgements.grades[query_id] or fill for query_id in queries})


def are_chunks_of_indexed(truth: list[list[Document]], retrieved: list[list[Document]]) -> bool:
    """Return whether all documents name the one that ``index`` wrote, and a retrieved is a chunk.

    Args:
        truth: the ground-truth documents of each query. [Q]
        retrieved: the retrieved documents of each query. [Q]
    """
    try:
        return all(
            BEIR_DOC_ID in document.meta for document in chain.from_iterable([*truth, *retrieved])
        ) and any(
            document.meta[BEIR_DOC_ID] != document.id for document in chain.from_iterable(retrieved)
        )
    except NOT_DOCUMENTS:
        return False  # an error names the object later


@contextmanager
def naming_positions(*, has_positions: bool) -> Iterator[None]:
    """Call queries in errors by their positions, if there are no ids.

    Args:
        has_positions: whether the ids of the queries are their positions in the lists, from 0.
    """
    try:
        yield
    except InputError as error:
        if has_positions:
            error.args = tuple(
                _NUMBERED_QUERY.sub(r"query at position \1", text)
                if isinstance(text, str)
                else text
                for text in error.args
            )
        raise


def select_qrels(queries: list[str], qrels: Qrels, unjudged: str) -> Qrels:
    """Return the qrels of these queries only.

    Args:
        queries: the ids of the queries. [Q]
        qrels: judgements of these and other queries.
        unjudged: whether a query without judgements is an "error", left out ("skip"), or has no
            relevant documents ("zero").

    Raises:
        InputError: a query has no judgements (with "error"; with "skip", if no query has any).
    """
    judged = set(qrels.query_ids)
    known = f"; the qrels have {first_few(qrels.query_ids)}"
    unjudged_ids = _check_judged(queries, judged, unjudged, known)
    if unjudged_ids and unjudged == "zero":
        grades = qrels.as_dict()
        filled = Qrels(
            {query_id: grades.get(query_id, NO_RELEVANT_DOCUMENT) for query_id in queries}
        )
        filled.max_grade = qrels.max_grade
        return filled.excluding_as(qrels)
    return qrels.select([query_id for query_id in queries if query_id in judged])


def _check_judged(queries: list[str], judged: set[str], unjudged: str, known: str) -> list[str]:
    """Return the queries without judgements.

    Args:
        queries: the ids of the queries. [Q]
        judged: the ids of the judged queries.
        unjudged: as for ``select_qrels``.
        known: the ids that the qrels have, as a clause; "" if there are no qrels.

    Raises:
        InputError: there is one (with "error"), or all are without judgements (with "skip").
    """
    unjudged_ids = [query_id for query_id in queries if query_id not in judged]
    if len(unjudged_ids) == len(queries) and unjudged != "zero":
        remedy = (
            "pass the ids of the qrels as query_ids" if known else "pass ground-truth documents"
        )
        msg = (
            f"none of the {len(queries)} queries has a judgement: {first_few(queries)}{known}. "
            f"To score them, {remedy}"
        )
        raise InputError(msg)
    if unjudged_ids and unjudged == "error":
        msg = (
            f"{len(unjudged_ids)} of {len(queries)} queries have no judgements: "
            f"{first_few(unjudged_ids)}{known}. Judge them, or set unjudged='skip' (left out of "
            "the means) or 'zero'"
        )
        raise InputError(msg)
    return unjudged_ids
