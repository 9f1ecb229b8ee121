"""Numbers in comparisons of real runs: tests, intervals, likeness, averages."""

import dataclasses
import json
import math
import re
import warnings
from functools import partial

import numpy as np
from pydantic import BaseModel

from beir_eval import (
    BeirEvalError,
    BeirEvalWarning,
    check_gate,
    checkpoint_curve,
    compare,
    compare_benchmark,
    compare_runs,
    compare_slices,
    evaluate,
    read_qrels,
    read_run,
    significance,
)
from beir_eval.significance.equivalence import non_inferiority
from beir_eval.significance.power import minimum_detectable_difference, queries_needed
from beir_eval.significance.stratified import balanced, stratified_bootstrap
from recorded.digest import digest_of
from recorded.values import DATA_SETS

MEASURES = ("nDCG@10", "MAP@100", "MRR@10", "Recall@100")
#: What a record is about, and what is recorded of it as it is, in the order of the line.
WHO = ("measure", "dataset", "label", "checkpoint", "system", "against")
SHOWN = (
    *("mean", "difference", "low", "high", "p", "p_corrected", "verdict", "outcome"),
    *("detectable", "detectable_low", "detectable_high", "queries_low", "queries_high"),
)
#: Longer dicts hold records; lists of more characters are recorded by a hash.
LONGEST, LONGEST_TEXT = 12, 100
#: Recorded by their count, sum and extremes: their last bits depend on the processor.
DRAWN = ("resampled",)


def record(data):
    """Return one line for each record of each comparison: its name, its path, its numbers."""
    lines = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeirEvalWarning)
        for name, compute in _comparisons(data).items():
            try:
                result = compute()
            except BeirEvalError as error:
                result = {"error": type(error).__name__}
            lines += [
                f"{name} {path}: {numbers}"
                for path, numbers in _flat(_plain(result), "")
                if not path.startswith("whole.")  # of ``compare``
            ]
    return lines


def _comparisons(data):
    """Return {name: a function that computes the comparison}."""
    qrels = {name: read_qrels(data / file) for name, file in DATA_SETS.items()}
    runs = {
        name: {path.stem: read_run(path) for path in sorted((data / "runs" / name).iterdir())}
        for name in DATA_SETS
    }
    results = {
        name: {
            system: evaluate(qrels[name], run, MEASURES, name=system, duplicates="first")
            for system, run in runs[name].items()
            if system != "david_e5"  # no query in common with the qrels
        }
        for name in DATA_SETS
    }
    dl19, scifact = results["dl19"], results["scifact"]
    five = {name: dl19[name] for name in ("bm25", "tas-b", "ada2", "splade-pp", "rep-llama_ties")}
    repeats = [dl19[f"bm25+gpt35-repeat{number}"] for number in range(1, 6)]
    trained = [name for name in dl19 if "vicuna" in name]
    odd = {query: "odd" if int(query) % 2 else "even" for query in qrels["dl19"].query_ids}
    # Two systems on five data sets, two of them in parts; the runs are taken from three.
    sides = {
        "dl19": ("dl19", "bm25", "splade-pp"),
        "dl19/again": ("dl19", "tas-b", "ada2"),
        "trec-covid": ("trec-covid", "bm25", "splade-pp"),
        "scifact": ("scifact", "deng_base", "deng_e5"),
        "scifact/again": ("scifact", "deng_sbert", "kirl_rerank_tabs"),
        "dl19-checkpoints": ("dl19", "bm25+vicuna-7b-v2", "bm25+vicuna-7b-v2-aug"),
        "scifact-hybrid": ("scifact", "deng_base", "kl_hybrid"),
    }
    benchmark = {
        "first": {name: results[origin][first] for name, (origin, first, _) in sides.items()},
        "second": {name: results[origin][second] for name, (origin, _, second) in sides.items()},
    }
    calls = {
        "dl19-runs": partial(compare_runs, qrels["dl19"], runs["dl19"], MEASURES, baseline="bm25"),
        "trec-covid-runs": partial(compare_runs, qrels["trec-covid"], runs["trec-covid"], MEASURES),
        "scifact-runs": partial(
            compare_runs,
            qrels["scifact"],
            {name: run for name, run in runs["scifact"].items() if name != "david_e5"},
            MEASURES,
            baseline="deng_base",
            duplicates="first",
        ),
        "scifact-skipped": partial(
            compare_runs,
            qrels["scifact"],
            {name: run for name, run in runs["scifact"].items() if "deng" in name},
            MEASURES,
            missing="skip",
            on="intersection",
        ),
        "dl19-repeats": partial(compare, {"gpt35": repeats, "bm25": dl19["bm25"]}, baseline="bm25"),
        "scifact-all": partial(compare, scifact),
        "slices": partial(compare_slices, five, odd, baseline="bm25"),
        "checkpoints": partial(
            checkpoint_curve, {name: dl19[name] for name in trained}, steps=trained
        ),
        "benchmark": partial(compare_benchmark, benchmark),
        "benchmark-hierarchical": partial(
            compare_benchmark, benchmark, baseline="first", hierarchical=True
        ),
        "gate": lambda: {"checks": check_gate(compare(five, baseline="bm25"), MEASURES)},
        "gate-non-inferior": lambda: {
            "checks": check_gate(compare(five, baseline="bm25"), MEASURES, non_inferior=True)
        },
    }
    for test in ("sign_flip", "t"):
        for correction in ("holm", "bonferroni", "max-t", "none"):
            for baseline in (None, "bm25"):
                name = f"{test}-{correction}-{'pairs' if baseline is None else baseline}"
                calls[name] = partial(_differences, five, baseline, test, correction)
    return calls | _statistics(results)


