"""Score tables in the layout of a folder that Spark writes, made without Spark."""

import json

import polars as pl

from beir_eval.evaluation.score_table import FACTS_KEY, QUERY_ID, REPEATED

SPARK_SCHEMA = "org.apache.spark.sql.parquet.row.metadata"


def spark_schema(facts):
    """Return what Spark keeps in the metadata of a file, as far as it matters here.

    Args:
        facts: the text beside the column of query ids; None for none.
    """
    field = {"name": QUERY_ID, "type": "string", "nullable": True, "metadata": {}}
    if facts is not None:
        field["metadata"][FACTS_KEY] = facts
    scored = {"name": "MRR", "type": "double", "nullable": True, "metadata": {}}
    return json.dumps({"type": "struct", "fields": [field, scored]})


def write_spark_folder(table, folder, num_parts=3, schema=None):
    """Write the rows of a score table as Spark does: shuffled, in parts, of which one is empty.

    Args:
        table: a file of ``evaluate_stream``.
        folder: a folder that does not exist.
        num_parts: the number of files with rows.
        schema: the metadata of the files; None for what Spark writes.
    """
    folder.mkdir()
    facts = pl.read_parquet_metadata(table)[FACTS_KEY]
    metadata = {SPARK_SCHEMA: spark_schema(facts) if schema is None else schema}
    frame = pl.read_parquet(table).drop("position", strict=False).sample(fraction=1, shuffle=True)
    if REPEATED not in frame:
        frame = frame.with_columns(pl.lit(0, dtype=pl.Int64).alias(REPEATED))
    (folder / "_SUCCESS").touch()
    (folder / "._SUCCESS.crc").touch()
    parts = [frame[start::num_parts] for start in range(num_parts)]
    for number, part in enumerate([*parts, frame[:0]]):
        part.write_parquet(folder / f"part-{number:05}-c0.snappy.parquet", metadata=metadata)
