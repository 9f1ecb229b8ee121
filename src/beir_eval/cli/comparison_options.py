"""Options of a comparison and of its gate, which ``compare`` and ``haystack`` take."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from beir_eval.cli.option_sets import COMMON, option, setting
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.errors import InputError, UnknownMeasureError
from beir_eval.measures import parse_all, with_rel

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Self

    from beir_eval.cli.outputs import Outputs
    from beir_eval.comparison.records import GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.evaluation.result import EvaluationResult

#: The exit codes by the outcome of the gate.
_GATE_CODES = {"passed": 0, "failed": 1, "undecided": 2}
#: The parameters that have an effect on several systems only.
_OF_SEVERAL = (
    *("gate", "non_inferior", "baseline", "detail", "deterministic", "clusters"),
    *("margin", "alpha", "test", "correction", "interval", "draws", "rng"),
)


@dataclass(frozen=True, kw_only=True)
class SystemOptions:
    """What is compared with what, and how repeats are related."""

    SECTION: ClassVar[str] = "Repeats and clusters"

    baseline: str | None = option(
        "The system that the others are compared with.", rich_help_panel=COMMON, metavar="NAME"
    )
    detail: bool = option(
        "Print all evidence: effects, power, judged shares.",
        "--detail",
        default=False,
        rich_help_panel=COMMON,
    )
    deterministic: list[str] | None = option(
        "A system whose repeats would be equal, such as BM25; repeat it for more.", metavar="NAME"
    )


@dataclass(frozen=True, kw_only=True)
class VerdictOptions:
    """Keywords of ``compare`` and ``compare_runs``."""

    SECTION: ClassVar[str] = "Test"

    margin: float = setting(ComparisonSettings, "margin")
    alpha: float = setting(ComparisonSettings, "alpha")


@dataclass(frozen=True, kw_only=True)
class GateOptions:
    """The gate; without measures, floors and ``non_inferior`` there is none.

    Raises:
        InputError: the value of an option has another form, or an option needs another one.
    """

    SECTION: ClassVar[str] = "Gate"

    gate: list[str] | None = option(
        "Exit with 1 if a system is shown to be worse than the baseline on this measure, with 2 if "
        "that cannot be decided; repeat it for more.",
        metavar="MEASURE",
    )
    non_inferior: bool = option(
        "The gate passes only what is shown to lose less than --margin.",
        "--non-inferior",
        default=False,
    )
    floor: list[str] | None = option(
        "Exit with 1 if a system's mean is below this score, for example nDCG@10=0.45; repeat it "
        "for more.",
        metavar="MEASURE=SCORE",
    )
    floor_interval: bool = option(
        "The floor is for the lower end of the mean's interval.", "--floor-interval", default=False
    )
    allow_missing: bool = option(
        "Check runs that lack judged queries all the same.", "--allow-missing", default=False
    )
    allow_unequal_depth: bool = option(
        "Check systems of different depths all the same on measures that compare these.",
        "--allow-unequal-depth",
        default=False,
    )

    def __post_init__(self) -> None:
        """Check the values and their combinations."""
        is_gated = self.is_gated
        check_options(
            {
                "--allow-missing is for a gate; add --gate MEASURE": (
                    self.allow_missing and not is_gated
                ),
                "--allow-unequal-depth is for a gate; add --gate MEASURE": (
                    self.allow_unequal_depth and not is_gated
                ),
                "--floor-interval is for a floor; add --floor MEASURE=SCORE": (
                    self.floor_interval and not self.floors
                ),
            }
        )

    @cached_property
    def measures(self) -> list[str]:
        """The measures of ``--gate``: as typed, or with the level of ``--rel``."""
        return _gates(self.gate or ())

    @cached_property
    def floors(self) -> dict[str, float]:
        """{measure: floor} of ``--floor``, likewise."""
        return _floors(self.floor or ())

    def check_outputs(self, outputs: Outputs) -> None:
        """Raise InputError if the checks of a gate are to be written and there is none."""
        message = "{} writes the checks of a gate; add --gate MEASURE"
        check_options({message.format(file): not self.is_gated for file in outputs.stated("xml")})

    def with_rel(self, rel: float | None) -> Self:
        """Return the gate with the level of ``--rel`` in its measures; None: as it is.

        Raises:
            InputError: two floors are for the same measure.
            MeasureError: the level, or a parameter of a measure, is not allowed.
        """
        if rel is None:
            return self
        return replace(
            self,
            gate=[of_level for name in self.measures for of_level in _at_level(name, rel)],
            floor=[
                f"{of_level}={limit!r}"
                for name, limit in self.floors.items()
                for of_level in _at_level(name, rel)
            ],
        )

    def baseline_of(self, names: Iterable[str]) -> str | None:
        """Return the first of the names if systems are checked against a baseline, else None."""
        return next(iter(names)) if self.measures or self.non_inferior else None

    @property
    def is_gated(self) -> bool:
        """Whether anything is checked."""
        return bool(self.measures or self.non_inferior or self.floors)

    def checked(self, comparison: Comparison) -> Comparison:
        """Return the comparison with the checks of the gate; without a gate, as it is."""
        from beir_eval.comparison.gate import check_gate  # noqa: PLC0415

        if not self.is_gated:
            return comparison
        checks = check_gate(
            comparison,
            self.measures or (None if self.non_inferior else []),
            non_inferior=self.non_inferior,
            floors=self.floors,
            floor_interval=self.floor_interval,
            allow_missing=self.allow_missing,
            allow_unequal_depth=self.allow_unequal_depth,
        )
        return comparison.model_copy(update={"gate": tuple(checks)})

    def check_alone(self, result: EvaluationResult, alpha: float) -> list[GateCheck]:
        """Return the checks of the floors of one result, whose intervals have this level."""
        from beir_eval.comparison.gate import check_floors  # noqa: PLC0415

        return check_floors(
            result,
            self.floors,
            floor_interval=self.floor_interval,
            allow_missing=self.allow_missing,
            alpha=alpha,
        )


def exit_code(checks: Sequence[GateCheck]) -> int:
    """Return the exit code of a command with these checks of a gate; 0 without checks."""
    from beir_eval.comparison.gate_output import gate_outcome  # noqa: PLC0415

    return _GATE_CODES[gate_outcome(checks)]


def check_one_system(
    stated: Collection[str], useful: Collection[str], reason: str, further: Sequence[str] = ()
) -> None:
    """Raise InputError if an option is stated that needs several systems.

    Args:
        stated: the names of the parameters that are stated.
        useful: those that have an effect here.
        reason: what follows the name of the option in the message.
        further: further parameters of the command that have an effect on several systems only.
    """
    names = {"rng": "seed"}
    check_options(
        {
            f"--{names.get(name, name).replace('_', '-')} {reason}": name in stated
            for name in (*_OF_SEVERAL, *further)
            if name not in useful
        }
    )


def check_options(problems: Mapping[str, object]) -> None:
    """Raise InputError with the first message whose combination of options is used."""
    for message, is_used in problems.items():
        if is_used:
            raise InputError(message)


def _at_level(name: str, rel: float) -> Sequence[str]:
    """Return the measures of a name, with this lowest relevant grade if they take and lack one.

    The name of a custom measure, which only the results know, is returned as it is.
    """
    try:
        return list(map(str, with_rel(parse_all(name), rel)))
    except UnknownMeasureError:
        return [name]


def _gates(options: Sequence[str]) -> list[str]:
    """Return the measures of ``--gate``.

    Raises:
        InputError: a value states a number too, as that of ``--floor`` does.
    """
    for value in options:
        measure, equals, number = value.rpartition("=")
        if equals and ")" not in number:
            msg = (
                f"--gate {value}: a measure alone was expected, such as --gate {measure}. "
                f"--floor {measure}={number} sets the lowest mean; --non-inferior --margin "
                f"{number} sets the loss that is allowed"
            )
            raise InputError(msg)
    return list(options)


def _floors(options: Sequence[str]) -> dict[str, float]:
    """Return {measure: floor} of values such as "nDCG@10=0.45".

    Raises:
        InputError: a value has another form, or a measure is named twice.
    """
    floors: dict[str, float] = {}
    for value in options:
        measure, _, text = value.rpartition("=")
        try:
            limit = float(text)
        except ValueError:
            limit = math.nan
        if not measure or not math.isfinite(limit):
            msg = f"--floor {value}: MEASURE=SCORE was expected, such as nDCG@10=0.45"
            raise InputError(msg)
        if measure in floors:
            msg = f"--floor names {measure} twice; leave out one floor"
            raise InputError(msg)
        floors[measure] = limit
    return floors
