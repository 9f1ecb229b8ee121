"""The default numbers are those of pytrec_eval, ir_measures and BEIR where scores nearly tie."""

import copy
import random

import ir_measures
import pytest
import pytrec_eval

from beir_eval import evaluate
from beir_eval.integrations.pytrec_eval import RelevanceEvaluator

EvaluateRetrieval = pytest.importorskip("beir.retrieval.evaluation").EvaluateRetrieval
#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

CUTOFFS = (1, 3, 10)
OF_BEIR = [f"{name}@{k}" for name in ("nDCG", "MAP", "Recall", "Precision") for k in CUTOFFS]
OF_IR_MEASURES = ["nDCG@10", "AP", "P@5", "R@10", "RR", "Bpref", "IPrec@0.4"]
#: They divide by zero if nothing is relevant.
OF_PYTREC_EVAL = pytrec_eval.supported_measures - {"relative_P", "set_relative_P"}


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
    ours, other = (evaluate(qrels, run, OF_BEIR, ties=rule) for rule in rules)
    return ours.aggregate != other.aggregate


def check(seeds):
    moved = 0
    for qrels, run in map(case, seeds):
        theirs = pytrec_eval.RelevanceEvaluator(qrels, OF_PYTREC_EVAL).evaluate(run)
        assert RelevanceEvaluator(qrels, OF_PYTREC_EVAL).evaluate(run) == theirs

        parsed = [ir_measures.parse_measure(name) for name in OF_IR_MEASURES]
        means = evaluate(qrels, run, OF_IR_MEASURES)
        for measure, value in ir_measures.pytrec_eval.calc_aggregate(parsed, qrels, run).items():
            assert means[str(measure)] == pytest.approx(value, abs=1e-12), measure

        ours = evaluate(qrels, run, OF_BEIR)
        for scores in EvaluateRetrieval.evaluate(qrels, copy.deepcopy(run), CUTOFFS):
            for name, value in scores.items():
                assert ours[name] == pytest.approx(value, abs=5.0001e-6), name
        moved += is_moved(qrels, run)
    return moved


@pytest.mark.peers
def test_the_default_numbers_are_those_of_the_field_for_scores_that_nearly_tie():
    assert check(range(60)) > 10  # these cases are near ties indeed
