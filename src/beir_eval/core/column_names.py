"""The columns and keys that tables and JSON files are read by, and the rows that count.

Columns have their usual names, or those that the caller states (``StatedColumns``). Columns such as
"system" tell the systems of a table apart: ``RowFilter`` keeps the rows of one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Self

from beir_eval.errors import InputError, SettingError, first_few, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

#: The names of columns in our own tables.
QUERY, DOC, SCORE, GRADE = "query_id", "doc_id", "score", "grade"
#: All names are in lower case, with ``_`` instead of ``-`` and blanks (see ``matching_names``).
QUERY_NAMES = ("query_id", "qid", "queryid", "q_id", "topic_id")
DOC_NAMES = ("doc_id", "docno", "docid", "corpus_id", "document_id", "pid", "passage_id")
SCORE_NAMES = ("score", "sim", "similarity")
GRADE_NAMES = ("grade", "relevance", "label", "rel", "score")

#: {role: the names by which its column is recognised}.
USUAL_NAMES: Mapping[str, Sequence[str]] = {
    "query_id": QUERY_NAMES,
    "doc_id": DOC_NAMES,
    "score": SCORE_NAMES,
    "grade": GRADE_NAMES,
}
#: {role: names of its column in tables that have none of the usual names}. They are less specific,
#: or those of few tools, such as "query" of trectools and "_id" of Elasticsearch.
OTHER_NAMES: Mapping[str, Sequence[str]] = {
    "query_id": ("query", "topic", "topicid", "query_no", "query_number", "topic_no", "qno"),
    "doc_id": (
        "doc",
        "document",
        "documentid",
        "doc_no",
        "passage",
        "passageid",
        "corpusid",
        "_id",
    ),
    "score": ("_score", "relevance_score", "similarity_score", "sim_score", "retrieval_score"),
    "grade": (
        "relevance_score",
        "relevance_label",
        "relevance_grade",
        "relevancy",
        "judgment",
        "judgement",
        "rating",
        "qrel",
    ),
}
#: The columns of the tables of runs, and of those of judgements.
RUN_ROLES, QRELS_ROLES = ("query_id", "doc_id", "score"), ("query_id", "doc_id", "grade")
#: The name of a column of ranks beside scores.
RANK_NAMES = ("rank",)
#: The columns that tell the systems of a table apart, or parts of its data; also with ``_id`` or
#: ``_name`` behind the word.
GROUP_NAMES = ("system", "model", "run", "tag", "method", "split", "fold", "annotator")
_NUMBER = re.compile(r"[-+]?[\d.]+(e[-+]?\d+)?", re.IGNORECASE)
#: What to do about a file of several systems, and about a dataframe.
_CHOOSE_ONE = "choose one with {choice}, or write a file for each"
FILTER_IT = "pass the rows of one, filtered by this column"
#: The name of the last column of a TREC run.
TAG = "tag"
#: Columns that are called a score and rank nothing: the highest score of each query.
_NO_SCORES = ("max_score", "min_score")
#: What PyTerrier calls its columns of queries, row numbers of documents, and document ids.
_PYTERRIER_QUERY, _PYTERRIER_ROW, _PYTERRIER_DOC = "qid", "docid", "docno"


def matching_names(names: Iterable[str], usual: Sequence[str]) -> list[str]:
    """Return those ``names`` that are in ``usual``; case is ignored, ``-`` and blanks mean ``_``.

    >>> matching_names(["Query-ID", "text"], QUERY_NAMES)
    ['Query-ID']
    """
    return [name for name in names if _usual_form(name) in usual]


def columns_of_role(names: Iterable[str], role: str) -> list[str]:
    """Return those ``names`` of the columns of a table that may be the column of a role.

    These are the usual names of the role, or if there are none, the other names. Beside a score,
    other ones may be it too, such as "rerank_score": the names do not say which of them ranks. In
    the tables of PyTerrier, which have the columns qid, docid and docno, docno is the document id,
    and docid a row number of the index.

    Args:
        names: the names of all columns.
        role: a key of ``USUAL_NAMES``.

    >>> columns_of_role(["qid", "docid", "docno", "score"], "doc_id")
    ['docno']
    >>> columns_of_role(["qid", "docid", "score"], "doc_id")
    ['docid']
    >>> columns_of_role(["qid", "docid", "score", "rerank_score"], "score")
    ['score', 'rerank_score']
    """
    available = list(names)
    matches = matching_names(available, USUAL_NAMES[role]) or matching_names(
        available, OTHER_NAMES[role]
    )
    if role == SCORE and matches:
        matches = [name for name in available if name in matches or _is_called_score(name)]
    forms = set(map(_usual_form, available))
    if {_PYTERRIER_QUERY, _PYTERRIER_ROW, _PYTERRIER_DOC} <= forms:
        return [name for name in matches if _usual_form(name) != _PYTERRIER_ROW]
    return matches


def _is_called_score(name: str) -> bool:
    """Return whether a name is that of a particular score, such as "rerank_score"."""
    form = _usual_form(name)
    return form.endswith("_score") and form not in _NO_SCORES


def _usual_form(name: str) -> str:
    """Return a name in the form in which the usual names are written."""
    return name.lower().replace("-", "_").replace(" ", "_")


@lru_cache(maxsize=64)
def group_columns(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns of a table that may tell several systems in it apart.

    >>> group_columns(("qid", "docno", "score", "Run_Name"))
    ('Run_Name',)
    """
    words = {name: _usual_form(name).removesuffix("_id").removesuffix("_name") for name in names}
    return tuple(name for name, word in words.items() if word in GROUP_NAMES)


