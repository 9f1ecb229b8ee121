"""Rankings, arrays, columns and dataframes give the same result as a dict of the same run."""

import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval import Qrels, Run, evaluate, write_run
from beir_eval.core.column_names import DOC, QUERY, SCORE
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.core.run_sources.dataframe import source_from_frames
from beir_eval.errors import DuplicateDocumentError, MissingExtraError, QrelsError, RunError
from strategies import DOC_IDS, QUERY_IDS, qrels_and_rows, qrels_and_run, scores

policies = st.fixed_dictionaries(
    {
        "order": st.sampled_from(EvaluationSettings.CHOICES["order"]),
        "ties": st.sampled_from(EvaluationSettings.CHOICES["ties"]),
        "duplicates": st.sampled_from(EvaluationSettings.CHOICES["duplicates"]),
        "missing": st.sampled_from(["zero", "skip"]),
        "drop_identical_ids": st.booleans(),
    }
)


def outcome(qrels, run, policy, **options):
    """Return the result, or the class of the error for duplicates."""
    try:
        return evaluate(qrels, run, keep_top=4, **policy, **options)
    except DuplicateDocumentError:
        return DuplicateDocumentError


# Every kind of run

#: Ids of the documents that queries retrieve; some are also ids of queries.
RETRIEVABLE = [*DOC_IDS[:6], *QUERY_IDS[:3]]


@st.composite
def rankings_with_copies(draw):
    """Draw qrels, and {query: [(document, score)]} with duplicates and ids of queries."""
    entries = st.tuples(st.sampled_from(RETRIEVABLE), st.sampled_from([0.0, 0.5, 1.0, 2.0]))
    queries = draw(st.lists(st.sampled_from(QUERY_IDS), min_size=1, unique=True))
    run = {query: draw(st.lists(entries, min_size=1, max_size=8)) for query in queries}
    judged = st.dictionaries(st.sampled_from(RETRIEVABLE), st.integers(-1, 2), min_size=1)
    return {query: draw(judged) for query in draw(st.permutations(queries))}, run


def in_every_kind(run):
    """Return {kind: the run as columns, a dataframe, or arrays}.

    The last kind has arrays in which two row numbers name the same document.
    """
    rows = [(query, *entry) for query, entries in run.items() for entry in entries]
    columns = [list(column) for column in zip(*rows, strict=True)]
    frame = pl.DataFrame(dict(zip(("query_id", "doc_id", "score"), columns, strict=True)))
    width = max(map(len, run.values()))
    ids, values = np.full((len(run), width), -1), np.zeros((len(run), width))
    for row, entries in enumerate(run.values()):
        for position, (doc, score) in enumerate(entries):
            ids[row, position], values[row, position] = RETRIEVABLE.index(doc), score
    arrays = {"query_ids": list(run), "doc_ids": RETRIEVABLE, "check_duplicates": True}
    with_two_names = {**arrays, "doc_ids": [*RETRIEVABLE, *RETRIEVABLE]}
    alternating_ids = np.where(ids < 0, ids, ids + len(RETRIEVABLE) * (np.arange(width) % 2))
    return {
        "columns": Run.from_columns(*columns),
        "frame": Run.from_dataframe(frame),
        "arrays": Run.from_arrays(ids, values, **arrays),
        "arrays with two names": Run.from_arrays(alternating_ids, values, **with_two_names),
    }


