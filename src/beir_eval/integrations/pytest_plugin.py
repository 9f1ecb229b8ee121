"""A plugin of pytest: the fixture ``retrieval_baseline`` compares results with a saved baseline.

pytest loads this module by its entry point; what evaluates and compares is imported when a test
uses the fixture.

Public: ``RetrievalBaseline``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from beir_eval.evaluation.result import EvaluationResult

__all__ = ["RetrievalBaseline"]

_UPDATE = "--retrieval-baseline-update"
#: The folder of the baselines, beside the test file.
_FOLDER = "retrieval_baselines"


class RetrievalBaseline:
    """Checks that a result is not worse than the one saved by an earlier run of the test.

    Attributes:
        folder: the folder of the saved results, beside the test file.
        test: the name of the test, with its parameters.
        is_updating: whether results are saved instead of checked.
    """

    def __init__(self, folder: Path, test: str, *, is_updating: bool) -> None:
        """Keep where the baselines of a test are."""
        self.folder = folder
        self.test = test
        self.is_updating = is_updating

    def check(
        self, result: EvaluationResult, *measures: Any, name: str = "", **settings: Any
    ) -> None:
        """Fail the test if a result is worse than the baseline.

        Args:
            result: the new result, as ``evaluate`` returns it.
            *measures: the measures to check, ``nDCG@10`` if there is none.
            name: tells several results of one test apart.
            **settings: those of ``assert_no_regression``: ``margin``, ``alpha``, ``non_inferior``,
                ``on``, ``allow_missing``, ``allow_unequal_depth``.

        Raises:
            AssertionError: there is no baseline, or the result is worse; the message has the
                evidence and the queries that lost most.
            BeirEvalError: as ``assert_no_regression``, for results that cannot be compared.
        """
        from beir_eval.comparison.gate import assert_no_regression  # noqa: PLC0415 - when used

        path = self.path(name)
        if self.is_updating:
            path.parent.mkdir(parents=True, exist_ok=True)
            result.save(path)
            return
        if not path.is_file():
            msg = (
                f"there is no baseline {path}; save this result as the baseline with "
                f"pytest {_UPDATE}, and commit the file"
            )
            raise AssertionError(msg)
        for measure in measures or ("nDCG@10",):
            assert_no_regression(result, path, measure, **settings)

    def path(self, name: str = "") -> Path:
        """Return the file of a baseline.

        Args:
            name: as in ``check``.
        """
        # The parameters of a test may hold what no file name can.
        stem = re.sub(r"[^\w.]+", "-", f"{self.test}-{name}" if name else self.test).strip("-.")
        return self.folder / f"{stem}.json.gz"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that saves results."""
    parser.getgroup("beir-eval").addoption(
        _UPDATE,
        action="store_true",
        help="save the results that retrieval_baseline checks as the new baselines",
    )


@pytest.fixture
def retrieval_baseline(request: pytest.FixtureRequest) -> RetrievalBaseline:
    """Compare results with the baselines of this test: ``retrieval_baseline.check(result)``."""
    folder = request.path.parent / _FOLDER / request.path.stem
    return RetrievalBaseline(
        folder, request.node.name, is_updating=request.config.getoption(_UPDATE)
    )
