"""``Summary``: the means, counts and settings of one run, wherever its scores are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from beir_eval.display.document import Document, Shown
from beir_eval.display.tables import Table, score_text
from beir_eval.errors import NotEvaluatedError, check_choice
from beir_eval.evaluation.coverage import warnings_on
from beir_eval.evaluation.notes import is_cut_short, notes_on
from beir_eval.evaluation.tables import result_text
from beir_eval.measures import TOOLS, MeasureLike, parse, spelled
from beir_eval.measures.names import name_among

if TYPE_CHECKING:
    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.evaluation.records import Counted, Provenance, Retrieval
    from beir_eval.measures.scales import ScoreScale


class Summary(Shown):
    """What ``EvaluationResult`` and ``StreamedResult`` share: all but the scores of each query.

    Notes, warnings and tables of means need nothing else.
    """

    if TYPE_CHECKING:  # the fields of both; annotated here at run time they would change the order
        name: str
        measures: tuple[str, ...]
        counted: Counted | None
        settings: EvaluationSettings | None
        provenance: Provenance
        custom_measures: dict[str, ScoreScale]
        retrieval: Retrieval | None

    @property
    def aggregate(self) -> dict[str, float]:
        """{measure: mean, sum or geometric mean over queries}, as ``result[measure]``.

        NaN if no query has a score.
        """
        raise NotImplementedError

    @property
    def num_queries(self) -> int:
        """The number of queries that means are taken over, apart from undefined scores."""
        raise NotImplementedError

    @property
    def num_scored(self) -> dict[str, int]:
        """{measure: number of queries that have a score, over which its mean is taken}."""
        raise NotImplementedError

    def mean_over(self, queries: Literal["judged", "retrieved"]) -> dict[str, float]:
        """Return ``aggregate`` over all judged queries, or only those that the run has.

        Args:
            queries: "judged" or "retrieved".
        """
        raise NotImplementedError

    def __getitem__(self, measure: MeasureLike) -> float:
        """Return the mean over queries (for ``num_*`` the sum, for gm_map the geometric mean).

        Raises:
            NotEvaluatedError: the result does not have this measure.
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        return self.aggregate[self.measures[self._row_of(measure)]]

    def __contains__(self, measure: MeasureLike) -> bool:
        """Return whether the result has this measure, in any spelling that ``parse`` reads.

        Raises:
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        return name_among(self.measures, measure) in self.measures

    def _row_of(self, measure: MeasureLike) -> int:
        """Return the index of a measure in ``measures``, or raise NotEvaluatedError."""
        name = name_among(self.measures, measure)
        try:
            return self.measures.index(name)
        except ValueError:
            msg = f"{name} was not evaluated for {self.name!r}; it holds {', '.join(self.measures)}"
            raise NotEvaluatedError(msg) from None

    def as_dict(self, names: str | None = None) -> dict[str, float]:
        """Return {measure: mean}, with the measures' names in this package or in another tool.

        Args:
            names: the tool whose names are used: "beir", "trec_eval" or "ir_measures"; by default
                the canonical names. A measure that the tool does not have keeps its canonical name,
                and a custom measure its own.

        Raises:
            SettingError: ``names`` has another value.
        """
        if names is None:
            return dict(self.aggregate)
        check_choice("names", names, TOOLS)
        return {
            name if name in self.custom_measures else spelled(parse(name), names): value
            for name, value in self.aggregate.items()
        }

    def label(self, name: str) -> str:
        """Return the name of a measure, with a ``*`` if rankings are too short for it.

        Args:
            name: the name of a measure, in any spelling that ``parse`` reads, or of a custom one;
                it is shown as it is.

        Raises:
            MeasureError: the measure does not exist (UnknownMeasureError), or its parameter or
                cutoff is impossible.
        """
        is_custom = type(name) is str and name in self.custom_measures
        measure = None if is_custom else parse(name)
        if measure is None or self.counted is None:
            return name
        return f"{name} *" if is_cut_short(measure, self.counted.deepest_ranking) else name

    def to_table(self) -> Table:
        """Return a table of the means and of the number of queries that each is taken over.

        A ``*`` marks measures that all rankings are too short for: cutoffs beyond the longest, or
        no cutoff and fewer than 100 documents.
        """
        header, scored = ("measure", self.name, "queries"), self.num_scored
        rows = [
            (self.label(name), score_text(value), str(scored[name]))
            for name, value in self.aggregate.items()
        ]
        return Table(header, rows)

    def document(self) -> Document:
        """Return the means and what was counted."""
        warnings = warnings_on(self)
        notes = notes_on(self)[len(warnings) :]
        return Document(warnings=warnings, tables=[self.to_table], notes=notes)

    def warnings(self) -> list[str]:
        """Return what a reader must know before the scores: mostly nothing, an empty list.

        There is a sentence if document ids do not match those of the qrels, with ids of both and
        the likely reason, and one if judged queries are missing, with the means over all judged
        queries and over those that the run has.
        """
        return warnings_on(self)

    def __str__(self) -> str:
        """Return the warnings and the means as plain text, measures by cutoffs where they fit."""
        return result_text(self)
