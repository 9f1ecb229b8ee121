"""The verdicts of ``beir-eval haystack``, checked before anything runs: comparison, gate, stages.

What only this command needs is imported when it runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from beir_eval.comparison.records import ComparisonSettings
from beir_eval.core.run import Run
from beir_eval.evaluation.coverage import with_counts
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning
from beir_eval.evaluation.inputs import drops_identical_ids
from beir_eval.inspection.finding import QRELS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from beir_eval.cli.comparison_options import GateOptions
    from beir_eval.cli.haystack_runs import EvaluatedPipelines, PipelineRuns
    from beir_eval.comparison.records import GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.stages import StagedResult
    from beir_eval.core.qrels import Qrels
    from beir_eval.datasets.dataset import Dataset
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.integrations.haystack.retriever import PipelineRetriever
    from beir_eval.integrations.retrieval.run_queries import Retrieved
    from beir_eval.measures import Measure


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """What the command evaluates, compares, checks and records.

    Attributes:
        data: the data set.
        limit: how many of its queries; None for all.
        runs: the runs to make of each pipeline.
        measures: what is evaluated.
        settings: the keywords of ``compare``.
        gate: the gate.
    """

    data: Dataset
    limit: int | None
    runs: list[PipelineRuns]
    measures: tuple[Measure, ...]
    settings: dict[str, Any]
    gate: GateOptions

    @property
    def _qrels(self) -> Qrels:
        """The judgements of the queries that are evaluated."""
        from beir_eval.integrations.retrieval.evaluate_dataset import (  # noqa: PLC0415
            evaluated_judgements,
        )

        return evaluated_judgements(self.data, self.limit, "the pipeline")

    def check_ahead(self, *, stages: bool) -> None:
        """Raise what comparison, gate and stages would raise, before a pipeline is run.

        Each pipeline is taken to retrieve the judged documents; what such a run looks like is not
        said.

        Args:
            stages: whether stages are asked for.
        """
        if stages:
            from beir_eval.comparison.stages.evaluate_stages import (  # noqa: PLC0415
                stage_measures,
            )

            stage_measures(self.settings["measures"], None)
        from beir_eval.comparison import compare  # noqa: PLC0415

        qrels = self._qrels.select(self._qrels.query_ids)
        qrels.ranks = "documents"  # also if they are of text: the run is made of the judgements
        drops = drops_identical_ids(self.data)
        evaluator = Evaluator(qrels, self.measures, drop_identical_ids=drops, fingerprint=True)
        run = Run.from_rankings({query: list(judged) for query, judged in qrels.as_dict().items()})
        result = evaluate_without_warning(evaluator, run, self.runs[-1].name)
        assert result.counted is not None  # noqa: S101 - evaluated here
        of_qrels = tuple(item for item in result.counted.findings if item.subject == QRELS)
        judged = with_counts(result, findings=of_qrels)
        if len(self.runs) > 1:
            results = {
                of_pipeline.name: [judged] * len(of_pipeline.names) for of_pipeline in self.runs
            }
            self.gate.checked(compare(results, **self.settings))
        elif self.gate.floors:
            self.gate.check_alone(judged, self.settings["alpha"])

    def stages_of(
        self, retriever: PipelineRetriever, retrieved: Retrieved, result: EvaluationResult
    ) -> StagedResult:
        """Return the stages of a pipeline that has run."""
        from beir_eval.integrations.haystack.evaluate_pipeline_stages import (  # noqa: PLC0415
            stages_of_pipeline,
        )

        settings = {key: self.settings[key] for key in ("alpha", "margin")}
        return stages_of_pipeline(
            retriever,
            retrieved,
            result,
            self._qrels,
            measures=self.settings["measures"],
            settings=ComparisonSettings(correction="holm", **settings),
        )

    def compare(
        self, evaluated: EvaluatedPipelines, for_report: Mapping[str, Any]
    ) -> tuple[Comparison | None, list[GateCheck]]:
        """Return the comparison, None for one pipeline, and the checks of the gate.

        Args:
            evaluated: the runs and results.
            for_report: arguments of ``compare_runs`` that keep what a report shows.
        """
        from beir_eval.comparison import compare_runs  # noqa: PLC0415

        if len(self.runs) == 1:
            if not self.gate.floors:
                return None, []
            [result] = evaluated.all_results
            return None, self.gate.check_alone(result, self.settings["alpha"])
        comparison = compare_runs(
            self._qrels,
            evaluated.runs,
            drop_identical_ids=drops_identical_ids(self.data),
            **self.settings,
            **for_report,
        )
        comparison = self.gate.checked(
            comparison.with_retrieval(
                {
                    name: [result.retrieval for result in of_pipeline]
                    for name, of_pipeline in evaluated.results.items()
                }
            )
        )
        return comparison, list(comparison.gate)
