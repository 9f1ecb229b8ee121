"""A retriever behind a command: one process per query, without a shell."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import time
from asyncio import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from beir_eval.core.files import file_sha256
from beir_eval.errors import InputError, SettingError, shown
from beir_eval.integrations.retrieval import json_hits
from beir_eval.integrations.retrieval.http_call import QUERY
from beir_eval.integrations.retrieval.origin import Origin
from beir_eval.integrations.retrieval.query_runner import QueryCall

if TYPE_CHECKING:
    from beir_eval.adapters.search_responses import HitFields
    from beir_eval.integrations.retrieval.query_runner import Answer, AnswerFunction

_CHUNK_BYTES = 1 << 16
#: A larger file is data: an index, which the command may change while it runs.
_LARGEST_SCRIPT = 1 << 24
#: How much of the end of standard error a message shows.
_SHOWN_ERROR_BYTES = 300


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
        settings = json_hits.settings_of_call("command", self.command, self.fields)
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
        return json_hits.answer_from_json(query_id, content, self.fields, seconds)


async def _read_output(process: subprocess.Process, query_id: str) -> bytes:
    """Return the standard output of a process, or raise InputError if it is too long."""
    content = bytearray()
    if process.stdout is not None:
        while chunk := await process.stdout.read(_CHUNK_BYTES):
            content += chunk
            if len(content) > json_hits.MOST_BYTES:
                raise json_hits.too_long(query_id)
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
