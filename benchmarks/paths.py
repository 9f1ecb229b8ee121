"""One run on every path: seconds and memory for a million rows, on one and on two processors.

    python benchmarks/paths.py [--rows 20000000] [--ways NAME …] [--processors 1 2] [--write]

The run and the judgements are those of ``scale.py``: 100 documents a query, 4 judged, text ids;
grouped by query as TREC, and in no order as Parquet. All 36 default measures. Each way runs in a
process of its own, on one processor or two (``taskset``). All ways must give the same bits.

Time is that of reading the files and evaluating. What is in memory already is made before: dicts,
arrays. Imports and the start of a session of Spark are left out. Memory is the highest resident
size of the process; for Spark, of the JVM (at most 2 GB of heap), and of the largest Python worker.

``--write`` replaces the section "One run of … rows" of RESULTS.md.
"""

from __future__ import annotations

import argparse
import hashlib
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
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from measuring import highest_memory, put_section
from scale import DEPTH, write_qrels, write_shuffled, write_trec

from beir_eval import EvaluationResult, Qrels, Run, evaluate, read_run

if TYPE_CHECKING:
    from collections.abc import Callable

QRELS, TREC, PARQUET, TABLE = "qrels.trec", "run.trec", "run.parquet", "table"
QRELS_COLUMNS = {0: "query_id", 2: "doc_id", 3: "grade"}
RUN_COLUMNS = {0: "query_id", 2: "doc_id", 4: "score"}
HEADER = (
    "| way | reads | processors | seconds | seconds for a million rows | million rows/s | "
    "highest memory |"
)
_MIB = 2**20


def evaluate_dicts(folder: Path) -> tuple[float, EvaluationResult]:
    """Evaluate dicts that are in memory."""
    run: dict[str, dict[str, float]] = {}
    for query_id, doc_id, score in _read(folder / TREC, RUN_COLUMNS).iter_rows():
        run.setdefault(query_id, {})[doc_id] = score
    qrels: dict[str, dict[str, int]] = {}
    for query_id, doc_id, grade in _read(folder / QRELS, QRELS_COLUMNS).iter_rows():
        qrels.setdefault(query_id, {})[doc_id] = grade
    start = time.perf_counter()
    result = evaluate(qrels, run)
    return time.perf_counter() - start, result


def evaluate_arrays(folder: Path) -> tuple[float, EvaluationResult]:
    """Evaluate top-k arrays that are in memory, with numbers for documents."""
    number = pl.col("doc_id").str.strip_prefix("d")
    frame = _read(folder / TREC, RUN_COLUMNS).with_columns(number.cast(pl.Int64))
    doc_ids, scores = (frame[name].to_numpy().reshape(-1, DEPTH) for name in ("doc_id", "score"))
    query_ids = frame["query_id"].gather_every(DEPTH).to_list()
    qrels = Qrels.from_dataframe(_read(folder / QRELS, QRELS_COLUMNS).with_columns(number))
    start = time.perf_counter()
    result = evaluate(qrels, Run.from_arrays(doc_ids, scores, query_ids=query_ids))
    return time.perf_counter() - start, result


def _read(path: Path, columns: dict[int, str]) -> pl.DataFrame:
    """Return columns of a TREC file.

    Args:
        path: the file.
        columns: {place from 0: name}.
    """
    frame = pl.read_csv(path, separator=" ", has_header=False, columns=list(columns))
    frame.columns = list(columns.values())
    return frame


def evaluate_file(
    folder: Path, name: str, *, parts: bool = False
) -> tuple[float, EvaluationResult]:
    """Evaluate a file, in memory or in parts."""
    start = time.perf_counter()
    result = evaluate(folder / QRELS, read_run(folder / name, parts=parts))
    return time.perf_counter() - start, result


def evaluate_on_spark(folder: Path, method: str) -> tuple[float, Path]:
    """Evaluate with Spark, and write the table of scores."""
    from beir_eval.integrations import spark as ours  # noqa: PLC0415 - needs pyspark

    spark = session(folder)
    run = spark.read.parquet(str(folder / PARQUET))
    columns = "query_id string, iteration string, doc_id string, grade int"
    qrels = spark.read.csv(str(folder / QRELS), sep=" ", schema=columns)
    # The first job imports the package into the workers.
    ours.check(ours.evaluate(qrels.limit(100), run.limit(100), method=method))
    start = time.perf_counter()
    ours.evaluate(qrels, run, method=method).write.parquet(str(folder / TABLE))
    return time.perf_counter() - start, folder / TABLE


#: {way: what it reads, its function}.
WAYS: dict[str, tuple[str, Callable[[Path], tuple[float, EvaluationResult | Path]]]] = {
    "dicts": ("memory", evaluate_dicts),
    "arrays": ("memory", evaluate_arrays),
    "TREC in memory": ("TREC, grouped", lambda folder: evaluate_file(folder, TREC)),
    "TREC in parts": ("TREC, grouped", lambda folder: evaluate_file(folder, TREC, parts=True)),
    "Parquet in memory": ("Parquet, shuffled", lambda folder: evaluate_file(folder, PARQUET)),
    "Parquet in parts": (
        "Parquet, shuffled",
        lambda folder: evaluate_file(folder, PARQUET, parts=True),
    ),
    "Spark, cogroup": ("Parquet, shuffled", lambda folder: evaluate_on_spark(folder, "cogroup")),
    "Spark, sort": ("Parquet, shuffled", lambda folder: evaluate_on_spark(folder, "sort")),
}


