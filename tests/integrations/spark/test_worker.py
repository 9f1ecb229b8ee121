"""What runs in Spark's workers, without Spark: queries split between batches, checks, versions."""

import random
from itertools import pairwise

import polars as pl
import pytest

pa = pytest.importorskip("pyarrow")

from beir_eval import Qrels, Run, __version__, evaluate  # noqa: E402
from beir_eval.core import EvaluationSettings  # noqa: E402
from beir_eval.core.qrels import hash_text  # noqa: E402
from beir_eval.core.relevance_matrix import relate  # noqa: E402
from beir_eval.errors import BeirEvalError  # noqa: E402
from beir_eval.integrations.spark import worker  # noqa: E402
from beir_eval.integrations.spark.worker import (  # noqa: E402
    DOC,
    IS_JUDGEMENT,
    NUMBER,
    PLACE,
    QUERY,
    Plan,
    complete_queries,
    decoded,
    evaluate_batches,
    evaluate_buckets,
)

#: Made runs have many ties.
pytestmark = pytest.mark.filterwarnings("ignore:.*have the score of another one.*")
MEASURES = ["nDCG@10", "MAP@100", "MRR", "ERR@20"]
RNG = random.Random(0)
QRELS = {f"q{n}": {f"d{RNG.randrange(60)}": RNG.randrange(4) for _ in range(9)} for n in range(40)}
RUN = {
    f"q{n}": {f"d{RNG.randrange(60)}": RNG.randrange(9) / 8 for _ in range(5 + 7 * (n % 5))}
    for n in range(5, 45)
}


def plan(**changes):
    values = {
        "version": __version__,
        "measures": MEASURES,
        "settings": {},
        "max_grade": 3.0,
        "ordered": False,
        "qrels_columns": ["qid", "docno", "label"],
        "run_columns": ["qid", "docno", "sim"],
    }
    return Plan(**{**values, **changes}).as_dict()


def rows(mapping):
    triples = [(query, doc, float(x)) for query, docs in mapping.items() for doc, x in docs.items()]
    schema = {QUERY: pl.String, DOC: pl.String, NUMBER: pl.Float64}
    return pl.DataFrame(triples, schema=schema, orient="row")


def batches(size, qrels=QRELS, run=RUN):
    """Return one partition as Spark passes it: sorted by query, in batches of some rows."""
    stream = pl.concat(
        [
            rows(qrels).with_columns(pl.lit(value=True).alias(IS_JUDGEMENT)),
            rows(run).with_columns(pl.lit(value=False).alias(IS_JUDGEMENT)),
        ]
    ).sample(fraction=1, shuffle=True, seed=0)
    types = {QUERY: pa.string(), DOC: pa.string(), NUMBER: pa.float64(), IS_JUDGEMENT: pa.bool_()}
    return stream.sort(QUERY).to_arrow().cast(pa.schema(types)).to_batches(max_chunksize=size)


def scores(parts):
    return {
        row["query_id"]: {name: row[name] for name in MEASURES}
        for part in parts
        for row in part.to_pylist()
    }


@pytest.mark.parametrize("size", [1, 2, 7, 64, 10_000])
@pytest.mark.parametrize("at_once", [1, 50, 100_000])
def test_scores_do_not_depend_on_where_batches_split_a_query(monkeypatch, size, at_once):
    monkeypatch.setattr(worker, "_ROWS_AT_ONCE", at_once)
    expected = evaluate(QRELS, RUN, MEASURES).per_query
    assert scores(evaluate_batches(plan(), iter(batches(size)))) == expected


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize("at_once", [1, 10, 10_000])
def test_each_row_is_in_one_part_and_each_query_too(size, at_once):
    query = sorted(f"q{RNG.randrange(30)}" for _ in range(400))
    frame = pl.DataFrame({QUERY: query}).with_row_index("row")
    frames = [frame[begin : begin + size] for begin in range(0, frame.height, size)]
    parts = list(complete_queries([*frames, frame[:0]], at_once))
    assert pl.concat(parts).equals(frame)
    assert all(first[QUERY][-1] != second[QUERY][0] for first, second in pairwise(parts))
    assert all(part.height >= at_once for part in parts[:-1])


def test_null_ids_stay_together_and_are_refused_in_the_end():
    lists = ([None, None], [None, "a"], ["a", "b"])
    frames = [pl.DataFrame({QUERY: ids}, schema={QUERY: pl.String}) for ids in lists]
    assert [part[QUERY].to_list() for part in complete_queries(frames, 1)] == [
        [None, None, None],
        ["a", "a"],
        ["b"],
    ]


