"""The tests of trackers run with the versions that the constraints file names, without torch."""

from importlib.metadata import version
from importlib.util import find_spec

import pytest

from pins import deviations, pins_of

FILE = "constraints-trackers.txt"
TRACKERS = ["huggingface-hub", "mlflow", "tensorboard", "trackio", "wandb"]


@pytest.mark.parametrize("package", TRACKERS)
def test_a_tracker_is_installed_in_the_version_of_the_constraints(package):
    assert version(package) == pins_of(FILE)[package]


def test_every_pinned_package_is_installed_in_the_version_of_the_constraints():
    assert deviations(FILE) == {}


@pytest.mark.parametrize("package", ["torch", "beir"])
def test_no_package_of_training_is_installed(package):
    assert find_spec(package) is None
