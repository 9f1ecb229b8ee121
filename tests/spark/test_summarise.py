"""``check`` and ``summarise`` run the job: tables, and errors of workers as our own."""

import sys
from pathlib import Path

import pytest

import beir_eval
import spark_cases
import spark_servers
from beir_eval import errors

spark_servers.skip_without_java()

from pyspark.errors import PythonException  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402, N812

from beir_eval.integrations.spark import check, evaluate, summarise  # noqa: E402

in_two_kinds = spark_cases.sessions("local", "connect")
METHODS = ("cogroup", "sort")
QRELS = "qid string, docno string, grade double"
RUN = "qid string, docno string, sim double, place int"


@pytest.fixture
def frames(session):
    qrels = [(f"q{number}", f"d{number % 3}", 1.0) for number in range(20)]
    run = [(f"q{number}", f"d{doc}", 1.0 / doc, doc) for number in range(20) for doc in (1, 2, 3)]
    return session.createDataFrame(qrels, QRELS), session.createDataFrame(run, RUN)


def spoiled(frame, column, value, where="docno = 'd2' AND qid = 'q7'"):
    return frame.withColumn(column, F.when(F.expr(where), F.lit(value)).otherwise(F.col(column)))


@in_two_kinds
@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        (
            "qid",
            None,
            ["1 ids are null", "column 'qid'", "document 'd2'", "dropna(subset=['qid'])"],
        ),
        ("docno", None, ["1 ids are null", "column 'docno'", "query 'q7'", "dropna"]),
        ("docno", "", ["1 ids are empty", "column 'docno'", "query 'q7'"]),
        ("sim", None, ["column 'sim'", "query 'q7'", "document 'd2'", "score None", "dropna"]),
        ("sim", float("nan"), ["column 'sim'", "query 'q7'", "score nan"]),
        ("sim", float("inf"), ["column 'sim'", "query 'q7'", "score inf"]),
        ("place", None, ["position None", "document 'd2'", "query 'q7'", "column 'place'"]),
        ("place", 1, ["position 1", "there twice", "query 'q7'", "column 'place'"]),
    ],
    ids=str,
)
def test_an_invalid_row_of_the_run_is_our_error_with_column_example_and_remedy(
    frames, column, value, words
):
    qrels, run = frames
    method = METHODS[len(words) % 2]
    scores = evaluate(
        qrels, spoiled(run, column, value), order="given", position="place", method=method
    )
    with pytest.raises(errors.RunError) as caught:
        check(scores)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert isinstance(caught.value.__cause__, PythonException)
    assert str(caught.value)[:40] in str(caught.value.__cause__)


@in_two_kinds
@pytest.mark.parametrize("method", METHODS)
def test_a_document_listed_twice_is_our_error_with_columns_example_and_remedy(frames, method):
    qrels, run = frames
    scores = evaluate(qrels, run.union(run.filter("qid = 'q7' AND docno = 'd3'")), method=method)
    with pytest.raises(errors.DuplicateDocumentError) as caught:
        check(scores)
    for word in ("'qid', 'docno'", "query 'q7' repeats 'd3'", "duplicates='first'"):
        assert word in str(caught.value)


@in_two_kinds
@pytest.mark.parametrize("method", METHODS)
def test_queries_that_may_not_be_missing_stop_the_job(frames, method):
    qrels, run = frames
    scores = evaluate(qrels, run.filter("qid <> 'q7'"), missing="error", method=method)
    for action in (check, summarise):
        with pytest.raises(errors.QueryMismatchError, match=r"'q7'.*missing='zero'"):
            action(scores)
    assert len(summarise(evaluate(qrels, run, missing="error", method=method)).query_ids) == 20


@in_two_kinds
def test_a_run_of_other_queries_is_our_error(frames):
    qrels, run = frames
    scores = evaluate(qrels, run.withColumn("qid", F.concat(F.lit("x"), "qid")))
    with pytest.raises(errors.QueryMismatchError, match="no query in common"):
        summarise(scores)


