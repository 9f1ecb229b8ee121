"""Saved answers of a pipeline are reused only if nothing shows that they would differ now."""

import json
import re
import shutil
import textwrap
from dataclasses import replace

import pytest
from haystack import Document, component
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from haystack.components.writers import DocumentWriter
from haystack.document_stores.in_memory import InMemoryDocumentStore
from haystack.document_stores.types import DuplicatePolicy

from beir_eval.errors import BeirEvalWarning, SettingError
from beir_eval.integrations.haystack import PipelineRetriever, evaluate_pipeline, index
from beir_eval.integrations.haystack.indexing import written_hash
from capitals import QUERIES
from data_sets import write_dataset
from pipeline_parts import Answers, pipeline_of
from processes import python

TEXTS = {
    "paris": "Paris is the capital of France",
    "oslo": "Oslo is the capital of Norway by a fjord",
    "rome": "Rome lies on the river Tiber",
}
JUDGED = {"q1": {"paris": 1}, "q2": {"oslo": 1}, "q3": {"rome": 1}}


@pytest.fixture
def folder(tmp_path):
    return write_dataset(tmp_path / "capitals", TEXTS, QUERIES, JUDGED)


def bm25(folder, **settings):
    """Return a pipeline over a new store that holds the corpus of a folder."""
    store = InMemoryDocumentStore()
    index(folder, store, progress=False)
    return pipeline_of(retriever=InMemoryBM25Retriever(store, **{"top_k": 3} | settings))


def evaluate_saved(pipeline, folder, **settings):
    save_run = folder.parent / "run.trec"
    return evaluate_pipeline(
        folder, pipeline, measures=["MRR"], save_run=save_run, progress=False, **settings
    )


def test_reused_answers_are_counted_with_their_file_and_their_time_and_three_are_checked(folder):
    first = evaluate_saved(bm25(folder), folder)
    assert first.retrieval.reused == ()
    second = evaluate_saved(bm25(folder), folder)
    [reused] = second.retrieval.reused
    assert (reused.answers, reused.queries, reused.checked, reused.differing) == (3, 3, 3, 0)
    assert reused.first_saved <= reused.last_saved
    sentence = (
        r"3 of 3 answers were read from run\.trec\.progress\.jsonl, saved \d{4}-\d\d-\d\d "
        r"\d\d:\d\d UTC.*; 3 of them were run again: the same rankings"
    )
    assert re.match(sentence, second.warnings()[0])
    assert re.search(sentence, second.to_markdown())
    assert second.values == first.values


NO_WARNING_OF_ABSENT = pytest.mark.filterwarnings("ignore:(?s).*judged documents? (is|are) not in")


@NO_WARNING_OF_ABSENT
@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"paris": None}, "the corpus, the number of stored documents, 3 then and 2 now"),
        ({"paris": "Paris is a town"}, "the corpus"),
        ({"lyon": "Lyon"}, "the corpus, the number of stored documents, 3 then and 4 now"),
    ],
)
def test_a_changed_corpus_is_refused_by_name(folder, change, named):
    evaluate_saved(bm25(folder), folder)
    texts = {name: text for name, text in (TEXTS | change).items() if text is not None}
    write_dataset(folder, texts, QUERIES, JUDGED)
    with pytest.raises(SettingError, match=rf"What differs: {named}\. .*fresh=True"):
        evaluate_saved(bm25(folder), folder)


def test_a_text_edited_in_the_store_is_found_by_the_queries_that_are_run_again(folder):
    pipeline = bm25(folder)
    evaluate_saved(pipeline, folder)
    store = pipeline.get_component("retriever").document_store
    edited = Document(id="rome", content="a fjord", meta={"beir_doc_id": "rome"})
    store.write_documents([edited], policy=DuplicatePolicy.OVERWRITE)
    with pytest.raises(SettingError, match=r"ranked otherwise than when.*fresh=True"):
        evaluate_saved(pipeline, folder)
    unchecked = evaluate_saved(pipeline, folder, check_saved=0)
    assert "none of them was run again" in unchecked.warnings()[0]


def test_fresh_replaces_the_saved_answers_at_the_first_new_one_and_not_before(folder):
    evaluate_saved(bm25(folder), folder)
    saved = (folder.parent / "run.trec").read_bytes()
    journal = folder.parent / "run.trec.progress.jsonl"
    lines = journal.read_bytes()

    failing = pipeline_of(fails=Answers({}.__getitem__))
    with pytest.raises(RuntimeError, match="the pipeline failed for query 'q1'"):
        evaluate_saved(failing, folder, fresh=True)
    assert (journal.read_bytes(), (folder.parent / "run.trec").read_bytes()) == (lines, saved)
    result = evaluate_saved(bm25(folder, top_k=1), folder, fresh=True)
    assert result.retrieval.reused == ()
    assert len(journal.read_bytes().splitlines()) == 4
    assert (folder.parent / "run.trec").read_bytes() != saved


