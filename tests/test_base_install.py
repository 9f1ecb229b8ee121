"""The base install, numpy and pydantic, evaluates run files and compares two runs."""

import json
import os
import sys

import pytest

from beir_eval.datasets import demo
from processes import python

#: Prints what an evaluation and a comparison return, as JSON. Arguments: packages that are not
#: installed, the qrels, and two runs.
PROGRAM = """
import json, sys, warnings

class Missing:
    def __init__(self, packages):
        self.packages = packages
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.packages:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

missing, qrels, *runs = sys.argv[1:]
sys.meta_path.insert(0, Missing(missing.split(",")))
from beir_eval import compare_runs, evaluate, load_dataset
from beir_eval.errors import MissingExtraError

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    results = [evaluate(qrels, run, fingerprint=True) for run in runs]
comparison = compare_runs(qrels, dict(zip("ab", runs)), ["nDCG@10", "MAP@100"])
by_t = compare_runs(qrels, dict(zip("ab", runs)), "nDCG@10", test="t")
refused = ""
try:
    compare_runs(qrels, {"a": runs, "b": runs}, "nDCG@10")
except MissingExtraError as error:
    refused = str(error)
print(json.dumps({
    "results": [json.loads(result.model_dump_json()) for result in results],
    "comparison": json.loads(comparison.model_dump_json()),
    "notes": comparison.notes(),
    "text": str(comparison),
    "warnings": [str(warning.message) for warning in caught],
    "by_t": json.loads(by_t.model_dump_json()),
    "refused": refused,
    "loaded": sorted({"scipy", "polars"} & set(sys.modules)),
}))
"""


def outcome_of(missing, *files):
    """Return what ``PROGRAM`` prints if these packages cannot be imported."""
    done = python(
        "-c",
        PROGRAM,
        missing,
        *files,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)


def check_same(files):
    """Check that results without polars and scipy are those with them; return the former."""
    full, base = outcome_of("none", *files), outcome_of("polars,scipy", *files)
    assert base["loaded"] == []
    assert base["results"] == full["results"]  # every score, count and hash
    for test in ("comparison", "by_t"):
        assert base[test] == full[test]  # every p, interval and verdict
    assert [text for text in full["warnings"] if "TREC Deep Learning counts" not in text] == []
    assert full["refused"] == ""
    return base


@pytest.mark.slow
def test_the_base_install_evaluates_and_compares_run_files_with_the_same_result():
    base = check_same([demo.FOLDER, *demo.RUNS])
    [warning] = base["warnings"]  # for two runs, once
    assert "pip install 'beir-eval[files]'" in warning
    assert "pip install 'beir-eval[stats]'" in base["refused"]


@pytest.mark.slow
def test_real_runs_have_the_same_result_without_polars_and_scipy(realdata):
    runs = sorted((realdata / "runs" / "dl19").glob("*"))[:2]
    base = check_same([realdata / "qrels" / "dl19-passage.trec", *runs])
    assert any(difference["detectable"] for difference in base["comparison"]["differences"])
