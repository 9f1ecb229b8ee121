"""Notes on a result: sentences about missing queries, duplicates, ties and undefined scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from beir_eval.errors import first_few
from beir_eval.evaluation.coverage import warnings_on
from beir_eval.measures import parse
from beir_eval.measures.names import registered
from beir_eval.measures.registry import JUDGED_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from beir_eval.core.ranking import EvaluationSettings
    from beir_eval.evaluation.records import Counted, Retrieval
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure


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


def notes_on(result: EvaluationResult) -> list[str]:
    """Return the notes on one result; ties, duplicates and the like only if there are any."""
    counted, settings = result.counted, result.settings
    if counted is None or settings is None:
        return list(_notes_on_given_scores(result))
    return [
        *warnings_on(result),
        *text_sentences(result),
        *convention_sentences(result),
        *_query_notes(counted, settings, result.retrieval),
        *([] if result.retrieval is None else retrieval_notes(result.retrieval)),
        *_document_notes(counted, settings),
        *_measure_notes(counted, settings, _of_documents(result), is_text=counted.text is not None),
        *_custom_measure_notes(result),
    ]


def ranks_sentence(result: EvaluationResult) -> str:
    """Return what has ranks, if spans are judged; else ""."""
    text, settings = getattr(result.counted, "text", None), result.settings
    if text is None or settings is None:
        return ""
    what = f"ranks count {settings.ranks} of the retrieved text"
    if settings.overlap is not None:
        what += f", a span counts once {100 * settings.overlap:g}% of it is read"
    again = "uses up ranks, too" if settings.repeated == "kept" else "is left out"
    return f"{what}, and text that is retrieved again {again}"


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


def _of_documents(result: EvaluationResult) -> dict[str, int]:
    """Return {measure: number of queries with a score} of the measures of this package."""
    return {
        name: number
        for name, number in result.num_scored.items()
        if name not in result.custom_measures
    }


def _custom_measure_notes(result: EvaluationResult) -> Iterator[str]:
    """Yield what the custom measures are, and over how many queries."""
    for name, scale in result.custom_measures.items():
        number = _quantity(result.num_scored[name], "query")
        yield f"{name}: a custom measure, {scale}, computed elsewhere over {number}"


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
    num_queries = result.num_queries
    yield (
        f"scores of {_quantity(num_queries, 'query')}, computed elsewhere: what was counted, and "
        "with which judgements and settings, is not known"
    )
    for name, scale in result.custom_measures.items():
        yield f"{name}: a custom measure, {scale}"
    incomplete = [
        f"{name} over {scored}"
        for name, scored in result.num_scored.items()
        if scored < num_queries
    ]
    if incomplete:
        yield (
            f"no score for some of the {_quantity(num_queries, 'query')}, which the mean leaves "
            f"out: {', '.join(incomplete)}"
        )


def retrieval_notes(retrieval: Retrieval) -> Iterator[str]:
    """Yield the notes on failed queries, documents and times."""
    if failed := retrieval.failures:
        reasons = "; ".join(f"{query}: {text}" for query, text in list(failed.items())[:3])
        yield f"{_quantity(len(failed), 'missing query')} failed ({reasons})"
    if retrieval.retries:
        yield f"{_quantity(retrieval.retries, 'attempt')} of a query failed and had to be repeated"
    if retrieval.chunks:
        chunks = _quantity(retrieval.chunks, "chunk")
        verb = "counts" if retrieval.chunks == 1 else "count"
        yield (
            f"{chunks} {verb} as the document in {retrieval.collapse}, {retrieval.further_chunks} "
            "of them left out as the ranking holds their document already"
        )
    if retrieval.repeated:
        copies = _quantity(retrieval.repeated, "further copy")
        yield f"{copies} of documents that the ranking holds already: left out"
    if retrieval.unnamed:
        yield f"{_quantity(retrieval.unnamed, 'retrieved document')} without a name: left out"
    if retrieval.without_parent:
        documents = _quantity(retrieval.without_parent, "retrieved document")
        yield f"{documents} without the field of collapse: each counts as a document of its own"
    if retrieval.seconds:
        timed_queries = _quantity(len(retrieval.seconds), "query")
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
    counted: Counted, settings: EvaluationSettings, retrieval: Retrieval | None
) -> Iterator[str]:
    """Yield the notes on empty and unjudged queries; ``warnings_on`` has the missing ones."""
    is_limited = retrieval is not None and retrieval.beyond_limit  # a warning
    if not is_limited and not counted.queries_missing:
        yield _queries_text(counted)
    if empty := counted.queries_empty:
        yield f"{_quantity(len(empty), 'query')} with an empty ranking: {first_few(empty)}"
    if without_relevant := counted.queries_without_relevant:
        is_skipped = settings.no_relevant == "skip"
        effect = (
            "left out of means that need one" if is_skipped else "counted as undefined, mostly 0"
        )
        queries = _quantity(len(without_relevant), "query")
        yield f"{queries} with no grade above 0 ({effect}): {first_few(without_relevant)}"
    has_most = counted.queries_retrieved >= len(counted.queries_missing)
    if counted.queries_not_judged and has_most:  # else in a warning
        not_judged = _quantity(counted.queries_not_judged, "unjudged query")
        yield f"{not_judged} {'was' if counted.queries_not_judged == 1 else 'were'} ignored"
    if without_judgements := counted.queries_without_judgements:
        yield f"{_quantity(without_judgements, 'query')} of the qrels with no judgement: left out"


def _document_notes(counted: Counted, settings: EvaluationSettings) -> Iterator[str]:
    """Yield the notes on duplicates, identical ids, ties and judgements."""
    if counted.duplicates:
        effect = {
            "first": "only the best-ranked copy counts and the ranking closes up",
            "keep": "later copies gain nothing and ranks stay",
        }[settings.duplicates]
        entries = _quantity(counted.duplicates, "entry")
        yield f"{entries} of a document that its ranking holds already: {effect}"
    if counted.duplicates_checked == "judged":
        yield "only judged documents were looked at for duplicates"
    if counted.identical_ids:
        effect = "dropped" if settings.drop_identical_ids else "kept"
        yield f"{_quantity(counted.identical_ids, 'document')} with the id of the query ({effect})"
    if counted.excluded:
        number, rankings = counted.excluded
        yield (
            f"{_quantity(number, 'excluded document')} left out of {_quantity(rankings, 'ranking')}"
            if number
            else "no ranking holds a document that is excluded for its query"
        )
    yield from _tie_notes(counted, settings)
    if counted.negative_judgements:
        yield f"{_quantity(counted.negative_judgements, 'negative grade')}: pooled but unjudged"
    yield from _identity_notes(counted)
    if counted.repeated_judgements:
        repeated = _quantity(counted.repeated_judgements, "repeated judgement")
        yield f"{repeated} in the qrels, counted once"
    if counted.text is None and (shares := judged_share_text(counted.judged_share)):
        yield shares


def _queries_text(counted: Counted) -> str:
    return _quantity(counted.queries_judged, "query")


def _tie_notes(counted: Counted, settings: EvaluationSettings) -> Iterator[str]:
    if counted.tied_documents:
        yield (
            f"equal scores of {_quantity(counted.tied_documents, 'judged document')} at all ranks "
            f"of {_quantity(counted.tied_queries, 'query')}, ordered {_TIES[settings.ties]}"
        )


def notes_below(result: EvaluationResult) -> list[str]:
    """Return the notes on a result that its first line and its table do not say.

    These are not the warnings, the queries, the judged shares, and ties of few documents.
    """
    notes = notes_on(result)[len(warnings_on(result)) :]
    counted, settings = result.counted, result.settings
    if counted is None or settings is None:
        return notes
    in_first_line = {_queries_text(counted), judged_share_text(counted.judged_share)}
    if counted.tied_documents < _MANY_TIED * counted.documents_judged:
        in_first_line |= {*_tie_notes(counted, settings)}
    return [note for note in notes if note not in in_first_line]


def _identity_notes(counted: Counted) -> Iterator[str]:
    """Yield the note on chunks."""
    if counted.chunks or counted.ids_not_of_chunks:
        chunks = _quantity(counted.chunks, "chunk")
        others = ""
        if counted.ids_not_of_chunks:
            ids = _quantity(counted.ids_not_of_chunks, "id")
            others = f"; {ids} of another form: each counts as a document"
        left_out = ""
        if counted.further_chunks:
            left_out = (
                f", {counted.further_chunks} of them left out as the ranking holds a better chunk "
                "of it"
            )
        verb = "counts" if counted.chunks == 1 else "count"
        yield f"{chunks} {verb} as their document{left_out}{others}"


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


def judged_depth(measure: str) -> int | None:
    """Return the rank below which documents do not matter to a measure; None if there is none.

    Without unjudged documents, which ``judged_only`` leaves out, later ones move up.
    """
    parsed = registered(measure)
    if parsed is None or (JUDGED_ONLY, True) in parsed.parameters:
        return None
    return parsed.cutoff


def judged_share(result: EvaluationResult, depth: int | None) -> float:
    """Return the judged share of the first documents of a result; NaN if it is not known.

    Args:
        result: the result.
        depth: how many first documents; None for all.
    """
    counted = result.counted
    if counted is None or counted.text is not None:
        return math.nan
    if depth is not None:
        return counted.judged_share.get(depth, math.nan)
    total = counted.documents_retrieved
    return counted.documents_judged / total if total else math.nan


def share_text(share: float) -> str:
    """Return a share in percent without the sign; what is neither all nor nothing shows as such.

    >>> share_text(0.52), share_text(1.0), share_text(0.9999), share_text(0.0001)
    ('52', '100', '>99', '<1')
    """
    if 0 < share < 0.01:  # noqa: PLR2004 - 1%
        return "<1"
    if 0.99 < share < 1:  # noqa: PLR2004 - 99%
        return ">99"
    return f"{100 * share:.0f}"


#: Rankings are mostly of so many documents or more where a measure without a cutoff is reported.
_USUAL_DEPTH = 100


def is_cut_short(measure: Measure, deepest: int) -> bool:
    """Return whether a measure would see more documents of longer rankings.

    Without a cutoff, rankings of fewer than 100 documents are taken for short ones.

    Args:
        measure: the measure.
        deepest: the number of documents in the longest ranking.
    """
    if measure.cutoff is not None:
        return measure.cutoff > deepest
    sees_all = measure.definition.cutoff == "optional" and measure.definition.aggregate != "sum"
    return sees_all and deepest < _USUAL_DEPTH


def _measure_notes(
    counted: Counted,
    settings: EvaluationSettings,
    num_scored: Mapping[str, int],
    *,
    is_text: bool,
) -> Iterator[str]:
    """Yield the notes on measures that rankings are too short for, and on undefined scores."""
    deepest = counted.deepest_ranking
    if not is_text and any(is_cut_short(parse(name), deepest) for name in num_scored):
        yield f"* the run has at most {_quantity(deepest, 'document')} per query"
    yield from _shallow_notes(counted, num_scored)
    num_skipped = len(counted.queries_missing) if settings.missing == "skip" else 0
    num_evaluated = counted.queries_judged - num_skipped
    undefined_somewhere = [
        name for name, num_queries in num_scored.items() if num_queries < num_evaluated
    ]
    if undefined_somewhere:
        counts = ", ".join(f"{name} over {num_scored[name]}" for name in undefined_somewhere)
        yield f"undefined for some queries, which its mean leaves out: {counts}"


def _shallow_notes(counted: Counted, num_scored: Mapping[str, int]) -> Iterator[str]:
    """Yield a note on cutoffs that the deepest ranking reaches, but many others do not."""
    cutoffs = {cutoff for name in num_scored if (cutoff := parse(name).cutoff) is not None}
    shallow = [
        f"{mean_depth:.1f} of {cutoff:,}"
        for cutoff, mean_depth in counted.mean_depths.items()
        if cutoff in cutoffs
        and cutoff <= counted.deepest_ranking
        and mean_depth < _FULL_SHARE * cutoff
    ]
    if shallow:
        yield (
            f"rankings hold fewer documents than the cutoff, on average {', '.join(shallow)}: what "
            "is not retrieved counts as not relevant"
        )


#: {rule: how it breaks ties}
_TIES = {
    "trec_eval9": "as in trec_eval 9",
    "trec_eval10": "as in trec_eval 10",
    "input": "by the order of the input",
    "best": "in favour of the system",
    "worst": "against the system",
}


def _quantity(number: int, noun: str) -> str:
    """Return a number with its noun, which is in the plural unless the number is 1.

    >>> _quantity(1, "query"), _quantity(2, "query"), _quantity(0, "document")
    ('1 query', '2 queries', '0 documents')
    """
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"
