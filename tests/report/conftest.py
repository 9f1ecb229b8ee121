"""The comparison of the bundled runs, for the tests of its report."""

import pytest

from report_cases import bundled


@pytest.fixture(scope="module")
def comparison_and_texts():
    return bundled()


@pytest.fixture
def comparison(comparison_and_texts):
    return comparison_and_texts[0]


@pytest.fixture
def texts(comparison_and_texts):
    return comparison_and_texts[1]
