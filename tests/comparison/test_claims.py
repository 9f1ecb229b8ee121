"""What published means support, without the scores behind them."""

import pytest

from beir_eval import audit_claim
from beir_eval.comparison import ClaimAudit
from beir_eval.errors import InputError, MeasureError, SettingError
from beir_eval.significance import bounded_mean_interval, proportion_interval


def text_of(audit):
    return " ".join(audit.sentences())


def test_three_queries_of_ten_cannot_be_a_significant_difference():
    audit = audit_claim(10, "1.00", "0.70", measure="Success@5")
    assert audit.binary
    assert (audit.value.low, audit.value.high) == proportion_interval(10, 10)
    assert (audit.smallest_p, audit.largest_p) == (0.25, 0.25)
    assert audit.could_be_significant is False
    assert "+0.300 could not have been significant at 0.05" in text_of(audit)
    assert "10 of 10 score 1" in text_of(audit)


def test_a_measure_that_may_score_0_or_1_gets_both_answers():
    audit = audit_claim(10, "1.00", "0.70", measure="Recall@5")
    assert not audit.binary
    assert audit.value.low == bounded_mean_interval(0.995, 10)[0]
    assert audit.smallest_p == 2**-9  # all queries may differ by .3
    assert audit.largest_p is None
    assert audit.if_binary == audit_claim(10, "1.00", "0.70", measure="Recall@5", binary=True)
    assert "if every score is 0 or 1" in text_of(audit)
    assert "then the difference of +0.300 could not have been" in text_of(audit)
    assert audit_claim(10, "1.00", "0.70", binary=False).if_binary is None
    assert audit_claim(10, "0.73", "0.70").if_binary is None  # no number of 10 queries gives .73


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("Success@5", True),
        ("hit@10", True),
        ("MRR@1", True),
        ("P@1", True),
        ("P@2", False),
        ("Recall@1", False),
        ("nDCG@1", False),
        (None, False),
    ],
)
def test_some_measures_are_known_to_score_0_or_1(measure, expected):
    assert audit_claim(10, "0.50", measure=measure).binary is expected


def test_a_printed_mean_stands_for_all_means_that_are_rounded_to_it():
    audit = audit_claim(1000, "0.70", "0.69", binary=True)
    assert audit.value.counts == (695, 705)
    assert audit.value.low == proportion_interval(695, 1000)[0]
    assert audit.value.high == proportion_interval(705, 1000)[1]
    assert audit.smallest_p == 2.0 ** (1 - 20)  # 705 against 685
    assert audit.largest_p == 1  # 695 against 695
    assert audit_claim(1000, 0.7, binary=True).value.counts == (650, 750)
    assert "+0.000 to +0.020 before rounding, could have been significant" in text_of(audit)


def test_a_large_difference_of_many_queries_is_significant_for_any_scores():
    audit = audit_claim(7000, "0.34", "0.30", measure="MRR@1")
    assert audit.could_be_significant
    assert audit.largest_p < 0.05
    assert "significant at 0.05 whatever the scores" in text_of(audit)


def test_five_queries_decide_nothing_whatever_the_scores():
    audit = audit_claim(5, "0.90", "0.10")
    assert audit.smallest_p == 0.0625
    assert "could not have been significant" in text_of(audit)


def test_without_a_baseline_only_the_interval_is_audited():
    audit = audit_claim(20, "0.45", alpha=0.1)
    assert audit.baseline is audit.smallest_p is audit.could_be_significant is None
    assert audit.sentences()[0].startswith("mean 0.45 on 20 queries: the 90% interval of the true")
    assert "significant" not in text_of(audit)


def test_an_audit_is_saved_and_loaded(tmp_path):
    audit = audit_claim(10, "1.00", "0.70", measure="Recall@5")
    audit.save(tmp_path / "audit.json")
    assert ClaimAudit.load(tmp_path / "audit.json") == audit


@pytest.mark.parametrize("wrong", ["85.3", "1", "-0.5", "nan", "70%", "1e-2", "", 1.5, 1])
def test_a_mean_that_is_no_decimal_number_from_0_to_1_is_refused(wrong):
    with pytest.raises(InputError, match=r"decimal number from 0 to 1 as printed, such as 0\.70"):
        audit_claim(10, wrong)
    with pytest.raises(InputError, match="decimal number"):
        audit_claim(10, "0.50", wrong)


def test_impossible_means_and_settings_are_refused():
    with pytest.raises(InputError, match=r"cannot have the mean 0\.73; the nearest are 0\.70 and"):
        audit_claim(10, "0.73", binary=True)
    with pytest.raises(MeasureError, match="not from 0 to 1"):
        audit_claim(10, "0.50", measure="DCG@10")
    for wrong in (0, -3, 2.5, "10"):
        with pytest.raises(SettingError, match="num_queries"):
            audit_claim(wrong, "0.50")
    with pytest.raises(SettingError, match="alpha"):
        audit_claim(10, "0.50", alpha=1)
