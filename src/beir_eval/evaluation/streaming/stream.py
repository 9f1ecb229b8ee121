"""``evaluate_stream``: evaluate a run file that is larger than memory."""

from __future__ import annotations

import re
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from beir_eval._version import __version__
from beir_eval.adapters.readers import stated_ranks_of
from beir_eval.adapters.run_parts import Place, RunFile
from beir_eval.core.column_names import QUERY
from beir_eval.core.files import FileContent, as_path, file_stem, is_packed
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.core.ranking_sample import Sampler
from beir_eval.core.relevance_matrix import relate
from beir_eval.display.progress import progress_bar
from beir_eval.errors import (
    BeirEvalError,
    InputError,
    check_count,
    check_flag,
    check_name,
    shown,
    warn_caller,
)
from beir_eval.evaluation.coverage import warn_of_content
from beir_eval.evaluation.evaluator import (
    check_queries,
    check_tie_extremes,
)
from beir_eval.evaluation.inputs import (
    find_judgements,
    followed,
    grades_look_like_scores,
    scores_look_like_grades,
    swapped_inputs,
)
from beir_eval.evaluation.query_scores import check_float32, check_missing
from beir_eval.evaluation.records import Provenance
from beir_eval.evaluation.score_table import POSITION, TableFacts
from beir_eval.evaluation.streaming.judgements import Judgements, identity_of_file
from beir_eval.evaluation.streaming.partitions import (
    QueryComesBackError,
    QueryParts,
    Resumption,
    SeenHashes,
    buckets,
    partition,
    read_bucket,
)
from beir_eval.evaluation.streaming.progress_files import ProgressFolder, disk_errors
from beir_eval.evaluation.streaming.result import StreamedResult
from beir_eval.evaluation.streaming.size import TIMES_PACKED
from beir_eval.evaluation.streaming.table_files import (
    Scorer,
    merge_parts,
    run_of_rows_in_any_order,
    write_part,
)
from beir_eval.evaluation.suspicions.judgements import fractional_grades, suspicions_of_qrels
from beir_eval.evaluation.suspicions.run import suspicions_of_run
from beir_eval.evaluation.unmatched_ids import (
    MatchCounts,
    UnmatchedIds,
    sampled_rows,
    unmatched_ids_of_sample,
)
from beir_eval.measures import DEFAULT_MEASURES, parse_all, with_rel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from beir_eval.core.arrays import Ints, Mask
    from beir_eval.core.run import Run
    from beir_eval.evaluation.inputs import QrelsLike
    from beir_eval.evaluation.suspicions.suspicion import Suspicion
    from beir_eval.measures import MeasureLike

#: The version of the layout of a folder of finished parts.
_LAYOUT = 2
#: Rows that a bucket of a partitioned run should have, and about how many bytes a row has.
_BUCKET_ROWS, _ROW_BYTES = 1_500_000, {"trec": 30, "jsonl": 30, "parquet": 8}
_MOST_BUCKETS = 256
#: The queries and rows that are read to say why no query of a run is judged.
_FIRST_ROWS = 100_000
#: How many queries of the judgements are looked at for signs of mistakes.
_FIRST_QUERIES = 10_000


