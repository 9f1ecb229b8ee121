"""A Haystack pipeline as something that retrieves."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from beir_eval.display.progress import progress_bar
from beir_eval.errors import RunError, SettingError, check_choice, check_count, some
from beir_eval.evaluation.records import Retrieval
from beir_eval.integrations.haystack.documents import (
    DocumentNames,
    distinct_ids,
    run_from_rankings,
)
from beir_eval.integrations.haystack.fingerprint import (
    fingerprint_of_function,
    fingerprint_of_pipeline,
)
from beir_eval.integrations.haystack.journal import Journal
from beir_eval.integrations.haystack.query_runner import Answer, Asking, Round
from beir_eval.integrations.haystack.sockets import documents_output, query_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from beir_eval.core.run import Run

    #: Names of inputs that take the query, or what a pipeline is run with for (query_id, text).
    Inputs = str | Iterable[str] | Callable[[str, str], Mapping[str, Any]]

FAILURES = ("stop", "missing")


class PipelineRetriever:
    """A pipeline as something that retrieves: {query_id: text} in, a ``Run`` out.

    ``PipelineRetriever(pipeline)`` is a system for ``Benchmark``, which takes a pipeline itself
    too; this says how it is to be run.

    Args:
        pipeline: the pipeline; it is not changed.
        inputs: the inputs that take the query, as "component.input" or several of them; or a
            function (query_id, text) that returns what the pipeline is run with. By default the one
            text that must be given, or several named "query", "question" or "text", and optional
            ones named "query" or "question".
        documents_from: the output of the ranking, as "component.output"; by default the one list
            of Documents from which no other is made.
        document_comparison_field: what a document goes by in the judgements: "id", "content",
            "meta.a.b", or several as a composite key.
        collapse: a field that names the document that a chunk is a part of, as "meta.source_id".
        concurrency: how many queries are under way at a time. More than 1 needs a pipeline that
            runs in an event loop: any of Haystack 3, an AsyncPipeline of Haystack 2.
        progress: whether a progress bar is shown, on a terminal or in a notebook.

    Raises:
        SettingError: inputs or output cannot be told, or are not there.
    """

    def __init__(  # noqa: PLR0913 - one keyword a setting
        self,
        pipeline: Any,
        *,
        inputs: Inputs | None = None,
        documents_from: str | None = None,
        document_comparison_field: str | Sequence[str] = "id",
        collapse: str | None = None,
        concurrency: int = 1,
        progress: bool = False,
    ) -> None:
        """Find inputs and output."""
        if not hasattr(pipeline, "graph") or not hasattr(pipeline, "run"):
            msg = f"a Haystack pipeline was expected, not {type(pipeline).__name__}"
            raise SettingError(msg)
        check_count("concurrency", concurrency)
        output = documents_output(pipeline, documents_from)
        if callable(inputs):
            request, self._inputs = inputs, f"function {fingerprint_of_function(inputs)}"
        else:
            sockets = query_inputs(pipeline, inputs)
            self._inputs = ", ".join(map(str, sockets))

            def request(_: str, text: str) -> Mapping[str, Any]:
                data: dict[str, dict[str, str]] = {}
                for socket in sockets:
                    data.setdefault(socket.component, {})[socket.name] = text
                return data

        names = DocumentNames.by(document_comparison_field, collapse)
        self._asking = Asking(pipeline, request, output, names)
        self._concurrency, self._progress = concurrency, progress

    @property
    def made_by(self) -> dict[str, str]:
        """What tells runs of this pipeline, with these settings, from others.

        The pipeline is told by its components, their settings as they serialise them, and their
        connections. What its document store holds is not part of it.
        """
        names = self._asking.names
        return {
            "pipeline": fingerprint_of_pipeline(self._asking.pipeline),
            "inputs": self._inputs,
            "documents_from": str(self._asking.output),
            "documents_go_by": " + ".join(names.fields),
            "collapse": names.collapse or "",
        }

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of ``made_by``; a benchmark tells saved runs by it."""
        return hashlib.sha256(json.dumps(self.made_by).encode()).hexdigest()

    def __call__(self, queries: Mapping[str, str], corpus: object = None) -> Run:  # noqa: ARG002
        """Return the rankings of all queries; the corpus is what the pipeline's store holds.

        Raises:
            RetrievalError: the pipeline failed for a query.
        """
        return self.retrieve(queries)[0]

    def retrieve(
        self,
        queries: Mapping[str, str],
        *,
        on_error: str = "stop",
        save_run: str | Path | None = None,
    ) -> tuple[Run, Retrieval]:
        """Run the pipeline for every query; only ids and scores are kept.

        Args:
            queries: {query_id: text}.
            on_error: the first query that fails is raised ("stop"), or those that fail are left
                out of the run ("missing").
            save_run: where the run is written, when all queries have been asked. What is answered
                stands in ``<save_run>.progress.jsonl`` at once, and is not asked again.

        Raises:
            RetrievalError: the pipeline failed for a query.
            RunError: it failed for all of them.
            SettingError: what is saved there was made by another pipeline; the name says no format.
            InputError: an id that is neither text nor an integer, or that the format of
                ``save_run`` cannot hold.
        """
        check_choice("on_error", on_error, FAILURES)
        queries = dict(zip(distinct_ids("ids of queries", queries), queries.values(), strict=True))
        if save_run is None:
            return self._retrieve(queries, None, on_error)
        with Journal(save_run, self.made_by) as journal:
            return self._retrieve(queries, journal, on_error)

    def _retrieve(
        self, queries: Mapping[str, str], journal: Journal | None, on_error: str
    ) -> tuple[Run, Retrieval]:
        answers = {} if journal is None else journal.answers_to(queries)
        open_queries = {one: text for one, text in queries.items() if one not in answers}

        def answered(query_id: str, answer: Answer) -> None:
            if journal is not None:
                journal.add(query_id, queries[query_id], answer)
            answers[query_id] = answer

        with progress_bar(
            shown=self._progress, total=len(queries), initial=len(answers), desc="queries"
        ) as advance:
            asking = Round(self._asking, open_queries, on_error == "stop", answered, advance)
            if open_queries:
                asking.run(self._concurrency)
        if not answers:
            reasons = some(f"{query}: {why}" for query, why in asking.failures.items())
            msg = f"the pipeline failed for every query: {reasons}"
            raise RunError(msg)
        if journal is not None and (open_queries or journal.lacks_run):
            journal.write_run()
        in_order = {query_id: answers[query_id] for query_id in queries if query_id in answers}
        run = run_from_rankings({query_id: one.ranking for query_id, one in in_order.items()})
        return run, Retrieval(
            seconds={
                query_id: answer.seconds
                for query_id, answer in in_order.items()
                if answer.seconds is not None
            },
            failures=asking.failures,
            left_out=sum(answer.left_out for answer in in_order.values()),
        )
