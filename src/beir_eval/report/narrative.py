"""The sentences of the report: headline, evidence, gate, documents to judge, provenance."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING

from beir_eval._version import __version__
from beir_eval.comparison.gate_output import gate_outcome
from beir_eval.comparison.headlines import MOST_NAMED, headline
from beir_eval.comparison.verdict_sentences import difference_sentence
from beir_eval.core.saved import stated_settings
from beir_eval.display.document import Sentence
from beir_eval.display.tables import Table, score_text
from beir_eval.errors import NotEvaluatedError, RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.comparison.records import ComparisonSettings, GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.evaluation.result import EvaluationResult

_MOST_TO_JUDGE = 10
#: How many cautions are not folded.
_MOST_CAUTIONS = 2
#: The verdict whose colour an outcome of the gate has.
_GATE_VERDICTS = {"passed": "equivalent", "failed": "worse", "undecided": "undecided"}
#: Explanations of words in the tables.
DIFFERENCE_NOTES = (
    "margin: the smallest difference you consider meaningful",
    "effect: d_z, the mean difference in standard deviations of the differences between queries",
)


# The verdict


def headline_of_report(comparison: Comparison) -> Sentence:
    """Return the verdicts on the first measure in one sentence.

    It has the colour of "undecided" if verdicts are other over the queries that all systems have.
    """
    sentence, on_common = headline(comparison), comparison.on_common_queries
    if on_common is None:
        return sentence
    over_all, over_common = (
        [pair.verdict for pair in differences if pair.measure == comparison.measures[0]]
        for differences in (comparison.differences, on_common.differences)
    )
    verdict = sentence.verdict if over_all == over_common else "undecided"
    return Sentence(sentence.text, verdict)


@dataclass(frozen=True)
class Evidence:
    """The sentences behind the headline.

    Attributes:
        first: the verdicts on the first measure, shown; empty if there are too many of them.
        first_cautions: the first cautions, shown.
        rest: the other verdicts, folded.
        rest_cautions: the other cautions, folded.
    """

    first: list[Sentence]
    first_cautions: list[str]
    rest: list[Sentence]
    rest_cautions: list[str]


def evidence(comparison: Comparison, cautions: list[str]) -> Evidence:
    """Return every verdict as a sentence, and the cautions."""
    margin, first_measure = comparison.settings.margin, comparison.measures[0]
    verdicts = [
        (
            difference.measure,
            Sentence(difference_sentence(difference, margin), difference.verdict),
        )
        for difference in comparison.differences
    ]
    first = [verdict for measure, verdict in verdicts if measure == first_measure]
    if len(first) > MOST_NAMED:
        return Evidence([], [], [verdict for _, verdict in verdicts], cautions)
    rest = [verdict for measure, verdict in verdicts if measure != first_measure]
    return Evidence(first, cautions[:_MOST_CAUTIONS], rest, cautions[_MOST_CAUTIONS:])


def interval_notes(comparison: Comparison) -> list[str]:
    """Return why an interval excludes 0 although the verdict is "undecided", if one does."""
    beside = [
        difference
        for difference in comparison.differences
        if difference.verdict == "undecided" and not difference.low <= 0 <= difference.high
    ]
    if not beside:
        return []
    names = ", ".join(
        f"{difference.system} − {difference.against} on {difference.measure}"
        for difference in beside[:MOST_NAMED]
    )
    more = f" and {len(beside) - MOST_NAMED} more" if beside[MOST_NAMED:] else ""
    sentence = (
        f"{names}{more}: the interval excludes 0, but the verdict is undecided. The verdict "
        "follows the corrected p of the test; this interval is of another method, or not corrected "
        "in the same way"
    )
    return [sentence]


@dataclass(frozen=True)
class GateSummary:
    """The outcome of the gate as a heading, and a sentence for each check."""

    heading: Sentence
    checks: list[Sentence]


def gate(checks: Sequence[GateCheck]) -> GateSummary | None:
    """Return the outcome of the gate; None if the comparison has none."""
    if not checks:
        return None
    outcome = gate_outcome(checks)
    return GateSummary(
        Sentence(f"Gate {outcome}", _GATE_VERDICTS[outcome]),
        [
            Sentence(f"{check.outcome}: {check.reason}", _GATE_VERDICTS[check.outcome])
            for check in checks
        ],
    )


def to_judge_table(comparison: Comparison) -> Table | None:
    """Return a table of the unjudged documents most worth judging; None if there are none."""
    try:
        documents = comparison.documents_to_judge(_MOST_TO_JUDGE)
    except (NotEvaluatedError, RunError):  # a dict of the caller may have changed since
        return None
    rows = [
        (
            document.query_id,
            document.doc_id,
            ", ".join(f"{system}: {rank}" for system, rank in document.ranks.items()),
            score_text(document.total),
        )
        for document in documents
    ]
    if not rows:
        return None
    return Table(("query", "document", "ranks", f"moves {comparison.measures[0]} by"), rows)


# Provenance


def provenance_rows(
    results: Sequence[EvaluationResult], comparison: Comparison | None
) -> list[tuple[str, str]]:
    """Return (label, value) of what is needed to reproduce the numbers: hashes and settings."""
    now = dt.datetime.now(dt.UTC)
    rows = [("written", f"{now:%Y-%m-%d %H:%M} UTC by beir-eval {__version__}")]
    for label, field in (
        ("qrels, SHA-256", "qrels_sha256"),
        ("package of the results", "package_version"),
    ):
        values = dict.fromkeys(getattr(result.provenance, field) for result in results)
        rows += [(label, ", ".join(value for value in values if value))] if any(values) else []
    rows += [
        (f"run {result.name}, SHA-256", result.provenance.run_sha256)
        for result in results
        if result.provenance.run_sha256
    ]
    evaluation_settings = dict.fromkeys(
        _settings_text(result.settings) for result in results if result.settings is not None
    )
    rows += [("evaluation", settings) for settings in evaluation_settings]
    elsewhere = dict.fromkeys(result.name for result in results if result.settings is None)
    if elsewhere:
        rows.append(("scores computed elsewhere", ", ".join(elsewhere)))
    if comparison is not None:
        text = f"baseline={comparison.baseline}, {_settings_text(comparison.settings)}"
        rows.append(("comparison", text))
    return rows


def _settings_text(settings: EvaluationSettings | ComparisonSettings) -> str:
    return ", ".join(f"{name}={value}" for name, value in stated_settings(settings).items())
