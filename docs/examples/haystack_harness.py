"""An evaluator of Haystack's harness (agent-pack-haystack 1.0) with the measures of beir-eval."""

from __future__ import annotations

from typing import Any

from haystack.core.serialization import generate_qualified_class_name
from haystack_integrations.agent_pack.evaluation import EvalMetrics

from beir_eval import load_dataset
from beir_eval.integrations.haystack import PipelineRetriever, evaluate_pipeline


class BEIRHarnessEvaluator:
    """Measures a pipeline on a split of a data set; the questions are those of the split."""

    def __init__(self, dataset: Any, split: str, measures: tuple[str, ...] = ("nDCG@10",)) -> None:
        """Keep the names; the first measure is the score."""
        self.dataset, self.split, self.measures = str(dataset), split, list(measures)

    def evaluate(self, target: Any, eval_cases: Any = ()) -> EvalMetrics:  # noqa: ARG002
        """Return the scores of every question."""
        questions = load_dataset(self.dataset, self.split)
        result = evaluate_pipeline(questions, target, measures=self.measures, progress=False)
        main = self.measures[0]
        return EvalMetrics(
            durations=[result.retrieval.seconds[query] for query in result.query_ids],
            all_tokens_reported=True,  # no model is called; else the gate refuses all
            eval_cases=[
                {"question": query, "passed": scores[main] > 0, **scores}
                for query, scores in result.per_query.items()
            ],
            details={"score": result[main], "means": result.aggregate, "notes": result.notes()},
        )

    async def evaluate_async(self, target: Any, eval_cases: Any = ()) -> EvalMetrics:
        """Return the same."""
        return self.evaluate(target, eval_cases)

    def validate(self, target: Any) -> None:
        """Say in an error what takes the query, or what the ranking may be."""
        PipelineRetriever(target)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``from_dict`` takes."""
        data = {"dataset": self.dataset, "split": self.split, "measures": self.measures}
        return {"type": generate_qualified_class_name(type(self)), "init_parameters": data}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> BEIRHarnessEvaluator:
        """Return the evaluator of this dict."""
        return cls(**data["init_parameters"])
