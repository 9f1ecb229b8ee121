"""Small data sets in BEIR's layout, and folders of a benchmark."""

import json
import shutil

from beir_eval.datasets import demo


def write_dataset(folder, texts, queries, judged, metadata=None, *, split="test"):
    """Write a data set to a folder, or another split of it, and return the folder.

    ``texts`` is {doc_id: text}, ``queries`` {query_id: text}, ``judged`` {query_id: {doc_id:
    grade}}, and ``metadata`` {doc_id: metadata}.
    """
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    corpus = [
        {"_id": name, "title": "", "text": text, "metadata": (metadata or {}).get(name, {})}
        for name, text in texts.items()
    ]
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in corpus))
    rows = [{"_id": name, "text": text} for name, text in queries.items()]
    (folder / "queries.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    lines = [
        f"{q}\t{doc}\t{grade}" for q, grades in judged.items() for doc, grade in grades.items()
    ]
    (folder / "qrels" / f"{split}.tsv").write_text(
        "\n".join(["query-id\tcorpus-id\tscore", *lines, ""])
    )
    return folder


def write_benchmark(folder, names):
    """Write the bundled judgements under these names, with the runs "good" and "plain" of each.

    Return the folder of the data sets and that of the runs.
    """
    sets, runs = folder / "sets", folder / "runs"
    sets.mkdir()
    for name in names:
        shutil.copy(demo.FOLDER / "qrels" / "test.tsv", sets / f"{name}.tsv")
        for system, file in zip(("good", "plain"), demo.RUNS, strict=True):
            (runs / system).mkdir(parents=True, exist_ok=True)
            shutil.copy(file, runs / system / f"{name}.trec")
    return sets, runs
