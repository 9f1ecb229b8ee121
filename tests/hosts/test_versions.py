"""The tests of hosts run with the versions that the constraints file names."""

from importlib.metadata import version

import pytest

from pins import deviations, pins_of

FILE = "constraints.txt"
HOSTS = [
    "accelerate",
    "ir-measures",
    "mteb",
    "pyterrier",
    "sentence-transformers",
]


@pytest.mark.parametrize("package", HOSTS)
def test_a_host_is_installed_in_the_version_of_the_constraints(package):
    assert version(package) == pins_of(FILE)[package]


def test_every_pinned_package_is_installed_in_the_version_of_the_constraints():
    assert deviations(FILE) == {}
