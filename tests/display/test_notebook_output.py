"""What a notebook shows: figures at the right size and with a title, results as tables."""

import struct

import pytest

from beir_eval import evaluate, load_dataset, read_run
from beir_eval.datasets import demo
from beir_eval.report.page import page_specification


@pytest.fixture(scope="module")
def figure():
    run = read_run(demo.RUNS[0])
    return evaluate(load_dataset(demo.FOLDER).qrels, run, ["nDCG@10"], name="bm25").plot()


def test_a_notebook_shows_a_picture_at_half_its_size_in_pixels(figure):
    bundle, metadata = figure._repr_mimebundle_(include=None, exclude=None)
    assert set(bundle) == {"text/plain", "image/png", "application/vnd.vegalite.v6+json"}
    assert bundle["application/vnd.vegalite.v6+json"] == figure.spec
    width, height = struct.unpack(">II", bundle["image/png"][16:24])
    assert metadata == {"image/png": {"width": width // 2, "height": height // 2}}
    assert 560 < metadata["image/png"]["width"] < 700


def test_a_figure_has_a_title_that_the_report_keeps_as_description_only(figure):
    assert figure.spec["title"] == figure.spec["description"] == "nDCG@10 of bm25 by query"
    specification = page_specification(figure)
    assert "title" not in specification
    assert specification["description"] == figure.spec["description"]
