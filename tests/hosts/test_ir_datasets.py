"""Data sets of ir_datasets, registered here, through ``load_dataset``."""

import subprocess
import sys
from typing import NamedTuple

import ir_datasets
import pytest
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, GenericDoc, GenericQuery, TrecQrel

from beir_eval import evaluate, load_dataset
from beir_eval.errors import SettingError


class TitledDoc(NamedTuple):
    doc_id: str
    text: str
    title: str

    def default_text(self):
        return f"{self.title} {self.text}"


class FieldsQuery(NamedTuple):
    query_id: str
    title: str
    narrative: str


class Docs(BaseDocs):
    def __init__(self, docs):
        self._docs = docs

    def docs_iter(self):
        return iter(self._docs)


class Queries(BaseQueries):
    def __init__(self, queries):
        self._queries = queries

    def queries_iter(self):
        return iter(self._queries)


class Qrels(BaseQrels):
    def __init__(self, qrels):
        self._qrels = [TrecQrel(query, doc, grade, "0") for query, doc, grade in qrels]

    def qrels_iter(self):
        return iter(self._qrels)


DOCS = Docs([TitledDoc("d1", "fly", "Birds"), GenericDoc("d2", "Fish swim")])
QUERIES = Queries(
    [GenericQuery("q1", "birds"), FieldsQuery("q2", "fish", "all fish"), GenericQuery("q3", "-")]
)
TEST, DEV = Qrels([("q1", "d1", 2), ("q2", "d2", 1)]), Qrels([("q2", "d1", 0), ("q2", "d2", 1)])


@pytest.fixture(scope="module", autouse=True)
def registered():
    ir_datasets.registry.register("made/animals", Dataset(DOCS, QUERIES))
    ir_datasets.registry.register("made/animals/test", Dataset(DOCS, QUERIES, TEST))
    ir_datasets.registry.register("made/animals/dev", Dataset(DOCS, QUERIES, DEV))
    ir_datasets.registry.register("made-whole", Dataset(DOCS, QUERIES, TEST))
    ir_datasets.registry.register("made-docs", Dataset(DOCS))


@pytest.mark.parametrize("dataset_id", ["made/animals", "made/animals/test", "made-whole"])
def test_documents_queries_and_qrels_are_those_of_ir_datasets(dataset_id):
    data = load_dataset(f"irds:{dataset_id}")
    assert (data.name, data.split) == (dataset_id.removesuffix("/test"), "test")
    assert data.queries == {"q1": "birds", "q2": "fish"}
    assert data.qrels.as_dict() == {"q1": {"d1": 2}, "q2": {"d2": 1}}
    assert [document[:3] for document in data.corpus] == [
        ("d1", "Birds", "fly"),
        ("d2", "", "Fish swim"),
    ]
    assert (data.corpus["d2"].text, len(data.corpus), "d3" in data.corpus) == (
        "Fish swim",
        2,
        False,
    )
    run = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d2": 1.0}}
    assert evaluate(data.qrels, run, ["MRR"])["MRR"] == (1 / 2 + 1) / 2


def test_the_split_is_the_last_part_of_the_id_or_the_argument():
    for data in (load_dataset("irds:made/animals/dev"), load_dataset("irds:made/animals", "dev")):
        assert (data.name, data.split) == ("made/animals", "dev")
        assert data.qrels.as_dict() == {"q2": {"d1": 0, "d2": 1}}


def test_the_ids_of_beir_lead_to_the_official_split_of_ir_datasets():
    assert not ir_datasets.load("beir/scifact").has_qrels()
    assert ir_datasets.load("beir/scifact/test").has_qrels()


@pytest.mark.parametrize(
    ("dataset_id", "split", "message"),
    [
        ("made/nothing", None, "no data set .made/nothing"),
        ("made/animals", "train", "no data set .made/animals/train"),
        ("made-docs", None, "has no queries, qrels"),
    ],
)
def test_a_data_set_that_is_missing_or_incomplete_is_an_error(dataset_id, split, message):
    with pytest.raises(SettingError, match=message):
        load_dataset(f"irds:{dataset_id}", split)


def test_without_ir_datasets_the_error_names_the_extra():
    code = """
import sys
sys.modules["ir_datasets"] = None
from beir_eval import load_dataset
load_dataset("irds:beir/scifact")
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "MissingExtraError" in run.stderr
    assert "pip install 'beir-eval[ir-datasets]'" in run.stderr
