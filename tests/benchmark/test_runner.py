"""A benchmark saves its progress, resumes where it stopped, and redoes damaged files."""

import importlib
import json
import math
import sys

import pytest

from beir_eval import Run, evaluate, load_dataset, write_qrels, write_run
from beir_eval.benchmark import Benchmark
from beir_eval.datasets import demo
from beir_eval.datasets.catalogue import DATASETS, REPORTED_AVERAGES
from beir_eval.errors import NotEvaluatedError, SettingError

#: Made systems give many documents the same score, and the same documents to every query.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*(have the same score|have the score of another|have the same first).*"
)

MEASURES = ["nDCG@10", "Recall@100", "MRR@10"]
FORUMS = DATASETS["cqadupstack"].parts


def words(queries, corpus):
    """Rank by the number of shared words; the first query retrieves nothing."""
    texts = {document.doc_id: set(document.text.lower().split()) for document in corpus}
    run = {
        query: {
            doc: float(len(set(text.split()) & document_words))
            for doc, document_words in texts.items()
        }
        for query, text in queries.items()
    }
    run[next(iter(queries))] = {}
    return run


class Retriever:
    """A BEIR retriever that ranks documents by their first letter, and counts its calls."""

    fingerprint = "checkpoint 1"
    calls = 0

    def search(self, corpus, queries, top_k, score_function, **_):
        Retriever.calls += 1
        assert (top_k, score_function) == (1000, "cos_sim")
        return {
            query: {
                doc: -abs(ord(entry["text"][0]) - ord(text[0])) for doc, entry in corpus.items()
            }
            for query, text in queries.items()
        }


def content(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name != "log.jsonl"
    }


def small_dataset(folder, name, count):
    """Write ``count`` queries of the bundled data set under another name; return the folder."""
    bundled = load_dataset(demo.FOLDER)
    queries = list(bundled.queries)[:count]
    target = folder / name
    (target / "qrels").mkdir(parents=True)
    for file in ("corpus.jsonl", "queries.jsonl"):
        (target / file).write_bytes((demo.FOLDER / file).read_bytes())
    qrels = bundled.qrels.as_dict()
    write_qrels(
        {query: qrels[query] for query in queries}, target / "qrels/test.tsv", format="beir"
    )
    return target


def test_every_system_is_evaluated_on_every_data_set(tmp_path):
    sets = [small_dataset(tmp_path, "one", 5), small_dataset(tmp_path, "arguana", 7)]
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in ("one", "arguana"):
        (runs / f"{name}.trec").write_bytes(demo.RUNS[0].read_bytes())
    systems = {"words": words, "letters": Retriever(), "file": demo.RUNS[0], "folder": runs}
    result = Benchmark(sets, systems, folder=tmp_path / "out", measures=MEASURES).run()
    assert not result.failures
    assert list(result.infos) == ["one", "arguana"]
    for name, folder in zip(("one", "arguana"), sets, strict=True):
        dataset = load_dataset(folder)
        drop = name == "arguana"
        expected = evaluate(
            dataset.qrels, words(dataset.queries, dataset.corpus), MEASURES, drop_identical_ids=drop
        )
        assert result.results["words"][name].aggregate == expected.aggregate
        assert result.results["words"][name].counted.queries_empty == (dataset.qrels.query_ids[0],)
        assert result.score("file", name, "nDCG@10") == result.score("folder", name, "ndcg_cut_10")
        assert result.results["words"][name].settings.drop_identical_ids is drop
    *rows, (name, averages) = result.rows("MRR@10")
    assert [row[0] for row in rows] == ["one", "arguana"]
    assert name == "average"
    assert averages == [math.fsum(pair) / 2 for pair in zip(rows[0][1], rows[1][1], strict=True)]
    assert "BM25 (Anserini)" not in result.document("MRR@10").markdown()
    content = json.loads(result.to_json())["results"]["file"]["one"]
    assert content["nDCG@10"] == result.score("file", "one", "nDCG@10")
    mteb = result.mteb("file", "arguana", revision="abc")
    assert (mteb["task_name"], mteb["dataset_revision"]) == ("ArguAna", "abc")
    (scores,) = mteb["scores"]["test"]
    assert (
        scores["main_score"]
        == scores["ndcg_at_10"]
        == round(result.score("file", "arguana", "nDCG@10"), 5)
    )
    assert "mrr_at_10" in scores
    with pytest.raises(NotEvaluatedError):
        result.score("nothing", "one", "nDCG@10")
    with pytest.raises(NotEvaluatedError):
        result.score("file", "nothing", "nDCG@10")


