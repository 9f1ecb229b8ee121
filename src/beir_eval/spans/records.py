"""Reading the records of spans and chunks: JSON lines, and documents of other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beir_eval.core.column_names import (
    DOC_NAMES,
    GRADE_NAMES,
    QUERY_NAMES,
    SCORE_NAMES,
    matching_names,
)
from beir_eval.core.files import as_path
from beir_eval.core.ids import id_text
from beir_eval.datasets.corpus import read_records
from beir_eval.errors import FileFormatError, InputError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

#: The keys of offsets: ours, and those of LangChain, LlamaIndex and Haystack.
START_NAMES = ("start", "start_index", "start_char_idx", "split_idx_start")
END_NAMES = ("end", "end_index", "end_char_idx")
TEXT_NAMES = ("text", "content", "page_content")
#: The keys of numbers. A score in a file of spans would be that of a retriever.
_NUMBER_NAMES = {
    "grade": tuple(name for name in GRADE_NAMES if name not in SCORE_NAMES),
    "score": SCORE_NAMES,
    "rank": ("rank",),
}


class PartRecord:
    """A record of a span or a chunk: a line of a file.

    Args:
        path: the file.
        line: the number of the line.
        record: its JSON object.
    """

    def __init__(self, path: Path, line: int, record: Mapping[str, Any]) -> None:
        """Keep the record."""
        self.path, self.line, self.content = path, line, record

    def refuse(self, problem: str) -> FileFormatError:
        """Return the error that names the line."""
        return FileFormatError(self.path, problem, line=self.line)

    def key(self, names: tuple[str, ...]) -> str | None:
        """Return the first key of the record that is one of these names; None without one."""
        return next(iter(matching_names(self.content, names)), None)

    def _value(self, names: tuple[str, ...]) -> Any:
        """Return the value of the first of these keys; None without one."""
        key = self.key(names)
        return None if key is None else self.content[key]

    def id(self, what: str) -> str:
        """Return the "query_id" or the "doc_id".

        Raises:
            FileFormatError: the record has none, or it is no id.
        """
        value = self._value(QUERY_NAMES if what == "query_id" else DOC_NAMES)
        try:
            return id_text(value)
        except (TypeError, ValueError) as error:
            keys = ", ".join(self.content)
            problem = f"{what} was expected, text or a whole number, not {shown(value)}"
            msg = f"{problem}; the keys are {keys}"
            raise self.refuse(msg) from error

    def offsets(self) -> tuple[int | None, int | None]:
        """Return the stated offsets.

        Raises:
            FileFormatError: an offset is no whole number from 0, there is an end without a start,
                or the end is not after the start.
        """
        start, end = self._value(START_NAMES), self._value(END_NAMES)
        for offset in (start, end):
            if offset is not None and (type(offset) is not int or offset < 0):
                msg = f"start and end are whole numbers from 0, not {shown(offset)}"
                raise self.refuse(msg)
        if start is None and end is not None:
            raise self.refuse("an end without a start")
        if start is not None and end is not None and end <= start:
            msg = (
                f"the end, {end}, is not after the start, {start}; the end is the character after "
                "the last one"
            )
            raise self.refuse(msg)
        return start, end

    def text(self) -> str | None:
        """Return the text; None without one.

        Raises:
            FileFormatError: it is no text.
        """
        text = self._value(TEXT_NAMES)
        if text is not None and not isinstance(text, str):
            msg = f"text must be a text, not {shown(text)}"
            raise self.refuse(msg)
        return text

    def number(self, what: str) -> float | None:
        """Return the "grade", the "score" or the "rank"; None without one.

        Raises:
            FileFormatError: it is no finite number.
        """
        names = _NUMBER_NAMES[what]
        value = self._value(names)
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if value is not None and not (is_number and abs(value) <= 1e100):  # noqa: PLR2004
            msg = f"{what} must be a finite number, not {shown(value)}"
            raise self.refuse(msg)
        return None if value is None else float(value)


def read_parts(path: str | Path) -> Iterator[PartRecord]:
    """Yield the records of a file of JSON lines, which may be packed.

    Raises:
        FileFormatError: a line is no JSON object.
        OSError: the file cannot be read.
    """
    file = as_path(path)
    for _, line, record in read_records(file):
        yield PartRecord(file, line, record)


def holds_spans(path: Path) -> bool:
    """Return whether a file is one of spans: JSON lines with a document and offsets or a text.

    Raises:
        FileFormatError: a packed file is damaged.
    """
    try:
        for _, _, record in read_records(path):
            return bool(
                matching_names(record, DOC_NAMES)
                and (matching_names(record, START_NAMES) or matching_names(record, TEXT_NAMES))
                and matching_names(record, QUERY_NAMES)
            )
    except FileFormatError as error:
        if error.line is None:
            raise
    except OSError:
        pass
    return False


def part_of_document(document: Any, doc_id_field: str | None) -> dict[str, Any]:
    """Return document id, start, end, text and score of a document of another tool.

    Args:
        document: a ``Document`` of Haystack (offset ``split_idx_start``) or of LangChain
            (``start_index``), or a node of LlamaIndex, with its score or without.
        doc_id_field: the field of its metadata that has the id of the whole document; None looks
            for beir_doc_id, which ``index`` writes, and, in LlamaIndex, for ``ref_doc_id``.

    Raises:
        InputError: it has no text, or no id of a whole document.
    """
    node = getattr(document, "node", document)  # NodeWithScore
    meta = getattr(node, "meta", None) or getattr(node, "metadata", None) or {}
    text = next(
        (value for name in TEXT_NAMES if isinstance(value := getattr(node, name, None), str)), None
    )
    if text is None:
        msg = f"a document with a text was expected, not {type(document).__name__}"
        raise InputError(msg)
    doc_id = meta.get(doc_id_field or "beir_doc_id")
    if doc_id is None and doc_id_field is None:
        doc_id = getattr(node, "ref_doc_id", None)
    if doc_id is None:
        fields = ", ".join(map(str, meta)) or "none"
        msg = (
            f"a retrieved chunk does not say which document it is a part of: no field "
            f"{doc_id_field or 'beir_doc_id'} in its metadata, which has {fields}; name the field "
            "with doc_id_field="
        )
        raise InputError(msg)
    start = next((meta[name] for name in START_NAMES if name in meta), None)
    if start is None:
        start = getattr(node, "start_char_idx", None)
    return {"doc_id": id_text(doc_id), "start": start, "text": text}
