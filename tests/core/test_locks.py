"""A locked file cannot be locked through another handle, on each platform."""

import subprocess
import sys
from pathlib import Path

import pytest

from beir_eval.core.atomic_writes import try_lock
from beir_eval.integrations.retrieval.journal import Journal


@pytest.mark.usefixtures("locks_of_each_platform")
def test_a_locked_file_cannot_be_locked_by_another_handle_until_the_first_is_closed(tmp_path):
    path = tmp_path / "file"
    with path.open("a+b") as first, path.open("a+b") as second:
        assert try_lock(first)
        assert not try_lock(second)
        first.close()
        assert try_lock(second)


@pytest.mark.usefixtures("locks_of_each_platform")
@pytest.mark.parametrize("is_locked_already", [False, True])
@pytest.mark.parametrize("mode", ["r+b", "a+b", "r+"])
def test_a_lock_does_not_move_the_position_in_the_file(tmp_path, mode, is_locked_already):
    path = tmp_path / "file"
    path.write_text("one\ntwo\n")
    with path.open("r+b") as other_file, path.open(mode) as file:
        assert not is_locked_already or try_lock(other_file)
        file.seek(4)
        assert try_lock(file) is not is_locked_already
        assert file.tell() == 4
        assert file.read(3) in ("two", b"two")


def test_other_handles_can_read_a_file_that_is_locked_on_windows(tmp_path, windows_locks):
    path = tmp_path / "file"
    path.write_text("one\ntwo\n")
    with path.open("a+b") as file:
        assert try_lock(file)
        [(_, position)] = windows_locks.held
    assert position > 2_000_000_000


def test_a_lock_is_always_granted_on_a_platform_without_lock_modules(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", None)
    with (tmp_path / "file").open("w") as file:
        assert try_lock(file)


@pytest.mark.skipif(sys.platform == "win32", reason="locks of Unix")
def test_a_lock_keeps_another_process_out_and_ends_with_its_process(tmp_path):
    path = tmp_path / "file"
    code = f"""
from beir_eval.core.atomic_writes import try_lock
file = open({str(path)!r}, "a+b")
print(try_lock(file), flush=True)
input()
"""
    command = [sys.executable, "-c", code]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with path.open("a+b") as file, subprocess.Popen(command, **pipes) as process:
        assert process.stdout.readline() == "True\n"
        assert not try_lock(file)
        process.communicate("\n")
        assert try_lock(file)


def test_a_journal_works_where_an_open_file_cannot_be_removed(tmp_path, monkeypatch):
    def refuse(path, *, missing_ok=False):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    for _ in range(2):
        with Journal(tmp_path / "run.trec", {}) as journal:
            assert journal.answers_to({"q": "who?"}) == {}
