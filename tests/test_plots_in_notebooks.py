"""What a notebook gets to show: figures at their size and with a title, results as tables."""

import struct
import zlib

import pytest
import vl_convert

from beir_eval import data, evaluate, load_dataset, read_run
from beir_eval.benchmark import Benchmark
from beir_eval.report._writing import _on_page
from beir_eval.tables import Table


@pytest.fixture(scope="module")
def figure():
    run = read_run(data.RUNS[0])
    return evaluate(load_dataset(data.FOLDER).qrels, run, ["nDCG@10"], name="bm25").plot()


def chunks(picture):
    place = 8
    while place < len(picture):
        (length,) = struct.unpack_from(">I", picture, place)
        checked = picture[place + 4 : place + 8 + length]
        (checksum,) = struct.unpack_from(">I", picture, place + 8 + length)
        assert zlib.crc32(checked) == checksum
        yield checked[:4], checked[4:]
        place += length + 12


def pixels(picture):
    return zlib.decompress(
        b"".join(content for kind, content in chunks(picture) if kind == b"IDAT")
    )


def test_the_picture_is_that_of_vl_convert_in_fewer_bytes(figure, tmp_path):
    figure.save(tmp_path / "figure.png")
    ours = (tmp_path / "figure.png").read_bytes()
    theirs = vl_convert.vegalite_to_png(figure._on_paper(), "6.4", scale=2)
    assert pixels(ours) == pixels(theirs)
    assert [one for one in chunks(ours) if one[0] != b"IDAT"] == [
        one for one in chunks(theirs) if one[0] != b"IDAT"
    ]
    assert ours.startswith(theirs[:8])
    assert len(ours) < min(60_000, len(theirs) / 3)


def test_a_notebook_shows_the_picture_at_the_size_of_the_figure_not_at_that_of_its_pixels(figure):
    bundle, metadata = figure._repr_mimebundle_(include=None, exclude=None)
    assert set(bundle) == {"text/plain", "image/png", "application/vnd.vegalite.v6+json"}
    across, down = struct.unpack(">II", dict(chunks(bundle["image/png"]))[b"IHDR"][:8])
    assert metadata == {"image/png": {"width": across // 2, "height": down // 2}}
    assert 560 < metadata["image/png"]["width"] < 700


@pytest.mark.peers
def test_ipython_takes_both(figure):
    formatters = pytest.importorskip("IPython.core.formatters", reason="what notebooks ask")
    shown, metadata = formatters.DisplayFormatter().format(figure)
    assert shown["image/png"].startswith(b"\x89PNG")
    assert set(metadata["image/png"]) == {"width", "height"}


def test_a_figure_says_what_it_shows_and_the_report_says_it_in_a_caption(figure):
    assert figure.spec["title"] == figure.spec["description"] == "nDCG@10 of bm25 by query"
    on_page = _on_page(figure)
    assert "title" not in on_page
    assert on_page["description"] == figure.spec["description"]


def test_a_table_shows_itself():
    table = Table(("measure", "<b>"), [("nDCG@10", "0.5")])
    assert table._repr_html_() == table.html()


def test_a_benchmark_shows_its_table_and_what_was_counted(tmp_path):
    systems = {"bm25": data.RUNS[0], "fails": lambda _, __: {"q01": {"<img>": "x"}}}
    found = Benchmark({"bundled": data.FOLDER}, systems, tmp_path, measures=["nDCG@10"]).run()
    html = found._repr_html_()
    assert html.count("<table>") == 2
    assert "0.6665" in html
    assert "fails, bundled: failed with" in html
    assert "<img" not in html
    alone = Benchmark({"bundled": data.FOLDER}, {"bm25": data.RUNS[0]}, tmp_path).run()
    assert alone._repr_html_() == alone.to_table().html()
