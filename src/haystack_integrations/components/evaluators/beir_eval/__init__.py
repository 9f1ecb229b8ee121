"""A component for Haystack pipelines that evaluates documents by beir-eval's measures."""

from haystack_integrations.components.evaluators.beir_eval.evaluator import BEIREvaluator

__all__ = ["BEIREvaluator"]
