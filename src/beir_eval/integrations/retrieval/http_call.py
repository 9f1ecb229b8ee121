"""A retriever behind an address: one GET request per query."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from beir_eval.core.http_redirects import SCHEMES, HttpRedirects
from beir_eval.errors import InputError, SettingError, shown
from beir_eval.integrations.retrieval import json_hits
from beir_eval.integrations.retrieval.origin import Origin
from beir_eval.integrations.retrieval.query_runner import QueryCall

if TYPE_CHECKING:
    from beir_eval.adapters.search_responses import HitFields
    from beir_eval.integrations.retrieval.query_runner import Answer, AnswerFunction

#: What stands for the query in an address or in a command.
QUERY = "{query}"
_CHUNK_BYTES = 1 << 16
_CLIENT_ERRORS = range(400, 500)
#: Errors of the client that another attempt may cure.
_REPEATABLE = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)


@dataclass(frozen=True)
class HttpCall(QueryCall):
    """A server that answers a query with JSON.

    Attributes:
        url: its address, with ``{query}`` where the encoded query goes.
        fields: where an answer has its hits, and a hit its id and its score.
        timeout: the seconds after which a request fails.
        label: what messages call the server.

    Raises:
        SettingError: the address lacks ``{query}`` or a host, has it in the fragment, or is neither
            http nor https.
    """

    url: str
    fields: HitFields
    timeout: float
    label: str = "the server"

    def __post_init__(self) -> None:
        """Check the address."""
        if not self.url.lower().startswith(SCHEMES):
            msg = f"url must begin with http:// or https://, not {shown(self.url)}"
            raise SettingError(msg)
        try:
            parts = urlsplit(self.url)
            has_host, before_path = bool(parts.hostname), parts.netloc
            fragment = parts.fragment
            _ = parts.port
        except ValueError as error:
            msg = f"url is not an address: {error}"
            raise SettingError(msg) from error
        if QUERY in fragment:
            msg = (
                f"url has {QUERY} in its fragment, behind #, which is never sent to a server: "
                f"{shown(self.url)}; put it before the #, as in ?q={QUERY}"
            )
            raise SettingError(msg)
        if not has_host or QUERY in before_path or QUERY not in self.url:
            msg = f"url must have {QUERY} where the query goes, behind the host: {shown(self.url)}"
            raise SettingError(msg)

    def made_by(self) -> Origin:
        """Return what makes the answers."""
        return Origin(settings=json_hits.settings_of_call("url", self.url, self.fields))

    def start(self, concurrency: int) -> AnswerFunction:  # noqa: ARG002 - of the protocol
        """Return the function that answers a query."""
        return self.run

    def run(self, query_id: str, text: str) -> Answer:
        """Request the answer to one query.

        Raises:
            InputError: the answer is too long or has another shape, or the server refuses the
                request for a reason that another attempt does not cure.
            OSError: the server cannot be reached, takes too long or answers with an error.
        """
        start = time.perf_counter()
        encoded = quote(text, safe="", errors="replace")
        url = self.url.replace(QUERY, encoded)
        request = urllib.request.Request(url, headers={"Accept": "application/json"})  # noqa: S310 - http, checked above
        opener = urllib.request.build_opener(HttpRedirects)
        content = bytearray()
        try:
            with opener.open(request, timeout=self.timeout) as response:
                while chunk := response.read1(_CHUNK_BYTES):
                    content += chunk
                    if len(content) > json_hits.MOST_BYTES:
                        raise json_hits.too_long(query_id)
                    if time.perf_counter() - start > self.timeout:
                        msg = f"no complete answer within {self.timeout:g} seconds"
                        raise TimeoutError(msg)
                if response.length:  # read1 does not notice that a connection ended early
                    msg = f"the connection ended {response.length:,} bytes before the answer did"
                    raise ConnectionError(msg)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in _CLIENT_ERRORS and error.code not in _REPEATABLE:
                msg = f"the server refuses query {shown(query_id)}: {error.code} {error.reason}"
                raise InputError(msg) from error
            raise
        except (http.client.HTTPException, ValueError) as error:
            if isinstance(error, InputError):
                raise
            msg = f"not an answer of a web server: {error!r}"
            raise OSError(msg) from error
        seconds = time.perf_counter() - start
        return json_hits.answer_from_json(query_id, bytes(content), self.fields, seconds)
