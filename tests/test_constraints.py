"""The constraints files name versions only, and agree with each other."""

import re
from itertools import combinations

import pytest

from pins import ROOT, normalised, pins_of

FILES = sorted(path.name for path in ROOT.glob("constraints*.txt"))
#: Those with the newest versions that install together.
NEWEST = [file for file in FILES if file != "constraints-lowest.txt"]


@pytest.mark.parametrize("file", FILES)
def test_a_constraints_file_names_versions_only(file):
    for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"#.*|--constraint constraints\.txt|[\w.-]+==[\w.]+(  #.+)?", line), (
            line
        )
    assert pins_of(file)


@pytest.mark.parametrize(("first", "second"), [*combinations(NEWEST, 2)])
def test_environments_have_the_same_version_of_a_package_unless_a_comment_names_it(first, second):
    comments = re.findall(
        r"(?m)^#.*", "\n".join((ROOT / file).read_text() for file in (first, second))
    )
    excused = {normalised(word) for word in re.findall(r"[\w-]+", " ".join(comments))}
    pins, others = pins_of(first), pins_of(second)
    differing = {package for package in pins.keys() & others if pins[package] != others[package]}
    assert differing <= excused
