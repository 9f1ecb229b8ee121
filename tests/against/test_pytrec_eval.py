"""Every per-query value equals that of trec_eval 9, through pytrec_eval, to the last bit."""

import importlib.metadata
import importlib.util
import math
import random
from pathlib import Path

import pytest
import pytrec_eval
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import beir_eval
from beir_eval import (
    F1,
    MAP,
    MRR,
    AP_11pt,
    G,
    IPrec,
    Precision,
    R_cap,
    Recall,
    Rndcg,
    Rprec,
    Rprec_mult,
    Success,
    binG,
    bpref,
    evaluate,
    infAP,
    nDCG,
    ndcg_rel,
    num_nonrel_judged_ret,
    num_rel,
    num_rel_ret,
    num_ret,
    set_map,
    utility,
)
from beir_eval.measures import with_rel
from strategies import qrels_and_run

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

CUTOFFS = (1, 2, 3, 5, 10, 15, 20, 30, 100, 200, 500, 1000, 5000)
PAIRS = (
    {
        "ndcg": nDCG,
        "map": MAP,
        "recip_rank": MRR,
        "Rprec": Rprec,
        "bpref": bpref,
        "infAP": infAP,
        "set_P": Precision,
        "set_recall": Recall,
        "set_F": F1,
        "set_map": set_map,
        "num_ret": num_ret,
        "num_rel": num_rel,
        "num_rel_ret": num_rel_ret,
        "num_nonrel_judged_ret": num_nonrel_judged_ret,
        "11pt_avg": AP_11pt,
        "G": G,
        "binG": binG,
        "Rndcg": Rndcg,
        "ndcg_rel": ndcg_rel,
        "utility": utility,
        "set_relative_P": R_cap,
    }
    | {f"relative_P_{k}": R_cap @ k for k in CUTOFFS}
    | {f"Rprec_mult_{point / 5:.2f}": Rprec_mult(multiple=point / 5) for point in range(1, 11)}
    | {f"ndcg_cut_{k}": nDCG @ k for k in CUTOFFS}
    | {f"map_cut_{k}": MAP @ k for k in CUTOFFS}
    | {f"P_{k}": Precision @ k for k in CUTOFFS}
    | {f"recall_{k}": Recall @ k for k in CUTOFFS}
    | {f"success_{k}": Success @ k for k in CUTOFFS}
    | {f"iprec_at_recall_{point / 10:.2f}": IPrec(recall=point / 10) for point in range(11)}
)
CUTOFF_LIST = ",".join(map(str, CUTOFFS))
REQUESTED = {
    *("ndcg", "map", "recip_rank", "Rprec", "bpref", "infAP", "set_P", "set_recall", "set_F"),
    *("G", "binG", "Rndcg", "ndcg_rel", "utility", "set_relative_P", "Rprec_mult"),
    *("set_map", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret", "11pt_avg"),
    *(
        f"{name}.{CUTOFF_LIST}"
        for name in ("ndcg_cut", "map_cut", "P", "recall", "success", "relative_P")
    ),
    "iprec_at_recall",
}
NOT_FOR_EMPTY = {name for name in PAIRS if name.startswith(("11pt", "iprec"))}


def assert_identical(
    qrels, run, *, without=frozenset(), given_run=None, level=1, judged_only=False
):
    """Compare all values of all queries with ``==``."""
    float_run = {
        query: {doc: float(score) for doc, score in ranked.items()} for query, ranked in run.items()
    }
    oracle = pytrec_eval.RelevanceEvaluator(
        qrels, REQUESTED, relevance_level=level, judged_docs_only_flag=judged_only
    ).evaluate(float_run)
    pairs = {}
    for name, measure in PAIRS.items():
        if name not in without:
            [adapted] = with_rel([measure], None if level == 1 else level)
            pairs[name] = adapted(judged_only=True) if judged_only else adapted
    result = evaluate(
        qrels,
        run if given_run is None else given_run,
        [PAIRS[name](judged_only=judged_only) for name in pairs],
        rel=None if level == 1 else level,
        missing="skip",
    )
    assert set(result.query_ids) == set(oracle)
    for name, measure in pairs.items():
        ours = dict(zip(result.query_ids, result.scores(measure).tolist(), strict=True))
        theirs = {query: values[name] for query, values in oracle.items()}
        if "relative_P" in name:  # the oracle divides by zero if nothing is relevant
            theirs = {query: 0.0 if math.isnan(value) else value for query, value in theirs.items()}
        assert ours == theirs, name


def every_query_has_a_judgement(qrels):
    """Return whether each query has a grade of at least 0; without one the oracle can crash."""
    return all(max(judged.values()) >= 0 for judged in qrels.values())


# No ranking is empty here: on an empty one the oracle reads uninitialised memory, and crashes when
# bpref and num_rel_ret are requested together. That it scores 0 is tested elsewhere.


@given(qrels_and_run(min_size=1))
@settings(max_examples=3 * settings.default.max_examples)
def test_every_value_is_the_same_on_runs_with_ties_gaps_and_negative_grades(case):
    qrels, run = case
    assume(every_query_has_a_judgement(qrels))
    assert_identical(qrels, run)


@given(qrels_and_run(min_size=1), st.integers(1, 4))
def test_every_binary_value_is_the_same_above_a_relevance_level(case, level):
    qrels, run = case
    assume(every_query_has_a_judgement(qrels))
    assert_identical(qrels, run, level=level)


@given(qrels_and_run(min_size=1))
def test_every_value_of_the_condensed_list_is_the_same(case):
    qrels, run = case
    assume(every_query_has_a_judgement(qrels))
    # If nothing judged is retrieved the list is empty, and the oracle's 11pt and iprec are stale.
    all_retrieve_judged = all(
        any(qrels[query].get(doc, -1) >= 0 for doc in run[query]) for query in run if query in qrels
    )
    assert_identical(
        qrels, run, judged_only=True, without=frozenset() if all_retrieve_judged else NOT_FOR_EMPTY
    )


@pytest.mark.parametrize("depth", [1, 10, 1000, 20_000, 100_000])
@pytest.mark.parametrize("ties", ["no ties", "many ties"])
def test_every_value_is_the_same_at_any_depth(depth, ties):
    rng = random.Random(depth)
    digits = 2 if ties == "many ties" else 12
    docs = [f"doc{number}" for number in range(2 * depth)]
    run, qrels = {}, {}
    for query in ("q1", "q2", "q3"):
        run[query] = {doc: round(rng.random(), digits) for doc in rng.sample(docs, depth)}
        # Many judgements, few, and one: counting and sorting must agree.
        judged = rng.sample(docs, {"q1": min(2 * depth, 3000), "q2": min(depth, 5), "q3": 1}[query])
        qrels[query] = {doc: rng.choice([-1, 0, 0, 1, 1, 2, 3]) for doc in judged}
        qrels[query][judged[0]] = 1
    assert_identical(qrels, run)


REAL = [
    ("dl19-passage.trec", "dl19"),
    ("trec-covid.trec", "trec-covid"),
    ("scifact", "scifact"),
]


@pytest.mark.parametrize(("qrels_name", "folder"), REAL)
def test_every_value_is_the_same_on_the_real_runs(realdata, qrels_name, folder):
    is_folder = qrels_name == "scifact"
    path = realdata / qrels_name if is_folder else realdata / "qrels" / qrels_name
    qrels = {
        query: {doc: int(grade) for doc, grade in judged.items()}
        for query, judged in beir_eval.read_qrels(path).as_dict().items()
    }
    files = sorted((realdata / "runs" / folder).iterdir())
    assert files
    for file in files:
        run = {}
        for line in file.read_text().splitlines():
            query, _, doc, _, score, _ = line.split()
            run.setdefault(query, {}).setdefault(doc, float(score))
        if not set(run) & set(qrels):
            assert file.stem == "david_e5"
            continue
        assert_identical(qrels, run)
        if file.stem != "kl_hybrid":  # it repeats documents, which a mapping cannot
            assert_identical(qrels, run, given_run=beir_eval.read_run(file))


@pytest.mark.parametrize("number_of_relevant", range(1, 60))
def test_the_recall_points_round_as_trec_eval_9_does(number_of_relevant):
    relevant = {f"d{number}": 1 for number in range(number_of_relevant)}
    run = {f"d{number}": float(-number) for number in range(0, number_of_relevant, 2)}
    assert_identical({"q": relevant}, {"q": run})


@pytest.mark.peers
def test_the_wheel_states_mit_and_holds_a_header_that_does_not():
    metadata = importlib.metadata.metadata("pytrec-eval-terrier")
    assert "License :: OSI Approved :: MIT License" in metadata.get_all("Classifier")
    compiled = Path(importlib.util.find_spec("pytrec_eval_ext").origin).read_bytes()
    words = b" ".join(compiled.split())
    assert b"use and modification of this file for research, non-commercial purposes" in words
