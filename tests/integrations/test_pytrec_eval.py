"""The module replaces pytrec_eval: same interface, same numbers to the last bit."""

import inspect
import json
import math

import pytest
import pytrec_eval
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import beir_eval.integrations.pytrec_eval as ours
from beir_eval.benchmark.systems import MTEB_TASKS
from beir_eval.datasets.catalogue import DATASETS
from beir_eval.errors import (
    DuplicateDocumentError,
    FileFormatError,
    RunError,
)
from processes import python
from strategies import qrels_and_run

#: Made runs look like mistakes, which they are not here.
pytestmark = pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")
QRELS = {"q": {"a": 1, "b": 0, "c": 2}, "r": {"d": 1}}
RUN = {"r": {"x": 2.0, "d": 1.0}, "q": {"a": 1.0, "b": 2.0, "x": 3.0}, "other": {"a": 1.0}}
PARAMETERS = ["set_F.0.5", "P_5,10", "P.7.5", "iprec_at_recall_0.2,0.35", "Rprec_mult.1"]
PARAMETERS += ["relstring.3", "utility.1,2,3,4", "success.3", "ndcg_cut.3", "map_cut_2"]
WITH_CUTOFFS = {"ndcg_cut", "map_cut", "P", "recall", "success", "relative_P"}
ALL_MEASURES = {f"{name}.1,2,3,5,10,1000" for name in WITH_CUTOFFS}
ALL_MEASURES |= pytrec_eval.supported_measures - WITH_CUTOFFS


def evaluate_with_both(qrels, run, measures, **settings):
    theirs = pytrec_eval.RelevanceEvaluator(qrels, measures, **settings).evaluate(run)
    for values in theirs.values():  # pytrec_eval divides by zero if nothing is relevant
        for name, value in values.items():
            if "relative_P" in name and math.isnan(value):
                values[name] = 0.0
    return ours.RelevanceEvaluator(qrels, measures, **settings).evaluate(run), theirs


@given(qrels_and_run(min_size=1), st.integers(1, 4), st.booleans())
@settings(max_examples=4 * settings.default.max_examples)
def test_every_measure_has_the_values_of_pytrec_eval_in_the_same_order(case, level, judged_only):
    qrels, run = case
    # pytrec_eval can crash on a query with only negative grades, and on empty rankings.
    assume(all(max(judged.values()) >= 0 for judged in qrels.values()))
    assume(
        all(
            any(qrels.get(query, {}).get(doc, -1) >= 0 for doc in docs)
            for query, docs in run.items()
        )
        or not judged_only
    )
    run = {query: {doc: float(score) for doc, score in docs.items()} for query, docs in run.items()}
    settings = {"relevance_level": level, "judged_docs_only_flag": judged_only}
    scores, expected = evaluate_with_both(qrels, run, ALL_MEASURES, **settings)
    assert scores == expected
    assert list(scores) == list(expected)


@pytest.mark.parametrize("measure", [*PARAMETERS, *ours.supported_nicknames])
def test_parameters_and_nicknames_mean_the_same_as_in_pytrec_eval(measure):
    scores, expected = evaluate_with_both(QRELS, RUN, {measure})
    assert scores == expected
    assert list(scores) == list(expected) == ["r", "q"]


#: As pytrec_eval reads them: {name: the name that its beginning spells}
READ_BY_THEIR_BEGINNING = {
    "P_5_10": "P_5",
    "recall_1e3": "recall_1",
    "ndcg_cut_10\n": "ndcg_cut_10",
    "iprec_at_recall.0.1x": "iprec_at_recall_0.1",
    "map.5": "map",
}


@pytest.mark.filterwarnings("ignore:the measure:beir_eval.BeirEvalWarning")
@pytest.mark.parametrize("name", READ_BY_THEIR_BEGINNING)
def test_the_beginning_of_a_name_counts_as_in_pytrec_eval(name):
    scores, expected = evaluate_with_both(QRELS, RUN, {name})
    assert scores == expected
    assert scores == ours.RelevanceEvaluator(QRELS, {READ_BY_THEIR_BEGINNING[name]}).evaluate(RUN)


@pytest.mark.parametrize(
    "name", ["P_\u0663", "map_cut_", "all_trec_5", "iprec_at_recall_.1", "xP_5"]
)
def test_a_name_without_a_known_beginning_is_unsupported_in_both(name):
    for module in (ours, pytrec_eval):
        with pytest.raises(ValueError, match="unsupported measure"):
            module.RelevanceEvaluator(QRELS, {name})


#: Scores that are infinite, or infinite as float32, and their neighbours.
HUGE = [math.inf, -math.inf, 1e39, -1e39, 1e300, 3.4028235e38, 3.4028236e38, 0.0, -0.0, 1e-50]
ODD_IDS = st.sampled_from(["", "a", "b", " ", "\t", "\x02", "é", "\U0001f600"])


@pytest.mark.filterwarnings("ignore:run. document ids:beir_eval.BeirEvalWarning")
@given(
    st.dictionaries(ODD_IDS, st.dictionaries(ODD_IDS, st.integers(0, 3), min_size=1), min_size=1),
    st.dictionaries(ODD_IDS, st.dictionaries(ODD_IDS, st.sampled_from(HUGE), min_size=1)),
)
@settings(max_examples=2 * settings.default.max_examples)
def test_infinite_scores_and_empty_ids_count_as_in_pytrec_eval(qrels, run):
    before = json.dumps([qrels, run])
    measures = pytrec_eval.supported_measures - {"relative_P", "set_relative_P"}
    scores, expected = evaluate_with_both(qrels, run, measures)
    assert scores == expected
    assert list(scores) == list(expected)
    assert json.dumps([qrels, run]) == before


