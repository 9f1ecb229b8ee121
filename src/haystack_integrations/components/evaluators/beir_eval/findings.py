"""What looks wrong in the documents of a call; its user is told in log, warnings and result."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain, pairwise, product

from haystack import Document, logging

from beir_eval.core.qrels import Qrels
from beir_eval.core.run import Run
from beir_eval.errors import first_few, number_of, shown, warn_caller
from beir_eval.evaluation.coverage import with_counts
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.inspection.finding import Finding, without
from beir_eval.inspection.unmatched_ids import UNMATCHED
from beir_eval.integrations.haystack.documents import EMPTY_STORE_HINT, Judgements, RetrievedNames
from beir_eval.integrations.retrieval.documents import (
    DocumentNames,
    parent_advice,
    parents_in,
    with_unmatched_names,
    without_parent,
)

logger = logging.getLogger(__name__)

#: With three names for ten times as many documents of six queries, or up to twenty if a ranking
#: holds half of them, or with one for two documents of two queries, most rankings find what is
#: relevant.
_FEW_NAMES, _MOST_NAMES, _HALF, _TIMES_MORE, _ENOUGH_QUERIES = 3, 20, 0.5, 10, 6
#: How many queries, and documents of each, are looked at for parts of judged texts, and how much of
#: their texts; shorter texts are parts of others by chance.
_QUERIES, _DOCUMENTS, _PART_LENGTH, _TEXT_LENGTH, _LEAST_LENGTH = 10, 3, 2_000, 100_000, 20


def tell(result: EvaluationResult) -> None:
    """Log each warning of a result, and emit it as a BeirEvalWarning."""
    for sentence in dict.fromkeys(result.warnings()):
        logger.warning("{sentence}", sentence=sentence)
        warn_caller(sentence)


def with_findings(  # noqa: PLR0913, PLR0917 - what was evaluated, and how it was read
    result: EvaluationResult,
    run: Run,
    qrels: Qrels,
    names: DocumentNames,
    judged: Judgements | None,
    retrieved: list[list[Document]],
    retrieved_names: RetrievedNames | None,
) -> EvaluationResult:
    """Return the result with what looks wrong in the documents, and the number of chunks.

    Args:
        result: the result.
        run: the evaluated run.
        qrels: the judgements.
        names: the fields that identify a document.
        judged: the ground-truth documents; None for qrels.
        retrieved: the retrieved documents of each query [Q]; empty for a ``Run``.
        retrieved_names: their names; None for a ``Run``.

    Raises:
        InputError: an object is not a document.
    """
    assert result.counted is not None  # noqa: S101 - evaluated here
    findings: list[Finding] = []
    if judged is not None:
        findings += _of_judgements(judged, names)
    if retrieved_names is not None:
        findings += _of_retrieved(retrieved_names, names)
        findings += _same_names(names, qrels.doc_ids, retrieved_names, retrieved)
    if judged is not None and not findings:
        findings += _same_judgements(judged)
    # Ids of documents without names show nothing.
    has_reason = any(
        finding.code.startswith("unnamed") and finding.count == finding.total
        for finding in findings
    )
    if judged is not None and retrieved_names is not None and names.are_contents:
        parts = list(_parts_of_judged(result, judged, retrieved_names))
        has_reason = has_reason or bool(parts)
        findings += parts
    if has_reason:
        result = with_counts(result, findings=without(result.counted.findings, UNMATCHED))
    else:

        def advice() -> str:
            by_query = zip(run.query_ids, retrieved, strict=True) if retrieved else ()
            parents = {query_id: parents_in(documents) for query_id, documents in by_query}
            reason = ""
            if names.collapse is None or names.is_automatic:
                reason = parent_advice(parents, qrels, "collapse")
            return reason or (
                f"documents are identified by {names.label} here; document_comparison_field "
                "names another field"
            )

        result = with_unmatched_names(
            result,
            run,
            qrels,
            if_empty=EMPTY_STORE_HINT,
            advice=advice,
            are_contents=names.are_contents,
        )
    assert result.counted is not None  # noqa: S101 - likewise
    others = result.counted.findings
    if any(finding.code == "grades-are-scores" for finding in findings):
        others = without(others, "fractional-grades")  # these are the scores
    chunks = 0 if retrieved_names is None else retrieved_names.chunks
    return with_counts(result, findings=(*findings, *others), chunks=chunks)


def _of_judgements(judged: Judgements, names: DocumentNames) -> Iterator[Finding]:
    """Yield what looks wrong in ground-truth documents: no names, and grades that are scores."""
    if judged.unnamed:
        count, total = sum(judged.unnamed.values()), sum(map(len, judged.grades.values()))
        yield Finding.from_code(
            "unnamed-judgements",
            f"{count:,} of {number_of(total, 'ground-truth document')} have no {names.label}: "
            f"they match nothing and count as never found. They are of queries "
            f"{first_few(judged.unnamed)}",
            count=count,
            total=total,
        )
    grades = [grade for of_query in judged.grades.values() for grade in of_query.values()]
    fractions = [grade for grade in grades if not grade.is_integer()]
    if fractions:
        yield Finding.from_code(
            "grades-are-scores",
            f"the scores of ground-truth documents are their grades, and {len(fractions):,} of "
            f"{len(grades):,} are fractions, such as {fractions[0]:g}",
            count=len(fractions),
        )


def _same_judgements(judged: Judgements) -> Iterator[Finding]:
    """Yield a finding if each query has the ground truth of the one before, or more.

    So it is where the ground truth of one query was copied, or a list was not emptied in a loop.
    """
    first, *others = lists = list(judged.grades.values())
    if len(others) < _ENOUGH_QUERIES - 1 or not first:
        return
    if all(before.keys() <= after.keys() for before, after in pairwise(lists)):
        fact = f"the ground truth of each of {len(lists):,} queries holds that of the query before"
        if len(first) == len(lists[-1]):
            fact = f"all {len(lists):,} queries have the same ground-truth documents"
        yield Finding.from_code("same-judgements", fact, count=len(lists), total=len(lists))


def _of_retrieved(retrieved: RetrievedNames, names: DocumentNames) -> Iterator[Finding]:
    """Yield what looks wrong in retrieved documents: no names, and parts of no document."""
    total = sum(map(len, retrieved))  # reads those of unjudged queries too
    if retrieved.unnamed:
        yield Finding.from_code(
            "unnamed-documents",
            f"{retrieved.unnamed:,} of {number_of(total, 'retrieved document')} have no "
            f"{names.label}: they match nothing",
            count=retrieved.unnamed,
            total=total,
        )
    yield from without_parent(names.collapse, retrieved.without_parent, total)


def _same_names(
    names: DocumentNames,
    judged: Collection[str],
    retrieved_names: Sequence[Sequence[str]],
    retrieved: Sequence[Sequence[Document]],
) -> Iterator[Finding]:
    """Yield a finding if documents have so few names that most rankings hold the relevant ones.

    Args:
        names: the fields that identify a document.
        judged: the names of the judged documents.
        retrieved_names: the names of the retrieved documents of each query. [Q]
        retrieved: these documents. [Q]
    """
    if names.fields == ("id",):
        return
    distinct: set[str] = set()
    for of_query in chain(retrieved_names, [judged]):
        distinct.update(of_query)
        if len(distinct) > _MOST_NAMES:
            return
    num_documents = len({document.id for document in chain.from_iterable(retrieved)})
    is_one = len(distinct) == 1 and len(retrieved) > 1 and num_documents > 1
    in_rankings = sum(len(set(of_query)) for of_query in retrieved_names) / len(retrieved)
    is_few = (
        num_documents >= _TIMES_MORE * len(distinct)
        and len(retrieved) >= _ENOUGH_QUERIES
        and (len(distinct) <= _FEW_NAMES or in_rankings >= _HALF * len(distinct))
    )
    if is_one or is_few:
        values = number_of(len(distinct), "value")
        yield Finding.from_code(
            "same-names",
            f"the {num_documents:,} retrieved documents and the ground truth have only "
            f"{values} of {names.label}, so that documents which differ count as the same",
            count=len(distinct),
            total=num_documents,
            examples=map(shown, sorted(distinct)),
        )


def _parts_of_judged(
    result: EvaluationResult, judged: Judgements, retrieved: RetrievedNames
) -> Iterator[Finding]:
    """Yield a finding if retrieved contents are parts of judged ones, or hold them.

    Looked at are queries without a judged document, if these are half of all or more.
    """
    counted = result.counted
    assert counted is not None  # noqa: S101 - evaluated here
    num_ranked = counted.queries_retrieved - len(counted.queries_empty)
    if 2 * counted.queries_matched > num_ranked:
        return
    looked_at = count = 0
    for wanted, listed in zip(judged.grades.values(), retrieved, strict=True):
        if wanted and listed and wanted.keys().isdisjoint(listed):
            looked_at += 1
            pairs = product(listed[:_DOCUMENTS], list(wanted)[:_DOCUMENTS])
            count += any(_is_part(*pair) for pair in pairs)
            if looked_at == _QUERIES:
                break
    if count and 2 * count >= looked_at:
        yield Finding.from_code(
            "parts-of-judged",
            f"documents are matched by their whole contents, and for {count} of "
            f"{number_of(looked_at, 'query')} looked at a retrieved document is a "
            "part of a ground-truth document, or holds it: chunks do not match whole documents",
            count=count,
            total=looked_at,
        )


def _is_part(first: str, second: str) -> bool:
    """Return whether one text is a part of the other, as far as both are looked at."""
    shorter, longer = sorted((first, second), key=len)
    part = shorter[:_PART_LENGTH].strip()
    return len(part) >= _LEAST_LENGTH and part in longer[:_TEXT_LENGTH]
