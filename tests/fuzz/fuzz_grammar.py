"""Valid files of every format with their content, and mutations of files.

Everything is drawn from the ``random.Random`` that is passed: the same seed gives the same file.
"""

import csv
import gzip
import io
import json
import zipfile

import polars as pl
import zstandard

#: Ids that every format can contain.
IDS = (
    *(f"{letter}{number}" for letter in "qd" for number in range(8)),
    *("0", "007", "7", "-1", "1e5", "nan", "NULL", "Q0", "true", "é", "日本", "\U0001f600"),
    *('"', "'", "a,b", 'x"y', "a#", "\\", "q\\n", "%s", "a{}", "x" * 300, "a\x85b", "x^", "x\x01"),
)
#: Pieces of text that readers treat specially.
PIECES = (
    *(b" ", b"\t", b"\n", b"\r\n", b"\r", b"\x0b", b"\x0c", b"\0", b"\x1c", b"\xc2\x85", b"\xa0"),
    *(
        "\ufeff\u2028\u3000\u00a0\uff11٣\u0301".encode(),
        b"\xff",
        b"\xed\xa0\x80",
        b"\\ud800",
        b"\\u0000",
    ),
    *(b"#", b"# ", b'"', b"'", b",", b":", b"{", b"}", b"[", b"]", b"{}", b"[]", b'""', b"\\"),
    *(b"0", b"1", b"-0", b"1e999", b"1e308", b"5e-324", b"1e-400", b"0.1", b".5", b"5.", b"+1"),
    *(b"1_0", b"0x10", b"1e5", b"NaN", b"nan", b"inf", b"-Infinity", b"9" * 20, b"9" * 5000),
    *(b"null", b"true", b"false", b"1.7976931348623159e308", b"9007199254740993", b"1d3"),
    *(
        b"Q0",
        b"\tscore",
        b"query-id\tcorpus-id\tscore",
        b"query_id,doc_id,score",
        b'{"query_id":',
        b'"docs":',
        b'"score":',
    ),
    *(b'"_id":', b'"text":', b'"metadata":', b'"schema_version":2', b'"values":', b"PAR1"),
)


def number(rng):
    return rng.choice(
        [
            float(rng.randrange(-9, 20)),
            rng.random(),
            rng.uniform(-1e6, 1e6),
            rng.choice([0.0, -0.0, 5e-324, 1.7976931348623157e308, -1e-310, 0.1, 1 / 3, 2.0**53]),
            rng.random() * 10.0 ** rng.randrange(-300, 300),
        ]
    )


def grade(rng):
    return rng.choice([0.0, 1.0, 2.0, 3.0, -1.0, -2.0, 0.5, 1e100, 1e-300])


def rankings(rng, values):
    """Return {query: {document: number}}, no query without documents."""
    return {
        query: {doc: values(rng) for doc in rng.sample(IDS, rng.randrange(1, 6))}
        for query in rng.sample(IDS, rng.randrange(1, 6))
    }


def shuffled_rows(rng, content):
    rows = [(query, doc, value) for query, docs in content.items() for doc, value in docs.items()]
    if rng.random() < 0.3:
        rng.shuffle(rows)
    return rows


def number_text(rng, value):
    texts = [repr(value), f"{value:.17e}", f"{value:.20g}"]
    return rng.choice([text for text in texts if float(text) == value])


def lines_of(rng, rows):
    """Return lines of columns: blanks or tabs between them, with or without a last line end."""
    separator = rng.choice([" ", "\t", "\t", "  ", " \t"])
    end = rng.choice(["\n", "\n", "\r\n"])
    lines = [separator.join(row) for row in rows]
    if rng.random() < 0.2:
        lines.insert(rng.randrange(len(lines) + 1), rng.choice(["", "# a comment", "#"]))
    mark = rng.choice(["", "", "", "\ufeff"]) if not lines[0].startswith("#") else ""
    return (mark + end.join(lines) + rng.choice(["", end])).encode()


