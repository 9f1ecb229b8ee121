"""Check a tool against a column of ``expected.json``: its rules, case by case, score by score.

    python docs/conformance/run.py COLUMN COMMAND...

For each case, the command is run with three more arguments: the paths of qrels and of a run, both
in TREC's format, and the measures, separated by commas. It prints lines "query measure
value" for every query that it scores, and "all measure value" for the means; or it ends with an
exit code that is not 0, where the column says "error". Only the standard library is used.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TOLERANCE = 1e-6


def scores_of(command, case, folder):
    """Return {query: {measure: value}} of a command, or "error"."""
    qrels, run = Path(folder, "qrels.trec"), Path(folder, "run.trec")
    qrels.write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in case["qrels"]))
    rows = enumerate(case["run"], start=1)
    run.write_text(
        "".join(f"{query} Q0 {doc} {rank} {score} t\n" for rank, (query, doc, score) in rows)
    )
    measures = ",".join(case["measures"])
    done = subprocess.run(
        [*command, qrels, run, measures], capture_output=True, text=True, check=False
    )
    if done.returncode:
        return "error"
    scores = {}
    for query, measure, value in map(str.split, done.stdout.splitlines()):
        scores.setdefault(query, {})[measure] = float(value)
    return scores


def differences(actual, expected):
    """Yield a sentence for each difference between two outcomes of a case."""
    if "error" in (actual, expected):
        if actual != expected:
            yield f"{actual if actual == 'error' else 'scores'} instead of {expected}"
        return
    for query in sorted(actual.keys() | expected.keys()):
        ours, theirs = actual.get(query, {}), expected.get(query, {})
        for measure in sorted(ours.keys() | theirs.keys()):
            pair = (ours.get(measure), theirs.get(measure))
            if None in pair or abs(pair[0] - pair[1]) > TOLERANCE:
                yield f"{query} {measure}: {pair[0]} instead of {pair[1]}"


def main(column, *command):
    """Print the outcome of every case that the column has, and return the exit code."""
    cases = json.loads((HERE / "cases.json").read_text())
    expected = json.loads((HERE / "expected.json").read_text())[column]
    failed = 0
    for name, outcome in expected.items():
        with tempfile.TemporaryDirectory() as folder:
            problems = list(differences(scores_of(command, cases[name], folder), outcome))
        failed += bool(problems)
        print(f"{name}: {'; '.join(problems) or 'ok'}")
    print(f"{len(expected) - failed} of {len(expected)} cases are as in the column {column}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