@pytest.mark.hypothesis
@pytest.mark.parametrize("size", [1, 10, 1_000_000])
def test_every_kind_of_run_gives_the_same_result_in_blocks_of_any_size(monkeypatch, size):
    monkeypatch.setattr("beir_eval.core.run_sources.columns.BLOCK_DOCS", size)
    monkeypatch.setattr("beir_eval.core.run_sources.topk_arrays.BLOCK_CELLS", size)

    @given(rankings_with_copies(), policies)
    @settings(max_examples=settings.default.max_examples // 2)
    def check(case, policy):
        qrels, run = case
        outcomes = {kind: outcome(qrels, form, policy) for kind, form in in_every_kind(run).items()}
        assert all(result == outcomes["columns"] for result in outcomes.values())

    check()


@given(rankings_with_copies())
def test_duplicates_and_identical_ids_are_counted_in_every_kind_of_run(case):
    qrels, run = case
    num_duplicates = sum(
        len(entries) - len({doc for doc, _ in entries}) for entries in run.values()
    )
    num_identical_ids = sum(doc == query for query, entries in run.items() for doc, _ in entries)
    for form in in_every_kind(run).values():
        counted = evaluate(qrels, form, ["P@1"], duplicates="keep").counted
        assert (counted.duplicates, counted.identical_ids) == (num_duplicates, num_identical_ids)


def test_the_top_lists_are_in_the_order_of_the_qrels_for_every_kind_of_run():
    qrels = {"q2": {"d1": 1}, "q0": {"d1": 1}, "q1": {"d1": 1}}
    run = {"q0": [("d1", 1.0)], "q1": [("d2", 1.0)], "q2": [("d3", 1.0)]}
    for form in in_every_kind(run).values():
        assert list(evaluate(qrels, form, keep_top=1).top) == ["q2", "q0", "q1"]


def test_the_error_names_the_first_query_with_duplicates_in_the_order_of_the_run():
    qrels = {"q1": {"d1": 1}, "q0": {"d1": 1}}
    run = {"q0": [("d1", 1.0), ("d2", 1.0), ("d2", 0.5)], "q1": [("d3", 1.0), ("d3", 1.0)]}
    for form in in_every_kind(run).values():
        with pytest.raises(DuplicateDocumentError, match=r"query 'q0' repeats 'd2' \(2 repeated"):
            evaluate(qrels, form)


# Dicts


@pytest.mark.parametrize("lengths", [[1] * 200 + [1_500] * 40, [0] * 300 + [7_000] * 9 + [0, 1]])
def test_rankings_of_very_different_lengths_count_as_each_alone(lengths):
    rng = np.random.default_rng(1)
    run, qrels = {}, {}
    for number, length in enumerate(lengths):
        docs = [f"d{doc}" for doc in range(length)]
        run[f"q{number}"] = dict(zip(docs, rng.permutation(length).tolist(), strict=True))
        qrels[f"q{number}"] = dict.fromkeys([*docs[::50], "d1"], 1)
    per_query = evaluate(qrels, run, ["AP", "nDCG@100"]).per_query
    for query in [*run][:3] + [*run][-45:]:
        alone = evaluate({query: qrels[query]}, {query: run[query]}, ["AP", "nDCG@100"])
        assert alone.per_query == {query: per_query[query]}


# Top-k arrays


def as_arrays(run, padding=-1):
    """Lay a run out as [Q, k] ids and scores, with padding."""
    width = max(map(len, run.values()), default=0) + 1
    ids = np.full((len(run), width), padding, dtype=object if padding == "" else np.int64)
    values = np.full((len(run), width), np.nan)
    for row, ranked in enumerate(run.values()):
        ids[row, : len(ranked)] = list(ranked)
        values[row, : len(ranked)] = list(ranked.values())
    return ids, values


@given(qrels_and_run(), policies)
def test_integer_ids_give_the_result_of_the_dict(case, policy):
    qrels, run = case
    number_of = {doc: (number * 7919) % 100 for number, doc in enumerate(DOC_IDS)}
    qrels = {
        query: {number_of[doc]: grade for doc, grade in judged.items()}
        for query, judged in qrels.items()
    }
    run = {
        query: {number_of[doc]: score for doc, score in ranked.items()}
        for query, ranked in run.items()
    }
    ids, values = as_arrays(run)
    arrays = Run.from_arrays(ids, values, query_ids=list(run), check_duplicates=True)
    assert outcome(qrels, arrays, policy) == outcome(qrels, run, policy)
    assert arrays.fingerprint() == Run(run).fingerprint()
    # Without scores the order is the ranking.
    policy = policy | {"order": "given"}
    without_scores = Run.from_arrays(ids, None, query_ids=list(run), check_duplicates=True)
    ranked = Run.from_rankings({query: list(docs) for query, docs in run.items()})
    assert outcome(qrels, without_scores, policy) == outcome(qrels, ranked, policy)


def test_only_judged_documents_are_checked_for_duplicates_by_default():
    ids, values = np.array([[5, 5, 7, 8]]), np.array([[4.0, 3.0, 2.0, 1.0]])
    qrels = {"q": {7: 1}}
    result = evaluate(qrels, Run.from_arrays(ids, values, query_ids=["q"]), ["RR"])
    assert result["RR"] == 1 / 3
    assert result.counted.duplicates_checked == "judged"
    assert "only judged documents were looked at for duplicates" in result.notes()
    checked_run = Run.from_arrays(ids, values, query_ids=["q"], check_duplicates=True)
    with pytest.raises(DuplicateDocumentError, match="repeats '5'"):
        evaluate(qrels, checked_run)
    checked_result = evaluate(qrels, checked_run, ["RR"], duplicates="first")
    assert (checked_result["RR"], checked_result.counted.duplicates_checked) == (1 / 2, "all")
    unchecked_run = Run.from_arrays(ids, values, query_ids=["q"])
    with pytest.raises(DuplicateDocumentError):
        evaluate({"q": {5: 1}}, unchecked_run)


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.uint64])
@pytest.mark.parametrize("number", [np.float64, np.float32, np.float16, np.int64])
def test_ids_may_have_any_integer_type_and_scores_any_number_type(kind, number):
    ids, values = np.array([[3, 1, 2]], dtype=kind), np.array([[1, 3, 2]], dtype=number)
    result = evaluate({"q": {2: 1}}, Run.from_arrays(ids, values, query_ids=["q"]), ["RR"])
    assert result["RR"] == 1 / 2


