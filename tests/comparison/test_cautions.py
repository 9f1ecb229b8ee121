"""Cautions name what makes systems hard to compare, in every output with verdicts."""

import pytest

from beir_eval import EvaluationResult, Run, compare, compare_runs
from beir_eval.comparison.limits import cautions_on
from beir_eval.evaluation import tables

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

QRELS = {f"q{number:02}": {"d": 1, "e": 1} for number in range(12)}


def ranking(length, last="d"):
    """Return a ranking of so many documents, the last of them relevant."""
    docs = [*(f"x{rank}" for rank in range(length - 1)), last]
    return {doc: float(length - rank) for rank, doc in enumerate(docs)}


def cautions(runs, measures="Recall@20"):
    return cautions_on(compare_runs(QRELS, runs, measures))


def test_of_rankings_of_which_the_longest_are_equal_the_mean_depth_counts():
    shallow = dict.fromkeys(QRELS, ranking(10)) | {"q00": ranking(20)}
    runs = {"shallow": shallow, "long": dict.fromkeys(QRELS, ranking(20))}
    for words in ("top 20", "shallow 10.8, but long 20", "Recall@20 counts", "a smaller cutoff"):
        assert words in cautions(runs)[0]
    assert cautions({"a": shallow, "b": shallow}) == []


def test_a_cutoff_that_no_ranking_reaches_is_named():
    runs = {"a": dict.fromkeys(QRELS, ranking(10)), "b": dict.fromkeys(QRELS, ranking(10, "e"))}
    assert cautions(runs, ["Recall@20", "nDCG@20", "MRR@10", "MAP"]) == [
        "no ranking has more than 10 documents, so Recall@20, nDCG@20 see only these"
    ]
    assert cautions(runs, ["Recall@10", "MAP"]) == []


def test_a_run_without_unjudged_documents_is_named_with_the_measure_that_leaves_them_out():
    whole = dict.fromkeys(QRELS, ranking(10))
    filtered = {query: {"d": 2.0, "e": 1.0, "f": 0.5} for query in QRELS}
    qrels = {query: {**grades, "f": 0} for query, grades in QRELS.items()}
    runs = {"filtered": filtered, "whole": whole}
    comparison = compare_runs(qrels, runs, ["Recall@3", "MAP"])
    [sentence] = cautions_on(comparison)
    [depths] = comparison.document().warnings
    assert depths.startswith("documents below rank 3 are missing from filtered (")
    for words in (
        "at any rank, every document of filtered is judged, and of whole 10% are",
        "removed",
    ):
        assert words in sentence
    assert "Recall(judged_only=True)@3" in sentence
    for measures in (["Recall(judged_only=True)@1"], ["bpref"]):
        comparison = compare_runs(qrels, runs, measures)
        assert not any("is judged" in text for text in cautions_on(comparison))
    few = compare_runs(qrels, {"filtered": {"q00": filtered["q00"]}, "whole": whole}, ["MAP"])
    assert not any("is judged" in text for text in cautions_on(few))


def test_queries_without_a_relevant_document_are_counted_if_they_are_many():
    runs = {"a": dict.fromkeys(QRELS, ranking(10)), "b": dict.fromkeys(QRELS, ranking(10, "e"))}
    for number, words in ((1, ""), (2, "2 of 12 queries have no relevant document")):
        qrels = QRELS | {query: {"d": 0} for query in list(QRELS)[:number]}
        sentences = " ".join(cautions_on(compare_runs(qrels, runs, "Recall@10")))
        assert (words in sentences) if words else ("relevant document" not in sentences)
    qrels = {query: {"d": int(number > 3)} for number, query in enumerate(QRELS)}
    comparison = compare_runs(qrels, runs, "Recall@10", no_relevant="skip")
    assert not any("relevant document" in text for text in cautions_on(comparison))
    for text in (str(comparison), comparison.to_latex(), comparison.to_markdown()):
        assert "8 of 12 queries" in text


def test_missing_queries_do_not_make_rankings_shallow():
    whole = dict.fromkeys(QRELS, ranking(20))
    half = {query: whole[query] for query in list(QRELS)[:6]}
    assert cautions({"half": half, "whole": whole}) == []


