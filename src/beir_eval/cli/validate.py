"""The command ``beir-eval validate``: everything suspicious about qrels, runs and data sets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from beir_eval.cli.console import (
    OPTIONS,
    console,
    naming_options,
    print_document,
    print_errors,
    with_options,
)
from beir_eval.cli.input_files import STANDARD_INPUT, opened_inputs
from beir_eval.cli.option_sets import COMMON, FileOptions, option, takes_options
from beir_eval.cli.options import (
    check_outputs,
    measure_option,
    run_files,
    stated_columns,
    system_names,
)
from beir_eval.cli.outputs import OutputFormats
from beir_eval.errors import InputError, escape_controls
from beir_eval.spans.records import holds_spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.validation import Validation

#: The colour of each level.
_COLOURS = {"error": "bold red", "warning": "bold yellow", "note": "bold"}


#: What ``-o`` writes.
OUTPUTS = OutputFormats(json="all findings")


@dataclass(frozen=True, kw_only=True)
class _ReadingOptions(FileOptions):
    corpus: Path | None = option("The documents, JSON lines; a data set has its own.")
    queries: Path | None = option("The queries, JSON lines; a data set has its own.")
    fix: Path | None = option(
        "Write the judged spans whose text stands where they say, or elsewhere, with its place in "
        "the corpus. Those of changed, lost or ambiguous text are left out."
    )


@takes_options
def validate(  # noqa: PLR0913 - one parameter per option
    qrels: Annotated[
        Path,
        typer.Argument(
            help="A BEIR data-set folder, or judgements: a TREC or BEIR file; - for standard input."
        ),
    ],
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Run files (TREC, JSON, CSV, Parquet, …), folders of run files, or - for standard "
            "input."
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        measure_option(
            "A measure that the runs are for; repeat it for more.  [default: those of evaluate]"
        ),
    ] = None,
    output: Annotated[list[str] | None, OUTPUTS.option()] = None,
    *,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Warnings are errors too: exit code 1.",
            rich_help_panel=COMMON,
        ),
    ] = False,
    reading: _ReadingOptions,
) -> None:
    """Report everything suspicious about judgements, runs, corpus and queries.

    The exit code is 1 if an error is among the findings, 2 if a file cannot be read, else 0.
    """
    with print_errors(), opened_inputs([qrels, *(runs or [])]) as [qrels_file, *run_inputs]:
        from beir_eval.validation import validate as validate_files  # noqa: PLC0415

        if reading.corpus is not None and not qrels_file.is_dir() and holds_spans(qrels_file):
            _check_spans(qrels_file, run_inputs, reading, output, is_strict=strict)
            return
        if reading.fix is not None:
            msg = "--fix is for judged spans of text, with --corpus"
            raise InputError(msg)
        files = run_files(run_inputs)
        read = [
            path
            for path in (qrels_file, *files, reading.corpus, reading.queries)
            if path is not None
        ]
        outputs = OUTPUTS.files(output)
        check_outputs(read, outputs)
        with (
            naming_options(format="--format", qrels_format="--qrels-format"),
            stated_columns(reading) as names,
        ):
            validation = validate_files(
                qrels_file,
                dict(zip(system_names(files), files, strict=True)),
                corpus=reading.corpus,
                queries=reading.queries,
                split=reading.split,
                measures=measure or None,
                format=reading.run_format,
                qrels_format=reading.qrels_format,
                columns=names,
            )
        if qrels_file != qrels:
            validation = _renamed(validation, str(qrels_file), STANDARD_INPUT)
        outputs.write({"json": validation.model_dump_json})
        for margin, text in validation.lines():
            _print_line(margin, text)
        if validation.has_errors(strict=strict):
            raise typer.Exit(1)


def _check_spans(
    file: Path,
    runs: Sequence[Path],
    reading: _ReadingOptions,
    output: Sequence[str] | None,
    *,
    is_strict: bool,
) -> None:
    """Say what became of each judged span in a corpus, and exit with 1 if one is lost."""
    from beir_eval.spans import span_drift  # noqa: PLC0415 - few judge spans

    if runs or reading.corpus is None:
        msg = "judged spans are checked against a corpus alone, without runs"
        raise InputError(msg)
    outputs = OUTPUTS.files(output)
    corpora = [reading.corpus] if reading.corpus.is_file() else []
    check_outputs([file, *corpora], outputs, [reading.fix])
    drift = span_drift(file, reading.corpus)
    outputs.write({"json": drift.model_dump_json})
    if reading.fix is not None:
        drift.write_fixed(reading.fix)
    print_document(drift.document())
    counts = drift.counts
    if counts.get("lost") or (is_strict and set(counts) - {"same", "moved"}):
        raise typer.Exit(1)


def _renamed(validation: Validation, name: str, new_name: str) -> Validation:
    """Return a validation with another name of one input."""
    return validation.model_copy(
        update={
            "inputs": tuple(
                summary.model_copy(update={"name": new_name}) if summary.name == name else summary
                for summary in validation.inputs
            ),
            "findings": tuple(
                finding.model_copy(update={"subject": new_name})
                if finding.subject == name
                else finding
                for finding in validation.findings
            ),
        }
    )


def _print_line(margin: str, text: str) -> None:
    """Print a line of the summary, wrapped beside its margin; levels have their colour."""
    style = _COLOURS.get(margin.strip(), "")
    words = Text(escape_controls(with_options(text, OPTIONS)))
    for line in words.wrap(console, console.width - len(margin)):
        console.print(Text.assemble((margin, style), line))
        margin = " " * len(margin)
