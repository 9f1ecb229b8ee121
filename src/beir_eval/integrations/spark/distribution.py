"""How the judgements and documents of a query come together in one Python worker of Spark.

Two ways, with equal results:

- "cogroup": the queries are divided into buckets by a hash of their id, and a worker gets the whole
  of a bucket. Faster where a bucket fits into the memory of a worker.
- "sort": judgements and documents are shuffled together and sorted by query, and a worker reads
  them as a stream. It holds about 100,000 rows, or one query if that is longer.

Both get every judged query, also those that the run lacks, and use neither ``sparkContext`` nor
broadcast variables, which Spark Connect does not have.
"""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from beir_eval.errors import needs_extra
from beir_eval.integrations.spark.worker import BEGIN, DOC, END, IS_JUDGEMENT, NUMBER, PLACE, QUERY

with needs_extra("pyspark", "spark", "evaluating with Spark"):
    from pyspark.sql import functions as F  # noqa: N812 - its usual name
    from pyspark.sql.types import (
        BooleanType,
        DoubleType,
        LongType,
        StringType,
        StructField,
        StructType,
    )

from beir_eval.integrations.spark.score_table import column_types

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from pyspark.sql import DataFrame

METHODS = ("cogroup", "sort")

#: A run of at most so many bytes, as Spark estimates it, is cogrouped by default; and the bytes of
#: a bucket.
_MOST_BYTES, _BUCKET_BYTES = 256 * 2**20, 8 * 2**20
#: The most buckets by default: of a join, Spark may estimate far too many bytes.
_MOST_BUCKETS = 100_000
_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}

_SPARK_TYPES = {str: StringType(), float: DoubleType(), bool: BooleanType(), int: LongType()}


def score_table(
    judged: DataFrame,
    retrieved: DataFrame,
    plan: Mapping[str, Any],
    method: str | None,
    partitions: int | None,
) -> DataFrame:
    """Return the DataFrame of the score table; its job has not run.

    Args:
        judged: the judgements: ``QUERY``, ``DOC``, ``NUMBER``.
        retrieved: the run: the same, and ``PLACE`` if the plan is ordered.
        plan: the fields of ``worker.Plan``.
        method: "cogroup" or "sort"; None chooses by size.
        partitions: the number of buckets or partitions; None leaves it to the size and to Spark.
    """
    types = column_types(plan["measures"])
    schema = StructType([StructField(name, _SPARK_TYPES[kind]) for name, kind in types.items()])
    size = size_in_bytes(retrieved) if method is None or partitions is None else None
    if method is None:
        method = "cogroup" if size is not None and size <= _MOST_BYTES else "sort"
    if method == "cogroup":
        return _cogrouped(judged, retrieved, plan, schema, partitions or num_buckets(size, judged))
    return _sorted(judged, retrieved, plan, schema, partitions)


def num_buckets(size: float | None, frame: DataFrame) -> int:
    """Return into how many buckets the queries are divided.

    Args:
        size: the bytes of the run; None if they are not known.
        frame: a frame of the session, whose number of shuffle partitions counts then.
    """
    if size is not None:
        return min(1 + int(size / _BUCKET_BYTES), _MOST_BUCKETS)
    number = frame.sparkSession.conf.get("spark.sql.shuffle.partitions")
    # Databricks also has "auto".
    return 4 * int(number if number and number.isdecimal() else 200)


def _cogrouped(
    judged: DataFrame,
    retrieved: DataFrame,
    plan: Mapping[str, Any],
    schema: StructType,
    buckets: int,
) -> DataFrame:
    bucket = F.pmod(F.xxhash64(QUERY), F.lit(buckets))
    sides = [frame.withColumn("bucket", bucket).groupBy("bucket") for frame in (judged, retrieved)]
    return sides[0].cogroup(sides[1]).applyInArrow(bucket_function(plan), schema)


def _sorted(
    judged: DataFrame,
    retrieved: DataFrame,
    plan: Mapping[str, Any],
    schema: StructType,
    partitions: int | None,
) -> DataFrame:
    names = [QUERY, DOC, NUMBER, *([PLACE] if plan["ordered"] else [])]
    if plan["ordered"]:
        judged = judged.withColumn(PLACE, F.lit(None).cast("bigint"))
    rows = (
        judged.select(*names)
        .withColumn(IS_JUDGEMENT, F.lit(True))  # noqa: FBT003 - Spark's interface
        .union(retrieved.select(*names).withColumn(IS_JUDGEMENT, F.lit(False)))  # noqa: FBT003
    )
    # By a hash of the ids, not by the ids: if both tables are bucketed by them, Spark 4.3 leaves
    # out the shuffle, and then reads the files without regard to buckets.
    key = F.xxhash64(QUERY)
    shuffled = rows.repartition(key) if partitions is None else rows.repartition(partitions, key)
    return shuffled.sortWithinPartitions(QUERY).mapInArrow(batch_function(plan), schema)


def size_in_bytes(frame: DataFrame) -> float | None:
    """Return the size that Spark estimates without a job; None if it does not know it."""
    text = io.StringIO()
    with redirect_stdout(text):
        frame.explain(mode="cost")
    match = re.search(r"Statistics\(sizeInBytes=([\d.E+]+) (\w+)", text.getvalue())
    unit = None if match is None else _UNITS.get(match[2])
    return None if match is None or unit is None else float(match[1]) * unit


# The functions that Spark sends to the workers. They are defined inside functions, so that Spark
# sends their code and not only their name: a worker without this package can then say so.


def bucket_function(plan: Mapping[str, Any]) -> Callable[[Any, Any], Any]:
    """Return the function of ``applyInArrow``."""
    load = _loader()
    content = dict(plan)

    def evaluate_bucket(judged: Any, retrieved: Any) -> Any:
        return load().evaluate_buckets(content, judged, retrieved)

    return evaluate_bucket


def batch_function(plan: Mapping[str, Any]) -> Callable[[Iterable[Any]], Any]:
    """Return the function of ``mapInArrow``."""
    load = _loader()
    content = dict(plan)

    def evaluate_partition(batches: Iterable[Any]) -> Any:
        return load().evaluate_batches(content, batches)

    return evaluate_partition


def _loader() -> Callable[[], Any]:
    """Return a function that imports ``worker``, or raises what ``decoded`` reads."""
    begin, end = BEGIN, END

    def load() -> Any:
        import json  # noqa: PLC0415 - this function is sent to workers
        import os  # noqa: PLC0415
        import sys  # noqa: PLC0415

        # Spark runs a worker for each processor.
        os.environ.setdefault("POLARS_MAX_THREADS", "1")
        try:
            from beir_eval.integrations.spark import worker  # noqa: PLC0415
        except ImportError as error:
            message = (
                f"a Python worker of Spark ({sys.executable}) cannot import what it needs: {error}"
                ". Install the driver's version there with: pip install 'beir-eval[spark]', or "
                "ship an environment with spark.archives"
            )
            content = json.dumps(["MissingExtraError", message], ensure_ascii=False)
            raise RuntimeError(begin + content + end) from None
        return worker

    return load
