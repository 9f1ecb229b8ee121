"""Where a Haystack pipeline takes the query, and where its documents come out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin

import networkx as nx
from haystack import Document

from beir_eval.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from haystack.core.pipeline.base import PipelineBase

#: An optional input of this name takes the query too: a prompt builder's, for example.
_QUERY_NAMES = ("query", "question")


class Socket(NamedTuple):
    """One input or output of one component."""

    component: str
    name: str

    def __str__(self) -> str:
        """Return it as Haystack writes it."""
        return f"{self.component}.{self.name}"


def query_inputs(pipeline: PipelineBase, stated: str | Iterable[str] | None) -> list[Socket]:
    """Return the inputs that take the text of the query.

    Unless they are stated: every unconnected input that the pipeline cannot run without, all of
    which must be text, and the optional ones named "query" or "question".

    Raises:
        SettingError: there is none, there is no such input, or one must be given that is no text.
    """
    inputs = pipeline.inputs(include_components_with_connected_inputs=False)
    if stated is not None:
        names = [stated] if isinstance(stated, str) else list(stated)
        return [_stated(name, inputs, "input") for name in names]
    found: list[Socket] = []
    for component, sockets in inputs.items():
        for name, socket in sockets.items():
            takes_text = _is_text(socket["type"]) or socket["type"] is Any
            if socket["is_mandatory"] and not takes_text:
                msg = (
                    f"the pipeline needs {component}.{name} ({socket['type']}), which is no text; "
                    "say what to run it with: inputs=lambda query_id, text: {…}"
                )
                raise SettingError(msg)
            if socket["is_mandatory"] or (takes_text and name in _QUERY_NAMES):
                found.append(Socket(component, name))
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
    outputs = pipeline.outputs(include_components_with_connected_outputs=True)
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
    inputs = pipeline.inputs(include_components_with_connected_inputs=False)
    return _only(_of_documents(inputs), inputs, "input", "a pipeline with one, or the store itself")


def _of_documents(sockets: Mapping[str, Mapping[str, Any]]) -> list[Socket]:
    return [
        Socket(component, name)
        for component, named in sockets.items()
        for name, socket in named.items()
        if _holds_documents(socket["type"])
    ]


def _only(
    found: list[Socket], known: Mapping[str, Mapping[str, Any]], what: str, remedy: str
) -> Socket:
    if len(found) == 1:
        return found[0]
    several = ", ".join(map(str, found))
    msg = (
        f"one {what} of Documents was expected, but the pipeline has "
        f"{f'several: {several}' if found else f'none among {_listed(known)}'}; state {remedy}"
    )
    raise SettingError(msg)


def _stated(name: str, known: Mapping[str, Mapping[str, Any]], what: str) -> Socket:
    component, _, socket = name.partition(".")
    if socket not in known.get(component, {}):
        msg = f"the pipeline has no {what} {name!r}; it has {_listed(known)}"
        raise SettingError(msg)
    return Socket(component, socket)


def _listed(sockets: Mapping[str, Mapping[str, Any]]) -> str:
    return ", ".join(f"{one}.{name}" for one, named in sockets.items() for name in named) or "none"


def _is_text(kind: Any) -> bool:
    return kind is str or (str in get_args(kind) and get_origin(kind) not in (list, dict))


def _holds_documents(kind: Any) -> bool:
    """Return whether this is list[Document], by itself or as one choice."""
    holds: Callable[[Any], bool] = lambda one: (  # noqa: E731 - of two lines
        get_origin(one) is list and get_args(one) == (Document,)
    )
    return holds(kind) or (get_origin(kind) not in (list, dict) and any(map(holds, get_args(kind))))
