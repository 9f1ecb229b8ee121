"""``ScoreMatrix``: the array of scores in a result, read-only and saved as lists."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic_core import core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

    from beir_eval.core.arrays import Floats


class ScoreMatrix:
    """The scores of M measures on Q queries, read-only; NaN is an undefined score.

    Two are equal if they have the same shape and scores, where NaN equals NaN. In JSON it is a list
    of lists, with null for NaN.

    Attributes:
        array: the scores, f8[M, Q].
    """

    __slots__ = ("array",)
    array: Floats

    def __init__(self, values: Any) -> None:
        """Copy the scores, so that they can be made read-only.

        Args:
            values: an array [M, Q], or lists of [measure][query] in which None means NaN.

        Raises:
            ValueError: another shape, or a score that is not a number.
        """
        array = np.array(
            values if isinstance(values, np.ndarray) else _read_rows(values), np.float64
        )
        if array.ndim != 2:  # noqa: PLR2004 - measures and queries
            msg = f"expected scores as [measure][query], not {array.ndim} dimension(s)"
            raise ValueError(msg)
        array.flags.writeable = False
        self.array = array

    @classmethod
    def from_owned_array(cls, array: Floats) -> ScoreMatrix:
        """Return a matrix of this array, f8[M, Q], without a copy; the array becomes read-only."""
        matrix = cls.__new__(cls)
        array.flags.writeable = False
        matrix.array = array
        return matrix

    def __reduce__(self) -> tuple[type[ScoreMatrix], tuple[Floats]]:
        """Pickle and copy by the constructor, which makes the copy read-only too."""
        return ScoreMatrix, (self.array,)

    def tolist(self) -> list[list[float | None]]:
        """Return lists of [measure][query] with None for NaN."""
        rows: list[list[float | None]] = self.array.tolist()
        if not np.isnan(self.array).any():
            return rows
        return [[None if value != value else value for value in row] for row in rows]  # noqa: PLR0124

    def __eq__(self, other: object) -> bool:
        """Return whether shape and scores are equal; NaN equals NaN."""
        if not isinstance(other, ScoreMatrix):
            return NotImplemented
        return np.array_equal(self.array, other.array, equal_nan=True)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the shape, not the content."""
        measures, queries = self.array.shape
        return f"ScoreMatrix({measures} measures × {queries} queries)"

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        """Return the schema with which pydantic reads and writes a matrix."""
        return core_schema.no_info_plain_validator_function(
            lambda value: value if isinstance(value, cls) else cls(value),
            serialization=core_schema.plain_serializer_function_ser_schema(cls.tolist),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        """Return the JSON schema: lists of lists of numbers or null."""
        number = {"anyOf": [{"type": "number"}, {"type": "null"}]}
        return {"type": "array", "items": {"type": "array", "items": number}}


def _read_rows(values: Any) -> list[list[float]]:
    """Return nested lists of numbers with NaN for None, or raise ValueError."""
    if not isinstance(values, list) or not all(isinstance(row, list) for row in values):
        msg = "expected scores as lists of [measure][query]"
        raise ValueError(msg)
    return [[math.nan if value is None else _read_score(value) for value in row] for row in values]


def _read_score(value: Any) -> float:
    """Return a score as a float, or raise ValueError unless it is a number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"a score is {value!r}, not a number"
        raise ValueError(msg)  # noqa: TRY004 - pydantic turns it into its own error
    try:
        return float(value)
    except OverflowError as error:
        msg = "a score is a number too large for a float"
        raise ValueError(msg) from error
