"""``write_report``: gather what is known, render it, write it whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval import _figure_kinds as kinds
from beir_eval._checkpoint_tables import curve_figure
from beir_eval._comparison_figures import forest_of
from beir_eval._comparison_tables import differences_table
from beir_eval._files import write_atomically
from beir_eval._side_by_side import shared_notes
from beir_eval._trust_tables import likeness_table, sentences, trust_table
from beir_eval.benchmark_result import BenchmarkResult
from beir_eval.comparison_result import Comparison
from beir_eval.errors import InputError, check_count
from beir_eval.figures import ink_styles
from beir_eval.measures import parse
from beir_eval.report import _words as words
from beir_eval.report._data import Texts, as_json, data_of
from beir_eval.report._page import check_installed, render
from beir_eval.report._parts import (
    Part,
    part_of_comparison,
    part_of_results,
    parts_of_benchmark,
)
from beir_eval.results import EvaluationResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from beir_eval.adapters.beir import Dataset
    from beir_eval.checkpoints import CheckpointCurve
    from beir_eval.figures import Figure
    from beir_eval.measures import MeasureLike


def write_report(  # noqa: PLR0913 - one keyword a source
    path: str | Path,
    what: Comparison | EvaluationResult | Iterable[EvaluationResult] | BenchmarkResult,
    *,
    curve: CheckpointCurve | None = None,
    queries: Mapping[str, str] | None = None,
    corpus: Any = None,
    datasets: Mapping[str, Dataset] | None = None,
    measure: MeasureLike = "nDCG@10",
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
            or {doc_id: text}. A ``Corpus`` is read once, from its beginning to its end.
        datasets: for a benchmark {name: Dataset}, in place of queries and corpus.
        measure: for a benchmark the measure of its table.
        top: how many documents of a ranking are shown, as far as the results hold them.
        title: the heading; by default the names of the systems.

    Raises:
        MissingExtraError: the package jinja2 is not installed.
        InputError: there is nothing to show.
        ResultError: results of one name, or without a measure in common.
        OSError: the file cannot be written.
    """
    check_installed()
    check_count("top", top)
    if isinstance(what, BenchmarkResult):
        content, parts = _of_benchmark(what, measure, datasets or {})
    elif isinstance(what, Comparison):
        content = _of_comparison(what)
        parts = [(part_of_comparison(what), Texts(queries or {}, corpus))]
    else:
        results = [what] if isinstance(what, EvaluationResult) else list(what)
        if not results:
            msg = "a report needs at least one result"
            raise InputError(msg)
        parts = [(part_of_results(results), Texts(queries or {}, corpus))]
        content = _of_results(results)
    content |= {"curve": None} if curve is None else _of_curve(curve)
    figures: dict[str, Figure] = content.pop("figures") | content.pop("curve_figures", {})
    notices: list[str] = []
    data = {
        "parts": data_of(parts, top, notices),
        "figures": {key: _on_page(figure) for key, figure in figures.items()},
        "query_figures": _query_figures(),
    }
    names = dict.fromkeys(system for part, _ in parts for system in part.systems)
    baseline = getattr(what, "baseline", None)
    content |= {"title": title or _title(list(names), baseline), "notices": notices}
    content["links"] = _links(content)
    write_atomically(Path(path), render(content, as_json(data)).encode(errors="replace"))


def _title(systems: Sequence[str], baseline: str | None) -> str:
    if len(systems) <= 3:  # noqa: PLR2004 - more names are no title
        return " and ".join(systems)
    if baseline is None:
        return f"{len(systems)} systems"
    return f"{len(systems) - 1} systems against {baseline}"


# What the template shows


_NOTHING: dict[str, Any] = {
    "headline": None,
    "cautions": (),
    "sentences": (),
    "overview_figures": (),
    "differences": None,
    "difference_figures": (),
    "comparison_notes": (),
    "trust": None,
    "trust_sentences": (),
    "likeness": None,
    "to_judge": None,
}


