"""What a benchmark has on disk: runs and results, trusted only where their hashes say so."""

from __future__ import annotations

import json
import re
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from beir_eval.adapters.readers import read_run
from beir_eval.core.files import FileContent, lock, sha256_of, write_atomically
from beir_eval.core.run import Run
from beir_eval.errors import BeirEvalError, RunError, SettingError
from beir_eval.evaluation.result import EvaluationResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from beir_eval.core.arrays import Floats

_SCHEMA_VERSION = 1
_LONGEST_NAME = 200
_NAME = re.compile(r"[\w+@=,-][\w+@=,. -]*")


class Entry:
    """One system on one data set: ``run.jsonl.gz``, ``result.json``, ``state.json``, ``log.jsonl``.

    ``state.json`` is written last, after each of the two files: it holds their hashes and what they
    were made from. A file without its line there, or with another hash, is made again.
    """

    def __init__(self, folder: Path, made_from: dict[str, Any]) -> None:
        """Take the folder, and what runs and results must have been made from."""
        self.folder = folder
        self.run_file = folder / "run.jsonl.gz"
        self.result_file = folder / "result.json"
        self._state_file = folder / "state.json"
        self._made_from = {"schema_version": _SCHEMA_VERSION, **made_from}

    def saved_run(self) -> Run | None:
        """Return the run that is there, if it was made from the same and is whole."""
        if not self._is_whole("run", self.run_file, ("schema_version", "dataset", "system")):
            return None
        return read_run(self.run_file, format="jsonl")

    def save_run(self, run: Any) -> Run:
        """Save a run, and return it as it is read back: so a resumed benchmark sees the same."""
        lines = [_line(*ranking) for ranking in Run.coerce(run).rankings()]
        if not lines:
            raise RunError("the system answered no query at all")
        self._tidy()
        write_atomically(self.run_file, "".join(lines).encode())
        self._commit(run=sha256_of(self.run_file))
        return read_run(self.run_file, format="jsonl")

    def discard(self) -> None:
        """Take away a run that could not be evaluated, so that it is made again."""
        for file in (self._state_file, self.run_file, self.result_file):
            file.unlink(missing_ok=True)

    def saved_result(self) -> EvaluationResult | None:
        """Return the result that is there, if it was made from the same and is whole."""
        if not self._is_whole("result", self.result_file, tuple(self._made_from)):
            return None
        try:
            return EvaluationResult.load(self.result_file)
        except BeirEvalError:
            return None

    def save_result(self, result: EvaluationResult) -> None:
        """Save a result."""
        self._tidy()
        result.save(self.result_file)
        files = {"run": self.run_file, "result": self.result_file}
        self._commit(**{what: sha256_of(file) for what, file in files.items() if file.exists()})

    def log(self, **what: Any) -> None:
        """Add a line to the log, with the time; nothing is ever read from it."""
        line = json.dumps({"time": time.strftime("%Y-%m-%dT%H:%M:%S%z"), **what})
        with suppress(OSError):  # a log that cannot be written loses no result
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / "log.jsonl").open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")

    def _tidy(self) -> None:
        """Make the folder, and take away what an interrupted write has left in it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for left in self.folder.glob(".*.tmp"):
            left.unlink()

    def _commit(self, **hashes: str) -> None:
        state = {"made_from": self._made_from, "sha256": hashes}
        write_atomically(self._state_file, json.dumps(state, indent=1, sort_keys=True).encode())

    def _is_whole(self, what: str, file: Path, same: tuple[str, ...]) -> bool:
        try:
            state = json.loads(FileContent(self._state_file).text())
            found, hashes = state["made_from"], state["sha256"]
            if any(found.get(one) != self._made_from[one] for one in same):
                return False
            # A result is only as good as the run that it came from.
            needed = {what: file} | ({"run": self.run_file} if "run" in hashes else {})
            return all(hashes.get(one) == sha256_of(path) for one, path in needed.items())
        except (OSError, BeirEvalError, ValueError, TypeError, KeyError, AttributeError):
            return False  # nothing there, or nothing that can be trusted


def _line(query_id: str, doc_ids: Sequence[str], scores: Floats | None) -> str:
    """Return one ranking as a line of JSON: repeated documents and empty rankings survive."""
    docs: list[Any] = list(doc_ids)
    if scores is not None:
        docs = [list(pair) for pair in zip(doc_ids, scores.tolist(), strict=True)]
    return json.dumps({"query_id": query_id, "docs": docs}) + "\n"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes out of a benchmark's folder; the lock ends with the process.

    Raises:
        SettingError: another process is at work there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        if not lock(file):
            msg = f"another process is at work in {folder}; wait for it, or take another folder"
            raise SettingError(msg)
        yield


def check_name(what: str, name: Any, *, nested: bool = False) -> str:
    """Return a name that can be that of a folder; nested, with sub-folders behind slashes.

    Raises:
        SettingError: it cannot.
    """
    parts = name.split("/") if nested and isinstance(name, str) else [name]
    if not all(
        isinstance(part, str) and _NAME.fullmatch(part) and len(part) <= _LONGEST_NAME
        for part in parts
    ):
        msg = (
            f"the name of a {what} becomes a folder: letters, digits and +@=,.- were expected, not "
            f"{name!r}"
        )
        raise SettingError(msg)
    return str(name)
