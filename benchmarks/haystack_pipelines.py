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
from beir_eval.integrations.haystack.documents import (
    DocumentNames,
    Ranking,
    judgements_of,
    run_from_rankings,
)
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
    """Return retrieved and ground-truth documents of each query."""
    chance = random.Random(0)  # noqa: S311 - test data
    words = [f"word{number}" for number in range(2000)]
    texts = [" ".join(chance.choices(words, k=80))[:600] for _ in range(20_000)]
    retrieved = [
        [
            Document(content=texts[one], score=1 / rank)
            for rank, one in enumerate(chance.sample(range(len(texts)), DEPTH), start=1)
        ]
        for _ in range(QUERIES)
    ]
    truth = [
        [Document(content=one.content) for one in chance.sample(listed, JUDGED // 2)]
        + [Document(content=text) for text in chance.sample(texts, JUDGED // 2)]
        for listed in retrieved
    ]
    return retrieved, truth


def in_turns(sides: dict[str, Callable[[], Any]], repetitions: int) -> dict[str, list[float]]:
    """Return the seconds of each side, run by run; the first one of each is not counted."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for repetition in range(repetitions + 1):
        for name, side in sides.items():
            start = time.perf_counter()
            side()
            if repetition:
                taken[name].append(time.perf_counter() - start)
    return taken


def ratio(theirs: list[float], ours: list[float]) -> str:
    """Return the median and the extremes of the ratios of neighbouring runs."""
    ratios = [slow / fast for slow, fast in zip(theirs, ours, strict=True)]
    return f"**{statistics.median(ratios):.1f}** ({min(ratios):.1f}-{max(ratios):.1f})"


def of_evaluators(evaluators: list[Any]) -> Pipeline:
    """Return a pipeline of evaluators side by side."""
    pipeline = Pipeline()
    for number, evaluator in enumerate(evaluators):
        pipeline.add_component(f"evaluator{number}", evaluator)
    return pipeline


def suite_rows() -> list[str]:
    """Measure the evaluators, outside and inside a pipeline."""
    retrieved, truth = documents()
    lists: dict[str, Any] = {"ground_truth_documents": truth, "retrieved_documents": retrieved}
    names, queries = DocumentNames.by("content"), [str(one) for one in range(QUERIES)]
    run = run_from_rankings(
        {
            query: Ranking.from_documents(query, listed, names)
            for query, listed in zip(queries, retrieved, strict=True)
        }
    )
    qrels = Qrels(judgements_of(queries, truth, names).grades)
    handles: dict[str, Any] = {"retrieved_documents": run, "qrels": qrels}
    ours, four = BEIREvaluator(), [kind() for kind in THEIRS.values()]
    compatible = BEIREvaluator.haystack_compatible().run(**lists)["metrics"]
    for (name, kind), measure in zip(
        THEIRS.items(), ("nDCG", "MAP", "MRR", "Success"), strict=True
    ):
        score = kind().run(**lists)["score"]
        if score != compatible[measure]:
            sys.exit(f"{name}: theirs {score!r}, ours {compatible[measure]!r}")
    outside = in_turns(
        {
            "ours": lambda: ours.run(**lists),
            "handles": lambda: ours.run(**handles),
            "four": lambda: [one.run(**lists) for one in four],
        },
        REPETITIONS,
    )
    one_in_a_pipeline, four_in_a_pipeline = of_evaluators([BEIREvaluator()]), of_evaluators(four)
    inside = in_turns(
        {
            "ours": lambda: one_in_a_pipeline.run({"evaluator0": lists}),
            "handles": lambda: one_in_a_pipeline.run({"evaluator0": handles}),
            "four": lambda: four_in_a_pipeline.run({f"evaluator{one}": lists for one in range(4)}),
        },
        2,
    )
    median = {
        (place, name): f"{statistics.median(seconds):.3f}"
        for place, sides in (("outside", outside), ("inside", inside))
        for name, seconds in sides.items()
    }
    return [
        "| where | we are handed | Haystack's four, seconds | our 36 measures | times faster |",
        "|---|---|---|---|---|",
        *(
            f"| {place} | {what} | {median[place, 'four']} | {median[place, side]} | "
            f"{ratio(sides['four'], sides[side])} |"
            for place, sides in (("outside", outside), ("inside", inside))
            for side, what in (("ours", "documents"), ("handles", "`Run` and `Qrels`"))
        ),
    ]


def overhead_lines() -> list[str]:
    """Measure what evaluate_pipeline adds to running the pipeline for every query."""
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
    inside: list[float] = []

    def bare() -> None:
        for text in texts:
            pipeline.run({"retriever": {"query": text}}, {"retriever"})

    def ours() -> None:
        start = time.perf_counter()
        result = evaluate_pipeline(pipeline, scifact, limit=limit, progress=False)
        took = result.retrieval
        if took is None:
            raise AssertionError
        inside.append(time.perf_counter() - start - sum(took.seconds.values()))

    taken = in_turns({"bare": bare, "ours": ours}, 3)
    bare_seconds, our_seconds = (statistics.median(taken[one]) for one in ("bare", "ours"))
    beside = statistics.median(inside[1:])
    return [
        "",
        (
            f"`evaluate_pipeline` over {limit} queries of SciFact with BM25 in memory, top 100: "
            f"{our_seconds:.2f} s, of which {beside:.3f} s ({beside / our_seconds:.1%}) are not "
            "spent in the pipeline: reading answers, and 36 measures. A bare loop over "
            f"`pipeline.run` took {bare_seconds:.2f} s in the same turns."
        ),
    ]


def main() -> None:
    """Measure, and put the section in its place in RESULTS.md."""
    about = " ".join(str(__doc__).split("\n\n")[1].split())
    made = f"Made by `python benchmarks/haystack_pipelines.py`. {about}"
    put_section("Haystack", [made, "", *suite_rows(), *overhead_lines()])


if __name__ == "__main__":
    main()
