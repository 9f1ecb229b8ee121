"""The command ``beir-eval compare``: verdicts over runs or saved results, and the gate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beir_eval.adapters.readers import read_qrels
from beir_eval.cli.console import check_targets, clear_errors
from beir_eval.cli.options import (
    HTML,
    check_report,
    choice,
    kept_for,
    read_runs,
    texts_of,
    with_policies,
    write_html,
)
from beir_eval.cli.results_output import write_texts
from beir_eval.cli.saved_results import saved_results
from beir_eval.comparison.records import CORRECTIONS, ON
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.errors import InputError, some
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.measures import parse_all
from beir_eval.significance import PAIRED_TESTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from beir_eval.comparison.result import Comparison
    from beir_eval.measures import Measure

_GATE_FAILED = 1


@with_policies
def compare(  # noqa: PLR0913, PLR0917 - one option a setting
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
    on: Annotated[str, choice("--on", ON, "Systems with different queries.")] = "error",
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
    with clear_errors():
        from beir_eval.cli.comparison_output import (  # noqa: PLC0415
            print_comparison,
            print_gate,
            summary_of,
        )
        from beir_eval.comparison.gate import check_gate, to_junit  # noqa: PLC0415

        check_targets(files, [markdown, latex, csv, json, html, junit])
        check_report(html)
        gates = parse_all(gate) if gate else ()
        gated = bool(gates) or non_inferior
        if junit is not None and not gated:
            raise InputError("--junit writes the checks of a gate; add --gate MEASURE")
        _check_steps(steps, html)
        measures = parse_all([*(measure or ()), *gates]) if measure or gates else None
        found = _compared(
            files,
            split,
            measures,
            baseline,
            first_is_baseline=gated and baseline is None,
            policies=policies,
            for_report=kept_for(html),
            settings={
                "test": test,
                "correction": correction,
                "alpha": alpha,
                "margin": margin,
                "on": on,
            },
        )
        checks = check_gate(found, gates or None, non_inferior=non_inferior) if gated else []
        print_comparison(found)
        print_gate(checks)
        write_texts(
            {
                markdown: lambda: summary_of(found, checks),
                latex: found.to_latex,
                csv: found.to_csv,
                json: found.model_dump_json,
                junit: lambda: to_junit(checks),
            }
        )
        if html is not None:
            _write_html(html, found, files[0], split, steps)
        if not all(one.passed for one in checks):
            raise typer.Exit(_GATE_FAILED)


def _compared(  # noqa: PLR0913 - what the command was told
    files: Sequence[Path],
    split: str | None,
    measures: Sequence[Measure] | None,
    baseline: str | None,
    *,
    first_is_baseline: bool,
    policies: Mapping[str, Any],
    settings: Mapping[str, Any],
    for_report: Mapping[str, Any],
) -> Comparison:
    """Return the comparison of runs on judgements, or of saved results.

    Without ``measures`` runs are compared on the default, saved results on all that they have.
    """
    from beir_eval import comparison as comparing  # noqa: PLC0415

    results = saved_results(files)
    if results is None:
        judged = read_qrels(files[0], split=split)
        runs = read_runs(files[1:])
        base = next(iter(runs), None) if first_is_baseline else baseline
        return comparing.compare_runs(
            judged, runs, measures, baseline=base, **settings, **policies, **for_report
        )
    if split is not None or EvaluationSettings(**policies) != EvaluationSettings():
        msg = (
            "--order, --ties, --missing, --no-relevant, --duplicates, --drop-identical-ids and "
            "--split are for judgements and runs; saved results were evaluated already"
        )
        raise InputError(msg)
    base = results[0].name if first_is_baseline else baseline
    return comparing.compare(results, base, measures=measures, **settings)


def _write_html(
    html: Path, found: Comparison, judged: Path, split: str | None, steps: str | None
) -> None:
    from beir_eval.comparison.checkpoints.checkpoint_curve import checkpoint_curve  # noqa: PLC0415

    curve = None
    if steps is not None:
        chosen = found.settings
        curve = checkpoint_curve(
            _checkpoints(found, steps),
            steps,
            measures=found.measures,
            alpha=chosen.alpha,
            margin=chosen.margin,
            on=chosen.on,
        )
    write_html(html, found, curve=curve, **texts_of(judged, split))


def _check_steps(steps: str | None, html: Path | None) -> None:
    if steps is None:
        return
    if html is None:
        raise InputError("--steps draws a curve in the report; add --html FILE")
    try:
        re.compile(steps)
    except re.error as error:
        msg = f"--steps {steps!r} is no regular expression: {error}"
        raise InputError(msg) from error


def _checkpoints(found: Comparison, steps: str) -> dict[str, list[EvaluationResult]]:
    """Return the systems whose names have a step: a baseline beside the checkpoints has none."""
    results = found.results or {}
    matched = {name: one for name, one in results.items() if re.search(steps, name)}
    if len(matched) < 2:  # noqa: PLR2004 - a curve
        msg = f"--steps {steps!r} finds a step in {len(matched)} of the names {some(results)}"
        raise InputError(msg)
    return matched
