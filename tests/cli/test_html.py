"""``-o r.html`` writes the same report as Python does, or no file at all."""

import json
import re
import shutil
import sys
from html import unescape

import pytest
from typer.testing import CliRunner

from beir_eval import EvaluationResult
from beir_eval.cli.app import app
from beir_eval.datasets import demo

RUNNER = CliRunner()
BM25, PLAIN = demo.RUNS


def run(*arguments):
    return RUNNER.invoke(app, [str(argument) for argument in arguments])


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
    result = run("compare", demo.FOLDER, BM25, PLAIN, "--baseline", "bm25-plain", "-o", html)
    assert result.exit_code == 0, result.output
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
    result = run(
        *("compare", demo.FOLDER, BM25, PLAIN, "--baseline", "bm25"),
        *("--gate", "nDCG@10", "-o", html),
    )
    assert result.exit_code == 1
    assert report_data(html)["parts"]
    page = " ".join(unescape(html.read_text()).split())
    assert "Gate failed" in page
    printed = next(line for line in result.output.splitlines() if line.startswith("gate failed: "))
    assert f"failed: {printed.removeprefix('gate failed: ')}</li>" in page
    assert page.index("Gate failed") < page.index('<h2 id="verdict">')


def test_compare_draws_the_curve_of_the_systems_with_a_step(tmp_path):
    for step in (100, 200):
        (tmp_path / f"step{step}.trec").write_bytes(BM25.read_bytes())
    files = [PLAIN, tmp_path / "step100.trec", tmp_path / "step200.trec"]
    html = tmp_path / "r.html"
    result = run("compare", demo.FOLDER, *files, "-o", html, "--steps", r"step(\d+)")
    assert result.exit_code == 0, result.output
    rows = report_data(html)["figures"]["curve-0"]["datasets"]["rows"]
    assert [row["step"] for row in rows] == [100, 200]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["-o", "r.html", "--steps", "("], "no regular expression"),
        (["--steps", r"step(\d+)"], "finds a step in 0 of the names"),
    ],
)
def test_a_curve_that_cannot_be_drawn_is_an_error(tmp_path, monkeypatch, options, problem):
    monkeypatch.chdir(tmp_path)
    result = run("compare", demo.FOLDER, BM25, PLAIN, *options)
    assert result.exit_code == 2
    assert problem in " ".join(result.output.split())
    assert list(tmp_path.iterdir()) == []


def test_evaluate_writes_a_report_of_one_system_or_several(tmp_path):
    html = tmp_path / "r.html"
    assert run("evaluate", demo.FOLDER, BM25, "-o", html).exit_code == 0
    [part] = report_data(html)["parts"]
    check_texts(part)
    assert part["pair"] == [0, None]
    assert run("evaluate", demo.FOLDER, BM25, PLAIN, "-o", html).exit_code == 0
    assert report_data(html)["parts"][0]["pair"] == [1, 0]


def test_evaluate_saves_no_rankings_without_a_report(tmp_path):
    saved = tmp_path / "saved.json"
    assert run("evaluate", demo.FOLDER, BM25, "-m", "MRR", "-o", saved).exit_code == 0
    [content] = json.loads(saved.read_text())
    assert EvaluationResult.model_validate(content).top is None


def test_judgements_without_texts_make_a_report_with_ids(tmp_path):
    (tmp_path / "qrels.trec").write_text("q1 0 a 1\nq2 0 b 1\n")
    (tmp_path / "run.trec").write_text("q1 Q0 a 1 2 t\nq2 Q0 x 1 2 t\n")
    html = tmp_path / "r.html"
    assert (
        run("evaluate", tmp_path / "qrels.trec", tmp_path / "run.trec", "-o", html).exit_code == 0
    )
    [part] = report_data(html)["parts"]
    assert part["queries"] == [["q1", ""], ["q2", ""]]
    assert sorted(part["documents"]) == [["a", "", ""], ["x", "", ""]]


