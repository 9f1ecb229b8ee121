"""A data set is read in every layout in use; its corpus is opened only when it is used."""

import gzip
import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from beir_eval import evaluate
from beir_eval.datasets import load_dataset, load_datasets, load_from_hub
from beir_eval.datasets.catalogue import DATASETS, REPORTED_AVERAGES, find_info, info_of
from beir_eval.errors import FileFormatError, SettingError
from processes import python

DOCS = [
    {"_id": "d1", "title": "First", "text": "one", "metadata": {}},
    {"_id": 7, "title": None, "text": "seven"},
    {"_id": "é", "text": "a\u2028b"},
]
QUERIES = [
    {"_id": "q1", "text": "which?"},
    {"_id": 2, "text": "what?"},
    {"_id": "q3", "text": "no"},
]
ROWS = [("q1", "d1", 2), ("2", "7", 1), ("q1", "é", 0)]


def json_lines(records, end="\n"):
    return "".join(json.dumps(record, ensure_ascii=False) + end for record in records).encode()


def tsv(rows, *, header=True, end="\n"):
    head = ["query-id\tcorpus-id\tscore"] if header else []
    return "".join(
        row + end for row in [*head, *("\t".join(map(str, row)) for row in rows)]
    ).encode()


def write_files(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def as_beir(folder, **options):
    return write_files(
        folder,
        {
            "corpus.jsonl": json_lines(DOCS, options.get("end", "\n")),
            "queries.jsonl": json_lines(QUERIES, options.get("end", "\n")),
            "qrels/test.tsv": tsv(ROWS, **options),
        },
    )


def write_table(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(records).write_parquet(path)


def text_ids(records):
    return [
        {"_id": str(record["_id"]), "title": record.get("title"), "text": record["text"]}
        for record in records
    ]


def as_mteb(folder, judged="default"):
    write_table(folder / "corpus" / "corpus-00000-of-00001.parquet", text_ids(DOCS))
    write_table(folder / "queries" / "queries-00000-of-00001.parquet", text_ids(QUERIES))
    for number, rows in enumerate([ROWS[:2], ROWS[2:]]):
        columns = dict(
            zip(("query-id", "corpus-id", "score"), zip(*rows, strict=True), strict=True)
        )
        write_table(folder / judged / f"test-0000{number}-of-00002.parquet", columns)
    return folder


def as_nanobeir(folder):
    for name in ("NanoOne", "NanoTwo"):
        ending = f"{name}-00000-of-00001.parquet"
        write_table(folder / "corpus" / ending, text_ids(DOCS))
        write_table(folder / "queries" / ending, text_ids(QUERIES))
        write_table(
            folder / "qrels" / ending, {"query-id": ["q1"], "corpus-id": ["d1"]} | {"score": [1]}
        )
    return folder


def as_hugging_face(folder):
    write_files(
        folder,
        {
            "corpus.jsonl.gz": gzip.compress(json_lines(DOCS)),
            "queries.jsonl.gz": gzip.compress(json_lines(QUERIES)),
        },
    )
    write_files(folder.with_name(f"{folder.name}-qrels"), {"test.tsv": tsv(ROWS)})
    return folder


LAYOUTS = {
    "BEIR": as_beir,
    "CRLF": lambda folder: as_beir(folder, end="\r\n"),
    "no header": lambda folder: as_beir(folder, header=False),
    "packed, qrels beside": as_hugging_face,
    "mteb": as_mteb,
    "mteb, qrels": lambda folder: as_mteb(folder, "qrels"),
    "mteb, data": lambda folder: as_mteb(folder, "data"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_data_set(tmp_path, layout):
    dataset = load_dataset(LAYOUTS[layout](tmp_path / "scifact"))
    assert dataset.queries == {"q1": "which?", "2": "what?"}
    assert list(dataset.queries) == list(dataset.qrels.query_ids)
    assert dataset.qrels.as_dict() == {"q1": {"d1": 2.0, "é": 0.0}, "2": {"7": 1.0}}
    assert dataset.info is DATASETS["scifact"]
    assert [document[:3] for document in dataset.corpus] == [
        ("d1", "First", "one"),
        ("7", "", "seven"),
        ("é", "", "a\u2028b"),
    ]
    assert len(dataset.corpus) == 3
    assert dataset.corpus["é"] == ("é", "", "a\u2028b", {})
    assert dataset.corpus["7"].text == "seven"
    assert "7" in dataset.corpus
    assert "8" not in dataset.corpus
    with pytest.raises(KeyError):
        dataset.corpus["8"]
    assert dataset.corpus.as_dict()["d1"] == {"title": "First", "text": "one"}
    assert repr(dataset) == "Dataset('scifact', split='test', 2 queries)"
    assert repr(dataset.corpus) == f"Corpus({dataset.corpus.name!r})"
    assert dataset.corpus.name.startswith(str(tmp_path / "scifact" / "corpus"))


def test_a_split_may_be_a_whole_data_set(tmp_path):
    nano = load_dataset(as_nanobeir(tmp_path / "NanoBEIR"), "NanoTwo")
    assert (nano.split, len(nano.corpus), nano.qrels.as_dict()) == ("NanoTwo", 3, {"q1": {"d1": 1}})
    with pytest.raises(FileFormatError, match="it has the splits NanoOne, NanoTwo"):
        load_dataset(tmp_path / "NanoBEIR")


def test_the_official_split_is_read_unless_another_is_given(tmp_path):
    folder = as_beir(tmp_path / "msmarco")
    with pytest.raises(FileFormatError, match=r"no qrels/dev\.tsv"):
        load_dataset(folder)
    assert load_dataset(folder, "test").split == "test"


def test_the_forums_of_cqadupstack_are_read_together(tmp_path):
    for forum in ("android", "english"):
        as_beir(tmp_path / "cqadupstack" / forum)
    forums = load_datasets(tmp_path / "cqadupstack")
    assert list(forums) == ["android", "english"]
    assert forums["english"].queries["q1"] == "which?"
    with pytest.raises(FileFormatError, match="read them with load_datasets"):
        load_dataset(tmp_path / "cqadupstack")
    assert list(load_datasets(tmp_path / "cqadupstack" / "android")) == ["android"]
    with pytest.raises(FileFormatError, match="no data set in this folder"):
        load_datasets(as_beir(tmp_path / "one") / "qrels")


def test_judged_queries_without_a_text_are_listed(tmp_path):
    folder = as_beir(tmp_path / "one")
    (folder / "qrels/test.tsv").write_bytes(tsv([*ROWS, ("q9", "d1", 1)]))
    assert load_dataset(folder).queries_without_text == ("q9",)


def test_the_corpus_is_not_opened_for_queries_and_judgements(tmp_path):
    folder = as_beir(tmp_path / "one")
    (folder / "corpus.jsonl").write_bytes(b"\xff not a corpus")
    dataset = load_dataset(folder)
    result = evaluate(dataset.qrels, {"q1": {"d1": 1.0}}, ["nDCG@10"])
    assert result.counted.queries_missing == ("2",)
    with pytest.raises(FileFormatError, match=r"corpus\.jsonl, line 1: not a line of JSON"):
        list(dataset.corpus)


SCRIPT_THAT_PRINTS_PEAK_MEMORY = """
import sys
from beir_eval.datasets import load_dataset
total = sum(len(document.text) for document in load_dataset(sys.argv[1]).corpus)
(peak,) = (line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(total, peak)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc: not Linux")
@pytest.mark.parametrize("packed", [False, True])
def test_a_million_documents_are_iterated_in_little_memory(tmp_path, packed):
    folder = as_beir(tmp_path / "many")
    (folder / "corpus.jsonl").unlink()
    name = "corpus.jsonl.gz" if packed else "corpus.jsonl"
    with (gzip.open if packed else open)(
        folder / name, "wb", **{"compresslevel": 1} if packed else {}
    ) as file:
        for thousand in range(1000):
            record = '{"_id": "%d", "title": "t", "text": "' + "word " * 20 + '"}\n'
            file.write(
                "".join(record % (1000 * thousand + number) for number in range(1000)).encode()
            )
    process = python("-c", SCRIPT_THAT_PRINTS_PEAK_MEMORY, folder)
    total, peak = map(int, process.stdout.split())
    assert total == 100_000_000
    assert peak * 1024 < 200 * 2**20


@pytest.mark.parametrize("packed", [False, True])
def test_many_threads_can_look_up_documents_at_once(tmp_path, packed):
    folder = as_beir(tmp_path / "one")
    records = json_lines([{"_id": f"d{number}", "text": f"text {number}"} for number in range(500)])
    corpus_file = folder / "corpus.jsonl"
    corpus_file.write_bytes(gzip.compress(records) if packed else b"\xef\xbb\xbf" + records)
    corpus = pickle.loads(pickle.dumps(load_dataset(folder).corpus))  # noqa: S301 - our own
    wanted = [f"d{number % 500}" for number in range(2000)]
    with ThreadPoolExecutor(4) as pool:
        assert [document.doc_id for document in pool.map(corpus.__getitem__, wanted)] == wanted


def test_a_duplicate_document_is_refused_by_lookup_and_by_as_dict(tmp_path):
    folder = as_beir(tmp_path / "one")
    (folder / "corpus.jsonl").write_bytes(json_lines([DOCS[0], DOCS[0], DOCS[2]]))
    corpus = load_dataset(folder).corpus
    assert len(corpus) == 3
    for use in (corpus.as_dict, lambda: corpus["d1"]):
        with pytest.raises(FileFormatError, match="is listed twice"):
            use()


def test_a_split_does_not_include_another_whose_name_starts_the_same(tmp_path):
    folder = as_mteb(tmp_path / "one", "qrels")
    write_table(
        folder / "qrels/test-hard-00000-of-00001.parquet",
        {"query-id": ["q3"]} | {"corpus-id": ["d1"], "score": [1]},
    )
    assert "q3" not in load_dataset(folder).qrels.query_ids
    for split in ("/etc", "**", "../qrels/test", ""):
        with pytest.raises(SettingError, match="a split is a name"):
            load_dataset(folder, split)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"_id": "a"}\n', "line 1: the record has no text"),
        (b'\n{"text": "a"}\n', "line 2: the record has no id"),
        (b'{"_id": "", "text": "a"}\n', "line 1: the record has no id"),
        (b'["a", "b"]\n', "line 1: a record such as"),
        (b'{"_id": "a", "text": "b"}\n{"_id"\n', "line 2: not a line of JSON"),
        (
            gzip.compress(b'{"_id": "a", "text": "b"}\n' * 100, mtime=0)[:-20],
            "truncated or damaged",
        ),
    ],
)
def test_a_damaged_corpus_is_refused_with_its_line(tmp_path, content, problem):
    folder = as_beir(tmp_path / "one")
    (folder / "corpus.jsonl").write_bytes(content)
    with pytest.raises(FileFormatError, match=problem):
        list(load_dataset(folder).corpus)


def test_a_folder_that_is_not_a_data_set_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="no such folder"):
        load_dataset(tmp_path / "nothing")
    folder = as_beir(tmp_path / "one")
    (folder / "queries.jsonl").unlink()
    with pytest.raises(
        FileFormatError, match=r"no queries in this folder; expected queries\.jsonl"
    ):
        load_dataset(folder)
    (tmp_path / "table" / "corpus").mkdir(parents=True)
    (tmp_path / "table" / "corpus" / "corpus-0.parquet").write_bytes(b"PAR1 nothing")
    write_files(
        tmp_path / "table", {"queries.jsonl": json_lines(QUERIES), "qrels/test.tsv": tsv(ROWS)}
    )
    with pytest.raises(FileFormatError, match="not a readable Parquet file"):
        list(load_dataset(tmp_path / "table").corpus)


CARD = """---
configs:
- config_name: corpus
  data_files: [{{split: {corpus}, path: corpus/*}}]
- config_name: queries
  data_files: [{{split: {queries}, path: queries/*}}]
- config_name: {judged}
  data_files: [{{split: test, path: {judged}/*}}]
---
"""


@pytest.mark.peers
@pytest.mark.parametrize("judged", ["default", "qrels"])
def test_a_hub_repository_is_read_in_the_layout_of_mteb(tmp_path, monkeypatch, judged):
    pytest.importorskip("datasets", reason="the package datasets is not installed")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    folder = as_mteb(tmp_path / "scifact", judged)
    card = CARD.format(corpus="corpus", queries="queries", judged=judged)
    (folder / "README.md").write_text(card)
    dataset = load_from_hub(str(folder))
    local = load_dataset(folder)
    assert dataset.qrels.as_dict() == local.qrels.as_dict()
    assert dataset.queries == local.queries
    assert list(dataset.corpus) == list(local.corpus)
    assert dataset.corpus["7"].text == "seven"
    assert dataset.info is DATASETS["scifact"]
    with pytest.raises(SettingError, match="no split 'dev'"):
        load_from_hub(str(folder), "dev")
    two = "split: a, path: corpus/*}, {split: b, path: corpus/*"
    (folder / "README.md").write_text(card.replace("split: corpus, path: corpus/*", two))
    with pytest.raises(SettingError, match="no split 'test' of corpus; it has a, b"):
        load_from_hub(str(folder))


@pytest.mark.peers
def test_a_hub_repository_is_read_with_judgements_in_a_second_repository(tmp_path, monkeypatch):
    pytest.importorskip("datasets", reason="the package datasets is not installed")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    folder = as_hugging_face(tmp_path / "fiqa")
    card = CARD.replace("corpus/*", "corpus.jsonl.gz").replace("queries/*", "queries.jsonl.gz")
    card = card[: card.rindex("- config_name")] + "---\n"
    (folder / "README.md").write_text(card.format(corpus="corpus", queries="queries"))
    dataset = load_from_hub(str(folder))
    assert dataset.qrels.as_dict() == {"q1": {"d1": 2.0, "é": 0.0}, "2": {"7": 1.0}}
    assert list(dataset.queries) == ["q1", "2"]


def test_the_conventions_are_those_of_the_papers():
    assert [len(REPORTED_AVERAGES[size]) for size in (13, 14, 18)] == [13, 14, 18]
    assert set(REPORTED_AVERAGES[13]) | {"cqadupstack"} == set(REPORTED_AVERAGES[14])
    assert set(REPORTED_AVERAGES[14]) | {"bioasq", "signal1m", "trec-news", "robust04"} == set(
        REPORTED_AVERAGES[18]
    )
    assert len(DATASETS["cqadupstack"].parts) == 12
    assert {name for name, info in DATASETS.items() if info.graded} == {
        *("trec-covid", "nfcorpus", "dbpedia-entity", "webis-touche2020"),
        *("signal1m", "trec-news", "robust04"),
    }
    assert [name for name, info in DATASETS.items() if info.drop_identical_ids] == [
        "arguana",
        "quora",
    ]
    assert DATASETS["scifact"].url.endswith("/scifact.zip")
    assert DATASETS["robust04"].url is None
    assert find_info("BeIR/SciFact") is find_info("mteb/scifact") is DATASETS["scifact"]
    with pytest.raises(SettingError, match="did you mean scifact"):
        info_of("scifat")


def test_the_name_of_a_beir_data_set_that_is_no_folder_is_answered_with_the_download(tmp_path):
    with pytest.raises(FileFormatError, match=r"no such folder.*download_dataset\('scifact'\)"):
        load_dataset(tmp_path / "scifact")
    with pytest.raises(FileFormatError, match=r"qrels$"):
        load_dataset(tmp_path / "own")
