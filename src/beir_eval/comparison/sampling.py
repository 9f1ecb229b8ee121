"""What a comparison takes as a sample: queries or clusters of them, repeats, chosen systems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.comparison.alignment import ROUNDING_TOLERANCE
from beir_eval.comparison.records import REPEATS
from beir_eval.core.arrays import is_iterable
from beir_eval.core.ids import checked_query_ids
from beir_eval.errors import (
    InputError,
    SettingError,
    check_choice,
    check_count,
    first_few,
    shown,
)
from beir_eval.evaluation.result import EvaluationResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from beir_eval.comparison.alignment import AlignedScores


def checked_deterministic(names: Iterable[str], systems: Iterable[str]) -> tuple[str, ...]:
    """Return the names of deterministic systems.

    Args:
        names: the names.
        systems: those of all systems.

    Raises:
        SettingError: the names are a text, or one of them is no system.
    """
    known = list(systems)
    if isinstance(names, str) or not is_iterable(names):
        msg = f"deterministic must be a list of names, such as {known[:1]}, not {shown(names)}"
        raise SettingError(msg)
    listed = tuple(names)
    unknown = [name for name in listed if name not in known]
    if unknown:
        msg = (
            f"deterministic names {first_few(map(str, unknown))}, which is no system; there are "
            f"{first_few(known)}"
        )
        raise SettingError(msg)
    return listed


def check_deterministic(aligned: AlignedScores, deterministic: Sequence[str]) -> None:
    """Raise SettingError if the repeats of a deterministic system have different scores."""
    for scores in aligned.by_measure:
        for system, repeats in zip(scores.systems, scores.repeats, strict=True):
            spread = np.nanmax(np.ptp(repeats, axis=0), initial=0.0)
            if system in deterministic and spread > ROUNDING_TOLERANCE * np.nanmax(np.abs(repeats)):
                msg = (
                    f"deterministic names {shown(system)}, but its repeats have different "
                    f"{scores.measure}; leave it out of deterministic"
                )
                raise SettingError(msg)


def choose_repeats(
    repeats: str | None,
    counts: Mapping[str, int],
    deterministic: Sequence[str],
    num_compared: int,
) -> str:
    """Return what the repeats of systems are; the default if ``repeats`` is None.

    Args:
        repeats: a value of ``records.REPEATS``, or None.
        counts: {system: number of its repeats}, candidates that are not compared last.
        deterministic: the systems whose repeats would all be equal.
        num_compared: the number of systems that are compared.

    Raises:
        SettingError: the value does not exist, or the systems have too few repeats for it.
    """
    noisy = {name: count for name, count in counts.items() if name not in deterministic}
    single = [name for name, count in noisy.items() if count == 1]
    if repeats is None:
        compared = list(counts)[:num_compared]
        shown_ones = [name for name in compared if name in noisy]
        have_repeats = shown_ones and not any(name in single for name in shown_ones)
        if not have_repeats:
            return "averaged"
        repeats = "random"
    check_choice("repeats", repeats, REPEATS)
    if repeats == "averaged":
        return repeats
    if single:
        msg = (
            f"{first_few(single)}: one run shows nothing about the noise of repeats, which "
            f"repeats={repeats!r} needs. Give two or more, name deterministic systems with "
            "deterministic=, or choose repeats='averaged'"
        )
        raise SettingError(msg)
    if repeats == "paired" and len(set(noisy.values())) > 1:
        text = ", ".join(f"{name} {count}" for name, count in noisy.items())
        msg = (
            f"paired repeats must be equally many, but there are {text}; choose repeats='random' "
            "if they do not belong together"
        )
        raise SettingError(msg)
    return repeats


def number_of_candidates(chosen_from: Any, at_hand: int, compared: int) -> int | None:
    """Return from how many candidates systems were chosen; None if they were not.

    Args:
        chosen_from: a number, or candidates.
        at_hand: the number of candidates whose results are at hand.
        compared: the number of systems that are compared with the baseline.

    Raises:
        SettingError: the number is none, or smaller than that of the systems compared.
    """
    if chosen_from is None:
        return None
    if is_iterable(chosen_from) and not isinstance(chosen_from, str):
        return at_hand
    check_count("chosen_from", chosen_from)
    number = int(chosen_from)
    if number < compared:
        msg = (
            f"chosen_from={number} is below the {compared} systems that are compared with the "
            "baseline; count all candidates, those compared among them"
        )
        raise SettingError(msg)
    return number


def other_candidates(
    chosen_from: Any,
    systems: Mapping[str, Any],
    baseline: str | None,
    repeats_of: Callable[[Any], dict[str, Any]],
) -> dict[str, Any]:
    """Return {name: repeats} of the candidates that are not compared.

    Args:
        chosen_from: a number, candidates, or None.
        systems: the systems that are compared, {name: repeats}.
        baseline: the system that the others are compared with.
        repeats_of: returns {name: repeats} of candidates.

    Raises:
        SettingError: there is no baseline, or a system that is compared is no candidate.
    """
    if chosen_from is None:
        return {}
    if baseline is None:
        msg = "chosen_from says that systems were chosen; name the baseline to compare them with"
        raise SettingError(msg)
    if isinstance(chosen_from, str) or not is_iterable(chosen_from):
        return {}
    candidates = repeats_of(chosen_from)
    missing = [name for name in systems if name != baseline and name not in candidates]
    if missing:
        msg = (
            f"chosen_from lacks {first_few(missing)}: give all candidates, those compared among "
            f"them; it has {first_few(candidates)}"
        )
        raise SettingError(msg)
    different = [
        name
        for name, many in candidates.items()
        if name in systems
        and name != baseline
        # Runs have no equality; those that are compared are the ones that count.
        and isinstance(many[0], EvaluationResult)
        and many != systems[name]
    ]
    if different:
        msg = f"chosen_from has other repeats or scores of {first_few(different)} than are compared"
        raise SettingError(msg)
    return {name: many for name, many in candidates.items() if name not in systems}


def checked_clusters(clusters: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Return {query_id: label} of the clusters of related queries.

    Args:
        clusters: {query_id: label}, the labels text or whole numbers; or None.

    Raises:
        InputError: they are no such mapping.
    """
    if clusters is None:
        return None
    if not isinstance(clusters, Mapping):
        msg = f"clusters must be {{query_id: label}}, not {shown(clusters)}"
        raise InputError(msg)
    query_ids = checked_query_ids(clusters, "clusters", InputError)
    labels = {}
    for query_id, label in zip(query_ids, clusters.values(), strict=True):
        is_label = isinstance(label, (str, int, np.integer)) and not isinstance(label, bool)
        if not is_label or label == "":
            msg = (
                f"clusters: query {shown(query_id)} has {shown(label)}; the label of a cluster is "
                "text or a whole number"
            )
            raise InputError(msg)
        labels[query_id] = str(label)
    return labels
