"""What a notebook shows: figures at the right size and with a title, results as tables."""

import struct

import pytest

from beir_eval import evaluate, load_dataset, read_run
from beir_eval.benchmark import Benchmark
from beir_eval.datasets import demo
from beir_eval.display import Table
from beir_eval.report.page import page_specification


@pytest.fixture(scope="module")
def figure():
    run = read_run(demo.RUNS[0])
    return evaluate(load_dataset(demo.FOLDER).qrels, run, ["nDCG@10"], name="bm25").plot()


def test_a_notebook_shows_a_picture_at_half_its_size_in_pixels(figure):
    bundle, metadata = figure._repr_mimebundle_(include=None, exclude=None)
    assert set(bundle) == {"text/plain", "image/png", "application/vnd.vegalite.v6+json"}
    width, height = struct.unpack(">II", bundle["image/png"][16:24])
    assert metadata == {"image/png": {"width": width // 2, "height": height // 2}}
    assert 560 < metadata["image/png"]["width"] < 700


@pytest.mark.peers
def test_ipython_shows_the_picture_at_its_size(figure):
    formatters = pytest.importorskip("IPython.core.formatters", reason="what notebooks ask")
    bundle, metadata = formatters.DisplayFormatter().format(figure)
    assert bundle["image/png"].startswith(b"\x89PNG")
    assert set(metadata["image/png"]) == {"width", "height"}


def test_a_figure_has_a_title_that_the_report_keeps_as_description_only(figure):
    assert figure.spec["title"] == figure.spec["description"] == "nDCG@10 of bm25 by query"
    specification = page_specification(figure)
    assert "title" not in specification
    assert specification["description"] == figure.spec["description"]


def test_a_table_is_shown_as_html():
    table = Table(("measure", "<b>"), [("nDCG@10", "0.5")])
    assert table._repr_html_() == table.html()


def test_a_benchmark_shows_its_table_and_its_failures(tmp_path):
    systems = {"bm25": demo.RUNS[0], "fails": lambda _, __: {"q01": {"<img>": "x"}}}
    result = Benchmark(
        {"bundled": demo.FOLDER}, systems, folder=tmp_path, measures=["nDCG@10"]
    ).run()
    html = result._repr_html_()
    assert html.count("<table>") == 1
    assert "0.6665" in html
    assert "fails, bundled: failed with" in html
    assert "<img" not in html
    complete_result = Benchmark(
        {"bundled": demo.FOLDER}, {"bm25": demo.RUNS[0]}, folder=tmp_path
    ).run()
    assert complete_result._repr_html_() == complete_result.to_table().html()
