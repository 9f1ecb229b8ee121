"""The file of a ledger: nothing is lost, doubled or changed unnoticed."""

import json
import multiprocessing
import os
import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval.comparison.ledger import Ledger, ledger_file
from beir_eval.core import atomic_writes
from beir_eval.errors import FileFormatError, InputError, ResultError
from ledger_results import BASELINE, checkpoint, with_hash
from made_results import MEASURE
from time_limit import time_limit

START = with_hash(BASELINE, "start")
DRAWS = 999
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks processes")


def new_ledger(path, **options):
    return Ledger(path, START, MEASURE, **({"looks": 60, "draws": DRAWS} | options))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the bytes of a ledger with four looks."""
    path = tmp_path_factory.mktemp("ledger") / "ledger.jsonl"
    ledger = new_ledger(path)
    for number in range(4):
        ledger.record(checkpoint(number))
    return path.read_bytes()


def saved(folder, content):
    """Return the path of a file with this content."""
    (folder / "l").write_bytes(content)
    return folder / "l"


# The content


def test_looks_survive_a_reload_bit_for_bit(tmp_path):
    ledger = new_ledger(tmp_path / "l", looks=12, draws=9_999)
    looks = [ledger.record(checkpoint(number)) for number in range(12)]
    reloaded = Ledger.open(tmp_path / "l").looks
    for look, again in zip(looks, reloaded, strict=True):
        for name, value in look.model_dump().items():
            stored = getattr(again, name)
            if isinstance(value, float):
                assert stored.hex() == value.hex()
            else:
                assert stored == value
    assert any(look.bound is not None for look in looks)


def test_the_same_looks_give_the_same_file_and_no_line_ever_changes(tmp_path, written):
    ledger, sizes = new_ledger(tmp_path / "l"), []
    for number in range(4):
        ledger.record(checkpoint(number))
        sizes.append(ledger.path.stat().st_size)
        assert written.startswith(ledger.path.read_bytes())
    assert ledger.path.read_bytes() == written
    assert sizes == sorted(set(sizes))


def test_every_line_is_json(written):
    first, *others = map(json.loads, written.splitlines())
    assert first["measure"] == MEASURE
    assert first["baseline"]["values"] == [BASELINE.tolist()]
    assert [line["number"] for line in others] == [1, 2, 3, 4]


@given(st.data())
@settings(deadline=None, max_examples=settings.default.max_examples // 2)
def test_a_changed_byte_is_found_and_its_line_is_named(tmp_path_factory, written, data):
    index = data.draw(st.integers(0, len(written) - 2))
    byte = data.draw(st.integers(0, 255).filter(lambda value: value != written[index]))
    path = tmp_path_factory.mktemp("changed") / "l"
    path.write_bytes(written[:index] + bytes([byte]) + written[index + 1 :])
    with pytest.raises(FileFormatError) as caught:
        Ledger.open(path)
    assert caught.value.line == written[:index].count(b"\n") + 1


def test_a_line_that_is_missing_or_exchanged_is_found(tmp_path, written):
    lines = written.splitlines(keepends=True)
    for kept in ([0, 2, 3, 4], [0, 1, 3, 4], [0, 2, 1, 3, 4], [0, 1, 1, 2, 3, 4], [1, 2, 3, 4]):
        (tmp_path / "l").write_bytes(b"".join(lines[index] for index in kept))
        with pytest.raises(FileFormatError):
            Ledger.open(tmp_path / "l")


def test_a_changed_line_with_the_right_hash_does_not_fit_the_next(tmp_path, written):
    lines = written.splitlines(keepends=True)
    look = Ledger.open(saved(tmp_path, written)).looks[1].model_copy(update={"verdict": "better"})
    lines[2], _ = ledger_file._line_of(look, lines[1][11:75])
    with pytest.raises(FileFormatError, match="line 4: the line was changed or is damaged"):
        Ledger.open(saved(tmp_path, b"".join(lines)))
    assert Ledger.open(saved(tmp_path, b"".join(lines[:3]))).looks[1] == look


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty, not a ledger"),
        (b"hello\n", "not a ledger; name a new file"),
        (b"hello", "not a ledger; name a new file"),
        (b"\xff\xfe\x00\n", "not a ledger"),
        (b'{"sha256":"x","schema_version":1}\n', "a ledger of layout 2 was expected, found sch"),
        (b'{"sha256":"x","schema_version":2}\n', "the line was changed or is damaged"),
    ],
)
def test_another_file_is_refused_and_stays_as_it_is(tmp_path, content, message):
    path = tmp_path / "l"
    path.write_bytes(content)
    for opened in (Ledger.open, new_ledger):
        with pytest.raises(FileFormatError, match=message) as caught:
            opened(path)
        assert caught.value.line == 1
    assert path.read_bytes() == content


def test_a_last_line_that_was_cut_off_was_never_acknowledged_and_is_replaced(tmp_path, written):
    *complete, last = written.splitlines(keepends=True)
    for length in (1, 30, len(last) // 2, len(last) - 1):
        path = tmp_path / f"l{length}"
        path.write_bytes(b"".join(complete) + last[:length])
        ledger = Ledger.open(path)
        assert len(ledger.looks) == 3
        ledger.record(checkpoint(3))
        assert path.read_bytes() == written


# Writing


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path, written, monkeypatch):
    path = tmp_path / "l"
    path.write_bytes(written)

    def fill_the_disk(file, data):
        file.write(data[:50])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(ledger_file, "write_all", fill_the_disk)
        with pytest.raises(OSError, match="No space left on device") as caught:
            Ledger.open(path).record(checkpoint(4))
    assert caught.value.filename == str(path)
    assert path.read_bytes() == written
    assert Ledger.open(path).record(checkpoint(4)).number == 5


def test_a_file_system_without_locks_is_an_error_before_anything_is_written(
    tmp_path, written, monkeypatch
):
    path = tmp_path / "l"
    path.write_bytes(written)
    monkeypatch.setattr(ledger_file, "lock", lambda _file: False)
    with pytest.raises(InputError, match="cannot be locked"):
        Ledger.open(path).record(checkpoint(4))
    with pytest.raises(InputError, match="cannot be locked"):
        new_ledger(tmp_path / "new")
    assert path.read_bytes() == written
    assert [entry.name for entry in tmp_path.iterdir()] == ["l"]


def test_where_a_lock_cannot_wait_it_is_tried_again(tmp_path, monkeypatch):
    answers = iter([True, False, False, True])
    ledger = new_ledger(tmp_path / "l")
    monkeypatch.setattr(ledger_file, "lock", lambda _file: next(answers))
    monkeypatch.setattr(ledger_file, "_CAN_WAIT", False)
    monkeypatch.setattr(ledger_file, "_PAUSE", 0.001)
    assert next(answers)
    assert ledger.record(checkpoint(0)).number == 1
    monkeypatch.setattr(ledger_file, "lock", lambda _file: False)
    monkeypatch.setattr(ledger_file, "_LONGEST_WAIT", 0.01)
    with pytest.raises(InputError, match="cannot be locked"):
        ledger.record(checkpoint(1))


def test_a_ledger_that_was_deleted_or_replaced_is_not_written_to(tmp_path, monkeypatch):
    ledger = new_ledger(tmp_path / "l")
    other = new_ledger(tmp_path / "other", looks=7)
    (tmp_path / "other").replace(tmp_path / "l")
    with pytest.raises(ResultError, match="was replaced by another ledger"):
        ledger.record(checkpoint(0))
    lock = ledger_file.lock

    def delete_and_lock(file):
        ledger.path.unlink(missing_ok=True)
        return lock(file)

    opened = Ledger.open(ledger.path)
    monkeypatch.setattr(ledger_file, "lock", delete_and_lock)
    with pytest.raises(InputError, match="was deleted"):
        opened.record(checkpoint(0))
    assert other.settings.looks == 7


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        new_ledger(tmp_path / "absent" / "l")


@pytest.mark.parametrize("number", [1, 95])
def test_a_file_system_without_hard_links_gets_the_file_too(tmp_path, monkeypatch, number):
    def refuse(_link, _target):
        raise OSError(number, "no links")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    ledger = new_ledger(tmp_path / "l")
    assert ledger.record(checkpoint(0)).number == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["l"]


def test_an_existing_file_is_never_replaced_by_a_new_one(tmp_path):
    (tmp_path / "l").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        atomic_writes.create_atomically(tmp_path / "l", b"new")
    assert (tmp_path / "l").read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["l"]


# Several processes


def record_in_process(path, numbers, start, acknowledged):
    """Create or open a ledger, record checkpoints, and write each acknowledged number."""
    start.wait()
    ledger = new_ledger(path)
    for number in numbers:
        look = ledger.record(checkpoint(number))
        os.write(acknowledged, f"{number}:{look.number}\n".encode())


@needs_fork
def test_eight_processes_that_record_at_once_lose_and_double_nothing(tmp_path):
    context = multiprocessing.get_context("fork")
    path, start = tmp_path / "l", context.Event()
    reader, writer = os.pipe()
    processes = [
        context.Process(
            target=record_in_process,
            args=(path, [0, *range(4 * index + 1, 4 * index + 5)], start, writer),
        )
        for index in range(8)
    ]
    for process in processes:
        process.start()
    start.set()
    for process in processes:
        process.join()
    os.close(writer)
    with os.fdopen(reader) as stream:
        acknowledged = {tuple(map(int, line.split(":"))) for line in stream}
    assert [process.exitcode for process in processes] == [0] * 8
    looks = Ledger.open(path).looks
    assert [look.number for look in looks] == list(range(1, 34))
    assert {(int(look.step.removeprefix("step-")), look.number) for look in looks} == acknowledged
    assert {look.step for look in looks} == {f"step-{number}" for number in range(33)}
    assert [entry.name for entry in tmp_path.iterdir()] == ["l"]
    alone = new_ledger(tmp_path / "alone")
    for look in looks:
        alone.record(checkpoint(int(look.step.removeprefix("step-"))))
    assert alone.path.read_bytes() == path.read_bytes()


@pytest.mark.slow
@needs_fork
def test_a_ledger_survives_being_killed_at_any_moment(tmp_path):
    """It is killed at once, then each time after five more checkpoints are acknowledged."""
    context = multiprocessing.get_context("fork")
    path, rng, steps = tmp_path / "l", random.Random(0), list(range(60))
    acknowledged: set[int] = set()
    for number in range(0, len(steps), 5):
        start = context.Event()
        reader, writer = os.pipe()
        process = context.Process(target=record_in_process, args=(path, steps, start, writer))
        process.start()
        os.close(writer)
        start.set()
        with os.fdopen(reader) as stream, time_limit(60):
            lines = [stream.readline() for _ in range(number)]
            time.sleep(rng.uniform(0, 0.01))  # so that it is not always the same moment
            process.kill()
            lines += stream
        process.join()
        acknowledged |= {int(line.split(":")[0]) for line in lines if line.endswith("\n")}
        assert len(acknowledged) >= number
        if not path.exists():
            assert not acknowledged
            continue
        looks = Ledger.open(path).looks
        numbers = [int(look.step.removeprefix("step-")) for look in looks]
        assert numbers == list(range(len(numbers)))
        assert acknowledged <= set(numbers)
    assert acknowledged
    ledger = new_ledger(path)
    if len(ledger.looks) < len(steps):  # a quick process may have recorded all that is planned
        ledger.record(checkpoint(len(ledger.looks)))
    alone = new_ledger(tmp_path / "alone")
    for number in range(len(ledger.looks)):
        alone.record(checkpoint(number))
    assert alone.path.read_bytes() == path.read_bytes()
