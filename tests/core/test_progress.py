"""The progress bar: when and where it is shown, and its text."""

import os
import pty
import sys
import termios
import threading
from contextlib import contextmanager, redirect_stderr, suppress

import pytest

from beir_eval import Benchmark, Evaluator, read_qrels
from beir_eval.cli.damaged_runs import DamagedRuns
from beir_eval.cli.options import RunReading, evaluate_files
from beir_eval.core import progress
from beir_eval.core.files import file_stem
from beir_eval.core.progress import progress_bar
from beir_eval.datasets import demo
from processes import python
from waiting import wait_until


@pytest.fixture
def refreshed_often(monkeypatch):
    monkeypatch.setattr(progress, "REFRESH_SECONDS", 0.1)


@pytest.fixture(params=[(30, 100), (0, 0)], ids=["terminal", "terminal of no size"])
def terminal(request):
    """Return a context with a terminal as stderr; it yields a function that returns the output."""

    @contextmanager
    def context():
        reader, writer = pty.openpty()
        termios.tcsetwinsize(writer, request.param)
        os.set_blocking(reader, False)
        chunks = []

        def read():
            with suppress(BlockingIOError):
                while True:
                    chunks.append(os.read(reader, 1 << 16).decode())
            return "".join(chunks)

        with os.fdopen(writer, "w", encoding="utf-8") as stream, redirect_stderr(stream):
            yield read
        os.close(reader)

    return context


def last_line(written):
    """Return the last line on the terminal; a carriage return lets text overwrite the line."""
    line = ""
    for part in written.removesuffix("\r\n").rpartition("\n")[2].split("\r"):
        line = part + line[len(part) :]
    return line.strip()


def test_a_bar_is_shown_at_once_on_a_terminal_and_remains_afterwards(terminal):
    with terminal() as written:
        with progress_bar(total=2, desc="queries") as advance:
            assert "queries:   0%" in written()
            advance(2)
        assert "queries: 100%" in last_line(written())


def test_a_patient_bar_is_not_shown_for_work_that_is_done_before_its_delay_is_over(
    terminal, monkeypatch
):
    monkeypatch.setattr(progress, "REFRESH_SECONDS", 3600)
    with terminal() as written:
        with progress_bar(delayed=True, total=2, desc="reading") as advance:
            advance()
            advance(description="measuring bm25")
        assert written() == ""


@pytest.mark.usefixtures("refreshed_often")
def test_a_patient_bar_appears_in_the_middle_of_a_long_first_step(terminal):
    with terminal() as written, progress_bar(delayed=True, total=2, desc="reading"):
        wait_until(lambda: "reading" in last_line(written()))


def test_no_bar_is_shown_without_a_terminal_or_when_it_is_switched_off(terminal, capsys):
    with terminal() as written, progress_bar(shown=False, total=2) as advance:
        advance(1, "measuring bm25")
        assert written() == ""
    with progress_bar(total=2) as advance:
        advance(1, "measuring bm25")
    assert capsys.readouterr().err == ""


def test_a_bar_is_shown_in_a_notebook_without_a_warning_when_ipywidgets_is_missing():
    code = """
import sys, types
sys.modules["ipykernel.zmqshell"] = types.ModuleType("ipykernel.zmqshell")
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: None)
sys.modules["ipywidgets"] = None
from beir_eval.core.progress import progress_bar
with progress_bar(total=2, desc="queries") as advance:
    advance(2)
"""
    process = python("-W", "always", "-c", code)
    assert "queries: 100%" in process.stderr
    assert "arning" not in process.stderr


def test_without_tqdm_a_benchmark_runs_and_shows_no_bar(terminal, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    benchmark = Benchmark(
        [demo.FOLDER], {"bm25": demo.RUNS[0]}, folder=tmp_path, measures="MRR", progress=True
    )
    with terminal() as written:
        assert not benchmark.run().failures
        assert written() == ""


@pytest.mark.usefixtures("refreshed_often")
def test_the_bar_of_a_command_names_the_current_run_and_is_gone_afterwards(terminal):
    with terminal() as written:

        class Slow(Evaluator):
            def evaluate(self, run, *, name):
                wait_until(lambda: f"measuring {file_stem(demo.RUNS[0])}" in written())
                return super().evaluate(run, name=name)

        evaluate_files(
            Slow(read_qrels(demo.FOLDER), "MRR"), demo.RUNS[:1], RunReading(), DamagedRuns(1)
        )
        assert last_line(written()) == ""


def test_a_missing_or_closed_stderr_raises_no_error(monkeypatch, tmp_path):
    closed = (tmp_path / "closed").open("w")
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress_bar(total=1) as advance:
            advance()


def test_control_characters_in_a_name_are_replaced(terminal):
    with terminal() as written:
        with progress_bar(total=2) as advance:
            advance(description="run\x1b[2J\nnext")
        assert r"run\x1b[2J\nnext" in written()
        assert "\x1b[2J" not in written()


def test_the_thread_of_the_clock_ends_with_the_bar(terminal, refreshed_often):
    with terminal():
        num_threads = threading.active_count()
        with progress_bar(total=2):
            assert threading.active_count() == num_threads + 1
        assert threading.active_count() == num_threads
