"""Check runs that are relations of DuckDB; print {name of a check: null or its traceback} as JSON.

It runs in a process of its own, because DuckDB prints a list of its objects where pytest ends.
"""

import json
import pickle
import random
import re
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from beir_eval import Qrels, Run, evaluate
from beir_eval.core.run_sources import relation as relation_module
from beir_eval.errors import BeirEvalError, InputError, RunError

MEASURES = ["nDCG@3", "MAP", "MRR"]
NAMES = ("qid", "docno", "score")


def columns(rows):
    return [list(column) for column in zip(*rows, strict=True)]


def relation(rows, *names):
    return duckdb.from_arrow(pa.table(dict(zip(names, columns(rows), strict=True))))


def peak_memory():
    """Return the peak of this process in KiB; ``ru_maxrss`` would begin with that of pytest."""
    [kilobytes] = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(kilobytes)


def outcome(qrels, run, **policy):
    """Return all that an evaluation says, or its error."""
    try:
        if not isinstance(run, Run):
            run = Run.from_dataframe(run)
        result = evaluate(qrels, run, MEASURES, keep_top=3, **policy)
        return result, run.fingerprint(), list(run.query_ids), run.as_dict()
    except BeirEvalError as error:
        return type(error), str(error)


def same_results():
    """A relation gives the result of its rows as columns, and as a frame that is in memory."""
    for seed in range(40):
        rng = random.Random(seed)
        judged = [
            (query, doc, rng.randint(0, 3)) for query in "pq" for doc in rng.sample("abcd", 3)
        ]
        rows = [
            (query, doc, rng.choice([0.1, 0.2, rng.random()]))
            for query in "pqr"
            for doc in rng.sample("abcdepq", rng.randint(1, 7))
        ]
        if seed % 4 == 0:
            rows.append(rng.choice(rows))
        if seed % 2:
            rng.shuffle(rows)
        qrels, run = Qrels.from_columns(*columns(judged)), relation(rows, *NAMES)
        policy = rng.choice(
            [{}, {"order": "given"}, {"ties": "input"}, {"duplicates": "keep"}, {"ties": "worst"}]
        )
        expected = outcome(qrels, Run.from_columns(*columns(rows)), **policy)
        assert outcome(qrels, run, **policy) == expected
        assert outcome(qrels, run.pl(), **policy) == expected
        assert (
            outcome(relation(judged, "query_id", "doc_id", "relevance"), run, **policy) == expected
        )


