"""Rankings in a DuckDB relation, which is read when they are needed, part by part."""

from __future__ import annotations

import sys
from threading import RLock
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
import polars as pl

from beir_eval.core.column_names import DOC, FILTER_IT, QUERY, SCORE, RowFilter, group_columns
from beir_eval.core.dataframes import names_of_columns, to_columns
from beir_eval.core.run_sources.dataframe import source_from_frames
from beir_eval.errors import RunError, first_few

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.core.arrays import Floats
    from beir_eval.core.qrels import Qrels
    from beir_eval.core.run_sources.base import RankingBlock
    from beir_eval.core.run_sources.columns import ColumnSource

#: Rows that are in memory at a time, beside those of judged queries: a few MB.
_ROWS_AT_ONCE = 2**17
#: If a smaller share of a part is kept, its texts are copied, because a column of polars keeps the
#: memory of all texts of the part.
_COPIED_BELOW = 0.5
#: A connection of DuckDB has one open result, and several relations may share the connection.
_READING = RLock()


class _JudgedRows(NamedTuple):
    """The rows of the queries of some qrels.

    Attributes:
        qrels: the qrels.
        source: the rows.
    """

    qrels: Qrels
    source: ColumnSource


class RelationSource:
    """The source of a run that is a DuckDB relation with a row for each retrieved document.

    At evaluation the rows are read as a stream. All are checked, and those of judged queries are
    kept, so that another evaluation on the same queries reads nothing. Without pyarrow, which
    DuckDB needs for a stream, or if a row is not valid, the relation is read as a whole.
    """

    checks_all_documents: ClassVar[bool] = True

    def __init__(self, relation: Any, names: Mapping[str, str | None]) -> None:
        """Check the columns, but no rows; only a column such as "system" is read.

        Args:
            relation: the relation.
            names: {role: column name}; a role with None is recognised by the usual names.

        Raises:
            RunError: a column is missing, not recognised, one of several that match, or of a type
                that cannot be read.
            InputError: a column has the values of several systems.
        """
        with _READING:
            self._names = names_of_columns(
                relation.limit(0),
                number_role=SCORE,
                names=names,
                error_class=RunError,
                label="the run",
            )
            rows = RowFilter({}, FILTER_IT)
            for name in group_columns(tuple(relation.columns)):
                values = relation.project(_quoted(name)).distinct().fetchall()
                rows.note(name, sorted(str(value) for (value,) in values if value is not None))
            rows.check()
            self._relation = relation.project(", ".join(map(_quoted, self._names.values())))
            self._no_rows = self._columns_of(self._relation.limit(0))
        self._query_ids: Sequence[str] | None = None
        self._judged: _JudgedRows | None = None

    def __reduce__(self) -> tuple[Any, tuple[ColumnSource]]:
        """Pickle and copy the rows, because a relation belongs to its process."""
        return _itself, (self._whole(),)

    @property
    def query_ids(self) -> Sequence[str]:
        """The queries that have a ranking; the relation is read if it was not read before."""
        if self._query_ids is None:
            self._read(None)
        assert self._query_ids is not None  # noqa: S101 - set by _read
        return self._query_ids

    def blocks(self, qrels: Qrels) -> Iterator[RankingBlock]:
        """Yield the rankings of the judged queries, as ``ColumnSource.blocks``."""
        judged = self._judged
        if judged is None or not (judged.qrels.find_rows(qrels.query_ids) >= 0).all():
            self._judged = judged = _JudgedRows(qrels, self._read(qrels))
        return judged.source.blocks(qrels)

    def rankings(self) -> Iterator[tuple[str, Sequence[str], Floats | None]]:
        """Yield every ranking in the order given; all rows are in memory."""
        return self._whole().rankings()

    def _read(self, qrels: Qrels | None) -> ColumnSource:
        """Return the rows of the queries of the qrels, or no rows, and keep all query ids.

        Raises:
            RunError: the relation cannot be read, a row is not valid, or the queries are others
                than before, in any order.
        """
        query_ids: dict[str, None] = {}
        with _READING:
            try:
                source = source_from_frames(self._judged_rows(qrels, query_ids))
            except Exception:  # noqa: BLE001 - of DuckDB, pyarrow and polars, or of a row
                source = self._whole()  # raises the error of the whole table, if there is one
                query_ids = dict.fromkeys(source.query_ids)
        # A database may deliver the rows in another order each time.
        if self._query_ids is None:
            self._query_ids = tuple(query_ids)
        elif changed := query_ids.keys() ^ set(self._query_ids):
            msg = (
                "the queries of the run have changed since it was read first: "
                f"{first_few(sorted(changed))}. Make a new Run of the relation, "
                "or read it as a whole: Run.from_dataframe(relation.pl())"
            )
            raise RunError(msg)
        return source

    def _judged_rows(
        self, qrels: Qrels | None, query_ids: dict[str, None]
    ) -> Iterator[pl.DataFrame]:
        """Yield the rows of the queries of the qrels, part by part, at least an empty part.

        Args:
            qrels: the qrels; None for no rows.
            query_ids: the queries of all rows are added to it.
        """
        yield self._no_rows
        for part in self._parts():
            spans = part[QUERY].rle().struct
            queries: list[str] = spans.field("value").to_list()
            query_ids.update(dict.fromkeys(queries))
            if qrels is None:
                continue
            is_judged = qrels.find_rows(queries) >= 0
            if not is_judged.any():
                continue
            is_kept = np.repeat(is_judged, spans.field("len").to_numpy())
            kept = part.filter(pl.Series(is_kept))
            if len(kept) < _COPIED_BELOW * len(part):
                copies = [pl.Series(name, kept[name].to_list(), pl.String) for name in (QUERY, DOC)]
                kept = pl.DataFrame([*copies, kept[SCORE]])
            yield kept

    def _parts(self) -> Iterator[pl.DataFrame]:
        """Yield all rows as checked columns, part by part."""
        relation = self._relation
        # The older name is deprecated in DuckDB 2.
        read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
        reader = read(_ROWS_AT_ONCE)
        try:
            for batch in reader:
                yield self._columns_of(batch)
        finally:
            reader.close()  # or the connection would refuse its next query

    def _whole(self) -> ColumnSource:
        """Return all rows.

        Raises:
            RunError: as ``Run.from_dataframe``.
        """
        with _READING:
            return source_from_frames([self._columns_of(self._relation)])

    def _columns_of(self, rows: object) -> pl.DataFrame:
        """Return rows of the relation as checked columns."""
        return to_columns(
            rows, number_role=SCORE, names=self._names, error_class=RunError, label="the run"
        )


def is_relation(frame: object) -> bool:
    """Return whether this is a relation of DuckDB, without importing DuckDB."""
    module = sys.modules.get("duckdb")
    return module is not None and isinstance(frame, module.DuckDBPyRelation)


def _quoted(name: str) -> str:
    """Return the name of a column as SQL reads it."""
    return '"' + name.replace('"', '""') + '"'


def _itself(source: ColumnSource) -> ColumnSource:
    """Return a source that was pickled."""
    return source
