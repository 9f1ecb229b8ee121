"""The inputs of a Haystack pipeline that take the query, and its output of documents."""

from __future__ import annotations

from collections.abc import Sequence
from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, Union, get_args, get_origin

import networkx as nx
from haystack import Document

from beir_eval.errors import SettingError
from beir_eval.integrations.haystack.components import inner_pipeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from haystack.core.pipeline.base import PipelineBase

#: An optional input of this name also takes the query: that of a prompt builder, for example.
_OPTIONAL_NAMES = ("query", "question")
#: If several inputs are required, each must have one of these names.
_QUERY_NAMES = (*_OPTIONAL_NAMES, "text")
#: An input of this name takes a list with the id of the query: that of ``BEIREvaluator``.
_IDS_NAME = "query_ids"
_REPLIES = "replies"
_SEQUENCES = (list, tuple, Sequence)
#: Inputs whose names begin so are those of an evaluator.
_TRUTH_PREFIX = "ground_truth"


class Socket(NamedTuple):
    """An input or an output of a component."""

    component: str
    name: str

    def __str__(self) -> str:
        """Return "component.name", as Haystack writes it."""
        return f"{self.component}.{self.name}"


#: Inputs or outputs, each with Haystack's traits of it: its "type", whether it "is_mandatory".
_Sockets: TypeAlias = "Mapping[Socket, Mapping[str, Any]]"


def query_inputs(pipeline: PipelineBase, requested: str | Iterable[str] | None) -> list[Socket]:
    """Return the inputs that take the text of the query.

    By default, these are all required inputs that are not connected: there must be only one, or
    each must be named "query", "question" or "text". Optional inputs of text named "query" or
    "question" are added.

    Args:
        pipeline: the pipeline.
        requested: the inputs to use instead, as "component.input"; None for the default.

    Raises:
        SettingError: no input takes the query, a requested input does not exist, or a required
            input may not be for the query.
    """
    inputs = _unconnected_inputs(pipeline)
    if requested is not None:
        names = [requested] if isinstance(requested, str) else list(requested)
        return [_find_socket(name, inputs, "input") for name in names]
    type_of_required = {
        socket: traits["type"] for socket, traits in inputs.items() if traits["is_mandatory"]
    }
    unclear = [
        f"{socket} ({input_type})"
        for socket, input_type in type_of_required.items()
        if not _takes_text(input_type)
        or (socket.name not in _QUERY_NAMES and len(type_of_required) > 1)
    ]
    if unclear:
        msg = (
            f"the pipeline needs {', '.join(unclear)}, which may not be for the query; state what "
            "takes it, inputs=['component.input'], or what the pipeline is run with: "
            "inputs=lambda query_id, text: {…}"
        )
        if any(socket.name.startswith(_TRUTH_PREFIX) for socket in type_of_required):
            msg += ". The data set has the judgements: pass a pipeline without its evaluator"
        raise SettingError(msg)
    query_sockets = [
        socket
        for socket, traits in inputs.items()
        if traits["is_mandatory"]
        or (_takes_text(traits["type"]) and socket.name in _OPTIONAL_NAMES)
    ]
    if not query_sockets:
        msg = (
            f"no input of the pipeline takes a query; its inputs are {_socket_names(inputs)}. "
            "State it: inputs=['component.input']"
        )
        raise SettingError(msg)
    return query_sockets


def id_inputs(pipeline: PipelineBase) -> list[Socket]:
    """Return the inputs that take a list with the id of the query, such as an evaluator's."""
    return [
        socket
        for socket, traits in _unconnected_inputs(pipeline).items()
        if socket.name == _IDS_NAME and list[str] in _union_members(traits["type"])
    ]


def documents_output(pipeline: PipelineBase, requested: str | None) -> Socket:
    """Return the output with the ranked documents.

    By default, it is the one list of Documents whose component has no descendant in the pipeline
    that outputs a list of Documents.

    Args:
        pipeline: the pipeline.
        requested: the output to use instead, as "component.output"; None for the default.

    Raises:
        SettingError: there is no such output, or there are several.
    """
    outputs = _by_socket(pipeline.outputs(include_components_with_connected_outputs=True))
    if requested is not None:
        return _find_socket(requested, outputs, "output")
    candidates = _document_sockets(outputs)
    producers = {socket.component for socket in candidates}
    last = [
        socket
        for socket in candidates
        if not producers & nx.descendants(pipeline.graph, socket.component)
    ]
    for socket in last:
        _check_nothing_follows(socket, outputs, nx.descendants(pipeline.graph, socket.component))
    return _single_socket(last, outputs, "output", "documents_from='component.output'")


def find_output(pipeline: PipelineBase, name: str) -> Socket:
    """Return an output by its name, "component.output".

    Raises:
        SettingError: there is no such output.
    """
    outputs = _by_socket(pipeline.outputs(include_components_with_connected_outputs=True))
    return _find_socket(name, outputs, "output")


