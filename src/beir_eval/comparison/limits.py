"""What limits a comparison: what p does not cover, and what makes systems hard to compare."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from beir_eval.comparison.verdict_sentences import (
    intervals_text,
    queries_sample_text,
    some_of,
    test_text,
)
from beir_eval.display.tables import Table, score_text
from beir_eval.errors import number_of
from beir_eval.evaluation.depths import (
    SHALLOW_PART,
    compares_depths,
    judged_depth,
    judged_share,
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


# Cautions


def cautions_on(comparison: Compared) -> list[str]:
    """Return the cautions on the systems of a comparison; mostly an empty list.

    They are about queries without relevant documents or without a score of a system, repeats of
    some systems only or all the same, systems of which every document is judged, rankings of
    different depths, judged shares that differ much, and ties that decide scores. Without the
    results and the runs, little is known.
    """
    # Rankings without their unjudged documents are shorter too; so are the first few of a ranking,
    # which may all be judged.
    unequal = unequal_depths_text(comparison.measures, comparison.deepest_rankings)
    lengths = list(_only_judged(comparison)) or list(_depth_cautions(comparison))
    # Of deeper rankings a smaller share is judged, whatever their quality.
    shares = () if lengths or unequal else judged_cautions(comparison)
    first, *others = comparison.measures
    wide = [
        f"{ties.system} scores {score_text(ties.low)} to {score_text(ties.high)}"
        for ties in comparison.ties
        if ties.measure == first and ties.high - ties.low > comparison.settings.margin
    ]
    measure = f" on {first}" if others else ""
    moved = [f"Ties: {some_of(wide)}{measure}, depending on how ties are broken"] if wide else []
    return [
        *_queries_without_difference(comparison),
        *_repeats_cautions(comparison),
        *lengths,
        *shares,
        *moved,
    ]


def _queries_without_difference(comparison: Compared) -> Iterator[str]:
    """Yield that many queries have no relevant document, and which have no score of some system."""
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
    for measure in comparison.measures:
        counts = np.isnan(comparison.scores[measure].array).sum(axis=1).tolist()
        named = [
            f"{count:,} of {system}"
            for system, count in zip(comparison.systems, counts, strict=True)
            if count > min(counts)
        ]
        if named:
            yield (
                f"{measure} is undefined for some of the {total:,} queries "
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
    if single and others and settings.repeats == "averaged":
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
    shares = {
        system: counted.documents_judged / counted.documents_retrieved
        for system, repeats in comparison.results.items()
        if (counted := repeats[0].counted) is not None
        and counted.queries_retrieved >= _LEAST_QUERIES
        and counted.documents_retrieved >= _LEAST_DOCUMENTS
    }
    judged = [system for system, share in shares.items() if share == 1]
    lowest = min(shares, key=shares.__getitem__, default="")
    if not judged or shares[lowest] > 1 - _LEAST_GAP:
        return
    measure = next(map(registered, filter(counts_unjudged, comparison.measures)), None)
    if measure is not None:
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
    measure, results = comparison.measures[0], comparison.results
    if registered(measure) is None:
        return
    depth = judged_depth(measure)
    known = {name: judged_share(results.get(name, ()), depth) for name in comparison.systems}
    shares = {system: share for system, share in known.items() if not math.isnan(share)}
    if not shares:
        return
    best = max(shares, key=shares.__getitem__)
    limit = min(_LOW_PART * shares[best], shares[best] - _LOWER_BY)
    low = [f"{share:.0%} of {system}" for system, share in shares.items() if share < limit]
    where = "retrieved documents" if depth is None else f"documents in the top {depth}"
    if low and counts_unjudged(measure):
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


# What p covers


class Chance(NamedTuple):
    """A source of chance, and whether p covers it.

    Attributes:
        source: its name, such as "queries".
        text: what p takes for granted, with the setting or the command that covers it.
        in_p: whether p covers it.
    """

    source: str
    text: str
    in_p: bool = False


def chances_of(comparison: Compared) -> list[Chance]:
    """Return all sources of chance of a comparison, each with whether p covers it."""
    number, correction = comparison.num_comparisons, comparison.settings.correction
    comparisons = "one comparison"
    if number > 1:
        comparisons = f"{number} comparisons of a measure ({correction})"
        if correction == "none":
            comparisons = f"{number} comparisons, not corrected (else a correction)"
    queries, related = queries_sample_text(comparison), "queries are unrelated (else clusters)"
    if comparison.clusters is not None:
        clusters = f"{len(set(comparison.clusters)):,} clusters"
        queries, related = clusters, f"{clusters} of {queries}"
    measures, num_measures = "one measure", len(comparison.measures)
    if num_measures > 1:
        measures = f"{num_measures} measures, not corrected: one of them decides"
    return [
        Chance("queries", f"a sample of {queries}", in_p=True),
        Chance("related queries", related, in_p=comparison.clusters is not None),
        _repeats(comparison),
        Chance("comparisons", comparisons, in_p=number == 1 or correction != "none"),
        Chance("measures", measures, in_p=num_measures == 1),
        Chance("judgements", "as they are: unjudged documents count as not relevant"),
        Chance("choice", "systems chosen without these scores (else other queries)"),
        Chance("repeated looks", "the first look at these queries"),
    ]


def chance_table(comparison: Compared) -> Table:
    """Return a table with a row for each source of chance: whether p covers it, and how."""
    rows = [
        (chance.source, "yes" if chance.in_p else "no", chance.text)
        for chance in chances_of(comparison)
    ]
    return Table(("chance from", "in p", "what is assumed"), rows)


def sample_text(comparison: Compared, measure: str) -> str:
    """Return what p is over on a measure, such as "43 queries and 3 repeats"."""
    sample = queries_sample_text(comparison, measure)
    if comparison.clusters is not None:
        sample = f"{len(set(comparison.clusters)):,} clusters of {sample}"
    return " and ".join(filter(None, [sample, _repeats_text(comparison)]))


def queries_only_note(sample: str = "queries") -> str:
    """Return what p accounts for, and what not, where it is over queries or data sets alone.

    Args:
        sample: what is a sample, such as "data sets".
    """
    return (
        f"p accounts for the sampling of {sample}, not for noise of training or repeats, the "
        "choice of the best system, or repeated looks"
    )


def _noisy_counts(comparison: Compared) -> list[int]:
    """Return the numbers of repeats of the systems whose repeats may differ."""
    deterministic = comparison.settings.deterministic
    counts = {mean.system: mean.repeats for mean in comparison.means}
    return [count for system, count in counts.items() if system not in deterministic]


def _repeats_text(comparison: Compared) -> str:
    """Return the number of repeats that are a sample in words; "" if none are."""
    settings = comparison.settings
    if settings.repeats == "averaged" or not (counts := _noisy_counts(comparison)):
        return ""
    kind = "pairs of repeats" if settings.repeats == "paired" else "repeats"
    low, high = min(counts), max(counts)
    return f"{low} {kind}" if low == high else f"{low} to {high} {kind}"


def _repeats(comparison: Compared) -> Chance:
    """Return the chance of repeats, such as the seeds of a training."""
    counts = _noisy_counts(comparison)
    if not counts:
        return Chance("repeats", "equal: all systems are deterministic", in_p=True)
    if max(counts) == 1:
        return Chance("repeats", "these runs only, one of each system (else repeats)")
    if sampled := _repeats_text(comparison):
        other = " other" if len(counts) < len(comparison.systems) else ""
        return Chance("repeats", f"a sample of {sampled} of each{other} system", in_p=True)
    return Chance("repeats", "these repeats only, averaged (else repeats)")


def _noise_sentences(comparison: Compared) -> Iterator[str]:
    """Yield how much noise of training would undo the weakest verdict, if one can be undone."""
    decided = [pair for pair in comparison.differences if pair.noise_to_undo is not None]
    if decided:
        weakest = min(decided, key=lambda pair: pair.noise_to_undo or 0.0)
        noise = "Any training noise"
        if weakest.noise_to_undo:
            noise = f"Training noise of SD {weakest.noise_to_undo:.2g} in each run"
        pair = f"{weakest.system} vs {weakest.against} on {weakest.measure}"
        yield f"{noise} would make {pair} undecided"


def method_notes(comparison: Compared) -> Iterator[str]:
    """Yield how the tests were made, which noise would undo a verdict, and the range of repeats."""
    settings, number = comparison.settings, comparison.num_comparisons
    correction = f", corrected by {settings.correction} over the {number} comparisons of a measure"
    yield (
        f"{queries_sample_text(comparison)}; {test_text(settings)}"
        f"{correction if number > 1 else ''}; better and worse at {settings.alpha:g}; "
        f"{intervals_text(settings, number)}"
    )
    counts = [
        0 if result.counted is None else result.counted.queries_not_judged or 0
        for result, *_ in comparison.results.values()
    ]
    if unjudged := min(counts, default=0):
        have = "has no judgements and is" if unjudged == 1 else "have no judgements and are"
        yield f"{number_of(unjudged, 'query')} of the runs {have} left out"
    yield from _noise_sentences(comparison)
    for mean in comparison.means:
        if mean.repeats > 1:
            yield (
                f"{mean.system}: the mean of {mean.repeats} repeats, whose {mean.measure} goes "
                f"from {score_text(mean.lowest)} to {score_text(mean.highest)}"
            )
