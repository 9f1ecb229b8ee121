"""The targets: what reads bytes, how its result is compared, and the files to begin with.

A target's ``check`` reads the file that holds the bytes. An exception other than a BeirEvalError is
a finding; so is ``WrongContent``, which ``expect`` raises for an accepted file whose content
differs from that of the naive reference.
"""

import io
import math
import shutil
import zipfile
from dataclasses import dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import PurePosixPath
from threading import Thread

import fuzz_grammar as grammar
import fuzz_references as references
import polars as pl

from beir_eval import load_dataset, read_qrels, read_run
from beir_eval.cli.labels import slice_columns
from beir_eval.comparison.slices import by_metadata
from beir_eval.datasets import download_dataset
from beir_eval.datasets.corpus import JsonlCorpus, read_queries
from beir_eval.errors import BeirEvalError, SettingError


class WrongContent(Exception):  # noqa: N818 - a finding
    """A file was accepted, but read as something else than it contains."""


@dataclass(frozen=True, slots=True)
class Target:
    """A reader of bytes.

    Attributes:
        check: reads the file at a path, raises BeirEvalError if it is refused, compares the result.
        example: draws a valid file from a ``random.Random``.
    """

    check: object
    example: object


def expect(actual, expected):
    if actual != expected:
        where, actual, expected = first_difference("", actual, expected)
        message = f"read as{where} {str(actual)[:1000]}, but it is {str(expected)[:1000]}"
        raise WrongContent(message)


def first_difference(where, actual, expected):
    """Return the path of the innermost difference of two values, and both parts."""
    if isinstance(actual, dict) and isinstance(expected, dict) and actual.keys() == expected.keys():
        pairs = [(key, actual[key], expected[key]) for key in actual]
    elif isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        pairs = zip(range(len(actual)), actual, expected, strict=True)
    else:
        return where, actual, expected
    key, first, second = next(pair for pair in pairs if pair[1] != pair[2])
    return first_difference(f"{where} [{key!r}]", first, second)


def content_of(reference, *args):
    """Return what the reference reads; it must accept what was accepted."""
    try:
        return reference(*args)
    except Exception as error:
        message = f"accepted, but the naive reference refuses it: {error!r:.300}"
        raise WrongContent(message) from error


def exact(number):
    """Return a number so that 0.0 differs from -0.0; None stays None."""
    return None if number is None else float(number).hex()


def as_lists(run):
    return {
        query: [
            (doc, None if scores is None else exact(scores[index]))
            for index, doc in enumerate(docs)
        ]
        for query, docs, scores in run.rankings()
    }


def exact_pairs(content):
    return {query: [(doc, exact(s)) for doc, s in docs] for query, docs in content.items()}


def check_run(path):
    run = read_run(path)
    expect(as_lists(run), exact_pairs(content_of(references.run_of, path.read_bytes())))


def check_qrels(path):
    judged = read_qrels(path).as_dict()
    expected = content_of(references.qrels_of, path.read_bytes())
    expected = {query: docs for query, docs in expected.items() if docs}
    expect(judged, expected)
    expect(list(judged), list(expected))


def check_parquet(path):
    """Compare both readers of Parquet with the rows as polars returns them."""
    refusals = []
    for read in (parquet_run, parquet_qrels):
        try:
            read(path)
        except BeirEvalError as error:
            refusals.append(error)
    if len(refusals) == 2:
        raise refusals[0]


def parquet_rows(path, number_names):
    frame = pl.read_parquet(io.BytesIO(references.unpacked(path.read_bytes())))
    names = [
        references.one_key([(name, None) for name in frame.columns], usual)
        for usual in (references.QUERY_KEYS, references.DOC_KEYS, number_names)
    ]
    for query, doc, number in frame.select(names).iter_rows():
        yield references.id_of(query), references.id_of(doc), float(number)


def parquet_run(path):
    run = read_run(path, format="parquet")
    rows = content_of(lambda: list(parquet_rows(path, references.SCORE_KEYS)))
    expect(as_lists(run), exact_pairs(references.grouped(rows)))


def parquet_qrels(path):
    qrels = read_qrels(path, format="parquet")
    expected = {}
    for query, doc, grade in content_of(lambda: list(parquet_rows(path, references.GRADE_KEYS))):
        expected.setdefault(query, {})[doc] = grade
    expect(qrels.as_dict(), expected)


def check_records(path):
    """Compare a file as a corpus, as queries, and as metadata of queries."""
    refusals = []
    for check in (check_corpus, check_queries, check_metadata):
        try:
            check(path)
        except BeirEvalError as error:
            refusals.append(error)
    if len(refusals) == 3:
        raise refusals[0]


