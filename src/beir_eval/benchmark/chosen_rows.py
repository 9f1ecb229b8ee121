"""Rows of a comparison that are the best of several systems on other queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from beir_eval.benchmark.comparison_result import ChosenRow
from beir_eval.benchmark.dataset_scores import (
    about,
    check_other_queries,
    mean_scores,
    results_by_system,
    shared_datasets,
    stratum_of,
)
from beir_eval.errors import SettingError, first_few, shown

if TYPE_CHECKING:
    from beir_eval.comparison.alignment import SystemResults


def with_chosen_rows(  # noqa: PLR0913 - what the choice depends on
    results: Mapping[str, Mapping[str, SystemResults]],
    choose: Any,
    dev: Any,
    measure: str,
    *,
    baseline: str | None,
    on: str,
) -> tuple[dict[str, Mapping[str, SystemResults]], dict[str, ChosenRow]]:
    """Return the results in which of several systems only the best on other queries is a row.

    Args:
        results: {system: {data set: result}}.
        choose: {name of the row: the systems}.
        dev: results of these systems on other queries, in the form of ``results``.
        measure: the canonical name of the measure that chooses, by the unweighted average.
        baseline: the system that the others are compared with, which is no candidate.
        on: what happens if a candidate lacks a data set or a query of ``dev``, as in
            ``compare_benchmark``.

    Raises:
        SettingError: there is ``choose`` without ``dev`` or the other way round, it is not of this
            form, a system is not among the results or in two rows, or a row has the name of another
            system.
        InputError: a data set of ``dev`` has queries that are compared.
        ResultError, QueryMismatchError: as ``compare_benchmark``, for ``dev``.
    """
    rows = dict(results)
    if (choose is None) != (dev is None):
        raise SettingError("choose= and dev= belong together: a row is chosen on other queries")
    if choose is None:
        return rows, {}
    if not isinstance(choose, Mapping) or not all(
        isinstance(names, Sequence) and not isinstance(names, str) and names
        for names in choose.values()
    ):
        msg = f"choose must be {{name of a row: [systems]}}, not {shown(choose)}"
        raise SettingError(msg)
    on_dev, chosen = results_by_system(dev), {}
    taken = {baseline} - choose.keys()
    for name, systems in choose.items():
        # Not among the rows: an earlier one may have taken the name of a system.
        free = (results.keys() & on_dev.keys()) - taken
        if unknown := [system for system in systems if system not in free]:
            msg = (
                f"{name} is chosen from {first_few(unknown)}: not in results and dev, in another "
                "row, or the baseline"
            )
            raise SettingError(msg)
        if name in rows and name not in systems:
            msg = f"the row {shown(name)} has the name of another system"
            raise SettingError(msg)
        taken |= {*systems}
        candidates = {system: on_dev[system] for system in systems}
        check_other_queries(candidates, results)
        with about(f"dev of {name}"):
            datasets, _ = shared_datasets(results_by_system(candidates), on)
            strata = [stratum_of(dataset, candidates, measure, on) for dataset in datasets]
        units, scale = mean_scores(strata, tuple(candidates)), strata[0].scale
        gains = {x: scale.gains(sum(unit.means[x] for unit in units)) for x in candidates}
        best = max(gains, key=gains.__getitem__)
        chosen[name] = ChosenRow(system=best, of=len(candidates), datasets=tuple(datasets))
        rows = {
            name if system == best else system: of_system
            for system, of_system in rows.items()
            if system == best or system not in candidates
        }
    return rows, chosen
