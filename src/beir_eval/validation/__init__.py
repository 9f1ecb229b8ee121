"""Validation of qrels, runs, corpus and queries before anything is evaluated.

Inside: ``validate`` (the function), which returns a ``Validation`` (in ``result``, with its
record of inputs); ``inputs`` (reading, so that what is suspicious stays
visible); the checks in ``qrels_checks``, ``run_checks`` and ``dataset_checks``.

Public: ``validate``, ``Validation``, ``Finding``, ``InputSummary``.
"""

from beir_eval.inspection.finding import Finding
from beir_eval.validation.result import InputSummary, Validation
from beir_eval.validation.validate import validate

__all__ = [
    "Finding",
    "InputSummary",
    "Validation",
    "validate",
]
