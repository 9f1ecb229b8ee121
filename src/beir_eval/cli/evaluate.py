"""The command ``beir-eval evaluate``: evaluate runs and print their means."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from beir_eval.cli.console import print_as_typed, print_document, print_errors
from beir_eval.cli.damaged_runs import DamagedRuns
from beir_eval.cli.input_files import opened_inputs, view_of_spans
from beir_eval.cli.option_sets import (
    CountingOptions,
    InputOptions,
    LatexOptions,
    option,
    takes_options,
)
from beir_eval.cli.options import (
    REL,
    RunReading,
    check_outputs,
    evaluate_files,
    measure_option,
    query_texts,
    read_runs,
    report_settings,
    report_texts,
    run_files,
    stated_columns,
    system_names,
    write_html,
)
from beir_eval.cli.outputs import OutputFormats, write_results
from beir_eval.display.tables import ScoreFormat
from beir_eval.errors import SettingError, shown
from beir_eval.evaluation.evaluator import Evaluator, default_measures
from beir_eval.evaluation.tables import screen_of
from beir_eval.measures import DEFAULT_MEASURES, parse_all, with_rel
from beir_eval.measures.names import names_as_typed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.comparison.stages import StagedResult
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run import Run
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure


#: What ``-o`` writes.
OUTPUTS = OutputFormats(
    html="a report to look at",
    json="all results",
    md="the means and notes",
    tex="the means",
    csv="every query's scores",
)


@dataclass(frozen=True, kw_only=True)
class _StageOptions:
    """Runs that are stages of one pipeline."""

    SECTION: ClassVar[str] = "Stages"

    stages: bool = option(
        "The runs are stages of one pipeline, in the order of documents: say which of them lost "
        "the relevant ones. The last is the answer.",
        "--stages",
        default=False,
    )
    inputs: list[str] | None = option(
        "The stages that one gets its documents from, for example joiner=bm25,dense; repeat it for "
        "more.  [default: the one before]",
        metavar="STAGE=INPUT,INPUT",
    )


@takes_options
def evaluate(  # noqa: PLR0913 - one parameter per option
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
        measure_option(
            "A measure, for example nDCG@10; repeat it for more.  [default: nDCG, MAP, Recall, "
            "R_cap, Precision and MRR at 1, 3, 5, 10, 100 and 1000]"
        ),
    ] = None,
    rel: Annotated[float | None, REL] = None,
    output: Annotated[list[str] | None, OUTPUTS.option()] = None,
    *,
    latex: LatexOptions,
    counting: CountingOptions,
    reading: InputOptions,
    parts: Annotated[
        bool | None,
        typer.Option(
            "--parts/--no-parts",
            help="Read runs in parts, not into memory.  [default: if a run would take more than "
            "half of the free memory]",
            rich_help_panel=InputOptions.SECTION,
        ),
    ] = None,
    stages: _StageOptions,
) -> None:
    """Evaluate RUNS on QRELS and print the means, one system a row."""
    with print_errors(), opened_inputs([qrels, *runs]) as [qrels_file, *run_inputs]:
        files, outputs = run_files(run_inputs), OUTPUTS.files(output, latex)
        check_outputs([qrels_file, *files, *reading.files], outputs)
        view = view_of_spans(qrels_file, reading)
        default = DEFAULT_MEASURES if view is None else default_measures(view.qrels)
        measures = with_rel(parse_all(measure) if measure else default, rel)
        print_as_typed(names_as_typed(measure or (), rel), system_names(files))
        if parts and view is not None:
            raise SettingError("ranked chunks are read into memory: leave out --parts")
        if stages.stages or stages.inputs:
            for other in outputs.stated("csv", "tex"):
                msg = f"--stages goes with -o of .html, .json and .md; leave out {other}"
                raise SettingError(msg)
            with stated_columns(reading) as columns:
                how = RunReading(reading.run_format, reading.chunk_ids, columns, parts=parts)
                inputs = how.judgements(qrels_file, reading, files), read_runs(files, how)
            staged = _read_stages(
                *inputs,
                with_rel(parse_all(measure), rel) if measure else None,
                stages,
                policies=asdict(counting),
            )
            outputs.write({"json": staged.model_dump_json, "md": staged.to_markdown})
            if outputs["html"]:
                write_html(outputs, staged, **report_texts(qrels_file, reading.split))
            print_document(replace(staged.document(), heading=""))
            return
        damaged = DamagedRuns(len(files))
        with stated_columns(reading) as columns:
            how = RunReading(reading.run_format, reading.chunk_ids, columns, view, parts)
            evaluator = Evaluator(
                how.judgements(qrels_file, reading, files) if view is None else view.qrels,
                measures,
                **asdict(counting),
                **report_settings(outputs),
            )
            results = evaluate_files(evaluator, files, how, damaged)
        if outputs["json"]:
            results = _with_qrels_hash(results, evaluator.qrels)
        damaged.end_if_none_is_left()
        write_results(results, outputs, ScoreFormat(**asdict(latex)), damaged.sentences())
        if outputs["html"]:
            texts = report_texts(qrels_file, reading.split)
            if view is not None:
                texts = {
                    "corpus": view.chunk_texts([how.read(file) for file in files]),
                    "queries": query_texts(reading.corpus or qrels_file),
                }
            write_html(outputs, results, **texts)
        print_document(screen_of(results, are_default_measures=not measure and view is None))
    # After the block, which prints its warnings at its end: the last lines are not overlooked.
    damaged.end(in_output=True)


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


def _read_stages(
    judgements: Any,
    runs: Mapping[str, Run],
    measures: Sequence[Measure] | None,
    options: _StageOptions,
    *,
    policies: Mapping[str, Any],
) -> StagedResult:
    """Return the result of runs that are stages of one pipeline.

    Args:
        judgements: the judgements.
        runs: {stage: its run}, in the order of documents.
        measures: the measures; None for nDCG@10.
        options: ``--inputs``.
        policies: the settings of ``evaluate``.

    Raises:
        SettingError: a value of ``--inputs`` without "=".
        InputError: as ``evaluate_stages``.
    """
    from beir_eval.comparison.stages import evaluate_stages  # noqa: PLC0415

    by_stage: dict[str, list[str]] = {}
    for stage, names in map(_inputs_of, options.inputs or ()):
        by_stage[stage] = list(dict.fromkeys([*by_stage.get(stage, ()), *names]))
    return evaluate_stages(judgements, runs, measures, inputs=by_stage or None, **policies)


def _inputs_of(value: str) -> tuple[str, list[str]]:
    stage, equals, names = value.partition("=")
    if not equals or not stage or not names:
        msg = f"--inputs {shown(value)}: expected STAGE=INPUT,INPUT, for example joiner=bm25,dense"
        raise SettingError(msg)
    return stage.strip(), [name.strip() for name in names.split(",")]
