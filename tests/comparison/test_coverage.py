"""No output of a comparison shows a verdict without the warnings about its systems.

An input that looks wrong is named above the verdict, all else below it and above the table.
"""

import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from beir_eval import (
    BeirEvalWarning,
    assert_no_regression,
    check_gate,
    compare,
    compare_runs,
    evaluate,
    write_report,
    write_run,
)
from beir_eval.comparison import to_junit
from beir_eval.errors import InputError
from command_line import run as run_command

QRELS = {f"q{number:02}": {f"{1000 + number}": 1} for number in range(20)}
GOOD = {query: {doc: 2.0, "9": 1.0} for query, judged in QRELS.items() for doc in judged}
HALF = {query: GOOD[query] for query in list(QRELS)[:10]}
BAD = {query: {f"msmarco_{doc}": score for doc, score in GOOD[query].items()} for query in QRELS}
MEASURE = "nDCG@10"
#: What every output of a comparison with such a run must hold.
CASES = {
    "half": (
        HALF,
        (
            "10 of 20 judged queries are missing",
            "and count as 0: nDCG@10 is 0.5000, and 1.0000 over the other 10",
        ),
    ),
    "bad": (BAD, ("document ids do not match", "msmarco_1000", "begin with 'msmarco_'")),
}


@pytest.fixture(params=CASES)
def case(request):
    """Return the comparison of a run with the baseline, its results, and words of the warning."""
    run, words = CASES[request.param]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeirEvalWarning)
        results = {
            "base-1": evaluate(QRELS, GOOD, MEASURE, name="base-1"),
            "new-2": evaluate(QRELS, run, MEASURE, name="new-2"),
        }
        yield compare(results, baseline="base-1"), results, words


def assert_warned(text, words, *, before=None):
    """Check that the text holds the words, the first of them before the first verdict."""
    for word in words:
        assert word in text
    if before is not None:
        assert 0 <= text.index(words[0]) < text.index(before)


def unescaped(text):
    """Return HTML or Markdown without the escapes of quotes and backslashes."""
    return text.replace("&#x27;", "'").replace("&#39;", "'").replace("\\", "")


def test_every_text_of_a_comparison_warns_beside_the_verdict(case):
    comparison, _, words = case
    [warning] = comparison.warnings()
    looks_wrong = warning.startswith("check first: new-2: ")
    assert looks_wrong or warning.startswith("new-2: ")
    assert comparison.notes()[0] == warning
    lines = str(comparison).splitlines()
    assert lines[: lines.index("")][0 if looks_wrong else -1].endswith(warning)
    assert_warned(unescaped(comparison.to_markdown()), words, before="|")
    if looks_wrong:
        assert_warned(unescaped(comparison.to_markdown()), words, before="- nDCG@10")
    assert_warned(comparison.to_latex(), words, before=r"\begin{tabular}")
    assert comparison.to_latex().startswith("% Warning: ")
    assert_warned(unescaped(comparison._repr_html_()), words, before="<table")
    header, row = comparison.to_csv().splitlines()
    assert header.endswith(",warning")
    assert_warned(row, words)


def test_a_comparison_without_problems_has_no_warning():
    comparison = compare_runs(QRELS, {"A": GOOD, "B": GOOD}, MEASURE)
    assert comparison.warnings() == []
    assert comparison.coverage == ()
    assert comparison.to_csv().splitlines()[1].endswith(",")
    assert "arning" not in comparison.to_markdown() + comparison.to_latex()


def test_the_gate_warns_in_every_form(case):
    comparison, results, words = case
    checks = check_gate(comparison, MEASURE)
    assert [list(check.warnings) for check in checks] == [comparison.warnings()]
    [output] = ET.fromstring(to_junit(checks)).iter("system-out")  # noqa: S314 - our own text
    assert_warned(output.text, words)
    assert [check.outcome for check in checks] == ["undecided"]
    with pytest.raises(InputError) as caught:
        assert_no_regression(results["new-2"], results["base-1"], MEASURE)
    assert_warned(str(caught.value), words, before="new-2 vs base-1")
    if results["new-2"].counted.queries_missing:
        with pytest.raises(AssertionError, match=r"missing from new-2\)") as caught:
            assert_no_regression(results["new-2"], results["base-1"], MEASURE, allow_missing=True)
        assert_warned(str(caught.value), words, before="new-2 is worse than base-1")