def test_fresh_without_a_saved_run_is_refused(folder):
    with pytest.raises(SettingError, match="save_run, which is not set"):
        evaluate_pipeline(folder, bm25(folder), fresh=True)


def test_answers_in_the_layout_of_an_earlier_version_are_refused_with_the_remedy(folder):
    journal = folder.parent / "run.trec.progress.jsonl"
    journal.write_text('{"version": 1, "pipeline": "p"}\n')
    with pytest.raises(SettingError, match=r"layout 1 .*evaluate again with fresh=True"):
        evaluate_saved(bm25(folder), folder)
    assert evaluate_saved(bm25(folder), folder, fresh=True)["MRR"] == 1.0


def change_header(folder, **fields):
    """Change the first line of the journal, as if it had been saved so."""
    journal = folder.parent / "run.trec.progress.jsonl"
    header, *lines = journal.read_text().splitlines(keepends=True)
    journal.write_text(json.dumps(json.loads(header) | fields) + "\n" + "".join(lines))


def test_another_version_of_a_package_is_said_and_the_checked_queries_decide(folder):
    evaluate_saved(bm25(folder), folder)
    change_header(folder, packages={"haystack-ai": "1.0", "gone": "2"})
    result = evaluate_saved(bm25(folder), folder)
    changed = next(text for text in result.warnings() if "versions have changed" in text)
    assert "haystack-ai 1.0 -> " in changed
    assert "gone 2 -> none" in changed
    assert result.retrieval.reused[0].checked == 3


def test_what_was_not_known_then_or_is_not_known_now_is_not_compared(folder):
    evaluate_saved(bm25(folder), folder)
    change_header(folder, corpus=None, stored_documents=None)
    assert evaluate_saved(bm25(folder), folder).retrieval.reused[0].answers == 3


@pytest.mark.parametrize("fields", [{"made_by": []}, {"own_code": 1}, {"version": "2"}])
def test_a_damaged_first_line_is_an_error_of_this_line(folder, fields):
    evaluate_saved(bm25(folder), folder)
    change_header(folder, **fields)
    with pytest.raises(ValueError, match="line 1"):
        evaluate_saved(bm25(folder), folder)


def test_a_pipeline_that_generates_text_may_rank_otherwise_which_is_said(folder):
    ranks = iter(range(1000))

    @component
    class Generates:
        @component.output_types(replies=list[str], documents=list[Document])
        def run(self, query: str):
            documents = [Document(id="paris"), Document(id="oslo")]
            ranked = documents if next(ranks) % 2 else documents[::-1]
            return {"replies": [query], "documents": ranked}

    evaluate_saved(pipeline_of(one=Generates()), folder)
    result = evaluate_saved(pipeline_of(one=Generates()), folder)
    assert result.retrieval.reused[0].differing > 0
    assert "ranked otherwise, as with a language model" in result.warnings()[0]


def test_queries_that_cannot_be_run_again_are_named_with_the_reason(folder, monkeypatch):
    evaluate_saved(bm25(folder), folder)

    def offline(*_, **__):
        raise ConnectionError("offline")

    monkeypatch.setattr(InMemoryDocumentStore, "bm25_retrieval", offline)
    result = evaluate_saved(bm25(folder), folder)
    assert "not run again: " in result.warnings()[0]
    assert "offline" in result.warnings()[0]


# Own code, each change in processes of their own

PIPELINE = """
    import sys
    sys.path.insert(0, "code")
    from haystack import Pipeline, Document, component
    from beir_eval.integrations.haystack import evaluate_pipeline
    from my_parts.ranker import Ranker
    def texts_of(size):
        return ["paris", "oslo", "rome"][:size]
    @component
    class Fixed:
        @component.output_types(documents=list[Document])
        def run(self, query: str):
            return {"documents": [Document(id=name) for name in texts_of(3)]}
    pipeline = Pipeline()
    pipeline.add_component("fixed", Fixed())
    pipeline.add_component("ranker", Ranker())
    pipeline.connect("fixed.documents", "ranker.documents")
    print("unrelated")
    result = evaluate_pipeline(
        "capitals", pipeline, measures=["MRR"], save_run="run.trec", check_saved=0, progress=False
    )
    print(result.retrieval.reused[0].answers if result.retrieval.reused else "fresh")
"""
RANKER = """
    from haystack import Document, component
    from .order import ordered
    @component
    class Ranker:
        @component.output_types(documents=list[Document])
        def run(self, documents: list[Document]):
            return {"documents": ordered(documents)[:2]}
"""