def is_data(names: Sequence[str]) -> bool:
    """Return whether names of columns are a row of a table without a header: some are numbers.

    If a name is recognised they are a header, and so are 0, 1, 2, …, those of a dataframe without.

    >>> is_data(["q1", "d1", "2.5"]), is_data(["qid", "hit", "2024"]), is_data(["0", "1", "2"])
    (True, False, False)
    """
    are_default = list(names) == list(map(str, range(len(names))))
    are_named = any(columns_of_role(names, role) for role in USUAL_NAMES)
    return any(map(_NUMBER.fullmatch, names)) and not are_default and not are_named


def choose_column(  # noqa: PLR0913 - what the message says
    available: Iterable[str],
    role: str,
    requested: object,
    error_class: type[InputError],
    label: str,
    *,
    how_to_state: str = "state it in from_dataframe: {role}='…'",
) -> str:
    """Return the name of the column that has a role.

    Args:
        available: the names of all columns.
        role: a key of ``USUAL_NAMES``.
        requested: the name that the caller states; None recognises one by the usual names.
        error_class: the class of the error to raise.
        label: what messages call the frame, for example "the run".
        how_to_state: how the caller can state the name, for messages; ``{role}`` is the role.

    Raises:
        InputError: (of class ``error_class``) a column is missing, not recognised or one of
            several that match.
    """
    names = list(available)
    if requested is not None and requested not in names:
        msg = f"{label} has no column {shown(requested)}; it has {first_few(names)}"
        raise error_class(msg)
    matches = [name for name in names if name == requested] or columns_of_role(names, role)
    if len(matches) == 1:
        return matches[0]
    usual = ", ".join(USUAL_NAMES[role])
    if is_data(names):
        msg = (
            f"{label} has no header: its columns are named {first_few(names)}, which are values. "
            "Read the table again without a header, and name its columns"
        )
        raise error_class(msg)
    if matches:
        problem = f"several columns that could be {role}: {first_few(matches)}. Rename all but one"
    else:
        ranks = matching_names(names, RANK_NAMES) if role == SCORE else []
        problem = (
            f"no column that is recognisably {role} (one of {usual}); it has {first_few(names)}. "
            + (f"Write scores that descend with {ranks[0]}" if ranks else "Rename it")
        )
    msg = f"{label} has {problem}, or {how_to_state.format(role=role)}"
    raise error_class(msg)


