"""The command ``beir-eval compare``: compare runs or saved results, and check the gate.

What only this command needs is imported when it runs, so that the other commands start faster.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from beir_eval.cli.comparison_options import (
    GateOptions,
    SystemOptions,
    VerdictOptions,
    check_one_system,
    check_options,
    exit_code,
)
from beir_eval.cli.console import print_as_typed, print_document, print_errors
from beir_eval.cli.input_files import (
    ComparisonInputs,
    all_files,
    opened_inputs,
    read_inputs,
    repeat_groups,
    with_result_files,
)
from beir_eval.cli.labels import cluster_labels, slice_columns
from beir_eval.cli.option_sets import (
    CountingOptions,
    InputOptions,
    LatexOptions,
    option,
    setting,
    stated_options,
    takes_options,
)
from beir_eval.cli.options import (
    REL,
    check_outputs,
    measure_option,
    query_texts,
    report_settings,
    report_texts,
    write_html,
)
from beir_eval.cli.outputs import OutputFormats
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.core.atomic_writes import write_atomically
from beir_eval.errors import InputError, SettingError, first_few
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.evaluation.tables import screen_of, to_markdown
from beir_eval.measures.names import names_as_typed
from beir_eval.significance.corrections import CORRECTIONS as P_CORRECTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from beir_eval.cli.outputs import Outputs
    from beir_eval.comparison.checkpoints.result import CheckpointCurve
    from beir_eval.comparison.records import GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.slices.result import SlicedComparison
    from beir_eval.measures import MeasureLike

#: How many documents ``--to-judge`` writes for each measure.
_TO_JUDGE = 20
#: What ``-o`` writes.
OUTPUTS = OutputFormats(
    html="a report",
    json="everything",
    md="verdicts and tables",
    tex="the means",
    csv="the differences",
    queries="every query's scores as CSV",
    xml="the gate as JUnit",
    pdf="a figure",
)


@dataclass(frozen=True, kw_only=True)
class _SamplingOptions:
    SECTION: ClassVar[str] = SystemOptions.SECTION

    repeats: list[str] | None = option(
        "The repeats (seeds) of a system, as NAME=run1.trec,run2.trec or a pattern such as "
        "'dense_seed*.trec'. If every system has two or more, verdicts hold for other repeats too. "
        "Repeat it for more systems.",
        metavar="FILES",
    )
    repeats_are: str | None = setting(ComparisonSettings, "repeats", "--repeats-are")
    clusters: str | None = option(
        "Related queries: metadata.KEY, or a TSV or CSV file with a column query_id and one of "
        "labels. The test takes queries with a common label as one."
    )


@dataclass(frozen=True, kw_only=True)
class _ComparisonOptions(VerdictOptions):
    test: str = setting(ComparisonSettings, "test")
    correction: str | None = setting(ComparisonSettings, "correction")
    interval: str = setting(ComparisonSettings, "interval")
    draws: int | None = setting(ComparisonSettings, "draws")
    rng: int = setting(ComparisonSettings, "rng", "--seed")
    on: str = setting(ComparisonSettings, "on", rich_help_panel=InputOptions.SECTION)


@dataclass(frozen=True, kw_only=True)
class _PartOptions:
    SECTION: ClassVar[str] = "Slices and checkpoints"

    slices: list[str] | None = option(
        "Compare within slices too: length (words of a query), relevant (number of relevant "
        "documents), metadata.KEY, or a TSV or CSV file with a column query_id and columns of "
        "labels. length=4,8,16 states where slices begin. Repeat it for more. -o c.csv and c.json "
        "write c.slices.csv and c.slices.json too."
    )
    steps: str | None = option(
        "Show the systems as checkpoints too. The step is the number after step, checkpoint or "
        "epoch in a name, else its last number, or where a regular expression with one group finds "
        "it, for example 'v(\\d+)'. -o c.csv and c.json write c.steps.csv and c.steps.json too.",
        metavar="[PATTERN]",
    )

    def files(self, outputs: Outputs) -> list[Path]:
        """Return the files beside those of ``-o``: c.slices.csv and c.steps.csv beside c.csv."""
        written = {"slices": bool(self.slices), "steps": self.steps is not None}
        return [
            path
            for extra, is_written in written.items()
            if is_written
            for path in outputs.beside(extra, "csv", "json")
        ]


@dataclass(frozen=True, kw_only=True)
class _JudgingOptions:
    SECTION: ClassVar[str] = "Documents to judge"

    to_judge: Path | None = option(
        f"Write the {_TO_JUDGE} unjudged documents most worth judging for each measure, as CSV or "
        "TSV."
    )


@takes_options
def compare(  # noqa: PLR0913 - one parameter per set of options
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Judgements, then run files or folders of them; or results saved by evaluate "
            "-o r.json or in Python. One may be - for standard input."
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        measure_option("A measure; repeat it for more.  [default: nDCG@10]"),
    ] = None,
    rel: Annotated[float | None, REL] = None,
    output: Annotated[list[str] | None, OUTPUTS.option()] = None,
    *,
    compared: SystemOptions,
    sampling: _SamplingOptions,
    gate: GateOptions,
    deciding: _ComparisonOptions,
    parts: _PartOptions,
    latex: LatexOptions,
    counting: CountingOptions,
    reading: InputOptions,
    judging: _JudgingOptions,
) -> None:
    """Compare systems: means, intervals, and a verdict for each pair."""
    with print_errors(), opened_inputs(files or []) as stated_inputs:
        from beir_eval.cli import comparison_output as printing  # noqa: PLC0415
        from beir_eval.comparison.gate_output import to_junit  # noqa: PLC0415

        outputs = OUTPUTS.files(output, latex)
        inputs_or_folders = with_result_files(stated_inputs)
        groups = repeat_groups(sampling.repeats or [])
        input_files = all_files(inputs_or_folders, groups)
        written = [*parts.files(outputs), judging.to_judge]
        check_outputs([*input_files, *reading.files], outputs, written)
        named = [*(measure or ()), *gate.measures, *gate.floors]
        requested = gate.with_rel(rel)
        requested.check_outputs(outputs)
        _check_steps(parts.steps)
        measures = named or None
        first = input_files[0]
        folder = first if first.is_dir() else None
        labels = None if sampling.clusters is None else cluster_labels(sampling.clusters, folder)
        inputs = read_inputs(input_files, asdict(counting), reading, judgements_first=bool(files))
        inputs = inputs.grouped(input_files, groups)
        print_as_typed(names_as_typed(named, rel), inputs.names)
        is_alone = len(inputs.names) == 1
        check_options(
            {
                "--floor checks one run of a single system, not --repeats; give one file": (
                    requested.floors and is_alone and groups
                ),
                "--slices takes queries as unrelated; leave out --slices or --clusters": (
                    parts.slices and labels is not None
                ),
                "--to-judge: saved results have no judgements; give the judgements and the run "
                "files": judging.to_judge is not None and inputs.qrels is None,
            }
        )
        if requested.floors and is_alone:
            reason = "needs two systems or more; one system is checked against --floor alone"
            check_one_system(
                stated_options(context), {"alpha"}, reason, ("slices", "steps", "to_judge")
            )
            check_options(
                {
                    f"{stated_output} {reason}": True
                    for stated_output in outputs.stated("html", "json", "tex", "csv", "queries")
                }
            )
            checks = _check_one_system(
                inputs,
                measures,
                {"rel": rel, **asdict(counting)},
                outputs,
                requested,
                deciding.alpha,
            )
            raise typer.Exit(exit_code(checks))
        columns = (
            slice_columns(
                parts.slices,
                folder=folder,
                split=reading.split,
                qrels=None if inputs.qrels is None else inputs.qrels.qrels,
            )
            if parts.slices
            else None
        )
        comparison = _compare_inputs(
            inputs,
            measures,
            compared.baseline
            or requested.baseline_of(inputs.names)
            or (None if parts.steps is None else _first_step(inputs.names, parts.steps)),
            policies=asdict(counting),
            for_report=report_settings(outputs),
            settings={
                **asdict(deciding),
                "rel": rel,
                "repeats": sampling.repeats_are,
                "deterministic": compared.deterministic or (),
                "clusters": labels,
            },
        )
        comparison = requested.checked(comparison)
        sliced = None if columns is None else _compare_slices(comparison, columns)
        curve = None if parts.steps is None else _checkpoint_curve(comparison, parts.steps)
        of_parts = [result for result in (sliced, curve) if result is not None]
        queries = query_texts(
            (inputs.view and reading.corpus) or input_files[0],
            reading.split,
        )
        documents = [
            document
            for name in (comparison.measures if judging.to_judge is not None else ())
            for document in comparison.documents_to_judge(_TO_JUDGE, measure=name)
        ]
        outputs.write(
            {
                "md": lambda: printing.markdown_summary(comparison, *of_parts),
                "tex": lambda: comparison.to_latex(**asdict(latex)),
                "csv": comparison.to_csv,
                "queries": lambda: comparison.to_query_csv(queries),
                "json": comparison.model_dump_json,
                "xml": lambda: to_junit(comparison.gate),
            }
        )
        for path in outputs["pdf"]:
            comparison.plot().save(path)
        for result in of_parts:
            outputs.write(
                {"csv": result.to_csv, "json": result.model_dump_json},
                beside="slices" if result is sliced else "steps",
            )
        if judging.to_judge is not None:
            text = printing.documents_text(comparison, documents, judging.to_judge)
            write_atomically(judging.to_judge, f"{text.rstrip()}\n".encode())
        if outputs["html"]:
            write_html(
                outputs,
                comparison,
                slices=sliced,
                curve=curve,
                **(
                    report_texts(input_files[0], reading.split)
                    if inputs.view is None
                    else {
                        "corpus": inputs.view.chunk_texts(chain(*inputs.systems.values())),
                        "queries": queries,
                    }
                ),
            )
        printing.print_comparison(
            comparison, sliced, curve, detail=compared.detail, queries=queries
        )
        if code := exit_code(comparison.gate):
            raise typer.Exit(code)


def _compare_inputs(  # noqa: PLR0913 - the options of the command
    inputs: ComparisonInputs,
    measures: Sequence[MeasureLike] | None,
    baseline: str | None,
    *,
    policies: Mapping[str, Any],
    settings: Mapping[str, Any],
    for_report: Mapping[str, Any],
) -> Comparison:
    """Return the comparison of runs on judgements, or of saved results.

    Args:
        inputs: what is compared.
        measures: None: runs are compared on nDCG@10, saved results on all their measures.
        baseline: the name of the system that the others are compared with, if any.
        policies: the fields of ``EvaluationSettings``.
        settings: further arguments of ``compare_runs`` and ``compare``.
        for_report: arguments of ``compare_runs`` that keep what a report shows.

    Raises:
        InputError: there is only one system.
    """
    from beir_eval import comparison as comparing  # noqa: PLC0415

    if len(inputs.names) == 1:
        msg = (
            f"two systems or more were expected, not {first_few(inputs.names)}; beir-eval evaluate "
            "shows the scores of one, and --floor MEASURE=SCORE checks them"
        )
        raise InputError(msg)
    if inputs.qrels is None:
        return comparing.compare(inputs.systems, baseline=baseline, measures=measures, **settings)
    return comparing.compare_runs(
        inputs.qrels,
        inputs.systems,
        measures,
        baseline=baseline,
        **settings,
        **policies,
        **for_report,
    )


def _check_one_system(  # noqa: PLR0913, PLR0917 - what the command was given
    inputs: ComparisonInputs,
    measures: Sequence[MeasureLike] | None,
    policies: Mapping[str, Any],
    outputs: Outputs,
    requested: GateOptions,
    alpha: float,
) -> list[GateCheck]:
    """Check the floors of one system, write and print its means and the checks; return these.

    Args:
        inputs: one run with judgements, or one saved result.
        measures: the measures of the means.
        policies: ``rel`` and the fields of ``EvaluationSettings``.
        outputs: the files, Markdown and JUnit.
        requested: the gate.
        alpha: the level of the intervals.
    """
    from beir_eval.cli.comparison_output import print_gate  # noqa: PLC0415
    from beir_eval.comparison.gate_output import gate_document, to_junit  # noqa: PLC0415

    if inputs.qrels is None:
        [[result]] = inputs.systems.values()
    else:
        evaluator = Evaluator(inputs.qrels, measures or (), **policies)
        [(name, [run])] = inputs.systems.items()
        result = evaluator.evaluate(run, name=name)
    checks = requested.check_alone(result, alpha)
    outputs.write(
        {
            "md": lambda: f"{gate_document(checks).titled_markdown()}\n{to_markdown([result])}",
            "xml": lambda: to_junit(checks),
        }
    )
    print_document(screen_of([result]))
    print_gate(checks)
    return checks


def _compare_slices(
    comparison: Comparison, columns: Mapping[str, Mapping[str, str]]
) -> SlicedComparison:
    """Return the comparison within slices; a correction that takes no p-values becomes Holm's."""
    from beir_eval.comparison.slices import compare_slices  # noqa: PLC0415

    settings = comparison.settings
    return compare_slices(
        comparison.results,
        columns,
        baseline=comparison.baseline,
        measures=comparison.measures,
        test=settings.test,
        correction=settings.correction if settings.correction in P_CORRECTIONS else "holm",
        **_of_parts(settings),
    )


