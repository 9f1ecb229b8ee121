"""``Saved``: the base class of frozen records that are saved to a JSON file and loaded again."""

from __future__ import annotations

import json
from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    SerializerFunctionWrapHandler,
    ValidationError,
    WrapSerializer,
)
from pydantic_core import PydanticSerializationError

from beir_eval.core.atomic_writes import write_atomically
from beir_eval.core.files import FileContent, as_path, kind_of_json, kind_of_text, plain_name
from beir_eval.errors import MAX_IDS_SHOWN, InputError, ResultError

if TYPE_CHECKING:
    from typing import Self

    from _typeshed import DataclassInstance

FROZEN = ConfigDict(defer_build=True, frozen=True, extra="forbid")
SCHEMA_VERSION = 2


#: Endings of files that are not JSON: who names one expects another output.
_OTHER_ENDINGS = frozenset({".html", ".htm", ".md", ".tex", ".csv", ".tsv", ".xml", ".parquet"})
#: Methods of pydantic 1 that ``BaseModel`` still has. They are not needed here, and "dict", "json"
#: and "copy" would look like methods of a result.
_DEPRECATED = frozenset(
    {
        *("dict", "json", "copy", "construct", "schema", "schema_json", "validate", "from_orm"),
        *("parse_obj", "parse_raw", "parse_file", "update_forward_refs"),
    }
)


def stated_settings(settings: DataclassInstance) -> dict[str, Any]:
    """Return {name: value} of settings, without those that are written only if they are set."""
    return {
        field.name: value
        for field in fields(settings)
        if (value := getattr(settings, field.name)) != field.default or not is_written_if_set(field)
    }


def _without_unset(
    settings: DataclassInstance, handler: SerializerFunctionWrapHandler
) -> dict[str, Any]:
    stated = stated_settings(settings)
    return {name: content for name, content in handler(settings).items() if name in stated}


#: Leaves out the fields that are written only if they are set: files of a setting that few use stay
#: those of earlier versions, which do not know it.
WITHOUT_UNSET = WrapSerializer(_without_unset)


def is_written_if_set(field: Field[Any]) -> bool:
    """Return whether a field of settings is written only if it differs from its default."""
    return field.metadata.get("written") == "if set"


