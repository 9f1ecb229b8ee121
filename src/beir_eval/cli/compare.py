"""The command ``beir-eval compare``: compare runs or saved results, and check the gate.

What only this command needs is imported when it runs, so that the other commands start faster.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beir_eval.cli.comparison_inputs import ComparisonInputs, all_files, read_inputs
from beir_eval.cli.comparison_options import (
    ALLOW_MISSING,
    ALLOW_UNEQUAL_DEPTH,
    ALPHA,
    BASELINE,
    CLUSTERS,
    CORRECTION,
    DETAIL,
    DETERMINISTIC,
    FLOOR,
    FLOOR_INTERVAL,
    GATE,
    INTERVAL,
    JUNIT,
    MARGIN,
    NON_INFERIOR,
    SEED,
    TEST,
    Gate,
    check_options,
    exit_code,
)
from beir_eval.cli.console import check_targets, print_as_typed, print_errors
from beir_eval.cli.options import (
    CHUNK_IDS,
    COLUMNS,
    DRAWS,
    HTML,
    QRELS_FORMAT,
    REL,
    RUN_FORMAT,
    SPLIT,
    add_policy_options,
    check_report,
    choice,
    query_texts,
    report_settings,
    report_texts,
    run_files,
    write_html,
)
from beir_eval.cli.results_output import print_notes, print_scores, sibling, write_texts
from beir_eval.cli.sampling_options import candidate_files, cluster_labels, repeat_groups
from beir_eval.cli.saved_results import is_score_table, with_result_files
from beir_eval.cli.slice_columns import slice_columns
from beir_eval.cli.standard_input import opened_inputs
from beir_eval.comparison.records import ON_CHOICES, REPEATS
from beir_eval.errors import InputError, SettingError, first_few
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.evaluation.tables import to_markdown
from beir_eval.measures.names import names_as_typed
from beir_eval.significance.corrections import CORRECTIONS as P_CORRECTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from beir_eval.comparison.checkpoints.result import CheckpointCurve
    from beir_eval.comparison.records import DocumentToJudge, GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.slices.result import SlicedComparison
    from beir_eval.measures import MeasureLike

#: How many documents ``--to-judge`` writes for each measure, unless ``-n`` is set.
_TO_JUDGE = 20


@add_policy_options
def compare(  # noqa: PLR0913, PLR0917 - one parameter per option
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Judgements, then run files or folders of them; or results saved by evaluate "
            "--json or in Python. One may be - for standard input."
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option("-m", "--measure", help="A measure; repeat it for more.  [default: nDCG@10]"),
    ] = None,
    rel: Annotated[float | None, REL] = None,
    baseline: Annotated[str | None, BASELINE] = None,
    margin: Annotated[float, MARGIN] = 0.01,
    alpha: Annotated[float, ALPHA] = 0.05,
    test: Annotated[str, TEST] = "sign_flip",
    correction: Annotated[str | None, CORRECTION] = None,
    interval: Annotated[str, INTERVAL] = "test",
    draws: Annotated[int | None, DRAWS] = None,
    seed: Annotated[int, SEED] = 0,
    gate: Annotated[list[str] | None, GATE] = None,
    *,
    non_inferior: Annotated[bool, NON_INFERIOR] = False,
    floor: Annotated[list[str] | None, FLOOR] = None,
    floor_interval: Annotated[bool, FLOOR_INTERVAL] = False,
    allow_missing: Annotated[bool, ALLOW_MISSING] = False,
    allow_unequal_depth: Annotated[bool, ALLOW_UNEQUAL_DEPTH] = False,
    on: Annotated[str, choice("--on", ON_CHOICES, "Systems with different queries.")] = "error",
    detail: Annotated[bool, DETAIL] = False,
    policies: dict[str, Any],
    repeats: Annotated[
        list[str] | None,
        typer.Option(
            help="The repeats (seeds) of a system, as NAME=run1.trec,run2.trec or a pattern such "
            "as 'dense_seed*.trec'. If every system has two or more, verdicts hold for other "
            "repeats too. Repeat it for more systems."
        ),
    ] = None,
    repeats_are: Annotated[
        str | None,
        choice("--repeats-are", REPEATS, "What the repeats are.  [default: random if possible]"),
    ] = None,
    deterministic: Annotated[list[str] | None, DETERMINISTIC] = None,
    clusters: Annotated[str | None, CLUSTERS] = None,
    chosen_from: Annotated[
        str | None,
        typer.Option(
            help="The systems were chosen by these scores: the number of all candidates, or their "
            "run files as a pattern or folder."
        ),
    ] = None,
    slices: Annotated[
        list[str] | None,
        typer.Option(
            help="Compare within slices too: length (words of a query), relevant (number of "
            "relevant documents), metadata.KEY, or a TSV or CSV file with a column query_id and "
            "columns of labels. length=4,8,16 states where slices begin. Repeat it for more."
        ),
    ] = None,
    slice_parts: Annotated[
        int | None,
        typer.Option(help="Cut numbers into this many slices of about equal size instead."),
    ] = None,
    steps: Annotated[
        str | None,
        typer.Option(
            metavar="[PATTERN]",
            help="Show the systems as checkpoints too. The step is the number after step, "
            "checkpoint or epoch in a name, or where a regular expression with one group finds it, "
            "for example 'v(\\d+)'.",
        ),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write verdicts and tables, as a summary for GitHub.")
    ] = None,
    latex: Annotated[Path | None, typer.Option(help="Write the table of means as LaTeX.")] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            help="Write every difference as CSV, for example to c.csv; slices and checkpoints go "
            "to c.slices.csv and c.steps.csv."
        ),
    ] = None,
    per_query: Annotated[
        Path | None,
        typer.Option(
            help="Write every query as CSV: its text, both scores, their difference, and the rank "
            "of the first relevant document in each system."
        ),
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option(
            help="Write the whole comparison and the gate, for example to c.json; slices and "
            "checkpoints go to c.slices.json and c.steps.json."
        ),
    ] = None,
    html: Annotated[Path | None, HTML] = None,
    junit: Annotated[Path | None, JUNIT] = None,
    to_judge: Annotated[
        Path | None,
        typer.Option(
            help="Write the unjudged documents most worth judging for each measure, as CSV or TSV."
        ),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option("-n", min=1, help=f"How many of these documents.  [default: {_TO_JUDGE}]"),
    ] = None,
    split: Annotated[str | None, SPLIT] = None,
    run_format: Annotated[str | None, RUN_FORMAT] = None,
    chunk_ids: Annotated[str | None, CHUNK_IDS] = None,
    qrels_format: Annotated[str | None, QRELS_FORMAT] = None,
    names_of_columns: Annotated[str | None, COLUMNS] = None,
) -> None:
    """Compare systems: means, differences with intervals, and a verdict for each pair."""
    with print_errors(), opened_inputs(files or []) as stated_inputs:
        from beir_eval.cli import comparison_output as output  # noqa: PLC0415
        from beir_eval.comparison.gate_output import to_junit  # noqa: PLC0415

        inputs_or_folders = with_result_files(stated_inputs)
        outputs = [markdown, latex, csv, per_query, json, html, junit, to_judge]
        for extra, is_written in (("slices", slices), ("steps", steps is not None)):
            outputs += [sibling(path, extra) for path in (csv, json) if path and is_written]
        groups, candidates = repeat_groups(repeats or []), candidate_files(chosen_from)
        input_files = all_files(inputs_or_folders, groups, candidates)
        check_targets(input_files, outputs)
        check_report(html)
        as_typed = Gate.from_options(
            gate,
            floor,
            alpha=alpha,
            non_inferior=non_inferior,
            floor_interval=floor_interval,
            allow_missing=allow_missing,
            allow_unequal_depth=allow_unequal_depth,
            junit=junit,
        )
        named = [*(measure or ()), *as_typed.measures, *as_typed.floors]
        requested = as_typed.with_rel(rel)
        floors = requested.floors
        check_options(
            {
                "--slice-parts cuts numbers into slices; add --slices": slice_parts and not slices,
                "-n is the number of documents to judge; add --to-judge FILE": (
                    number is not None and to_judge is None
                ),
            }
        )
        _check_steps(steps)
        measures = named or None
        first = input_files[0]
        folder = first if first.is_dir() and not is_score_table(first) else None
        labels = None if clusters is None else cluster_labels(clusters, folder)
        inputs = read_inputs(
            input_files,
            split,
            policies,
            (qrels_format, run_format),
            judgements_first=bool(files),
            chunk_ids=chunk_ids,
            columns=names_of_columns,
        )
        stated = run_files(inputs_or_folders[1:]) if inputs.qrels else inputs_or_folders
        inputs = inputs.grouped(input_files, groups, candidates, stated)
        print_as_typed(names_as_typed(named, rel), inputs.names)
        is_alone = len(inputs.names) == 1
        check_options(
            {
                "--floor checks one run of a single system, not --repeats; give one file": (
                    floors and is_alone and groups
                ),
                "--slices takes queries as unrelated; leave out --slices or --clusters": (
                    slices and labels is not None
                ),
            }
        )
        if floors and is_alone:
            check_options(
                {
                    f"{option} needs two systems or more; one system is checked against --floor "
                    "alone": value
                    for option, value in (
                        ("--gate", requested.measures),
                        ("--non-inferior", non_inferior),
                        ("--baseline", baseline is not None),
                        ("--detail", detail),
                        ("--slices", slices),
                        ("--steps", steps is not None),
                        ("--latex", latex),
                        ("--csv", csv),
                        ("--per-query", per_query),
                        ("--json", json),
                        ("--html", html),
                        ("--to-judge", to_judge),
                    )
                }
            )
            checks = _check_one_system(
                inputs,
                measures,
                {"rel": rel, **policies},
                {"markdown": markdown, "junit": junit},
                requested,
            )
            raise typer.Exit(exit_code(checks))
        columns = (
            slice_columns(
                slices,
                slice_parts,
                folder=folder,
                split=split,
                qrels=None if inputs.qrels is None else inputs.qrels.qrels,
            )
            if slices
            else None
        )
        comparison = _compare_inputs(
            inputs,
            measures,
            baseline,
            first_is_baseline=requested.is_against_baseline and baseline is None,
            policies=policies,
            for_report=report_settings(html),
            settings={
                "rel": rel,
                "test": test,
                "correction": correction,
                "interval": interval,
                "alpha": alpha,
                "margin": margin,
                "on": on,
                "draws": draws,
                "rng": seed,
                "repeats": repeats_are,
                "deterministic": deterministic or (),
                "clusters": labels,
                "chosen_from": inputs.candidates if isinstance(candidates, list) else candidates,
            },
        )
        comparison = requested.checked(comparison)
        sliced = None if columns is None else _compare_slices(comparison, columns)
        curve = None if steps is None else _checkpoint_curve(comparison, steps)
        further = [result for result in (sliced, curve) if result is not None]
        queries = query_texts(input_files[0], split)
        write_texts(
            {
                markdown: lambda: output.markdown_summary(comparison, *further),
                latex: comparison.to_latex,
                csv: comparison.to_csv,
                per_query: lambda: comparison.to_query_csv(queries),
                json: comparison.model_dump_json,
                junit: lambda: to_junit(comparison.gate),
                to_judge: lambda: output.documents_text(
                    comparison, _documents(comparison, number or _TO_JUDGE), to_judge
                ),
            }
        )
        for result in further:
            extra = "slices" if result is sliced else "steps"
            write_texts(
                {sibling(csv, extra): result.to_csv, sibling(json, extra): result.model_dump_json}
            )
        if html is not None:
            write_html(
                html,
                comparison,
                slices=sliced,
                curve=curve,
                **report_texts(input_files[0], split),
            )
        output.print_comparison(comparison, *further, detail=detail, queries=queries)
        output.print_gate(comparison.gate, comparison.differences)
        if code := exit_code(comparison.gate):
            raise typer.Exit(code)


def _compare_inputs(  # noqa: PLR0913 - the options of the command
    inputs: ComparisonInputs,
    measures: Sequence[MeasureLike] | None,
    baseline: str | None,
    *,
    first_is_baseline: bool,
    policies: Mapping[str, Any],
    settings: Mapping[str, Any],
    for_report: Mapping[str, Any],
) -> Comparison:
    """Return the comparison of runs on judgements, or of saved results.

    Args:
        inputs: what is compared.
        measures: None: runs are compared on nDCG@10, saved results on all their measures.
        baseline: the name of the system that the others are compared with, if any.
        first_is_baseline: the first system is the baseline, in place of ``baseline``.
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
    baseline_name = next(iter(inputs.names), None) if first_is_baseline else baseline
    if inputs.qrels is None:
        return comparing.compare(inputs.systems, baseline_name, measures=measures, **settings)
    return comparing.compare_runs(
        inputs.qrels,
        inputs.systems,
        measures,
        baseline=baseline_name,
        **settings,
        **policies,
        **for_report,
    )


