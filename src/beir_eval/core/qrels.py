"""Qrels: the judged documents of each query, checked once and used for many runs."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import chain, compress, repeat
from operator import contains, itemgetter, methodcaller
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.core.arrays import (
    NOT_NUMBERS,
    Floats,
    Ints,
    position_in_row,
    ranges,
    read_floats,
    rows_of,
    starts_of,
)
from beir_eval.core.ids import (
    checked_columns,
    checked_ids,
    checked_query_ids,
    have_text_keys,
    is_dataframe,
    pick_ids,
    repeated_ids,
)
from beir_eval.core.judgement_errors import HIGHEST_GRADE, check_distinct, refuse_grade
from beir_eval.errors import QrelsError, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    #: What ``Qrels`` is made from: {query_id: {doc_id: grade}}, as BEIR and pytrec_eval have it.
    QrelsMapping = Mapping[Any, Mapping[Any, Any]]


class Qrels:
    """Judgements grouped by query.

    ``Qrels({"q1": {"d1": 2, "d2": 0}})`` takes BEIR's dict of dicts; the dict is copied, so later
    changes to it have no effect here. Ids are text, and an integer id means its decimal string.
    Grades are finite numbers, fractions included. A grade above 0 is relevant unless a measure
    sets ``rel``; grade 0 is judged and not relevant; any negative grade is "pooled but unjudged",
    as in trec_eval. A query with no judgements at all is not a judged query and is left out
    (``queries_without_judgements`` counts them).

    Attributes:
        query_ids: the judged queries, in the order given. [Q]
        doc_ids: the judged documents, by query, in the order given. [J]
        grades: their grades, read-only f8[J].
        starts: where each query's judgements begin, and the end of the last, i8[Q+1].

    Raises:
        QrelsError: nothing is judged, an id is empty or of another type, a grade is not a finite
            number, or two ids of one query name the same document.

    >>> qrels = Qrels({"q1": {"d1": 0, "d2": 2}, "q2": {7: 1}})
    >>> qrels
    Qrels(2 queries, 3 judgements)
    >>> qrels.as_dict()
    {'q1': {'d2': 2.0, 'd1': 0.0}, 'q2': {'7': 1.0}}
    """

    query_ids: tuple[str, ...]
    doc_ids: tuple[str, ...]
    grades: Floats
    starts: Ints
    queries_without_judgements: int
    repeated_judgements: int

    def __init__(self, mapping: QrelsMapping) -> None:
        """Read {query_id: {doc_id: grade}}."""
        if not isinstance(mapping, Mapping):
            msg = (
                f"qrels must be {{query_id: {{doc_id: grade}}}} or Qrels, not "
                f"{type(mapping).__name__}; read a file with read_qrels(path)"
            )
            raise QrelsError(msg)
        judged_of = list(mapping.values())
        wrong = {kind for kind in set(map(type, judged_of)) if not issubclass(kind, Mapping)}
        if wrong:
            query_id, judged = next(item for item in mapping.items() if type(item[1]) in wrong)
            msg = (
                f"the judgements of query {query_id!r} must be {{doc_id: grade}}, not "
                f"{type(judged).__name__}"
            )
            raise QrelsError(msg)
        self._fill(list(mapping), judged_of)

    @classmethod
    def from_columns(
        cls, query_ids: Iterable[Any], doc_ids: Iterable[Any], grades: Iterable[Any]
    ) -> Self:
        """Read three columns of one length, one row a judgement, in any order.

        A judgement that is repeated with the same grade counts once (``repeated_judgements``).

        Raises:
            QrelsError: as the constructor; also columns of different lengths, and a document
                judged twice with different grades.
        """
        queries, docs, values = checked_columns(
            (query_ids, doc_ids, grades), "grades", "qrels", QrelsError
        )
        grouped: dict[str, dict[str, Any]] = {}
        repeated = 0
        for query_id, doc_id, grade in zip(queries, docs, values, strict=True):
            judged = grouped.setdefault(query_id, {})
            if doc_id not in judged:
                judged[doc_id] = grade
                continue
            repeated += 1
            if judged[doc_id] != grade:
                msg = (
                    f"document {doc_id!r} is judged twice for query {query_id!r}, as "
                    f"{judged[doc_id]!r} and as {grade!r}; keep one of the two"
                )
                raise QrelsError(msg)
        qrels = cls(grouped)
        qrels.repeated_judgements = repeated
        return qrels

    @classmethod
    def from_dataframe(
        cls,
        frame: Any,
        *,
        query_id: str | None = None,
        doc_id: str | None = None,
        grade: str | None = None,
    ) -> Self:
        """Read a dataframe with a row for each judgement, in any order.

        Anything with the Arrow PyCapsule interface: polars, pyarrow, a DuckDB relation, pandas
        (with pyarrow). Columns are recognised by their usual names (query_id, qid, query-id;
        doc_id, docno, docid, corpus-id; grade, relevance, label, rel, score) unless stated. Needs
        polars.

        Raises:
            QrelsError: a column is not recognisable, an id is null, a grade is not a finite
                number, a document is judged twice with different grades.
            MissingExtraError: polars is not installed, or pyarrow for pandas.
        """
        from beir_eval.core.dataframes import GRADE, to_columns  # noqa: PLC0415 - an extra

        names = {"query_id": query_id, "doc_id": doc_id, "grade": grade}
        columns = to_columns(frame, number=GRADE, names=names, error=QrelsError, what="the qrels")
        return cls.from_columns(*(column.to_list() for column in columns))

    @classmethod
    def coerce(cls, qrels: Any) -> Qrels:
        """Return ``qrels`` itself when it is one; else take it as a mapping or a dataframe."""
        if isinstance(qrels, Qrels):
            return qrels
        return cls.from_dataframe(qrels) if is_dataframe(qrels) else cls(qrels)

    def _fill(self, query_ids: list[Any], judged_of: list[Mapping[Any, Any]]) -> None:
        lengths = np.fromiter(map(len, judged_of), np.int64, len(judged_of))
        starts = starts_of(lengths)
        doc_ids = list(chain.from_iterable(judged_of))
        text = have_text_keys(judged_of)
        queries = checked_query_ids(query_ids, "qrels", QrelsError)
        # Not a look at every id where the dicts tell that it is text.
        fit = text and not any(map(contains, judged_of, repeat("")))
        documents = doc_ids if fit else checked_ids(doc_ids, "qrels", QrelsError)
        try:
            of_query: Any = dict.values if text else methodcaller("values")
            grades = read_floats(chain.from_iterable(map(of_query, judged_of)), len(doc_ids))
        except NOT_NUMBERS:
            refuse_grade(queries, starts, documents, judged_of)
        if not (np.abs(grades) <= HIGHEST_GRADE).all():
            refuse_grade(queries, starts, documents, judged_of)
        if documents is not doc_ids:
            check_distinct(queries, starts, documents)
        judged = lengths > 0
        if not judged.any():
            msg = "the qrels are empty: there is no judgement in them, so nothing can be evaluated"
            raise QrelsError(msg)
        kept = queries if judged.all() else compress(queries, judged.tolist())
        self._take(kept, documents, grades, lengths[judged])
        self.queries_without_judgements = int(np.count_nonzero(~judged))

    def _take(
        self, query_ids: Iterable[str], doc_ids: Iterable[str], grades: Floats, lengths: Ints
    ) -> None:
        """Take checked parts: distinct ids as text, finite grades, judgements of each query."""
        self.query_ids, self.doc_ids = tuple(query_ids), tuple(doc_ids)
        self.grades, self.starts = grades, starts_of(lengths)
        self.queries_without_judgements = self.repeated_judgements = 0
        self.grades.flags.writeable = self.starts.flags.writeable = False

    @cached_property
    def row(self) -> Ints:
        """The query of each judgement, as an index into ``query_ids``: i8[J]."""
        return rows_of(np.diff(self.starts))

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {query_id: row for row, query_id in enumerate(self.query_ids)}

    def find_rows(self, query_ids: Sequence[str]) -> Ints:
        """Return the index into ``query_ids`` of each of these queries, -1 where it is not judged.

        Args:
            query_ids: queries, as text. [R]

        Returns:
            i8[R]
        """
        if len(query_ids) == len(self) and tuple(query_ids) == self.query_ids:
            return np.arange(len(self), dtype=np.int64)
        return np.fromiter(map(self._row_of.get, query_ids, repeat(-1)), np.int64, len(query_ids))

    def judgements_of(self, rows: Ints) -> tuple[Ints, Ints, Sequence[str]]:
        """Return the W judgements of these queries (R indices into ``query_ids``).

        Returns:
            The index of each judgement, i8[W]; which of the queries (0..R-1) it belongs to, i8[W];
            its document. [W]
        """
        first, last = self.starts[rows], self.starts[rows + 1]
        judgement = ranges(first, last)
        return judgement, rows_of(last - first), pick_ids(self.doc_ids, judgement)

    @cached_property
    def ideal(self) -> tuple[Ints, Floats]:
        """The ideal ranking of each query: ranks from 1 i8[J], and grades best first, f8[J]."""
        ordered = ((self.grades[1:] <= self.grades[:-1]) | (self.row[1:] != self.row[:-1])).all()
        grades = self.grades if ordered else self.grades[np.lexsort((-self.grades, self.row))]
        return position_in_row(self.row) + 1, grades

    @cached_property
    def max_grade(self) -> float:
        """The highest grade of all; a selection of queries keeps that of the whole."""
        return float(self.grades.max())

    @property
    def has_fractional_grades(self) -> bool:
        """Whether some positive grade is not a whole number."""
        positive = self.grades[self.grades > 0]
        return bool((positive != np.floor(positive)).any())

    def judged(self, row: int) -> dict[str, float]:
        """Return {doc_id: grade} of the query at index ``row``, best first."""
        begin, end = int(self.starts[row]), int(self.starts[row + 1])
        judged = zip(self.doc_ids[begin:end], self.grades[begin:end].tolist(), strict=True)
        return dict(sorted(judged, key=itemgetter(1), reverse=True))

    def select(self, query_ids: Iterable[Any], *, max_grade: float | None = None) -> Qrels:
        """Return the judgements of these queries only, in this order.

        ``max_grade`` stays that of the whole, so that no score of a query changes; or it is the one
        stated, where these are themselves a part of something larger.

        Raises:
            QrelsError: no query, one that is not judged, or one named twice; a stated highest grade
                that is not the highest.

        >>> Qrels({"q1": {"d1": 2}, "q2": {"d1": 1}}).select(["q2"])
        Qrels(1 queries, 1 judgements)
        """
        listed = [query_ids] if isinstance(query_ids, str) else query_ids
        chosen = checked_ids(listed, "qrels", QrelsError)
        if not chosen:
            raise QrelsError("no query was selected, and qrels without judgements judge nothing")
        rows = self.find_rows(chosen)
        unknown = list(compress(chosen, rows < 0))
        if unknown or len(set(chosen)) < len(chosen):
            twice = repeated_ids(chosen)
            wrong = f"{some(unknown)} are not" if unknown else f"{some(twice)} are named twice"
            msg = f"judged queries were expected, each once, but {wrong}"
            raise QrelsError(msg)
        judgement, _, doc_ids = self.judgements_of(rows)
        part = object.__new__(Qrels)
        part._take(chosen, doc_ids, self.grades[judgement], np.diff(self.starts)[rows])
        part.max_grade = self.max_grade if max_grade is None else float(max_grade)
        if not part.grades.max() <= part.max_grade <= HIGHEST_GRADE:
            msg = f"max_grade={max_grade!r}, but the highest grade is {part.grades.max():g}"
            raise QrelsError(msg)
        return part

    def as_dict(self) -> dict[str, dict[str, float]]:
        """Return a new {query_id: {doc_id: grade}}, best first within each query."""
        return {query_id: self.judged(row) for row, query_id in enumerate(self.query_ids)}

    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of the judgements, whatever order they were given in."""
        import hashlib  # noqa: PLC0415 - loads OpenSSL, and few ask for it

        digest = hashlib.sha256()
        for query_id, judged in sorted(self.as_dict().items()):
            for doc_id, grade in sorted(judged.items()):
                line = f"{query_id}\0{doc_id}\0{(grade + 0.0).hex()}\n"  # -0.0 is 0
                digest.update(line.encode(errors="surrogatepass"))
        return digest.hexdigest()

    def __deepcopy__(self, memo: dict[int, Any]) -> Qrels:
        """Return itself: nothing in it changes, and hosts copy what they hand on."""
        return self

    def _to_trace_dict(self) -> dict[str, int]:
        """Return the size: what Haystack's tracing shows instead of the content."""
        return {"queries": len(self), "judgements": len(self.doc_ids)}

    def __len__(self) -> int:
        """Return the number of judged queries."""
        return len(self.query_ids)

    def __repr__(self) -> str:
        """Return the size, not the content."""
        return f"Qrels({len(self.query_ids)} queries, {len(self.doc_ids)} judgements)"
