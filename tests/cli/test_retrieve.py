"""``beir-eval retrieve`` runs a server or a command over a data set, and trusts neither."""

import json
import os
import shlex
import shutil
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import CliRunner

from beir_eval import load_dataset, read_run
from beir_eval.cli.app import app
from beir_eval.cli.commands import EXAMPLES
from beir_eval.datasets import demo
from beir_eval.integrations.retrieval import json_calls, run_queries
from time_limit import time_limit
from waiting import wait_until

RUNNER = CliRunner()
QUERIES = load_dataset(demo.FOLDER).queries
RESULTS = read_run(demo.RUNS[0]).as_dict()
HITS = {
    QUERIES[query_id]: sorted(ranking.items(), key=lambda hit: -hit[1])[:5]
    for query_id, ranking in RESULTS.items()
}
FIRST_ID, FIRST_TEXT = next(iter(QUERIES.items()))
PATHS = ["--results", "data.hits", "--id", "document.id", "--score", "relevance"]


def nested(hits):
    listed = [{"document": {"id": doc_id}, "relevance": score} for doc_id, score in hits]
    return json.dumps({"data": {"hits": listed}}).encode()


@contextmanager
def serving(respond):
    """Serve on loopback; yield the template of its address, and the texts it was asked."""
    texts = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            [text] = parse_qs(urlsplit(self.path).query, keep_blank_values=True)["q"]
            texts.append(text)
            status, content, *headers = respond(text, texts.count(text))
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            if not any(name == "Content-Length" for name, _ in headers):
                self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/search?q={{query}}&k=5", texts
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(run_queries, "FIRST_WAIT_SECONDS", 0.01)


@pytest.fixture
def output(tmp_path):
    return tmp_path / "run.trec"


def run(*arguments, dataset=demo.FOLDER):
    result = RUNNER.invoke(app, ["retrieve", *map(str, [dataset, *arguments])])
    return result.exit_code, " ".join(result.output.split())


def script(tmp_path, body):
    """Return a command that runs a Python script with the query as its argument."""
    path = tmp_path / "retrieve it.py"
    path.write_text(f"import json, os, subprocess, sys, time\ntext = sys.argv[1]\n{body}")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))} {{query}} --json"


def write_queries(folder, queries):
    (folder / "qrels").mkdir(parents=True)
    lines = [json.dumps({"_id": name, "text": text}) for name, text in queries.items()]
    (folder / "queries.jsonl").write_text("\n".join(lines))
    (folder / "corpus.jsonl").write_text(json.dumps({"_id": "a", "title": "", "text": "a"}))
    rows = "".join(f"{name}\ta\t1\n" for name in queries)
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    return folder


def test_the_example_of_the_help_text_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(demo.FOLDER, tmp_path / "scifact")

    def respond(text, _):
        hits = [{"document_id": doc_id} for doc_id, _ in HITS[text]]
        return 200, json.dumps({"data": {"hits": hits}}).encode()

    with serving(respond) as (url, _):
        example = EXAMPLES["retrieve"].replace("http://localhost:8080", url.partition("/search")[0])
        result = RUNNER.invoke(app, shlex.split(example)[1:])
    assert result.exit_code == 0, result.output
    assert set(read_run("run.trec").query_ids) == set(QUERIES)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_server_gives_the_run_of_its_answers(output, concurrency):
    with serving(lambda text, _: (200, nested(HITS[text]))) as (url, _):
        options = ["--url", url, *PATHS, "--output", output, "--concurrency", concurrency]
        code, printed = run(*options)
    assert code == 0, printed
    assert "the answers to 30 of 30 queries" in printed
    assert "time per query: median" in printed
    saved = read_run(output).as_dict()
    assert {query: list(ranking) for query, ranking in saved.items()} == {
        query_id: [doc_id for doc_id, _ in HITS[text]] for query_id, text in QUERIES.items()
    }
    assert saved[FIRST_ID] == pytest.approx(dict(HITS[FIRST_TEXT]), rel=1e-6)


def test_a_command_gives_the_run_of_its_answers(tmp_path, output):
    (tmp_path / "hits.json").write_text(json.dumps(HITS))
    body = f"print(json.dumps(json.load(open({str(tmp_path / 'hits.json')!r}))[text]))"
    code, printed = run(
        "--command", script(tmp_path, body), "--output", output, "--limit", 4, "--concurrency", 2
    )
    assert code == 0, printed
    saved = read_run(output).as_dict()
    assert {query: list(ranking) for query, ranking in saved.items()} == {
        query_id: [doc_id for doc_id, _ in HITS[text]]
        for query_id, text in list(QUERIES.items())[:4]
    }


ODD = {
    "q1": "a b&q=2#c%20/../?+ü\"'",
    "q2": "$(touch broken); `touch broken` | touch broken",
    "q3": "--option {query} 'x",
}


