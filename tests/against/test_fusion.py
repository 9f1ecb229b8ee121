"""Fused scores are those of other tools, as docs/choose.md lists; rankings without ties."""

import warnings

import numpy as np
import pytest
import ranx
from haystack import Document
from haystack.components.joiners import DocumentJoiner
from qdrant_client.http.models import ScoredPoint
from qdrant_client.hybrid.fusion import distribution_based_score_fusion, reciprocal_rank_fusion

from beir_eval import BeirEvalWarning, fuse

pytestmark = pytest.mark.slow  # ranx compiles its functions
WEIGHTS = [0.2, 0.5, 0.3]


def made_runs():
    """Return three runs of 30 queries without equal scores, of 100, 100 and 60 documents."""
    rng = np.random.default_rng(3)
    return [
        {
            f"q{number}": {
                f"d{doc}": float(score)
                for doc, score in zip(
                    rng.choice(250, depth, replace=False),
                    np.sort(rng.gamma(2, scale, depth))[::-1],
                    strict=True,
                )
            }
            for number in range(30)
        }
        for depth, scale in ((100, 8.0), (100, 0.1), (60, 1.0))
    ]


RUNS = made_runs()


def with_ranx(method, norm=None, **params):
    runs = [ranx.Run({query: dict(docs) for query, docs in run.items()}) for run in RUNS]
    return ranx.fuse(runs, norm=norm, method=method, params=params or None).to_dict()


def with_haystack(mode, weights=None):
    joiner = DocumentJoiner(join_mode=mode, weights=weights, top_k=1000)
    lists = {
        query: [
            [Document(id=doc, content=doc, score=score) for doc, score in run[query].items()]
            for run in RUNS
        ]
        for query in RUNS[0]
    }
    return {
        query: {document.id: document.score for document in joiner.run(documents=of)["documents"]}
        for query, of in lists.items()
    }


def with_qdrant(function, **settings):
    return {
        query: {
            point.id: point.score
            for point in function(
                [
                    [
                        ScoredPoint(id=int(doc[1:]), version=0, score=score)
                        for doc, score in run[query].items()
                    ]
                    for run in RUNS
                ],
                limit=1000,
                **settings,
            )
        }
        for query in RUNS[0]
    }


THIRDS = [1 / 3] * 3


@pytest.mark.parametrize(
    ("theirs", "method", "settings"),
    [
        (lambda: with_ranx("rrf", k=60), "rrf", {}),
        (lambda: with_ranx("rrf", k=10), "rrf", {"k": 10}),
        (lambda: with_ranx("sum", "min-max"), "sum", {"normalise": "min-max"}),
        (lambda: with_ranx("sum", "zmuv"), "sum", {"normalise": "z-score"}),
        (
            lambda: with_ranx("wsum", "min-max", weights=WEIGHTS),
            "sum",
            {"normalise": "min-max", "weights": WEIGHTS},
        ),
        (lambda: with_ranx("max", "min-max"), "max", {"normalise": "min-max"}),
        (
            lambda: with_haystack("reciprocal_rank_fusion"),
            "rrf",
            {"weights": [61 / 3] * 3},
        ),
        (
            lambda: with_haystack("reciprocal_rank_fusion", WEIGHTS),
            "rrf",
            {"weights": [61 * weight for weight in WEIGHTS]},
        ),
        (lambda: with_haystack("merge"), "sum", {"weights": THIRDS}),
        (lambda: with_haystack("merge", WEIGHTS), "sum", {"weights": WEIGHTS}),
        (lambda: with_haystack("concatenate"), "max", {}),
        (lambda: with_haystack("distribution_based_rank_fusion"), "max", {"normalise": "dbsf"}),
    ],
)
def test_fused_scores_are_those_of_the_other_tool(theirs, method, settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeirEvalWarning)
        ours = fuse(RUNS, method, **settings).as_dict()
    assert_same(ours, theirs())


def assert_same(ours, theirs):
    assert theirs.keys() == ours.keys()
    for query, scores in ours.items():
        assert theirs[query] == pytest.approx(scores, abs=1e-13, rel=1e-13)


def test_rrf_of_qdrant_counts_from_0_with_k_2():
    named = {
        query: {int(doc[1:]): score for doc, score in docs.items()}
        for query, docs in fuse(RUNS, k=1).as_dict().items()
    }
    assert_same(named, with_qdrant(reciprocal_rank_fusion))


def test_dbsf_of_qdrant_is_ours_with_the_deviation_of_a_sample():
    shrunk = {}
    for run in RUNS:
        for query, docs in run.items():
            count = len(docs)
            of_run = fuse([{query: docs}, {query: docs}], "max", normalise="dbsf").as_dict()[query]
            for doc, score in of_run.items():
                ours = 0.5 + (score - 0.5) * ((count - 1) / count) ** 0.5
                of_query = shrunk.setdefault(query, {})
                of_query[int(doc[1:])] = of_query.get(int(doc[1:]), 0.0) + ours
    assert_same(shrunk, with_qdrant(distribution_based_score_fusion))
