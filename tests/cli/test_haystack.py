"""``beir-eval haystack`` runs a serialised pipeline over a data set."""

import json
import re
import shlex
import shutil
import sys

import haystack
import pytest
import yaml
from haystack import Pipeline
from haystack.components.preprocessors import DocumentCleaner
from haystack.components.rankers import LostInTheMiddleRanker
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.document_stores.in_memory import InMemoryDocumentStore

from beir_eval import read_run
from beir_eval.cli.commands import EXAMPLES
from beir_eval.comparison import Comparison
from beir_eval.comparison.stages import StagedResult
from beir_eval.datasets import demo
from beir_eval.evaluation import EvaluationResult
from beir_eval.integrations.haystack import evaluate_pipeline, index
from command_line import output_of, refusal, success
from command_line import run as run_command
from pipeline_parts import indexing, words, write_pipeline

MEASURES = ["-m", "nDCG@10", "-m", "Recall@20"]
#: A module with a component that finds the same document for each query.
FIXED_COMPONENT = """\
from haystack import Document, component
@component
class Fixed:
    @component.output_types(documents=list[Document])
    def run(self, query: str):
        return {'documents': [Document(id='mars-07')]}
"""


@pytest.fixture
def pipeline_file(tmp_path):
    return write_pipeline(tmp_path / "bm25.yaml")


def run(*arguments):
    return run_command("haystack", *arguments)


def test_the_example_of_the_help_text_runs(pipeline_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(demo.FOLDER, tmp_path / "path" / "to" / "scifact")
    result = run_command(*shlex.split(EXAMPLES["haystack"])[1:])
    assert result.exit_code == 0, result.output
    assert "bm25" in result.stdout


def test_a_pipeline_in_yaml_has_the_same_scores_as_in_python(pipeline_file, tmp_path):
    saved, per_query, as_json = (tmp_path / name for name in ("r.trec", "q.csv", "r.json"))
    options = ["--save-run", saved, "-o", per_query, "-o", as_json]
    result = success(run(pipeline_file, demo.FOLDER, "--index", *MEASURES, *options))
    store = InMemoryDocumentStore()
    index(demo.FOLDER, store)
    pipeline = Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=20))
    expected = evaluate_pipeline(demo.FOLDER, pipeline, measures=["nDCG@10", "Recall@20"])
    assert f"bm25 {expected['nDCG@10']:.4f} {expected['Recall@20']:.4f}" in result
    assert "174 documents written" in result
    assert "time per query: median" in result
    [content] = json.loads(as_json.read_text())
    assert EvaluationResult.model_validate(content).values == expected.values
    assert len(read_run(saved)) == 30
    assert len(per_query.read_text().splitlines()) == 31


def test_a_saved_run_is_used_instead_of_running_the_pipeline(pipeline_file, tmp_path):
    saved = tmp_path / "bm25.trec"
    first = run(pipeline_file, demo.FOLDER, "--index", *MEASURES, "--save-run", saved)
    # In Haystack 2, writing documents again into the store of this process changes BM25's scores.
    checked = ["--check-saved", "0"] if hasattr(haystack, "AsyncPipeline") else []
    second = run(pipeline_file, demo.FOLDER, "--index", *MEASURES, "--save-run", saved, *checked)
    assert output_of(first).startswith("174 documents written")
    reused = r"30 of 30 answers were read from bm25\.trec\S* saved \S+ \S+ UTC"
    assert re.search(reused, output_of(second))
    assert output_of(second).split("bm25 0.")[1] == output_of(first).split("bm25 0.")[1]


