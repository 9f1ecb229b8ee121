"""Each fast path and what it falls back to give the same bits."""

from contextlib import ExitStack
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval import Run, evaluate
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.measures import DEFAULT_MEASURES, parse_all
from strategies import DOC_IDS, qrels_and_run

CORE = "beir_eval.core"
MAPPING = f"{CORE}.run_sources.mapping"
MEASURES = [
    *DEFAULT_MEASURES,
    *parse_all("RR bpref infAP ERR@5 RBP Rprec IPrec@0.3 AP nDCG Judged@3 nDCG(gain='exp')@3"),
]

#: Of each fast path: the names and values with which its alternative is taken. Sizes of parts of
#: 1 make as many parts as there can be.
FALL_BACKS = {
    "the keys of dicts are looked at": {f"{CORE}.ids._text_dict_sizes": frozenset},
    "a chunk for each ranking": {f"{MAPPING}._CHUNK_SCORES": 1, f"{MAPPING}._FIRST_CHUNK": 1},
    "chunks that are cut": {f"{MAPPING}._MAX_CHUNK_SCORES": 1},
    "a block for each ranking": {
        f"{MAPPING}.BLOCK_SCORES": 1,
        f"{CORE}.run_sources.columns.BLOCK_DOCS": 1,
        f"{CORE}.run_sources.topk_arrays.BLOCK_CELLS": 1,
    },
    "judgements query by query": {f"{CORE}.qrels._QUERIES_AT_ONCE": 1},
    "measures query by query": {"beir_eval.evaluation.query_scores._QUERIES_AT_ONCE": 1},
    "rankings are sorted": {f"{CORE}.rank_counting._SORT_RANKING_NS": -1e9},
    "rankings are compared": {f"{CORE}.rank_counting._SORT_RANKING_NS": 1e9},
    "sorted rankings count as others": {f"{CORE}.rank_counting._are_descending": lambda *_: False},
    "documents are found by sorting": {f"{CORE}.number_lookup._FEW_WANTED": 0},
    "documents are found one by one": {f"{CORE}.number_lookup._FEW_WANTED": 10**9},
    "lists are looked up in dicts": {f"{CORE}.run_sources.lists._FEW_JUDGED": -1},
    "lists are looked up in sets": {f"{CORE}.run_sources.lists._FEW_JUDGED": 10**9},
    "numbers are read one by one": {f"{CORE}.ids._all_decimal_numbers": lambda _: None},
}

policies = st.fixed_dictionaries(
    {
        "order": st.sampled_from(EvaluationSettings.CHOICES["order"]),
        "ties": st.sampled_from(["trec_eval9", "trec_eval10", "input"]),
        "drop_identical_ids": st.booleans(),
    }
)


def runs_of(run):
    """Return the run in every form: dicts, columns, lists, arrays with and without padding."""
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    width = max(map(len, run.values()))
    ids, scores = np.full((len(run), width), -1), np.zeros((len(run), width))
    for row, docs in enumerate(run.values()):
        ids[row, : len(docs)] = [DOC_IDS.index(doc) for doc in docs]
        scores[row, : len(docs)] = list(docs.values())
    arrays = {"query_ids": list(run), "check_duplicates": True}
    return {
        "dicts": Run(run),
        "columns": Run.from_columns(*zip(*rows, strict=True)),
        "lists": Run.from_rankings({query: list(docs) for query, docs in run.items()}),
        "arrays": Run.from_arrays(ids, scores, doc_ids=DOC_IDS, **arrays),
        "numbers": Run.from_arrays(ids, scores, **arrays),
    }


def outcomes(qrels, run, policy):
    """Return the bits of every score, and the counts, of the run in every form."""
    as_numbers = {
        query: {DOC_IDS.index(doc): grade for doc, grade in docs.items()}
        for query, docs in qrels.items()
    }
    results = {
        form: evaluate(as_numbers if form == "numbers" else qrels, made, MEASURES, **policy)
        for form, made in runs_of(run).items()
    }
    return {
        form: (result.values.array.tobytes(), result.counted) for form, result in results.items()
    }


@pytest.mark.parametrize("fall_back", FALL_BACKS)
@settings(max_examples=settings.default.max_examples // 2, deadline=None)
@given(case=qrels_and_run(min_size=1), policy=policies)
def test_a_fall_back_changes_no_bit(fall_back, case, policy):
    qrels, run = case
    expected = outcomes(qrels, run, policy)
    with ExitStack() as patches:
        for name, value in FALL_BACKS[fall_back].items():
            patches.enter_context(patch(name, value))
        assert outcomes(qrels, run, policy) == expected


@given(qrels_and_run(min_size=1), policies)
def test_rankings_of_one_length_have_the_scores_of_rankings_of_several(case, policy):
    qrels, run = case
    width = min(map(len, run.values()))
    run = {query: dict(list(docs.items())[:width]) for query, docs in run.items()}
    longer = run | {"not judged": dict.fromkeys(DOC_IDS, 0.0)}
    expected, others = (
        {
            form: evaluate(qrels, made, MEASURES, **policy).values.array.tobytes()
            for form, made in runs_of(each).items()
            if form != "numbers"
        }
        for each in (run, longer)
    )
    assert others == expected
