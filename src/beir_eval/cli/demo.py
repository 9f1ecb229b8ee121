"""The command ``beir-eval demo``: evaluate bundled runs and pipelines, and write a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from rich.text import Text

from beir_eval.adapters.readers import read_qrels
from beir_eval.cli.console import check_targets, console, print_errors
from beir_eval.cli.option_sets import takes_options
from beir_eval.cli.options import (
    RunReading,
    check_outputs,
    read_runs,
    report_settings,
    report_texts,
    write_html,
)
from beir_eval.cli.outputs import OutputFormats, Outputs
from beir_eval.datasets.demo import FOLDER, RUNS
from beir_eval.errors import MissingExtraError

if TYPE_CHECKING:
    from beir_eval.comparison.result import Comparison

_MEASURES = ("nDCG@10", "MAP@100", "Recall@10", "R_cap@10", "Precision@10", "MRR@10")


#: What ``-o`` writes.
OUTPUTS = OutputFormats(html="the report, by default beir-eval-demo.html, which is replaced")


@takes_options
def demo(output: Annotated[list[str] | None, OUTPUTS.option()] = None) -> None:
    """Compare two bundled runs and two Haystack pipelines, and write a report on the runs."""
    with print_errors():
        from beir_eval.comparison.compare import compare_runs  # noqa: PLC0415

        outputs = OUTPUTS.files(output or ["beir-eval-demo.html"])
        check_targets([], [*outputs])
        runs, qrels = read_runs(RUNS, RunReading()), read_qrels(FOLDER)
        baseline = next(reversed(runs))
        comparison = compare_runs(
            qrels, runs, _MEASURES, baseline=baseline, **report_settings(outputs)
        )
        report_sentence = _write_report(outputs, comparison)
        console.print("Two BM25 settings over the bundled data set, about the solar system:")
        _print(compare_runs(qrels, runs, _MEASURES[0], baseline=baseline))
        _print_pipelines()
        console.print(Text(f"\n{report_sentence}"))
        console.print("For your files: beir-eval compare QRELS RUN RUN")


def _print(comparison: Comparison) -> None:
    from beir_eval.cli.comparison_output import print_comparison  # noqa: PLC0415

    print_comparison(comparison, detail=False, queries=report_texts(FOLDER)["queries"])


def _write_report(outputs: Outputs, comparison: Comparison) -> str:
    """Write the report on the bundled runs; return where it is, or why it was not written."""
    try:
        check_outputs([], outputs)
    except MissingExtraError as error:
        return f"The report: not written. {error}"
    write_html(outputs, comparison, **report_texts(FOLDER))
    path = outputs["html"][0].resolve()
    return f"Report: {path}"


def _print_pipelines() -> None:
    """Compare the two Haystack pipelines of the demo; without Haystack a hint is printed."""
    try:
        from beir_eval.integrations.haystack import index  # noqa: F401, PLC0415 - says what is missing
    except MissingExtraError as error:
        console.print(Text(f"\nTwo Haystack pipelines: not run. {error}"))
        return
    from beir_eval.comparison.compare import compare  # noqa: PLC0415
    from beir_eval.integrations.haystack.demo import evaluate_demo_pipelines  # noqa: PLC0415

    console.print("\nTwo Haystack pipelines over the same data set, run for every query:")
    results = evaluate_demo_pipelines(_MEASURES)
    _print(compare(results, baseline=results[0].name, measures=_MEASURES[0]))
