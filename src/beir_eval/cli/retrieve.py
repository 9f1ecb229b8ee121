"""The command ``beir-eval retrieve``: run a retriever in any language over a data set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from rich.text import Text

from beir_eval.adapters.search_responses import HitFields
from beir_eval.adapters.writers import format_to_write
from beir_eval.cli.console import (
    check_targets,
    console,
    naming_options,
    print_errors,
    show_in_messages,
)
from beir_eval.cli.option_sets import COMMON, option, takes_options
from beir_eval.cli.running_options import RunningOptions
from beir_eval.datasets.dataset import load_dataset
from beir_eval.errors import SettingError
from beir_eval.evaluation.coverage import retrieval_warnings
from beir_eval.evaluation.notes import retrieval_notes
from beir_eval.integrations.retrieval.evaluate_dataset import first_queries
from beir_eval.integrations.retrieval.journal import FRESH
from beir_eval.integrations.retrieval.json_calls import CommandCall, HttpCall
from beir_eval.integrations.retrieval.run_queries import RunnerSettings, retrieve_all


@dataclass(frozen=True, kw_only=True)
class _AnswerOptions:
    """Where an answer has its hits; by default where well-known servers have them."""

    SECTION: ClassVar[str] = "Answers"

    results: str | None = option(
        "Where the answer has the list of hits, for example data.hits; by default where "
        "Elasticsearch, OpenSearch, Qdrant, Weaviate or Milvus have it, or the answer itself.",
        metavar="PATH",
    )
    doc_id: str | None = option(
        "Where a hit has the document's id; by default _id, id or uuid.", "--id", metavar="PATH"
    )
    score: str | None = option(
        "Where a hit has its score; by default the order is the ranking.", metavar="PATH"
    )


@dataclass(frozen=True, kw_only=True)
class _CallOptions(RunningOptions):
    timeout: float = option("The seconds after which an attempt for a query fails.", default=30.0)
    retries: int = option("How often an attempt that failed is repeated.", default=2)


@takes_options
def retrieve(  # noqa: PLR0913 - one parameter per option
    dataset: Annotated[Path, typer.Argument(help="A BEIR data-set folder.")],
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="The run file to write, such as run.trec; resumed from later.",
            rich_help_panel=COMMON,
        ),
    ],
    url: Annotated[
        str | None,
        typer.Option(
            help="The address of a GET request, with {query} for the encoded query.",
            metavar="URL",
            rich_help_panel=COMMON,
        ),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(
            help="A command that prints JSON, with {query} as an argument; no shell.",
            rich_help_panel=COMMON,
        ),
    ] = None,
    *,
    answers: _AnswerOptions,
    running: _CallOptions,
) -> None:
    """Send every judged query of DATASET to a server or a command, and write the run."""
    with (
        print_errors(),
        naming_options(doc_id="--id", results="--results", score="--score"),
    ):
        show_in_messages(FRESH, "--fresh")
        check_targets([dataset], [output])
        format_to_write(output)
        settings = RunnerSettings(
            concurrency=running.concurrency,
            timeout=running.timeout,
            retries=running.retries,
            on_error=running.on_error,
            save_run=output,
            fresh=running.fresh,
            check_saved=running.check_saved,
            progress=True,
        )
        fields = HitFields(answers.results, answers.doc_id, answers.score)
        call: HttpCall | CommandCall
        if url is not None and command is None:
            call = HttpCall(url, fields, running.timeout)
        elif command is not None and url is None:
            call = CommandCall(command, fields)
        else:
            msg = "either --url or --command is needed, and not both"
            raise SettingError(msg)
        queries = first_queries(load_dataset(dataset, running.split), running.limit, call.label)
        retrieved = retrieve_all(call, queries, settings)
        num_answered = len(queries) - len(retrieved.retrieval.failures)
        console.print(Text(f"{output}: the answers to {num_answered} of {len(queries)} queries"))
        facts = retrieved.retrieval
        for note in [*retrieval_warnings(facts), *retrieval_notes(facts)]:
            console.print(Text(f"- {note}"))
        if not any(doc_ids for _, doc_ids, _ in retrieved.run.rankings()):
            console.print(Text("- no document was retrieved, so no run was written"))
