"""A writer that is killed leaves the old file or the new one, and the next write tidies up."""

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

import endless_writer
from beir_eval.core.atomic_writes import write_atomically
from beir_eval.integrations.retrieval.journal import Journal
from beir_eval.integrations.retrieval.origin import Origin

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="SIGKILL")]
KILLS = 3


def run_and_kill(seconds, *arguments):
    """Run the writer, kill it so long after it began to write, and return what it printed."""
    command = [sys.executable, endless_writer.__file__, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = [process.stdout.readline()]
        assert lines != [""], "the writer failed"
        reader = threading.Thread(target=lambda: lines.extend(process.stdout))
        reader.start()
        time.sleep(seconds)
        assert process.poll() is None, "the writer failed"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        reader.join()
    return lines


def without_time(path):
    """Return the bytes of a file without the date and time that a report has."""
    return re.sub(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d", b"", path.read_bytes())


def delays(way):
    """Return how many seconds after its first write each process is killed."""
    rng = random.Random(way)
    return [rng.uniform(0, 0.1) for _ in range(KILLS)]


@pytest.mark.parametrize("way", endless_writer.WAYS)
def test_a_killed_writer_leaves_the_old_or_the_new_file_and_no_other_after_the_next_write(
    tmp_path, way
):
    name, write = endless_writer.WAYS[way]
    contents = []
    for shift in (0, 1):
        write(tmp_path / name, shift)
        contents.append(without_time(tmp_path / name))
    assert contents[0] != contents[1]
    for seconds in delays(way):
        run_and_kill(seconds, way, tmp_path)
        assert without_time(tmp_path / name) in contents
        write_atomically(tmp_path / "another", b"x")
        assert {path.name for path in tmp_path.iterdir()} == {name, "another"}


def test_a_killed_pipeline_loses_no_answer_that_counted(tmp_path):
    num_answers = 0
    for seconds in delays("journal"):
        printed = run_and_kill(seconds, "journal", tmp_path)
        with Journal(tmp_path / "run.trec", Origin(settings={"pipeline": "p"})) as journal:
            answered = list(journal._answers)
        assert answered == [f"q{number}" for number in range(len(answered))]
        # A line of the output may be cut off, a line of the journal may not be printed yet.
        complete = [int(line) for line in printed if line.endswith("\n")]
        assert len(answered) >= max(complete, default=-1) + 1
        assert len(answered) >= num_answers
        num_answers = len(answered)
    assert num_answers > 0
