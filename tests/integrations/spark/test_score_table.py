"""A score table made of parts has the result of an evaluation of the whole."""

import json

import numpy as np
import pytest
from hypothesis import given

from beir_eval import Qrels, Run, evaluate
from beir_eval._version import __version__
from beir_eval.core.ranking import AS_GIVEN, EvaluationSettings
from beir_eval.errors import QueryMismatchError, ResultError
from beir_eval.evaluation import Provenance
from beir_eval.integrations.spark.score_table import (
    QUERY_ID,
    REPEATED,
    TableFacts,
    column_types,
    result_of_table,
    score_queries,
)
from beir_eval.measures import DEFAULT_MEASURES, parse_all
from strategies import policies, qrels_and_rows, qrels_and_run

MEASURES = [
    *DEFAULT_MEASURES,
    *parse_all("RR bpref ERR@5 RBP AP nDCG Judged@3 Hole@2 nDCG(gain='exp')@3 gm_map num_ret"),
]
QRELS = {"q1": {"a": 1, "b": -1}, "q2": {"a": 3}, "q3": {"c": 0}}
RUN = {"q1": {"a": 1.0, "b": 1.0, "q1": 0.5}, "q2": {}, "other": {"a": 1.0}}


def concatenate_columns(parts):
    """Return the columns of all parts, whose queries are disjoint."""
    first, *_ = parts
    return {
        name: [query_id for part in parts for query_id in part[name]]
        if name == QUERY_ID
        else np.concatenate([part[name] for part in parts])
        for name in first
    }


def facts_of(qrels, policy):
    return TableFacts(
        name="run",
        measures=tuple(map(str, MEASURES)),
        settings=EvaluationSettings(**policy),
        provenance=Provenance(package_version=__version__),
        max_grade=qrels.max_grade,
    )


def table_in_parts(qrels, run, policy, size=1):
    """Return the columns of a table that is made of parts of so many queries."""
    parts = []
    for begin in range(0, len(qrels), size):
        query_ids = qrels.query_ids[begin : begin + size]
        judged = {query: qrels.as_dict()[query] for query in query_ids}
        part = score_queries(
            Qrels(judged), run, MEASURES, EvaluationSettings(**policy), max_grade=qrels.max_grade
        )
        part[REPEATED] = np.zeros(len(query_ids), dtype=np.int64)  # as a worker counts them
        parts.append(part)
    return parts


def evaluated(qrels, run, **policy):
    """Return the result in memory, without what Spark does not count."""
    result = evaluate(qrels, run, MEASURES, **policy)
    counted = result.counted.model_copy(update={"queries_not_judged": None})
    return result.model_copy(update={"counted": counted})


def assert_same(first, second):
    """Compare everything, the bits of scores included."""
    assert first == second
    assert first.values.array.tobytes() == second.values.array.tobytes()
    assert first.aggregate.keys() == second.aggregate.keys()
    assert first.notes() == second.notes()


@given(qrels_and_run(), policies)
def test_a_table_of_parts_has_the_result_of_the_whole(case, policy):
    qrels, run = Qrels(case[0]), Run(case[1])
    parts = table_in_parts(qrels, run, policy)
    result = result_of_table(facts_of(qrels, policy), concatenate_columns(parts))
    assert_same(result, evaluated(qrels, run, **policy))


@given(qrels_and_rows(), policies)
def test_copies_of_documents_are_counted_query_by_query(case, policy):
    qrels, run = Qrels(case[0]), Run.from_columns(*zip(*case[1], strict=True))
    parts = table_in_parts(qrels, run, policy)
    result = result_of_table(facts_of(qrels, policy), concatenate_columns(parts))
    assert_same(result, evaluated(qrels, run, **policy))


def test_the_columns_have_the_names_and_types_that_are_announced():
    columns = concatenate_columns(table_in_parts(Qrels(QRELS), Run(RUN), {}))
    types = column_types(map(str, MEASURES))
    assert list(columns) == list(types)
    kinds = {float: np.float64, int: np.int64, bool: np.bool_}
    for name, kind in types.items():
        assert kind is str or columns[name].dtype == kinds[kind], name


