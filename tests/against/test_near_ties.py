"""The default numbers are those of pytrec_eval, ir_measures and BEIR where scores nearly tie."""

import copy
import random

import ir_measures
import pytest
import pytrec_eval

from beir_eval import AP_11pt, IPrec, evaluate

EvaluateRetrieval = pytest.importorskip("beir.retrieval.evaluation").EvaluateRetrieval
#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

CUTOFFS = (1, 3, 10)
NAMES = {
    **{f"ndcg_cut_{k}": f"nDCG@{k}" for k in CUTOFFS},
    **{f"map_cut_{k}": f"MAP@{k}" for k in CUTOFFS},
    **{f"recall_{k}": f"Recall@{k}" for k in CUTOFFS},
    **{f"P_{k}": f"Precision@{k}" for k in CUTOFFS},
    **{f"iprec_at_recall_{recall:.2f}": str(IPrec(recall=recall)) for recall in (0.1, 0.4, 0.7)},
    "recip_rank": "MRR",
    "bpref": "bpref",
    "11pt_avg": str(AP_11pt),
}
REQUESTED = {
    *(f"{name}.1,3,10" for name in ("ndcg_cut", "map_cut", "recall", "P")),
    *("iprec_at_recall.0.1,0.4,0.7", "recip_rank", "bpref", "11pt_avg"),
}
OF_IR_MEASURES = ["nDCG@10", "AP", "P@5", "R@10", "RR", "Bpref", "IPrec@0.4"]


def case(seed):
    """Return qrels, and a run in which some scores are equal as float32 and not as double."""
    rng = random.Random(seed)
    scale = rng.choice([1.0, 1e-3, 1e9, 1e-43, 1e38])
    qrels, run = {}, {}
    for number in range(rng.randint(1, 6)):
        docs = [f"d{rng.randint(0, 30)}" for _ in range(rng.randint(2, 25))]
        levels = [rng.random() for _ in range(rng.randint(2, 8))]
        run[f"q{number}"] = {
            doc: scale
            * rng.choice(levels)
            * (1 + rng.choice([0, 0, 1e-9, 3e-8, 1e-7]) * rng.random())
            for doc in docs
        }
        judged = {doc: rng.randint(0, 3) for doc in rng.sample(docs, rng.randint(1, len(docs)))}
        qrels[f"q{number}"] = judged | {f"d{rng.randint(0, 30)}": 1}
    return qrels, run


def is_moved(qrels, run):
    """Return whether double precision gives another number than float32 does."""
    rules = ("trec_eval9", "trec_eval10")
    ours, other = (evaluate(qrels, run, [*NAMES.values()], ties=rule) for rule in rules)
    return ours.aggregate != other.aggregate


def check(seeds):
    moved = 0
    for qrels, run in map(case, seeds):
        ours = evaluate(qrels, run, [*NAMES.values()])
        theirs = pytrec_eval.RelevanceEvaluator(qrels, REQUESTED).evaluate(run)
        assert set(theirs) == set(ours.query_ids)
        for name, measure in NAMES.items():
            expected = [theirs[query][name] for query in ours.query_ids]
            assert ours.scores(measure).tolist() == expected, name

        parsed = [ir_measures.parse_measure(name) for name in OF_IR_MEASURES]
        means = evaluate(qrels, run, OF_IR_MEASURES)
        for measure, value in ir_measures.pytrec_eval.calc_aggregate(parsed, qrels, run).items():
            assert means[str(measure)] == pytest.approx(value, abs=1e-12), measure

        for scores in EvaluateRetrieval.evaluate(qrels, copy.deepcopy(run), CUTOFFS):
            for name, value in scores.items():
                assert ours[name] == pytest.approx(value, abs=5.0001e-6), name
        moved += is_moved(qrels, run)
    return moved


@pytest.mark.peers
def test_the_default_numbers_are_those_of_the_field_for_scores_that_nearly_tie():
    assert check(range(60)) > 10  # these cases are near ties indeed
