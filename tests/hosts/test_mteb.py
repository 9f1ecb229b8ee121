"""MTEB in its newest version computes with our engine after ``install()``."""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "integrations" / "mteb_run.py"


def scores_of(side):
    process = subprocess.run(
        [sys.executable, str(SCRIPT), side],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"HF_HUB_OFFLINE": "1"},
    )
    return json.loads(process.stdout.splitlines()[-1])


def test_after_install_a_local_task_has_the_scores_that_it_has_with_pytrec_eval():
    ours, theirs = scores_of("ours"), scores_of("theirs")
    assert repr(ours) == repr(theirs)  # NaN among them
    assert ours["ndcg_at_10"] == 0.19222
    assert ours["mteb_version"] == "2.26.24"
