"""``write_report``: collect tables, figures and query data, render the page, write the file."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from beir_eval._version import __version__
from beir_eval.benchmark.result import BenchmarkResult
from beir_eval.comparison.charts import forest_figure
from beir_eval.comparison.gate_output import gate_beside_verdicts
from beir_eval.comparison.result import Comparison
from beir_eval.comparison.stages.result import StagedResult
from beir_eval.core.arrays import is_iterable
from beir_eval.core.atomic_writes import write_atomically
from beir_eval.core.files import as_path
from beir_eval.core.saved import stated_settings
from beir_eval.display import charts
from beir_eval.display.tables import score_text, table_of
from beir_eval.errors import InputError, NotEvaluatedError, RunError, check_count, first_few
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.tables import depth_notes, shared_notes, shared_warnings
from beir_eval.measures import parse
from beir_eval.report import means_table
from beir_eval.report.dataset_views import (
    DatasetView,
    Texts,
    main_measure,
    view_of_comparison,
    view_of_results,
    views_of_benchmark,
)
from beir_eval.report.further_sections import (
    across_section,
    captioned,
    curve_section,
    evidence_section,
    slices_section,
    stages_section,
)
from beir_eval.report.page import (
    Page,
    check_installed,
    json_for_html,
    page_specification,
    query_figures,
    render,
)
from beir_eval.report.payload import data_of_views

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from beir_eval.benchmark.comparison_result import AcrossDatasets
    from beir_eval.comparison.checkpoints.result import CheckpointCurve
    from beir_eval.comparison.records import ComparisonSettings, DocumentToJudge
    from beir_eval.comparison.slices.result import SlicedComparison
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.datasets.dataset import Dataset
    from beir_eval.display.tables import Table
    from beir_eval.measures import MeasureLike

#: The data of queries is trimmed until the report takes at most this many bytes. A report whose
#: other parts (tables, figures, scripts) take more is larger.
MOST_BYTES = 5_900_000
#: The most rows of a figure.
_MOST_ROWS = 60
#: The most documents to judge.
_MOST_TO_JUDGE = 10
#: The bytes reserved for the notices of a view, which are known only once its data is trimmed.
_NOTICE_BYTES = 2_000


def write_report(  # noqa: PLR0913 - one keyword for each source
    path: str | Path,
    what: Comparison
    | EvaluationResult
    | Iterable[EvaluationResult]
    | BenchmarkResult
    | StagedResult,
    *,
    slices: SlicedComparison | None = None,
    curve: CheckpointCurve | None = None,
    across: AcrossDatasets | None = None,
    queries: Mapping[str, str] | None = None,
    corpus: Any = None,
    datasets: Mapping[str, Dataset] | None = None,
    measure: MeasureLike | None = None,
    top: int = 10,
    title: str | None = None,
) -> None:
    """Write a report as one HTML file: means, verdicts, figures, and the rankings of each query.

    The file works without a network and without other files. To keep it below 6 MB where possible,
    the data of queries is trimmed: the queries on which the systems differ most are kept, and the
    file says what was left out. Of tables of differences the first 20,000 cells are shown, others
    are not trimmed: with very many systems or very long names, the file is larger than 6 MB.

    Args:
        path: the file to write. An existing file is replaced; if writing fails, it stays as it is.
            It may come after ``what`` too.
        what: what the report shows: a comparison, a result, several results on the same
            judgements, or the result of a benchmark. Rankings are shown if the results hold top
            lists: those of ``compare_runs`` do, and those of ``evaluate(..., keep_top=10)``.
            Scores that were computed elsewhere have none (``EvaluationResult.from_scores``).
        slices: a comparison of the same systems within slices of the queries, to show as well.
        curve: a checkpoint curve to show as well.
        across: for a benchmark only: the comparison of its systems over its data sets, whose
            verdicts the report begins with.
        queries: {query_id: text}, such as ``Dataset.queries``; not used for a benchmark. Texts are
            cut to 240 characters, and to fewer if there are many.
        corpus: titles and texts of the documents: a ``Dataset.corpus``,
            {doc_id: {"title": title, "text": text}} or {doc_id: text}; not used for a benchmark. A
            ``Dataset.corpus`` is read at most once, until all documents shown are found.
        datasets: for a benchmark only: {name of the data set: ``Dataset``}, the source of its
            queries and documents.
        measure: for a benchmark only: the measure of its table. The default is that of ``across``,
            else nDCG@10, or the first measure if nDCG@10 was not evaluated.
        top: the number of documents shown of each ranking, at least 1. Fewer are shown if the
            results hold fewer.
        title: the heading. The default is the names of the systems; for more than three systems,
            their number and the baseline.

    Raises:
        MissingExtraError: the package jinja2 is not installed.
        SettingError: ``top`` is not a whole number of at least 1.
        InputError: there are no results; ``path`` or ``what`` has another type; ``slices`` or
            ``across`` compares a system or a data set that ``what`` does not have; or ``across`` is
            given without a benchmark.
        ResultError: two results have the same name, or the results have no measure in common,
            different bounds or directions of a custom measure, or different judgements of the same
            queries.
        MeasureError: ``measure`` does not exist (UnknownMeasureError), or its parameter or cutoff
            is impossible.
        NotEvaluatedError: ``measure`` was not evaluated in the benchmark.
        OSError: the file cannot be written.
    """
    check_installed()
    if isinstance(what, (str, Path)):  # the types tell the two apart, whichever comes first
        path, what = cast("str", what), cast("Comparison", path)
    target = as_path(path)
    check_count("top", top)
    if across is not None and not isinstance(what, BenchmarkResult):
        msg = (
            "across is shown in the report of a benchmark; pass the BenchmarkResult, not "
            f"{type(what).__name__}"
        )
        raise InputError(msg)
    if isinstance(what, BenchmarkResult):
        shown_measure = across.measure if measure is None and across is not None else measure
        baseline = None if across is None else across.baseline
        page, views = _page_of_benchmark(what, shown_measure, datasets or {}, baseline)
        names = list(what.results)
    elif isinstance(what, Comparison):
        texts = Texts({} if queries is None else queries, corpus)
        page = _page_of_comparison(what, texts.queries)
        views = [(view_of_comparison(what), texts)]
        names, baseline = list(what.systems), what.baseline
    else:
        results = _list_results(what.result if isinstance(what, StagedResult) else what)
        texts = Texts({} if queries is None else queries, corpus)
        views = [(view_of_results(results), texts)]
        page = _page_of_results(results)
        names, baseline = [result.name for result in results], None
        if isinstance(what, StagedResult):
            page.add("stages", stages_section(what, texts))
    page.title = title or _default_title(names, baseline)
    if slices is not None:
        _check_contained("slices compares", "systems", slices.systems, names)
        page.add("slices", slices_section(slices))
    if curve is not None:
        page.add("curve", curve_section(curve))
    if across is not None:
        _check_across(across, what)
        document = across.document()
        page.answers, page.sentences = document.sentences, document.notes
        page.add("across", across_section(across))
    write_atomically(target, _html_of(page, views, top).encode(errors="replace"))


def _html_of(page: Page, views: Sequence[tuple[DatasetView, Texts]], top: int) -> str:
    """Return the HTML of a page, with as much of the data of queries as fits.

    Args:
        page: the page; what is left out is added to its notices.
        views: the rankings and scores of each data set, and their texts.
        top: the number of documents shown of each ranking.
    """
    figures: dict[str, Any] = {
        "figures": {key: page_specification(figure) for key, figure in page.figures.items()},
        "query_figures": query_figures(),
    }
    if any(view.lower_is_better for view, _ in views):
        figures["query_figures_of_losses"] = query_figures(higher_is_better=False)
    size = len(render(page, json_for_html(figures)).encode(errors="replace"))
    bytes_left = MOST_BYTES - size - _NOTICE_BYTES * len(views)
    parts = data_of_views(views, top, bytes_left, page.notices)
    return render(page, json_for_html({"parts": parts, **figures}))


def _check_across(across: AcrossDatasets, benchmark: object) -> None:
    """Raise InputError if the comparison has systems or data sets that the benchmark lacks."""
    results = benchmark.results if isinstance(benchmark, BenchmarkResult) else {}
    _check_contained("across compares", "systems", across.systems, results)
    datasets = {name for by_dataset in results.values() for name in by_dataset}
    parts = [part for dataset in across.datasets for part in dataset.parts]
    _check_contained("across compares", "data sets", parts, datasets)


def _check_contained(what: str, kind: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise InputError unless all names are known."""
    unknown = [name for name in names if name not in known]
    if unknown:
        msg = (
            f"{what} {kind} that are not in the report: {first_few(unknown)}; the report has "
            f"{first_few(known)}"
        )
        raise InputError(msg)