def packed(rng, data):
    kind = rng.randrange(12)
    if kind == 0:
        return gzip.compress(data, 1)
    return zstandard.compress(data) if kind == 1 else data


def json_text(rng, value):
    return json.dumps(
        value, ensure_ascii=rng.random() < 0.5, indent=rng.choice([None, None, 1])
    ).encode()


def as_lists(rows):
    content = {}
    for query, doc, value in rows:
        content.setdefault(query, []).append((doc, value))
    return content


def valid_run(rng):
    """Return the bytes of a run file, and {query: [(document, score or None), …]}."""
    content = rankings(rng, number)
    rows = shuffled_rows(rng, content)
    expected = as_lists(rows)
    kind = rng.randrange(6)
    if kind == 0:
        lines = [[q, "Q0", d, str(rng.randrange(99)), number_text(rng, s), "t"] for q, d, s in rows]
        data = lines_of(rng, lines)
    elif kind == 1:
        # The second column must not look like the iteration of qrels.
        rows = [("q", "other", 1.0), *rows]
        expected = as_lists(rows)
        lines = [[q, d, str(rng.randrange(99)), number_text(rng, s)] for q, d, s in rows]
        data = lines_of(rng, lines)
    elif kind == 2:
        lines, expected = [], {}
        for query, docs in content.items():
            expected[query] = [(doc, None) for doc in docs]
            first = rng.randrange(2)
            lines += [[query, doc, str(rank)] for rank, doc in enumerate(docs, first)]
        data = lines_of(rng, lines)
    elif kind == 3:
        data = json_text(rng, content)
        expected = {query: list(docs.items()) for query, docs in content.items()}
    elif kind == 4:
        data = csv_text(rng, rows, rng.choice(["score", "Sim"]))
    else:
        data, expected = run_in_json_lines(rng, content)
    return packed(rng, data), expected


def csv_text(rng, rows, number_name):
    """Return comma-separated values with a header, the columns in any order, some cells quoted."""
    cells = {
        rng.choice(["query_id", "qid", "Query-ID"]): [query for query, _, _ in rows],
        rng.choice(["doc_id", "docno", "corpus id"]): [doc for _, doc, _ in rows],
        number_name: [number_text(rng, value) for _, _, value in rows],
    }
    if rng.random() < 0.3:
        cells["text"] = [rng.choice(["", "a, b", "one\ntwo", '"']) for _ in rows]
    names = rng.sample(list(cells), len(cells))
    file = io.StringIO()
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    writer = csv.writer(file, quoting=quoting, lineterminator=rng.choice(["\n", "\r\n"]))
    writer.writerows([names, *zip(*(cells[name] for name in names), strict=True)])
    before = rng.choice(["", "", "", "\ufeff", "# a comment\n", "\n"])
    return (before + file.getvalue()).encode()


def run_in_json_lines(rng, content):
    forms = [
        lambda query, docs: [{"query_id": query, "docs": docs}],
        lambda query, docs: [{"qid": query, "results": [list(pair) for pair in docs.items()]}],
        lambda query, docs: [{"_id": query, "doc_ids": list(docs), "scores": list(docs.values())}],
        lambda query, docs: [
            {"Query-ID": query, "hits": [{"docid": d, "sim": s} for d, s in docs.items()]}
        ],
        lambda query, docs: [
            {"query_id": query, "doc_id": doc, "score": score} for doc, score in docs.items()
        ],
    ]
    records = [record for q, docs in content.items() for record in rng.choice(forms)(q, docs)]
    text = "\n".join(json.dumps(record, ensure_ascii=rng.random() < 0.5) for record in records)
    return text.encode(), {query: list(docs.items()) for query, docs in content.items()}


