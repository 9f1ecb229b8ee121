"""The stages of a pipeline: its outputs of documents, and which of them passes its documents on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx as nx
from haystack import Document, GeneratedAnswer

from beir_eval.errors import SettingError
from beir_eval.integrations.haystack.components import inner_pipeline
from beir_eval.integrations.haystack.sockets import Socket, holds_sequence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

#: Components whose order of documents is for a prompt, not for a reader.
_PROMPT_RANKERS = ("LostInTheMiddleRanker",)


class PipelineStage(NamedTuple):
    """An output of documents, or of answers, whose first one cites documents.

    Attributes:
        path: the component, after the SuperComponents that it is in.
        socket: the name of its output.
        name: "component", or "outer/inner" inside a SuperComponent; of a component with several
            stages "component.output".
    """

    path: tuple[str, ...]
    socket: str
    name: str

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    @property
    def component(self) -> str:
        """The component, after the SuperComponents that it is in, as "outer/inner"."""
        return "/".join(self.path)


@dataclass(frozen=True)
class PipelineStages:
    """The stages from which the answer is made, and those in branches beside.

    Attributes:
        inputs: {stage: the nearest stages that it gets documents from}, in the order of documents.
        last: the stage whose documents are the answer.
        for_prompts: the stages of components that order documents for a prompt.
    """

    inputs: Mapping[PipelineStage, Sequence[PipelineStage]]
    last: PipelineStage
    for_prompts: frozenset[PipelineStage]

    @classmethod
    def of_pipeline(cls, pipeline: Any, output: Socket) -> PipelineStages:
        """Return the stages of a pipeline.

        A SuperComponent whose output is that of a stage inside is no stage of its own. Of the
        connections of a loop, those that lead back are not followed.

        Args:
            pipeline: the pipeline.
            output: the output with the ranked documents.

        Raises:
            SettingError: the output is no list of documents or answers by its type.
        """
        walk = _Walk()
        walk.visit(pipeline, (), ())
        last = walk.stage_of.get(((output.component,), output.name))
        if last is None:
            msg = (
                f"{output} is no stage: by its type it is no list of Documents or of "
                "GeneratedAnswers; evaluate the pipeline without its stages"
            )
            raise SettingError(msg)
        behind = _behind(walk.inputs, last)
        inputs = {
            stage: [before for before in befores if before not in behind]
            for stage, befores in walk.inputs.items()
            if stage not in behind
        }
        return cls(inputs, last, frozenset(walk.for_prompts))

    @property
    def by_path(self) -> dict[tuple[str, ...], list[PipelineStage]]:
        """{path of a component: its stages}."""
        stages: dict[tuple[str, ...], list[PipelineStage]] = {}
        for stage in self.inputs:
            stages.setdefault(stage.path, []).append(stage)
        return stages


class _Walk:
    """Collects the stages of a pipeline and of those inside it.

    Attributes:
        inputs: {stage: the stages that it gets documents from}, in the order of documents.
        stage_of: {(path, output): the stage}; of a SuperComponent the stage inside.
        for_prompts: the stages of components that order documents for a prompt.
    """

    def __init__(self) -> None:
        self.inputs: dict[PipelineStage, list[PipelineStage]] = {}
        self.stage_of: dict[tuple[tuple[str, ...], str], PipelineStage] = {}
        self.for_prompts: set[PipelineStage] = set()

    def visit(self, pipeline: Any, outer: tuple[str, ...], before: Sequence[PipelineStage]) -> None:
        """Collect the stages of a pipeline.

        Args:
            pipeline: the pipeline.
            outer: the path of the component that it is in.
            before: the stages that this component gets documents from.
        """
        order = {name: index for index, name in enumerate(_in_flow_order(pipeline.graph))}
        outputs = pipeline.outputs(include_components_with_connected_outputs=True)
        passed_on: dict[str, list[PipelineStage]] = {}

        def upstream(name: str, seen: set[str]) -> Iterable[PipelineStage]:
            for source in pipeline.graph.predecessors(name):
                if source in seen or order[source] >= order[name]:
                    continue
                seen.add(source)
                yield from passed_on[source] or upstream(source, seen)

        for name in order:
            sources = list(dict.fromkeys(upstream(name, {name}))) or list(before)
            component = pipeline.graph.nodes[name]["instance"]
            path = (*outer, name)
            inner = inner_pipeline(component)
            if inner is not None and hasattr(component, "output_mapping"):
                self.visit(inner, path, sources)
                passed_on[name] = self._inner_stages(path, component.output_mapping or {})
                continue
            sockets = [
                socket
                for socket, traits in outputs.get(name, {}).items()
                if _is_stage(traits["type"])
            ]
            label = "/".join(path)
            passed_on[name] = [
                PipelineStage(path, socket, label if len(sockets) == 1 else f"{label}.{socket}")
                for socket in sockets
            ]
            for stage in passed_on[name]:
                self.inputs[stage] = sources
                self.stage_of[stage.path, stage.socket] = stage
                if type(component).__name__ in _PROMPT_RANKERS:
                    self.for_prompts.add(stage)

    def _inner_stages(
        self, path: tuple[str, ...], output_mapping: Mapping[str, str]
    ) -> list[PipelineStage]:
        """Return the stages inside a SuperComponent that its outputs are."""
        stages = []
        for inner_output, name in output_mapping.items():
            component, _, socket = inner_output.partition(".")
            inner = self.stage_of.get(((*path, component), socket))
            if inner is not None:
                self.stage_of[path, name] = inner
                stages.append(inner)
        return stages


def _in_flow_order(graph: Any) -> list[str]:
    """Return the components in the order of data; those of a loop from where it is entered."""
    plain = nx.DiGraph(graph)
    condensed = nx.condensation(plain)
    order: list[str] = []
    for node in nx.topological_sort(condensed):
        members = condensed.nodes[node]["members"]
        entries = [name for name in members if not members.issuperset(plain.predecessors(name))]
        loop = nx.DiGraph(plain.subgraph(members))
        outside = object()
        entries = entries or [name for name in members if _takes_several(graph, name)]
        loop.add_edges_from((outside, name) for name in sorted(entries or members))
        # Without the edges that lead back, the reverse of this order is that of the data.
        order += list(nx.dfs_postorder_nodes(loop, outside))[-2::-1]
    return order


def _takes_several(graph: Any, name: str) -> bool:
    """Return whether an input takes the outputs of several components, or an input besides."""
    return any(socket.is_variadic for socket in graph.nodes[name]["input_sockets"].values())


def _behind(
    inputs: Mapping[PipelineStage, Sequence[PipelineStage]], last: PipelineStage
) -> set[PipelineStage]:
    """Return the stages that get documents from the last one."""
    behind: set[PipelineStage] = set()
    for stage, befores in inputs.items():
        if stage != last and any(before == last or before in behind for before in befores):
            behind.add(stage)
    return behind


def _is_stage(socket_type: Any) -> bool:
    return holds_sequence_of(socket_type, Document) or holds_sequence_of(
        socket_type, GeneratedAnswer
    )


def documents_of_stage(output: Sequence[Any]) -> Sequence[Any]:
    """Return the documents of an output: itself, or what the first answer cites."""
    if output and not hasattr(output[0], "content") and hasattr(output[0], "documents"):
        documents: Sequence[Any] = output[0].documents
        return documents
    return output
