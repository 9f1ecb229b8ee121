"""Qrels: the judged documents of each query and their grades, checked once, used for many runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import chain, compress, repeat
from operator import contains, itemgetter, methodcaller
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from beir_eval.core.arrays import (
    NOT_NUMBERS,
    Floats,
    Ints,
    concatenate_ranges,
    position_in_row,
    read_floats,
    rows_from_lengths,
    starts_from_lengths,
)
from beir_eval.core.column_names import DOC_NAMES, GRADE, QUERY_NAMES, matching_names
from beir_eval.core.ids import (
    checked_columns,
    checked_ids,
    checked_query_ids,
    decimal_numbers,
    have_text_keys,
    ids_as_text,
    is_dataframe,
    pick_ids,
    quick_hashes,
    repeated_ids,
    rows_remedy,
)
from beir_eval.core.judgement_errors import (
    HIGHEST_GRADE,
    check_distinct_documents,
    is_grade,
    raise_grade_error,
)
from beir_eval.errors import (
    DisagreeingJudgementsError,
    QrelsError,
    first_few,
    needs_extra,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Self

    import polars as pl

    #: {query_id: {doc_id: grade}}, the form of BEIR and pytrec_eval, which ``Qrels`` takes; or
    #: {query_id: ids of relevant documents}.
    QrelsMapping = Mapping[Any, Mapping[Any, Any] | Collection[Any]]


#: Queries whose judgements are read together.
_QUERIES_AT_ONCE = 2_000
#: The shifts and factors of the last step of SplitMix64, which mixes the bits of a number.
_MIXING = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
#: An odd factor: the query "a" with the document "b" is not "b" with "a".
_OF_QUERY = np.uint64(0x9E3779B97F4A7C15)
#: What ids of relevant documents without grades may be listed in.
_LISTS = (list, tuple, set, frozenset)


#: {id of the tuple: qrels} of all ``query_ids`` in use, which are known to be distinct texts.
_OWNERS: WeakValueDictionary[int, Qrels] = WeakValueDictionary()


def are_query_ids_of_qrels(query_ids: object) -> bool:
    """Return whether this is the ``query_ids`` of some ``Qrels``, and so was checked already.

    To check a million ids again takes a fifth of the time of an evaluation of top-k arrays.
    """
    owner = _OWNERS.get(id(query_ids))
    return owner is not None and owner.query_ids is query_ids


class _Chunk(NamedTuple):
    """What was read of the judgements of consecutive queries.

    Attributes:
        lengths: how many documents of each query are judged.
        doc_ids: the J judged documents, as the caller passed them.
        has_valid_ids: whether they are known to be text that is not empty.
        grades: their grades, f8[J]; f8[0] if one of them is not a number.
    """

    lengths: list[int]
    doc_ids: list[Any]
    has_valid_ids: bool
    grades: Floats


def _read_chunk(judgements: list[Mapping[Any, Any]]) -> _Chunk:
    """Read the judgements of some queries."""
    has_text_keys = have_text_keys(judgements)
    get_grades: Any = dict.values if has_text_keys else methodcaller("values")
    doc_ids = list(chain.from_iterable(judgements))
    try:
        grades = read_floats(chain.from_iterable(map(get_grades, judgements)), len(doc_ids))
    except NOT_NUMBERS:
        grades = np.zeros(0)
    return _Chunk(
        lengths=list(map(len, judgements)),
        doc_ids=doc_ids,
        # If the dicts show that all keys are text, only empty ids remain to be found.
        has_valid_ids=has_text_keys and not any(map(contains, judgements, repeat(""))),
        grades=grades,
    )


def _with_grades(mapping: Mapping[Any, Any]) -> list[Mapping[Any, Any]]:
    """Return {document: grade} of each query; a document in a list of ids has grade 1.

    Args:
        mapping: {query_id: {doc_id: grade} or a list of ids}.

    Raises:
        QrelsError: a list has entries that are no ids, or the lists are the columns of a table.
    """
    refuse_columns(mapping)
    graded: list[Mapping[Any, Any]] = []
    for query_id, judged in mapping.items():
        if isinstance(judged, Mapping):
            graded.append(judged)
            continue
        check_listed_ids(query_id, judged)
        # The order of a set of texts differs from process to process.
        ids = sorted(judged, key=str) if isinstance(judged, set | frozenset) else judged
        graded.append(dict.fromkeys(ids, 1))
    return graded


def refuse_columns(mapping: Mapping[Any, Any]) -> None:
    """Raise QrelsError if lists of ids are the columns of a table, ``{"query_id": […], …}``."""
    names = [name for name in mapping if isinstance(name, str)]
    if matching_names(names, QUERY_NAMES) and matching_names(names, DOC_NAMES):
        msg = (
            f"these are columns of a table ({first_few(names)}), not {{query_id: [doc_id, …]}}; "
            "Qrels.from_columns takes columns, and a file may be CSV, with a row per line"
        )
        raise QrelsError(msg)


def check_listed_ids(query_id: object, ids: Iterable[Any]) -> None:
    """Raise QrelsError if an entry of a list of ids is a list or an object, such as a pair."""
    for entry in ids:
        if isinstance(entry, (*_LISTS, Mapping)):
            msg = (
                f"the judgements of query {shown(query_id)} are a list, whose entries must be ids "
                f"of relevant documents, not {shown(entry)}; with grades, write {{doc_id: grade}}"
            )
            raise QrelsError(msg)


def excluded_ids(query_id: str, doc_ids: Any) -> frozenset[str]:
    """Return the ids in a list of documents to leave out, without BRIGHT's "N/A" for none.

    Raises:
        QrelsError: it is no list of ids, such as a text alone.
    """
    listed: Any = None if isinstance(doc_ids, str | bytes) else doc_ids
    try:
        ids = ids_as_text(listed)
    except (TypeError, ValueError) as error:
        msg = f"exclude: {shown(doc_ids)} of query {shown(query_id)} must be a list of ids"
        raise QrelsError(msg) from error
    return frozenset(ids) - {"N/A"}


class Qrels:
    """The judged documents of each query, with their grades.

    ``Qrels({"q1": {"d1": 2, "d2": 0}})`` takes BEIR's dict of dicts. The dict is copied, so later
    changes to it have no effect. ``Qrels({"q1": ["d1", "d2"]})`` takes the relevant documents
    alone, in a list, a tuple or a set: each has grade 1. Ids are text, and an integer id means its
    decimal string. Grades are finite numbers, fractions included. A document with a grade above 0
    is relevant, unless a measure sets ``rel``. Grade 0 is judged and not relevant. Any negative
    grade means "pooled but unjudged", as in trec_eval. A query without judgements is left out.

    Args:
        mapping: {query_id: {doc_id: grade}}, or {query_id: [doc_id, …]}.

    Attributes:
        query_ids: the judged queries, in the order given. [Q]
        doc_ids: the judged documents, by query, in the order given. [J]
        grades: their grades, read-only f8[J].
        starts: where each query's judgements begin, and the end of the last, i8[Q+1].
        queries_without_judgements: how many queries were left out because nothing is judged.
        repeated_judgements: how many rows, or entries of a list, repeated a judgement (see
            ``from_columns``).
        ranks: what these judgements give ranks to: "documents", or "chunks" or "characters" of text
            (see ``Spans.view``).
        excluded: {query_id: documents} that are left out of rankings (see ``excluding``).

    Raises:
        QrelsError: ``mapping`` is not a mapping, a value of it is neither a mapping nor a list of
            ids, nothing is judged, an id is empty or neither text nor an integer, a grade is not a
            number from -1e100 to 1e100, or an integer and a text id name the same query or
            document.

    >>> qrels = Qrels({"q1": {"d1": 0, "d2": 2}, "q2": {7: 1}})
    >>> qrels
    Qrels(2 queries, 3 judgements)
    >>> qrels.as_dict()
    {'q1': {'d2': 2.0, 'd1': 0.0}, 'q2': {'7': 1.0}}
    >>> Qrels({"q1": ["d1", "d2"]}).as_dict()
    {'q1': {'d1': 1.0, 'd2': 1.0}}
    """

    query_ids: tuple[str, ...]
    doc_ids: Sequence[str]
    grades: Floats
    starts: Ints
    ranks: str = "documents"
    excluded: Mapping[str, frozenset[str]] = MappingProxyType({})
    queries_without_judgements: int
    repeated_judgements: int

    def __init__(self, mapping: QrelsMapping) -> None:
        """Check and copy the judgements."""
        if not isinstance(mapping, Mapping):
            remedy = rows_remedy(mapping) or "read_qrels(path) reads a file"
            msg = (
                f"qrels must be {{query_id: {{doc_id: grade}}}} or Qrels, not "
                f"{type(mapping).__name__}; {remedy}"
            )
            raise QrelsError(msg)
        judgements: list[Any] = list(mapping.values())
        wrong = {kind for kind in set(map(type, judgements)) if not issubclass(kind, Mapping)}
        num_repeated = 0
        if wrong and all(issubclass(kind, _LISTS) for kind in wrong):
            num_listed = sum(map(len, judgements))
            judgements = _with_grades(mapping)
            num_repeated = num_listed - sum(map(len, judgements))
        elif wrong:
            pairs = zip(mapping, judgements, strict=False)
            query_id, judged = next(pair for pair in pairs if type(pair[1]) in wrong)
            msg = (
                f"the judgements of query {shown(query_id)} must be {{doc_id: grade}}, or a list "
                f"of ids, each of grade 1, not {type(judged).__name__}"
            )
            raise QrelsError(msg)
        self._read_judgements(list(mapping), judgements)
        self.repeated_judgements = num_repeated

    @classmethod
    def from_columns(
        cls, query_ids: Iterable[Any], doc_ids: Iterable[Any], grades: Iterable[Any]
    ) -> Self:
        """Return qrels from three columns of the same length, with one row per judgement.

        The rows may be in any order. A judgement that is repeated with the same grade counts once;
        ``repeated_judgements`` counts the repetitions.

        Args:
            query_ids: the query of each judgement.
            doc_ids: the judged document.
            grades: its grade.

        Raises:
            QrelsError: a column is not iterable, the columns have different lengths, there is no
                judgement, an id is empty or neither text nor an integer, a grade is not a number
                from -1e100 to 1e100, or a document is judged twice with different grades
                (DisagreeingJudgementsError).
        """
        queries, docs, raw_grades = checked_columns(
            (query_ids, doc_ids, grades), "grades", "qrels", QrelsError
        )
        judged_by_query: dict[str, dict[str, Any]] = {}
        num_repeated = 0
        for query_id, doc_id, grade in zip(queries, docs, raw_grades, strict=True):
            judged = judged_by_query.setdefault(query_id, {})
            if doc_id not in judged:
                judged[doc_id] = grade
                continue
            num_repeated += 1
            if judged[doc_id] != grade:
                msg = (
                    f"document {shown(doc_id)} is judged twice for query {shown(query_id)}, as "
                    f"{shown(judged[doc_id])} and as {shown(grade)}; keep one of the two"
                )
                raise DisagreeingJudgementsError(msg, columns=(queries, docs, raw_grades))
        qrels = cls(judged_by_query)
        qrels.repeated_judgements = num_repeated
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
        """Return qrels from a dataframe with one row per judgement, in any order.

        Columns that are not named are recognised by their usual names, such as query_id, qid or
        query-id; doc_id, docno, docid or corpus-id; grade, relevance, label, rel or score; or, if
        there are none of these, by other names, such as query, document and judgment. Of the
        columns qid, docid and docno, docno is the document, as in PyTerrier. Needs polars.

        Args:
            frame: anything with the Arrow PyCapsule interface: a polars or pandas dataframe (pandas
                needs pyarrow), a pyarrow table, or a relation of DuckDB as ``relation.pl()``. It is
                not changed.
            query_id: the name of the column of query ids.
            doc_id: the name of the column of document ids.
            grade: the name of the column of grades.

        Raises:
            QrelsError: the frame cannot be read, a column is missing, not recognised or one of
                several that match, an id is null, empty or neither text nor an integer, a grade is
                not a number from -1e100 to 1e100, there is no judgement, or a document is judged
                twice with different grades.
            MissingExtraError: polars is not installed, or pyarrow for pandas.
        """
        from beir_eval.core.dataframes import to_columns  # noqa: PLC0415 - an extra

        names = {"query_id": query_id, "doc_id": doc_id, "grade": grade}
        columns = to_columns(
            frame, number_role=GRADE, names=names, error_class=QrelsError, label="the qrels"
        )
        return cls.from_columns(*(column.to_list() for column in columns))

    @classmethod
    def coerce(cls, qrels: Any) -> Qrels:
        """Return ``qrels`` as ``Qrels``: itself, or made from a mapping or a dataframe.

        Args:
            qrels: ``Qrels``, {query_id: {doc_id: grade}}, {query_id: [doc_id, …]} (each counts as
                grade 1), or a dataframe with usual column names.

        Raises:
            QrelsError: as the constructor or ``from_dataframe``.
        """
        if isinstance(qrels, Qrels):
            return qrels
        return cls.from_dataframe(qrels) if is_dataframe(qrels) else cls(qrels)

    @classmethod
    def from_checked(
        cls, query_ids: Iterable[str], doc_ids: Iterable[str], grades: Floats, lengths: Ints
    ) -> Self:
        """Return qrels from parts that were checked before; for readers of many judgements.

        Args:
            query_ids: distinct, as text. [Q]
            doc_ids: the judged documents, query after query, distinct in each, as text. [J]
            grades: finite, f8[J]; the array becomes read-only.
            lengths: the number of judgements of each query, above 0, i8[Q].
        """
        qrels = cls.__new__(cls)
        qrels._set_arrays(query_ids, doc_ids, grades, lengths)  # noqa: SLF001 - of this class
        return qrels

    def _read_judgements(
        self, raw_query_ids: list[Any], judgements: list[Mapping[Any, Any]]
    ) -> None:
        # In chunks, so that only the first look at a dict waits for the memory.
        chunks = [
            _read_chunk(judgements[begin : begin + _QUERIES_AT_ONCE])
            for begin in range(0, len(judgements), _QUERIES_AT_ONCE)
        ]
        lengths = np.array(list(chain.from_iterable(chunk.lengths for chunk in chunks)), np.int64)
        starts = starts_from_lengths(lengths)
        query_ids = checked_query_ids(raw_query_ids, "qrels", QrelsError)
        # A tuple at once: each pass over scattered texts takes a tenth of the time of ``Qrels``.
        doc_ids: Sequence[str] = tuple(chain.from_iterable(chunk.doc_ids for chunk in chunks))
        are_valid_ids = all(chunk.has_valid_ids for chunk in chunks)
        if not are_valid_ids:
            doc_ids = checked_ids(doc_ids, "qrels", QrelsError)
        grades = np.concatenate([np.zeros(0), *(chunk.grades for chunk in chunks)])
        # An unreadable chunk has no grades.
        if len(grades) < len(doc_ids) or not (np.abs(grades) <= HIGHEST_GRADE).all():
            raise_grade_error(query_ids, starts, doc_ids, judgements)
        if not are_valid_ids:
            check_distinct_documents(query_ids, starts, doc_ids)
        is_judged = lengths > 0
        if not is_judged.any():
            msg = "the qrels are empty: there is no judgement in them, so nothing can be evaluated"
            raise QrelsError(msg)
        judged_query_ids = query_ids if is_judged.all() else compress(query_ids, is_judged.tolist())
        self._set_arrays(judged_query_ids, doc_ids, grades, lengths[is_judged])
        self.queries_without_judgements = int(np.count_nonzero(~is_judged))

    def _set_arrays(
        self, query_ids: Iterable[str], doc_ids: Iterable[str], grades: Floats, lengths: Ints
    ) -> None:
        """Set the attributes from checked parts.

        Args:
            query_ids: distinct, as text. [Q]
            doc_ids: the judged documents, query after query, as text. [J]
            grades: finite, f8[J]; the array becomes read-only.
            lengths: the number of judgements of each query, i8[Q].
        """
        # Ids that are made when they are looked at stay what they are.
        self.query_ids = tuple(query_ids)
        self.doc_ids: Sequence[str] = (
            doc_ids
            if isinstance(doc_ids, Sequence) and not isinstance(doc_ids, list)
            else tuple(doc_ids)
        )
        self.grades, self.starts = grades, starts_from_lengths(lengths)
        self.queries_without_judgements = self.repeated_judgements = 0
        _OWNERS[id(self.query_ids)] = self
        self.grades.flags.writeable = self.starts.flags.writeable = False

    @cached_property
    def num_judged(self) -> Ints:
        """The number of judged documents of each query, i8[Q]."""
        return np.diff(self.starts)

    @cached_property
    def row(self) -> Ints:
        """The query of each judgement, as an index into ``query_ids``, i8[J]."""
        return rows_from_lengths(self.num_judged)

    @cached_property
    def _row_of(self) -> dict[str, int]:
        return {query_id: row for row, query_id in enumerate(self.query_ids)}

    @cached_property
    def doc_numbers(self) -> Ints:
        """The number of which each judged id is the decimal string, -1 for other ids, i8[J]."""
        return decimal_numbers(self.doc_ids)

    @cached_property
    def query_numbers(self) -> Ints:
        """The number of which each query id is the decimal string, -1 for other ids, i8[Q]."""
        return decimal_numbers(self.query_ids)

    def find_rows(self, query_ids: Sequence[str]) -> Ints:
        """Return the index of each query in ``self.query_ids``, -1 if it is not judged: i8[R].

        Args:
            query_ids: queries, as text. [R]
        """
        if query_ids is self.query_ids or (
            len(query_ids) == len(self) and tuple(query_ids) == self.query_ids
        ):
            return np.arange(len(self), dtype=np.int64)
        return np.fromiter(map(self._row_of.get, query_ids, repeat(-1)), np.int64, len(query_ids))

    def judgements_of(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return the W judgements of R queries.

        Args:
            rows: indices into ``query_ids``, i8[R].

        Returns:
            The index of each judgement, i8[W]; the position of its query in ``rows`` (0..R-1),
            i8[W].
        """
        first, last = self.starts[rows], self.starts[rows + 1]
        return concatenate_ranges(first, last), rows_from_lengths(last - first)

    @cached_property
    def ideal(self) -> tuple[Ints, Floats]:
        """The ideal ranking of each query: ranks from 1, i8[J], and grades, best first, f8[J]."""
        is_sorted = ((self.grades[1:] <= self.grades[:-1]) | (self.row[1:] != self.row[:-1])).all()
        grades = self.grades if is_sorted else self.grades[np.lexsort((-self.grades, self.row))]
        return position_in_row(self.row) + 1, grades

    @cached_property
    def max_grade(self) -> float:
        """The highest grade of the data set; ``select`` keeps it."""
        return float(self.grades.max())

    @cached_property
    def query_hashes(self) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        """The sum of the hashes of each query's judgements modulo 2^64, u8[Q].

        A judgement has a hash of 64 bits of its query, document and grade, the same on every
        machine, and so has a document that is excluded for a query. So the sum over some queries is
        that of their qrels, in any order and in any parts: ``hash_text`` of it is
        ``Provenance.qrels_hash``. Unlike ``fingerprint`` it is quick, and no proof against somebody
        who looks for judgements of an equal sum.
        """
        num_judgements = len(self.grades)
        hashes = quick_hashes([*self.doc_ids, *self.query_ids])
        mixed = np.repeat(hashes[num_judgements:] * _OF_QUERY, self.num_judged)
        mixed += hashes[:num_judgements]
        mixed += (self.grades + 0.0).view(np.uint64)  # -0.0 becomes 0.0
        for shift, factor in _MIXING:
            mixed ^= mixed >> np.uint64(shift)
            mixed *= np.uint64(factor)
        sums = np.add.reduceat(mixed, self.starts[:-1])
        for query_id, doc_ids in self.excluded.items():
            pairs = quick_hashes([f"{query_id}\0{doc_id}" for doc_id in doc_ids])
            sums[[self._row_of[query_id]]] += pairs.sum()
        return sums

    @property
    def has_fractional_grades(self) -> bool:
        """Whether some positive grade is not a whole number."""
        positive = self.grades[self.grades > 0]
        return bool((positive != np.floor(positive)).any())

    def grades_of_row(self, row: int) -> dict[str, float]:
        """Return {doc_id: grade} of one query, highest grade first.

        Args:
            row: the index of the query in ``query_ids``.
        """
        begin, end = int(self.starts[row]), int(self.starts[row + 1])
        graded = zip(self.doc_ids[begin:end], self.grades[begin:end].tolist(), strict=True)
        return dict(sorted(graded, key=itemgetter(1), reverse=True))

    def select(self, query_ids: Iterable[Any], *, max_grade: float | None = None) -> Qrels:
        """Return the judgements of these queries only, in this order.

        Args:
            query_ids: the queries, or a single query id as text.
            max_grade: the highest grade of the data set, on which some measures depend; by default
                that of these qrels, so that the scores of a query stay the same.

        Raises:
            QrelsError: there is no query, an id is not valid, a query is not judged or listed
                twice, or ``max_grade`` is NaN, below the highest grade of the selection, or above
                1e100.

        >>> Qrels({"q1": {"d1": 2}, "q2": {"d1": 1}}).select(["q2"])
        Qrels(1 queries, 1 judgements)
        """
        requested = [query_ids] if isinstance(query_ids, str) else query_ids
        selected = checked_ids(requested, "qrels", QrelsError)
        if not selected:
            raise QrelsError("no query was selected, and qrels without judgements judge nothing")
        rows = self.find_rows(selected)
        unknown = list(compress(selected, rows < 0))
        if unknown or len(set(selected)) < len(selected):
            repeated = repeated_ids(selected)
            problem = (
                f"{first_few(unknown)} are not"
                if unknown
                else f"{first_few(repeated)} are named twice"
            )
            msg = f"judged queries were expected, each once, but {problem}"
            raise QrelsError(msg)
        judgement, _ = self.judgements_of(rows)
        selection = Qrels.from_checked(
            selected,
            pick_ids(self.doc_ids, judgement),
            self.grades[judgement],
            self.num_judged[rows],
        )
        highest = float(selection.grades.max())
        if max_grade is not None and not (is_grade(max_grade) and highest <= max_grade):
            msg = (
                f"max_grade must be a number of at least {highest:g}, the highest grade, and at "
                f"most {HIGHEST_GRADE:g}, not {shown(max_grade)}"
            )
            raise QrelsError(msg)
        selection.max_grade = self.max_grade if max_grade is None else float(max_grade)
        selection.ranks = self.ranks
        selection = selection.excluding_as(self)
        if "query_hashes" in vars(self):
            selection.query_hashes = self.query_hashes[rows]
        return selection

    def excluding(self, documents: Mapping[Any, Iterable[Any]]) -> Qrels:
        """Return these judgements with documents to leave out of the rankings of a query.

        They leave a ranking before ranks are counted. The judgements stay what they are: a relevant
        document that is excluded counts as not found.

        Args:
            documents: {query_id: ids of documents}, in place of those excluded so far. Queries that
                are not judged are ignored, and so is "N/A", which BRIGHT lists for none.

        Raises:
            QrelsError: this is no such mapping, none of its queries is judged, an id is not valid,
                or text is judged, not documents.

        >>> qrels = Qrels({"q1": {"d4": 1}}).excluding({"q1": ["d1", "d2"]})
        >>> sorted(qrels.excluded["q1"])
        ['d1', 'd2']
        """
        if not isinstance(documents, Mapping):
            msg = f"exclude must be {{query_id: [doc_id, …]}}, not {type(documents).__name__}"
            raise QrelsError(msg)
        if self.ranks != "documents" and documents:
            raise QrelsError("documents can be excluded where documents are judged, not spans")
        query_ids = checked_query_ids(documents, "exclude", QrelsError)
        result = copy(self)
        for name in ("query_hashes", "excluded_sha256"):
            vars(result).pop(name, None)
        listed = dict(zip(query_ids, map(excluded_ids, query_ids, documents.values()), strict=True))
        result.excluded = {query: listed[query] for query in self.query_ids if listed.get(query)}
        if any(listed.values()) and not result.excluded:
            msg = (
                f"exclude has no judged query: it lists {first_few(listed)}, and the qrels judge "
                f"{first_few(self.query_ids)}; name queries first, with the ids of the qrels"
            )
            raise QrelsError(msg)
        return result

    def excluding_as(self, others: Qrels) -> Qrels:
        """Return these judgements with the documents that others exclude for the same queries.

        Args:
            others: judgements of some of these queries, or of the same documents otherwise.
        """
        if not others.excluded:
            return self
        shared = others.excluded.keys() & self.query_ids
        return self.excluding({query_id: others.excluded[query_id] for query_id in shared})

    def as_dict(self) -> dict[str, dict[str, float]]:
        """Return a new {query_id: {doc_id: grade}} of all judgements, best first within a query."""
        return {query_id: self.grades_of_row(row) for row, query_id in enumerate(self.query_ids)}

    def to_dataframe(self) -> pl.DataFrame:
        """Return a polars DataFrame with a row for each judgement, in the order of ``as_dict``.

        The columns are ``query_id``, ``doc_id`` and ``grade`` (f8).

        Raises:
            MissingExtraError: polars is not installed.
            InputError: an id is not valid Unicode.
        """
        with needs_extra("polars", "files", "to_dataframe"):
            from beir_eval.core.dataframes import frame_of_rows  # noqa: PLC0415 - an extra
        rows = [
            (query_id, doc_id, grade)
            for query_id, judged in self.as_dict().items()
            for doc_id, grade in judged.items()
        ]
        return frame_of_rows(rows, "grade", "the qrels")

    def fingerprint(self) -> str:
        """Return the SHA-256 (hex) of judgements and excluded documents, in whatever order."""
        import hashlib  # noqa: PLC0415 - loads OpenSSL, and is rarely needed

        digest = hashlib.sha256()
        for query_id, judged in sorted(self.as_dict().items()):
            for doc_id, grade in sorted(judged.items()):
                line = f"{query_id}\0{doc_id}\0{(grade + 0.0).hex()}\n"  # -0.0 becomes 0.0
                digest.update(line.encode(errors="surrogatepass"))
        if excluded := self.excluded_sha256:
            digest.update(excluded.encode())
        return digest.hexdigest()

    @cached_property
    def excluded_sha256(self) -> str | None:
        """The SHA-256 (hex) of the excluded documents, in whatever order; None without any."""
        if not self.excluded:
            return None
        import hashlib  # noqa: PLC0415 - as in ``fingerprint``

        pairs = ((query_id, doc) for query_id, docs in self.excluded.items() for doc in docs)
        lines = "".join(f"{query_id}\0{doc_id}\n" for query_id, doc_id in sorted(pairs))
        return hashlib.sha256(lines.encode(errors="surrogatepass")).hexdigest()

    def __deepcopy__(self, memo: dict[int, Any]) -> Qrels:
        """Return the object itself: it never changes, and Haystack copies its inputs."""
        return self

    def _to_trace_dict(self) -> dict[str, int]:
        """Return the size, which Haystack's tracing shows instead of the content."""
        return {"queries": len(self), "judgements": len(self.doc_ids)}

    def __len__(self) -> int:
        """Return the number of judged queries."""
        return len(self.query_ids)

    def __repr__(self) -> str:
        """Return the size, not the content."""
        return f"Qrels({len(self.query_ids)} queries, {len(self.doc_ids)} judgements)"


def hash_text(total: int) -> str:
    """Return a sum of hashes modulo 2^64 as text: 16 hex digits.

    >>> hash_text(-1)
    'ffffffffffffffff'
    """
    return f"{total % 2**64:016x}"


def highest_grades_of(qrels: Qrels) -> dict[str, float]:
    """Return {doc_id: its highest grade for any query} of all judged documents."""
    highest: dict[str, float] = {}
    for doc_id, grade in zip(qrels.doc_ids, qrels.grades.tolist(), strict=True):
        highest[doc_id] = max(grade, highest.get(doc_id, grade))
    return highest
