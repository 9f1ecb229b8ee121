"""A folder named as a data set of BEIR is evaluated as BEIR does, and the result says so."""

import pytest

from beir_eval import (
    Comparison,
    EvaluationResult,
    Evaluator,
    Run,
    compare,
    compare_runs,
    evaluate,
    load_dataset,
    read_qrels,
    write_run,
)
from beir_eval.benchmark import Benchmark
from beir_eval.comparison.experiments import experiment_power
from beir_eval.errors import FileFormatError
from data_sets import write_dataset

KEPT = "--keep-identical-ids or drop_identical_ids=False keeps them"
DROPPED = (
    f"BEIR's conventions for arguana: documents with the id of their query are left out ({KEPT})"
)
SPLIT = (
    "BEIR's conventions for msmarco: the split is dev (--split or load_dataset(folder, split=...) "
)


def make_data_set(folder, splits):
    """Write a data set with two judged queries a split, ``q1`` and ``q2`` in the first."""
    texts = {name: name for name in ("q1", "q2", "d1", "d2", "d3")}
    queries = [f"q{number}" for number in range(1, 2 * len(splits) + 1)]
    for number, split in enumerate(splits):
        judged = {query: {"d1": 1} for query in queries[2 * number : 2 * number + 2]}
        write_dataset(folder, texts, dict(zip(queries, queries, strict=True)), judged, split=split)
    return folder


def written(path, queries, *, identical):
    """Write a run in which the judged document follows the query itself, or is first."""
    rankings = {query: ([query] if identical else []) + ["d1", "d2"] for query in queries}
    write_run(Run.from_rankings(rankings), path)
    return path


@pytest.fixture
def arguana(tmp_path):
    return make_data_set(tmp_path / "arguana", ["test"])


@pytest.fixture
def run(tmp_path):
    return written(tmp_path / "r.trec", ["q1", "q2"], identical=True)


def test_a_folder_has_the_score_of_its_data_set_and_of_the_benchmark(arguana, run, tmp_path):
    results = {
        "text": evaluate(str(arguana), run, "MRR"),
        "path": evaluate(arguana, run, "MRR"),
        "evaluator": Evaluator(arguana, "MRR").evaluate(run),
        "data set": evaluate(load_dataset(arguana), run, "MRR"),
        "comparison": compare_runs(arguana, {"a": run, "b": run}, "MRR").results["a"][0],
        "benchmark": Benchmark(arguana, {"a": run}, folder=tmp_path / "out", measures="MRR")
        .run()
        .results["a"]["arguana"],
    }
    assert {name: result["MRR"] for name, result in results.items()} == dict.fromkeys(results, 1.0)
    del results["benchmark"]  # its result has a note of its own
    for result in results.values():
        assert result.settings.drop_identical_ids
        assert DROPPED in result.notes()
        assert "2 documents with the id of the query (dropped)" in result.notes()


@pytest.mark.parametrize("stated", [True, False])
def test_a_stated_setting_holds_and_no_convention_is_named(arguana, run, stated):
    result = evaluate(arguana, run, "MRR", drop_identical_ids=stated)
    assert result["MRR"] == (1.0 if stated else 0.5)
    assert result.settings.drop_identical_ids is stated
    assert not [note for note in result.notes() if "convention" in note]
    comparison = compare_runs(arguana, {"a": run, "b": run}, "MRR", drop_identical_ids=stated)
    assert not [note for note in comparison.notes() if "convention" in note]


def test_a_qrels_file_and_another_folder_keep_identical_ids(arguana, run, tmp_path):
    other = make_data_set(tmp_path / "own", ["test"])
    for qrels in (arguana / "qrels" / "test.tsv", other, read_qrels(arguana)):
        result = evaluate(qrels, run, "MRR")
        assert result["MRR"] == 0.5
        assert "2 documents with the id of the query (kept)" in result.notes()
        assert not [note for note in result.notes() if "convention" in note]


def test_nothing_is_said_if_nothing_was_dropped_and_the_split_is_test(arguana, tmp_path):
    run = written(tmp_path / "without.trec", ["q1", "q2"], identical=False)
    notes = evaluate(arguana, run, "MRR").notes()
    assert not [note for note in notes if "convention" in note]


def test_the_official_split_is_evaluated_and_said(tmp_path):
    folder = make_data_set(tmp_path / "msmarco", ["dev", "test"])
    run = written(tmp_path / "r.trec", ["q1", "q2"], identical=False)
    results = [
        evaluate(folder, run, "MRR"),
        compare_runs(folder, {"a": run, "b": run}, "MRR").results["a"][0],
    ]
    for result in results:
        assert result["MRR"] == 1.0
        [note] = [note for note in result.notes() if "convention" in note]
        assert note.startswith(SPLIT)
    assert Evaluator(folder).qrels.query_ids == load_dataset(folder).qrels.query_ids
    assert experiment_power(folder, "MRR").num_queries == 2
    # The split of a data set was chosen when it was loaded.
    assert not [n for n in evaluate(load_dataset(folder), run).notes() if "convention" in n]


def test_a_folder_without_the_official_split_says_how_another_is_chosen(tmp_path):
    folder = make_data_set(tmp_path / "msmarco", ["test"])
    with pytest.raises(
        FileFormatError, match=r"official one.*--split or read_qrels\(folder, split"
    ):
        evaluate(folder, {"q1": {"d1": 1.0}})


def test_the_note_is_in_every_output_of_a_comparison_and_survives_saving(arguana, run, tmp_path):
    other = written(tmp_path / "o.trec", ["q1", "q2"], identical=False)
    comparison = compare_runs(arguana, {"a": run, "b": other}, "MRR")
    assert comparison.notes().count(f"{DROPPED}.") == 1
    assert DROPPED in str(comparison)
    comparison.save(tmp_path / "c.json")
    loaded = Comparison.load(tmp_path / "c.json")
    assert loaded == comparison
    assert f"{DROPPED}." in loaded.notes()
    saved = []
    for name, file in (("a", run), ("b", other)):
        evaluate(arguana, file, "MRR", name=name).save(tmp_path / f"{name}.json")
        saved.append(EvaluationResult.load(tmp_path / f"{name}.json"))
    assert DROPPED in saved[0].notes()
    assert f"{DROPPED}." in compare({result.name: result for result in saved}).notes()
