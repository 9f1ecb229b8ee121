"""May it ship: a comparison as a gate for continuous integration and for tests."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.comparison.compare import compare
from beir_eval.comparison.tables import p_text, sentence, signed
from beir_eval.display.tables import printable
from beir_eval.errors import SettingError
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.measures import parse
from beir_eval.significance import paired_t

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from beir_eval.comparison.records import Difference
    from beir_eval.comparison.result import Comparison
    from beir_eval.measures import MeasureLike

_WORST_QUERIES = 5
#: Below so many queries that differ, a bound is said to rest on few.
_FEW_QUERIES = 10


@dataclass(frozen=True)
class GateCheck:
    """One system against the baseline on one measure.

    Attributes:
        difference: what the comparison found.
        passed: whether the system may pass.
        reason: why, or why not, in a sentence.
    """

    difference: Difference
    passed: bool
    reason: str


def check_gate(
    comparison: Comparison,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    non_inferior: bool = False,
) -> list[GateCheck]:
    """Check every system against the baseline.

    A system fails when it is significantly worse than the baseline: its verdict is "worse". With
    ``non_inferior`` it fails unless the lower bound of the difference is above −margin, and a
    one-sided t test rejects a loss of the margin or more: then it must have shown that it is not
    worse by the margin, which takes enough queries. Where hardly a query differs neither can know
    how much the others may; the reason says so. Several systems are each checked by themselves.

    Args:
        comparison: one with a baseline.
        measures: the measures of the gate; by default all that were compared.
        non_inferior: which of the two.

    Raises:
        SettingError: the comparison has no baseline.
        NotEvaluatedError: a measure was not compared.
    """
    if comparison.baseline is None:
        msg = "a gate needs a baseline: compare(results, baseline=…)"
        raise SettingError(msg)
    names = comparison.measures if measures is None else _listed(measures)
    return [
        _check(comparison, measure, system, non_inferior=non_inferior)
        for measure in names
        for system in comparison.systems
        if system != comparison.baseline
    ]


def _listed(measures: Iterable[MeasureLike] | MeasureLike) -> list[MeasureLike]:
    if isinstance(measures, str) or not hasattr(measures, "__iter__"):
        return [parse(measures)]
    return [parse(one) for one in measures]


def _check(
    comparison: Comparison, measure: MeasureLike, system: str, *, non_inferior: bool
) -> GateCheck:
    one, margin = comparison.difference(measure, system), comparison.settings.margin
    if not non_inferior:
        return GateCheck(one, one.verdict != "worse", sentence(one, margin))
    p = _p_of_inferiority(comparison, one)
    passed = one.low > -margin and p <= comparison.settings.alpha
    relation = "above" if one.low > -margin else "not above"
    differing = one.wins + one.losses
    few = (
        f"; only {differing} of {one.num_queries} queries differ, too few to know how much others "
        "may"
        if differing < _FEW_QUERIES
        else ""
    )
    reason = (
        f"{one.measure}: the lower bound of {one.system} − {one.against} is {signed(one.low)}, "
        f"{relation} {-margin:g}; p of a loss of {margin:g} or more {p_text(p)} (difference "
        f"{signed(one.difference)}, {one.num_queries} queries{few})"
    )
    return GateCheck(one, passed, reason)


def _p_of_inferiority(comparison: Comparison, one: Difference) -> float:
    """Return the one-sided p of the t test that the mean difference is −margin or less."""
    array = comparison.scores[one.measure].array
    places = (comparison.systems.index(name) for name in (one.system, one.against))
    ours, theirs = (array[place] for place in places)
    differences = (ours - theirs)[~np.isnan(ours - theirs)]
    return paired_t(differences + comparison.settings.margin, alternative="greater").p


def to_junit(checks: Iterable[GateCheck]) -> str:
    """Return checks as JUnit XML, a test case each, for the test reports of a CI service."""
    listed = list(checks)
    failures = sum(not one.passed for one in listed)
    suite = ET.Element(
        "testsuite", name="beir-eval gate", tests=str(len(listed)), failures=str(failures)
    )
    for one in listed:
        found = one.difference
        case = ET.SubElement(
            suite,
            "testcase",
            classname=f"gate.{printable(found.measure)}",
            name=printable(f"{found.system} against {found.against}"),
        )
        if one.passed:
            ET.SubElement(case, "system-out").text = printable(one.reason)
        else:
            ET.SubElement(case, "failure", message=printable(one.reason))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=False) + "\n"


def assert_no_regression(  # noqa: PLR0913 - one keyword a setting
    result: EvaluationResult | str | Path,
    baseline: EvaluationResult | str | Path,
    measure: MeasureLike = "nDCG@10",
    *,
    margin: float = 0.01,
    alpha: float = 0.05,
    non_inferior: bool = False,
) -> None:
    """Fail a test where a system has become worse: for pytest, and for anything with asserts.

    Args:
        result: the new result, or the file that it was saved in.
        baseline: the one to compare with, or its file.
        measure: the measure.
        margin: δ, the smallest difference that matters.
        alpha: the level.
        non_inferior: as ``check_gate``.

    Raises:
        AssertionError: the system fails the gate; the message has the evidence, and the queries
            that lost most.
        BeirEvalError: as ``compare``.

    >>> from beir_eval import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(9)}
    >>> old = evaluate(qrels, {query: {"a": 2, "x": 1} for query in qrels}, "MRR", name="old")
    >>> assert_no_regression(old, old, "MRR")
    """
    new, old = (
        one if isinstance(one, EvaluationResult) else EvaluationResult.load(one)
        for one in (result, baseline)
    )
    names = (new.name, old.name) if new.name != old.name else ("result", "baseline")
    measure = parse(measure)
    comparison = compare(
        dict(zip(names, (new, old), strict=True)),
        names[1],
        measures=measure,
        margin=margin,
        alpha=alpha,
    )
    [check] = check_gate(comparison, non_inferior=non_inferior)
    if not check.passed:
        lost = comparison.regressions(measure, _WORST_QUERIES)
        shown = "".join(
            f"\n  {one.query_id}: {one.against:.4f} -> {one.score:.4f} ({signed(one.difference)})"
            for one in lost
        )
        msg = f"{check.reason}\nThe queries that lost most:{shown}"
        raise AssertionError(msg)
