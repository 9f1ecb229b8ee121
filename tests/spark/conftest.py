"""The sessions of Spark's tests; no process is left at the end.

A process has one session at a time, so that all tests of a kind of session are in one group. The
tests are collected in the environment of ``make test-spark`` only, which has pyspark.
"""

import time
from importlib.util import find_spec

import pytest

import spark_servers
from spark_cases import SESSIONS

if find_spec("pyspark") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session", params=SESSIONS)
def started(request, tmp_path_factory):
    """(session, cluster or None) of the kind that the parameter names."""
    folder = tmp_path_factory.mktemp("servers")
    with spark_servers.session_of(request.param.partition(" ")[0], folder) as pair:
        yield pair


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
