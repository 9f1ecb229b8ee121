"""A process that writes files until it is killed: ``python endless_writer.py WAY FOLDER``.

It prints a line when it begins, and for a journal a line for each answer that counts as saved. The
ways that replace a file write two contents in turn; ``CONTENTS`` makes them.
"""

import sys
from itertools import count, cycle
from pathlib import Path

from beir_eval import evaluate, write_run


def report(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


QRELS = {f"q{number}": {"a": 1, "b": 0} for number in range(400)}


def run(shift):
    return {query: {"a": 2.0 - shift, "b": 1.5, "c": shift} for query in QRELS}


def save_json(path, shift):
    evaluate(QRELS, run(shift), ["nDCG@10", "MRR"], keep_top=3).save(path)


def write_text_run(path, shift):
    write_run(run(shift), path)


def write_html(path, shift):
    from beir_eval.report import write_report  # noqa: PLC0415 - only what this way needs

    write_report(path, evaluate(QRELS, run(shift), ["nDCG@10"], name=f"system {shift}"))


#: {way: (name of the file, function that writes one of two contents)}.
WAYS = {
    "JSON": ("result.json", save_json),
    "text": ("run.trec", write_text_run),
    "Parquet": ("run.parquet", write_text_run),
    "report": ("report.html", write_html),
}


def write_journal(folder):
    from beir_eval.integrations.retrieval.documents import Answer, Ranking  # noqa: PLC0415 - only what this way needs
    from beir_eval.integrations.retrieval.journal import Journal  # noqa: PLC0415 - only what this way needs
    from beir_eval.integrations.retrieval.origin import Origin  # noqa: PLC0415 - only what this way needs

    with Journal(folder / "run.trec", Origin(settings={"pipeline": "p"})) as journal:
        for number in count(len(journal._answers)):
            answer = Answer(
                Ranking([f"d{rank}" for rank in range(200)], list(range(200, 0, -1))), 0, 0.1
            )
            journal.add(f"q{number}", "who?", answer)
            report(number)


def main(way, folder):
    folder = Path(folder)
    if way in WAYS:
        name, write = WAYS[way]
        for shift in cycle((0, 1)):
            write(folder / name, shift)
            report("ready")
    else:
        write_journal(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
