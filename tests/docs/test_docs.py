"""The documentation agrees with the code: measures, commands, names and drawings."""

import importlib
import inspect
import math
import re
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from types import ModuleType, SimpleNamespace
from xml.etree import ElementTree as ET

import cli_text
import measures_text
import numpy as np
import pytest

import beir_eval
from beir_eval.core import EvaluationSettings, relate
from beir_eval.errors import MissingExtraError
from beir_eval.measures import Measure, definitions
from doc_examples import check_console, check_workflow

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: The examples of docs/extending.md import what its recipes add.
PAGES = [ROOT / "README.md", *sorted({*DOCS.glob("*.md")} - {DOCS / "extending.md"})]
API = (DOCS / "api.md").read_text()


def sections_of(page, level):
    """Return the text below each heading of this level by heading."""
    parts = re.split(rf"^{'#' * level} (.+)$", page, flags=re.MULTILINE)
    end = re.compile(rf"^#{{1,{level}}} ", re.MULTILINE)
    ended = (end.split(text)[0] for text in parts[2::2])
    return dict(zip(parts[1::2], ended, strict=True))


MEASURES = sections_of(measures_text.reference(), 3)


@pytest.mark.parametrize("name", list(definitions()))
def test_every_measure_has_a_section_with_definition_formula_source_and_example(name):
    section = MEASURES[name].strip()
    assert section.startswith(definitions()[name].summary)
    for part in ("Formula: ", "Undefined ", "Source: ", "\n>>> "):
        assert part in section
    assert ("; no cutoff." in section) == (definitions()[name].cutoff == "none")


def test_the_overview_of_the_measures_links_to_each_once():
    page = (DOCS / "measures.md").read_text()
    links = re.findall(r"\[(\w+)\]\(#(\w+)\)", page.partition("\n## ")[0])
    missing = [f"[{name}](#{name.lower()})" for name in {*definitions()} - {*dict(links)}]
    assert missing == [], "each measure has a link in the overview of docs/measures.md"
    assert len(links) == len(definitions())
    assert all(anchor == name.lower() for name, anchor in links)


def test_the_reference_of_the_command_line_has_every_command_option_and_help_text():
    sections = sections_of(cli_text.reference(), 2)
    assert list(sections) == [f"beir-eval {name}" for name in cli_text.commands()]
    for name, command in cli_text.commands().items():
        section = sections[f"beir-eval {name}"]
        assert inspect.cleandoc(command.help) in section
        plain_text = " ".join(re.sub(r"\\(.)", r"\1", section).split())
        for parameter in command.params:
            is_option = parameter.param_type_name == "option"
            for spelling in parameter.opts if is_option else [parameter.name.upper()]:
                assert f"`{spelling}`" in section
            help_text = " ".join((parameter.help or "").split()).partition(" [default")[0]
            assert f": {help_text}" in plain_text
            if is_option and parameter.default not in (None, False):
                assert f"{help_text} Default: `{parameter.default}`." in plain_text


def test_a_page_with_a_generated_reference_has_one_mark_for_it():
    marks = re.findall(r"<!-- .+ -->", (DOCS / "_ext" / "generated.py").read_text())
    assert len(marks) == 3
    for mark in marks:
        assert sum(page.read_text().count(mark) for page in PAGES) == 1


def resolve(target):
    """Return the object of a dotted name; a package's exports take precedence over its modules."""
    owner, _, name = target.rpartition(".")
    if owner and hasattr(resolve(owner), name):
        return getattr(resolve(owner), name)
    return importlib.import_module(target)


def export_of(module, name):
    """Return an export of a module; its dotted name if a package that it needs is not installed."""
    try:
        return getattr(module, name)
    except AttributeError:
        return resolve(f"{module.__name__}.{name}")
    except MissingExtraError:
        return f"{module.__name__}.{name}"


def documented_targets():
    """Return the dotted names that the API page describes one by one."""
    return re.findall(r"(?m)^\.\. auto(?:function|class|data):: (\S+)", API)


def documented_objects():
    """Return the objects on the API page, including all members of its automodules."""
    objects = []
    for target in documented_targets():
        with suppress(MissingExtraError):
            objects.append(resolve(target))
    for target in re.findall(r"(?m)^\.\. automodule:: (\S+)\n +:members:", API):
        module = resolve(target)
        objects += [
            member
            for member in vars(module).values()
            if getattr(member, "__module__", "") == target
        ]
    return objects


def is_documented(name, value):
    if isinstance(value, Measure):
        return name in MEASURES
    if isinstance(value, str) and value.endswith(f".{name}"):
        return value in documented_targets()
    if isinstance(value, ModuleType) or not callable(value):
        return re.search(rf"\b{name}\b", API) is not None
    return any(value is documented for documented in documented_objects())


def test_the_api_page_has_every_public_name():
    absent = [
        name for name in beir_eval.__all__ if not is_documented(name, getattr(beir_eval, name))
    ]
    assert absent == []


def public_modules():
    """Yield the modules with ``__all__``, except those whose names the root package exports."""
    source = Path(beir_eval.__file__).parent
    measures = source / "measures"
    for path in sorted(source.rglob("*.py")):
        module_path = path.parent if path.name == "__init__.py" else path.with_suffix("")
        parts = module_path.relative_to(source.parent).parts
        is_public = not any(part.startswith("_") for part in parts)
        is_exported_by_root = module_path == source or measures in (module_path, module_path.parent)
        if is_public and not is_exported_by_root and "__all__" in path.read_text():
            yield ".".join(parts)


@pytest.mark.parametrize("module", list(public_modules()))
def test_the_api_page_has_every_name_in_all_of_a_module(module):
    imported = importlib.import_module(module)
    assert [
        name for name in imported.__all__ if not is_documented(name, export_of(imported, name))
    ] == []