class Tensor:
    """Looks like a torch tensor on the CPU: must be detached before it becomes an array."""

    def __init__(self, values, gradients):
        self.values, self.gradients = np.array(values), gradients

    def detach(self):
        return Tensor(self.values, gradients=False)

    def __array__(self, dtype=None, copy=None):
        if self.gradients:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        return self.values


class HalfPrecision:
    """What torch's bfloat16 tensors offer: numpy has no such type, so they must be widened."""

    dtype = "torch.bfloat16"

    def __init__(self, values):
        self.values = np.array(values, dtype=np.float32)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Got unsupported ScalarType BFloat16")

    def float(self):
        return self.values


@pytest.mark.parametrize(
    "wrap", [lambda values: Tensor(values, gradients=True), list, np.asfortranarray]
)
def test_everything_that_converts_to_an_array_is_accepted(wrap):
    run = Run.from_arrays(wrap([[3, 1]]), wrap([[0.5, 2.5]]), query_ids=["q"])
    assert evaluate({"q": {3: 1}}, run, ["RR"])["RR"] == 1 / 2


def test_scores_of_16_bits_that_numpy_lacks_are_accepted():
    run = Run.from_arrays([[3, 1]], HalfPrecision([[0.5, 2.5]]), query_ids=["q"])
    assert evaluate({"q": {3: 1}}, run, ["RR"])["RR"] == 1 / 2


def test_arrays_without_columns_are_empty_rankings():
    empty = np.zeros((1, 0), dtype=np.int64)
    result = evaluate({"q": {3: 1}}, Run.from_arrays(empty, empty * 0.5, query_ids=["q"]), ["RR"])
    assert result["RR"] == 0.0
    assert result.counted.queries_empty == ("q",)


def test_padding_may_be_anywhere_and_its_score_does_not_matter():
    ids = np.array([[-1, 4, -1, 5], [-1, -1, -1, -1]])
    values = np.array([[np.inf, 1.0, np.nan, 2.0], [np.nan] * 4])
    result = evaluate(
        {"q": {4: 1}, "r": {4: 1}}, Run.from_arrays(ids, values, query_ids=["q", "r"]), ["RR"]
    )
    assert result.per_query == {"q": {"MRR": 1 / 2}, "r": {"MRR": 0.0}}
    assert result.counted.queries_empty == ("r",)


