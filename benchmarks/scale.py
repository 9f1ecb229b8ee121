"""A run that is read in parts: time, memory and bits, grouped and shuffled.

    python benchmarks/scale.py [--queries 1250000] [--folder /tmp]

Writes a TREC run of 100 documents a query (5 GB by default), its rows in another order as Parquet,
and qrels of 4 judgements a query, into a temporary folder that is removed. Each evaluation is a
process of its own; its peak memory is that of the process. A part of the run that fits into memory
is evaluated both ways: the bits must be equal, and rows per second are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from measuring import highest_memory

from beir_eval import evaluate, read_run

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPTH, DOCUMENTS, CHUNK = 100, 8_841_823, 1_000_000
#: A multiplier of a permutation of row numbers: prime, and larger than any number of rows here.
STEP = 2_147_483_647
#: Queries of the part that fits into memory.
PART_QUERIES = 50_000
#: The highest peak in MB, and the least share of the speed in memory.
MOST_MB, LEAST_SPEED = 1000, 0.5
JUDGED_RANKS = (0, 3, 17, 60)


def rows(numbers: Any) -> pl.DataFrame:
    """Return the rows of the run with these numbers: query by query, best document first."""
    query, rank = numbers // DEPTH, numbers % DEPTH
    score = np.round(90 - rank * 0.73 + (numbers * 7919 % 1000) / 400, 3)
    return pl.DataFrame(
        {
            "query_id": "q" + pl.Series(query).cast(pl.String).str.zfill(7),
            "doc_id": "d" + pl.Series(documents(query, rank)).cast(pl.String),
            "score": score,
        }
    )


def documents(query: Any, rank: Any) -> Any:
    """Return the number of a document; those of a query are different."""
    return (query * 15_485_863 + rank * 104_729) % DOCUMENTS


def chunks(num_rows: int) -> Iterator[Any]:
    """Yield row numbers, some at a time."""
    for begin in range(0, num_rows, CHUNK):
        yield np.arange(begin, min(num_rows, begin + CHUNK), dtype=np.int64)


def write_trec(path: Path, num_rows: int) -> None:
    """Write the run in the order of its rows."""
    with path.open("wb") as file:
        for numbers in chunks(num_rows):
            frame = rows(numbers).select(
                "query_id",
                pl.lit("Q0").alias("iteration"),
                "doc_id",
                pl.Series("rank", numbers % DEPTH + 1),
                "score",
                pl.lit("bm25").alias("tag"),
            )
            frame.write_csv(file, separator=" ", include_header=False)


def write_shuffled(path: Path, num_rows: int) -> None:
    """Write the same rows in another order, as Parquet files that become one."""
    parts = path.with_suffix(".parts")
    parts.mkdir()
    for number, numbers in enumerate(chunks(num_rows)):
        permuted = (numbers * (STEP % num_rows) + 12_345) % num_rows
        rows(permuted).write_parquet(parts / f"{number:05}.parquet", statistics=False)
    pl.scan_parquet(parts / "*.parquet").sink_parquet(path, row_group_size=500_000)
    shutil.rmtree(parts)


def write_qrels(path: Path, num_queries: int) -> None:
    """Write the judgements of documents at four ranks of each query."""
    query = np.repeat(np.arange(num_queries, dtype=np.int64), len(JUDGED_RANKS))
    rank = (np.tile(np.array(JUDGED_RANKS), num_queries) + query * 31) % DEPTH
    frame = pl.DataFrame(
        {
            "query_id": "q" + pl.Series(query).cast(pl.String).str.zfill(7),
            "iteration": pl.repeat("0", len(query), eager=True),
            "doc_id": "d" + pl.Series(documents(query, rank)).cast(pl.String),
            "grade": (query * 13 + rank * 7) % 4,
        }
    )
    frame.write_csv(path, separator=" ", include_header=False)


def measure_child(how: str, qrels: Path, run: Path, saved: Path) -> None:
    """Evaluate in this process, print time, peak memory and means as JSON, and save the result."""
    start = time.perf_counter()
    result = evaluate(qrels, read_run(run, parts=how == "in parts"), name="run")
    seconds = time.perf_counter() - start
    peak_mb, used = highest_memory() / 1e6, os.times()
    measured = {
        "how": how,
        "seconds": seconds,
        "cpu": used.user + used.system,
        "peak_mb": peak_mb,
        "means": result.aggregate,
    }
    print(json.dumps(measured))
    if len(result.query_ids) <= PART_QUERIES:
        result.save(saved)


def measure(how: str, qrels: Path, run: Path, saved: Path) -> dict[str, Any]:
    """Evaluate in a process of its own."""
    command = [sys.executable, __file__, "--child", how, str(qrels), str(run), str(saved)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    result: dict[str, Any] = json.loads(output)
    return result


def report(what: str, num_rows: int, measured: dict[str, Any]) -> None:
    """Print a line of the table."""
    print(
        f"| {what} | {measured['how']} | {measured['seconds']:.1f} s | "
        f"{num_rows / measured['seconds'] / 1e6:.2f} M rows/s | {measured['cpu']:.1f} s | "
        f"{measured['peak_mb']:.0f} MB |",
        flush=True,
    )


def require(condition: object, problem: str) -> None:
    """End with an error unless the condition holds."""
    if not condition:
        sys.exit(f"FAILED: {problem}")


def main(num_queries: int, folder: Path) -> None:
    """Write the files, evaluate them, print the table."""
    num_rows = num_queries * DEPTH
    part_queries = min(PART_QUERIES, num_queries)
    start = time.perf_counter()
    for name, queries in (("whole", num_queries), ("part", part_queries)):
        write_qrels(folder / f"{name}.qrels", queries)
        write_trec(folder / f"{name}.trec", queries * DEPTH)
        write_shuffled(folder / f"{name}.parquet", queries * DEPTH)
    sizes = {path.name: path.stat().st_size / 1e9 for path in sorted(folder.iterdir())}
    print(f"written in {time.perf_counter() - start:.0f} s:", end=" ")
    print(", ".join(f"{name} {size:.2f} GB" for name, size in sizes.items()), flush=True)
    print("| run | way | time | speed | processor | peak RSS |\n|---|---|---|---|---|---|")
    speeds: dict[str, tuple[float, float]] = {}
    means, problems = [], []
    for ending in ("trec", "parquet"):
        part, whole = folder / f"part.{ending}", folder / f"whole.{ending}"
        saved = [folder / "memory.json", folder / "parts.json"]
        memory = measure("in memory", folder / "part.qrels", part, saved[0])
        report(f"part, {ending}", part_queries * DEPTH, memory)
        report(
            f"part, {ending}",
            part_queries * DEPTH,
            measure("in parts", folder / "part.qrels", part, saved[1]),
        )
        require(saved[0].read_bytes() == saved[1].read_bytes(), "the results differ")
        large = measure("in parts", folder / "whole.qrels", whole, folder / "whole.json")
        report(f"whole, {ending}", num_rows, large)
        means.append(large["means"])
        times = num_rows / (part_queries * DEPTH)
        speeds[ending] = (
            times * memory["seconds"] / large["seconds"],
            times * memory["cpu"] / large["cpu"],
        )
        problems += ["the peak is above 1 GB"] * (large["peak_mb"] >= MOST_MB)
    require(means[0] == means[1], "the order of the rows changed a mean")
    print("results of the part: equal in memory and in parts; means of both orders: equal")
    for ending, (by_clock, by_processor) in speeds.items():
        print(
            f"{ending}: rows per second of the whole, in parts, against the part in memory: "
            f"{by_clock:.2f} by the clock, {by_processor:.2f} by processor time"
        )
    # The clock depends on what else the machine does.
    slowest = min(by_processor for _, by_processor in speeds.values())
    problems += ["less than half of the speed in memory"] * (slowest < LEAST_SPEED)
    require(not problems, "; ".join(problems))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_250_000)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--child", nargs=4, default=None)
    arguments = parser.parse_args()
    if arguments.child:
        measure_child(arguments.child[0], *map(Path, arguments.child[1:]))
    else:
        with tempfile.TemporaryDirectory(prefix="beir-eval-scale-", dir=arguments.folder) as name:
            main(arguments.queries, Path(name))
