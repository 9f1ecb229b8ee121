"""Where nothing may be skipped, a test or a file that skips itself fails the run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SKIPPED = {
    "a file": "import pytest\npytest.importorskip('no_such_module')\ndef test_a(): pass\n",
    "a test": "import pytest\ndef test_a(): pytest.skip('no program')\n",
}


def exit_code_and_output(folder, **environment):
    """Return what pytest says of the tests in a folder, with the settings of all tests."""
    shutil.copy(TESTS / "conftest.py", folder)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", folder, "-c", os.devnull]
    variables = {name: os.environ[name] for name in os.environ if name != "BEIR_EVAL_NO_SKIPS"}
    variables |= {"PYTHONPATH": str(TESTS / "support")} | environment
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=variables)
    return done.returncode, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("what", SKIPPED)
def test_what_is_skipped_fails_only_where_nothing_may_be_skipped(what, tmp_path):
    (tmp_path / "test_skipped.py").write_text(SKIPPED[what])
    (tmp_path / "test_passing.py").write_text("def test_b(): pass\n")
    code, printed = exit_code_and_output(tmp_path)
    assert code == 0
    assert "1 passed, 1 skipped" in printed
    code, printed = exit_code_and_output(tmp_path, BEIR_EVAL_NO_SKIPS="1")
    assert code != 0
    assert "skipped where nothing may be skipped" in printed
