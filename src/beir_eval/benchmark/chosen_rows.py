"""Rows of a comparison that are the best of several systems on other queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from beir_eval.benchmark.comparison_result import ChosenRow
from beir_eval.benchmark.dataset_scores import (
    mean_scores,
    queries_of,
    results_by_system,
    shared_datasets,
    stratum_of,
)
from beir_eval.errors import InputError, SettingError, first_few, shown

if TYPE_CHECKING:
    from beir_eval.comparison.alignment import SystemResults


def with_chosen_rows(
    results: Mapping[str, Mapping[str, SystemResults]],
    choose: Any,
    dev: Any,
    measure: str,
) -> tuple[dict[str, Mapping[str, SystemResults]], dict[str, ChosenRow]]:
    """Return the results in which of several systems only the best on other queries is a row.

    Args:
        results: {system: {data set: result}}.
        choose: {name of the row: the systems}.
        dev: results of these systems on other queries, in the form of ``results``.
        measure: the canonical name of the measure that chooses, by the unweighted average.

    Raises:
        SettingError: there is ``choose`` without ``dev`` or the other way round, a system is not
            among the results or in two rows, or a row has the name of another system.
        InputError: a data set of ``dev`` has queries that are compared.
        ResultError, QueryMismatchError: as ``compare_benchmark``, for ``dev``.
    """
    rows = dict(results)
    if (choose is None) != (dev is None):
        raise SettingError("choose= and dev= belong together: a row is chosen on other queries")
    if choose is None:
        return rows, {}
    if not isinstance(choose, Mapping) or any(isinstance(names, str) for names in choose.values()):
        msg = f"choose must be {{name of a row: [systems]}}, not {shown(choose)}"
        raise SettingError(msg)
    on_dev, chosen = results_by_system(dev), {}
    for at, (name, systems) in enumerate(choose.items()):
        # Not among the rows: an earlier one may have taken the name of a system.
        left = results.keys() - {system for names in list(choose.values())[:at] for system in names}
        if unknown := [system for system in systems if system not in left or system not in on_dev]:
            msg = f"{name} is chosen from {first_few(unknown)}: not in the results, in dev, or free"
            raise SettingError(msg)
        if name in rows and name not in systems:
            msg = f"the row {shown(name)} has the name of another system"
            raise SettingError(msg)
        candidates = {system: on_dev[system] for system in systems}
        datasets, _ = shared_datasets(candidates, "error")
        if both := sorted(queries_of(results) & queries_of(candidates)):
            names = first_few(query_id for dataset, query_id in both if dataset == both[0][0])
            msg = f"{both[0][0]}: {names} choose a row and are compared; leave them out"
            raise InputError(msg)
        strata = [stratum_of(dataset, candidates, measure, "error") for dataset in datasets]
        of_units = mean_scores(strata, tuple(candidates))
        gains = {
            system: strata[0].scale.gains(sum(unit.means[system] for unit in of_units))
            for system in candidates
        }
        best = max(gains, key=gains.__getitem__)
        chosen[name] = ChosenRow(system=best, of=len(candidates), datasets=tuple(datasets))
        rows = {
            name if system == best else system: of_system
            for system, of_system in rows.items()
            if system == best or system not in candidates
        }
    return rows, chosen
