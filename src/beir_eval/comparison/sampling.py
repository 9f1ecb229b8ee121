"""What a comparison takes as a sample: queries or clusters of them, and repeats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.comparison.alignment import ROUNDING_TOLERANCE
from beir_eval.comparison.records import REPEATS
from beir_eval.core.arrays import is_iterable
from beir_eval.core.ids import checked_query_ids
from beir_eval.errors import InputError, SettingError, check_choice, first_few, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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
) -> str:
    """Return what the repeats of systems are; the default if ``repeats`` is None.

    Args:
        repeats: a value of ``records.REPEATS``, or None.
        counts: {system: number of its repeats}.
        deterministic: the systems whose repeats would all be equal.

    Raises:
        SettingError: the value does not exist, or the systems have too few repeats for it.
    """
    noisy = {name: count for name, count in counts.items() if name not in deterministic}
    single = [name for name, count in noisy.items() if count == 1]
    if repeats is None:
        repeats = "random" if noisy and not single else "averaged"
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
