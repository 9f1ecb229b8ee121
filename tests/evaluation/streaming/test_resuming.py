"""An evaluation that is killed at any moment goes on, and no bit of its result changes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from beir_eval import evaluate, evaluate_stream, read_score_table
from beir_eval.adapters import run_parts
from beir_eval.core.atomic_writes import try_lock
from beir_eval.errors import DuplicateDocumentError, FileFormatError, InputError
from beir_eval.evaluation.streaming import progress_files, stream
from waiting import wait_until

QRELS = {f"q{number:02}": {f"d{number % 7}": 2, "d1": 1} for number in range(30)}
ROWS = [
    f"q{query:02} Q0 d{rank} 1 {5 - rank / 4} tag\n" for query in range(33) for rank in range(6)
]
ORDERS = {"grouped": ROWS, "shuffled": ROWS[::5] + [row for i, row in enumerate(ROWS) if i % 5]}
MEASURES = ["nDCG@3", "MAP", "ERR@5", "Judged@5"]


#: Before a test replaces it.
RMDIR = os.rmdir


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


@pytest.mark.slow
@pytest.mark.parametrize("order", ["grouped", "shuffled"])
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


#: Evaluates a run until it is killed: its last step never ends.
ENDLESS_SCRIPT = """
import sys, threading
from beir_eval import evaluate_stream
from beir_eval.evaluation.streaming import stream
stream.merge_parts = lambda *_: threading.Event().wait()
evaluate_stream(*sys.argv[1:3], table=sys.argv[3], part_queries=20)
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*the same first documents:beir_eval.BeirEvalWarning")
def test_a_process_that_is_killed_at_any_moment_resumes(tmp_path):
    """It is killed again and again, each time after a later part is there."""
    path, qrels, table = tmp_path / "run.trec", tmp_path / "qrels", tmp_path / "scores"
    lines = [
        f"q{query:05} Q0 d{(query + rank) % 40} 1 {5 - rank / 8} tag\n"
        for query in range(1_000)
        for rank in range(10)
    ]
    path.write_text("".join(lines))
    qrels.write_text("".join(f"q{query:05} 0 d{query % 12} 1\n" for query in range(1_050)))
    command = [sys.executable, "-c", ENDLESS_SCRIPT, str(qrels), str(path), str(table)]
    for number in (1, 12, 30):  # of 50 parts
        part = tmp_path / "scores.parts" / f"part-{number:06}.parquet"
        with subprocess.Popen(command) as process:
            try:
                wait_until(
                    lambda part=part: part.exists() or process.poll() is not None, every=0.001
                )
                assert process.poll() is None, "the evaluation failed"
            finally:
                process.kill()
    resumed = evaluate_stream(qrels, path, table=table, part_queries=20)
    assert resumed.parts_resumed >= number  # whether the last part counted is not known
    whole = evaluate_stream(qrels, path, table=tmp_path / "whole", part_queries=20)
    assert whole.parts_resumed == 0
    assert resumed.load() == whole.load()
    assert resumed.load().values.array.tobytes() == whole.load().values.array.tobytes()


def exchange(path):
    """Reverse the scores of a run: its size and the time of its last write stay the same."""
    status = path.stat()
    digits = str.maketrans("12345", "54321")
    rows = [row.split(" ") for row in path.read_text().splitlines(keepends=True)]
    path.write_text("".join(" ".join([*row[:4], row[4].translate(digits), row[5]]) for row in rows))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size