def test_finished_work_is_not_repeated_unless_something_changed(tmp_path):
    sets, out, retriever = [small_dataset(tmp_path, "one", 5)], tmp_path / "out", Retriever()
    Retriever.calls = 0

    def run_and_count_calls(**options):
        Benchmark(sets, {"letters": retriever}, folder=out, measures=MEASURES, **options).run()
        return Retriever.calls

    assert run_and_count_calls() == 1
    before = content(out)
    assert run_and_count_calls() == 1
    assert content(out) == before
    # Other measures: the saved run is still valid.
    Benchmark(sets, {"letters": retriever}, folder=out, measures=["MAP"]).run()
    assert Retriever.calls == 1
    assert run_and_count_calls() == 1
    assert content(out) == before
    # Another checkpoint, other judgements, another corpus.
    retriever.fingerprint = "checkpoint 2"
    assert run_and_count_calls() == 2
    qrels = sets[0] / "qrels/test.tsv"
    qrels.write_text(qrels.read_text().rsplit("\n", 2)[0] + "\n")
    assert run_and_count_calls() == 3
    corpus = sets[0] / "corpus.jsonl"
    corpus.write_text(corpus.read_text().rsplit("\n", 2)[0] + "\n")
    assert run_and_count_calls() == 4
    assert run_and_count_calls() == 4


def test_reused_runs_are_said_with_their_file_and_time(tmp_path):
    folder, out = small_dataset(tmp_path, "one", 5), tmp_path / "out"

    def run(measures):
        return Benchmark(folder, {"words": words}, folder=out, measures=measures).run()

    first = run("MRR")
    assert first.warnings() == []
    for measures in ("MRR", MEASURES):  # from the saved result, from the saved run
        again = run(measures)
        [warning] = again.warnings()
        assert "5 of 5 answers were read from one/words/run.jsonl.gz, saved 20" in warning
    assert run("MRR").results["words"]["one"].values == first.results["words"]["one"].values


def test_a_system_whose_code_has_changed_is_run_again(tmp_path, monkeypatch):
    folder = small_dataset(tmp_path / "data", "one", 5)
    module = tmp_path / "my_search.py"
    monkeypatch.syspath_prepend(tmp_path)
    for size in (1, 2):
        answer = f"{{q: {{'d1': {size}.0}} for q in queries}}"
        module.write_text(f"def search(queries, corpus):\n    return {answer}\n")
        sys.modules.pop("my_search", None)
        importlib.invalidate_caches()
        search = importlib.import_module("my_search").search
        result = Benchmark(folder, {"s": search}, folder=tmp_path / "out", measures="MRR").run()
        assert result.warnings() == []


