"""A record is what was saved; settings that a file does not state have their defaults."""

import json
from dataclasses import asdict, dataclass, field
from typing import Annotated, ClassVar

import pytest

from beir_eval import EvaluationResult, evaluate
from beir_eval.core.saved import (
    WITHOUT_UNSET,
    Saved,
    stated_settings,
)
from beir_eval.errors import InputError, ResultError


@dataclass(frozen=True)
class Options:
    alpha: float = 0.05
    samples: int = 1000


class Record(Saved):
    WHAT: ClassVar[str] = "record"

    options: Options


def test_a_setting_that_was_added_later_has_its_default_in_files_from_before(tmp_path):
    path = tmp_path / "record.json"
    path.write_text(json.dumps({"schema_version": 2, "options": {"alpha": 0.1}}))
    assert Record.load(path).options == Options(alpha=0.1, samples=1000)


def test_settings_that_are_not_an_object_are_refused(tmp_path):
    path = tmp_path / "record.json"
    path.write_text(json.dumps({"schema_version": 2, "options": [*asdict(Options()).values()]}))
    with pytest.raises(ResultError, match="not a saved record: options"):
        Record.load(path)


@dataclass(frozen=True)
class RareOptions:
    alpha: float = 0.05
    ranks: str = field(default="documents", metadata={"written": "if set"})


class RareRecord(Saved):
    WHAT: ClassVar[str] = "record"

    options: Annotated[RareOptions, WITHOUT_UNSET] | None


def test_a_setting_that_few_use_is_written_only_if_it_is_set(tmp_path):
    for options, stated in (
        (RareOptions(), {"alpha": 0.05}),
        (RareOptions(ranks="chunks"), {"alpha": 0.05, "ranks": "chunks"}),
        (None, None),
    ):
        record = RareRecord(options=options)
        record.save(tmp_path / "record.json")
        assert json.loads((tmp_path / "record.json").read_text())["options"] == stated
        assert RareRecord.load(tmp_path / "record.json") == record
        if options is not None:
            assert stated_settings(options) == stated


def test_a_record_of_a_known_kind_is_saved_and_loaded(tmp_path):
    result = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["MRR"])
    result.save(tmp_path / "result.json")
    assert EvaluationResult.load(tmp_path / "result.json") == result


@pytest.mark.parametrize("name", ["report.html", "means.md", "table.TEX", "scores.csv.gz"])
def test_a_name_of_another_format_is_refused_with_what_writes_it(tmp_path, name):
    result = evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["MRR"])
    with pytest.raises(InputError, match=r"save writes JSON.*write_report\(path, result\)"):
        result.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
