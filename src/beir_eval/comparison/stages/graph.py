"""Which stage passes its documents to which."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from beir_eval.errors import InputError, first_few, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class StageGraph:
    """The stages of a pipeline, and the stages that each gets documents from.

    Attributes:
        inputs: {stage: its inputs}, in the order in which documents flow.
        last: the stage whose documents are the answer.
    """

    inputs: dict[str, tuple[str, ...]]
    last: str

    @classmethod
    def from_inputs(
        cls, stages: Sequence[str], inputs: Mapping[str, str | Sequence[str]] | None
    ) -> StageGraph:
        """Return the graph of some stages, of which the last one given is the last.

        Args:
            stages: their names, without repeats.
            inputs: {stage: its inputs}; other stages get no documents from these. None: each stage
                gets its documents from the one before.

        Raises:
            InputError: an unknown stage, the last stage as an input, or stages in a circle.
        """
        if inputs is None:
            pairs = zip(stages[1:], stages, strict=False)
            inputs = dict(pairs)
        listed = {
            stage: (given,) if isinstance(given := inputs.get(stage, ()), str) else tuple(given)
            for stage in stages
        }
        unknown = {*inputs, *(name for names in listed.values() for name in names)} - {*stages}
        if unknown:
            names = first_few(sorted(unknown))
            msg = f"inputs: there is no stage {names}; there are {first_few(stages)}"
            raise InputError(msg)
        last = stages[-1]
        after = [stage for stage, names in listed.items() if last in names]
        if after:
            msg = f"inputs: {shown(last)} is the last stage, but an input of {first_few(after)}"
            raise InputError(msg)
        try:
            order = list(TopologicalSorter(listed).static_order())
        except CycleError as error:
            msg = f"inputs: stages in a circle: {' <- '.join(error.args[1])}"
            raise InputError(msg) from error
        return cls({stage: listed[stage] for stage in order}, last)

    @property
    def sources(self) -> list[str]:
        """The stages without inputs that lead to the last one."""
        return [stage for stage in self.leading if not self.inputs[stage]]

    @cached_property
    def leading(self) -> list[str]:
        """The stages whose documents reach the last one, and it, in the order of documents."""
        reached = {self.last}
        for stage in reversed(self.inputs):
            if stage in reached:
                reached.update(self.inputs[stage])
        return [stage for stage in self.inputs if stage in reached]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The compared pairs: each stage with its inputs, the last one with each source too."""
        edges = [(stage, before) for stage in self.inputs for before in self.inputs[stage]]
        direct = [(self.last, source) for source in self.sources if source != self.last]
        return list(dict.fromkeys([*edges, *direct]))
