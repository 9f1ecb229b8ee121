"""The texts of findings, from ``texts.toml``: what each is, why it matters and what to do.

The file is read when the first text is needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from beir_eval.errors import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

#: "error": scores are wrong or meaningless, or cannot be computed; "warning": likely a mistake;
#: "note": a property of the data that readers of the scores should know.
Level: TypeAlias = Literal["error", "warning", "note"]
LEVELS: tuple[Level, ...] = ("error", "warning", "note")


@dataclass(frozen=True, slots=True, kw_only=True)
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
    return {code: FindingCode(code=code, **row) for code, row in _rows().items() if "level" in row}


def remedy_of(code: str) -> str:
    """Return what to do about a finding, as sentences.

    Args:
        code: its name, also of what only evaluations look for.
    """
    return _rows()[code]["remedy"]  # type: ignore[no-any-return]


def check_code(code: str) -> str:
    """Return the code of a finding.

    Raises:
        ValueError: no finding has it.
    """
    if code not in _rows():
        msg = f"no finding has the code {shown(code)}"
        raise ValueError(msg)
    return code


@cache
def _rows() -> dict[str, dict[str, Any]]:
    """Return {code: its texts}."""
    # Most evaluations have no finding and import neither.
    import tomllib  # noqa: PLC0415
    from importlib.resources import files  # noqa: PLC0415

    return tomllib.loads((files("beir_eval.inspection") / "texts.toml").read_text(encoding="utf-8"))
