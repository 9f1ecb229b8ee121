"""What a pipeline cannot find in its document stores: judged documents, and embeddings."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from haystack.document_stores.in_memory import InMemoryDocumentStore

from beir_eval.errors import SettingError, first_few
from beir_eval.evaluation.records import RetrievalProblem
from beir_eval.integrations.haystack.components import stores_of, walk_components
from beir_eval.integrations.haystack.documents import INDEX_CALL, INDEX_PIPELINE
from beir_eval.integrations.haystack.indexing import absent_from_corpus, written_part
from beir_eval.integrations.retrieval.run_queries import part_sentence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

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


def store_problems(
    pipeline: Any, judged: Mapping[str, float], names: DocumentNames
) -> Iterator[RetrievalProblem]:
    """Yield what the stores of a pipeline show before any query is run.

    Args:
        pipeline: the pipeline.
        judged: {name: highest grade} of the judged documents.
        names: the fields that identify a document.
    """
    stores = {id(store): (name, store) for name, store in stores_of(pipeline)}
    all_answers: list[_StoreAnswer] = []
    num_asked = 0
    for name, store in stores.values():
        if _count_documents(store) == 0:
            yield RetrievalProblem(kind="empty", sentence=f"the document store of {name} is empty")
            continue
        num_asked += 1
        answer = _ask(store, judged, names)
        if answer is None:
            continue
        if answer.reason:
            sentence = (
                f"the document store of {name} could not be asked for the judged documents "
                f"({answer.reason}), so whether it has them is not known"
            )
            yield RetrievalProblem(kind="not asked", sentence=sentence)
            continue
        all_answers.append(answer)
    yield from _embedding_problems(pipeline)
    part = written_part(store for _, store in stores.values())
    if part is not None:
        yield RetrievalProblem(kind="part", sentence=part_sentence(part))
    if all_answers and len(all_answers) == num_asked:
        yield from _absent(judged, all_answers, [store for _, store in stores.values()])


def _embedding_problems(pipeline: Any) -> Iterator[RetrievalProblem]:
    """Yield that some documents have no embedding; none is an error of ``check_embeddings``."""
    for name, lacking, num_documents in _without_embedding(pipeline):
        if 0 < len(lacking) < num_documents:
            verb = "has" if len(lacking) == 1 else "have"
            sentence = (
                f"{len(lacking):,} of {num_documents:,} documents in the store of {name} {verb} no "
                f"embedding, so it cannot find them: {first_few(lacking)}"
            )
            yield RetrievalProblem(kind="not found", sentence=sentence)


def _absent(
    judged: Mapping[str, float], all_answers: list[_StoreAnswer], stores: list[Any]
) -> Iterator[RetrievalProblem]:
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
    yield RetrievalProblem(kind="not found", sentence=sentence)


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


def _ask(store: Any, judged: Collection[str], names: DocumentNames) -> _StoreAnswer | None:
    """Ask a store for judged documents; None if their names are no values that can be asked for."""
    if isinstance(store, InMemoryDocumentStore):
        stored = set(names.names_of(list(store.storage.values())))
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
                present |= _present(store, field, wanted, names)
        except Exception as error:  # noqa: BLE001 - whatever the store raises
            reasons.append(f"{type(error).__name__}: {' '.join(str(error).split())[:200]}")
    reason = reasons[0] if len(reasons) == len(fields) else ""
    return _StoreAnswer(frozenset(requested), frozenset(present), reason)


def _present(store: Any, field: str, wanted: list[str], names: DocumentNames) -> set[str]:
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
            condition = {"field": field, "operator": "in", "value": values}
            present.update(filter(None, names.names_of(store.filter_documents(condition))))
    return present.intersection(wanted)
