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
        question: the one pair that is compared, a stage and what it is compared with; None: all.
    """

    inputs: dict[str, tuple[str, ...]]
    last: str
    question: tuple[str, str] | None = None

    @classmethod
    def from_inputs(
        cls,
        stages: Sequence[str],
        inputs: Mapping[str, str | Sequence[str]] | None,
        pair: Sequence[str] | None = None,
    ) -> StageGraph:
        """Return the graph of some stages, of which the last one given is the last.

        Args:
            stages: their names, without repeats.
            inputs: {stage: its inputs}; other stages get no documents from these. None: each stage
                gets its documents from the one before.
            pair: the one pair that is compared; None: all.

        Raises:
            InputError: an unknown stage, the last stage as an input, stages in a circle, or a pair
                that is not of two stages.
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
        if pair is not None and (len(pair) != 2 or len({*pair} & {*stages}) != 2):  # noqa: PLR2004
            msg = (
                f"pair: two different stages were expected, not {shown(pair)}; there are "
                f"{first_few(stages)}"
            )
            raise InputError(msg)
        question = None if pair is None else (pair[0], pair[1])
        return cls({stage: listed[stage] for stage in order}, last, question)

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
        """The pair in question, or each stage with its inputs and the last one with each source."""
        if self.question is not None:
            return [self.question]
        edges = [(stage, before) for stage in self.inputs for before in self.inputs[stage]]
        direct = [(self.last, source) for source in self.sources if source != self.last]
        return list(dict.fromkeys([*edges, *direct]))
