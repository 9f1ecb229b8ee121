"""A file is written completely or not at all, as its permissions say."""

import errno
import os
import re
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from beir_eval.core import atomic_writes
from beir_eval.core.atomic_writes import check_can_write, write_atomically
from processes import python

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions, links and locks of Unix")


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def names_in(folder):
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def umask():
    previous = os.umask(0o022)
    yield os.umask
    os.umask(previous)


@pytest.fixture
def temporary_modes(monkeypatch):
    """Return a list that gets the permissions of each temporary file, empty and when complete."""
    modes = []
    create, fsync = atomic_writes._create_temporary_file, os.fsync

    def record_empty(*arguments):
        path, file = create(*arguments)
        modes.append(mode_of(path))
        return path, file

    def record_complete(descriptor):
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        fsync(descriptor)

    monkeypatch.setattr(atomic_writes, "_create_temporary_file", record_empty)
    monkeypatch.setattr("beir_eval.core.atomic_writes.os.fsync", record_complete)
    return modes


def test_a_check_of_a_target_changes_nothing_and_names_a_target_that_cannot_be_written(tmp_path):
    (tmp_path / "old.json").write_text("old")
    for name in ("old.json", "new.json"):
        check_can_write(tmp_path / name)
    assert names_in(tmp_path) == {"old.json"}
    assert (tmp_path / "old.json").read_text() == "old"
    check_can_write(Path("/dev/null"))
    for target in (tmp_path, tmp_path / "none" / "r.json", tmp_path / "old.json" / "r.json"):
        with pytest.raises(OSError, match=re.escape(str(target))):
            check_can_write(target)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_permissions_that_the_umask_leaves(
    tmp_path, umask, temporary_modes, mask, mode
):
    umask(mask)
    write_atomically(tmp_path / "new", b"x")
    assert mode_of(tmp_path / "new") == mode
    assert temporary_modes == [mode, mode]


@pytest.mark.parametrize("mode", [0o600, 0o444, 0o755, 0o6755])
def test_a_replaced_file_keeps_its_permissions_and_the_temporary_file_has_no_more(
    tmp_path, umask, temporary_modes, mode
):
    path = tmp_path / "old"
    path.write_text("old")
    path.chmod(mode)
    umask(0)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    kept = mode & 0o777  # no program with the rights of its owner
    assert mode_of(path) == kept
    assert temporary_modes == [0o600, kept]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs root")
def test_the_superuser_leaves_a_file_to_its_owner_and_group(tmp_path):
    path = tmp_path / "old"
    path.write_text("old")
    os.chown(path, 1234, 4321)
    write_atomically(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs root")
def test_another_group_gets_no_permissions_if_the_group_cannot_be_kept(tmp_path, monkeypatch):
    path = tmp_path / "old"
    path.write_text("old")
    os.chown(path, -1, 4321)
    path.chmod(0o664)
    monkeypatch.delattr("beir_eval.core.atomic_writes.os.fchown")  # so that it is not kept
    write_atomically(path, b"new")
    assert path.stat().st_gid != 4321
    assert mode_of(path) == 0o604


def test_a_temporary_file_is_not_created_through_a_link(tmp_path, monkeypatch):
    monkeypatch.setattr("beir_eval.core.atomic_writes.os.urandom", bytes)  # its name is predicted
    (tmp_path / f".beir-eval-{'0' * 32}.tmp").symlink_to(tmp_path / "victim")
    with pytest.raises(FileExistsError, match="result"):
        write_atomically(tmp_path / "result", b"x")
    assert not (tmp_path / "victim").exists()


def test_a_link_to_the_file_itself_is_followed_and_kept(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").write_text("old")
    (tmp_path / "link").symlink_to("folder/file")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder/file").read_bytes() == b"new"
    assert names_in(tmp_path / "folder") == {"file"}


def test_a_write_removes_the_temporary_files_of_the_day_before_and_nothing_else(tmp_path):
    names = [f".beir-eval-{'0' * 32}.tmp", f".beir-eval-{'1' * 32}.tmp", ".x.tmp", "beir-eval-.tmp"]
    for name in names:
        (tmp_path / name).write_text("x")
    for name in names[1:]:
        os.utime(tmp_path / name, times=(time.time() - 90_000,) * 2)
    write_atomically(tmp_path / "file", b"x")
    assert names_in(tmp_path) == {"file", names[0], *names[2:]}


def test_readers_see_the_content_of_one_of_two_writers_also_when_these_are_killed(tmp_path):
    code = """
import sys
from pathlib import Path
from beir_eval.core.atomic_writes import write_atomically
while True:
    write_atomically(Path(sys.argv[1]), sys.argv[2].encode() * 100_000)
"""
    path, contents = tmp_path / "file", {b"a" * 100_000, b"b" * 100_000}
    command = [sys.executable, "-c", code, str(path)]
    writers = [subprocess.Popen([*command, letter]) for letter in "ab"]
    seen = set()
    while seen != contents:
        assert all(writer.poll() is None for writer in writers)
        if path.exists():
            seen.add(path.read_bytes())
        assert seen <= contents
    for writer in writers:
        writer.kill()
        writer.wait()
        assert path.read_bytes() in contents


def test_a_write_beyond_the_size_that_is_allowed_leaves_the_old_file(tmp_path):
    code = f"""
import resource, sys
from pathlib import Path
from beir_eval.core.atomic_writes import write_atomically
path = Path({str(tmp_path / "file")!r})
write_atomically(path, b"old")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_atomically(path, b"x" * 5000)
except OSError as error:
    print(error.errno, error.filename)
"""
    output = python("-c", code)
    assert output.stdout == f"{errno.EFBIG} {tmp_path / 'file'}\n"
    assert (tmp_path / "file").read_bytes() == b"old"
    assert names_in(tmp_path) == {"file"}
