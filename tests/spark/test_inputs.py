"""What the driver refuses before a job runs, and what column names and types it takes."""

import pytest

import beir_eval
import spark_cases
import spark_servers
from beir_eval import errors

spark_servers.skip_without_java()

from pyspark.sql import functions as F  # noqa: E402, N812

from beir_eval.integrations.spark import check, evaluate, summarise  # noqa: E402

QRELS = [("q1", "d1", 2), ("q1", "d2", 0), ("q2", "d1", 1)]
RUN = [("q1", "d2", 0.9, 1), ("q1", "d1", 0.8, 2), ("q3", "d1", 0.7, 1)]
EXPECTED = beir_eval.evaluate(
    {"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}},
    {"q1": {"d2": 0.9, "d1": 0.8}, "q3": {"d1": 0.7}},
    ["MRR", "nDCG@10"],
)

in_two_kinds = spark_cases.sessions("local", "connect")


def frames(session, qrels="query_id string, doc_id string, grade int", run=None):
    run = run or "query_id string, doc_id string, score double, place int"
    return session.createDataFrame(QRELS, qrels), session.createDataFrame(RUN, run)


def refuse_jobs(monkeypatch):
    """Fail if a job is started from now on."""
    import pyspark.sql.classic.dataframe as classic  # noqa: PLC0415
    import pyspark.sql.connect.dataframe as connect  # noqa: PLC0415

    def refuse(*_):
        raise AssertionError

    for module in (classic, connect):
        for action in ("toArrow", "head", "collect", "count"):
            monkeypatch.setattr(module.DataFrame, action, refuse)


@pytest.fixture
def no_job(monkeypatch):
    refuse_jobs(monkeypatch)


@in_two_kinds
@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"ties": "random"}, errors.SettingError, "ties='random'"),
        ({"measures": "nDCGG@10"}, errors.UnknownMeasureError, "nDCGG@10"),
        ({"measures": ["Judged@10"], "ties": "best"}, errors.SettingError, "ties='best'"),
        ({"order": "given"}, errors.SettingError, "position="),
        ({"position": "rank"}, errors.RunError, "no column 'rank'"),
        ({"position": "score"}, errors.RunError, "positions must be integers"),
        ({"query_id": "topic"}, errors.QrelsError, "no column 'topic'"),
        ({"score": "doc_id"}, errors.RunError, "scores must be numbers"),
        ({"grade": "doc_id"}, errors.QrelsError, "grades must be numbers"),
        ({"method": "broadcast"}, errors.SettingError, "'cogroup', 'sort'"),
        ({"partitions": 0}, errors.SettingError, "partitions"),
    ],
    ids=str,
)
def test_an_impossible_call_raises_our_error_before_a_job(session, no_job, arguments, error, words):
    with pytest.raises(error) as caught:
        evaluate(*frames(session), **arguments)
    assert words in str(caught.value)


@in_two_kinds
def test_columns_that_no_frame_may_have_are_refused_before_a_job(session, no_job):
    qrels, run = frames(session)
    for wrong, words in [
        (run.withColumn("query_id", F.lit(0.5)), "'query_id' (query_id) holds double; ids must be"),
        (run.withColumn("doc_id", F.array("doc_id")), "holds array<string>; ids must be"),
        (run.drop("score"), "no column that is recognisably score"),
        (run.withColumn("sim", F.col("score")), "several columns that could be score"),
        (run.select("*", F.lit("x").alias("Doc_ID")), "several columns that could be doc_id"),
        (run.withColumn("score", F.lit("high")), "holds string; scores must be numbers"),
    ]:
        with pytest.raises(errors.RunError) as caught:
            evaluate(qrels, wrong)
        assert words in str(caught.value)
        assert "the run" in str(caught.value)
    with pytest.raises(errors.QrelsError, match=r"not builtins\.dict"):
        evaluate({"q1": {"d1": 1}}, run)
    with pytest.raises(errors.RunError, match=r"not builtins\.list"):
        evaluate(qrels, RUN)


@in_two_kinds
@pytest.mark.parametrize("method", ["cogroup", "sort"])
def test_columns_are_recognised_and_named_as_for_other_dataframes(session, method):
    usual = frames(
        session,
        "`Query-ID` string, docno string, label int",
        "qid string, PID string, sim double, p int",
    )
    result = summarise(evaluate(*usual, ["MRR", "nDCG@10"], method=method))
    spark_cases.assert_equal(result, EXPECTED)
    odd = frames(
        session,
        "`a.b` string, `x y` string, `g``` int",
        "`a.b` string, `x y` string, `the.score` double, p int",
    )
    names = {"query_id": "a.b", "doc_id": "x y", "grade": "g`", "score": "the.score"}
    result = summarise(evaluate(*odd, ["MRR", "nDCG@10"], **names, method=method))
    spark_cases.assert_equal(result, EXPECTED)


