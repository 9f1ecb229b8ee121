"""The document of a comparison: verdicts, tables, at most six sentences, and the details."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from beir_eval.comparison.cautions import cautions_on, ignored_queries
from beir_eval.comparison.chance import chance_table, likeness_notes, notes_of, sample_text
from beir_eval.comparison.coverage import warnings_of
from beir_eval.comparison.headlines import common_headlines, headline, headlines, join_names
from beir_eval.comparison.judged import JUDGED_TITLE, judged_table, judged_texts
from beir_eval.comparison.likeness import likeness_table
from beir_eval.comparison.tables import (
    evidence_table,
    in_shown_order,
    pair_label,
    shown_differences,
    systems_text,
    to_table,
)
from beir_eval.comparison.verdict_sentences import (
    MARKS_NOTE,
    RANKS_NOTE,
    are_simultaneous,
    evidence_notes,
    interval_cell_text,
    left_out_notes,
    measure_text,
    not_excluded_texts,
    p_text,
    percent_text,
    queries_text,
    rounded_up_text,
    signed_text,
    source_notes,
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
from beir_eval.evaluation.tables import compares_depths

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from beir_eval.comparison.compared import Compared, ComparedT
    from beir_eval.comparison.records import Difference, QueryDifference

#: Headings of columns.
DIFFERENCE, _JUDGED = "difference", "judged"
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
    tables = _main_tables(comparison)
    ranked = list(_ranked_sentences(comparison, queries or {}))
    must = [sentence for sentence in ranked if sentence.importance == 0]
    may = sorted(set(ranked) - set(must), key=ranked.index)
    further = sorted(may, key=lambda sentence: sentence.importance)[:_MOST_FURTHER]
    kept = [*must, *further][:_MOST_SENTENCES]
    return Document(
        heading="Comparison",
        warnings=warnings_of(comparison.coverage),
        sentences=_verdicts(comparison),
        tables=tables,
        notes=[_ended(sentence.text) for sentence in ranked if sentence in kept],
        details=lambda: _details(comparison, {sentence.text for sentence in kept}),
    )


def notes_on(comparison: Compared) -> list[str]:
    """Return notes on how to read the tables: tests, corrections, marks, limits."""
    return [*notes_of(comparison), *cautions_on(comparison), *likeness_notes(comparison)]


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
    common = comparison.on_common_queries
    measures_of: dict[tuple[str, str], list[str]] = {}
    depending = []
    for measure in comparison.measures:
        alone, ending = of_measures(comparison, [measure]), ""
        missing = 0
        if common is not None:
            missing = max(pair.num_queries for pair in alone.differences) - common.num_queries
        if missing > 0:
            queries = "query" if missing == 1 else "queries"
            ending = f", with {missing:,} {queries} missing"
            if _depends_on_missing(alone):
                ending = f"; this depends on {missing:,} missing {queries}"
                depending.append(measure)
        depths = comparison.deepest_rankings
        if compares_depths(measure, depths):
            lowest, highest = min(depths.values()), max(depths.values())
            ending += f", with rankings of {lowest:,} and {highest:,} documents"
        measures_of.setdefault((f", {sample_text(alone)}", ending), []).append(measure)
    sentences = [
        Sentence(f"{text}{ending}", "undecided" if ending.startswith(";") else verdict)
        for (where, ending), measures in measures_of.items()
        for text, verdict in headlines(of_measures(comparison, measures), where)
    ]
    if common is not None and not common.differences:  # too few queries
        return [*sentences, *common_headlines(comparison)]
    return sentences + (common_headlines(of_measures(comparison, depending)) if depending else [])


def _depends_on_missing(comparison: Compared) -> bool:
    """Return whether the verdicts on a measure are others over the queries that all have."""
    common = comparison.on_common_queries
    if common is None or not common.differences:
        return False
    if is_ranked(comparison):  # a sentence on the best of all
        over_common = comparison.model_copy(update={"differences": common.differences})
        return headline(comparison).text != headline(over_common).text
    return [pair.verdict for pair in comparison.differences] != [
        pair.verdict for pair in common.differences
    ]


def is_ranked(comparison: Compared) -> bool:
    """Return whether all pairs of several systems are compared."""
    return comparison.baseline is None and len(comparison.systems) > 2  # noqa: PLR2004 - a pair


def _main_tables(comparison: Compared) -> list[Table]:
    if not is_ranked(comparison):
        return narrow_tables(
            [systems_columns(comparison, measure) for measure in comparison.measures],
            _evidence_headings(comparison)[2],
        )
    if len(comparison.measures) > 1:
        return [to_table(comparison)]
    return narrow_tables([_ranked_columns(comparison)])


def _details(comparison: Compared, shown: Collection[str]) -> Iterator[Document]:
    """Yield the evidence, judged documents, likeness, what p covers, and the method.

    Args:
        comparison: the comparison.
        shown: the sentences above.
    """
    evidence = evidence_table(comparison, has_differences=is_ranked(comparison))
    document = _by_measure(comparison, "The evidence", evidence)
    further = evidence_notes(shown_differences(comparison), comparison.settings.margin)
    yield replace(document, notes=[*document.notes, *further])
    if judged := judged_table(comparison):
        yield Document(heading=JUDGED_TITLE, tables=[judged])
    if comparison.likeness:
        heading = f"Ranking similarity of the first {comparison.likeness[0].k} documents"
        table = _with_pairs(comparison, likeness_table(comparison.likeness))
        yield _compact(heading, [table])
    yield Document(heading="What the p-value covers", tables=[chance_table(comparison)])
    # Verdicts are words in these tables, in place of marks.
    hidden = {*shown, MARKS_NOTE, RANKS_NOTE}
    notes = [note for note in notes_on(comparison) if note not in hidden]
    yield Document(heading="Method", notes=notes)


def _by_measure(comparison: Compared, heading: str, table: Table) -> Document:
    """Return a table with the first columns measure, system and against as one for each measure."""
    rows_by_measure: dict[str, list[Sequence[str | Cell]]] = {}
    for row in table.rows:
        rows_by_measure.setdefault(str(row[0]), []).append(row[1:])
    tables = [
        _with_pairs(comparison, Table((measure, *table.header[2:]), rows))
        for measure, rows in rows_by_measure.items()
    ]
    return _compact(heading, tables)


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


def _compact(heading: str, tables: Sequence[Table]) -> Document:
    """Return tables without the columns that have one value in all rows, which a note names."""
    shown, left_out = without_repeated_columns(tables, tables[0].header[1:])
    values = "; ".join(f"{name} = {value}" for name, value in left_out.items() if value != "?")
    notes = [f"in every row: {values}"] if values else []
    return Document(heading=heading, tables=shown, notes=notes)


def _ended(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."


def _ranked_sentences(comparison: Compared, queries: Mapping[str, str]) -> Iterator[_Ranked]:
    """Yield what follows the tables, in the order in which it is read."""
    sources = source_notes(
        comparison.systems, comparison.computed_elsewhere, comparison.custom_measures
    )
    parts: list[tuple[int, Iterable[str]]] = [
        (0, {pair.note: None for pair in comparison.differences if pair.note}),
        (0, left_out_notes(comparison.left_out)),
        (0, comparison.conventions),
        (0, _common_sentences(comparison)),
        (0, _interval_sentences(comparison)),
        (0, cautions_on(comparison)),
        (1, _not_excluded_sentences(comparison)),
        (2, _query_sentences(comparison, queries)),
        (1, _mark_sentences(comparison)),
        (3, _power_sentences(comparison)),
        (4, sources),
        (5, ignored_queries(comparison)),
        (0, _measure_sentences(comparison)),
    ]
    for importance, texts in parts:
        for text in texts:
            yield _Ranked(importance, text)


# Tables


def _evidence_headings(comparison: Compared) -> tuple[str, str, str, str]:
    """Return the names of the columns of ``evidence_cells``."""
    is_corrected = comparison.settings.correction != "none" and comparison.num_comparisons > 1
    percent = percent_text(1 - comparison.settings.alpha)
    if is_corrected and not are_simultaneous(comparison.settings, 2) and _is_of_test(comparison):
        percent = f"≥{percent}"
    return (DIFFERENCE, f"{percent} interval", "corr. p" if is_corrected else "p", "verdict")


def _is_of_test(comparison: Compared) -> bool:
    """Return whether the intervals belong to the test."""
    return comparison.settings.interval == "test"


def evidence_cells(difference: Difference) -> tuple[str | Cell, ...]:
    """Return a difference, its interval, its p and its verdict."""
    return (
        signed_text(difference.difference),
        interval_cell_text(difference),
        p_text(difference.p_corrected),
        Cell(difference.verdict, verdict=difference.verdict),
    )


def _label_of_measure(comparison: Compared, measure: str) -> str:
    difference = next(pair for pair in comparison.differences if pair.measure == measure)
    return measure_text(measure, higher_is_better=difference.higher_is_better)


#: {heading: the cells of a column}.
Columns: TypeAlias = "dict[str, Sequence[str | Cell]]"


def systems_columns(comparison: Compared, measure: str) -> Columns:
    """Return a row for each system, against the same other system."""
    pairs = {pair.system: pair for pair in comparison.differences if pair.measure == measure}
    evidence = [
        evidence_cells(pairs[system]) if system in pairs else ("", "", "", "baseline")
        for system in in_shown_order(comparison, measure)
    ]
    headings = _evidence_headings(comparison)
    columns = columns_of_means(comparison, measure)
    columns |= zip(headings, zip(*evidence, strict=True), strict=True)
    if {pair.verdict for pair in pairs.values()} == {"identical"}:
        columns = {name: columns[name] for name in columns if name not in headings[1:3]}
    return columns


def columns_of_means(comparison: Compared, measure: str) -> Columns:
    """Return the names, means and judged shares of systems, and in what they differ."""
    systems = in_shown_order(comparison, measure)
    columns: Columns = {
        _label_of_measure(comparison, measure): systems,
        "mean": [score_text(comparison.mean(measure, system).mean) for system in systems],
    }
    if comparison.on_common_queries is not None:
        columns["queries"] = [_queries_of(comparison, system) for system in systems]
    depths = comparison.deepest_rankings
    if compares_depths(measure, depths):
        columns["depth"] = [f"{depths[system]:,}" if system in depths else "" for system in systems]
    if shares := judged_texts(comparison, measure):
        columns[_JUDGED] = [shares.get(system, UNKNOWN) for system in systems]
    texts = {
        system: text
        for system, repeats in comparison.results.items()
        if (text := getattr(repeats[0].counted, "text", None)) is not None
    }
    if texts:
        columns["chunk"] = [
            f"{texts[system].mean_chunk:,.0f}" if system in texts else UNKNOWN for system in systems
        ]
    times = {
        system: f"{1000 * retrieval.p50:,.1f}"
        for system, repeats in comparison.results.items()
        if (retrieval := repeats[0].retrieval) is not None and retrieval.seconds
    }
    if times:
        columns["ms/query"] = [times.get(system, UNKNOWN) for system in systems]
    return columns


def _queries_of(comparison: Compared, system: str) -> str:
    """Return how many queries a system has; of repeats that differ, from the fewest on."""
    total = len(comparison.query_ids)
    missing = [known.queries_missing for known in comparison.coverage if known.system == system]
    numbers = {total - number for number in missing}
    if len(missing) < len(comparison.results.get(system, ())):
        numbers.add(total)
    return "\u2013".join(f"{number:,}" for number in sorted({min(numbers), max(numbers)}))


def narrow_tables(tables: Sequence[Columns], p: str = "") -> list[Table]:
    """Return tables that fit a terminal, if they can.

    If one is too wide, all have a shorter heading of the difference, then no p, then no judged
    shares, which are in the details.

    Args:
        tables: the columns of each, the names of the systems first.
        p: the heading of p.
    """
    versions: list[list[Table]] = []
    for left_out in ((), (DIFFERENCE,), (DIFFERENCE, p), (DIFFERENCE, p, _JUDGED)):
        versions.append([])
        for columns in tables:
            kept = [name for name in columns if name not in left_out or name == DIFFERENCE]
            cells = zip(*(columns[name] for name in kept), strict=True)
            header = tuple("diff." if name in left_out else name for name in kept)
            versions[-1].append(Table(header, list(cells)))
    return list(first_that_fits(versions))


def _ranked_columns(comparison: Compared) -> Columns:
    """Return a row for each system, and which others it is worse and better than."""
    [measure] = comparison.measures
    label, *further = (columns := columns_of_means(comparison, measure))
    systems = columns[label]
    is_by_mean = systems == in_shown_order(comparison, by_step=False)
    ranks = {"rank" if is_by_mean else "no.": list(map(str, range(1, len(systems) + 1)))}
    columns = {label: systems, **ranks, **{name: columns[name] for name in further}}
    if _has_decided(comparison):
        for verdict in ("worse", "better"):
            columns[f"{verdict} than"] = [
                text.replace(",", ", ").replace("-", " to ") or NONE
                for text in (
                    systems_text(comparison, measure, str(system), verdict) for system in systems
                )
            ]
    return columns


def _has_decided(comparison: Compared) -> bool:
    """Return whether a system is better than another one."""
    return any(pair.verdict in ("better", "worse") for pair in comparison.differences)


# Sentences


def _common_sentences(comparison: Compared) -> Iterator[str]:
    """Yield what to do about queries that some systems lack."""
    common = comparison.on_common_queries
    if common is not None and common.differences:
        yield (
            f"Complete the runs, or compare on the {common.num_queries:,}: missing='skip' with "
            "on='intersection'"
        )


def _interval_sentences(comparison: Compared) -> Iterator[str]:
    """Yield that p is not corrected, or that intervals do not belong to the test."""
    number = comparison.num_comparisons
    each = " on each measure" if len(comparison.measures) > 1 else ""
    if number > 1 and comparison.settings.correction == "none":
        yield f"p is not corrected for {number} comparisons{each}"
    if not _is_of_test(comparison):
        yield "The intervals are not of the test: an interval and its verdict may disagree"


def _mark_sentences(comparison: Compared) -> Iterator[str]:
    """Yield what marks and columns of all pairs of several systems say."""
    if is_ranked(comparison) and _has_decided(comparison):
        if len(comparison.measures) == 1:
            yield "The last two columns hold all differences shown; other order may be chance"
        else:
            yield "Behind a mean: > the numbers of the systems that it is significantly better than"


def _query_sentences(comparison: Compared, queries: Mapping[str, str]) -> Iterator[str]:
    """Yield on which queries the second of two systems loses and gains most."""
    if len(comparison.systems) != 2:  # noqa: PLR2004 - a pair
        return
    first = comparison.differences[0]
    pair = {"system": first.system, "against": first.against}
    worst = comparison.regressions(first.measure, 1, **pair)
    best = comparison.improvements(first.measure, 1, **pair)
    if worst or best:
        loses = f"loses most on {_query_text(worst[0], queries)}" if worst else "loses on no query"
        gains = f"gains most on {_query_text(best[0], queries)}" if best else "gains on none"
        measure = f" ({first.measure})" if len(comparison.measures) > 1 else ""
        yield f"{first.system} {loses}, {gains}{measure}"


def _query_text(change: QueryDifference, queries: Mapping[str, str]) -> str:
    """Return a query with its difference, and its text where that is known."""
    text = " ".join(queries.get(change.query_id, "").split())
    shown = f"{text[: _QUERY_LENGTH - 1]}…" if len(text) > _QUERY_LENGTH else text
    named = f'{change.query_id} "{shown}"' if shown else change.query_id
    return f"{named} ({change.difference:+.2f})"


def _power_sentences(comparison: Compared) -> Iterator[str]:
    """Yield what so many queries would have shown about the undecided differences."""
    undecided = [
        pair
        for pair in comparison.differences
        if pair.verdict == "undecided" and pair.num_differing
    ]
    if not undecided or is_ranked(comparison):
        return
    pair = undecided[0]
    unit = "queries" if pair.num_clusters is None else "clusters"
    if len(undecided) == 1:
        of_measure = f"{pair.measure}: " if len(comparison.measures) > 1 else ""
        if pair.detectable is None:
            if pair.power_note:
                yield f"{of_measure}{pair.power_note}"
            return
        margin, queries = comparison.settings.margin, pair.num_clusters or pair.num_queries
        need = f"to show {margin:g} you need {queries_text(pair, margin)}"
        if pair.repeat_variance and pair.queries_high is None:
            need = f"to show {margin:g} you may need more repeats, not only more {unit}"
        repeats = "" if pair.repeat_variance is None else " and these repeats"
        yield (
            f"{of_measure}{queries:,} {unit}{repeats} usually show a difference of about "
            f"{one_digit(pair.detectable)}; {need}"
        )
        return
    for measure in comparison.measures:
        known = [
            pair.detectable
            for pair in undecided
            if pair.measure == measure and pair.detectable is not None
        ]
        if known:
            size = one_digit(statistics.median(known))
            if len(comparison.measures) == 1:
                yield f"A difference of about {size} usually shows"
            else:
                yield f"Undecided on {measure}: a difference of about {size} usually shows there"


def one_digit(size: float) -> str:
    """Return a number with one digit that is not 0; with two if one is a tenth less or more.

    >>> one_digit(0.0521), one_digit(0.126)
    ('0.05', '0.13')
    """
    digit = float(f"{size:.1g}")
    return f"{digit:g}" if abs(digit - size) <= size / 10 else f"{size:.2g}"


def _measure_sentences(comparison: Compared) -> Iterator[str]:
    """Yield that each measure is a chance of error, if there are several."""
    number = len(comparison.measures)
    if number > 1:
        chances = f"{number} measures, {number} chances of error"
        yield f"{chances}: decide by the one that you chose before"


def _not_excluded_sentences(comparison: Compared) -> Iterator[str]:
    """Yield what is not excluded where few queries differ: one pair's text, or the largest size."""
    measures_with: dict[str, list[str]] = {}
    if len(comparison.differences) == 1:
        [pair] = comparison.differences
        for text in not_excluded_texts(pair):
            unit = "queries" if pair.num_clusters is None else "clusters"
            are_few = f"few {unit} differ, so " if pair.num_differing else ""
            sentence = f"{are_few}{text}"
            yield _same_file(comparison) or f"{sentence[0].upper()}{sentence[1:]}"
        return
    for measure in comparison.measures:
        texts = [
            (pair, text)
            for pair in comparison.differences
            if pair.measure == measure
            for text in not_excluded_texts(pair)
        ]
        if not texts:
            continue
        pairs = [pair for pair, _ in texts]
        differ = any(pair.num_differing for pair in pairs)
        unit = "queries" if pairs[0].num_clusters is None else "clusters"
        reason = f"few {unit} differ" if differ else "no query differs"
        if len({text for _, text in texts}) == 1:
            names = [f"{pair.system} vs {pair.against}" for pair in pairs]
            named = f", {join_names(names)}" if comparison.num_comparisons > 1 else ""
            ending = f"{named}: {reason}, so {texts[0][1]}"
        else:
            sizes = [
                size
                for pair in pairs
                for size in (pair.loss_not_excluded, pair.gain_not_excluded)
                if size is not None
            ]
            ending = (
                f", {len(pairs)} pairs: {reason}, so true differences of up to "
                f"{rounded_up_text(max(sizes))} either way are not excluded"
            )
        measures_with.setdefault(ending, []).append(measure)
    for ending, measures in measures_with.items():
        yield f"{', '.join(measures)}{ending}"


def _same_file(comparison: Compared) -> str:
    """Return that two systems have the same first documents; "" if it is not known."""
    pair, alike = comparison.differences[0], (comparison.likeness or (None,))[0]
    if alike is None or pair.verdict != "identical":
        return ""
    is_same = alike.overlap == 1 and alike.kendall_distance == 0
    return (
        f"The first {alike.k} documents are the same, too: is it the same file?" if is_same else ""
    )
