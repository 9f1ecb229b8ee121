"""The document of a comparison: verdicts, tables, at most six sentences, and the details."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from beir_eval.comparison.compared import lost_and_gained
from beir_eval.comparison.coverage import missing_note, warnings_of
from beir_eval.comparison.limits import cautions_on, chance_table, method_notes, sample_text
from beir_eval.comparison.tables import (
    EVIDENCE_COLUMNS,
    JUDGED_TITLE,
    evidence_cells,
    first_of,
    in_shown_order,
    is_ranked,
    judged_table,
    judged_texts,
    likeness_table,
    pair_label,
    pairs_table,
    shown_differences,
    systems_text,
    to_table,
)
from beir_eval.comparison.verdict_sentences import (
    common_headlines,
    evidence_notes,
    headlines,
    interval_heading,
    left_out_notes,
    measure_text,
    not_excluded_text,
    one_digit,
    queries_text,
    rounded_up_text,
    source_notes,
    too_small_margin_texts,
    unit_of,
    verdicts_of,
)
from beir_eval.display.document import Document, Sentence
from beir_eval.display.tables import (
    NONE,
    UNKNOWN,
    Cell,
    Table,
    first_that_fits,
    score_text,
    without_repeated_columns,
)
from beir_eval.errors import number_of
from beir_eval.evaluation.depths import compares_depths, unequal_depths_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from beir_eval.comparison.compared import Compared, ComparedT
    from beir_eval.comparison.records import Difference, QueryDifference

#: Headings of columns.
DIFFERENCE, _JUDGED = "difference", "judged"
#: That of p, and of p that is corrected.
_P = ("p", "adj. p")
#: What a column of the evidence is.
_EFFECT = (
    "effect: d_z, the mean difference divided by the standard deviation of the differences by query"
)
#: How many sentences follow the tables, and how many of those that change no meaning.
_MOST_SENTENCES, _MOST_FURTHER = 6, 3
#: How much of the text of a query is shown.
_QUERY_LENGTH = 40


class _Ranked(NamedTuple):
    """A sentence, and how important it is: of those above 0, the ones with the lowest are kept."""

    importance: int
    text: str


def document_of(comparison: Compared, queries: Mapping[str, str] | None = None) -> Document:
    """Return what a comparison shows.

    Args:
        comparison: the comparison.
        queries: {query_id: text}, to name the queries that lost and gained most by their texts.
    """
    ranked = list(dict.fromkeys(_ranked_sentences(comparison, queries or {})))
    num_must = sum(not sentence.importance for sentence in ranked)
    most = min(num_must + _MOST_FURTHER, _MOST_SENTENCES)
    kept = sorted(ranked, key=lambda sentence: sentence.importance)[:most]
    texts = [sentence.text for sentence in ranked if sentence in kept]
    others = [sentence.text for sentence in ranked if sentence not in kept]
    measures = comparison.measures
    unequal = unequal_depths_text(measures, comparison.deepest_rankings)
    if not is_ranked(comparison):
        tables = narrow_tables([systems_columns(comparison, measure) for measure in measures])
    elif len(measures) > 1:
        tables = [to_table(comparison)]
    else:
        tables = narrow_tables([_ranked_columns(comparison)])
    return Document(
        heading="Comparison",
        warnings=[*filter(None, [unequal]), *warnings_of(comparison.coverage)],
        sentences=_verdicts(comparison),
        tables=tables,
        notes=[text if text.endswith((".", "?")) else f"{text}." for text in texts],
        details=lambda: _details(comparison, others),
    )


def of_measures(comparison: ComparedT, measures: Sequence[str]) -> ComparedT:
    """Return a comparison of some of its measures, for a screen."""
    common = comparison.on_common_queries
    differences, common_differences = (
        tuple(pair for pair in pairs if pair.measure in measures)
        for pairs in (comparison.differences, () if common is None else common.differences)
    )
    if common is not None:
        common = common.model_copy(update={"differences": common_differences})
    update = {"measures": tuple(measures), "differences": differences, "on_common_queries": common}
    return comparison.model_copy(update=update)


def _verdicts(comparison: Compared) -> list[Sentence]:
    """Return the verdicts; over the queries that all systems have too, if these are others."""
    common, depths = comparison.on_common_queries, comparison.deepest_rankings
    pairs_of: dict[tuple[str, str], list[Difference]] = {}
    depending = []
    for measure in comparison.measures:
        pairs = [pair for pair in comparison.differences if pair.measure == measure]
        ending = ""
        most = max(pair.num_queries for pair in pairs)
        if common is not None and (missing := most - common.num_queries) > 0:
            ending = f", with {number_of(missing, 'query')} missing"
            on_common = [pair for pair in common.differences if pair.measure == measure]
            if on_common and _are_others(comparison, pairs, on_common):
                ending = f"; this depends on {number_of(missing, 'missing query')}"
                depending.append(measure)
        if compares_depths(measure, depths):
            shallowest = min(depths, key=depths.__getitem__)
            ending += " and" if ending.startswith(", with") else ", with"
            ending += f" only {depths[shallowest]:,} documents of {shallowest}"
        where = f", {sample_text(comparison, measure)}"
        pairs_of.setdefault((where, ending), []).extend(pairs)
    sentences = [
        Sentence(f"{text}{ending}", "undecided" if ending.startswith(";") else verdict)
        for (where, ending), pairs in pairs_of.items()
        for text, verdict in headlines(comparison, pairs, where)
    ]
    return [*sentences, *common_headlines(comparison, depending)]


def _are_others(
    comparison: Compared, pairs: Sequence[Difference], on_common: Sequence[Difference]
) -> bool:
    """Return whether the verdicts on a measure are others over the queries that all have."""
    if is_ranked(comparison):  # a sentence on the best of all
        baseline, margin = comparison.baseline, comparison.settings.margin
        texts = {verdicts_of(of_pairs, baseline, margin).text for of_pairs in (pairs, on_common)}
        return len(texts) > 1
    return [pair.verdict for pair in pairs] != [pair.verdict for pair in on_common]


def _details(comparison: Compared, others: Sequence[str]) -> Iterator[Document]:
    """Yield the evidence, judged documents, likeness, what p covers, and the method.

    Args:
        comparison: the comparison.
        others: the sentences for which there was no room above.
    """
    settings, pairs = comparison.settings, shown_differences(comparison)
    beside = () if is_ranked(comparison) else ("difference", "interval", "verdict")
    columns = [name for name in EVIDENCE_COLUMNS if name not in beside]
    tables = []
    for measure in comparison.measures:
        of_measure = [pair for pair in pairs if pair.measure == measure]
        table = pairs_table(of_measure, settings, comparison.num_comparisons, columns)
        tables.append(_with_pairs(comparison, Table((measure, *table.header[1:]), table.rows)))
    notes = [_EFFECT, *evidence_notes(pairs, settings.margin)]
    yield _compact("The evidence", tables, notes)
    if judged := judged_table(comparison):
        yield Document(heading=JUDGED_TITLE, tables=[judged])
    if comparison.likeness:
        heading = f"Ranking similarity of the first {comparison.likeness[0].k} documents"
        yield _compact(heading, [_with_pairs(comparison, likeness_table(comparison.likeness))])
    yield Document(heading="What the p-value covers", tables=[chance_table(comparison)])
    yield Document(heading="Method", notes=[*others, *method_notes(comparison)])


def _with_pairs(comparison: Compared, table: Table) -> Table:
    """Return a table with the first columns system and against, for all pairs with one of both.

    The pairs are named by the ranks of the systems: a table that is split would show rows with
    the same system.
    """
    if not is_ranked(comparison):
        return table
    rows = [
        (pair_label(comparison, str(system), str(against)), *cells)
        for system, against, *cells in table.rows
    ]
    return Table((table.header[0], *table.header[2:]), rows)


def _compact(heading: str, tables: Sequence[Table], notes: Iterable[str] = ()) -> Document:
    """Return tables without the columns that have one value in all rows, which a note names."""
    shown, left_out = without_repeated_columns(tables, tables[0].header[1:])
    values = "; ".join(f"{name} = {value}" for name, value in left_out.items() if value != UNKNOWN)
    repeated = [f"in every row: {values}"] if values else []
    return Document(heading=heading, tables=shown, notes=[*repeated, *notes])


# Tables


#: {heading: the cells of a column}.
Columns: TypeAlias = "dict[str, Sequence[str | Cell]]"


def systems_columns(comparison: Compared, measure: str) -> Columns:
    """Return a row for each system, against the same other system."""
    pairs = {pair.system: pair for pair in comparison.differences if pair.measure == measure}
    evidence = [
        evidence_cells(pairs[system]) if system in pairs else ("", "", "", "baseline")
        for system in in_shown_order(comparison, measure)
    ]
    settings, number = comparison.settings, comparison.num_comparisons
    p = _P[1] if settings.correction != "none" and number > 1 else _P[0]
    headings = (DIFFERENCE, interval_heading(settings, number), p, "verdict")
    columns = columns_of_means(comparison, measure)
    columns |= zip(headings, zip(*evidence, strict=True), strict=True)
    if {pair.verdict for pair in pairs.values()} == {"identical"}:
        columns = {name: columns[name] for name in columns if name not in headings[1:3]}
    return columns


def columns_of_means(comparison: Compared, measure: str) -> Columns:
    """Return the names, means and judged shares of systems, and in what they differ."""
    systems = in_shown_order(comparison, measure)
    is_higher_better = first_of(comparison, measure).higher_is_better
    means = {mean.system: mean.mean for mean in comparison.means if mean.measure == measure}
    columns: Columns = {
        measure_text(measure, higher_is_better=is_higher_better): systems,
        "mean": [score_text(means[system]) for system in systems],
    }
    if comparison.on_common_queries is not None:
        columns["answered"] = [_queries_of(comparison, system) for system in systems]
    depths = comparison.deepest_rankings
    if compares_depths(measure, depths):
        columns["depth"] = [f"{depths[system]:,}" if system in depths else "" for system in systems]
    if shares := judged_texts(comparison, measure, systems):
        columns[_JUDGED] = shares
    first = {system: repeats[0] for system, repeats in comparison.results.items()}
    chunks = {
        system: f"{result.counted.text.mean_chunk:,.0f}"
        for system, result in first.items()
        if result.counted is not None and result.counted.text is not None
    }
    times = {
        system: f"{1000 * retrieval.p50:,.1f}"
        for system, result in first.items()
        if (retrieval := result.retrieval) is not None and retrieval.seconds
    }
    for heading, texts in (("length", chunks), ("ms/query", times)):
        if texts:
            columns[heading] = [texts.get(system, UNKNOWN) for system in systems]
    return columns


def _queries_of(comparison: Compared, system: str) -> str:
    """Return how many queries a system has; of repeats that differ, from the fewest on."""
    total = len(comparison.query_ids)
    missing = [known.queries_missing for known in comparison.coverage if known.system == system]
    numbers = {total - number for number in missing}
    if len(missing) < len(comparison.results.get(system, ())):
        numbers.add(total)
    return "\u2013".join(f"{number:,}" for number in sorted({min(numbers), max(numbers)}))


def narrow_tables(tables: Sequence[Columns]) -> list[Table]:
    """Return tables that fit a terminal, if they can.

    If one is too wide, all have a shorter heading of the difference, then no p, then no judged
    shares, which are in the details.

    Args:
        tables: the columns of each, the names of the systems first.
    """

    def version(*left_out: str) -> Iterator[Table]:
        for columns in tables:
            kept = {
                "diff." if name in left_out else name: cells
                for name, cells in columns.items()
                if name not in left_out or name == DIFFERENCE
            }
            yield Table(tuple(kept), list(zip(*kept.values(), strict=True)))

    steps = ((), (DIFFERENCE,), (DIFFERENCE, *_P), (DIFFERENCE, *_P, _JUDGED))
    return list(first_that_fits([*version(*left_out)] for left_out in steps))


def _ranked_columns(comparison: Compared) -> Columns:
    """Return a row for each system, and which others it is worse and better than."""
    [measure] = comparison.measures
    label, *further = (columns := columns_of_means(comparison, measure))
    systems = columns[label]
    is_by_mean = systems == in_shown_order(comparison, by_step=False)
    number = "rank" if is_by_mean else "no."
    ranks = list(map(str, range(1, len(systems) + 1)))
    columns = {label: systems, number: ranks, **{name: columns[name] for name in further}}
    for verdict in ("worse", "better") if _has_decided(comparison) else ():
        texts = [systems_text(comparison, measure, str(system), verdict) for system in systems]
        columns[f"{verdict} than"] = [
            f"{number} {text}".replace(",", ", ").replace("-", " to ") if text else NONE
            for text in texts
        ]
    return columns


def _has_decided(comparison: Compared) -> bool:
    """Return whether a system is better than another one."""
    return any(pair.verdict in ("better", "worse") for pair in comparison.differences)


# Sentences


def _ranked_sentences(comparison: Compared, queries: Mapping[str, str]) -> Iterator[_Ranked]:
    """Yield what follows the tables, in the order in which it is read."""
    common, number = comparison.on_common_queries, len(comparison.measures)
    settings, compared = comparison.settings, comparison.num_comparisons
    complete = (
        "Complete the runs, or compare on the {:,}, which may be the easier ones: missing='skip' "
        "with on='intersection'"
    )
    marks = "Only the last two columns are significant; the rest of the order may be chance"
    if number > 1:
        marks = "Behind a mean: > the numbers of the systems that it is significantly better than"
    each = " on each measure" if number > 1 else ""
    not_corrected = f"p is not corrected for {compared} comparisons{each}"
    not_of_test = "The intervals are not of the test: an interval and its verdict may disagree"
    chances = f"{number} measures, {number} chances of error: decide by the measure chosen before"
    parts: list[tuple[int, Iterable[str]]] = [
        (0, [pair.note for pair in comparison.differences if pair.note]),
        (0, left_out_notes(comparison.left_out)),
        (0, comparison.conventions),
        (0, [complete.format(common.num_queries)] if common and common.differences else []),
        (0, [not_corrected] if compared > 1 and settings.correction == "none" else []),
        (0, [not_of_test] if settings.interval != "test" else []),
        (0, cautions_on(comparison)),
        (1, _not_excluded_sentences(comparison)),
        (2, _query_sentences(comparison, queries)),
        (1, [marks] if is_ranked(comparison) and _has_decided(comparison) else []),
        (3, _power_sentences(comparison)),
        (4, source_notes(comparison.computed_elsewhere, comparison.custom_measures)),
        (0, [chances] if number > 1 else []),
    ]
    for importance, texts in parts:
        for text in texts:
            yield _Ranked(importance, text)


def _query_sentences(comparison: Compared, queries: Mapping[str, str]) -> Iterator[str]:
    """Yield on which queries the second of two systems loses and gains most."""
    if len(comparison.systems) != 2:  # noqa: PLR2004 - a pair
        return

    def named(change: QueryDifference) -> str:
        text = " ".join(queries.get(change.query_id, "").split())
        shown = f"{text[: _QUERY_LENGTH - 1]}…" if len(text) > _QUERY_LENGTH else text
        quoted = f' "{shown}"' if shown else ""
        missing = ""
        if comparison.on_common_queries is not None:
            missing = missing_note(change.query_id, comparison.systems, comparison.results)
        return f"{change.query_id}{quoted} ({change.difference:+.2f}{missing})"

    first = comparison.differences[0]
    lost, gained = lost_and_gained(comparison, first.measure, first.system, first.against)
    if lost or gained:
        loses = f"loses most on {named(lost[0])}" if lost else "loses on no query"
        gains = f"gains most on {named(gained[0])}" if gained else "gains on none"
        measure = f" ({first.measure})" if len(comparison.measures) > 1 else ""
        yield f"{first.system} {loses}, {gains}{measure}"


def _power_sentences(comparison: Compared) -> Iterator[str]:
    """Yield what so many queries would have shown about the undecided differences."""
    lacking = set()  # queries that count as 0 are no part of what complete runs would show
    if comparison.on_common_queries is not None:
        lacking = {known.system for known in comparison.coverage if known.queries_missing}
    undecided = [
        pair
        for pair in comparison.differences
        if pair.verdict == "undecided"
        and pair.num_differing
        and not lacking & {pair.system, pair.against}
    ]
    are_several = len(comparison.measures) > 1
    if is_ranked(comparison):
        return
    if len(undecided) == 1:
        [pair] = undecided
        is_only = comparison.num_comparisons == 1
        which = "this pair" if is_only else f"{pair.system} vs {pair.against}"
        if text := _power_text(pair, comparison.settings.margin, which):
            yield f"{pair.measure}: {text}" if are_several else f"{text[0].upper()}{text[1:]}"
        return
    for name in comparison.measures:
        pairs = [pair for pair in undecided if pair.measure == name]
        if known := [pair.detectable for pair in pairs if pair.detectable is not None]:
            size = one_digit(statistics.median(known))
            [pair, *_] = pairs
            counted = f"{pair.num_clusters or pair.num_queries:,} {unit_of(pair)}"
            of_measure = f"{name}: " if are_several else ""
            text = f"where undecided, {counted} can miss true differences below about {size}"
            yield f"{of_measure}{text}" if are_several else f"{text[0].upper()}{text[1:]}"


def _power_text(pair: Difference, margin: float, which: str) -> str:
    """Return which difference usually shows, and what it takes to show one of the margin.

    If the interval lies inside the margin: that so few queries cannot show equality. Why nothing is
    known, if power is not; "" for nothing to say.
    """
    if -margin < pair.low and pair.high < margin:
        for text in too_small_margin_texts([pair], margin):
            return text
    if pair.detectable is None:
        return pair.power_note
    unit, number = unit_of(pair), pair.num_clusters or pair.num_queries
    need = f"; showing one of {margin:g} takes {queries_text(pair, margin)}"
    if pair.repeat_variance and pair.queries_high is None:
        need = f"; showing one of {margin:g} may take more repeats, not only more {unit}"
    elif pair.detectable <= margin:
        need = ""
    repeats = "" if pair.repeat_variance is None else " and these repeats"
    return (
        f"for {which}, {number:,} {unit}{repeats} can usually show a difference of about "
        f"{one_digit(pair.detectable)}{need}"
    )


def _not_excluded_sentences(comparison: Compared) -> Iterator[str]:
    """Yield what is not excluded where few queries differ: of one pair, or the largest sizes."""
    pairs = [pair for pair in comparison.differences if not_excluded_text(pair)]
    if len(comparison.differences) > 1:
        largest: dict[str, float] = {}
        for pair in pairs:
            size = max(pair.loss_not_excluded or 0.0, pair.gain_not_excluded or 0.0)
            largest[pair.measure] = max(size, largest.get(pair.measure, 0.0))
        if largest:
            few = any(pair.num_differing for pair in pairs)
            differ = f"few {unit_of(pairs[0])} differ" if few else "no query differs"
            sizes = [f"{rounded_up_text(size)} ({name})" for name, size in largest.items()]
            yield f"Where {differ}, true differences of up to {', '.join(sizes)} are not excluded"
        return
    for pair in pairs:
        sentence = not_excluded_text(pair)
        if pair.num_differing:
            sentence = f"few {unit_of(pair)} differ, so {sentence}"
        for alike in comparison.likeness or ():
            if pair.verdict == "identical" and (alike.overlap, alike.kendall_distance) == (1, 0):
                sentence = f"the first {alike.k} documents are the same, too: is it the same file?"
        yield f"{sentence[0].upper()}{sentence[1:]}"
