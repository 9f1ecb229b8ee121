"""``beir-eval power`` prints what the Python function returns."""

from beir_eval import read_qrels
from beir_eval.comparison.experiments import experiment_power
from beir_eval.datasets import demo
from command_line import output_of, refusal, run


def test_power_fits_into_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("power", demo.FOLDER).output.splitlines()
    table = [line for line in lines if line[:7].strip() and "  " in line.strip()]
    assert len(table) > 10
    assert max(map(len, table)) <= 80


def test_power_takes_a_standard_deviation():
    result = run("power", demo.FOLDER, "--sd", "0.1", "-m", "nDCG@10")
    expected = experiment_power(read_qrels(demo.FOLDER), "nDCG@10", sd=0.1)
    assert " ".join(expected.to_table().rows[0]) in output_of(result)


def test_a_measure_without_known_spreads_needs_the_option_sd():
    refused = refusal(run("power", demo.FOLDER, "-m", "Rndcg"))
    assert "give their standard deviation with --sd, for" in refused