def imported_in_examples():
    """Return the names that the documentation imports, by module."""
    names = defaultdict(set)
    for page in PAGES:
        lines = re.findall(
            r"(?m)^(?:>>> |\+)?from ((?:beir_eval|haystack_integrations\.components)[\w.]*)"
            r" import ([\w, ]+)",
            page.read_text(),
        )
        for module, listed in lines:
            names[module] |= {name.strip() for name in listed.split(",")}
    return names


@pytest.mark.parametrize(("module", "names"), sorted(imported_in_examples().items()))
def test_names_that_examples_import_are_on_the_api_page(module, names):
    imported = importlib.import_module(module)
    objects = {name: export_of(imported, name) for name in names}
    assert [name for name, value in objects.items() if not is_documented(name, value)] == []


SVG = "{http://www.w3.org/2000/svg}"


def drawing(name):
    return ET.parse(DOCS / "_drawings" / name).getroot()  # noqa: S314 - ours


def example_of(page, start):
    """Return the names that the example of a page defines, which begins with this import."""
    text = (DOCS / page).read_text()
    (block,) = re.findall(rf"```python\n(>>> {start}.+?)\n```", text, re.DOTALL)
    names = {}
    exec("\n".join(re.findall(r"(?m)^(?:>>>|\.\.\.) ?(.*)", block)), names)  # noqa: S102 - ours
    return SimpleNamespace(**names)


def matrix_texts(**attributes):
    """Return the texts in the drawing of the matrix with these data attributes, by query."""
    texts = {}
    for element in drawing("relevance-matrix.svg").iter(f"{SVG}text"):
        if all(element.get(f"data-{name}") == value for name, value in attributes.items()):
            texts.setdefault(element.get("data-query"), []).append(element.text)
    return texts


def test_the_drawing_of_the_matrix_has_the_cells_scores_and_means_of_its_example():
    example = example_of("concepts.md", "from beir_eval import Qrels")
    matrix = relate(beir_eval.Qrels(example.qrels), example.run, EvaluationSettings())[0]
    drawn = np.full((len(matrix.query_ids), 5), math.nan)
    for rank in range(1, 6):
        for query, (grade,) in matrix_texts(rank=str(rank)).items():
            drawn[matrix.query_ids.index(query), rank - 1] = float(grade)
    np.testing.assert_array_equal(drawn, matrix.to_dense(5))
    result = beir_eval.evaluate(example.qrels, example.run, ["Precision@5", "nDCG@5"])
    description = drawing("relevance-matrix.svg").find(f"{SVG}desc").text
    for measure in result.measures:
        scores = dict(zip(result.query_ids, result.scores(measure), strict=True))
        texts = matrix_texts(measure=measure)
        for query, score in [*scores.items(), ("mean", result[measure])]:
            (text,) = texts[query]
            assert float(text) == round(score, 3)
            assert re.search(rf"(?<![\d.]){re.escape(text)}\b", description), text


def test_the_drawing_of_the_data_flow_has_the_numbers_and_the_types_of_its_example():
    example = example_of("architecture.md", "from beir_eval import MRR")
    matrix, block = example.matrix, example.block
    (score,) = beir_eval.MRR.scores(matrix)
    expected = {
        "run": [repr(example.run)],
        "source": [type(example.run._source).__name__],
        "scores": block.scores,
        "judged": [example.qrels.doc_ids[hit] for hit in block.hit_judgement],
        "score": block.hit_score,
        "rank": matrix.cells.rank,
        "grade": matrix.cells.grade.astype(int),
        "retrieved": matrix.num_retrieved,
        "ideal": matrix.judgements.grade.astype(int),
        "mrr": [round(score, 3)],
    }
    svg = drawing("dict-to-number.svg")
    assert {part.get("data-shows"): part.text for part in svg.iter(f"{SVG}tspan")} == {
        name: " ".join(map(str, values)) for name, values in expected.items()
    }
    names = [part.text for part in svg.iter(f"{SVG}text") if part.get("class") == "name"]
    page = (DOCS / "architecture.md").read_text()
    table = re.findall(r"(?m)^\| `(\w+)` \| `(core\.[\w.]+)` \|", page)
    assert names == [name for name, _ in table]
    for name, module in table:
        assert hasattr(importlib.import_module(f"beir_eval.{module}"), name)


def test_the_commands_and_options_named_in_the_text_exist():
    for page in PAGES:
        for words in re.findall(r"`beir-eval ([^`]+)`", page.read_text()):
            name, *arguments = words.split()
            if name != "COMMAND":
                known_options = [
                    option
                    for parameter in cli_text.commands()[name].params
                    for option in parameter.opts
                ]
                assert [
                    argument
                    for argument in arguments
                    if argument.startswith("-") and argument not in known_options
                ] == []


def test_a_console_example_with_an_invalid_command_or_output_is_reported():
    def check(block):
        return check_console(SimpleNamespace(parsed=block))

    assert check("$ beir-eval evaluate qrels.trec bm25.trec -m nDCG@10  # fine\n") is None
    assert "is not taken" in check("$ beir-eval evaluate qrels.trec\n")
    assert "is not taken" in check("$ beir-eval evaluate qrels.trec bm25.trec --mesure P@5\n")
    assert "is not taken" in check("$ beir-eval evalaute qrels.trec bm25.trec\n")
    assert check(f"$ beir-eval --version\nbeir-eval {beir_eval.__version__}\n") is None
    assert "printed" in check("$ beir-eval --version\nbeir-eval 0.0.0\n")
    workflow = SimpleNamespace(parsed="- run: |\n    beir-eval compare a b \\\n      --gaet P@5\n")
    assert "is not taken" in check_workflow(workflow)
