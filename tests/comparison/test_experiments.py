"""What judged queries can show, before any run exists."""

import pytest

from beir_eval.comparison.experiments import MEASURES, SPREADS, experiment_power
from beir_eval.errors import InputError, MeasureError, SettingError
from beir_eval.measures import parse
from beir_eval.significance import smallest_margin
from beir_eval.significance.equivalence import detectable_equality
from beir_eval.significance.power import minimum_detectable_difference


def qrels(queries, without_relevant=0):
    grades = [0] * without_relevant + [1] * (queries - without_relevant)
    return {f"q{number}": {"a": grade} for number, grade in enumerate(grades)}


def test_each_measure_has_a_row_for_similar_usual_and_very_different_systems():
    result = experiment_power(qrels(50))
    assert [(row.measure, row.spread) for row in result.rows] == [
        (measure, spread)
        for measure in MEASURES
        for spread in ("similar", "usual", "very different")
    ]
    for row in result.rows:
        assert row.sd in SPREADS[row.measure]
        assert row.detectable == minimum_detectable_difference(row.sd, 50)
        assert row.equal_within == detectable_equality(row.sd, 50)
    assert result.smallest_margin == smallest_margin(50)
    assert "size is never below 0.058" in result.to_markdown()


def test_the_screen_answers_in_one_sentence_a_measure():
    result = experiment_power(qrels(43), "nDCG@10")
    sentence = "43 queries can usually show a difference of about 0.09 nDCG@10 (0.05 to 0.16)"
    assert str(result).splitlines()[0] == sentence
    assert result.to_table().header == ("if systems are", "similar", "usual", "very different")
    few = experiment_power(qrels(8), "nDCG@10", sd=0.9)
    assert str(few).startswith("8 queries can usually show no difference of nDCG@10")


def test_every_spread_is_of_a_measure_that_exists_and_increases():
    for name, spreads in SPREADS.items():
        assert str(parse(name)) == name
        assert 0 < spreads[0] <= spreads[1] <= spreads[2] < 1
    assert set(MEASURES) <= set(SPREADS)


def test_a_cutoff_without_spreads_takes_those_of_the_nearest_and_says_so():
    result = experiment_power(qrels(50), ["ndcg_cut_20", "Recall@700", "MAP"])
    assert {row.measure: row.spread_of for row in result.rows} == {
        "nDCG@20": "nDCG@10",
        "Recall@700": "Recall@1000",
        "MAP": "MAP@1000",
    }
    [note] = [note for note in result.notes() if note.startswith("nDCG@20: ")]
    for words in ("nDCG@10", "nearest cutoff"):
        assert words in note


def test_a_given_standard_deviation_replaces_the_usual_ones():
    result = experiment_power(qrels(200), ["nDCG@10", "DCG@10"], sd=0.1, alpha=0.01, power=0.9)
    assert [row.spread for row in result.rows] == ["given", "given"]
    bounded, unbounded = result.rows
    assert bounded.detectable == minimum_detectable_difference(0.1, 200, alpha=0.01, power=0.9)
    assert unbounded.equal_within < bounded.equal_within  # DCG has no range: t only
    assert not any("TREC" in note for note in result.notes())
    assert result.fewest_differing == 8


@pytest.mark.parametrize(("alpha", "fewest"), [(0.05, 6), (2**-5, 6), (0.01, 8), (2**-7, 8)])
def test_exactly_the_fewest_queries_can_show_a_difference_and_one_less_cannot(alpha, fewest):
    assert 2 ** (1 - fewest) <= alpha < 2 ** (2 - fewest)  # p if all queries differ the same way
    enough, too_few = (
        experiment_power(qrels(queries), "nDCG@10", sd=0.1, alpha=alpha)
        for queries in (fewest, fewest - 1)
    )
    assert enough.fewest_differing == too_few.fewest_differing == fewest
    assert enough.rows[0].detectable == minimum_detectable_difference(0.1, fewest, alpha=alpha)
    assert f"If systems differ on fewer than {fewest} queries, no" in enough.to_markdown()
    assert too_few.rows[0].detectable is None
    assert f"can show no difference of nDCG@10: {fewest} must differ" in str(too_few)


def test_queries_without_a_relevant_document_are_counted():
    result = experiment_power(qrels(40, 3), "nDCG@10")
    assert (result.num_queries, result.num_without_relevant) == (40, 3)
    assert any(note.startswith("3 of the queries have no relevant") for note in result.notes())


def test_impossible_requests_are_refused():
    with pytest.raises(InputError, match=r"how much differences of Rndcg.* give .* with sd="):
        experiment_power(qrels(40), "Rndcg")
    with pytest.raises(InputError, match="1 judged query"):
        experiment_power(qrels(1))
    for measure in ("num_rel_ret", "gm_map", "Hole@10"):
        with pytest.raises(MeasureError, match="is not compared"):
            experiment_power(qrels(40), measure, sd=0.2)
    with pytest.raises(MeasureError, match="nDGC"):
        experiment_power(qrels(40), "nDGC@10")
    for wrong in (0, -1, float("nan"), float("inf")):
        with pytest.raises(SettingError, match="sd must be"):
            experiment_power(qrels(40), sd=wrong)
    with pytest.raises(SettingError, match=r"at most 1, not 20: did you mean 0\.2\?"):
        experiment_power(qrels(40), "nDCG@10", sd=20)
    assert experiment_power(qrels(40), "nDCG@10", sd=1).rows[0].sd == 1
    assert experiment_power(qrels(40), "DCG@10", sd=20).rows[0].sd == 20  # without bounds
    with pytest.raises(SettingError, match="alpha"):
        experiment_power(qrels(40), alpha=0.5)
    with pytest.raises(SettingError, match="power"):
        experiment_power(qrels(40), power=0.01)