def _check_one_system(
    inputs: ComparisonInputs,
    measures: Sequence[MeasureLike] | None,
    policies: Mapping[str, Any],
    targets: Mapping[str, Path | None],
    requested: Gate,
) -> list[GateCheck]:
    """Check the floors of one system, write and print its means and the checks; return these.

    Args:
        inputs: one run with judgements, or one saved result.
        measures: the measures of the means.
        policies: ``rel`` and the fields of ``EvaluationSettings``.
        targets: the files "markdown" and "junit"; None: no such file.
        requested: the gate.
    """
    from beir_eval.cli import comparison_output as output  # noqa: PLC0415
    from beir_eval.comparison.gate_output import gate_markdown, to_junit  # noqa: PLC0415

    if inputs.qrels is None:
        [[result]] = inputs.systems.values()
    else:
        evaluator = Evaluator(inputs.qrels, measures or (), **policies)
        [(name, [run])] = inputs.systems.items()
        result = evaluator.evaluate(run, name=name)
    checks = requested.check_alone(result)
    write_texts(
        {
            targets["markdown"]: lambda: f"{gate_markdown(checks)}\n{to_markdown([result])}",
            targets["junit"]: lambda: to_junit(checks),
        }
    )
    printed = print_scores([result], None, are_default_measures=inputs.qrels is None)
    print_notes([result], printed)
    output.print_gate(checks)
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
        comparison.baseline,
        measures=comparison.measures,
        test=settings.test,
        correction=settings.correction if settings.correction in P_CORRECTIONS else "holm",
        alpha=settings.alpha,
        margin=settings.margin,
        on=settings.on,
        draws=settings.draws,
        rng=settings.rng,
    )