def _check_nothing_follows(output: Socket, outputs: _Sockets, followers: set[str]) -> None:
    """Check that no component behind an output may return documents, by the type that it declares.

    Raises:
        SettingError: one may.
    """
    unclear = [
        socket
        for socket, traits in outputs.items()
        if socket.component in followers and _may_hold_documents(traits["type"])
    ]
    if unclear:
        msg = (
            f"the ranking may be {output}, or {_socket_names(unclear)}, whose type may hold "
            f"documents too; state documents_from='{unclear[-1]}' or '{output}'"
        )
        raise SettingError(msg)


def all_document_outputs(
    pipeline: PipelineBase, outer: tuple[str, ...] = ()
) -> dict[tuple[str, ...], list[str]]:
    """Return {path of a component: its outputs of Documents}, also inside SuperComponents.

    A SuperComponent is left out: its outputs are those of a component inside.

    Args:
        pipeline: the pipeline.
        outer: the path of the component that it is in.
    """
    outputs: dict[tuple[str, ...], list[str]] = {}
    by_socket = _by_socket(pipeline.outputs(include_components_with_connected_outputs=True))
    for name, component in pipeline.walk():
        inner = inner_pipeline(component)
        if inner is not None:
            outputs |= all_document_outputs(inner, (*outer, name))
            continue
        sockets = [
            socket.name for socket in _document_sockets(by_socket) if socket.component == name
        ]
        if sockets:
            outputs[*outer, name] = sockets
    return outputs


def generates_text(pipeline: PipelineBase) -> bool:
    """Return whether a component has an output "replies", as those with a language model."""
    outputs = _by_socket(pipeline.outputs(include_components_with_connected_outputs=True))
    inner_pipelines = filter(None, (inner_pipeline(component) for _, component in pipeline.walk()))
    return any(socket.name == _REPLIES for socket in outputs) or any(
        map(generates_text, inner_pipelines)
    )


def documents_input(pipeline: PipelineBase) -> Socket:
    """Return the one input of an indexing pipeline that takes a list of Documents.

    Raises:
        SettingError: there is no such input, or there are several.
    """
    inputs = _unconnected_inputs(pipeline)
    return _single_socket(
        _document_sockets(inputs), inputs, "input", "a pipeline with one, or the store itself"
    )


def _unconnected_inputs(pipeline: PipelineBase) -> _Sockets:
    """Return the inputs that no other component is connected to."""
    return _by_socket(pipeline.inputs(include_components_with_connected_inputs=False))


def _by_socket(components: Mapping[str, Mapping[str, Any]]) -> _Sockets:
    return {
        Socket(component, name): traits
        for component, sockets in components.items()
        for name, traits in sockets.items()
    }


def _document_sockets(sockets: _Sockets) -> list[Socket]:
    return [
        socket for socket, traits in sockets.items() if holds_sequence_of(traits["type"], Document)
    ]


def _single_socket(
    candidates: list[Socket], sockets: _Sockets, direction: str, remedy: str
) -> Socket:
    if len(candidates) == 1:
        return candidates[0]
    actual = (
        f"several: {_socket_names(candidates)}"
        if candidates
        else f"none among {_socket_names(sockets)}"
    )
    msg = (
        f"one {direction} of Documents was expected, but the pipeline has {actual}; state {remedy}"
    )
    raise SettingError(msg)


def _find_socket(name: str, sockets: _Sockets, direction: str) -> Socket:
    component, _, socket_name = name.partition(".")
    socket = Socket(component, socket_name)
    if socket not in sockets:
        msg = f"the pipeline has no {direction} {name!r}; it has {_socket_names(sockets)}"
        raise SettingError(msg)
    return socket


def _socket_names(sockets: Iterable[Socket]) -> str:
    return ", ".join(map(str, sockets)) or "none"


def _takes_text(socket_type: Any) -> bool:
    return socket_type is Any or str in _union_members(socket_type)


def holds_sequence_of(socket_type: Any, kind: type) -> bool:
    """Return whether a type is a list or another sequence of a class, or a union with it.

    Args:
        socket_type: the type of an input or an output.
        kind: the class, such as Document; its subclasses count too.
    """
    return any(
        get_origin(member) in _SEQUENCES
        and all(
            argument is ... or (isinstance(argument, type) and issubclass(argument, kind))
            for argument in get_args(member)
        )
        for member in _union_members(socket_type)
    )


def _may_hold_documents(socket_type: Any) -> bool:
    """Return whether a value of the type may be a list of Documents, though it need not be."""
    return any(
        member is Any
        or member in _SEQUENCES
        or (get_origin(member) in _SEQUENCES and Any in get_args(member))
        for member in _union_members(socket_type)
    )


def _union_members(socket_type: Any) -> tuple[Any, ...]:
    """Return the types of a union; for another type, only that type."""
    return (
        get_args(socket_type) if get_origin(socket_type) in (Union, UnionType) else (socket_type,)
    )