@given(st.integers(0, 10_000), st.sampled_from([1, 3, 30]), st.booleans(), policies)
def test_arrays_as_an_index_returns_them_give_the_result_of_the_dict(
    seed, num_judged, best_first, policy
):
    rng = np.random.default_rng(seed)
    ids = np.array([rng.permutation(60)[:25] for _ in range(4)])
    values = rng.integers(0, 12, size=ids.shape).astype(np.float32) / 7  # many ties
    if best_first:
        values = -np.sort(-values, axis=1)
    queries = [f"q{number}" for number in rng.permutation(5)[:4]]
    qrels = {
        f"q{query}": {int(doc): int(rng.integers(3)) for doc in rng.permutation(60)[:num_judged]}
        for query in range(4)
    }
    run = {
        query: dict(zip(ids[row].tolist(), values[row].tolist(), strict=True))
        for row, query in enumerate(queries)
    }
    arrays = Run.from_arrays(ids, values, query_ids=queries, check_duplicates=True)
    assert outcome(qrels, arrays, policy) == outcome(qrels, run, policy)


def test_doc_ids_may_be_a_mapping_that_omits_rows():
    run = Run.from_arrays([[5, 0]], None, query_ids=["q"], doc_ids={0: "d7", 5: "d8"})
    assert evaluate({"q": {"d7": 1}}, run, ["RR"])["RR"] == 1 / 2
    with pytest.raises(RunError, match="the id 3 of query 'q'"):
        Run.from_arrays([[5, 3]], None, query_ids=["q"], doc_ids={0: "d7", 5: "d8"})


def test_masked_cells_are_padding():
    ids = np.ma.masked_equal(np.array([[9, 3]]), 9)
    result = evaluate({"q": {3: 1}}, Run.from_arrays(ids, None, query_ids=["q"]), ["RR"])
    assert result["RR"] == 1


@pytest.mark.parametrize("number", ["9" * 5000, str(2**63), "007", "-3", "٣"])
def test_a_judged_id_that_no_integer_id_is_written_as_matches_nothing(number):
    run = Run.from_arrays(np.array([[7, 3]]), None, query_ids=["q"])
    for others in ({"3": 1}, {"3": 1, "text": 0}):  # integers only, or text too
        assert evaluate({"q": {number: 1} | others}, run, ["R@2"])["R@2"] == 1 / 2


def test_the_largest_integer_id_matches_its_text_in_the_qrels():
    largest = 2**63 - 1
    run = Run.from_arrays(np.array([[3, largest]]), None, query_ids=["q"])
    assert evaluate({"q": {"text": 1, str(largest): 1}}, run, ["MRR"])["MRR"] == 0.5


def test_ids_of_a_dataframe_whose_hashes_collide_are_compared_as_text(monkeypatch):
    monkeypatch.setattr(
        "beir_eval.core.run_sources.dataframe._hashes", lambda ids: np.zeros(len(ids), np.int64)
    )
    frame = pl.DataFrame({"query_id": ["q"] * 3, "doc_id": ["a", "b", "q"], "score": [3.0, 2, 1]})
    result = evaluate({"q": {"b": 1, "c": 1}}, frame, ["MRR", "Recall@3"])
    assert (result["MRR"], result["Recall@3"]) == (0.5, 0.5)
    assert (result.counted.duplicates, result.counted.identical_ids) == (0, 1)


@given(qrels_and_run(), policies)
def test_arrays_of_texts_give_the_result_of_the_dict(case, policy):
    qrels, run = case
    ids, values = as_arrays(run, padding="")
    arrays = Run.from_arrays(ids, values, query_ids=list(run))
    assert outcome(qrels, arrays, policy) == outcome(qrels, run, policy)
    without_scores = Run.from_arrays(ids, None, query_ids=list(run))
    ranked = Run.from_rankings({query: list(docs) for query, docs in run.items()})
    policy = policy | {"order": "given"}
    assert outcome(qrels, without_scores, policy) == outcome(qrels, ranked, policy)