def _differences(results, baseline, test, correction):
    """Return {pair: difference} of nDCG@10; their means are recorded with the usual test."""
    comparison = compare(
        results, baseline=baseline, measures="nDCG@10", test=test, correction=correction
    )
    return {
        f"{difference.system}-{difference.against}": _plain(difference)
        for difference in comparison.differences
    }


def _statistics(results):
    """Return {name: a call of a function of ``significance`` on nDCG@10 of real runs}."""
    systems = {
        name: np.array([result.scores("nDCG@10") for result in system_results.values()])
        for name, system_results in results.items()
    }
    dl19, covid = systems["dl19"], systems["trec-covid"]
    first, second = dl19[0], dl19[1]
    pair = [dl19[[0, 2]], covid]
    alternatives = ("two-sided", "greater", "less")
    calls = {
        f"significance.{name}-{alternative}": partial(
            getattr(significance, name), first, second, alternative=alternative
        )
        for name in ("sign_flip", "paired_t")
        for alternative in alternatives
    }
    return calls | {
        "significance.non_inferiority": partial(non_inferiority, first, second, delta=0.05),
        "significance.stratified_bootstrap": partial(stratified_bootstrap, pair),
        "significance.balanced": partial(balanced, pair),
        "significance.detectable": partial(minimum_detectable_difference, 0.2, 43),
        "significance.queries_needed": partial(queries_needed, 0.01, 0.2),
    }


def _plain(content):
    """Return the content as JSON holds it, arrays as lists."""
    if isinstance(content, BaseModel):
        # The results that are compared are recorded as values.
        return json.loads(content.model_dump_json(exclude={"results"}))
    if dataclasses.is_dataclass(content):
        fields = {field.name: getattr(content, field.name) for field in dataclasses.fields(content)}
        return {name: _plain(value) for name, value in fields.items()}
    if isinstance(content, np.ndarray | np.generic):
        return content.tolist()
    if isinstance(content, list | tuple):
        return [_plain(value) for value in content]
    if isinstance(content, dict):
        return {str(name): _plain(value) for name, value in content.items()}
    return content


def _flat(content, path):
    """Yield (path, numbers) of each record: those that a reader looks for, a hash of all others.

    The path has the measure and the systems that the record is about; text is left out, but for
    these and for verdicts.
    """
    if not isinstance(content, dict):
        yield path, _text(content)
        return
    path = ".".join(filter(None, [path, *(str(content[key]) for key in WHO if key in content)]))
    nested = {name: value for name, value in content.items() if _holds_records(value)}
    shown = {name: content[name] for name in SHOWN if isinstance(content.get(name), float | str)}
    others = {
        name: _rounded(value)
        for name, value in content.items()
        if name not in {*shown, *nested, *DRAWN} and not isinstance(value, str)
    }
    texts = [f"{name}={value}" for name, value in shown.items()]
    if any(value is not None for value in others.values()):
        texts.append(f"others={digest_of(json.dumps(others, sort_keys=True))}")
    texts += [f"{name}={_text(_extent(content[name]))}" for name in DRAWN if content.get(name)]
    if texts:
        yield path, " ".join(texts)
    for name, value in nested.items():
        inner_path = f"{path}.{name}".lstrip(".")
        if isinstance(value, dict):
            yield from _flat(value, inner_path)
        else:
            for number, item in enumerate(value):
                is_named = isinstance(item, dict) and not item.keys().isdisjoint(WHO)
                yield from _flat(item, inner_path if is_named else f"{inner_path}[{number}]")


def _holds_records(value):
    if isinstance(value, dict):
        return any(isinstance(item, dict | list) for item in value.values()) or len(value) > LONGEST
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _text(value):
    """Return a number, or a few of them; of many only a hash."""
    text = json.dumps(value, separators=(",", ":"))
    return text if len(text) < LONGEST_TEXT else digest_of(json.dumps(_rounded(value)))


def _extent(values):
    """Return the count, the sum and the extremes of numbers."""
    flat = np.array(values).ravel().tolist()
    return [len(flat), math.fsum(flat), min(flat), max(flat)]


def _rounded(value):
    """Return a value with its numbers to 9 decimals: last bits depend on the processor."""
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    return round(value, 9) + 0.0 if isinstance(value, float) else value


def same(first, second):
    """Return whether two lines agree: the same text, numbers to 12 digits, power to 6.

    Sums over queries are matrix products, whose last bits depend on the processor; those of power
    are of single precision.
    """
    fields, others = first.split(" "), second.split(" ")
    return len(fields) == len(others) and all(map(_same_field, fields, others))


def _same_field(first, second):
    parts, others = (re.split(r"([=,\[\]])", field) for field in (first, second))
    tolerance = 1e-6 if parts[0].startswith("detectable") else 1e-12
    return len(parts) == len(others) and all(
        _close(part, other, tolerance) for part, other in zip(parts, others, strict=True)
    )


def _close(first, second, tolerance):
    try:
        return math.isclose(float(first), float(second), rel_tol=tolerance, abs_tol=1e-15)
    except ValueError:
        return first == second
