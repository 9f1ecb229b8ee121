"""Components for Haystack pipelines that evaluate documents and answers by beir-eval's measures."""

from haystack_integrations.components.evaluators.beir_eval.answers import BEIRAnswerEvaluator
from haystack_integrations.components.evaluators.beir_eval.evaluator import BEIREvaluator

__all__ = ["BEIRAnswerEvaluator", "BEIREvaluator"]
