"""Naive readers of every format: a few lines each, by the names of columns that the package knows.

Each returns what a file that the package accepts must contain, or raises ``Refused``. A reference
may accept a file that the package refuses (``fuzz_grammar`` makes the files that must be accepted).
"""

import csv
import gzip
import io
import json
import math
import re
from collections import Counter

import zstandard

from beir_eval.core.column_names import OTHER_NAMES, USUAL_NAMES

QUERY_KEYS, DOC_KEYS, SCORE_KEYS, GRADE_KEYS = USUAL_NAMES.values()
#: Names in tables that have none of the usual ones.
OTHER_KEYS = {names: OTHER_NAMES[role] for role, names in USUAL_NAMES.items()}
GRADE_HEADERS = {"score", "grade", "label", "rel", "relevance", "relevance_score"}
LIST_KEYS = (
    *("docs", "documents", "results", "retrieved", "predictions"),
    *("ranking", "hits", "doc_ids"),
)
SCORE_LIST_KEYS = ("scores", "doc_scores")
PLAIN_IDS = ("_id", "id")
RECORD_IDS = ("_id", "id", "doc_id", "docid", "corpus-id", "query-id", "query_id")
RECORD_TEXTS = ("text", "contents", "query")


class Refused(Exception):  # noqa: N818 - an outcome, not an error
    """The reference does not accept the file."""


class Pairs(list):
    """The (key, value) pairs of a JSON object, in the order of the file."""

    def get(self, key):
        return next((value for name, value in reversed(self) if name == key), None)


def unpacked(data):
    if data.startswith(b"\x1f\x8b"):
        return gzip.decompress(data)
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        with zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True) as stream:
            return stream.read()
    return data


def text_of(data):
    return unpacked(data).decode("utf-8-sig")