class Saved(BaseModel):
    """A frozen record with ``save`` and ``load``.

    Attributes:
        WHAT: what messages call the record, for example "comparison".
        REMEDY: how to replace a file of another schema version, for messages.
        schema_version: the version of the file's layout.
    """

    model_config = FROZEN

    WHAT: ClassVar[str]
    REMEDY: ClassVar[str] = "compare again"

    schema_version: Literal[2] = 2

    def save(self, path: str | Path) -> None:
        """Write the record to a JSON file, completely or not at all.

        Args:
            path: the file, compressed if its name ends in .gz or .zst; an existing file is
                replaced.

        Raises:
            ResultError: the record contains text that is not valid Unicode.
            InputError: ``path`` is neither text nor a path, contains a zero byte, or has the ending
                of another format, such as .html.
            MissingExtraError: a .zst file without the package zstandard.
            OSError: the file cannot be written.
        """
        target = as_path(path)
        if Path(plain_name(target)).suffix.lower() in _OTHER_ENDINGS:
            msg = (
                f"{path}: save writes JSON, so the name must end in .json, for example. A report: "
                "write_report(path, result); texts: to_markdown(), to_latex(), to_csv()"
            )
            raise InputError(msg)
        try:
            content = self.model_dump_json()
            if "\ufffd" in content:  # what pydantic writes for a surrogate in a key
                _check_keys(self.model_dump())
        except (PydanticSerializationError, UnicodeEncodeError) as error:
            msg = f"{path}: not saved, the {self.WHAT} contains text that is not Unicode: {error}"
            raise ResultError(msg) from error
        write_atomically(target, content.encode())

    def __dir__(self) -> list[str]:
        """Return the names for completion, without the deprecated methods of pydantic."""
        return [name for name in super().__dir__() if name not in _DEPRECATED]

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the record that ``save`` wrote to a file.

        Args:
            path: the file; gzip and zstd are detected from the content.

        Raises:
            ResultError: the file contains something else, has another schema version, or holds
                names or shapes that are impossible; the message names the field.
            FileFormatError: the file is binary, not UTF-8, or compressed and damaged.
            InputError: ``path`` is neither text nor a path, or contains a zero byte.
            MissingExtraError: a zstd file without the package zstandard.
            OSError: the file cannot be read.
        """
        source = as_path(path)
        if source.is_dir():
            msg = f"{path}: a folder, not the file of a saved {cls.WHAT}"
            raise ResultError(msg)
        text = FileContent(source).text()
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            cls._refuse_kind(path, *kind_of_text(text))
            msg = f"{path}: not a saved {cls.WHAT}: {error}"
            raise ResultError(msg) from error
        return cls.from_content(content, path)

    @classmethod
    def from_content(cls, content: Any, path: str | Path) -> Self:
        """Return the record from the parsed JSON of a file.

        Args:
            content: the parsed JSON.
            path: the file, for messages.

        Raises:
            ResultError: the content is something else, has another schema version, or holds names
                or shapes that are impossible; the message names the field.
        """
        kind, call = kind_of_json(content)
        if kind != f"a saved {cls.WHAT}":
            cls._refuse_kind(path, kind, call)
        version = content.get("schema_version") if isinstance(content, dict) else None
        if version is not SCHEMA_VERSION:
            actual = "a list" if isinstance(content, list) else f"schema_version {version!r}"
            msg = (
                f"{path}: a saved {cls.WHAT} of layout {SCHEMA_VERSION} was expected, found "
                f"{actual}; {cls.REMEDY}, or load it with the version of beir-eval that wrote it"
            )
            raise ResultError(msg)
        try:
            record = cls.model_validate(content)
            record._check_loaded()  # noqa: SLF001 - its own class
        except ValidationError as error:
            msg = (
                f"{path}: not a saved {cls.WHAT}: {_problems_of(error)}; if a development version "
                f"made it, {cls.REMEDY}"
            )
            raise ResultError(msg) from error
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            msg = f"{path}: not a saved {cls.WHAT}: {error}"
            raise ResultError(msg) from error
        return record

    @classmethod
    def _refuse_kind(cls, path: str | Path, kind: str, call: str) -> None:
        """Raise ResultError if a file is of a known kind, which is another one.

        Args:
            path: the file.
            kind: the kind; "" if it is not known.
            call: the call that reads such a file; "" if no call does.
        """
        if kind:
            remedy = f"; read it with {call}" if call else ""
            msg = f"{path}: this is {kind}, not a saved {cls.WHAT}{remedy}"
            raise ResultError(msg)

    def _check_loaded(self) -> None:
        """Raise ValueError, with the name of a field, for names that are impossible.

        Records that are computed are not checked, and the numbers of a file are believed.
        """


def _problems_of(error: ValidationError) -> str:
    """Return the first few problems with the names of their fields, without pydantic's notes."""
    problems = [
        ": ".join(filter(None, [".".join(map(str, problem["loc"])), problem["msg"]]))
        for problem in error.errors(include_url=False, include_input=False)
    ]
    num_more = len(problems) - MAX_IDS_SHOWN
    listed = "; ".join(problems[:MAX_IDS_SHOWN])
    return f"{listed}; and {num_more} more problems" if num_more > 0 else listed


def _check_keys(content: Any) -> None:
    """Raise UnicodeEncodeError for a key that is not Unicode, in dicts at any depth."""
    if isinstance(content, dict):
        for key, value in content.items():
            str(key).encode()
            _check_keys(value)
    elif isinstance(content, (list, tuple)):
        for value in content:
            _check_keys(value)
