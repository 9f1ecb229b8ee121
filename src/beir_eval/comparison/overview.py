"""The document of a comparison: verdicts, tables, at most six sentences, and the details."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from beir_eval.comparison.cautions import cautions_on
from beir_eval.comparison.chance import sample_text
from beir_eval.comparison.coverage import ignored_queries, warnings_of
from beir_eval.comparison.headlines import common_headlines, headlines, join_names
from beir_eval.comparison.judged import (
    JUDGED_TITLE,
    judged_cautions,
    judged_sentences,
    judged_shares,
    judged_table,
)
from beir_eval.comparison.likeness import likeness_table
from beir_eval.comparison.tables import (
    evidence_table,
    in_shown_order,
    pair_label,
    shown_differences,
    to_table,
    worse_systems_text,
)
from beir_eval.comparison.verdict_sentences import (
    MARKS_NOTE,
    are_simultaneous,
    changed_on_common_queries,
    difference_sentence,
    has_letters,
    interval_cell_text,
    left_out_notes,
    letters_note,
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
from beir_eval.display.tables import Cell, Table, score_text, without_repeated_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from beir_eval.comparison.records import Difference, QueryDifference
    from beir_eval.comparison.result import Comparison

#: A comparison of all pairs shows a row for each pair if there are at most so many in all.
_MOST_PAIR_ROWS = 20
#: The number of characters of a measure and two systems beside which all other columns fit into 80;
#: beyond the first of these numbers the heading of the differences is shortened.
_LONG_NAMES, _LONGEST_NAMES = 25, 30
#: The heading of the judged shares, and the number of characters that a table with them may have.
_JUDGED, _MOST_COLUMNS = "judged", 80
#: The number of characters of a mean.
_MEAN_WIDTH = 6
#: How many sentences follow the tables, and how many queries one of them names at each end.
_MOST_SENTENCES, _MOST_QUERIES = 6, 3
#: How much of the text of a query is shown, and for how many at each end.
_QUERY_LENGTH, _MOST_TEXTS = 40, 2


class _Ranked(NamedTuple):
    """A sentence, and how important it is: those with the lowest numbers are kept."""

    importance: int
    text: str


def document_of(comparison: Comparison, queries: Mapping[str, str] | None = None) -> Document:
    """Return what a comparison shows.

    Args:
        comparison: the comparison.
        queries: {query_id: text}, to name the queries that lost and gained most by their texts.
    """
    tables, has_all_pairs = _main_tables(comparison)
    ranked = list(_ranked_sentences(comparison, queries or {}, tables))
    kept = sorted(ranked, key=lambda sentence: sentence.importance)[:_MOST_SENTENCES]
    return Document(
        heading="Comparison",
        warnings=warnings_of(comparison.coverage),
        sentences=[
            *headlines(comparison, f", {sample_text(comparison)}"),
            *common_headlines(comparison),
        ],
        tables=tables,
        notes=[_ended(sentence.text) for sentence in ranked if sentence in kept],
        details=lambda: _details(
            comparison, {sentence.text for sentence in kept}, has_all_pairs=has_all_pairs
        ),
    )


def shows_all_pairs(comparison: Comparison) -> bool:
    """Return whether the tables have the differences, intervals and p of all pairs."""
    return (
        comparison.baseline is not None
        or len(comparison.systems) == 2  # noqa: PLR2004 - a pair
        or len(comparison.differences) <= _MOST_PAIR_ROWS
    )


def _main_tables(comparison: Comparison) -> tuple[list[Table], bool]:
    """Return compact tables, and whether every pair is in one row of them."""
    has_all_pairs = shows_all_pairs(comparison)
    means: list[Table] = []
    is_pair = len(comparison.systems) == 2  # noqa: PLR2004 - a pair
    if is_pair and _width_of_names(comparison) <= _LONGEST_NAMES:
        tables = [_pair_table(comparison)]
    elif comparison.baseline is not None or is_pair:
        tables = [_systems_table(comparison, measure) for measure in comparison.measures]
    else:
        means = [_ranked_table(comparison)]
        tables = (
            [_pairs_table(comparison, measure) for measure in comparison.measures]
            if has_all_pairs
            else []
        )
    return [*means, *tables], has_all_pairs


def _details(
    comparison: Comparison, shown: Collection[str], *, has_all_pairs: bool
) -> Iterator[Document]:
    """Yield the evidence, judged documents, likeness, what p covers, and the method.

    Args:
        comparison: the comparison.
        shown: the sentences above.
        has_all_pairs: whether the tables above have the differences of all pairs.
    """
    margin = comparison.settings.margin
    sentences = [
        Sentence(difference_sentence(pair, margin), pair.verdict)
        for pair in shown_differences(comparison)
    ]
    evidence = evidence_table(comparison, has_differences=not has_all_pairs)
    yield _by_measure(comparison, "The evidence", evidence, sentences)
    if judged := judged_table(comparison):
        yield Document(heading=JUDGED_TITLE, tables=[judged])
    if comparison.likeness:
        heading = f"Ranking similarity of the first {comparison.likeness[0].k} documents"
        table = _with_pairs(comparison, likeness_table(comparison))
        yield _compact(heading, [table])
    yield Document(heading="What the p-value covers", tables=[comparison.chance_table()])
    # Verdicts are words in these tables, in place of marks; letters are explained below them.
    hidden = {*shown, MARKS_NOTE, letters_note(comparison)}
    notes = comparison.notes()[len(comparison.warnings()) :]
    yield Document(heading="Method", notes=[note for note in notes if note not in hidden])


def _by_measure(
    comparison: Comparison, heading: str, table: Table, sentences: Sequence[Sentence] = ()
) -> Document:
    """Return a table with the first columns measure, system and against as one for each measure."""
    rows_by_measure: dict[str, list[Sequence[str | Cell]]] = {}
    for row in table.rows:
        rows_by_measure.setdefault(str(row[0]), []).append(row[1:])
    tables = [
        _with_pairs(comparison, Table((measure, *table.header[2:]), rows))
        for measure, rows in rows_by_measure.items()
    ]
    return _compact(heading, tables, sentences)


def _with_pairs(comparison: Comparison, table: Table) -> Table:
    """Return a table with the first columns system and against, for all pairs with one of both.

    The pairs are named by the letters of the systems: a table that is split would show rows with
    the same system.
    """
    if comparison.baseline is not None or len(comparison.systems) == 2:  # noqa: PLR2004 - a pair
        return table
    rows = [
        (pair_label(comparison, str(system), str(against)), *cells)
        for system, against, *cells in table.rows
    ]
    return Table((table.header[0], *table.header[2:]), rows)


def _compact(heading: str, tables: Sequence[Table], sentences: Sequence[Sentence] = ()) -> Document:
    """Return tables without the columns that have one value in all rows, which a note names."""
    shown, left_out = without_repeated_columns(tables, tables[0].header[1:])
    values = "; ".join(f"{name} = {value}" for name, value in left_out.items() if value != "?")
    notes = [f"in every row: {values}"] if values else []
    return Document(heading=heading, sentences=sentences, tables=shown, notes=notes)


def _ended(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def _ranked_sentences(
    comparison: Comparison, queries: Mapping[str, str], tables: Sequence[Table]
) -> Iterator[_Ranked]:
    """Yield what follows the tables, in the order in which it is read."""
    cautions = cautions_on(comparison)
    sources = source_notes(
        comparison.systems, comparison.computed_elsewhere, comparison.custom_measures
    )
    has_shares = _JUDGED in tables[0].header or not set(cautions).isdisjoint(
        judged_cautions(comparison)
    )
    parts: list[tuple[int, Iterable[str]]] = [
        (3, _mark_sentences(comparison)),
        (4, _query_sentences(comparison, queries)),
        (1, left_out_notes(comparison.left_out)),
        (1, comparison.conventions),
        (1, changed_on_common_queries(comparison)),
        (0, {pair.note: None for pair in comparison.differences if pair.note}),
        (3, sources),
        (5, ignored_queries(comparison)),
        (0, cautions),
        (2, _not_excluded_sentences(comparison)),
        (3, _interval_sentences(comparison)),
        (3, _power_sentences(comparison)),
        (7, [] if has_shares else judged_sentences(comparison)),
        (0, _measure_sentences(comparison)),
    ]
    for importance, texts in parts:
        for text in texts:
            yield _Ranked(importance, text)


# Tables


def _evidence_headings(comparison: Comparison) -> tuple[str, str, str, str]:
    """Return the names of the columns of ``_evidence_cells``."""
    is_corrected = comparison.settings.correction != "none" and comparison.num_comparisons > 1
    percent = percent_text(1 - comparison.settings.alpha)
    if is_corrected and not are_simultaneous(comparison.settings, 2) and _is_of_test(comparison):
        percent = f"≥{percent}"
    return ("difference", f"{percent} interval", "corr. p" if is_corrected else "p", "verdict")


def _is_of_test(comparison: Comparison) -> bool:
    """Return whether the intervals belong to the test."""
    return comparison.settings.interval == "test"


def _evidence_cells(difference: Difference) -> tuple[str | Cell, ...]:
    return (
        signed_text(difference.difference),
        interval_cell_text(difference),
        p_text(difference.p_corrected),
        Cell(difference.verdict, verdict=difference.verdict),
    )


def _label_of_measure(comparison: Comparison, measure: str) -> str:
    difference = next(pair for pair in comparison.differences if pair.measure == measure)
    return measure_text(measure, higher_is_better=difference.higher_is_better)


def _width_of_names(comparison: Comparison) -> int:
    """Return how many columns of text a measure and the names of the systems above means take."""
    measures = [_label_of_measure(comparison, measure) for measure in comparison.measures]
    widths = [max(len(system), _MEAN_WIDTH) for system in comparison.systems]
    return max(map(len, measures)) + sum(widths)


def _pair_table(comparison: Comparison) -> Table:
    """Return a table of two systems with a row for each measure."""
    first = comparison.differences[0]
    rows = [
        (
            _label_of_measure(comparison, difference.measure),
            *(
                score_text(comparison.mean(difference.measure, system).mean)
                for system in (difference.against, difference.system)
            ),
            *_evidence_cells(difference),
        )
        for difference in comparison.differences
    ]
    difference, *others = _evidence_headings(comparison)
    heading = difference if _width_of_names(comparison) <= _LONG_NAMES else "diff."
    return Table(("measure", first.against, first.system, heading, *others), rows)


def _systems_table(comparison: Comparison, measure: str) -> Table:
    """Return a table of one measure with a row for each system, against the same other system."""
    differences = {
        difference.system: difference
        for difference in comparison.differences
        if difference.measure == measure
    }
    headings = _evidence_headings(comparison)
    rows = [
        (
            system,
            score_text(comparison.mean(measure, system).mean),
            *(
                _evidence_cells(differences[system])
                if system in differences
                else ("baseline" if system == comparison.baseline else "", "", "", "")
            ),
        )
        for system in in_shown_order(comparison)
    ]
    table = Table((_label_of_measure(comparison, measure), "mean", *headings), rows)
    return _with_judged(comparison, measure, table)


def _with_judged(comparison: Comparison, measure: str, table: Table) -> Table:
    """Return a table of systems with their judged shares beside the means.

    Without it, if the shares are all the same, or if the table would be wider than a terminal.
    """
    shares = judged_shares(comparison, measure)
    column = [
        f"{shares[system]:.1%}" if system in shares else "?"
        for system in in_shown_order(comparison)
    ]
    rows = [(*row[:2], share, *row[2:]) for row, share in zip(table.rows, column, strict=True)]
    wider = Table((*table.header[:2], _JUDGED, *table.header[2:]), rows)
    is_narrow = max(map(len, wider.text().splitlines())) <= _MOST_COLUMNS
    return wider if is_narrow and len(set(column)) > 1 else table


def _ranked_table(comparison: Comparison) -> Table:
    """Return a table of means, a row for each system; of one measure with those that are worse."""
    table = to_table(comparison)
    if len(comparison.measures) > 1:
        return table
    if not _has_decided(comparison):
        return _with_judged(comparison, comparison.measures[0], table)
    rows: list[tuple[str | Cell, ...]] = []
    for system, (label, mean) in zip(in_shown_order(comparison), table.rows, strict=True):
        worse = worse_systems_text(comparison, comparison.measures[0], system)
        if worse and not has_letters(comparison):
            worse = f"rank {worse}" if worse.isdecimal() else f"ranks {worse}"
        unmarked = mean if isinstance(mean, str) else replace(mean, mark="", verdict="")
        rows.append((label, unmarked, worse))
    better = Table((*table.header, "significantly better than"), rows)
    return _with_judged(comparison, comparison.measures[0], better)


def _has_decided(comparison: Comparison) -> bool:
    """Return whether a system is better than another one."""
    return any(pair.verdict in ("better", "worse") for pair in comparison.differences)


def _pairs_table(comparison: Comparison, measure: str) -> Table:
    """Return a table of one measure with a row for each pair, by the letters of the systems."""
    rows = [
        (
            pair_label(comparison, difference.system, difference.against),
            *_evidence_cells(difference),
        )
        for difference in shown_differences(comparison)
        if difference.measure == measure
    ]
    return Table((_label_of_measure(comparison, measure), *_evidence_headings(comparison)), rows)


# Sentences


def _interval_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield whether p and intervals are corrected, and whether intervals belong to the test."""
    settings, number = comparison.settings, comparison.num_comparisons
    each = " on each measure" if len(comparison.measures) > 1 else ""
    if number > 1:
        if settings.correction == "none":
            yield f"p is not corrected for {number} comparisons{each}"
        else:
            what = "Intervals and p are" if _is_of_test(comparison) else "p is"
            if not shows_all_pairs(comparison):
                what = "Significance is"
            yield f"{what} corrected for {number} comparisons{each} ({settings.correction})"
    if not _is_of_test(comparison):
        yield "The intervals are not of the test: an interval and its verdict may disagree"