@pytest.mark.parametrize("name", ["run.jsonl.gz", "result.json", "state.json"])
@pytest.mark.parametrize("damage", ["cut", "changed", "emptied", "removed"])
def test_a_damaged_file_is_written_again(tmp_path, name, damage):
    sets, out = [small_dataset(tmp_path, "one", 5)], tmp_path / "out"
    Benchmark(sets, {"words": words}, folder=out, measures=MEASURES).run()
    before = content(out)
    file = out / "one/words" / name
    original = file.read_bytes()
    broken = {
        "cut": original[: len(original) // 2],
        "changed": original[:-3] + b"000",
        "emptied": b"",
    }
    file.write_bytes(broken.get(damage, b""))
    if damage == "removed":
        file.unlink()
    result = Benchmark(sets, {"words": words}, folder=out, measures=MEASURES).run()
    assert not result.failures
    assert content(out) == before


def test_a_failure_does_not_lose_the_other_results(tmp_path):
    def broken(queries, corpus):
        if len(queries) == 7:
            raise RuntimeError("no memory")
        return words(queries, corpus)

    sets = [small_dataset(tmp_path, "one", 5), small_dataset(tmp_path, "two", 7)]
    write_qrels(load_dataset(sets[0]).qrels, tmp_path / "bare.trec")
    sets.append(tmp_path / "bare.trec")
    (tmp_path / "runs").mkdir()
    write_run(
        words(load_dataset(sets[0]).queries, load_dataset(sets[0]).corpus),
        tmp_path / "runs/one.json",
    )
    result = Benchmark(
        sets,
        {"broken": broken, "files": tmp_path / "runs"},
        folder=tmp_path / "out",
        measures=MEASURES,
    ).run()
    assert list(result.results["broken"]) == ["one"]
    assert result.failures["broken"]["two"] == "RuntimeError: no memory"
    assert "judgements only" in result.failures["broken"]["bare"]
    assert "no run file for two" in result.failures["files"]["two"]
    assert "broken, two: failed with RuntimeError: no memory" in result.to_markdown()
    assert "n/a" in result.to_markdown()
    log = (tmp_path / "out/two/broken/log.jsonl").read_text()
    assert json.loads(log)["failed"] == "RuntimeError: no memory"


def test_averages_are_shown_only_where_they_are_complete(tmp_path):
    qrels, run = tmp_path / "q.trec", tmp_path / "run.trec"
    write_qrels({"q": {"a": 1}}, qrels)
    write_run({"q": {"a": 1.0}}, run)
    names = [name for name in REPORTED_AVERAGES[14] if name != "cqadupstack"]
    forums = [f"cqadupstack/{forum}" for forum in FORUMS]

    def rows_of(names):
        datasets, out = dict.fromkeys(names, qrels), tmp_path / str(len(names))
        return dict(Benchmark(datasets, {"all": run}, folder=out, measures=MEASURES).run().rows())

    assert rows_of(names)["average of 13"] == [1.0]
    assert "average of 14" not in rows_of(names)
    complete = rows_of(names + forums)
    assert (complete["cqadupstack"], complete["average of 14"]) == ([1.0], [1.0])
    assert "average of 13" not in rows_of(set(names) - {"nq"})
    assert math.isnan(rows_of(names + forums[1:])["cqadupstack"][0])  # a forum is missing


def test_invalid_data_sets_and_systems_are_refused(tmp_path):
    dataset = small_dataset(tmp_path, "one", 5)
    for datasets, systems, problem in (
        ([], {"a": words}, "data sets of different names"),
        ([dataset, dataset], {"a": words}, "data sets of different names"),
        ([dataset], {"../a": words}, "becomes a folder"),
        ({"..": dataset}, {"a": words}, "becomes a folder"),
        ([dataset], {"a": 7}, "must be a run file"),
        ([dataset], {}, "there is no system"),
        ([dataset], {"a": tmp_path / "nothing"}, "there is no run file or folder"),
        ({"x": dataset, "x/y": dataset}, {"y": words}, "would share a folder"),
    ):
        with pytest.raises(SettingError, match=problem):
            Benchmark(datasets, systems, folder=tmp_path / "out")


def test_a_top_k_below_1_is_refused_before_the_retriever_is_called(tmp_path):
    before = Retriever.calls
    with pytest.raises(SettingError, match="top_k of system 'bad' must be a whole number"):
        Benchmark([demo.FOLDER], {"bad": Retriever()}, folder=tmp_path, top_k=0)
    assert Retriever.calls == before


def test_another_top_k_retrieves_again(tmp_path):
    sets, out = [small_dataset(tmp_path, "one", 5)], tmp_path / "out"

    class Deep(Retriever):
        def search(self, corpus, queries, top_k, *_):
            return {query: dict.fromkeys(list(corpus)[:top_k], 1.0) for query in queries}

    for top_k in (1, 100):
        result = Benchmark(sets, {"deep": Deep()}, folder=out, measures=MEASURES, top_k=top_k).run()
        assert result.results["deep"]["one"].counted.deepest_ranking == top_k


def test_a_run_that_cannot_be_evaluated_is_not_kept(tmp_path):
    sets, out = [small_dataset(tmp_path, "one", 5)], tmp_path / "out"
    answers = [
        {},
        {"x": {"a": 1.0}},
        Run.from_columns(["q01"] * 3, ["a", "b", "a"], [0.1, 0.5, 0.9]),
    ]

    def changing(queries, corpus):
        return answers[0]

    for problem in ("answered no query", "no query in common"):
        failed = Benchmark(sets, {"changing": changing}, folder=out, measures=MEASURES).run()
        assert problem in failed.failures["changing"]["one"]
        del answers[0]
    result = Benchmark(sets, {"changing": changing}, folder=out, measures=MEASURES).run()
    assert result.results["changing"]["one"].counted.duplicates == 1
    assert "1 entries repeat a document" in result.to_markdown()


@pytest.mark.usefixtures("locks_of_each_platform")
def test_two_processes_do_not_work_in_one_folder(tmp_path):
    def meanwhile(queries, corpus):
        Benchmark(sets, {"words": words}, folder=tmp_path / "out").run()

    sets = [small_dataset(tmp_path, "one", 5)]
    result = Benchmark(sets, {"meanwhile": meanwhile}, folder=tmp_path / "out").run()
    assert "another process is at work" in result.failures["meanwhile"]["one"]


def test_another_split_has_no_baseline_and_is_named(tmp_path):
    folder = small_dataset(tmp_path, "scifact", 5)
    (folder / "qrels/test.tsv").rename(folder / "qrels/train.tsv")
    run = tmp_path / "run.trec"
    run.write_bytes(demo.RUNS[0].read_bytes())
    result = Benchmark(
        [load_dataset(folder, "train")], {"bm25": run}, folder=tmp_path / "out"
    ).run()
    assert result.to_table().rows[0][-1] == "n/a"
    assert "the split is train, the official one test" in result.to_markdown()
    assert list(result.mteb("bm25", "scifact")["scores"]) == ["train"]


def test_other_spellings_of_beir_names_count_in_averages_and_baselines(tmp_path):
    qrels, run = tmp_path / "q.trec", tmp_path / "run.trec"
    write_qrels({"q": {"a": 1}}, qrels)
    write_run({"q": {"a": 1.0}}, run)
    names = [name for name in REPORTED_AVERAGES[13] if name not in ("scifact", "fiqa")]
    names += [
        "BeIR/SciFact",
        "mteb/fiqa",
        *(f"CQADupStack/{forum}" for forum in FORUMS),
    ]
    result = Benchmark(dict.fromkeys(names, qrels), {"all": run}, folder=tmp_path / "out").run()
    rows = dict(result.rows())
    assert rows["cqadupstack"] == rows["average of 13"] == rows["average of 14"] == [1.0]
    assert result.score("all", "CQADupStack", "nDCG@10") == 1.0
    baselines = {row[0]: row[-1] for row in result.to_table().rows}
    assert baselines["BeIR/SciFact"] == "0.6789"
    assert baselines["cqadupstack"] == "0.3021"
    assert result.mteb("all", "mteb/fiqa")["task_name"] == "FiQA2018"
