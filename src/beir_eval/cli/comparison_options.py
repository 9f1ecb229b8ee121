"""Options of a comparison and of its gate, which ``compare`` and ``haystack`` take."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from beir_eval.cli.options import choice
from beir_eval.comparison.records import CORRECTIONS, INTERVALS
from beir_eval.errors import InputError, UnknownMeasureError
from beir_eval.measures import parse_all, with_rel
from beir_eval.significance import PAIRED_TESTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from beir_eval.comparison.records import GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike

BASELINE = typer.Option(help="The system that the others are compared with.")
MARGIN = typer.Option(help="The smallest difference that matters.")
ALPHA = typer.Option(help="The level of the verdicts.")
TEST = choice("--test", list(PAIRED_TESTS), "The test.")
CORRECTION = choice(
    "--correction",
    CORRECTIONS,
    "For several comparisons; by default max-t with the sign-flip test, otherwise holm.",
)
INTERVAL = choice("--interval", INTERVALS, "The intervals of the differences.")
SEED = typer.Option(help="The seed of the random draws.")
DETAIL = typer.Option(
    "--detail",
    help="Print all evidence too: effects, power, unjudged documents, ties, likeness.",
)
DETERMINISTIC = typer.Option(
    help="A system whose repeats would be equal, such as BM25; repeat for more."
)
CLUSTERS = typer.Option(
    help="Related queries: metadata.KEY, or a TSV or CSV file with a column query_id and "
    "one of labels. The test takes queries with a common label as one."
)
GATE = typer.Option(
    "--gate",
    help="Exit with 1 if a system is shown to be worse than the baseline on this measure, "
    "with 2 if that cannot be decided; repeat it for more.",
)
NON_INFERIOR = typer.Option(
    "--non-inferior", help="The gate passes only what is shown to lose less than --margin."
)
FLOOR = typer.Option(
    "--floor",
    help="Exit with 1 if a system's mean is below this score, for example nDCG@10=0.45; "
    "repeat it for more.",
)
FLOOR_INTERVAL = typer.Option(
    "--floor-interval", help="The floor is for the lower end of the mean's interval."
)
ALLOW_MISSING = typer.Option(
    "--allow-missing", help="Check runs that lack judged queries all the same."
)
ALLOW_UNEQUAL_DEPTH = typer.Option(
    "--allow-unequal-depth",
    help="Check systems of different depths all the same on measures that compare these.",
)
JUNIT = typer.Option(help="Write the gate's checks as JUnit XML.")

#: The exit codes by the outcome of the gate.
_GATE_CODES = {"passed": 0, "failed": 1, "undecidable": 2}


@dataclass(frozen=True, kw_only=True)
class Gate:
    """The gate that options ask for; without measures, floors and ``non_inferior`` there is none.

    Attributes:
        measures: the measures of ``--gate``: as typed, or with the level of ``--rel``.
        floors: {measure: floor} of ``--floor``, likewise.
        alpha: the value of this option; so are the others.
        non_inferior: likewise.
        floor_interval: likewise.
        allow_missing: likewise.
        allow_unequal_depth: likewise.
    """

    measures: list[MeasureLike]
    floors: dict[MeasureLike, float]
    alpha: float
    non_inferior: bool
    floor_interval: bool
    allow_missing: bool
    allow_unequal_depth: bool

    @classmethod
    def from_options(  # noqa: PLR0913 - one keyword an option
        cls,
        gate: Sequence[str] | None,
        floor: Sequence[str] | None,
        *,
        alpha: float,
        non_inferior: bool,
        floor_interval: bool,
        allow_missing: bool,
        allow_unequal_depth: bool,
        junit: object,
    ) -> Self:
        """Return the gate of the options.

        Raises:
            InputError: the value of an option has another form, or an option needs another one.
        """
        requested = cls(
            measures=_gates(gate or ()),
            floors=_floors(floor or ()),
            alpha=alpha,
            non_inferior=non_inferior,
            floor_interval=floor_interval,
            allow_missing=allow_missing,
            allow_unequal_depth=allow_unequal_depth,
        )
        is_gated = requested.is_gated
        check_options(
            {
                "--junit writes the checks of a gate; add --gate MEASURE": junit and not is_gated,
                "--allow-missing is for a gate; add --gate MEASURE": allow_missing and not is_gated,
                "--allow-unequal-depth is for a gate; add --gate MEASURE": (
                    allow_unequal_depth and not is_gated
                ),
                "--floor-interval is for a floor; add --floor MEASURE=SCORE": (
                    floor_interval and not requested.floors
                ),
            }
        )
        return requested

    def with_rel(self, rel: float | None) -> Self:
        """Return the gate with the level of ``--rel`` in its measures; None: as it is.

        Raises:
            InputError: two floors are for the same measure.
            MeasureError: the level, or a parameter of a measure, is not allowed.
        """
        if rel is None:
            return self
        measures = [of_level for name in self.measures for of_level in _at_level(name, rel)]
        floors: dict[MeasureLike, float] = {}
        for name, limit in self.floors.items():
            for measure in _at_level(name, rel):
                if measure in floors:
                    msg = f"--floor names {measure} twice; leave out one floor"
                    raise InputError(msg)
                floors[measure] = limit
        return replace(self, measures=measures, floors=floors)

    @property
    def is_against_baseline(self) -> bool:
        """Whether systems are checked against a baseline."""
        return bool(self.measures) or self.non_inferior

    @property
    def is_gated(self) -> bool:
        """Whether anything is checked."""
        return self.is_against_baseline or bool(self.floors)

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

    def check_alone(self, result: EvaluationResult) -> list[GateCheck]:
        """Return the checks of the floors of one result."""
        from beir_eval.comparison.gate import check_floors  # noqa: PLC0415

        return check_floors(
            result,
            self.floors,
            floor_interval=self.floor_interval,
            allow_missing=self.allow_missing,
            alpha=self.alpha,
        )


def exit_code(checks: Sequence[GateCheck]) -> int:
    """Return the exit code of a command with these checks of a gate; 0 without checks."""
    from beir_eval.comparison.gate_output import gate_outcome  # noqa: PLC0415

    return _GATE_CODES[gate_outcome(checks)]


def check_options(problems: Mapping[str, object]) -> None:
    """Raise InputError with the first message whose combination of options is used."""
    for message, is_used in problems.items():
        if is_used:
            raise InputError(message)


def _at_level(name: MeasureLike, rel: float) -> Sequence[MeasureLike]:
    """Return the measures of a name, with this lowest relevant grade if they take and lack one.

    The name of a custom measure, which only the results know, is returned as it is.
    """
    try:
        return with_rel(parse_all(name), rel)
    except UnknownMeasureError:
        return [name]


def _gates(options: Sequence[str]) -> list[MeasureLike]:
    """Return the measures of ``--gate``.

    Raises:
        InputError: a value states a number too, as that of ``--floor`` does.
    """
    for option in options:
        measure, equals, number = option.rpartition("=")
        if equals and ")" not in number:
            msg = (
                f"--gate {option}: a measure alone was expected, such as --gate {measure}. "
                f"--floor {measure}={number} sets the lowest mean; --non-inferior --margin "
                f"{number} sets the loss that is allowed"
            )
            raise InputError(msg)
    return list(options)


def _floors(options: Sequence[str]) -> dict[MeasureLike, float]:
    """Return {measure: floor} of values such as "nDCG@10=0.45".

    Raises:
        InputError: a value has another form, or a measure is named twice.
    """
    floors: dict[MeasureLike, float] = {}
    for option in options:
        measure, _, text = option.rpartition("=")
        try:
            limit = float(text)
        except ValueError:
            limit = math.nan
        if not measure or not math.isfinite(limit):
            msg = f"--floor {option}: MEASURE=SCORE was expected, such as nDCG@10=0.45"
            raise InputError(msg)
        if measure in floors:
            msg = f"--floor names {measure} twice; leave out one floor"
            raise InputError(msg)
        floors[measure] = limit
    return floors
