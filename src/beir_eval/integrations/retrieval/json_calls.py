"""Retrievers that answer with JSON: one GET request, or one process without a shell, per query."""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import json
import os
import shlex
import shutil
import signal
import time
import urllib.error
import urllib.request
from asyncio import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from beir_eval.adapters.search_responses import read_hits
from beir_eval.core.files import file_sha256
from beir_eval.core.http_redirects import SCHEMES, HttpRedirects
from beir_eval.core.ids import id_text
from beir_eval.errors import InputError, SettingError, shown
from beir_eval.integrations.retrieval.documents import (
    DocumentNames,
    RetrievedDocument,
    answer_from_documents,
)
from beir_eval.integrations.retrieval.origin import Origin
from beir_eval.integrations.retrieval.run_queries import QueryCall

if TYPE_CHECKING:
    from beir_eval.adapters.search_responses import HitFields
    from beir_eval.integrations.retrieval.documents import Answer
    from beir_eval.integrations.retrieval.run_queries import AnswerFunction

#: What stands for the query in an address or in a command.
QUERY = "{query}"
_CHUNK_BYTES = 1 << 16
_CLIENT_ERRORS = range(400, 500)
#: Errors of the client that another attempt may cure.
_REPEATABLE = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)
#: A larger file is data: an index, which the command may change while it runs.
_LARGEST_SCRIPT = 1 << 24
#: How much of the end of standard error a message shows.
_SHOWN_ERROR_BYTES = 300
#: A longer answer is refused.
MOST_BYTES = 32 << 20
_BY_ID = DocumentNames(("id",))


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
        return Origin(settings=settings_of_call("url", self.url, self.fields))

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
                    if len(content) > MOST_BYTES:
                        raise too_long(query_id)
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
        return answer_from_json(query_id, bytes(content), self.fields, seconds)


@dataclass(frozen=True)
class CommandCall(QueryCall):
    """A command that prints the answer to a query as JSON.

    The command is split into arguments once, as a shell would; then ``{query}`` in an argument is
    replaced. No shell reads the query.

    Attributes:
        command: the command, with ``{query}`` where the query goes.
        fields: where an answer has its hits, and a hit its id and its score.
        label: what messages call the command.

    Raises:
        SettingError: the command lacks ``{query}``, cannot be split, or its program does not exist.
    """

    command: str
    fields: HitFields
    label: str = "the command"
    _arguments: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Split the command, and look its program up."""
        try:
            arguments = shlex.split(self.command)
        except ValueError as error:
            msg = f"command {shown(self.command)} cannot be split into arguments: {error}"
            raise SettingError(msg) from error
        if not any(QUERY in argument for argument in arguments[1:]):
            msg = f"command must have {QUERY} as an argument: {shown(self.command)}"
            raise SettingError(msg)
        if shutil.which(arguments[0]) is None:
            msg = f"command: there is no program {shown(arguments[0])} that can be executed"
            raise SettingError(msg)
        object.__setattr__(self, "_arguments", arguments)

    def made_by(self) -> Origin:
        """Return what makes the answers; its code are files that the command names."""
        named = [Path(argument) for argument in self._arguments if QUERY not in argument]
        own_code = {
            str(path): file_sha256(path)
            for path in named
            if path.is_file() and path.stat().st_size <= _LARGEST_SCRIPT
        }
        settings = settings_of_call("command", self.command, self.fields)
        return Origin(settings=settings, own_code=own_code)

    def start(self, concurrency: int) -> AnswerFunction:  # noqa: ARG002 - of the protocol
        """Return the function that answers a query."""
        return self.run_async

    async def run_async(self, query_id: str, text: str) -> Answer:
        """Run the command for one query; end its processes if it takes too long.

        Raises:
            InputError: the answer is too long or has another shape, or the query has a zero byte.
            OSError: the command cannot be started, or ends with an exit code other than 0.
        """
        if "\0" in text:
            msg = (
                f"query {shown(query_id)} has a zero byte, which no argument of a command can have"
            )
            raise InputError(msg)
        start = time.perf_counter()
        program, *arguments = self._arguments
        process = await asyncio.create_subprocess_exec(
            program,
            *(argument.replace(QUERY, text) for argument in arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=os.name == "posix",
        )
        try:
            content, errors, _ = await asyncio.gather(
                _read_output(process, query_id), _read_end(process.stderr), process.wait()
            )
        except BaseException:
            _end(process)
            await process.wait()
            raise
        if process.returncode:
            last = errors.decode(errors="replace").strip()
            msg = f"exit code {process.returncode}{': ' if last else ''}{last}"
            raise OSError(msg)
        seconds = time.perf_counter() - start
        return answer_from_json(query_id, content, self.fields, seconds)


async def _read_output(process: subprocess.Process, query_id: str) -> bytes:
    """Return the standard output of a process, or raise InputError if it is too long."""
    content = bytearray()
    if process.stdout is not None:
        while chunk := await process.stdout.read(_CHUNK_BYTES):
            content += chunk
            if len(content) > MOST_BYTES:
                raise too_long(query_id)
    return bytes(content)


async def _read_end(stream: asyncio.StreamReader | None) -> bytes:
    """Return the last bytes of a stream, after reading all of it."""
    end = b""
    if stream is not None:
        while chunk := await stream.read(_CHUNK_BYTES):
            end = (end + chunk)[-_SHOWN_ERROR_BYTES:]
    return end


def _end(process: subprocess.Process) -> None:
    """End a process, and on Unix the processes that it has started; close its pipes.

    The pipes are closed at once, because another query may end the event loop at any time.
    """
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process._transport.close()  # type: ignore[attr-defined]  # noqa: SLF001 - no public way


def settings_of_call(kind: str, address: str, fields: HitFields) -> dict[str, str]:
    """Return what identifies a retriever that answers with JSON, for its journal.

    Args:
        kind: what the address is: "url" or "command".
        address: the address, or the command.
        fields: where an answer has its hits, and a hit its id and its score.
    """
    return {
        # An address or a command may contain a key, so the journal has its hash only.
        kind: hashlib.sha256(address.encode()).hexdigest(),
        "results": fields.results or "",
        "id": fields.doc_id or "",
        "score": fields.score or "",
    }


def answer_from_json(query_id: str, content: bytes, fields: HitFields, seconds: float) -> Answer:
    """Return the answer to a query that is JSON.

    Args:
        query_id: the query.
        content: the JSON, in UTF-8, UTF-16 or UTF-32.
        fields: where the answer has its hits, and a hit its id and its score.
        seconds: how long the query took.

    Raises:
        InputError: it is not JSON, or has another shape; the message names the query.
    """
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError) as error:
        start = content[:60].decode(errors="replace")
        msg = f"the answer to query {shown(query_id)} is not JSON ({error}): {shown(start)}"
        raise InputError(msg) from error
    documents = []
    for rank, (doc_id, score) in enumerate(read_hits(query_id, answer, fields), start=1):
        try:
            text = id_text(doc_id)
        except (TypeError, ValueError) as error:
            msg = (
                f"the id of hit {rank} of query {shown(query_id)} is {shown(doc_id)}; text or an "
                "integer was expected"
            )
            raise InputError(msg) from error
        documents.append(RetrievedDocument(text, score=score))
    return answer_from_documents(query_id, documents, _BY_ID, seconds)


def too_long(query_id: str) -> InputError:
    """Return the error about an answer that is too long."""
    msg = (
        f"the answer to query {shown(query_id)} has more than {MOST_BYTES:,} bytes; let the "
        "retriever return fewer hits, or ids and scores only"
    )
    return InputError(msg)
