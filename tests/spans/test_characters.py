"""Ranks are characters: what spans and chunks score, against arithmetic and naive sets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beir_eval import EvaluationResult, compare, compare_runs, evaluate
from beir_eval.comparison.stages import evaluate_stages
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.errors import BeirEvalWarning, InputError, ResultError, RunError, SettingError
from beir_eval.evaluation.tables import to_latex
from beir_eval.spans import Chunk, Chunks, Span, Spans

#: Made rankings end before the cutoffs, which is a warning of the result and none of the call.
LETTERS = {"a": "abcdefgh", "b": "xyzw"}
GOLD = {"q": [Span("a", 0, 4, grade=2), Span("a", 2, 6), Span("b", 0, 2)]}
RANKED = {"q": [Chunk("a", 0, 3), Chunk("a", 2, 8), Chunk("b", 0, 2)]}


def scores(gold, ranked, measures, corpus=None, *, top=None, **view):
    made = Spans(gold, corpus).view(**view)
    result = evaluate(made.qrels, made.run(Chunks(ranked, corpus), top=top), measures)
    return {name: float(mean.value) for name, mean in result.means.items()}


def test_the_written_out_case_has_the_values_of_arithmetic():
    # Gold: abcd (grade 2), ef (1), xy (1): 8 characters. The text read: abc, cdefgh, xy.
    measures = ["Recall@5", "Precision", "Recall(rel=2)@3"]
    kept = scores(GOLD, RANKED, measures, LETTERS)
    assert kept == {"Recall@5": 4 / 8, "Precision": 8 / 11, "Recall(rel=2)@3": 3 / 4}
    dropped = scores(GOLD, RANKED, measures, LETTERS, repeated="dropped")
    assert dropped == {"Recall@5": 5 / 8, "Precision": 8 / 10, "Recall(rel=2)@3": 3 / 4}


def test_text_that_is_not_of_the_document_comes_first_and_costs_ranks():
    corpus = {"d": "gold and more"}
    chunk = Chunk("d", 0, 4, text="Title: gold")
    with pytest.warns(BeirEvalWarning, match="not in the text"):
        lost = scores({"q": [Span("d", 0, 4)]}, {"q": [chunk]}, "MRR", corpus)
    assert lost == {"MRR": 0}
    # Without a corpus the offsets are taken: six characters stand before the gold.
    without = scores({"q": [Span("d", 0, 4)]}, {"q": [chunk]}, ["MRR", "Precision"])
    assert without == {"MRR": 1 / 8, "Precision": 4 / 11}


def test_a_cleaned_chunk_has_each_gold_character_at_a_rank_of_its_own():
    corpus = {"d": "one   two   three"}
    gold = {"q": [Span("d", 0, 17)]}
    cleaned = {"q": [Chunk("d", text="one two three")]}
    measured = scores(gold, cleaned, ["Recall", "Precision", "Precision@13"], corpus)
    assert measured == {"Recall": 1, "Precision": 1, "Precision@13": 1}
    # 12 to 16 of 17 are 9, 9, 10, 11 and 12 of 13, of which the second is moved to 10, and so on.
    last = scores({"q": [Span("d", 12, 17)]}, cleaned, ["MRR", "Recall@13"], corpus)
    assert last == {"MRR": 1 / 10, "Recall@13": 4 / 5}


offsets = st.tuples(st.integers(0, 19), st.integers(1, 12)).map(lambda at: (at[0], at[0] + at[1]))
documents = st.sampled_from(["d", "e"])
pieces = st.tuples(documents, offsets).map(lambda made: (made[0], *made[1]))
grades = st.sampled_from([1.0, 2.0])
judged = st.tuples(pieces, grades).map(lambda made: Span(*made[0], grade=made[1]))
golds = st.lists(judged, min_size=1, max_size=4)
rankings = st.lists(pieces.map(lambda made: Chunk(*made)), max_size=6)


def naive(gold, ranked, budget, *, rel=0, dropped=False):
    """Return the recall of the first characters by sets of (document, position)."""
    wanted = {
        (span.doc_id, offset)
        for span in gold
        if span.grade > rel
        for offset in range(span.start, span.end)
    }
    read, seen = [], set()
    for chunk in ranked:
        for offset in range(chunk.start, chunk.end):
            if not (dropped and (chunk.doc_id, offset) in seen):
                read.append((chunk.doc_id, offset))
                seen.add((chunk.doc_id, offset))
    return len(wanted & set(read[:budget])) / len(wanted) if wanted else 0


@given(golds, rankings, st.integers(1, 40), st.sampled_from(["kept", "dropped"]))
def test_recall_is_that_of_sets_of_documents_and_positions(gold, ranked, budget, repeated):
    measured = scores({"q": gold}, {"q": ranked}, f"Recall@{budget}", repeated=repeated)
    expected = naive(gold, ranked, budget, dropped=repeated == "dropped")
    assert measured[f"Recall@{budget}"] == pytest.approx(expected)
    graded = scores({"q": gold}, {"q": ranked}, f"Recall(rel=2)@{budget}", repeated=repeated)
    assert graded[f"Recall(rel=2)@{budget}"] == pytest.approx(
        naive(gold, ranked, budget, rel=1, dropped=repeated == "dropped")
    )


MEASURES = ["Recall@7", "Recall@30", "MAP", "nDCG@30", "Precision@10", "MRR"]


@given(golds, rankings, st.sampled_from([None, 0.3, 0.75, 1.0]))
def test_scores_are_from_0_to_1_and_no_rank_is_taken_twice(gold, ranked, overlap):
    measured = scores({"q": gold}, {"q": ranked}, MEASURES, overlap=overlap)
    assert all(0 <= score <= 1 for score in measured.values())


@given(golds, rankings, st.data())
def test_cutting_chunks_in_two_changes_nothing(gold, ranked, data):
    cut = []
    for doc_id, start, end, _ in ranked:
        middle = data.draw(st.integers(start, end))
        cut += [
            Chunk(doc_id, *part) for part in ((start, middle), (middle, end)) if part[0] < part[1]
        ]
    assert scores({"q": gold}, {"q": cut}, MEASURES) == scores({"q": gold}, {"q": ranked}, MEASURES)


@given(golds, rankings)
def test_the_order_of_spans_is_irrelevant(gold, ranked):
    backwards = scores({"q": gold[::-1]}, {"q": ranked}, MEASURES)
    assert backwards == scores({"q": gold}, {"q": ranked}, MEASURES)


@given(golds, rankings)
def test_recall_grows_with_the_budget_and_falls_with_the_overlap(gold, ranked):
    recall = scores({"q": gold}, {"q": ranked}, [f"Recall@{budget}" for budget in (5, 10, 20, 60)])
    assert list(recall.values()) == sorted(recall.values())
    by_overlap = [
        scores({"q": gold}, {"q": ranked}, "Recall@20", overlap=overlap)["Recall@20"]
        for overlap in (1, 0.75, 0.5, 0.01)
    ]
    assert by_overlap == sorted(by_overlap)


@given(golds, rankings)
def test_dropping_repeated_text_never_lowers_recall(gold, ranked):
    measures = [f"Recall@{budget}" for budget in (5, 10, 20)]
    kept = scores({"q": gold}, {"q": ranked}, measures)
    dropped = scores({"q": gold}, {"q": ranked}, measures, repeated="dropped")
    assert all(dropped[name] >= kept[name] for name in kept)


@given(st.lists(st.tuples(golds, rankings), min_size=2, max_size=3))
def test_queries_together_have_the_scores_of_each_alone(cases):
    gold = {f"q{number}": spans for number, (spans, _) in enumerate(cases)}
    ranked = {f"q{number}": chunks for number, (_, chunks) in enumerate(cases)}
    view = Spans(gold).view()
    together = evaluate(view.qrels, view.run(Chunks(ranked)), MEASURES)
    for name in MEASURES:
        alone = [scores({query: gold[query]}, {query: ranked[query]}, name)[name] for query in gold]
        assert together.scores(name).tolist() == alone


# Spans as a whole


def test_a_span_is_found_once_enough_of_it_is_read():
    corpus = {"d": "0123456789" * 4}
    gold = {"q": [Span("d", 0, 8), Span("d", 20, 24)]}
    ranked = {"q": [Chunk("d", 0, 5), Chunk("d", 5, 10), Chunk("d", 20, 30)]}
    ranks = {"Recall@5": 0, "Recall@6": 1 / 2, "Recall@12": 1 / 2, "Recall@13": 1}
    assert scores(gold, ranked, list(ranks), corpus, overlap=0.75) == ranks
    # 7 of 25 characters are enough, though 0.28 * 25 is 7.000000000000001.
    of_25 = {"q": [Span("d", 0, 25)]}, {"q": [Chunk("d", 0, 7)]}
    assert scores(*of_25, "Recall@7", corpus, overlap=0.28) == {"Recall@7": 1}
    chunks = {"Recall@1": 0, "Recall@2": 1 / 2, "Recall@3": 1, "MRR": 1 / 2}
    assert scores(gold, ranked, list(chunks), corpus, overlap=0.75, ranks="chunks") == chunks


def test_a_chunk_that_completes_several_spans_takes_as_many_ranks_best_grade_first():
    gold = {"q": [Span("d", 0, 2), Span("d", 2, 4, grade=3), Span("d", 8, 9)]}
    ranked = {"q": [Chunk("d", 0, 4), Chunk("d", 8, 9)]}
    measured = scores(
        gold, ranked, ["Recall@1", "Recall(rel=3)@1", "Recall@3"], overlap=1, ranks="chunks"
    )
    assert measured == {"Recall@1": 1 / 3, "Recall(rel=3)@1": 1, "Recall@3": 1}


def test_white_space_does_not_count_for_the_overlap():
    corpus = {"d": "ab      cd"}
    gold, ranked = {"q": [Span("d", 0, 10)]}, {"q": [Chunk("d", 0, 2), Chunk("d", 8, 10)]}
    assert scores(gold, ranked, "Recall@2", corpus, overlap=0.5) == {"Recall@2": 1}
    assert scores(gold, ranked, "Recall@2", overlap=0.5) == {"Recall@2": 0}


def test_a_whole_document_is_found_by_any_chunk_of_it_and_has_no_characters():
    gold, ranked = {"q": [Span("d")]}, {"q": [Chunk("e", 0, 5), Chunk("d", 50, 55)]}
    hits = scores(gold, ranked, ["MRR"], overlap=0.75, ranks="chunks")
    assert hits == {"MRR": 1 / 2}
    with pytest.raises(SettingError, match=r"overlap=, or judgements of documents .* collapse="):
        Spans(gold).view()


# Copies

SENTENCE = "The committee approved the yearly budget."


@pytest.mark.parametrize(("copies", "recall"), [("any", 1), ("none", 0)])
def test_a_copy_of_a_text_is_the_same_evidence(copies, recall):
    corpus = {"a": f"{SENTENCE} Then it went home.", "b": f"Before that: {SENTENCE}"}
    gold = {"q": [Span("a", 0, len(SENTENCE))]}
    ranked = {"q": [Chunk("b", 13, 13 + len(SENTENCE))]}
    assert scores(gold, ranked, "Recall@41", corpus, copies=copies) == {"Recall@41": recall}


def test_two_spans_with_the_same_text_are_one():
    corpus = {"a": f"{SENTENCE} Then it went home.", "b": f"Before that: {SENTENCE}"}
    gold = {"q": [Span("a", 0, len(SENTENCE)), Span("b", 13, 13 + len(SENTENCE), grade=2)]}
    ranked = {"q": [Chunk("a", 0, len(SENTENCE))]}
    measures = ["Recall@41", "Recall(rel=2)@41", "Precision"]
    assert scores(gold, ranked, measures, corpus) == dict.fromkeys(measures, 1)
    once = scores(gold, ranked, ["Recall@41"], corpus, copies="none")
    assert once == {"Recall@41": 1 / 2}


def test_a_short_text_is_no_evidence_elsewhere():
    corpus = {"a": "In 2019 it rained.", "b": "In 2019 it snowed."}
    gold = {"q": [Span("a", 3, 7)]}
    assert scores(gold, {"q": [Chunk("b", 0, 18)]}, "Recall", corpus) == {"Recall": 0}


# What results say


def test_results_say_what_has_ranks_and_others_are_not_compared():
    view = Spans(GOLD, LETTERS).view()
    result = evaluate(view.qrels, view.run(Chunks(RANKED, LETTERS)), "Recall@5")
    assert result.settings == EvaluationSettings(ranks="characters")
    ranks, lengths, *_ = result.notes()
    assert ranks.startswith("A rank is a character of ")
    assert lengths.startswith("chunks of 4 characters on average; different ones")  # 11 / 3
    assert lengths.endswith("the text of their documents: not checked 3, lost 0")
    assert "A rank is a character of " in str(result)
    assert "A rank is a character of the retrieved text" in to_latex([result])
    view = Spans({**GOLD, "r": GOLD["q"]}, LETTERS).view()
    chunks = Chunks({**RANKED, "r": RANKED["q"]}, LETTERS)
    runs = {"a": view.run(chunks), "b": view.run(chunks, top=1)}
    assert (
        "A rank is a character of the retrieved text"
        in compare_runs(view.qrels, runs, "Recall@2").to_latex()
    )
    again = type(result).model_validate_json(result.model_dump_json())
    assert again == result
    assert again.counted.text.alignment == {"unchecked": 3}
    documents = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, "Recall@5")
    assert "ranks" not in documents.model_dump_json()
    with pytest.raises(ResultError, match="ranks='characters' and 'documents'"):
        compare({"a": result, "b": documents})


def test_judgements_of_text_and_a_run_of_documents_do_not_go_together():
    view = Spans(GOLD, LETTERS).view()
    with pytest.raises(RunError, match=r"view\.run\(chunks\)"):
        evaluate(view.qrels, {"q": {"a": 1.0}}, "Recall@5")
    with pytest.raises(RunError, match="documents and the run ranks characters"):
        evaluate({"q": {"a": 1}}, view.run(Chunks(RANKED, LETTERS)), "Recall@5")
    other = Spans({"q": [Span("a", 0, 3)]}, LETTERS).view()
    with pytest.raises(RunError, match="other judgements"):
        evaluate(other.qrels, view.run(Chunks(RANKED, LETTERS)), "Recall@5")


def test_a_run_too_shallow_for_the_budget_is_a_warning_unless_all_is_found():
    gold = {f"q{number}": [Span("a", 0, 4), Span("b", 0, 2)] for number in range(3)}
    ranked = {
        "q0": [Chunk("a", 0, 3)],
        "q1": [Chunk("a", 0, 4), Chunk("a", 4, 8)],
        "q2": [Chunk("a", 0, 4), Chunk("b", 0, 2)],
    }
    view = Spans(gold, LETTERS).view()
    result = evaluate(view.qrels, view.run(Chunks(ranked, LETTERS)), ["Recall@5", "Recall@100"])
    [warning] = result.warnings()
    assert "before 5 for 1 query, before 100 for 2 queries (the shortest at 3 char" in warning


def test_chunks_that_hold_no_gold_at_all_are_a_warning():
    view = Spans(GOLD).view()
    result = evaluate(view.qrels, view.run(Chunks({"q": [Chunk("z", 0, 9)]})), "Recall@5")
    assert "nothing that was retrieved holds judged text" in result.warnings()[0]


def test_the_top_of_a_ranking_are_chunks_with_their_gold_marked():
    view = Spans(GOLD, LETTERS).view()
    run = view.run(Chunks(RANKED, LETTERS))
    top = evaluate(view.qrels, run, "Recall@5", keep_top=2).top["q"]
    assert top.doc_ids == ("a[0:3] gold 0-3", "a[2:8] gold 3-6")
    assert top.grades == (2, 2)
    assert view.chunk_texts([run])["a[2:8] gold 3-6"] == {"text": "c\u27e6def\u27e7gh"}


def test_ranks_of_chunks_of_other_lengths_are_a_note_of_the_comparison():
    text = {"d": "word " * 400}
    gold = {f"q{number}": [Span("d", 5 * number, 5 * number + 50)] for number in range(12)}
    made = {
        size: {query: [Chunk("d", at, at + size) for at in range(0, 1600, size)] for query in gold}
        for size in (40, 400)
    }
    notes = {}
    for ranks in ("chunks", "characters"):
        view = Spans(gold, text).view(ranks, overlap=0.75, copies="none")
        runs = {str(size): view.run(Chunks(ranked, text)) for size, ranked in made.items()}
        comparison = compare_runs(view.qrels, runs, "Recall@5")
        notes[ranks] = " ".join(comparison.notes())
        assert f"A rank is a {ranks[:-1]} of the" in str(comparison)
    assert "do not compare these systems fairly" in notes["chunks"]
    assert "fairly" not in notes["characters"]


@pytest.mark.slow
def test_ten_million_gold_characters_are_not_spelt_out():
    gold = {f"q{number}": [Span("d", 0, 100_000)] for number in range(100)}
    view = Spans(gold).view()
    ranked = {query: [Chunk("d", 0, 50_000)] for query in gold}
    result = evaluate(view.qrels, view.run(Chunks(ranked)), ["Recall@50000", "Precision@50000"])
    assert [mean.value for mean in result.means.values()] == [0.5, 1]
    assert view.qrels.doc_ids[9_999_999] == "d#99999"


def test_stages_are_of_documents():
    view = Spans(GOLD, LETTERS).view()
    runs = {name: view.run(Chunks(RANKED, LETTERS)) for name in ("bm25", "ranker")}
    with pytest.raises(InputError, match=r"ranks of 'bm25', 'ranker' are characters"):
        evaluate_stages(view.qrels, runs, "Recall@5")


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        ({"overlap": 0.9}, {"overlap": 0.3}, "overlap=0.9 and 0.3"),
        ({}, {"overlap": 0.5}, "overlap=None and 0.5"),
        ({}, {"copies": "none"}, "copies='any' and 'none'"),
        ({}, {"repeated": "dropped"}, "repeated='kept' and 'dropped'"),
    ],
)
def test_results_of_other_rules_of_text_are_not_compared(first, second, difference):
    results = []
    for name, rules in (("one", first), ("two", second)):
        view = Spans(GOLD, LETTERS).view(**rules)
        run = view.run(Chunks(RANKED, LETTERS))
        results.append(evaluate(view.qrels, run, "Recall@5", name=name))
        assert EvaluationResult.model_validate_json(results[-1].model_dump_json()) == results[-1]
    with pytest.raises(
        ResultError, match=f"'one' and 'two' were evaluated differently: {difference}"
    ):
        compare(results)


def test_the_judgements_of_characters_have_one_hash_for_equal_spans_and_add_up():
    def hashes(gold):
        return Spans(gold, LETTERS).view().qrels.query_hashes

    gold = GOLD | {"r": [Span("b", 0, 4)]}
    assert hashes(gold).tolist() == [*hashes(GOLD), *hashes({"r": gold["r"]})]
    assert (
        hashes(gold).tolist()
        == Spans(gold, LETTERS).view().qrels.select(gold).query_hashes.tolist()
    )
    others = (
        {"q": [Span("a", 0, 4, grade=1), *GOLD["q"][1:]]},
        {"q": [Span("a", 0, 5, grade=2), *GOLD["q"][1:]]},
        {"q": GOLD["q"][1:]},
        {"other": GOLD["q"]},
    )
    assert len({int(hashes(other)[0]) for other in (GOLD, *others)}) == 5
