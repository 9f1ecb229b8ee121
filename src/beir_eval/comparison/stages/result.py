"""``StagedResult``, what ``evaluate_stages`` returns, and its records."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import BaseModel, Field

from beir_eval.comparison.limits import queries_only_note
from beir_eval.comparison.records import ComparisonSettings, Difference, FloatOrNaN, HighEnd
from beir_eval.comparison.tables import evidence_cells, pairs_table
from beir_eval.comparison.verdict_sentences import (
    headline_of,
    interval_heading,
    join_names,
    p_text,
    percent_text,
    rounded_up_text,
)
from beir_eval.core.saved import FROZEN, Saved
from beir_eval.display.document import Document, Sentence, Shown
from beir_eval.display.tables import (
    Cell,
    Table,
    csv_text,
    first_that_fits,
    record_rows,
    score_text,
    table_of,
)
from beir_eval.errors import first_few, number_of
from beir_eval.evaluation.notes import exclusion_sentences
from beir_eval.evaluation.result import EvaluationResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


#: What the tables of stages show besides their means, where it is known and there is room.
_COLUMNS = ("queries", "documents", "ms/query")
#: Why relevant documents are missing.
Reason = Literal["order", "dropped", "branch", "never"]


class Stage(BaseModel):
    """A stage: the documents after a part of a pipeline.

    Attributes:
        name: its name.
        inputs: the stages that it gets documents from.
        num_queries: for how many judged queries it has a ranking.
        documents: the mean number of its documents, over these queries.
        means: {measure: mean over all judged queries, of which those without a ranking count as
            empty ones}; NaN if it is undefined for all of them.
        ceilings: {measure: what the best order of its documents would score}, likewise.
        seconds: the seconds that a query takes in it; None if they are not known.
    """

    model_config = FROZEN

    name: str
    inputs: tuple[str, ...]
    num_queries: int
    documents: float
    means: dict[str, FloatOrNaN]
    ceilings: dict[str, FloatOrNaN]
    seconds: float | None = None


class Loss(BaseModel):
    """What is missing on a measure for one reason.

    Attributes:
        measure: its canonical name.
        reason: "order" (documents of the last stage in another order than the best), "dropped" (by
            a stage: it lacks documents that an input had, and no later one does so), "branch" (only
            a stage has them that leads nowhere) or "never" (no stage has them).
        stage: the stage that dropped them; "" for other reasons.
        documents: how many relevant documents; for "order" those below the cutoff.
        loss: the mean over queries, in the unit of the measure; NaN if it is undefined for all.
        low, high: its t interval, which ends at 0. If it is lost on fewer than 10 queries, ``high``
            is not below what so many queries do not exclude; infinite if that is not known.
    """

    model_config = FROZEN

    measure: str
    reason: Reason
    stage: str = ""
    documents: int
    loss: FloatOrNaN
    low: float
    high: HighEnd

    @property
    def interval_text(self) -> str:
        """The interval in words, for a loss of 0 its upper end."""
        if math.isinf(self.high):
            return "not known"
        if not self.loss:
            return f"at most {rounded_up_text(self.high)}"
        return f"{score_text(self.low)} … {score_text(self.high)}"

    @property
    def text(self) -> str:
        """The reason in words."""
        words = {
            "order": "wrong order",
            "dropped": f"dropped at {self.stage}",
            "branch": "only in a branch that leads nowhere",
            "never": "never retrieved",
        }
        return words[self.reason]


class ComponentSeconds(BaseModel):
    """What a component of a pipeline took.

    Attributes:
        name: the component, after those that it is in: the seconds of a component contain those of
            the components inside it.
        num_queries: for how many queries it ran.
        visits: how often it ran for a query, on average; more than once in a loop.
        run: the median of its seconds a query.
        copying: the median of the seconds a query that the host took to prepare its inputs.
    """

    model_config = FROZEN

    name: str
    num_queries: int
    visits: float
    run: float
    copying: float


class StagedResult(Shown, Saved):
    """Where a pipeline loses relevant documents, and which stage is worth it; saved as JSON.

    Attributes:
        schema_version: the version of the saved format.
        measures: the canonical names of the measures. [M]
        stages: the stages, in the order of documents. [S]
        last: the stage whose documents are the answer.
        num_relevant: how many documents are relevant (a grade above 0), over all judged queries;
            without those that are dropped as identical to their query.
        kept: {measure: how many of them the last stage has down to its cutoff}.
        best: {measure: the mean of an ideal ranking}: ``best`` − the mean of the last stage is the
            sum of the losses.
        losses: what is missing for each reason: for each measure the order, then the stages from
            the last to the first, then what no stage has.
        differences: each stage against its inputs and the last one against each source, or the one
            pair in question, over all judged queries; p is corrected by Holm over all pairs of a
            measure. None if fewer than two queries have a score.
        p_gains: the p of each of ``differences`` that the stage gains the margin or more,
            one-sided, corrected likewise.
        left_out: the judged queries that a stage lacks and that missing="skip" leaves out.
        settings: the settings of the tests.
        result: the result of the last stage.
        components: what the components of the pipeline took; empty if that is not known.
        failures: {component: the queries for which it failed}; they count as empty rankings of the
            last stage, and with their documents in the stages before.
        remarks: sentences of the host on its stages.
        ranks: {query_id: {document: its rank in each stage}} of the relevant documents, in the
            order of ``stages``; 0 in a stage that lacks it.
    """

    WHAT: ClassVar[str] = "result of stages"
    REMEDY: ClassVar[str] = "evaluate the stages again"

    measures: tuple[str, ...]
    stages: tuple[Stage, ...]
    last: str
    num_relevant: int
    kept: dict[str, int]
    best: dict[str, FloatOrNaN]
    losses: tuple[Loss, ...]
    differences: tuple[Difference, ...]
    p_gains: tuple[float, ...]
    left_out: tuple[str, ...] = ()
    settings: ComparisonSettings
    result: EvaluationResult
    components: tuple[ComponentSeconds, ...] = ()
    failures: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    ranks: dict[str, dict[str, tuple[int, ...]]] = Field(default_factory=dict)

    def stage(self, name: str) -> Stage:
        """Return a stage by its name.

        Raises:
            KeyError: there is no such stage.
        """
        return {stage.name: stage for stage in self.stages}[name]

    def to_table(self) -> Table:
        """Return a table of the stages on the first measure, with all that is known of each."""
        return self._compared(self.measures[0], _COLUMNS)

    def account_table(self) -> Table:
        """Return a table with a row for each measure and reason: documents, loss, interval."""
        rows = []
        for measure in self.measures:
            mean = self.stage(self.last).means[measure]
            for reason, documents, share, interval in (
                (f"reached by {self.last}", self.kept[measure], mean, ""),
                *((of.text, of.documents, of.loss, of.interval_text) for of in self._lost(measure)),
                ("the best possible", self.num_relevant, self.best[measure], ""),
            ):
                rows.append((measure, reason, f"{documents:,}", score_text(share), interval))
        heading = f"{percent_text(1 - self.settings.alpha)} interval"
        return Table(("measure", "reason", "relevant", "share", heading), rows)

    def _lost(self, measure: str) -> list[Loss]:
        return [loss for loss in self.losses if loss.measure == measure]

    def components_table(self) -> Table:
        """Return a table of what the components took, a row for each."""
        columns: dict[str, Callable[[ComponentSeconds], str]] = {
            "component": lambda row: row.name,
            "queries": lambda row: f"{row.num_queries:,}",
            "runs": lambda row: f"{row.visits:.3g}",
            "ms a query": lambda row: _seconds_text(row.run),
            "ms of copying": lambda row: _seconds_text(row.copying),
        }
        return table_of(self.components, columns)

    def ranks_table(
        self,
        queries: Mapping[str, str] | None = None,
        titles: Mapping[str, str] | None = None,
    ) -> Table:
        """Return a table of the relevant documents with their rank in each stage.

        Args:
            queries: {query_id: text}, for a column; None for ids only.
            titles: {doc_id: title}, for a column; None for ids only.
        """
        names = [stage.name for stage in self.stages]
        rows = []
        for query_id, documents in self.ranks.items():
            for doc_id, ranks in documents.items():
                texts = [query_id, *([queries.get(query_id, "")] if queries else [])]
                texts += [doc_id, *([titles.get(doc_id, "")] if titles else [])]
                missing = "-" if any(ranks) else "not retrieved"
                rows.append((*texts, *(f"{rank:,}" if rank else missing for rank in ranks)))
        query = ["query", *(["text"] if queries else [])]
        document = ["document", *(["title"] if titles else [])]
        return Table((*query, *document, *names), rows)

    def differences_table(self) -> Table:
        """Return a table of the compared stages with their evidence, a row for each pair."""
        count = len(self.differences) // max(1, len(self.measures))
        return pairs_table(self.differences, self.settings, count)

    def to_csv(self) -> str:
        """Return the losses as CSV, a line for each measure and reason."""
        return csv_text(record_rows(self.losses))

    def document(self) -> Document:
        """Return the verdict on the last stage, the stages, what is missing, and the evidence."""
        details = {
            "Documents and seconds of the stages": self.to_table(),
            "What is missing, and why": self.account_table(),
            "The compared stages": self.differences_table(),
        }
        if self.components:
            details["What the components took"] = self.components_table()
        num_queries = self.result.num_queries
        has_all = all(stage.num_queries == num_queries for stage in self.stages)
        queries = [] if has_all else ["queries"]
        seconds = ["ms/query"] if any(stage.seconds is not None for stage in self.stages) else []
        return Document(
            heading="Stages",
            warnings=[*self.result.warnings(), *self._warnings()],
            sentences=[
                *chain.from_iterable(map(self._headlines, self.measures)),
                *map(Sentence, self.remarks),
                *map(Sentence, exclusion_sentences({self.last: self.result})),
            ],
            tables=first_that_fits(
                [self._compared(measure, further) for measure in self.measures]
                for further in ([*queries, *seconds], queries)
            ),
            notes=[*self._missing_sentences(), *self._conclusions()],
            details=lambda: [
                *(Document(heading=name, tables=[table]) for name, table in details.items()),
                Document(heading="Method", notes=list(self._notes())),
            ],
        )

    def _inputs_of(self, stage: Stage, measure: str) -> list[Difference]:
        """Return the differences of a stage from its inputs, or those of the pair in question."""
        pairs = {pair.against: pair for pair in self._pairs(measure) if pair.system == stage.name}
        if len(self._pairs(measure)) == 1:  # one pair was asked for, or there is no other
            return list(pairs.values())
        return [pairs[name] for name in stage.inputs if name in pairs]

    def _pairs(self, measure: str) -> list[Difference]:
        return [pair for pair in self.differences if pair.measure == measure]

    def _headlines(self, measure: str) -> list[Sentence]:
        """Return the verdict on the last stage against each input, or on the pair in question."""
        last, pairs = self.stage(self.last), self._pairs(measure)
        if len(pairs) != 1 or pairs[0].against in last.inputs:
            pairs = [
                pair.model_copy(update={"against": f"{pair.against} (its input)"})
                for pair in self._inputs_of(last, measure)
            ]
        if not pairs:
            return [Sentence(f"{measure}: no verdict on {self.last}")]
        where, margin = f"{measure}, {pairs[0].num_queries:,} queries", self.settings.margin
        return [headline_of(where, [pair], None, margin=margin) for pair in pairs]

    def _compared(self, measure: str, further: Sequence[str]) -> Table:
        """Return a table of the stages with their differences from their inputs, a row for each.

        Args:
            measure: the measure.
            further: those of ``_COLUMNS`` to show.
        """
        rows: list[Sequence[str | Cell]] = []
        for stage in self.stages:
            cells = {
                "queries": f"{stage.num_queries:,}",
                "documents": f"{stage.documents:.1f}",
                "ms/query": _seconds_text(stage.seconds),
            }
            scores = (score_text(of[measure]) for of in (stage.means, stage.ceilings))
            of_stage = [*scores, *(cells[name] for name in further)]
            name, pairs = stage.name, self._inputs_of(stage, measure)
            for pair in pairs:
                difference, interval, _, verdict = evidence_cells(pair)
                rows.append((name, pair.against, *of_stage, difference, interval, verdict))
                name, of_stage = "", [""] * len(of_stage)
            if not pairs:
                rows.append((name, ", ".join(stage.inputs), *of_stage, "", "", ""))
        count = len(self.differences) // len(self.measures)
        interval = interval_heading(self.settings, count)
        first = "stage" if len(self.measures) == 1 else measure
        header = (first, "from", "mean", "perfect", *further, "diff.", interval, "verdict")
        return Table(header, rows)

    def _warnings(self) -> Iterator[str]:
        """Yield which queries are left out, or lack in stages before the last, and failures."""
        num_queries = self.result.num_queries
        if number := len(self.left_out):
            yield (
                f"{number:,} of {number + num_queries:,} judged queries are left out, since a "
                f"stage lacks them (missing='skip'): {first_few(self.left_out)}"
            )
        lacking = [
            f"{stage.name} {num_queries - stage.num_queries:,}"
            for stage in self.stages
            if stage.num_queries < num_queries and stage.name != self.last
        ]
        if lacking:
            yield (
                f"of {num_queries:,} queries, those without a ranking count as empty ones of the "
                f"stage: {', '.join(lacking)}"
            )
        for component, queries in self.failures.items():
            yield (
                f"{component} failed for {number_of(len(queries), 'query')}, counted as empty "
                f"rankings of the last stage: {first_few(queries)}"
            )

    def _missing_sentences(self) -> Iterator[str]:
        """Yield, for each measure, what the last stage misses, and why."""
        for measure in self.measures:
            missing = self.best[measure] - self.stage(self.last).means[measure]
            lost = ", ".join(
                f"{loss.text} {score_text(loss.loss) if loss.loss else '0'}"
                for loss in sorted(self._lost(measure), key=lambda loss: -loss.loss)
            )
            of_best = score_text(self.best[measure])
            if len(self.measures) > 1:
                of_best += f" {measure}"
            yield f"In these queries {score_text(missing)} of {of_best} is lost: {lost}."

    def _conclusions(self) -> Iterator[str]:
        """Yield what can go, on the first measure, and what "undecided" does not say."""
        # Of a stage in between, those behind it may need the documents.
        tested = list(zip(self.differences, self.p_gains, strict=True))
        of_last = [
            (pair, p_gain)
            for pair, p_gain in tested
            if pair.system == self.last and pair.measure == self.measures[0]
        ]
        alpha, inputs = self.settings.alpha, self.stage(self.last).inputs
        better = [pair.against for pair, _ in of_last if pair.verdict == "worse"]
        # Where an input is better, other stages are not in the table.
        better = [name for name in better if name in inputs] or better
        equal = {pair.against: p for pair, p in of_last if p <= alpha and pair.verdict != "worse"}
        reasons: list[tuple[list[str], str]] = []
        if better:
            are_better = f"{join_names(better)} {'is' if len(better) == 1 else 'are'} better"
            reasons.append((better, are_better))
        if equal:
            no_gain = f"no gain of {self.settings.margin:g} or more over {join_names([*equal])}"
            p = p_text(max(equal.values()))
            reasons.append(([*equal], f"{no_gain} (one-sided p {p})"))
        for names, reason in reasons:
            what = f"{' or '.join(names)} alone is enough"
            if len(inputs) == 1 and inputs[0] in names:
                what = f"{self.last} can be removed"
            yield f"{what}: {reason}."
        if any(pair.verdict == "undecided" and p > alpha for pair, p in tested):
            yield '"Undecided" is no reason to remove a stage.'

    def _notes(self) -> Iterator[str]:
        yield (
            "perfect: the measure of a stage's documents in perfect order; the share of a reason "
            "is what its relevant documents would add, put back in the order of the rows; dropped "
            "at: the last stage that lacks a document although one of its inputs had it"
        )
        count = len(self.differences) // max(1, len(self.measures))
        if count > 1:
            yield f"verdicts: corrected by holm over the {count} pairs of a measure"
        yield queries_only_note()


def _seconds_text(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    return f"{1_000 * seconds:,.0f}" if seconds >= 1 else f"{1_000 * seconds:.3g}"