def _checkpoint_curve(comparison: Comparison, pattern: str) -> CheckpointCurve:
    """Return the curve of the systems that have a step.

    The baseline may be a system without a step in its name; it is left out.

    Args:
        comparison: the comparison of all systems.
        pattern: a regular expression that finds the step in a name; empty: the number after
            "step", "checkpoint" or "epoch".

    Raises:
        InputError: fewer than two systems have a step, or two have the same.
    """
    from beir_eval.comparison.checkpoints.checkpoint_curve import checkpoint_curve  # noqa: PLC0415
    from beir_eval.comparison.checkpoints.steps import steps_of  # noqa: PLC0415
    from beir_eval.comparison.step_names import pattern_for  # noqa: PLC0415

    results, settings = comparison.results, comparison.settings
    option = f"--steps {pattern!r}" if pattern else "--steps"
    steps = pattern or pattern_for(list(results))
    checkpoints = {
        name: system_results for name, system_results in results.items() if re.search(steps, name)
    }
    if len(checkpoints) < 2:  # noqa: PLR2004 - a curve
        msg = f"{option} finds a step in {len(checkpoints)} of the names {first_few(results)}"
        if not pattern:
            msg += (
                ", where it looks for a number after step, checkpoint or epoch; state a pattern "
                "that finds the number, such as --steps 'v(\\d+)'"
            )
        raise InputError(msg)
    try:
        steps_of(list(checkpoints), steps)
    except SettingError as error:
        problem, _, remedy = str(error).partition("; pass ")
        msg = problem.replace("steps=", "--steps ")
        if remedy:  # that of Python
            msg = (
                f"{option}: {msg}; state a pattern that matches the names of the "
                "checkpoints only, such as '(\\d+)$', or leave out the other runs"
            )
        raise InputError(msg) from error
    return checkpoint_curve(
        checkpoints,
        steps,
        measures=comparison.measures,
        alpha=settings.alpha,
        margin=settings.margin,
        on=settings.on,
        draws=settings.draws,
        rng=settings.rng,
    )


def _documents(comparison: Comparison, number: int) -> list[DocumentToJudge]:
    """Return the documents most worth judging: so many for each measure, by measure.

    Raises:
        InputError: they are not known.
    """
    if comparison.to_judge is None:
        msg = (
            "--to-judge: the documents are not known for this comparison; give the judgements and "
            "the run files, not saved results"
        )
        raise InputError(msg)
    return [
        document
        for measure in comparison.measures
        for document in comparison.documents_to_judge(number, measure=measure)
    ]


def _check_steps(steps: str | None) -> None:
    """Raise InputError if ``--steps`` is no regular expression."""
    try:
        re.compile(steps or "")
    except re.error as error:
        msg = f"--steps {steps!r} is no regular expression: {error}"
        raise InputError(msg) from error
