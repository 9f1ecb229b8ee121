"""``Judgements``: qrels in polars columns, from which the queries of a part are selected.

Judgements as Python objects take 160 to 335 bytes each; in columns they take about 40.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from beir_eval.adapters.qrels_columns import qrels_columns
from beir_eval.core.arrays import concatenate_ranges, starts_from_lengths
from beir_eval.core.column_names import DOC, GRADE, QUERY
from beir_eval.core.files import as_path
from beir_eval.core.ids import check_unicode
from beir_eval.core.qrels import Qrels
from beir_eval.evaluation.inputs import as_qrels, conventions_of, find_judgements

if TYPE_CHECKING:
    from pathlib import Path

    from beir_eval.core.arrays import Floats, Ints
    from beir_eval.evaluation.records import Conventions


class Judgements:
    """The judgements of Q queries in columns.

    Attributes:
        queries: the judged queries, in the order of the qrels. [Q]
        documents: the judged documents, query after query. [J]
        grades: their grades, f8[J].
        starts: where each query's judgements begin, and the end of the last, i8[Q+1].
        repeated_judgements, queries_without_judgements: as those of ``Qrels``.
        identity: what the judgements and their order are recognised by, for resuming: a file with
            its size and time, or hashes.
    """

    #: BEIR's conventions for the folder of the judgements; None for all else.
    conventions: Conventions | None = None

    def __init__(self, frame: pl.DataFrame, *, repeated: int, empty: int, identity: str) -> None:
        """Keep checked judgements: distinct, with finite grades.

        Args:
            frame: query, document and grade, a row a judgement, at least one.
            repeated: how many judgements were repeated.
            empty: how many queries had no judgement.
            identity: as the attribute.
        """
        lengths = frame[QUERY].rle().struct
        queries = lengths.field("value")
        if queries.n_unique() < len(queries):
            unique = frame.select(pl.col(QUERY).unique(maintain_order=True)).with_row_index("row")
            rows = frame.select(QUERY).join(unique, on=QUERY, how="left", maintain_order="left")
            frame = frame[np.argsort(rows["row"].to_numpy(), kind="stable")]
            lengths = frame[QUERY].rle().struct
        self.queries = lengths.field("value").rechunk()
        self.starts = starts_from_lengths(lengths.field("len").to_numpy().astype(np.int64))
        self.documents = frame[DOC].rechunk()
        self.grades: Floats = frame[GRADE].to_numpy()
        self.max_grade = float(self.grades.max())
        self.repeated_judgements, self.queries_without_judgements = repeated, empty
        self.identity = identity
        hashes = self.queries.hash(seed=0).to_numpy()
        self._by_hash = np.argsort(hashes, kind="stable")
        self._sorted_hashes = hashes[self._by_hash]
        self._has_equal_hashes = bool((self._sorted_hashes[1:] == self._sorted_hashes[:-1]).any())

    @classmethod
    def read(cls, qrels: Any) -> Judgements:
        """Return judgements in any form that ``Evaluator`` takes.

        Raises:
            QrelsError, FileFormatError: as ``Evaluator``.
            InputError: an id is not Unicode text.
        """
        if isinstance(qrels, cls):
            return qrels
        if not isinstance(qrels, str) and not hasattr(qrels, "__fspath__"):
            judgements = cls.from_qrels(as_qrels(qrels))
            judgements.conventions = conventions_of(qrels)
            return judgements
        return cls.from_path(as_path(qrels))

    @classmethod
    def from_path(
        cls,
        path: Path,
        split: str | None = None,
        format: str | None = None,  # noqa: A002
    ) -> Judgements:
        """Return the judgements of a file or of a data-set folder; see ``find_judgements``."""
        file, conventions = find_judgements(path, split)
        judgements = cls.from_file(file, format)
        judgements.conventions = conventions
        return judgements

    @classmethod
    def from_file(cls, path: Path, format: str | None = None) -> Judgements:  # noqa: A002
        """Return the judgements of a file, in columns from the start if its format allows it."""
        identity = f"{identity_of_file(path)} {format}"
        columns = qrels_columns(path, format)
        if columns is None:
            from beir_eval.adapters.readers import read_qrels  # noqa: PLC0415

            return cls.from_qrels(read_qrels(path, format=format), identity)
        return cls(columns.frame, repeated=columns.repeated, empty=0, identity=identity)

    @classmethod
    def from_qrels(cls, qrels: Qrels, identity: str | None = None) -> Judgements:
        """Return the judgements of qrels in memory."""
        check_unicode("the qrels", qrels.query_ids)
        check_unicode("the qrels", qrels.doc_ids)
        queries = pl.Series(qrels.query_ids, dtype=pl.String)
        frame = pl.DataFrame(
            {
                QUERY: queries[qrels.row],
                DOC: pl.Series(qrels.doc_ids, dtype=pl.String),
                GRADE: qrels.grades,
            }
        )
        return cls(
            frame,
            repeated=qrels.repeated_judgements,
            empty=qrels.queries_without_judgements,
            identity=_identity_of(qrels) if identity is None else identity,
        )

    def __len__(self) -> int:
        """Return the number of judged queries."""
        return len(self.queries)

    @property
    def row(self) -> Ints:
        """The query of each judgement, as an index into ``queries``, i8[J]."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.starts))

    def find(self, queries: pl.Series) -> Ints:
        """Return the index of each query in ``self.queries``, -1 if it is not judged: i8[S].

        Queries are found by hash; the ids of equal hashes are compared.
        """
        if self._has_equal_hashes:
            index = pl.DataFrame({QUERY: self.queries}).with_row_index("row")
            joined = pl.DataFrame({QUERY: queries}).join(
                index, on=QUERY, how="left", maintain_order="left"
            )
            return joined["row"].cast(pl.Int64).fill_null(-1).to_numpy()
        hashes = queries.hash(seed=0).to_numpy()
        at = np.minimum(np.searchsorted(self._sorted_hashes, hashes), len(self) - 1)
        rows: Ints = np.where(self._sorted_hashes[at] == hashes, self._by_hash[at], -1)
        known = np.flatnonzero(rows >= 0)
        is_same = (self.queries[rows[known]] == queries[known]).to_numpy()
        rows[known[~is_same]] = -1
        return rows

    def select(self, rows: Ints) -> Qrels:
        """Return the judgements of these queries as qrels; their highest grade is that of all.

        Args:
            rows: indices into ``queries``, each at most once, at least one.
        """
        first, last = self.starts[rows], self.starts[rows + 1]
        judgement = concatenate_ranges(first, last)
        qrels = Qrels.from_checked(
            self.queries[rows].to_list(),
            self.documents[judgement].to_list(),
            self.grades[judgement],
            last - first,
        )
        qrels.max_grade = self.max_grade
        return qrels


def identity_of_file(path: Path) -> str:
    """Return what a file's content is recognised by without reading it.

    Programs set the time of the last write as they like, such as that of the file that they copied;
    on POSIX the time of the last change is set by the system alone.
    """
    status = path.stat()
    return f"{path.resolve()} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def _identity_of(qrels: Qrels) -> str:
    """Return hashes of judgements and of the order of their queries.

    Finished parts state a query by its position in this order.
    """
    order = hashlib.sha256(json.dumps(qrels.query_ids).encode())
    return f"{qrels.fingerprint()} {order.hexdigest()}"
