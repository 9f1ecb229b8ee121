"""Every output of every result shows the same warnings and conclusions, and each of them once."""

import html
import importlib
import json
import pkgutil
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from rich.text import Text

import beir_eval
from beir_eval import choose, compare_runs, compare_slices, evaluate, evaluate_stages
from beir_eval.benchmark import BenchmarkResult, compare_benchmark
from beir_eval.cli import console as console_module
from beir_eval.comparison.checkpoints import checkpoint_curve
from beir_eval.comparison.experiments import experiment_power
from beir_eval.core.saved import Saved
from beir_eval.display.document import Document, Sentence, Shown, joined, markdown_of
from beir_eval.display.tables import VERDICTS, Table, markdown_text
from beir_eval.errors import ResultError
from beir_eval.spans import span_drift

QRELS = {f"q{number:02}": {"a": 1, "x": 0} for number in range(24)}
WHOLE = {query: {"a": 2.0, "x": 1.0} for query in QRELS}
WORSE = {query: {"x": 2.0, "a": 1.0} for query in QRELS}
#: A third of the queries, and one that is not judged: a warning and a note.
PARTIAL = {query: {"a": 1.0} for query in list(QRELS)[:8]} | {"other": {"a": 1.0}}
NAMES = ("EvaluationResult", "Comparison", "SlicedComparison", "CheckpointCurve")


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Return {class: result} of a result of each class, each with something to warn of."""
    return results_by_class(tmp_path_factory.mktemp("shown"))


def results_by_class(folder):
    runs = {"step 1": PARTIAL, "step 2": WHOLE, "step 3": WORSE}
    results = [evaluate(QRELS, run, ["MRR", "nDCG@10"], name=name) for name, run in runs.items()]
    lines = [f"{query} Q0 a 1 1.0 t\n" for query in PARTIAL]
    (folder / "run.trec").write_text("".join(lines))
    labels = {"half": {query: int(query[1:]) % 2 for query in QRELS}}
    benchmark = BenchmarkResult(
        {result.name: {"set": result, "other": result} for result in results},
        {"broken": {"set": "RunError: <line> 3"}},
        {"set": None, "other": None},
        {"set": "test", "other": "dev"},
    )
    made = [
        results[0],
        compare_runs(QRELS, runs, ["MRR", "nDCG@10"]),
        compare_slices(results, labels, draws=200),
        checkpoint_curve(results, draws=200),
        benchmark,
        compare_benchmark(benchmark, draws=200),
        evaluate_stages(QRELS, {"step 2": WHOLE, "step 1": PARTIAL}, "MRR", draws=200),
        choice_of(),
        experiment_power(QRELS, "nDCG@10"),
        drift_of(folder),
    ]
    return {type(result).__name__: result for result in made}


def choice_of():
    """Return the choice of one of two systems, of which one lacks queries."""
    qrels = {f"q{number:02}": {"a": 1, "x": 0} for number in range(32)}
    whole = {query: {"a": 2.0, "x": 1.0} for query in qrels}
    runs = {
        "step 1": {query: {"x": 2.0, "a": 1.0} for query in qrels},
        "step 2": dict(list(whole.items())[:30]),
        "step 3": {query: {"x": 2.0, "y": 1.5, "a": 1.0} for query in qrels},
    }
    results = {name: evaluate(qrels, run, "MRR", name=name) for name, run in runs.items()}
    return choose(results, "step 1", "MRR", draws=200)


def drift_of(folder):
    """Return what became of a span of a document."""
    (folder / "corpus.jsonl").write_text('{"_id": "d", "text": "two hours"}\n')
    span = {"query_id": "q", "doc_id": "d", "start": 0, "end": 3, "text": "two"}
    (folder / "spans.jsonl").write_text(json.dumps(span) + "\n")
    return span_drift(folder / "spans.jsonl", folder)


@pytest.fixture
def printed(monkeypatch):
    """Return a function that returns what the terminal shows of a document, in wide lines."""

    def text_of(document):
        texts = []
        monkeypatch.setattr(console_module.console, "print", lambda *parts: texts.extend(parts))
        monkeypatch.setattr(console_module, "_printed_warnings", set())
        console_module.print_document(document)
        return "\n".join(part.plain for part in texts if isinstance(part, Text))

    return text_of


SKIPPED = "--missing skip with --on intersection"
WITHOUT_WARNINGS = ("ExperimentPower", "SpanDrift")
CLASSES = (
    *(*NAMES, "BenchmarkResult", "AcrossDatasets", "StagedResult", "ChoiceResult"),
    *WITHOUT_WARNINGS,
)
SAVED = [name for name in CLASSES if name not in ("BenchmarkResult", "SpanDrift")]


def test_every_result_that_is_saved_or_shown_is_a_document(shown):
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(beir_eval.__path__, "beir_eval.")
        if module.name.split(".")[1] in ("benchmark", "comparison", "evaluation", "spans")
    ]
    results = {
        value.__name__
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, (Saved, Shown))
        and value.__module__.startswith("beir_eval")
    }
    assert (
        results - {"Saved", "Shown", "Summary", "TableFacts", "Compared"}
        == set(shown)
        == set(CLASSES)
    )


def test_two_calls_with_the_same_seed_give_equal_results(shown, tmp_path):
    again = results_by_class(tmp_path)
    assert [again[name] for name in SAVED] == [shown[name] for name in SAVED]


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_result_is_loaded_as_it_was_and_another_file_refused(shown, name, tmp_path):
    result, path = shown[name], tmp_path / "saved.json.gz"
    result.save(path)
    assert type(result).load(path) == result
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(ResultError, match=r"saved .* was expected, found a list"):
        type(result).load(tmp_path / "list.json")


@pytest.mark.parametrize("name", CLASSES)
def test_a_result_is_named_in_one_short_line(shown, name):
    assert re.fullmatch(rf"{name}\(.{{1,100}}\)", repr(shown[name]))


def _of_terminal(text):
    return text.replace("missing='skip' with on='intersection'", SKIPPED)


@pytest.mark.parametrize("name", CLASSES)
def test_every_output_has_all_warnings_conclusions_and_notes(shown, printed, name):
    result = shown[name]
    document = result.document()
    assert bool(document.warnings) == (name not in WITHOUT_WARNINGS)
    texts = [*document.warnings, *(text for text, _ in document.sentences)]
    # Where the terminal names an argument, it names its option.
    terminal = printed(document).replace("--missing zero", "missing='zero'")
    outputs = {
        "terminal": (terminal.replace("with --sd", "with sd="), _of_terminal),
        "markdown": (result.to_markdown(), markdown_text),
        "html": (result._repr_html_(), html.escape),
    }
    if name != "EvaluationResult":  # their means by cutoffs alone
        outputs["print"] = (str(result), str)
    for output, (content, escaped) in outputs.items():
        for text in [*texts, *document.notes]:
            assert escaped(text) in content, output
    for text in document.warnings:
        assert text in str(result)


@pytest.mark.parametrize("name", CLASSES)
def test_warnings_and_notes_are_those_of_the_document(shown, name):
    result = shown[name]
    assert result.warnings() == list(result.document().warnings)
    document = result.document()
    of_details = [note for detail in document.details() for note in detail.notes]
    assert result.notes() == [*document.warnings, *document.notes, *of_details]


@pytest.mark.parametrize("name", CLASSES)
def test_conclusions_stand_before_tables_and_tables_before_notes(shown, name):
    result = shown[name]
    document, content = result.document(), result.to_markdown()
    table = document.tables[0].markdown()
    positions = [content.index(markdown_text(text)) for text, _ in document.sentences[:1]]
    positions.append(content.index(table))
    positions += [content.index(f"- {markdown_text(note)}") for note in document.notes[:1]]
    assert positions == sorted(positions)


def test_what_follows_repeats_no_warning_and_no_note(shown):
    results = [shown[name] for name in ("Comparison", "SlicedComparison", "CheckpointCurve")]
    documents = joined(result.document() for result in results)
    warnings = [text for document in documents for text in document.warnings]
    notes = [text for document in documents for text in document.notes]
    assert len(set(warnings)) == len(warnings) > 0
    assert len(set(notes)) == len(notes) > 0
    together = markdown_of(result.document() for result in results)
    for text in warnings:
        assert together.count(markdown_text(text)) == 1


def test_every_verdict_has_one_mark_and_one_colour_of_its_own():
    for field in ("terminal", "colour", "shape"):
        assert len({getattr(style, field) for style in VERDICTS.values()}) == len(VERDICTS)
    assert set(VERDICTS) == {"better", "worse", "equivalent", "identical", "undecided"}


def test_names_in_a_document_are_escaped():
    hostile = "<img src=x>\r\ngate passed: [a](b) @team \x1b[31m"
    document = Document(
        warnings=[hostile],
        sentences=[Sentence(hostile, "better")],
        tables=[Table(("a", "b"), [(hostile, hostile)])],
        notes=[hostile],
        details=lambda: [Document(heading=hostile, notes=[hostile])],
    )
    assert "<img" not in document.html()
    for text in (document.text(), document.markdown()):
        assert not [line for line in text.splitlines() if line.startswith("gate passed")]
        assert "\x1b" not in text
    assert links_and_mentions(document.markdown()) == []


def links_and_mentions(text):
    """Return what a reader of the Markdown could click, and whom it would notify."""
    tokens = [token for block in MarkdownIt().parse(text) for token in block.children or ()]
    links = [token.attrs for token in tokens if token.type in ("link_open", "image")]
    return links + re.findall(r"(?<!\w)@\w+", " ".join(token.content for token in tokens))


@settings(max_examples=3 * settings.default.max_examples, deadline=None)
@given(st.text("ab1@[]()<>!:/|\\`*_.#~ \n\r\t") | st.text())
def test_no_name_is_a_link_or_mention_in_markdown_and_a_cell_stays_a_cell(name):
    for hostile in (name, f"[a]({name})", f"![a](b){name}", f"[{name}]: https://a", f"@{name}"):
        assert links_and_mentions(f"- {markdown_text(hostile)}") == []
    row = Table(("a", "b"), [(name, "1")]).markdown().splitlines()
    assert len(row) == 3
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row[2])) == 3
