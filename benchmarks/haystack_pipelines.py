"""Haystack: our whole suite against its four evaluators, and what evaluate_pipeline adds to a run.

1000 queries of 100 documents of 600 characters, 10 ground-truth documents each, half of them
retrieved; documents match by content, as Haystack's do. The sides take turns in one process. Inside
means as one evaluator or four of a ``Pipeline``, run once with everything.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack import Document, Pipeline
from haystack.components.evaluators import (
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
)
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.document_stores.in_memory import InMemoryDocumentStore
from measuring import put_section

from beir_eval import Qrels, load_dataset
from beir_eval.integrations.haystack import evaluate_pipeline, index
from beir_eval.integrations.haystack.documents import RetrievedNames, judgements_from_documents
from beir_eval.integrations.retrieval.documents import DocumentNames
from haystack_integrations.components.evaluators.beir_eval import BEIREvaluator

if TYPE_CHECKING:
    from collections.abc import Callable

QUERIES, DEPTH, JUDGED = 1000, 100, 10
REPETITIONS = 7
THEIRS = {
    "nDCG": DocumentNDCGEvaluator,
    "MAP": DocumentMAPEvaluator,
    "MRR": DocumentMRREvaluator,
    "Recall": DocumentRecallEvaluator,
}


def documents() -> tuple[list[list[Document]], list[list[Document]]]:
    """Return the retrieved and the ground-truth documents, a list for each query."""
    rng = random.Random(0)  # noqa: S311 - test data
    words = [f"word{number}" for number in range(2000)]
    texts = [" ".join(rng.choices(words, k=80))[:600] for _ in range(20_000)]
    retrieved = [
        [
            Document(content=texts[number], score=1 / rank)
            for rank, number in enumerate(rng.sample(range(len(texts)), DEPTH), start=1)
        ]
        for _ in range(QUERIES)
    ]
    truth = [
        [Document(content=document.content) for document in rng.sample(ranking, JUDGED // 2)]
        + [Document(content=text) for text in rng.sample(texts, JUDGED // 2)]
        for ranking in retrieved
    ]
    return retrieved, truth


def in_turns(
    sides: dict[str, Callable[[], Any]],
    repetitions: int,
    prepare: Callable[[], None] = lambda: None,
) -> dict[str, list[float]]:
    """Return {side: seconds of each run}; the first run of each side is not counted.

    Args:
        sides: the functions that are timed.
        repetitions: how often each is.
        prepare: is called before each run, and not timed.
    """
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for repetition in range(repetitions + 1):
        for name, side in sides.items():
            prepare()
            start = time.perf_counter()
            side()
            if repetition:
                seconds[name].append(time.perf_counter() - start)
    return seconds


def ratio(theirs: list[float], ours: list[float]) -> str:
    """Return the median, smallest and largest ratio of neighbouring runs, as table text."""
    ratios = [
        their_seconds / our_seconds for their_seconds, our_seconds in zip(theirs, ours, strict=True)
    ]
    return f"**{statistics.median(ratios):.1f}** ({min(ratios):.1f}-{max(ratios):.1f})"


def evaluator_pipeline(evaluators: list[Any]) -> Pipeline:
    """Return a pipeline of evaluators side by side."""
    pipeline = Pipeline()
    for number, evaluator in enumerate(evaluators):
        pipeline.add_component(f"evaluator{number}", evaluator)
    return pipeline


def compatible_rows() -> list[str]:
    """Return the table of the components beside as many of Haystack's evaluators."""
    retrieved, truth = documents()
    lists: dict[str, Any] = {"ground_truth_documents": truth, "retrieved_documents": retrieved}
    four = [evaluator() for evaluator in THEIRS.values()]
    five = [*four, DocumentRecallEvaluator(mode="multi_hit")]
    ours, compatible = BEIREvaluator(), BEIREvaluator.haystack_compatible()

    def renew_texts() -> None:
        """Give every document an equal text that is another object, as after a retrieval."""
        for ranking in chain(retrieved, truth):
            for document in ranking:
                text = str(document.content)
                object.__setattr__(document, "content", "".join([text[:1], text[1:]]))

    rows = []
    for label, prepare in (("shared", lambda: None), ("own", renew_texts)):
        seconds = in_turns(
            {
                "ours": lambda: ours.run(**lists),
                "four": lambda: [evaluator.run(**lists) for evaluator in four],
                "compatible": lambda: compatible.run(**lists),
                "five": lambda: [evaluator.run(**lists) for evaluator in five],
            },
            REPETITIONS,
            prepare,
        )
        for name, side, peers in (
            ("`BEIREvaluator`, 36 measures", "ours", "four"),
            ("`haystack_compatible()`, five measures", "compatible", "five"),
        ):
            theirs, seconds_of_ours = seconds[peers], seconds[side]
            rows.append(
                f"| {name} | {label} | {peers} | {statistics.median(theirs):.4f} | "
                f"{statistics.median(seconds_of_ours):.4f} | {ratio(theirs, seconds_of_ours)} |"
            )
    return [
        "",
        (
            "Texts are shared, as where rankings come from one store in memory, and Python knows "
            "their hashes after the first use; or own: before each run every document gets a text "
            "object of its own, whose hash is not known yet, as after a retrieval."
        ),
        "",
        "| component | texts | Haystack's evaluators | their seconds | ours | times faster |",
        "|---|---|---|---|---|---|",
        *rows,
    ]


