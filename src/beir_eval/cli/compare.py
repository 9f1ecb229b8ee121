"""The command ``beir-eval compare``: compare runs or saved results, and check the gate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beir_eval.adapters.readers import read_qrels
from beir_eval.cli.console import check_targets, print_errors
from beir_eval.cli.options import (
    HTML,
    add_policy_options,
    check_report,
    choice,
    read_runs,
    report_settings,
    report_texts,
    write_html,
)
from beir_eval.cli.results_output import write_texts
from beir_eval.cli.saved_results import read_saved_results
from beir_eval.comparison.records import CORRECTIONS, ON_CHOICES
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.errors import InputError, first_few
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.measures.names import names_among
from beir_eval.significance import PAIRED_TESTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from beir_eval.comparison.result import Comparison

#: The exit code if a check of the gate fails.
_GATE_FAILED = 1


@add_policy_options
def compare(  # noqa: PLR0913, PLR0917 - one parameter per option
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Judgements, then run files; or results saved by evaluate --json or in Python."
        ),
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option("-m", "--measure", help="A measure; repeat it for more.  [default: nDCG@10]"),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(help="The system that the others are compared with.")
    ] = None,
    margin: Annotated[float, typer.Option(help="The smallest difference that matters.")] = 0.01,
    alpha: Annotated[float, typer.Option(help="The level of the verdicts.")] = 0.05,
    test: Annotated[str, choice("--test", list(PAIRED_TESTS), "The test.")] = "sign_flip",
    correction: Annotated[
        str | None,
        choice(
            "--correction",
            CORRECTIONS,
            "For several comparisons; by default holm with a baseline, max-t for all pairs.",
        ),
    ] = None,
    gate: Annotated[
        list[str] | None,
        typer.Option(
            "--gate", help="Exit with 1 if a system is worse than the baseline on this measure."
        ),
    ] = None,
    on: Annotated[str, choice("--on", ON_CHOICES, "Systems with different queries.")] = "error",
    *,
    policies: dict[str, Any],
    markdown: Annotated[
        Path | None, typer.Option(help="Write verdicts and tables, as a summary for GitHub.")
    ] = None,
    latex: Annotated[Path | None, typer.Option(help="Write the table of means as LaTeX.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write every difference as CSV.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write the whole comparison.")] = None,
    html: Annotated[Path | None, HTML] = None,
    steps: Annotated[
        str | None,
        typer.Option(
            help="Show the systems as checkpoints in the report: where the step stands in a name, "
            "as a regular expression with one group, for example 'step(\\d+)'."
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(help="Write the gate's checks as JUnit XML.")
    ] = None,
    non_inferior: Annotated[
        bool,
        typer.Option(
            "--non-inferior", help="The gate passes only what is shown not to lose the margin."
        ),
    ] = False,
    split: Annotated[str | None, typer.Option(help="The split of a data-set folder.")] = None,
) -> None:
    """Compare systems: means, differences with intervals, and a verdict for each pair."""
    with print_errors():
        from beir_eval.cli.comparison_output import (  # noqa: PLC0415
            markdown_summary,
            print_comparison,
            print_gate,
        )
        from beir_eval.comparison.gate import check_gate, to_junit  # noqa: PLC0415

        check_targets(files, [markdown, latex, csv, json, html, junit])
        check_report(html)
        gates = gate or []
        gated = bool(gates) or non_inferior
        if junit is not None and not gated:
            raise InputError("--junit writes the checks of a gate; add --gate MEASURE")
        _check_steps(steps, html)
        measures = [*(measure or ()), *gates] or None
        comparison = _compare_files(
            files,
            split,
            measures,
            baseline,
            first_is_baseline=gated and baseline is None,
            policies=policies,
            for_report=report_settings(html),
            settings={
                "test": test,
                "correction": correction,
                "alpha": alpha,
                "margin": margin,
                "on": on,
            },
        )
        checks = (
            check_gate(
                comparison,
                names_among(comparison.measures, gates) if gates else None,
                non_inferior=non_inferior,
            )
            if gated
            else []
        )
        print_comparison(comparison)
        print_gate(checks)
        write_texts(
            {
                markdown: lambda: markdown_summary(comparison, checks),
                latex: comparison.to_latex,
                csv: comparison.to_csv,
                json: comparison.model_dump_json,
                junit: lambda: to_junit(checks),
            }
        )
        if html is not None:
            _write_report(html, comparison, files[0], split, steps)
        if not all(check.passed for check in checks):
            raise typer.Exit(_GATE_FAILED)


def _compare_files(  # noqa: PLR0913 - the options of the command
    files: Sequence[Path],
    split: str | None,
    measures: Sequence[str] | None,
    baseline: str | None,
    *,
    first_is_baseline: bool,
    policies: Mapping[str, Any],
    settings: Mapping[str, Any],
    for_report: Mapping[str, Any],
) -> Comparison:
    """Return the comparison of runs on judgements, or of saved results.

    Args:
        files: judgements and runs, or files of saved results.
        split: the split of a data-set folder with the judgements.
        measures: None: runs are compared on nDCG@10, saved results on all their measures.
        baseline: the name of the system that the others are compared with, if any.
        first_is_baseline: the first system is the baseline, in place of ``baseline``.
        policies: the fields of ``EvaluationSettings``.
        settings: further arguments of ``compare_runs`` and ``compare``.
        for_report: arguments of ``compare_runs`` that keep what a report shows.

    Raises:
        InputError: options that apply to runs only are set for saved results.
    """
    from beir_eval import comparison as comparing  # noqa: PLC0415

    results = read_saved_results(files)
    if results is None:
        qrels = read_qrels(files[0], split=split)
        runs = read_runs(files[1:])
        baseline_name = next(iter(runs), None) if first_is_baseline else baseline
        return comparing.compare_runs(
            qrels, runs, measures, baseline=baseline_name, **settings, **policies, **for_report
        )
    if split is not None or EvaluationSettings(**policies) != EvaluationSettings():
        options = ", ".join(f"--{name.replace('_', '-')}" for name in policies)
        msg = (
            f"{options} and --split are for judgements and runs; saved results were evaluated "
            "already"
        )
        raise InputError(msg)
    baseline_name = results[0].name if first_is_baseline else baseline
    return comparing.compare(results, baseline_name, measures=measures, **settings)


def _write_report(
    html: Path, comparison: Comparison, judgements: Path, split: str | None, steps: str | None
) -> None:
    """Write the report, with a curve of the checkpoints if ``steps`` is given."""
    from beir_eval.comparison.checkpoints.checkpoint_curve import checkpoint_curve  # noqa: PLC0415

    curve = None
    if steps is not None:
        settings = comparison.settings
        curve = checkpoint_curve(
            _checkpoints(comparison, steps),
            steps,
            measures=comparison.measures,
            alpha=settings.alpha,
            margin=settings.margin,
            on=settings.on,
        )
    write_html(html, comparison, curve=curve, **report_texts(judgements, split))


def _check_steps(steps: str | None, html: Path | None) -> None:
    """Raise InputError if ``--steps`` is no regular expression, or no report is written."""
    if steps is None:
        return
    if html is None:
        raise InputError("--steps draws a curve in the report; add --html FILE")
    try:
        re.compile(steps)
    except re.error as error:
        msg = f"--steps {steps!r} is no regular expression: {error}"
        raise InputError(msg) from error


def _checkpoints(comparison: Comparison, steps: str) -> dict[str, list[EvaluationResult]]:
    """Return {name: results} of the systems whose names match the pattern ``steps``.

    The baseline may be a system without a step in its name; it is left out.

    Raises:
        InputError: fewer than two names match.
    """
    results = comparison.results or {}
    matched = {
        name: system_results for name, system_results in results.items() if re.search(steps, name)
    }
    if len(matched) < 2:  # noqa: PLR2004 - a curve
        msg = f"--steps {steps!r} finds a step in {len(matched)} of the names {first_few(results)}"
        raise InputError(msg)
    return matched
