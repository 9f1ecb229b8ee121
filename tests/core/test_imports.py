"""A package with lazy exports imports each name when it is first used."""

import sys
from types import ModuleType

import pytest

from beir_eval.core.imports import lazy_exports
from beir_eval.errors import MissingExtraError

EXTRA = ("polars", "files", "reading a dataframe")


@pytest.fixture
def make_package(monkeypatch):
    """Return a function that makes a package with these lazy exports."""

    def make(origins, extra=None, packages=""):
        package = ModuleType("lazy_package")
        monkeypatch.setitem(sys.modules, "lazy_package", package)
        lazy_exports("lazy_package", origins, extra, packages)
        return package

    return make


def test_a_name_is_imported_from_its_module(make_package):
    package = make_package({"math": "sqrt"})
    assert package.sqrt(9.0) == 3.0
    assert "sqrt" in vars(package)


def test_an_export_that_needs_a_missing_extra_says_what_to_install(make_package):
    package = make_package({"no_such_module": "table"}, EXTRA)
    with pytest.raises(MissingExtraError, match=r"pip install 'beir-eval\[files\]'"):
        _ = package.table


def test_a_missing_module_that_no_extra_installs_is_named(make_package):
    package = make_package({"no_such_module": "table"})
    with pytest.raises(ModuleNotFoundError, match="no_such_module") as caught:
        _ = package.table
    assert not isinstance(caught.value, MissingExtraError)


def test_a_package_inside_is_an_attribute_before_it_is_imported(make_package, monkeypatch):
    inner = ModuleType("lazy_package.inner")
    package = make_package({}, packages="inner")
    monkeypatch.setitem(sys.modules, "lazy_package.inner", inner)
    assert package.inner is inner
    assert "inner" in dir(package)


def test_an_imported_module_does_not_replace_the_export_of_its_name(make_package):
    package = make_package({"math": "sqrt"})
    package.sqrt = ModuleType("lazy_package.sqrt")
    package.other = other = ModuleType("lazy_package.other")
    assert package.sqrt(9.0) == 3.0
    assert package.other is other
