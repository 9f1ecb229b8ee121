"""Hashes of the per-query values of real runs: of each run over all measures, and the reverse."""

import json
import warnings
from collections import defaultdict

import numpy as np
import polars as pl

from beir_eval import BeirEvalError, BeirEvalWarning, Run, evaluate, read_qrels, read_run
from beir_eval.errors import MeasureError, SettingError
from beir_eval.integrations import pytrec_eval
from beir_eval.integrations.beir import EvaluateRetrieval
from recorded.digest import digest_of

#: {folder of runs: its qrels}
DATA_SETS = {
    "dl19": "qrels/dl19-passage.trec",
    "scifact": "scifact/qrels/test.tsv",
    "trec-covid": "qrels/trec-covid.trec",
}

#: Each differs from the default in one setting.
POLICIES = (
    {},
    {"ties": "trec_eval10"},
    {"ties": "input"},
    {"ties": "best"},
    {"ties": "worst"},
    {"missing": "skip"},
    {"missing": "error"},
    {"no_relevant": "skip"},
    {"duplicates": "first"},
    {"duplicates": "keep"},
    {"order": "given"},
    {"drop_identical_ids": True},
)

#: These runs are also recorded as objects of each kind, and through the drop-ins.
OTHER_FORMS = ("rep-llama_ties", "deng_e5", "splade-pp")

MEASURES = """
    nDCG nDCG@1 nDCG@10 nDCG@1000 nDCG(gain="exp")@10 nDCG(judged_only=True)@10
    MAP MAP@10 MAP@100 Recall Recall@10 Recall@100 Recall@1000 R_cap@10 R_cap@100
    Precision Precision@1 Precision@10 Precision(rel=2)@10 MRR MRR@10 Success@5 F1@10
    CG@10 DCG DCG(gain="exp")@10 ERR ERR@20 RBP RBP@10 RBP_residual
    Rprec Rprec(rel=2) Rprec_mult(multiple=0.5) set_map gm_map utility
    num_q num_ret num_rel num_rel_ret num_nonrel_judged_ret
    G binG Rndcg ndcg_rel IPrec(recall=0.5) AP_11pt
    Judged@10 Hole@10 bpref gm_bpref infAP
""".split()  # noqa: SIM905 - a table


def record(data):
    """Return a line for each run and policy over all measures, and for each measure over all runs.

    Each value is in one line of both, so that these name the run, the policy and the measure of a
    value that changed.
    """
    values = list(_values(data))
    of_run, of_measure = defaultdict(list), defaultdict(list)
    for run, policy, measure, digest in values:
        of_run[f"{run} {policy}"].append(digest)
        of_measure[f"{policy} {measure}"].append(digest)
    return [
        f"{name} {digest_of(' '.join(digests))}"
        for name, digests in [*of_run.items(), *of_measure.items()]
    ]


def _values(data):
    """Yield (run, policy, measure, hash) of the values of a run for a measure."""
    for folder, qrels_file in DATA_SETS.items():
        qrels = read_qrels(data / qrels_file)
        for path in sorted((data / "runs" / folder).iterdir()):
            run = read_run(path)
            for policy in POLICIES:
                policy_name = (
                    ",".join(f"{name}={value}" for name, value in policy.items()) or "default"
                )
                hashes = _hashes(qrels, run, MEASURES, policy)
                for measure, digest in hashes.items():
                    yield f"{folder}/{path.stem}", policy_name, measure, digest
            if path.stem in OTHER_FORMS:
                for line in _other_forms(qrels, run):
                    yield f"{folder}/{path.stem}", *line.split()


def _other_forms(qrels, run):
    """Yield "form measure digest" for a run as an object of each kind, and for the drop-ins."""
    rankings = {
        query_id: dict(zip(docs, map(float, scores), strict=True))
        for query_id, docs, scores in run.rankings()
    }
    flat = [
        (query_id, doc_id, score)
        for query_id, scores in rankings.items()
        for doc_id, score in scores.items()
    ]
    query_ids, doc_ids, scores = zip(*flat, strict=True)
    columns = {"query_id": query_ids, "doc_id": doc_ids, "score": scores}
    forms = {
        "mapping": rankings,
        "columns": Run.from_columns(query_ids, doc_ids, scores),
        "dataframe": Run.from_dataframe(pl.DataFrame(columns)),
        "rankings": Run.from_rankings({query: list(docs) for query, docs in rankings.items()}),
        "arrays": _as_arrays(rankings),
    }
    for form, run_in_form in forms.items():
        order = "given" if form == "rankings" else "score"
        for measure, digest in _hashes(qrels, run_in_form, MEASURES, {"order": order}).items():
            yield f"form={form} {measure} {digest}"
    judged = {
        query: {doc: int(grade) for doc, grade in grades.items()}
        for query, grades in qrels.as_dict().items()
    }
    evaluator = pytrec_eval.RelevanceEvaluator(judged, pytrec_eval.supported_measures)
    yield f"drop-in=pytrec_eval all {_json_digest(evaluator.evaluate(rankings))}"
    cutoffs = [1, 3, 5, 10, 100, 1000]
    means = EvaluateRetrieval.evaluate(judged, rankings, cutoffs)
    yield f"drop-in=beir evaluate {_json_digest(means)}"
    for metric in ("mrr", "recall_cap", "hole", "top_k_accuracy"):
        custom = EvaluateRetrieval.evaluate_custom(judged, rankings, cutoffs, metric)
        yield f"drop-in=beir {metric} {_json_digest(custom)}"


def _as_arrays(rankings):
    """Return a run of top-k arrays, short rankings filled up with -1."""
    doc_ids = sorted({doc for docs in rankings.values() for doc in docs})
    number_of = {doc: number for number, doc in enumerate(doc_ids)}
    shape = len(rankings), max(map(len, rankings.values()))
    ids, scores = np.full(shape, -1), np.full(shape, -np.inf)
    for row, docs in enumerate(rankings.values()):
        ids[row, : len(docs)] = [number_of[doc] for doc in docs]
        scores[row, : len(docs)] = list(docs.values())
    return Run.from_arrays(ids, scores, query_ids=list(rankings), doc_ids=doc_ids)


def _json_digest(content):
    """Return a hash of what the drop-ins return; JSON prints floats to the last bit."""
    return digest_of(json.dumps(content, sort_keys=True))


def _hashes(qrels, run, measures, policy):
    """Return {measure: digest}, or the name of the error in place of a digest."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BeirEvalWarning)
            result = evaluate(qrels, run, list(measures), **policy)
    except (MeasureError, SettingError) as error:
        if len(measures) == 1:
            return {measures[0]: type(error).__name__}
        hashes = [_hashes(qrels, run, (measure,), policy) for measure in measures]
        return {measure: digest for single in hashes for measure, digest in single.items()}
    except BeirEvalError as error:
        return dict.fromkeys(measures, type(error).__name__)
    return {measure: _digest(result, measure) for measure in measures}


def _digest(result, measure):
    """Return a hash of the query ids, the scores and the summary of one measure."""
    scores = np.array(result.scores(measure), dtype="<f8")
    scores[np.isnan(scores)] = np.nan  # NaN has many bit patterns
    query_ids, summary = "\n".join(result.query_ids), repr(float(result[measure]))
    return digest_of(query_ids.encode() + scores.tobytes() + summary.encode())
