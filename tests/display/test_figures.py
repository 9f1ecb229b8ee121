"""Figures: what ``plot`` returns, how it is saved, and what a notebook shows."""

import json
import re
import sys

import pytest

from beir_eval import evaluate
from beir_eval.comparison.checkpoints import checkpoint_curve
from beir_eval.display import Figure
from beir_eval.errors import MissingExtraError, NotEvaluatedError, SettingError
from report_cases import bundled, made

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def comparison():
    return bundled()[0]


def rows_of(figure):
    return figure.spec["datasets"]["rows"]


def test_the_forest_holds_every_difference_with_its_interval_and_verdict(comparison):
    for measure in comparison.measures:
        [row] = rows_of(comparison.plot(measure=measure))
        difference = comparison.difference(measure, "bm25")
        fields = ("difference", "low", "high", "verdict")
        shown = {field: getattr(difference, field) for field in fields}
        assert row == {"label": "bm25"} | shown


@pytest.mark.parametrize("kind", ["queries", "scatter"])
def test_the_figures_of_a_pair_list_the_queries_from_the_greatest_loss_to_the_greatest_gain(
    comparison, kind
):
    rows = rows_of(comparison.plot(kind, "nDCG@10"))
    assert [row["begin"] for row in rows] == list(range(len(comparison.query_ids)))
    scores = comparison.per_query("nDCG@10")
    for row in rows:
        ours, theirs = scores[row["query"]]["bm25"], scores[row["query"]]["bm25-plain"]
        assert (row["score"], row["against"], row["difference"]) == (ours, theirs, ours - theirs)
    differences = [row["difference"] for row in rows]
    assert differences == sorted(differences)
    swapped = rows_of(comparison.plot(kind, "nDCG@10", system="bm25-plain", against="bm25"))
    assert swapped[-1]["difference"] == -differences[0]


def test_a_query_with_an_undefined_score_is_not_drawn():
    result = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"a": 1.0}}, ["Judged@10"])
    assert [row["query"] for row in rows_of(result.plot())] == ["q1"]


def test_a_result_is_drawn_from_its_best_query_to_its_worst():
    result = evaluate(
        {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": {"x": 2.0, "a": 1.0}, "q2": {"b": 1.0}}, ["MRR"]
    )
    assert [(row["query"], row["score"]) for row in rows_of(result.plot("RR"))] == [
        ("q2", 1.0),
        ("q1", 0.5),
    ]
    with pytest.raises(NotEvaluatedError, match="nDCG@10 was not evaluated"):
        result.plot("nDCG@10")


@pytest.mark.filterwarnings("ignore:a margin of 0.3 is 30%")
@pytest.mark.parametrize(("margin", "mark"), [(0.01, "no later gain shown"), (0.3, "settled")])
def test_a_curve_marks_its_best_and_its_unbeaten_checkpoint(margin, mark):
    results = made(40, 4).results
    curve = checkpoint_curve(results, margin=margin, draws=2000)
    outcome = curve.outcome("nDCG@10")
    marks = {row["step"]: row["mark"] for row in rows_of(curve.plot()) if row["mark"]}
    assert "best" in marks[outcome.best.step]
    assert mark in marks[outcome.unbeaten.step]
    assert set(marks) == {outcome.best.step, outcome.unbeaten.step}


def test_a_figure_is_saved_as_a_picture_or_as_its_specification(comparison, tmp_path):
    figure = comparison.plot()
    figure.save(tmp_path / "forest.svg")
    assert (tmp_path / "forest.svg").read_text().startswith("<svg")
    assert "difference of nDCG@10 to bm25-plain" in (tmp_path / "forest.svg").read_text()
    figure.save(tmp_path / "forest.png")
    assert (tmp_path / "forest.png").read_bytes().startswith(PNG)
    figure.save(tmp_path / "forest.pdf")
    content = (tmp_path / "forest.pdf").read_bytes()
    assert content.startswith(b"%PDF-")
    assert re.search(rb"/MediaBox ?\[0 0 240 \d+\]", content)  # a column of 240 points
    figure.save(str(tmp_path / "forest.json"))
    assert json.loads((tmp_path / "forest.json").read_text()) == figure.spec


def test_an_unknown_file_extension_is_refused_and_nothing_is_written(comparison, tmp_path):
    with pytest.raises(SettingError, match=r"saved as \.json, \.pdf, \.png, \.svg, not as '\.gif'"):
        comparison.plot().save(tmp_path / "forest.gif")
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_a_notebook_and_an_error_say_what_to_install(
    comparison, monkeypatch, tmp_path
):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    bundle, metadata = comparison.plot()._repr_mimebundle_()
    assert "image/png" not in bundle
    assert metadata == {}
    assert "pip install 'beir-eval[report]'" in bundle["text/plain"]
    with pytest.raises(MissingExtraError, match="vl-convert-python"):
        comparison.plot().save(tmp_path / "forest.png")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_kind_a_missing_system_and_an_uncompared_measure_are_refused():
    three_systems = made(8, 3)
    with pytest.raises(SettingError, match="kind"):
        three_systems.plot("bars")
    with pytest.raises(SettingError, match="name the system"):
        three_systems.plot("queries")
    with pytest.raises(NotEvaluatedError, match="MAP@10 was not compared"):
        three_systems.plot(measure="MAP@10")


def test_rows_of_a_forest_keep_their_order_where_an_interval_is_unbounded(tmp_path):
    rows = [
        {"label": "first", "difference": 0.2, "low": None, "high": None, "verdict": "undecided"},
        {"label": "second", "difference": 0.1, "low": 0.0, "high": 0.2, "verdict": "undecided"},
        {"label": "lone \ud800", "difference": 0.1, "low": 0.0, "high": 0.2, "verdict": "better"},
    ]
    forest_figure(rows).save(tmp_path / "forest.svg")
    picture = (tmp_path / "forest.svg").read_text(encoding="utf-8")
    assert "<script" not in picture  # of the title
    assert picture.index(">first<") < picture.index(">second<") < picture.index(">lone ?<")


def forest_figure(rows):
    from beir_eval.display.charts import forest  # noqa: PLC0415

    figure = forest(rows, title="<script>", margin=0.01, intervals="95% interval")
    assert isinstance(figure, Figure)
    return figure