def test_masked_texts_are_padding():
    ids = np.ma.array([["a", "b", "x"]], mask=[[False, False, True]])
    run = Run.from_arrays(ids, [[2.0, 1.0, 3.0]], query_ids=["q"])
    assert run.as_dict() == {"q": {"a": 2.0, "b": 1.0}}


def test_a_score_of_an_array_of_texts_that_is_not_finite_is_named():
    with pytest.raises(RunError, match="score of document 'b' for query 'r'"):
        Run.from_arrays([["a"], ["b"]], [[1.0], [np.nan]], query_ids=["q", "r"])


GOOD = {"ids": [[1, 2], [3, 4]], "scores": [[2.0, 1.0], [2.0, 1.0]], "query_ids": ["q", "r"]}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"ids": [1, 2]}, r"ids must be \[Q, k\].* not of shape \[2\]"),
        ({"ids": [[1.5, 2.0], [3.0, 4.0]]}, "ids must be integers .* not float64"),
        ({"ids": [["a", "b"], ["c", "d"]], "doc_ids": ["x"]}, "doc_ids is for ids that are row"),
        ({"ids": [[b"a", b"b"], [b"c", b"d"]]}, "ids must be integers or texts"),
        ({"ids": [["a", "b"], ["c"]]}, "for lists of different lengths use Run.from_rankings"),
        ({"ids": [[1, 2], [3]]}, "ids cannot be read as a numpy array"),
        ({"scores": [[1.0], [2.0]]}, r"of the shape of ids, \[2, 2\], not float64 \[2, 1\]"),
        ({"scores": [["a", "b"], ["c", "d"]]}, "scores must be numbers"),
        ({"query_ids": ["q"]}, "1 query_ids for 2 rows"),
        ({"query_ids": ["q", "q"]}, "names a query twice"),
        ({"query_ids": ["q", None]}, "query_ids: an id must be text"),
        ({"doc_ids": ["a", "b", "c", "d"]}, r"the id 4 of query 'r' \(column 1\) .* 0 to 3"),
        ({"doc_ids": ["a", "b", "c", "d", None]}, "doc_ids: an id must be text"),
        ({"doc_ids": {"a", "b"}}, "doc_ids must be a sequence or a mapping .* not set"),
        ({"doc_ids": "abcde"}, "doc_ids must be a sequence or a mapping .* not str"),
        ({"doc_ids": {-1: "a"}}, "a row number is -1"),
        ({"doc_ids": {0: "a", 10**15: "b"}}, "row number 1000000000000000 is too high for 2 ids"),
        ({"doc_ids": {"x": "a"}}, "doc_ids: .* cannot be interpreted as an integer"),
        (
            {"doc_ids": [{"_id": "a"}]},
            "doc_ids: an id must be text or an integer, not an object of",
        ),
        ({"query_ids": "qr"}, "query_ids must be a list of ids, not the text"),
        ({"ids": [[1, 2], [3, -2]]}, "the id -2 of query 'r'"),
        ({"ids": np.array([[1, 2], [3, 2**63]], dtype=np.uint64)}, "the id 9223372036854775808"),
    ],
)
def test_arrays_of_another_shape_or_kind_are_refused(change, problem):
    with pytest.raises(RunError, match=problem):
        Run.from_arrays(**(GOOD | change))


