"""The journal of a saved run: a retriever's answers, to resume after an interruption."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from beir_eval.adapters.dataset_folder import JOURNAL_ENDING
from beir_eval.adapters.writers import check_ids, format_to_write, write_run
from beir_eval.core.atomic_writes import sync_folder, try_lock, write_all, write_errors
from beir_eval.core.files import as_path
from beir_eval.core.ids import id_text
from beir_eval.errors import FileFormatError, InputError, SettingError
from beir_eval.integrations.retrieval.documents import Answer, Ranking, run_from_rankings
from beir_eval.integrations.retrieval.origin import LAYOUT, Origin

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Self

#: How to evaluate again without the saved answers, in messages.
FRESH = "fresh=True"


class SavedAnswer(NamedTuple):
    """A line of a journal.

    Attributes:
        text: the text of the query.
        answer: the answer.
        at: when it was saved, in UTC, as ISO 8601.
    """

    text: str
    answer: Answer
    at: str


class Journal:
    """The file ``<run>.progress.jsonl`` beside a saved run, open while the queries run.

    Its first line holds what made the answers (``Origin``); each further line is the answer to one
    query, which is on the disk before the query counts as answered. A last line that an
    interruption has cut off is removed. The run file gets all answers of the journal.

    Raises:
        SettingError: the run's name has no ending of a format that can be written; a run exists
            without a journal; the answers were made by something else, or saved in the layout of
            an earlier version; or another process has the journal open.
        FileFormatError: the file is not a journal.
        InputError: the folder of the run does not exist, or an id cannot be written in the run's
            format.

    Attributes:
        path: the file.
        changed_versions: {package: (version then, version now)} of the packages that have changed
            since the answers were saved.
    """

    _file: IO[bytes]

    def __init__(
        self,
        run_file: str | Path,
        origin: Origin,
        maker: str = "retriever",
        *,
        fresh: bool = False,
    ) -> None:
        """Take the run's file, and what the answers must have been made by.

        Args:
            run_file: the file that the run is written to.
            origin: what makes the answers now.
            maker: what messages call the retriever.
            fresh: whether the first new answer replaces the journal and the run.
        """
        self._maker, self._fresh = maker, fresh
        self._run_file = as_path(run_file, "save_run")
        self._format = format_to_write(self._run_file)
        self.path = self._run_file.with_name(f"{self._run_file.name}{JOURNAL_ENDING}")
        self._origin = origin
        self.changed_versions: dict[str, tuple[str, str]] = {}
        self._answers: dict[str, SavedAnswer] = {}

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

    def answers_to(self, queries: Mapping[str, str]) -> dict[str, SavedAnswer]:
        """Return the saved answers to these queries, {query_id: text}; the texts must be equal."""
        return {
            query_id: saved
            for query_id, saved in self._answers.items()
            if queries.get(query_id) == saved.text
        }

    def add(self, query_id: str, text: str, answer: Answer) -> None:
        """Append the answer to one query to the file, and wait until it is on the disk.

        Raises:
            InputError: an id cannot be written in the run's format.
            OSError: the file cannot be written; it has no part of the answer then.
        """
        ranking = answer.ranking
        check_ids([query_id, *ranking.doc_ids], self._format)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        record = {
            "query_id": query_id,
            "query": text,
            "docs": list(zip(ranking.doc_ids, ranking.scores or (), strict=True)),
            "left_out": answer.left_out,
            "unnamed": ranking.unnamed,
            "without_parent": ranking.without_parent,
            "chunks": [ranking.chunks, ranking.further_chunks],
            "seconds": answer.seconds,
            "at": at,
        }
        if answer.outputs:
            record["outputs"] = answer.outputs
        if answer.part is not None:
            record["part"] = answer.part
        if answer.texts is not None:
            record |= {"answers": answer.texts, "answers_from": answer.texts_from}
        if answer.stages is not None:
            record |= {"stages": answer.stages, "times": answer.times}
        if self._fresh:
            self._file.truncate(0)
            self._file.seek(0)
            self._run_file.unlink(missing_ok=True)
            self._fresh = False
        end = self._file.tell()
        records = [record] if end else [self._origin.to_record(), record]
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
        self._answers[query_id] = SavedAnswer(text, answer, at)

    def write_run(self) -> None:
        """Write all answers as a run; if no document was retrieved, there is no run to write."""
        rankings = {query_id: saved.answer.ranking for query_id, saved in self._answers.items()}
        if any(ranking.doc_ids for ranking in rankings.values()):
            write_run(run_from_rankings(rankings), self._run_file)

    @property
    def lacks_run(self) -> bool:
        """Whether the run has not been written yet."""
        return not self._run_file.exists()

    def _read_answers(self) -> None:
        """Read the answers from the file; remove a line that an interruption has cut off.

        Nothing is removed from a file that is not a journal of this retriever. With ``fresh``, only
        the first line is read, and nothing is removed.
        """
        self._file.seek(0)
        *lines, incomplete_line = self._file.read().split(b"\n")
        for number, line in enumerate(lines, start=1):
            record = self._parse_record(number, line)
            if number == 1:
                if self._fresh:
                    self._check_is_journal(record)
                    self._file.seek(0, os.SEEK_END)
                    return
                self._check_origin(record)
            else:
                query_id, saved = self._parse_answer(number, record)
                self._answers[query_id] = saved
        if incomplete_line:
            first_line = json.dumps(self._origin.to_record()).encode()
            if not lines and not first_line.startswith(incomplete_line):
                self._parse_record(1, incomplete_line)
                raise self._damaged_line_error(1, "the line has no end")
            self._file.truncate(sum(len(line) + 1 for line in lines))
        self._file.seek(0, os.SEEK_END)

    def _check_is_journal(self, record: dict[str, Any]) -> None:
        if not isinstance(record.get("version"), int):
            raise self._damaged_line_error(1, "no layout")

    def _check_origin(self, record: dict[str, Any]) -> None:
        self._check_is_journal(record)
        if record["version"] != LAYOUT:
            msg = (
                f"{self.path} was saved in layout {record['version']} by another version of "
                f"beir-eval, which reads layout {LAYOUT}; evaluate again with {FRESH}"
            )
            raise SettingError(msg)
        try:
            differing = self._origin.differences(record)
            self.changed_versions = self._origin.changed_versions(record)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise self._damaged_line_error(1, error) from error
        if not differing:
            return
        msg = (
            f"{self.path} holds the answers of another {self._maker}, or of other settings or "
            f"documents. What differs: {', '.join(differing)}. Evaluate again with {FRESH}, which "
            "replaces them, or save this run elsewhere"
        )
        raise SettingError(msg)

    def _parse_answer(self, number: int, record: dict[str, Any]) -> tuple[str, SavedAnswer]:
        try:
            doc_ids = [id_text(doc_id) for doc_id, _ in record["docs"]]
            scores = [float(score) for _, score in record["docs"]]
            chunks, further_chunks = map(int, record["chunks"])
            ranking = Ranking(
                doc_ids,
                scores,
                int(record["unnamed"]),
                int(record["without_parent"]),
                chunks,
                further_chunks,
            )
            part = record.get("part")
            answer = Answer(
                ranking,
                int(record["left_out"]),
                None if record["seconds"] is None else float(record["seconds"]),
                outputs={str(name): int(size) for name, size in record.get("outputs", {}).items()},
                part=None if part is None else (int(part[0]), int(part[1])),
                stages=_stages_of(record),
                texts=None if record.get("answers") is None else list(map(str, record["answers"])),
                texts_from=str(record.get("answers_from", "")),
                times={
                    str(name): (float(run), float(beside), int(visits))
                    for name, (run, beside, visits) in record.get("times", {}).items()
                },
            )
            saved = SavedAnswer(str(record["query"]), answer, str(record["at"]))
            query_id = id_text(record["query_id"])
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError) as error:
            raise self._damaged_line_error(number, error) from error
        return query_id, saved

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


def _stages_of(record: dict[str, Any]) -> dict[str, list[str]] | None:
    """Return {stage: its documents} of a line; None if they were not kept."""
    if record.get("stages") is None:
        return None
    return {str(name): list(map(id_text, doc_ids)) for name, doc_ids in record["stages"].items()}
