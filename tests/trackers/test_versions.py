"""The tests of trackers run against the newest versions that install here, without torch."""

import re
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NEWEST = {
    "huggingface_hub": "2.4.0",
    "mlflow": "3.17.2",
    "tensorboard": "2.21.0",
    "trackio": "0.43.0",
    "wandb": "0.31.0",
}


@pytest.mark.parametrize("package", NEWEST)
def test_a_tracker_is_installed_in_its_newest_version(package):
    assert version(package) == NEWEST[package]


@pytest.mark.parametrize("package", ["torch", "beir"])
def test_no_package_of_training_is_installed(package):
    assert find_spec(package) is None


def test_the_constraints_name_versions_only():
    for line in (ROOT / "constraints-trackers.txt").read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"#.*|[\w.-]+==[\w.]+", line), line