class RowFilter:
    """Which rows of a table count, and the values in columns that may tell systems apart.

    Args:
        where: {column: its value in the rows that count}.
        remedy: what to do about several systems, for messages; ``{choice}`` chooses one.
    """

    def __init__(self, where: Mapping[str, str], remedy: str = _CHOOSE_ONE) -> None:
        """Keep the arguments."""
        self.where, self._remedy = where, remedy
        self._values: dict[str, dict[str, None]] = {}

    def keeps(self, row: Mapping[str, Any]) -> bool:
        """Return whether a row counts, and note its values.

        Args:
            row: {column: value}; only texts and numbers tell systems apart.
        """
        for name in self.where:
            self.note(name, [row.get(name)])
        if any(str(row.get(name)) != value for name, value in self.where.items()):
            return False
        for name in group_columns(tuple(row)):
            if name not in self.where and isinstance(row[name], str | int | float):
                self.note(name, [row[name]])
        return True

    def rows_of_frame(self, frame: Any) -> Any:
        """Return the rows of a polars DataFrame that count.

        Raises:
            InputError: as ``check``.
        """
        for name, value in self.where.items():
            texts = frame[name].cast(str)
            self.note(name, texts.unique(maintain_order=True))
            frame = frame.filter(texts == value)
        for name in group_columns(tuple(frame.columns)):
            if name not in self.where and not frame[name].dtype.is_nested():
                self.note(name, frame[name].unique(maintain_order=True))
        self.check()
        return frame

    def note(self, name: str, values: Iterable[object]) -> None:
        """Note values of a column; None and an empty text are none."""
        texts = (str(value) for value in values if value is not None and value != "")
        self._values.setdefault(name, {}).update(dict.fromkeys(texts))

    def values_of(self, name: str) -> AbstractSet[str]:
        """Return the values of a column that were noted, in the order of the rows."""
        return self._values.get(name, {}).keys()

    def add(self, other: RowFilter) -> None:
        """Note the values that another filter noted, of a part of the table."""
        for name, values in other._values.items():
            self.note(name, values)

    def check(self, *, are_all: bool = True) -> None:
        """Check the values that were noted.

        Args:
            are_all: whether they are those of all rows; if not, a stated value may still come.

        Raises:
            InputError: no row has a stated value, or the rows that count have several values in a
                column that tells systems apart.
        """
        for name, values in self._values.items():
            value, listed = self.where.get(name), first_few(values)
            if value is not None and value not in values and are_all:
                msg = f"where= states {name}={value}, but the column {shown(name)} has {listed}"
                raise InputError(msg)
            if value is None and len(values) > 1:
                choice = f"where={{{name!r}: {next(iter(values))!r}}}"
                msg = (
                    f"several systems, or parts of the data: the column {shown(name)} has the "
                    f"values {listed}; {self._remedy.format(choice=choice)}. If they are one, give "
                    "all rows the same value"
                )
                raise InputError(msg)


