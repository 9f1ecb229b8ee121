"""The sessions of Spark's tests; no process is left at the end.

A process has one session at a time, so that all tests of a kind of session run in one process, one
after another. The tests are collected in the environment of ``make test-spark`` only, which has
pyspark.
"""

import re
import time
from contextlib import ExitStack
from importlib.util import find_spec

import pytest

import spark_servers
from spark_cases import KINDS

if find_spec("pyspark") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep the tests of a kind of session together (``--dist loadgroup`` needs an older pytest)."""
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415 - where xdist runs

    class OneKindAtATime(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            kinds = re.findall(r"[\[-](local|cluster|connect)(?=[\]-])", nodeid)
            return kinds[0] if kinds else "no session"

    return OneKindAtATime(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Put the tests of each kind of session together."""
    items.sort(key=kind_of)


def kind_of(item):
    """Return the kind of session that a test needs; "" if none."""
    return item.callspec.params.get("started", "") if hasattr(item, "callspec") else ""


class Sessions:
    """The session that runs; another kind of session takes its place."""

    def __init__(self, folder_factory):
        self._folder_factory = folder_factory
        self._kind = self._pair = None
        self._stack = ExitStack()
        self._failures = {}

    def pair_of(self, kind):
        """Return (session, cluster or None) of this kind."""
        if kind in self._failures:  # another attempt would take as long
            raise self._failures[kind]
        if kind != self._kind:
            self.close()
            folder = self._folder_factory.mktemp("servers")
            context = spark_servers.session_of(kind, folder)
            try:
                self._kind, self._pair = kind, self._stack.enter_context(context)
            except Exception as error:
                self._failures[kind] = error
                raise
        return self._pair

    def close(self):
        self._kind = self._pair = None
        self._stack.close()


@pytest.fixture(scope="session")
def sessions(tmp_path_factory):
    sessions = Sessions(tmp_path_factory)
    yield sessions
    sessions.close()


@pytest.fixture(params=KINDS)
def started(request, sessions):
    """(session, cluster or None) of the kind that the parameter names."""
    return sessions.pair_of(request.param)


@pytest.fixture
def session(started):
    return started[0]


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_left_running():
    yield
    deadline = time.monotonic() + 20
    while (left := spark_servers.left_processes()) and time.monotonic() < deadline:
        time.sleep(0.2)
    for pid in left:
        spark_servers.kill(pid)
    assert left == {}, "processes were left running, and have been killed"