CHANGES = {
    "the run": lambda path: path.write_text("".join(ROWS[6:])),
    "the time of the run": lambda path: os.utime(path, (1, 1)),
    "the run, to one of the same size and time": exchange,
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
    settings = {"ties": "trec_eval10"} if change == "a setting" else {}
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


def interrupted(path, monkeypatch, number=15):
    """End an evaluation before the write with this number; return its folder of parts."""
    with monkeypatch.context() as patch:
        kill_before_write(patch, number)
        with pytest.raises(KilledError):
            run_stream(path)
    return path.with_name("scores.parquet.parts")


def test_qrels_in_another_order_of_queries_start_it_anew(tmp_path, small_parts, monkeypatch):
    """Finished parts state a query by its place in the qrels."""
    path = write_run(tmp_path, "grouped")
    interrupted(path, monkeypatch)
    reversed_qrels = dict(reversed(QRELS.items()))
    arguments = (reversed_qrels, path, MEASURES)
    result = evaluate_stream(*arguments, table=tmp_path / "scores.parquet", part_queries=4)
    assert result.parts_resumed == 0
    assert result.load() == evaluate(*arguments, name="run")


def change_state(folder, change):
    """Change what is recorded about the finished parts."""
    path = folder / "state.json"
    saved = json.loads(path.read_text())
    change(saved["state"]["parts"])
    path.write_text(json.dumps(saved))


DAMAGES = {
    "the state is a list": lambda folder: (folder / "state.json").write_text("[1]"),
    "the state is another object": lambda folder: (folder / "state.json").write_text("{}"),
    "the state is cut off": lambda folder: (folder / "state.json").write_text('{"parts": ['),
    "the state lacks a fact": lambda folder: change_state(
        folder, lambda parts: parts[0].pop("not_judged")
    ),
    "the state has another fact": lambda folder: change_state(
        folder, lambda parts: parts[0].update(not_judged=99)
    ),
    "a part is damaged": lambda folder: (folder / "part-000001.parquet").write_bytes(b"PAR1"),
    "a part is another one": lambda folder: shutil.copy(
        folder / "part-000000.parquet", folder / "part-000001.parquet"
    ),
    "a part is missing": lambda folder: (folder / "part-000001.parquet").unlink(),
    "hashes are missing": lambda folder: (folder / "queries-000001.u8").unlink(missing_ok=True),
    "the partitioned run is missing": lambda folder: shutil.rmtree(folder / "buckets"),
    "some of the partitioned run is missing": lambda folder: shutil.rmtree(
        max((folder / "buckets").iterdir())
    ),
}


@pytest.mark.parametrize(
    ("damage", "order"),
    [
        (damage, order)
        for damage in DAMAGES
        for order in ORDERS
        if order != "grouped" or "partitioned" not in damage  # a grouped file is not
    ],
)
def test_a_damaged_folder_of_parts_changes_no_bit(
    damage, order, tmp_path, small_parts, monkeypatch
):
    path = write_run(tmp_path, order)
    expected = run_stream(path).load()
    folder = interrupted(path, monkeypatch, 15 if order == "grouped" else 30)
    DAMAGES[damage](folder)
    result = run_stream(path)
    assert result.load() == expected
    assert not folder.exists()


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_killed_while_it_removes_files_it_resumes_with_the_same_bits(
    order, tmp_path, small_parts, monkeypatch
):
    """The state goes first: what is left without it counts for nothing."""
    path = write_run(tmp_path, order)
    expected = run_stream(path).load()
    kills = 0
    for number in range(0, 400, 7):
        removed = []
        with monkeypatch.context() as patch:

            def counted(remove, removed=removed, number=number):
                def remove_or_die(path, *arguments, **options):
                    removed.append(path)
                    if len(removed) > number:
                        raise KilledError
                    return remove(path, *arguments, **options)

                return remove_or_die

            for name in ("unlink", "rmdir"):
                patch.setattr(os, name, counted(getattr(os, name)))
            try:
                run_stream(path)
            except KilledError:
                kills += 1
            else:
                break
        assert run_stream(path).load() == expected
    assert kills > 5


def test_an_error_is_raised_again_if_the_removal_of_its_parts_was_killed(
    tmp_path, small_parts, monkeypatch
):
    """Without some of the partitioned rows, a query would count as missing."""
    path = write_run(tmp_path, "shuffled")
    path.write_text(path.read_text() + "q05 Q0 d1 1 9 tag\n")
    expected = None
    for number in range(0, 24, 4):
        removed = []
        with monkeypatch.context() as patch:

            def rmdir_or_die(path, *arguments, removed=removed, number=number, **options):
                removed.append(path)
                if len(removed) > number:
                    raise KilledError
                return RMDIR(path, *arguments, **options)

            patch.setattr(os, "rmdir", rmdir_or_die)
            with pytest.raises((KilledError, DuplicateDocumentError)):
                run_stream(path)
        with pytest.raises(DuplicateDocumentError) as error:
            run_stream(path)
        expected = expected or str(error.value)
        assert str(error.value) == expected


def test_files_of_others_are_never_removed(tmp_path, small_parts):
    """A folder with other files is refused; a file that was put into ours stays."""
    path = write_run(tmp_path, "shuffled")
    folder = tmp_path / "scores.parquet.parts"
    (folder / "buckets").mkdir(parents=True)
    (folder / "buckets" / "thesis.txt").write_text("years of work")
    with pytest.raises(InputError, match=r"it has other files: 'buckets'; choose another"):
        run_stream(path)
    assert (folder / "buckets" / "thesis.txt").read_text() == "years of work"
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "lock").touch()
    (folder / "notes.txt").write_text("years of work")
    run_stream(path)
    assert [file.name for file in folder.iterdir()] == ["notes.txt"]


