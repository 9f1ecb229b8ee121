"""Checks of corpus and queries against the judgements."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from beir_eval.errors import first_few, shown
from beir_eval.inspection.finding import Finding
from beir_eval.inspection.spellings import IdMatcher
from beir_eval.inspection.unmatched_ids import check_spellings, difference_of_lists
from beir_eval.validation.qrels_checks import of_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from beir_eval.core.arrays import Ints
    from beir_eval.core.qrels import Qrels
    from beir_eval.datasets.corpus import Document
    from beir_eval.validation.inputs import QueriesInput

#: How many ids of a corpus are compared to find why none matches.
_MOST_IDS = 100_000


def check_folder(missing: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding if a data-set folder lacks corpus or queries.

    Args:
        missing: which of "corpus" and "queries" are neither in the folder nor given.
    """
    if missing:
        yield Finding.from_code(
            "incomplete-data-set",
            f"no {' and no '.join(missing)} in this folder",
            count=len(missing),
        )


def check_corpus(
    corpus: Iterable[Document], qrels: Qrels, queries: Mapping[str, str]
) -> tuple[int, list[Finding]]:
    """Return the number of documents, and the findings about them; they are read once and not kept.

    Args:
        corpus: the documents.
        qrels: the judgements.
        queries: {query_id: text}, as far as it is known.

    Raises:
        FileFormatError: a record is malformed.
    """
    judged = set(qrels.doc_ids)
    matcher = IdMatcher(dict.fromkeys(qrels.doc_ids))
    query_of = {_plain(text): query_id for query_id, text in queries.items() if text.strip()}
    longest = 2 * max(map(len, queries.values()), default=0)
    present: set[str] = set()
    pairs: list[tuple[str, str]] = []
    first_ids: list[str] = []
    equal_texts: list[str] = []
    hashes = array("q")
    count = 0
    for document in corpus:
        count += 1
        doc_id = document.doc_id
        hashes.append(hash(doc_id))
        if len(first_ids) < _MOST_IDS:
            first_ids.append(doc_id)
        if doc_id in judged:
            present.add(doc_id)
        else:
            pairs += matcher.pairs([doc_id])
        query_id = None
        if len(document.text) <= longest:
            plain = _plain(document.text)
            query_id = query_of.get(plain) or query_of.get(_plain(f"{document.title} {plain}"))
        if query_id is not None:
            equal_texts.append(f"document {shown(doc_id)} and query {shown(query_id)}")
    same = (
        f"{'document has' if len(equal_texts) == 1 else 'documents have'} the same text as a query"
    )
    absent_pairs = (pair for pair in pairs if pair[0] not in present)
    return count, [
        *_check_judged(list(dict.fromkeys(qrels.doc_ids)), present, first_ids),
        *check_spellings("document", "the corpus", absent_pairs),
        *of_ids("query-text-in-corpus", equal_texts, same, count, examples=equal_texts),
        *_check_repeated(corpus, np.frombuffer(hashes, dtype=np.int64)),
    ]


def _check_repeated(corpus: Iterable[Document], hashes: Ints) -> Iterator[Finding]:
    """Yield a finding if documents are listed twice; then the corpus is read again.

    Args:
        corpus: the documents.
        hashes: those of all ids, i8[N]: of millions of documents the ids would take much memory.
    """
    ordered = np.sort(hashes)
    suspected = set(ordered[1:][ordered[1:] == ordered[:-1]].tolist())
    if not suspected:
        return
    counts = Counter(document.doc_id for document in corpus if hash(document.doc_id) in suspected)
    repeated = [doc_id for doc_id, number in counts.items() if number > 1]
    are = "document is" if len(repeated) == 1 else "documents are"
    fact = f"{are} listed twice or more often"
    yield from of_ids("repeated-corpus-documents", repeated, fact, len(hashes))


def _check_judged(judged: list[str], present: set[str], first_ids: list[str]) -> Iterator[Finding]:
    """Yield a finding if judged documents are not in the corpus."""
    absent = [doc_id for doc_id in judged if doc_id not in present]
    if present or not absent:
        fact = f"of {len(judged):,} judged documents are not in the corpus"
        yield from of_ids("judged-documents-not-in-corpus", absent, fact, len(judged))
        return
    reason = _reason(judged, first_ids, "the corpus")
    yield Finding.from_code(
        "document-ids-do-not-match",
        f"none of {len(judged):,} judged documents is in the corpus",
        reason=reason,
        count=len(judged),
        total=len(judged),
        examples=[
            f"the qrels have {shown(judged[0])}",
            *(f"the corpus has {shown(doc_id)}" for doc_id in first_ids[:1]),
        ],
    )