def _of_parts(settings: ComparisonSettings) -> dict[str, Any]:
    """Return the settings of a comparison that its slices and its checkpoints have too."""
    return {name: getattr(settings, name) for name in ("alpha", "margin", "on", "draws", "rng")}


def _first_step(names: Sequence[str], pattern: str) -> str | None:
    """Return the checkpoint with the first step; None if the steps are not known."""
    from beir_eval.comparison.step_names import (  # noqa: PLC0415
        pattern_of_checkpoints,
        steps_of,
    )

    steps = pattern or pattern_of_checkpoints(names)
    try:
        checkpoints = [name for name in names if re.search(steps, name)]
        return min(zip(steps_of(checkpoints, steps), checkpoints, strict=True))[1]
    except (ValueError, re.error):  # ``_checkpoint_curve`` says why there is none
        return None


def _checkpoint_curve(comparison: Comparison, pattern: str) -> CheckpointCurve:
    """Return the curve of the systems that have a step.

    The baseline may be a system without a step in its name; it is left out, as the curve says.

    Args:
        comparison: the comparison of all systems.
        pattern: a regular expression that finds the step in a name; empty: the number after
            "step", "checkpoint" or "epoch", else the last number.

    Raises:
        InputError: fewer than two systems have a step, or two have the same.
    """
    from beir_eval.comparison.checkpoints.checkpoint_curve import checkpoint_curve  # noqa: PLC0415
    from beir_eval.comparison.step_names import (  # noqa: PLC0415
        pattern_of_checkpoints,
        steps_of,
    )

    results = comparison.results
    stated = f"--steps {pattern!r}" if pattern else "--steps"
    steps = pattern or pattern_of_checkpoints(list(results))
    checkpoints = {
        name: system_results for name, system_results in results.items() if re.search(steps, name)
    }
    if len(checkpoints) < 2:  # noqa: PLR2004 - a curve
        msg = f"{stated} finds a step in {len(checkpoints)} of the names {first_few(results)}"
        if not pattern:
            msg += (
                ", where it looks for a number after step, checkpoint or epoch, then for names "
                "that differ in their last number only; state a pattern that finds the number, "
                "such as --steps 'v(\\d+)'"
            )
        raise InputError(msg)
    try:
        steps_of(list(checkpoints), steps)
    except SettingError as error:
        problem, _, remedy = str(error).partition("; pass ")
        msg = problem.replace("steps=", "--steps ")
        if remedy:  # that of Python
            msg = (
                f"{stated}: {msg}; state a pattern that matches the names of the "
                "checkpoints only, such as '(\\d+)$', or leave out the other runs"
            )
        raise InputError(msg) from error
    curve = checkpoint_curve(
        checkpoints,
        steps,
        measures=comparison.measures,
        **_of_parts(comparison.settings),
    )
    without_step = tuple(name for name in results if name not in checkpoints)
    return curve.model_copy(update={"without_step": without_step})


def _check_steps(steps: str | None) -> None:
    """Raise InputError if ``--steps`` is no regular expression."""
    try:
        re.compile(steps or "")
    except re.error as error:
        msg = f"--steps {steps!r} is no regular expression: {error}"
        raise InputError(msg) from error
