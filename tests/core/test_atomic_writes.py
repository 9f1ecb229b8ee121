"""A file is written completely or not at all, as its permissions say, and nothing stays behind."""

import errno
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from beir_eval.core import atomic_writes
from beir_eval.core.atomic_writes import (
    check_can_write,
    lock,
    try_lock,
    write_atomically,
)
from processes import python

pytestmark = pytest.mark.skipif(os.name == "nt", reason="permissions, links and locks of Unix")
#: The name of a temporary file.
OURS = f".beir-eval-{'0' * 32}.tmp"


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    previous = os.umask(0o022)
    yield os.umask
    os.umask(previous)


@pytest.fixture
def temporary_modes(monkeypatch):
    """Return a list that gets the permissions of each temporary file while it is written."""
    modes = []
    fsync = os.fsync

    def record(descriptor):
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        fsync(descriptor)

    monkeypatch.setattr("beir_eval.core.atomic_writes.os.fsync", record)
    return modes


# Permissions


def test_a_check_of_a_target_changes_nothing_and_names_a_target_that_cannot_be_written(tmp_path):
    (tmp_path / "old.json").write_text("old")
    for name in ("old.json", "new.json"):
        check_can_write(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]
    assert (tmp_path / "old.json").read_text() == "old"
    check_can_write(Path("/dev/null"))
    for target in (tmp_path, tmp_path / "none" / "r.json", tmp_path / "old.json" / "r.json"):
        with pytest.raises(OSError, match=re.escape(str(target))):
            check_can_write(target)


# Permissions


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_permissions_that_the_umask_leaves(
    tmp_path, umask, temporary_modes, mask, mode
):
    umask(mask)
    write_atomically(tmp_path / "new", b"x")
    assert mode_of(tmp_path / "new") == mode
    assert temporary_modes == [mode]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666, 0o755])
def test_a_replaced_file_keeps_its_permissions_and_the_temporary_file_has_no_more(
    tmp_path, umask, temporary_modes, mode
):
    path = tmp_path / "old"
    path.write_text("old")
    path.chmod(mode)
    umask(0)
    created = []
    original = atomic_writes._create_temporary_file

    def create(*arguments):
        temporary, file = original(*arguments)
        created.append(mode_of(temporary))
        return temporary, file

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(atomic_writes, "_create_temporary_file", create)
        write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert mode_of(path) == mode
    assert created == [0o600]
    assert temporary_modes == [mode]


def test_a_replaced_file_is_not_a_program_with_the_rights_of_its_owner(tmp_path):
    path = tmp_path / "old"
    path.write_text("old")
    path.chmod(0o6755)
    write_atomically(path, b"new")
    assert mode_of(path) == 0o755