def valid_qrels(rng):
    """Return the bytes of a qrels file, and {query: {document: grade}}."""
    content = rankings(rng, grade)
    # Not 1, 2, … with a fraction, which looks like an MS MARCO run.
    content = {"a query": {"a document": 1.0}, **content}
    kind = rng.randrange(5)
    if kind == 0:
        content = {"q": {"other": 1.0}, **{q: docs for q, docs in content.items() if " " not in q}}
        rows = [
            [q, "0", d, number_text(rng, g)] for q, docs in content.items() for d, g in docs.items()
        ]
        data = lines_of(rng, rows)
    elif kind == 1:
        rows = [[q, d, number_text(rng, g)] for q, docs in content.items() for d, g in docs.items()]
        if rng.random() < 0.7:
            rows.insert(0, ["query-id", "corpus-id", "score"])
        data = rng.choice(["\n", "\r\n"]).join(map("\t".join, rows)).encode()
    elif kind == 2:
        data = json_text(rng, content)
    elif kind == 3:
        rows = shuffled_rows(rng, content)
        data = csv_text(rng, rows, rng.choice(["grade", "relevance", "score"]))
        content = {query: dict(docs) for query, docs in as_lists(rows).items()}
    else:
        records = [
            {rng.choice(["query_id", "qid"]): q, rng.choice(["doc_id", "corpus-id"]): d, "rel": g}
            for q, docs in content.items()
            for d, g in docs.items()
        ]
        data = "\n".join(map(json.dumps, records)).encode()
    return packed(rng, data), content


def valid_parquet(rng):
    """Return the bytes of a table of query, document and score, and its rows."""
    rows = shuffled_rows(rng, rankings(rng, grade))
    queries, docs, scores = zip(*rows, strict=True)
    if rng.random() < 0.2:
        scores = pl.Series([rng.randrange(9) for _ in scores], dtype=pl.Float32)
    columns = {
        rng.choice(["query_id", "qid", "query-id"]): queries,
        rng.choice(["doc_id", "docno", "corpus-id"]): docs,
        "score": scores,
    }
    if rng.random() < 0.2:
        columns["rank"] = list(range(len(rows)))
    buffer = io.BytesIO()
    pl.DataFrame(columns).write_parquet(
        buffer, compression=rng.choice(["uncompressed", "snappy", "zstd"]), row_group_size=3
    )
    return buffer.getvalue()


def valid_records(rng):
    """Return the bytes of a corpus or of queries, and its records."""
    records = []
    for record_id in rng.sample(IDS, rng.randrange(1, 6)):
        record = {rng.choice(["_id", "id", "doc_id"]): record_id, "text": rng.choice(IDS)}
        if rng.random() < 0.5:
            record["title"] = rng.choice([*IDS, "", None])
        if rng.random() < 0.5:
            record["metadata"] = {rng.choice("ab"): rng.choice([1, 2.5, "x", None, True])}
        records.append(record)
    text = "\n".join(json.dumps(record, ensure_ascii=rng.random() < 0.5) for record in records)
    data = text.encode()
    return gzip.compress(data, 1) if rng.random() < 0.1 else data, records


