"""The recipes are short, and CI installs the tools that they need."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "cookbook").glob("*.md"))
GROUP = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["cookbook"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_recipe_has_at_most_fifteen_lines_of_code(page):
    recipes = re.findall(r"(?ms)^```python\n(.+?)^```", page.read_text())
    assert recipes
    for recipe in recipes:
        assert sum(line.startswith((">>> ", "... ")) for line in recipe.splitlines()) <= 15


def test_the_tools_of_the_recipes_are_those_of_the_dependency_group():
    lines = re.findall(r"\$ pip install 'beir-eval\S+'(.*)", "".join(map(Path.read_text, PAGES)))
    group = {requirement.partition(">=")[0].removesuffix("-skinny") for requirement in GROUP}
    installed = sorted("".join(lines).split())
    assert installed == sorted(group | {"huggingface_hub"})  # which others bring along
