"""What Haystack's page of integrations asks for: the package path, metadata, tested versions."""

import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from haystack.core.component import Component

import haystack_integrations.components.evaluators.beir_eval as package
from pins import ROOT, pins_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PAGE = (ROOT / "packaging" / "upstream" / "haystack.md").read_text(encoding="utf-8")
_, FRONT, BODY = PAGE.split("---\n", 2)
METADATA = yaml.safe_load(FRONT)


LOWEST = pins_of("constraints-lowest.txt")["haystack-ai"]
NEWEST = pins_of("constraints.txt")["haystack-ai"]


# The versions that are tested


def test_the_lowest_version_that_is_tested_is_the_bound_of_the_extra():
    [bound] = [
        requirement.partition(">=")[2]
        for requirement in PROJECT["optional-dependencies"]["haystack"]
        if requirement.startswith("haystack-ai")
    ]
    assert LOWEST in {bound, f"{bound}.0"}


@pytest.mark.parametrize("page", ["docs/haystack.md", "packaging/upstream/haystack.md"])
def test_the_docs_state_the_lowest_and_the_newest_version(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    low, high = (name.rpartition(".")[0] for name in (LOWEST, NEWEST))
    assert f"haystack-ai {low} to {high}" in text


# The package


def test_the_components_are_in_haystacks_namespace_with_types():
    folder = Path(package.__file__).parent
    assert folder.parts[-4:] == ("haystack_integrations", "components", "evaluators", "beir_eval")
    assert (folder / "py.typed").exists()
    for depth in range(3):
        assert not (folder.parents[depth] / "__init__.py").exists()
    for name in package.__all__:
        component = getattr(package, name)
        assert isinstance(component(), Component)
        assert component.__module__.startswith(f"{package.__name__}.")
        again = component.from_dict(component().to_dict())
        assert again.to_dict() == component().to_dict()


# The page for the list of integrations


def test_the_page_agrees_with_the_metadata_of_the_package():
    assert METADATA["pypi"] == f"https://pypi.org/project/{PROJECT['name']}"
    urls = PROJECT.get("urls", {})
    assert METADATA.get("repo") == urls.get("Source")
    assert METADATA.get("report_issue") == urls.get("Issues")
    extras = re.findall(r'pip install "beir-eval\[([\w,-]+)\]"', BODY)
    assert extras
    for names in extras:
        assert set(names.split(",")) <= PROJECT["optional-dependencies"].keys()
    for license_name in PROJECT["license"].split(" AND "):
        assert license_name in BODY.partition("## License")[2]


def test_the_examples_of_the_page_run_and_change_nothing(monkeypatch, tmp_path, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    monkeypatch.chdir(tmp_path)
    import_module("try_upstream").try_haystack(PAGE)
    assert "top 3 is worse than top 20" in capsys.readouterr().out
