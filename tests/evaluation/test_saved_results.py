"""A result is read from the file that it was saved in, or from its score table."""

import polars as pl
import pytest

from beir_eval import (
    assert_no_regression,
    check_gate,
    compare,
    evaluate,
    evaluate_stream,
    read_score_table,
    write_run,
)
from beir_eval.errors import ResultError
from beir_eval.evaluation.saved_results import as_result, load_result
from beir_eval.evaluation.score_table import FACTS_KEY, REPEATED
from spark_folders import SPARK_SCHEMA, spark_schema, write_spark_folder

QRELS = {f"q{number}": {"a": 1, "b": 2} for number in range(30)}
GOOD = {query: {"b": 3.0, "a": 2.0, "x": 1.0} for query in QRELS}
POOR = {query: {"x": 3.0, "a": 2.0, "b": 1.0} for query in QRELS}


@pytest.fixture
def saved(tmp_path):
    """Write the results of two systems: streamed, as score tables, as JSON; return all forms."""
    forms = {}
    for name, run in (("good", GOOD), ("poor", POOR)):
        path = tmp_path / f"{name}.trec"
        write_run(run, path)
        table = tmp_path / f"{name}.parquet"
        streamed = evaluate_stream(QRELS, path, ["nDCG@10", "MRR"], table=table)
        result = evaluate(QRELS, path, ["nDCG@10", "MRR"], name=name)
        result.save(tmp_path / f"{name}.json")
        forms[name] = {
            "result": result,
            "streamed": streamed,
            "table": table,
            "path as text": str(table),
            "JSON": tmp_path / f"{name}.json",
            "folder of Spark": tmp_path / name,
        }
        write_spark_folder(table, tmp_path / name)
    return forms


@pytest.mark.parametrize("form", ["streamed", "table", "path as text", "JSON", "folder of Spark"])
def test_systems_are_compared_from_their_score_tables(saved, form):
    expected = compare({name: forms["result"] for name, forms in saved.items()}, baseline="poor")
    assert (
        compare({name: forms[form] for name, forms in saved.items()}, baseline="poor") == expected
    )
    assert compare([forms[form] for forms in saved.values()], baseline="poor") == expected
    repeats = {name: [forms[form], forms["result"]] for name, forms in saved.items()}
    of_results = {name: [forms["result"]] * 2 for name, forms in saved.items()}
    assert compare(repeats, baseline="poor") == compare(of_results, baseline="poor")
    gate, expected_gate = (
        check_gate(made, ["nDCG@10"])
        for made in (compare([forms[form] for forms in saved.values()], baseline="poor"), expected)
    )
    assert gate == expected_gate


def test_a_regression_is_seen_in_score_tables(saved):
    good, poor = (saved[name]["table"] for name in ("good", "poor"))
    assert_no_regression(good, poor)
    with pytest.raises(AssertionError):
        assert_no_regression(poor, good)


def test_a_file_of_another_kind_is_refused(saved, tmp_path):
    with pytest.raises(ResultError):
        load_result(tmp_path / "good.trec")
    with pytest.raises(ResultError, match="must be an EvaluationResult"):
        compare(["good", "poor"])
    assert as_result("good") == "good"
    with pytest.raises(ResultError, match="a folder without the facts of a score table"):
        load_result(tmp_path)
    assert as_result("\0") == "\0"


def test_the_folder_of_spark_has_the_result_in_the_order_of_query_ids(saved):
    folder, result = (saved["good"][form] for form in ("folder of Spark", "result"))
    read = read_score_table(folder)
    assert read.query_ids == tuple(sorted(result.query_ids))
    assert read.aggregate == result.aggregate
    assert {query: read.scores("MRR")[row] for row, query in enumerate(read.query_ids)} == {
        query: result.scores("MRR")[row] for row, query in enumerate(result.query_ids)
    }


def test_judgements_that_spark_counted_twice_are_counted(saved, tmp_path):
    table = saved["good"]["table"]
    facts = pl.read_parquet_metadata(table)[FACTS_KEY]
    counts = pl.Series(REPEATED, [2, 1] + [0] * (len(QRELS) - 2), dtype=pl.Int64)
    pl.read_parquet(table).with_columns(counts).write_parquet(table, metadata={FACTS_KEY: facts})
    write_spark_folder(table, tmp_path / "repeated")
    assert read_score_table(tmp_path / "repeated").counted.repeated_judgements == 3


