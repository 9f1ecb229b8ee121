"""nDCG@k and MRR@k against docs/examples/ndcg_mrr.sql, in DuckDB."""

from pathlib import Path

import pytest

from processes import python

SCRIPT = Path(__file__).parents[1] / "support" / "sql_measures.py"


def run_script(*arguments):
    process = python(SCRIPT, *arguments, check=False)
    assert process.returncode == 0, process.stderr[-3000:]
    return process.stdout


@pytest.mark.slow
def test_the_sql_of_the_page_gives_the_scores_of_every_query_of_generated_runs():
    assert "generated: " in run_script()


@pytest.mark.slow
def test_the_sql_of_the_page_gives_the_scores_of_every_query_of_real_runs(realdata):
    printed = run_script(str(realdata))
    assert printed.count("equal to the bit") > len(list((realdata / "runs" / "dl19").iterdir()))