def test_the_report_shows_the_warning_first_in_the_box_of_the_verdict(case, tmp_path):
    comparison, results, words = case
    for what in (comparison, list(results.values())):
        write_report(tmp_path / "r.html", what)
        page = unescaped((tmp_path / "r.html").read_text())
        assert_warned(page, words, before='<h2 id="verdict">' if what is comparison else "<table")


@pytest.mark.parametrize("name", CASES)
def test_every_command_and_its_files_warn_beside_the_verdict_and_before_the_scores(name, tmp_path):
    run, words = CASES[name]
    qrels = tmp_path / "qrels.trec"
    qrels.write_text("".join(f"{q} 0 {d} 1\n" for q, docs in QRELS.items() for d in docs))
    files = [tmp_path / "base.trec", tmp_path / "new.trec"]
    for path, rankings in zip(files, (GOOD, run), strict=True):
        write_run(rankings, path)
    targets = {kind: tmp_path / f"c.{kind}" for kind in ("md", "tex", "csv", "json", "html")}
    options = [text for path in targets.values() for text in ("-o", path)]
    gate = ["--gate", MEASURE, "-o", tmp_path / "c.xml"]
    result = run_command("compare", qrels, *files, "--baseline", "base", *options, *gate)
    assert result.exit_code == 2, result.output
    assert_warned(result.stdout, words, before="new vs " if name == "bad" else "More: --detail")
    for stream in (result.stdout, result.stderr):
        assert stream.count("check first: " if name == "bad" else "warning: ") == 1
    for path in (*targets.values(), tmp_path / "c.xml"):
        assert_warned(unescaped(path.read_text()), words[:1])
    markdown = targets["md"].read_text()
    assert markdown.count("**Warning:**") == 1
    assert markdown.index("**Warning:**") < markdown.index("**Gate undecided**")
    result = run_command("evaluate", qrels, *files, "-m", MEASURE)
    assert result.exit_code == 0, result.output
    assert_warned(result.stdout, words, before="\n\n")
    out = ["--keep", str(tmp_path / "out"), "-o", str(tmp_path / "b.csv")]
    result = run_command("bench", qrels, *files, *out)
    assert result.exit_code == 0, result.output
    assert_warned(result.stdout, words[:1], before="\n\n")
    assert words[0] in (tmp_path / "b.csv").read_text()


def test_compare_and_compare_runs_emit_one_python_warning_at_the_callers_line():
    with pytest.warns(BeirEvalWarning, match="new: document ids do not match") as caught:
        compare_runs(QRELS, {"base": GOOD, "new": BAD}, MEASURE)
    assert [warning.filename for warning in caught] == [__file__]


def test_missing_queries_are_no_python_warning_where_a_finding_concerns_no_measure_shown():
    rng = np.random.default_rng(1)
    qrels = {
        str(query): {str(100 * query + number): number % 4 for number in range(60)}
        for query in range(1, 13)
    }
    runs = {
        name: {query: {doc: rng.random() for doc in judged} for query, judged in qrels.items()}
        for name in ("base", "new")
    }
    del runs["new"]["1"]
    with pytest.warns(BeirEvalWarning, match="TREC Deep Learning"):
        results = [evaluate(qrels, run, [MEASURE, "MAP"], name=name) for name, run in runs.items()]
    with warnings.catch_warnings():
        warnings.simplefilter("error", BeirEvalWarning)
        comparison = compare(results, measures=MEASURE)
    [covered] = comparison.coverage
    assert [finding.code for finding in covered.findings] == ["deep-learning-grades"]
    assert len(comparison.warnings()) == 1


def test_every_repeat_is_named():
    comparison = compare_runs(QRELS, {"A": [GOOD, HALF], "B": GOOD}, MEASURE)
    [covered] = comparison.coverage
    assert (covered.system, covered.repeat, covered.queries_missing) == ("A", 2, 10)
    assert comparison.warnings()[0].startswith("A, repeat 2: 10 of 20 judged queries")
