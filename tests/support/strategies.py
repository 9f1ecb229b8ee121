"""Hypothesis strategies of qrels and runs: few ids, many ties, every kind of value in files."""

from hypothesis import strategies as st

from beir_eval.core.ranking import EvaluationSettings

# Few ids, so that judged and retrieved documents overlap; some are not ASCII, to test byte order.
QUERY_IDS = [f"q{number}" for number in range(5)]
DOC_IDS = [f"d{number}" for number in range(12)] + ["D", "é", "日本", "\U0001f600", "10", "9"]

grades = st.integers(-2, 4)
#: Some values are equal as float32 but not as double; there are few values, so ties are common.
scores = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1.5, 2.0, -3.25, 0.1234567890, 0.1234567891, 0.1234567892]),
    st.integers(-5, 5),
    st.floats(-1e30, 1e30, allow_nan=False, allow_subnormal=False),
)


def judged(grade=grades, min_size=1):
    return st.dictionaries(st.sampled_from(DOC_IDS), grade, min_size=min_size, max_size=14)


def ranking(min_size=0):
    return st.dictionaries(st.sampled_from(DOC_IDS), scores, min_size=min_size, max_size=16)


def qrels(grade=grades):
    return st.dictionaries(st.sampled_from(QUERY_IDS), judged(grade), min_size=1, max_size=5)


@st.composite
def qrels_and_run(draw, grade=grades, min_size=0, *, complete=False):
    """Draw qrels, and a run with at least one of their queries and perhaps others."""
    judgements = draw(qrels(grade))
    answered = draw(st.sets(st.sampled_from(sorted(judgements)), min_size=1))
    if complete:
        answered = set(judgements)
    other_queries = draw(st.sets(st.sampled_from(QUERY_IDS), max_size=2))
    run = {query: draw(ranking(min_size)) for query in sorted(answered | other_queries)}
    return judgements, run


@st.composite
def qrels_and_rows(draw):
    """Draw qrels, and a run as rows (query, document, score) that may repeat documents."""
    judgements, run = draw(qrels_and_run(min_size=1, complete=True))
    rows = [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]
    copies = draw(st.lists(st.tuples(st.sampled_from(rows), scores), max_size=6))
    rows += [(query, doc, score) for (query, doc, _), score in copies]
    return judgements, draw(st.permutations(rows))


#: Settings with which valid runs are evaluated without an error, whatever the measures.
policies = st.fixed_dictionaries(
    {
        "order": st.sampled_from(EvaluationSettings.CHOICES["order"]),
        "ties": st.sampled_from(["trec_eval9", "trec_eval10", "input"]),
        "missing": st.sampled_from(["zero", "skip"]),
        "no_relevant": st.sampled_from(EvaluationSettings.CHOICES["no_relevant"]),
        "duplicates": st.sampled_from(["first", "keep"]),
        "drop_identical_ids": st.booleans(),
    }
)
