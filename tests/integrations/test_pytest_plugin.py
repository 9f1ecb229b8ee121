"""The fixture ``retrieval_baseline`` saves a baseline once, and fails what is worse."""

import subprocess
import sys

import pytest

TEST_FILE = """
from beir_eval import evaluate
from beir_eval.datasets import demo
from pathlib import Path
RUN = demo.RUNS[int(Path("which").read_text())]

def test_search_is_no_worse(retrieval_baseline):
    result = evaluate(demo.FOLDER, RUN, "nDCG@10 MRR".split(), name="bm25")
    retrieval_baseline.check(result, "nDCG@10", "MRR")
"""


@pytest.fixture
def run_pytest(tmp_path):
    """Return a function that runs the tests of a folder in a process of their own."""

    def run(which, *options, source=TEST_FILE):
        (tmp_path / "test_search.py").write_text(source)
        (tmp_path / "which").write_text(str(which))
        process = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
            check=False,
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        return process.returncode, process.stdout

    return run


@pytest.mark.slow
def test_a_baseline_is_saved_on_demand_and_then_checked(run_pytest, tmp_path):
    code, output = run_pytest(0)
    assert code == 1
    assert "there is no baseline" in output
    assert "--retrieval-baseline-update, and commit the file" in output
    assert not (tmp_path / "retrieval_baselines").exists()

    assert run_pytest(0, "--retrieval-baseline-update")[0] == 0
    (saved,) = [path for path in (tmp_path / "retrieval_baselines").rglob("*") if path.is_file()]
    assert saved == tmp_path / "retrieval_baselines/test_search/test_search_is_no_worse.json.gz"
    content = saved.read_bytes()

    assert run_pytest(0)[0] == 0
    code, output = run_pytest(1)
    assert code == 1
    assert "nDCG@10" in output
    assert "The queries that lost most" in output
    assert saved.read_bytes() == content  # a check writes nothing
    assert run_pytest(0)[0] == 0


@pytest.mark.slow
def test_several_results_and_parameters_have_files_of_their_own(run_pytest, tmp_path):
    source = TEST_FILE.replace(
        "def test_search_is_no_worse(retrieval_baseline):",
        "import pytest\n@pytest.mark.parametrize('k', ['a/b', 'c'])\n"
        "def test_search_is_no_worse(retrieval_baseline, k):",
    ).replace('"MRR")', '"MRR", name=k.upper(), alpha=0.1)')
    assert run_pytest(0, "--retrieval-baseline-update", source=source)[0] == 0
    names = sorted(path.name for path in tmp_path.rglob("*.json.gz"))
    assert names == [
        "test_search_is_no_worse-a-b-A-B.json.gz",
        "test_search_is_no_worse-c-C.json.gz",
    ]
    code, output = run_pytest(1, source=source)
    assert code == 1
    assert "2 failed" in output


@pytest.mark.slow
def test_results_that_cannot_be_compared_are_an_error_and_no_pass(run_pytest):
    assert run_pytest(0, "--retrieval-baseline-update")[0] == 0
    judged = "{query: ['d'] for query in read_qrels(demo.FOLDER).query_ids}"
    other = TEST_FILE.replace("demo.FOLDER, RUN", f"{judged}, RUN")
    code, output = run_pytest(0, source=other.replace("evaluate\n", "evaluate, read_qrels\n", 1))
    assert code == 1
    assert "on='any-judgements'" in output


def test_the_plugin_starts_without_numpy():
    code = "import sys, beir_eval.integrations.pytest_plugin; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
