"""What float32 does to scores of documents is said with both means, or refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import (
    AP_11pt,
    IPrec,
    Run,
    compare_runs,
    evaluate,
    read_run,
    write_qrels,
    write_run,
)
from beir_eval.display.tables import score_text
from beir_eval.errors import MeasureError, RunError, SettingError
from beir_eval.integrations.pytrec_eval import RelevanceEvaluator
from command_line import output_of
from command_line import run as run_command
from strategies import qrels_and_run

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

MEASURES = ["nDCG@10", "MRR", "MAP@2", "gm_map", "num_rel_ret", "P@5", "Judged@3", "bpref"]
QRELS = {f"q{number}": {f"d{7 * number}": 2, f"d{number + 3}": 1} for number in range(1, 5)}


def run_of(score, num_documents):
    """Return a run in which the document of rank n is dn, with the score of this rank."""
    ranks = range(1, num_documents + 1)
    return {query: {f"d{rank}": score(rank) for rank in ranks} for query in QRELS}


#: Scores of which float32 makes fewer values, at the ranks 1 to 1,000.
NEARLY_EQUAL = {
    "numbered from a billion down": lambda rank: 1e9 - rank,
    "saturated sigmoids": lambda rank: 1 / (1 + math.exp(rank / 50 - 30)),
    "cosines": lambda rank: 1 - rank * 1e-9,
}
#: Scores of which float32 makes one value, at the ranks 1 to 10.
ONE_VALUE = {
    "numbered from a billion down": lambda rank: 1e9 - rank,
    "probabilities of sequences": lambda rank: math.exp(-110 - rank),
    "beyond the range": lambda rank: 1e300 / rank,
    "negative and beyond it": lambda rank: -1e300 * rank,
}


@pytest.mark.parametrize("score", NEARLY_EQUAL.values(), ids=NEARLY_EQUAL)
def test_a_warning_gives_the_mean_that_is_printed_and_that_of_double_precision(score):
    run = run_of(score, 1000)
    ours, as_given = (evaluate(QRELS, run, "nDCG@10", ties=f"trec_eval{n}") for n in (9, 10))
    assert as_given["nDCG@10"] == evaluate(QRELS, run_of(lambda rank: -rank, 1000))["nDCG@10"]
    assert ours["nDCG@10"] != as_given["nDCG@10"]
    expected = f"nDCG@10 {ours['nDCG@10']:.4f}; by double precision {as_given['nDCG@10']:.4f}: "
    assert [warning[: len(expected)] for warning in ours.warnings()] == [expected]
    for output in (str(ours), ours.to_markdown()):
        assert output.count("by double precision") == output.count("ties='trec_eval10'") == 1
    assert as_given.warnings() == []


@given(qrels_and_run(), st.sampled_from(["zero", "skip"]), st.sampled_from(["zero", "skip"]))
def test_both_means_are_those_of_the_two_rules(case, missing, no_relevant):
    policy = {"missing": missing, "no_relevant": no_relevant}
    ours, as_given = (
        evaluate(*case, MEASURES, ties=f"trec_eval{number}", **policy) for number in (9, 10)
    )
    moved = []
    for name, scored in ours.num_scored.items():
        difference = ours.counted.double_precision.get(name, 0.0)
        if name == "gm_map":
            mean = ours[name] * math.exp(difference / (scored or 1))
        else:
            mean = ours[name] + difference / (1 if name.startswith("num") else scored or 1)
        assert mean == pytest.approx(as_given[name], abs=1e-8, nan_ok=True)
        if score_text(ours[name]) != score_text(mean):
            moved.append(name)
    sentences = [warning for warning in ours.warnings() if "double precision" in warning]
    assert len(sentences) == bool(moved)
    assert all(f"{name} {score_text(ours[name])}" in sentences[0] for name in moved[:5])
    assert as_given.counted.double_precision == {}


def test_scores_that_float32_tells_apart_cost_and_say_nothing():
    run = run_of(lambda rank: 1 / rank, 1000)
    tied = {
        query: {doc: round(score, 1) for doc, score in docs.items()} for query, docs in run.items()
    }
    for given_run in (run, tied):
        result = evaluate(QRELS, given_run, MEASURES)
        assert (result.counted.double_precision, result.warnings()) == ({}, [])
        assert "double_precision" not in result.model_dump()["counted"]


def written(folder, run):
    path = folder / "run.trec"
    write_run(run, path)
    return path


@pytest.mark.parametrize("score", ONE_VALUE.values(), ids=ONE_VALUE)
def test_scores_that_float32_makes_one_value_are_refused(score, tmp_path):
    run = run_of(score, 10)
    remedy = "as float32.*one value.*ties='trec_eval10'.*or rescale them"
    for refused in (
        lambda: evaluate(QRELS, run),
        lambda: evaluate(QRELS, run, "nDCG@10", ties="best"),
        lambda: compare_runs(QRELS, {"a": run, "b": run}, "nDCG@10"),
        lambda: evaluate(QRELS, read_run(written(tmp_path, run), parts=True)),
    ):
        with pytest.raises(RunError, match=remedy):
            refused()
    expected = evaluate(QRELS, run_of(lambda rank: -rank, 10))["nDCG@10"]
    for policy in ({"ties": "trec_eval10"}, {"ties": "input"}, {"order": "given"}):
        result = evaluate(QRELS, run, "nDCG@10", **policy)
        assert (result["nDCG@10"], result.warnings()) == (expected, [])


def test_one_ranking_that_float32_orders_is_enough_not_to_be_refused():
    run = run_of(ONE_VALUE["beyond the range"], 10)
    run["q1"] = {"d7": 2.0, "x": 1.0}
    assert "by double precision" in evaluate(QRELS, run, "MRR").warnings()[0]


def test_rankings_of_equal_scores_and_of_one_document_do_not_count_as_ordered():
    run = run_of(ONE_VALUE["beyond the range"], 10)
    run["q1"], run["q2"] = {"d7": 1.0}, {"d14": 1.0, "x": 1.0}
    with pytest.raises(RunError, match="one value"):
        evaluate(QRELS, run)


def test_nearly_equal_scores_of_fewer_than_ten_documents_are_not_refused():
    qrels, run = {"q": {"d1": 1}}, {"q": {"d1": 1e300, **dict.fromkeys(["x", "y"], 1e299)}}
    assert evaluate(qrels, run, "MRR")["MRR"] == 1 / 3
    ten = {"q": run["q"] | {f"x{number}": 1e299 for number in range(7)}}
    with pytest.raises(RunError, match="one value"):
        evaluate(qrels, ten, "MRR")


def test_a_drop_in_gives_what_its_tool_gives():
    run = run_of(ONE_VALUE["beyond the range"], 10)
    scores = RelevanceEvaluator(QRELS, {"recip_rank"}).evaluate(run)
    # By descending id: d9 to d1, and d10 between d2 and d1.
    assert scores["q1"] == {"recip_rank": 1 / 3}  # d7
    assert scores["q2"] == {"recip_rank": 1 / 5}  # d5


def test_single_precision_scores_are_compared_as_they_are():
    ids = np.arange(1, 21)[None]
    run = Run.from_arrays(ids, np.full((1, 20), np.float32(0.5)), query_ids=["q"])
    assert evaluate({"q": {"9": 1}}, run, "MRR").warnings() == []


def test_lists_never_pass_through_float32():
    near = {
        query: {doc: 1 - 1e-12 * int(doc[1:]) for doc in docs}
        for query, docs in run_of(int, 30).items()
    }
    lists = {query: list(docs) for query, docs in near.items()}
    expected = evaluate(QRELS, run_of(lambda rank: -rank, 30), MEASURES).aggregate
    for result in (
        evaluate(QRELS, Run.from_rankings(lists), MEASURES),
        evaluate(QRELS, near, MEASURES, order="given"),
    ):
        assert (result.aggregate, result.counted.double_precision) == (expected, {})


def test_the_bare_name_is_refused_with_both_rules_and_what_they_are():
    both = r"'trec_eval9' \(trec_eval 9, pytrec_eval, .*'trec_eval10' \(trec_eval 10: "
    with pytest.raises(SettingError, match=f"ties='trec_eval' is not known.*{both}"):
        evaluate(QRELS, run_of(int, 3), ties="trec_eval")
    for measure in (IPrec, AP_11pt):
        with pytest.raises(MeasureError, match=f"rounding='trec_eval' is not known.*{both}"):
            measure(rounding="trec_eval")


@pytest.mark.parametrize(
    ("score", "num_documents", "code", "words"),
    [
        (NEARLY_EQUAL["cosines"], 1000, 0, "--ties trec_eval10 compares them as given"),
        (ONE_VALUE["beyond the range"], 10, 2, "Choose --ties trec_eval10, which compares"),
    ],
)
def test_the_command_line_names_its_option(tmp_path, score, num_documents, code, words):
    write_qrels(QRELS, tmp_path / "qrels.trec")
    run = written(tmp_path, run_of(score, num_documents))
    result = run_command("evaluate", tmp_path / "qrels.trec", run, "-m", "MRR")
    assert (result.exit_code, words in output_of(result)) == (code, True)