def _mark_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield what stands behind the means of all pairs of several systems."""
    if len(comparison.measures) == 1 or not _has_decided(comparison):
        return
    if comparison.baseline is None and len(comparison.systems) > 2:  # noqa: PLR2004
        if has_letters(comparison):
            yield "Behind a mean: significantly better than these systems"
        else:
            last = len(comparison.systems)
            yield f">{last}: significantly better than system {last}"


def _query_sentences(comparison: Comparison, queries: Mapping[str, str]) -> Iterator[str]:
    """Yield on which queries the second of two systems lost and gained most."""
    if len(comparison.systems) != 2:  # noqa: PLR2004 - a pair
        return
    first = comparison.differences[0]
    measure = f" ({first.measure})" if len(comparison.measures) > 1 else ""
    number = _MOST_TEXTS if queries else _MOST_QUERIES
    pair = {"system": first.system, "against": first.against}
    worst = comparison.regressions(first.measure, number, **pair)
    best = comparison.improvements(first.measure, number, **pair)
    if not worst and not best:
        return
    lost, gained = _listed_queries(worst, queries), _listed_queries(best, queries)
    if not worst:
        yield f"{first.system} lost on no query{measure}; gained most: {gained}"
    elif not best:
        yield f"Queries on which {first.system} lost most{measure}: {lost}; gained on none"
    else:
        yield f"Queries on which {first.system} lost most{measure}: {lost}; gained most: {gained}"


def _listed_queries(changes: Sequence[QueryDifference], queries: Mapping[str, str]) -> str:
    """Return queries with their differences, and their texts where these are known."""
    parts = []
    for change in changes:
        text = " ".join(queries.get(change.query_id, "").split())
        shown = f"{text[: _QUERY_LENGTH - 1]}…" if len(text) > _QUERY_LENGTH else text
        named = f"{change.query_id} ({shown})" if shown else change.query_id
        parts.append(f"{named}: {change.difference:+.2f}")
    return ", ".join(parts)


def _power_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield what so many queries would have shown about the undecided differences."""
    undecided = [
        pair
        for pair in comparison.differences
        if pair.verdict == "undecided" and pair.num_differing
    ]
    if not undecided:
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
        need = f"to show {margin:g} you need {queries_text(pair)}"
        if pair.repeat_variance and pair.queries_high is None:
            need = f"to show {margin:g} you may need more repeats, not only more {unit}"
        repeats = "" if pair.repeat_variance is None else " and these repeats"
        yield (
            f"{of_measure}{queries:,} {unit}{repeats} usually show a difference of about "
            f"{_one_digit(pair.detectable)}; {need}"
        )
        return
    sizes = []
    for measure in comparison.measures:
        known = [
            pair.detectable
            for pair in undecided
            if pair.measure == measure and pair.detectable is not None
        ]
        if known:
            on = f" on {measure}" if len(comparison.measures) > 1 else ""
            sizes.append(f"{_one_digit(statistics.median(known))}{on}")
    if sizes:
        yield f"A difference of about {', '.join(sizes)} usually shows"


def _one_digit(size: float) -> str:
    return f"{float(f'{size:.1g}'):g}"


def _measure_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield that each measure is a chance of error, if there are several."""
    number = len(comparison.measures)
    if number > 1:
        yield f"{number} measures, {number} chances of error: decide by the one chosen before"


def _not_excluded_sentences(comparison: Comparison) -> Iterator[str]:
    """Yield what is not excluded where few queries differ: one pair's text, or the largest size."""
    measures_with: dict[str, list[str]] = {}
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