def _reason(wanted: list[str], listed: list[str], owner: str) -> str:
    """Return the likely reason why no id matches, as a clause; "" if it is not known."""
    difference = difference_of_lists(wanted, listed, owner)
    # Row numbers are explained for runs; the numbers of a corpus are its ids.
    return "" if difference.cause == "row numbers" else difference.reason


def _plain(text: str) -> str:
    """Return a text in lower case, with single blanks."""
    return " ".join(text.casefold().split())


def check_queries(
    given: QueriesInput, qrels: Qrels, judged_elsewhere: Iterable[str] | None
) -> Iterator[Finding]:
    """Yield the findings about the queries of a data set.

    Args:
        given: the queries, as they were read.
        qrels: the judgements.
        judged_elsewhere: the queries that other splits judge; None if the splits are not known.
    """
    texts = given.texts
    differing = [
        f"{shown(query)}: {' and '.join(map(shown, different[:2]))}"
        for query, different in given.repeated.items()
        if len(set(different)) > 1
    ]
    are = "query is" if len(differing) == 1 else "queries are"
    fact = f"{are} listed twice, with different texts"
    yield from of_ids("repeated-queries", differing, fact, len(texts), examples=differing)
    yield from _check_query_texts(texts, qrels)
    absent = [query_id for query_id in qrels.query_ids if query_id not in texts]
    if absent and len(absent) == len(qrels):
        reason = _reason(list(qrels.query_ids), list(islice(texts, _MOST_IDS)), "the queries")
        yield Finding.from_code(
            "query-ids-do-not-match",
            f"none of {len(qrels):,} judged queries has a text",
            reason=reason,
            count=len(absent),
            total=len(qrels),
            examples=[
                f"the qrels judge {shown(absent[0])}",
                *(f"the file has {shown(query_id)}" for query_id in islice(texts, 1)),
            ],
        )
    elif absent:
        fact = f"of {len(qrels):,} judged queries have no text"
        yield from of_ids("judged-queries-without-text", absent, fact, len(qrels))
        judged = set(qrels.query_ids)
        pairs = IdMatcher(absent).pairs([text for text in texts if text not in judged])
        yield from check_spellings("query", "the file", pairs)
    if judged_elsewhere is not None and len(absent) < len(qrels):
        judged = {*qrels.query_ids, *judged_elsewhere}
        without = [query_id for query_id in texts if query_id not in judged]
        fact = f"of {len(texts):,} queries are judged in no split"
        yield from of_ids("queries-without-judgements", without, fact, len(texts))


def _check_query_texts(texts: Mapping[str, str], qrels: Qrels) -> Iterator[Finding]:
    """Yield findings on judged queries without words, and on equal texts judged differently."""
    rows_of: dict[str, list[int]] = {}
    for row, query_id in enumerate(qrels.query_ids):
        if query_id in texts:
            rows_of.setdefault(_plain(texts[query_id]), []).append(row)
    wordless = [
        qrels.query_ids[row]
        for text, rows in rows_of.items()
        if not any(map(str.isalnum, text))
        for row in rows
    ]
    have = "judged query has" if len(wordless) == 1 else "judged queries have"
    fact = f"{have} a text without a letter or digit"
    examples = (f"{shown(query_id)}: {shown(texts[query_id])}" for query_id in wordless)
    yield from of_ids("queries-without-words", wordless, fact, len(qrels), examples=examples)
    differing = [
        rows
        for rows in rows_of.values()
        if any(qrels.grades_of_row(row) != qrels.grades_of_row(rows[0]) for row in rows[1:])
    ]
    fact = "judged queries have the text of another one and other judgements"
    query_ids = [qrels.query_ids[row] for rows in differing for row in rows]
    first = (first_few(qrels.query_ids[row] for row in rows) for rows in differing[:1])
    yield from of_ids("equal-texts-judged-differently", query_ids, fact, len(qrels), examples=first)
