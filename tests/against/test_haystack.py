"""Against Haystack's own evaluators, and against pytrec_eval on the same documents."""

import asyncio
import inspect
import math

import haystack
import haystack.version
import pytest
from haystack import Document
from haystack.components.evaluators import (
    DocumentMAPEvaluator,
    DocumentMRREvaluator,
    DocumentNDCGEvaluator,
    DocumentRecallEvaluator,
)
from hypothesis import given
from hypothesis import strategies as st

from beir_eval.errors import InputError
from haystack_integrations.components.evaluators.beir_eval import (
    BEIREvaluator,
)

# Warnings do not change numbers, and are tested with the component.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

#: Haystack 2.26 has other rules: nDCG by id, MAP over the documents found, "" counted by recall.
IS_CURRENT = int(haystack.version.__version__.partition(".")[0]) >= 3

CONTENTS = ["", None, "Paris", "Berlin", "Rome", "é", "Oslo", "a b", "Rom"]


def lists_of_documents(contents, scores, min_size=0):
    content, score = st.sampled_from(contents), scores
    return st.lists(st.builds(make_document, content, score), min_size=min_size, max_size=8)


def make_document(content, score):
    return Document(content=content, score=score)


def ground_truths(contents):
    """Ground truth with grades, including fractions and zeros, or without any grade."""
    graded = lists_of_documents(contents, st.sampled_from([0.0, 0.25, 1.0, 2.0, 3.5]))
    return st.one_of(lists_of_documents(contents, st.none()), graded)


@st.composite
def cases(draw, contents=CONTENTS):
    size = draw(st.integers(1, 5))
    scores = st.one_of(st.none(), st.floats(-5, 5))
    retrieved = [draw(lists_of_documents(contents, scores)) for _ in range(size)]
    return [draw(ground_truths(contents)) for _ in range(size)], retrieved


def haystacks_evaluators(field):
    fields = {"document_comparison_field": field}
    by_field = fields if IS_CURRENT else {}
    return {
        "nDCG": DocumentNDCGEvaluator(**by_field),
        "MAP": DocumentMAPEvaluator(**fields),
        "MRR": DocumentMRREvaluator(**fields),
        "Success": DocumentRecallEvaluator(mode="single_hit", **fields),
        "Recall": DocumentRecallEvaluator(mode="multi_hit", **fields),
    }


def assert_same_numbers(field, truth, retrieved, names=("nDCG", "MAP", "MRR", "Success", "Recall")):
    ours = BEIREvaluator.haystack_compatible(document_comparison_field=field)
    outputs = ours.run(retrieved_documents=retrieved, ground_truth_documents=truth)
    for name in names:
        expected = haystacks_evaluators(field)[name].run(
            ground_truth_documents=truth, retrieved_documents=retrieved
        )
        assert outputs["results"][name]["individual_scores"] == expected["individual_scores"]
        assert outputs["results"][name]["score"] == expected["score"]
        assert outputs["metrics"][name] == expected["score"]


if IS_CURRENT:

    @given(cases())
    def test_the_compatible_setting_equals_haystacks_four_evaluators_exactly(case):
        truth, retrieved = case
        assert_same_numbers("content", truth, retrieved)

    @given(st.data())
    def test_the_compatible_setting_equals_haystacks_by_metadata_of_any_type_too(data):
        values = st.sampled_from([None, "", "1", 1, 1.0, True, 2, "Rome", 2.5])

        def with_page(value):
            return Document(content="x", meta={} if value is None else {"at": {"page": value}})

        lists = st.lists(st.builds(with_page, values), max_size=6)
        size = data.draw(st.integers(1, 4))
        truth, retrieved = ([data.draw(lists) for _ in range(size)] for _ in range(2))
        assert_same_numbers("meta.at.page", truth, retrieved)