def test_the_query_arrives_unchanged_at_the_server(tmp_path, output):
    folder = write_queries(tmp_path / "odd", ODD)
    with serving(lambda _text, _: (200, b'[["a", 1]]')) as (url, texts):
        code, printed = run("--url", url, "--output", output, dataset=folder)
    assert code == 0, printed
    assert texts == list(ODD.values())


def test_the_query_is_one_argument_of_the_command_and_no_shell_reads_it(
    tmp_path, output, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    folder = write_queries(tmp_path / "odd", ODD)
    body = "open('arguments', 'a').write(json.dumps(sys.argv[1:]) + '\\n'); print('[[\"a\", 1]]')"
    code, printed = run("--command", script(tmp_path, body), "--output", output, dataset=folder)
    assert code == 0, printed
    arguments = [json.loads(line) for line in (tmp_path / "arguments").read_text().splitlines()]
    assert arguments == [[text, "--json"] for text in ODD.values()]
    assert not (tmp_path / "broken").exists()


def test_failed_attempts_are_repeated_and_failures_counted(output):
    failing = list(QUERIES.values())[:3]

    def respond(text, attempt):
        if text == failing[0] or (text in failing and attempt < 3):
            return 503, b"busy"
        return 200, nested(HITS[text])

    with serving(respond) as (url, texts):
        options = ["--url", url, *PATHS, "--output", output]
        code, printed = run(*options, "--on-error", "missing")
        assert code == 0, printed
        assert "the answers to 29 of 30 queries" in printed
        assert f"1 missing query failed ({FIRST_ID}: HTTPError" in printed
        assert "6 attempts of a query failed" in printed
        assert len(texts) == 30 + 6
        assert len(read_run(output)) == 29
        texts.clear()
        code, printed = run(*options, "--check-saved", 0)
        assert code == 2
        assert f"the server failed for query '{FIRST_ID}'" in printed
        assert texts == [FIRST_TEXT] * 3  # the answers to the others are saved


def test_an_interrupted_run_is_resumed_and_answers_of_another_address_are_refused(output):
    broken = list(QUERIES.values())[20]
    with serving(lambda text, _: (500 if text == broken else 200, nested(HITS[text]))) as (url, _):
        options = [*PATHS, "--output", output, "--retries", 0]
        assert run("--url", url, *options)[0] == 2
        code, printed = run("--url", f"{url}&index=2", *options)
        assert code == 2
        assert "answers of another server" in printed
        assert "127.0.0.1" not in (output.parent / "run.trec.progress.jsonl").read_text()


def test_a_client_error_is_not_repeated(output):
    with serving(lambda _text, _: (404, b"")) as (url, texts):
        code, printed = run("--url", url, "--output", output)
    assert code == 2
    assert f"the server refuses query '{FIRST_ID}': 404" in printed
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("answer", "options", "message"),
    [
        (b"<html>", [], "is not JSON"),
        (b"[" * 100_000, [], "is not JSON"),
        (b'{"data": {}}', PATHS, "expected was a list of hits at --results 'data.hits'"),
        (b'{"data": {"hits": [{"id": 3}]}}', PATHS, "does not have the field 'document.id'"),
        (b'{"data": {"hits": {"a": 1}}}', PATHS, "expected was a list of hits"),
        (b'{"error": "no index"}', [], "is an error: 'no index'"),
        (b"3", [], "expected was an answer of"),
        (b'[{"id": 1.5}]', [], "text or an integer was expected"),
        (b'[{"id": "a", "s": NaN}]', ["--score", "s"], "a finite number was expected"),
        (b'[{"id": "a"}]', ["--score", "s"], "has no score at 's'"),
        (b'[{"id": "a", "s": 1}, {"id": "b", "s": 2}]', ["--score", "s"], "sorted, best first"),
    ],
)
def test_an_answer_of_another_shape_is_refused_with_the_query(output, answer, options, message):
    with serving(lambda _text, _: (200, answer)) as (url, texts):
        code, printed = run("--url", url, "--output", output, *options)
    assert code == 2
    assert message in printed
    assert f"query '{FIRST_ID}'" in printed
    assert len(texts) == 1  # another attempt would not help


def test_an_answer_that_is_too_long_or_cut_off_is_refused(tmp_path, output, monkeypatch):
    with serving(lambda _text, _: (200, b"[]", ("Content-Length", "50"))) as (url, _):
        code, printed = run("--url", url, "--output", output, "--retries", 0)
        assert code == 2
        assert "the connection ended" in printed
    monkeypatch.setattr(json_calls, "MOST_BYTES", 100_000)
    with serving(lambda _text, _: (200, b" " * 100_001)) as (url, _):
        code, printed = run("--url", url, "--output", output)
        assert code == 2
        assert "more than 100,000 bytes" in printed
    endless = script(tmp_path, "while True: print('x' * 1000)")
    code, printed = run("--command", endless, "--output", output)
    assert code == 2
    assert "more than 100,000 bytes" in printed


