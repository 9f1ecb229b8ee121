"""What a pipeline has answered so far, a line a query, to go on from after an interruption."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from beir_eval._files import write_atomically
from beir_eval.adapters.files import read_run
from beir_eval.errors import FileFormatError, SettingError
from beir_eval.integrations._haystack_queries import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_VERSION = 1


class Journal:
    """The file ``<run>.progress.jsonl`` beside a saved run.

    Its first line says what the answers were made by; each further line is the answer to one query.
    A line that an interruption has cut off is dropped.
    """

    def __init__(self, run_file: Path, made_by: Mapping[str, Any]) -> None:
        """Take the run's file, and what the answers in the journal must have been made by."""
        self._run_file = run_file
        self.path = run_file.with_name(f"{run_file.name}.progress.jsonl")
        self._made_by = {"version": _VERSION, **made_by}

    def answers(self, queries: Mapping[str, str]) -> dict[str, Answer]:
        """Return the answers to these queries that are there already.

        A query that only the saved run has counts too; what it took is not known then.

        Raises:
            SettingError: the answers are those of another pipeline.
            FileFormatError: the file is no journal, or the run no run.
        """
        journal = self._read() if self.path.exists() else {}
        saved = read_run(self._run_file).rankings() if self._run_file.exists() else ()
        answers = {
            query_id: Answer(list(doc_ids), scores.tolist(), 0, None)
            for query_id, doc_ids, scores in saved
            if scores is not None and query_id in queries and query_id not in journal
        }
        for query_id, (text, answer) in journal.items():
            if queries.get(query_id) == text:
                answers[query_id] = answer
        return answers

    def _read(self) -> dict[str, tuple[str, Answer]]:
        """Return text and answer of each query."""
        *lines, cut_off = self.path.read_bytes().split(b"\n")
        if cut_off:
            write_atomically(self.path, b"".join(line + b"\n" for line in lines))
        if lines and self._record(1, lines[0]) != self._made_by:
            msg = (
                f"{self.path} holds the answers of another pipeline, or of other settings; save "
                f"this run elsewhere, or delete that file and {self._run_file.name}"
            )
            raise SettingError(msg)
        return dict(self._answer(number, line) for number, line in enumerate(lines[1:], start=2))

    def _answer(self, number: int, line: bytes) -> tuple[str, tuple[str, Answer]]:
        record = self._record(number, line)
        try:
            doc_ids = [str(doc_id) for doc_id, _ in record["docs"]]
            scores = [float(score) for _, score in record["docs"]]
            answer = Answer(doc_ids, scores, record["left_out"], record["seconds"])
            return record["query_id"], (record["query"], answer)
        except (KeyError, TypeError, ValueError) as error:
            raise self._damaged(number, error) from error

    def _record(self, number: int, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
        except ValueError as error:
            raise self._damaged(number, error) from error
        if not isinstance(record, dict):
            raise self._damaged(number, "not a record")
        return record

    def _damaged(self, number: int, why: object) -> FileFormatError:
        problem = f"not a line of a journal of answers ({why}); delete the file to start anew"
        return FileFormatError(self.path, problem, line=number)

    def add(self, query_id: str, text: str, answer: Answer) -> None:
        """Add the answer to one query."""
        self._append(
            {
                "query_id": query_id,
                "query": text,
                "docs": list(zip(answer.doc_ids, answer.scores, strict=True)),
                "left_out": answer.left_out,
                "seconds": answer.seconds,
            }
        )

    def _append(self, record: Mapping[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        is_new = not self.path.exists() or not self.path.stat().st_size
        with self.path.open("ab") as file:
            records = [self._made_by, record] if is_new else [record]
            file.write("".join(f"{json.dumps(one)}\n" for one in records).encode())
