"""The bundled data set and two saved runs on it; README.md in this folder describes them.

Public: ``FOLDER``, ``RUNS``.
"""

from pathlib import Path

#: A BEIR data-set folder: corpus.jsonl, queries.jsonl, qrels/test.tsv.
FOLDER = Path(__file__).parent

#: Two BM25 runs, the better setting first.
RUNS = (FOLDER / "runs" / "bm25.trec", FOLDER / "runs" / "bm25-plain.trec")
