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


def test_wrong_input_is_one_line_and_exit_code_2():
    for arguments, message in (
        (["power", demo.FOLDER, "--sd", "-1"], "sd must be a number above 0"),
        (["power", demo.FOLDER, "--sd", "20"], "did you mean 0.2?"),
        (["power", demo.FOLDER, "-m", "Rndcg"], "give their standard deviation with --sd, for"),
    ):
        assert message in refusal(run(*arguments))
