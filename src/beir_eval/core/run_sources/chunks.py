"""Rankings of chunks as rankings of their documents: the best chunk of each document counts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from beir_eval.core.qrels import Qrels
from beir_eval.core.run_sources.lists import source_from_lists
from beir_eval.errors import SettingError, shown, warn_caller

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from beir_eval.core.arrays import Floats
    from beir_eval.core.run_sources.base import RunSource
    from beir_eval.core.run_sources.columns import ColumnSource

#: The separator between the id of a document and the rest of the id of its chunk; or a regular
#: expression with one group, the id of the document.
ChunkIds: TypeAlias = str | re.Pattern[str]


@dataclass(frozen=True)
class TextCounts:
    """How ranked chunks became ranks of judged text.

    Attributes:
        mean_chunk: the mean length of the chunks, in characters.
        alignment: {how: the number of different chunks that were so found in their documents}.
        ends_before: {cutoff: (queries, ranks)}: of how many queries the ranking ends before the
            cutoff without all judged text, and where the shortest one does.
    """

    mean_chunk: float
    alignment: dict[str, int]
    ends_before: dict[int, tuple[int, int]] = field(default_factory=dict)


def chunk_pattern(collapse: ChunkIds) -> re.Pattern[str]:
    r"""Return the regular expression of the ids of chunks, whose group is the document's id.

    A separator is looked for from the end of the id, so that the id of a document may contain it.

    Raises:
        SettingError: it is neither a separator nor a pattern with one group.

    >>> chunk_pattern("#").fullmatch("d#1#7")[1]
    'd#1'
    >>> chunk_pattern(r"(.+)_p\d+").fullmatch("doc_p12")[1]
    'doc'
    """
    pattern = collapse
    if isinstance(collapse, str) and collapse:
        pattern = re.compile(f"(.+){re.escape(collapse)}.*", re.DOTALL)
        try:
            written = re.compile(collapse)
        except re.error:
            written = pattern
        if written.groups:
            pattern = written
    if not isinstance(pattern, re.Pattern) or pattern.groups != 1:
        msg = (
            "the ids of chunks are described by the separator after the document's id, such as "
            f"'#', or by a regular expression with one group, that id; not by {shown(collapse)}"
        )
        raise SettingError(msg)
    return pattern


def source_of_documents(
    source: RunSource, collapse: ChunkIds
) -> tuple[ColumnSource, dict[str, int]]:
    """Return the rankings of the documents that ranked chunks are parts of, and how many there are.

    A document has the best score of its chunks, and the position of its first one. A chunk that a
    ranking lists twice stays listed twice. The counts are those that ``Counted`` has.

    Args:
        source: the rankings of chunks; all of it is read.
        collapse: the form of the ids.

    Raises:
        SettingError: ``collapse`` is neither a separator nor a pattern with one group.
        RunError: a ranking is not valid.
    """
    pattern = chunk_pattern(collapse)
    query_ids: list[str] = []
    rankings: list[list[str]] = []
    all_scores: list[Floats] = []
    chunks = further = others = 0
    for query_id, doc_ids, scores in source.rankings():
        documents = [match and match[1] for match in map(pattern.fullmatch, doc_ids)]
        others += documents.count(None) + documents.count("")
        chunks += len(documents)
        names = [name or doc_id for name, doc_id in zip(documents, doc_ids, strict=True)]
        kept, best = _best_chunks(doc_ids, names, scores)
        further += len(names) - len(kept)
        query_ids.append(query_id)
        rankings.append([names[position] for position in kept])
        if best is not None:
            all_scores.append(best)
    if others == chunks > 0:
        form = shown(getattr(collapse, "pattern", collapse))
        example = next(doc_id for ranking in rankings for doc_id in ranking)
        warn_caller(
            f"collapse={form}: no id of the run has this form, such as {shown(example)}; a pattern "
            "needs one group, the id of the document"
        )
    flat_scores = np.concatenate(all_scores) if all_scores else None
    counts = {
        "chunks": chunks - others,
        "further_chunks": further,
        "ids_not_of_chunks": others,
    }
    return source_from_lists(query_ids, rankings, flat_scores), counts


def judged_documents(qrels: Qrels, collapse: ChunkIds, documents: Iterable[str]) -> Qrels:
    """Return judgements of chunks as those of their documents, each with its highest grade.

    The judgements stay as they are if no judged id has the form of a chunk's, or if one that has is
    that of a document.

    Args:
        qrels: the judgements.
        collapse: the form of the ids of chunks.
        documents: ids of documents; not looked at if no judged id has the form.

    Raises:
        SettingError: ``collapse`` is neither a separator nor a pattern with one group.

    Warns:
        BeirEvalWarning: the judgements are of chunks.
    """
    matches = map(chunk_pattern(collapse).fullmatch, dict.fromkeys(qrels.doc_ids))
    document_of = {match[0]: match[1] for match in matches if match and match[1]}
    if not document_of or any(map(document_of.__contains__, documents)):
        return qrels
    judged: dict[str, dict[str, float]] = {}
    for row, doc_id, grade in zip(qrels.row.tolist(), qrels.doc_ids, qrels.grades, strict=True):
        grades = judged.setdefault(qrels.query_ids[row], {})
        document = document_of.get(doc_id, doc_id)
        grades[document] = max(grade, grades.get(document, grade))
    warn_caller(
        f"the judgements are of chunks, such as {shown(next(iter(document_of)))}: their documents "
        "are judged, each with the highest grade of its chunks"
    )
    return Qrels(judged).excluding_as(qrels)


def _best_chunks(
    doc_ids: Sequence[str], names: Sequence[str], scores: Floats | None
) -> tuple[list[int], Floats | None]:
    """Return the position of each document's first chunk, and the best score of its chunks.

    Args:
        doc_ids: the ids of the chunks. [N]
        names: their documents. [N]
        scores: their scores, f8[N]; None if the order given is the ranking.
    """
    kept: list[int] = []
    place_of: dict[str, int] = {}
    best: list[float] = []
    values = [0.0] * len(names) if scores is None else scores.tolist()
    seen: set[str] = set()
    for position, (doc_id, name, score) in enumerate(zip(doc_ids, names, values, strict=True)):
        index = place_of.get(name)
        if index is None or doc_id in seen:  # the first chunk of a document, or a copy of a chunk
            place_of.setdefault(name, len(kept))
            kept.append(position)
            best.append(score)
        elif score > best[index]:
            best[index] = score
        seen.add(doc_id)
    return kept, None if scores is None else np.array(best, dtype=np.float64)
