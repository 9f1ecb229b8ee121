"""Documents are found by id in every kind of corpus, and the index of a large file is saved."""

import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beir_eval.datasets import corpus as corpus_module
from beir_eval.datasets.corpus import Document, JsonlCorpus, ParquetRows, TableCorpus
from beir_eval.errors import FileFormatError

IDS = ["d1", "d 2", "3", "é", 'quo"te', "back\\slash", "_id"]


def write_corpus(path, ids, **json_options):
    lines = [
        json.dumps({"_id": doc_id, "title": "t", "text": f"text of {doc_id}"}, **json_options)
        for doc_id in ids
    ]
    data = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def write_parquet(path, ids):
    pl = pytest.importorskip("polars", reason="reads Parquet; remedy: make test")
    pl.DataFrame({"_id": ids, "text": [f"text of {doc_id}" for doc_id in ids]}).write_parquet(path)
    return path


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """The folder of saved indexes; every file counts as large."""
    monkeypatch.setattr(corpus_module, "_LARGE_FILE", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "beir-eval" / "corpora"


@pytest.fixture
def reads_whole_file(monkeypatch):
    """A function that returns how often a file was read from its beginning."""
    calls = []
    read_ids = corpus_module._read_ids
    monkeypatch.setattr(
        corpus_module, "_read_ids", lambda path: calls.append(path) or read_ids(path)
    )
    return lambda: len(calls)


def test_the_index_of_a_large_file_is_built_once_and_used_by_later_processes(
    tmp_path, cache, reads_whole_file
):
    path = write_corpus(tmp_path / "corpus.jsonl", IDS)
    assert JsonlCorpus(path).documents(["3", "d1", "absent"]) == {
        "d1": Document("d1", "t", "text of d1"),
        "3": Document("3", "t", "text of 3"),
    }
    assert len(list(cache.iterdir())) == reads_whole_file() == 1
    corpus = JsonlCorpus(path)
    assert corpus["é"] == Document("é", "t", "text of é")
    assert len(corpus) == len(IDS)
    assert "absent" not in corpus
    assert 3 not in corpus
    assert list(corpus.documents(IDS)) == IDS
    assert reads_whole_file() == 1


def test_a_changed_file_is_indexed_again_and_its_earlier_index_removed(tmp_path, cache):
    path = write_corpus(tmp_path / "corpus.jsonl", IDS)
    other = write_corpus(tmp_path / "other.jsonl", IDS)
    assert "d1" in JsonlCorpus(path)
    assert "d1" in JsonlCorpus(other)
    earlier = set(cache.iterdir())
    write_corpus(path, ["new"])
    assert "d1" not in JsonlCorpus(path)
    assert "new" in JsonlCorpus(path)
    assert len(set(cache.iterdir())) == len(earlier) == 2
    assert len(set(cache.iterdir()) & earlier) == 1


@pytest.mark.parametrize("content", [b"", b"not an array", "shorter", "another shape"])
def test_a_damaged_index_is_replaced(tmp_path, cache, reads_whole_file, content):
    path = write_corpus(tmp_path / "corpus.jsonl", IDS)
    assert "d1" in JsonlCorpus(path)
    (saved,) = cache.iterdir()
    intact = saved.read_bytes()
    if content == "shorter":
        content = intact[:-8]
    elif content == "another shape":
        content = intact.replace(b"(2, 7)", b"(7, 2)")
        assert content != intact
    saved.write_bytes(content)
    assert JsonlCorpus(path)["3"].text == "text of 3"
    assert saved.read_bytes() == intact
    assert reads_whole_file() == 2


@pytest.mark.parametrize("folder", ["a file is in the way", "relative", ""])
def test_an_index_that_cannot_be_saved_is_used_all_the_same(
    tmp_path, cache, monkeypatch, folder, reads_whole_file
):
    path = write_corpus(tmp_path / "corpus.jsonl", IDS)
    if folder == "a file is in the way":
        cache.parent.parent.write_text("")
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", folder)
        monkeypatch.delenv("LOCALAPPDATA", raising=False)
        monkeypatch.setattr(corpus_module.Path, "home", lambda: 1 / 0 if folder else no_home())
    corpus = JsonlCorpus(path)
    assert corpus["d1"].text == "text of d1"
    assert corpus["3"].text == "text of 3"
    assert reads_whole_file() == 1
    assert not cache.exists()


def no_home():
    raise RuntimeError("Could not determine home directory.")


def test_ids_of_one_hash_are_told_apart(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(corpus_module, "_hash_bytes", lambda _: b"12345678")
    corpus = JsonlCorpus(write_corpus(tmp_path / "corpus.jsonl", IDS))
    assert [corpus[doc_id].doc_id for doc_id in IDS] == IDS
    assert "absent" not in corpus
    assert corpus.documents(["absent"]) == {}
    assert list(corpus.documents(["3", "d1"])) == ["d1", "3"]


def test_a_document_that_a_large_file_lists_twice_is_refused_when_it_is_looked_up(tmp_path, cache):
    corpus = JsonlCorpus(write_corpus(tmp_path / "corpus.jsonl", ["a", "b", "a"]))
    assert corpus["b"].text == "text of b"
    with pytest.raises(FileFormatError, match="'a' is listed twice"):
        corpus["a"]


@pytest.mark.parametrize("large", [False, True])
@given(
    ids=st.lists(
        st.sampled_from(IDS) | st.text('a1 _id"\\é\x7f\u2028', min_size=1), min_size=1, unique=True
    ),
    spelling=st.tuples(st.booleans(), st.booleans()),
    wanted=st.lists(st.sampled_from(IDS)),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_documents_are_the_same_as_in_the_whole_corpus(  # noqa: PLR0917 - filled by name
    cache, monkeypatch, large, ids, spelling, wanted
):
    monkeypatch.setattr(corpus_module, "_LARGE_FILE", 0 if large else 2**60)
    ascii_only, late = spelling
    records = [
        {"text": f"of {doc_id}", "_id": doc_id} if late else {"_id": doc_id, "text": f"of {doc_id}"}
        for doc_id in ids
    ]
    text = "\n".join(json.dumps(record, ensure_ascii=ascii_only) for record in records)
    path = cache.parent.parent.parent / "corpus.jsonl"
    path.write_text(text, encoding="utf-8")
    corpus = JsonlCorpus(path)
    whole = {document.doc_id: document for document in corpus}
    assert list(whole) == ids
    assert corpus.documents(ids) == whole
    expected = [(doc_id, document) for doc_id, document in whole.items() if doc_id in wanted]
    assert list(corpus.documents(wanted).items()) == expected
    assert [corpus[doc_id] for doc_id in ids] == list(whole.values())
    assert [doc_id in corpus for doc_id in wanted] == [doc_id in ids for doc_id in wanted]


def test_a_packed_file_has_no_saved_index(tmp_path, cache):
    corpus = JsonlCorpus(write_corpus(tmp_path / "corpus.jsonl.gz", IDS))
    assert list(corpus.documents(["3", "absent", "d1"])) == ["d1", "3"]
    assert corpus["3"].text == "text of 3"
    assert not cache.exists()


@pytest.mark.parametrize("ids", [["d1", "2", "d 3"], [5, 70, 8]])
def test_documents_of_several_parquet_files_are_found_by_id(tmp_path, ids):
    paths = [write_parquet(tmp_path / f"{name}.parquet", ids=[f"{name}0"]) for name in "ab"]
    if isinstance(ids[0], int):
        paths = []
    paths.append(write_parquet(tmp_path / "c.parquet", ids))
    corpus = TableCorpus("corpus", ParquetRows(paths))
    texts = {str(doc_id): f"text of {doc_id}" for doc_id in ids}
    wanted = [*reversed(texts), "absent"]
    assert {doc_id: document.text for doc_id, document in corpus.documents(wanted).items()} == texts
    assert list(corpus.documents(wanted)) == list(texts)
    assert corpus.documents([]) == {}


def test_a_table_whose_ids_are_neither_text_nor_whole_numbers_is_refused(tmp_path):
    corpus = TableCorpus("corpus", ParquetRows([write_parquet(tmp_path / "c.parquet", [1.5])]))
    with pytest.raises(FileFormatError, match="has no id"):
        corpus.documents(["1.5"])


def test_documents_of_a_table_in_memory_are_found_by_id():
    corpus = TableCorpus("corpus", [{"_id": "a", "text": "x"}, {"_id": "b", "text": "y"}])
    assert corpus.documents(["b"]) == {"b": Document("b", "", "y")}
