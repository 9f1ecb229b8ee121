"""MTEB computes with our engine, and its predictions are runs."""

import json
import os
from importlib.metadata import version
from pathlib import Path

import pytest

from beir_eval import evaluate, read_run
from beir_eval.adapters import read_mteb_predictions
from processes import python

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("mteb_run.py")


def outcome_of(side, *arguments):
    """Return the scores that the script prints, and its judgements."""
    process = python(SCRIPT, side, *arguments, env=os.environ | {"HF_HUB_OFFLINE": "1"})
    return json.loads(process.stdout.splitlines()[-1])


def test_after_install_a_local_task_has_the_scores_that_it_has_with_pytrec_eval():
    ours, theirs = (outcome_of(side)["scores"] for side in ("ours", "theirs"))
    assert repr(ours) == repr(theirs)  # NaN among them
    assert ours["ndcg_at_10"] == 0.19222
    assert ours["mteb_version"] == version("mteb")


# Made scores have many ties.
@pytest.mark.filterwarnings("ignore:.*the score of another one:beir_eval.BeirEvalWarning")
def test_its_predictions_have_the_scores_that_it_prints(tmp_path):
    theirs = outcome_of("theirs", tmp_path)
    (path,) = tmp_path.rglob("*")
    assert path.name == "Local_predictions.json"
    measures = ["nDCG@10", "MAP@100", "Recall@20", "P@5"]
    result = evaluate(theirs["qrels"], read_run(path), measures)
    keys = ["ndcg_at_10", "map_at_100", "recall_at_20", "precision_at_5"]
    means = [round(mean, 5) for mean in result.aggregate.values()]
    assert means == [theirs["scores"][key] for key in keys]
    assert list(read_mteb_predictions(path)) == ["default/test"]