def test_one_run_beside_repeats_names_the_option_for_deterministic_systems():
    runs = {"bm25": dict.fromkeys(QRELS, ranking(10)), "dense": dict.fromkeys(QRELS, ranking(10))}
    runs["dense"] = [runs["dense"], dict(runs["dense"]) | {"q00": ranking(9)}]
    [sentence] = cautions(runs, "MRR@10")
    for words in ("bm25 has one run", "repeats of dense", "do not cover", "with deterministic="):
        assert words in sentence
    deterministic = compare_runs(QRELS, runs, "MRR@10", deterministic=["bm25"])
    assert cautions_on(deterministic) == []
    assert cautions(dict.fromkeys(("a", "b"), runs["bm25"]), "MRR@10") == []


def test_repeats_that_are_all_the_same_are_named_unless_they_cannot_differ():
    run = dict.fromkeys(QRELS, ranking(10))
    other = run | {"q00": ranking(9)}
    runs = {"a": [run, other], "same": [run, dict(run)]}
    [sentence] = cautions(runs, "MRR@10")
    assert sentence.startswith("all repeats of same have the same scores on every query")
    comparison = compare_runs(QRELS, runs, "MRR@10", deterministic=["same"])
    assert cautions_on(comparison) == []
    assert cautions({"a": [run, other], "b": [other, run]}, "MRR@10") == []


def test_scores_that_one_system_lacks_are_counted():
    whole = {query: 0.1 * number for number, query in enumerate(QRELS)}
    lacking = whole | dict.fromkeys(["q03", "q04"], float("nan"))
    results = [
        EvaluationResult.from_scores(name, {"faith": scores}, bounds=(0, 2), higher_is_better=True)
        for name, scores in (("whole", whole), ("lacking", lacking))
    ]
    sentence = "faith is undefined for some of the 12 queries (2 of lacking), and these are left"
    assert sentence in str(compare(results))
    both = [results[1], results[1].model_copy(update={"name": "other"})]
    assert "undefined for some" not in str(compare(both))


def test_tables_for_papers_and_programs_say_that_depths_are_compared(tmp_path):
    runs = {"short": dict.fromkeys(QRELS, ranking(10)), "long": dict.fromkeys(QRELS, ranking(20))}
    words = "missing from short (long has 20), which Recall@20"
    comparison = compare_runs(QRELS, runs, ["Recall@20", "MRR@10"])
    assert comparison.to_latex().startswith("% Warning: documents below rank")
    of_recall, of_mrr = comparison.to_csv().splitlines()[1:]
    assert words in of_recall
    assert words not in of_mrr
    results = [comparison.results[system][0] for system in comparison.systems]
    for text in (tables.to_markdown(results), tables.to_latex(results)):
        assert words in text
        assert words not in tables.to_latex(results, measures=["MRR@10"])


def test_the_range_goes_from_the_worst_to_the_best_order():
    qrels = {"q1": {"r": 1, "n": 0}, "q2": {"r": 1}}
    tied = {"q1": {"r": 1.0, "x": 1.0, "n": 1.0}, "q2": {"r": 1.0}}
    plain = {"q1": {"r": 2.0, "x": 1.0}, "q2": {"r": 1.0}}
    comparison = compare_runs(qrels, {"plain": plain, "tied": tied}, ["MRR", "Judged@2"])
    [ties] = comparison.ties
    assert (ties.measure, ties.system) == ("MRR", "tied")
    assert (ties.low, ties.high) == ((1 / 3 + 1) / 2, 1)
    sentence = "Ties: tied scores 0.6667 to 1.0000 on MRR, depending on how ties are broken"
    assert f"{sentence}." in comparison.notes()


def test_rankings_without_scores_have_no_tie_interval():
    qrels = {"q1": {"r": 1}, "q2": {"r": 1}}
    run = Run.from_rankings({"q1": ["r"], "q2": ["r"]})
    assert compare_runs(qrels, {"a": run, "b": run}, "MRR").ties == ()