@given(cases(["Paris", "Berlin", "Rome", "Oslo"]))
def test_mrr_and_recall_equal_those_of_every_haystack_version_where_no_content_is_empty(case):
    truth, retrieved = case
    assert_same_numbers("content", truth, retrieved, ("MRR", "Success", "Recall"))


@given(st.lists(st.tuples(*[st.lists(st.integers(0, 9), unique=True, max_size=8)] * 2), min_size=1))
def test_ndcg_equals_that_of_every_haystack_version_without_duplicates(pairs):
    truth, retrieved = (
        [[Document(id=str(number)) for number in pair[side]] for pair in pairs] for side in (0, 1)
    )
    assert_same_numbers("id", truth, retrieved, ("nDCG",))


# Ground-truth scores, and errors

#: What is no grade: some documents without a score, negative, infinite and NaN scores.
ANY_SCORE = st.sampled_from([None, 1.0, 0.0, -1.0, -0.5, math.inf, -math.inf, math.nan, True, 2])
ANY_TRUTH = st.lists(
    st.lists(st.builds(make_document, st.sampled_from(["a", "b", "c"]), ANY_SCORE), max_size=4),
    min_size=1,
    max_size=3,
)


def outcome(component, *arguments):
    """Return the score and the individual scores of a component, or its ValueError."""
    try:
        outputs = component.run(*arguments)
    except ValueError as error:
        return error
    return outputs["score"], outputs["individual_scores"]


@pytest.mark.parametrize("primary", ["MRR", "Success", "Recall", *(["MAP"] if IS_CURRENT else [])])
@given(truth=ANY_TRUTH, data=st.data())
def test_measures_that_ignore_ground_truth_scores_take_any_as_haystacks_do(primary, truth, data):
    documents = st.lists(st.builds(make_document, st.sampled_from(["a", "b", "x"]), st.none()))
    retrieved = [data.draw(documents) for _ in truth]
    ours = BEIREvaluator.haystack_compatible(primary=primary)
    theirs = haystacks_evaluators("content")[primary]
    assert outcome(ours, truth, retrieved) == outcome(theirs, truth, retrieved)


A, SCORED = Document(content="a"), Document(content="b", score=1.0)


@pytest.mark.peers  # Haystack 2.26 has other words for empty lists
@pytest.mark.parametrize(
    ("truth", "retrieved"),
    [([], []), ([[A]], []), ([], [[A]]), ([[A]], [[A], [A]]), ([[A, SCORED]], [[A]])],
)
@pytest.mark.parametrize("name", ["nDCG", "MAP", "MRR", "Success", "Recall"])
def test_errors_have_the_words_of_haystacks_errors(name, truth, retrieved):
    expected = outcome(haystacks_evaluators("content")[name], truth, retrieved)
    actual = outcome(BEIREvaluator.haystack_compatible(primary=name), truth, retrieved)
    if not isinstance(expected, ValueError):
        assert not isinstance(actual, ValueError)
        return
    assert isinstance(actual, InputError)
    assert str(actual).startswith(str(expected))


# Asynchronous pipelines


# The order of arguments


@pytest.mark.parametrize("field", ["content", "id"])
@given(case=cases(["Paris", "Berlin", "Rome", "Oslo"]))
def test_called_by_position_it_takes_ground_truth_first_as_haystacks_evaluators_do(field, case):
    ours = BEIREvaluator.haystack_compatible(primary="MRR", document_comparison_field=field)
    expected = DocumentMRREvaluator(document_comparison_field=field).run(*case)
    for outputs in (ours.run(*case), asyncio.run(ours.run_async(*case))):
        assert {key: outputs[key] for key in expected} == expected


@pytest.mark.parametrize("name", haystacks_evaluators("content"))
def test_the_first_parameters_are_those_of_haystack_in_the_same_order(name):
    expected = ["self", *inspect.signature(haystacks_evaluators("content")[name].run).parameters]
    for method in (BEIREvaluator.run, BEIREvaluator.run_async):
        assert list(inspect.signature(method).parameters)[: len(expected)] == expected