@pytest.mark.parametrize("value", [None, pl.lit(None, dtype=pl.Int64)])
def test_a_folder_that_lost_its_count_of_repeated_judgements_is_refused(value, saved, tmp_path):
    folder = tmp_path / "changed"
    write_spark_folder(saved["good"]["table"], folder)
    for path in folder.glob("*.parquet"):
        metadata = {SPARK_SCHEMA: pl.read_parquet_metadata(path)[SPARK_SCHEMA]}
        frame = pl.read_parquet(path).drop(REPEATED)
        if value is not None:
            frame = frame.with_columns(value.alias(REPEATED))
        frame.write_parquet(path, metadata=metadata)
    with pytest.raises(ResultError, match=REPEATED):
        load_result(folder)


def test_a_column_of_positions_that_someone_added_does_not_order_the_queries(saved, tmp_path):
    folder = tmp_path / "changed"
    write_spark_folder(saved["good"]["table"], folder)
    for path in folder.glob("*.parquet"):
        metadata = {SPARK_SCHEMA: pl.read_parquet_metadata(path)[SPARK_SCHEMA]}
        frame = pl.read_parquet(path).with_row_index("position")
        frame.with_columns(pl.col("position").cast(pl.Int64)).write_parquet(path, metadata=metadata)
    assert load_result(folder) == load_result(saved["good"]["folder of Spark"])


@pytest.mark.parametrize(
    "schema",
    [
        "",
        "{",
        "[1]",
        '{"fields": 3}',
        '{"fields": [{"name": "query_id"}]}',
        "[" * 100_000,
        spark_schema(None),
    ],
)
def test_a_folder_with_another_schema_is_refused(schema, saved, tmp_path):
    write_spark_folder(saved["good"]["table"], tmp_path / "other", schema=schema)
    with pytest.raises(ResultError, match="a folder without the facts of a score table"):
        load_result(tmp_path / "other")


@pytest.mark.parametrize("facts", ["", "{", "[" * 100_000, '{"name": "bm25"}'])
def test_a_folder_with_damaged_facts_is_refused_with_its_name(facts, saved, tmp_path):
    write_spark_folder(saved["good"]["table"], tmp_path / "other", schema=spark_schema(facts))
    with pytest.raises(ResultError, match=r"other: not a score table|other: .*score table"):
        load_result(tmp_path / "other")


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("MRR", 7.0, "MRR"),
        ("documents_retrieved", -1, "documents_retrieved"),
        ("query_id", None, "query id that is not text"),
    ],
)
def test_a_table_with_impossible_values_is_refused(column, value, words, saved):
    table = saved["good"]["table"]
    facts = pl.read_parquet_metadata(table)[FACTS_KEY]
    frame = pl.read_parquet(table)
    changed = pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(value)).otherwise(pl.col(column))
    frame = frame.with_columns(changed.cast(frame.schema[column]).alias(column))
    frame.write_parquet(table, metadata={FACTS_KEY: facts})
    with pytest.raises(ResultError, match=words):
        compare([table, saved["poor"]["result"]])


def test_a_table_with_an_unknown_measure_is_refused_with_its_name(saved):
    table = saved["good"]["table"]
    facts = pl.read_parquet_metadata(table)[FACTS_KEY].replace('"MRR"', '"NoSuch@3"')
    pl.read_parquet(table).write_parquet(table, metadata={FACTS_KEY: facts})
    with pytest.raises(
        ResultError, match=r"good\.parquet: not a score table of this version.*NoSuch"
    ):
        load_result(table)


def test_one_file_of_spark_is_refused_because_rows_would_be_missing(saved):
    folder = saved["good"]["folder of Spark"]
    with pytest.raises(ResultError, match=r"one file of a score table that Spark wrote.*name the"):
        load_result(min(folder.glob("part-*")))


def test_a_folder_that_spark_has_not_finished_is_refused(saved):
    folder = saved["good"]["folder of Spark"]
    (folder / "_temporary").mkdir()
    with pytest.raises(ResultError, match="has not finished, or was interrupted"):
        compare([folder, saved["poor"]["result"]])


def test_files_of_two_tables_in_one_folder_are_refused(saved):
    good, poor = (saved[name]["folder of Spark"] for name in ("good", "poor"))
    part = min(poor.glob("part-*"))
    part.rename(good / "part-00009-c1.snappy.parquet")
    with pytest.raises(ResultError, match=r"files of different score tables.*overwrite"):
        load_result(good)


def test_a_table_that_was_written_twice_into_a_folder_is_refused(saved):
    folder = saved["good"]["folder of Spark"]
    part = min(folder.glob("part-*"))
    (folder / "part-00009-c1.snappy.parquet").write_bytes(part.read_bytes())
    with pytest.raises(ResultError, match="lists a query more than once"):
        load_result(folder)
