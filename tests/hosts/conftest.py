"""Collect these tests in the environment of ``make test`` only, which has every host."""

from importlib.util import find_spec

if find_spec("accelerate") is None:
    collect_ignore_glob = ["test_*.py"]
