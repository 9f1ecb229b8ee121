"""The commands ``beir-eval bench`` and ``beir-eval datasets``.

What only they need is imported when they run: the other commands start without it.
"""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beir_eval.adapters.dataset_folder import (
    is_dataset,
    is_qrels_file,
    is_run_file,
    name_of,
)
from beir_eval.cli.console import check_targets, clear_errors, console, print_table
from beir_eval.cli.options import HTML, check_report, write_html
from beir_eval.cli.results_output import write_texts
from beir_eval.core.files import stem_of, write_atomically
from beir_eval.errors import InputError, check_choice
from beir_eval.measures import DEFAULT_MEASURES, parse

if TYPE_CHECKING:
    from beir_eval.benchmark.result import BenchmarkResult

BASELINES = ("bm25",)
#: How many documents of a ranking a report shows; results are kept on disk with no more.
_SHOWN = 10


def bench(  # noqa: PLR0913, PLR0917 - one option a file
    datasets: Annotated[
        Path,
        typer.Argument(help="A folder of data sets or qrels files, one data set, or qrels."),
    ],
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Systems: run files, folders of run files named after the data sets, or a folder "
            "of such folders."
        ),
    ],
    measure: Annotated[
        str, typer.Option("-m", "--measure", help="The measure of the table.")
    ] = "nDCG@10",
    baseline: Annotated[
        str | None, typer.Option(help="bm25: a column with Anserini's BM25, for nDCG@10.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where results are kept.")] = Path("benchmark"),
    markdown: Annotated[Path | None, typer.Option(help="Write the table and its notes.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Write the table as LaTeX.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the table as CSV.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write every mean of every measure.")] = None,
    html: Annotated[Path | None, HTML] = None,
    mteb: Annotated[Path | None, typer.Option(help="Write MTEB's result files here.")] = None,
) -> None:
    """Evaluate every run on every data set and print the table: data sets as rows."""
    from beir_eval.benchmark.runner import Benchmark  # noqa: PLC0415

    with clear_errors():
        if baseline is not None:
            check_choice("--baseline", baseline, BASELINES)
        check_targets([datasets, *runs], [markdown, latex, csv, json, html])
        check_report(html)
        asked = parse(measure)
        benchmark = Benchmark(
            _datasets(datasets),
            _systems(runs),
            out,
            measures=dict.fromkeys([asked, *DEFAULT_MEASURES]),
            keep_top=_SHOWN if html is not None else 0,
            progress=True,
        )
        result = benchmark.run()
        table = result.to_table(asked, baseline=baseline is not None)
        print_table(table)
        for note in result.notes():
            console.print(f"- {note}", markup=False)
        write_texts(
            {
                markdown: lambda: result.to_markdown(asked, baseline=baseline is not None),
                latex: table.latex,
                csv: table.csv,
                json: result.to_json,
            }
        )
        if html is not None and any(result.results.values()):
            write_html(html, result, datasets=benchmark.datasets, measure=asked)
        if mteb is not None:
            _write_mteb(result, mteb)
        if result.failures:
            raise typer.Exit(1)


def _datasets(path: Path) -> dict[str, Path]:
    """Return the data sets and qrels files of a folder by name; or the one that it is."""
    if not path.is_dir() or is_dataset(path):
        return {_name(path): path}
    datasets = {
        _name(inside): inside
        for inside in sorted(path.glob("[!.]*"))
        if (inside.is_dir() and _holds_datasets(inside))
        or (inside.is_file() and is_qrels_file(inside))
    }
    if not datasets:
        msg = f"{path}: no data set and no qrels file in this folder"
        raise InputError(msg)
    return datasets


def _name(path: Path) -> str:
    return name_of(path) if path.is_dir() else stem_of(path)


def _holds_datasets(folder: Path) -> bool:
    return is_dataset(folder) or any(
        is_dataset(one) for one in sorted(folder.glob("[!.]*")) if one.is_dir()
    )


def _systems(paths: list[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in paths:
        inside = sorted(path.glob("[!.]*")) if path.is_dir() else []
        folders = [one for one in inside if one.is_dir()]
        has_runs = any(one.is_file() and is_run_file(one) for one in inside)
        for one in folders if folders and not has_runs else [path]:
            name = _name(one)
            if name in found:
                msg = f"two systems go by the name {name}: {found[name]} and {one}; rename one"
                raise InputError(msg)
            found[name] = one
    return found


def _write_mteb(result: BenchmarkResult, folder: Path) -> None:
    for system, of_system in result.results.items():
        for name in of_system:
            content = result.mteb(system, name)
            target = folder / system / f"{content['task_name'].replace('/', '-')}.json"
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, json_.dumps(content, indent=2).encode())