def test_a_row_says_what_was_counted_for_its_query():
    columns = score_queries(Qrels(QRELS), Run(RUN), parse_all("P@2"), EvaluationSettings())
    rows = {
        query: {name: column[row] for name, column in columns.items() if name != "query_id"}
        for row, query in enumerate(columns["query_id"])
    }
    assert rows["q1"] == {
        "Precision@2": 0.5,
        "retrieved": True,
        "documents_retrieved": 3,
        "documents_judged": 2,
        "relevant_judgements": 1,
        "negative_judgements": 1,
        "tied_documents": 2,
        "duplicates": 0,
        "identical_ids": 1,
        "float32": AS_GIVEN,
        "qrels_hash": Qrels(QRELS).query_hashes.view(np.int64)[0],
        "judged_in_top_2": 1,
        "double_precision": "[]",
    }
    assert rows["q2"]["retrieved"]
    assert not rows["q2"]["documents_retrieved"]
    assert not rows["q3"]["retrieved"]


def test_lists_with_none_are_read_as_arrays_with_nan():
    qrels, run = Qrels(QRELS), Run(RUN)
    columns = concatenate_columns(table_in_parts(qrels, run, {"no_relevant": "skip"}))
    as_lists = {
        name: [None if str(value) == "nan" else value for value in np.asarray(column).tolist()]
        for name, column in columns.items()
    }
    facts = facts_of(qrels, {"no_relevant": "skip"})
    assert_same(result_of_table(facts, as_lists), result_of_table(facts, columns))


def test_facts_are_saved_as_json():
    facts = facts_of(Qrels(QRELS), {"ties": "trec_eval10"})
    assert TableFacts.from_content(json.loads(facts.model_dump_json()), "table.parquet") == facts


def test_the_policy_error_refuses_a_table_that_lacks_judged_queries():
    qrels, run = Qrels(QRELS), Run(RUN)
    columns = concatenate_columns(table_in_parts(qrels, run, {}))
    with pytest.raises(QueryMismatchError, match=r"1 of 3 judged queries are missing .* 'q3'"):
        result_of_table(facts_of(qrels, {"missing": "error"}), columns)
    columns["retrieved"][:] = False
    with pytest.raises(QueryMismatchError, match="no query in common"):
        result_of_table(facts_of(qrels, {}), columns)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"retrieved": None}, "lacks the columns 'retrieved'"),
        ({"query_id": ["q1", "q1", "q3"]}, "lists a query more than once"),
        ({"query_id": []}, "has no row"),
        ({"duplicates": [0.5, 1, 1]}, "duplicates .* something else than int"),
        ({"duplicates": [1, 1]}, "duplicates .* not 3 values"),
        ({"MAP@1": ["high", 1, 1]}, "MAP@1 .* something else than float"),
    ],
)
def test_a_damaged_table_is_refused(change, message):
    qrels, run = Qrels(QRELS), Run(RUN)
    columns = {**concatenate_columns(table_in_parts(qrels, run, {})), **change}
    columns = {name: column for name, column in columns.items() if column is not None}
    with pytest.raises(ResultError, match=message):
        result_of_table(facts_of(qrels, {}), columns)


def test_counts_alone_show_that_ids_do_not_match_but_give_no_reason():
    qrels = Qrels({f"q{number}": {f"D{number}": 1} for number in range(9)})
    run = Run({f"q{number}": {f"d{number}": 1.0} for number in range(9)})
    columns = concatenate_columns(table_in_parts(qrels, run, {}))
    result = result_of_table(facts_of(qrels, {}), columns)
    [unmatched] = result.counted.findings
    assert unmatched.fact == (
        "document ids do not match: none of the 9 retrieved documents of 9 judged queries is judged"
    )
    assert (unmatched.examples, "Likely reason" in unmatched.remedy) == ((), False)