def valid_dataset(rng):
    """Return the bytes of a ZIP archive of a data-set folder called "set"."""
    judged = rankings(rng, grade)
    corpus = [{"_id": doc, "title": "", "text": doc} for doc in IDS]
    queries = [{"_id": query, "text": query} for query in judged]
    rows = [f"{q}\t{d}\t{g}" for q, docs in judged.items() for d, g in docs.items()]
    files = {
        "corpus.jsonl": "\n".join(map(json.dumps, corpus)),
        "queries.jsonl": "\n".join(map(json.dumps, queries)),
        "qrels/test.tsv": "\n".join(["query-id\tcorpus-id\tscore", *rows]),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as z:
        for name, text in files.items():
            z.writestr(f"set/{name}", text)
    return buffer.getvalue()


def valid_labels(rng):
    """Return the bytes of a file of labels, and {column: {query: text}}."""
    names = rng.sample(["kind", "length", "a b", "é"], rng.randrange(1, 4))
    queries = [text for text in rng.sample(IDS, 6) if not set(text) & set('",')]
    columns = {
        name: {query: rng.choice(["x", "y", "long z"]) for query in queries} for name in names
    }
    separator = rng.choice([",", "\t"])
    rows = [["query_id", *names]]
    rows += [[query, *(columns[name][query] for name in names)] for query in queries]
    return rng.choice(["\n", "\r\n"]).join(map(separator.join, rows)).encode(), columns


def mutate(rng, data):
    """Return a file with one to four changes to lines, columns and pieces of the text."""
    for _ in range(rng.randrange(1, 5)):
        data = rng.choice(MUTATIONS)(rng, data)
    return data


def _insert(rng, data):
    index = rng.randrange(len(data) + 1)
    return data[:index] + rng.choice(PIECES) + data[index:]


def _replace_token(rng, data):
    tokens = data.replace(b"\t", b" ").split(b" ")
    token = rng.choice(tokens)
    return data.replace(token, rng.choice(PIECES), 1) if token else data


def _remove(rng, data):
    index = rng.randrange(len(data) + 1)
    return data[:index] + data[index + rng.randrange(1, 9) :]


def _change_lines(rng, data):
    lines = data.split(b"\n")
    index, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.randrange(3)
    if change == 0:
        lines.insert(index, lines[other])
    elif change == 1:
        del lines[index]
    else:
        lines[index], lines[other] = lines[other], lines[index]
    return b"\n".join(lines)


def _change_json(rng, data):
    """Replace, rename or repeat a value somewhere in a JSON text."""
    lines = data.split(b"\n")
    index = rng.randrange(len(lines))
    try:
        parsed = json.loads(data)
        lines, index = [data], 0
    except (ValueError, RecursionError):
        try:
            parsed = json.loads(lines[index])
        except (ValueError, RecursionError):
            return data
    path = parsed
    for _ in range(rng.randrange(6)):
        if not isinstance(path, (dict, list)):
            break
        children = list(path.values() if isinstance(path, dict) else path)
        children = [child for child in children if isinstance(child, (dict, list)) and child]
        if not children:
            break
        path = rng.choice(children)
    odd = rng.choice(
        [None, True, 0, -1, 2, 1.5, 1e308, float("nan"), float("inf"), 10**30, "", "x", [], {}, "1"]
    )
    if isinstance(path, dict) and path:
        key = rng.choice(list(path))
        if rng.random() < 0.2:
            del path[key]
        else:
            path[key if rng.random() < 0.9 else "other"] = odd
    elif isinstance(path, list):
        path.insert(rng.randrange(len(path) + 1), odd)
        if len(path) > 1 and rng.random() < 0.7:
            path.pop(rng.randrange(len(path)))
    lines[index] = json.dumps(parsed).encode()
    return b"\n".join(lines)


def _pack_or_unpack(rng, data):
    try:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        if data.startswith(b"\x28\xb5\x2f\xfd"):
            return zstandard.decompress(data)
    except Exception:  # noqa: BLE001 - damaged data stays as it is
        return data
    return packed(rng, data)


MUTATIONS = (
    _insert,
    _insert,
    _replace_token,
    _replace_token,
    _remove,
    _change_lines,
    _change_json,
    _change_json,
    _pack_or_unpack,
)


def enlarged(rng, data, size=1 << 18):
    """Return a file of about ``size`` bytes that repeats a part of this: a quadratic cost shows."""
    if not data:
        return data
    lines = data.splitlines(keepends=True)
    kind = rng.randrange(4)
    if kind == 0:
        index = rng.randrange(len(lines))
        part = lines[index]
        before, after = b"".join(lines[:index]), b"".join(lines[index + 1 :])
    else:
        begin = rng.randrange(len(data))
        end = begin + 1 + rng.randrange(16 if kind == 1 else 64)
        part, before, after = data[begin:end], data[:begin], data[end:]
    times = size // max(len(part), 1)
    if kind == 3:  # different numbers, so that no two parts are equal
        parts = b"".join(part + str(index).encode() for index in range(size // (len(part) + 6)))
        return before + parts + after
    return before + part * times + after
