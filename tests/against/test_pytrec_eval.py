"""Every per-query value equals that of trec_eval 9, through pytrec_eval, to the last bit.

tests/integrations/test_pytrec_eval.py has the same on generated runs with ties, gaps, negative
grades, relevance levels and condensed lists.
"""

import importlib.metadata
import importlib.util
import random
from pathlib import Path

import pytest
import pytrec_eval

from beir_eval import evaluate, read_qrels, read_run
from beir_eval.integrations.pytrec_eval import RelevanceEvaluator

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

WITH_CUTOFFS = {"ndcg_cut", "map_cut", "P", "recall", "success"}
REQUESTED = {f"{name}.1,2,3,5,10,30,100,1000,5000" for name in WITH_CUTOFFS}
#: pytrec_eval divides by zero in these if nothing is relevant.
REQUESTED |= pytrec_eval.supported_measures - WITH_CUTOFFS - {"relative_P", "set_relative_P"}
#: {name in pytrec_eval: the measure of ``evaluate``}
OURS = {
    "ndcg_cut_10": "nDCG@10",
    "map": "MAP",
    "map_cut_100": "MAP@100",
    "recip_rank": "MRR",
    "P_10": "Precision@10",
    "recall_1000": "Recall@1000",
    "bpref": "bpref",
    "Rprec": "Rprec",
}


def assert_identical(qrels, run, *, given_run=None):
    """Compare all values of all queries with ``==``; no ranking may be empty."""
    theirs = pytrec_eval.RelevanceEvaluator(qrels, REQUESTED).evaluate(run)
    assert RelevanceEvaluator(qrels, REQUESTED).evaluate(run) == theirs
    if theirs:
        given_run = run if given_run is None else given_run
        result = evaluate(qrels, given_run, [*OURS.values()], missing="skip")
        assert set(result.query_ids) == set(theirs)
        for name, measure in OURS.items():
            expected = [theirs[query][name] for query in result.query_ids]
            assert result.scores(measure).tolist() == expected, name


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


@pytest.mark.parametrize(
    ("qrels_name", "folder"),
    [
        ("qrels/dl19-passage.trec", "dl19"),
        ("qrels/trec-covid.trec", "trec-covid"),
        ("scifact", "scifact"),
    ],
)
def test_every_value_is_the_same_on_the_real_runs(realdata, qrels_name, folder):
    qrels = {
        query: {doc: int(grade) for doc, grade in judged.items()}
        for query, judged in read_qrels(realdata / qrels_name).as_dict().items()
    }
    files = sorted((realdata / "runs" / folder).iterdir())
    assert files
    for file in files:
        run = {}
        for line in file.read_text().splitlines():
            query, _, doc, _, score, _ = line.split()
            run.setdefault(query, {}).setdefault(doc, float(score))
        # One repeats documents, which a mapping cannot.
        given_run = run if file.stem == "kl_hybrid" else read_run(file)
        assert_identical(qrels, run, given_run=given_run)


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
