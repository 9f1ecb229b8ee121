"""How much memory is free: of the machine, and of a container."""

import os

import pytest

from beir_eval.adapters import run_size as module
from beir_eval.adapters.run_size import free_memory


@pytest.fixture
def platform(tmp_path, monkeypatch):
    """Files of a platform in place of the real ones; none of them exists at first."""
    monkeypatch.setattr(module, "_MEMINFO", tmp_path / "meminfo")
    limit = (tmp_path / "memory.max", tmp_path / "memory.current")
    monkeypatch.setattr(module, "_LIMITS", [limit])
    monkeypatch.setattr(os, "sysconf", {"SC_AVPHYS_PAGES": 5, "SC_PAGE_SIZE": 4096}.__getitem__)
    return tmp_path


def test_the_memory_that_linux_calls_available_is_free(platform):
    (platform / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   7 kB\n")
    assert free_memory() == 7 * 1024


def test_without_that_file_the_free_pages_count(platform):
    assert free_memory() == 5 * 4096


def test_a_lower_limit_of_a_container_counts(platform):
    (platform / "memory.max").write_text("9000\n")
    (platform / "memory.current").write_text("8000\n")
    assert free_memory() == 1000
    (platform / "memory.current").write_text("9500\n")
    assert free_memory() == 0
    (platform / "memory.max").write_text("max\n")
    assert free_memory() == 5 * 4096


def test_a_platform_that_says_nothing_has_no_number(platform, monkeypatch):
    monkeypatch.delattr(os, "sysconf")
    assert free_memory() is None
