"""The command ``beir-eval haystack``: evaluate a serialised pipeline on a data set.

Haystack is imported when the command runs, so that the other commands start without it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from beir_eval.adapters.writers import format_to_write
from beir_eval.cli.console import check_targets, console, print_errors, show_in_messages
from beir_eval.cli.options import (
    HTML,
    LATEX,
    MARKDOWN,
    PER_QUERY,
    check_report,
    report_settings,
    write_html,
)
from beir_eval.cli.results_output import print_notes, print_scores, write_results
from beir_eval.core.files import file_stem
from beir_eval.errors import InputError, check_choice, check_count
from beir_eval.measures import DEFAULT_MEASURES, parse_all


def haystack(  # noqa: PLR0913, PLR0917 - one parameter per option
    pipeline: Annotated[
        Path, typer.Argument(help="A pipeline as YAML, as Haystack's Pipeline.dump writes it.")
    ],
    dataset: Annotated[Path, typer.Argument(help="A BEIR data-set folder.")],
    measure: Annotated[
        list[str] | None,
        typer.Option("-m", "--measure", help="A measure, for example nDCG@10; repeat it for more."),
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option("--input", help="An input that takes the query, as component.input; repeat."),
    ] = None,
    documents_from: Annotated[
        str | None, typer.Option(help="The output of the ranking, as component.output.")
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(
            "--by", help="What identifies a document: id (default), content or meta.<key>; repeat."
        ),
    ] = None,
    collapse: Annotated[
        str | None, typer.Option(help="What a chunk is a part of, for example meta.source_id.")
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The system's name; by default the file's.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first queries.")] = None,
    concurrency: Annotated[int, typer.Option(help="How many queries at a time.")] = 1,
    on_error: Annotated[
        str, typer.Option(help="A query that fails: stop, or count it as missing.")
    ] = "stop",
    save_run: Annotated[
        Path | None, typer.Option(help="Write the run here, and resume from it later.")
    ] = None,
    per_query: Annotated[Path | None, PER_QUERY] = None,
    json: Annotated[
        Path | None, typer.Option(help="Write the result, a JSON list, to this file.")
    ] = None,
    markdown: Annotated[Path | None, MARKDOWN] = None,
    latex: Annotated[Path | None, LATEX] = None,
    html: Annotated[Path | None, HTML] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", help="A module of your own components, for example my.parts.*"),
    ] = None,
    *,
    index_corpus: Annotated[
        bool,
        typer.Option("--index", help="Write the corpus to the pipeline's store first, as text."),
    ] = False,
    split: Annotated[
        str | None,
        typer.Option(help="The split; by default BEIR's for a data set of that name, else test."),
    ] = None,
) -> None:
    """Run PIPELINE for every judged query of DATASET and print the means."""
    with print_errors():
        from beir_eval.datasets.dataset import load_dataset  # noqa: PLC0415
        from beir_eval.integrations.haystack import evaluate_pipeline, index  # noqa: PLC0415
        from beir_eval.integrations.haystack import load_pipeline as loading  # noqa: PLC0415
        from beir_eval.integrations.haystack.documents import INDEX_CALL  # noqa: PLC0415
        from beir_eval.integrations.haystack.retriever import PipelineRetriever  # noqa: PLC0415
        from beir_eval.integrations.retrieval.retrieve_all import (  # noqa: PLC0415
            ON_ERROR_CHOICES,
        )

        show_in_messages(INDEX_CALL, "--index")
        if pipeline.is_dir() and not dataset.is_dir():
            msg = (
                f"{pipeline} is a folder; the pipeline's file comes first, then the data set: "
                f"beir-eval haystack {dataset} {pipeline}"
            )
            raise InputError(msg)
        check_targets([pipeline, dataset], [save_run, per_query, json, markdown, latex, html])
        check_report(html)
        measures = parse_all(measure) if measure else DEFAULT_MEASURES
        data = load_dataset(dataset, split)
        loaded_pipeline = loading.load_pipeline(
            pipeline, allowed_modules=allow or (), concurrent=concurrency > 1
        )
        # Check all settings before the corpus is written to the store.
        check_choice("on_error", on_error, ON_ERROR_CHOICES)
        check_count("concurrency", concurrency)
        if limit is not None:
            check_count("limit", limit)
        retriever_settings: dict[str, Any] = {
            "inputs": inputs or None,
            "documents_from": documents_from,
            "document_comparison_field": field or "id",
            "collapse": collapse,
        }
        PipelineRetriever(loaded_pipeline, **retriever_settings)
        if save_run is not None:
            format_to_write(save_run)
        if index_corpus:
            num_written = index(data, loading.document_store_of(loaded_pipeline))
            console.print(f"{num_written} documents written to the pipeline's store")
        result = evaluate_pipeline(
            loaded_pipeline,
            data,
            measures=measures,
            **retriever_settings,
            run_name=name or file_stem(pipeline),
            concurrency=concurrency,
            limit=limit,
            save_run=save_run,
            on_error=on_error,
            **report_settings(html),
        )
        write_results([result], per_query=per_query, json=json, markdown=markdown, latex=latex)
        if html is not None:
            write_html(html, result, queries=data.queries, corpus=data.corpus)
        shown = print_scores([result], None, are_default_measures=not measure)
        print_notes([result], shown)
