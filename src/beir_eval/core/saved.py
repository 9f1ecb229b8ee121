"""What is frozen and kept in a file of JSON."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

from beir_eval.core.files import FileContent, write_atomically
from beir_eval.errors import ResultError

if TYPE_CHECKING:
    from typing import Self

    from _typeshed import DataclassInstance

FROZEN = ConfigDict(defer_build=True, frozen=True, extra="forbid")
SCHEMA_VERSION = 1


def stated_in_full(settings: type[DataclassInstance]) -> BeforeValidator:
    """Return the check that a file states every setting: a default is no record of what was done.

    Args:
        settings: a dataclass.
    """

    def check(value: object) -> object:
        if isinstance(value, dict):
            missing = [field.name for field in fields(settings) if field.name not in value]
            if missing:
                msg = f"the settings lack {', '.join(missing)}"
                raise ValueError(msg)
        return value

    return BeforeValidator(check)


class Saved(BaseModel):
    """A frozen record with ``save`` and ``load``; ``WHAT`` names it in errors."""

    model_config = FROZEN

    WHAT: ClassVar[str]

    schema_version: Literal[1] = 1

    def save(self, path: str | Path) -> None:
        """Write it as JSON (packed where the name ends in .gz): all or nothing."""
        write_atomically(Path(path), self.model_dump_json().encode())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a saved one.

        Raises:
            ResultError: the file holds something else, or a layout of another version.
            OSError: it cannot be read.
        """
        try:
            return cls.model_validate(json.loads(FileContent(Path(path)).text()))
        except (ValueError, TypeError, RecursionError, OverflowError) as error:
            msg = f"{path}: not a saved {cls.WHAT} of layout {SCHEMA_VERSION}: {error}"
            raise ResultError(msg) from error
