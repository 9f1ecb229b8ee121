"""A comparison says the same from memory and from its file."""

import re

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from beir_eval import Comparison, check_gate, compare_runs
from beir_eval.errors import InputError
from beir_eval.report import write_report

pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")

#: What a report says of the time at which it was written.
WRITTEN = re.compile(r"written.{0,40}?\d{4}-\d\d-\d\d \d\d:\d\d UTC", re.DOTALL)
#: The documents to judge need the runs, which a file does not hold.
TO_JUDGE = re.compile(
    r'<li><a href="#trusted">.*?</li>|<section aria-labelledby="trusted">.*?</section>', re.DOTALL
)


def random_run(rng, queries, depth):
    """Return a run that lacks some queries, or most; or has few documents, or equal scores."""
    lacking = rng.choice([0.0, 0.2, 0.9], p=[0.6, 0.3, 0.1])
    return {
        query: {
            f"d{number}": round(float(rng.random()), int(rng.integers(1, 4)))
            for number in rng.choice(30, int(rng.integers(1, depth + 1)), replace=False)
        }
        for index, query in enumerate(queries)
        if not index or rng.random() >= lacking
    }


def random_comparison(seed):
    """Return a comparison of random runs with random settings."""
    rng = np.random.default_rng(seed)
    queries = [f"q{number}" for number in range(int(rng.integers(2, 25)))]
    qrels = {
        query: {
            f"d{number}": int(rng.integers(0, 3)) for number in rng.choice(30, 6, replace=False)
        }
        for query in queries
    }
    repeats = int(rng.choice([1, 1, 3]))
    runs = {
        name: [random_run(rng, queries, int(rng.choice([3, 12]))) for _ in range(repeats)]
        for name in ("a", "b", "c")[: int(rng.integers(2, 4))]
    }
    settings = {
        "baseline": rng.choice([None, "a"]),
        "on": "intersection",
        "missing": str(rng.choice(["zero", "skip"])),
        "keep_top": int(rng.choice([0, 10])),
    }
    if rng.random() < 0.3:
        settings["clusters"] = {query: f"c{index % 6}" for index, query in enumerate(queries)}
    return compare_runs(qrels, runs, ["nDCG@5", "Recall@10"], **settings)


def outputs_of(comparison, path):
    """Return everything that a comparison says."""
    write_report(path, comparison)
    outputs = {
        "print": str(comparison),
        "markdown": comparison.to_markdown(),
        "latex": comparison.to_latex(),
        "notebook": comparison._repr_html_(),
        "warnings": comparison.warnings(),
        "report": TO_JUDGE.sub("", WRITTEN.sub("", path.read_text(encoding="utf-8"))).split(),
    }
    if comparison.baseline is not None:
        outputs["gate"] = check_gate(comparison, floors={"nDCG@5": 0.3})
        outputs["non_inferior"] = check_gate(comparison, non_inferior=True, allow_missing=True)
    return outputs


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
def test_every_output_and_gate_is_the_same_from_memory_and_from_a_file(tmp_path_factory, seed):
    try:
        comparison = random_comparison(seed)
    except InputError:  # the systems share a single query
        reject()
    folder = tmp_path_factory.mktemp("saved")
    comparison.save(folder / "saved.json")
    loaded = Comparison.load(folder / "saved.json")
    assert loaded == comparison
    assert outputs_of(loaded, folder / "b.html") == outputs_of(comparison, folder / "a.html")