def test_a_missing_corpus_is_mentioned_and_a_broken_corpus_is_an_error(tmp_path):
    folder, html = tmp_path / "set", tmp_path / "r.html"
    shutil.copytree(demo.FOLDER, folder)
    (folder / "corpus.jsonl").unlink()
    result = run("evaluate", folder, BM25, "-o", html)
    assert result.exit_code == 0
    assert "has no corpus: the report shows ids without texts" in " ".join(result.output.split())
    assert report_data(html)["parts"][0]["queries"][0][1] == ""
    html.unlink()
    (folder / "corpus.jsonl").write_text('{"_id": "a", "text": "x"}\n{broken\n')
    result = run("evaluate", folder, BM25, "-o", html)
    assert result.exit_code == 2
    assert "corpus.jsonl, line 2" in " ".join(result.output.split())
    assert not html.exists()


def test_the_texts_are_those_of_the_split_that_was_evaluated(tmp_path):
    folder, html = tmp_path / "msmarco", tmp_path / "r.html"  # BEIR evaluates msmarco on dev
    shutil.copytree(demo.FOLDER, folder)
    assert run("evaluate", folder, BM25, "--split", "test", "-o", html).exit_code == 0
    check_texts(report_data(html)["parts"][0])
    (folder / "qrels" / "test.tsv").rename(folder / "qrels" / "dev.tsv")
    assert run("evaluate", folder, BM25, "-o", html).exit_code == 0
    check_texts(report_data(html)["parts"][0])


def test_a_report_path_that_cannot_be_written_is_refused_before_any_work(tmp_path):
    for html, problem in ((tmp_path / "no" / "r.html", "make it first"), (tmp_path, "is a folder")):
        result = run("evaluate", demo.FOLDER, BM25, "-o", f"html={html}")
        assert result.exit_code == 2
        assert problem in " ".join(result.output.split())
        assert "0.6665" not in result.output


def test_compare_with_slices_shows_them_in_the_report(tmp_path):
    html = tmp_path / "r.html"
    result = run("compare", demo.FOLDER, BM25, PLAIN, "--slices", "length", "-o", html)
    assert result.exit_code == 0, result.output
    assert "Within slices of the queries" in html.read_text()
    rows = report_data(html)["figures"]["slices-0"]["datasets"]["rows"]
    assert [row["label"] for row in rows] == [
        "below 4 words (6 queries)",
        "4 to 7 words (20 queries)",
        "8 to 15 words (4 queries)",
    ]


def test_bench_with_a_comparison_begins_its_report_with_the_verdict(tmp_path):
    html = tmp_path / "r.html"
    result = run(
        *("bench", demo.FOLDER, BM25, PLAIN, "--keep", tmp_path / "out", "-o", html),
        *("--compare", "--baseline", "bm25-plain"),
    )
    assert result.exit_code == 0, result.output
    heading = '<h2 id="verdict">Average nDCG@10 over 1 data set: bm25 is better than bm25-plain'
    assert heading in html.read_text()


def test_bench_writes_a_part_for_every_data_set_with_its_texts(tmp_path):
    html, out = tmp_path / "r.html", tmp_path / "out"
    result = run("bench", demo.FOLDER, BM25, PLAIN, "--keep", out, "-o", html)
    assert result.exit_code == 0, result.output
    [part] = report_data(html)["parts"]
    check_texts(part)
    assert part["measures"][0] == "nDCG@10"
    # Existing results are used if they hold what a report needs, otherwise computed again.
    first_html = html.read_text()
    assert run("bench", demo.FOLDER, BM25, PLAIN, "--keep", out).exit_code == 0
    assert run("bench", demo.FOLDER, BM25, PLAIN, "--keep", out, "-o", html).exit_code == 0
    assert (
        report_data(html)["parts"]
        == json.loads(re.search(r'id="data">(.*?)</script>', first_html)[1])["parts"]
    )