def test_a_redirect_to_a_file_is_refused(tmp_path, output):
    secret = tmp_path / "secret.json"
    secret.write_text('[["a", 1]]')
    with serving(lambda _text, _: (302, b"", ("Location", f"file://{secret}"))) as (url, _):
        code, printed = run("--url", url, "--output", output)
    assert code == 2
    assert "302" in printed
    assert not output.exists()


def test_a_slow_server_fails_after_the_timeout(output):
    has_ended = threading.Event()

    def respond(_text, _):
        has_ended.wait()
        return 200, b"[]"

    with serving(respond) as (url, _):
        options = ["--url", url, "--output", output, "--timeout", 0.1, "--retries", 0]
        try:
            with time_limit(60):
                code, printed = run(*options, "--on-error", "missing", "--limit", 2)
        finally:
            has_ended.set()
    assert code == 2
    assert "the server failed for every query" in printed
    assert "TimeoutError" in printed


def has_ended(process_id):
    """Return whether a process is gone, or waits only for its parent to notice its end."""
    try:
        status = Path(f"/proc/{process_id}/stat").read_text()
    except OSError:
        return True
    return status.rpartition(")")[2].split()[0] == "Z"


@pytest.mark.skipif(os.name != "posix", reason="groups of processes")
def test_a_slow_command_is_ended_with_the_processes_that_it_started(tmp_path, output):
    children = tmp_path / "children"
    children.touch()
    body = f"""
child = subprocess.Popen(["sleep", "600"])
with open({str(children)!r}, "a") as file:
    file.write(f"{{child.pid}}\\n")
time.sleep(600)
"""
    command = script(tmp_path, body)
    options = ["--output", output, "--retries", 0, "--limit", 1]
    for seconds in (1, 8, 60):  # the first is enough, unless Python takes longer to start
        with time_limit(120):
            code, printed = run("--command", command, "--timeout", seconds, *options)
        assert code == 2
        assert f"no answer within {seconds} second" in printed
        if children.read_text():
            break
    [child] = children.read_text().split()
    wait_until(lambda: has_ended(child))


def test_the_exit_code_and_the_error_of_a_command_are_shown(tmp_path, output):
    command = script(tmp_path, "sys.exit('no such index')")
    code, printed = run("--command", command, "--output", output, "--retries", 0)
    assert code == 2
    assert f"the command failed for query '{FIRST_ID}'" in printed
    assert "exit code 1: no such index" in printed


def test_a_document_listed_twice_is_counted_once(output):
    with serving(lambda _text, _: (200, b'["a", "b", "a"]'.replace(b'"a"', b'{"id": "a"}'))) as (
        url,
        _,
    ):
        assert run("--url", url, "--output", output, "--limit", 1)[0] == 2  # "b" has no id
    with serving(lambda _text, _: (200, b'[{"id": "a"}, {"id": 2}, {"id": "a"}]')) as (url, _):
        code, printed = run("--url", url, "--output", output, "--limit", 1)
    assert code == 0, printed
    assert read_run(output).as_dict() == {FIRST_ID: {"a": 2.0, "2": 1.0}}
    assert "1 further copy of documents" in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "either --url or --command is needed"),
        (["--url", "http://x/{query}", "--command", "a {query}"], "either --url or --command"),
        (["--url", "file:///etc/{query}"], "must begin with http:// or https://"),
        (["--url", "http://localhost/search"], "must have {query}"),
        (["--url", "http://{query}/"], "must have {query}"),
        (["--url", "http://localhost/#{query}"], "in its fragment"),
        (["--url", "http://localhost:x/{query}"], "is not an address"),
        (["--command", "retrieve"], "must have {query}"),
        (["--command", "{query} x"], "must have {query}"),
        (["--command", "'open {query}"], "cannot be split"),
        (["--command", "no-such-program {query}"], "there is no program 'no-such-program'"),
        (["--url", "http://localhost/{query}", "--timeout", "0"], "timeout must be"),
        (["--url", "http://localhost/{query}", "--retries", "-1"], "retries must be"),
        (["--url", "http://localhost/{query}", "--limit", "0"], "limit must be"),
    ],
)
def test_a_wrong_option_is_one_clear_line_before_anything_runs(output, options, message):
    code, printed = run("--output", output, *options)
    assert code == 2
    assert message in printed
    assert not output.exists()


def test_without_the_text_of_a_judged_query_there_is_nothing_to_ask(tmp_path):
    folder = tmp_path / "data"
    shutil.copytree(demo.FOLDER, folder)
    texts = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    lines = (json.dumps(text | {"_id": f"other-{text['_id']}"}) for text in texts)
    (folder / "queries.jsonl").write_text("".join(f"{line}\n" for line in lines))
    output = tmp_path / "run.trec"
    arguments = ["retrieve", str(folder), "-o", str(output), "--command", "echo {query}"]
    result = RUNNER.invoke(app, arguments)
    assert result.exit_code == 2
    words = "no judged query has a text, so there is nothing to ask the command"
    assert words in " ".join(result.output.split())
    assert not output.exists()
