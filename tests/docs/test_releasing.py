"""What a release needs: notes of a version, pinned actions, a recipe, links that lead somewhere."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml

import beir_eval

ROOT = Path(__file__).parents[2]


@pytest.fixture
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    return import_module


def test_the_notes_of_a_version_are_its_section_of_the_changelog(scripts):
    notes_of = scripts("release_notes").notes_of
    changelog = "# Changelog\n\n## [0.2.0] - 2026\n\n- b\n\n## [0.1.0]\n\n### Added\n\n- a\n"
    assert notes_of("0.2.0", changelog) == "- b"
    assert notes_of("0.1.0", changelog) == "### Added\n\n- a"
    with pytest.raises(SystemExit, match=r"no section for 0\.3\.0"):
        notes_of("0.3.0", changelog)


@pytest.mark.parametrize("page", ["README.md", "docs/llms.txt", "packaging/RELEASING.md"])
def test_links_of_pages_outside_of_docs_lead_to_files(page):
    links = re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", (ROOT / page).read_text())
    assert links
    for link in links:
        assert ((ROOT / page).parent / link).exists(), link


def test_the_conda_recipe_has_what_the_package_declares():
    recipe = yaml.safe_load((ROOT / "packaging" / "recipe.yaml").read_text())
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, context = declared["project"], recipe["context"]
    for text in ("${{ version }}", "${{ python_min }}"):
        assert text in str(recipe["package"]) + str(recipe["requirements"])
    run, host = (
        {
            line.replace("${{ python_min }}", context["python_min"]).replace(" ", "")
            for line in recipe["requirements"][section]
        }
        for section in ("run", "host")
    )
    assert run == {f"python{project['requires-python']}", *project["dependencies"]}
    backend = set(declared["build-system"]["requires"])
    assert host == {f"python{context['python_min']}.*", "pip", *backend}
    assert context["version"] == beir_eval.__version__
    assert recipe["package"]["name"] == project["name"]
    assert recipe["build"]["python"]["entry_points"] == [
        f"{command} = {function}" for command, function in project["scripts"].items()
    ]
    about = recipe["about"]
    assert (about["license"], about["license_file"]) == (
        project["license"],
        project["license-files"],
    )