def test_the_query_ids_of_qrels_are_taken_as_they_are():
    qrels = Qrels({"q": {3: 1}, "r": {4: 1}})
    run = Run.from_arrays([[3, 1], [1, 4]], None, query_ids=qrels.query_ids)
    assert run.query_ids is qrels.query_ids
    assert evaluate(qrels, run, ["MRR"])["MRR"] == (1 + 1 / 2) / 2
    others = Qrels({"r": {1: 1}, "q": {1: 1}})
    assert evaluate(others, run, ["MRR"]).scores("MRR").tolist() == [1, 1 / 2]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_score_of_an_array_that_is_not_finite_is_named(bad):
    run = Run.from_arrays(**(GOOD | {"scores": [[2.0, 1.0], [2.0, bad]]}))
    with pytest.raises(RunError, match="score of document '4' for query 'r'"):
        evaluate({"r": {3: 1}}, run)
    with pytest.raises(RunError, match="score of document '4' for query 'r'"):
        write_run(run, "never.json")


# Dataframes


FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
}


@pytest.mark.hypothesis
@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_dataframe_gives_the_result_of_columns(make):
    @given(qrels_and_rows(), policies)
    @settings(max_examples=settings.default.max_examples // 3)
    def check(case, policy):
        qrels, rows = case
        queries, docs, values = (list(column) for column in zip(*rows, strict=True))
        frame = make({"qid": queries, "docno": docs, "score": [float(value) for value in values]})
        judged = [
            (query, doc, grade) for query, docs in qrels.items() for doc, grade in docs.items()
        ]
        names = ("query_id", "doc_id", "relevance")
        qrels_frame = make(dict(zip(names, map(list, zip(*judged, strict=True)), strict=True)))
        expected = outcome(qrels, Run.from_columns(queries, docs, values), policy)
        assert outcome(Qrels.from_dataframe(qrels_frame), Run.from_dataframe(frame), policy) == (
            expected
        )
        assert outcome(qrels_frame, frame, policy) == expected

    check()


@given(qrels_and_rows(), st.integers(1, 4), policies)
def test_a_table_in_parts_gives_the_result_of_columns(case, size, policy):
    qrels, rows = case
    queries, docs, values = (list(column) for column in zip(*rows, strict=True))
    frame = pl.DataFrame({QUERY: queries, DOC: docs, SCORE: [float(value) for value in values]})
    run = Run.from_source(source_from_frames(frame.iter_slices(size)))
    assert outcome(qrels, run, policy) == outcome(
        qrels, Run.from_columns(queries, docs, values), policy
    )


def test_column_names_can_be_given_explicitly():
    frame = pl.DataFrame({"a": [1, 1], "b": [7, 8], "c": [0.5, 0.9], "score": [9.0, 1.0]})
    run = Run.from_dataframe(frame, query_id="a", doc_id="b", score="c")
    assert evaluate({1: {8: 1}}, run, ["P@1"])["P@1"] == 1
    qrels = Qrels.from_dataframe(frame, query_id="a", doc_id="b", grade="score")
    assert qrels.as_dict() == {"1": {"7": 9.0, "8": 1.0}}


@pytest.mark.parametrize(
    "dtype", [pl.String, pl.Categorical, pl.Enum(["7", "8"]), pl.Int64, pl.UInt8]
)
def test_ids_may_be_text_categories_or_integers(dtype):
    docs = pl.Series(["7", "8"]).cast(dtype)
    frame = pl.DataFrame({"qid": ["q", "q"], "docid": docs, "score": [1, 2]})
    assert evaluate({"q": {8: 1}}, frame, ["P@1"])["P@1"] == 1


GOOD_FRAME = {"qid": ["q", "q"], "docid": ["a", "b"], "score": [2.0, 1.0]}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"docid": None},
            r"recognisably doc_id .* it has 'qid', 'score'\. Rename it, or state it in",
        ),
        ({"doc_id": ["a", "b"]}, "several columns that could be doc_id: 'docid', 'doc_id'"),
        ({"qid": ["q", None]}, ": ids are null in the column 'qid', first in row 1"),
        ({"docid": [None, None]}, ": ids are null in the column 'docid', first in row 0"),
        ({"docid": [1.0, 2.0]}, r"the column 'docid' \(doc_id\) holds Float64"),
        ({"docid": ["a", ""]}, "an id is empty in the column 'docid', row 1"),
        ({"score": ["1", "2"]}, r"the column 'score' \(score\) holds String, not numbers"),
        ({"score": [1.0, float("nan")]}, "the score in row 1 .* is nan"),
        ({"score": [None, 1.0]}, "the score in row 0 .* is None"),
    ],
)
def test_a_dataframe_with_missing_columns_or_bad_values_is_refused(change, problem):
    columns = {name: values for name, values in (GOOD_FRAME | change).items() if values}
    with pytest.raises(RunError, match=problem):
        Run.from_dataframe(pl.DataFrame(columns))
    if "score" not in change:
        with pytest.raises(QrelsError, match=problem):
            Qrels.from_dataframe(pl.DataFrame(columns))


