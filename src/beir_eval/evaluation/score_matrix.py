"""The array inside a result: read-only, comparable, written as lists."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic_core import core_schema

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler

    from beir_eval.core.arrays import Floats


class ScoreMatrix:
    """f8[measure, query], read-only; NaN equals NaN, and is null in JSON."""

    __slots__ = ("array",)
    array: Floats

    def __init__(self, values: Any) -> None:
        """Copy an array, or nested lists in which None means NaN."""
        array = np.array(values if isinstance(values, np.ndarray) else _rows(values), np.float64)
        if array.ndim != 2:  # noqa: PLR2004 - measures and queries
            msg = f"expected scores as [measure][query], not {array.ndim} dimension(s)"
            raise ValueError(msg)
        array.flags.writeable = False
        self.array = array

    @classmethod
    def owning(cls, array: Floats) -> ScoreMatrix:
        """Take f8[measure, query] that nobody else holds, without a copy."""
        matrix = cls.__new__(cls)
        array.flags.writeable = False
        matrix.array = array
        return matrix

    def __reduce__(self) -> tuple[type[ScoreMatrix], tuple[Floats]]:
        """Pickle and copy by the constructor, so that the copy is read-only too."""
        return ScoreMatrix, (self.array,)

    def tolist(self) -> list[list[float | None]]:
        """Return nested lists with None for NaN."""
        rows: list[list[float | None]] = self.array.tolist()
        if not np.isnan(self.array).any():
            return rows
        return [[None if value != value else value for value in row] for row in rows]  # noqa: PLR0124

    def __eq__(self, other: object) -> bool:
        """Compare shape and every score."""
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
        """Tell pydantic how to read and write it."""
        return core_schema.no_info_plain_validator_function(
            lambda value: value if isinstance(value, cls) else cls(value),
            serialization=core_schema.plain_serializer_function_ser_schema(cls.tolist),
        )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        """Tell a JSON schema's readers what the lists hold."""
        number = {"anyOf": [{"type": "number"}, {"type": "null"}]}
        return {"type": "array", "items": {"type": "array", "items": number}}


def _rows(values: Any) -> list[list[float]]:
    """Return nested lists of numbers with NaN for None, or raise ValueError."""
    if not isinstance(values, list) or not all(isinstance(row, list) for row in values):
        msg = "expected scores as lists of [measure][query]"
        raise ValueError(msg)
    return [[math.nan if value is None else _score(value) for value in row] for row in values]


def _score(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        msg = f"a score is {value!r}, not a number"
        raise ValueError(msg)  # noqa: TRY004 - pydantic turns it into its own error
    return float(value)