class StatedColumns:
    """What a caller states about the columns of tables: their names, and which rows count.

    Attributes:
        names: {role: name of its column}, in place of those that are recognised.
        where: {column: its value in the rows that count}.
        is_shared: whether they are for several files: what is stated of a column applies to the
            files that have it, and ``refuse_unused`` tells whether one has. Otherwise the file must
            have all.
    """

    names: Mapping[str, str]
    where: Mapping[str, str]
    is_shared: bool

    def __init__(
        self, names: Mapping[str, str], where: Mapping[str, str] = {}, *, is_shared: bool = False
    ) -> None:
        """Keep the names and values."""
        self.names, self.where, self.is_shared = dict(names), dict(where), is_shared
        self._used: set[tuple[str, str]] = set()
        self._available: dict[str, None] = {}

    @classmethod
    def read(
        cls, columns: Any, roles: Sequence[str], where: Any = None, *, is_shared: bool = False
    ) -> StatedColumns:
        """Return what the arguments ``columns`` and ``where`` of a reader say.

        Args:
            columns: {role: name}, None for no names, or an object of this class, which says all.
            roles: the roles that the table has.
            where: {column: value}; None for all rows.
            is_shared: as the attribute.

        Raises:
            SettingError: a role is none of these, or a name is not text.
        """
        if isinstance(columns, StatedColumns):
            return columns
        stated = {} if columns is None else columns
        cls._check(stated, roles)
        values = {name: str(value) for name, value in (where or {}).items()}
        return cls(stated, values, is_shared=is_shared)

    @classmethod
    def parse(cls, columns: str | None, where: Sequence[str] = ()) -> Self:
        """Return what options state for several files.

        Args:
            columns: the names, such as "doc_id=docno,grade=label"; None for none.
            where: a column and its value each, such as "tag=bm25".

        Raises:
            SettingError: a text has another form, or a role or a column is unknown or stated twice.
        """
        values = {name: value for name, _, value in (pair.partition("=") for pair in where)}
        if len(values) < len(where) or not all(pair.find("=") > 0 for pair in where):
            msg = f"where= must be COLUMN=VALUE, each column once, not {first_few(where)}"
            raise SettingError(msg)
        names: dict[str, str] = {}
        for pair in [] if columns is None else columns.split(","):
            role, is_pair, name = (part.strip() for part in pair.partition("="))
            if not is_pair or not name or role in names:
                msg = (
                    "columns= must be pairs such as doc_id=docno,grade=label, each role once, not "
                    f"{shown(columns)}"
                )
                raise SettingError(msg)
            names[role] = name
        cls._check(names, tuple(USUAL_NAMES))
        return cls(names, values, is_shared=True)

    @staticmethod
    def _check(names: Mapping[Any, Any], roles: Sequence[str]) -> None:
        """Raise SettingError if a role is none of these, or a name is not text."""
        for role, name in names.items():
            if role not in roles:
                msg = f"columns= names the columns {', '.join(roles)}, not {shown(role)}"
                raise SettingError(msg)
            if not isinstance(name, str) or not name:
                msg = f"the column of {role} must have a name, not {shown(name)}"
                raise SettingError(msg)

    def __bool__(self) -> bool:
        """Return whether a name is stated."""
        return bool(self.names)

    def name_of(self, role: str, available: Iterable[str]) -> str | None:
        """Return the stated name of the column of a role; None if it is to be recognised.

        Args:
            role: a key of ``USUAL_NAMES``.
            available: the names of all columns of a table.
        """
        name = self.names.get(role)
        if name is None:
            return None
        if name in available:
            self._used.add((role, name))
        elif self.is_shared:
            self._available.update(dict.fromkeys(available))
            return None
        return name

    def rows_of(self, available: Iterable[str]) -> RowFilter:
        """Return which rows of a table count.

        Args:
            available: the names of all columns of the table.
        """
        names = dict.fromkeys(available)
        where = {name: value for name, value in self.where.items() if name in names}
        self._used.update(where.items())
        self._available.update(names if len(where) < len(self.where) else {})
        return RowFilter(where)

    def refuse_unused(self) -> None:
        """Check that one of the files that were read has each column that is stated.

        Raises:
            InputError: none has.
        """
        stated = [("columns", role, name, name) for role, name in self.names.items()]
        stated += [("where", name, value, name) for name, value in self.where.items()]
        for argument, key, value, name in stated:
            if (key, value) in self._used:
                continue
            having = (
                f"the tables have {first_few(self._available)}"
                if self._available
                else f"no file is a table with a column for {key} (CSV, Parquet or JSON lines)"
            )
            msg = (
                f"{argument}= states {key}={value}, but no file has the column {shown(name)}: "
                f"{having}"
            )
            raise InputError(msg)


#: No stated names.
NO_COLUMNS = StatedColumns({})
