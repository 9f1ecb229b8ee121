"""A retriever of LlamaIndex or LangChain: its answers, and what identifies it."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from beir_eval.core.own_code import code_of
from beir_eval.integrations.retrieval.documents import Ranking
from beir_eval.integrations.retrieval.origin import Origin
from beir_eval.integrations.retrieval.query_runner import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.integrations.retrieval.documents import DocumentNames, RetrievedDocument

#: Objects inside a retriever are described down to this depth.
_MAX_DEPTH = 3
#: Larger lists and dicts are the content of an index, not settings.
_MOST_SETTINGS = 20
_PLAIN_TYPES = (str, int, float, bool, type(None))
_SECRET = re.compile(r"key|token|secret|password", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


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


def origin_of_retriever(retriever: Any, documents_go_by: str) -> Origin:
    """Return what makes the answers of a retriever.

    Args:
        retriever: the retriever of the host.
        documents_go_by: the fields that identify a document.
    """
    code = code_of(_objects_in(retriever, _MAX_DEPTH))
    settings = {
        "retriever": fingerprint_of_retriever(retriever),
        "documents_go_by": documents_go_by,
    }
    return Origin(settings=settings, own_code=code.own, packages=code.packages)


def fingerprint_of_retriever(retriever: Any) -> str:
    """Return the SHA-256 of a retriever's class and settings.

    The settings are the texts and numbers among its attributes and those of the objects in them,
    down to 3 levels. The content of an index is not included, and neither are random ids and
    attributes whose names say that they are secret.
    """
    text = json.dumps(_settings_of(retriever, _MAX_DEPTH), sort_keys=True)
    return hashlib.sha256(_UUID.sub("", text).encode(errors="backslashreplace")).hexdigest()


def _objects_in(value: Any, depth: int) -> Iterator[Any]:
    """Yield an object and those among its attributes, down to a depth, whose code it may run."""
    if isinstance(value, (list, tuple)) and len(value) <= _MOST_SETTINGS:
        for item in value:
            yield from _objects_in(item, depth)
        return
    if isinstance(value, (*_PLAIN_TYPES, list, tuple, dict, set, frozenset, bytes)):
        return
    yield value
    if depth:
        private = getattr(value, "__pydantic_private__", None) or {}
        for attribute in {**getattr(value, "__dict__", {}), **private}.values():
            yield from _objects_in(attribute, depth - 1)


def _settings_of(value: Any, depth: int) -> Any:
    if isinstance(value, _PLAIN_TYPES):
        return value
    if isinstance(value, (list, tuple, dict)) and (len(value) > _MOST_SETTINGS or not depth):
        return type(value).__qualname__
    if isinstance(value, (list, tuple)):
        return [_settings_of(item, depth - 1) for item in value]
    if isinstance(value, dict):
        return _settings_of_attributes(value, depth)
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if not depth or callable(value):
        return kind
    # Pydantic keeps private attributes apart.
    private = getattr(value, "__pydantic_private__", None) or {}
    attributes = {**getattr(value, "__dict__", {}), **private}
    return [kind, _settings_of_attributes(attributes, depth)]


def _settings_of_attributes(attributes: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    return {
        str(name): _settings_of(attribute, depth - 1)
        for name, attribute in attributes.items()
        if not _SECRET.search(str(name))
    }
