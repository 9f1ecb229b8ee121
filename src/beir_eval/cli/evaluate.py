"""The command ``beir-eval evaluate``: evaluate runs and print their means."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beir_eval.cli.console import check_targets, print_as_typed, print_document, print_errors
from beir_eval.cli.damaged_runs import DamagedRuns
from beir_eval.cli.options import (
    CHUNK_IDS,
    COLUMNS,
    HTML,
    LATEX,
    MARKDOWN,
    PER_QUERY,
    QRELS_FORMAT,
    REL,
    RUN_FORMAT,
    SPLIT,
    RunReading,
    add_policy_options,
    check_report,
    evaluate_files,
    read_judgements,
    read_runs,
    report_settings,
    report_texts,
    run_files,
    stated_columns,
    system_names,
    write_html,
)
from beir_eval.cli.results_output import print_notes, print_scores, write_results, write_texts
from beir_eval.cli.stages import read_stages
from beir_eval.cli.standard_input import opened_inputs
from beir_eval.cli.streaming import evaluate_in_parts, is_streamed
from beir_eval.errors import SettingError, check_choice
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.measures import DEFAULT_MEASURES, TOOLS, parse_all, with_rel
from beir_eval.measures.names import names_as_typed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.core.qrels import Qrels
    from beir_eval.evaluation.result import EvaluationResult


@add_policy_options
def evaluate(  # noqa: PLR0913, PLR0917 - one parameter per option
    qrels: Annotated[
        Path,
        typer.Argument(
            help="Judgements: a TREC or BEIR file, or a BEIR data-set folder; - for standard input."
        ),
    ],
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Run files (TREC, JSON, CSV, Parquet, …), folders of run files, or - for standard "
            "input; a system's name is its file's stem."
        ),
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measure",
            help="A measure, for example nDCG@10; repeat it for more.  [default: nDCG, MAP, "
            "Recall, R_cap, Precision and MRR at 1, 3, 5, 10, 100 and 1000]",
        ),
    ] = None,
    rel: Annotated[float | None, REL] = None,
    per_query: Annotated[Path | None, PER_QUERY] = None,
    json: Annotated[
        Path | None, typer.Option(help="Write all results, a JSON list, to this file.")
    ] = None,
    markdown: Annotated[Path | None, MARKDOWN] = None,
    latex: Annotated[Path | None, LATEX] = None,
    html: Annotated[Path | None, HTML] = None,
    *,
    policies: dict[str, Any],
    judged_only: Annotated[
        bool, typer.Option("--judged-only", help="Drop unjudged documents before measuring.")
    ] = False,
    split: Annotated[str | None, SPLIT] = None,
    run_format: Annotated[str | None, RUN_FORMAT] = None,
    qrels_format: Annotated[str | None, QRELS_FORMAT] = None,
    columns: Annotated[str | None, COLUMNS] = None,
    chunk_ids: Annotated[str | None, CHUNK_IDS] = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="Read the runs in parts, in bounded memory.  [default: if a file is too large for "
            "half of the free memory]",
        ),
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            help="Read the run in parts, and write every query's scores to this Parquet file; an "
            "interrupted command resumes."
        ),
    ] = None,
    names: Annotated[
        str | None, typer.Option(help=f"Print measures as named by {', '.join(TOOLS)}.")
    ] = None,
    stages: Annotated[
        bool,
        typer.Option(
            "--stages",
            help="The runs are stages of one pipeline, in the order of documents: say which of "
            "them lost the relevant ones. The last is the answer.",
        ),
    ] = False,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            help="The stages that one gets its documents from, for example joiner=bm25,dense; "
            "repeat it for more.  [default: the one before]"
        ),
    ] = None,
) -> None:
    """Evaluate RUNS on QRELS and print the means, one system a row."""
    with print_errors(), opened_inputs([qrels, *runs]) as [qrels_file, *run_inputs]:
        if names is not None:
            check_choice("--names", names, TOOLS)
        files = run_files(run_inputs)
        check_targets([qrels_file, *files], [per_query, json, markdown, latex, html, table])
        check_report(html)
        measures = with_rel(parse_all(measure) if measure else DEFAULT_MEASURES, rel)
        if judged_only:
            measures = tuple(parsed(judged_only=True) for parsed in measures)
        if names is None:
            print_as_typed(
                names_as_typed(measure or (), rel, judged_only=judged_only), system_names(files)
            )
        in_memory = {"--per-query": per_query, "--json": json, "--html": html}
        whole = {"--chunk-ids": chunk_ids, "--columns": columns}
        stream = _stream_without(whole, stream=stream, table=table)
        if stages or inputs:
            others = [per_query, latex, table, names, stream or None, judged_only or None]
            staged = read_stages(
                read_judgements(qrels_file, split, qrels_format),
                read_runs(files, RunReading(run_format, chunk_ids)),
                with_rel(parse_all(measure), rel) if measure else None,
                inputs or (),
                others=others,
                policies=policies,
            )
            write_texts({json: staged.model_dump_json, markdown: staged.to_markdown})
            if html is not None:
                write_html(html, staged, **report_texts(qrels_file, split))
            print_document(replace(staged.document(), heading=""))
            return
        damaged = DamagedRuns(len(files))
        results: list[Any]
        if is_streamed(stream, files, run_format, table, in_memory):
            results = evaluate_in_parts(
                qrels_file,
                files,
                measures,
                policies,
                split=split,
                formats=(qrels_format, run_format),
                table=table,
                stated=stream is True or table is not None,
                damaged=damaged,
            )
        else:
            with stated_columns(columns) as names_of_columns:
                evaluator = Evaluator(
                    read_judgements(qrels_file, split, qrels_format, names_of_columns),
                    measures,
                    **policies,
                    **report_settings(html),
                )
                reading = RunReading(run_format, chunk_ids, names_of_columns)
                results = evaluate_files(evaluator, files, reading, damaged)
            if json is not None:
                results = _with_qrels_hash(results, evaluator.qrels)
        damaged.end_if_none_is_left()
        write_results(
            results,
            damaged.sentences(),
            per_query=per_query,
            json=json,
            markdown=markdown,
            latex=latex,
        )
        if html is not None:
            write_html(html, results, **report_texts(qrels_file, split))
        print_notes(results, print_scores(results, names, are_default_measures=not measure))
    # After the block, which prints its warnings at its end: the last lines are not overlooked.
    damaged.end(in_output=True)


def _stream_without(
    whole: Mapping[str, str | None], *, stream: bool | None, table: Path | None
) -> bool | None:
    """Return ``--stream``, or False if an option is given that reads a run as a whole.

    Args:
        whole: {option: its value} of such options.
        stream: whether runs are read in parts; None: where they are large.
        table: the score table, which is written in parts.

    Raises:
        SettingError: both are asked for.
    """
    given = [option for option, value in whole.items() if value is not None]
    if given and (stream or table is not None):
        msg = f"{given[0]} reads a run as a whole; leave out --stream and --table"
        raise SettingError(msg)
    return False if given else stream


def _with_qrels_hash(results: Sequence[EvaluationResult], qrels: Qrels) -> list[EvaluationResult]:
    """Return the results with the SHA-256 of the qrels, so that changed qrels are noticed later.

    The hash of a run takes longer than to read and evaluate it; ``fingerprint=True`` keeps both.
    """
    qrels_sha256 = qrels.fingerprint()
    return [
        result.model_copy(
            update={
                "provenance": result.provenance.model_copy(update={"qrels_sha256": qrels_sha256})
            }
        )
        for result in results
    ]
