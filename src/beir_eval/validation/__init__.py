"""Validation of qrels, runs, corpus and queries before anything is evaluated.

Inside: ``validate`` (the function), which returns a ``Validation`` (in ``result``) of the records
in ``records``; ``codes`` (the table of all findings); ``inputs`` (reading, so that what is
suspicious stays visible); the checks in ``qrels_checks``, ``run_checks`` and ``dataset_checks``;
``encodings`` and ``spellings`` (of ids).

Public: ``validate``, ``Validation``, ``Finding``, ``InputSummary``, ``FindingCode``,
``FINDING_CODES``.
"""

from beir_eval.validation.codes import FINDING_CODES, FindingCode
from beir_eval.validation.records import Finding, InputSummary
from beir_eval.validation.result import Validation
from beir_eval.validation.validate import validate

__all__ = [
    "FINDING_CODES",
    "Finding",
    "FindingCode",
    "InputSummary",
    "Validation",
    "validate",
]