def test_the_output_hints_at_an_empty_store(pipeline_file):
    result = run(pipeline_file, demo.FOLDER, "-m", "MRR", "--limit", "2")
    assert "is the document store empty? --index writes a corpus to it" in output_of(result)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda _: "components: [", [], "bm25.yaml: not YAML"),
        (lambda _: "- a\n- b\n", [], "'components' was expected"),
        (lambda text: text.replace("BM25Retriever", "Retriever"), [], "cannot be made"),
        (lambda text: text.replace("type: haystack.", "type: os."), [], "--allow os.components"),
        (lambda text: text, ["--input", "retriever.text"], "no input 'retriever.text'"),
        (lambda text: text, ["--documents-from", "x.y"], "no output 'x.y'"),
        (lambda text: text, ["--limit", "0"], "limit must be"),
        (lambda text: text, ["--on-error", "go"], "on_error="),
        (lambda text: text, ["-m", "nonsense"], "no measure 'nonsense'"),
        (lambda text: text, ["--split", "dev"], "dev"),
        (lambda text: text, ["--fresh"], "--fresh replaces the answers of --save-run"),
        (lambda text: text, ["--stages", "--repeats", "2"], "--stages are those of one run"),
    ],
)
def test_bad_input_is_refused_before_the_corpus_is_written(pipeline_file, change, options, message):
    pipeline_file.write_text(change(pipeline_file.read_text()))
    output = refusal(run(pipeline_file, demo.FOLDER, "--index", *options))
    assert message in output
    assert "documents written" not in output


COMPONENTS_WITH_IMPORTS = {
    "a callback": {
        "type": "haystack.components.generators.chat.openai.OpenAIChatGenerator",
        "init_parameters": {"streaming_callback": "antigravity.thing"},
    },
    "a type": {
        "type": "haystack.components.joiners.branch.BranchJoiner",
        "init_parameters": {"type_": "antigravity.Thing"},
    },
}


@pytest.mark.parametrize("component", COMPONENTS_WITH_IMPORTS.values(), ids=COMPONENTS_WITH_IMPORTS)
def test_names_in_the_parameters_of_a_component_are_not_imported(tmp_path, component):
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump({"components": {"one": component}}))
    result = refusal(run(tmp_path / "bad.yaml", demo.FOLDER))
    assert "antigravity" in result  # the component exists, and this name is refused
    assert "antigravity" not in sys.modules


def test_a_template_that_is_set_to_unsafe_is_refused(tmp_path):
    component = {
        "type": "haystack.components.converters.output_adapter.OutputAdapter",
        "init_parameters": {"template": "{{ a }}", "output_type": "str", "unsafe": True},
    }
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump({"components": {"one": component}}))
    result = refusal(run(tmp_path / "bad.yaml", demo.FOLDER))
    assert "unsafe=true" in result.lower()


# Indexing


def write_indexing(path, *parts, **settings):
    """Write an indexing pipeline of these components and a writer to a store in memory."""
    path.write_text(indexing(InMemoryDocumentStore(**settings), *parts).dumps())
    return path


def test_the_corpus_is_written_through_an_indexing_pipeline_and_its_chunks_count(tmp_path):
    retrieval = write_pipeline(tmp_path / "bm25.yaml", top_k=100)
    written = write_indexing(tmp_path / "indexing.yaml", DocumentCleaner(), words(8))
    options = ["-m", "Recall@20", "--index-pipeline", written]
    result = success(run(retrieval, demo.FOLDER, *options))
    assert "174 documents written to the pipeline's store through " in result
    recall = float(re.search(r"Recall@20 (0\.\d+)", result)[1])
    assert recall > 0.5
    assert "count as the document in meta.beir_doc_id" in result
    twice = run(retrieval, demo.FOLDER, *options)  # the store of this process has them already
    assert twice.exit_code == 2
    assert "cannot be written to the pipeline's store" in output_of(twice)
    assert "policy: overwrite" in output_of(twice)
    apart = run(retrieval, demo.FOLDER, "-m", "Recall@20", "--collapse", "none")
    assert "bm25: Recall@20 0.0000" in output_of(apart)


def test_an_indexing_pipeline_that_writes_to_another_store_is_refused(pipeline_file, tmp_path):
    written = write_indexing(tmp_path / "indexing.yaml", words(8), bm25_algorithm="BM25Plus")
    output = refusal(run(pipeline_file, demo.FOLDER, "--index-pipeline", written))
    assert "state the same document store with the same settings in both files" in output
    both = run(pipeline_file, demo.FOLDER, "--index-pipeline", written, "--index")
    assert "--index writes text and --index-pipeline writes through a pipeline" in output_of(both)


