"""Records of a result beside its scores: ``Counted``, ``Provenance`` and ``Retrieval``."""

from __future__ import annotations

import math
from collections import UserString
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, SerializerFunctionWrapHandler, model_serializer
from pydantic_core.core_schema import (
    CoreSchema,
    no_info_after_validator_function,
    no_info_before_validator_function,
    str_schema,
    to_string_ser_schema,
)

from beir_eval.core.qrels import hash_text
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.core.run_sources.chunks import TextCounts
from beir_eval.core.saved import FROZEN, WITHOUT_UNSET
from beir_eval.inspection.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from beir_eval.core.qrels import Qrels

#: Settings in a saved file, which leaves out what is unset.
SavedSettings: TypeAlias = Annotated[EvaluationSettings, WITHOUT_UNSET]


@dataclass(frozen=True, slots=True)
class MeasureMean:
    """The mean of a measure, and how many queries are behind it.

    Attributes:
        value: the mean (for ``num_*`` the sum, for gm_map the geometric mean); None if no query has
            a score.
        queries: the number of queries that have a score.
    """

    value: float | None
    queries: int


class Conventions(BaseModel):
    """BEIR's conventions for a data set, as far as an evaluation followed them without being asked.

    Attributes:
        dataset: BEIR's name of the data set, after which the folder is named.
        split: the official split, which was evaluated because none was stated; None if one was, if
            it is "test", or if a ``Dataset`` was passed, which has its split.
        drops_identical_ids: whether documents with the id of their query were left out because the
            convention says so.
    """

    model_config = FROZEN

    dataset: str
    split: str | None = None
    drops_identical_ids: bool = False


class QrelsHash(UserString):
    """A quick hash of judgements, 16 hex digits: a text that is computed when it is first read.

    Most results are never compared, and of long contents it takes longer than the scores.
    """

    def __init__(self, judgements: Qrels | str) -> None:
        """Keep the judgements, or the digits."""
        self._known = judgements

    @property
    def data(self) -> str:  # type: ignore[override]
        """The digits."""
        known = self._known  # read once: another thread may replace it
        if not isinstance(known, str):
            known = self._known = hash_text(int(known.query_hashes.sum()))
        return known

    def __reduce__(self) -> tuple[type[QrelsHash], tuple[str]]:
        """Copy and pickle the digits."""
        return QrelsHash, (self.data,)

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> CoreSchema:
        """Read and write the digits."""
        written = to_string_ser_schema(when_used="always")
        read = no_info_after_validator_function(cls, str_schema())
        return no_info_before_validator_function(_digits_of, read, serialization=written)


def _digits_of(value: object) -> object:
    return value.data if isinstance(value, QrelsHash) else value


class Provenance(BaseModel):
    """The package version and the hashes of the inputs behind a result.

    Attributes:
        package_version: the version of beir-eval that made the result.
        qrels_hash: the hash of the judgements that the evaluation was given, those of queries that
            the run lacks among them (see ``Qrels.query_hashes``). None for scores that were
            computed elsewhere.
        qrels_sha256: the SHA-256 (hex) of the qrels; None without ``fingerprint=True``, unless
            ``beir-eval evaluate -o r.json`` made the result.
        excluded_sha256: the SHA-256 (hex) of the documents that the qrels exclude for a query; None
            if they exclude none.
        run_sha256: the SHA-256 (hex) of the run; None without ``fingerprint=True``.
        conventions: the conventions of a data set of BEIR that were followed because of its name;
            None if there are none, or all were stated.
    """

    model_config = FROZEN

    package_version: str
    qrels_hash: QrelsHash | None = None
    qrels_sha256: str | None = None
    excluded_sha256: str | None = None
    run_sha256: str | None = None
    conventions: Conventions | None = None


