"""``SpanView``: spans as judgements, and rankings of chunks as runs on them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from beir_eval.core.files import as_path
from beir_eval.core.qrels import Qrels
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.core.relevance_matrix import TopDocuments
from beir_eval.core.run import Run
from beir_eval.core.run_sources.base import RankingBlock
from beir_eval.core.run_sources.chunks import TextCounts
from beir_eval.datasets.dataset import dataset_with_judgements
from beir_eval.errors import RunError, SettingError, check_choice, first_few, shown
from beir_eval.spans.gold import GoldText
from beir_eval.spans.projection import completed_at, distinct, project

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.datasets.dataset import Dataset
    from beir_eval.spans.chunks import Chunks
    from beir_eval.spans.gold import GoldSpan
    from beir_eval.spans.projection import LocatedChunk, Projection
    from beir_eval.spans.texts import DocumentTexts

#: What encloses the gold in the text of a chunk.
MARKS = ("\u27e6", "\u27e7")
#: A text is shown from so many characters before its first gold.
_BEFORE_GOLD = 80


class SpanView:
    """Spans as judgements, made by ``Spans.view``.

    Attributes:
        ranks: "characters" or "chunks".
        overlap: the share of a span that must be read; None: each character counts.
        texts: the texts of the documents, for the ``Chunks`` of runs; None without a corpus.
        qrels: the judgements: one for each gold character, or for each span with ``overlap``.

    >>> from beir_eval.spans import Chunk, Chunks, Span, Spans
    >>> from beir_eval import evaluate
    >>> corpus = {"d": "The quick brown fox"}
    >>> view = Spans({"q": [Span("d", 4, 9)]}, corpus).view()
    >>> run = view.run(Chunks({"q": [Chunk("d", 0, 6), Chunk("d", 6, 12)]}, corpus))
    >>> evaluate(view.qrels, run, ["Recall@6", "Recall@9"]).means["Recall@6"].value
    0.4
    """

    def __init__(  # noqa: PLR0913 - one keyword a rule
        self,
        by_query: Mapping[str, Sequence[GoldSpan]],
        texts: DocumentTexts | None,
        *,
        ranks: str,
        overlap: float | None,
        copies: str,
        repeated: str,
    ) -> None:
        """Check the settings and make the judgements."""
        check_choice("ranks", ranks, EvaluationSettings.CHOICES["ranks"][1:])
        self.text_settings: dict[str, Any] = {
            "overlap": overlap,
            "copies": copies,
            "repeated": repeated,
        }
        EvaluationSettings(ranks=ranks, **self.text_settings)  # checks them
        if ranks == "chunks" and overlap is None:
            msg = "ranks='chunks' needs an overlap, such as .75: the share of a span that counts"
            raise SettingError(msg)
        self.ranks, self.overlap, self.copies, self.repeated = ranks, overlap, copies, repeated
        self.texts = texts
        self._gold = {
            query_id: GoldText(spans, copies=copies == "any")
            for query_id, spans in by_query.items()
        }
        whole = [query_id for query_id, gold in self._gold.items() if gold.whole]
        if whole and overlap is None:
            msg = (
                f"spans that are whole documents ({first_few(whole)}) need overlap=, or judgements "
                "of documents and a run with collapse="
            )
            raise SettingError(msg)

    @cached_property
    def qrels(self) -> Qrels:
        """The judgements."""
        if self.overlap is None:
            lengths = [len(gold) for gold in self._gold.values()]
            names = _CharacterIds([run for gold in self._gold.values() for run in gold.names])
            grades = np.concatenate([gold.grades for gold in self._gold.values()])
            qrels = Qrels.from_checked(self._gold, names, grades, np.array(lengths, np.int64))
            # Millions of characters are not spelt out: those of a run and a grade count as one.
            runs = {query_id: dict(_graded_runs(gold)) for query_id, gold in self._gold.items()}
            qrels.query_hashes = Qrels(runs).query_hashes
        else:
            qrels = Qrels(
                {query_id: dict(judged_spans(gold)) for query_id, gold in self._gold.items()}
            )
        qrels.ranks = self.ranks
        return qrels

    def run(self, chunks: Chunks, *, top: int | None = None) -> Run:
        """Return a run for ``evaluate(view.qrels, run)`` and ``compare_runs``.

        Args:
            chunks: the rankings of chunks.
            top: how many chunks of each ranking count; None: all of them.
        """
        source = _TextSource(self, chunks, top)
        run = Run.from_source(source)
        run.text_counts, run.text_settings = source.text_counts(), self.text_settings
        return run

    def dataset(self, folder: str | Path) -> Dataset:
        """Return the corpus and the queries of a folder, judged by these spans.

        ``index`` and ``PipelineRetriever`` take it; the folder needs no qrels.

        Args:
            folder: the data set.

        Raises:
            FileFormatError: the folder has no corpus or no queries, or one of them is malformed.
        """
        return dataset_with_judgements(as_path(folder), self.qrels)

    def chunk_texts(self, runs: Iterable[Run], *, most: int = 100) -> dict[str, dict[str, str]]:
        """Return {chunk: {"text": its text}}, gold in brackets, as ``corpus`` of ``write_report``.

        Args:
            runs: what ``run`` returned.
            most: how many chunks of each ranking.
        """
        texts: dict[str, dict[str, str]] = {}
        for run in runs:
            source = run._source  # noqa: SLF001 - made by this view
            if isinstance(source, _TextSource):
                texts |= source.chunk_texts(most)
        return texts

    def _project(self, query_id: str, chunks: Sequence[LocatedChunk]) -> Projection:
        texts = self.texts if self.copies == "any" else None
        dropped = self.repeated == "dropped"
        return project(self._gold[query_id], chunks, texts, drops_repeated=dropped)


def judged_spans(gold: GoldText) -> Iterator[tuple[str, float]]:
    """Yield (id, grade) of each different span of a query, whole documents last."""
    for span in (*(span for span, _ in gold.spans), *gold.whole):
        yield span.name, span.grade


def _graded_runs(gold: GoldText) -> Iterator[tuple[str, float]]:
    """Yield (id, grade) of each run of gold characters of one grade."""
    begin = 0
    for doc_id, start, count in gold.names:
        grades = gold.grades[begin : begin + count]
        edges = [0, *(np.flatnonzero(np.diff(grades)) + 1).tolist(), count]
        for first, end in pairwise(edges):
            yield f"{doc_id}#{start + first}-{start + end}", float(grades[first])
        begin += count


class _CharacterIds(Sequence[str]):
    """The ids of gold characters, such as "doc#17", made when they are looked at.

    Args:
        runs: (document, first character, number of characters).
    """

    def __init__(self, runs: Sequence[tuple[str, int, int]]) -> None:
        self._runs = runs
        self._starts = np.concatenate([[0], np.cumsum([count for *_, count in runs])]).tolist()

    def __len__(self) -> int:
        return int(self._starts[-1])

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        if isinstance(index, slice):
            return tuple(self[at] for at in range(*index.indices(len(self))))
        at = range(len(self))[index]
        number = bisect_right(self._starts, at) - 1
        doc_id, start, _ = self._runs[number]
        return f"{doc_id}#{start + at - self._starts[number]}"


class _TextSource:
    """The text of ranked chunks as a ranking: the ``RunSource`` behind ``SpanView.run``."""

    checks_all_documents = True

    def __init__(self, view: SpanView, chunks: Chunks, top: int | None) -> None:
        self._view, self._chunks, self._top = view, chunks, top
        self.ranks = view.ranks

    @property
    def query_ids(self) -> tuple[str, ...]:
        return tuple(self._chunks.by_query)

    def text_counts(self) -> TextCounts:
        """How the rankings became text, for results."""
        counts = asdict(self._chunks.alignment)
        return TextCounts(
            mean_chunk=self._chunks.mean_length,
            alignment={name: count for name, count in counts.items() if count},
        )

    def _ranked(self, query_id: str) -> Sequence[LocatedChunk]:
        return self._chunks.by_query[query_id][: self._top]

    def blocks(self, qrels: Qrels) -> Iterator[RankingBlock]:
        rows = qrels.find_rows(self.query_ids)
        lengths: list[int] = []
        judgements: list[Ints] = []
        positions: list[Ints] = []
        judged = [
            (row, query_id)
            for row, query_id in zip(rows.tolist(), self.query_ids, strict=True)
            if row >= 0
        ]
        begin = 0
        for row, query_id in judged:
            length, judgement, position = self._hits(query_id)
            self._check_is_own(qrels, row, query_id)
            lengths.append(length)
            judgements.append(judgement + qrels.starts[row])
            positions.append(position + begin)
            begin += length
        hits = np.repeat(np.arange(len(judged)), [len(judgement) for judgement in judgements])
        no_hits = np.zeros(0, np.int64)
        yield RankingBlock(
            rows=np.array([row for row, _ in judged], np.int64),
            starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            scores=None,
            ids_at=lambda offsets: [f"character {offset}" for offset in offsets.tolist()],
            hit_ranking=hits,
            hit_judgement=np.concatenate([no_hits, *judgements]),
            hit_score=None,
            hit_position=np.concatenate([no_hits, *positions]),
            top_of=lambda index, k: self._top_chunks(judged[index][1], k),
        )

    def _check_is_own(self, qrels: Qrels, row: int, query_id: str) -> None:
        gold = self._view._gold.get(query_id)  # noqa: SLF001 - its own module
        count = int(qrels.starts[row + 1] - qrels.starts[row])
        expected = -1
        if gold is not None:
            expected = len(gold) if self._view.overlap is None else len(dict(judged_spans(gold)))
        if count != expected or qrels.ranks != self.ranks:
            msg = (
                f"query {shown(query_id)}: the run was made for other judgements; evaluate "
                "view.run(chunks) with the qrels of the same view"
            )
            raise RunError(msg)

    def _hits(self, query_id: str) -> tuple[int, Ints, Ints]:
        """Return the length of a ranking, its judgements that are found, and their positions."""
        view, chunks = self._view, self._ranked(query_id)
        projection = view._project(query_id, chunks)  # noqa: SLF001 - its own module
        if view.overlap is None:
            hits = np.flatnonzero(projection.position >= 0)
            return projection.length, hits, projection.position[hits]
        return _span_hits(view._gold[query_id], projection, view.overlap, view.ranks, len(chunks))  # noqa: SLF001

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield the chunks of every query, each once."""
        for query_id in self.query_ids:
            yield query_id, list(dict.fromkeys(map(_chunk_id, self._ranked(query_id)))), None

    def _top_chunks(self, query_id: str, k: int) -> TopDocuments:
        """Return the first chunks of a ranking; the gold that is new in each is in its id."""
        chunks = self._ranked(query_id)[:k]
        shown_ids: dict[str, float | None] = {}
        gold = self._view._gold[query_id]  # noqa: SLF001 - its own module
        projection = self._view._project(query_id, chunks)  # noqa: SLF001
        for index, chunk in enumerate(chunks):
            numbers = np.flatnonzero(projection.chunk == index)
            grade = float(gold.grades[numbers].max()) if len(numbers) else None
            name = _chunk_id(chunk, projection.offsets.get(index))
            while name in shown_ids:  # the same chunk again
                name += " again"
            shown_ids[name] = grade
        return TopDocuments(tuple(shown_ids), None, tuple(shown_ids.values()))

    def chunk_texts(self, most: int) -> dict[str, dict[str, str]]:
        """Return {chunk: {"text": its text}} with the gold that is new in each marked."""
        texts: dict[str, dict[str, str]] = {}
        for query_id in self.query_ids:
            if query_id not in self._view._gold:  # noqa: SLF001 - its own module
                continue
            chunks = self._ranked(query_id)[:most]
            projection = self._view._project(query_id, chunks)  # noqa: SLF001
            for index, chunk in enumerate(chunks):
                offsets = projection.offsets.get(index)
                given = self._chunks.given[query_id][index].text
                texts[_chunk_id(chunk, offsets)] = {
                    "text": self._marked(chunk, offsets, given or "")
                }
        return texts

    def _marked(self, chunk: LocatedChunk, offsets: Ints | None, given: str) -> str:
        aligner = None if self._chunks.texts is None else self._chunks.texts.aligner(chunk.doc_id)
        text = given if aligner is None else aligner.text[chunk.start : chunk.end]
        if offsets is None or not text:
            return given or text
        pieces, at = [], max(0, int(offsets[0]) - chunk.start - _BEFORE_GOLD)
        pieces.append("\u2026" if at else "")
        for first, end in _ranges(offsets - chunk.start):
            pieces += [text[at:first], MARKS[0], text[first:end], MARKS[1]]
            at = end
        return "".join([*pieces, text[at:]])


