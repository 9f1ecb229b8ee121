"""The command ``beir-eval retrieve``: run a retriever in any language over a data set."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated

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
from beir_eval.cli.options import CHECK_SAVED, FRESH_OPTION
from beir_eval.datasets.dataset import load_dataset
from beir_eval.errors import SettingError
from beir_eval.evaluation.coverage import retrieval_warnings
from beir_eval.evaluation.notes import retrieval_notes
from beir_eval.integrations.retrieval.command_call import CommandCall
from beir_eval.integrations.retrieval.evaluate_dataset import first_queries
from beir_eval.integrations.retrieval.http_call import HttpCall
from beir_eval.integrations.retrieval.journal import FRESH
from beir_eval.integrations.retrieval.origin import Origin
from beir_eval.integrations.retrieval.retrieve_all import (
    DEFAULT_CHECKED,
    RunnerSettings,
    retrieve_all,
)


def retrieve(  # noqa: PLR0913, PLR0917 - one parameter per option
    dataset: Annotated[Path, typer.Argument(help="A BEIR data-set folder.")],
    output: Annotated[
        Path, typer.Option(help="The run file to write, such as run.trec; resumed from later.")
    ],
    url: Annotated[
        str | None,
        typer.Option(help="The address of a GET request, with {query} for the encoded query."),
    ] = None,
    command: Annotated[
        str | None,
        typer.Option(help="A command that prints JSON, with {query} as an argument; no shell."),
    ] = None,
    results: Annotated[
        str | None,
        typer.Option(
            help="Where the answer has the list of hits, for example data.hits; by default where "
            "Elasticsearch, OpenSearch, Qdrant, Weaviate or Milvus have it, or the answer itself."
        ),
    ] = None,
    doc_id: Annotated[
        str | None,
        typer.Option("--id", help="Where a hit has the document's id; by default _id, id or uuid."),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(help="Where a hit has its score; by default the order is the ranking."),
    ] = None,
    concurrency: Annotated[int, typer.Option(help="How many queries at a time.")] = 1,
    timeout: Annotated[
        float, typer.Option(help="The seconds after which an attempt for a query fails.")
    ] = 30.0,
    retries: Annotated[int, typer.Option(help="How often an attempt that failed is repeated.")] = 2,
    on_error: Annotated[
        str, typer.Option(help="A query that fails: stop, or leave it out as missing.")
    ] = "stop",
    check_saved: Annotated[int, CHECK_SAVED] = DEFAULT_CHECKED,
    limit: Annotated[int | None, typer.Option(help="Only the first queries.")] = None,
    split: Annotated[
        str | None,
        typer.Option(help="The split; by default BEIR's for a data set of that name, else test."),
    ] = None,
    *,
    fresh: Annotated[bool, FRESH_OPTION] = False,
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
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            on_error=on_error,
            save_run=output,
            fresh=fresh,
            check_saved=check_saved,
            progress=True,
        )
        fields = HitFields(results, doc_id, score)
        call: HttpCall | CommandCall
        if url is not None and command is None:
            call, address = HttpCall(url, fields, timeout), url
        elif command is not None and url is None:
            call, address = CommandCall(command, fields), command
        else:
            msg = "either --url or --command is needed, and not both"
            raise SettingError(msg)
        made_by = {
            # An address or a command may contain a key, so the journal has its hash only.
            "url" if command is None else "command": hashlib.sha256(address.encode()).hexdigest(),
            "results": results or "",
            "id": doc_id or "",
            "score": score or "",
        }
        queries = first_queries(load_dataset(dataset, split), limit, call.label)
        own_code = call.own_code() if isinstance(call, CommandCall) else {}
        retrieved = retrieve_all(
            call, queries, lambda: Origin(settings=made_by, own_code=own_code), settings
        )
        num_answered = len(queries) - len(retrieved.retrieval.failures)
        console.print(Text(f"{output}: the answers to {num_answered} of {len(queries)} queries"))
        facts = retrieved.retrieval
        for note in [*retrieval_warnings(facts), *retrieval_notes(facts)]:
            console.print(Text(f"- {note}"))
        if not any(doc_ids for _, doc_ids, _ in retrieved.run.rankings()):
            console.print(Text("- no document was retrieved, so no run was written"))
