"""Cautions: sentences on what makes systems hard to compare, for readers of the verdicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from beir_eval.comparison.tables import judged_shares
from beir_eval.comparison.verdict_sentences import some_of
from beir_eval.display.tables import score_text
from beir_eval.errors import number_of
from beir_eval.evaluation.depths import (
    SHALLOW_PART,
    compares_depths,
    judged_depth,
    unequal_depths_text,
)
from beir_eval.measures.names import registered
from beir_eval.measures.registry import JUDGED_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.comparison.compared import Compared

#: A judged share is low if it is below this part of the highest, and this much lower.
_LOW_PART, _LOWER_BY = 0.75, 0.1
#: All documents of a system are judged, and of another system this share is not.
_LEAST_GAP = 0.1
#: Fewer documents, or those of fewer queries, may all be judged by chance.
_LEAST_DOCUMENTS, _LEAST_QUERIES = 30, 6
#: The share of queries without a relevant document that is reported.
_LARGE_SHARE = 0.1


def cautions_on(comparison: Compared) -> list[str]:
    """Return the cautions on the systems of a comparison; mostly an empty list.

    They are about queries without relevant documents or without a score of a system, repeats of
    some systems only or all the same, systems of which every document is judged, rankings of
    different depths, judged shares that differ much, and ties that decide scores. Without the
    results and the runs, little is known.
    """
    # Rankings without their unjudged documents are shorter too; so are the first few of a ranking,
    # which may all be judged.
    only_judged = list(_only_judged(comparison))
    unequal = unequal_depths_text(comparison.measures, comparison.deepest_rankings)
    depths = [*filter(None, [unequal]), *only_judged]
    if not only_judged:
        depths += _depth_cautions(comparison)
    # Of deeper rankings a smaller share is judged, whatever their quality.
    shares = () if depths else judged_cautions(comparison)
    return [
        *_without_relevant(comparison),
        *_undefined_scores(comparison),
        *_repeats_cautions(comparison),
        *depths,
        *shares,
        *_tie_cautions(comparison),
    ]


def _without_relevant(comparison: Compared) -> Iterator[str]:
    """Yield a sentence if many queries have no relevant document, and so no difference."""
    without = max(
        (
            len(result.counted.queries_without_relevant)
            for result, *_ in comparison.results.values()
            if result.counted and result.settings and result.settings.no_relevant == "zero"
        ),
        default=0,
    )
    total = len(comparison.query_ids)
    if without >= _LARGE_SHARE * total:
        yield (
            f"{without:,} of {total:,} queries have no relevant document: every system scores the "
            "same on them, which makes means and differences smaller. no_relevant='skip' leaves "
            "them out"
        )


def _undefined_scores(comparison: Compared) -> Iterator[str]:
    """Yield a sentence for each measure that is undefined for more queries of some systems."""
    for measure in comparison.measures:
        counts = np.isnan(comparison.scores[measure].array).sum(axis=1).tolist()
        named = [
            f"{count:,} of {system}"
            for system, count in zip(comparison.systems, counts, strict=True)
            if count > min(counts)
        ]
        if named:
            yield (
                f"{measure} is undefined for some of the {len(comparison.query_ids):,} queries "
                f"({some_of(named)}), and these are left out of all systems"
            )


def _repeats_cautions(comparison: Compared) -> Iterator[str]:
    """Yield which repeats are averaged because others are missing, and which are all the same."""
    settings = comparison.settings
    counts = {
        mean.system: mean.repeats
        for mean in comparison.means
        if mean.system not in settings.deterministic
    }
    single = [system for system, count in counts.items() if count == 1]
    others = [system for system, count in counts.items() if count > 1]
    if single and others and not settings.has_random_repeats:
        has = "has one run" if len(single) == 1 else "have one run each"
        yield (
            f"{some_of(single)} {has}, so the repeats of {some_of(others)} are averaged and the "
            "verdicts do not cover their noise. If further runs would be the same, name the system "
            "with deterministic="
        )
    scores = {
        system: [(repeat.query_ids, repeat.values) for repeat in comparison.results.get(system, ())]
        for system in others
    }
    equal = [
        system
        for system, (first, *further) in scores.items()
        if all(repeat == first for repeat in further)
    ]
    if equal:
        yield (
            f"all repeats of {some_of(equal)} have the same scores on every query, so they show no "
            "noise: were they made with one seed? If repeats cannot differ, name the system with "
            "deterministic="
        )


def _only_judged(comparison: Compared) -> Iterator[str]:
    """Yield a sentence on systems of which every document is judged, unlike those of others."""
    measure = next(map(registered, filter(counts_unjudged, comparison.measures)), None)
    shares = {
        system: counted.documents_judged / counted.documents_retrieved
        for system, repeats in comparison.results.items()
        if (counted := repeats[0].counted) is not None
        and counted.queries_retrieved >= _LEAST_QUERIES
        and counted.documents_retrieved >= _LEAST_DOCUMENTS
    }
    judged = [system for system, share in shares.items() if share == 1]
    lowest = min(shares, key=shares.__getitem__, default="")
    if measure is not None and judged and shares[lowest] <= 1 - _LEAST_GAP:
        yield (
            f"at any rank, every document of {some_of(judged)} is judged, and of {lowest} "
            f"{shares[lowest]:.0%} are: unjudged documents were removed, or this ranking was "
            "judged. Unjudged documents count as not relevant, so rankings without any have an "
            f"advantage. Leave them out of all systems, with {measure(judged_only=True)}"
        )


def _depth_cautions(comparison: Compared) -> Iterator[str]:
    """Yield which cutoffs no ranking reaches, then down to which some have fewer documents.

    Measures of systems whose longest rankings differ have a sentence of their own.
    """
    depths = comparison.deepest_rankings
    cutoffs = {
        name: measure.cutoff
        for name in comparison.measures
        if (measure := registered(name)) is not None and not compares_depths(name, depths)
    }
    deepest = max(depths.values(), default=0)
    unreached = [name for name, cutoff in cutoffs.items() if (cutoff or 0) > deepest]
    if unreached and deepest and len(depths) == len(comparison.systems):
        yield (
            f"no ranking has more than {deepest:,} documents, so {', '.join(unreached)} "
            f"{'sees' if len(unreached) == 1 else 'see'} only these"
        )
    depths_by_cutoff: dict[int, dict[str, float]] = {}
    for system, repeats in comparison.results.items():
        counted = repeats[0].counted
        for cutoff, mean_depth in ({} if counted is None else counted.mean_depths).items():
            depths_by_cutoff.setdefault(cutoff, {})[system] = mean_depth
    for cutoff, mean_depths in depths_by_cutoff.items():
        measures = [name for name, of_measure in cutoffs.items() if of_measure == cutoff]
        best = max(mean_depths, key=mean_depths.__getitem__)
        shallow = [
            f"{system} {_depth_text(depth)}"
            for system, depth in mean_depths.items()
            if depth < SHALLOW_PART * mean_depths[best]
        ]
        if measures and shallow:
            yield (
                f"documents in the top {cutoff}, mean over queries: {some_of(shallow)}, but "
                f"{best} {_depth_text(mean_depths[best])}. {', '.join(measures)} "
                f"{'counts' if len(measures) == 1 else 'count'} what is not retrieved as not "
                "relevant: compare rankings of equal depth, or a smaller cutoff"
            )


def _depth_text(mean_depth: float) -> str:
    """Return a mean number of documents as text, with at most one decimal.

    >>> _depth_text(100.0), _depth_text(84.63)
    ('100', '84.6')
    """
    return f"{mean_depth:.1f}".removesuffix(".0")


def judged_cautions(comparison: Compared) -> Iterator[str]:
    """Yield a sentence on systems of which far fewer documents are judged than of another.

    It is about the first measure: the documents down to its cutoff. Below 75% of the highest share,
    and 10 points below it, a share is low.
    """
    measure = comparison.measures[0]
    shares = judged_shares(comparison, measure)
    if not shares or not counts_unjudged(measure):
        return
    best = max(shares, key=shares.__getitem__)
    limit = min(_LOW_PART * shares[best], shares[best] - _LOWER_BY)
    low = [f"{share:.0%} of {system}" for system, share in shares.items() if share < limit]
    depth = judged_depth(measure)
    where = "retrieved documents" if depth is None else f"documents in the top {depth}"
    if low:
        yield (
            f"few {where} are judged: {some_of(low)}, but {shares[best]:.0%} of {best}. Unjudged "
            "documents count as not relevant, so scores may be too low where few are judged; or "
            "the ranking has a fault, which beir-eval validate may find"
        )


def counts_unjudged(measure: str) -> bool:
    """Return whether a measure of this package counts unjudged documents as not relevant."""
    parsed = registered(measure)
    return (
        parsed is not None
        and parsed.definition.unjudged == "not relevant"
        and (JUDGED_ONLY, True) not in parsed.parameters
    )


def _tie_cautions(comparison: Compared) -> Iterator[str]:
    """Yield a sentence on systems whose mean ties move by more than the margin."""
    wide = [
        f"{ties.system} scores {score_text(ties.low)} to {score_text(ties.high)}"
        for ties in comparison.ties
        if ties.measure == comparison.measures[0]
        and ties.high - ties.low > comparison.settings.margin
    ]
    measure = f" on {comparison.measures[0]}" if len(comparison.measures) > 1 else ""
    if wide:
        yield f"Ties: {some_of(wide)}{measure}, depending on how ties are broken"


def ignored_queries(comparison: Compared) -> Iterator[str]:
    """Yield that queries of all runs are not judged, unless a warning on missing ones says so."""
    counts = [
        None if result.counted is None else result.counted.queries_not_judged
        for result, *_ in comparison.results.values()
    ]
    missing = any(coverage.queries_missing for coverage in comparison.coverage)
    if counts and not missing and (fewest := min(count or 0 for count in counts)):
        have = "has no judgements and is" if fewest == 1 else "have no judgements and are"
        yield f"{number_of(fewest, 'query')} of the runs {have} left out"
