"""The texts of findings, from ``texts.toml``: what each is, why it matters and what to do.

The file is read when the first text is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

#: "error": scores are wrong or meaningless, or cannot be computed; "warning": likely a mistake;
#: "note": a property of the data that readers of the scores should know.
Level: TypeAlias = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True)
class FindingCode:
    """A kind of finding.

    Attributes:
        code: its name, words in lower case joined by hyphens.
        level: "error", "warning" or "note".
        meaning: what was found.
        consequence: why it matters for the scores.
        remedy: what to do.
    """

    code: str
    level: Level
    meaning: str
    consequence: str
    remedy: str


def finding_codes() -> Mapping[str, FindingCode]:
    """Return {code: its row} of what ``validate`` may find, in the order of the documentation."""
    names = [field.name for field in fields(FindingCode)[1:]]
    return {
        code: FindingCode(code, *map(row.__getitem__, names))
        for code, row in _rows().items()
        if "meaning" in row
    }


def texts_of(code: str) -> Mapping[str, Any]:
    """Return {name: text} of a finding, also of what only evaluations look for.

    It has "level" and "remedy", and "subject" if it is about the judgements, whatever the run.
    """
    return _rows()[code]


@cache
def _rows() -> dict[str, dict[str, Any]]:
    """Return {code: its texts}."""
    # Most evaluations have no finding and import neither.
    import tomllib  # noqa: PLC0415
    from importlib.resources import files  # noqa: PLC0415

    return tomllib.loads((files("beir_eval.inspection") / "texts.toml").read_text(encoding="utf-8"))
