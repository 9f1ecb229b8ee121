"""Runs and judgements as JSON, read and written, and as JSON lines, read."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from beir_eval.adapters.formats.text_lines import encoded
from beir_eval.core.arrays import read_floats
from beir_eval.core.column_names import DOC_NAMES, GRADE_NAMES, QUERY_NAMES, SCORE_NAMES, matching
from beir_eval.core.ids import id_text, repeated_ids
from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.core.run_sources.lists import source_from_lists
from beir_eval.errors import FileFormatError, RunError, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.arrays import Floats
    from beir_eval.core.files import FileContent

# The names under which a record holds its documents.
_LISTS = ("docs", "documents", "results", "retrieved", "predictions", "ranking", "hits", "doc_ids")
_SCORE_LISTS = ("scores", "doc_scores")
_ID = ("_id", "id")
_PAIR = 2

_RUN_SHAPE = "{query_id: {doc_id: score}}"


#: The line of a query where lines matter, its id, and (doc_id, score or None) for each document.
_Ranking: TypeAlias = "tuple[int | None, Any, list[tuple[str, float | None]]]"
#: The line of a judgement where lines matter, query id, document id, grade.
_Judgement: TypeAlias = "tuple[int | None, Any, Any, Any]"


class _Repeated(NamedTuple):
    """An object in which a name stands twice; json would keep the last and say nothing."""

    pairs: list[tuple[str, Any]]


def read_json_run(content: FileContent) -> Run:
    """Read "json": ``{query_id: {doc_id: score}}``.

    Raises:
        FileFormatError: not JSON, or of another shape.
    """
    return _run(content, _json_rankings(content))


def read_jsonl_run(content: FileContent) -> Run:
    """Read "jsonl": a query with its documents on each line, or one document.

    Raises:
        FileFormatError: not JSON, or of another shape.
    """
    return _run(content, _jsonl_rankings(content))


def read_json_qrels(content: FileContent) -> Qrels:
    """Read "json": ``{query_id: {doc_id: grade}}``.

    Raises:
        FileFormatError: not JSON, or of another shape.
    """
    rows = (
        (line, query, doc, grade)
        for line, query, pairs in _objects_of_objects(content, "grade")
        for doc, grade in pairs
    )
    return _qrels(content, rows)


def read_jsonl_qrels(content: FileContent) -> Qrels:
    """Read "jsonl": ``{"query_id", "doc_id", "grade"}`` on each line.

    Raises:
        FileFormatError: not JSON, or of another shape.
    """
    return _qrels(content, _flat_records(content, GRADE_NAMES))


def write_run(rankings: Iterable[tuple[str, Sequence[str], Floats]], _tag: str) -> bytes:
    """Return "json": ``{query_id: {doc_id: score}}``.

    Raises:
        InputError: an id that is not Unicode.
        RunError: a document listed twice.
    """
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
    return encoded(json.dumps(whole, ensure_ascii=False, indent=1))


def write_qrels(rows: Iterable[tuple[str, str, float]]) -> bytes:
    """Return "json": ``{query_id: {doc_id: grade}}``.

    Raises:
        InputError: an id that is not Unicode.
    """
    whole: dict[str, dict[str, float]] = {}
    for query, doc, grade in rows:
        whole.setdefault(query, {})[doc] = grade
    return encoded(json.dumps(whole, ensure_ascii=False, indent=1))


def _run(content: FileContent, rows: Iterable[_Ranking]) -> Run:
    rankings: dict[str, list[tuple[Any, Any]]] = {}
    for line, query, documents in rows:
        query_id = _id(content, line, query)
        rankings.setdefault(query_id, []).extend(documents)
    if not rankings:
        raise FileFormatError(content.path, f"there is no query in it; expected {_RUN_SHAPE}")
    rows_of_all = [pair for documents in rankings.values() for pair in documents]
    scored = [score is not None for _, score in rows_of_all]
    if any(scored) and not all(scored):
        raise FileFormatError(content.path, "some documents have scores and some have none")
    scores = None
    if not scored or scored[0]:
        scores = read_floats((score for _, score in rows_of_all), len(rows_of_all))
    doc_ids = [[doc_id for doc_id, _ in documents] for documents in rankings.values()]
    return Run.from_source(source_from_lists(list(rankings), doc_ids, scores))


def _qrels(content: FileContent, rows: Iterable[_Judgement]) -> Qrels:
    queries: list[str] = []
    docs: list[str] = []
    grades: list[float] = []
    for line, query, doc, grade in rows:
        queries.append(_id(content, line, query))
        docs.append(_id(content, line, doc))
        grades.append(_number(content, line, _named("grade", query, doc), grade))
    if not queries:
        problem = "no judgement in it; expected {query_id: {doc_id: grade}}"
        raise FileFormatError(content.path, problem)
    return Qrels.from_columns(queries, docs, grades)


# One object for everything


def _json_rankings(content: FileContent) -> Iterator[_Ranking]:
    for line, query, pairs in _objects_of_objects(content, "score"):
        if any(score is None for _, score in pairs):
            raise FileFormatError(content.path, f"a score for query {query!r} is null")
        yield line, query, _checked(content, line, query, pairs)


def _objects_of_objects(
    content: FileContent, what: str
) -> Iterator[tuple[int | None, str, Sequence[tuple[str, Any]]]]:
    shape = f"{{query_id: {{doc_id: {what}}}}}"
    whole = _parse(content, content.text(), None)
    if isinstance(whole, _Repeated):
        query_id = repeated_ids(name for name, _ in whole.pairs)[0]
        raise FileFormatError(content.path, f"the query {query_id!r} stands twice in it")
    if not isinstance(whole, dict):
        problem = f"JSON of another shape: expected {shape}, found {_kind(whole)}"
        raise FileFormatError(content.path, problem)
    for query, documents in whole.items():
        if isinstance(documents, _Repeated):
            yield None, query, documents.pairs
        elif isinstance(documents, dict):
            yield None, query, list(documents.items())
        else:
            problem = (
                f"JSON of another shape: expected {shape}, found {_kind(documents)} for {query!r}"
            )
            raise FileFormatError(content.path, problem)


# One object a line


def _jsonl_rankings(content: FileContent) -> Iterator[_Ranking]:
    for line, record in _records(content):
        query_key = _query_key(content, line, record)
        key = _key(content, line, record, _LISTS)
        if key is None:
            doc = _doc_key(content, line, record, query_key)
            score = _key(content, line, record, SCORE_NAMES)
            if doc is None or score is None or record[score] is None:
                _refuse_record(content, line, "docs (or doc_id and score)", record)
            pairs = [(record[doc], record[score])]
        else:
            scores = _key(content, line, record, _SCORE_LISTS)
            pairs = _pairs(content, line, record[key], None if scores is None else record[scores])
        yield line, record[query_key], _checked(content, line, record[query_key], pairs)


def _checked(
    content: FileContent, line: int | None, query: Any, pairs: Sequence[tuple[Any, Any]]
) -> list[tuple[str, float | None]]:
    """Return ids as text and scores as numbers; None stays where there is no score."""
    return [
        (
            _id(content, line, doc),
            None if score is None else _number(content, line, _named("score", query, doc), score),
        )
        for doc, score in pairs
    ]


def _pairs(content: FileContent, line: int, documents: Any, scores: Any) -> list[tuple[Any, Any]]:
    """Return (doc_id, score or None) from any form in which documents are listed."""
    if scores is not None:
        both_lists = isinstance(documents, list) and isinstance(scores, list)
        if not both_lists or len(documents) != len(scores) or None in scores:
            problem = "scores beside the documents must be a list of as many numbers"
            raise FileFormatError(content.path, problem, line=line)
        return list(zip(documents, scores, strict=True))
    if isinstance(documents, _Repeated):
        return list(documents.pairs)
    if isinstance(documents, dict):
        return list(documents.items())
    if not isinstance(documents, list):
        problem = f"documents must be an object or a list, not {_kind(documents)}"
        raise FileFormatError(content.path, problem, line=line)
    return [_pair(content, line, one) for one in documents]


def _pair(content: FileContent, line: int, one: Any) -> tuple[Any, Any]:
    """Return (doc_id, score) of one listed document; a bare id has no score."""
    if isinstance(one, dict):
        doc, score = _doc_key(content, line, one, None), _key(content, line, one, SCORE_NAMES)
        if doc is None or score is None or one[score] is None:
            problem = (
                f"a document must have an id and a score, but it has {', '.join(map(repr, one))}"
            )
            raise FileFormatError(content.path, problem, line=line)
        return one[doc], one[score]
    if isinstance(one, list):
        if len(one) != _PAIR or one[1] is None:
            problem = f"a document must be an id or [id, score], not {one!r}"
            raise FileFormatError(content.path, problem, line=line)
        return one[0], one[1]
    return one, None


def _flat_records(content: FileContent, number: tuple[str, ...]) -> Iterator[_Judgement]:
    for line, record in _records(content):
        query = _query_key(content, line, record)
        doc, value = _doc_key(content, line, record, query), _key(content, line, record, number)
        if doc is None or value is None or record[value] is None:
            _refuse_record(content, line, "doc_id and grade", record)
        yield line, record[query], record[doc], record[value]


def _records(content: FileContent) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, text in enumerate(content.text().split("\n"), start=1):
        if not text.strip():
            continue
        record = _parse(content, text, line)
        if isinstance(record, _Repeated):
            problem = "a key stands twice in the record"
            raise FileFormatError(content.path, problem, line=line)
        if not isinstance(record, dict):
            problem = f"expected one object a line, found {_kind(record)}"
            raise FileFormatError(content.path, problem, line=line)
        yield line, record


def _query_key(content: FileContent, line: int, record: dict[str, Any]) -> str:
    """Return the key of the query: a name that says so, or else ``id``."""
    found = _key(content, line, record, QUERY_NAMES) or _key(content, line, record, _ID)
    if found is None:
        _refuse_record(content, line, "query_id", record)
    return found


def _doc_key(
    content: FileContent, line: int, record: dict[str, Any], query_key: str | None
) -> str | None:
    """Return the key of the document: a name that says so, or else ``id``."""
    rest = {key: value for key, value in record.items() if key != query_key}
    return _key(content, line, rest, DOC_NAMES) or _key(content, line, rest, _ID)


def _key(
    content: FileContent, line: int, record: dict[str, Any], names: Sequence[str]
) -> str | None:
    """Return the one key of the record that is among these names, None where there is none."""
    found = matching(record, names)
    if len(found) > 1:
        problem = f"the record says one thing twice, as {' and as '.join(map(repr, found))}"
        raise FileFormatError(content.path, problem, line=line)
    return found[0] if found else None


def _refuse_record(
    content: FileContent, line: int, lacking: str, record: dict[str, Any]
) -> NoReturn:
    problem = f"the record has no {lacking}; it has {', '.join(map(repr, record))}"
    raise FileFormatError(content.path, problem, line=line)


# Values


def _parse(content: FileContent, text: str, line: int | None) -> Any:
    def keep_all(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Repeated:
        kept = dict(pairs)
        return kept if len(kept) == len(pairs) else _Repeated(pairs)

    try:
        return json.loads(text, object_pairs_hook=keep_all)
    except json.JSONDecodeError as error:
        at = line if line is not None else error.lineno
        raise FileFormatError(content.path, f"not JSON: {error.msg}", line=at) from error
    except ValueError as error:  # a number of thousands of digits
        raise FileFormatError(content.path, f"not JSON: {error}", line=line) from error
    except RecursionError as error:
        raise FileFormatError(content.path, "JSON that is nested too deeply", line=line) from error


def _id(content: FileContent, line: int | None, value: Any) -> str:
    try:
        return id_text(value)
    except (TypeError, ValueError) as error:
        raise FileFormatError(content.path, str(error), line=line) from error


def _number(content: FileContent, line: int | None, named: str, value: Any) -> float:
    """Return a finite number; ``named`` says in messages which one it is."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
        problem = f"{named} is {value!r}; it must be a finite number"
        raise FileFormatError(content.path, problem, line=line)
    return float(value)


def _named(what: str, query: Any, doc: Any) -> str:
    return f"the {what} of document {doc!r} for query {query!r}"


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _kind(value: Any) -> str:
    return {
        dict: "an object",
        _Repeated: "an object",
        list: "a list",
        str: "text",
        bool: "true or false",
        type(None): "null",
    }.get(type(value), "a number")
