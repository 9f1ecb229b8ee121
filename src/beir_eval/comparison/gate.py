"""Gates for continuous integration and tests: is a system worse than the baseline?"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.comparison.compare import compare
from beir_eval.comparison.coverage import missing_note, warnings_of
from beir_eval.comparison.verdict_sentences import (
    difference_sentence,
    measure_text,
    p_text,
    signed_text,
)
from beir_eval.display.tables import printable_text
from beir_eval.errors import SettingError
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.measures import Measure
from beir_eval.significance import paired_t

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from beir_eval.comparison.records import Difference
    from beir_eval.comparison.result import Comparison
    from beir_eval.measures import MeasureLike

#: How many queries ``assert_no_regression`` lists when it fails.
_WORST_QUERIES = 5
#: With fewer queries that differ, the reason of a check says that they are too few.
_FEW_QUERIES = 10


@dataclass(frozen=True)
class GateCheck:
    """The check of one system against the baseline on one measure.

    Attributes:
        difference: the difference system − baseline, with evidence and verdict.
        passed: whether the system passes the gate.
        reason: the reason, as a sentence.
        warnings: the warnings of the comparison on these two systems; mostly none.
    """

    difference: Difference
    passed: bool
    reason: str
    warnings: tuple[str, ...] = ()


def check_gate(
    comparison: Comparison,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    non_inferior: bool = False,
) -> list[GateCheck]:
    """Return a check of every system against the baseline, on every measure of the gate.

    There are two rules:

    - By default, a system fails if it is significantly worse than the baseline, that is, if its
      verdict is "worse". An undecided difference passes. The p-value of the verdict is corrected
      for all differences of the measure.
    - With ``non_inferior``, a system passes only if it is shown to lose less than the margin: the
      lower bound of the difference is above −margin (if lower is better, the upper bound is below
      the margin), and a one-sided t test rejects a loss of the
      margin or more at the level of the comparison. This takes enough queries. If fewer than 10
      queries differ, the reason says that they are too few. Bound and p are not corrected for
      several systems; p is that of all queries on which these two systems have a score.

    Args:
        comparison: a comparison with a baseline.
        measures: the measures of the gate, one or several, as names in any spelling or ``Measure``
            values; None takes all measures of the comparison.
        non_inferior: whether systems must be shown not to be worse by the margin (True), or must
            only not be shown to be worse (False).

    Returns:
        The checks, by measure, and for each measure in the order of the systems. An empty list for
        empty ``measures``.

    Raises:
        MeasureError: a measure does not exist (UnknownMeasureError), or its parameter or cutoff is
            impossible.
        SettingError: the comparison has no baseline.
        NotEvaluatedError: a measure was not compared.
    """
    if comparison.baseline is None:
        msg = "a gate needs a baseline: compare(results, baseline=…)"
        raise SettingError(msg)
    chosen_measures = comparison.measures if measures is None else _list_measures(measures)
    return [
        replace(
            _check_system(comparison, measure, system, non_inferior=non_inferior),
            warnings=tuple(warnings_of(comparison.coverage, (system, comparison.baseline))),
        )
        for measure in chosen_measures
        for system in comparison.systems
        if system != comparison.baseline
    ]


def _list_measures(measures: Iterable[MeasureLike] | MeasureLike) -> list[MeasureLike]:
    """Return one or several measures as a list, which may be empty."""
    return [measures] if isinstance(measures, (str, Measure)) else list(measures)


def _check_system(
    comparison: Comparison, measure: MeasureLike, system: str, *, non_inferior: bool
) -> GateCheck:
    """Return the check of one system on one measure, by the rule that ``non_inferior`` selects."""
    difference, margin = comparison.difference(measure, system), comparison.settings.margin
    if not non_inferior:
        return GateCheck(
            difference, difference.verdict != "worse", difference_sentence(difference, margin)
        )
    p = _p_of_non_inferiority(comparison, difference)
    is_within = _greatest_loss(difference) < margin
    passed = is_within and p <= comparison.settings.alpha
    num_differing = difference.wins + difference.losses
    few_note = (
        f"; only {num_differing} of {difference.num_queries} queries differ, too few to know how "
        "much others may"
        if num_differing < _FEW_QUERIES
        else ""
    )
    bound = (
        f"the lower bound of {difference.system} − {difference.against} is "
        f"{signed_text(difference.low)}, {'' if is_within else 'not '}above {-margin:g}"
        if difference.higher_is_better
        else f"the upper bound of {difference.system} − {difference.against} is "
        f"{signed_text(difference.high)}, {'' if is_within else 'not '}below {margin:g}"
    )
    measure_name = measure_text(difference.measure, higher_is_better=difference.higher_is_better)
    reason = (
        f"{measure_name}: {bound}; p of a loss of {margin:g} or more "
        f"{p_text(p)} (difference {signed_text(difference.difference)}, {difference.num_queries} "
        f"queries{few_note})"
    )
    return GateCheck(difference, passed, reason)


def _greatest_loss(difference: Difference) -> float:
    """Return the bound of the interval on the side of a loss, as a loss: above 0 if it is one."""
    return -difference.low if difference.higher_is_better else difference.high


def _p_of_non_inferiority(comparison: Comparison, difference: Difference) -> float:
    """Return the p of the one-sided t test that rejects a mean difference of −margin or less.

    The test takes all queries on which these two systems have a score.
    """
    array = comparison.scores[difference.measure].array
    rows = (comparison.systems.index(name) for name in (difference.system, difference.against))
    system_scores, baseline_scores = (array[row] for row in rows)
    differences = (system_scores - baseline_scores)[~np.isnan(system_scores - baseline_scores)]
    gains = differences if difference.higher_is_better else -differences
    return paired_t(gains + comparison.settings.margin, alternative="greater").p


def to_junit(checks: Iterable[GateCheck]) -> str:
    """Return JUnit XML with a test case for each check, which CI services show as test reports.

    Args:
        checks: the checks that ``check_gate`` returns.

    Returns:
        XML as text, without a declaration: a test suite "beir-eval gate", whose test cases hold the
        reason as output or as failure, and the warnings on its two systems as output.
    """
    all_checks = list(checks)
    failures = sum(not check.passed for check in all_checks)
    suite = ET.Element(
        "testsuite", name="beir-eval gate", tests=str(len(all_checks)), failures=str(failures)
    )
    for check in all_checks:
        difference = check.difference
        case = ET.SubElement(
            suite,
            "testcase",
            classname=f"gate.{printable_text(difference.measure)}",
            name=printable_text(f"{difference.system} against {difference.against}"),
        )
        output = [f"warning: {warning}" for warning in check.warnings]
        if check.passed:
            output.append(check.reason)
        else:
            ET.SubElement(case, "failure", message=printable_text(check.reason))
        if output:
            ET.SubElement(case, "system-out").text = "\n".join(map(printable_text, output))
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
    """Raise AssertionError if a system is worse than the baseline, for use in tests.

    The systems are compared on the same queries, with the sign-flip test.

    Args:
        result: the new result, or the path of the file that it was saved in.
        baseline: the result to compare with, or the path of its file.
        measure: the measure, as a name in any spelling or a ``Measure``.
        margin: the smallest difference you consider meaningful, above 0, in the unit of the
            measure. It decides only with ``non_inferior``.
        alpha: the significance level, above 0 and below 0.5.
        non_inferior: False fails only if the result is significantly worse than the baseline. True
            fails unless the result is shown to lose less than the margin: the lower bound of the
            difference is above −margin, and a one-sided t test rejects a loss of the margin or
            more. This takes enough queries.

    Raises:
        AssertionError: the result fails. The message has the warnings on missing queries and ids
            that do not match, the evidence, and up to five queries that lost most.
        ResultError: a file does not hold a saved result, or the results have different settings or
            different qrels. Different qrels are noticed only in results with ``fingerprint=True``.
        FileFormatError, OSError: a file is damaged, or cannot be read.
        QueryMismatchError: the results have different queries.
        NotEvaluatedError: a result does not hold the measure.
        MeasureError: the measure does not exist, is not a mean over queries, or measures what is
            unjudged (Hole, RBP_residual).
        InputError: both results have a score on fewer than two queries.
        SettingError: ``margin`` or ``alpha`` is out of range.
        MissingExtraError: scipy is not installed.

    Warns:
        BeirEvalWarning: the document ids of a system do not match those of the qrels.

    >>> from beir_eval import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(9)}
    >>> old = evaluate(qrels, {query: {"a": 2, "x": 1} for query in qrels}, "MRR", name="old")
    >>> assert_no_regression(old, old, "MRR")
    """
    new, old = (
        source if isinstance(source, EvaluationResult) else EvaluationResult.load(source)
        for source in (result, baseline)
    )
    names = (new.name, old.name) if new.name != old.name else ("result", "baseline")
    comparison = compare(
        dict(zip(names, (new, old), strict=True)),
        names[1],
        measures=measure,
        margin=margin,
        alpha=alpha,
    )
    [check] = check_gate(comparison, non_inferior=non_inferior)
    if not check.passed:
        worst_queries = comparison.regressions(measure, _WORST_QUERIES)
        query_lines = "".join(
            f"\n  {query.query_id}: {query.against:.4f} -> {query.score:.4f} "
            f"({signed_text(query.difference)}{missing_note(query.query_id, new, old)})"
            for query in worst_queries
        )
        first = "".join(f"Warning: {warning}\n" for warning in check.warnings)
        msg = f"{first}{check.reason}\nThe queries that lost most:{query_lines}"
        raise AssertionError(msg)
