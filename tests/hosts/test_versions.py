"""The tests of hosts run with the versions that the constraints file names."""

from pins import deviations

FILE = "constraints.txt"


def test_every_pinned_package_is_installed_in_the_version_of_the_constraints():
    assert deviations(FILE) == {}
