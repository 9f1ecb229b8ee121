"""Spark's tests run against the newest version that installs here."""

import re
from importlib.metadata import version
from pathlib import Path

import spark_servers

spark_servers.skip_without_spark()

ROOT = Path(__file__).parents[2]


def test_spark_is_installed_in_its_newest_version():
    assert version("pyspark") == "4.3.0"


def test_the_constraints_name_versions_only():
    for line in (ROOT / "constraints-spark.txt").read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"#.*|[\w.-]+==[\w.]+", line), line
