"""The unjudged documents most worth judging: each is judged alone, and systems are scored again."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval import Comparison, Run, compare, compare_runs, evaluate
from beir_eval.comparison import to_judge
from beir_eval.errors import NotEvaluatedError
from beir_eval.measures import parse
from strategies import DOC_IDS, QUERY_IDS, judged

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

MEASURES = [
    "nDCG@3",
    'nDCG(gain="exp")',
    "DCG(gain={1:1,2:5})@2",
    "MAP",
    "MAP(rel=3)@4",
    "MRR@2",
    "ERR@3",
    "Rprec",
    "bpref",
    "infAP",
    "nDCG(judged_only=True)@2",
]
RUNS = {
    "a": {"q1": ["r", "x", "z"], "q2": ["r"]},
    "b": {"q1": ["y", "x", "r", "z"], "q2": ["r"]},
    "c": {"q1": ["y"], "q2": ["r"]},
}
QRELS = {"q1": {"r": 1}, "q2": {"r": 1}}
rankings = st.lists(st.sampled_from(DOC_IDS[:7]), unique=True, max_size=5)


def comparison_of(qrels, runs, measures, **options):
    made = {
        name: [Run.from_rankings(run) for run in (runs if isinstance(runs, list) else [runs])]
        for name, runs in runs.items()
    }
    return compare_runs(qrels, made, measures, draws=100, likeness_k=None, **options)


def test_the_documents_that_would_change_most_come_first():
    comparison = comparison_of(QRELS, RUNS, ["Precision@2", "DCG@2"], baseline="a")
    first, second = comparison.documents_to_judge()
    assert (first.query_id, first.doc_id, first.ranks) == ("q1", "y", {"b": 1, "c": 1})
    assert first.changes == {"b": {"a": 1 / 4}, "c": {"a": 1 / 4}}
    assert first.total == 1 / 2
    assert (second.doc_id, second.changes) == ("x", {"c": {"a": -1 / 4}})
    assert second.ranks == {"a": 2, "b": 2}
    assert comparison.documents_to_judge(1) == [first]
    by_gain = comparison.documents_to_judge(measure="DCG@2")
    assert by_gain[0].changes["b"]["a"] == pytest.approx(1 / 2)
    with pytest.raises(NotEvaluatedError, match="MRR was not compared"):
        comparison.documents_to_judge(measure="MRR")


@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.dictionaries(
        st.sampled_from(QUERY_IDS[:3]), judged(st.integers(-1, 2)), min_size=2, max_size=3
    ),
    st.data(),
    st.sampled_from(MEASURES),
)
def test_a_change_is_what_judging_the_document_does_to_the_difference(qrels, data, measure):
    runs = {
        name: [{query: data.draw(rankings) for query in qrels} for _ in range(repeats)]
        for name, repeats in (("a", 1), ("b", 2))
    }
    before = comparison_of(qrels, runs, measure)
    highest = max(1, *(grade for grades in qrels.values() for grade in grades.values()))
    grade = max(highest, dict(parse(measure).parameters).get("rel") or 0)
    listed = {}
    for document in before.documents_to_judge(1000):
        listed[document.query_id, document.doc_id] = document.changes["b"]["a"]
        assert document.total == abs(document.changes["b"]["a"])
    for query, judgements in qrels.items():
        for doc_id in {doc for run in [*runs["a"], *runs["b"]] for doc in run[query]}:
            if doc_id in judgements:
                continue
            after = comparison_of(qrels | {query: judgements | {doc_id: grade}}, runs, measure)
            change = after.differences[0].difference - before.differences[0].difference
            # Below the cutoff of all systems a document is not looked at.
            if (query, doc_id) in listed or parse(measure).cutoff is None:
                assert listed.get((query, doc_id), 0) == pytest.approx(change, abs=1e-12)


def test_of_a_gain_table_without_the_highest_grade_the_highest_that_it_has_is_given():
    qrels = {"q1": {"n": 0}, "q2": {"n": 0}}
    runs = {"a": {"q1": ["x"], "q2": ["n"]}, "b": {"q1": ["n"], "q2": ["n"]}}
    [document] = comparison_of(qrels, runs, "DCG(gain={2:6})@1").documents_to_judge()
    assert (document.doc_id, document.total) == ("x", 3)


def test_the_ranks_are_those_of_the_evaluation_in_the_whole_ranking():
    qrels = {f"q{number}": {"1": 1, "2": 0} for number in range(6)}
    tied = {query: {"30": 0.5, "10": 0.5, "1": 0.5, "20": 0.5, "2": 0.5} for query in qrels}
    other = {query: {"1": 0.9, "10": 0.5, "20": 0.4} for query in qrels}
    comparison = compare_runs(qrels, {"a": tied, "b": other}, ["nDCG@2", "MAP"], draws=100)
    top = evaluate(qrels, tied, "nDCG@5", keep_top=5).top["q0"].doc_ids
    for measure in comparison.measures:
        documents = comparison.documents_to_judge(measure=measure)
        assert documents
        for document in documents:
            assert top[document.ranks["a"] - 1] == document.doc_id


@pytest.mark.parametrize("limit", ["_MOST_CANDIDATES", "_MOST_CHANGES"])
def test_the_list_has_an_end(limit, monkeypatch):
    comparison = comparison_of(QRELS, RUNS, "MAP", baseline="a")
    documents = comparison.documents_to_judge()
    assert len(documents) == 3
    monkeypatch.setattr(to_judge, limit, 2)
    assert comparison.documents_to_judge() == documents[: 2 if limit == "_MOST_CANDIDATES" else 1]


def test_a_comparison_does_not_compute_the_list_unless_it_is_asked_for(monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(to_judge, "_Pool", refuse)
    comparison = comparison_of(QRELS, RUNS, ["MAP", "nDCG@10"])
    assert str(comparison)
    assert comparison.to_markdown()
    assert comparison.model_dump_json()
    assert comparison._repr_html_()
    with pytest.raises(AssertionError):
        comparison.documents_to_judge()


def test_without_the_runs_the_documents_are_not_known(tmp_path):
    comparison = comparison_of(QRELS, RUNS, "MRR@2")
    comparison.save(tmp_path / "c.json")
    results = [
        evaluate(QRELS, Run.from_rankings(run), "MRR@2", name=name) for name, run in RUNS.items()
    ]
    copy = pickle.loads(pickle.dumps(comparison))  # noqa: S301 - made here
    assert copy == comparison == Comparison.load(tmp_path / "c.json")
    for without_runs in (copy, Comparison.load(tmp_path / "c.json"), compare(results)):
        with pytest.raises(NotEvaluatedError, match=r"the result of compare_runs\(qrels, runs\)"):
            without_runs.documents_to_judge()
    assert comparison.documents_to_judge()


@pytest.mark.parametrize("ties", ["best", "worst"])
def test_where_ranks_depend_on_grades_the_documents_are_not_known(ties):
    runs = {"a": {"q1": {"r": 1, "x": 1}, "q2": {"r": 1}}, "b": {"q1": {"x": 1}, "q2": {"r": 1}}}
    comparison = compare_runs(QRELS, runs, "MRR", ties=ties)
    with pytest.raises(NotEvaluatedError, match=f"ties='{ties}', by which"):
        comparison.documents_to_judge()
