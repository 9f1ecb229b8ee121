"""Settings of all tests: the folder of real data, the Hypothesis profiles, no skips in CI."""

import json
import math
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from windows_locks import WindowsLocks

settings.register_profile(
    "default", deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow]
)
# For `make test-slow`, which looks for rarer cases, and for CI, which runs each property once.
settings.register_profile("many", settings.get_profile("default"), max_examples=150)
settings.register_profile("ci", settings.get_profile("default"), max_examples=50)
# For tests of mutants, recipes and other versions, which need a failing example, not the smallest.
settings.register_profile(
    "few",
    settings.get_profile("default"),
    max_examples=30,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
)
settings.load_profile(os.environ.get("BEIR_EVAL_HYPOTHESIS", "default"))

NO_SKIPS = bool(os.environ.get("BEIR_EVAL_NO_SKIPS"))
#: `make test-all` writes the seconds of each test here; other versions leave the dearer ones out.
SECONDS = Path(__file__).parents[1] / ".pytest_cache" / "seconds.json"
WRITES_SECONDS = os.environ.get("BEIR_EVAL_HYPOTHESIS") == "ci"
QUICKER_THAN = float(os.environ.get("BEIR_EVAL_QUICKER_THAN", "inf"))
_seconds: dict[str, float] = {}


def pytest_runtest_logreport(report):
    """Add the seconds of a test's set-up, call or end to those of the test."""
    _seconds[report.nodeid] = _seconds.get(report.nodeid, 0.0) + report.duration


def pytest_sessionfinish(session):
    """Write the seconds of all tests, in the process that starts those of xdist."""
    if WRITES_SECONDS and not hasattr(session.config, "workerinput"):
        SECONDS.parent.mkdir(exist_ok=True)
        SECONDS.write_text(json.dumps(_seconds))


def is_quick(item, seconds):
    """Return whether a test took less time than asked for, or compares recorded values."""
    return (
        item.get_closest_marker("recorded_values") is not None
        or seconds.get(item.nodeid, 0.0) < QUICKER_THAN
    )


@pytest.fixture(scope="session")
def realdata() -> Path:
    """The folder of real qrels and runs, named by BEIR_EVAL_REALDATA."""
    folder = os.environ.get("BEIR_EVAL_REALDATA")
    if not folder:
        pytest.skip("BEIR_EVAL_REALDATA does not name the folder of real data")
    return Path(folder)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Mark the tests that read real data, so that ``-m`` can leave them out.

    Where nothing may be skipped and there is no real data, as on GitHub, they are left out.
    """
    for item in items:
        if "realdata" in getattr(item, "fixturenames", ()):
            item.add_marker("realdata")
    if math.inf > QUICKER_THAN and SECONDS.exists():
        seconds = json.loads(SECONDS.read_text())
        config.hook.pytest_deselected(items=[item for item in items if not is_quick(item, seconds)])
        items[:] = [item for item in items if is_quick(item, seconds)]
    if NO_SKIPS and not os.environ.get("BEIR_EVAL_REALDATA"):
        left_out = [item for item in items if item.get_closest_marker("realdata")]
        items[:] = [item for item in items if not item.get_closest_marker("realdata")]
        config.hook.pytest_deselected(items=left_out)


def failed_if_skipped(report):
    """Return a report, as a failure if nothing may be skipped and it says that this was."""
    if NO_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be skipped: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Report a skipped test as failed if BEIR_EVAL_NO_SKIPS is set."""
    return failed_if_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Report a file that skips itself as failed if BEIR_EVAL_NO_SKIPS is set."""
    return failed_if_skipped((yield))


@pytest.fixture
def windows_locks(monkeypatch):
    """Replace the file locks of this platform with those of Windows, and return these."""
    locks = WindowsLocks()
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", locks)
    return locks


@pytest.fixture(params=["this platform", "Windows"])
def locks_of_each_platform(request):
    """Run the test with the file locks of this platform, then with those of Windows."""
    if request.param == "Windows":
        request.getfixturevalue("windows_locks")
