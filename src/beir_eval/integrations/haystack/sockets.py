"""Where a Haystack pipeline takes the query, and where its documents come out."""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, Union, get_args, get_origin

import networkx as nx
from haystack import Document

from beir_eval.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from haystack.core.pipeline.base import PipelineBase

#: An optional input of this name takes the query too: a prompt builder's, for example.
_OPTIONAL_NAMES = ("query", "question")
#: Inputs of these names take the query also where there are several.
_QUERY_NAMES = (*_OPTIONAL_NAMES, "text")


class Socket(NamedTuple):
    """One input or output of one component."""

    component: str
    name: str

    def __str__(self) -> str:
        """Return it as Haystack writes it."""
        return f"{self.component}.{self.name}"


#: Inputs or outputs, each with what Haystack says of it: its "type", whether it "is_mandatory".
_Traits: TypeAlias = "Mapping[Socket, Mapping[str, Any]]"


def query_inputs(pipeline: PipelineBase, stated: str | Iterable[str] | None) -> list[Socket]:
    """Return the inputs that take the text of the query.

    Unless they are stated: every unconnected input of text that the pipeline cannot run without,
    which must be the only one or be named "query", "question" or "text"; and the optional ones
    named "query" or "question".

    Raises:
        SettingError: there is none, there is no such input, or one must be given that may be for
            something else.
    """
    inputs = _open_inputs(pipeline)
    if stated is not None:
        names = [stated] if isinstance(stated, str) else list(stated)
        if not names:
            msg = f"inputs is empty; the pipeline's inputs are {_listed(inputs)}"
            raise SettingError(msg)
        return [_stated(name, inputs, "input") for name in names]
    needed = {socket: traits["type"] for socket, traits in inputs.items() if traits["is_mandatory"]}
    unclear = [
        f"{socket} ({kind})"
        for socket, kind in needed.items()
        if not _takes_text(kind) or (socket.name not in _QUERY_NAMES and len(needed) > 1)
    ]
    if unclear:
        msg = (
            f"the pipeline needs {', '.join(unclear)}, which may not be for the query; state what "
            "takes it, inputs=['component.input'], or what the pipeline is run with: "
            "inputs=lambda query_id, text: {…}"
        )
        raise SettingError(msg)
    found = [
        socket
        for socket, traits in inputs.items()
        if traits["is_mandatory"]
        or (_takes_text(traits["type"]) and socket.name in _OPTIONAL_NAMES)
    ]
    if not found:
        msg = (
            f"no input of the pipeline takes a query; its inputs are {_listed(inputs)}. State it: "
            "inputs=['component.input']"
        )
        raise SettingError(msg)
    return found


def documents_output(pipeline: PipelineBase, stated: str | None) -> Socket:
    """Return the output whose documents are the answer to the query.

    Unless it is stated: the list of Documents from which no other list of Documents is made.

    Raises:
        SettingError: there is none, or several; or no such output.
    """
    outputs = _by_socket(pipeline.outputs(include_components_with_connected_outputs=True))
    if stated is not None:
        return _stated(stated, outputs, "output")
    candidates = _of_documents(outputs)
    makers = {socket.component for socket in candidates}
    last = [
        socket
        for socket in candidates
        if not makers & nx.descendants(pipeline.graph, socket.component)
    ]
    return _only(last, outputs, "output", "documents_from='component.output'")


def documents_input(pipeline: PipelineBase) -> Socket:
    """Return the input of an indexing pipeline that takes documents.

    Raises:
        SettingError: there is none, or several.
    """
    inputs = _open_inputs(pipeline)
    return _only(_of_documents(inputs), inputs, "input", "a pipeline with one, or the store itself")


def _open_inputs(pipeline: PipelineBase) -> _Traits:
    """Return the inputs to which no other component is connected."""
    return _by_socket(pipeline.inputs(include_components_with_connected_inputs=False))


def _by_socket(components: Mapping[str, Mapping[str, Any]]) -> _Traits:
    return {
        Socket(component, name): traits
        for component, sockets in components.items()
        for name, traits in sockets.items()
    }


def _of_documents(sockets: _Traits) -> list[Socket]:
    return [socket for socket, traits in sockets.items() if _holds_documents(traits["type"])]


def _only(found: list[Socket], known: _Traits, what: str, remedy: str) -> Socket:
    if len(found) == 1:
        return found[0]
    held = f"several: {_listed(found)}" if found else f"none among {_listed(known)}"
    msg = f"one {what} of Documents was expected, but the pipeline has {held}; state {remedy}"
    raise SettingError(msg)


def _stated(name: str, known: _Traits, what: str) -> Socket:
    component, _, socket_name = name.partition(".")
    socket = Socket(component, socket_name)
    if socket not in known:
        msg = f"the pipeline has no {what} {name!r}; it has {_listed(known)}"
        raise SettingError(msg)
    return socket


def _listed(sockets: Iterable[Socket]) -> str:
    return ", ".join(map(str, sockets)) or "none"


def _takes_text(kind: Any) -> bool:
    return kind is Any or str in _choices(kind)


def _holds_documents(kind: Any) -> bool:
    """Return whether this is list[Document], by itself or as one choice."""
    return any(get_origin(one) is list and get_args(one) == (Document,) for one in _choices(kind))


def _choices(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union; another type by itself."""
    return get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
