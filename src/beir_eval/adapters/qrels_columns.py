"""``qrels_columns``: the judgements of a file as polars columns, without Python objects for each.

Files that polars may read otherwise than ``read_qrels`` does, and files with anything unusual in
them, are left to ``read_qrels``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from beir_eval.adapters.formats import QRELS_FORMATS
from beir_eval.adapters.formats.text_lines import BYTE_ORDER_MARK, is_header, names_document_first
from beir_eval.adapters.formats.text_qrels import HIGHEST_PERCENTAGE
from beir_eval.adapters.formats.text_runs import LineForm, NotPlainError, read_plain_columns
from beir_eval.core.column_names import DOC, GRADE, QUERY
from beir_eval.core.dataframes import to_columns
from beir_eval.core.files import FileContent, parquet_errors
from beir_eval.core.judgement_errors import HIGHEST_GRADE
from beir_eval.errors import QrelsError

if TYPE_CHECKING:
    from pathlib import Path

#: A smaller file (in bytes) is read by ``read_qrels``.
_LEAST_SIZE = 1 << 22
_PART_SIZE = 1 << 22
_ITERATION, _POSITION, _KEY = "iteration", "position", "key"


class QrelsColumns(NamedTuple):
    """Judgements in columns.

    Attributes:
        frame: query, document and grade; distinct judgements, grades finite.
        repeated: how many rows repeated a judgement.
    """

    frame: pl.DataFrame
    repeated: int


def qrels_columns(path: Path, format: str | None = None) -> QrelsColumns | None:  # noqa: A002
    """Return the judgements of a large TREC, BEIR or Parquet file; None if ``read_qrels`` must.

    Args:
        path: the file.
        format: the name of the format; None detects it.

    Raises:
        FileFormatError, SettingError: as ``read_qrels``.
    """
    if path.stat().st_size < _LEAST_SIZE:
        return None
    content = FileContent(path)
    name = QRELS_FORMATS.choose(content, format).name
    try:
        frame = _read_parquet(content) if name == "parquet" else _read_text(content, name)
    except (NotPlainError, QrelsError):
        return None
    if frame is None or not frame[GRADE].abs().le(HIGHEST_GRADE).all():
        return None
    return _without_repetitions(frame)


def _read_parquet(content: FileContent) -> pl.DataFrame:
    with parquet_errors(content.path):
        frame = pl.read_parquet(content.source(), glob=False)
    return to_columns(frame, number_role=GRADE, names={}, error_class=QrelsError, label="the qrels")


def _read_text(content: FileContent, name: str) -> pl.DataFrame | None:
    """Return the columns of a TREC or BEIR file; None for other formats.

    Raises:
        NotPlainError: a line is not exactly as expected.
    """
    columns = {"trec": (QUERY, _ITERATION, DOC, GRADE), "beir": (QUERY, DOC, GRADE)}.get(name)
    if columns is None or content.head.startswith(BYTE_ORDER_MARK):
        return None
    head = content.head.partition(b"\n")[0].decode(errors="replace").split("\t")
    if is_header(head) and names_document_first(head):
        return None
    separator = " " if name == "trec" and b" " in content.head.partition(b"\n")[0] else "\t"
    frames = []
    for span in content.spans(_PART_SIZE):
        part = content.part(*span)
        if name == "beir" and not span[0]:
            part = _without_header(part)
        frames.append(read_plain_columns(part, columns, GRADE, LineForm(separator)))
    frame = pl.concat(frames)
    return None if _is_unusual(frame, name) else frame.select(QUERY, DOC, GRADE)


def _without_header(part: bytes) -> bytes:
    """Return the lines of a BEIR file without the first if it names the columns."""
    line, _, rest = part.partition(b"\n")
    return rest if is_header(line.decode(errors="replace").split("\t")) else part


def _is_unusual(frame: pl.DataFrame, name: str) -> bool:
    """Return whether ``read_qrels`` may refuse the judgements, or warn of them.

    They may be a run, which has ranks 1, 2, …: of the first query as documents (TREC), of all as
    grades (BEIR). Or the columns may be permuted, or the judgements by subtopic.
    """
    if (frame[GRADE] > HIGHEST_PERCENTAGE).any() or (
        name == "trec" and frame[_ITERATION].n_unique() > 1
    ):
        return True
    first = frame.filter(pl.col(QUERY) == frame[QUERY][0])
    if name == "trec":
        return first[DOC].to_list() == [str(rank) for rank in range(1, len(first) + 1)]
    if first[GRADE].to_list() != list(range(1, len(first) + 1)):
        return False
    ranks = frame.select(pl.int_range(1, pl.len() + 1).over(QUERY).alias(GRADE))[GRADE]
    return bool((frame[GRADE] == ranks).all())


def _without_repetitions(frame: pl.DataFrame) -> QrelsColumns | None:
    """Return the judgements, each once; None if two of them disagree."""
    keys = frame.select(pl.struct(QUERY, DOC).hash(seed=0).alias(_KEY))[_KEY]
    if keys.n_unique() == len(keys):
        return QrelsColumns(frame, 0)
    numbered = frame.with_row_index(_POSITION)
    suspects = numbered.filter(keys.is_duplicated())
    if suspects.select(QUERY, DOC, GRADE).n_unique() > suspects.select(QUERY, DOC).n_unique():
        return None
    copies = suspects.filter(~pl.struct(QUERY, DOC).is_first_distinct())
    kept = numbered.join(copies.select(_POSITION), on=_POSITION, how="anti", maintain_order="left")
    return QrelsColumns(kept.drop(_POSITION), len(copies))