def check_corpus(path):
    corpus = JsonlCorpus(path)
    documents = list(corpus)
    records = content_of(references.records_of, path.read_bytes())
    expected = [
        (
            *references.id_and_text_of(record),
            "" if record.get("title") is None else str(record["title"]),
        )
        for record in records
    ]
    expect([(doc.doc_id, doc.text, doc.title) for doc in documents], expected)
    expect(len(corpus), len(expected))
    corpus.fingerprint()
    for document in documents[:5]:
        expect(corpus[document.doc_id], document)
    expect(corpus.as_dict().keys(), {document.doc_id for document in documents})


def check_queries(path):
    queries = list(read_queries(path))
    records = content_of(references.records_of, path.read_bytes())
    expect(queries, [references.id_and_text_of(record) for record in records])


def check_metadata(path):
    for key in "ab":
        labels = by_metadata(path, key)
        values = {}
        for record in content_of(references.records_of, path.read_bytes()):
            record_id = next(record[name] for name in references.RECORD_IDS if name in record)
            value = (record.get("metadata") or {}).get(key)
            if value is not None:
                values[references.id_of(record_id)] = value
        expect(labels.keys(), values.keys())
        for query, label in labels.items():
            expect(str(label).lower(), str(values[query]).lower())


def check_dataset(path):
    """Download an archive from a server of this process, and compare the data set in it."""
    parent = path.with_name("datasets")
    shutil.rmtree(parent, ignore_errors=True)
    served = archive_server()
    served.data = path.read_bytes()
    try:
        url = f"http://127.0.0.1:{served.server_port}/set.zip"
        folder = download_dataset("set", parent, url=url)
        expect(files_in(parent), content_of(unzipped, served.data))
        dataset = load_dataset(folder)
        files = {name.removeprefix("set/"): data for name, data in files_in(parent).items()}
        if files.keys() == {"corpus.jsonl", "queries.jsonl", "qrels/test.tsv"}:
            qrels = content_of(references.qrels_of, files["qrels/test.tsv"])
            qrels = {query: docs for query, docs in qrels.items() if docs}
            expect(dataset.qrels.as_dict(), qrels)
            records = content_of(references.records_of, files["queries.jsonl"])
            texts = dict(map(references.id_and_text_of, records))
            expect(dataset.queries, {query: texts[query] for query in qrels if query in texts})
        list(dataset.corpus)
    except BeirEvalError:
        left = {name.split("/")[0] for name in files_in(parent)} - {"set"}
        expect(left, set())
        raise
    finally:
        shutil.rmtree(parent, ignore_errors=True)


def files_in(folder):
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def unzipped(data):
    """Return {name: bytes} of the members inside the folder "set"."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        members = [member for member in packed.infolist() if not member.is_dir()]
        paths = {PurePosixPath(member.filename).as_posix(): member for member in members}
        return {
            name: packed.read(member) for name, member in paths.items() if name.startswith("set/")
        }


class _Archives(BaseHTTPRequestHandler):
    """Sends the bytes that the server holds, from the start."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.data)))
        self.end_headers()
        self.wfile.write(self.server.data)

    def log_message(self, *_):
        pass


@cache
def archive_server():
    """Return a server on this machine, in a thread of its own."""
    server = HTTPServer(("127.0.0.1", 0), _Archives)
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    return server


def check_labels(path):
    """Read a file of labels as ``--slices`` does."""
    columns = slice_columns([str(path)], folder=None, split=None, qrels=None)
    expected = content_of(references.labels_of, path.read_bytes())
    if expected is None:
        return
    expect(list(columns), list(expected))
    for name, column in columns.items():
        try:
            numbers = [float(value) for value in expected[name].values()]
        except ValueError:
            numbers = []
        if not numbers:
            expect(column, expected[name])
        elif not any(map(math.isnan, numbers)):
            expect(column.keys(), expected[name].keys())


def first(valid):
    """Return the function that draws the bytes of a valid file, without its content."""
    return lambda rng: valid(rng)[0]


TARGETS = {
    "run": Target(check_run, first(grammar.valid_run)),
    "qrels": Target(check_qrels, first(grammar.valid_qrels)),
    "parquet": Target(check_parquet, grammar.valid_parquet),
    "records": Target(check_records, first(grammar.valid_records)),
    "dataset": Target(check_dataset, grammar.valid_dataset),
    "labels": Target(check_labels, first(grammar.valid_labels)),
}


def check_valid(name, rng, path):
    """Check that a valid file is accepted, with the content that the grammar wrote."""
    if name == "run":
        data, content = grammar.valid_run(rng)
        path.write_bytes(data)
        expect(as_lists(accepted(read_run, path)), exact_pairs(content))
    elif name == "qrels":
        data, content = grammar.valid_qrels(rng)
        path.write_bytes(data)
        expect(accepted(read_qrels, path).as_dict(), content)
    else:
        path.write_bytes(TARGETS[name].example(rng))
        accepted(TARGETS[name].check, path)


def accepted(read, path):
    try:
        return read(path)
    except SettingError:
        raise
    except BeirEvalError as error:
        message = f"a valid file was refused: {error}"
        raise WrongContent(message) from error
