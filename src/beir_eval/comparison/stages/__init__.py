"""Stages of a search pipeline: which of them lost the relevant documents, and which is worth it.

Inside: ``evaluate_stages`` (the function), ``account`` (which stage passes documents to which, and
where relevant ones are lost), ``result`` (the class returned).

Public: ``evaluate_stages``, ``StagedResult``, ``Stage``, ``Loss``, ``ComponentSeconds``.
"""

from beir_eval.comparison.stages.evaluate_stages import evaluate_stages
from beir_eval.comparison.stages.result import ComponentSeconds, Loss, Stage, StagedResult

__all__ = ["ComponentSeconds", "Loss", "Stage", "StagedResult", "evaluate_stages"]
