"""The bundled data set (see README.md beside this file) and two saved runs over it.

Public: ``FOLDER``, ``RUNS``.
"""

from pathlib import Path

#: A BEIR data-set folder: corpus.jsonl, queries.jsonl, qrels/test.tsv.
FOLDER = Path(__file__).parent

#: Two BM25 runs, the better setting first.
RUNS = (FOLDER / "runs" / "bm25.trec", FOLDER / "runs" / "bm25-plain.trec")
