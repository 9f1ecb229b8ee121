"""Options that several commands take, and the files behind them: runs, data sets, reports."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from beir_eval.adapters.dataset_folder import is_run_file
from beir_eval.adapters.formats import RUN_FORMATS
from beir_eval.adapters.readers import read_run
from beir_eval.cli.console import check_targets, console, naming_options, warn
from beir_eval.cli.option_sets import COMMON
from beir_eval.core.column_names import NO_COLUMNS, StatedColumns
from beir_eval.core.files import file_stem, name_as_text
from beir_eval.core.ids import repeated_ids
from beir_eval.core.progress import progress_bar
from beir_eval.core.run_sources.chunks import judged_documents
from beir_eval.errors import InputError, one_line
from beir_eval.evaluation.inputs import JudgedFolder, excluding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from beir_eval.cli.damaged_runs import DamagedRuns
    from beir_eval.cli.option_sets import ColumnOptions, InputOptions
    from beir_eval.cli.outputs import Outputs
    from beir_eval.core.run import Run
    from beir_eval.evaluation.evaluator import Evaluator
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.spans import SpanView

#: The option that states from which grade a document is relevant.
REL = typer.Option(
    "-l",
    "--rel",
    help="The lowest grade that is relevant, for measures that take a rel and state none; nDCG and "
    "ERR take grades as they are.  [default: every grade above 0]",
    metavar="GRADE",
    rich_help_panel=COMMON,
)


def measure_option(help_text: str) -> Any:
    """Return the option ``--measure`` with this help."""
    return typer.Option(
        "-m", "--measure", help=help_text, metavar="MEASURE", rich_help_panel=COMMON
    )


@contextmanager
def stated_columns(reading: ColumnOptions) -> Iterator[StatedColumns]:
    """Yield what ``--columns`` and ``--where`` state about the columns of all files to be read.

    Raises:
        SettingError: an option has another form.
        InputError: at the end of the block, no file has one of the columns.
    """
    with naming_options(where="--where"):
        names = ",".join(reading.columns or ()) or None
        columns = StatedColumns.parse(names, reading.where or ())
        yield columns
        columns.refuse_unused()


def read_judgements(
    path: Path,
    split: str | None,
    qrels_format: str | None = None,
    columns: StatedColumns = NO_COLUMNS,
) -> JudgedFolder:
    """Return the judgements and BEIR's conventions for them; an error names ``--qrels-format``."""
    with naming_options(format="--qrels-format"):
        return JudgedFolder.read(path, split, qrels_format, columns)


def run_files(paths: Sequence[Path]) -> list[Path]:
    """Return the run files: each path that is a file, and of a folder the run files in it.

    Raises:
        InputError: a folder contains no run file.
    """
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        inside = [file for file in sorted(path.glob("[!.]*")) if file.is_file()]
        runs = [file for file in inside if is_run_file(file)]
        if not runs:
            endings = ", ".join(RUN_FORMATS.endings)
            msg = f"{path}: no run file in this folder; the names of run files end in {endings}"
            raise InputError(msg)
        files += runs
    return files


@dataclass(frozen=True)
class RunReading:
    """How run files are read.

    Attributes:
        run_format: the name of their format; None detects it.
        chunk_ids: the form of the ids of chunks; None: the ids are those of documents.
        columns: what is stated about their columns.
        view: the judged spans, if the files hold ranked chunks; else None.
        parts: as for ``read_run``.
    """

    run_format: str | None = None
    chunk_ids: str | None = None
    columns: StatedColumns = NO_COLUMNS
    view: SpanView | None = None
    parts: bool | None = None

    def read(self, path: Path) -> Run:
        """Return the run of a file, and print whether it is read in parts; errors name options."""
        if self.view is not None:
            from beir_eval.spans import Chunks  # noqa: PLC0415 - few rank chunks

            return self.view.run(Chunks.from_jsonl(path, self.view.texts))
        with naming_options(
            format="--format", where="--where", parts="--parts", collapse="--chunk-ids"
        ):
            run = read_run(
                path,
                format=self.run_format,
                columns=self.columns,
                collapse=self.chunk_ids,
                parts=self.parts,
            )
        if run.is_in_parts:
            why = "" if self.parts else ": it would take more than half of the free memory"
            console.print(Text(f"{one_line(file_stem(path))} is read in parts{why}", "dim"))
        return run

    def judgements(self, path: Path, reading: InputOptions, runs: Sequence[Path]) -> JudgedFolder:
        """Return the judgements; with ``--chunk-ids``, those of chunks as those of documents.

        Args:
            path: the file or folder of the judgements.
            reading: how they are read.
            runs: the run files, read here only if judged ids have the form of a chunk's.
        """
        judged = read_judgements(path, reading.split, reading.qrels_format, self.columns)
        qrels = judged.qrels
        if self.chunk_ids is not None:
            rankings = (ranking for run in runs for ranking in self.read(run).rankings())
            documents = (doc_id for _, doc_ids, _ in rankings for doc_id in doc_ids)
            qrels = judged_documents(qrels, self.chunk_ids, documents)
        return replace(judged, qrels=excluding(qrels, reading.exclude))


def read_runs(paths: Sequence[Path], reading: RunReading) -> dict[str, Run]:
    """Return {system name: run} of run files.

    Args:
        paths: the files.
        reading: how they are read.
    """
    runs = list(map(reading.read, paths))
    return dict(zip(system_names(paths), runs, strict=True))


