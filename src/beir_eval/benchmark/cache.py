"""``CacheEntry``: the saved run and result of a system on a data set; the lock of the folder."""

from __future__ import annotations

import json
import re
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from beir_eval.adapters.readers import read_run
from beir_eval.core.atomic_writes import try_lock, write_atomically
from beir_eval.core.files import FileContent, file_sha256
from beir_eval.core.run import Run
from beir_eval.errors import BeirEvalError, RunError, SettingError
from beir_eval.evaluation.result import EvaluationResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from beir_eval.core.arrays import Floats

_SCHEMA_VERSION = 1
_MAX_NAME_LENGTH = 200
_NAME_PATTERN = re.compile(r"[\w+@=,-][\w+@=,. -]*")


class CacheEntry:
    """The files of one system on one data set.

    ``run.jsonl.gz`` is the run, ``result.json`` the result and ``log.jsonl`` a log. ``state.json``
    holds the hashes of run and result, and what they were made from. It is written after each of
    them, so a file that it does not list, or lists with another hash, is not used.

    Attributes:
        folder: the folder of the files.
        run_file: the path of the run.
        result_file: the path of the result.
    """

    def __init__(self, folder: Path, made_from: dict[str, Any]) -> None:
        """Set the folder of the files.

        Args:
            folder: the folder; it need not exist yet.
            made_from: what the run and the result must be made from, as JSON. A run depends on
                "dataset" and "system", a result on all of it.
        """
        self.folder = folder
        self.run_file = folder / "run.jsonl.gz"
        self.result_file = folder / "result.json"
        self._state_file = folder / "state.json"
        self._made_from = {"schema_version": _SCHEMA_VERSION, **made_from}

    def saved_run(self) -> Run | None:
        """Return the saved run; None if it is missing, damaged, or made from other inputs."""
        if not self._is_valid("run", self.run_file, ("schema_version", "dataset", "system")):
            return None
        return read_run(self.run_file, format="jsonl")

    def saved_at(self) -> str:
        """Return when the saved run was written, in UTC, as ISO 8601."""
        time_saved = datetime.fromtimestamp(self.run_file.stat().st_mtime, UTC)
        return time_saved.isoformat(timespec="seconds")

    def save_run(self, run: Any) -> Run:
        """Save a run and return it as read from the file, so that a resumed benchmark has the same.

        Raises:
            RunError: the run has no query, or it is not valid.
        """
        lines = [_ranking_line(*ranking) for ranking in Run.coerce(run).rankings()]
        if not lines:
            raise RunError("the system answered no query at all")
        self.folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self.run_file, "".join(lines).encode())
        self._write_state(run=file_sha256(self.run_file))
        return read_run(self.run_file, format="jsonl")

    def discard(self) -> None:
        """Delete the run and the result, so that a run that cannot be evaluated is made again."""
        for file in (self._state_file, self.run_file, self.result_file):
            file.unlink(missing_ok=True)

    def saved_result(self) -> EvaluationResult | None:
        """Return the saved result; None if it is missing, damaged, or made from other inputs."""
        if not self._is_valid("result", self.result_file, tuple(self._made_from)):
            return None
        try:
            return EvaluationResult.load(self.result_file)
        except BeirEvalError:
            return None

    def save_result(self, result: EvaluationResult) -> None:
        """Save a result; its run, if it is saved, must be the one that was evaluated."""
        self.folder.mkdir(parents=True, exist_ok=True)
        result.save(self.result_file)
        files = {"run": self.run_file, "result": self.result_file}
        self._write_state(
            **{content: file_sha256(file) for content, file in files.items() if file.exists()}
        )

    def log(self, **fields: Any) -> None:
        """Add a line with time and fields to the log, which the program never reads."""
        line = json.dumps({"time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), **fields})
        with suppress(OSError):  # no result is lost if the log cannot be written
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / "log.jsonl").open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")

    def _write_state(self, **hashes: str) -> None:
        """Write ``state.json`` with the hash of each file, by its content ("run", "result")."""
        state = {"made_from": self._made_from, "sha256": hashes}
        write_atomically(self._state_file, json.dumps(state, indent=1, sort_keys=True).encode())

    def _is_valid(self, content: str, file: Path, keys: tuple[str, ...]) -> bool:
        """Return whether a saved file is intact and made from the same inputs.

        Args:
            content: "run" or "result".
            file: its path.
            keys: the keys of ``made_from`` that must be the same.
        """
        try:
            state = json.loads(FileContent(self._state_file).text())
            made_from, hashes = state["made_from"], state["sha256"]
            if any(made_from.get(key) != self._made_from[key] for key in keys):
                return False
            # A result is valid only if the run that it was computed from is.
            files = {content: file} | ({"run": self.run_file} if "run" in hashes else {})
            return all(hashes.get(name) == file_sha256(path) for name, path in files.items())
        except (OSError, BeirEvalError, ValueError, TypeError, KeyError, AttributeError):
            return False  # no state, or a damaged one


def _ranking_line(query_id: str, doc_ids: Sequence[str], scores: Floats | None) -> str:
    """Return one ranking as a line of JSON, which keeps repeated documents and empty rankings."""
    documents: list[Any] = list(doc_ids)
    if scores is not None:
        documents = [list(pair) for pair in zip(doc_ids, scores.tolist(), strict=True)]
    return json.dumps({"query_id": query_id, "docs": documents}) + "\n"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a benchmark's folder, so that no other process uses it at the same time.

    The lock ends with the block, or with the process.

    Raises:
        SettingError: another process has locked the folder.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("a") as file:  # "w" would empty a file that this is a link to
        if not try_lock(file):
            msg = f"another process is at work in {folder}; wait for it, or take another folder"
            raise SettingError(msg)
        yield


def check_folder_name(kind: str, name: Any, *, nested: bool = False) -> str:
    """Return a name, or raise SettingError unless it can be that of a folder.

    Args:
        kind: the kind of thing that has the name, for the message.
        name: the name.
        nested: whether slashes are allowed, which name folders in folders.
    """
    parts = name.split("/") if nested and isinstance(name, str) else [name]
    if not all(
        isinstance(part, str) and _NAME_PATTERN.fullmatch(part) and len(part) <= _MAX_NAME_LENGTH
        for part in parts
    ):
        msg = (
            f"the name of a {kind} becomes a folder: letters, digits and +@=,.- were expected, not "
            f"{name!r}"
        )
        raise SettingError(msg)
    return str(name)
