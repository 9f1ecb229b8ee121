"""Public functions take their arguments by one rule, so that a call from memory works."""

import inspect

import pytest

import beir_eval
from beir_eval import benchmark, comparison, datasets, evaluation, significance, validation
from beir_eval.integrations import haystack as haystack_integration

PACKAGES = (beir_eval, benchmark, comparison, datasets, evaluation, significance, validation)
#: What is judged: a parameter of these names is the first.
JUDGED = ("qrels", "dataset", "datasets")
#: What is ranked: behind what is judged, or first where judgements are part of it.
RANKED = ("run", "runs", "systems", "results", "stages", "pipeline", "retriever")
#: Names that other packages give to parameters of the same meaning.
OTHER_NAMES = (
    "run_name",
    "system_name",
    "verbose",
    "show_progress",
    "seed",
    "random_state",
    "metrics",
)


def _functions():
    packages = [*PACKAGES, haystack_integration]
    functions = {}
    for package in packages:
        for name in package.__all__:
            value = getattr(package, name)
            # Measures are functions too, whose parameters are those of their definitions.
            is_call = inspect.isfunction(value) or inspect.isclass(value)
            if is_call and (value.__module__ or "").startswith("beir_eval"):
                functions[name] = value
    return functions


FUNCTIONS = _functions()
#: A record or a reader of a file, whose fields are no arguments of a call from memory.
SIGNATURES = {
    name: list(inspect.signature(value).parameters.values())
    for name, value in FUNCTIONS.items()
    if name[0].islower() or name in {"Evaluator", "Benchmark"}
}
#: The first argument is the file that is written; the names are those of Haystack's own class.
EXCEPTIONS = {"to_evaluation_run_result", "write_report"}


@pytest.mark.parametrize("name", sorted(set(SIGNATURES) - EXCEPTIONS))
def test_what_is_judged_comes_first_then_what_is_ranked_then_the_measures(name):
    parameters = SIGNATURES[name]
    names = [parameter.name for parameter in parameters]
    positional = [
        parameter.name
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    for judged in JUDGED:
        assert judged not in names or positional[0] == judged
    ranked = [listed for listed in names if listed in RANKED]
    if ranked and ranked[0] in positional:
        assert positional.index(ranked[0]) == (positional[0] in JUDGED)
    if "measures" in names:
        assert "measures" in positional
        inputs = {*JUDGED, *RANKED, "predictions", "gold", "slices", "steps", "comparison"}
        assert set(positional[: positional.index("measures")]) <= inputs
    assert not set(OTHER_NAMES) & set(names)
    if "measure" in names:  # one measure
        measure = parameters[names.index("measure")]
        assert "Iterable" not in str(measure.annotation)


def test_the_rule_is_checked_on_the_calls_that_people_write():
    calls = (
        "evaluate compare compare_runs compare_slices checkpoint_curve evaluate_pipeline validate"
    )
    assert set(calls.split()) <= set(SIGNATURES)
