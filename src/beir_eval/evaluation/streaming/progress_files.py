"""The folder beside a score table in which an evaluation keeps its finished parts.

A part is finished when the file that lists all finished parts names it. If the process is killed,
the next evaluation with the same inputs and settings goes on after the last of them; with others
it starts anew. Files of this module only are ever removed.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from beir_eval.core.atomic_writes import try_lock, write_atomically
from beir_eval.errors import InputError, first_few
from beir_eval.evaluation.streaming.table_files import write_part

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO

_STATE, _LOCK, _BUCKETS = "state.json", "lock", "buckets"
#: The names of all other files, temporary ones included.
_NAME = re.compile(
    r"(part|missing)-[0-9]+\.(parquet|tmp)|queries-[0-9]+\.u8|\.beir-eval-[0-9a-f-]+\.tmp"
)
#: How often the folder is opened again because another process has just removed it.
_ATTEMPTS = 100


class ProgressFolder:
    """The finished parts of an evaluation.

    Attributes:
        path: the folder.
        parts: what is known about each finished part, in their order.
        buckets: the folders of the partitioned run, in their order; None before it is partitioned.

    Raises:
        InputError: another process evaluates into the same folder, or it is not one of this class.
    """

    def __init__(self, path: Path, key: Mapping[str, Any]) -> None:
        """Open the folder, and empty it unless its parts are of the same evaluation.

        Args:
            path: the folder; it is made if it does not exist.
            key: what the parts depend on: inputs, measures, settings, versions.
        """
        self.path, self._key = path, json.loads(json.dumps(key))
        self._lock = self._open()
        state = self._read()
        self.parts: list[dict[str, Any]] = state.get("parts", [])
        names = state.get("buckets")
        self.buckets = None if names is None else [path / _BUCKETS / name for name in names]
        if not state:
            self.clear()

    def _open(self) -> IO[bytes]:
        """Make the folder if it does not exist, and return its locked file."""
        for _ in range(_ATTEMPTS):
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                names = [entry.name for entry in self.path.iterdir()]
                file = None if names and _LOCK not in names else (self.path / _LOCK).open("ab")
            except (FileNotFoundError, FileExistsError):
                if os.path.lexists(self.path) and not self.path.is_dir():
                    raise
                continue  # another process has removed it
            if file is None:
                msg = (
                    f"{self.path}: finished parts are kept in this folder, but it has other files: "
                    f"{first_few(sorted(names))}; choose another score table, or move them"
                )
                raise InputError(msg)
            if not try_lock(file):
                file.close()
                msg = (
                    f"{self.path}: another process evaluates into this folder; wait for it, or "
                    "choose another score table"
                )
                raise InputError(msg)
            if os.fstat(file.fileno()).st_nlink:
                return file
            file.close()  # another process has finished, and removed it
        msg = f"{self.path}: other processes remove this folder again and again"
        raise InputError(msg)

    def _read(self) -> dict[str, Any]:
        """Return the state; {} if there is none, it is of other inputs, or a file has changed."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            saved = json.loads((self.path / _STATE).read_bytes())
            state: dict[str, Any] = saved["state"]
            parts, buckets = state["parts"], state["buckets"]
            needed = [] if buckets is None else [f"{_BUCKETS}/{n}" for n in buckets[len(parts) :]]
            if (
                saved["sha256"] == _hash_of(state)
                and state["key"] == self._key
                and all((self.path / name).exists() for name in needed)
                and all(
                    _hash_of_file(self.path / name) == sha256
                    for part in parts
                    for name, sha256 in part["files"].items()
                )
            ):
                return state
        return {}

    def clear(self) -> None:
        """Forget all parts."""
        self.parts, self.buckets = [], None
        # Without the state, what is left if this is interrupted counts for nothing.
        (self.path / _STATE).unlink(missing_ok=True)
        for path in self._files():
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _files(self) -> Iterator[Path]:
        """Yield what this class has made in the folder, apart from the state and the lock."""
        for path in list(self.path.iterdir()):
            if path.name == _BUCKETS or _NAME.fullmatch(path.name):
                yield path

    @property
    def bucket_folder(self) -> Path:
        """The folder of the folders of a partitioned run."""
        return self.path / _BUCKETS

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
        written = []
        if columns is not None:
            with disk_errors(self.path / name):
                write_part(self.path / name, columns)
            written.append(name)
        if hashes is not None:
            write_atomically(self.path / _hashes_name(number), hashes.tobytes())
            written.append(_hashes_name(number))
        files = {name: _hash_of_file(self.path / name) for name in written}
        self.parts.append({"files": files, **facts})
        self._write()

    def set_buckets(self, folders: Sequence[Path]) -> None:
        """Record that the run is partitioned.

        Args:
            folders: folders in ``bucket_folder``, in the order in which they are evaluated.
        """
        self.buckets = list(folders)
        self._write()

    def hashes(self) -> Any:
        """Return the hashes of the queries of all finished parts, u8[S]."""
        arrays = [
            np.frombuffer((self.path / _hashes_name(number)).read_bytes(), np.uint64)
            for number in range(len(self.parts))
        ]
        return np.concatenate([np.zeros(0, np.uint64), *arrays])

    def files(self) -> list[Path]:
        """Return the files with the rows of the finished parts."""
        return [
            self.path / name
            for part in self.parts
            for name in part["files"]
            if name.endswith(".parquet")
        ]

    def _write(self) -> None:
        names = None if self.buckets is None else [folder.name for folder in self.buckets]
        state = {"key": self._key, "parts": self.parts, "buckets": names}
        saved = {"sha256": _hash_of(state), "state": state}
        write_atomically(self.path / _STATE, json.dumps(saved).encode())

    def close(self) -> None:
        """Let other processes use the folder."""
        self._lock.close()

    def remove(self) -> None:
        """Remove the folder, unless it has other files, after the score table is written."""
        with suppress(OSError):
            self.clear()
            if os.name == "nt":
                self.close()  # an open file cannot be removed
            # Locked until then: another process does not use the folder in the meantime.
            (self.path / _LOCK).unlink()
            self.path.rmdir()
        self.close()


def _hash_of_file(path: Path) -> str:
    """Return the SHA-256 of a file, so that another one in its place is noticed."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _hash_of(state: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a state, so that a damaged one is noticed."""
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()


def _hashes_name(number: int) -> str:
    """Return the name of the file with the hashes of a part's queries."""
    return f"queries-{number:06}.u8"


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Raise OSError for an error of polars in the ``with`` block, which writes to ``path``.

    polars has no class of its own for a full disk, and its message may not name it.
    """
    try:
        yield
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0]
        problem = f"it cannot be written; check that the disk has space ({reason})"
        raise OSError(errno.EIO, problem, str(path)) from error
