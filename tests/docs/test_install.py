"""``scripts/install.py``: uv gets what pip knows, and pip installs where uv cannot do the same."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts/install.py"
_spec = importlib.util.spec_from_file_location("install", SCRIPT)
install = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(install)


pytestmark = pytest.mark.peers  # pip, which has its settings


@pytest.fixture
def uv(monkeypatch, tmp_path):
    """Return a function that puts a program named uv on the path; its arguments are in a file."""

    def make(script):
        program = tmp_path / "bin" / "uv"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n{script}\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
        return tmp_path / "calls"

    return make


@pytest.fixture
def pip_calls(monkeypatch):
    """Return the list of arguments that pip gets instead of being run."""
    calls = []
    monkeypatch.delenv("BEIR_EVAL_INSTALLER", raising=False)
    monkeypatch.setattr(install, "install_by_pip", lambda _, arguments: calls.append(arguments))
    return calls


@pytest.mark.skipif(sys.platform == "win32", reason="a script of the shell")
def test_uv_installs_what_it_has_planned_and_can_lock_the_environment(uv, pip_calls, tmp_path):
    calls = uv(
        f"flock --nonblock {tmp_path}/environment/.lock true || exit 1\necho ' + numpy==2.4.6' >&2"
    )
    install.install(tmp_path / "environment", ["numpy"])
    planned, done = calls.read_text().splitlines()
    assert planned == f"{done} --dry-run"
    assert done.endswith(" numpy")
    assert pip_calls == []


@pytest.mark.skipif(sys.platform == "win32", reason="a script of the shell")
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo ' + nvidia-cublas==13.1.1.3' >&2", "graphics cards, with nvidia-cublas==13.1.1.3"),
        ("echo 'no such index' >&2; exit 2", "no such index"),
    ],
)
def test_pip_installs_where_uv_fails_or_would_take_another_build_of_torch(
    script, reason, *, uv, pip_calls, tmp_path, capsys
):
    calls = uv(script)
    install.install(tmp_path / "environment", ["torch"])
    assert pip_calls == [["torch"]]
    assert reason in capsys.readouterr().err
    assert calls.read_text().count("\n") == 1  # nothing was installed by uv
