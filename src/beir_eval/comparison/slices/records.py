"""What a comparison by slices holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import BaseModel

from beir_eval.comparison.records import ComparisonSettings, Difference, SystemMean
from beir_eval.core.saved import FROZEN, Saved
from beir_eval.errors import NotEvaluatedError, some

if TYPE_CHECKING:
    from collections.abc import Sequence


class Slice(BaseModel):
    """The queries of one label.

    Attributes:
        column: the column that the label is of.
        label: the label; "(none)" for the queries that have none.
        num_queries: how many they are.
        too_small: the measures for which fewer than two of them have a score, so that nothing can
            be compared.
        means: every system on every other measure.
        differences: every pair on every other measure, corrected over all slices.
    """

    model_config = FROZEN

    column: str
    label: str
    num_queries: int
    too_small: tuple[str, ...]
    means: tuple[SystemMean, ...]
    differences: tuple[Difference, ...]


class Sliced(Saved):
    """The fields of ``SlicedComparison``, which documents them."""

    WHAT: ClassVar[str] = "comparison by slices"

    systems: tuple[str, ...]
    baseline: str | None
    measures: tuple[str, ...]
    num_queries: int
    columns: tuple[str, ...]
    slices: tuple[Slice, ...]
    settings: ComparisonSettings
    left_out: dict[str, int]

    def slice(self, label: str, column: str | None = None) -> Slice:
        """Return one slice; the column may be left out where just one has the label.

        Raises:
            NotEvaluatedError: there is no such slice, or several columns have one.
        """
        found = [one for one in self.slices if one.label == label and column in (None, one.column)]
        if len(found) == 1:
            return found[0]
        if found:
            columns = some(one.column for one in found)
            msg = f"several columns have a slice {label!r}; name one of {columns}"
            raise NotEvaluatedError(msg)
        there = [one.label for one in self.slices if column in (None, one.column)]
        msg = f"there is no slice {label!r}; there are {some(there) or 'none'}"
        raise NotEvaluatedError(msg)

    @property
    def too_small(self) -> Sequence[Slice]:
        """The slices in which nothing could be compared."""
        return [one for one in self.slices if len(one.too_small) == len(self.measures)]
