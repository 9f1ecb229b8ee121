"""Run files that ``beir-eval evaluate`` reads in parts, because they are larger than memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from beir_eval.cli.console import console, naming_options
from beir_eval.cli.options import system_names
from beir_eval.errors import SettingError
from beir_eval.evaluation.streaming.size import needs_streaming

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from beir_eval.cli.damaged_runs import DamagedRuns
    from beir_eval.cli.option_sets import InputOptions
    from beir_eval.cli.outputs import Outputs
    from beir_eval.evaluation.streaming.result import StreamedResult
    from beir_eval.measures import Measure


def is_streamed(
    stated: bool | None,  # noqa: FBT001 - an option with three values
    files: Sequence[Path],
    run_format: str | None,
    outputs: Outputs,
) -> bool:
    """Return whether runs are read in parts: as stated, or if a file is too large for memory.

    Args:
        stated: the option --stream or --no-stream; None decides by size.
        files: the run files.
        run_format: their format; None detects it.
        outputs: the files to write: a score table, or what needs all scores in memory.

    Raises:
        SettingError: an output needs all scores in memory, or a table is asked for with several
            runs or --no-stream.
    """
    tables = list(outputs.stated("parquet"))
    for problem, is_so in (
        ("--no-stream", stated is False),
        (f"{len(files)} runs", len(files) != 1),
        (tables[-1] if tables else "", len(tables) > 1),
    ):
        if tables and is_so:
            msg = f"{tables[0]} is written while one run is read in parts, not with {problem}"
            raise SettingError(msg)
    in_memory = list(outputs.stated("csv", "json", "html"))
    if stated is None and not tables:
        if in_memory:
            return False
        return any(needs_streaming(path, run_format) for path in files)
    if stated is not False and in_memory:
        verb = "needs" if len(in_memory) == 1 else "need"
        msg = (
            f"{' and '.join(in_memory)} {verb} the scores of all queries in memory, and --stream "
            "keeps them on disk: write them with -o scores.parquet, which compare and "
            "read_score_table read"
        )
        raise SettingError(msg)
    return stated is not False


def evaluate_in_parts(  # noqa: PLR0913 - what the command was given
    qrels: Path,
    files: Sequence[Path],
    measures: Sequence[Measure],
    policies: Mapping[str, Any],
    reading: InputOptions,
    *,
    table: Path | None,
    stated: bool,
    damaged: DamagedRuns,
) -> list[Any]:
    """Return the streamed result of each run file, and print how each was read.

    Args:
        qrels: the file or folder of the judgements.
        files: the run files.
        measures: the measures.
        policies: the fields of ``EvaluationSettings``.
        reading: how the files are read.
        table: the score table; None for none.
        stated: whether the user asked for it.
        damaged: notes the files that cannot be evaluated, which have no result.

    Raises:
        InputError: the only run cannot be evaluated; the message names its file.
        SettingError: a split is named, and the judgements are a file.
    """
    from beir_eval.evaluation.streaming.judgements import Judgements  # noqa: PLC0415
    from beir_eval.evaluation.streaming.stream import evaluate_stream  # noqa: PLC0415

    with naming_options(format="--qrels-format", where="--where"):
        judgements = Judgements.from_path(qrels, reading.split, reading.qrels_format)
    results = []
    for path, name in zip(files, system_names(files), strict=True):
        with damaged.noting(path), naming_options(format="--format", where="--where"):
            result = evaluate_stream(
                judgements,
                path,
                measures,
                table=table,
                name=name,
                format=reading.run_format,
                **policies,
            )
            results.append(result)
            _print_how(result, table, stated=stated)
    return results


def _print_how(result: StreamedResult, table: Path | None, *, stated: bool) -> None:
    """Print how a run was read in parts.

    Args:
        result: its result.
        table: the score table; None for none.
        stated: whether the user asked for it.
    """
    why = "" if stated else ", because it would take more than half of the free memory"
    resumed = (
        f"; resumed after {result.parts_resumed} finished parts" if result.parts_resumed else ""
    )
    where = f"; the scores of queries are in {table}" if table is not None else ""
    console.print(Text(f"{result.name}: read in parts{why}; {result.how}{resumed}{where}", "dim"))
