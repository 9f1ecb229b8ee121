"""Evaluators for Haystack pipelines: the measures of beir-eval as components."""

from haystack_integrations.components.evaluators.beir_eval.answers import BEIRAnswerEvaluator
from haystack_integrations.components.evaluators.beir_eval.evaluator import BEIREvaluator

__all__ = ["BEIRAnswerEvaluator", "BEIREvaluator"]
