"""An evaluation that is killed at any moment goes on, and no bit of its result changes."""

import os
import signal
import subprocess
import sys
import time

import pytest

from beir_eval import evaluate_stream, read_score_table
from beir_eval.adapters import run_parts
from beir_eval.core.locks import try_lock
from beir_eval.errors import InputError
from beir_eval.evaluation.streaming import progress_files, stream

QRELS = {f"q{number:02}": {f"d{number % 7}": 2, "d1": 1} for number in range(30)}
ROWS = [
    f"q{query:02} Q0 d{rank} 1 {5 - rank / 4} tag\n" for query in range(33) for rank in range(6)
]
ORDERS = {"grouped": ROWS, "shuffled": ROWS[::5] + [row for i, row in enumerate(ROWS) if i % 5]}
MEASURES = ["nDCG@3", "MAP", "ERR@5", "Judged@5"]


class KilledError(BaseException):
    """Ends the evaluation as a signal does: no handler for errors of the package catches it."""


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(run_parts, "_PART_SIZE", 90)
    monkeypatch.setattr(stream, "_BUCKET_ROWS", 1)
    monkeypatch.setattr(stream, "_MOST_BUCKETS", 9)


def write_run(folder, order):
    path = folder / "run.trec"
    path.write_text("".join(ORDERS[order]))
    return path


def run_stream(path, **settings):
    table = path.with_name("scores.parquet")
    return evaluate_stream(QRELS, path, MEASURES, table=table, part_queries=4, **settings)


def rows_of_table(path):
    return read_score_table(path.with_name("scores.parquet"))


def kill_before_write(monkeypatch, number):
    """End the evaluation before the write with this number, from 0; return how many there were."""
    writes = []

    def counted(write):
        def write_or_die(*arguments):
            writes.append(arguments)
            if len(writes) > number:
                raise KilledError
            write(*arguments)

        return write_or_die

    for name in ("write_part", "write_atomically"):
        monkeypatch.setattr(progress_files, name, counted(getattr(progress_files, name)))
    for name in ("write_part", "merge_parts"):
        monkeypatch.setattr(stream, name, counted(getattr(stream, name)))
    return writes


@pytest.mark.parametrize("order", ORDERS)
def test_killed_before_any_write_it_resumes_with_the_same_bits(order, tmp_path, small_parts):
    path = write_run(tmp_path, order)
    uninterrupted = run_stream(path)
    expected = rows_of_table(path)
    resumed = []
    for number in range(60):
        path.with_name("scores.parquet").unlink()
        with pytest.MonkeyPatch.context() as patch:
            writes = kill_before_write(patch, number)
            try:
                run_stream(path)
            except KilledError:
                pass
            else:
                break
        result = run_stream(path)
        assert result.counted == uninterrupted.counted
        assert result.aggregate == uninterrupted.aggregate
        loaded = rows_of_table(path)
        assert loaded == expected
        assert loaded.values.array.tobytes() == expected.values.array.tobytes()
        resumed.append(result.parts_resumed)
    assert len(writes) == number > 10
    assert max(resumed) > 3


def test_a_process_that_is_killed_at_any_moment_resumes(tmp_path):
    """SIGKILL after a random time, again and again, until one evaluation ends."""
    lines = [
        f"q{query:05} Q0 d{rank} 1 {5 - rank / 8} tag\n"
        for query in range(4_000)
        for rank in range(10)
    ]
    path = tmp_path / "run.trec"
    path.write_text("".join(lines))
    qrels = tmp_path / "qrels"
    qrels.write_text("".join(f"q{query:05} 0 d{query % 12} 1\n" for query in range(4_100)))
    script = (
        "import sys; from beir_eval import evaluate_stream; "
        "evaluate_stream(*sys.argv[1:3], table=sys.argv[3], part_queries=50)"
    )
    command = [sys.executable, "-c", script, str(qrels), str(path), str(tmp_path / "scores")]
    kills = 0
    for seconds in (0.9, 1.1, 1.3, 1.6, 2.0, 2.5):
        process = subprocess.Popen(command, env=dict(os.environ))
        time.sleep(seconds)
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    assert kills
    subprocess.run(command, check=True)
    resumed = read_score_table(tmp_path / "scores")
    whole = evaluate_stream(qrels, path, table=tmp_path / "whole")
    assert resumed == whole.load()
    assert resumed.values.array.tobytes() == whole.load().values.array.tobytes()


CHANGES = {
    "the run": lambda path: path.write_text("".join(ROWS[6:])),
    "the time of the run": lambda path: os.utime(path, (1, 1)),
}


@pytest.mark.parametrize("change", [*CHANGES, "a setting", "a measure", "the qrels"])
def test_it_starts_anew_if_anything_has_changed(change, tmp_path, small_parts, monkeypatch):
    path = write_run(tmp_path, "grouped")
    with pytest.MonkeyPatch.context() as patch:
        kill_before_write(patch, 15)
        with pytest.raises(KilledError):
            run_stream(path)
    if change in CHANGES:
        CHANGES[change](path)
    qrels = {**QRELS, "q00": {"d5": 1}} if change == "the qrels" else QRELS
    measures = MEASURES[:2] if change == "a measure" else MEASURES
    settings = {"ties": "trec_eval9"} if change == "a setting" else {}
    table = tmp_path / "scores.parquet"
    result = evaluate_stream(qrels, path, measures, table=table, part_queries=4, **settings)
    assert result.parts_resumed == 0
    fresh = evaluate_stream(qrels, path, measures, table=tmp_path / "fresh", **settings)
    assert result.load() == fresh.load()


def test_two_processes_do_not_evaluate_into_the_same_folder(tmp_path):
    path = write_run(tmp_path, "grouped")
    folder = tmp_path / "scores.parquet.parts"
    folder.mkdir()
    with (folder / "lock").open("ab") as file:
        assert try_lock(file)
        with pytest.raises(InputError, match="another process evaluates into this folder"):
            run_stream(path)
    run_stream(path)
