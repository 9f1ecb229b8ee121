"""Figures: what ``plot`` returns, how it is saved, what a notebook gets of it."""

import json
import sys

import pytest

from beir_eval import evaluate
from beir_eval.comparison.checkpoints import checkpoint_curve
from beir_eval.display import Figure
from beir_eval.errors import MissingExtraError, NotEvaluatedError, SettingError
from report_cases import bundled, made

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def found():
    return bundled()[0]


def rows_of(figure):
    return figure.spec["datasets"]["rows"]


def test_the_forest_holds_every_difference_with_its_interval_and_verdict(found):
    for measure in found.measures:
        [row] = rows_of(found.plot(measure=measure))
        one = found.difference(measure, "bm25")
        assert row == {
            "label": "bm25 − bm25-plain",
            "difference": one.difference,
            "low": one.low,
            "high": one.high,
            "verdict": one.verdict,
        }


@pytest.mark.parametrize("kind", ["queries", "scatter"])
def test_the_figures_of_a_pair_hold_every_query_from_the_greatest_loss_on(found, kind):
    rows = rows_of(found.plot(kind, "nDCG@10"))
    assert [row["begin"] for row in rows] == list(range(len(found.query_ids)))
    scores = found.per_query("nDCG@10")
    for row in rows:
        ours, theirs = scores[row["query"]]["bm25"], scores[row["query"]]["bm25-plain"]
        assert (row["score"], row["against"], row["difference"]) == (ours, theirs, ours - theirs)
    differences = [row["difference"] for row in rows]
    assert differences == sorted(differences)
    turned = rows_of(found.plot(kind, "nDCG@10", system="bm25-plain", against="bm25"))
    assert turned[-1]["difference"] == -differences[0]


def test_a_query_that_a_measure_is_undefined_for_is_not_drawn():
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


def test_a_curve_marks_its_best_and_its_settled_checkpoint():
    results = made(12, 4).results
    curve = checkpoint_curve(results, draws=2000)
    outcome = curve.outcome("nDCG@10")
    marks = {row["step"]: row["mark"] for row in rows_of(curve.plot()) if row["mark"]}
    assert "best" in marks[outcome.best.step]
    assert "no later gain shown" in marks[outcome.settled.step]
    assert set(marks) == {outcome.best.step, outcome.settled.step}


def test_a_figure_is_saved_as_a_picture_or_as_its_specification(found, tmp_path):
    figure = found.plot()
    figure.save(tmp_path / "forest.svg")
    assert (tmp_path / "forest.svg").read_text().startswith("<svg")
    assert "bm25 − bm25-plain" in (tmp_path / "forest.svg").read_text()
    figure.save(tmp_path / "forest.png")
    assert (tmp_path / "forest.png").read_bytes().startswith(PNG)
    figure.save(str(tmp_path / "forest.json"))
    assert json.loads((tmp_path / "forest.json").read_text()) == figure.spec


def test_another_ending_is_refused_and_nothing_is_written(found, tmp_path):
    with pytest.raises(SettingError, match=r"saved as \.json, \.png, \.svg, not as '\.gif'"):
        found.plot().save(tmp_path / "forest.gif")
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_gets_a_picture_beside_the_specification(found):
    bundle, _ = found.plot()._repr_mimebundle_()
    assert bundle["image/png"].startswith(PNG)
    assert bundle["application/vnd.vegalite.v6+json"]["layer"]
    assert bundle["text/plain"].startswith("Figure('difference of nDCG@10")


def test_without_the_extra_a_notebook_is_told_and_saving_says_what_to_install(
    found, monkeypatch, tmp_path
):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    bundle, sizes = found.plot()._repr_mimebundle_()
    assert "image/png" not in bundle
    assert sizes == {}
    assert "pip install 'beir-eval[report]'" in bundle["text/plain"]
    with pytest.raises(MissingExtraError, match="vl-convert-python"):
        found.plot().save(tmp_path / "forest.png")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_drawn_is_said():
    three = made(8, 3)
    with pytest.raises(SettingError, match="kind"):
        three.plot("bars")
    with pytest.raises(SettingError, match="name the system"):
        three.plot("queries")
    with pytest.raises(NotEvaluatedError, match="MAP@10 was not compared"):
        three.plot(measure="MAP@10")


def test_hostile_names_are_text_in_a_picture(tmp_path):
    rows = [{"label": "<script>", "difference": 0.0, "low": 0.0, "high": 0.0, "verdict": "equal"}]
    figure = found_figure(rows)
    figure.save(tmp_path / "hostile.svg")
    assert "<script" not in (tmp_path / "hostile.svg").read_text()


def found_figure(rows):
    from beir_eval.display.charts import forest  # noqa: PLC0415

    figure = forest(rows, measure="<script>", margin=0.01, level=0.95)
    assert isinstance(figure, Figure)
    return figure