def finite(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Refused(value)
    try:
        number = float(value)
    except OverflowError as error:
        raise Refused(value) from error
    if not math.isfinite(number):
        raise Refused(value)
    return number


def finite_text(text):
    try:
        return finite(float(text))
    except ValueError as error:
        raise Refused(text) from error


def json_of(text):
    try:
        return json.loads(text, object_pairs_hook=Pairs)
    except (ValueError, RecursionError) as error:
        raise Refused(text[:50]) from error


def id_of(value):
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise Refused(value)
    return str(value)


def one_key(pairs, names):
    keys = {key for key, _ in pairs if re.sub("[- ]", "_", key.lower()) in names}
    if len(keys) > 1:
        raise Refused(keys)
    return keys.pop() if keys else None


def other_scores(names):
    """Return the indices of what is called a score, but for the highest or lowest of a query."""
    forms = [re.sub("[- ]", "_", name.lower()) for name in names]
    return [
        index
        for index, form in enumerate(forms)
        if form.endswith("_score") and form not in ("max_score", "min_score")
    ]


def score_key(record):
    key = one_key(record, SCORE_KEYS)
    if key is not None and other_scores([name for name, _ in record]):
        raise Refused(key)
    return key


def columns_of(text):
    """Yield the fields of each line, which ASCII white space separates."""
    for line in text.split("\n"):
        if line.strip() and not line.startswith("#"):
            yield re.findall(r"[^ \t\n\r\x0b\x0c]+", line)


def columns_called(header, keys):
    """Return the indices of the columns of a table with one of the names."""
    for names in (keys, OTHER_KEYS[keys]):
        if matches := [index for index, name in enumerate(header) if name in names]:
            if keys == SCORE_KEYS:
                matches += [index for index in other_scores(header) if index not in matches]
            is_pyterrier = keys == DOC_KEYS and {"qid", "docid", "docno"} <= set(header)
            return [index for index in matches if not is_pyterrier or header[index] != "docid"]
    return []


def delimiter_of(line):
    """Return what separates the names of queries and documents in a header; None without them."""
    for delimiter in ",;\t":
        cells = [cell.strip(' \t\n\r\v\f"') for cell in line.split(delimiter)]
        names = [re.sub("[- ]", "_", cell.lower()) for cell in cells]
        is_named = columns_called(names, QUERY_KEYS) and columns_called(names, DOC_KEYS)
        has_number = delimiter != "," and any(map(is_number, cells))
        if is_named and len(names) > 1 and not has_number:
            return delimiter
    return None


def is_number(text):
    try:
        finite_text(text)
    except Refused:
        return False
    return True


def is_csv_header(line):
    """Return whether a line names queries and documents, or is a word of columns with commas."""
    return delimiter_of(line) is not None or (line.count(",") >= 2 and len(line.split()) == 1)


def csv_rows(text, number_keys):
    """Yield (query, document, number) of each line below the header, the first that is filled."""
    lines = text.split("\n")
    first = next(i for i, line in enumerate(lines) if line.strip() and line[0] != "#")
    file = io.StringIO("\n".join(lines[first:]), newline="")
    try:
        delimiter = delimiter_of(lines[first]) or ","
        rows = list(csv.reader(file, delimiter=delimiter, strict=True, skipinitialspace=True))
    except csv.Error as error:
        raise Refused(str(error)) from error
    rows = [row for row in rows if len(row) > 1 or "".join(row).strip()]
    header = [re.sub("[- ]", "_", name.strip(" \t\n\r\x0b\x0c").lower()) for name in rows[0]]
    columns = [columns_called(header, keys) for keys in (QUERY_KEYS, DOC_KEYS, number_keys)]
    for row in rows[1:]:
        if len(row) != len(header):
            raise Refused(row)
        if number_keys == GRADE_KEYS and not columns[2]:
            ((query,), (doc,)) = columns[:2]
            yield id_of(row[query]), id_of(row[doc]), 1.0
            continue
        ((query,), (doc,), (number,)) = columns
        yield id_of(row[query]), id_of(row[doc]), finite_text(row[number])


def grouped(rows):
    """Return {query: [(document, number), …]} in the order of the rows."""
    rankings = {}
    for query, doc, number in rows:
        rankings.setdefault(query, []).append((doc, number))
    return rankings


def run_of(data):
    """Return {query: [(document, score or None), …]} of a run file, in the order of the source."""
    text = text_of(data)
    significant = [line for line in text.split("\n") if line.strip() and line[0] != "#"]
    if significant and significant[0].strip(" ")[0] in "{[":
        return run_of_json(text)
    if significant and is_csv_header(significant[0]):
        return grouped(csv_rows(text, SCORE_KEYS))
    rows = list(columns_of(text))
    if not rows:
        raise Refused
    widths = {len(row) for row in rows}
    if widths == {4}:
        return grouped((row[0], row[1], finite_text(row[3])) for row in rows)
    if widths == {6} or has_tag_with_blanks(rows):
        return grouped((row[0], row[2], finite_text(row[4])) for row in rows)
    if widths == {3}:
        return rankings_of_three_columns(rows)
    raise Refused(widths)


def has_tag_with_blanks(rows):
    """Return whether all lines have the same tag of several words, after a rank."""
    return (
        len({tuple(row[5:]) for row in rows}) == 1
        and len(rows[0]) > 6
        and all(re.fullmatch("[0-9]+", row[3]) for row in rows)
        and not is_number(rows[0][5])
    )


def rankings_of_three_columns(rows):
    if not are_ranks(rows):
        return grouped((row[0], row[1], finite_text(row[2])) for row in rows)
    ranks = grouped((row[0], row[1], int(row[2])) for row in rows)
    return {
        query: [(doc, None) for doc, _ in sorted(docs, key=lambda pair: pair[1])]
        for query, docs in ranks.items()
    }


def are_ranks(rows):
    """Return whether third columns are whole, different for each query, and begin at 0 or 1."""
    if not all(re.fullmatch("[0-9]{1,18}", row[2]) for row in rows):
        return False
    ranks = grouped((row[0], row[1], int(row[2])) for row in rows)
    numbers = [[rank for _, rank in docs] for docs in ranks.values()]
    return all(len(set(listed)) == len(listed) and min(listed) < 2 for listed in numbers)


def run_of_json(text):
    try:
        parsed = json.loads(text, object_pairs_hook=Pairs)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, Pairs) and all(isinstance(docs, Pairs) for _, docs in parsed):
        return {
            id_of(query): [(id_of(doc), finite(score)) for doc, score in docs]
            for query, docs in parsed
        }
    rankings = {}
    for line in text.split("\n"):
        if line.strip():
            query, docs = query_and_documents(json_of(line))
            rankings.setdefault(query, []).extend(docs)
    return rankings


def query_key_of(record):
    if not isinstance(record, Pairs) or max(Counter(key for key, _ in record).values()) > 1:
        raise Refused(record)
    key = one_key(record, QUERY_KEYS) or one_key(record, PLAIN_IDS)
    if key is None:
        raise Refused(record)
    return key


def query_and_documents(record):
    query_key = query_key_of(record)
    list_key = one_key(record, LIST_KEYS)
    query = id_of(record.get(query_key))
    if list_key is None:
        return query, [document_with_score(record, query_key)]
    scores_key = one_key(record, SCORE_LIST_KEYS)
    docs = record.get(list_key)
    if scores_key is not None and record.get(scores_key) is not None:
        scores = record.get(scores_key)
        return query, [(id_of(doc), finite(score)) for doc, score in zip(docs, scores, strict=True)]
    if isinstance(docs, Pairs):
        # A score of null is no score.
        return query, [
            (id_of(doc), None if score is None else finite(score)) for doc, score in docs
        ]
    return query, [listed_document(doc) for doc in docs]


