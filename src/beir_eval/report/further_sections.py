"""The sections beside the main result: slices, averages over data sets, checkpoints."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from beir_eval.comparison.charts import forest_of_slices
from beir_eval.display import charts
from beir_eval.display.tables import Table, without_repeated_columns
from beir_eval.report.dataset_views import excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from beir_eval.benchmark.comparison_result import AcrossDatasets
    from beir_eval.comparison.checkpoints.result import CheckpointCurve
    from beir_eval.comparison.slices.result import SlicedComparison
    from beir_eval.comparison.stages.result import StagedResult
    from beir_eval.display.document import Document, Sentence
    from beir_eval.display.figure import Figure
    from beir_eval.report.dataset_views import Texts

#: The most rows of a figure, verdicts in sentences, and cells of a table.
_MOST_ROWS = 60
_MOST_SENTENCES = 2_000
_MOST_CELLS = 20_000
#: The characters of a query or title in the table of relevant documents.
_TITLE_LENGTH = 80


class Section(NamedTuple):
    """A section of the page.

    Attributes:
        heading: its heading.
        sentences: the conclusions.
        captions: the keys and captions of its figures.
        figures: {key: figure}.
        tables: (table, caption) of each table.
        notes: how to read it.
        warnings: what a reader must know before the verdicts.
        notices: sentences on what is left out.
    """

    heading: str
    sentences: Sequence[Sentence]
    captions: list[dict[str, str]]
    figures: dict[str, Figure]
    tables: list[tuple[Table, str]]
    notes: Sequence[str]
    warnings: Sequence[str]
    notices: list[str]


def evidence_section(document: Document, figures: dict[str, Figure]) -> Section:
    """Return the details of a comparison; what they are about begins the page."""
    return _section(replace(document, sentences=(), tables=(), notes=()), figures)


def slices_section(sliced: SlicedComparison) -> Section:
    """Return whether gains differ between slices, then means and verdicts by slice.

    Of one pair there is also a forest plot for each measure.
    """
    figures = {}
    if len(sliced.systems) == 2:  # noqa: PLR2004 - a pair
        figures = {
            f"slices-{index}": forest_of_slices(
                sliced.differences_of(measure), measure, sliced.settings, most=_MOST_ROWS
            )
            for index, measure in enumerate(sliced.measures)
            if any(measure not in slice_.too_small for slice_ in sliced.slices)
        }
    captions = _by_measure("Means by slice", sliced.measures)
    return _section(sliced.document(), figures, *captions)


def across_section(across: AcrossDatasets) -> Section:
    """Return averages, differences and means by data set; the verdicts begin the page."""
    figures = {"across": across.plot(most=_MOST_ROWS)} if across.differences else {}
    return _section(replace(across.document(), sentences=()), figures, "Means by data set")


def curve_section(curve: CheckpointCurve) -> Section:
    """Return the conclusions, the figures and the table of a checkpoint curve."""
    figures = {
        f"curve-{index}": curve.plot(measure) for index, measure in enumerate(curve.measures)
    }
    return _section(curve.document(), figures, "The curve")


def stages_section(staged: StagedResult, texts: Texts) -> Section:
    """Return the account of a pipeline, a bar for each stage, and the ranks of relevant documents.

    Args:
        staged: the stages.
        texts: the texts of queries and documents, as far as they are known.
    """
    figures = {
        f"stages-{index}": charts.stages(
            [
                {"stage": row.name, "mean": row.means[measure], "ceiling": row.ceilings[measure]}
                for row in staged.stages
            ],
            measure=measure,
        )
        for index, measure in enumerate(staged.measures)
    }
    shown_ids = {doc_id for of_query in staged.ranks.values() for doc_id in of_query}
    titles = {
        doc_id: excerpt(title or text, _TITLE_LENGTH)
        for doc_id, (title, text) in texts.documents(shown_ids).items()
    }
    queries = {
        query_id: text
        for query_id in staged.ranks
        if (text := texts.query(query_id, _TITLE_LENGTH))
    }
    section = _section(staged.document(), figures, *_by_measure("The stages", staged.measures))
    ranks = staged.ranks_table(queries or None, titles or None)
    caption = "The relevant documents, with their rank in each stage"
    listed = (first_rows(ranks, caption, section.notices), caption)
    return section._replace(tables=[*section.tables, listed])


def _by_measure(caption: str, measures: Sequence[str]) -> list[str]:
    """Return the captions of tables of the same for each measure."""
    return [caption] if len(measures) == 1 else [f"{caption}: {name}" for name in measures]


def _section(document: Document, figures: dict[str, Figure], *captions: str) -> Section:
    """Return a document with its details as a section.

    Args:
        document: what the section shows.
        figures: {key: figure}.
        captions: those of its tables; tables of details have the headings of these, and several of
            one their own first heading.
    """
    details = list(document.details())
    captioned_tables = [
        *zip(document.tables, captions, strict=False),
        *(
            (table, f"{detail.heading}{f': {table.header[0]}' if detail.tables[1:] else ''}")
            for detail in details
            for table in detail.tables
        ),
    ]
    notices: list[str] = []
    return Section(
        document.heading,
        document.sentences[:_MOST_SENTENCES],
        captioned(figures),
        figures,
        [
            _without_constants(first_rows(table, name, notices), name)
            for table, name in captioned_tables
            if table.rows
        ],
        [*document.notes, *(note for detail in details for note in detail.notes)],
        document.warnings,
        notices,
    )


def _without_constants(table: Table, caption: str) -> tuple[Table, str]:
    """Return a table without the columns of systems that are the same in every row; they are named.

    >>> table = Table(("slice", "system", "against"), [("a", "x", "y"), ("b", "x", "y")])
    >>> _without_constants(table, "Differences")[1]
    'Differences: system x, against y in every row'
    """
    [shown], left_out = without_repeated_columns([table], ("system", "against"))
    values = ", ".join(f"{name} {value}" for name, value in left_out.items())
    return shown, f"{caption}: {values} in every row" if values else caption


def captioned(figures: dict[str, Figure]) -> list[dict[str, str]]:
    """Return {"key": …, "caption": …} of each figure.

    Captions begin with a capital, unless they begin with a name as nDCG@10.
    """
    captions = {key: figure.spec["description"] for key, figure in figures.items()}
    for key, caption in captions.items():
        if caption.partition(" ")[0].islower():
            captions[key] = f"{caption[:1].upper()}{caption[1:]}"
    return [{"key": key, "caption": caption} for key, caption in captions.items()]


def first_rows(table: Table, what: str, notices: list[str]) -> Table:
    """Return the first rows of a table that is too long; a notice says so."""
    most = max(1, _MOST_CELLS // len(table.header))
    if len(table.rows) <= most:
        return table
    notices.append(
        f"{what}: the first {most:,} of {len(table.rows):,} rows are shown; to_csv() and -o c.csv "
        "give all of them"
    )
    return Table(table.header, table.rows[:most])