def suite_rows() -> list[str]:
    """Return the table of the evaluators' times, outside and inside a pipeline."""
    retrieved, truth = documents()
    lists: dict[str, Any] = {"ground_truth_documents": truth, "retrieved_documents": retrieved}
    names, queries = (
        DocumentNames.from_fields("content"),
        [str(number) for number in range(QUERIES)],
    )
    run = RetrievedNames(queries, retrieved, names).run(scored=False)
    qrels = Qrels(judgements_from_documents(queries, truth, names).grades)
    handles: dict[str, Any] = {"retrieved_documents": run, "qrels": qrels}
    ours, theirs = BEIREvaluator(), [evaluator() for evaluator in THEIRS.values()]
    compatible = BEIREvaluator.haystack_compatible().run(**lists)["metrics"]
    for (name, evaluator), measure in zip(
        THEIRS.items(), ("nDCG", "MAP", "MRR", "Success"), strict=True
    ):
        score = evaluator().run(**lists)["score"]
        if score != compatible[measure]:
            sys.exit(f"{name}: theirs {score!r}, ours {compatible[measure]!r}")
    outside = in_turns(
        {
            "ours": lambda: ours.run(**lists),
            "handles": lambda: ours.run(**handles),
            "four": lambda: [evaluator.run(**lists) for evaluator in theirs],
        },
        REPETITIONS,
    )
    our_pipeline, their_pipeline = evaluator_pipeline([BEIREvaluator()]), evaluator_pipeline(theirs)
    inside = in_turns(
        {
            "ours": lambda: our_pipeline.run({"evaluator0": lists}),
            "handles": lambda: our_pipeline.run({"evaluator0": handles}),
            "four": lambda: their_pipeline.run(
                {f"evaluator{number}": lists for number in range(4)}
            ),
        },
        2,
    )
    median = {
        (where, name): f"{statistics.median(seconds):.3f}"
        for where, sides in (("outside", outside), ("inside", inside))
        for name, seconds in sides.items()
    }
    return [
        "| where | we are handed | Haystack's four, seconds | our 36 measures | times faster |",
        "|---|---|---|---|---|",
        *(
            f"| {where} | {inputs} | {median[where, 'four']} | {median[where, side]} | "
            f"{ratio(sides['four'], sides[side])} |"
            for where, sides in (("outside", outside), ("inside", inside))
            for side, inputs in (("ours", "documents"), ("handles", "`Run` and `Qrels`"))
        ),
    ]


def overhead_lines() -> list[str]:
    """Return a sentence on the time that evaluate_pipeline adds to running the pipeline."""
    data = os.environ.get("BEIR_EVAL_REALDATA")
    if not data:
        return ["", "Overhead of `evaluate_pipeline`: not measured (BEIR_EVAL_REALDATA not set)."]
    scifact = load_dataset(Path(data) / "scifact")
    store = InMemoryDocumentStore()
    index(scifact, store, progress=False)
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=100))
    limit = 100
    texts = list(scifact.queries.values())[:limit]
    overheads: list[float] = []

    def bare() -> None:
        for text in texts:
            pipeline.run({"retriever": {"query": text}}, {"retriever"})

    def ours() -> None:
        start = time.perf_counter()
        result = evaluate_pipeline(scifact, pipeline, limit=limit, progress=False)
        retrieval = result.retrieval
        if retrieval is None:
            raise AssertionError
        overheads.append(time.perf_counter() - start - sum(retrieval.seconds.values()))

    seconds = in_turns({"bare": bare, "ours": ours}, 3)
    bare_seconds, our_seconds = (statistics.median(seconds[side]) for side in ("bare", "ours"))
    added = statistics.median(overheads[1:])
    return [
        "",
        (
            f"`evaluate_pipeline` over {limit} queries of SciFact with BM25 in memory, top 100: "
            f"{our_seconds:.2f} s, of which {added:.3f} s ({added / our_seconds:.1%}) are not "
            "spent in the pipeline: reading answers, and 36 measures. A bare loop over "
            f"`pipeline.run` took {bare_seconds:.2f} s in the same turns."
        ),
    ]


def main() -> None:
    """Measure, and write the section Haystack of RESULTS.md."""
    about = " ".join(str(__doc__).split("\n\n")[1].split())
    introduction = f"Made by `python benchmarks/haystack_pipelines.py`. {about}"
    put_section(
        "Haystack", [introduction, "", *suite_rows(), *compatible_rows(), *overhead_lines()]
    )


if __name__ == "__main__":
    main()
