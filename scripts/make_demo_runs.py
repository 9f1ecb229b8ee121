"""Regenerate the two saved runs of the bundled data set.

Run it from anywhere with::

    pip install bm25s PyStemmer
    python scripts/make_demo_runs.py

It reads ``src/beir_eval/datasets/demo/corpus.jsonl`` and ``queries.jsonl`` and writes
two TREC run files next to them: ``runs/bm25.trec`` (title and text, English
stop words removed, Snowball stemming) and ``runs/bm25-plain.trec`` (text only,
words unchanged). The same input gives the same bytes every time.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import bm25s
import Stemmer

DATA_DIR = Path(__file__).resolve().parents[1] / "src" / "beir_eval" / "datasets" / "demo"
#: The number of documents per query in a run.
DEPTH = 20

# The usual BM25 defaults, written out so that a new release of bm25s with
# other defaults does not change the saved runs.
K1 = 1.5
B = 0.75
METHOD = "lucene"


@dataclass(frozen=True)
class Setting:
    """How texts are prepared before they are indexed and searched.

    Attributes:
        name: the name of the run.
        with_title: whether titles are indexed.
        normalise: whether stop words are removed and words are stemmed.
    """

    name: str
    with_title: bool
    normalise: bool


SETTINGS = (
    Setting(name="bm25", with_title=True, normalise=True),
    Setting(name="bm25-plain", with_title=False, normalise=False),
)


def read_jsonl(path: Path) -> list[dict[str, str]]:
    """Return the objects of a JSON-lines file, in the order of the file."""
    with path.open(encoding="utf-8") as handle:
        return [json.loads(line) for line in handle if line.strip()]


def document_text(document: dict[str, str], setting: Setting) -> str:
    """Return the part of a document that the setting indexes."""
    if setting.with_title:
        return f"{document['title']} {document['text']}"
    return document["text"]


def tokenize(texts: list[str], setting: Setting) -> list[list[str]]:
    """Return the lower-case tokens of each text, normalised if the setting says so."""
    # "english_plus" also drops question words such as "why", "do" and "we";
    # the plain "english" list of bm25s has 33 words only.
    tokens: list[list[str]] = bm25s.tokenize(
        texts,
        stopwords="english_plus" if setting.normalise else [],
        stemmer=Stemmer.Stemmer("english") if setting.normalise else None,
        return_ids=False,
        show_progress=False,
    )
    return tokens


def build_index(texts: list[str], setting: Setting) -> bm25s.BM25:
    """Return an index of the texts; document n is the n-th text."""
    # Double precision keeps the sixth decimal the same on every machine.
    index = bm25s.BM25(k1=K1, b=B, method=METHOD, dtype="float64", backend="numpy")
    index.index(tokenize(texts, setting), show_progress=False)
    return index


def rank(scores: dict[str, float]) -> list[tuple[str, float]]:
    """Return (doc_id, score) of the best documents, best first, without scores of 0."""
    # Scores are rounded before sorting, because a reader of the file sees only
    # six decimals. Equal scores are put in descending order of the id, as
    # trec_eval does, so that the rank column agrees with what it computes.
    rounded = {doc_id: round(score, 6) for doc_id, score in scores.items()}
    matching = [(doc_id, score) for doc_id, score in rounded.items() if score > 0]
    matching.sort(key=lambda pair: (pair[1], pair[0]), reverse=True)
    return matching[:DEPTH]


def run_lines(
    setting: Setting,
    corpus: list[dict[str, str]],
    queries: list[dict[str, str]],
) -> list[str]:
    """Search every query and return the lines of the run file."""
    index = build_index([document_text(document, setting) for document in corpus], setting)
    query_tokens = tokenize([query["text"] for query in queries], setting)
    doc_ids = [document["_id"] for document in corpus]
    lines: list[str] = []
    for query, tokens in zip(queries, query_tokens, strict=True):
        # All scores rather than bm25s's own top-k: its order among equal
        # scores is not defined.
        scores = [float(score) for score in index.get_scores(tokens)]
        ranking = rank(dict(zip(doc_ids, scores, strict=True)))
        lines.extend(
            f"{query['_id']} Q0 {doc_id} {position} {score:.6f} {setting.name}"
            for position, (doc_id, score) in enumerate(ranking, start=1)
        )
    return lines


def write_atomically(path: Path, lines: list[str]) -> None:
    """Write the lines to a temporary file, then move it to ``path``: no reader sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The temporary file is in the same folder because os.replace is atomic
    # only within one file system.
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as handle:
            handle.writelines(f"{line}\n" for line in lines)
        # mkstemp makes files that only the owner can read; data files that go
        # into a package must be readable by all.
        Path(temporary).chmod(0o644)
        os.replace(temporary, path)  # noqa: PTH105 - the well-known atomic call
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def main() -> None:
    """Write one run file for each setting."""
    corpus = read_jsonl(DATA_DIR / "corpus.jsonl")
    queries = read_jsonl(DATA_DIR / "queries.jsonl")
    for setting in SETTINGS:
        lines = run_lines(setting, corpus, queries)
        path = DATA_DIR / "runs" / f"{setting.name}.trec"
        write_atomically(path, lines)
        sys.stdout.write(f"wrote {path} ({len(lines)} lines)\n")


if __name__ == "__main__":
    main()