def test_haystack_writes_a_report(tmp_path):
    haystack = pytest.importorskip("haystack")
    stores = pytest.importorskip("haystack.document_stores.in_memory")
    retrievers = pytest.importorskip("haystack.components.retrievers.in_memory")
    pipeline = haystack.Pipeline()
    store = stores.InMemoryDocumentStore()
    pipeline.add_component("retriever", retrievers.InMemoryBM25Retriever(store, top_k=20))
    (tmp_path / "bm25.yaml").write_text(pipeline.dumps())
    html = tmp_path / "r.html"
    result = run("haystack", tmp_path / "bm25.yaml", demo.FOLDER, "--index", "-o", html)
    assert result.exit_code == 0, result.output
    [part] = report_data(html)["parts"]
    check_texts(part)
    assert "time per query: median" in html.read_text()


def test_the_demo_writes_a_report_and_says_where(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert str(tmp_path / "beir-eval-demo.html") in result.output
    [part] = report_data(tmp_path / "beir-eval-demo.html")["parts"]
    check_texts(part)


def test_the_demo_runs_without_the_report_extra(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = run("demo")
    assert result.exit_code == 0
    assert "The report: not written." in result.output
    assert list(tmp_path.iterdir()) == []


def test_without_its_extra_a_report_is_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    for command in (
        ["compare", demo.FOLDER, BM25, PLAIN],
        ["evaluate", demo.FOLDER, BM25],
        ["bench", demo.FOLDER, BM25, "--keep", tmp_path / "out"],
    ):
        result = run(*command, "-o", tmp_path / "r.html")
        assert result.exit_code == 2
        assert "beir-eval[report]" in result.output
        assert "0.6665" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_report_does_not_overwrite_an_input_file(tmp_path):
    (tmp_path / "bm25.trec").write_bytes(BM25.read_bytes())
    result = run(
        "evaluate", demo.FOLDER, tmp_path / "bm25.trec", "-o", f"html={tmp_path / 'bm25.trec'}"
    )
    assert result.exit_code == 2
    assert "named twice" in result.output
    assert (tmp_path / "bm25.trec").read_bytes() == BM25.read_bytes()


def test_a_narrow_terminal_wraps_no_number(monkeypatch):
    from beir_eval.cli import console  # noqa: PLC0415

    monkeypatch.setattr(console.console, "_width", 60)
    result = run("compare", demo.FOLDER, BM25, PLAIN, "--baseline", "bm25-plain")
    assert result.exit_code == 0
    rows = [line.split() for line in result.output.splitlines() if line.startswith("nDCG@10 ")]
    assert [cell for row in rows for cell in row[1:]][:3] == ["0.4887", "0.6665", "+0.1778"]
    assert len(rows) == 2  # the columns that do not fit are in a further table
    assert max(map(len, result.output.splitlines())) <= 60


def test_compare_drops_documents_with_the_id_of_their_query(tmp_path):
    (tmp_path / "qrels.trec").write_text("".join(f"q{n} 0 a 1\n" for n in range(6)))
    for name in ("A", "B"):
        lines = (f"q{n} Q0 q{n} 1 2 t\nq{n} Q0 a 2 1 t\n" for n in range(6))
        (tmp_path / f"{name}.trec").write_text("".join(lines))
    files = [tmp_path / name for name in ("qrels.trec", "A.trec", "B.trec")]
    assert " 0.5000" in run("compare", *files, "-m", "MRR").output
    assert " 1.0000" in run("compare", *files, "-m", "MRR", "--drop-identical-ids").output


def test_real_runs_on_scifact_make_a_report_with_abstracts(realdata, tmp_path):
    html = tmp_path / "r.html"
    runs = [realdata / f"runs/scifact/{name}.trec" for name in ("deng_base", "deng_e5")]
    result = run("compare", realdata / "scifact", *runs, "--baseline", "deng_base", "-o", html)
    assert result.exit_code == 0, result.output
    text = html.read_text()
    assert "nDCG@10: deng_e5 is better than deng_base" in text
    assert "147 of 300 judged queries are missing from the run" in text
    [part] = report_data(html)["parts"]
    # The runs have 153 queries and lack 147.
    assert [
        sum(ranking is None for ranking in rankings) for rankings in part["rankings"].values()
    ].count(2) == 147
    assert len(part["queries"]) == len(part["rankings"]) == 300
    assert all(len(abstract) > 80 for _, _, abstract in part["documents"][:50])
    assert html.stat().st_size < 6_000_000