def _of_comparison(found: Comparison) -> dict[str, Any]:
    results = [repeats[0] for repeats in (found.results or {}).values()]
    figures = {f"forest-{place}": forest_of(found, one) for place, one in enumerate(found.measures)}
    counted = shared_notes(results)
    cautions = list(sentences(found))
    return _NOTHING | {
        "headline": words.headline(found),
        "cautions": cautions,
        "sentences": words.evidence(found),
        "means": words.means_of_comparison(found),
        "differences": differences_table(found),
        "difference_figures": [_shown(key, one) for key, one in figures.items()],
        "comparison_notes": found.notes(),
        "counted": counted
        or ["not known: the comparison was read from a file, without the results behind it"],
        "trust": trust_table(found) if found.trust else None,
        "likeness": likeness_table(found) if found.likeness else None,
        "to_judge": words.to_judge_of(found),
        "provenance": words.provenance_of(results, found),
        "figures": figures,
    }


def _of_results(results: Sequence[EvaluationResult]) -> dict[str, Any]:
    return _NOTHING | {
        "means": words.means_of_results(results),
        "counted": shared_notes(results),
        "provenance": words.provenance_of(results, None),
        "figures": {},
    }


def _of_benchmark(
    found: BenchmarkResult, measure: MeasureLike, datasets: Mapping[str, Dataset]
) -> tuple[dict[str, Any], list[tuple[Part, Texts]]]:
    name = str(parse(measure))
    parts = parts_of_benchmark(found, name)
    if not parts:
        msg = "a report needs at least one result; every system failed on every data set"
        raise InputError(msg)
    rows = [
        {"dataset": part.name, "system": system, "mean": found.score(system, part.name, name)}
        for part in parts
        for system in part.systems
    ]
    figure = kinds.datasets(rows, measure=name, systems=list(found.results))
    results = [one for of_system in found.results.values() for one in of_system.values()]
    content = _NOTHING | {
        "means": words.means_of_table(found.to_table(name), f"{name} by data set", ()),
        "overview_figures": [_shown("datasets", figure)],
        "counted": found.notes(),
        "provenance": words.provenance_of(results, None),
        "figures": {"datasets": figure},
    }
    texts = [
        Texts(known.queries, known.corpus) if known is not None else Texts()
        for known in (datasets.get(part.name) for part in parts)
    ]
    return content, list(zip(parts, texts, strict=True))


def _of_curve(curve: CheckpointCurve) -> dict[str, Any]:
    figures = {
        f"curve-{place}": curve_figure(curve, one) for place, one in enumerate(curve.measures)
    }
    shown = [_shown(key, one) for key, one in figures.items()]
    section = {"figures": shown, "notes": curve.notes(), "table": curve.to_table()}
    return {"curve": section, "curve_figures": figures}


def _shown(key: str, figure: Figure) -> dict[str, str]:
    caption = figure.spec["description"]
    return {"key": key, "caption": caption[:1].upper() + caption[1:]}


def _links(content: Mapping[str, Any]) -> list[tuple[str, str]]:
    sections = {
        "means": "Means",
        "differences": "Differences" if content["differences"] else "",
        "curve": "Checkpoints" if content["curve"] else "",
        "queries": "Queries",
        "counted": "What was counted",
        "trusted": "How far it can be trusted" if content["trust"] else "",
        "provenance": "Provenance",
    }
    return [(key, name) for key, name in sections.items() if name]


# Figures


def _query_figures() -> dict[str, Any]:
    """Return the figures of a pair; the browser fills in which, and the rows."""
    names = {"measure": "@measure@", "system": "@system@"}
    pair = names | {"against": "@against@"}
    figures = {
        "differences": kinds.query_differences([], **pair, clickable=True),
        "scatter": kinds.scatter([], **pair, clickable=True),
        "scores": kinds.query_scores([], **names, clickable=True),
    }
    return {key: _on_page(figure) for key, figure in figures.items()}


def _on_page(figure: Figure) -> dict[str, Any]:
    """Return a figure as wide as its place, in the ink of the page, light or dark.

    What its title says stands below it, as a caption.
    """
    ink = "currentColor"
    config = figure.spec["config"]
    axis = {
        "labelColor": ink,
        "titleColor": ink,
        "domainColor": ink,
        "tickColor": ink,
        "gridColor": ink,
        "gridOpacity": 0.15,
        "domainOpacity": 0.5,
        "tickOpacity": 0.5,
    }
    untitled = {key: value for key, value in figure.spec.items() if key != "title"}
    return untitled | {
        "width": "container",
        "autosize": {"type": "fit-x", "contains": "padding"},
        "background": None,
        "config": config
        | {
            "axis": config["axis"] | axis,
            "legend": config["legend"] | {"labelColor": ink, "titleColor": ink},
            "style": ink_styles(ink),
        },
    }
