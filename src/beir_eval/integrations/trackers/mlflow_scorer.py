"""``retrieval_scorer``: a measure as a scorer of ``mlflow.genai.evaluate``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beir_eval.errors import InputError, SettingError, needs_extra, shown
from beir_eval.evaluation import evaluate
from beir_eval.integrations.trackers.names import tracker_name
from beir_eval.measures import parse

if TYPE_CHECKING:
    from beir_eval.measures import MeasureLike

_QUERY = "query"


def retrieval_scorer(measure: MeasureLike, *, expectation: str = "relevant") -> Any:
    """Return a scorer for ``mlflow.genai.evaluate`` that computes one measure for each row.

    The outputs of a row are the ids of the retrieved documents, best first, or {doc_id: score}. Its
    expectations hold the judgements: {doc_id: grade}, or the ids of the relevant documents. The
    name of the scorer is ``tracker_name(measure)``, and MLflow logs ``<name>/mean``. Ranking and
    measures have the default settings of ``evaluate``. A row on which the measure is undefined has
    no score, and the mean leaves it out.

    Args:
        measure: a measure, or its name in any spelling that ``parse`` reads.
        expectation: the key of the judgements in the expectations.

    Returns:
        A ``Scorer`` of MLflow. It raises InputError for a row whose outputs or expectations have
        another form, which MLflow records as the error of that row.

    Raises:
        MissingExtraError: MLflow is not installed.
        MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or cutoff
            is impossible.
        SettingError: the measure is no mean over queries (``num_ret``, GMAP), or depends on other
            queries (ERR without ``max_grade``).
    """
    with needs_extra("mlflow", "mlflow", "a scorer for mlflow.genai"):
        from mlflow.entities import AssessmentSource, Feedback  # noqa: PLC0415 - an extra
        from mlflow.genai.scorers import scorer  # noqa: PLC0415
    parsed = parse(measure)
    _check_single_query(parsed)
    name = str(parsed)
    source = AssessmentSource(source_type="CODE", source_id="beir-eval")

    def score(outputs: Any, expectations: Any) -> Any:
        grades = _grades(expectations, expectation)
        value = evaluate({_QUERY: grades}, {_QUERY: _ranking(outputs)}, [parsed])[name]
        return Feedback(value=None if math.isnan(value) else value, source=source)

    return scorer(score, name=tracker_name(name), aggregations=["mean"])


def _check_single_query(measure: Any) -> None:
    """Raise SettingError unless scores have a mean, and depend on no other query."""
    if measure.definition.aggregate != "mean":
        msg = f"{measure} is no mean over queries, but MLflow takes the mean of the rows"
        raise SettingError(msg)
    if "max_grade" in measure.definition.defaults and "max_grade" not in dict(measure.parameters):
        msg = f"{measure} depends on the highest grade of all queries; state it: ERR(max_grade=…)"
        raise SettingError(msg)


def _grades(expectations: Any, expectation: str) -> dict[str, Any]:
    """Return {doc_id: grade} of a row."""
    if not isinstance(expectations, Mapping) or expectation not in expectations:
        msg = f"expectations must have the key {expectation!r}, not {shown(expectations)}"
        raise InputError(msg)
    judged = expectations[expectation]
    if isinstance(judged, Mapping):
        return dict(judged)
    return dict.fromkeys(_ids(judged, f"expectations[{expectation!r}]"), 1)


def _ranking(outputs: Any) -> dict[str, Any]:
    """Return {doc_id: score} of a row; listed documents get falling scores."""
    if isinstance(outputs, Mapping):
        return dict(outputs)
    ids = _ids(outputs, "outputs")
    if len(set(ids)) < len(ids):
        msg = f"outputs: a document is listed twice: {shown(outputs)}"
        raise InputError(msg)
    return {doc_id: float(len(ids) - rank) for rank, doc_id in enumerate(ids)}


def _ids(value: Any, label: str) -> list[str]:
    """Return a list of document ids, or raise InputError."""
    if not isinstance(value, list | tuple) or not all(isinstance(doc_id, str) for doc_id in value):
        msg = f"{label} must be document ids in a list, or a number for each, not {shown(value)}"
        raise InputError(msg)
    return list(value)
