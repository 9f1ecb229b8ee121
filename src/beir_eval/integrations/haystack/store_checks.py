"""What a pipeline cannot find in its document stores, and what else they show."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from haystack.document_stores.in_memory import InMemoryDocumentStore

from beir_eval.core.ranking import EvaluationSettings
from beir_eval.core.relevance_matrix import relate
from beir_eval.errors import SettingError, first_few, shown
from beir_eval.inspection.finding import (
    LEAST_QUERIES,
    LEAST_RANKINGS,
    LEAST_SHARE,
    STANDARD_ERRORS,
    Finding,
)
from beir_eval.integrations.haystack.components import models_of, stores_of, walk_components
from beir_eval.integrations.haystack.documents import INDEX_CALL, INDEX_PIPELINE
from beir_eval.integrations.haystack.indexing import (
    absent_from_corpus,
    written_models,
    written_part,
)
from beir_eval.integrations.retrieval.run_queries import part_of_corpus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run import Run
    from beir_eval.integrations.retrieval.documents import DocumentNames

#: How many documents a store is asked for at a time, and how often.
_ASKED_AT_ONCE, _MOST_REQUESTS = 1_000, 10
_QUERY_EMBEDDING = "query_embedding"


def embedding_retrievers(pipeline: Any) -> Iterator[tuple[str, Any]]:
    """Yield (component, store) of each component that searches a store by embedding.

    Args:
        pipeline: the pipeline; what is inside its components is looked into.
    """
    for path, component in walk_components(pipeline):
        store = getattr(component, "document_store", None)
        if store is not None and _QUERY_EMBEDDING in inspect.signature(component.run).parameters:
            yield "/".join(path), store


def _without_embedding(pipeline: Any) -> Iterator[tuple[str, list[str], int]]:
    """Yield (component, ids of the documents without an embedding, number of documents).

    Only stores in memory are looked at: others need not return embeddings.
    """
    for name, store in embedding_retrievers(pipeline):
        if isinstance(store, InMemoryDocumentStore):
            documents = store.storage.values()
            lacking = [document.id for document in documents if document.embedding is None]
            yield name, lacking, len(documents)


def check_embeddings(pipeline: Any) -> None:
    """Check that documents have embeddings where a component searches a store in memory by them.

    Raises:
        SettingError: no document of such a store has an embedding.
    """
    for name, lacking, num_documents in _without_embedding(pipeline):
        if len(lacking) == num_documents > 0:
            msg = (
                f"{name} searches by embedding, but none of the {num_documents:,} documents in "
                "its store has one, so it finds nothing; write the corpus through a pipeline "
                f"with an embedder: {INDEX_PIPELINE}"
            )
            raise SettingError(msg)


def check_text_is_enough(pipeline: Any) -> None:
    """Check that no component searches by embedding, before a corpus is written as text.

    Raises:
        SettingError: a component does.
    """
    name = next((name for name, _ in embedding_retrievers(pipeline)), None)
    if name is not None:
        msg = (
            f"{name} searches by embedding, and {INDEX_CALL} writes text without embeddings, so it "
            f"would find nothing; write the corpus through an indexing pipeline with an embedder: "
            f"{INDEX_PIPELINE}"
        )
        raise SettingError(msg)


@dataclass(frozen=True)
class _StoreAnswer:
    """What a store says about the documents that it was asked for.

    Attributes:
        requested: the names of the documents.
        present: those of them that it has.
        reason: why it could not be asked; "" if it could.
    """

    requested: frozenset[str]
    present: frozenset[str]
    reason: str = ""


def store_findings(
    pipeline: Any, judged: Mapping[str, float], names: DocumentNames, *, has_own_inputs: bool
) -> Iterator[Finding]:
    """Yield what the stores of a pipeline show before any query is run.

    Args:
        pipeline: the pipeline.
        judged: {name: highest grade} of the judged documents.
        names: the fields that identify a document.
        has_own_inputs: whether a function makes the inputs of each query, which may be filters.
    """
    stores = {id(store): (name, store) for name, store in stores_of(pipeline)}
    all_answers: list[_StoreAnswer] = []
    num_asked = 0
    for name, store in stores.values():
        if _count_documents(store) == 0:
            fact = f"the document store of {name} is empty"
            yield Finding.from_code("empty-store", fact, count=len(judged))
            continue
        num_asked += 1
        answer = _ask(store, judged, names)
        if answer is None:
            continue
        if answer.reason:
            yield Finding.from_code(
                "store-not-asked",
                f"the document store of {name} could not be asked for the judged documents "
                f"({answer.reason}), so whether it has them is not known",
                count=len(judged),
            )
            continue
        all_answers.append(answer)
    yield from _lacking_embeddings(pipeline)
    yield from _other_models(pipeline)
    if not has_own_inputs:
        yield from _filtered(pipeline, judged, names)
    yield from _further_ids(stores.values(), judged, names)
    part = written_part(store for _, store in stores.values())
    if part is not None:
        yield part_of_corpus(part)
    if all_answers and len(all_answers) == num_asked:
        yield from _absent(judged, all_answers, [store for _, store in stores.values()])


def _lacking_embeddings(pipeline: Any) -> Iterator[Finding]:
    """Yield that some documents have no embedding; none is an error of ``check_embeddings``."""
    for name, lacking, num_documents in _without_embedding(pipeline):
        if 0 < len(lacking) < num_documents:
            verb = "has" if len(lacking) == 1 else "have"
            yield Finding.from_code(
                "documents-without-embedding",
                f"{len(lacking):,} of {num_documents:,} documents in the store of {name} {verb} no "
                f"embedding, so it cannot find them: {first_few(lacking)}",
                count=len(lacking),
                total=num_documents,
            )


def _other_models(pipeline: Any) -> Iterator[Finding]:
    """Yield that a text embedder has another model than the one that ``index`` wrote with."""
    stores = [store for _, store in embedding_retrievers(pipeline)]
    of_queries, of_documents = models_of(pipeline, "TextEmbedder"), written_models(stores)
    if of_queries and of_documents and of_queries.isdisjoint(of_documents):
        yield Finding.from_code(
            "other-embedding-model",
            f"queries are embedded by {' and '.join(sorted(of_queries))}, and the documents were "
            f"by {' and '.join(sorted(of_documents))}",
            count=len(of_queries),
        )


def _filtered(
    pipeline: Any, judged: Mapping[str, float], names: DocumentNames
) -> Iterator[Finding]:
    """Yield that filters exclude judged documents of a store from all components that search it."""
    searching: dict[int, list[tuple[str, Any]]] = {}
    for path, component in walk_components(pipeline):
        if hasattr(getattr(component, "document_store", None), "filter_documents"):
            searching.setdefault(id(component.document_store), []).append(
                ("/".join(path), component)
            )
    for components in searching.values():
        all_filters = [getattr(component, "filters", None) for _, component in components]
        if not all(filters and isinstance(filters, dict) for filters in all_filters):
            continue
        store = components[0][1].document_store
        stored, *passed = (_ask(store, judged, names, only) for only in (None, *all_filters))
        known = [answer for answer in passed if answer is not None and not answer.reason]
        if stored is None or len(known) < len(passed):
            continue
        excluded = stored.present.difference(*(answer.present for answer in known))
        if excluded:
            relevant = sum(judged[name] > 0 for name in excluded)
            yield Finding.from_code(
                "filtered-documents",
                f"the filters of {' and '.join(name for name, _ in components)} exclude "
                f"{len(excluded):,} of the {len(stored.present):,} judged documents in the store, "
                f"{relevant:,} of them relevant: "
                f"{first_few(name for name in judged if name in excluded)}",
                count=len(excluded),
                total=len(stored.present),
            )


def _further_ids(
    stores: Iterable[tuple[str, Any]], judged: Mapping[str, float], names: DocumentNames
) -> Iterator[Finding]:
    """Yield that a store in memory has texts of relevant documents under ids that are not judged.

    All texts of a document must be there, so that chunks which many documents have show nothing.
    """
    for store_name, store in stores:
        if names.are_contents or not isinstance(store, InMemoryDocumentStore):
            continue
        documents = list(store.storage.values())
        others: dict[str, str] = {}
        texts_of: dict[str, list[str]] = {}
        for document, name in zip(documents, names.names_of(documents), strict=True):
            if document.content and name and judged.get(name, 0) > 0:
                texts_of.setdefault(name, []).append(document.content)
            elif document.content and name and name not in judged:
                others[document.content] = name
        twice = [name for name, texts in texts_of.items() if all(text in others for text in texts)]
        if len(twice) >= max(LEAST_RANKINGS, LEAST_SHARE * len(texts_of)):
            yield Finding.from_code(
                "further-ids",
                f"the store of {store_name} has the texts of {len(twice):,} of {len(texts_of):,} "
                "relevant documents under further ids too, which count as not relevant",
                count=len(twice),
                total=len(texts_of),
                examples=(
                    f"{shown(name)} and {shown(others[texts_of[name][0]])}" for name in twice
                ),
            )


def random_rankings(qrels: Qrels, run: Run, num_stored: int) -> Iterator[Finding]:
    """Yield that rankings hold no more relevant documents than random ones of their store.

    Up to one standard deviation (of a Poisson distribution) more are no more; nothing is said if
    random rankings would hold none, or those of a perfect retriever were not clearly more.

    Args:
        qrels: the judgements.
        run: the rankings.
        num_stored: the number of documents in the store; 0 if it is not known.
    """
    matrix, _ = relate(qrels, run, EvaluationSettings(duplicates="keep"))
    is_ranked = matrix.num_retrieved > 0
    if not num_stored or np.count_nonzero(is_ranked) < LEAST_QUERIES:
        return
    retrieved, relevant = matrix.num_retrieved[is_ranked], matrix.num_relevant()[is_ranked]
    expected = float((retrieved * (relevant / num_stored)).sum())
    most = int(np.minimum(retrieved, relevant).sum())
    count = len(matrix.relevant().row)
    is_clear = most > expected + STANDARD_ERRORS * (1 + expected**0.5)
    if is_clear and expected >= 1 and count <= expected + expected**0.5:
        yield Finding.from_code(
            "random-rankings",
            f"the rankings hold {count:,} relevant documents, and random ones of the "
            f"{num_stored:,} documents in the store would hold {expected:,.1f}",
            count=count,
            total=most,
        )


def _absent(
    judged: Mapping[str, float], all_answers: list[_StoreAnswer], stores: list[Any]
) -> Iterator[Finding]:
    """Yield that judged documents are in none of the stores."""
    requested = frozenset.intersection(*(answer.requested for answer in all_answers))
    absent = requested.difference(*(answer.present for answer in all_answers))
    if not absent:
        return
    source = "corpus" if absent <= absent_from_corpus(stores) else "store"
    examples = first_few(name for name in judged if name in absent)
    number = f"{len(requested):,} judged documents"
    if len(requested) < len(judged):
        number += f" that were asked for, of {len(judged):,}"
    if len(judged) == 1:
        sentence = f"the {source} does not have the only judged document, {examples}"
    elif absent == requested:
        sentence = f"the {source} has none of the {number}: {examples}"
    else:
        relevant = sum(judged[name] > 0 for name in absent)
        of_them = "" if relevant == len(absent) else f", {relevant:,} of them relevant"
        verb = "is" if len(absent) == 1 else "are"
        sentence = (
            f"{len(absent):,} of {number} {verb} not in the {source}{of_them}, so no ranking can "
            f"have them: {examples}"
        )
    yield Finding.from_code(
        "judged-documents-not-stored", sentence, count=len(absent), total=len(requested)
    )


def _count_documents(store: Any) -> int | None:
    """Return the number of documents in a store; None if it does not say."""
    try:
        return int(store.count_documents())
    except Exception:  # noqa: BLE001 - whatever the store raises
        return None


def count_stored(pipeline: Any) -> int | None:
    """Return the number of documents in the stores of a pipeline; None if one does not say."""
    stores = {id(store): store for _, store in stores_of(pipeline)}
    counts = [_count_documents(store) for store in stores.values()]
    return None if not counts or None in counts else sum(filter(None, counts))


def _ask(
    store: Any, judged: Collection[str], names: DocumentNames, filters: Any = None
) -> _StoreAnswer | None:
    """Ask a store for judged documents; None if their names are no values that can be asked for.

    Args:
        store: the store.
        judged: their names.
        names: the fields that identify a document.
        filters: what else a document must fulfil.
    """
    if isinstance(store, InMemoryDocumentStore):
        documents = list(store.storage.values())
        try:
            documents = store.filter_documents(filters) if filters else documents
        except Exception as error:  # noqa: BLE001 - whatever the store raises
            return _StoreAnswer(frozenset(judged), frozenset(), str(error))
        stored = set(names.names_of(documents))
        return _StoreAnswer(frozenset(judged), frozenset(name for name in judged if name in stored))
    fields = [field for field in (names.collapse, *names.fields) if field not in {None, "content"}]
    if not fields or len(names.fields) > 1:
        return None
    requested = list(islice(judged, _ASKED_AT_ONCE * _MOST_REQUESTS))
    present: set[str] = set()
    reasons: list[str] = []
    for field in fields:
        try:
            for first in range(0, len(requested), _ASKED_AT_ONCE):
                wanted = [n for n in requested[first : first + _ASKED_AT_ONCE] if n not in present]
                present |= _present(store, field, wanted, names, filters)
        except Exception as error:  # noqa: BLE001 - whatever the store raises
            reasons.append(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
    reason = reasons[0] if len(reasons) == len(fields) else ""
    return _StoreAnswer(frozenset(requested), frozenset(present), reason)


def _present(
    store: Any, field: str, wanted: list[str], names: DocumentNames, filters: Any
) -> set[str]:
    """Return which documents a store has, by the value of one field.

    A number in metadata has its decimal text as name, so it is asked for as a number, too.
    """
    if not wanted:
        return set()
    requests: list[list[Any]] = [wanted]
    if field != "id":
        requests.append([int(n) for n in wanted if n.isascii() and n.isdecimal()])
    present: set[str] = set()
    for values in requests:
        if values and not present:
            condition: dict[str, Any] = {"field": field, "operator": "in", "value": values}
            if filters:
                condition = {"operator": "AND", "conditions": [filters, condition]}
            present.update(filter(None, names.names_of(store.filter_documents(condition))))
    return present.intersection(wanted)
