"""``Chunks``: ranked chunks, located in the text of their documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self

from beir_eval.core.files import as_path
from beir_eval.core.ids import id_text
from beir_eval.errors import RunError, first_few, number_of, shown, warn_caller
from beir_eval.spans.locating import Part, locate_all
from beir_eval.spans.projection import LocatedChunk
from beir_eval.spans.records import part_of_document, read_parts
from beir_eval.spans.texts import as_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from beir_eval.spans.alignment import Alignment
    from beir_eval.spans.texts import CorpusLike, DocumentTexts


class Chunk(NamedTuple):
    """A retrieved chunk of a document.

    Attributes:
        doc_id: the document that it is a part of.
        start: its first character, from 0, in code points; None if it is not stated.
        end: the character after its last one; None if it is not stated.
        text: its text; None if it is not given.
    """

    doc_id: str
    start: int | None = None
    end: int | None = None
    text: str | None = None


class Chunks:
    """The rankings of chunks that a retriever returned, one per query.

    Args:
        by_query: {query_id: its chunks, best first}. A chunk has offsets, or its text, or both.
        corpus: the documents, as for ``Spans``; None: stated offsets are taken as they are.

    Attributes:
        alignment: how many different chunks were found in their documents, and how. A chunk that is
            lost costs ranks and gains nothing.

    Raises:
        RunError: a chunk has neither offsets nor a text, or impossible offsets; or the corpus has
            none of the documents.
        InputError: the corpus is of another kind.

    Warns:
        BeirEvalWarning: the corpus lacks some of the documents, or more than 5 in 100 chunks are
            lost.

    >>> Chunks({"q": [Chunk("d", 0, 9)]}, corpus={"d": "The quick brown fox"})
    Chunks(1 query, 1 chunk)
    """

    alignment: Alignment

    def __init__(
        self, by_query: Mapping[str, Iterable[Chunk]], corpus: CorpusLike | None = None
    ) -> None:
        """Locate the chunks."""
        self._set({id_text(query): list(chunks) for query, chunks in by_query.items()}, corpus)

    @classmethod
    def from_jsonl(cls, path: str | Path, corpus: CorpusLike | None = None) -> Self:
        """Return the rankings of a file with a JSON object a line for each chunk, packed or not.

        The keys are ``query_id``, ``doc_id``, ``start`` and ``end`` and/or ``text``, and ``score``
        (highest first, equal ones in the order of the file) or ``rank``; without either the order
        of the file is the ranking.

        Args:
            path: the file.
            corpus: as of the constructor.

        Raises:
            FileFormatError: a line is malformed, or some lines have a score and others none.
            RunError: as of the constructor.
            OSError: the file cannot be read.
        """
        ranked: dict[str, list[tuple[float, Chunk]]] = {}
        key = ""
        for record in read_parts(as_path(path)):
            start, end = record.offsets()
            score, rank = record.number("score"), record.number("rank")
            of_line = "score" if score is not None else "rank" if rank is not None else "order"
            if key not in ("", of_line):
                msg = f"lines before have a {key} to rank by, this one has none"
                raise record.refuse(msg)
            key = of_line
            order = -score if score is not None else rank or 0.0
            chunk = Chunk(record.id("doc_id"), start, end, record.text())
            if (start is None or end is None) and chunk.text is None:
                raise record.refuse("a chunk needs start and end, or its text")
            ranked.setdefault(record.id("query_id"), []).append((order, chunk))
        chunks = cls.__new__(cls)
        chunks._set(  # noqa: SLF001 - an instance of this class
            {
                query_id: [chunk for _, chunk in sorted(listed, key=lambda entry: entry[0])]
                for query_id, listed in ranked.items()
            },
            corpus,
        )
        return chunks

    @classmethod
    def from_documents(
        cls,
        by_query: Mapping[Any, Iterable[Any]],
        corpus: CorpusLike | None = None,
        *,
        doc_id_field: str | None = None,
    ) -> Self:
        """Return the rankings of retrieved documents of Haystack, LangChain or LlamaIndex.

        Stated offsets (``split_idx_start``, ``start_index``, ``start_char_idx``) are only where a
        text is looked for first: after cleaners and second splitters they are wrong.

        Args:
            by_query: {query_id: the documents, best first}.
            corpus: as of the constructor.
            doc_id_field: the field of the metadata that has the id of the whole document; None
                looks for ``beir_doc_id``, which ``index`` writes, and for LlamaIndex's
                ``ref_doc_id``.

        Raises:
            InputError: a document has no text, or does not say which document it is a part of.
            RunError: as of the constructor.
        """
        return cls(
            {
                query_id: [
                    Chunk(**part_of_document(document, doc_id_field)) for document in documents
                ]
                for query_id, documents in by_query.items()
            },
            corpus,
        )

    def _set(self, by_query: dict[str, list[Chunk]], corpus: CorpusLike | None) -> None:
        """Check and place the chunks of each query."""
        for query_id, chunks in by_query.items():
            for rank, chunk in enumerate(chunks, start=1):
                _check_chunk(chunk, f"query {shown(query_id)}, rank {rank}")
        self.texts: DocumentTexts | None = None if corpus is None else as_texts(corpus)
        parts = {
            query_id: [Part(*chunk) for chunk in chunks] for query_id, chunks in by_query.items()
        }
        located, self.alignment = locate_all(
            (part for listed in parts.values() for part in listed), self.texts
        )
        self.by_query: dict[str, Sequence[LocatedChunk]] = {
            query_id: [
                LocatedChunk(
                    part.doc_id,
                    location.start,
                    location.end,
                    location.end - location.start if part.text is None else len(part.text),
                )
                for part in listed
                for location in (located[part],)
            ]
            for query_id, listed in parts.items()
        }
        self.given = by_query
        self._warn(len(located), {part.doc_id for part in located})

    def _warn(self, count: int, doc_ids: set[str]) -> None:
        """Warn of documents that the corpus lacks, and of many chunks that are lost."""
        counts = self.alignment
        if self.texts is None or not count:
            return
        unknown = [doc_id for doc_id in doc_ids if self.texts.aligner(doc_id) is None]
        if unknown and len(unknown) == len(doc_ids):
            listed = first_few(sorted(unknown))
            msg = f"{self.texts.name} has none of the documents of the chunks: {listed}"
            raise RunError(msg)
        if unknown:
            warn_caller(
                f"{self.texts.name} lacks {number_of(len(unknown), 'document')} of the chunks, "
                f"such as {first_few(sorted(unknown))}: they cost ranks and gain nothing"
            )
        if counts.lost > 0.05 * count:
            warn_caller(
                f"{counts.lost:,} of {count:,} chunks are not in the text of their documents: they "
                "cost ranks and gain nothing. Were they made of another version of the corpus, or "
                "rewritten?"
            )

    @property
    def mean_length(self) -> float:
        """The mean length of the chunks of all rankings, in characters; 0 without chunks."""
        costs = [chunk.cost for chunks in self.by_query.values() for chunk in chunks]
        return sum(costs) / len(costs) if costs else 0.0

    def __len__(self) -> int:
        """Return the number of queries."""
        return len(self.by_query)

    def __repr__(self) -> str:
        """Return the size, not the content."""
        count = number_of(sum(map(len, self.by_query.values())), "chunk")
        return f"Chunks({number_of(len(self), 'query')}, {count})"


def _check_chunk(chunk: Chunk, label: str) -> None:
    """Raise RunError if a chunk is impossible in any text."""
    start, end = chunk.start, chunk.end
    if chunk.text is None and (start is None or end is None):
        msg = f"{label}: a chunk needs start and end, or its text"
        raise RunError(msg)
    if (start is not None and start < 0) or (None not in (start, end) and end <= start):  # type: ignore[operator]
        msg = f"{label}: impossible offsets, {start} to {end}"
        raise RunError(msg)
