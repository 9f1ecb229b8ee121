"""The tests of hosts run against the newest versions that install here."""

import re
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEWEST = {
    "accelerate": "1.15.0",
    "ir-datasets": "0.6.3",
    "ir-measures": "0.4.3",
    "langchain-core": "1.7.2",  # 1.8.2 needs a version of certifi that is not served
    "llama-index-core": "0.14.25",
    "mteb": "2.26.24",
    "pyterrier": "1.1.2",
    "sentence-transformers": "6.2.0",
    "tensorboard": "2.21.0",
}


@pytest.mark.parametrize("package", NEWEST)
def test_a_host_is_installed_in_its_newest_version(package):
    assert version(package) == NEWEST[package]


def test_the_constraints_name_versions_only():
    for line in (ROOT / "constraints-hosts.txt").read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"#.*|--constraint constraints\.txt|[\w.-]+==[\w.]+", line), line
