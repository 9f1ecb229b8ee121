"""What the report says of the gate, the documents to judge, and the provenance."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, NamedTuple

from beir_eval._version import __version__
from beir_eval.comparison.gate_output import full_reason, gate_outcome
from beir_eval.comparison.verdict_sentences import MARKS_NOTE, RANKS_NOTE
from beir_eval.core.saved import stated_settings
from beir_eval.display.document import Sentence
from beir_eval.display.tables import score_text, table_of
from beir_eval.errors import NotEvaluatedError, RunError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from beir_eval.comparison.records import ComparisonSettings, DocumentToJudge, GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.display.tables import Table
    from beir_eval.evaluation.result import EvaluationResult

_MOST_TO_JUDGE = 10
#: The verdict whose colour an outcome of the gate has.
_GATE_VERDICTS = {"passed": "equivalent", "failed": "worse", "undecided": "undecided"}


def notes_on_tables(baseline: str | None) -> tuple[str, ...]:
    """Return what marks and words in the tables of means and differences say."""
    spread = "standard deviations of the differences between queries"
    return (
        RANKS_NOTE if baseline is None else MARKS_NOTE,
        "margin: the smallest difference you consider meaningful",
        f"effect: d_z, the mean difference in {spread}",
    )


# The gate


class GateSummary(NamedTuple):
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
            Sentence(f"{check.outcome}: {full_reason(check)}", _GATE_VERDICTS[check.outcome])
            for check in checks
        ],
    )


def to_judge_table(comparison: Comparison) -> Table | None:
    """Return a table of the unjudged documents most worth judging; None if there are none."""
    try:
        documents = comparison.documents_to_judge(_MOST_TO_JUDGE)
    except (NotEvaluatedError, RunError):  # a dict of the caller may have changed since
        return None
    if not documents:
        return None
    columns: dict[str, Callable[[DocumentToJudge], str]] = {
        "query": lambda document: document.query_id,
        "document": lambda document: document.doc_id,
        "ranks": lambda document: ", ".join(
            f"{system}: {rank}" for system, rank in document.ranks.items()
        ),
        f"moves {comparison.measures[0]} by": lambda document: score_text(document.total),
    }
    return table_of(documents, columns)


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
