"""Spark's tests run with the versions that the constraints file names."""

import spark_servers
from pins import deviations

spark_servers.skip_without_java()

FILE = "constraints.txt"


def test_every_pinned_package_is_installed_in_the_version_of_the_constraints():
    assert deviations(FILE) == {}
