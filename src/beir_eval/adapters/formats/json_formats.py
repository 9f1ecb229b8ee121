"""Runs and judgements as JSON, read and written, and as JSON lines, read."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

from beir_eval.adapters.formats.text_lines import encode_utf8
from beir_eval.core.arrays import read_floats
from beir_eval.core.column_names import (
    DOC_NAMES,
    GRADE_NAMES,
    NO_COLUMNS,
    QUERY_NAMES,
    RANK_NAMES,
    SCORE_NAMES,
    columns_of_role,
    matching_names,
)
from beir_eval.core.files import kind_of_json
from beir_eval.core.ids import id_text, repeated_ids
from beir_eval.core.qrels import Qrels, check_listed_ids, refuse_columns
from beir_eval.core.run import Run
from beir_eval.core.run_sources.lists import source_from_lists
from beir_eval.errors import FileFormatError, InputError, RunError, first_few, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.core.arrays import Floats
    from beir_eval.core.column_names import RowFilter, StatedColumns
    from beir_eval.core.files import FileContent

#: Keys under which a record lists its documents.
_DOC_LIST_NAMES = (
    "docs",
    "documents",
    "results",
    "retrieved",
    "predictions",
    "ranking",
    "hits",
    "doc_ids",
)
#: Keys under which a record of judgements lists relevant documents.
_RELEVANT_LIST_NAMES = ("docs", "documents", "doc_ids", "relevant_docs", "answer_pids")
#: The key of the judgements in a data set of LlamaIndex, beside those of its texts.
_LLAMA_INDEX, _LLAMA_INDEX_TEXTS = "relevant_docs", {"queries", "corpus"}
#: Keys under which a record lists the scores of these documents.
_SCORE_LIST_NAMES = ("scores", "doc_scores")
#: Keys under which a record may list numbers of documents, so that these are not without grades.
_NUMBER_LIST_NAMES = (*_SCORE_LIST_NAMES, "grades", "labels", "relevances", "ratings")
#: Keys of an id that are used if there is no more specific one.
_ID_NAMES = ("_id", "id")
_PAIR_LENGTH = 2

_RUN_SHAPE = "{query_id: {doc_id: score}}"

#: The key that only the predictions of MTEB have: the model that made them.
_MTEB_MODEL = "mteb_model_meta"
#: The keys of a result of MTEB, which holds means only.
_MTEB_RESULT = {"task_name", "mteb_version", "scores"}


#: The line number (None for a file that is one object), the query id, and (doc_id, score or None)
#: for each document.
_Ranking: TypeAlias = "tuple[int | None, Any, list[tuple[str, float | None]]]"
#: The line number (None for a file that is one object), query id, document id, grade.
_Judgement: TypeAlias = "tuple[int | None, Any, Any, Any]"


class _RepeatedKeys(NamedTuple):
    """A JSON object with a repeated key, of which ``json`` would silently keep the last value."""

    pairs: list[tuple[str, Any]]


def read_json_run(content: FileContent) -> Run:
    """Return the run of a file of format "json": ``{query_id: {doc_id: score}}``.

    In place of an object, a query may have a list of ids, best first, or of objects with id and
    score. The predictions of MTEB are read too, if they are those of a single split.

    Raises:
        FileFormatError: the content is not JSON, has another shape, or holds several runs.
    """
    parsed = _parse(content, content.text(), None)
    if not _is_of_mteb(parsed):
        return _json_run(content, parsed)
    runs = _mteb_runs(content, parsed)
    if len(runs) > 1:
        first = next(iter(runs))
        problem = (
            f"MTEB's predictions of {len(runs)} splits ({first_few(runs)}), and a run is that of "
            f"one; take it with read_mteb_predictions(path)[{first!r}], and save it with write_run"
        )
        raise FileFormatError(content.path, problem)
    return next(iter(runs.values()))


def read_mteb_runs(content: FileContent) -> dict[str, Run]:
    """Return {subset/split: run} of a file of MTEB's predictions.

    Raises:
        FileFormatError: the content is not JSON, or has another shape.
    """
    parsed = _parse(content, content.text(), None)
    if not _is_of_mteb(parsed):
        problem = (
            f"these are no predictions of MTEB: there is no {_MTEB_MODEL!r} in it; read_run reads "
            "the other formats of runs"
        )
        raise FileFormatError(content.path, problem)
    return _mteb_runs(content, parsed)


def read_jsonl_run(content: FileContent, columns: StatedColumns = NO_COLUMNS) -> Run:
    """Return the run of a file of format "jsonl": on each line a query with its documents, or one.

    The objects of the lines may also be the entries of an array.

    Raises:
        FileFormatError: a line is not JSON, or has another shape.
        InputError: the rows are those of several systems.
    """
    return _run_from_rankings(content, _jsonl_rankings(content, columns))


def rows_with_ranks(
    content: FileContent, columns: StatedColumns = NO_COLUMNS
) -> Iterator[tuple[str, str, float]]:
    """Yield (query, rank, score) of the lines of a valid run, each a document with its rank.

    The content may be the first lines of the file: an array that goes on behind them has none.
    """
    with suppress(InputError):
        for line, record in _read_records(content, columns):
            ranks = matching_names(record, RANK_NAMES)
            if len(ranks) != 1:
                return
            _, query, pairs = _ranking_of(content, line, record, columns)
            for _, score in pairs:
                if score is not None:
                    yield str(query), str(record[ranks[0]]), float(score)


def read_json_qrels(content: FileContent) -> Qrels:
    """Return the qrels of a file of format "json": ``{query_id: {doc_id: grade}}``.

    A list of ids in place of an object has documents of grade 1. In a data set of LlamaIndex,
    ``relevant_docs`` are the judgements.

    Raises:
        FileFormatError: the content is not JSON, or has another shape.
        QrelsError: a document is judged twice with different grades, a list has entries that are
            no ids, or the lists are the columns of a table.
    """
    parsed = _parse(content, content.text(), None)
    if isinstance(parsed, dict) and parsed.keys() >= {_LLAMA_INDEX, *_LLAMA_INDEX_TEXTS}:
        parsed = parsed[_LLAMA_INDEX]
    judgements = (
        (line, query, doc, grade)
        for line, query, pairs in _nested_objects(content, parsed, "grade")
        for doc, grade in pairs
    )
    return _qrels_from_judgements(content, judgements)


def read_jsonl_qrels(content: FileContent, columns: StatedColumns = NO_COLUMNS) -> Qrels:
    """Return the qrels of a file of format "jsonl": ``{"query_id", "doc_id", "grade"}`` per line.

    A line may also list relevant documents, ``{"query_id", "docs"}``, each of grade 1. The objects
    of the lines may also be the entries of an array.

    Raises:
        FileFormatError: a line is not JSON, or has another shape.
        InputError: the rows are those of several systems, or parts of the data.
        QrelsError: a document is judged twice with different grades.
    """
    return _qrels_from_judgements(content, _jsonl_judgements(content, columns))


def write_run(rankings: Iterable[tuple[str, Sequence[str], Floats]], _tag: str) -> bytes:
    """Return the bytes of format "json": ``{query_id: {doc_id: score}}``.

    Raises:
        InputError: an id is not Unicode.
        RunError: a document is listed twice.
    """
    run = {}
    for query, docs, scores in rankings:
        if len(set(docs)) < len(docs):
            repeated = sorted(repeated_ids(docs))
            msg = (
                f"query {shown(query)} lists {first_few(repeated)} more than once, which JSON "
                "cannot contain (readers keep the last one only); write TREC or Parquet"
            )
            raise RunError(msg)
        run[query] = dict(zip(docs, scores.tolist(), strict=True))
    return encode_utf8(json.dumps(run, ensure_ascii=False, indent=1))


def write_qrels(rows: Iterable[tuple[str, str, float]]) -> bytes:
    """Return the bytes of format "json": ``{query_id: {doc_id: grade}}``.

    Raises:
        InputError: an id is not Unicode.
    """
    qrels: dict[str, dict[str, float]] = {}
    for query, doc, grade in rows:
        qrels.setdefault(query, {})[doc] = grade
    return encode_utf8(json.dumps(qrels, ensure_ascii=False, indent=1))


def _run_from_rankings(content: FileContent, query_rankings: Iterable[_Ranking]) -> Run:
    """Return a run; the rankings of a query that occurs several times are joined."""
    rankings: dict[str, list[tuple[Any, Any]]] = {}
    for line, query, documents in query_rankings:
        query_id = _read_id(content, line, query)
        rankings.setdefault(query_id, []).extend(documents)
    if not rankings:
        raise FileFormatError(content.path, f"there is no query in it; expected {_RUN_SHAPE}")
    pairs = [pair for documents in rankings.values() for pair in documents]
    scored = [score is not None for _, score in pairs]
    if any(scored) and not all(scored):
        raise FileFormatError(content.path, "some documents have scores and some have none")
    scores = None
    if not scored or scored[0]:
        scores = read_floats((score for _, score in pairs), len(pairs))
    doc_ids = [[doc_id for doc_id, _ in documents] for documents in rankings.values()]
    return Run.from_source(source_from_lists(list(rankings), doc_ids, scores))


def _qrels_from_judgements(content: FileContent, judgements: Iterable[_Judgement]) -> Qrels:
    queries: list[str] = []
    docs: list[str] = []
    grades: list[float] = []
    for line, query, doc, grade in judgements:
        queries.append(_read_id(content, line, query))
        docs.append(_read_id(content, line, doc))
        grades.append(_read_number(content, line, "grade", (query, doc), grade))
    if not queries:
        problem = "no judgement in it; expected {query_id: {doc_id: grade}}"
        raise FileFormatError(content.path, problem)
    return Qrels.from_columns(queries, docs, grades)


# Files that are one object


def _is_of_mteb(parsed: object) -> bool:
    return isinstance(parsed, dict) and _MTEB_MODEL in parsed


def _mteb_runs(content: FileContent, parsed: dict[str, Any]) -> dict[str, Run]:
    """Return {subset/split: run} of ``{"mteb_model_meta": …, subset: {split: run}}``."""
    runs = {}
    for subset, splits in parsed.items():
        if subset == _MTEB_MODEL:
            continue
        if not isinstance(splits, dict):
            problem = (
                f"MTEB's predictions of {shown(subset)} must be {{split: {_RUN_SHAPE}}}, not "
                f"{_json_type(splits)}"
            )
            raise FileFormatError(content.path, problem)
        for split, run in splits.items():
            runs[f"{subset}/{split}"] = _json_run(content, run)
    if not runs:
        raise FileFormatError(content.path, "MTEB's predictions without a split; nothing to read")
    return runs


def _json_run(content: FileContent, parsed: object) -> Run:
    """Return the run of parsed JSON: ``{query_id: {doc_id: score}}``."""
    return _run_from_rankings(content, _json_rankings(content, parsed))


def _json_rankings(content: FileContent, parsed: object) -> Iterator[_Ranking]:
    for line, query, pairs in _nested_objects(content, parsed, "score"):
        yield line, query, _read_pairs(content, line, query, pairs)


def _nested_objects(
    content: FileContent, parsed: object, number_name: str
) -> Iterator[tuple[int | None, str, Sequence[tuple[str, Any]]]]:
    """Yield (None, query id, (doc_id, number) pairs) from ``{query_id: {doc_id: number}}``.

    In place of the inner objects there may be lists of documents: those of runs without numbers
    have None, and relevant documents have grade 1.

    Args:
        content: the file.
        parsed: its value.
        number_name: "score" or "grade", for error messages.

    Raises:
        FileFormatError: it is a saved record, or has another shape.
        QrelsError: a list has entries that are no ids, or the lists are the columns of a table.
    """
    shape = f"{{query_id: {{doc_id: {number_name}}}}}"
    if isinstance(parsed, _RepeatedKeys):
        query_id = repeated_ids(name for name, _ in parsed.pairs)[0]
        raise FileFormatError(content.path, f"the query {shown(query_id)} is listed twice")
    if not isinstance(parsed, dict):
        _refuse_shape(content, parsed, f"expected {shape}, found {_json_type(parsed)}")
    if any(isinstance(documents, list) for documents in parsed.values()):
        if parsed.keys() >= _MTEB_RESULT or kind_of_json(parsed)[0]:
            _refuse_shape(content, parsed, "")
        refuse_columns(parsed)
    for query, documents in parsed.items():
        if isinstance(documents, list) and number_name == "score":
            yield None, query, _document_pairs(content, None, documents, None)
        elif isinstance(documents, list):
            check_listed_ids(query, documents)
            yield None, query, [(doc, 1) for doc in documents]
        elif isinstance(documents, _RepeatedKeys | dict):
            pairs = documents.items() if isinstance(documents, dict) else documents.pairs
            if any(number is None for _, number in pairs):
                problem = f"a {number_name} for query {shown(query)} is null"
                raise FileFormatError(content.path, problem)
            yield None, query, list(pairs)
        else:
            problem = f"expected {shape}, found {_json_type(documents)} for {shown(query)}"
            _refuse_shape(content, parsed, problem)


def _refuse_shape(content: FileContent, parsed: object, problem: str) -> NoReturn:
    """Raise FileFormatError for JSON of another shape; the message names a saved record.

    Args:
        content: the file.
        parsed: its content.
        problem: what was expected and what was found.
    """
    if isinstance(parsed, dict) and parsed.keys() >= _MTEB_RESULT:
        problem = (
            "this is a result of MTEB: means without the scores of the queries, so nothing can be "
            "tested with it; evaluate with prediction_folder=, and read the predictions"
        )
        raise FileFormatError(content.path, problem)
    kind, call = kind_of_json(parsed)
    if kind:
        problem = f"this is {kind}, not a run or judgements; read it with {call}"
        raise FileFormatError(content.path, problem)
    raise FileFormatError(content.path, f"JSON of another shape: {problem}")


# Files with an object on each line, or an array of them


def _jsonl_rankings(content: FileContent, columns: StatedColumns) -> Iterator[_Ranking]:
    """Yield the documents of each line: all those of a query, or a single one.

    With a stated key of documents or scores, a line has a single one.
    """
    for line, record in _read_records(content, columns):
        yield _ranking_of(content, line, record, columns)


def _ranking_of(
    content: FileContent, line: int | None, record: dict[str, Any], columns: StatedColumns
) -> _Ranking:
    """Return the documents of a line."""
    query_key = _query_key(content, line, record, columns)
    doc_key = _stated_key(content, line, record, columns, "doc_id")
    score_key = _stated_key(content, line, record, columns, "score")
    list_key = None
    if doc_key is None and score_key is None:
        list_key = _single_key(content, line, record, _DOC_LIST_NAMES)
    if list_key is None:
        doc_key = doc_key or _doc_key(content, line, record, query_key)
        score_key = score_key or _score_key(content, line, record)
        if doc_key is None or score_key is None or record[score_key] is None:
            _refuse_record(content, line, "docs (or doc_id and score)", record)
        pairs = [(record[doc_key], record[score_key])]
    else:
        scores_key = _single_key(content, line, record, _SCORE_LIST_NAMES)
        pairs = _document_pairs(
            content, line, record[list_key], None if scores_key is None else record[scores_key]
        )
    return line, record[query_key], _read_pairs(content, line, record[query_key], pairs)


def _read_pairs(
    content: FileContent, line: int | None, query: Any, pairs: Sequence[tuple[Any, Any]]
) -> list[tuple[str, float | None]]:
    """Return document ids as text and scores as numbers; a score of None stays None."""
    return [
        (
            _read_id(content, line, doc),
            None if score is None else _read_number(content, line, "score", (query, doc), score),
        )
        for doc, score in pairs
    ]


def _document_pairs(
    content: FileContent, line: int | None, documents: Any, scores: Any
) -> list[tuple[Any, Any]]:
    """Return (doc_id, score or None) for each document of a record, in any form that is read."""
    if scores is not None:
        are_lists = isinstance(documents, list) and isinstance(scores, list)
        if not are_lists or len(documents) != len(scores) or None in scores:
            problem = "scores beside the documents must be a list of as many numbers"
            raise FileFormatError(content.path, problem, line=line)
        return list(zip(documents, scores, strict=True))
    if isinstance(documents, _RepeatedKeys):
        return list(documents.pairs)
    if isinstance(documents, dict):
        return list(documents.items())
    if not isinstance(documents, list):
        problem = f"documents must be an object or a list, not {_json_type(documents)}"
        raise FileFormatError(content.path, problem, line=line)
    return [_document_pair(content, line, document) for document in documents]


def _document_pair(content: FileContent, line: int | None, document: Any) -> tuple[Any, Any]:
    """Return (doc_id, score) of one document of a list; the score of a bare id is None."""
    if isinstance(document, dict):
        doc_key = _doc_key(content, line, document, None)
        score_key = _score_key(content, line, document)
        if doc_key is None or score_key is None or document[score_key] is None:
            problem = f"a document must have an id and a score, but it has {first_few(document)}"
            raise FileFormatError(content.path, problem, line=line)
        return document[doc_key], document[score_key]
    if isinstance(document, list):
        if len(document) != _PAIR_LENGTH or document[1] is None:
            problem = f"a document must be an id or [id, score], not {shown(document)}"
            raise FileFormatError(content.path, problem, line=line)
        return document[0], document[1]
    return document, None


def _jsonl_judgements(content: FileContent, columns: StatedColumns) -> Iterator[_Judgement]:
    """Yield the judgement of each line, or those of the documents that it lists."""
    for line, record in _read_records(content, columns):
        query_key = _query_key(content, line, record, columns)
        doc_key = _stated_key(content, line, record, columns, "doc_id") or _doc_key(
            content, line, record, query_key
        )
        grade_key = _stated_key(content, line, record, columns, "grade") or _single_key(
            content, line, record, GRADE_NAMES
        )
        if doc_key is not None and grade_key is not None and record[grade_key] is not None:
            yield line, record[query_key], record[doc_key], record[grade_key]
            continue
        for doc in _relevant_documents(content, line, record, doc_key):
            yield line, record[query_key], doc, 1


def _relevant_documents(
    content: FileContent, line: int | None, record: dict[str, Any], doc_key: str | None
) -> list[Any]:
    """Return the ids of the documents that a record lists without grades.

    Args:
        content: the file.
        line: the number of the line.
        record: the record.
        doc_key: the key of its document, if it has one; the list may be behind it.

    Raises:
        FileFormatError: the record has no such list, or something beside it that may be grades.
    """
    list_key = doc_key or _single_key(content, line, record, _RELEVANT_LIST_NAMES)
    numbers = matching_names(record, (*GRADE_NAMES, *_NUMBER_LIST_NAMES))
    documents = None if list_key is None or numbers else record[list_key]
    if not isinstance(documents, list):
        _refuse_record(content, line, "doc_id and grade (or docs, a list of relevant ids)", record)
    return documents


def _read_records(
    content: FileContent, columns: StatedColumns
) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """Yield (1-based line number, object) of every line that counts, or (None, entry of an array).

    Args:
        content: the file.
        columns: what is stated about its columns.

    Raises:
        FileFormatError: a line is no JSON object.
        InputError: after the last line, if no line counts, or they are those of several systems.
    """
    text = content.text()
    records: Iterable[tuple[int | None, Any]] = (
        (number, _parse(content, line, number))
        for number, line in enumerate(text.split("\n"), start=1)
        if line.strip()
    )
    if text.lstrip().startswith("["):
        parsed = _parse(content, text, None)
        if kind_of_json(parsed)[0]:
            _refuse_shape(content, parsed, "")
        records = ((None, entry) for entry in parsed)
    rows: RowFilter | None = None
    for line, record in records:
        if isinstance(record, _RepeatedKeys):
            problem = "a key is listed twice in the record"
            raise FileFormatError(content.path, problem, line=line)
        if not isinstance(record, dict):
            problem = f"expected one object a line, found {_json_type(record)}"
            raise FileFormatError(content.path, problem, line=line)
        rows = rows or columns.rows_of(record)
        if rows.keeps(record):
            yield line, record
    if rows is not None:
        rows.check()


def _query_key(
    content: FileContent, line: int | None, record: dict[str, Any], columns: StatedColumns
) -> str:
    """Return the key of the query id: as stated, a usual name of it, or else ``_id`` or ``id``."""
    key = (
        _stated_key(content, line, record, columns, "query_id")
        or _single_key(content, line, record, QUERY_NAMES)
        or _single_key(content, line, record, _ID_NAMES)
    )
    if key is None:
        _refuse_record(content, line, "query_id", record)
    return key


def _doc_key(
    content: FileContent, line: int | None, record: dict[str, Any], query_key: str | None
) -> str | None:
    """Return the key of the document id: a usual name of it, or else ``_id`` or ``id``.

    The key of the query id is not considered; None if there is no such key.
    """
    other_fields = {key: value for key, value in record.items() if key != query_key}
    usual = matching_names(other_fields, DOC_NAMES)
    if len(usual) > 1:  # such as in the records of PyTerrier
        usual = [key for key in columns_of_role(record, "doc_id") if key in other_fields]
    if len(usual) == 1:
        return usual[0]
    return _single_key(content, line, other_fields, DOC_NAMES) or _single_key(
        content, line, other_fields, _ID_NAMES
    )


def _score_key(content: FileContent, line: int | None, record: dict[str, Any]) -> str | None:
    """Return the key of the score; None if there is none.

    Raises:
        FileFormatError: the record has several scores.
    """
    key = _single_key(content, line, record, SCORE_NAMES)
    others = [name for name in record if name != key and "score" in name.lower()]
    if key is not None and others and len(keys := columns_of_role(record, "score")) > 1:
        problem = (
            f"several fields could be the score: {first_few(keys)}; rename all but one, or name "
            "one with columns= as score"
        )
        raise FileFormatError(content.path, problem, line=line)
    return key


def _stated_key(
    content: FileContent,
    line: int | None,
    record: dict[str, Any],
    columns: StatedColumns,
    role: str,
) -> str | None:
    """Return the key that the caller states for a role; None if it is to be recognised.

    Raises:
        FileFormatError: the record has no such key.
    """
    key = columns.name_of(role, record) if columns else None
    if key is not None and key not in record:
        _refuse_record(content, line, shown(key), record)
    return key


def _single_key(
    content: FileContent, line: int | None, record: dict[str, Any], names: Sequence[str]
) -> str | None:
    """Return the key of the record that is one of these names, or None.

    Raises:
        FileFormatError: several keys are.
    """
    keys = matching_names(record, names)
    if len(keys) > 1:
        problem = f"the record has two fields for the same value, {' and '.join(map(repr, keys))}"
        raise FileFormatError(content.path, problem, line=line)
    return keys[0] if keys else None


def _refuse_record(
    content: FileContent, line: int | None, missing: str, record: dict[str, Any]
) -> NoReturn:
    problem = f"the record has no {missing}; it has {first_few(record)}"
    raise FileFormatError(content.path, problem, line=line)


# Values


def _parse(content: FileContent, text: str, line: int | None) -> Any:
    """Return the value of a JSON text; an object with a repeated key is ``_RepeatedKeys``."""

    def object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _RepeatedKeys:
        as_dict = dict(pairs)
        return as_dict if len(as_dict) == len(pairs) else _RepeatedKeys(pairs)

    try:
        return json.loads(text, object_pairs_hook=object_of)
    except json.JSONDecodeError as error:
        line_at_fault = line if line is not None else error.lineno
        raise FileFormatError(content.path, f"not JSON: {error.msg}", line=line_at_fault) from error
    except ValueError as error:  # an integer with thousands of digits
        raise FileFormatError(content.path, f"not JSON: {error}", line=line) from error
    except RecursionError as error:
        raise FileFormatError(content.path, "JSON that is nested too deeply", line=line) from error


def _read_id(content: FileContent, line: int | None, value: Any) -> str:
    try:
        return id_text(value)
    except (TypeError, ValueError) as error:
        raise FileFormatError(content.path, str(error), line=line) from error


def _read_number(
    content: FileContent, line: int | None, role: str, ids: tuple[Any, Any], value: Any
) -> float:
    """Return a finite number, or raise FileFormatError.

    Args:
        content: the file, for messages.
        line: the 1-based line number, for messages; None for a file that is one object.
        role: "score" or "grade".
        ids: the query and the document that have the number.
        value: the number.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
        problem = (
            f"the {role} of document {shown(ids[1])} for query {shown(ids[0])} is {shown(value)}; "
            "it must be a finite number"
        )
        raise FileFormatError(content.path, problem, line=line)
    return float(value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _json_type(value: Any) -> str:
    """Return what a JSON value is, in words for a message."""
    return {
        dict: "an object",
        _RepeatedKeys: "an object",
        list: "a list",
        str: "text",
        bool: "true or false",
        type(None): "null",
    }.get(type(value), "a number")
