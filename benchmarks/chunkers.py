"""Twelve chunkers on one gold set of spans: which is better, and which rule decides it.

    BEIR_EVAL_REALDATA=../shared/data python benchmarks/chunkers.py

472 questions with 790 gold spans in five texts (chunking_evaluation's data), the first 60 chunks by
BM25. A verdict is that of the sign-flip test at .05 without correction; a pair turns if one rule
finds A better than B and another one B better than A. One data set, one retriever, English.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from haystack import Document
from haystack.components.preprocessors import DocumentSplitter
from langchain_text_splitters import RecursiveCharacterTextSplitter
from measuring import put_section

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from beir_eval import Qrels, Run, compare_runs, evaluate
from beir_eval.spans import Chunk, Chunks, Spans
from beir_eval.spans.texts import DocumentTexts
from chunk_rankings import bm25_rankings  # type: ignore[import-not-found]
from chunking_data import fixed, read  # type: ignore[import-not-found]

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from beir_eval.comparison import Comparison
    from beir_eval.spans import SpanView

BUDGETS = (500, 1000, 2000, 4000)
#: How often an evaluation is timed; the fastest counts.
TIMES = 5


def recursive(text: str, size: int, overlap: int = 0) -> list[tuple[int, int]]:
    """Return the extents of the chunks of LangChain's recursive splitter."""
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=overlap, add_start_index=True
    )
    return [
        (made.metadata["start_index"], made.metadata["start_index"] + len(made.page_content))
        for made in splitter.create_documents([text])
    ]


def words(text: str, length: int, by: Literal["word", "period"] = "word") -> list[tuple[int, int]]:
    """Return the extents of the chunks of Haystack's DocumentSplitter."""
    splitter = DocumentSplitter(split_by=by, split_length=length, split_overlap=0)
    extents = []
    for made in splitter.run([Document(content=text)])["documents"]:
        start = made.meta["split_idx_start"]
        extents.append((start, start + len(made.content or "")))
    return extents


CHUNKERS: dict[str, Callable[[str], list[tuple[int, int]]]] = {
    "fixed-200": lambda text: fixed(text, 200),
    "fixed-400": lambda text: fixed(text, 400),
    "fixed-400/200": lambda text: fixed(text, 400, 200),
    "fixed-800": lambda text: fixed(text, 800),
    "fixed-800/400": lambda text: fixed(text, 800, 400),
    "fixed-1600": lambda text: fixed(text, 1600),
    "recursive-200": lambda text: recursive(text, 200),
    "recursive-400": lambda text: recursive(text, 400),
    "recursive-400/200": lambda text: recursive(text, 400, 200),
    "recursive-800": lambda text: recursive(text, 800),
    "words-60": lambda text: words(text, 60),
    "sentences-3": lambda text: words(text, 3, "period"),
}


def turned(base: Comparison, other: Comparison) -> int:
    """Return how many pairs have opposite significant verdicts under two rules."""
    verdicts = [
        {
            (difference.system, difference.against): difference.verdict
            for difference in comparison.differences
        }
        for comparison in (base, other)
    ]
    return sum(
        {verdicts[0][pair], verdicts[1][pair]} == {"better", "worse"} for pair in verdicts[0]
    )


