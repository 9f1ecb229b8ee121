"""``-o r.html`` writes the same report as Python does, or no file at all."""

import json
import re
import shutil
import sys
from html import unescape

from beir_eval.datasets import demo
from command_line import refusal, run, success

BM25, PLAIN = demo.RUNS


def report_data(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', text)[1]
    )


def check_texts(part):
    assert all(text for _, text in part["queries"])
    assert all(title for _, title, _ in part["documents"])
    assert len(part["rankings"]) == 30


def test_compare_writes_texts_rankings_and_provenance(tmp_path):
    html = tmp_path / "r.html"
    success(run("compare", demo.FOLDER, BM25, PLAIN, "--baseline", "bm25-plain", "-o", html))
    [part] = report_data(html)["parts"]
    check_texts(part)
    assert part["systems"] == ["bm25", "bm25-plain"]
    assert "qrels, SHA-256" in html.read_text()


def test_compare_of_saved_results_writes_a_report_too(tmp_path):
    saved, html = tmp_path / "saved.json", tmp_path / "r.html"
    assert run("evaluate", demo.FOLDER, BM25, PLAIN, "-m", "MRR", "-o", saved).exit_code == 0
    assert run("compare", saved, "-o", html).exit_code == 0
    [part] = report_data(html)["parts"]
    assert part["measures"] == ["MRR"]
    assert part["has_rankings"] is False


def test_a_report_is_written_even_if_the_gate_fails(tmp_path):
    html = tmp_path / "r.html"
    gate = ["--baseline", "bm25", "--gate", "nDCG@10"]
    result = run("compare", demo.FOLDER, BM25, PLAIN, *gate, "-o", html)
    assert result.exit_code == 1
    assert report_data(html)["parts"]
    page = " ".join(unescape(html.read_text()).split())
    assert "Gate failed" in page
    assert "gate failed: bm25-plain is worse than bm25 (nDCG@10, 30 queries)" in result.output
    assert "gate failed: bm25-plain is worse than bm25 (nDCG@10, 30 queries)" in page
    assert page.index("-0.1778") < page.index('<h2 id="verdict">')
    assert page.index("Gate failed") < page.index('<h2 id="verdict">')


def test_evaluate_writes_a_report_of_one_system_or_several(tmp_path):
    html = tmp_path / "r.html"
    assert run("evaluate", demo.FOLDER, BM25, "-o", html).exit_code == 0
    [part] = report_data(html)["parts"]
    check_texts(part)
    assert part["pair"] == [0, None]
    assert run("evaluate", demo.FOLDER, BM25, PLAIN, "-o", html).exit_code == 0
    assert report_data(html)["parts"][0]["pair"] == [1, 0]


def test_a_missing_corpus_is_mentioned_and_a_broken_corpus_is_an_error(tmp_path):
    folder, html = tmp_path / "set", tmp_path / "r.html"
    shutil.copytree(demo.FOLDER, folder)
    (folder / "corpus.jsonl").unlink()
    output = success(run("evaluate", folder, BM25, "-o", html))
    assert "has no corpus: the report shows ids without texts" in output
    assert report_data(html)["parts"][0]["queries"][0][1] == ""
    html.unlink()
    (folder / "corpus.jsonl").write_text('{"_id": "a", "text": "x"}\n{broken\n')
    assert "corpus.jsonl, line 2" in refusal(run("evaluate", folder, BM25, "-o", html))
    assert not html.exists()


def test_the_texts_are_those_of_the_split_that_was_evaluated(tmp_path):
    folder, html = tmp_path / "msmarco", tmp_path / "r.html"  # BEIR evaluates msmarco on dev
    shutil.copytree(demo.FOLDER, folder)
    assert run("evaluate", folder, BM25, "--split", "test", "-o", html).exit_code == 0
    check_texts(report_data(html)["parts"][0])
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev.tsv")
    assert run("evaluate", folder, BM25, "-o", html).exit_code == 0
    check_texts(report_data(html)["parts"][0])


def test_compare_with_slices_shows_them_in_the_report(tmp_path):
    html = tmp_path / "r.html"
    success(run("compare", demo.FOLDER, BM25, PLAIN, "--slices", "length", "-o", html))
    assert "By slice" in html.read_text()
    assert "slices-0" in report_data(html)["figures"]


def test_bench_writes_a_part_for_every_data_set_with_its_texts(tmp_path):
    html, out = tmp_path / "r.html", tmp_path / "out"
    success(run("bench", demo.FOLDER, BM25, PLAIN, "--keep", out, "-o", html))
    [part] = report_data(html)["parts"]
    check_texts(part)
    assert part["measures"][0] == "nDCG@10"
    # Existing results are used if they hold what a report needs, otherwise computed again.
    assert run("bench", demo.FOLDER, BM25, PLAIN, "--keep", out).exit_code == 0
    assert run("bench", demo.FOLDER, BM25, PLAIN, "--keep", out, "-o", html).exit_code == 0
    assert report_data(html)["parts"] == [part]
    compare = ["--compare", "--baseline", "bm25-plain"]
    success(run("bench", demo.FOLDER, BM25, PLAIN, "--keep", out, "-o", html, *compare))
    heading = '<h2 id="verdict">nDCG@10, 1 data set: bm25 is better than bm25-plain<'
    assert heading in html.read_text()


def test_the_demo_writes_a_report_and_says_where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert str(tmp_path / "beir-eval-demo.html") in success(run("demo"))
    [part] = report_data(tmp_path / "beir-eval-demo.html")["parts"]
    check_texts(part)


def test_the_demo_runs_without_the_report_extra(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert "The report: not written." in success(run("demo"))
    assert list(tmp_path.iterdir()) == []


def test_without_its_extra_a_report_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for command in (
        ["compare", demo.FOLDER, BM25, PLAIN],
        ["evaluate", demo.FOLDER, BM25],
        ["bench", demo.FOLDER, BM25, "--keep", tmp_path / "out"],
    ):
        result = refusal(run(*command, "-o", tmp_path / "r.html"))
        assert "beir-eval[report]" in result
        assert "0.6665" not in result
    assert list(tmp_path.iterdir()) == []
