"""The measures, systems and pairs of a comparison: by the names that callers write, and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from beir_eval.errors import NotEvaluatedError, SettingError, first_few, shown
from beir_eval.evaluation.given_scores import check_measure_names, check_unique
from beir_eval.measures.names import name_among

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.comparison.records import PairDifference
    from beir_eval.measures import MeasureLike
    from beir_eval.measures.scales import ScoreScale


PairType = TypeVar("PairType", bound="PairDifference")


@dataclass(frozen=True)
class Index:
    """Finds what a comparison holds.

    Attributes:
        systems: the names of the systems. [S]
        measures: the names of the measures. [M]
        baseline: the system that the others are compared with; None if all pairs are compared.
    """

    systems: Sequence[str]
    measures: Sequence[str] = ()
    baseline: str | None = None

    def measure(self, measure: MeasureLike, system: object = None) -> str:
        """Return the name of a measure.

        Args:
            measure: the measure, or its name in any spelling that ``parse`` reads.
            system: what was given as the system, if one was: the two may be in the wrong order.

        Raises:
            NotEvaluatedError: the measure was not compared, or is a system.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        is_system = isinstance(measure, str) and measure in self.systems
        if is_system and system is not None and system not in self.systems:
            msg = (
                f"{shown(measure)} is a system: the measure is the first argument, as in "
                f"({shown(system)}, {shown(measure)})"
            )
            raise NotEvaluatedError(msg)
        name = name_among(self.measures, measure)
        if name not in self.measures:
            msg = f"{name} was not compared; the comparison holds {', '.join(self.measures)}"
            raise NotEvaluatedError(msg)
        return name

    def system(self, system: object) -> str:
        """Return a system, or raise NotEvaluatedError if it was not compared."""
        if not (isinstance(system, str) and system in self.systems):
            msg = f"there is no system {shown(system)}; there are {first_few(self.systems)}"
            raise NotEvaluatedError(msg)
        return system

    def pair(self, system: str | None, against: str | None) -> tuple[str, str]:
        """Return a system and the one it is compared with.

        Args:
            system: None for the only one that is not the baseline, or the second of two.
            against: None for the baseline, or the other of two.

        Raises:
            NotEvaluatedError: one of them was not compared.
            SettingError: None could be several.
        """
        if system is None:
            others = [name for name in self.systems if name != self.baseline]
            if len(others) > 1 and len(self.systems) > 2:  # noqa: PLR2004 - a pair
                msg = f"name the system: there are {first_few(others)}"
                raise SettingError(msg)
            system = others[-1]
        self.system(system)
        if against is not None:
            return system, self.system(against)
        if self.baseline not in (None, system):
            return system, str(self.baseline)
        others = [name for name in self.systems if name != system]
        if len(others) != 1:
            msg = f"name what {shown(system)} is compared with: there are {first_few(others)}"
            raise SettingError(msg)
        return system, others[0]

    def difference(self, pairs: Iterable[PairType], system: str, against: str | None) -> PairType:
        """Return the difference system − against, turned round if only the opposite is there.

        Args:
            pairs: the differences on one measure.
            system: the system.
            against: as for ``pair``.

        Raises:
            NotEvaluatedError, SettingError: as ``pair``; or the pair was not compared.
        """
        names = self.pair(system, against)
        for pair in pairs:
            if (pair.system, pair.against) == names:
                return pair
            if (pair.against, pair.system) == names:
                return pair.reversed()
        system, other = map(shown, names)
        others = "all other pairs were" if self.baseline is None else f"only with {self.baseline!r}"
        msg = f"{system} was not compared with {other}, {others}"
        raise NotEvaluatedError(msg)


def check_names(
    systems: Sequence[str],
    baseline: str | None,
    measures: Sequence[str],
    custom_measures: Mapping[str, ScoreScale],
) -> None:
    """Check the systems and the measures of a loaded comparison.

    Args:
        systems: the names of the systems. [S]
        baseline: one of them, or None.
        measures: the names of the measures. [M]
        custom_measures: {name: scale} of those that are not measures of this package.

    Raises:
        ValueError: a name is listed twice, the baseline is not among the systems, or a measure is
            neither a custom one nor named canonically; the message begins with the field.
    """
    check_unique("systems", systems)
    check_unique("measures", measures)
    if baseline is not None and baseline not in systems:
        msg = f"baseline: {baseline!r} is not among the systems {first_few(systems)}"
        raise ValueError(msg)
    check_measure_names(measures, custom_measures)