@pytest.fixture(scope="module")
def evaluated_project(tmp_path_factory):
    """A project whose script has saved its answers."""
    root = tmp_path_factory.mktemp("project")
    write_dataset(root / "capitals", TEXTS, QUERIES, JUDGED)
    files = {
        "main.py": PIPELINE,
        "code/my_parts/__init__.py": "",
        "code/my_parts/ranker.py": RANKER,
        "code/my_parts/order.py": "def ordered(documents):\n    return documents[::-1]\n",
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    assert run_main(root)[1].endswith("fresh\n")
    return root


def run_main(project):
    """Return (exit code, output) of the script of a project."""
    process = python("-W", "ignore", "main.py", cwd=project, check=False)
    return process.returncode, process.stdout + process.stderr


#: What is None is left to the queries that are run again.
CHANGES = {
    "own module": ("code/my_parts/ranker.py", "[:2]", "[0:2]", "my_parts.ranker"),
    "a module that it imports": ("code/my_parts/order.py", "[::-1]", "[::1]", None),
    "a class of the script": ("main.py", "id=name", "id=str(name)", "__main__.Fixed"),
    "a function of the script": ("main.py", "[:size]", "[0:size]", None),
    "the script around them": ("main.py", "unrelated", "other", None),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_a_run_after_a_change_of_own_code_is_refused_and_after_any_other_is_not(
    evaluated_project, tmp_path, change
):
    file, old, new, named = CHANGES[change]
    project = shutil.copytree(evaluated_project, tmp_path / "project")
    text = (project / file).read_text()
    assert text.count(old) == 1
    (project / file).write_text(text.replace(old, new))
    code, output = run_main(project)
    if named is None:
        assert (code, output.splitlines()[-1]) == (0, "3")
    else:
        assert code == 1
        assert f"What differs: the code of {named}. " in output


def test_a_store_that_was_written_twice_is_known_by_both_corpora(folder, tmp_path):
    other = write_dataset(
        tmp_path / "other", {"rome": "Rome, also on the river Tiber"}, QUERIES, JUDGED
    )
    pipeline = bm25(folder)
    store = pipeline.get_component("retriever").document_store
    with pytest.warns(BeirEvalWarning, match="1 document was replaced in the store"):
        index(other, store, progress=False)
    evaluate_saved(pipeline, folder)
    with pytest.raises(SettingError, match=r"What differs: the corpus\. "):
        evaluate_saved(bm25(folder), folder)


def test_inputs_differ_by_their_code_and_not_by_its_line_in_the_file(folder):
    origins = []
    for blank_lines, separator in ((0, " "), (5, " "), (0, "-")):
        namespace = {}
        code = "\n" * blank_lines + (
            "def inputs(query_id, text):\n"
            f"    query = '{separator}'.join(word for word in text.split())\n"
            "    return {'retriever': {'query': query}}\n"
        )
        exec(compile(code, "cell", "exec"), namespace)  # noqa: S102 - a notebook
        retriever = PipelineRetriever(bm25(folder), inputs=namespace["inputs"])
        origins.append(retriever.origin.settings["inputs"])
    assert origins[0] == origins[1] != origins[2]


def test_embeddings_and_the_code_of_an_indexing_pipeline_are_part_of_the_corpus(folder):
    hashes = []
    for number in (0.5, 0.5, 0.6):
        store = InMemoryDocumentStore()
        index([Document(id="a", embedding=[number])], store, progress=False)
        hashes.append(written_hash([store]))
    assert hashes[0] == hashes[1] != hashes[2]
    hashes = []
    for factor in (1, 1, 2):
        store = InMemoryDocumentStore()
        indexing = pipeline_of(
            cleaner=Cleans(lambda text, factor=factor: text * factor), writer=DocumentWriter(store)
        )
        indexing.connect("cleaner", "writer")
        index(folder, indexing, progress=False)
        hashes.append(written_hash([store]))
    assert hashes[0] == hashes[1] != hashes[2]


@component
class Cleans:
    def __init__(self, clean):
        self.clean = clean

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]):
        return {"documents": [replace(doc, content=self.clean(doc.content)) for doc in documents]}