def test_searching_by_embedding_in_a_corpus_that_is_written_as_text_is_refused_before(tmp_path):
    pipeline = Pipeline()
    pipeline.add_component("dense", InMemoryEmbeddingRetriever(InMemoryDocumentStore()))
    path = tmp_path / "dense.yaml"
    path.write_text(pipeline.dumps())
    result = refusal(run(path, demo.FOLDER, "--index", "--input", "dense.query_embedding"))
    assert "documents written" not in result
    assert "dense searches by embedding, and --index writes text" in result
    assert "--index-pipeline indexing.yaml" in result


def test_stores_that_would_share_their_documents_by_their_index_are_refused(tmp_path):
    files = []
    for name, regex in (("a", r"\w+"), ("b", r"\S+")):
        store = InMemoryDocumentStore(index="docs", bm25_tokenization_regex=regex)
        files.append(write_pipeline(tmp_path / f"{name}.yaml", store=store))
    result = refusal(run(*files, demo.FOLDER, "--index", "--gate", "MRR@10"))
    assert "the stores of a and of b have other settings and the same index" in result
    assert "documents written" not in result


@pytest.mark.parametrize("pattern", ["my_pkg.*", "my_pkg", "my_pkg.parts", "my_pkg.parts.*"])
def test_a_pattern_allows_a_package_and_its_modules(pipeline_file, tmp_path, monkeypatch, pattern):
    parts = tmp_path / "my_pkg" / "parts.py"
    parts.parent.mkdir()
    parts.write_text(FIXED_COMPONENT)
    (tmp_path / "my_pkg" / "__init__.py").write_text("from my_pkg.parts import Fixed\n")
    monkeypatch.syspath_prepend(tmp_path)
    content = yaml.safe_load(pipeline_file.read_text())
    content["components"] = {"fixed": {"type": "my_pkg.parts.Fixed", "init_parameters": {}}}
    pipeline_file.write_text(yaml.safe_dump(content))
    assert run(pipeline_file, demo.FOLDER, "-m", "RR", "--allow", pattern).exit_code == 0
    assert run(pipeline_file, demo.FOLDER, "-m", "RR", "--allow", "my_pkgs.*").exit_code == 2
    for name in ("my_pkg", "my_pkg.parts"):
        sys.modules.pop(name, None)


@pytest.fixture
def hybrid_files(tmp_path, monkeypatch):
    """Write two pipelines of BM25 and a ranker, p.yaml and q.yaml."""
    monkeypatch.chdir(tmp_path)
    for name, top_k in (("p", 20), ("q", 5)):
        then = LostInTheMiddleRanker(top_k=4)
        write_pipeline(tmp_path / f"{name}.yaml", top_k=top_k, then=then)
    return tmp_path


def test_the_stages_of_a_pipeline_are_printed_and_written(hybrid_files):
    options = ["--index", "--stages", "-o", "r.json", "-o", "r.md"]
    result = run("p.yaml", demo.FOLDER, *options)
    assert result.exit_code == 0, result.output
    staged = StagedResult.load(hybrid_files / "r.stages.json")
    assert [stage.name for stage in staged.stages] == ["retriever", "last"]
    [saved] = json.loads((hybrid_files / "r.json").read_text())
    assert EvaluationResult.model_validate(saved)["nDCG@10"] == staged.result["nDCG@10"]
    for text in (output_of(result), (hybrid_files / "r.md").read_text()):
        assert "last can be removed: retriever is better" in text
        assert "orders documents for a prompt, not for a reader" in text


def test_each_of_several_pipelines_has_its_stages_and_only_the_last_ones_are_compared(hybrid_files):
    result = success(run("p.yaml", "q.yaml", demo.FOLDER, "--index", "--stages", "-o", "r.json"))
    assert result.count("last can be removed: retriever is better") == 2
    for name in ("p", "q"):
        assert StagedResult.load(hybrid_files / f"r.{name}.stages.json").last == "last"
    comparison = Comparison.load(hybrid_files / "r.compare.json")
    assert set(comparison.systems) == {"p", "q"}