def session(folder: Path | None = None) -> Any:
    """Return a session on this machine, with a Python worker for each processor it may use.

    Args:
        folder: where the rows go when they are shuffled.
    """
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.sql import SparkSession  # noqa: PLC0415 - after its settings

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.log.level": "ERROR",
    }
    if folder is not None:
        settings["spark.local.dir"] = str(folder / "shuffled")
    builder = SparkSession.builder.master(f"local[{len(os.sched_getaffinity(0))}]")
    for name, value in settings.items():
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
        except OSError:
            return
        kind = "python" if b"pyspark.daemon" in command else "java" if b"java" in command else ""
        if kind:
            self.peak[kind] = max(self.peak[kind], highest_memory(pid))


def digest(result: EvaluationResult) -> str:
    """Return a hash of all scores, over the queries in the order of their ids."""
    order = np.argsort(np.array(result.query_ids))
    names = " ".join(result.measures).encode()
    return hashlib.sha256(names + result.values.array[:, order].tobytes()).hexdigest()


def measure(folder: Path, way: str) -> dict[str, Any]:
    """Return seconds, memory, bytes on disk and the hash of the scores of one way."""
    memory = Memory()
    seconds, result = WAYS[way][1](folder)
    answer = {"seconds": seconds, "own": highest_memory(), **memory.peak}
    shuffled = folder / "shuffled"
    sizes = [path.stat().st_size for path in shuffled.rglob("*") if path.is_file()]
    if isinstance(result, Path):
        from beir_eval.integrations.spark import summarise  # noqa: PLC0415 - needs pyspark

        result = summarise(session(folder).read.parquet(str(result)))
    return {**answer, "shuffled": sum(sizes), "digest": digest(result)}


def ranking_metrics() -> list[str]:
    """Return rows that compare Spark's RankingMetrics with this package on one ranking."""
    from pyspark.mllib.evaluation import RankingMetrics  # noqa: PLC0415 - needs pyspark

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


def in_a_process(folder: Path, way: str, processors: int) -> dict[str, Any]:
    """Return what ``measure`` returns, from a process that may use so many processors."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        for name in (QRELS, TREC, PARQUET):
            if (folder / name).exists():
                (Path(own) / name).symlink_to(folder / name)
        pinned = ["taskset", "--cpu-list", f"0-{processors - 1}"]
        command = [*pinned, sys.executable, __file__, "--measure", own, way]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    answer: dict[str, Any] = json.loads(output.strip().splitlines()[-1])
    return answer


def row_of(way: str, processors: int, rows: int, measured: dict[str, Any]) -> str:
    """Return a row of the table."""
    memory = f"{measured['own'] / _MIB:,.0f} MiB"
    if measured["java"]:
        java, python, shuffled = (measured[name] / _MIB for name in ("java", "python", "shuffled"))
        memory = f"JVM {java:,.0f}, worker {python:,.0f} MiB; shuffled {shuffled:,.0f} MiB"
    seconds = measured["seconds"]
    millions = rows / 1e6
    return (
        f"| {way} | {WAYS[way][0]} | {processors} | {seconds:.1f} | {seconds / millions:.3f} | "
        f"{millions / seconds:.2f} | {memory} |"
    )


def main() -> None:
    """Measure, print, and with ``--write`` replace the section of RESULTS.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--processors", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--folder", type=Path, help="a folder with room for the files")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--measure", nargs=2, metavar=("FOLDER", "WAY"))
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(Path(options.measure[0]), options.measure[1])))
        return
    queries = options.rows // DEPTH
    rows = queries * DEPTH
    uses_spark = any(way.startswith("Spark") for way in options.ways)
    lines = [
        f"Made by `make bench-paths`. {rows:,} rows of {queries:,} queries, 4 judgements each, "
        "default measures. In memory means that the file is read as a whole; in parts, with "
        "`read_run(..., parts=True)`. Each way ran once, in a process of its own, on one processor "
        "or two. "
        f"The scores of all ways have the same bits. {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores, polars {version('polars')}"
        + (f", pyspark {version('pyspark')}." if uses_spark else "."),
        "",
        HEADER,
        "|" + "---|" * (HEADER.count(" | ") + 1),
    ]
    digests = set()
    with tempfile.TemporaryDirectory(dir=options.folder) as case:
        folder = Path(case)
        write_qrels(folder / QRELS, queries)
        if any(WAYS[way][0] != "Parquet, shuffled" for way in options.ways):
            write_trec(folder / TREC, rows)
        if any(WAYS[way][0] == "Parquet, shuffled" for way in options.ways):
            write_shuffled(folder / PARQUET, rows)
        print("\n".join(lines), flush=True)
        for way in options.ways:
            for processors in options.processors:
                measured = in_a_process(folder, way, processors)
                digests.add(measured["digest"])
                lines.append(row_of(way, processors, rows, measured))
                print(lines[-1], flush=True)
    if len(digests) > 1:
        sys.exit("FAILED: not all ways give the same bits")
    if set(options.ways) == set(WAYS):
        lines += ["", "| one ranking, graded | beir-eval | RankingMetrics |", "|---|---|---|"]
        lines += ranking_metrics()
    print("\n".join(lines))
    if options.write:
        put_section(f"One run of {rows:,} rows", lines)


if __name__ == "__main__":
    main()
