"""Compare docs/examples/ndcg_mrr.sql with ``evaluate``: python sql_measures.py [REAL DATA].

It runs in a process of its own, because DuckDB prints a list of its objects where pytest ends.
"""

import random
import re
import sys
import warnings
from pathlib import Path

import duckdb
import pyarrow as pa

from beir_eval import MRR, BeirEvalWarning, Qrels, Run, evaluate, nDCG, read_qrels, read_run
from beir_eval.errors import DuplicateDocumentError, QueryMismatchError

FILE = Path(__file__).parents[2] / "docs" / "examples" / "ndcg_mrr.sql"
TOLERANCE = 1e-12
DOC_IDS = [*map(str, range(12)), "d1", "D1", "z", "é", "日本", "\U0001f600", "￿"]
#: Some are equal as doubles, some only as float32.
SCORES = [0.0, -0.0, 1, 1.5, 0.1234567890, 0.1234567891, 2**53, 2**53 + 1, -3e30]
CUTOFFS = (1, 2, 3, 5, 10, 100)
REAL = {
    "dl19": "qrels/dl19-passage.trec",
    "scifact": "scifact/qrels/test.tsv",
    "trec-covid": "qrels/trec-covid.trec",
}


def statements():
    """Return its statements: set the cutoff, create the view, rows, means, duplicates."""
    blocks = re.findall(r"[^;]+;", FILE.read_text())
    assert len(blocks) == 5, "the file has other statements than this script runs"
    return blocks


def table(rows, *names):
    """Return rows of two ids and a number as an Arrow table."""
    columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
    types = (pa.string(), pa.string(), pa.float64())
    arrays = [pa.array(values, kind) for values, kind in zip(columns, types, strict=True)]
    return pa.table(dict(zip(names, arrays, strict=True)))


def scores_of(qrels, run, cutoff):
    """Return {query: (nDCG, MRR)} and the means, or zeros if the run has no judged query."""
    try:
        result = evaluate(qrels, run, [nDCG @ cutoff, MRR @ cutoff], ties="trec_eval10")
    except QueryMismatchError:
        return dict.fromkeys(qrels.query_ids, (0.0, 0.0)), (0.0, 0.0)
    columns = [result.scores(name).tolist() for name in result.measures]
    per_query = dict(zip(result.query_ids, zip(*columns, strict=True), strict=True))
    return per_query, tuple(result.aggregate.values())


def check(qrels, run, cutoffs=CUTOFFS, *, case):
    """Compare the scores of every query and the means, or raise AssertionError.

    Returns:
        The number of scores compared, and how many are equal to the bit.
    """
    set_cutoff, create_view, per_query, means, duplicates = statements()
    connection = duckdb.connect()
    connection.execute("SET default_collation = 'NOCASE.NOACCENT'")  # must play no role
    judged, ranked = qrels.to_dataframe().rows(), run.to_dataframe().rows()
    again = [*judged, *judged[::3]]  # a repeated judgement counts once
    connection.register("qrels", table(again, "query_id", "doc_id", "grade"))
    connection.register("run", table(ranked, "query_id", "doc_id", "score"))
    connection.execute(create_view)
    if connection.execute(duplicates).fetchall():
        try:
            evaluate(qrels, run, [nDCG])
        except DuplicateDocumentError:
            return 0, 0
        msg = f"{case}: only the SQL finds documents that are listed twice"
        raise AssertionError(msg)
    count = equal = 0
    for cutoff in cutoffs:
        connection.execute(set_cutoff.replace("10", str(cutoff)))
        expected, expected_means = scores_of(qrels, run, cutoff)
        actual = {row[0]: row[1:] for row in connection.execute(per_query).fetchall()}
        assert actual.keys() == expected.keys(), f"{case}: other queries"
        for query, scores in actual.items():
            for name, score, ours in zip(("nDCG", "MRR"), scores, expected[query], strict=True):
                assert abs(score - ours) <= TOLERANCE, (
                    f"{case}: {name}@{cutoff} of {query!r} is {score!r} in SQL, and {ours!r}"
                )
                count, equal = count + 1, equal + (score == ours)
        ((num_queries, *sql_means),) = connection.execute(means).fetchall()
        assert num_queries == len(expected)
        for mean, ours in zip(sql_means, expected_means, strict=True):
            assert abs(mean - ours) <= TOLERANCE, f"{case}: the means at {cutoff}"
    connection.close()
    return count, equal


def generated(rng):
    """Return qrels and a run with many ties, missing and unjudged queries and negative grades."""
    queries = [f"q{number}" for number in range(12)]
    few_scores = rng.sample(SCORES, rng.randint(1, 4))
    judged = {
        query: {
            doc: rng.choice([-2, -1, 0, 0, 1, 1, 2, 3, 0.5])
            for doc in rng.sample(DOC_IDS, rng.randint(1, 12))
        }
        for query in queries[:9]
    }
    judged["only negative"] = {"d1": -1, "z": -2}
    retrieved = {"q0", *rng.sample([*queries, "only negative"], rng.randint(0, 13))}
    run = {
        query: {doc: rng.choice(few_scores) for doc in rng.sample(DOC_IDS, rng.randint(1, 18))}
        for query in sorted(retrieved)
    }
    return Qrels(judged), Run(run)


def main(folder):
    """Check generated cases, and the real runs of a folder, if there is one."""
    warnings.simplefilter("ignore", BeirEvalWarning)  # of fractional grades
    qrels = Qrels({"q": {"a": 1}})
    twice = Run.from_columns(["q", "q", "q"], ["a", "b", "a"], [3.0, 2.0, 1.0])
    assert check(qrels, twice, case="a duplicate") == (0, 0), "the duplicate was not found"
    count = equal = 0
    for seed in range(60):
        case = check(*generated(random.Random(seed)), case=f"seed {seed}")
        count, equal = count + case[0], equal + case[1]
    sys.stdout.write(f"generated: {count:,} scores, {equal:,} equal to the bit\n")
    for name, qrels_file in REAL.items() if folder else ():
        qrels = read_qrels(folder / qrels_file)
        for path in sorted((folder / "runs" / name).iterdir()):
            count, equal = check(qrels, read_run(path), (10, 1000), case=str(path))
            sys.stdout.write(f"{path}: {count:,} scores, {equal:,} equal to the bit\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