def test_a_file_is_replaced_where_files_have_no_owner(tmp_path, monkeypatch):
    path = tmp_path / "old"
    path.write_text("old")
    monkeypatch.delattr("beir_eval.core.atomic_writes.os.fchown")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


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

    def refuse(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("beir_eval.core.atomic_writes.os.fchown", refuse)
    write_atomically(path, b"new")
    assert path.stat().st_gid != 4321
    assert mode_of(path) == 0o604


# Names and links


def test_a_temporary_file_has_an_unpredictable_name_and_is_not_created_through_a_link(
    tmp_path, monkeypatch
):
    names, link_target = [], tmp_path / "victim"
    link_target.write_text("keep this")
    original = atomic_writes.open_without_links

    def plant_link_first(path, mode, **options):
        if mode == "xb":
            names.append(path.name)
            if len(names) == 1:
                path.symlink_to(link_target)
        return original(path, mode, **options)

    monkeypatch.setattr(atomic_writes, "open_without_links", plant_link_first)
    with pytest.raises(FileExistsError, match="result"):
        write_atomically(tmp_path / "result", b"x")
    for _ in range(3):
        write_atomically(tmp_path / "result", b"x")
    assert link_target.read_text() == "keep this"
    assert len(set(names)) == 4
    assert all(re.fullmatch(r"\.beir-eval-[0-9a-f]{32}\.tmp", name) for name in names)


def test_a_link_to_the_file_itself_is_followed_and_kept(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").write_text("old")
    (tmp_path / "link").symlink_to("folder/file")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder/file").read_bytes() == b"new"
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["file"]


# Stale temporary files


def test_a_loop_of_links_is_refused_where_resolving_it_raises_no_error(tmp_path, monkeypatch):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    monkeypatch.setattr(type(loop), "resolve", lambda path: path)  # as Python 3.13 does
    with pytest.raises(OSError, match="symbolic links") as caught:
        write_atomically(loop, b"x")
    assert (caught.value.errno, caught.value.filename) == (errno.ELOOP, str(loop))
    assert loop.is_symlink()


def test_the_next_write_removes_the_temporary_file_of_a_dead_writer_and_nothing_else(tmp_path):
    for name in (OURS, ".tmp", ".x.tmp", f".{'0' * 32}.tmp", f"{OURS}.txt", OURS[1:]):
        (tmp_path / name).write_text("x")
    (tmp_path / OURS.replace("0" * 32, "1" * 32)).symlink_to("file")
    (tmp_path / OURS.replace("0" * 32, "2" * 32)).mkdir()
    os.mkfifo(tmp_path / OURS.replace("0" * 32, "3" * 32))
    before = {path.name for path in tmp_path.iterdir()}
    write_atomically(tmp_path / "file", b"x")
    assert {path.name for path in tmp_path.iterdir()} == before - {OURS} | {"file"}


def test_a_write_leaves_the_temporary_file_of_a_write_that_is_not_finished(tmp_path, monkeypatch):
    fsync, seen = os.fsync, []

    def write_another(descriptor):
        monkeypatch.setattr("beir_eval.core.atomic_writes.os.fsync", fsync)
        write_atomically(tmp_path / "another", b"x")
        seen.extend(path.name for path in tmp_path.iterdir())
        fsync(descriptor)

    monkeypatch.setattr("beir_eval.core.atomic_writes.os.fsync", write_another)
    write_atomically(tmp_path / "file", b"y")
    assert len([name for name in seen if name.startswith(".beir-eval-")]) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["another", "file"]


@pytest.mark.parametrize("times", [1, 20])
def test_a_temporary_file_that_another_process_removes_is_created_again(
    tmp_path, monkeypatch, times
):
    calls = []

    def remove_first(file):
        calls.append(file)
        if len(calls) <= times:  # as a process does that takes it for abandoned
            with Path(file.name).open("rb") as again:
                assert try_lock(again)
                Path(file.name).unlink()
        return lock(file)

    monkeypatch.setattr(atomic_writes, "lock", remove_first)
    write_atomically(tmp_path / "file", b"x")
    assert len(calls) == times + 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_file_is_written_where_no_file_can_be_locked(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_writes, "try_lock", lambda _: False)
    monkeypatch.setattr(atomic_writes, "lock", lambda _: False)
    (tmp_path / OURS).write_text("perhaps of a writer that is alive")
    write_atomically(tmp_path / "file", b"x")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([OURS, "file"])


def test_a_file_is_written_where_open_files_cannot_be_renamed(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic_writes, "_CAN_RENAME_OPEN_FILES", False)
    (tmp_path / OURS).write_text("perhaps of a writer that is alive")
    write_atomically(tmp_path / "file", b"x")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([OURS, "file"])


# Several writers, and a full disk


def test_two_processes_that_write_one_file_leave_one_of_their_contents_and_nothing_else(tmp_path):
    code = """
import sys
from pathlib import Path
from beir_eval.core.atomic_writes import write_atomically
for _ in range(60):
    write_atomically(Path(sys.argv[1]), sys.argv[2].encode() * 100_000)
"""
    path, seen = tmp_path / "file", set()
    path.write_bytes(b"a" * 100_000)
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(path), letter]) for letter in "ab"
    ]
    while any(process.poll() is None for process in processes):
        seen.add(path.read_bytes())
    assert [process.wait() for process in processes] == [0, 0]
    assert seen <= {b"a" * 100_000, b"b" * 100_000}
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


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
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


@pytest.fixture
def small_disk(tmp_path):
    """Return a folder on a disk of 1 MB; skip the test if it cannot be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("no small disk can be mounted")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)  # noqa: S607 - in the path of root


def test_a_write_to_a_disk_that_stale_temporary_files_fill_succeeds(small_disk):
    (small_disk / OURS).write_bytes(b"x" * 900_000)
    write_atomically(small_disk / "file", b"y" * 500_000)
    assert [file.name for file in small_disk.iterdir()] == ["file"]
