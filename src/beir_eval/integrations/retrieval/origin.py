"""What made the answers of a retriever, and how it differs from what there is now.

Saved answers are reused if they are of an equal ``Origin``. That of a search function is its
source, what it is bound to and the user's own code.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from beir_eval._version import __version__
from beir_eval.core.own_code import code_of, objects_in, sha256_of

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The layout of a journal's first line.
LAYOUT = 2
_PYTHON = "Python"


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


def origin_of_search(search: Any, documents_go_by: str) -> Origin:
    """Return what makes the answers of a search function.

    Its settings are hashed: its source, and what it is bound to: attributes of its object, and of
    the objects in them down to 3 levels; arguments of a partial; defaults, and variables of the
    function around it (``own_code.text_of``).

    Args:
        search: the function, a method, a partial or a callable object.
        documents_go_by: the fields that identify a document.
    """
    code = code_of(objects_in(search))
    settings = {"retriever": sha256_of(search), "documents_go_by": documents_go_by}
    return Origin(settings=settings, own_code=code.own, packages=code.packages)
