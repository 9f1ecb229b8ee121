"""The chunking data: five corpora, 472 questions, 790 gold spans; fixed chunkers."""

import csv
import json
from pathlib import Path

from beir_eval.spans import Span


def read(folder: Path):
    """Return {doc_id: text}, {query_id: question} and {query_id: its spans}."""
    corpora, queries, gold = {}, {}, {}
    for file in sorted(folder.glob("*.md")):
        with file.open(encoding="utf-8", newline="") as opened:
            corpora[file.stem] = opened.read()
    with (folder / "questions_df.csv").open(encoding="utf-8", newline="") as opened:
        for number, row in enumerate(csv.DictReader(opened)):
            queries[f"q{number}"] = row["question"]
            gold[f"q{number}"] = [
                Span(row["corpus_id"], span["start_index"], span["end_index"], span["content"])
                for span in json.loads(row["references"])
            ]
    return corpora, queries, gold


def fixed(text: str, size: int, overlap: int = 0):
    """Return (start, end) of chunks of a size; the last may be shorter."""
    starts = [0]
    while starts[-1] + size < len(text):
        starts.append(starts[-1] + size - overlap)
    return [(start, min(start + size, len(text))) for start in starts]
