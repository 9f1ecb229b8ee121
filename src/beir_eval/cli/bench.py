"""The command ``beir-eval bench``: evaluate many runs on many data sets.

What only this command needs is imported when it runs, so that the other commands start faster.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from rich.text import Text

from beir_eval.adapters.dataset_folder import dataset_name, is_dataset, is_qrels_file, is_run_file
from beir_eval.cli.console import (
    check_folder,
    console,
    print_as_typed,
    print_document,
    print_errors,
)
from beir_eval.cli.damaged_runs import DamagedRuns
from beir_eval.cli.option_sets import (
    COMMON,
    LatexOptions,
    option,
    setting,
    stated_options,
    takes_options,
)
from beir_eval.cli.options import REL, check_outputs, measure_option, write_html
from beir_eval.cli.outputs import OutputFormats
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.core.files import file_stem
from beir_eval.display.document import Sentence, joined, markdown_of
from beir_eval.display.tables import csv_text
from beir_eval.errors import InputError, ResultError, first_few
from beir_eval.measures import DEFAULT_MEASURES, parse_all, with_rel
from beir_eval.measures.names import names_as_typed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.benchmark.comparison_result import AcrossDatasets
    from beir_eval.benchmark.result import BenchmarkResult
    from beir_eval.benchmark.runner import Benchmark
    from beir_eval.cli.outputs import Outputs
    from beir_eval.measures import Measure

#: How many documents of each ranking are kept for the report.
_REPORT_DEPTH = 10


#: What ``-o`` writes.
OUTPUTS = OutputFormats(
    html="a report to look at",
    json="every mean of every measure",
    md="the tables, their notes and the comparison",
    tex="the tables",
    csv="the tables",
    pdf="the figure of the comparison",
)


@dataclass(frozen=True, kw_only=True)
class AcrossOptions:
    """The comparison over data sets: keywords of ``compare_benchmark``."""

    SECTION: ClassVar[str] = "Comparison"

    compare: bool = option(
        "Compare the systems by their average over the data sets, which are never pooled; beside "
        "-o t.csv and t.json it goes to t.compare.csv and t.compare.json.",
        "--compare",
        default=False,
        rich_help_panel=COMMON,
    )
    baseline: str | None = option(
        "The system that the others are compared with, for --compare, which it implies; by "
        "default all pairs.",
        rich_help_panel=COMMON,
        metavar="NAME",
    )
    choose: list[str] | None = option(
        "Of the systems with these names only the best on --dev is a row; repeatable.",
        metavar="NAME=PATTERN",
    )
    dev: Path | None = option("The data sets of --choose, with other queries.", metavar="FOLDER")
    repeats: list[str] | None = option(
        "The systems are repeats (seeds) of NAME; repeatable.", metavar="NAME=PATTERN"
    )
    on: str = setting(ComparisonSettings, "on")
    detail: bool = option(
        "Print all evidence: averages, differences, method.", "--detail", default=False
    )


@takes_options
def bench(  # noqa: PLR0913, PLR0917 - one parameter per option
    context: typer.Context,
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
        list[str] | None,
        measure_option("A measure, with a table of its own; repeat it.  [default: nDCG@10]"),
    ] = None,
    rel: Annotated[float | None, REL] = None,
    output: Annotated[list[str] | None, OUTPUTS.option()] = None,
    keep: Annotated[
        Path,
        typer.Option(
            help="The folder where results are kept, and resumed from.",
            metavar="FOLDER",
            rich_help_panel=COMMON,
        ),
    ] = Path("benchmark"),
    *,
    by_system: Annotated[
        bool,
        typer.Option(
            "--by-system",
            help="Systems as rows, sorted by their average, which is the last column.",
        ),
    ] = False,
    across: AcrossOptions,
    latex: LatexOptions,
) -> None:
    """Evaluate every run on every data set and print a table for each measure."""
    from beir_eval.benchmark.runner import Benchmark  # noqa: PLC0415

    with print_errors():
        comparing = asdict(across)
        is_compared, detail = comparing.pop("compare"), comparing.pop("detail")
        is_compared |= across.baseline is not None
        outputs = OUTPUTS.files(output, latex)
        _check_options(outputs, stated_options(context), is_compared=is_compared)
        compared = outputs.beside("compare", "csv", "json") if is_compared else []
        check_outputs([datasets, *runs], outputs, compared)
        check_folder(keep)
        named = measure or ["nDCG@10"]
        table_measures = with_rel(parse_all(named), rel)
        judged, systems = _find_datasets(datasets), _find_systems(runs)
        print_as_typed(names_as_typed(named, rel), [*judged, *systems])
        _check_layout(judged, systems)
        benchmark = Benchmark(
            judged,
            systems,
            folder=keep,
            measures=[*table_measures, *DEFAULT_MEASURES],
            rel=rel,
            keep_top=_REPORT_DEPTH if outputs["html"] else 0,
            progress=True,
        )
        result = benchmark.run(measures=list(map(str, table_measures)))
        comparing["repeats"] = _named_patterns("repeats", across.repeats or [], systems)
        comparing |= _chosen_rows(across, systems, keep / "dev", table_measures[:1])
        averages = _compare(result, measure=table_measures[0], **comparing) if is_compared else None
        means = result.document(table_measures, baseline=False, by_system=by_system)
        documents = printed = [means]
        if averages is not None:
            compared_means = averages.document(by_system=by_system)
            warnings = list(dict.fromkeys([*means.warnings, *compared_means.warnings]))
            failures = list(map(Sentence, result.failure_sentences()))
            documents = joined([replace(means, sentences=failures), compared_means])
            printed = [
                replace(compared_means, heading="", warnings=warnings),
                replace(means, warnings=[], sentences=failures, tables=means.tables[1:]),
            ]
        outputs.write(
            {
                "md": lambda: markdown_of(documents),
                "tex": lambda: _latex(
                    result, averages, table_measures, by_system=by_system, **asdict(latex)
                ),
                "csv": lambda: _csv(result, table_measures, by_system=by_system),
                "json": result.to_json,
            }
        )
        if averages is not None:
            for path in outputs["pdf"]:
                averages.plot().save(path)
            outputs.write(
                {"csv": averages.to_csv, "json": averages.model_dump_json}, beside="compare"
            )
        if any(result.results.values()):
            write_html(
                outputs,
                result,
                across=averages,
                datasets=benchmark.datasets,
                measure=table_measures[0],
            )
        for document in printed:
            print_document(document, detail=detail)
        if averages is not None and not detail:
            console.print(Text("More: --detail", style="dim"))
    # After the block, which prints its warnings at its end: the last lines are not overlooked.
    _damaged_runs(benchmark, result).end(in_output=False)
    if result.failures:
        raise typer.Exit(1)


def _check_options(outputs: Outputs, stated: set[str], *, is_compared: bool) -> None:
    """Raise InputError for options of a comparison without one, and those that do not go together.

    A report shows the results of single systems.
    """
    if stated & {"on", "choose", "dev", "repeats"} and not is_compared:
        raise InputError(
            "--on, --choose, --dev and --repeats are for the comparison; add --compare"
        )
    if outputs["pdf"] and not is_compared:
        raise InputError("-o FILE.pdf is the figure of a comparison; add --compare")
    if outputs["html"] and stated & {"choose", "repeats"}:
        raise InputError("a report has no rows of --choose and --repeats: leave out -o FILE.html")


def _latex(
    result: BenchmarkResult,
    averages: AcrossDatasets | None,
    measures: Sequence[Measure],
    *,
    by_system: bool,
    **scores: Any,
) -> str:
    """Return a table for each measure, the first one with the comparison if there is one."""
    shown = {"baseline": False, "by_system": by_system, **scores}
    if averages is None:
        return result.to_latex(measures, **shown)
    further = [result.to_latex(measure, **shown) for measure in measures[1:]]
    return "\n".join([averages.to_latex(**scores), *further])


def _chosen_rows(
    across: AcrossOptions, systems: Mapping[str, Path], keep: Path, measures: Sequence[Measure]
) -> dict[str, Any]:
    """Return the arguments ``choose`` and ``dev`` of ``compare_benchmark``.

    Raises:
        InputError: one of both options is missing; and as ``_named_patterns``.
    """
    from beir_eval.benchmark.runner import Benchmark  # noqa: PLC0415

    if across.dev is None and not across.choose:
        return {"choose": None, "dev": None}
    if across.dev is None or not across.choose:
        raise InputError("--choose and --dev belong together: a row is chosen on other queries")
    rows = _named_patterns("choose", across.choose, systems)
    candidates = {system: systems[system] for names in rows.values() for system in names}
    judged = _find_datasets(across.dev)
    return {"choose": rows, "dev": Benchmark(judged, candidates, measures, folder=keep).run()}


def _named_patterns(
    option_name: str, requests: Sequence[str], systems: Mapping[str, Path]
) -> dict[str, list[str]]:
    """Return {NAME: the systems that match} of values NAME=PATTERN.

    Raises:
        InputError: a value has another form, or its pattern names fewer than two systems.
    """
    named: dict[str, list[str]] = {}
    for request in requests:
        name, equals, pattern = request.partition("=")
        named[name] = [system for system in systems if fnmatchcase(system, pattern)]
        if not (name and equals) or len(named[name]) < 2:  # noqa: PLR2004 - several
            msg = (
                f"--{option_name} {request}: NAME=PATTERN was expected, with a pattern of two "
                f"systems or more, such as 'rrf=rrf-*'; there are {first_few(systems)}"
            )
            raise InputError(msg)
    return named


def _damaged_runs(benchmark: Benchmark, result: BenchmarkResult) -> DamagedRuns:
    """Return the run files that exist and could not be evaluated; the notes name them too."""
    damaged = DamagedRuns(sum(map(len, (*result.results.values(), *result.failures.values()))))
    for system, by_dataset in result.failures.items():
        for name, problem in by_dataset.items():
            if benchmark.run_file(system, name) is not None:
                damaged.problems.append(
                    problem.partition(": ")[2]
                )  # without the class of the error
    return damaged


def _compare(
    result: BenchmarkResult, *, repeats: Mapping[str, Sequence[str]], **settings: Any
) -> AcrossDatasets:
    """Return the comparison of the systems of a benchmark.

    Args:
        result: the benchmark.
        repeats: {name: the systems that are its repeats}.
        settings: those of ``compare_benchmark``.

    Raises:
        InputError: a system is a repeat of two, or one has the name of another.
        ResultError: the results cannot be compared; the message says which systems failed, and why.
    """
    from beir_eval.benchmark.compare_benchmark import compare_benchmark  # noqa: PLC0415

    results: dict[str, Any] = dict(result.results)
    for name, systems in repeats.items():
        of_repeats = [results.pop(system, {}) for system in systems]
        if name in results or not all(of_repeats):
            msg = f"--repeats {name}: another system has this name, or one of its repeats"
            raise InputError(msg)
        results[name] = {
            dataset: [of_repeat[dataset] for of_repeat in of_repeats if dataset in of_repeat]
            for dataset in dict.fromkeys(chain.from_iterable(of_repeats))
        }
    try:
        return compare_benchmark(results, **settings)
    except ResultError as error:
        msg = ". ".join([str(error), *result.failure_sentences()])
        raise ResultError(msg) from error


def _find_datasets(path: Path) -> dict[str, Path]:
    """Return {name: path} of the data sets and qrels files in a folder.

    A path that is itself a data set or a qrels file is the only entry.

    Raises:
        InputError: the folder has neither, or two of the same name.
    """
    if not path.is_dir() or is_dataset(path):
        return {_name_from_path(path): path}
    datasets: dict[str, Path] = {}
    for inside in sorted(path.glob("[!.]*")):
        is_judged = is_qrels_file(inside) if inside.is_file() else _holds_datasets(inside)
        name = _name_from_path(inside)
        if is_judged and name in datasets:
            msg = f"two data sets have the name {name}: {datasets[name]} and {inside}; rename one"
            raise InputError(msg)
        if is_judged:
            datasets[name] = inside
    if not datasets:
        msg = f"{path}: no data set and no qrels file in this folder"
        raise InputError(msg)
    return datasets


def _name_from_path(path: Path) -> str:
    """Return the name of a data set or system: the name of its folder, or the stem of its file."""
    return dataset_name(path) if path.is_dir() else file_stem(path)


def _holds_datasets(folder: Path) -> bool:
    """Return whether a folder is a data set, or holds folders that are."""
    return is_dataset(folder) or any(
        is_dataset(inside) for inside in sorted(folder.glob("[!.]*")) if inside.is_dir()
    )


def _find_systems(paths: list[Path]) -> dict[str, Path]:
    """Return {name: run file or folder of run files} of all systems.

    A folder of folders without a run file of its own is expanded: each folder in it is a system.

    Raises:
        InputError: two systems have the same name.
    """
    systems: dict[str, Path] = {}
    for path in paths:
        entries = sorted(path.glob("[!.]*")) if path.is_dir() else []
        folders = [entry for entry in entries if entry.is_dir()]
        has_runs = any(entry.is_file() and is_run_file(entry) for entry in entries)
        for system in folders if folders and not has_runs else [path]:
            name = _name_from_path(system)
            if name in systems:
                msg = f"two systems have the name {name}: {systems[name]} and {system}; rename one"
                raise InputError(msg)
            systems[name] = system
    return systems


def _check_layout(datasets: Mapping[str, Path], systems: Mapping[str, Path]) -> None:
    """Raise InputError if the folders of runs are named after data sets, not after systems."""
    folders = {name: path for name, path in systems.items() if path.is_dir()}
    stems = sorted({file_stem(run) for folder in folders.values() for run in folder.glob("[!.]*")})
    if folders and folders.keys() <= datasets.keys() and datasets.keys().isdisjoint(stems):
        name = next(iter(folders))
        system = stems[0] if stems else "bm25"
        msg = (
            f"the folders {first_few(folders)} have names of data sets; a folder for each system "
            "was expected, in it a run file for each data set: SYSTEM/DATASET.trec, such as "
            f"{system}/{name}.trec instead of {name}/{system}.trec"
        )
        raise InputError(msg)


def _csv(result: BenchmarkResult, measures: Sequence[Measure], *, by_system: bool) -> str:
    """Return the tables of measures as CSV, below each other, each row with its warnings."""
    tables = [
        result.systems_table(measure) if by_system else result.to_table(measure, baseline=False)
        for measure in measures
    ]
    widest = max(tables, key=lambda table: len(table.header))
    header = ["measure", "system" if by_system else "data set", *widest.header[1:], "warning"]
    rows = [
        [
            table.header[0],
            *map(str, row),
            *[""] * (len(widest.header) - len(row)),
            " | ".join(_remarks(result, str(row[0]), by_system=by_system)),
        ]
        for table in tables
        for row in table.rows
    ]
    return csv_text([header, *rows])


def _remarks(result: BenchmarkResult, row: str, *, by_system: bool) -> Iterator[str]:
    """Yield the warnings and failures of the system or the data set of a row."""
    for system, by_dataset in result.results.items():
        for name, of_dataset in by_dataset.items():
            if row == (system if by_system else name):
                about = name if by_system else system
                yield from (f"{about}: {sentence}" for sentence in of_dataset.warnings())
    for system, problems in result.failures.items():
        for name, problem in problems.items():
            if row == (system if by_system else name):
                yield f"{name if by_system else system}: failed with {problem}"
