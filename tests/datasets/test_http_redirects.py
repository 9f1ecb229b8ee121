"""A redirect leads to http and https only."""

import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from beir_eval.datasets.download import HttpRedirects


@contextmanager
def server_that_redirects(target):
    """Serve "arrived" under /end on loopback, and under every other path a redirect."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            is_end = self.path == "/end"
            self.send_response(200 if is_end else 302)
            if not is_end:
                self.send_header("Location", target)
            self.end_headers()
            if is_end:
                self.wfile.write(b"arrived")

        def log_message(self, *_):
            """Print nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_a_redirect_to_http_is_followed():
    with server_that_redirects("/end") as address:
        opener = urllib.request.build_opener(HttpRedirects)
        with opener.open(f"{address}/start", timeout=10) as response:
            assert response.read() == b"arrived"


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/file", "FTP://127.0.0.1/file"])
def test_a_redirect_to_another_scheme_is_refused_and_named(target):
    with server_that_redirects(target) as address:
        opener = urllib.request.build_opener(HttpRedirects)
        with pytest.raises(urllib.error.HTTPError) as raised:
            opener.open(f"{address}/start", timeout=10)
        raised.value.close()
    assert "redirected to" in str(raised.value)
    assert "neither http nor https" in str(raised.value)
