"""Objects in memory: qrels, runs, measures and settings of odd types and with extreme values.

``test_memory`` is an ordinary test of Hypothesis; ``fuzz.py`` also drives it with coverage.
"""

import math
import warnings
from collections import OrderedDict, UserDict, defaultdict
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import textbook
from beir_eval import Qrels, Run, compare_runs, evaluate
from beir_eval.errors import BeirEvalError

MEASURES = {
    "Precision@3": lambda ranked, judged: textbook.precision(ranked, judged, 3),
    "Recall@3": lambda ranked, judged: textbook.recall(ranked, judged, 3),
    "MAP": lambda ranked, judged: textbook.average_precision(ranked, judged, None),
    "MRR@3": lambda ranked, judged: textbook.reciprocal_rank(ranked, judged, 3),
    "nDCG@3": lambda ranked, judged: textbook.ndcg(ranked, judged, 3),
}


class Text(str):
    """A subclass of str with a text of its own."""

    __slots__ = ()

    def __str__(self):
        return "another text"


class Index:
    """An integer by ``__index__`` only."""

    def __index__(self):
        return 7

    def __repr__(self):
        return "Index()"


ordinary_ids = st.sampled_from(["a", "b", "c", "d", "e", "1", "7", "é", "日本"])
odd_ids = st.sampled_from(
    (
        *(1, 7, np.int64(1), Index(), Text("a"), np.str_("b"), "\0", "\ud800", " ", "x" * 5000),
        *("", True, None, 1.0, b"a", ("a",), frozenset(), math.nan, 10**30),
        np.datetime64("2020"),
    )
)
ordinary_numbers = st.one_of(st.integers(-2, 4), st.sampled_from([0.5, 1.5, -0.0, 1e-300]))
odd_numbers = st.sampled_from(
    (
        *(1e100, -1e100, 1e101, 1e308, 5e-324, 2**53 + 1, 10**400, -(10**30)),
        *(math.nan, math.inf, -math.inf, True, np.float32(0.1), np.int8(-3), np.bool_(1)),
        *(Decimal("0.1"), Fraction(1, 3), "1", b"1", None, [], 1j, np.array(2.0), np.array([1.0])),
    )
)
ids = st.integers(0, 19).flatmap(lambda drawn: ordinary_ids if drawn else odd_ids)
numbers = st.integers(0, 19).flatmap(lambda drawn: ordinary_numbers if drawn else odd_numbers)
containers = st.sampled_from(
    (
        *[dict] * 20,
        *(OrderedDict, UserDict, MappingProxyType),
        lambda pairs: defaultdict(dict, pairs),
        lambda pairs: list(pairs.items()),
        lambda pairs: "".join(map(str, pairs)),
        lambda _: None,
        lambda _: 5,
    )
)
odd_settings = st.dictionaries(
    st.sampled_from(
        ["order", "ties", "missing", "no_relevant", "duplicates", "drop_identical_ids", "keep_top"]
    ),
    st.sampled_from(
        (
            *("score", "given", "trec_eval10", "worst", "skip", "zero", "first", "", "\ud800"),
            *(True, 2, -1, 10**30, None, [], {}, math.nan, np.bool_(0), np.array([1, 2])),
        )
    ),
    min_size=1,
    max_size=1,
)
settings_of_evaluate = st.integers(0, 3).flatmap(
    lambda drawn: st.just({}) if drawn else odd_settings
)


@st.composite
def nested(draw, cautious):
    """Draw {id: {id: number}}; ordinary ids and numbers only if ``cautious``."""
    some_ids, some_numbers = (ordinary_ids, ordinary_numbers) if cautious else (ids, numbers)
    inner = st.dictionaries(some_ids, some_numbers, min_size=cautious, max_size=6)
    content = draw(st.dictionaries(some_ids, inner, min_size=1, max_size=4))
    if cautious:
        return content
    outer_type, inner_type = draw(containers), draw(containers)
    try:
        return outer_type({key: inner_type(value) for key, value in content.items()})
    except TypeError:
        return content


def scores_of_textbook(qrels, run):
    """Return {measure: {query: score}} by full sorts, for {query: {document: number}}."""
    scores = {name: {} for name in MEASURES}
    for query, judged in qrels.items():
        ranked = textbook.rank_documents(list(run.get(query, {}).items()), judged)
        grades = textbook.grades_by_rank(ranked, judged)
        for name, measure in MEASURES.items():
            scores[name][query] = measure(grades, judged) if judged else 0.0
    return scores


def as_text(content):
    """Return ids as text and numbers as floats, as the documentation says."""
    return {
        _id(query): {_id(doc): float(number) for doc, number in docs.items()}
        for query, docs in content.items()
    }


def _id(value):
    return str.__str__(value) if isinstance(value, str) else str(value.__index__())


@settings(deadline=None)
@given(
    st.booleans().flatmap(lambda cautious: st.tuples(nested(cautious), nested(cautious))),
    settings_of_evaluate,
)
def check_memory(case, options):
    """Evaluate and compare; what is accepted has the scores of the textbook."""
    qrels, run = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = evaluate(qrels, run, list(MEASURES), **options)
        except BeirEvalError:
            result = None
        except FileNotFoundError:
            assert isinstance(qrels, str) or isinstance(run, str)  # it is the path of a file
            result = None
        for build in (Qrels, Run, Run.from_rankings):
            with suppress(BeirEvalError):
                repr(build(qrels))
        if result is not None:
            check_result(result, qrels, run, options)
        with suppress(BeirEvalError, FileNotFoundError):
            compare_runs(qrels, {"x": run, "y": qrels}, ["MRR@3"], **options).to_markdown()


def compare_something():
    """Call what imports modules at its first call."""
    run = {"p": {"a": 1.0}, "q": {"b": 1.0}}
    compare_runs({"p": {"a": 1}, "q": {"a": 1}}, {"x": run, "y": run}, ["MRR@3"]).to_markdown()


def check_result(result, qrels, run, options):
    result.to_markdown()
    scores = result.values.array
    is_left_out = np.isnan(scores) & (options.get("no_relevant") == "skip")
    assert (is_left_out | ((scores >= 0) & (scores <= 1))).all()
    if options:
        return
    judged = {query: docs for query, docs in as_text(qrels).items() if docs}
    # Rankings of queries without judgements are not read.
    answered = {query: docs for query, docs in run.items() if _id(query) in judged}
    expected = scores_of_textbook(judged, as_text(answered))
    for name, by_query in expected.items():
        actual = dict(zip(result.query_ids, result.scores(name).tolist(), strict=True))
        assert actual.keys() == by_query.keys()
        for query, score in by_query.items():
            assert math.isclose(actual[query], score, rel_tol=1e-9), (name, query, actual, score)