def evaluate_stream(  # noqa: PLR0913 - one keyword a setting
    qrels: QrelsLike | Judgements,
    run: str | Path,
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    rel: float | None = None,
    table: str | Path | None = None,
    name: str | None = None,
    format: str | None = None,  # noqa: A002
    part_queries: int = 10_000,
    progress: bool = True,
    **policies: Any,
) -> StreamedResult:
    r"""Return the means of a run file that may be larger than memory, and write its score table.

    The scores, means and counts have the bits of those of ``evaluate``. The file is read part by
    part. As long as the rows of each query follow each other, the queries are evaluated as they
    come. When a query comes back, the file is partitioned by a hash of the query on disk, next to
    the score table, which takes about as much space as the file, and the parts are evaluated. Needs
    polars.

    If it is interrupted, the same call goes on after the last finished part: they are kept in the
    folder ``<table>.parts``. If the size or the time of a file, or a measure or setting has
    changed, it starts anew.

    Args:
        qrels: ``Qrels``, {query_id: {doc_id: grade}}, a dataframe, a path that ``read_qrels``
            reads, or a ``Dataset``. The judgements of a large TREC, BEIR or Parquet file are read
            into columns, of about 40 bytes a judgement.
        run: the path of a run file: TREC or JSON lines, packed or not, or Parquet.
        measures: a measure or a list of measures, each a name in any spelling that ``parse`` reads
            or a ``Measure``; by default nDCG, MAP, Recall, R_cap, Precision and MRR at 1, 3, 5, 10,
            100 and 1,000.
        rel: the lowest grade that is relevant, for every measure that takes a ``rel`` and does not
            state it; as in ``evaluate``.
        table: the score table, a Parquet file that gets a row for each judged query; an existing
            file is replaced. None keeps no scores of queries, and cannot be resumed.
        name: the name of the system that made the run; by default that of the file.
        format: the format of the run file: "trec", "jsonl" or "parquet"; None detects it.
        part_queries: how many queries are evaluated at a time, at most; parts of a million rows
            are evaluated in any case.
        progress: whether a progress bar is shown on a terminal.
        **policies: the settings of ``Evaluator``, which say how the run is evaluated:

            - ``order``: "score" (highest first; default) or "given" (the order of the run is the
              ranking). Rows are numbered where their order matters, so that "given" also works for
              a file that is partitioned.
            - ``ties``: the order of equal scores: "trec_eval9" (document id descending, scores as
              float32; default), "trec_eval10" (the same in double precision), "input" (as given),
              "best" or "worst" (relevant documents first or last).
            - ``missing``: a judged query that the run does not have counts as an empty ranking
              ("zero"; default), is left out ("skip"), or raises an error ("error").
            - ``no_relevant``: a query without relevant documents scores 0 ("zero"; default), or is
              left out of the mean ("skip").
            - ``duplicates``: a document listed twice in a ranking raises an error ("error";
              default), only its best-ranked copy counts ("first"), or later copies gain nothing and
              ranks stay ("keep").
            - ``drop_identical_ids``: True leaves out documents whose id is the query's; by
              default only for a ``Dataset`` or a data-set folder of which BEIR does.

    Returns:
        The means, counts and notes. ``load()`` reads the scores of all queries into memory.

    Raises:
        FileFormatError: the run is malformed, or in a format that is not read in parts.
        InputError: as ``evaluate``; or an id is not Unicode text; or the score table is an input or
            no file, another process evaluates into it, or ``<table>.parts`` has other files.
        QueryMismatchError, DuplicateDocumentError, MeasureError, SettingError: as ``evaluate``.
        MissingExtraError: polars is not installed, or zstandard for a zstd file.
        OSError: a file cannot be read or written.

    Warns:
        BeirEvalWarning: as ``evaluate``.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> lines = "q1 Q0 x 1 0.9 bm25\nq1 Q0 a 2 0.8 bm25\n"
    >>> _ = (folder / "bm25.trec").write_text(lines)
    >>> result = evaluate_stream({"q1": {"a": 1}}, folder / "bm25.trec", table=folder / "scores")
    >>> result["MRR@10"], result.load()["MRR@10"]
    (0.5, 0.5)
    """
    check_count("part_queries", part_queries)
    check_flag("progress", progress)
    run_file = RunFile(run, format)
    target = None if table is None else _checked_table(table, qrels, run_file.path)
    run_name = file_stem(run_file.path) if name is None else name
    check_name("name", run_name)
    parsed = with_rel(DEFAULT_MEASURES if measures is None else parse_all(measures), rel)
    stated = policies.pop("drop_identical_ids", None)
    settings = EvaluationSettings(
        **policies, drop_identical_ids=False if stated is None else stated
    )
    check_tie_extremes(settings.ties, parsed)
    judgements = Judgements.read(qrels)
    conventions = followed(judgements.conventions, stated)
    if conventions is not None and conventions.drops_identical_ids:
        settings = replace(settings, drop_identical_ids=True)
    scorer = Scorer(judgements, parsed, settings)
    provenance = Provenance(package_version=__version__, conventions=conventions)
    with _table_path(target) as path:
        stream = _Stream(run_file, scorer, run_name, part_queries, path, provenance)
        with stream.progress(shown=progress):
            stream.evaluate()
        result = StreamedResult.of_table(
            path,
            kept=target is not None,
            how=stream.how,
            parts_resumed=stream.parts_resumed,
        )
    warn_of_content(result, run_name)
    return result


