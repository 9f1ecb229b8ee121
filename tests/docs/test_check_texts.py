"""scripts/check_texts.py reports each number of a text that no test states."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_texts.py"
SOURCE = '''
def check(count, total, name):
    """Documents {count} of nothing."""
    noun = "query" if count == 1 else "queries"
    if not total:
        msg = f"an error with {total} in it"
        raise ValueError(msg)
    yield Finding.from_code("code", f"{count:,} of {total:,} {noun} have no rankings in {name}")
'''


@pytest.fixture
def problems(tmp_path, capsys):
    """Return what is printed for the string of a test."""
    spec = importlib.util.spec_from_file_location("check_texts", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    path = tmp_path / "src" / "beir_eval" / "checks.py"
    path.parent.mkdir(parents=True)
    path.write_text(SOURCE)
    (tmp_path / "tests").mkdir()

    def print_problems(code, file="test.py"):
        (tmp_path / "tests" / file).write_text(code)
        status = script.main([str(tmp_path)])
        lines = capsys.readouterr().out.splitlines()
        assert status == bool(lines)
        return lines

    return print_problems


@pytest.mark.parametrize(
    ("code", "fields"),
    [
        ("", ["count", "total", "name"]),
        ("'3 of 8 queries have no rankings in deep'", []),
        ("'''3 of 8 queries have\n no rankings in deep'''", []),
        ("f'{n} of 8 queries have no rankings in {name}'", []),
        (r"r'3 of 8 queries have no rankings in \'deep\''", []),
        ("'8 queries have no rankings in deep'", ["count", "total"]),
        (r"r'\d+ of 8 queries have no rankings in .*'", ["count"]),
        ("'some of 8 queries have no rankings in deep'", ["count"]),
    ],
)
def test_a_field_is_reported_unless_a_string_has_a_value_among_its_words(problems, code, fields):
    printed = problems(code)
    assert [line.partition("states {")[2].partition("}")[0] for line in printed] == fields
    assert all(line.startswith("src/beir_eval/checks.py:8: no test states ") for line in printed)


def test_lines_of_a_toml_file_state_values_too(problems):
    assert problems("fact = '1 of 2 query have no rankings in a'", "facts.toml") == []
