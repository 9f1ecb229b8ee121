"""The journal of a saved run: a retriever's answers, to resume after an interruption."""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from beir_eval.adapters.dataset_folder import JOURNAL_ENDING
from beir_eval.adapters.writers import check_ids, format_to_write, write_run
from beir_eval.core.atomic_writes import sync_folder, write_all, write_errors
from beir_eval.core.ids import id_text
from beir_eval.core.locks import try_lock
from beir_eval.core.paths import as_path
from beir_eval.errors import FileFormatError, InputError, SettingError
from beir_eval.integrations.retrieval.documents import Ranking, run_from_rankings
from beir_eval.integrations.retrieval.query_runner import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Self

_VERSION = 1


class Journal:
    """The file ``<run>.progress.jsonl`` beside a saved run, open while the queries run.

    Its first line holds the retriever and the settings that made the answers; each further line is
    the answer to one query, which is on the disk before the query counts as answered. A last line
    that an interruption has cut off is removed. The run file gets all answers of the journal.

    Raises:
        SettingError: the run's name has no ending of a format that can be written; a run exists
            without a journal; the answers are those of another retriever or of other settings; or
            another process has the journal open.
        FileFormatError: the file is not a journal.
        InputError: the folder of the run does not exist, or an id cannot be written in the run's
            format.
    """

    _file: IO[bytes]

    def __init__(
        self, run_file: str | Path, made_by: Mapping[str, Any], maker: str = "retriever"
    ) -> None:
        """Take the run's file, and the retriever and settings that the journal must be of.

        Args:
            run_file: the file that the run is written to.
            made_by: what identifies the retriever, and its settings: plain values.
            maker: what messages call the retriever.
        """
        self._maker = maker
        self._run_file = as_path(run_file, "save_run")
        self._format = format_to_write(self._run_file)
        self.path = self._run_file.with_name(f"{self._run_file.name}{JOURNAL_ENDING}")
        self._made_by = {"version": _VERSION, **made_by}
        self._answers: dict[str, tuple[str, Answer]] = {}

    def __enter__(self) -> Self:
        """Open the file, lock it for other processes, and read its answers."""
        if self._run_file.exists() and not self.path.exists():
            msg = (
                f"{self._run_file} is there without {self.path.name}, which would say what made "
                "it; save this run elsewhere, delete that file, or evaluate it as it is with "
                "evaluate(qrels, read_run(path))"
            )
            raise SettingError(msg)
        if not self.path.parent.is_dir():
            msg = f"{self._run_file}: there is no folder {self.path.parent}; make it first"
            raise InputError(msg)
        self._file = self.path.open("a+b", buffering=0)
        if not try_lock(self._file):
            self._file.close()
            msg = f"another process is at work on {self.path}; wait for it, or save elsewhere"
            raise SettingError(msg)
        try:
            self._read_answers()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file; remove it if it is empty."""
        if not self._file.tell():
            with suppress(PermissionError):  # Windows cannot remove an open file; it may stay
                self.path.unlink(missing_ok=True)
        self._file.close()

    def answers_to(self, queries: Mapping[str, str]) -> dict[str, Answer]:
        """Return the saved answers to these queries, {query_id: text}; the texts must be equal."""
        return {
            query_id: answer
            for query_id, (text, answer) in self._answers.items()
            if queries.get(query_id) == text
        }

    def add(self, query_id: str, text: str, answer: Answer) -> None:
        """Append the answer to one query to the file, and wait until it is on the disk.

        Raises:
            InputError: an id cannot be written in the run's format.
            OSError: the file cannot be written; it has no part of the answer then.
        """
        ranking = answer.ranking
        check_ids([query_id, *ranking.doc_ids], self._format)
        record = {
            "query_id": query_id,
            "query": text,
            "docs": list(zip(ranking.doc_ids, ranking.scores or (), strict=True)),
            "left_out": answer.left_out,
            "unnamed": ranking.unnamed,
            "without_parent": ranking.without_parent,
            "seconds": answer.seconds,
        }
        end = self._file.tell()
        records = [record] if end else [self._made_by, record]
        lines = "".join(f"{json.dumps(entry)}\n" for entry in records)
        try:
            with write_errors(self.path):
                write_all(self._file, lines.encode())
                os.fsync(self._file.fileno())
        except OSError:
            with suppress(OSError):
                self._file.truncate(end)
                self._file.seek(end)
            raise
        if not end:
            sync_folder(self.path.parent)
        self._answers[query_id] = (text, answer)

    def write_run(self) -> None:
        """Write all answers as a run; if no document was retrieved, there is no run to write."""
        rankings = {query_id: answer.ranking for query_id, (_, answer) in self._answers.items()}
        if any(ranking.doc_ids for ranking in rankings.values()):
            write_run(run_from_rankings(rankings), self._run_file)

    @property
    def lacks_run(self) -> bool:
        """Whether the run has not been written yet."""
        return not self._run_file.exists()

    def _read_answers(self) -> None:
        """Read the answers from the file; remove a line that an interruption has cut off.

        Nothing is removed from a file that is not a journal of this retriever.
        """
        self._file.seek(0)
        *lines, incomplete_line = self._file.read().split(b"\n")
        for number, line in enumerate(lines, start=1):
            record = self._parse_record(number, line)
            if number == 1:
                self._check_made_by(record)
            else:
                query_id, text, answer = self._parse_answer(number, record)
                self._answers[query_id] = (text, answer)
        if incomplete_line:
            first_line = json.dumps(self._made_by).encode()
            if not lines and not first_line.startswith(incomplete_line):
                self._parse_record(1, incomplete_line)
                raise self._damaged_line_error(1, "the line has no end")
            self._file.truncate(sum(len(line) + 1 for line in lines))
        self._file.seek(0, os.SEEK_END)

    def _check_made_by(self, record: dict[str, Any]) -> None:
        if record == self._made_by:
            return
        names = sorted({*record, *self._made_by})
        differing = [name for name in names if record.get(name) != self._made_by.get(name)]
        msg = (
            f"{self.path} holds the answers of another {self._maker}, or of other settings "
            f"({', '.join(differing)}); save this run elsewhere, or delete that file and "
            f"{self._run_file.name}"
        )
        raise SettingError(msg)

    def _parse_answer(self, number: int, record: dict[str, Any]) -> tuple[str, str, Answer]:
        try:
            doc_ids = [id_text(doc_id) for doc_id, _ in record["docs"]]
            scores = [_finite_number(score) for _, score in record["docs"]]
            seconds = None if record["seconds"] is None else _finite_number(record["seconds"])
            left_out = _count(record["left_out"])
            # Journals of earlier versions lack these two.
            unnamed = min(_count(record.get("unnamed", 0)), left_out)
            without_parent = _count(record.get("without_parent", 0))
            ranking = Ranking(doc_ids, scores, unnamed, without_parent)
            answer = Answer(ranking, left_out, seconds)
            query_id, text = id_text(record["query_id"]), str(record["query"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise self._damaged_line_error(number, error) from error
        if len(set(doc_ids)) < len(doc_ids):
            raise self._damaged_line_error(number, "a document is listed twice")
        return query_id, text, answer

    def _parse_record(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._damaged_line_error(number, error) from error
        if not isinstance(record, dict):
            raise self._damaged_line_error(number, "not a record")
        return record

    def _damaged_line_error(self, number: int, reason: object) -> FileFormatError:
        problem = f"not a line of a journal of answers ({reason}); delete the file to start anew"
        return FileFormatError(self.path, problem, line=number)


def _count(value: Any) -> int:
    number = int(value)
    if number < 0:
        msg = f"{value!r} is not a number of documents"
        raise ValueError(msg)
    return number


def _finite_number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        msg = f"{value!r} is not a finite number"
        raise ValueError(msg)
    return number
