"""What is logged of a result or a comparison, the same for every tracker, and at which step."""

from __future__ import annotations

import math
import operator
import re
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from beir_eval.core.saved import stated_settings
from beir_eval.errors import SettingError, shown
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.integrations.trackers.names import tracker_name
from beir_eval.report import write_report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from beir_eval.comparison.result import Comparison

_NOT_IN_FILE_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_FILE_NAME = 80
#: "step-500" as the evaluators for sentence-transformers name their results, "checkpoint-500" as
#: trainers name their folders. Another number in a name, as in "bm25", is not taken for a step.
_STEP = re.compile(
    r"(?<![a-z])(?:step|checkpoint)s?[-_ =]?(?P<step>\d{1,18})(?![\d.])", re.IGNORECASE | re.ASCII
)
_HIGHEST_STEP = 2**63 - 1


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One result or comparison, as it is logged.

    Attributes:
        what: the result or the comparison.
        step: the step to log at; None for none.
        title: a name for folders and artifacts: letters, digits, "-", "_" and ".".
        metrics: {name: number}, with legal names; a NaN mean is kept.
        settings: {name: value}, which must stay the same within a run.
        texts: {name: text}: the warnings; of a comparison also verdicts and kinds of interval.
        columns: the columns of the table of queries: "query_id", then a column for each measure of
            a result, or for each measure and system of a comparison.
        rows: the rows of that table; None where a measure is undefined.
        with_files: whether the table of queries, the saved result and the report are logged.
    """

    what: EvaluationResult | Comparison
    step: int | None
    title: str
    metrics: dict[str, float]
    settings: dict[str, str | float | bool]
    texts: dict[str, str]
    columns: list[str]
    rows: list[list[str | float | None]]
    with_files: bool

    def files(self) -> AbstractContextManager[list[Path]]:
        """Return a context with the saved result and the report, in a temporary folder.

        Raises:
            MissingExtraError: the package jinja2 is not installed.
        """
        return _Files(self.what)

    def markdown(self) -> str:
        """Return warnings, table, notes and settings as markdown."""
        lines = [f"| {name} | {value} |" for name, value in self.settings.items()]
        table = "\n".join(["| setting | value |", "|:--|:--|", *lines])
        return f"{self.what.to_markdown()}\n\n{table}\n"


class _Files:
    """A context with the files of a result or comparison, deleted at its end."""

    def __init__(self, what: EvaluationResult | Comparison) -> None:
        self._what = what
        self._folder = TemporaryDirectory(prefix="beir-eval-")

    def __enter__(self) -> list[Path]:
        folder = Path(self._folder.name)
        kind = "result" if isinstance(self._what, EvaluationResult) else "comparison"
        saved, report = folder / f"{kind}.json.gz", folder / "report.html"
        self._what.save(saved)
        write_report(report, self._what)
        return [saved, report]

    def __exit__(self, *_error: object) -> None:
        self._folder.cleanup()


def entry_of(
    what: EvaluationResult | Comparison, *, step: int | None, prefix: str, with_files: bool
) -> Entry:
    """Return what is logged of a result or a comparison.

    Args:
        what: the result or the comparison.
        step: the step; None for the one in the name of a result.
        prefix: a name before each name of a metric and a setting, such as that of the data set.
        with_files: whether files are logged.

    Raises:
        SettingError: ``step`` is not a whole number from 0.
    """
    before = f"{tracker_name(prefix)}/" if prefix else ""
    if isinstance(what, EvaluationResult):
        title, metrics, settings, texts = what.name, _metrics(what), _settings(what), {}
        columns, rows = list(what.measures), what.values.array.T.tolist()
    else:
        before += "comparison/"
        title = "-vs-".join(what.systems)
        metrics, texts = _comparison_metrics(what), _verdicts(what)
        settings = _comparison_settings(what)
        columns, rows = _comparison_columns(what)
    if step is not None:
        title = f"{title}-step-{step}"
    texts["warnings"] = "\n".join(what.warnings()) or "none"
    return Entry(
        what=what,
        step=step_of(what, step),
        title=_file_name(f"{prefix}-{title}" if prefix else title),
        metrics={f"{before}{name}": float(value) for name, value in metrics.items()},
        settings={f"{before}{name}": _setting(value) for name, value in settings.items()},
        texts={f"{before}{name}": text for name, text in texts.items()},
        columns=["query_id", *columns],
        rows=[
            [query_id, *(None if math.isnan(score) else score for score in row)]
            for query_id, row in zip(what.query_ids, rows, strict=True)
        ],
        with_files=with_files,
    )


def _metrics(result: EvaluationResult) -> dict[str, float]:
    """Return the means, and the counts that tell on which queries they were taken."""
    metrics = {tracker_name(name): mean for name, mean in result.aggregate.items()}
    metrics["counts/queries"] = len(result.query_ids)
    if result.counted is not None:
        metrics["counts/queries_judged"] = result.counted.queries_judged
        metrics["counts/queries_missing"] = len(result.counted.queries_missing)
    for name, number in result.num_scored.items():
        if number < len(result.query_ids):
            metrics[f"counts/queries_scored/{tracker_name(name)}"] = number
    return metrics


def _settings(result: EvaluationResult) -> dict[str, Any]:
    """Return the settings of a result; scores from elsewhere have none that are known."""
    if result.settings is None:
        return {"settings/computed_elsewhere": True}
    stated = stated_settings(result.settings)
    settings = {f"settings/{name}": value for name, value in stated.items()}
    if result.provenance.qrels_sha256 is not None:
        settings["settings/qrels_sha256"] = result.provenance.qrels_sha256
    return settings


def _comparison_metrics(comparison: Comparison) -> dict[str, float]:
    """Return means, differences, intervals and p; an unbounded end of an interval is left out."""
    metrics: dict[str, float] = {}
    for mean in comparison.means:
        metrics[f"means/{tracker_name(mean.measure)}/{tracker_name(mean.system)}"] = mean.mean
    for name, pair in _pairs(comparison):
        values = {
            "difference": pair.difference,
            "low": pair.low,
            "high": pair.high,
            "p": pair.p,
            "p_corrected": pair.p_corrected,
            "queries": pair.num_queries,
        }
        metrics |= {
            f"differences/{name}/{key}": value
            for key, value in values.items()
            if not math.isinf(value)
        }
    metrics["counts/queries"] = len(comparison.query_ids)
    for system, number in comparison.left_out.items():
        metrics[f"counts/queries_left_out/{tracker_name(system)}"] = number
    return metrics


def _pairs(comparison: Comparison) -> Iterator[tuple[str, Any]]:
    """Return each difference with its name: measure/system/against."""
    for pair in comparison.differences:
        parts = (pair.measure, pair.system, pair.against)
        yield "/".join(map(tracker_name, parts)), pair


def _verdicts(comparison: Comparison) -> dict[str, str]:
    """Return the verdict of each difference and the kind of its interval."""
    texts: dict[str, str] = {}
    for name, pair in _pairs(comparison):
        texts[f"verdicts/{name}"] = pair.verdict
        texts[f"intervals/{name}"] = pair.interval
    return texts


def _comparison_settings(comparison: Comparison) -> dict[str, Any]:
    """Return the settings of the tests, and the baseline."""
    settings = {f"settings/{name}": value for name, value in asdict(comparison.settings).items()}
    settings["settings/baseline"] = comparison.baseline
    settings["settings/computed_elsewhere"] = list(comparison.computed_elsewhere)
    return settings


def _comparison_columns(comparison: Comparison) -> tuple[list[str], list[list[float]]]:
    """Return the names "measure system" and the scores of each query."""
    columns = [f"{name} {system}" for name in comparison.measures for system in comparison.systems]
    by_measure = [comparison.scores[name].array.T.tolist() for name in comparison.measures]
    by_query = zip(*by_measure, strict=True)
    return columns, [[score for scores in query for score in scores] for query in by_query]


def _setting(value: Any) -> str | float | bool:
    """Return a value that every tracker takes; None and lists become text."""
    if isinstance(value, str | int | float):
        return value
    return "none" if value is None else ", ".join(map(str, value)) or "none"


def _file_name(text: str) -> str:
    """Return a text that can be the name of a folder and of an artifact.

    A text that must be changed gets a checksum, so that different names stay different.
    """
    name = _NOT_IN_FILE_NAMES.sub("_", text).strip("._")[:_LONGEST_FILE_NAME]
    if name == text:
        return name
    return f"{name or 'result'}-{zlib.crc32(text.encode(errors='surrogatepass')):08x}"


def step_of(what: EvaluationResult | Comparison, step: Any) -> int | None:
    """Return the step to log at.

    Args:
        what: a result or a comparison.
        step: the step; None for the one in the name of the result, such as "step-500".

    Returns:
        None if ``step`` is None, and ``what`` is a comparison or has no step in its name.

    Raises:
        SettingError: ``step`` is not a whole number from 0.
    """
    if step is None:
        match = _STEP.search(what.name) if isinstance(what, EvaluationResult) else None
        return int(match["step"]) if match else None
    try:
        number = operator.index(step)
    except TypeError:
        number = -1
    if isinstance(step, bool) or not 0 <= number <= _HIGHEST_STEP:
        msg = f"step must be a whole number from 0, or None, not {shown(step)}"
        raise SettingError(msg)
    return number
