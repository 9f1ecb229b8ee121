"""Evaluation on Apache Spark: rows per second and memory of both ways, on shuffled Parquet.

    python benchmarks/spark.py --rows 20000000 [--way cogroup] [--write]

100 documents per query, 10 judged, text ids of 8 to 9 characters, in 16 files whose rows are in no
order; the default measures. ``local[2]``: a JVM with 2 GB and a Python worker per processor. Each
way runs in a process of its own, and the table is computed and thrown away (``check``). Memory is
the highest resident size of a Python worker, and of the JVM. Then the same run in memory where it
fits (``--memory``), and Spark's RankingMetrics on one ranking.

``--write`` replaces the section Spark of RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from measuring import put_section

WAYS = ("cogroup", "sort")
DEPTH, JUDGED, FILES = 100, 10, 16
#: Coprime to every number of rows: a walk with this step visits each row once, in no order.
STEP = 2_147_483_647


def write_case(folder: Path, rows: int) -> None:
    """Write the judgements and the run of a case as Parquet."""
    ids = (
        (pl.lit("q") + pl.col("query").cast(pl.String)).alias("query_id"),
        (pl.lit("d") + (pl.col("query") * 7 + pl.col("place") * 7919).cast(pl.String)).alias(
            "doc_id"
        ),
    )
    size = -(-rows // FILES)
    rng = np.random.default_rng(0)
    for number in range(FILES):
        walk = np.arange(number * size, min(rows, (number + 1) * size), dtype=np.int64)
        row = (walk * STEP) % rows
        columns = {"query": row // DEPTH, "place": row % DEPTH, "score": rng.random(len(row))}
        run = pl.DataFrame(columns).select(*ids, "score")
        run.write_parquet(folder / f"run-{number:02}.parquet")
    query = np.repeat(np.arange(rows // DEPTH), JUDGED)
    position = np.tile(np.arange(JUDGED) * 12, rows // DEPTH)
    columns = {"query": query, "place": position, "grade": rng.integers(0, 4, len(query))}
    pl.DataFrame(columns).select(*ids, "grade").write_parquet(folder / "qrels.parquet")


def session(**settings: Any) -> Any:
    """Return a session on this machine."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.sql import SparkSession  # noqa: PLC0415 - after its settings

    builder = SparkSession.builder.master("local[2]")
    fixed = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
    }
    for name, value in {**fixed, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


class Memory(threading.Thread):
    """A thread that notes the highest resident size of this process' JVM and Python workers.

    Attributes:
        peak: {"java" or "python": bytes}.
    """

    def __init__(self) -> None:
        """Start the thread."""
        super().__init__(daemon=True)
        self.peak = {"java": 0, "python": 0}
        self.start()

    def run(self) -> None:
        """Look at the children of this process five times a second."""
        while True:
            parents: dict[int, int] = {}
            for path in Path("/proc").iterdir():
                if path.name.isdecimal():
                    try:
                        text = (path / "stat").read_text().rpartition(")")[2]
                    except OSError:
                        continue
                    parents[int(path.name)] = int(text.split()[1])
            ours = {os.getpid()}
            for _ in range(5):
                ours |= {child for child, parent in parents.items() if parent in ours}
            for pid in ours - {os.getpid()}:
                self._note(pid)
            time.sleep(0.2)

    def _note(self, pid: int) -> None:
        """Note the size of a process, if it is one of Spark."""
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return
        kind = "python" if b"pyspark.daemon" in command else "java" if b"java" in command else ""
        if kind and "VmHWM:" in status:
            size = 1024 * int(status.partition("VmHWM:")[2].split()[0])
            self.peak[kind] = max(self.peak[kind], size)


def measure(folder: Path, way: str) -> dict[str, Any]:
    """Return the seconds and the memory of one way, session start left out."""
    from beir_eval.integrations.spark import check, evaluate  # noqa: PLC0415

    spark = session()
    qrels = spark.read.parquet(str(folder / "qrels.parquet"))
    run = spark.read.parquet(str(folder / "run-*.parquet"))
    # The first job imports the package into the workers.
    check(evaluate(qrels.limit(100), run.limit(100), method=way))
    memory = Memory()
    start = time.perf_counter()
    check(evaluate(qrels, run, method=way))
    seconds = time.perf_counter() - start
    spark.stop()
    return {"seconds": seconds, **memory.peak}


def measure_in_memory(folder: Path) -> dict[str, Any]:
    """Return the seconds and the memory of reading and evaluating the run in memory."""
    import resource  # noqa: PLC0415 - not on Windows

    from beir_eval import Qrels, Run, evaluate  # noqa: PLC0415

    start = time.perf_counter()
    run = Run.from_dataframe(pl.read_parquet(folder / "run-*.parquet"))
    evaluate(Qrels.from_dataframe(pl.read_parquet(folder / "qrels.parquet")), run)
    seconds = time.perf_counter() - start
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "java": 0, "python": peak}


