"""Warnings on a result: ids that match nothing, missing queries, what could not be found."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from beir_eval.display.document import CHECK_FIRST
from beir_eval.display.tables import score_text
from beir_eval.errors import number_of, warn_caller
from beir_eval.inspection.finding import QRELS
from beir_eval.measures import parse
from beir_eval.measures.names import registered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.evaluation.records import Reused
    from beir_eval.evaluation.result import EvaluationResult

#: The means on at most this many measures are part of a sentence.
_MOST_MEANS = 5

#: The measure whose means a warning on missing queries states, if it is there.
_MAIN_MEASURE = "nDCG@10"


def warnings_on(
    result: EvaluationResult,
    label: str = "",
    *,
    measures: Sequence[str] | None = None,
    dataset: str = "",
) -> list[str]:
    """Return the warnings on a result, mostly none; of one of several with its label before each.

    What is about the judgements is the same for all results of a data set, and has its name only.
    Of scores that were computed elsewhere nothing was counted, so there is no warning.

    Args:
        result: the result.
        label: what the result is called, such as the system.
        measures: the measures whose means are shown, canonical names; by default the first five of
            the result.
        dataset: the name of the data set, if there are several.
    """
    if result.counted is None:
        return []
    sentences = [
        *_float32_sentences(result, result.measures if measures is None else measures),
        *_missing_sentences(
            result, result.measures[:_MOST_MEANS] if measures is None else measures
        ),
        *_short_text_sentences(result),
    ]
    if result.retrieval is not None:
        if left_out := result.retrieval.beyond_limit:  # as the caller asked
            evaluated = result.counted.queries_judged
            queries = number_of(evaluated + left_out, "judged query")
            limit = f"the limit left out {left_out:,}"
            sentences.append(f"only {evaluated:,} of {queries} evaluated: {limit}")
        sentences += [finding.sentence for finding in result.retrieval.findings]
        for reused in result.retrieval.reused:
            sentences += _reused_sentences(reused)
    named = [f"{label}: {sentence}" if label else sentence for sentence in sentences]
    return content_warnings(result, label, dataset, measures) + named


def warn_of_content(
    result: EvaluationResult,
    label: str,
    dataset: str = "",
    measures: Sequence[str] | None = None,
) -> None:
    """Emit a BeirEvalWarning for ids that do not match, and for each sign of a mistake.

    Args:
        result: the result.
        label: what it is called, such as the system.
        dataset: the name of the data set, if there are several.
        measures: as of ``content_warnings``.
    """
    for sentence in content_warnings(result, label, dataset, measures):
        warn_caller(sentence)


def content_warnings(
    result: EvaluationResult, label: str, dataset: str, measures: Sequence[str] | None = None
) -> list[str]:
    """Return the warnings on what judgements and run contain: ids, scores, grades.

    An input that looks wrong is to be checked first.

    Args:
        result: the result.
        label: what it is called, such as the system.
        dataset: the name of the data set, if there are several.
        measures: the measures that are shown; those of the result by default. What changes none of
            them is left out: grade 1 changes no measure without a level of relevance.
    """
    findings = () if result.counted is None else result.counted.findings
    shown = map(registered, result.measures if measures is None else measures)
    has_level = any(measure and "rel" in measure.definition.defaults for measure in shown)
    warnings = []
    for finding in findings:
        if has_level or finding.code != "deep-learning-grades":
            first = CHECK_FIRST if finding.looks_wrong else ""
            name = dataset if finding.subject == QRELS else label
            warnings.append(f"{first}{f'{name}: ' if name else ''}{finding.sentence}")
    return warnings


def with_counts(result: EvaluationResult, **changes: Any) -> EvaluationResult:
    """Return a result with other counts.

    Args:
        result: the result, with counts.
        changes: {field of ``Counted``: its value}.
    """
    assert result.counted is not None  # noqa: S101 - see above
    return result.model_copy(update={"counted": result.counted.model_copy(update=changes)})


def _float32_sentences(result: EvaluationResult, measures: Sequence[str]) -> Iterator[str]:
    """Yield both means of the measures whose mean float32 moves as it is printed, if there are any.

    Args:
        result: the result.
        measures: the measures whose means are shown.
    """
    differences = {} if result.counted is None else result.counted.double_precision
    moved: dict[str, str] = {}
    for name in filter(differences.get, measures):
        mean, kind = result.aggregate[name], parse(name).definition.aggregate
        change = differences[name] / (1 if kind == "sum" else result.num_scored[name])
        as_given = mean * math.exp(change) if kind == "geometric" else mean + change
        if score_text(mean) != score_text(as_given):
            moved[f"{name} {score_text(mean)}"] = score_text(as_given)
    if moved:
        yield (
            f"{', '.join(list(moved)[:_MOST_MEANS])}; by double precision "
            f"{', '.join(list(moved.values())[:_MOST_MEANS])}: the scores of the run differ by "
            "less than float32 holds; ties='trec_eval10' compares them as given"
        )


def _reused_sentences(reused: Reused) -> Iterator[str]:
    """Yield how many answers were reused, and what the check of some of them says."""
    first, last = (_time_text(time) for time in (reused.first_saved, reused.last_saved))
    saved = first if first == last else f"{first} to {last}"
    were = "answer was" if reused.queries == 1 else "answers were"
    sentence = (
        f"{reused.answers:,} of {reused.queries:,} {were} read from {reused.file}, saved {saved}"
    )
    if reused.checked:
        same = "the same rankings"
        if reused.differing:
            same = f"{reused.differing:,} of them were ranked otherwise, as with a language model"
        verb = "was" if reused.checked == 1 else "were"
        sentence += f"; {reused.checked:,} of them {verb} run again: {same}"
    elif not reused.not_checked:
        sentence += "; none of them was run again"
    if reused.not_checked:
        sentence += f"; not run again: {reused.not_checked}"
    yield (
        f"{sentence}. Other changes of documents, imported modules, models or services are not "
        "noticed. Times are those of the earlier run"
    )
    if reused.changed_versions:
        changed = versions_text(reused.changed_versions)
        yield f"since the answers in {reused.file} were saved, versions have changed: {changed}"


def versions_text(changed: Mapping[str, tuple[str, str]]) -> str:
    """Return versions that have changed as text.

    Args:
        changed: {package: (version then, version now)}; "" for a package that was or is missing.

    >>> versions_text({"haystack-ai": ("3.3", "3.4"), "extra": ("", "1.0")})
    'haystack-ai 3.3 -> 3.4, extra none -> 1.0'
    """
    return ", ".join(
        f"{name} {then or 'none'} -> {now or 'none'}" for name, (then, now) in changed.items()
    )


def _time_text(time: str) -> str:
    """Return an ISO 8601 time in UTC, to the minute.

    >>> _time_text("2026-11-24T08:10:59+00:00")
    '2026-11-24 08:10 UTC'
    """
    return f"{time[:16].replace('T', ' ')} UTC"


def _short_text_sentences(result: EvaluationResult) -> Iterator[str]:
    """Yield the warning of ranked text that ends before the cutoffs, if any does."""
    counted, settings = result.counted, result.settings
    if counted is None or settings is None or counted.text is None:
        return
    text = counted.text
    if not counted.documents_judged:
        yield (
            "nothing that was retrieved holds judged text: check that both are of the same corpus, "
            "and that the documents of chunks have the ids of those of the spans"
        )
        return
    if not text.ends_before:
        return
    ends = ", ".join(
        f"before {cutoff:,} for {number_of(queries, 'query')}"
        for cutoff, (queries, _) in text.ends_before.items()
    )
    shortest = min(length for _, length in text.ends_before.values())
    yield (
        f"the text of the run ends {ends} (the shortest at {shortest:,} {settings.ranks}): what is "
        "not retrieved counts as not found, so retrieve more chunks"
    )


def _missing_sentences(result: EvaluationResult, measures: Sequence[str]) -> Iterator[str]:
    """Yield the warning of missing queries with both means, if queries are missing."""
    counted, settings = result.counted, result.settings
    if counted is None or settings is None or not (missing := counted.queries_missing):
        return
    num_judged, num_retrieved = counted.queries_judged, counted.queries_retrieved
    over_all, over_retrieved = result.mean_over("judged"), result.mean_over("retrieved")
    means = ""
    for name in [_MAIN_MEASURE] if _MAIN_MEASURE in measures else measures[:1]:
        if not math.isnan(over_all[name]):
            with_zeros, without = score_text(over_all[name]), score_text(over_retrieved[name])
            means = (
                f": {name} is {without}, and {with_zeros} with them as 0"
                if settings.missing == "skip"
                else f": {name} is {with_zeros}, and {without} over the other {num_retrieved:,}"
            )
    others = ""
    if counted.queries_not_judged and num_retrieved < len(missing):
        number = number_of(counted.queries_not_judged, "query")
        others = f"; {number} of the run {'is' if number.startswith('1 ') else 'are'} not judged:"
        others += " do run and qrels have the same query ids?"
    effect = "are left out" if settings.missing == "skip" else "count as 0"
    yield (
        f"{len(missing):,} of {num_judged:,} judged queries are missing, e.g. {missing[0]!r}, and "
        f"{effect}{means}{others}"
    )