@in_two_kinds
@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("qid", None, "1 ids are null in the column 'qid'.*document 'd1'.*dropna"),
        ("docno", None, "1 ids are null in the column 'docno'.*query 'q7'.*dropna"),
        ("grade", None, "1 grades are not finite numbers in the column 'grade'.*query 'q7'"),
        ("grade", float("nan"), "1 grades are not finite.*grade nan"),
        ("grade", float("inf"), "1 grades are not finite.*grade inf"),
    ],
)
def test_invalid_judgements_are_refused_when_evaluate_is_called(frames, column, value, words):
    qrels, run = frames
    with pytest.raises(errors.QrelsError, match=words):
        evaluate(spoiled(qrels, column, value, "qid = 'q7'"), run)
    with pytest.raises(errors.QrelsError, match="the qrels are empty"):
        evaluate(qrels.filter("qid = 'none'"), run)


@in_two_kinds
@pytest.mark.parametrize("method", METHODS)
def test_judgements_that_disagree_are_our_error_and_repeated_ones_are_counted(frames, method):
    qrels, run = frames
    again = qrels.filter("qid = 'q7'")
    result = summarise(evaluate(qrels.union(again), run, method=method))
    assert result.counted.repeated_judgements == 1
    scores = evaluate(qrels.union(again.withColumn("grade", F.lit(2.0))), run, method=method)
    with pytest.raises(
        errors.QrelsError, match=r"'docno', 'grade'.*'q7', as 1\.0 and as 2\.0|2\.0 and as 1\.0"
    ):
        check(scores)


@in_two_kinds
def test_a_long_message_arrives_complete(session):
    """Spark Connect shortens long errors on one of its ways."""
    names = [f"d{number}-{'x' * 70}" for number in range(9)]
    qrels = session.createDataFrame([("q1", name, 1.0) for name in names], QRELS)
    run = session.createDataFrame([("q1", name, 0.5, 1) for name in names * 2], RUN)
    with pytest.raises(errors.DuplicateDocumentError, match="gain nothing"):
        check(evaluate(qrels, run))


@spark_cases.sessions("local")
def test_a_worker_without_this_package_says_so(session, frames, monkeypatch, tmp_path):
    # Without site, Python ignores the file that adds the folder of this package.
    packages = Path(pytest.__file__).parents[1]
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="{packages}:$PYTHONPATH" exec "{sys.executable}" -S "$@"\n'
    )
    python.chmod(0o755)
    monkeypatch.setattr(session.sparkContext, "pythonExec", str(python))
    for method in METHODS:
        scores = evaluate(*frames, method=method)
        with pytest.raises(errors.MissingExtraError) as caught:
            check(scores)
        for word in (
            sys.executable,
            "No module named 'beir_eval",
            "pip install 'beir-eval[spark]'",
        ):
            assert word in str(caught.value)


@in_two_kinds
def test_an_error_of_spark_itself_stays_as_it_is(frames):
    qrels, run = frames
    broken = run.withColumn("sim", F.expr("cast('x' || docno as double)"))
    with pytest.raises(Exception, match="CAST_INVALID_INPUT") as caught:
        check(evaluate(qrels, broken))
    assert not isinstance(caught.value, errors.BeirEvalError)


@in_two_kinds
def test_a_table_that_was_written_as_parquet_can_be_summarised(session, frames, tmp_path):
    scores = evaluate(*frames, ["nDCG@10", "RBP(p=0.8)"], name="bm25")
    path = str(tmp_path / "scores")
    scores.write.parquet(path)
    result = summarise(session.read.parquet(path))
    assert result == summarise(scores)
    assert result.name == "bm25"
    better = summarise(evaluate(*frames, ["nDCG@10", "RBP(p=0.8)"], name="other"))
    comparison = beir_eval.compare([result, better], draws=100)
    assert comparison.difference("nDCG@10", "other", "bm25").difference == 0.0


@in_two_kinds
def test_something_else_is_no_score_table(session, frames):
    with pytest.raises(errors.ResultError, match="not a score table"):
        summarise(frames[0])
    with pytest.raises(errors.InputError, match="must be the DataFrame"):
        check([1])