@in_two_kinds
def test_ids_are_text_or_integers_on_either_side(session):
    qrels = session.createDataFrame([(1, 2**40, 1), (2, 5, 1)], "qid bigint, docno bigint, rel int")
    run = session.createDataFrame(
        [("1", str(2**40), 1.0), ("2", "05", 0.5)], "qid string, docno string, score float"
    )
    small = run.selectExpr(
        "cast(qid as tinyint) qid", "docno", "cast(score as decimal(9, 4)) score"
    )
    for each in (run, small):
        result = summarise(evaluate(qrels, each, "MRR"))
        assert result.per_query == {"1": {"MRR": 1.0}, "2": {"MRR": 0.0}}


@in_two_kinds
def test_order_given_needs_positions_and_no_scores(session):
    qrels, run = frames(session)
    for each in (run, run.drop("score")):
        result = summarise(evaluate(qrels, each, "MRR", order="given", position="place"))
        assert result.per_query["q1"] == {"MRR": 0.5}


@in_two_kinds
def test_fractional_grades_give_the_warning_of_evaluate(session):
    qrels, run = frames(session)
    halves = qrels.withColumn("grade", F.col("grade") / 2)
    with pytest.warns(beir_eval.BeirEvalWarning, match=r"Set a threshold.*rel=0\.5") as caught:
        evaluate(halves, run, "MRR")
    assert caught[0].filename == __file__


@in_two_kinds
@pytest.mark.parametrize("method", ["cogroup", "sort"])
def test_empty_partitions_are_no_error(session, method):
    qrels, run = frames(session)
    scores = evaluate(
        qrels.repartition(6), run.repartition(6), ["MRR", "nDCG@10"], method=method, partitions=9
    )
    check(scores)
    spark_cases.assert_equal(summarise(scores), EXPECTED)


@in_two_kinds
def test_the_table_has_a_row_for_each_judged_query_and_null_for_undefined_scores(session):
    scores = evaluate(*frames(session), ["MRR", "Judged@10"])
    rows = {row["query_id"]: row for row in scores.toArrow().to_pylist()}
    assert sorted(rows) == ["q1", "q2"]
    assert rows["q1"]["Judged@10"] == 1.0
    assert rows["q2"]["Judged@10"] is None
    assert (rows["q1"]["retrieved"], rows["q2"]["retrieved"]) == (True, False)
    assert rows["q1"]["documents_judged"] == 2
    assert rows["q1"]["judged_in_top_10"] == 2


@in_two_kinds
def test_a_table_that_lacks_columns_or_has_some_twice_is_refused_before_a_job(session, monkeypatch):
    scores = evaluate(*frames(session), ["MRR", "nDCG@10"])
    refuse_jobs(monkeypatch)
    for wrong, words in [
        (scores.drop("MRR"), "lacks the columns 'MRR'"),
        (scores.drop("repeated_judgements"), "lacks the columns 'repeated_judgements'"),
        (scores.select("*", F.lit(1.0).alias("MRR")), "has 2 columns named 'MRR'"),
        (scores.select("*", F.lit(1.0).alias("mrr")), "has 2 columns named 'MRR'"),
    ]:
        with pytest.raises(errors.ResultError) as caught:
            summarise(wrong)
        assert words in str(caught.value)
        assert "the score table of 'run'" in str(caught.value)


# In memory, the scores of this made run are said to ascend.
@pytest.mark.filterwarnings("ignore:.*scores are ascending:beir_eval.BeirEvalWarning")
@in_two_kinds
@pytest.mark.parametrize("method", ["cogroup", "sort"])
@pytest.mark.parametrize("partitions", [None, 4])
def test_tables_in_buckets_of_queries_score_the_same(session, tmp_path, method, partitions):
    assert session.conf.get("spark.sql.shuffle.partitions") == "4"
    ids = F.expr("concat('q', id % 40) AS query_id"), F.expr("concat('d', id) AS doc_id")
    qrels = session.range(200).select(*ids, F.lit(1).alias("grade"))
    run = session.range(2_000).select(*ids, F.expr("cast(id AS double) AS score"))
    try:
        for name, frame in (("qrels", qrels), ("run", run)):
            writer = frame.write.bucketBy(4, "query_id").sortBy("query_id")
            writer.option("path", str(tmp_path / name)).saveAsTable(f"{name}_in_buckets")
        tables = (session.table(f"{name}_in_buckets") for name in ("qrels", "run"))
        scores = evaluate(*tables, ["MRR", "nDCG@10"], method=method, partitions=partitions)
        expected = beir_eval.evaluate(qrels.toArrow(), run.toArrow(), ["MRR", "nDCG@10"])
        spark_cases.assert_equal(summarise(scores), expected)
    finally:
        for name in ("qrels", "run"):
            session.sql(f"DROP TABLE IF EXISTS {name}_in_buckets")
