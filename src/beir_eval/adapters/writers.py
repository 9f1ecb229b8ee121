"""Writing runs and judgements: TREC, JSON and Parquet, all of a file or nothing."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.files import split_fields, write_atomically
from beir_eval.core.ids import repeated_ids
from beir_eval.core.qrels import Qrels
from beir_eval.core.ranking import best_first
from beir_eval.core.run import Run
from beir_eval.errors import (
    BeirEvalWarning,
    InputError,
    MissingExtraError,
    RunError,
    SettingError,
    check_choice,
    some,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.core.arrays import Floats, Ints

#: By the ending of the name, without .gz or .zst.
ENDINGS = {
    ".trec": "trec",
    ".txt": "trec",
    ".run": "trec",
    ".qrels": "trec",
    ".json": "json",
    ".parquet": "parquet",
}
WRITTEN_FORMATS = ("trec", "json", "parquet")
_PACKED = (".gz", ".zst")


def write_run(
    run: Run | Mapping[Any, Any],
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - as read_run names it
    tag: str = "beir-eval",
) -> None:
    """Write a run to a file, exactly: read again, it gives the same numbers to the last bit.

    The rows keep the order of the run. TREC ranks count from 1 in the order of trec_eval (score,
    then document id descending), whatever the order of the rows. A run without scores gets n, n−1,
    …, 1. Only JSON can say that a ranking is empty; the others leave it out, with a warning.

    Args:
        run: ``Run``, {query_id: {doc_id: score}} or a dataframe.
        path: where to; ``.gz`` and ``.zst`` names are packed.
        format: "trec", "json" or "parquet"; by default the ending of the name says which.
        tag: the last column of TREC.

    Raises:
        SettingError: the ending says no format, or the format cannot be written.
        RunError: an id with white space (TREC), a document that stands twice (JSON), no document.
        MissingExtraError: Parquet without polars.
        OSError: the file cannot be written.
    """
    target = Path(path)
    kind = format_for(target, format)
    _word(tag)
    rankings = [
        (query, docs, _descending(len(docs)) if scores is None else scores)
        for query, docs, scores in Run.coerce(run).rankings()
    ]
    empty = [query for query, docs, _ in rankings if not docs]
    if empty and kind != "json":
        warnings.warn(
            f"empty rankings are lost, which {kind} cannot say: {some(empty)}; JSON can",
            BeirEvalWarning,
            stacklevel=2,
        )
    if kind == "trec":
        data = _trec_run(rankings, tag)
    elif kind == "json":
        data = _json_run(rankings)
    else:
        queries = [query for query, docs, _ in rankings for _ in docs]
        docs = [doc for _, listed, _ in rankings for doc in listed]
        scores = [score for _, _, values in rankings for score in values.tolist()]
        data = _parquet({"query_id": queries, "doc_id": docs}, "score", scores)
    write_atomically(target, data)


def write_qrels(
    qrels: Qrels | Mapping[Any, Any],
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002 - as read_qrels names it
) -> None:
    """Write judgements to a file, best grade first within each query.

    Args:
        qrels: ``Qrels``, {query_id: {doc_id: grade}} or a dataframe.
        path: where to; ``.gz`` and ``.zst`` names are packed; ``.tsv`` is BEIR's layout.
        format: "trec", "beir", "json" or "parquet"; by default the ending of the name says which.

    Raises:
        SettingError: the ending says no format, or the format cannot be written.
        InputError: an id with white space (TREC) or a tab (BEIR).
        MissingExtraError: Parquet without polars.
        OSError: the file cannot be written.
    """
    target = Path(path)
    kind = format_for(target, format, more={".tsv": "beir"})
    judged = Qrels.coerce(qrels)
    rows = [
        (query, doc, grade)
        for query, documents in judged.as_dict().items()
        for doc, grade in documents.items()
    ]
    if kind == "trec":
        lines = [f"{_word(query)} 0 {_word(doc)} {_plain(grade)}\n" for query, doc, grade in rows]
        data = _encoded("".join(lines))
    elif kind == "beir":
        lines = [f"{_cell(query)}\t{_cell(doc)}\t{_plain(grade)}\n" for query, doc, grade in rows]
        data = _encoded("".join(["query-id\tcorpus-id\tscore\n", *lines]))
    elif kind == "json":
        data = _encoded(json.dumps(judged.as_dict(), ensure_ascii=False, indent=1))
    else:
        queries, docs, grades = zip(*rows, strict=True)
        data = _parquet({"query_id": queries, "doc_id": docs}, "grade", grades)
    write_atomically(target, data)


def format_for(path: Path, stated: str | None = None, more: Mapping[str, str] | None = None) -> str:
    """Return the format that a file's name says, or the one stated.

    Raises:
        SettingError: neither says one that can be written.
    """
    endings = ENDINGS | dict(more or {})
    known = (*WRITTEN_FORMATS, *(more or {}).values())
    if stated is not None:
        check_choice("format", stated, known)
        return stated
    ending = Path(path.stem).suffix if path.suffix in _PACKED else path.suffix
    if ending not in endings:
        msg = (
            f"the name {path.name!r} does not say which format to write; end it in "
            f"{', '.join(endings)} or state format= one of {', '.join(known)}"
        )
        raise SettingError(msg)
    return endings[ending]


def check_ids(ids: Iterable[str], kind: str) -> None:
    """Raise InputError for an id that a run file of this format cannot hold."""
    for one in ids:
        if kind == "trec":
            _word(one)
        else:
            _encoded(one)


def _trec_run(rankings: Sequence[tuple[str, Sequence[str], Floats]], tag: str) -> bytes:
    lines = []
    for query, docs, scores in rankings:
        word = _word(query)
        ranks = _ranks(docs, scores).tolist()
        for doc, rank, score in zip(docs, ranks, scores.tolist(), strict=True):
            lines.append(f"{word} Q0 {_word(doc)} {rank} {score!r} {tag}\n")
    if not lines:
        raise RunError("the run holds no document, and a TREC file without a line is no run")
    return _encoded("".join(lines))


def _json_run(rankings: Sequence[tuple[str, Sequence[str], Floats]]) -> bytes:
    whole = {}
    for query, docs, scores in rankings:
        if len(set(docs)) < len(docs):
            twice = sorted(repeated_ids(docs))
            msg = (
                f"query {query!r} holds {some(twice)} more than once, which JSON cannot say "
                "(readers would keep the last and be silent); write TREC or Parquet"
            )
            raise RunError(msg)
        whole[query] = dict(zip(docs, scores.tolist(), strict=True))
    return _encoded(json.dumps(whole, ensure_ascii=False, indent=1))


def _parquet(ids: Mapping[str, Sequence[str]], name: str, numbers: Sequence[float]) -> bytes:
    try:
        import polars as pl  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("polars", "files", "writing Parquet") from error
    for values in ids.values():
        _encoded("".join(values))
    columns = {key: pl.Series(values, dtype=pl.String) for key, values in ids.items()}
    columns[name] = pl.Series(numbers, dtype=pl.Float64)
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(buffer)
    return buffer.getvalue()


def _ranks(docs: Sequence[str], scores: Floats) -> Ints:
    """Return the rank of each row by trec_eval's rule: score, then document id, descending."""
    ranks = np.empty(len(docs), dtype=np.int64)
    ranks[best_first(docs, scores, "trec_eval")] = np.arange(1, len(docs) + 1)
    return ranks


def _descending(count: int) -> Floats:
    return np.arange(count, 0, -1, dtype=np.float64)


def _encoded(text: str) -> bytes:
    """Return UTF-8, or raise InputError for an id that is not Unicode."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        part = text[max(0, error.start - 20) : error.end]
        msg = f"an id is not Unicode text, which no file can say: …{part!r}"
        raise InputError(msg) from error


def _word(text: str) -> str:
    """Return the text, or raise InputError where a column of TREC would end in the middle of it."""
    _encoded(str(text))
    if split_fields(str(text)) != [text] or text.startswith(("#", "\ufeff")):
        msg = f"{text!r} holds blanks or begins with #, which a TREC file cannot say; write JSON"
        raise InputError(msg)
    return text


def _cell(text: str) -> str:
    """Return the text, or raise InputError where BEIR's reader would see another one."""
    if any(mark in text for mark in "\t\r\n") or text != text.strip(" "):
        msg = f"{text!r} holds a tab or ends in blanks, which a BEIR file cannot say; write JSON"
        raise InputError(msg)
    return text


def _plain(grade: float) -> str:
    """Return a whole grade without a point, as other readers expect it."""
    return str(int(grade)) if grade.is_integer() else repr(grade)
