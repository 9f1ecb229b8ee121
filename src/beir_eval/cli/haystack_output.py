"""The output of ``beir-eval haystack``: files, means, stages, the comparison and the gate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.text import Text

from beir_eval.cli.console import console, print_document, print_table, print_warnings
from beir_eval.cli.outputs import OutputFormats, write_data
from beir_eval.core.files import part_of_file_name
from beir_eval.display.document import section_markdown
from beir_eval.errors import one_line
from beir_eval.evaluation.coverage import warnings_on
from beir_eval.evaluation.tables import (
    notes_below,
    repeats_table,
    screen_of,
    to_latex,
    to_markdown,
    usual_measures,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from beir_eval.cli.haystack_runs import EvaluatedPipelines
    from beir_eval.cli.outputs import Outputs
    from beir_eval.comparison.records import GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.stages import StagedResult

#: What ``-o`` writes.
OUTPUTS = OutputFormats(
    html="a report to look at",
    json="all results, r.compare.json the comparison",
    md="comparison and means",
    tex="the means",
    csv="every query's scores",
    xml="the gate as JUnit",
)


def beside_results(name: str, names: Collection[str]) -> str:
    """Return the word of the file of a pipeline's stages beside that of the results.

    Args:
        name: the pipeline.
        names: all pipelines; of several, the word has the name of the pipeline in it.
    """
    return "stages" if len(names) == 1 else f"{part_of_file_name(name)}.stages"


def write(
    evaluated: EvaluatedPipelines,
    comparison: Comparison | None,
    checks: Sequence[GateCheck],
    outputs: Outputs,
) -> None:
    """Write the results, the comparison and the checks of the gate to files.

    Args:
        evaluated: the pipelines.
        comparison: that of the pipelines; None for one pipeline.
        checks: those of the gate.
        outputs: the files.
    """
    from beir_eval.cli.comparison_output import markdown_summary  # noqa: PLC0415
    from beir_eval.comparison.gate_output import gate_document, to_junit  # noqa: PLC0415

    results = evaluated.all_results

    def markdown() -> str:
        of_stages = "".join(f"\n{staged.to_markdown()}" for staged in evaluated.stages.values())
        if comparison is None:
            gate = f"{gate_document(checks).titled_markdown()}\n" if checks else ""
            return f"{gate}{to_markdown(results)}{of_stages}"
        summary = markdown_summary(comparison)
        means = section_markdown("Means on all measures", to_markdown(results))
        return f"{summary}\n{means}{of_stages}"

    write_data(results, outputs)
    outputs.write(
        {"md": markdown, "tex": lambda: to_latex(results), "xml": lambda: to_junit(checks)}
    )
    if comparison is not None:
        outputs.write({"json": comparison.model_dump_json}, beside="compare")
    for name, staged in evaluated.stages.items():
        beside = beside_results(name, evaluated.runs)
        outputs.write({"json": staged.model_dump_json}, beside=beside)


def print_results(  # noqa: PLR0913 - what there is
    evaluated: EvaluatedPipelines,
    comparison: Comparison | None,
    checks: Sequence[GateCheck],
    queries: Mapping[str, str],
    *,
    has_measures: bool,
    detail: bool,
) -> None:
    """Print the comparison or the means, the stages and the checks of the gate.

    Args:
        evaluated: the pipelines.
        comparison: that of the pipelines; None for one pipeline.
        checks: those of the gate.
        queries: {query_id: text}.
        has_measures: whether measures were named.
        detail: whether all evidence is printed.
    """
    from beir_eval.cli import comparison_output as output  # noqa: PLC0415

    results = evaluated.all_results
    if len(results) != len(evaluated.results):
        _print_repeats(evaluated, results[0].measures if has_measures else usual_measures(results))
        console.print()
    if comparison is not None:
        output.print_comparison(comparison, detail=detail, queries=queries)
        for note in notes_below(results, comparison.measures) if detail else ():
            console.print(Text(note))
    elif len(results) == 1:
        print_document(screen_of(results, are_default_measures=not has_measures))
    _print_stages(evaluated.stages, detail=detail)
    if comparison is None:
        output.print_gate(checks)


def _print_stages(stages: Mapping[str, StagedResult], *, detail: bool) -> None:
    """Print the stages of each pipeline.

    Args:
        stages: {name of the pipeline: its stages}.
        detail: whether the evidence of all pairs is printed.
    """
    for name, staged in stages.items():
        if len(stages) > 1:
            console.print(Text(f"\n{one_line(name)}", style="bold"))
        document = staged.document()
        # The result's own warnings stand above the means.
        own = [warning for warning in document.warnings if warning not in staged.result.warnings()]
        print_document(replace(document, warnings=own), detail=detail)


def _print_repeats(evaluated: EvaluatedPipelines, measures: Sequence[str]) -> None:
    """Print the means over repeats with their spread, the notes, and which repeats are equal."""
    results = evaluated.all_results
    print_warnings(sentence for result in results for sentence in warnings_on(result, result.name))
    print_table(repeats_table(evaluated.results, measures))
    number = max(map(len, evaluated.results.values()))
    console.print(
        Text(
            f"±: the standard deviation of the means of {number} repeats on the same queries; it "
            "does not cover the chance of the queries"
        )
    )
    for note in notes_below(results, measures):
        console.print(Text(note))
