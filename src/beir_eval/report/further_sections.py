"""The sections beside the main result: slices, averages over data sets, checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from beir_eval.comparison.charts import forest_of_slices
from beir_eval.comparison.headlines import MOST_NAMED, VerdictSentence
from beir_eval.display.tables import Table
from beir_eval.report.narrative import Evidence

if TYPE_CHECKING:
    from beir_eval.benchmark.comparison_result import AcrossDatasets
    from beir_eval.comparison.checkpoints.result import CheckpointCurve
    from beir_eval.comparison.slices.result import SlicedComparison
    from beir_eval.display.figure import Figure

#: The most rows of a figure, of a table of differences, and the most cells of another table.
_MOST_ROWS = 60
_MOST_DIFFERENCES = 2_000
_MOST_CELLS = 10_000


class Section(NamedTuple):
    """The content of a section.

    Attributes:
        content: the variables of the template.
        figures: {key: figure} of the figures that the content names.
        warnings: what a reader must know before the verdicts.
        notices: sentences on what is left out.
    """

    content: dict[str, Any]
    figures: dict[str, Figure]
    warnings: list[str]
    notices: list[str]


def slices_section(sliced: SlicedComparison) -> Section:
    """Return whether gains differ between slices, then means and verdicts by slice.

    Of one pair there is also a forest plot for each measure.
    """
    figures = {}
    if len(sliced.systems) == 2:  # noqa: PLR2004 - a pair
        figures = {
            f"slices-{index}": forest_of_slices(sliced, measure, most=_MOST_ROWS)
            for index, measure in enumerate(sliced.measures)
            if any(measure not in slice_.too_small for slice_ in sliced.slices)
        }
    notices: list[str] = []
    means = sliced.to_table()
    most_means = max(1, _MOST_CELLS // len(means.header))
    differences, caption = _differences_by_slice(sliced)
    content = {
        "interactions": sliced.interaction_sentences(),
        "tests": _first_rows(
            sliced.interactions_table(), _MOST_DIFFERENCES, "tests of all slices", notices
        ),
        "figures": captioned(figures),
        "means": _first_rows(means, most_means, "means within slices", notices),
        "differences": _first_rows(
            differences, _MOST_DIFFERENCES, "differences within slices", notices
        ),
        "differences_caption": caption,
        "notes": sliced.notes()[len(sliced.warnings()) :],
    }
    return Section(content, figures, sliced.warnings(), notices)


def _differences_by_slice(sliced: SlicedComparison) -> tuple[Table, str]:
    """Return the differences and a caption, which names the systems that are in every row."""
    table = sliced.differences_table()
    constant = set()
    caption = "Every difference by slice"
    if len(sliced.systems) == 2 and table.rows:  # noqa: PLR2004 - a pair
        constant = {"system", "against"}
        system, against = (
            table.rows[0][table.header.index(name)] for name in ("system", "against")
        )
        caption = f"{caption}: {system} − {against}"
    elif sliced.baseline is not None:
        constant = {"against"}
        caption = f"{caption}, against {sliced.baseline}"
    kept = [index for index, name in enumerate(table.header) if name not in constant]
    return (
        Table(
            [table.header[index] for index in kept],
            [[row[index] for index in kept] for row in table.rows],
        ),
        caption,
    )


def across_section(across: AcrossDatasets) -> Section:
    """Return averages, differences and means by data set."""
    figures = {"across": across.plot(most=_MOST_ROWS)} if across.differences else {}
    notices: list[str] = []
    content = {
        "figures": captioned(figures),
        "averages": across.to_table(),
        "differences": _first_rows(
            across.differences_table(), _MOST_DIFFERENCES, "differences of averages", notices
        ),
        "datasets": across.datasets_table(),
        "notes": across.notes()[len(across.warnings()) :],
    }
    return Section(content, figures, across.warnings(), notices)


def across_evidence(across: AcrossDatasets) -> Evidence:
    """Return the verdict on every average as a sentence, and what the verdicts leave out."""
    sentences = [
        VerdictSentence(text, verdict)
        for text, verdict in across.verdict_sentences()[:_MOST_DIFFERENCES]
    ]
    cautions = [
        f"{name} is not part of these averages: no result of {', '.join(systems)}"
        for name, systems in across.left_out.items()
    ]
    if len(sentences) > MOST_NAMED:
        return Evidence([], cautions, sentences, [])
    return Evidence(sentences, cautions, [], [])


def curve_section(curve: CheckpointCurve) -> Section:
    """Return the figures, conclusions and table of a checkpoint curve."""
    figures = {
        f"curve-{index}": curve.plot(measure) for index, measure in enumerate(curve.measures)
    }
    content = {
        "figures": captioned(figures),
        "notes": curve.notes()[len(curve.warnings()) :],
        "table": curve.to_table(),
    }
    return Section(content, figures, curve.warnings(), [])


def captioned(figures: dict[str, Figure]) -> list[dict[str, str]]:
    """Return {"key": …, "caption": …} of each figure."""
    return [
        {"key": key, "caption": _as_sentence(figure.spec["description"])}
        for key, figure in figures.items()
    ]


def _as_sentence(caption: str) -> str:
    """Return a caption that begins with a capital, unless it begins with a name as nDCG@10."""
    first_word = caption.partition(" ")[0]
    return caption[:1].upper() + caption[1:] if first_word.islower() else caption


def _first_rows(table: Table, most: int, what: str, notices: list[str]) -> Table:
    """Return the first rows of a table that is too long; a notice says so."""
    if len(table.rows) <= most:
        return table
    notices.append(
        f"{what}: the first {most:,} of {len(table.rows):,} rows are shown; to_csv() and --csv "
        "give all of them"
    )
    return Table(table.header, table.rows[:most])
