"""Scores on Spark have the bits of those in memory: every policy, session and method."""

import pytest

import spark_cases
import spark_servers

spark_servers.skip_without_java()

from beir_eval.integrations.spark import evaluate, summarise  # noqa: E402

#: Other measures: the highest grade of all qrels, undefined scores, dots in names, other means.
OTHERS = [
    "ERR@20",
    "Judged@10",
    "Precision(rel=2)@5",
    "RBP(p=0.8)",
    "gm_map",
    "num_rel_ret",
    "bpref",
]


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Return {whether documents are listed twice: a small generated case}."""
    folder = tmp_path_factory.mktemp("generated")
    return {
        twice: spark_cases.generated_case(folder / str(twice), 20_000, with_duplicates=twice)
        for twice in (False, True)
    }


@pytest.fixture(scope="module")
def real(tmp_path_factory, realdata):
    folder = tmp_path_factory.mktemp("real")
    return {
        twice: spark_cases.real_case(folder / str(twice), realdata, names)
        for twice, names in ((False, spark_cases.REAL_RUNS[:-1]), (True, spark_cases.REAL_RUNS))
    }


@pytest.fixture(scope="module")
def two_million(tmp_path_factory):
    return spark_cases.generated_case(tmp_path_factory.mktemp("large") / "case", 2_000_000)


def evaluated(session, case, measures=None, **settings):
    position = "place" if spark_cases.needs_position(settings) else None
    return evaluate(*case.frames(session), measures, position=position, **settings)


@spark_cases.sessions("local")
def test_every_real_run_scores_the_same(session, realdata, tmp_path):
    paths = sorted((realdata / "runs").glob("*/*.trec"))
    names = [f"{path.parent.name}/{path.stem}" for path in paths if path.stem != "kl_hybrid"]
    case = spark_cases.real_case(tmp_path / "case", realdata, names)
    assert len(names) > 15
    spark_cases.assert_equal(summarise(evaluated(session, case)), case.expected())


@spark_cases.policies_in_turn()
def test_real_runs_score_the_same_under_each_policy(session, real, policies, method):
    case = real[policies.get("duplicates", "error") != "error"]
    result = summarise(evaluated(session, case, method=method, **policies))
    spark_cases.assert_equal(result, case.expected(**policies))


@spark_cases.sessions("local")
@pytest.mark.parametrize("policies", spark_cases.POLICIES, ids=str)
def test_a_generated_run_scores_the_same_under_each_policy(session, generated, policies):
    case = generated[policies.get("duplicates", "error") != "error"]
    # The other method than on real runs.
    method = spark_cases.METHODS[(spark_cases.POLICIES.index(policies) + 1) % 2]
    result = summarise(evaluated(session, case, method=method, **policies))
    spark_cases.assert_equal(result, case.expected(**policies))


@pytest.mark.parametrize(
    ("started", "method"), [("cluster", "cogroup"), ("connect", "sort")], indirect=["started"]
)
def test_two_million_rows_score_the_same(session, two_million, method):
    assert two_million.num_rows > 1_900_000
    result = summarise(evaluated(session, two_million, method=method))
    spark_cases.assert_equal(result, two_million.expected())


@spark_cases.sessions("local", "connect")
@pytest.mark.parametrize("method", spark_cases.METHODS)
@pytest.mark.parametrize("partitions", [1, 7, 50])
def test_the_number_of_parts_changes_nothing(session, generated, method, partitions):
    result = summarise(
        evaluated(session, generated[False], OTHERS, method=method, partitions=partitions)
    )
    spark_cases.assert_equal(result, generated[False].expected(OTHERS))