def test_a_long_query_is_looked_through_once(monkeypatch):
    """A query of many batches costs as much as its rows: no batch is read again."""
    looked_at = []
    monkeypatch.setattr(pl, "concat", lambda frames: looked_at.append(len(frames)) or frames[0])
    frame = pl.DataFrame({QUERY: ["q"] * 10})
    assert len(list(complete_queries([frame] * 500, 100))) == 1
    assert looked_at == [500]


def test_an_empty_partition_yields_nothing():
    assert list(evaluate_batches(plan(), iter([]))) == []
    assert next(evaluate_batches(plan(), iter(batches(3)[:1]))).num_rows == 1
    empty = rows({}).to_arrow()
    table = evaluate_buckets(plan(), empty, empty)
    assert table.num_rows == 0
    assert table.column_names[:2] == ["query_id", "nDCG@10"]


def test_a_bucket_has_the_scores_of_evaluate():
    table = evaluate_buckets(plan(), rows(QRELS).to_arrow(), rows(RUN).to_arrow())
    assert scores([table]) == evaluate(QRELS, RUN, MEASURES).per_query


def test_the_order_of_documents_is_that_of_their_positions():
    run = {"q1": {"a": 0.5, "b": 0.5, "c": 0.5}}
    shuffled = rows(run).with_columns(pl.Series(PLACE, [30, 10, 20]))
    qrels = rows({"q1": {"c": 1}})
    settings = {"ties": "input"}
    table = evaluate_buckets(
        plan(settings=settings, ordered=True, run_columns=["qid", "docno", "sim", "place"]),
        qrels.to_arrow(),
        shuffled.to_arrow(),
    )
    matrix, _ = relate(
        Qrels({"q1": {"c": 1}}),
        Run.from_columns(["q1"] * 3, ["b", "c", "a"], [0.5] * 3),
        EvaluationSettings(**settings),
    )
    assert matrix.cells.rank.tolist() == [2]
    assert table["MRR"].to_pylist() == [0.5]


def error_of(call):
    with pytest.raises(RuntimeError) as caught:
        call()
    error = decoded(str(caught.value))
    assert isinstance(error, BeirEvalError)
    return str(error)


def test_another_version_on_the_driver_is_refused_by_its_number_whatever_its_plan_holds():
    content, empty = {"version": "99.0", "field_of_that_version": 1}, rows({}).to_arrow()
    message = error_of(lambda: list(evaluate_batches(content, [])))
    assert f"has beir-eval {__version__}, and the driver has 99.0" in message
    assert message == error_of(lambda: evaluate_buckets(content, empty, empty))


def test_a_message_about_a_run_without_scores_names_the_columns_that_it_has():
    given = {"settings": {"order": "given"}, "run_columns": ["qid", "docno", "", "place"]}
    run = pl.concat([rows({"q1": {"a": 0.0}})] * 2).with_columns(pl.Series(PLACE, [1, 2]))
    message = error_of(
        lambda: evaluate_buckets(
            plan(ordered=True, **given), rows({"q1": {"a": 1}}).to_arrow(), run.to_arrow()
        )
    )
    assert "the run (columns 'qid', 'docno'): " in message


@pytest.mark.parametrize("text", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("qrels", [QRELS, {}], ids=["judged", "nothing judged"])
def test_a_bucket_has_query_ids_of_the_type_that_spark_passes(text, qrels):
    schema = pa.schema({QUERY: text, DOC: text, NUMBER: pa.float64()})
    judged, run = (rows(mapping).to_arrow().cast(schema) for mapping in (qrels, RUN))
    table = evaluate_buckets(plan(), judged, run)
    assert table.schema.field("query_id").type == text
    assert table.num_rows == len(qrels)


@pytest.mark.parametrize("size", [7, 1_000])
def test_the_hashes_of_the_rows_add_up_to_that_of_the_judgements(size):
    parts = list(evaluate_batches(plan(), batches(size)))
    total = sum(number for part in parts for number in part["qrels_hash"].to_pylist())
    assert hash_text(total) == evaluate(QRELS, RUN, "MRR").provenance.qrels_hash


def test_an_id_that_is_not_utf_8_is_refused():
    as_bytes = pa.array([b"q\xff"], pa.binary())
    wrong = pa.Array.from_buffers(pa.string(), 1, as_bytes.buffers())
    run = rows({"q": {"a": 1.0}}).to_arrow().set_column(0, QUERY, wrong)
    with pytest.raises(pa.ArrowInvalid, match="UTF8"):
        evaluate_buckets(plan(), rows(QRELS).to_arrow(), run)
