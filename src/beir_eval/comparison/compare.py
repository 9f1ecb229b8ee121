"""The functions ``compare`` (of evaluated results) and ``compare_runs`` (of runs).

And what they take as a sample: queries or clusters of them, and repeats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from beir_eval.comparison.alignment import (
    ROUNDING_TOLERANCE,
    align_scores,
    check_baseline,
    repeats_by_system,
)
from beir_eval.comparison.coverage import (
    deepest_rankings_of,
    ranked_text_sentences,
    retrieved_by_all,
)
from beir_eval.comparison.differences import differences_of, means_of, pairs_to_compare
from beir_eval.comparison.rank_similarity import likeness_of
from beir_eval.comparison.records import REPEATS, CommonQueries, ComparisonSettings, TieRange
from beir_eval.comparison.result import Comparison
from beir_eval.comparison.to_judge import ComparedRuns
from beir_eval.core.arrays import exact_sum, is_iterable
from beir_eval.core.ids import checked_query_ids
from beir_eval.errors import (
    InputError,
    ResultError,
    SettingError,
    about_system,
    check_choice,
    check_count,
    first_few,
    shown,
)
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning
from beir_eval.evaluation.inputs import JudgedFolder, as_qrels, as_run, conventions_of
from beir_eval.evaluation.notes import convention_sentences, exclusion_sentences
from beir_eval.evaluation.query_scores import scores_at_tie_extremes
from beir_eval.evaluation.result import EvaluationResult
from beir_eval.evaluation.score_matrix import ScoreMatrix
from beir_eval.measures import parse, parse_all, with_rel
from beir_eval.significance.validation import FEWEST_QUERIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from beir_eval.comparison.alignment import AlignedScores, SystemResults
    from beir_eval.comparison.differences import Pairs
    from beir_eval.comparison.records import Difference
    from beir_eval.evaluation.inputs import QrelsLike, RunLike
    from beir_eval.measures import MeasureLike

#: How many top documents of each ranking are compared by default (``Likeness``).
_LIKENESS_K = 10
#: How many top documents the results keep for a measure without a cutoff, and at most for others.
_TOP_WITHOUT_CUTOFF, _LONGEST_TOP = 10, 100


def compare(  # noqa: PLR0913 - one keyword a setting
    results: Mapping[str, SystemResults] | Iterable[EvaluationResult],
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    baseline: str | None = None,
    rel: float | None = None,
    test: str = "sign_flip",
    correction: str | None = None,
    interval: str = "test",
    alpha: float = 0.05,
    margin: float = 0.01,
    on: str = "error",
    draws: int | None = None,
    rng: int = 0,
    repeats: str | None = None,
    deterministic: Iterable[str] = (),
    clusters: Mapping[str, str] | None = None,
) -> Comparison:
    """Return the comparison of systems by their results on the same queries.

    A query on which a measure is undefined for any system is left out for that measure.

    Args:
        results: {name: result}, or an iterable of results with different names. A result may also
            be the path of a saved one. The value of a name may also be a list of results, the
            repeats of one system (``repeats``): their scores are averaged for each query, and their
            spread is reported. Results of ``evaluate`` and of ``EvaluationResult.from_scores`` can
            be compared with each other; settings and qrels of the latter are not known, which the
            notes say.
        measures: the measures to compare, one or several, as names in any spelling or ``Measure``
            values. None takes all measures that every result holds, if they are means over queries
            and do not measure what is unjudged (Hole, RBP_residual). Of a custom measure for which
            lower is better, the better system is the one with the lower mean.
        baseline: the name of the system that all others are compared with; None compares all pairs
            of systems.
        rel: the lowest grade that is relevant, for every measure that takes a ``rel`` and does not
            state it: rel=2 compares MAP(rel=2) where MAP would be compared. It selects among the
            measures that the results hold, and computes none.
        test: the name in ``significance.PAIRED_TESTS`` of the test of the differences:

            - "sign_flip": randomisation test that flips the signs of the differences.
            - "t": paired t test.

        correction: the correction of p for all differences of one measure:

            - None: "max-t" with test="sign_flip", otherwise "holm".
            - "max-t": family-wise error, from the largest t of each sign flip; the intervals hold
              simultaneously. Only with test="sign_flip".
            - "holm", "bonferroni": family-wise error, from the uncorrected p-values.
            - "none": no correction.

        interval: the intervals of the differences:

            - "test": those of the test and its correction. Each has the level at which its
              difference was tested, so it excludes 0 exactly if the verdict is "better" or "worse".
            - "t": not corrected, and not the test's: they may disagree with the verdict.

        alpha: the significance level of the verdicts, above 0 and below 0.5.
        margin: the smallest difference you consider meaningful, above 0, in the unit of the
            measures. Systems are "equivalent" if they are shown to differ by less. A margin of half
            of the range of a measure or more is refused, one above a tenth of it is warned of.
        on: what to do if systems have different queries, as they may if they were evaluated with
            missing="skip", or different judgements: "error" raises an error, "intersection"
            compares the queries that all systems have, "any-judgements" compares these also if
            they were judged otherwise, which is a warning of the comparison.
        draws: how many sign vectors the sign-flip and max-t tests draw; so few that no p can reach
            the level after the correction are refused. None: 100,000,
            or 20,000 for more than 1,000 queries or 500 pairs. If a pair has no more than this, up
            to their opposites, all of them are tried and p is exact.
        rng: the random seed, a whole number from 0. Equal seeds give equal results.
        repeats: what the repeats of a system are, such as trainings with other seeds:

            - None: "random" if every system has two or more or is ``deterministic``, and the test
              is "sign_flip" or "t"; else "averaged".
            - "random": a sample of its possible repeats. Verdicts, intervals and power hold for
              other repeats too (``significance.crossed_tests``). The default correction is then
              "holm".
            - "paired": the same, and repeat i of one system belongs to repeat i of the other (the
              same seed).
            - "averaged": verdicts hold for these repeats only.

        deterministic: the names of systems whose repeats would all be equal, such as BM25; they
            need one.
        clusters: {query_id: label} if queries are related, such as paraphrases of one topic. The
            test and the intervals take whole clusters, and every query needs one. Fewer than six
            clusters give no verdict. Only with test="sign_flip" or "t".

    Returns:
        The means, the difference and verdict of every pair, the scores of every query, and the
        judged shares at the cutoffs that were evaluated. ``likeness`` is known if all results keep
        their top documents: of the first 10, or of fewer if ``keep_top`` in ``evaluate`` was below
        10. It is left out for more than 45 pairs, or more than 100,000 pairs times queries.

    Raises:
        ResultError: there are fewer than two systems or two of one name, or the results have
            different settings or different judgements (``Provenance.qrels_hash``; unless
            ``on="any-judgements"``), or different bounds or directions of a custom measure.
        QueryMismatchError: the systems have different queries (with on="error"), or none in common.
        NotEvaluatedError: a result does not hold one of ``measures``.
        MeasureError: one of ``measures`` does not exist, is not a mean over queries, or measures
            what is unjudged (Hole, RBP_residual); or the results have no measure in common that can
            be compared.
        InputError: all systems have a score on fewer than two queries.
        SettingError: an argument has a value that does not exist or that does not go with the
            others, ``baseline`` is not a system, or all pairs of more than 100 systems are to be
            compared.
        MissingExtraError: scipy is not installed, and a system has random repeats.

    Warns:
        BeirEvalWarning: the document ids of a system do not match those of the qrels, or the margin
            is above a tenth of the range of a measure.

    >>> from beir_eval import evaluate
    >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
    >>> runs = {"B": {query: {"a": 1, "x": 2} for query in qrels}}
    >>> runs["A"] = {query: {"a": 2, "x": 1} for query in qrels}
    >>> results = {name: evaluate(qrels, run, ["MRR"]) for name, run in runs.items()}
    >>> mrr = compare(results, baseline="B").difference("MRR", "A")
    >>> mrr.difference, mrr.p, mrr.wins, mrr.verdict  # p: 2 of 2^8 flips
    (0.5, 0.0078125, 8, 'better')
    """
    if isinstance(results, EvaluationResult) and isinstance(measures, EvaluationResult):
        msg = (
            "the results to compare are one argument, a list: compare([a, b]); the second argument "
            "are the measures"
        )
        raise ResultError(msg)
    systems = repeats_by_system(results)
    if isinstance(measures, str) and measures in systems:
        msg = (
            f"{shown(measures)} is a system, not a measure; the system that the others are "
            f"compared with is baseline={shown(measures)}"
        )
        raise SettingError(msg)
    settings = _settings(
        {name: len(many) for name, many in systems.items()},
        repeats=repeats,
        test=test,
        correction=correction,
        interval=interval,
        alpha=alpha,
        margin=margin,
        on=on,
        draws=draws,
        rng=rng,
        deterministic=deterministic,
    )
    labels = checked_clusters(clusters)
    aligned = align_scores(systems, measures, on, labels, rel=rel)
    comparison = _comparison_of(aligned, baseline, settings)
    if any(results_of[0].top is None for results_of in systems.values()):
        return comparison
    likeness = likeness_of(comparison, systems, _LIKENESS_K)
    return comparison.model_copy(update={"likeness": likeness})


def _settings(
    counts: Mapping[str, int],
    *,
    repeats: str | None,
    correction: str | None,
    deterministic: Iterable[str],
    test: str,
    **others: Any,
) -> ComparisonSettings:
    """Return the settings of a comparison, with the defaults that depend on the systems.

    Args:
        counts: {system: number of its repeats}.
        repeats: as in ``compare``.
        correction: likewise.
        deterministic: likewise.
        test: likewise.
        others: the other settings, likewise.

    Raises:
        SettingError: a value does not exist, or does not go with the others or with the systems.
    """
    names = checked_deterministic(deterministic, counts)
    repeats = choose_repeats(repeats, counts, names)
    if correction is None:
        flips_queries_only = test == "sign_flip" and repeats == "averaged"
        correction = "max-t" if flips_queries_only else "holm"
    return ComparisonSettings(
        test=test,
        correction=correction,
        repeats=repeats,
        deterministic=names,
        **others,
    )


def _comparison_of(
    aligned: AlignedScores, baseline: str | None, settings: ComparisonSettings
) -> Comparison:
    """Return the comparison, and warn of systems whose scores mean something else than usual.

    Args:
        aligned: the scores of all systems, and the results that they are from.
        baseline: the system that all others are compared with.
        settings: the settings.

    Raises:
        SettingError: the baseline is not a system, or a deterministic one has repeats.
    """
    check_baseline(baseline, aligned.systems)
    if settings.deterministic:
        _check_deterministic(aligned, settings.deterministic)
    pairs = pairs_to_compare(aligned.systems, baseline)
    defined = [measure_scores.where_defined() for measure_scores in aligned.by_measure]
    conventions = (
        sentence
        for repeats in aligned.results.values()
        for result in repeats
        for sentence in convention_sentences(result)
    )
    # Not validated: what a file may hold wrongly is computed here.
    return Comparison.model_construct(
        systems=aligned.systems,
        baseline=baseline,
        query_ids=aligned.query_ids,
        scores={
            measure_scores.measure: ScoreMatrix.from_owned_array(measure_scores.scores)
            for measure_scores in aligned.by_measure
        },
        results={name: tuple(repeats) for name, repeats in aligned.results.items()},
        means=tuple(mean for scores in defined for mean in means_of(scores, settings)),
        differences=tuple(differences_of(defined, pairs, settings)),
        settings=settings,
        deepest_rankings=deepest_rankings_of(aligned.results),
        on_common_queries=_on_common_queries(aligned, pairs, settings),
        conventions=(
            *dict.fromkeys(conventions),
            *exclusion_sentences({name: of[0] for name, of in aligned.results.items()}),
            *ranked_text_sentences(aligned.results),
        ),
        clusters=aligned.clusters,
        **aligned.stated(),
    )


def _on_common_queries(
    aligned: AlignedScores, pairs: Pairs, settings: ComparisonSettings
) -> CommonQueries | None:
    """Return the comparison over the queries that all systems have; None if these are all."""
    is_common = retrieved_by_all(aligned.results, aligned.query_ids)
    if is_common.all():
        return None
    on_common = [measure_scores.select(is_common) for measure_scores in aligned.by_measure]
    differences: tuple[Difference, ...] = ()
    defined = [scores.select(scores.is_defined) for scores in on_common]
    if all(len(scores.keys) >= FEWEST_QUERIES and scores.num_clusters != 1 for scores in defined):
        differences = tuple(differences_of(defined, pairs, settings))
    return CommonQueries(num_queries=int(is_common.sum()), differences=differences)


def compare_runs(  # noqa: PLR0913 - one keyword a setting
    qrels: QrelsLike,
    runs: Mapping[str, RunLike | Sequence[RunLike]],
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    rel: float | None = None,
    baseline: str | None = None,
    test: str = "sign_flip",
    correction: str | None = None,
    interval: str = "test",
    alpha: float = 0.05,
    margin: float = 0.01,
    on: str = "error",
    draws: int | None = None,
    rng: int = 0,
    repeats: str | None = None,
    deterministic: Iterable[str] = (),
    clusters: Mapping[str, str] | None = None,
    likeness_k: int | None = _LIKENESS_K,
    **policies: Any,
) -> Comparison:
    """Evaluate runs on one qrels and return their comparison.

    A query on which a measure is undefined for any system is left out for that measure.

    Args:
        qrels: ``Qrels``, {query_id: {doc_id: grade}}, a dataframe, a path that ``read_qrels``
            reads, or a ``Dataset``, whose convention on ``drop_identical_ids`` then holds.
        runs: {name: run} of two systems or more. A run is ``Run``, {query_id: {doc_id: score}}, a
            dataframe or the path of a run file. The value of a name may also be a list of runs, the
            repeats of one system (``repeats``): their scores are averaged for each query, and their
            spread is reported.
        measures: the measures to compute and compare, one or several, as names in any spelling or
            ``Measure`` values; None takes nDCG@10.
        rel: the lowest grade that is relevant, for every measure that takes a ``rel`` and does not
            state it; as in ``evaluate``.
        baseline: the name of the system that all others are compared with; None compares all pairs
            of systems.
        test: the name in ``significance.PAIRED_TESTS`` of the test of the differences:

            - "sign_flip": randomisation test that flips the signs of the differences.
            - "t": paired t test.

        correction: the correction of p for all differences of one measure:

            - None: "max-t" with test="sign_flip", otherwise "holm".
            - "max-t": family-wise error, from the largest t of each sign flip; the intervals hold
              simultaneously. Only with test="sign_flip".
            - "holm", "bonferroni": family-wise error, from the uncorrected p-values.
            - "none": no correction.

        interval: the intervals of the differences:

            - "test": those of the test and its correction. Each has the level at which its
              difference was tested, so it excludes 0 exactly if the verdict is "better" or "worse".
            - "t": not corrected, and not the test's: they may disagree with the verdict.

        alpha: the significance level of the verdicts, above 0 and below 0.5.
        margin: the smallest difference you consider meaningful, above 0, in the unit of the
            measures. Systems are "equivalent" if they are shown to differ by less. A margin of half
            of the range of a measure or more is refused, one above a tenth of it is warned of.
        on: what to do if systems have scores for different queries, which only missing="skip"
            allows: "error" raises an error, "intersection" compares the queries that all have.
        draws: how many sign vectors the sign-flip and max-t tests draw; so few that no p can reach
            the level after the correction are refused. None: 100,000,
            or 20,000 for more than 1,000 queries or 500 pairs. If a pair has no more than this, up
            to their opposites, all of them are tried and p is exact.
        rng: the random seed, a whole number from 0. Equal seeds give equal results.
        repeats: what the repeats of a system are, such as trainings with other seeds:

            - None: "random" if every system has two or more or is ``deterministic``, and the test
              is "sign_flip" or "t"; else "averaged".
            - "random": a sample of its possible repeats. Verdicts, intervals and power hold for
              other repeats too (``significance.crossed_tests``). The default correction is then
              "holm".
            - "paired": the same, and repeat i of one system belongs to repeat i of the other (the
              same seed).
            - "averaged": verdicts hold for these repeats only.

        deterministic: the names of systems whose repeats would all be equal, such as BM25; they
            need one.
        clusters: {query_id: label} if queries are related, such as paraphrases of one topic. The
            test and the intervals take whole clusters, and every query needs one. Fewer than six
            clusters give no verdict. Only with test="sign_flip" or "t".
        likeness_k: also the ranking similarity of the first k documents of each pair
            (``Comparison.likeness``), a whole number above 0. It is left out for more than 45
            pairs, or more than 100,000 pairs times queries. None leaves it out.
        **policies: the settings of ``Evaluator``, which say how the runs are evaluated:

            - ``order``: "score" (highest first; default) or "given" (the order of the run is the
              ranking).
            - ``ties``: the order of equal scores: "trec_eval9" (document id descending, scores as
              float32, as trec_eval 9, pytrec_eval and BEIR; default), "trec_eval10" (the same in
              double precision, as trec_eval 10), "input" (as given), "best" or "worst" (relevant
              documents first or last; not for measures of what is judged, such as Judged).
            - ``missing``: a judged query that a run does not have counts as an empty ranking
              ("zero"; default), is left out ("skip"), or raises an error ("error").
            - ``no_relevant``: a query without relevant documents scores 0 ("zero"; default), or is
              left out of the mean ("skip").
            - ``duplicates``: a document listed twice in a ranking raises an error ("error";
              default), only its best-ranked copy counts and the ranking closes up ("first"), or
              later copies gain nothing and ranks stay ("keep").
            - ``drop_identical_ids``: True leaves out documents whose id is the query's; by
              default only for a ``Dataset`` or a data-set folder of which BEIR does.
            - ``exclude``: documents to leave out of the ranking of a query, as in ``evaluate``.
            - ``keep_top``: how many top documents of each query every result keeps, 0 by default;
              at least as many as ``likeness_k`` and the cutoffs of the measures need (up to 100).
            - ``fingerprint``: True keeps the SHA-256 of qrels and runs in the results; False by
              default.

    Returns:
        The means, the difference and verdict of every pair, and the scores of every query. Its
        ``results`` are the evaluated runs. In memory it keeps the qrels and the runs too, for
        ``documents_to_judge``; saved or pickled it does not.

    Raises:
        QrelsError: the qrels are not usable.
        RunError: a run is not usable.
        DuplicateDocumentError: a document is listed twice in a ranking (with duplicates="error").
        QueryMismatchError: a run has no query in common with the qrels; a judged query is missing
            (with missing="error"); or the systems have different queries (with on="error").
        ResultError: ``runs`` is not a mapping, or has fewer than two systems.
        MeasureError: a measure does not exist, is not a mean over queries, measures what is
            unjudged (Hole, RBP_residual), or has a score beyond what a float can hold; or ``rel``
            is not a finite number above 0.
        InputError: all systems have a score on fewer than two queries.
        SettingError: an argument has a value that does not exist or that does not go with the
            others, ``baseline`` is not a system, or all pairs of more than 100 systems are to be
            compared.
        TypeError: a keyword that is not listed here.
        MissingExtraError: scipy is not installed, and a system has random repeats; or polars (or
            pyarrow for pandas) is not, for a dataframe.

    Warns:
        BeirEvalWarning: the qrels have fractional grades, and a measure without a threshold counts
            every grade above 0 as relevant; or no document that a system retrieves is judged, or
            hardly any, and its document ids do not match those of the qrels; or the margin is above
            a tenth of the range of a measure.

    >>> qrels = {f"q{n}": {"a": 1} for n in range(8)}
    >>> runs = {"B": {query: {"a": 1, "x": 2} for query in qrels}}
    >>> runs["A"] = {query: {"a": 2, "x": 1} for query in qrels}
    >>> compare_runs(qrels, runs, "MRR", baseline="B").difference("MRR", "A").verdict
    'better'
    """
    if not isinstance(runs, Mapping):
        msg = (
            "runs must be {name: run}, such as {'bm25': 'bm25.trec', 'dense': 'dense.trec'}, not "
            f"{type(runs).__name__}"
        )
        raise ResultError(msg)
    judgements = as_qrels(qrels)
    is_text = judgements.ranks != "documents"
    if measures is None:
        measures = "Recall@2000" if judgements.ranks == "characters" else "nDCG@10"
    parsed_measures = with_rel(parse_all(measures), rel)
    if likeness_k is not None:
        check_count("likeness_k", likeness_k)
    keep_top = policies.pop("keep_top", 0)
    check_count("keep_top", keep_top, least=0)
    runs_by_system = {
        name: [as_run(run) for run in (many if isinstance(many, (list, tuple)) else [many])]
        for name, many in runs.items()
    }
    settings = _settings(
        {name: len(many) for name, many in runs_by_system.items()},
        repeats=repeats,
        test=test,
        correction=correction,
        interval=interval,
        alpha=alpha,
        margin=margin,
        on=on,
        draws=draws,
        rng=rng,
        deterministic=deterministic,
    )
    labels = checked_clusters(clusters)
    check_baseline(baseline, tuple(runs_by_system))  # before the runs are evaluated
    if is_text:  # what is no gold is not unjudged, and chunks of two chunkers are never the same
        likeness_k = None
    judged = JudgedFolder(judgements, conventions_of(qrels))
    kept = max(likeness_k or 0, keep_top)
    if not is_text:
        tops = [
            min(measure.cutoff or _TOP_WITHOUT_CUTOFF, _LONGEST_TOP) for measure in parsed_measures
        ]
        kept = max(kept, *tops)
    evaluator = Evaluator(judged, parsed_measures, keep_top=kept, **policies)
    results = {}
    for name, its_runs in runs_by_system.items():
        with about_system(name):  # ``compare`` warns
            results[name] = [evaluate_without_warning(evaluator, run, name) for run in its_runs]
    aligned = align_scores(results, parsed_measures, on, labels)
    comparison = _comparison_of(aligned, baseline, settings)
    if likeness_k is not None:
        likeness = likeness_of(comparison, results, int(likeness_k))
        comparison = comparison.model_copy(update={"likeness": likeness})
    settings_of_runs = next(iter(results.values()))[0].settings
    if settings_of_runs is None or is_text:
        return comparison
    compared = ComparedRuns(evaluator.qrels, runs_by_system, settings_of_runs)
    ties = tuple(tie_ranges(comparison, compared))
    comparison = comparison.model_copy(update={"ties": ties})
    comparison._runs = compared  # noqa: SLF001 - of its own package
    return comparison


def tie_ranges(comparison: Comparison, compared: ComparedRuns) -> Iterator[TieRange]:
    """Yield the ranges of the means of the systems whose mean depends on the order of equal scores.

    They are those of ``Evaluator.tie_ranges`` over the queries compared, means over repeats.

    Args:
        comparison: the comparison.
        compared: its runs.
    """
    measures = [measure for measure in map(parse, comparison.measures) if measure.has_tie_extremes]
    tied = [
        system
        for system, repeats in comparison.results.items()
        if any(result.counted and result.counted.tied_documents for result in repeats)
    ]
    if not measures or not tied:
        return
    qrels = compared.qrels.select(comparison.query_ids)
    ends = {
        system: np.mean(
            [
                scores_at_tie_extremes(qrels, run, measures, compared.settings)
                for run in compared.runs[system]
            ],
            axis=0,
        )
        for system in tied
    }
    for index, name in enumerate(map(str, measures)):
        is_compared = ~np.isnan(comparison.scores[name].array).any(axis=0)
        for system, (last, first) in ends.items():
            low, high = sorted(  # where lower is better, relevant documents first are the lowest
                exact_sum(scores[index][is_compared]) / int(is_compared.sum())
                for scores in (last, first)
            )
            if low < high:
                yield TieRange(measure=name, system=system, low=low, high=high)


# What is a sample


def checked_deterministic(names: Iterable[str], systems: Iterable[str]) -> tuple[str, ...]:
    """Return the names of deterministic systems.

    Args:
        names: the names.
        systems: those of all systems.

    Raises:
        SettingError: the names are a text, or one of them is no system.
    """
    known = list(systems)
    if isinstance(names, str) or not is_iterable(names):
        msg = f"deterministic must be a list of names, such as {known[:1]}, not {shown(names)}"
        raise SettingError(msg)
    listed = tuple(names)
    unknown = [name for name in listed if name not in known]
    if unknown:
        msg = (
            f"deterministic names {first_few(map(str, unknown))}, which is no system; there are "
            f"{first_few(known)}"
        )
        raise SettingError(msg)
    return listed


def _check_deterministic(aligned: AlignedScores, deterministic: Sequence[str]) -> None:
    """Raise SettingError if the repeats of a deterministic system have different scores."""
    for scores in aligned.by_measure:
        for system, repeats in zip(scores.systems, scores.repeats, strict=True):
            spread = np.nanmax(np.ptp(repeats, axis=0), initial=0.0)
            if system in deterministic and spread > ROUNDING_TOLERANCE * np.nanmax(np.abs(repeats)):
                msg = (
                    f"deterministic names {shown(system)}, but its repeats have different "
                    f"{scores.measure}; leave it out of deterministic"
                )
                raise SettingError(msg)


def choose_repeats(
    repeats: str | None,
    counts: Mapping[str, int],
    deterministic: Sequence[str],
) -> str:
    """Return what the repeats of systems are; the default if ``repeats`` is None.

    Args:
        repeats: a value of ``records.REPEATS``, or None.
        counts: {system: number of its repeats}.
        deterministic: the systems whose repeats would all be equal.

    Raises:
        SettingError: the value does not exist, or the systems have too few repeats for it.
    """
    noisy = {name: count for name, count in counts.items() if name not in deterministic}
    single = [name for name, count in noisy.items() if count == 1]
    if repeats is None:
        repeats = "random" if noisy and not single else "averaged"
    check_choice("repeats", repeats, REPEATS)
    if repeats == "averaged":
        return repeats
    if single:
        msg = (
            f"{first_few(single)}: one run shows nothing about the noise of repeats, which "
            f"repeats={repeats!r} needs. Give two or more, name deterministic systems with "
            "deterministic=, or choose repeats='averaged'"
        )
        raise SettingError(msg)
    if repeats == "paired" and len(set(noisy.values())) > 1:
        text = ", ".join(f"{name} {count}" for name, count in noisy.items())
        msg = (
            f"paired repeats must be equally many, but there are {text}; choose repeats='random' "
            "if they do not belong together"
        )
        raise SettingError(msg)
    return repeats


def checked_clusters(clusters: Mapping[str, Any] | None) -> dict[str, str] | None:
    """Return {query_id: label} of the clusters of related queries.

    Args:
        clusters: {query_id: label}, the labels text or whole numbers; or None.

    Raises:
        InputError: they are no such mapping.
    """
    if clusters is None:
        return None
    if not isinstance(clusters, Mapping):
        msg = f"clusters must be {{query_id: label}}, not {shown(clusters)}"
        raise InputError(msg)
    query_ids = checked_query_ids(clusters, "clusters", InputError)
    labels = {}
    for query_id, label in zip(query_ids, clusters.values(), strict=True):
        is_label = isinstance(label, (str, int, np.integer)) and not isinstance(label, bool)
        if not is_label or label == "":
            msg = (
                f"clusters: query {shown(query_id)} has {shown(label)}; the label of a cluster is "
                "text or a whole number"
            )
            raise InputError(msg)
        labels[query_id] = str(label)
    return labels
