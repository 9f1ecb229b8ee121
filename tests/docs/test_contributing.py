"""CONTRIBUTING.md and docs/extending.md: recipes that work, checks and versions that agree."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import beir_eval

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / ".github" / "CONTRIBUTING.md").read_text(encoding="utf-8")
EXTENDING = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"(?ms)^## (Add .+?)\n(.+?)(?=^## |\Z)", EXTENDING))
#: How many files under src a change touches, at most.
MOST_FILES = {
    "Add a measure": 2,
    "Add an input format": 2,
    "Add an option": 3,
    "Add a host": 2,
}


def blocks(text, language):
    """Return the code blocks of a language."""
    return re.findall(rf"(?ms)^```{language}\n(.+?)^```$", text)


def diffs_of(recipe):
    """Return the diffs of a recipe, one for each file, from the file that its section includes."""
    (name,) = re.findall(r"\{literalinclude\} recipes/(\w+)\.diff", recipe)
    return diffs_named(name)


def diffs_named(name):
    """Return the diffs of a file of docs/recipes, one for each file that it changes."""
    text = (ROOT / "docs" / "recipes" / f"{name}.diff").read_text(encoding="utf-8")
    return re.split(r"\n(?=\+\+\+ )", text)


def changed(diff):
    """Return (path, hunks) of a diff; a hunk is what it replaces and the replacement."""
    header, *hunks = re.split(r"(?m)^@@.*\n", diff)
    path = header.removeprefix("+++ ").strip()
    lines = [hunk.splitlines(keepends=True) for hunk in hunks]
    return path, [
        (
            "".join(line[1:] for line in hunk if line[0] != "+"),
            "".join(line[1:] for line in hunk if line[0] != "-"),
        )
        for hunk in lines
    ]


def apply(diff, root):
    """Change a file under this folder, or a copy of the repository's, or create it.

    Returns:
        Its path in the folder.
    """
    name, hunks = changed(diff)
    path = root / name
    before = path if path.exists() else ROOT / name
    text = before.read_text(encoding="utf-8") if before.exists() else ""
    for old, new in hunks:
        if old:
            assert text.count(old) == 1, (
                f"{name}: these lines of a recipe are not there once; put yours elsewhere, or "
                f"change docs/recipes:\n{old}"
            )
            text = text.replace(old, new)
        else:
            text += new
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


#: Tests of what a recipe promises besides its example: arguments for pytest.
TESTS = {
    "Add a measure": ("tests/measures/test_properties.py", "-k", "Jaccard"),
    "Add an input format": (
        "tests/adapters/test_formats.py",
        "-k",
        "csv or tables or share or each_format",
    ),
    "Add an option": (
        "tests/test_public.py",
        "tests/test_settings.py",
        "-k",
        "help or every_setting",
    ),
}


def run(folder, module, *arguments, cwd):
    """Return the process that ran a module of Python with the source of this folder."""
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(folder / "src"), "BEIR_EVAL_HYPOTHESIS": "few"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_there_is_a_recipe_for_each_kind_of_change():
    assert list(RECIPES) == list(MOST_FILES)


def run_tests(folder, *arguments):
    """Return the process that ran tests of this project with the source of this folder."""
    return run(folder, "pytest", "-q", "-p", "no:cacheprovider", *arguments, cwd=ROOT)


def run_example(folder):
    """Return the process that ran the example of this folder with its source."""
    return run(folder, "doctest", "-o", "NORMALIZE_WHITESPACE", "example.txt", cwd=folder)


#: One recipe is tried in `make test`.
MARKS = {name: [pytest.mark.slow] for name in MOST_FILES if name != "Add a measure"}
#: The host of the recipe, bm25s, is not in the environment of the lowest versions.
MARKS["Add a host"].append(pytest.mark.peers)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=MARKS.get(name, ())) for name in MOST_FILES]
)
def test_a_recipe_makes_its_example_work_and_touches_few_files(name, tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src")
    (example,) = blocks(RECIPES[name], "python")
    (tmp_path / "example.txt").write_text(example, encoding="utf-8")
    assert run_example(tmp_path).returncode == 1
    paths = {apply(diff, tmp_path) for diff in diffs_of(RECIPES[name])}
    assert sum(path.is_relative_to(tmp_path / "src") for path in paths) <= MOST_FILES[name]
    done = run_example(tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    if name in TESTS:
        done = run_tests(tmp_path, *TESTS[name])
        assert done.returncode == 0, done.stdout


@pytest.fixture
def all_recipes(tmp_path):
    """Return a folder with the source after every recipe."""
    shutil.copytree(ROOT / "src", tmp_path / "src")
    for recipe in RECIPES.values():
        for diff in diffs_of(recipe):
            if diff.startswith("+++ src/"):
                apply(diff, tmp_path)
    return tmp_path


@pytest.mark.peers
def test_the_code_of_the_recipes_passes_the_linter(all_recipes):
    if not importlib.util.find_spec("ruff"):
        pytest.skip("ruff is not installed: make .venv/.check")
    shutil.copy(ROOT / "pyproject.toml", all_recipes)
    for command in (["check"], ["format", "--check"]):
        done = run(all_recipes, "ruff", *command, "--no-cache", ".", cwd=all_recipes)
        assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_the_code_of_the_recipes_forms_no_import_cycle_and_keeps_the_other_rules(all_recipes):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "check_style.py", all_recipes],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_files_and_make_targets_that_are_named_exist():
    named = re.findall(r"`((?:docs|tests|benchmarks)/[\w./]+|pyproject\.toml)`", GUIDE + EXTENDING)
    assert all((ROOT / path).exists() for path in named)
    for module in re.findall(r"`((?:measures|cli|core)/\w+\.py)`", EXTENDING):
        assert (ROOT / "src/beir_eval" / module).exists(), module
    targets = re.findall(r"(?m)^([\w-]+):", (ROOT / "Makefile").read_text())
    commands = re.findall(r"(?:`|\$ )make ([\w-]+)", GUIDE)
    assert commands[:3] == ["demo", "test", "check"]
    assert set(commands) <= set(targets)


def test_the_guide_is_short_and_has_at_most_ten_further_targets():
    assert len(GUIDE) <= 6_000
    assert len(re.findall(r"(?m)^\| `make ", GUIDE)) <= 10


@pytest.mark.slow
def test_the_commands_for_single_tests_name_files_and_tests_that_exist():
    commands = re.findall(r"(?m)^\$ \.venv/bin/python -m pytest (\S+)(?: -k \"(.+)\")?$", GUIDE)
    assert len(commands) == 4
    for argument, expression in commands:
        path, _, test = argument.partition("::")
        assert (ROOT / path).exists()
        assert not test or f"\ndef {test}(" in (ROOT / path).read_text(encoding="utf-8")
        if expression:
            done = run_tests(ROOT, path, "--collect-only", "-k", expression)
            assert done.returncode == 0, done.stdout


def test_the_hooks_run_the_commands_of_make_check():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    (repository,) = config["repos"]
    hooks = [hook["entry"] for hook in repository["hooks"]]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"(?m)^check:.*\n((?:\t.+\n)+)", makefile)[1]
    assert hooks == [line.strip().replace("$(BIN)", ".venv/bin") for line in recipe.splitlines()]


def test_the_citation_has_the_version_and_the_licences_of_the_package():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == beir_eval.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert " AND ".join(citation["license"]) == project["license"]
