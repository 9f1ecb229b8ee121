"""CI installs the tools that the recipes need."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "cookbook").glob("*.md"))
GROUP = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]["cookbook"]


def test_the_tools_of_the_recipes_are_those_of_the_dependency_group():
    lines = re.findall(r"\$ pip install 'beir-eval\S+'(.*)", "".join(map(Path.read_text, PAGES)))
    group = {requirement.partition(">=")[0].removesuffix("-skinny") for requirement in GROUP}
    installed = sorted("".join(lines).split())
    assert installed == sorted(group | {"huggingface_hub"})  # which others bring along
