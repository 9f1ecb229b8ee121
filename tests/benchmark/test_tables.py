"""Tables for papers: systems as rows, sorted, with an average; digits, percent, best in bold."""

import csv
import io
import re

import pytest

from beir_eval import EvaluationResult, compare
from beir_eval.benchmark.result import BenchmarkResult
from beir_eval.datasets.catalogue import DATASETS
from beir_eval.errors import NotEvaluatedError
from command_line import run
from data_sets import write_benchmark


def result_of(name, means):
    """Return a result with these means: two queries of equal scores."""
    scores = {measure: {"q1": mean, "q2": mean} for measure, mean in means.items()}
    return EvaluationResult.from_scores(name, scores)


def benchmark_of(means):
    """Return a benchmark of {system: {data set: {measure: mean}}}."""
    names = {name: None for by_dataset in means.values() for name in by_dataset}
    return BenchmarkResult(
        {
            system: {name: result_of(system, scores) for name, scores in by_dataset.items()}
            for system, by_dataset in means.items()
        },
        {},
        {name: DATASETS.get(name) for name in names},
        dict.fromkeys(names, "test"),
    )


TWO = benchmark_of(
    {
        "small": {"a": {"nDCG@10": 0.4, "DCG@10": 1.5}, "b": {"nDCG@10": 0.75, "DCG@10": 2.0}},
        "large": {"a": {"nDCG@10": 0.62, "DCG@10": 8.0}, "b": {"nDCG@10": 0.7, "DCG@10": 9.0}},
        "partial": {"a": {"nDCG@10": 0.9, "DCG@10": 0.5}},
    }
)


def test_systems_are_rows_sorted_by_their_average_and_a_system_with_a_gap_is_last():
    table = TWO.systems_table("nDCG@10")
    assert list(table.header) == ["nDCG@10", "a", "b", "average"]
    assert [[str(cell) for cell in row] for row in table.rows] == [
        ["large", "0.6200", "0.7000", "0.6600"],
        ["small", "0.4000", "0.7500", "0.5750"],
        ["partial", "0.9000", "n/a", "n/a"],
    ]
    best = {str(row[0]): [cell.is_best for cell in row[1:]] for row in table.rows}
    assert best == {
        "large": [False, False, True],
        "small": [False, True, False],
        "partial": [True, False, False],
    }


def test_where_lower_is_better_the_lowest_average_comes_first():
    holes = benchmark_of({"x": {"a": {"Hole@10": 0.4}}, "y": {"a": {"Hole@10": 0.2}}})
    assert [str(row[0]) for row in holes.systems_table("Hole@10").rows] == ["y", "x"]


def test_percent_and_digits_are_for_measures_from_0_to_1():
    assert str(TWO.systems_table("nDCG@10", percent=True).rows[0][1]) == "62.00"
    assert str(TWO.systems_table("nDCG@10", percent=True, digits=1).rows[0][3]) == "66.0"
    assert str(TWO.systems_table("DCG@10", percent=True).rows[0][1]) == "8.0000"


def test_one_data_set_has_no_average():
    table = benchmark_of({"x": {"a": {"MRR": 0.5}}, "y": {"a": {"MRR": 0.25}}}).systems_table("MRR")
    assert list(table.header) == ["MRR", "a"]


def test_averages_of_papers_stand_in_place_of_that_over_all_data_sets():
    in_average = {name: {"nDCG@10": 0.5} for name in DATASETS}
    table = benchmark_of({"x": in_average}).systems_table("nDCG@10")
    assert [name for name in table.header if name.startswith("average")] == [
        "average of 13",
        "average of 14",
        "average of 18",
    ]


def test_a_measure_that_was_not_evaluated_is_refused():
    with pytest.raises(NotEvaluatedError):
        TWO.systems_table("Recall@100")


def test_latex_has_a_table_for_each_measure_with_the_best_in_bold():
    latex = TWO.to_latex(["nDCG@10", "DCG@10"], by_system=True, percent=True)
    assert latex.count(r"\begin{tabular}") == 2
    assert r"\caption{nDCG@10 by data set. Measures from 0 to 1 are in percent.}" in latex
    assert r"large & 62.00 & 70.00 & \textbf{66.00} \\" in latex
    assert r"\label{tab:data-sets-2}" in latex
    by_dataset = TWO.to_latex("nDCG@10", baseline=False, digits=2)
    assert r"b & \textbf{0.75} & 0.70 & n/a \\" in by_dataset


def test_the_latex_of_a_comparison_has_digits_percent_and_marks():
    base = EvaluationResult.from_scores("base", {"MRR": {f"q{n}": 0.2 for n in range(20)}})
    other = EvaluationResult.from_scores("other", {"MRR": {f"q{n}": 0.5 for n in range(20)}})
    latex = compare([base, other], baseline="base").to_latex(digits=1, percent=True)
    assert "equivalent within 0.01 (1 percentage point);" in latex
    assert "equivalent within 0.01" in compare([base, other], baseline="base").to_latex()
    assert r"\textbf{50.0}$^{\ensuremath{\uparrow}}$" in latex
    assert "Measures from 0 to 1 are in percent." in latex


def test_a_difference_states_its_share_of_the_mean_that_it_is_from():
    scores = {"base": 0.2, "other": 0.5, "none": 0.0}
    results = [
        EvaluationResult.from_scores(name, {"MRR": {f"q{n}": score for n in range(20)}})
        for name, score in scores.items()
    ]
    comparison = compare(results, baseline="base")
    other, none = (comparison.difference("MRR", name) for name in ("other", "none"))
    assert other.relative == pytest.approx(1.5)
    assert other.reversed().relative == pytest.approx(-0.6)
    assert none.relative == -1
    assert none.reversed().relative is None
    assert compare(results, baseline="none").difference("MRR", "base").relative is None
    assert "+150.0%" in comparison.differences_table().text()


def test_bench_writes_tables_by_system_for_several_measures(tmp_path):
    tables = tmp_path / "t.tex", tmp_path / "t.csv"
    arguments = [*write_benchmark(tmp_path, ("one", "two")), "--by-system", "--percent"]
    arguments += ["--keep", tmp_path / "kept"]
    arguments += ["-m", "MRR", "-m", "P@1", "-o", tables[0], "-o", tables[1]]
    done = run("bench", *arguments)
    assert done.exit_code == 0, done.output
    assert done.output.index("good") < done.output.index("plain ")
    assert "average" in done.output
    assert re.search(r"good & \\textbf{(\d\d\.\d\d)} & \\textbf{\1} &", tables[0].read_text())
    rows = list(csv.DictReader(io.StringIO(tables[1].read_text())))
    assert [(row["measure"], row["system"]) for row in rows] == [
        ("MRR", "good"),
        ("MRR", "plain"),
        ("Precision@1", "good"),
        ("Precision@1", "plain"),
    ]
    assert all(0 < float(row["one"]) == float(row["average"]) < 1 for row in rows)
