"""Validation of qrels, runs, corpus and queries before anything is evaluated.

Inside: ``validate`` (the function), which returns a ``Validation`` (in ``result``, with its
records and the codes of all findings); ``inputs`` (reading, so that what is suspicious stays
visible); the checks in ``qrels_checks``, ``run_checks`` and ``dataset_checks``.

Public: ``validate``, ``Validation``, ``Finding``, ``InputSummary``, ``FindingCode``,
``FINDING_CODES``.
"""

from beir_eval.inspection.finding import Finding, FindingCode
from beir_eval.validation.result import FINDING_CODES, InputSummary, Validation
from beir_eval.validation.validate import validate

__all__ = [
    "FINDING_CODES",
    "Finding",
    "FindingCode",
    "InputSummary",
    "Validation",
    "validate",
]
