"""The folder beside a score table in which an evaluation keeps its finished parts.

A part is finished when the file that lists all finished parts names it. If the process is killed,
the next evaluation with the same inputs and settings goes on after the last of them; with others
it starts anew.
"""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.atomic_writes import write_atomically
from beir_eval.core.locks import try_lock
from beir_eval.errors import InputError
from beir_eval.evaluation.streaming.table_files import write_part

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import IO

_STATE, _LOCK = "state.json", "lock"


class ProgressFolder:
    """The finished parts of an evaluation.

    Attributes:
        path: the folder.
        parts: what is known about each finished part, in their order.
        bucket_count: the number of buckets, once the run is partitioned; None before.

    Raises:
        InputError: another process evaluates into the same folder.
    """

    def __init__(self, path: Path, key: Mapping[str, Any]) -> None:
        """Open the folder, and empty it unless its parts are of the same evaluation.

        Args:
            path: the folder; it is made if it does not exist.
            key: what the parts depend on: inputs, measures, settings, versions.
        """
        self.path, self._key = path, json.loads(json.dumps(key))
        path.mkdir(parents=True, exist_ok=True)
        self._lock: IO[bytes] = (path / _LOCK).open("ab")
        if not try_lock(self._lock):
            self._lock.close()
            msg = (
                f"{path}: another process evaluates into this folder; wait for it, or choose "
                "another score table"
            )
            raise InputError(msg)
        state = self._read()
        self.parts: list[dict[str, Any]] = state.get("parts", [])
        self.bucket_count: int | None = state.get("buckets")
        if not state:
            self.clear()

    def _read(self) -> dict[str, Any]:
        """Return the state; {} if there is none, or it is of another evaluation."""
        with suppress(OSError, ValueError):
            state: dict[str, Any] = json.loads((self.path / _STATE).read_bytes())
            files = [self.path / part["file"] for part in state["parts"] if part["file"]]
            if state["key"] == self._key and all(file.exists() for file in files):
                return state
        return {}

    def clear(self) -> None:
        """Forget all parts."""
        self.parts, self.bucket_count = [], None
        for path in self.path.iterdir():
            if path.name != _LOCK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def add(
        self, columns: Mapping[str, Any] | None, facts: Mapping[str, Any], hashes: Any = None
    ) -> None:
        """Write a finished part.

        Args:
            columns: rows of the score table; None if no query of the part is judged.
            facts: what else is known about the part.
            hashes: hashes of its queries, u8[S]; None if they are not needed.
        """
        number = len(self.parts)
        name = f"part-{number:06}.parquet"
        if columns is not None:
            write_part(self.path / name, columns)
        if hashes is not None:
            write_atomically(self.path / f"queries-{number:06}.u8", hashes.tobytes())
        self.parts.append({"file": name if columns is not None else None, **facts})
        self._write()

    def set_buckets(self, number: int) -> None:
        """Record that the run is partitioned into so many buckets."""
        self.bucket_count = number
        self._write()

    def hashes(self) -> Any:
        """Return the hashes of the queries of all finished parts, u8[S]."""
        arrays = [
            np.frombuffer((self.path / f"queries-{number:06}.u8").read_bytes(), np.uint64)
            for number in range(len(self.parts))
        ]
        return np.concatenate([np.zeros(0, np.uint64), *arrays])

    def files(self) -> list[Path]:
        """Return the files of the finished parts."""
        return [self.path / part["file"] for part in self.parts if part["file"]]

    def _write(self) -> None:
        state = {"key": self._key, "parts": self.parts, "buckets": self.bucket_count}
        write_atomically(self.path / _STATE, json.dumps(state).encode())

    def close(self) -> None:
        """Let other processes use the folder."""
        self._lock.close()

    def remove(self) -> None:
        """Remove the folder, after the score table is written."""
        self.close()
        shutil.rmtree(self.path, ignore_errors=True)