def listed_document(doc):
    if isinstance(doc, Pairs):
        return document_with_score(doc, None)
    if isinstance(doc, list):
        doc_id, score = doc
        return id_of(doc_id), finite(score)
    return id_of(doc), None


def document_key(record, others):
    if {"qid", "docid", "docno"} <= {re.sub("[- ]", "_", key.lower()) for key, _ in record}:
        others = [pair for pair in others if pair[0].lower() != "docid"]
    return one_key(others, DOC_KEYS) or one_key(others, PLAIN_IDS)


def document_with_score(record, query_key):
    others = [pair for pair in record if pair[0] != query_key]
    doc_key = document_key(record, others)
    return id_of(record.get(doc_key)), finite(record.get(score_key(record)))


def qrels_of(data):
    """Return {query: {document: grade}} of a qrels file."""
    text = text_of(data)
    rows = qrels_rows(text)
    judged = {}
    for query, doc, grade in rows:
        if not query or not doc or judged.setdefault(query, {}).setdefault(doc, grade) != grade:
            raise Refused(query)
    return judged


def qrels_rows(text):
    filled = [line for line in text.split("\n") if line.strip()]
    trec = [line for line in filled if line[0] != "#"]
    if trec and trec[0].strip(" ")[0] in "{[":
        return list(qrels_rows_of_json(text))
    tabs = trec[0].removesuffix("\r").strip(" ").split("\t") if trec else []
    is_beir = len(tabs) == 3 and tabs[2].strip().lower() in GRADE_HEADERS
    if trec and not is_beir and is_csv_header(trec[0]):
        return list(csv_rows(text, GRADE_KEYS))
    widths = {len(row) for row in columns_of(text)}
    if widths == {2}:
        return [(query, doc, 1.0) for query, doc in columns_of(text)]
    # Tabs separate BEIR's three columns, whose ids may contain blanks.
    by_tabs = [[cell.strip(" ") for cell in line.removesuffix("\r").split("\t")] for line in filled]
    beir = [
        cells if len(cells) > 1 else re.findall(r"[^ \t\n\r\x0b\x0c]+", line)
        for cells, line in zip(by_tabs, filled, strict=True)
    ]
    if {len(cells) for cells in beir} == {3}:
        rows = beir[1:] if beir[0][2].strip().lower() in GRADE_HEADERS else beir
        return [(query, doc, finite_text(grade)) for query, doc, grade in rows]
    if widths == {4}:
        return [(query, doc, finite_text(grade)) for query, _, doc, grade in columns_of(text)]
    raise Refused(widths)


def qrels_rows_of_json(text):
    try:
        parsed = json.loads(text, object_pairs_hook=Pairs)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, Pairs) and all(isinstance(docs, list | Pairs) for _, docs in parsed):
        for query, docs in parsed:
            for doc, grade in docs if isinstance(docs, Pairs) else [(doc, 1) for doc in docs]:
                yield id_of(query), id_of(doc), finite(grade)
        return
    for line in text.split("\n"):
        if line.strip():
            record = json_of(line)
            query_key = query_key_of(record)
            others = [pair for pair in record if pair[0] != query_key]
            doc_key = document_key(record, others)
            list_key = one_key(record, ("docs", "documents", "doc_ids"))
            grade_key = one_key(record, GRADE_KEYS)
            if grade_key is None and isinstance(record.get(list_key), list):
                for doc in record.get(list_key):
                    yield id_of(record.get(query_key)), id_of(doc), 1.0
                continue
            grade = finite(record.get(grade_key))
            yield id_of(record.get(query_key)), id_of(record.get(doc_key)), grade


def records_of(data):
    """Return the JSON objects of a corpus or of queries, a line each."""
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return [json.loads(line.decode()) for line in lines if line.strip()]


def id_and_text_of(record):
    record_id = next(record[key] for key in RECORD_IDS if key in record)
    texts = [record[key] for key in RECORD_TEXTS if isinstance(record.get(key), str)]
    return id_of(record_id), texts[0]


def labels_of(data):
    """Return {column: {query: text}} of a file of labels without quotes; None for one with them."""
    text = text_of(data)
    if '"' in text:
        return None
    separator = "\t" if "\t" in text.partition("\n")[0] else ","
    lines = [line for line in re.split("\r\n|\r|\n", text) if line]
    header, *rows = [[cell.strip() for cell in line.split(separator)] for line in lines]
    id_column = next(
        index for index, name in enumerate(header) if one_key([(name, None)], QUERY_KEYS)
    )
    return {
        name: {row[id_column]: row[index] for row in rows if row[index]}
        for index, name in enumerate(header)
        if index != id_column
    }
