"""The outcome of a gate: as a word, a heading, a document, and JUnit XML."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from beir_eval.comparison.overview import DIFFERENCE, columns_of_means, narrow_tables
from beir_eval.comparison.tables import in_shown_order
from beir_eval.comparison.verdict_sentences import (
    join_names,
    one_digit,
    p_text,
    percent_text,
    signed_range_text,
    signed_text,
)
from beir_eval.display.document import Document, Sentence
from beir_eval.display.tables import Cell, printable_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.comparison.compared import Compared
    from beir_eval.comparison.overview import Columns
    from beir_eval.comparison.records import GateCheck, Outcome
    from beir_eval.display.tables import Table

#: How the note of a passed check begins.
_MISSED = "A true loss of about"
#: The verdict whose colour an outcome has.
_COLOURS = {"passed": "better", "failed": "worse", "undecided": "undecided"}
#: How many queries on which a system loses most are named.
_MOST_QUERIES = 3


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


def gate_document(checks: Sequence[GateCheck], comparison: Compared | None = None) -> Document:
    """Return what a gate shows: its outcomes, its tests, and what they could miss; no warnings.

    Args:
        checks: the checks.
        comparison: the comparison; None for floors of one system.
    """
    tested = [check for check in checks if check.against is not None and check.value is not None]
    measures = list(dict.fromkeys(check.measure for check in tested))
    tables: list[Table] = []
    lost: list[str] = []
    if comparison is not None:
        columns = [
            _columns(comparison, [check for check in checks if check.measure == measure])
            for measure in measures
        ]
        tables = narrow_tables(columns)
        lost = [
            _lost_text(comparison, check, f" ({check.measure})" if len(measures) > 1 else "")
            for check in tested
            if check.outcome == "failed"
        ]
    return Document(
        heading=f"Gate {gate_outcome(checks)}",
        sentences=[
            Sentence(f"gate {check.outcome}: {check.reason}", _COLOURS[check.outcome])
            for check in checks
        ],
        tables=tables,
        notes=[*filter(None, lost), *_notes(tested)],
    )


def full_reason(check: GateCheck) -> str:
    """Return the reason of a check with the numbers that it rests on, and what it could miss."""
    text = check.reason
    if check.against is not None and check.value is not None and check.p is not None:
        interval = ""
        if check.num_differing and check.rule == "not worse":
            ends = signed_range_text(check.low, check.high, " to ")
            interval = f" ({percent_text(check.confidence or 0.0)} interval: {ends})"
        p = f"one-sided p {p_text(check.p)}, level {check.alpha:g}"
        text = f"{text}: {signed_text(check.value)}{interval}, {p}"
    return f"{text}. {check.note[0].upper()}{check.note[1:]}" if check.note else text


def missed_text(loss: float, margin: float) -> str:
    """Return which loss a gate finds, for one that 80% of the gates would fail."""
    return (
        f"{_MISSED} {one_digit(loss)} fails this gate 80% of the time; a smaller one "
        f"less often. non_inferior=True passes only if a loss of {margin:g}, the margin, is ruled "
        "out"
    )


def _columns(comparison: Compared, checks: Sequence[GateCheck]) -> Columns:
    """Return a row for each system, with the test of its check of one measure."""
    of_system = {check.system: check for check in checks if check.against is not None}
    first = next(check for check in of_system.values() if check.value is not None)
    columns = columns_of_means(comparison, first.measure)
    cells: list[tuple[str | Cell, ...]] = []
    for system in in_shown_order(comparison, first.measure):
        check = of_system.get(system)
        signed = interval = p = ""
        if check is not None and check.value is not None and check.p is not None:
            signed, p = signed_text(check.value), p_text(check.p)
            interval = signed_range_text(check.low, check.high) if check.num_differing else ""
        outcome = "" if check is None else Cell(check.outcome, verdict=_COLOURS[check.outcome])
        cells.append((signed, interval, p, outcome or "baseline"))
    signed_texts, intervals, p_texts, outcomes = zip(*cells, strict=True)
    columns[DIFFERENCE] = signed_texts
    if first.rule == "non-inferior":  # the bound is not that of the test
        return columns | {f"p, margin {first.limit:g}": p_texts, "gate": outcomes}
    interval = f"{percent_text(first.confidence or 0.0)} interval"
    return columns | {interval: intervals, "one-sided p": p_texts, "gate": outcomes}


def _lost_text(comparison: Compared, check: GateCheck, measure: str) -> str:
    """Return on which queries a system loses most; "" if it loses on none."""
    worst = comparison.regressions(
        check.measure, _MOST_QUERIES, system=check.system, against=check.against
    )
    queries = join_names([f"{query.query_id} ({query.difference:+.2f})" for query in worst])
    return f"{check.system} loses most on {queries}{measure}." if worst else ""


def gate_beside_verdicts(comparison: Compared) -> Document:
    """Return what the gate of a comparison shows where its verdicts are shown too."""
    document = gate_document(comparison.gate, comparison)
    return replace(document, notes=[*document.notes, *_two_sided_notes(comparison)])


def _two_sided_notes(comparison: Compared) -> Iterator[str]:
    """Yield why the verdict on a pair is undecided though the gate fails it."""
    failed = {
        (check.measure, check.system)
        for check in comparison.gate
        if check.outcome == "failed" and check.rule == "not worse"
    }
    for pair in comparison.differences:
        if pair.verdict == "undecided" and (pair.measure, pair.system) in failed:
            sides = "two-sided" if pair.p == pair.p_corrected else "two-sided and corrected"
            yield (
                f"The verdict on {pair.system} ({pair.measure}) is undecided because its test is "
                f"{sides} (p {p_text(pair.p_corrected)})."
            )


def _notes(checks: Sequence[GateCheck]) -> Iterator[str]:
    """Yield what the checks could miss, the largest loss of all that is known."""
    missed = [check for check in checks if check.note.startswith(_MISSED)]
    if missed:
        yield f"{max(missed, key=lambda check: check.detectable or 0.0).note}."
    for check in checks:
        if check.note and check not in missed:
            yield f"{check.system}: {check.note}."


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
            output.append(full_reason(check))
        else:
            tag = "failure" if check.outcome == "failed" else "error"
            problem = ET.SubElement(case, tag, message=printable_text(full_reason(check)))
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
