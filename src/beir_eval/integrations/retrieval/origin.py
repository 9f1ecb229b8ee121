"""What made the answers of a retriever, and how it differs from what there is now.

Saved answers are reused if they are of an equal ``Origin``. That of a retriever of LlamaIndex or
LangChain is its class, its settings and the user's own code.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from beir_eval._version import __version__
from beir_eval.core.own_code import code_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: The layout of a journal's first line.
LAYOUT = 2
_PYTHON = "Python"
#: Objects inside a retriever are described down to this depth.
_MAX_DEPTH = 3
#: Larger lists and dicts are the content of an index, not settings.
_MOST_SETTINGS = 20
_PLAIN_TYPES = (str, int, float, bool, type(None))
_SECRET = re.compile(r"key|token|secret|password", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What made the answers of a retriever.

    Attributes:
        settings: what identifies the retriever and its settings: plain values.
        own_code: {own module: SHA-256}, of ``own_code.code_of``.
        packages: {package: version}, with Python's and that of beir-eval.
        corpus: the SHA-256 of the documents that this process has written to its stores; None if it
            has written none.
        stored_documents: the number of documents in its stores; None if it is not known.
    """

    settings: Mapping[str, Any]
    own_code: Mapping[str, str] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)
    corpus: str | None = None
    stored_documents: int | None = None

    @property
    def _versions(self) -> dict[str, str]:
        ours = {"beir-eval": __version__, _PYTHON: platform.python_version()}
        return {**self.packages, **ours}

    def to_record(self) -> dict[str, Any]:
        """Return the first line of a journal."""
        return {
            "version": LAYOUT,
            "made_by": dict(self.settings),
            "own_code": dict(self.own_code),
            "packages": self._versions,
            "corpus": self.corpus,
            "stored_documents": self.stored_documents,
        }

    def differences(self, saved: Mapping[str, Any]) -> list[str]:
        """Return what differs from a journal's first line so that its answers are not reused.

        What is not known on one of both sides does not differ.

        Args:
            saved: the first line, of ``to_record``.
        """
        settings = saved["made_by"]
        names = sorted({*settings, *self.settings})
        differing = [name for name in names if settings.get(name) != self.settings.get(name)]
        changed = {
            name
            for name in {*saved["own_code"], *self.own_code}
            if saved["own_code"].get(name) != self.own_code.get(name)
        }
        differing += [f"the code of {name}" for name in sorted(changed)]
        if None not in (self.corpus, saved["corpus"]) and self.corpus != saved["corpus"]:
            differing.append("the corpus")
        numbers = (saved["stored_documents"], self.stored_documents)
        if None not in numbers and numbers[0] != numbers[1]:
            differing.append(
                f"the number of stored documents, {numbers[0]:,} then and {numbers[1]:,} now"
            )
        return differing

    def changed_versions(self, saved: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
        """Return {package: (version then, version now)} of those that differ; "" for none."""
        then, now = saved["packages"], self._versions
        return {
            name: (then.get(name, ""), now.get(name, ""))
            for name in sorted({*then, *now})
            if then.get(name) != now.get(name)
        }


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
