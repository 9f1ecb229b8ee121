"""The outcome of a gate: as a word, a heading, a document, and JUnit XML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.comparison.verdict_sentences import p_text
from beir_eval.display.document import Document, Sentence
from beir_eval.display.tables import printable_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from beir_eval.comparison.records import Difference, GateCheck, Outcome


def gate_outcome(checks: Iterable[GateCheck]) -> Outcome:
    """Return the outcome of several checks: "failed" before "undecided" before "passed"."""
    outcomes = {check.outcome for check in checks}
    if "failed" in outcomes:
        return "failed"
    return "undecided" if "undecided" in outcomes else "passed"


def lost_most_lines(check: GateCheck) -> list[str]:
    """Return the lines below the reason of a check: the queries that lost most, if any."""
    if not check.lost_most:
        return []
    return ["The queries that lost most:", *(f"  {query}" for query in check.lost_most)]


def gate_reason(check: GateCheck, differences: Iterable[Difference]) -> str:
    """Return the reason of a check, and why the verdict on the same pair is another one.

    Args:
        check: the check.
        differences: the differences of the comparison.
    """
    if check.outcome != "failed" or check.rule != "not worse":
        return check.reason
    for pair in differences:
        if (pair.measure, pair.system, pair.verdict) == (check.measure, check.system, "undecided"):
            sides = "two-sided" if pair.p == pair.p_corrected else "two-sided and corrected"
            p = p_text(pair.p_corrected)
            return f"{check.reason}. The verdict is undecided because its test is {sides} (p {p})"
    return check.reason


def gate_document(checks: Sequence[GateCheck], differences: Sequence[Difference] = ()) -> Document:
    """Return what a gate shows: its outcome, and the reason of every check; no warnings.

    Args:
        checks: the checks.
        differences: the differences of the comparison, whose verdicts can be others.
    """
    sentences = []
    for check in checks:
        queries = "; ".join(check.lost_most)
        lost = f". The queries that lost most: {queries}" if queries else ""
        reason = f"{gate_reason(check, differences)}{lost}"
        sentences.append(Sentence(f"{check.outcome}: {reason}"))
    return Document(heading=f"Gate {gate_outcome(checks)}", sentences=sentences)


def to_junit(checks: Iterable[GateCheck]) -> str:
    """Return JUnit XML with a test case for each check, which CI services show as test reports.

    Args:
        checks: the checks that ``check_gate`` returns.

    Returns:
        XML as text, without a declaration: a test suite "beir-eval gate", whose test cases hold the
        reason as output, as a failure with the queries that lost most, or as an error if the check
        is undecided; and the warnings on its systems as output.
    """
    import xml.etree.ElementTree as ET  # noqa: PLC0415 - few comparisons write JUnit

    all_checks = list(checks)
    counts = {
        attribute: str(sum(check.outcome == outcome for check in all_checks))
        for attribute, outcome in (("failures", "failed"), ("errors", "undecided"))
    }
    attributes = {"name": "beir-eval gate", "tests": str(len(all_checks)), **counts}
    suite = ET.Element("testsuite", attributes)
    for check in all_checks:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=f"gate.{printable_text(check.measure)}",
            name=printable_text(_case_name(check)),
        )
        output = [f"warning: {warning}" for warning in check.warnings]
        if check.passed:
            output.append(check.reason)
        else:
            tag = "failure" if check.outcome == "failed" else "error"
            problem = ET.SubElement(case, tag, message=printable_text(check.reason))
            problem.text = "\n".join(map(printable_text, lost_most_lines(check))) or None
        if output:
            ET.SubElement(case, "system-out").text = "\n".join(map(printable_text, output))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=False) + "\n"


def _case_name(check: GateCheck) -> str:
    """Return the name of a check's test case, different for each check of a gate."""
    if check.against is None:
        return f"{check.system} against the floor {check.limit:g}"
    return f"{check.system} against {check.against}"