def ranking_metrics() -> list[str]:
    """Return rows that compare Spark's RankingMetrics with this package on one ranking."""
    from pyspark.mllib.evaluation import RankingMetrics  # noqa: PLC0415

    from beir_eval import evaluate  # noqa: PLC0415

    spark = session()
    pair = ([1, 2, 3], [2, 1], [3.0, 1.0])
    theirs = RankingMetrics(spark.sparkContext.parallelize([pair]))
    names = ['nDCG(gain="exp")@3', "nDCG@3", "MAP@1", "MAP"]
    ours = evaluate({"q": {2: 3.0, 1: 1.0}}, {"q": {1: 3, 2: 2, 3: 1}}, names)
    values = {
        names[0]: theirs.ndcgAt(3),
        names[1]: theirs.ndcgAt(3),
        names[2]: theirs.meanAveragePrecisionAt(1),
        names[3]: theirs.meanAveragePrecision,
    }
    spark.stop()
    return [f"| {name} | {ours[name]:.3f} | {value:.3f} |" for name, value in values.items()]


def in_a_process(*arguments: object) -> dict[str, Any]:
    """Return what this script prints with these arguments."""
    command = [sys.executable, __file__, *map(str, arguments)]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    answer: dict[str, Any] = json.loads(output.strip().splitlines()[-1])
    return answer


def main() -> None:
    """Measure, print, and with ``--write`` replace the section of RESULTS.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--way", choices=WAYS)
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--measure", nargs=2, metavar=("FOLDER", "WAY"))
    options = parser.parse_args()
    if options.measure:
        folder, way = Path(options.measure[0]), options.measure[1]
        print(json.dumps(measure_in_memory(folder) if way == "memory" else measure(folder, way)))
        return
    rows = options.rows // DEPTH * DEPTH
    setting = (
        f"Made by `make bench-spark`. {rows:,} rows of {rows // DEPTH:,} queries in shuffled "
        f"Parquet, default measures, `local[2]`, JVM of 2 GB. {platform.system()} "
        f"{platform.machine()}, {os.cpu_count()} cores, pyspark {version('pyspark')}."
    )
    header = ["| way | seconds | rows/s | largest Python worker | JVM |", "|---|---|---|---|---|"]
    lines = [setting, "", *header]
    with tempfile.TemporaryDirectory() as case:
        write_case(Path(case), rows)
        ways = [options.way] if options.way else [*WAYS, *(["memory"] if options.memory else [])]
        for way in ways:
            result = in_a_process("--measure", case, way)
            seconds, python, java = (result[name] for name in ("seconds", "python", "java"))
            lines.append(
                f"| {way} | {seconds:.1f} | {rows / seconds:,.0f} | {python / 2**20:,.0f} MiB | "
                f"{java / 2**20:,.0f} MiB |"
            )
            print(lines[-1], flush=True)
    lines += ["", "| one ranking, graded | beir-eval | RankingMetrics |", "|---|---|---|"]
    lines += ranking_metrics()
    print("\n".join(lines))
    if options.write:
        put_section("Spark", lines)


if __name__ == "__main__":
    main()
