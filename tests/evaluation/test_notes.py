"""Each number of a note is that of the evaluation: small inputs, computed by hand."""

import tomllib
from pathlib import Path

import pytest

from beir_eval import Run, evaluate
from beir_eval.evaluation.notes import retrieval_notes
from beir_eval.evaluation.records import Retrieval

NOTES = tomllib.loads((Path(__file__).parent / "notes.toml").read_text())
QRELS = {
    "q1": {"a": 2, "b": 1},
    "q2": {"c": 1, "d": -1, "e": 0},
    "q3": {"f": 1},
    "q4": {"g": 0, "h": -2, "i": -1},
}
RUN = {
    "q1": {"a": 3.0, "b": 2.0, "x": 2.0},
    "q2": {"e": 1.0, "d": 0.5, "q2": 1.0},
    "q3": {},
    "q4": {"y": 1.0},
}
OTHER = {"no_relevant": "skip", "drop_identical_ids": True, "ties": "input"}
CHUNKS = {"q1": ["a#1", "a#2", "b#1", "x#1", "x#2", "x#3", "c"]}
FEW = {query: QRELS[query] for query in ("q1", "q2")}
TWICE = {"q1": ["a", "a", "b", "a"], "q2": ["c", "d", "c"]}
CASES = {
    "other-settings": (QRELS, RUN, OTHER),
    "unjudged-queries": (FEW, RUN, {}),
    "chunks": (QRELS, Run.from_rankings(CHUNKS, collapse="#"), {}),
    "first-copies": (QRELS, Run.from_rankings(TWICE), {"duplicates": "first"}),
    "all-copies": (QRELS, Run.from_rankings(TWICE), {"duplicates": "keep"}),
}


def test_the_counts_of_an_evaluation_are_its_notes():
    assert evaluate(QRELS, RUN, ["P@1", "P@2"]).notes() == NOTES["counted"]


@pytest.mark.parametrize("case", CASES)
def test_other_settings_are_in_the_notes(case):
    qrels, run, settings = CASES[case]
    notes = evaluate(qrels, run, ["P@1", "P@2"], **settings).notes()
    assert [note for note in notes if note in NOTES[case]] == NOTES[case]


def test_the_counts_of_a_retrieval_are_its_notes():
    retrieval = Retrieval(
        seconds={f"q{number}": number / 1000 for number in range(1, 22)},
        failures={"q22": "down", "q23": "refused"},
        left_out=9,
        further_chunks=2,
        unnamed=3,
        without_parent=5,
        retries=6,
        chunks=7,
        collapse="meta.parent",
    )
    assert list(retrieval_notes(retrieval)) == NOTES["retrieval"]
