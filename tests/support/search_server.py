"""A server and a command that answer the queries of the page ``docs/cookbook/index.md``."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from beir_eval import load_dataset, read_run
from beir_eval.datasets import demo


def answers():
    """Return {text of a query: what is found, as JSON}: the hits of a bundled run."""
    run = read_run(demo.RUNS[0]).as_dict()
    queries = load_dataset(demo.FOLDER).queries
    return {
        queries[query_id]: json.dumps(
            {"hits": [{"id": doc_id, "score": score} for doc_id, score in ranking.items()]}
        )
        for query_id, ranking in run.items()
    }


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        [text] = parse_qs(urlsplit(self.path).query)["q"]
        content = self.server.answers[text].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def search_server():
    """Write the command into the current folder, serve on loopback, and yield the address."""
    command = Path("search")
    command.write_text(f"#!{sys.executable}\nimport sys\nprint({answers()}[sys.argv[-1]])\n")
    command.chmod(0o755)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.answers = answers()
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/search"
        finally:
            server.shutdown()
