"""The versions that the constraints files pin, and those that are installed."""

import re
from importlib.metadata import distributions
from pathlib import Path

from packaging.version import Version

ROOT = Path(__file__).parents[2]


def pins_of(file):
    """Return {package: version} of a constraints file."""
    pins = {}
    for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
        if pin := re.match(r"([\w.-]+)==([\w.]+)", line):
            pins[normalised(pin[1])] = pin[2]
    return pins


def normalised(package):
    """Return a package's name as package registries compare names."""
    return re.sub(r"[-_.]+", "-", package).lower()


def deviations(file):
    """Return {package: (installed version, pinned version)} of the packages where they differ."""
    pins = pins_of(file)
    return {
        name: (installed.version, pins[name])
        for installed in distributions()
        if (name := normalised(installed.name)) in pins
        and Version(installed.version).public != Version(pins[name]).public
    }