def test_a_table_of_arrow_that_polars_cannot_read_is_refused():
    wide = pa.array([Decimal("1.5")], pa.decimal256(40, 2))
    table = pa.table({"qid": ["q"], "docid": ["a"], "score": wide})
    for read in (Run.from_dataframe, lambda frame: evaluate({"q": {"a": 1}}, frame, ["MRR"])):
        with pytest.raises(RunError, match="the run cannot be read as a dataframe: "):
            read(table)


def test_a_named_pandas_index_is_a_column():
    frame = pd.DataFrame(GOOD_FRAME).set_index("qid")
    assert evaluate({"q": {"a": 1}}, frame, ["P@1"])["P@1"] == 1


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"qid": ["q", "q"], "docid": [1, "b"], "score": [1, 2]}),
        pd.DataFrame([["q", "a", 1.0, 2]], columns=["qid", "docid", "score", "score"]),
        pl.LazyFrame({"qid": ["q"]}).select("nothing"),
        5,
    ],
)
def test_a_dataframe_that_cannot_be_read_is_refused(frame):
    with pytest.raises(RunError, match=r"cannot be read as a dataframe|several columns"):
        Run.from_dataframe(frame)


def test_a_judged_id_that_is_not_unicode_is_not_found_in_a_dataframe():
    frame = pl.DataFrame(GOOD_FRAME)
    assert evaluate({"q": {"\ud800": 1, "a": 1}}, frame, ["R@2"])["R@2"] == 1 / 2


def test_a_dataframe_is_not_changed():
    frame = pd.DataFrame(GOOD_FRAME)
    before = frame.copy(deep=True)
    evaluate({"q": {"a": 1}}, frame, keep_top=2)
    pd.testing.assert_frame_equal(frame, before)


def test_a_dataframe_without_polars_says_what_to_install(monkeypatch):
    frame = pl.DataFrame(GOOD_FRAME)
    monkeypatch.setitem(sys.modules, "polars", None)
    for package, name in (
        ("beir_eval.core", "dataframes"),
        ("beir_eval.core.run_sources", "dataframe"),
    ):
        monkeypatch.delitem(sys.modules, f"{package}.{name}", raising=False)
        monkeypatch.delattr(sys.modules[package], name, raising=False)
    for read in (Run.from_dataframe, Qrels.from_dataframe):
        with pytest.raises(MissingExtraError, match=r"pip install 'beir-eval\[files\]'"):
            read(frame)


def test_a_pandas_frame_without_pyarrow_says_what_to_install():
    class Frame:
        def __arrow_c_stream__(self, requested_schema=None):
            raise ImportError("No module named 'pyarrow'")

    with pytest.raises(MissingExtraError, match=r"pip install 'beir-eval\[pandas\]'"):
        Run.from_dataframe(Frame())


@given(st.lists(scores, min_size=1, max_size=5))
def test_scores_of_a_frame_are_exact(values):
    frame = pl.DataFrame(
        {"qid": ["q"] * len(values), "docid": list(map(str, range(len(values)))), "score": values},
        schema_overrides={"score": pl.Float64},
    )
    ((_, _, read),) = Run.from_dataframe(frame).rankings()
    assert read.tolist() == [float(value) for value in values]
