"""Spellings of ids: each kind of difference is undone, in one id as in many."""

import pytest

from beir_eval.inspection.spellings import KINDS, IdMatcher, folded, spelling_differences

SPELLINGS = {
    "encoding": ("café", "cafÃ©"),
    "white space": ("7", " 7\t"),
    "quotation marks": ("7", "\u201c7\u201d"),
    "floats": ("7", "7.0"),
    "case": ("MED-7", "med-7"),
    "separators": ("1234567", "1,234,567"),
    "address": ("https://a.org/x y/", "http://a.org/x%20y"),
    "zero padding": ("doc-7", "doc-0007"),
}


def test_every_kind_has_an_example():
    assert SPELLINGS.keys() == KINDS.keys()


@pytest.mark.parametrize("cause", KINDS)
def test_a_kind_is_undone_and_named(cause):
    ours, theirs = SPELLINGS[cause]
    assert KINDS[cause].change(ours) == KINDS[cause].change(theirs)
    assert list(IdMatcher([ours]).pairs([theirs])) == [(ours, theirs)]
    digits = "123"  # three pairs, since some kinds may be two ids
    pairs = [(ours.replace("7", f"{x}7"), theirs.replace("7", f"{x}7")) for x in digits]
    [(difference, _)] = spelling_differences(pairs if KINDS[cause].may_be_two else [(ours, theirs)])
    assert difference.phrase == KINDS[cause].phrase


def test_ids_are_folded_together_as_each_by_itself():
    ids = [text for pair in SPELLINGS.values() for text in pair]
    ids += ["0", "000", "/", '"', "a\nb", " c\n", "%0A", "60-minute", "1,23", "é,1"]
    assert folded(ids) == [folded([text])[0] for text in ids]
    plain = [text for text in ids if "\n" not in text and "%" not in text]
    assert folded(plain) == [folded([text])[0] for text in plain]


def test_a_search_finds_prefixes_and_suffixes_of_both_sides():
    matcher = IdMatcher(["doc_1", "2", "3", "4 b"])
    assert list(matcher.pairs(["1", "x2", "3#0", "4", "13"])) == [
        ("doc_1", "1"),
        ("2", "x2"),
        ("3", "3#0"),
        ("4 b", "4"),
    ]
