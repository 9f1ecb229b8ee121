"""A journal keeps every answer that counts, and changes no file that is not a journal."""

import errno
import os

import pytest

from beir_eval.errors import FileFormatError, SettingError
from beir_eval.integrations.retrieval import journal as journal_module
from beir_eval.integrations.retrieval.documents import Answer, Ranking
from beir_eval.integrations.retrieval.journal import Journal
from beir_eval.integrations.retrieval.origin import Origin

ORIGIN = Origin(settings={"pipeline": "p"})


def answer(*doc_ids):
    scores = [float(len(doc_ids) - rank) for rank in range(len(doc_ids))]
    return Answer(Ranking(list(doc_ids), scores), 0, 0.5)


def answered_ids(run_file):
    with Journal(run_file, ORIGIN) as journal:
        return list(journal._answers)


def test_an_answer_counts_only_after_it_is_on_the_disk(tmp_path, monkeypatch):
    journal_file = tmp_path / "run.trec.progress.jsonl"
    synced, fsync = [], os.fsync

    def record(descriptor):
        synced.append((list(journal._answers), journal_file.read_text().count("\n")))
        fsync(descriptor)

    monkeypatch.setattr("beir_eval.integrations.retrieval.journal.os.fsync", record)
    with Journal(tmp_path / "run.trec", ORIGIN) as journal:
        journal.add("q1", "who?", answer("a"))
        journal.add("q2", "what?", answer("a", "b"))
    in_folder, first, second = synced[1], synced[0], synced[2]
    assert first == ([], 2)  # settings and answer, then the name of the file in its folder
    assert in_folder == ([], 2)
    assert second == (["q1"], 3)


def write_half(file, data):
    """Fail as on a full disk."""
    file.write(data[: len(data) // 2])
    raise OSError(errno.ENOSPC, "No space left on device")


def test_an_answer_that_cannot_be_written_leaves_the_answers_before_it(tmp_path, monkeypatch):
    run_file = tmp_path / "run.trec"
    with Journal(run_file, ORIGIN) as journal:
        journal.add("q1", "who?", answer("a"))
        with monkeypatch.context() as patch:
            patch.setattr(journal_module, "write_all", write_half)
            with pytest.raises(OSError, match="No space") as caught:
                journal.add("q2", "what?", answer("b"))
        assert caught.value.filename == str(journal.path)
        assert journal.answers_to({"q2": "what?"}) == {}
        journal.add("q3", "where?", answer("c"))
    assert answered_ids(run_file) == ["q1", "q3"]


def test_a_first_answer_that_cannot_be_written_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(journal_module, "write_all", write_half)
    with Journal(tmp_path / "run.trec", ORIGIN) as journal, pytest.raises(OSError, match="space"):
        journal.add("q1", "who?", answer("a"))
    assert list(tmp_path.iterdir()) == []


def test_a_journal_that_is_cut_anywhere_keeps_the_answers_before_the_cut(tmp_path):
    run_file = tmp_path / "run.trec"
    with Journal(run_file, ORIGIN) as journal:
        for query_id in ("q1", "q2", "q3"):
            journal.add(query_id, "who?", answer("a", "b"))
    content = journal.path.read_bytes()
    for end in range(len(content) + 1):
        journal.path.write_bytes(content[:end])
        complete = content[:end].count(b"\n")
        assert answered_ids(run_file) == ["q1", "q2", "q3"][: max(0, complete - 1)]
        kept = b"".join(content.splitlines(keepends=True)[:complete])
        assert (journal.path.read_bytes() if journal.path.exists() else b"") == kept


@pytest.mark.parametrize(
    "content",
    ["my notes", '{"my": "notes"}', "line 1\nline 2", '{"a": 1}\n{"b"', "["],
)
def test_a_file_that_is_not_a_journal_is_refused_and_not_changed(tmp_path, content):
    path = tmp_path / "run.trec.progress.jsonl"
    path.write_text(content)
    with pytest.raises((FileFormatError, SettingError)):
        answered_ids(tmp_path / "run.trec")
    assert path.read_text() == content
