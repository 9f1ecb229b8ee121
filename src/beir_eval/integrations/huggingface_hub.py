"""Results as records of the Hugging Face hub: ``.eval_results/*.yaml`` and the older model-index.

An ``EvalResultEntry`` has one value for a task of a data set; the measure, the settings and the
counts are in its ``notes``. An ``EvalResult`` of the model-index has one value for a measure, with
the settings and counts as ``metric_args``. See https://huggingface.co/docs/hub/eval-results and
https://github.com/huggingface/hub-docs/blob/main/modelcard.md.

Public: the names in ``__all__``; they need the extra ``hub`` (MissingExtraError without it).
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from beir_eval.core.atomic_writes import write_atomically
from beir_eval.core.files import as_path
from beir_eval.core.saved import stated_settings
from beir_eval.errors import FileFormatError, InputError, ResultError, needs_extra, shown
from beir_eval.measures import parse

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from huggingface_hub import EvalResult, EvalResultEntry

    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import MeasureLike

__all__ = [
    "eval_result_entry",
    "means_of_entries",
    "means_of_model_index",
    "model_index_results",
    "read_entries",
    "write_entries",
]

_HUB = ("huggingface_hub", "hub", "records of the Hugging Face hub")
#: The measure at the beginning of the notes of an entry.
_MEASURE_IN_NOTES = re.compile(r"measure: (?P<measure>.+?)(?:; |$)")


def eval_result_entry(
    result: EvaluationResult,
    measure: MeasureLike,
    *,
    dataset_id: str,
    task_id: str,
    **fields: Any,
) -> EvalResultEntry:
    """Return the mean of one measure as an entry for ``.eval_results/*.yaml``.

    Args:
        result: the result.
        measure: the measure that the task of the data set asks for.
        dataset_id: the data set on the hub, such as "mteb/scifact".
        task_id: the task in its ``eval.yaml``.
        fields: other fields of ``EvalResultEntry``: ``dataset_revision``, ``date``, ``source_url``
            and so on; ``notes`` are put after those on measure, settings and counts.

    Raises:
        InputError: ``result`` is not a result.
        ResultError: the mean is NaN, which is not a value for the hub.
        NotEvaluatedError: the result does not have this measure.
        MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or cutoff
            is impossible.
        MissingExtraError: huggingface_hub is not installed.
    """
    with needs_extra(*_HUB):
        from huggingface_hub import EvalResultEntry  # noqa: PLC0415 - an extra
    is_custom = isinstance(measure, str) and measure in result.custom_measures
    name = str(measure) if is_custom else str(parse(measure))
    value = _value(result, name)
    notes = "; ".join(f"{key}: {fact}" for key, fact in _facts(result, name).items())
    given = fields.pop("notes", None)
    return EvalResultEntry(
        dataset_id=dataset_id,
        task_id=task_id,
        value=value,
        notes=f"{notes}; {given}" if given else notes,
        **fields,
    )


def model_index_results(  # noqa: PLR0913 - the fields of EvalResult
    result: EvaluationResult,
    *,
    dataset_id: str,
    dataset_name: str,
    task_type: str = "information-retrieval",
    task_name: str | None = None,
    dataset_config: str | None = None,
    dataset_split: str | None = None,
    dataset_revision: str | None = None,
) -> list[EvalResult]:
    """Return the means as records of the model-index, one for each measure.

    ``ModelCardData(model_name=…, eval_results=…)`` writes them into a model card. ``metric_type``
    and ``metric_name`` are the name of the measure, ``metric_args`` the settings and counts.

    Args:
        result: the result.
        dataset_id: the data set on the hub (``dataset_type``), such as "mteb/scifact".
        dataset_name: its name for readers.
        task_type: the identifier of the task.
        task_name: its name for readers.
        dataset_config: the configuration of the data set.
        dataset_split: the split, such as "test".
        dataset_revision: the commit of the data set.

    Raises:
        InputError: ``result`` is not a result.
        ResultError: a mean is NaN, which is not a value for the hub.
        MissingExtraError: huggingface_hub is not installed.
    """
    with needs_extra(*_HUB):
        from huggingface_hub import EvalResult  # noqa: PLC0415 - an extra
    return [
        EvalResult(
            task_type=task_type,
            task_name=task_name,
            dataset_type=dataset_id,
            dataset_name=dataset_name,
            dataset_config=dataset_config,
            dataset_split=dataset_split,
            dataset_revision=dataset_revision,
            metric_type=name,
            metric_name=name,
            metric_value=_value(result, name),
            metric_args={
                key: fact for key, fact in _facts(result, name).items() if key != "measure"
            },
        )
        for name in result.measures
    ]


def means_of_entries(
    entries: Iterable[EvalResultEntry],
) -> dict[tuple[str, str], dict[str, float]]:
    """Return {(dataset_id, task_id): {measure: mean}} of entries of ``eval_result_entry``.

    Raises:
        InputError: an entry has no measure in its notes, so that it is not known what its value
            means, or its value is not a number.
    """
    means: dict[tuple[str, str], dict[str, float]] = {}
    for entry in entries:
        match = _MEASURE_IN_NOTES.match(entry.notes or "")
        if match is None:
            msg = (
                f"the entry of {entry.dataset_id}, task {entry.task_id}, has no measure in its "
                f"notes: {shown(entry.notes)}; expected 'measure: nDCG@10; …'"
            )
            raise InputError(msg)
        of_task = means.setdefault((entry.dataset_id, entry.task_id), {})
        of_task[match["measure"]] = _number(entry.value, entry.dataset_id)
    return means


def means_of_model_index(results: Iterable[EvalResult]) -> dict[str, dict[str, float]]:
    """Return {data set: {measure: mean}} of records of the model-index.

    Records are, for example, the ``eval_results`` of a ``ModelCardData``. The measures are named by
    ``metric_type``, in their canonical names where ``parse`` knows the spelling, such as
    "ndcg_at_10".

    Args:
        results: the records.

    Raises:
        InputError: a value is not a number, or two records are of the same measure, for example
            because they are of two splits.
    """
    means: dict[str, dict[str, float]] = {}
    for record in results:
        of_dataset = means.setdefault(record.dataset_type, {})
        name = _canonical(record.metric_type)
        if name in of_dataset:
            msg = (
                f"two records of {record.dataset_type} are of {name}; pass those of one split, "
                "configuration and revision"
            )
            raise InputError(msg)
        of_dataset[name] = _number(record.metric_value, record.dataset_type)
    return means


def write_entries(path: str | Path, entries: Iterable[EvalResultEntry]) -> None:
    """Write entries to a YAML file, for example ``.eval_results/scifact.yaml`` of a model.

    Args:
        path: the file; one that exists is replaced, and its folder is made.
        entries: the entries.

    Raises:
        InputError: ``path`` is not a path.
        MissingExtraError: huggingface_hub is not installed.
        OSError: the file cannot be written.
    """
    with needs_extra(*_HUB):
        import yaml  # noqa: PLC0415 - huggingface_hub needs it
        from huggingface_hub import eval_result_entries_to_yaml  # noqa: PLC0415 - an extra
    target = as_path(path)
    rows = eval_result_entries_to_yaml(list(entries))
    text = yaml.safe_dump(rows, sort_keys=False, allow_unicode=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(target, text.encode())


def read_entries(path: str | Path) -> list[EvalResultEntry]:
    """Return the entries of a file ``.eval_results/*.yaml``.

    Raises:
        InputError: ``path`` is not a path.
        FileFormatError: the file is not YAML, or not a list of entries.
        MissingExtraError: huggingface_hub is not installed.
        OSError: the file cannot be read.
    """
    with needs_extra(*_HUB):
        import yaml  # noqa: PLC0415 - huggingface_hub needs it
        from huggingface_hub import parse_eval_result_entries  # noqa: PLC0415 - an extra
    source = as_path(path)
    try:
        return list(parse_eval_result_entries(yaml.safe_load(source.read_text(encoding="utf-8"))))
    except (yaml.YAMLError, AttributeError, KeyError, TypeError, ValueError) as error:
        msg = f"a list of entries with dataset.id, dataset.task_id and value was expected ({error})"
        raise FileFormatError(source, msg) from error


def _value(result: EvaluationResult, name: str) -> float:
    """Return the mean on a measure, which must be a number."""
    value = result[name]
    if math.isnan(value):
        msg = f"the mean of {result.name!r} on {name} is NaN: no query has a score; leave it out"
        raise ResultError(msg)
    return value


def _facts(result: EvaluationResult, name: str) -> dict[str, Any]:
    """Return the measure, the number of queries behind its mean, and the settings."""
    facts: dict[str, Any] = {"measure": name, "queries": result.num_scored[name]}
    if result.counted is not None:
        facts["queries_missing"] = len(result.counted.queries_missing)
    if result.settings is not None:
        facts |= stated_settings(result.settings)
    facts["beir_eval"] = result.provenance.package_version
    return facts


def _canonical(name: str) -> str:
    """Return the canonical name of a measure that ``parse`` knows, else the name itself."""
    try:
        return str(parse(name))
    except ValueError:
        return name


def _number(value: Any, dataset: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        msg = f"{dataset}: the value must be a number, not {shown(value)}"
        raise InputError(msg)
    return float(value)
