"""Scores of pytrec_eval, ir_measures and ranx, under the names of our measures."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import ir_measures
import numpy as np
import pytrec_eval
import ranx

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

#: {measure: {query: score}}; the query "all" has the mean, or the sum of a count.
Scores = dict[str, dict[str, float]]
Grades = dict[str, dict[str, int]]
Ranking = dict[str, dict[str, float]]

#: {measure without cutoff: its name with a cutoff and without, "" if the tool lacks it}
PYTREC_EVAL = {
    "nDCG": ("ndcg_cut", "ndcg"),
    "MAP": ("map_cut", "map"),
    "Precision": ("P", ""),
    "Recall": ("recall", ""),
    "MRR": ("", "recip_rank"),
    **{name: ("", name) for name in ("Rprec", "Rndcg", "bpref", "gm_map")},
    **{name: ("", name) for name in ("num_q", "num_ret", "num_rel", "num_rel_ret")},
}
IR_MEASURES = {
    "nDCG": ("nDCG", "nDCG"),
    "MAP": ("AP", "AP"),
    "Precision": ("P", ""),
    "Recall": ("R", ""),
    "MRR": ("RR", "RR"),
    "Rprec": ("", "Rprec"),
    "bpref": ("", "Bpref"),
    "num_q": ("", "NumQ"),
    "num_ret": ("", "NumRet"),
    "num_rel": ("", "NumRel"),
    "num_rel_ret": ("", "NumRet(rel=1)"),
}
RANX = {
    "nDCG": ("ndcg", "ndcg"),
    "MAP": ("map", "map"),
    "Precision": ("precision", ""),
    "Recall": ("recall", ""),
    "MRR": ("mrr", "mrr"),
    "Rprec": ("", "r-precision"),
    "bpref": ("", "bpref"),
}


def names_in(
    tool: Mapping[str, tuple[str, str]], measures: Iterable[str], separator: str
) -> dict[str, str]:
    """Return {measure: its name in a tool} for the measures that the tool has."""
    names = {}
    for measure in measures:
        family, _, cutoff = measure.partition("@")
        with_cutoff, without = tool.get(family, ("", ""))
        if name := with_cutoff if cutoff else without:
            names[measure] = f"{name}{separator}{cutoff}" if cutoff else name
    return names


def recall_level(measure: str) -> str:
    """Return the recall level of IPrec, such as "0.0", or "" for another measure."""
    _, _, level = measure.partition("IPrec(recall=")
    return str(float(level.removesuffix(")"))) if level else ""


def by_pytrec_eval(qrels: Grades, run: Ranking, measures: Collection[str]) -> Scores:
    """Return the scores of pytrec_eval, which computes the mean of its measures itself."""
    names = names_in(PYTREC_EVAL, measures, ".")
    names |= {
        measure: f"iprec_at_recall.{level}"
        for measure in measures
        if (level := recall_level(measure))
    }
    scores: Scores = {}
    parameters = defaultdict(list)
    for name in names.values():
        family, _, parameter = name.partition(".")
        parameters[family].append(parameter)
    requested = {
        f"{family}.{','.join(values)}" if values[0] else family
        for family, values in parameters.items()
    }
    by_query = pytrec_eval.RelevanceEvaluator(qrels, requested).evaluate(run)
    for measure, name in names.items():
        family, _, parameter = name.partition(".")
        suffix = f"{float(parameter):.2f}" if family == "iprec_at_recall" else parameter
        key = f"{family}_{suffix}" if parameter else family
        of_queries = {query: values[key] for query, values in by_query.items()}
        mean = pytrec_eval.compute_aggregated_measure(key, list(of_queries.values()))
        scores[measure] = {**of_queries, "all": mean}
    return scores


def by_ir_measures(qrels: Grades, run: Ranking, measures: Collection[str]) -> Scores:
    """Return the scores of ir_measures, and its means."""
    names = names_in(IR_MEASURES, measures, "@")
    names |= {measure: f"IPrec@{level}" for measure in measures if (level := recall_level(measure))}
    parsed = {ir_measures.parse_measure(name): measure for measure, name in names.items()}
    result: Any = ir_measures.calc(list(parsed), qrels, run)
    scores: Scores = {parsed[measure]: {"all": mean} for measure, mean in result.aggregated.items()}
    for metric in result.per_query:
        scores[parsed[metric.measure]][metric.query_id] = metric.value
    return scores


def by_ranx(qrels: Grades, run: Ranking, measures: Collection[str]) -> Scores:
    """Return the scores of ranx, and its means."""
    names = names_in(RANX, measures, "@")
    rankings = ranx.Run(run)
    scores: Scores = {}
    means = ranx.evaluate(ranx.Qrels(qrels), rankings, [*names.values()], make_comparable=True)
    means = means if isinstance(means, dict) else dict.fromkeys(names.values(), means)
    for measure, name in names.items():
        scores[measure] = {**rankings.scores[name], "all": means[name]}
    return scores


def by_ranx_untied(qrels: Grades, run: Ranking, measures: Collection[str]) -> Scores:
    """Return the scores of ranx for the ranking of trec_eval 9, in which no scores are equal."""
    untied = {}
    for query, scores in run.items():
        ranked = sorted(scores, key=lambda doc: (np.float32(scores[doc]), doc), reverse=True)
        untied[query] = {doc: -float(rank) for rank, doc in enumerate(ranked)}
    return by_ranx(qrels, untied, measures)


TOOLS: Mapping[str, Callable[[Grades, Ranking, Collection[str]], Scores]] = {
    "pytrec_eval": by_pytrec_eval,
    "ir_measures": by_ir_measures,
    "ranx": by_ranx,
    "ranx, ties ordered alike": by_ranx_untied,
}