def evaluate_files(
    evaluator: Evaluator,
    paths: Sequence[Path],
    reading: RunReading,
    damaged: DamagedRuns,
) -> list[EvaluationResult]:
    """Return the result of each run file, named after its file, in the order of the files.

    A progress bar appears if this takes longer than a second.

    Args:
        evaluator: the evaluator.
        paths: the files.
        reading: how they are read.
        damaged: notes the files that cannot be evaluated, which have no result.

    Raises:
        InputError: the only run cannot be evaluated; the message names its file.
    """
    results = []
    steps, layout = 2 * len(paths), "{desc} {bar} {elapsed}"
    with progress_bar(
        delayed=True, leave=False, total=steps, desc="reading", bar_format=layout
    ) as advance:
        for path, name in zip(paths, system_names(paths), strict=True):
            with damaged.noting(path):
                run = reading.read(path)
                advance(description=f"measuring {name}")
                results.append(evaluator.evaluate(run, name=name))
                advance(description=f"measured {name}")
    return results


def system_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each run file: its stem, its name with the ending, or ``folder/stem``.

    All names are of the same kind: the first kind that gives every file a different name. Files of
    MTEB's predictions are named after the task, so their folder, the model, is the name if it can.

    Raises:
        InputError: no kind does, or a file is given twice.
    """
    stems = [one_line(file_stem(path)) for path in paths]
    folders = [one_line(name_as_text(path.absolute().parent.name)) for path in paths]
    is_of_mteb = all(path.name.endswith("_predictions.json") for path in paths)
    for candidates in (
        folders if is_of_mteb else stems,
        stems,
        [one_line(name_as_text(path.name)) for path in paths],
        [f"{folder}/{stem}" for folder, stem in zip(folders, stems, strict=True)],
    ):
        names = candidates
        if len(set(names)) == len(names):
            break
    repeated = sorted(repeated_ids(names))
    if repeated:
        check_different_files(paths)
        msg = f"two runs have the name {', '.join(repeated)}; rename one of the files"
        raise InputError(msg)
    return names


def check_different_files(paths: Sequence[Path]) -> None:
    """Raise InputError if a file is given twice."""
    resolved = [path.resolve() for path in paths]
    for index, path in enumerate(paths):
        if resolved[index] in resolved[:index]:
            msg = f"{path}: the same file is given twice; leave one out"
            raise InputError(msg)


def report_texts(path: Path, split: str | None = None) -> dict[str, Any]:
    """Return the arguments ``queries`` and ``corpus`` of ``write_report``.

    Args:
        path: the file or folder of the judgements. Without a corpus or queries the result is empty.
        split: the split that was evaluated; None means the default, as for ``load_dataset``.

    Raises:
        FileFormatError: a file of the data set is malformed.
    """
    from beir_eval.adapters.dataset_folder import missing_tables  # noqa: PLC0415
    from beir_eval.datasets.dataset import load_dataset  # noqa: PLC0415

    if not path.is_dir():
        return {}
    if missing := missing_tables(path):
        # Only a warning: the judgements were read before, and the results need no texts.
        warn(f"{path} has no {' and no '.join(missing)}: the report shows ids without texts")
        return {}
    dataset = load_dataset(path, split)
    return {"queries": dataset.queries, "corpus": dataset.corpus}


def query_texts(path: Path, split: str | None = None) -> Mapping[str, str]:
    """Return {query_id: text} of a BEIR data-set folder; empty for other judgements.

    Args:
        path: the file or folder of the judgements.
        split: the split that was evaluated; None means the default, as for ``load_dataset``.

    Raises:
        FileFormatError: the file of the queries is malformed.
    """
    from beir_eval.adapters.dataset_folder import table_files  # noqa: PLC0415
    from beir_eval.datasets.dataset import queries_from_files  # noqa: PLC0415

    files = table_files(path, "queries", split) if path.is_dir() else ()
    return dict(queries_from_files(files)) if files else {}


def report_settings(outputs: Outputs) -> dict[str, Any]:
    """Return the settings of an evaluation that a report needs; none if no report is written.

    ``keep_top`` keeps the first 100 documents, so that the report can show how the rank of a
    document differs between systems; ``fingerprint`` keeps the SHA-256 of the qrels and the run.
    """
    return {"keep_top": 100, "fingerprint": True} if outputs["html"] else {}


def write_html(outputs: Outputs, results: Any, **options: Any) -> None:
    """Write the reports with ``write_report``, which is imported here to keep commands fast."""
    if not outputs["html"]:
        return
    from beir_eval.report import write_report  # noqa: PLC0415

    for path in outputs["html"]:
        write_report(path, results, **options)


def check_outputs(
    read: Sequence[Path], outputs: Outputs, further: Iterable[Path | None] = ()
) -> None:
    """Check that every file can be written, as ``check_targets``, and a report made.

    Args:
        read: the input files.
        outputs: the files of ``-o``.
        further: further files to be written.

    Raises:
        MissingExtraError: a report is asked for, and the package jinja2 is not installed.
    """
    check_targets(read, [*outputs, *further])
    if outputs["html"]:
        from beir_eval.report import check_installed  # noqa: PLC0415

        check_installed()