def test_a_process_that_waits_for_another_one_locks_a_folder_that_exists(tmp_path, monkeypatch):
    """The other one finishes, and removes the folder, between opening and locking."""
    first = progress_files.ProgressFolder(tmp_path / "parts", {})
    waiting = []

    def lock_when_the_other_has_finished(file):
        if not waiting:
            waiting.append(file)
            first.remove()
        return try_lock(file)

    monkeypatch.setattr(progress_files, "try_lock", lock_when_the_other_has_finished)
    second = progress_files.ProgressFolder(tmp_path / "parts", {})
    assert waiting
    with pytest.raises(InputError, match="another process evaluates into this folder"):
        progress_files.ProgressFolder(tmp_path / "parts", {})
    second.remove()
    assert not (tmp_path / "parts").exists()


def test_json_lines_of_which_some_have_scores_are_refused_after_an_interruption_too(
    tmp_path, small_parts, monkeypatch
):
    path = tmp_path / "run.jsonl"
    documents = [{"d1": 2}] * 12 + [[]] * 8 + [["d1"]] * 10
    records = [{"query_id": f"q{row:02}", "docs": docs} for row, docs in enumerate(documents)]
    path.write_text("\n".join(map(json.dumps, records)))
    message = "some documents have scores and some have none"
    for number in range(3, 20):
        with monkeypatch.context() as patch:
            kill_before_write(patch, number)
            with pytest.raises((KilledError, FileFormatError)):
                run_stream(path)
        with pytest.raises(FileFormatError, match=message):
            run_stream(path)


def test_a_table_that_was_half_written_when_the_process_was_killed_is_removed(tmp_path):
    path = write_run(tmp_path, "grouped")
    (tmp_path / ".scores.parquet.12345.tmp").write_bytes(b"PAR1")
    (tmp_path / ".scores.parquet.notes.tmp").write_text("of somebody else")
    run_stream(path)
    names = sorted(entry.name for entry in tmp_path.iterdir())
    assert names == [".scores.parquet.notes.tmp", "run.trec", "scores.parquet"]


@pytest.mark.skipif(sys.platform == "win32", reason="the size of files cannot be limited")
@pytest.mark.parametrize("order", ORDERS)
def test_a_full_disk_is_an_oserror_and_the_evaluation_resumes_later(order, tmp_path):
    path = write_run(tmp_path, order)
    script = (
        "import resource, sys, test_resuming; from pathlib import Path; "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)); "
        "test_resuming.run_stream(Path(sys.argv[1]))"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path]),
    }
    process = subprocess.run(
        [sys.executable, "-c", script, path],
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (
        "\nOSError: [Errno 5] it cannot be written; check that the disk has space" in process.stderr
    )
    assert not path.with_name("scores.parquet").exists()
    expected = evaluate(QRELS, path, MEASURES)
    assert run_stream(path).load() == expected
