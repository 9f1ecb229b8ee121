"""Notes on a result: sentences about missing queries, duplicates, ties and undefined scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from beir_eval.errors import first_few, number_of
from beir_eval.evaluation.depths import is_cut_short, share_text
from beir_eval.measures import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.evaluation.records import Counted, Retrieval
    from beir_eval.evaluation.result import EvaluationResult


#: Rankings are shallow if they hold, on average, less than this share of a cutoff's documents.
_FULL_SHARE = 0.95
#: The share of judged documents with tied scores that is said on the first screen.
_MANY_TIED = 0.05
#: How texts were found, in words.
_STAGES = {
    "stated": "at the stated offset",
    "exact": "exact",
    "white_space": "exact but for white space",
    "letters": "letters only",
    "fuzzy": "fuzzy",
    "lost": "lost",
    "unchecked": "not checked",
    "wrong_offsets": "wrong offsets",
    "several_places": "at several places",
    "unknown_documents": "of unknown documents",
}


def notes_on(result: EvaluationResult, *, is_below: bool = False) -> list[str]:
    """Return the notes on one result; ties, duplicates and the like only if there are any.

    Args:
        result: the result.
        is_below: whether they stand below its first line and its table, which say the number of
            queries and the judged shares; ties of few documents are then left out too.
    """
    counted, settings = result.counted, result.settings
    if counted is None or settings is None:
        return list(_notes_on_given_scores(result))
    return [
        *text_sentences(result),
        *convention_sentences(result),
        *_query_notes(counted, settings, result.retrieval, is_below=is_below),
        *([] if result.retrieval is None else retrieval_notes(result.retrieval)),
        *_document_notes(counted, settings, is_below=is_below),
        *_measure_notes(counted, settings, result),
        *(
            f"{name}: a custom measure, {scale}, computed elsewhere over "
            f"{number_of(result.num_scored[name], 'query')}"
            for name, scale in result.custom_measures.items()
        ),
    ]


def _counts(*facts: tuple[int | None, str, str]) -> Iterator[str]:
    """Yield each number with its noun and what follows; none for 0."""
    for number, noun, ending in facts:
        if number:
            yield f"{number_of(number, noun)} {ending}"


def ranks_sentence(result: EvaluationResult) -> str:
    """Return what has ranks, if spans are judged; else ""."""
    text, settings = getattr(result.counted, "text", None), result.settings
    if text is None or settings is None:
        return ""
    what = f"A rank is a {settings.ranks.removesuffix('s')} of the retrieved text"
    if settings.overlap is not None:
        what += f", a span counts once {100 * settings.overlap:g}% of it is read"
    again = "takes up ranks again" if settings.repeated == "kept" else "is left out"
    return f"{what}; text that is retrieved again {again}"


def ranks_caption(result: EvaluationResult) -> str:
    """Return what a caption says of the ranks if spans are judged, after a blank; else ""."""
    sentence = ranks_sentence(result)
    return f" {sentence[0].upper()}{sentence[1:]}." if sentence else ""


def text_sentences(result: EvaluationResult) -> Iterator[str]:
    """Yield what has ranks, and how chunks were found in their documents, if spans are judged."""
    text = getattr(result.counted, "text", None)
    if text is None:
        return
    yield ranks_sentence(result)
    if not text.alignment:
        return
    stages = [f"{_STAGES[stage]} {count:,}" for stage, count in text.alignment.items()]
    if "lost" not in text.alignment:
        stages.append("lost 0")
    yield (
        f"chunks of {text.mean_chunk:,.0f} characters on average; different ones in the text of "
        f"their documents: {', '.join(stages)}"
    )


def convention_sentences(result: EvaluationResult) -> Iterator[str]:
    """Yield what the result followed of BEIR's conventions unasked, and how it is changed.

    Nothing about documents with the id of their query if there were none to leave out.
    """
    conventions, counted = result.provenance.conventions, result.counted
    if conventions is None:
        return
    followed = []
    if conventions.split is not None:
        followed.append(
            f"the split is {conventions.split} (--split or load_dataset(folder, split=...) chooses "
            "another)"
        )
    if conventions.drops_identical_ids and counted is not None and counted.identical_ids:
        followed.append(
            "documents with the id of their query are left out (--keep-identical-ids or "
            "drop_identical_ids=False keeps them)"
        )
    if followed:
        yield f"BEIR's conventions for {conventions.dataset}: {'; '.join(followed)}"


def exclusion_sentences(results: Mapping[str, EvaluationResult]) -> Iterator[str]:
    """Yield how many documents were left out of each system because the judgements exclude them.

    Args:
        results: {system: its result}.
    """
    excluded = {
        name: result.counted.excluded[0]
        for name, result in results.items()
        if result.counted is not None and result.counted.excluded
    }
    if excluded:
        numbers = ", ".join(f"{number:,} of {name}" for name, number in excluded.items())
        yield f"documents excluded for their query are left out ({numbers})"


def _notes_on_given_scores(result: EvaluationResult) -> Iterator[str]:
    """Yield the notes on scores that were computed elsewhere."""
    queries = number_of(result.num_queries, "query")
    yield (
        f"scores of {queries}, computed elsewhere: what was counted, and with which judgements and "
        "settings, is not known"
    )
    for name, scale in result.custom_measures.items():
        yield f"{name}: a custom measure, {scale}"
    if incomplete := _incomplete(result, result.num_scored, result.num_queries):
        yield f"no score for some of the {queries}, which the mean leaves out: {incomplete}"


def retrieval_notes(retrieval: Retrieval) -> Iterator[str]:
    """Yield the notes on failed queries, documents and times."""
    failed, further = retrieval.failures, retrieval.further_chunks
    reasons = "; ".join(f"{query}: {text}" for query, text in list(failed.items())[:3])
    verb = "counts" if retrieval.chunks == 1 else "count"
    alone = "without the field of collapse: each counts as a document of its own"
    left_out = f"{further} of them left out as the ranking holds their document already"
    yield from _counts(
        (len(failed), "missing query", f"failed ({reasons})"),
        (retrieval.retries, "attempt", "of a query failed and had to be repeated"),
        (retrieval.chunks, "chunk", f"{verb} as the document in {retrieval.collapse}, {left_out}"),
        (
            retrieval.repeated,
            "further copy",
            "of documents that the ranking holds already: left out",
        ),
        (retrieval.unnamed, "retrieved document", "without a name: left out"),
        (retrieval.without_parent, "retrieved document", alone),
    )
    if retrieval.seconds:
        timed_queries = number_of(len(retrieval.seconds), "query")
        p50, p95 = _duration(retrieval.p50), _duration(retrieval.p95)
        yield f"time per query: median {p50}, 95th percentile {p95} (of {timed_queries})"


def _duration(seconds: float) -> str:
    """Return a duration as text, in seconds or milliseconds.

    Args:
        seconds: the duration.

    >>> _duration(0.01234), _duration(2.5)
    ('12.3 ms', '2.50 s')
    """
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def _query_notes(
    counted: Counted, settings: EvaluationSettings, retrieval: Retrieval | None, *, is_below: bool
) -> Iterator[str]:
    """Yield the notes on empty and unjudged queries; ``warnings_on`` has the missing ones."""
    is_limited = retrieval is not None and retrieval.beyond_limit  # a warning
    if not is_below and not is_limited and not counted.queries_missing:
        yield number_of(counted.queries_judged, "query")
    empty, without_relevant = counted.queries_empty, counted.queries_without_relevant
    no_grade = "with no grade above 0 (counted as undefined, mostly 0)"
    if settings.no_relevant == "skip":
        no_grade = "with no grade above 0 (left out of means that need one)"
    has_most = counted.queries_retrieved >= len(counted.queries_missing)  # else in a warning
    not_judged = counted.queries_not_judged if has_most else 0
    yield from _counts(
        (len(empty), "query", f"with an empty ranking: {first_few(empty)}"),
        (len(without_relevant), "query", f"{no_grade}: {first_few(without_relevant)}"),
        (not_judged, "unjudged query", f"{'was' if not_judged == 1 else 'were'} ignored"),
        (counted.queries_without_judgements, "query", "of the qrels with no judgement: left out"),
    )


def _document_notes(
    counted: Counted, settings: EvaluationSettings, *, is_below: bool
) -> Iterator[str]:
    """Yield the notes on duplicates, identical ids, ties and judgements."""
    effect = "later copies gain nothing and ranks stay"
    if settings.duplicates == "first":
        effect = "only the best-ranked copy counts and the ranking closes up"
    again = f"of a document that its ranking holds already: {effect}"
    yield from _counts((counted.duplicates, "entry", again))
    if counted.duplicates_checked == "judged":
        yield "only judged documents were looked at for duplicates"
    effect = "dropped" if settings.drop_identical_ids else "kept"
    yield from _counts((counted.identical_ids, "document", f"with the id of the query ({effect})"))
    if counted.excluded:
        number, rankings = counted.excluded
        yield (
            f"{number_of(number, 'excluded document')} left out of {number_of(rankings, 'ranking')}"
            if number
            else "no ranking holds a document that is excluded for its query"
        )
    fewest_tied = _MANY_TIED * counted.documents_judged if is_below else 1
    if counted.tied_documents and counted.tied_documents >= fewest_tied:
        yield (
            f"{number_of(counted.tied_documents, 'judged document')} in the whole rankings of "
            f"{number_of(counted.tied_queries, 'query')} have tied scores, ordered "
            f"{_TIES[settings.ties]}"
        )
    if counted.negative_judgements:
        yield f"{number_of(counted.negative_judgements, 'negative grade')}: pooled but unjudged"
    yield from _identity_notes(counted)
    if not is_below and counted.text is None:
        yield from filter(None, [judged_share_text(counted.judged_share)])


def _identity_notes(counted: Counted) -> Iterator[str]:
    """Yield the note on chunks."""
    if counted.chunks or counted.ids_not_of_chunks:
        count = "counts" if counted.chunks == 1 else "count"
        note = f"{number_of(counted.chunks, 'chunk')} {count} as their document"
        if further := counted.further_chunks:
            note += f", {further} of them left out as the ranking holds a better chunk of it"
        if counted.ids_not_of_chunks:
            ids = number_of(counted.ids_not_of_chunks, "id")
            note += f"; {ids} of another form: each counts as a document"
        yield note


def judged_share_text(shares: Mapping[int, float]) -> str:
    """Return {k: the share of the top k that is judged} as text; "" if there is none.

    >>> judged_share_text({1: 1.0, 10: 0.996, 100: 0.52})
    'documents judged in the top 1 / 10 / 100: 100 / >99 / 52%'
    """
    known = {k: share for k, share in shares.items() if not math.isnan(share)}
    if not known:
        return ""
    texts = map(share_text, known.values())
    return f"documents judged in the top {' / '.join(map(str, known))}: {' / '.join(texts)}%"


def _measure_notes(
    counted: Counted, settings: EvaluationSettings, result: EvaluationResult
) -> Iterator[str]:
    """Yield the notes on measures that rankings are too short for, and on undefined scores."""
    deepest, mean_depths = counted.deepest_ranking, counted.mean_depths
    names = [name for name in result.num_scored if name not in result.custom_measures]
    measures = list(map(parse, names))
    is_cut = any(is_cut_short(measure, deepest) for measure in measures)
    if is_cut and counted.text is None:
        yield f"* the run has at most {number_of(deepest, 'document')} per query"
    # Cutoffs that the deepest ranking reaches, but many others do not.
    shallow = [
        f"{mean_depth:.1f} of {cutoff:,}"
        for cutoff, mean_depth in mean_depths.items()
        if cutoff in {measure.cutoff for measure in measures}
        and cutoff <= deepest
        and mean_depth < _FULL_SHARE * cutoff
    ]
    if shallow:
        yield (
            f"rankings hold fewer documents than the cutoff, on average {', '.join(shallow)}: what "
            "is not retrieved counts as not relevant"
        )
    num_skipped = len(counted.queries_missing) if settings.missing == "skip" else 0
    incomplete = _incomplete(result, names, counted.queries_judged - num_skipped)
    if incomplete:
        yield f"undefined for some queries, which its mean leaves out: {incomplete}"


def _incomplete(result: EvaluationResult, names: Iterable[str], num_queries: int) -> str:
    """Return the measures without a score on some of the queries, with how many have one."""
    scored = ((name, result.num_scored[name]) for name in names)
    return ", ".join(f"{name} over {number}" for name, number in scored if number < num_queries)


#: {rule: how it breaks ties}
_TIES = {
    "trec_eval9": "as in trec_eval 9",
    "trec_eval10": "as in trec_eval 10",
    "input": "by the order of the input",
    "best": "in favour of the system",
    "worst": "against the system",
}
