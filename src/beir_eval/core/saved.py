"""What is frozen and kept in a file of JSON."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticSerializationError

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
    """A frozen record with ``save`` and ``load``.

    Errors call it ``WHAT``, and say with ``REMEDY`` how to replace a file of another layout.
    """

    model_config = FROZEN

    WHAT: ClassVar[str]
    REMEDY: ClassVar[str] = "compare again"

    schema_version: Literal[1] = 1

    def save(self, path: str | Path) -> None:
        """Write it as JSON (packed where the name ends in .gz): all or nothing.

        Raises:
            ResultError: it holds text that is not Unicode.
            OSError: the file cannot be written.
        """
        try:
            content = self.model_dump_json()
        except PydanticSerializationError as error:
            msg = f"{path}: not saved, the {self.WHAT} holds text that is not Unicode: {error}"
            raise ResultError(msg) from error
        write_atomically(Path(path), content.encode())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a saved one.

        Raises:
            ResultError: the file holds something else, or a layout of another version.
            FileFormatError: the file is truncated or binary.
            OSError: it cannot be read.
        """
        text = FileContent(Path(path)).text()
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            msg = f"{path}: not a saved {cls.WHAT}: {error}"
            raise ResultError(msg) from error
        return cls.from_content(content, path)

    @classmethod
    def from_content(cls, content: Any, path: str | Path) -> Self:
        """Return what the JSON of a file holds; errors name the file.

        Raises:
            ResultError: it holds something else, or a layout of another version.
        """
        version = content.get("schema_version") if isinstance(content, dict) else None
        if version is not SCHEMA_VERSION:
            found = "a list" if isinstance(content, list) else f"schema_version {version!r}"
            msg = (
                f"{path}: a saved {cls.WHAT} of layout {SCHEMA_VERSION} was expected, found "
                f"{found}; {cls.REMEDY}, or load it with the version of beir-eval that wrote it"
            )
            raise ResultError(msg)
        try:
            return cls.model_validate(content)
        except (ValueError, TypeError, OverflowError) as error:
            msg = f"{path}: not a saved {cls.WHAT}: {error}"
            raise ResultError(msg) from error
