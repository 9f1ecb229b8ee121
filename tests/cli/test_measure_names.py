"""Measures on the command line: their level of relevance, their spellings, and their names."""

import json

import pytest

from beir_eval import Run, write_qrels, write_run
from command_line import output_of, refusal, run

QUERIES = [f"q{number}" for number in range(1, 9)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return a folder with qrels of grades 1 and 2, and two runs; it is the current folder."""
    write_qrels({query: {"a": 2, "b": 1} for query in QUERIES}, tmp_path / "qrels.trec")
    for name, ranking in {"best": "ab", "worse": "ba"}.items():
        rankings = {query: [*ranking] for query in QUERIES}
        write_run(Run.from_rankings(rankings), tmp_path / f"{name}.trec")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# The level of relevance


def test_the_level_reaches_the_gate_and_the_floors_of_a_comparison(files):
    compare = ["compare", "qrels.trec", "best.trec", "worse.trec", "-l", "2"]
    failed = run(*compare, "--gate", "MRR", "-o", "gate.xml", "-o", "c.json")
    assert failed.exit_code == 1, failed.output
    reason = "gate failed: worse is worse than best (MRR(rel=2), 8 queries)"
    assert reason in output_of(failed)
    assert json.loads((files / "c.json").read_text())["measures"] == ["MRR(rel=2)"]
    below = run(*compare, "--floor", "MRR=0.6")
    assert below.exit_code == 1
    assert "MRR(rel=2)" in output_of(below)
    assert run("compare", "qrels.trec", "worse.trec", "--floor", "MRR=0.6").exit_code == 0
    alone = run("compare", "qrels.trec", "worse.trec", "--floor", "MRR=0.6", "--rel", "2")
    assert alone.exit_code == 1


def test_with_saved_results_the_level_selects_measures_that_were_evaluated(files):
    for name, measures in (("both", "MRR,MRR(rel=2)"), ("one", "MRR")):
        evaluate = ["evaluate", "qrels.trec", "best.trec", "worse.trec", "-m", measures]
        assert run(*evaluate, "-o", f"{name}.json").exit_code == 0
    selected = run("compare", "both.json", "-l", "2", "-o", "c.json", "--gate", "MRR")
    assert selected.exit_code == 1
    assert json.loads((files / "c.json").read_text())["measures"] == ["MRR(rel=2)"]
    refused = refusal(run("compare", "one.json", "-m", "MRR", "-l", "2"))
    problem = "MRR(rel=2) was not evaluated for 'best'; it holds MRR; evaluate the runs with the"
    assert f"{problem} same --rel first" in refused


# Spellings


def test_lists_of_cutoffs_are_measures_of_every_command(files):
    evaluated = run("evaluate", "qrels.trec", "best.trec", "-m", "P.1,2", "-m", "recip_rank-l2")
    assert "system Precision@1 Precision@2 recip_rank(rel=2)" in output_of(evaluated)
    compared = run("compare", "qrels.trec", "best.trec", "worse.trec", "--gate", "nDCG@1,5")
    assert compared.exit_code == 1
    assert output_of(compared).count("gate failed: worse is worse than best (") == 2
    bench = run("bench", "qrels.trec", "best.trec", "-m", "P.1,2")
    heads = [f"Precision@{k} queries judged best" for k in (1, 2)]
    assert output_of(bench).index(heads[0]) < output_of(bench).index(heads[1])


# The name that was typed


def test_a_measure_is_printed_under_the_name_that_was_typed_and_saved_under_its_own(files):
    measures = ["-m", "Hits@10,hit_rate@1", "-m", "AP", "-m", "P@1", "-m", "ndcg_cut_5"]
    result = run("evaluate", "qrels.trec", "best.trec", *measures, "-o", "r.json")
    heading = "system Hits@10 * hit_rate@1 AP * Precision@1 nDCG@5 *"
    assert heading in output_of(result)
    canonical = ["utility(other=0)@10", "Success@1", "MAP", "Precision@1", "nDCG@5"]
    assert json.loads((files / "r.json").read_text())[0]["measures"] == canonical


def test_the_level_of_relevance_is_part_of_a_name_that_was_typed(files):
    evaluate = ["evaluate", "qrels.trec", "best.trec", "-m", "Hits@2,recip_rank-l2,RR(rel=1)@5"]
    assert "system Hits@2 RR(rel=2)" not in output_of(run(*evaluate))
    heading = "system Hits(rel=2)@2 recip_rank(rel=2) * RR(rel=1)@5"
    assert heading in output_of(run(*evaluate, "-l2"))


def test_verdicts_tables_and_gate_have_the_name_that_was_typed(files):
    compare = ["compare", "qrels.trec", "best.trec", "worse.trec", "--detail", "-m", "Hits@1"]
    result = run(*compare, "-l", "2", "--gate", "RR", "--floor", "hit@1=0.5", "-o", "c.json")
    printed = output_of(result)
    assert "gate failed: worse is worse than best (RR(rel=2), 8 queries)" in printed
    assert "hit(rel=2)@1" in printed
    for canonical in ("MRR", "utility", "Success"):
        assert canonical not in printed
    saved = json.loads((files / "c.json").read_text())
    assert saved["measures"] == ["utility(other=0, rel=2)@1", "MRR(rel=2)", "Success(rel=2)@1"]


def test_a_benchmark_prints_the_name_that_was_typed_and_has_the_level(files):
    bench = ["bench", "qrels.trec", "best.trec", "worse.trec", "-m", "hit_rate@1"]
    assert "hit_rate@1 queries judged best worse" in output_of(run(*bench))
    at_level = output_of(run(*bench, "-l", "2"))
    assert "hit_rate(rel=2)@1 queries judged best worse" in at_level
    assert "qrels 8 100% 1.0000 0.0000" in at_level


def test_names_of_systems_are_not_replaced(files):
    (files / "best.trec").rename(files / "MAP.trec")
    assert "MAP 1.0000" in output_of(run("evaluate", "qrels.trec", "MAP.trec", "-m", "AP"))
    (files / "MAP.trec").rename(files / "my-MAP.trec")
    result = run("evaluate", "qrels.trec", "my-MAP.trec", "-m", "AP,AP@5,MAP@3")
    assert "system AP * AP@5 * MAP@3 *" in output_of(result)
    assert "my-MAP 1.0000" in output_of(result)
    (files / "MAP.x.trec").write_text("nonsense\n")
    assert "MAP.x.trec" in output_of(run("evaluate", "qrels.trec", "MAP.x.trec", "-m", "AP"))


def test_the_name_of_one_command_is_not_that_of_the_next(files):
    run("evaluate", "qrels.trec", "best.trec", "-m", "AP")
    assert "system MAP" in output_of(run("evaluate", "qrels.trec", "best.trec", "-m", "map"))


@pytest.mark.parametrize("level", ["0", "-1", "nan"])
def test_an_impossible_level_is_one_clear_line(files, level):
    assert "error: rel must be" in refusal(run("evaluate", "qrels.trec", "best.trec", "-l", level))
