"""The command ``beir-eval haystack``: evaluate and compare serialised pipelines on a data set.

Its files beside this one: ``haystack_pipelines``, ``haystack_corpus``, ``haystack_runs`` (repeats
too), ``haystack_comparison`` (and the gate), ``haystack_output``. Haystack is imported when the
command runs, so that the other commands start without it.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beir_eval.cli.comparison_options import (
    GateOptions,
    SystemOptions,
    VerdictOptions,
    check_one_system,
    check_options,
    exit_code,
)
from beir_eval.cli.console import print_as_typed, print_errors, show_in_messages
from beir_eval.cli.haystack_comparison import Verdicts
from beir_eval.cli.haystack_corpus import CorpusOptions
from beir_eval.cli.haystack_output import OUTPUTS, beside_results, print_results, write
from beir_eval.cli.haystack_pipelines import (
    PipelineOptions,
    check_arguments,
    load_retrievers,
    retriever_settings,
)
from beir_eval.cli.haystack_runs import (
    RunOptions,
    evaluate_pipelines,
    noting_warnings,
    runs_of_pipelines,
)
from beir_eval.cli.option_sets import stated_options, takes_options
from beir_eval.cli.options import (
    REL,
    check_outputs,
    measure_option,
    report_settings,
    system_names,
    write_html,
)
from beir_eval.measures import DEFAULT_MEASURES, TEXT_MEASURES, parse_all, with_rel
from beir_eval.measures.names import names_as_typed
from beir_eval.significance.repeats import FEWEST_REPEATS

if TYPE_CHECKING:
    from collections.abc import Sequence

#: {whether spans are judged: what is compared unless measures are named, as in ``compare``}.
_COMPARED = {False: "nDCG@10", True: "Recall@2000"}
#: What is evaluated, likewise.
_EVALUATED = {False: DEFAULT_MEASURES, True: TEXT_MEASURES}


@takes_options
def haystack(  # noqa: PLR0913, PLR0917 - one parameter per set of options
    context: typer.Context,
    pipelines: Annotated[
        list[Path],
        typer.Argument(help="Pipelines as YAML (Pipeline.dump); several are compared."),
    ],
    dataset: Annotated[Path, typer.Argument(help="A BEIR data-set folder.")],
    measure: Annotated[
        list[str] | None,
        measure_option("A measure; repeat it for more.  [default to compare: nDCG@10]"),
    ] = None,
    rel: Annotated[float | None, REL] = None,
    output: Annotated[list[str] | None, OUTPUTS.option()] = None,
    *,
    of_corpus: CorpusOptions,
    of_pipelines: PipelineOptions,
    running: RunOptions,
    systems: SystemOptions,
    gate: GateOptions,
    deciding: VerdictOptions,
) -> None:
    """Run PIPELINES for every judged query of DATASET, print the means, and compare them."""
    with print_errors():
        from beir_eval.integrations.haystack import documents  # noqa: PLC0415
        from beir_eval.integrations.retrieval.journal import FRESH  # noqa: PLC0415

        show_in_messages(documents.INDEX_CALL, "--index")
        show_in_messages(documents.INDEX_PIPELINE, "--index-pipeline indexing.yaml")
        show_in_messages(FRESH, "--fresh")
        check_arguments(pipelines, dataset)
        outputs, stated = OUTPUTS.files(output), stated_options(context)
        names = system_names(pipelines)
        named = [*(measure or ()), *gate.measures, *gate.floors]
        print_as_typed(names_as_typed(named, rel), names)
        requested = gate.with_rel(rel)
        requested.check_outputs(outputs)
        deterministic = systems.deterministic or []
        _check_combination(names, stated, running.repeats, deterministic)
        runs = runs_of_pipelines(names, running.repeats, deterministic, running.save_run)
        beside = ["compare"] if len(names) > 1 else []
        beside += [beside_results(name, names) for name in names if running.stages]
        check_outputs(
            [*pipelines, dataset, *filter(None, [of_corpus.index_pipeline])],
            outputs,
            [
                None if runs[0].is_named else running.save_run,
                *(path for extra in beside for path in outputs.beside(extra, "json")),
            ],
        )
        running.check()
        data, view = of_corpus.read(dataset, running.split)
        are_spans = view is not None
        settings_of = retriever_settings(
            names, of_pipelines, keep_stages=running.stages, returns_chunks=are_spans
        )
        compared = with_rel(parse_all(named or [_COMPARED[are_spans]]), rel)
        evaluated_measures = with_rel(parse_all(measure) if measure else _EVALUATED[are_spans], rel)
        verdicts = Verdicts(
            data=data,
            limit=running.limit,
            runs=runs,
            measures=parse_all([*evaluated_measures, *compared]),
            settings={
                **asdict(deciding),
                "measures": compared,
                "baseline": systems.baseline or requested.baseline_of(names),
                "repeats": None if running.repeats is None else "random",
                "deterministic": deterministic,
            },
            gate=requested,
        )
        given: set[str] = set()
        with noting_warnings(given):
            verdicts.check_ahead(stages=running.stages)
        retrievers = load_retrievers(
            dict(zip(names, pipelines, strict=True)),
            settings_of,
            allowed_modules=of_pipelines.allow or (),
            concurrency=running.concurrency,
            check_saved=running.check_saved,
        )
        of_corpus.index(data, retrievers, of_pipelines.allow or ())
        for_report = ({"fingerprint": True} if outputs["json"] else {}) | report_settings(outputs)
        evaluated = evaluate_pipelines(
            runs,
            retrievers,
            data,
            verdicts.measures,
            given=given,
            stages_of=verdicts.stages_of if running.stages else None,
            limit=running.limit,
            on_error=running.on_error,
            fresh=running.fresh,
            view=view,
            **{"keep_top": 10, "fingerprint": False} | for_report,
        )
        comparison, checks = verdicts.compare(evaluated, for_report)
        write(evaluated, comparison, checks, outputs)
        if outputs["html"]:
            in_report = comparison or evaluated.in_report()
            write_html(outputs, in_report, queries=data.queries, corpus=data.corpus)
        print_results(
            evaluated,
            comparison,
            checks,
            data.queries,
            has_measures=bool(measure) or are_spans,
            detail=systems.detail,
        )
        if code := exit_code(checks):
            raise typer.Exit(code)


def _check_combination(
    names: Sequence[str], stated: set[str], repeats: int | None, deterministic: Sequence[str]
) -> None:
    """Raise InputError if options do not go together, or have no effect on these pipelines."""
    is_repeated, is_alone = repeats is not None, len(names) == 1
    check_options(
        {
            f"--repeats {repeats}: two or more were expected, since one run shows nothing about "
            "the noise of repeats; leave it out to run each pipeline once": (
                repeats is not None and repeats < FEWEST_REPEATS
            ),
            "--deterministic names every pipeline, so nothing is repeated; leave out --repeats": (
                is_repeated and set(names) <= set(deterministic)
            ),
            "--stages are of documents, and --spans of text": {"stages", "spans"} <= stated,
            "--stages are those of one run of each pipeline; leave out --repeats": (
                is_repeated and "stages" in stated
            ),
            "--floor checks one run of a single pipeline, not --repeats": (
                is_repeated and is_alone and "floor" in stated
            ),
        }
    )
    if is_alone:
        useful = {"margin", "alpha", "detail"} if "stages" in stated else set()
        useful |= {"alpha"} if "floor" in stated else set()
        check_one_system(stated, useful, "needs two pipelines or more")