def test_a_run_that_is_no_mapping_is_refused_and_no_empty_result():
    for qrels in (QRELS, {}):
        with pytest.raises(RunError, match="not list"):
            ours.RelevanceEvaluator(qrels, {"map"}).evaluate([("q", {"a": 1.0})])


def test_the_interface_is_that_of_pytrec_eval():
    assert ours.supported_measures == pytrec_eval.supported_measures
    for name, measures in ours.supported_nicknames.items():
        assert measures == pytrec_eval.supported_nicknames[name]
    assert set(pytrec_eval.__all__) <= set(ours.__all__)
    for name in ("RelevanceEvaluator", "parse_run", "parse_qrel", "compute_aggregated_measure"):
        mine, theirs = (inspect.signature(getattr(module, name)) for module in (ours, pytrec_eval))
        assert [(parameter.name, parameter.default) for parameter in mine.parameters.values()] == [
            (parameter.name, parameter.default) for parameter in theirs.parameters.values()
        ]


def test_values_of_several_queries_are_aggregated_as_in_pytrec_eval():
    for measure in ("num_rel", "gm_map", "map"):
        values = [-0.5, -0.25, -3.0]
        theirs = pytrec_eval.compute_aggregated_measure(measure, values)
        assert ours.compute_aggregated_measure(measure, values) == theirs


def test_lines_are_parsed_as_in_pytrec_eval():
    run, qrels = ["q Q0 a 1 0.5 tag\n", "q\tQ0\tb 2 0.25 tag\n"], ["q 0 a 1\n", "r 0 b -1\n"]
    assert ours.parse_run(run) == pytrec_eval.parse_run(run)
    assert ours.parse_qrel(qrels) == pytrec_eval.parse_qrel(qrels)
    with pytest.raises(DuplicateDocumentError, match="line 2: document 'a' is listed twice"):
        ours.parse_run([run[0], run[0]])
    for module in (ours, pytrec_eval):
        with pytest.raises(AssertionError):
            module.parse_run([run[0], run[0]])
        with pytest.raises(AssertionError):
            module.parse_qrel([qrels[0], qrels[0]])
        with pytest.raises(ValueError):  # noqa: PT011 - pytrec_eval's words are Python's
            module.parse_run(["q Q0 a 1 high tag"])
    with pytest.raises(FileFormatError, match="5 columns, expected 6"):
        ours.parse_run(["q Q0 a 1 0.5"])
    with pytest.raises(FileFormatError, match=r"'1\.5' is no int"):
        ours.parse_qrel(["q 0 a 1.5"])


def test_qrels_and_a_run_without_a_common_query_give_an_empty_result():
    for qrels, run in ((QRELS, {}), (QRELS, {"x": {"a": 1.0}}), ({}, RUN), ({"q": {}}, RUN)):
        scores, expected = evaluate_with_both(qrels, run, {"map"})
        assert scores == expected == {}


@given(qrels_and_run(min_size=1))
def test_without_measures_every_evaluated_query_is_listed(case):
    qrels, run = case
    run = {query: {doc: float(score) for doc, score in docs.items()} for query, docs in run.items()}
    for no_measures in (set(), [], ()):
        scores, expected = evaluate_with_both(qrels, run, no_measures)
        assert scores == expected
        assert list(scores) == list(expected)
        assert all(values == {} for values in scores.values())


def test_the_version_is_that_of_the_installed_pytrec_eval():
    assert ours.__version__ == pytrec_eval.__version__


def test_after_install_the_module_is_imported_as_pytrec_eval():
    code = (
        "import beir_eval.integrations.pytrec_eval as ours; ours.install();"
        "import pytrec_eval; assert pytrec_eval is ours;"
        "from pytrec_eval import RelevanceEvaluator;"
        "import sys; assert 'pytrec_eval_ext' not in sys.modules"
    )
    python("-c", code)


#: As where the extension cannot be built.
WITHOUT_THE_EXTENSION = (
    "sys.modules['pytrec_eval_ext'] = None;"
    "import beir_eval.integrations.pytrec_eval as ours; ours.install()"
)


def printed_by(code, *arguments, setup=WITHOUT_THE_EXTENSION):
    """Return the JSON that code prints in a process of its own; it reads the arguments."""
    process = python("-c", f"import json, sys; {setup}\n{code}", input=json.dumps(arguments))
    return json.loads(process.stdout.splitlines()[-1])


@pytest.mark.peers
def test_beir_runs_on_the_module_where_the_extension_is_absent():
    beir = pytest.importorskip("beir.retrieval.evaluation", reason="beir is not installed")
    arguments = [QRELS, RUN, [1, 3, 10]]
    code = """
from beir.retrieval.evaluation import EvaluateRetrieval
print(json.dumps(EvaluateRetrieval.evaluate(*json.load(sys.stdin))))
"""
    expected = beir.EvaluateRetrieval.evaluate(*arguments)
    assert printed_by(code, *arguments) == [dict(scores) for scores in expected]


@pytest.mark.slow
@pytest.mark.peers
def test_task_names_splits_and_licences_are_those_of_mteb():
    mteb = pytest.importorskip("mteb", reason="mteb is not installed")
    for name, task in MTEB_TASKS.items():
        metadata, info = mteb.get_task(task).metadata, DATASETS[name.partition("/")[0]]
        assert info.split in metadata.eval_splits
        if name != "scifact":  # its repository says more
            assert info.licence == metadata.license


def test_an_empty_id_of_the_run_matches_no_other_id_of_the_qrels():
    qrels, run = {"q": {"\1": 1}}, {"q": {"": 1.0, "b": 2.0}}
    scores = [tool.RelevanceEvaluator(qrels, {"map"}).evaluate(run) for tool in (ours, pytrec_eval)]
    assert scores[0] == scores[1] == {"q": {"map": 0.0}}