def _list_results(what: Any) -> list[EvaluationResult]:
    """Return one result or several as a list, after a check of their type."""
    is_one = isinstance(what, EvaluationResult) or not is_iterable(what)
    listed = [what] if is_one else list(what)
    if not listed:
        msg = "a report needs at least one result"
        raise InputError(msg)
    for result in listed:
        if not isinstance(result, EvaluationResult):
            msg = (
                "a report shows a Comparison, an EvaluationResult or several, or a "
                f"BenchmarkResult, not {type(result).__name__}"
            )
            raise InputError(msg)
    return listed


def _default_title(systems: Sequence[str], baseline: str | None) -> str:
    if len(systems) <= 3:  # noqa: PLR2004 - more names make the title too long
        return " and ".join([", ".join(systems[:-1]), systems[-1]] if systems[1:] else systems)
    if baseline is None:
        return f"{len(systems)} systems"
    return f"{len(systems) - 1} systems against {baseline}"


# Pages


def _page_of_comparison(comparison: Comparison, queries: Mapping[str, str]) -> Page:
    results = [result for repeats in comparison.results.values() for result in repeats]
    document = comparison.document(queries)
    compared = means_table.compared_systems(comparison)
    figures = {
        f"forest-{index}": forest_figure(comparison, measure, most=_MOST_ROWS)
        for index, measure in enumerate(() if compared else comparison.measures)
    }
    evidence = evidence_section(document, figures)
    return Page(
        warnings=document.warnings,
        answers=document.sentences,
        sentences=document.notes,
        gate=gate_beside_verdicts(comparison) if comparison.gate else None,
        compared=compared,
        ranked=() if compared else document.tables,
        means=means_table.means_of_comparison(comparison, results),
        evidence=evidence,
        counted=_counted_notes(comparison, results),
        to_judge=_to_judge_table(comparison),
        provenance=_provenance_rows(results, comparison),
        figures=figures,
        notices=evidence.notices,
    )


