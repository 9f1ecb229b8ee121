"""The names of columns and keys that tables, JSON files and votes are read by.

These are the usual names, or those that the caller states (``StatedColumns``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from beir_eval.errors import InputError, SettingError, first_few, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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


class StatedColumns:
    """The names of columns that a caller states, in place of those that are recognised.

    Attributes:
        names: {role: name of its column}.
        is_shared: whether they are for several files: a name is used for the files that have such a
            column, and ``refuse_unused`` tells whether one has. Otherwise the file must have all.
    """

    names: Mapping[str, str]
    is_shared: bool

    def __init__(self, names: Mapping[str, str], *, is_shared: bool = False) -> None:
        """Keep the names."""
        self.names, self.is_shared = dict(names), is_shared
        self._used: set[str] = set()
        self._available: dict[str, None] = {}

    @classmethod
    def read(cls, columns: Any, roles: Sequence[str], *, is_shared: bool = False) -> StatedColumns:
        """Return what the argument ``columns`` of a reader says.

        Args:
            columns: {role: name}, None for no names, or an object of this class.
            roles: the roles that the table has.
            is_shared: as the attribute.

        Raises:
            SettingError: a role is none of these, or a name is not text.
        """
        if isinstance(columns, StatedColumns):
            return columns
        stated = {} if columns is None else columns
        cls._check(stated, roles)
        return cls(stated, is_shared=is_shared)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the names that an option states for several files, "doc_id=docno,grade=label".

        Raises:
            SettingError: the text has another form, or a role is unknown or stated twice.
        """
        names: dict[str, str] = {}
        for pair in text.split(","):
            role, is_pair, name = (part.strip() for part in pair.partition("="))
            if not is_pair or not name or role in names:
                msg = (
                    "columns= must be pairs such as doc_id=docno,grade=label, each role once, not "
                    f"{shown(text)}"
                )
                raise SettingError(msg)
            names[role] = name
        cls._check(names, tuple(USUAL_NAMES))
        return cls(names, is_shared=True)

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
            self._used.add(role)
        elif self.is_shared:
            self._available.update(dict.fromkeys(available))
            return None
        return name

    def refuse_unused(self) -> None:
        """Check that each name was that of a column in one of the files that were read.

        Raises:
            InputError: one was not.
        """
        for role, name in self.names.items():
            if role in self._used:
                continue
            having = (
                f"the tables have {first_few(self._available)}"
                if self._available
                else f"no file is a table with a column for {role} (CSV, Parquet or JSON lines)"
            )
            msg = (
                f"columns= states {role}={name}, but no file has the column {shown(name)}: {having}"
            )
            raise InputError(msg)


#: No stated names.
NO_COLUMNS = StatedColumns({})