class Counted(BaseModel):
    """Counts of queries, documents and judgements in an evaluation.

    Counts of documents are about the rankings of judged queries only.

    Attributes:
        queries_judged: the number of queries with at least one judgement.
        queries_missing: ids of judged queries that the run does not have.
        queries_empty: ids of judged queries with an empty ranking, or one that is empty after
            ``drop_identical_ids``.
        queries_without_relevant: ids of evaluated queries without a grade above 0 in the qrels.
        queries_not_judged: the number of queries of the run that are not judged; they have no
            effect. None for a table of Spark, which does not have them.
        queries_without_judgements: the number of queries of the qrels without a judgement; they are
            left out.
        duplicates: the number of entries that list a document again in the same ranking.
        duplicates_checked: whether "all" documents were compared to find duplicates, or only the
            "judged" ones (runs of top-k arrays, unless ``check_duplicates=True``).
        identical_ids: the number of retrieved documents whose id equals the query id.
        tied_documents: the number of judged documents that have the same score as another entry of
            their ranking, so that the tie rule decides their rank.
        tied_queries: the number of queries with such documents.
        negative_judgements: the number of grades below 0, which mean "pooled but unjudged".
        repeated_judgements: the number of judgements listed again with the same grade; each counts
            once.
        chunks: the number of entries of the whole run that are chunks and count as their document
            (``collapse`` of ``read_run``, ``Run`` and ``BEIREvaluator``).
        further_chunks: how many of these were left out when the run was made, because their ranking
            has a better chunk of the same document; others are among ``duplicates``.
        ids_not_of_chunks: the number of entries whose id is not that of a chunk, with ``collapse``.
        max_grade: the highest grade of the qrels; ERR depends on it.
        deepest_ranking: the number of documents in the longest ranking.
        judged_in_top: {cutoff: (judged documents, all documents)} in the first ``cutoff`` ranks of
            all queries, for each cutoff of the measures.
        queries_matched: the number of judged queries whose ranking holds a judged document.
        documents_retrieved: the number of documents in the rankings of all judged queries.
        documents_judged: the number of those that are judged for their query.
        findings: signs of mistakes in the judgements and in the run.
        text: how ranked chunks became ranks of judged text; None if documents are ranked.
        excluded: how many documents were left out because the judgements exclude them for their
            query, and of how many rankings; None if they exclude none.
        double_precision: {measure: how much higher the sum of its scores is (of their logarithms,
            for a geometric mean) if document scores are compared in double precision}, where it is
            another one because the tie rule compares them as float32.
    """

    model_config = FROZEN

    queries_judged: int
    queries_missing: tuple[str, ...]
    queries_empty: tuple[str, ...]
    queries_without_relevant: tuple[str, ...]
    queries_not_judged: int | None
    queries_without_judgements: int
    duplicates: int
    duplicates_checked: Literal["all", "judged"]
    identical_ids: int
    tied_documents: int
    tied_queries: int
    negative_judgements: int
    repeated_judgements: int
    max_grade: float
    deepest_ranking: int
    judged_in_top: dict[int, tuple[int, int]]
    queries_matched: int
    documents_retrieved: int
    documents_judged: int
    chunks: int = 0
    further_chunks: int = 0
    ids_not_of_chunks: int = 0
    findings: tuple[Finding, ...] = ()
    text: TextCounts | None = None
    excluded: tuple[int, int] | None = None
    double_precision: dict[str, float] = {}

    @model_serializer(mode="wrap")
    def _without_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what is unset: ``text`` where documents are ranked, and the like."""
        written: dict[str, Any] = handler(self)
        for name in ("text", "excluded", "double_precision"):
            if not getattr(self, name):
                written.pop(name, None)
        return written

    @property
    def queries_retrieved(self) -> int:
        """The number of judged queries that the run has a ranking for, empty rankings included."""
        return self.queries_judged - len(self.queries_missing)

    @property
    def queries_ranked(self) -> int:
        """The number of judged queries that have at least one document in the run."""
        return self.queries_retrieved - len(self.queries_empty)

    @property
    def mean_depths(self) -> dict[int, float]:
        """{cutoff: documents in the first ``cutoff`` ranks, mean over the queries of the run}."""
        if not self.queries_retrieved:
            return {}
        return {
            cutoff: documents / self.queries_retrieved
            for cutoff, (_, documents) in self.judged_in_top.items()
        }

    @property
    def judged_share(self) -> dict[int, float]:
        """{cutoff: share of the documents in the first ``cutoff`` ranks that are judged}.

        NaN if nothing is retrieved.
        """
        return {
            cutoff: judged / retrieved if retrieved else math.nan
            for cutoff, (judged, retrieved) in self.judged_in_top.items()
        }


def sums_of(differences: Iterable[Sequence[float]], measures: Iterable[object]) -> dict[str, float]:
    """Return {measure: the sum of its differences}, empty without differences.

    Args:
        differences: those of each query, as ``differences_as_given`` returns them. [A, M]
        measures: the measures or their names. [M]
    """
    return dict(zip(map(str, measures), map(sum, zip(*differences, strict=True)), strict=False))


class Reused(BaseModel):
    """Answers of an earlier call that were read from a file instead of being retrieved again.

    Attributes:
        file: the name of the file.
        answers: the number of queries whose answers were read from it.
        queries: the number of all queries of the call.
        first_saved: when the first of these answers was saved, in UTC, as ISO 8601.
        last_saved: when the last was saved.
        checked: how many of these queries were run again, to compare their rankings.
        differing: how many of those were ranked otherwise than before. Only a retriever whose
            rankings may vary has any: otherwise the answers are refused.
        not_checked: why queries could not be run again; "" if they could, or were not to be.
        changed_versions: {package: (version when the answers were saved, version now)}.
    """

    model_config = FROZEN

    file: str
    answers: int
    queries: int
    first_saved: str
    last_saved: str
    checked: int = 0
    differing: int = 0
    not_checked: str = ""
    changed_versions: dict[str, tuple[str, str]] = {}


class Retrieval(BaseModel):
    """Times and failures of the queries that a retriever answered for an evaluation.

    Attributes:
        seconds: {query_id: duration in seconds}, for the queries whose duration is known.
        failures: {query_id: error message} of queries that failed; the run does not have them.
        left_out: the number of retrieved documents that were left out, because their ranking has
            them already or because they lack the field that identifies documents.
        further_chunks: how many of these are chunks of a document that their ranking has already.
        unnamed: how many of these lack the field that identifies documents.
        without_parent: the number of retrieved documents that lack the field ``collapse``; each
            counts as a document of its own.
        beyond_limit: the number of judged queries of the data set that ``limit`` left out.
        retries: how many attempts to answer a query failed and were repeated.
        chunks: the number of retrieved chunks that count as the document that they are a part of.
        collapse: the field with the name of that document; "" if no chunk was retrieved.
        reused: the answers that were read from a file instead.
        findings: what was not there to be found, or could not be looked at.
    """

    model_config = FROZEN

    seconds: dict[str, float]
    failures: dict[str, str] = {}
    left_out: int = 0
    further_chunks: int = 0
    unnamed: int = 0
    without_parent: int = 0
    beyond_limit: int = 0
    retries: int = 0
    chunks: int = 0
    collapse: str = ""
    reused: tuple[Reused, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def repeated(self) -> int:
        """How many of the documents left out are further copies, not chunks of ``collapse``."""
        return self.left_out - self.further_chunks - self.unnamed

    @property
    def p50(self) -> float:
        """The median duration of a query, in seconds; NaN if no duration is known."""
        return self.percentile(50)

    @property
    def p95(self) -> float:
        """The 95th percentile of the durations, in seconds; NaN if no duration is known."""
        return self.percentile(95)

    def percentile(self, percent: float) -> float:
        """Return a percentile of the durations, in seconds; NaN if no duration is known.

        Values between two durations are interpolated linearly.

        Args:
            percent: the percentile, 0 to 100.
        """
        durations = list(self.seconds.values())
        return float(np.percentile(durations, percent)) if durations else math.nan
