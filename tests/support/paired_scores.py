"""Scores of systems by query, for the tests of significance."""

import numpy as np
from hypothesis import strategies as st

#: Values of P@10 and MRR: float arithmetic breaks many exact ties (0.3 - 0.2 is less than 0.1).
tenths = st.integers(0, 10).map(lambda hits: hits / 10)
reciprocals = st.sampled_from([0.0, *(1 / rank for rank in range(1, 11))])
any_score = st.floats(0, 1).map(lambda score: round(score, 4))


def some_scores(seed, systems, queries):
    rng = np.random.default_rng(seed)
    return rng.random((systems, queries)) + np.linspace(0, 0.1, systems)[:, None]
