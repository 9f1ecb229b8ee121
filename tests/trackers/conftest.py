"""Collect these tests in the environment of ``make test-trackers`` only, which has all trackers."""

from importlib.util import find_spec

if find_spec("trackio") is None:
    collect_ignore_glob = ["test_*.py"]