def _checked_table(table: str | Path, qrels: QrelsLike | Judgements, run: Path) -> Path:
    """Return the path of the score table, behind a symbolic link if it is one.

    Raises:
        InputError: it is an input, is no file, or its name is not Unicode text.
    """
    path = as_path(table, "table").absolute()
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        msg = f"polars cannot write to a path that is not Unicode text: {shown(str(path))}"
        raise InputError(msg) from error
    if path.is_symlink():
        path = path.resolve()
    if path.exists() and not path.is_file():
        msg = f"{table}: a file for the score table was expected; name a file in a folder"
        raise InputError(msg)
    inputs = [run]
    if isinstance(qrels, str) or hasattr(qrels, "__fspath__"):
        judged = as_path(qrels)
        inputs.append(find_judgements(judged)[0])
    if path.resolve() in [file.resolve() for file in inputs]:
        msg = f"{table}: the score table would replace an input; write it to another file"
        raise InputError(msg)
    return path


@contextmanager
def _table_path(table: Path | None) -> Iterator[Path]:
    """Yield the path of the score table, in a temporary folder if there is none."""
    if table is not None:
        yield table
        return
    with tempfile.TemporaryDirectory(prefix="beir-eval-") as folder:
        yield Path(folder) / "scores.parquet"


class _Stream:
    """The evaluation of one run file.

    Attributes:
        how: how the file was read, as a sentence.
        parts_resumed: how many parts were finished before.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what the evaluation of a file is made of
        self,
        run: RunFile,
        scorer: Scorer,
        name: str,
        part_queries: int,
        table: Path,
        provenance: Provenance,
    ) -> None:
        self._provenance = provenance
        self._run, self._scorer, self._name, self._table = run, scorer, name, table
        self._part_queries = part_queries
        self._judgements, self._settings = scorer.judgements, scorer.settings
        key = {
            "layout": _LAYOUT,
            "version": __version__,
            "polars": pl.__version__,  # hashes of queries may differ between versions
            "run": [identity_of_file(run.path), run.format],
            "qrels": self._judgements.identity,
            "measures": [str(measure) for measure in scorer.measures],
            "settings": asdict(self._settings),
            "part_queries": part_queries,
        }
        self._folder = ProgressFolder(table.with_name(f"{table.name}.parts"), key)
        self.parts_resumed = len(self._folder.parts)
        self.how = ""
        self._advance: Callable[..., None] = lambda *_, **__: None
        self._bytes_shown = self._queries_shown = 0

    @contextmanager
    def progress(self, *, shown: bool) -> Iterator[None]:
        """Show a progress bar in bytes; keep the finished parts if a signal ends the block."""
        try:
            with progress_bar(
                shown=shown,
                delayed=True,
                leave=False,
                total=self._run.size,
                unit="B",
                unit_scale=True,
                desc="reading",
            ) as advance:
                self._advance = advance
                yield
        except BeirEvalError:
            self._folder.remove()  # the same call would fail again
            raise
        finally:
            self._folder.close()

    def _show(self, bytes_read: int, description: str) -> None:
        self._advance(max(0, bytes_read - self._bytes_shown), description=description)
        self._bytes_shown = max(bytes_read, self._bytes_shown)

    def evaluate(self) -> None:
        """Write the score table."""
        self._warn_of_swapped_inputs()
        if self._folder.buckets is None:
            try:
                self._evaluate_grouped()
                self.how = "grouped by query: evaluated as it was read"
            except QueryComesBackError:
                self._run.refuse_systems()
                self._folder.clear()
                self.parts_resumed = 0
        if not self.how:
            self._evaluate_partitioned()
            num_parts = len(self._folder.buckets or ())
            self.how = f"not grouped by query: partitioned into {num_parts} parts on disk"
        self._finish()

    # The two ways through a file

    def _evaluate_grouped(self) -> None:
        """Evaluate the queries as they come.

        Raises:
            QueryComesBackError: the rows of a query do not follow each other.
        """
        seen, begin = SeenHashes(), Resumption()
        num_queries = 0
        if self._folder.parts:
            seen.add(self._folder.hashes())
            *start, skipped = self._folder.parts[-1]["next"]
            begin = Resumption(Place(*start), skipped)
        for part in QueryParts(self._run.parts(begin.start), self._part_queries, seen, begin):
            scores = self._scorer.grouped(part.frame, part.queries, part.lengths)
            facts = {"next": [*part.next.start, part.next.skipped], "not_judged": scores.not_judged}
            self._folder.add(scores.columns, facts, part.hashes)
            num_queries += len(part.queries)
            self._show(part.bytes_read, f"{num_queries:,} queries")

    def _evaluate_partitioned(self) -> None:
        """Partition the file, and evaluate the parts."""
        if self._folder.buckets is None:
            self._advance(-self._bytes_shown)  # the file is read from its beginning again
            self._bytes_shown = 0
            folder = self._folder.bucket_folder
            with disk_errors(folder):
                partition(
                    self._run.parts(),
                    folder,
                    self._num_buckets(),
                    keep_order=self._order_matters,
                    report=lambda part: self._show(part.bytes_read, "partitioning"),
                )
            self._folder.set_buckets(buckets(folder))
        num_queries = 0
        for bucket in (self._folder.buckets or [])[len(self._folder.parts) :]:
            scores = self._scorer.ungrouped(read_bucket(bucket))
            self._folder.add(scores.columns, {"not_judged": scores.not_judged})
            num_queries += 0 if scores.columns is None else len(scores.columns[POSITION])
            self._show(0, f"{num_queries:,} queries")

    @property
    def _order_matters(self) -> bool:
        """Whether scores may depend on the order of the rows of a query."""
        settings = self._settings
        return (
            settings.order == "given"
            or settings.ties == "input"
            or settings.duplicates != "error"
            or self._run.format == "jsonl"  # it may have no scores
        )

    def _num_buckets(self) -> int:
        """Return the number of buckets that have about a million rows each."""
        size = self._run.size
        num_bytes = size * (TIMES_PACKED if is_packed(self._run.path) else 1)
        num_rows = num_bytes // _ROW_BYTES[self._run.format]
        if self._run.format == "parquet":
            num_rows = self._run.num_parquet_rows()
        return max(1, min(_MOST_BUCKETS, -(-num_rows // _BUCKET_ROWS)))

    # The end

    def _finish(self) -> None:
        """Evaluate the missing queries, and write the score table with its facts."""
        missing = self._missing()
        if missing.all() or (self._settings.missing == "error" and missing.any()):
            query_ids = self._judgements.queries.to_list()
            if missing.all():
                check_queries(query_ids, missing, self._first_rows(), self._settings)
            check_missing(query_ids, missing, self._settings)
        files = self._folder.files()
        rows = np.flatnonzero(missing)
        for begin in range(0, len(rows), self._part_queries):
            path = self._folder.path / f"missing-{begin:09}.parquet"
            columns = self._scorer.missing(rows[begin : begin + self._part_queries])
            with disk_errors(path):
                write_part(path, columns)
            files.append(path)
        facts = TableFacts(
            name=self._name,
            measures=tuple(str(measure) for measure in self._scorer.measures),
            settings=self._settings,
            provenance=self._provenance,
            max_grade=self._judgements.max_grade,
            queries_not_judged=sum(part["not_judged"] for part in self._folder.parts),
            queries_without_judgements=self._judgements.queries_without_judgements,
            repeated_judgements=self._judgements.repeated_judgements,
            ids_compared=True,
            unmatched_ids=(unmatched := self._unmatched_ids(files)),
            suspicions=self._suspicions(ids_match=unmatched is None),
        )
        _remove_abandoned_files(self._table)
        with disk_errors(self._table):
            merge_parts(files, self._table, facts)
        self._folder.remove()

    def _missing(self) -> Mask:
        """Return which judged queries no part has, bool[Q]."""
        missing = np.ones(len(self._judgements), dtype=np.bool_)
        for path in self._folder.files():
            missing[pl.read_parquet(path, columns=[POSITION], glob=False)[POSITION].to_numpy()] = (
                False
            )
        return missing

    def _unmatched_ids(self, files: list[Path]) -> UnmatchedIds | None:
        """Return what shows that ids do not match; the run is read again if few match.

        Args:
            files: all rows of the score table.

        Raises:
            RunError: float32 makes the different scores of every ranking one value.
        """
        num_retrieved, float32 = np.zeros((2, len(self._judgements)), dtype=np.int64)
        num_matched = 0
        for path in files:
            names = [POSITION, "documents_retrieved", "documents_judged", "float32"]
            frame = pl.read_parquet(path, columns=names, glob=False)
            num_retrieved[frame[POSITION].to_numpy()] = frame["documents_retrieved"].to_numpy()
            float32[frame[POSITION].to_numpy()] = frame["float32"].to_numpy()
            num_matched += int((frame["documents_judged"] > 0).sum())
        check_float32(float32, num_retrieved)
        counts = MatchCounts(
            judged=len(self._judgements),
            ranked=int(np.count_nonzero(num_retrieved)),
            matched=num_matched,
            documents=int(num_retrieved.sum()),
        )
        if not counts.are_few:
            return None
        rows = sampled_rows(num_retrieved, counts)
        return unmatched_ids_of_sample(
            self._judgements.select(rows),
            self._rankings_of(rows),
            counts,
            self._judgements.queries.to_list() if 2 * counts.ranked < counts.judged else [],
        )

    def _suspicions(self, *, ids_match: bool) -> tuple[Suspicion, ...]:
        """Return signs of mistakes in the judgements, and in the first rows of the run.

        Args:
            ids_match: whether nothing shows that the document ids are other ones.
        """
        judgements = self._judgements
        first = np.arange(min(len(judgements), _FIRST_QUERIES), dtype=np.int64)
        measures = self._scorer.measures
        of_qrels = (
            *fractional_grades(judgements.grades, measures),
            *suspicions_of_qrels(judgements.select(first), measures),
        )
        run = self._first_rows()
        rows = judgements.find(pl.Series(run.query_ids, dtype=pl.String))
        rows = np.sort(rows[rows >= 0])
        if not len(rows):
            return of_qrels
        qrels, sampler = judgements.select(rows), Sampler(len(rows))
        matrix, _ = relate(qrels, run, self._settings, sampler=sampler)
        ranks = None
        if self._run.format == "trec" and not is_packed(self._run.path):
            ranks = stated_ranks_of(FileContent(self._run.path), "trec")
        of_run = suspicions_of_run(
            qrels, matrix, sampler.sample(ranks), self._settings, ids_match=ids_match
        )
        return (*of_qrels, *of_run)

    def _rankings_of(self, rows: Ints) -> Run:
        """Return the rankings of some judged queries, read from the file again."""
        wanted = np.zeros(len(self._judgements) + 1, dtype=np.bool_)
        wanted[rows] = True
        frames = []
        for part in self._run.parts():
            mask = wanted[self._judgements.find(part.frame[QUERY])]
            if mask.any():
                frames.append(part.frame.filter(pl.Series(mask)))
        return run_of_rows_in_any_order(pl.concat(frames))

    def _first_rows(self) -> Run:
        """Return a run of the first rows of the file."""
        frames: list[pl.DataFrame] = []
        for part in self._run.parts():
            frames.append(part.frame)
            if sum(map(len, frames)) >= _FIRST_ROWS:
                break
        return run_of_rows_in_any_order(pl.concat(frames))

    def _warn_of_swapped_inputs(self) -> None:
        """Warn if the qrels look like a run, and the beginning of the run like qrels."""
        if grades_look_like_scores(self._judgements) and scores_look_like_grades(
            self._first_rows(), self._judgements
        ):
            warn_caller(swapped_inputs(self._judgements).sentence)


def _remove_abandoned_files(table: Path) -> None:
    """Remove the temporary files of ``merge_parts`` whose processes were killed.

    Only one process at a time evaluates into a table, so none of them is in use.
    """
    name = re.compile(rf"\.{re.escape(table.name)}\.[0-9]+\.tmp")
    for path in list(table.parent.iterdir()):
        if name.fullmatch(path.name):
            with suppress(OSError):
                path.unlink()