def _span_hits(
    gold: GoldText, projection: Projection, overlap: float, ranks: str, num_chunks: int
) -> tuple[int, Ints, Ints]:
    """Return the length of a ranking, the spans that it holds, and their positions.

    A span is at the character, or in the chunk, with which the ranking holds the share of it. A
    chunk that completes several spans takes as many ranks, the highest grade first.
    """
    in_chunks = ranks == "chunks"
    where = projection.chunk if in_chunks else projection.position
    hits: list[tuple[int, float, int]] = []
    for number, (span, numbers) in enumerate(gold.spans):
        counts = None
        if span.text is not None and len(span.text) == len(numbers):
            counts = np.array([not character.isspace() for character in span.text])
        at = completed_at(where[numbers], counts, overlap)
        if at is not None:
            hits.append((at, -span.grade, number))
    for number, span in enumerate(gold.whole, start=len(gold.spans)):
        if span.doc_id in projection.first_of_document:
            at = projection.first_of_document[span.doc_id][in_chunks]
            hits.append((at, -span.grade, number))
    hits.sort()
    offsets = np.array([offset for offset, *_ in hits], np.int64)
    judgement = np.array([number for *_, number in hits], np.int64)
    if not in_chunks:
        positions = distinct(offsets, 0)
        length = max([projection.length, *(positions[-1:] + 1).tolist()])
        return length, judgement, positions
    completed = np.bincount(offsets, minlength=num_chunks)
    starts = np.concatenate([[0], np.cumsum(np.maximum(completed, 1))])
    within = np.arange(len(offsets)) - (np.cumsum(completed) - completed)[offsets]
    return int(starts[-1]), judgement, starts[offsets] + within


def _chunk_id(chunk: LocatedChunk, offsets: Ints | None = None) -> str:
    """Return the id of a chunk, with the gold in it: "doc[0:400]", "doc[0:400] gold 17-90"."""
    extent = f"[{chunk.start}:{chunk.end}]" if chunk.start >= 0 else f"[lost, {chunk.cost}]"
    if offsets is None:
        return f"{chunk.doc_id}{extent}"
    gold = ", ".join(f"{begin}-{end}" for begin, end in _ranges(offsets))
    return f"{chunk.doc_id}{extent} gold {gold}"


def _ranges(offsets: Ints) -> list[tuple[int, int]]:
    """Return (first, end) of the runs of consecutive ascending places."""
    breaks = np.flatnonzero(np.diff(offsets) != 1) + 1
    firsts = offsets[np.concatenate([[0], breaks])]
    lasts = offsets[np.concatenate([breaks - 1, [len(offsets) - 1]])]
    return list(zip(firsts.tolist(), (lasts + 1).tolist(), strict=True))