def many_parts():
    """The rows of a query may be in many parts; rows of all parts are found and counted."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relation_module, "_ROWS_AT_ONCE", 2048)
        parts_of_rows()
        parts_of_types()


def parts_of_rows():
    rng = random.Random(1)
    rows = [(f"q{rng.randrange(50)}", f"d{number}", rng.random()) for number in range(20_000)]
    qrels = Qrels({f"q{number}": {f"d{rng.randrange(20_000)}": 1} for number in range(0, 60, 7)})
    run = Run.from_dataframe(relation(rows, *NAMES))
    parts = list(run._source._parts())
    assert len(parts) > 5
    assert outcome(qrels, run) == outcome(qrels, Run.from_columns(*columns(rows)))


def parts_of_types():
    for column_type in ("VARCHAR", "INTEGER", "HUGEINT", "UTINYINT", "mood"):
        connection = duckdb.connect()
        connection.execute(f"CREATE TYPE mood AS ENUM {tuple(map(str, range(30)))!r}")
        table = connection.sql(
            f"FROM range(20000) AS rows(i) SELECT (i // 1000)::VARCHAR::{column_type} AS qid, "
            "i AS docno, (i % 7)::DECIMAL(5, 2) AS score"
        )
        qrels = Qrels({"3": {"3001": 1, "3006": 2}, "19": {"19500": 1}})
        expected = outcome(qrels, table.pl())
        assert isinstance(expected[1], str), expected
        assert outcome(qrels, table) == expected


def errors():
    """Each unusable relation raises the error of the same frame in memory, row numbers included."""
    qrels, connection = Qrels({"q1": {"a": 1}}), duckdb.connect()
    connection.execute(
        "CREATE TABLE good AS SELECT 'q' || (i // 10) AS qid, 'd' || i AS docno, "
        "i * 1.5::DOUBLE AS score FROM range(9000) AS rows(i)"
    )
    changed = {
        "qid": ("NULL", "''"),
        "docno": ("NULL", "''"),
        "score": ("NULL", "'inf'::DOUBLE", "'nan'::DOUBLE"),
    }
    relations = [
        f"FROM good SELECT * REPLACE (CASE docno WHEN '{doc}' THEN {new} ELSE {name} END AS {name})"
        for doc in ("d12", "d8500")  # of a judged query, and of one that is not judged
        for name, values in changed.items()
        for new in values
    ]
    relations += [
        "SELECT qid, docno FROM good",
        "SELECT *, qid AS query_id FROM good",
        "SELECT * REPLACE (score > 3 AS qid) FROM good",
        "SELECT * REPLACE (DATE '2026-11-24' AS docno) FROM good",
        "SELECT * REPLACE ('1' AS score) FROM good",
        "SELECT * REPLACE (NULL AS score) FROM good",
        "SELECT * REPLACE (NULL AS qid) FROM good",
        "SELECT * REPLACE (NULL AS qid) FROM good LIMIT 0",
        "SELECT * FROM good LIMIT 0",
        "SELECT * FROM good WHERE qid = 'q2'",
        "SELECT * FROM good UNION ALL SELECT 'q1', 'd10', 1.0",
    ]
    twice = "SELECT *, qid AS qid FROM good"
    assert outcome(qrels, connection.sql(twice)) == outcome(qrels, connection.sql(twice).pl())
    for query in relations:
        expected = outcome(qrels, connection.sql(query).pl())
        assert len(expected) == 2, f"no error: {query}"
        actual = outcome(qrels, connection.sql(query))
        assert actual == expected, (query, actual, expected)
        assert connection.sql("SELECT 1").fetchall() == [(1,)], "the result is still open"


def reading():
    """A relation is read at evaluation, once for the same queries, and tells if it has changed."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (qid VARCHAR, docno VARCHAR, score DOUBLE)")
    run = Run.from_dataframe(connection.table("t"))
    connection.execute("INSERT INTO t VALUES ('q1', 'x', 2), ('q1', 'a', 1), ('q2', 'b', 1)")
    qrels = Qrels({"q1": {"a": 1}})
    assert evaluate(qrels, run, ["MRR"])["MRR"] == 0.5
    assert list(run.query_ids) == ["q1", "q2"]
    connection.execute("DELETE FROM t WHERE docno = 'x'")
    assert evaluate(qrels, run, ["MRR"])["MRR"] == 0.5
    assert evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, run, ["MRR"])["MRR"] == 1.0
    connection.execute("INSERT INTO t VALUES ('q3', 'b', 1)")
    with pytest.raises(RunError, match="have changed since it was read first: 'q3'"):
        evaluate({"q3": {"b": 1}}, run, ["MRR"])
    run = Run.from_dataframe(connection.table("t"))
    copy = pickle.loads(pickle.dumps(run))  # noqa: S301 - made here
    assert copy.as_dict() == run.as_dict() == {"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"b": 1.0}}
    assert len(Run.from_dataframe(connection.table("t"))) == 3
    unread = Run.from_dataframe(connection.table("t"))
    connection.close()
    assert evaluate(qrels, copy, ["MRR"])["MRR"] == 1.0
    with pytest.raises(RunError, match="the run cannot be read as a dataframe"):
        evaluate(qrels, unread, ["MRR"])


def changed_tables():
    """Of a table that was dropped, or has another column, the error is ours."""
    connection = duckdb.connect()
    for change in ("DROP TABLE t", "ALTER TABLE t RENAME COLUMN score TO other"):
        connection.execute(
            "CREATE OR REPLACE TABLE t AS SELECT 'q1' AS qid, 'a' AS docno, 1 AS score"
        )
        run = Run.from_dataframe(connection.table("t"))
        connection.execute(change)
        with pytest.raises(RunError, match="the run cannot be read as a dataframe"):
            evaluate({"q1": {"a": 1}}, run, ["MRR"])


def rows_in_another_order():
    """A database may deliver rows in another order each time, such as those of a GROUP BY."""
    rows = [(f"q{number % 50}", f"d{number}", number * 1.0) for number in range(1000)]
    run = Run.from_dataframe(relation(rows, *NAMES).order("random()"))
    expected = Run.from_columns(*columns(rows))
    for query in range(50):
        qrels = {f"q{query}": {f"d{query}": 1, f"d{query + 500}": 2}}
        assert evaluate(qrels, run, MEASURES) == evaluate(qrels, expected, MEASURES)


def quoted_names():
    """Names of columns that are no SQL names are found, by themselves and as arguments."""
    frame = duckdb.sql("""SELECT 'q1' AS "query-id", 'a' AS "the ""doc"".id", 1.0 AS "Score" """)
    run = Run.from_dataframe(frame, doc_id='the "doc".id')
    assert run.as_dict() == {"q1": {"a": 1.0}}


def several_systems():
    """A relation of several systems is refused at once, and the rows of one are read."""
    rows = [("dense", "q1", "a", 0.9), ("bm25", "q1", "b", 30.0)]
    both = relation(rows, "system", *NAMES)
    with pytest.raises(InputError, match="'bm25', 'dense'; pass the rows of one, filtered"):
        Run.from_dataframe(both)
    run = Run.from_dataframe(both.filter("system = 'dense'"))
    assert evaluate({"q1": {"a": 1}}, run, ["MRR"])["MRR"] == 1.0


def threads():
    """Relations of one connection are evaluated in several threads at once."""
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE t AS SELECT 'q' || (i // 100) AS qid, 'd' || (i % 100) AS docno, i AS score "
        "FROM range(30000) AS rows(i)"
    )
    qrels = Qrels({f"q{number}": {"d1": 1, "d98": 2} for number in range(0, 300, 3)})
    expected = evaluate(qrels, connection.table("t").pl(), MEASURES)
    with ThreadPoolExecutor(4) as pool:
        runs = [Run.from_dataframe(connection.table("t")) for _ in range(8)]
        results = list(pool.map(lambda run: evaluate(qrels, run, MEASURES), runs))
    assert all(result == expected for result in results)


def without_pyarrow():
    """Without pyarrow a relation is read as a whole, with the same result."""
    rows = [("p", "a", 1.0), ("q", "b", 2.0)]
    names = dict(zip(NAMES, columns(rows), strict=True))
    table = duckdb.sql(
        "SELECT unnest({}) AS qid, unnest({}) AS docno, unnest({}) AS score".format(*names.values())
    )
    expected = outcome({"q": {"b": 1}}, Run.from_columns(*columns(rows)))
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        del sys.modules[name]
    sys.modules["pyarrow"] = None
    assert outcome({"q": {"b": 1}}, table) == expected


def memory():
    """Of 4 million rows, of which 1% are of judged queries, a small part is in memory."""
    table = duckdb.sql(
        "SELECT 'query-' || lpad((i // 100)::VARCHAR, 8, '0') AS qid, "
        "'document-' || lpad((i % 100)::VARCHAR, 8, '0') AS docno, (i % 100) / 7 AS score "
        "FROM range(4000000) AS rows(i)"
    )
    duckdb.execute("SET threads = 2")
    qrels = Qrels(
        {f"query-{number:08}": {"document-00000003": 1} for number in range(0, 40_000, 100)}
    )
    evaluate(qrels, table.limit(1000), MEASURES)  # what is loaded once
    before = peak_memory()
    result = evaluate(qrels, table, MEASURES)
    peak = peak_memory() - before
    assert result.counted.queries_not_judged == 39_600
    in_memory = Run.from_dataframe(table.pl())
    peak_of_frame = peak_memory() - before
    assert evaluate(qrels, in_memory, MEASURES) == result
    assert peak < peak_of_frame / 3, f"{peak:,} and {peak_of_frame:,} KiB"


#: In this order: the peak of memory is that of the whole process, and without pyarrow little works.
CHECKS = (
    memory,
    same_results,
    many_parts,
    errors,
    reading,
    changed_tables,
    rows_in_another_order,
    quoted_names,
    several_systems,
    threads,
    without_pyarrow,
)


def outcomes():
    """Return {name of a check: None, or the traceback of its failure}."""
    failures = {}
    for check in CHECKS:
        try:
            check()
        except BaseException:  # noqa: BLE001 - the test of this check shows it
            failures[check.__name__] = traceback.format_exc()
        else:
            failures[check.__name__] = None
    return failures


if __name__ == "__main__":
    sys.stdout.write(json.dumps(outcomes()))