def _counted_notes(comparison: Comparison, results: Sequence[EvaluationResult]) -> list[str]:
    notes = shared_notes(results)
    if comparison.left_out:
        num_queries = len(comparison.query_ids)
        notes.insert(0, f"counted over each whole run; {num_queries:,} queries were compared")
    return notes


def _page_of_results(results: Sequence[EvaluationResult]) -> Page:
    return Page(
        warnings=shared_warnings(results),
        means=means_table.means_of_results(results),
        counted=[*depth_notes(results), *shared_notes(results)],
        provenance=_provenance_rows(results, None),
    )


def _page_of_benchmark(
    benchmark: BenchmarkResult,
    measure: MeasureLike | None,
    datasets: Mapping[str, Dataset],
    baseline: str | None,
) -> tuple[Page, list[tuple[DatasetView, Texts]]]:
    results = [
        result for by_dataset in benchmark.results.values() for result in by_dataset.values()
    ]
    if not results:
        msg = "a report needs at least one result; every system failed on every data set"
        raise InputError(msg)
    name = str(parse(measure)) if measure is not None else main_measure(results[0].measures)
    views = views_of_benchmark(benchmark, name, baseline)
    rows = [
        {"dataset": view.name, "system": system, "mean": benchmark.score(system, view.name, name)}
        for view in views
        for system in view.systems
    ]
    figure, failures = charts.datasets(rows, measure=name), benchmark.failure_sentences()
    page = Page(
        warnings=[*benchmark.warnings(), *failures],
        answers=[
            answer for answer in benchmark.document(name).sentences if answer.text not in failures
        ],
        means=means_table.means_of_benchmark(benchmark, name),
        overview_figures=captioned({"datasets": figure}),
        counted=benchmark.notes()[len(benchmark.warnings()) :],
        provenance=_provenance_rows(results, None),
        figures={"datasets": figure},
    )
    texts = [
        Texts(dataset.queries, dataset.corpus) if dataset is not None else Texts()
        for dataset in (datasets.get(view.name) for view in views)
    ]
    return page, list(zip(views, texts, strict=True))


# Documents to judge, and provenance


def _to_judge_table(comparison: Comparison) -> Table | None:
    """Return a table of the unjudged documents most worth judging; None if there are none."""
    try:
        documents = comparison.documents_to_judge(_MOST_TO_JUDGE)
    except (NotEvaluatedError, RunError):  # a dict of the caller may have changed since
        return None
    if not documents:
        return None
    columns: dict[str, Callable[[DocumentToJudge], str]] = {
        "query": lambda document: document.query_id,
        "document": lambda document: document.doc_id,
        "ranks": lambda document: ", ".join(
            f"{system}: {rank}" for system, rank in document.ranks.items()
        ),
        f"moves {comparison.measures[0]} by": lambda document: score_text(document.total),
    }
    return table_of(documents, columns)


def _provenance_rows(
    results: Sequence[EvaluationResult], comparison: Comparison | None
) -> list[tuple[str, str]]:
    """Return (label, value) of what is needed to reproduce the numbers: hashes and settings."""
    stated = (result.settings for result in results if result.settings is not None)
    facts: list[tuple[str, Iterable[str | None]]] = [
        ("written", [f"{dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M} UTC by beir-eval {__version__}"]),
        ("qrels, SHA-256", (result.provenance.qrels_sha256 for result in results)),
        ("package version", (result.provenance.package_version for result in results)),
        *((f"run {result.name}, SHA-256", [result.provenance.run_sha256]) for result in results),
        *(("evaluation", [text]) for text in dict.fromkeys(map(_settings_text, stated))),
        ("scores computed elsewhere", (of.name for of in results if of.settings is None)),
    ]
    if comparison is not None:
        text = f"baseline={comparison.baseline}, {_settings_text(comparison.settings)}"
        facts.append(("comparison", [text]))
    rows = [(label, ", ".join(filter(None, dict.fromkeys(values)))) for label, values in facts]
    return [(label, text) for label, text in rows if text]


def _settings_text(settings: EvaluationSettings | ComparisonSettings) -> str:
    return ", ".join(f"{name}={value}" for name, value in stated_settings(settings).items())
