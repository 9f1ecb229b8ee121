"""The constraints files name versions only."""

import re

import pytest

from pins import ROOT, pins_of


@pytest.mark.parametrize("file", ["constraints.txt", "constraints-lowest.txt"])
def test_a_constraints_file_names_versions_only(file):
    for line in (ROOT / file).read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"#.*|[\w.-]+==[\w.]+(  #.+)?", line), line
    assert pins_of(file)
