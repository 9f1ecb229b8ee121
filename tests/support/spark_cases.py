"""Runs for Spark's tests as Parquet files, the settings to try, and a comparison bit for bit."""

import warnings

import numpy as np
import polars as pl
import pytest

import beir_eval
from beir_eval import Qrels, Run, read_qrels, read_run

#: The kinds of sessions; tests of a kind run one after another.
KINDS = ("local", "cluster", "connect")
METHODS = ("cogroup", "sort")
#: Settings that differ in every policy, alone and together.
POLICIES = (
    {},
    {"order": "given"},
    {"ties": "trec_eval10"},
    {"ties": "input"},
    {"ties": "best"},
    {"ties": "worst"},
    {"missing": "skip"},
    {"no_relevant": "skip"},
    {"duplicates": "first"},
    {"duplicates": "keep"},
    {"drop_identical_ids": True},
    {"order": "given", "duplicates": "first", "drop_identical_ids": True},
    {"ties": "input", "duplicates": "first", "missing": "skip", "no_relevant": "skip"},
)


def sessions(*kinds):
    """Return a mark: run a test in sessions of these kinds only.

    Args:
        kinds: "local", "cluster" or "connect".
    """
    return pytest.mark.parametrize("started", kinds, indirect=True)


def policies_in_turn():
    """Return a mark: try each policy once; the kinds of sessions and the methods take turns.

    The workers of every kind of session run the same engine, so that a policy need not be tried in
    each of them.
    """
    params = [
        (KINDS[position % 3], policies, METHODS[position % 2])
        for position, policies in enumerate(POLICIES)
    ]
    names = ("started", "policies", "method")
    return pytest.mark.parametrize(names, params, indirect=["started"], ids=str)


def needs_position(policies):
    """Return whether settings depend on the order of a query's documents."""
    wanted = {"order": "given", "ties": "input", "duplicates": "first"}
    return any(policies.get(name) == value for name, value in wanted.items())


class Case:
    """Judgements and a run: in memory, and as shuffled Parquet files.

    Args:
        folder: for the files.
        qrels, run: polars frames: ``query_id``, ``doc_id``, ``grade`` or ``score``; documents in
            the order given.
    """

    def __init__(self, folder, qrels, run):
        folder.mkdir()
        self.qrels, self.run = Qrels.from_dataframe(qrels), Run.from_dataframe(run)
        self.num_rows = run.height
        numbered = run.with_row_index("place").with_columns(pl.col("place").cast(pl.Int64))
        self._paths = [str(folder / "qrels.parquet"), str(folder / "run.parquet")]
        for frame, path in zip((qrels, numbered), self._paths, strict=True):
            frame.sample(fraction=1, shuffle=True, seed=0).write_parquet(
                path, row_group_size=max(1000, frame.height // 8)
            )
        self._results = {}

    def frames(self, session):
        """Return the DataFrames of qrels and run."""
        return [session.read.parquet(path) for path in self._paths]

    def expected(self, measures=None, **policies):
        """Return the result in memory."""
        key = repr((measures, policies))
        if key not in self._results:
            # Made runs have signs of mistakes, which Spark does not look for.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", beir_eval.BeirEvalWarning)
                self._results[key] = beir_eval.evaluate(self.qrels, self.run, measures, **policies)
        return self._results[key]


#: Real runs of each collection: with tied scores, and the last one with documents listed twice.
REAL_RUNS = ("dl19/rep-llama_ties", "trec-covid/bm25", "scifact/deng_e5", "scifact/kl_hybrid")


def real_case(folder, realdata, names):
    """Return real runs as one: the id of a query begins with the name of its run.

    Args:
        folder: for the files.
        realdata: the folder of real data.
        names: the runs, "collection/name".
    """
    qrels_of = {
        "dl19": read_qrels(realdata / "qrels" / "dl19-passage.trec"),
        "trec-covid": read_qrels(realdata / "qrels" / "trec-covid.trec"),
        "scifact": read_qrels(realdata / "scifact"),
    }
    qrels, runs = [], []
    for name in names:
        renamed = (pl.lit(f"{name}: ") + pl.col("query_id")).alias("query_id")
        qrels.append(qrels_of[name.partition("/")[0]].to_dataframe().with_columns(renamed))
        run = read_run(realdata / "runs" / f"{name}.trec")
        runs.append(run.to_dataframe().with_columns(renamed))
    return Case(folder, pl.concat(qrels), pl.concat(runs))


def generated_case(folder, num_rows, *, with_duplicates=False):
    """Return a generated run: text ids in the qrels, integers in the run, many ties.

    Every 20th query is not judged, every 25th has no run, one has a tenth of all documents, and
    documents have ids of queries.

    Args:
        folder: for the files.
        num_rows: the number of documents, at least 10,000.
        with_duplicates: whether some rankings list a document twice.
    """
    rng = np.random.default_rng(0)
    num_long = num_rows // 10
    num_queries = (num_rows - num_long) // 100
    query = np.concatenate([np.repeat(np.arange(num_queries), 100), np.zeros(num_long, int)])
    # A prime step lists no document twice in a query.
    position = np.concatenate([np.tile(np.arange(100), num_queries), 100 + np.arange(num_long)])
    document = (query * 31 + position * 7919) % 15_485_863
    score = np.round(rng.random(len(query)), 2)
    run = pl.DataFrame({"query_id": query, "doc_id": document, "score": score})
    if with_duplicates:
        run = pl.concat([run, run.filter(pl.col("doc_id") % 97 == 0)])
    is_judged = (position % 9 == 0) & (query % 20 != 3)
    grade = rng.integers(-1, 4, int(is_judged.sum()))
    qrels = pl.DataFrame(
        {
            "qid": pl.Series(query[is_judged]).cast(pl.String),
            "docno": pl.Series(document[is_judged]).cast(pl.String),
            "relevance": grade,
        }
    )
    return Case(folder, qrels, run.filter(pl.col("query_id") % 25 != 7))


def assert_equal(result, expected):
    """Fail unless two results are equal bit for bit, apart from the order of the queries."""
    assert result.measures == expected.measures
    assert sorted(result.query_ids) == sorted(expected.query_ids)
    row_of = {query_id: row for row, query_id in enumerate(result.query_ids)}
    rows = [row_of[query_id] for query_id in expected.query_ids]
    assert_same_bits(result.values.array[:, rows], expected.values.array)
    assert (result.skipped_values is None) == (expected.skipped_values is None)
    assert_same_bits(
        [list(result.aggregate.values()), list(result.mean_over("judged").values())],
        [list(expected.aggregate.values()), list(expected.mean_over("judged").values())],
    )
    assert result.settings == expected.settings
    counts, expected_counts = (
        {
            name: sorted(value) if isinstance(value, tuple) else value
            for name, value in outcome.counted.model_dump().items()
            # Spark does not count queries that are not judged, nor look at ids and rankings.
            if name not in ("queries_not_judged", "findings")
        }
        for outcome in (result, expected)
    )
    assert counts == expected_counts
    assert result.counted.queries_not_judged is None


def assert_same_bits(values, expected):
    """Fail unless arrays of doubles have the same bits; any NaN equals any other."""
    values, expected = (np.where(np.isnan(array), 0.5, array) for array in (values, expected))
    assert np.array_equal(values.view(np.int64), expected.view(np.int64))
    assert np.array_equal(np.isnan(values), np.isnan(expected))