def main() -> None:
    """Run all chunkers, and write the tables."""
    corpora, queries, gold = read(Path(os.environ["BEIR_EVAL_REALDATA"]) / "chunking")
    texts = DocumentTexts(corpora)
    spans = Spans(gold, texts)
    ranked: dict[str, Chunks] = {}
    for name, chunker in CHUNKERS.items():
        extents = {doc_id: chunker(text) for doc_id, text in corpora.items()}
        rankings = bm25_rankings(corpora, queries, extents)
        ranked[name] = Chunks(
            {
                query_id: [
                    Chunk(doc_id, start, end, corpora[doc_id][start:end])
                    for doc_id, start, end in ranking
                ]
                for query_id, ranking in rankings.items()
            },
            texts,
        )
    view = spans.view()
    rows = ["| chunker | mean length | lost | recall, 5 chunks | precision, 5 chunks |"]
    rows[0] += "".join(f" Recall@{budget:,} |" for budget in BUDGETS) + " MAP |"
    rows.append("|:---|" + "---:|" * (5 + len(BUDGETS)))
    for name, chunks in ranked.items():
        five = evaluate(view.qrels, view.run(chunks, top=5), ["Recall", "Precision"])
        result = evaluate(view.qrels, view.run(chunks))
        means = [
            five["Recall"],
            five["Precision"],
            *(mean.value or 0 for mean in result.means.values()),
        ]
        cells = " | ".join(f"{mean:.3f}" for mean in means)
        rows.append(f"| {name} | {chunks.mean_length:.0f} | {chunks.alignment.lost} | {cells} |")
    lines = [*rows, "", *verdicts_by_rule(spans, ranked), "", cost(spans, ranked["fixed-400"])]
    print("\n".join(lines))
    put_section("Chunkers on judged spans", lines)


def verdicts_by_rule(spans: Spans, ranked: Mapping[str, Chunks]) -> list[str]:
    """Return how many of the 66 verdicts turn round against Recall@2000 with another rule."""
    characters = spans.view()

    def compared(view: SpanView, measure: str, top: int | None = None) -> Comparison:
        runs = {name: view.run(chunks, top=top) for name, chunks in ranked.items()}
        return compare_runs(view.qrels, runs, measure, correction="none", repeats=None)

    base = compared(characters, "Recall@2000")
    significant = sum(difference.verdict != "undecided" for difference in base.differences)
    rules = {
        "recall at 5 chunks": compared(characters, "Recall", top=5),
        "precision at 5 chunks": compared(characters, "Precision", top=5),
        "Recall@1000": compared(characters, "Recall@1000"),
        "Recall@4000": compared(characters, "Recall@4000"),
        "MAP": compared(characters, "MAP"),
        "copies=none": compared(spans.view(copies="none"), "Recall@2000"),
        "repeated=dropped": compared(spans.view(repeated="dropped"), "Recall@2000"),
    }
    for overlap in (0.01, 0.25, 0.5, 0.75, 0.9, 1.0):
        rules[f"overlap={overlap:g}"] = compared(spans.view(overlap=overlap), "Recall@2000")
    pairs = len(base.differences)
    return [
        f"Of {pairs} pairs, {significant} have a significant verdict on Recall@2000; other rules:",
        "",
        "| rule | significant | turned round |",
        "|:---|---:|---:|",
        *(
            f"| {name} | {sum(d.verdict != 'undecided' for d in comparison.differences)} | "
            f"{turned(base, comparison)} |"
            for name, comparison in rules.items()
        ),
    ]


def cost(spans: Spans, chunks: Chunks) -> str:
    """Return the cost of ranks of characters, compared with ids of chunks as documents."""
    rankings = {
        query_id: {
            f"{chunk.doc_id}[{chunk.start}:{chunk.end}]": float(-rank)
            for rank, chunk in enumerate(listed)
        }
        for query_id, listed in chunks.by_query.items()
    }
    plain = Qrels(
        {query_id: dict.fromkeys(list(docs)[:2], 1) for query_id, docs in rankings.items()}
    )
    measures = [*(f"Recall@{budget}" for budget in BUDGETS), "MAP"]
    view = spans.view()
    run, plain_run = view.run(chunks), Run(rankings)
    seconds: dict[str, list[float]] = {"text": [], "plain": []}
    for _ in range(TIMES):
        for side, qrels, ranking in (("text", view.qrels, run), ("plain", plain, plain_run)):
            begin = time.perf_counter()
            evaluate(qrels, ranking, measures)
            seconds[side].append(time.perf_counter() - begin)
    ratio = min(seconds["text"]) / min(seconds["plain"])
    return (
        f"Projection and evaluation of {len(rankings)} rankings of 60 chunks take {ratio:.1f} "
        f"times the evaluation of the ids of the chunks (the fastest of {TIMES}, taking turns)."
    )


if __name__ == "__main__":
    main()
