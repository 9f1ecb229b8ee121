"""A comparison in brief: the verdicts, a compact table for each measure, and notes.

The terminal and ``print(comparison)`` show it. The other outputs have everything: ``tables``,
``verdict_sentences`` and the packages of what is known beyond the differences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from beir_eval.comparison.cautions import cautions_on
from beir_eval.comparison.chance import chance_notes
from beir_eval.comparison.headlines import VerdictSentence, common_headlines, headlines, join_names
from beir_eval.comparison.tables import pair_label, to_table
from beir_eval.comparison.unjudged.tables import unjudged_summary
from beir_eval.comparison.verdict_sentences import (
    are_simultaneous,
    common_notes,
    further_notes,
    interval_cell_text,
    measure_text,
    not_excluded_texts,
    p_text,
    percent_text,
    power_sentences,
    rounded_up_text,
    signed_text,
    test_text,
)
from beir_eval.display.tables import Cell, Table, score_text, without_repeated_columns
from beir_eval.evaluation.notes import judged_share_text
from beir_eval.significance import PAIRED_TESTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from beir_eval.comparison.records import Difference
    from beir_eval.comparison.result import Comparison

#: A comparison of all pairs shows a row for each pair if there are at most so many in all.
_MOST_PAIR_ROWS = 20
#: The number of characters of a measure and two systems beside which all other columns fit into 80.
_LONGEST_NAMES = 29


@dataclass(frozen=True)
class Overview:
    """A comparison in brief.

    Attributes:
        verdicts: the verdicts, a sentence for all measures with the same ones; then those over the
            queries that all systems have, if a system lacks some.
        tables: compact tables; every pair is in one row of them, unless ``has_all_pairs`` is False.
        notes: what the tables leave out, and how to read them, in sentences.
        has_all_pairs: whether the differences, intervals and p of all pairs are in the tables.
    """

    verdicts: list[VerdictSentence]
    tables: list[Table]
    notes: list[str]
    has_all_pairs: bool

    def text(self) -> str:
        """Return the verdicts, the tables and the notes as plain text."""
        parts = ["\n".join(sentence.text for sentence in self.verdicts)]
        parts += [table.text() for table in self.tables]
        return "\n\n".join([*parts, "\n".join(self.notes)])


def overview_of(comparison: Comparison) -> Overview:
    """Return a comparison in brief."""
    num_pairs = len(comparison.differences)
    has_all_pairs = True
    means: list[Table] = []
    if _is_pair_narrow(comparison):
        tables = [_pair_table(comparison)]
    elif comparison.baseline is not None or len(comparison.systems) == 2:  # noqa: PLR2004 - a pair
        tables = [_systems_table(comparison, measure) for measure in comparison.measures]
    else:
        means = [to_table(comparison)]
        has_all_pairs = num_pairs <= _MOST_PAIR_ROWS
        tables = (
            [_pairs_table(comparison, measure) for measure in comparison.measures]
            if has_all_pairs
            else []
        )
    tables, left_out = without_repeated_columns(tables, list(_evidence_headings(comparison)[1:]))
    notes = [
        *_left_out_notes(left_out),
        *_method_notes(comparison),
        *common_notes(comparison),
        *further_notes(comparison),
        *_power_notes(comparison),
        *_not_excluded_notes(comparison),
        *cautions_on(comparison),
        *_unjudged_notes(comparison),
        *_judged_notes(comparison),
    ]
    verdicts = [*headlines(comparison), *common_headlines(comparison)]
    return Overview(verdicts, [*means, *tables], notes, has_all_pairs)


# Tables


def _evidence_headings(comparison: Comparison) -> tuple[str, str, str, str]:
    """Return the names of the columns of ``_evidence_cells``."""
    is_corrected = comparison.settings.correction != "none" and comparison.num_comparisons > 1
    percent = percent_text(1 - comparison.settings.alpha)
    if is_corrected and not are_simultaneous(comparison.settings, 2) and _is_of_test(comparison):
        percent = f"≥{percent}"
    return ("diff.", f"{percent} interval", "corr. p" if is_corrected else "p", "verdict")


def _is_of_test(comparison: Comparison) -> bool:
    """Return whether the intervals belong to the test."""
    settings = comparison.settings
    return settings.interval == "test" and PAIRED_TESTS[settings.test].interval is not None


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


def _is_pair_narrow(comparison: Comparison) -> bool:
    """Return whether there are two systems whose names fit above columns of numbers."""
    measures = [_label_of_measure(comparison, measure) for measure in comparison.measures]
    length = max(map(len, measures)) + sum(map(len, comparison.systems))
    return len(comparison.systems) == 2 and length <= _LONGEST_NAMES  # noqa: PLR2004 - a pair


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
    header = ("measure", first.against, first.system, *_evidence_headings(comparison))
    return Table(header, rows)


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
        for system in comparison.systems
    ]
    return Table((_label_of_measure(comparison, measure), "mean", *headings), rows)


def _pairs_table(comparison: Comparison, measure: str) -> Table:
    """Return a table of one measure with a row for each pair, by the letters of the systems."""
    rows = [
        (
            pair_label(comparison, difference.system, difference.against),
            *_evidence_cells(difference),
        )
        for difference in comparison.differences
        if difference.measure == measure
    ]
    return Table((_label_of_measure(comparison, measure), *_evidence_headings(comparison)), rows)


# Notes


def _left_out_notes(left_out: dict[str, str]) -> Iterator[str]:
    """Yield the value of each column that is the same in every row."""
    for name, value in left_out.items():
        yield f"{name}: {value} in every row"


def _method_notes(comparison: Comparison) -> Iterator[str]:
    """Yield how p, the intervals and the verdicts were computed."""
    settings = comparison.settings
    num_comparisons = comparison.num_comparisons
    correction = (
        f", {settings.correction} over {num_comparisons} comparisons"
        if num_comparisons > 1 and settings.correction != "none"
        else ""
    )
    yield (
        f"{len(comparison.query_ids):,} queries; {test_text(settings)}{correction}; "
        f"verdicts at {settings.alpha:g}, margin {settings.margin:g}"
    )
    if not _is_of_test(comparison):
        yield "intervals: not of the test, so an interval and its verdict may disagree"
    elif are_simultaneous(settings, num_comparisons):
        yield "intervals: simultaneous; one excludes 0 exactly if the difference is significant"
    else:
        yield "intervals: of the test; one excludes 0 exactly if the difference is significant"
    yield from chance_notes(comparison)
    if comparison.baseline is None and len(comparison.systems) == 2:  # noqa: PLR2004 - one pair
        first = comparison.differences[0]
        yield f"diff.: {first.system} minus {first.against}"
    elif comparison.baseline is None:
        if any(pair.verdict in ("better", "worse") for pair in comparison.differences):
            yield "the letters behind a mean name the systems that it is better than"
    else:
        yield "diff.: system minus baseline"


def _power_notes(comparison: Comparison) -> Iterator[str]:
    """Yield what so many queries would have shown about the undecided differences."""
    margin = comparison.settings.margin
    undecided = [pair for pair in comparison.differences if pair.verdict == "undecided"]
    if len(undecided) == 1:
        text = ". ".join(power_sentences(undecided[0], margin))
        if not text:
            return
        is_named = len(comparison.measures) > 1
        yield f"{undecided[0].measure}: {text[:1].lower()}{text[1:]}" if is_named else text
        return
    of_measures = []
    for measure in comparison.measures:
        pairs = [pair for pair in undecided if pair.measure == measure and pair.num_differing]
        detectable = [pair.detectable for pair in pairs if pair.detectable is not None]
        if detectable:
            low, high = f"{min(detectable):.2g}", f"{max(detectable):.2g}"
            sizes = low if low == high else f"{low} to {high}"
            unknown = len(pairs) - len(detectable)
            others = f"; not known for {unknown} of {len(pairs)} pairs" if unknown else ""
            of_measures.append(f"{sizes} ({measure}{others})")
    if of_measures:
        yield (
            "true differences that would be detected 80% of the time, depending on the pair: about "
            f"{', '.join(of_measures)}"
        )


def _not_excluded_notes(comparison: Comparison) -> Iterator[str]:
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
        reason = "few queries differ" if differ else "no query differs"
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


def _unjudged_notes(comparison: Comparison) -> Iterator[str]:
    """Yield which verdicts unjudged documents could change, or why that is not known."""
    summary = unjudged_summary(comparison)
    # The sentence on a single verdict is a caution already if it is news.
    if summary in cautions_on(comparison):
        return
    if summary:
        yield summary
    elif comparison.unjudged is not None and comparison.to_judge is None:
        yield "whether unjudged documents could change a verdict is not known to saved results"


def _judged_notes(comparison: Comparison) -> Iterator[str]:
    """Yield the shares of retrieved documents that are judged, of each system or their range."""
    shares = {
        system: results[0].counted.judged_share
        for system, results in comparison.results.items()
        if results[0].counted is not None
    }
    text = judged_share_text(shares) if shares else ""
    if not text and comparison.unjudged:
        # Measures without a cutoff, and comparisons loaded from files.
        by_system: dict[str, dict[int, float]] = {}
        first = comparison.unjudged[0]
        depth = first.depth or 0
        for pair in comparison.unjudged:
            if pair.measure == first.measure:
                for name, share in (
                    (pair.against, pair.judged_against),
                    (pair.system, pair.judged),
                ):
                    by_system.setdefault(name, {})[depth] = math.nan if share is None else share
        text = judged_share_text(by_system)
    if text:
        yield text
