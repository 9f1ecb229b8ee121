"""How much of the judgements the compared systems cover, and the warnings about it.

Every output of a comparison shows these warnings before its verdicts: judged queries that are
missing from a run, document ids that do not match those of the qrels, what a retriever could not
find, and answers that were reused.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from pydantic import BaseModel

from beir_eval.core.saved import FROZEN
from beir_eval.display.tables import csv_text
from beir_eval.errors import warn_caller
from beir_eval.evaluation.coverage import warnings_on
from beir_eval.evaluation.notes import ranks_sentence
from beir_eval.inspection.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from beir_eval.core.arrays import Mask
    from beir_eval.evaluation.result import EvaluationResult


#: What is said of a result on other judgements, or on those of other queries.
_OTHER = "evaluated on other judgements than {}: a difference may come from the judgements"
#: How much longer the chunks of one system are if ranks of chunks do not compare systems fairly.
_OTHER_LENGTH = 1.1


class SystemCoverage(BaseModel):
    """What is missing from a system, or does not match: what a reader must know before a verdict.

    Attributes:
        system: the name of the system.
        dataset: the name of the data set, in a comparison over several; else "".
        repeat: the number of the repeat, from 1; None for a system with a single result.
        queries_judged: the number of judged queries.
        queries_missing: the number of those that the run does not have.
        means: {measure: mean over all judged queries}; measures without any score are left out.
        retrieved_means: {measure: mean over the judged queries that the run has}.
        obstacle: why scores are no basis for a decision: a component returned nothing for any
            query, or a document store is empty or could not be asked; None if nothing shows that.
        findings: signs of mistakes in the judgements and in the run.
        warnings: the sentences about it, each beginning with the system.
    """

    model_config = FROZEN

    system: str
    dataset: str = ""
    repeat: int | None = None
    queries_judged: int
    queries_missing: int
    means: dict[str, float]
    retrieved_means: dict[str, float]
    obstacle: Finding | None = None
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...]


def coverage_of(
    results: Mapping[str, Sequence[EvaluationResult]], measures: Sequence[str], dataset: str = ""
) -> tuple[SystemCoverage, ...]:
    """Return the coverage of every result that has warnings.

    Args:
        results: {system: its results, one for each repeat}.
        measures: the canonical names of the measures that are compared.
        dataset: the name of the data set, in a comparison over several.
    """
    coverage: list[SystemCoverage] = []
    first_of: dict[object, str] = {}
    for system, repeats in results.items():
        for result in repeats:
            first_of.setdefault(result.provenance.qrels_hash, system)
    hashes = [known for known in first_of if known]
    for system, repeats in results.items():
        for number, result in enumerate(repeats, start=1):
            counted = result.counted
            is_other = result.provenance.qrels_hash in hashes[1:]
            repeat = None if len(repeats) == 1 else number
            parts = (system, dataset, "" if repeat is None else f"repeat {repeat}")
            label = ", ".join(filter(None, parts))
            warnings = warnings_on(result, label, measures=measures, dataset=dataset)
            if is_other:
                warnings.append(f"{label}: {_OTHER.format(first_of[hashes[0]])}")
            if counted is None or not warnings:
                continue
            of_retrieval = () if result.retrieval is None else result.retrieval.findings
            # What is known comes before what could not be asked.
            obstacles = sorted(
                (finding for finding in of_retrieval if finding.level == "error"),
                key=lambda finding: finding.code == "store-not-asked",
            )
            coverage.append(
                SystemCoverage(
                    system=system,
                    dataset=dataset,
                    repeat=repeat,
                    queries_judged=counted.queries_judged,
                    queries_missing=len(counted.queries_missing),
                    means=_known(result.mean_over("judged"), measures),
                    retrieved_means=_known(result.mean_over("retrieved"), measures),
                    obstacle=obstacles[0] if obstacles else None,
                    findings=counted.findings,
                    warnings=tuple(warnings),
                )
            )
    return tuple(coverage)


def _known(means: Mapping[str, float], measures: Sequence[str]) -> dict[str, float]:
    """Return the means on some measures, without those of no score."""
    return {name: means[name] for name in measures if not math.isnan(means[name])}


def choice_that_allows(first: EvaluationResult, second: EvaluationResult) -> str:
    """Return the value of ``on`` with which two results of different judgements can be compared.

    Returns:
        "" if the judgements are equal, or their hashes not known. "intersection" if other queries
        were judged: then nothing is known of the judgements of the shared ones. "any-judgements" if
        the same queries were judged otherwise, or documents are excluded in one result alone.
    """
    hashes = first.provenance.qrels_hash, second.provenance.qrels_hash
    if None in hashes or hashes[0] == hashes[1]:
        return ""
    if (first.provenance.excluded_sha256 is None) != (second.provenance.excluded_sha256 is None):
        return "any-judgements"
    ours, theirs = (
        {*result.query_ids, *(result.counted.queries_missing if result.counted else ())}
        for result in (first, second)
    )
    return "any-judgements" if ours == theirs else "intersection"


def deepest_rankings_of(results: Mapping[str, Sequence[EvaluationResult]]) -> dict[str, int]:
    """Return {system: documents in its longest ranking}, of its repeat with the fewest.

    Systems whose documents were not counted are left out.

    Args:
        results: {system: its results, one for each repeat}.
    """
    counts = {system: [result.counted for result in repeats] for system, repeats in results.items()}
    return {
        system: min(counted.deepest_ranking for counted in repeats if counted is not None)
        for system, repeats in counts.items()
        if None not in repeats
    }


def retrieved_by_all(
    results: Mapping[str, Sequence[EvaluationResult]], query_ids: Sequence[str]
) -> Mask:
    """Return which queries every result has, rather than lacks and counts as empty, bool[Q].

    Args:
        results: {system: its results, one for each repeat}.
        query_ids: the queries. [Q]
    """
    missing = {
        query_id
        for repeats in results.values()
        for result in repeats
        if result.counted is not None
        for query_id in result.counted.queries_missing
    }
    return np.array([query_id not in missing for query_id in query_ids], dtype=bool)


def warnings_of(
    coverage: Iterable[SystemCoverage], systems: Collection[str] | None = None
) -> list[str]:
    """Return the warnings on the systems, or only on some of them.

    Args:
        coverage: the coverage of a comparison.
        systems: the names of the systems; None for all.
    """
    sentences = (
        sentence
        for covered in coverage
        if systems is None or covered.system in systems
        for sentence in covered.warnings
    )
    # What is about the judgements is a warning of every system.
    return list(dict.fromkeys(sentences))


def missing_note(
    query_id: str, systems: Iterable[str], results: Mapping[str, Sequence[EvaluationResult]]
) -> str:
    """Return a note for a query that a result of one of these systems misses; else ""."""
    names = [
        system
        for system in systems
        if any(
            result.counted is not None and query_id in result.counted.queries_missing
            for result in results[system]
        )
    ]
    return f", missing from {' and '.join(names)}" if names else ""


def warn_of_content(coverage: Iterable[SystemCoverage]) -> None:
    """Emit a BeirEvalWarning for each finding, once."""
    sentences = (
        text
        for covered in coverage
        for text in covered.warnings
        if any(text.endswith(finding.sentence) for finding in covered.findings)
    )
    for sentence in dict.fromkeys(sentences):
        warn_caller(sentence)


def ranked_text_sentences(results: Mapping[str, Sequence[EvaluationResult]]) -> Iterator[str]:
    """Yield what has ranks, and the chunks that are in no document, if spans are judged.

    Args:
        results: {system: its results, one for each repeat}.
    """
    texts = {
        system: text
        for system, (result, *_) in results.items()
        if (text := getattr(result.counted, "text", None)) is not None
    }
    if not texts:
        return
    yield from filter(None, dict.fromkeys(ranks_sentence(of[0]) for of in results.values()))
    ascending = sorted(texts, key=lambda system: texts[system].mean_chunk)
    lost = {name: count for name in ascending if (count := texts[name].alignment.get("lost", 0))}
    if lost:
        listed = ", ".join(f"{count:,} of {name}" for name, count in lost.items())
        yield f"chunks that are in no document count as nothing found: {listed}"
    settings = results[ascending[0]][0].settings
    shortest, longest = (texts[ascending[end]].mean_chunk for end in (0, -1))
    differ = longest > _OTHER_LENGTH * shortest
    if differ and settings is not None and settings.ranks == "chunks":
        yield (
            "longer chunks hold more text at the same rank: ranks of chunks do not compare these "
            "systems fairly, ranks='characters' does"
        )


def with_warning_column(
    rows: Sequence[Sequence[object]],
    coverage: Sequence[SystemCoverage],
    systems_of_rows: Iterable[Collection[str]],
    cautions: Sequence[str] = (),
) -> str:
    """Return rows as CSV with a last column "warning", which is mostly empty.

    Args:
        rows: the rows, the header first.
        coverage: the coverage of the comparison.
        systems_of_rows: the systems that each further row is about. [R]
        cautions: a further sentence for each row, mostly ""; empty for none. [R]
    """
    header, *others = rows
    marked = [
        [*row, " | ".join(filter(None, [*warnings_of(coverage, systems), caution]))]
        for row, systems, caution in zip(
            others, systems_of_rows, cautions or [""] * len(others), strict=True
        )
    ]
    return csv_text([[*header, "warning"], *marked])
