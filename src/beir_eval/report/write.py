"""``write_report``: gather what is known, render it, write it whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval.benchmark.result import BenchmarkResult
from beir_eval.comparison.charts import forest_of
from beir_eval.comparison.likeness import likeness_table
from beir_eval.comparison.result import Comparison
from beir_eval.comparison.robustness.tables import sentences, trust_table
from beir_eval.comparison.tables import differences_table
from beir_eval.core.files import write_atomically
from beir_eval.display import charts as kinds
from beir_eval.errors import InputError, check_count
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.side_by_side import shared_notes
from beir_eval.measures import parse
from beir_eval.report import means_table as means
from beir_eval.report import narrative as words
from beir_eval.report.dataset_views import (
    DatasetView,
    main_measure,
    view_of_comparison,
    view_of_results,
    views_of_benchmark,
)
from beir_eval.report.drawn import on_page, query_figures
from beir_eval.report.json_text import as_json
from beir_eval.report.page import check_installed, render
from beir_eval.report.payload import data_of
from beir_eval.report.texts import Texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from beir_eval.comparison.checkpoints.result import CheckpointCurve
    from beir_eval.datasets.dataset import Dataset
    from beir_eval.display.figure import Figure
    from beir_eval.measures import MeasureLike

#: A report is no larger than this, in bytes.
LARGEST = 5_900_000
#: More differences than these are not shown, nor more rows of a figure, nor figures unfolded.
MOST_DIFFERENCES = 2_000
_MOST_ROWS = 60
_MOST_FIGURES = 6


def write_report(  # noqa: PLR0913 - one keyword a source
    path: str | Path,
    what: Comparison | EvaluationResult | Iterable[EvaluationResult] | BenchmarkResult,
    *,
    curve: CheckpointCurve | None = None,
    queries: Mapping[str, str] | None = None,
    corpus: Any = None,
    datasets: Mapping[str, Dataset] | None = None,
    measure: MeasureLike | None = None,
    top: int = 10,
    title: str | None = None,
) -> None:
    """Write one HTML file that shows what was found, query by query.

    It needs no network and nothing beside it, and is held below 6 MB: of many queries the rankings
    of those are held on which the systems differ most, and the file says so.

    Args:
        path: the file; written whole or not at all.
        what: a comparison, one result or several on the same judgements, or a benchmark's. The
            rankings are those of the results: ``compare_runs`` keeps them, ``evaluate`` with
            ``keep_top=10`` does; a comparison that was read from a file has none.
        curve: a checkpoint curve to show with it.
        queries: {query_id: text}, such as ``Dataset.queries``.
        corpus: titles and texts of the documents: ``Dataset.corpus``, {doc_id: {"title", "text"}}
            or {doc_id: text}. A ``Corpus`` is read once, until all that is shown is found.
        datasets: for a benchmark {name: Dataset}, in place of queries and corpus.
        measure: for a benchmark the measure of its table; by default nDCG@10 where it has it.
        top: how many documents of a ranking are shown, as far as the results hold them.
        title: the heading; by default the names of the systems.

    Raises:
        MissingExtraError: the package jinja2 is not installed.
        InputError: there is nothing to show, or ``what`` is something else.
        ResultError: results of one name, of different judgements, or without a measure in common.
        OSError: the file cannot be written.
    """
    check_installed()
    check_count("top", top)
    notices: list[str] = []
    if isinstance(what, BenchmarkResult):
        content, views = _of_benchmark(what, measure, datasets or {})
        names, baseline = list(what.results), None
    elif isinstance(what, Comparison):
        content = _of_comparison(what, notices)
        views = [(view_of_comparison(what), Texts(queries or {}, corpus))]
        names, baseline = list(what.systems), what.baseline
    else:
        results = _results(what)
        views = [(view_of_results(results), Texts(queries or {}, corpus))]
        content = _of_results(results)
        names, baseline = [one.name for one in results], None
    content |= {"curve": None} if curve is None else _of_curve(curve)
    figures: dict[str, Figure] = content.pop("figures") | content.pop("curve_figures", {})
    content |= {"title": title or _title(names, baseline), "links": _links(content)}
    drawn = {
        "figures": {key: on_page(figure) for key, figure in figures.items()},
        "query_figures": query_figures(),
    }
    room = LARGEST - len(_page(content, notices, drawn).encode(errors="replace"))
    data = {"parts": data_of(views, top, room - _NOTICE_BYTES * len(views), notices), **drawn}
    write_atomically(Path(path), _page(content, notices, data).encode(errors="replace"))


#: What the notices of a view may take, that are known only when the view is.
_NOTICE_BYTES = 2_000


def _page(content: Mapping[str, Any], notices: list[str], data: Mapping[str, Any]) -> str:
    return render({**content, "notices": notices}, as_json(data))


def _results(what: Any) -> list[EvaluationResult]:
    results = [what] if isinstance(what, EvaluationResult) else what
    try:
        listed = list(results)
    except TypeError:
        listed = [what]
    if not listed:
        msg = "a report needs at least one result"
        raise InputError(msg)
    for one in listed:
        if not isinstance(one, EvaluationResult):
            msg = (
                "a report shows a Comparison, an EvaluationResult or several, or a "
                f"BenchmarkResult, not {type(one).__name__}"
            )
            raise InputError(msg)
    return listed


def _title(systems: Sequence[str], baseline: str | None) -> str:
    if len(systems) <= 3:  # noqa: PLR2004 - more names are no title
        return " and ".join([", ".join(systems[:-1]), systems[-1]] if systems[1:] else systems)
    if baseline is None:
        return f"{len(systems)} systems"
    return f"{len(systems) - 1} systems against {baseline}"


# What the template shows


_NOTHING: dict[str, Any] = {
    "headline": None,
    "evidence": None,
    "overview_figures": (),
    "differences": None,
    "difference_figures": (),
    "folded_figures": (),
    "comparison_notes": (),
    "trust": None,
    "trust_notes": (),
    "likeness": None,
    "likeness_depth": None,
    "to_judge": None,
}


def _of_comparison(found: Comparison, notices: list[str]) -> dict[str, Any]:
    results = [one for repeats in (found.results or {}).values() for one in repeats]
    seen = _seen(found, notices)
    figures = {
        f"forest-{place}": forest_of(seen, one, most=_MOST_ROWS)
        for place, one in enumerate(seen.measures)
    }
    shown = [_shown(key, one) for key, one in figures.items()]
    return _NOTHING | {
        "headline": words.headline(found),
        "evidence": words.evidence(seen, list(sentences(seen))),
        "means": means.means_of_comparison(found, results),
        "differences": differences_table(seen),
        "difference_figures": shown[:_MOST_FIGURES],
        "folded_figures": shown[_MOST_FIGURES:],
        "comparison_notes": [*found.notes(), *words.DIFFERENCES_SAY],
        "counted": _counted(found, results),
        "trust": trust_table(seen) if seen.trust else None,
        "trust_notes": words.TRUST_SAYS if seen.trust else (),
        "likeness": likeness_table(found) if found.likeness else None,
        "likeness_depth": found.likeness[0].k if found.likeness else None,
        "to_judge": words.to_judge_of(found),
        "provenance": words.provenance_of(results, found),
        "figures": figures,
    }


def _seen(found: Comparison, notices: list[str]) -> Comparison:
    """Return the comparison with as many differences as a page can show, and say so."""
    pairs = max(1, len(found.differences) // len(found.measures))
    measures = found.measures[: max(1, MOST_DIFFERENCES // pairs)]
    differences = [one for one in found.differences if one.measure in measures]
    differences.sort(key=lambda one: -abs(one.difference))
    kept = {(one.measure, one.system, one.against) for one in differences[:MOST_DIFFERENCES]}
    if len(kept) == len(found.differences):
        return found
    which = f"those on {', '.join(measures)}" if pairs <= MOST_DIFFERENCES else "the greatest"
    notices.append(
        f"{len(kept):,} of {len(found.differences):,} differences are shown, {which}; to_csv() and "
        "--csv give all of them"
    )
    return found.model_copy(
        update={
            "measures": measures,
            "differences": tuple(_kept(found.differences, kept)),
            "trust": None if found.trust is None else tuple(_kept(found.trust, kept)),
        }
    )


def _kept(records: Iterable[Any], kept: set[tuple[str, str, str]]) -> Iterator[Any]:
    return (one for one in records if (one.measure, one.system, one.against) in kept)


def _counted(found: Comparison, results: Sequence[EvaluationResult]) -> list[str]:
    if not results:
        return ["not known: the comparison was read from a file, without the results behind it"]
    counted = shared_notes(results)
    if found.left_out:
        compared = len(found.query_ids)
        counted.insert(0, f"counted over each whole run; {compared:,} queries were compared")
    return counted


def _of_results(results: Sequence[EvaluationResult]) -> dict[str, Any]:
    return _NOTHING | {
        "means": means.means_of_results(results),
        "counted": shared_notes(results),
        "provenance": words.provenance_of(results, None),
        "figures": {},
    }


def _of_benchmark(
    found: BenchmarkResult, measure: MeasureLike | None, datasets: Mapping[str, Dataset]
) -> tuple[dict[str, Any], list[tuple[DatasetView, Texts]]]:
    results = [one for of_system in found.results.values() for one in of_system.values()]
    if not results:
        msg = "a report needs at least one result; every system failed on every data set"
        raise InputError(msg)
    name = str(parse(measure)) if measure is not None else main_measure(results[0].measures)
    views = views_of_benchmark(found, name)
    rows = [
        {"dataset": view.name, "system": system, "mean": found.score(system, view.name, name)}
        for view in views
        for system in view.systems
    ]
    figure = kinds.datasets(rows, measure=name)
    content = _NOTHING | {
        "means": means.means_of_table(found.to_table(name), f"{name} by data set"),
        "overview_figures": [_shown("datasets", figure)],
        "counted": found.notes(),
        "provenance": words.provenance_of(results, None),
        "figures": {"datasets": figure},
    }
    texts = [
        Texts(known.queries, known.corpus) if known is not None else Texts()
        for known in (datasets.get(view.name) for view in views)
    ]
    return content, list(zip(views, texts, strict=True))


def _of_curve(curve: CheckpointCurve) -> dict[str, Any]:
    figures = {f"curve-{place}": curve.plot(one) for place, one in enumerate(curve.measures)}
    shown = [_shown(key, one) for key, one in figures.items()]
    section = {"figures": shown, "notes": curve.notes(), "table": curve.to_table()}
    return {"curve": section, "curve_figures": figures}


def _shown(key: str, figure: Figure) -> dict[str, str]:
    caption = figure.spec["description"]
    return {"key": key, "caption": caption[:1].upper() + caption[1:]}


def _links(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    trusted = content["trust"] or content["likeness"] or content["to_judge"]
    sections = {
        "means": "Means",
        "differences": "Differences" if content["differences"] else "",
        "curve": "Checkpoints" if content["curve"] else "",
        "queries": "Queries",
        "counted": "What was counted",
        "trusted": "How far it can be trusted" if trusted else "",
        "provenance": "Provenance",
    }
    return [(key, name) for key, name in sections.items() if name]
