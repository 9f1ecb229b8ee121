"""The format is detected from the content; what is written is read back exactly."""

import gzip
import json
import re
from functools import partial

import polars as pl
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval import Qrels, Run, evaluate, read_qrels, read_run, write_qrels, write_run
from beir_eval.adapters import formats
from beir_eval.adapters.formats import QRELS_FORMATS, RUN_FORMATS
from beir_eval.core.files import FileContent
from beir_eval.errors import (
    FileFormatError,
    InputError,
    RunError,
    SettingError,
)
from strategies import qrels_and_run
from time_limit import time_limit
from written_files import write_file

RUN = {"q1": {"d1": 3.5, "d2": 2.0}, "q2": {"d1": -0.001}}
QRELS = {"q1": {"d1": 1.0, "d2": 0.0}, "q2": {"d3": 2.0}}


def json_lines(*records):
    return "\n".join(json.dumps(record) for record in records) + "\n"


FORMS = {
    "MS MARCO with scores and blanks": ("msmarco", "q1 d1 1 3.5\nq1  d2 2 2\nq2 d1 1 -1e-3"),
    "CSV of a spreadsheet": (
        "csv",
        '\ufeffRank,Corpus ID,"Query ID", Score\r\n1,d1,q1, 3.5\r\n,"d2",q1,2\r\n\r\n1,d1,q2,-1e-3',
    ),
    "CSV below a comment": (
        "csv",
        '# by "me", \n\nqid,docno,sim\nq1,d1,3.5\nq1,d2,2\nq2,d1,-0.001',
    ),
    "JSON": ("json", json.dumps(RUN)),
    "JSON with a byte order mark": ("json", "\ufeff" + json.dumps(RUN)),
    "JSON lines with objects of scores": (
        "jsonl",
        json_lines({"query_id": "q1", "docs": RUN["q1"]}, {"query_id": "q2", "docs": RUN["q2"]}),
    ),
    "JSON lines with lists of objects": (
        "jsonl",
        json_lines(
            {"qid": "q1", "results": [{"docid": d, "score": s} for d, s in RUN["q1"].items()]},
            {"qid": "q2", "results": [{"docid": d, "score": s} for d, s in RUN["q2"].items()]},
        ),
    ),
    "JSON lines with pairs": (
        "jsonl",
        json_lines(
            {"_id": "q1", "predictions": [["d1", 3.5], ["d2", 2]]},
            {"_id": "q2", "predictions": [["d1", -0.001]]},
        ),
    ),
    "JSON lines with ids of their own": (
        "jsonl",
        json_lines(
            {"id": "r1", "query_id": "q1", "doc_id": "d1", "score": 3.5},
            {"id": "r2", "query_id": "q1", "doc_id": "d2", "score": 2},
            {"id": True, "query_id": "q2", "doc_id": "d1", "score": -0.001},
        ),
    ),
    "JSON lines with parallel lists": (
        "jsonl",
        json_lines(
            {"_id": "x", "qid": "q1", "doc_ids": ["d1", "d2"], "scores": [3.5, 2]},
            {"_id": "y", "qid": "q2", "doc_ids": ["d1"], "scores": [-0.001]},
        ),
    ),
    "JSON lines, a document each": (
        "jsonl",
        json_lines(
            {"query-id": "q1", "corpus-id": "d1", "score": 3.5},
            {"query-id": "q2", "corpus-id": "d1", "score": -0.001},
            {"query-id": "q1", "corpus-id": "d2", "score": 2},
        ),
    ),
}


@pytest.mark.parametrize(("kind", "content"), FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("packed", ["plain", "gz", "zst"])
def test_the_format_of_a_run_is_detected_from_its_content_or_given(tmp_path, kind, content, packed):
    data = content.encode()
    if packed != "plain":
        data = gzip.compress(data) if packed == "gz" else zstandard.compress(data)
    path = write_file(tmp_path, data)
    assert read_run(path).as_dict() == read_run(path, format=kind).as_dict() == RUN


def test_json_lines_without_scores_are_ranked_by_their_order(tmp_path):
    records = {"query_id": "q1", "docs": ["d1", "d2"]}, {"query_id": "q2", "doc_ids": ["d1"]}
    run = read_run(write_file(tmp_path, json_lines(*records)))
    rankings = {query: list(docs) for query, docs, scores in run.rankings() if scores is None}
    assert rankings == {"q1": ["d1", "d2"], "q2": ["d1"]}
    assert evaluate({"q1": {"d2": 1}}, run, ["RR"])["RR"] == 1 / 2


def test_a_very_long_line_of_json_is_read(tmp_path):
    docs = [{"doc_id": f"passage {number:09}", "score": number} for number in range(5000)]
    path = write_file(tmp_path, json_lines({"qid": "q", "docs": docs}, {"qid": "r", "docs": docs}))
    assert list(read_run(path).as_dict()) == ["q", "r"]


def test_a_run_that_is_passed_as_qrels_is_refused(tmp_path):
    path = write_file(tmp_path, "q1\td1\t1\t12.5\nq1\td2\t2\t11\nq2\td1\t1\t3\n")
    with pytest.raises(FileFormatError, match="looks like a run"):
        read_qrels(path)


def endings_of(table):
    """Return one ending of each format that is written."""
    return [(row.written_endings or row.endings)[0] for row in table.formats if row.write]


def test_an_id_that_is_not_unicode_cannot_be_written_and_says_so(tmp_path):
    for ending in endings_of(RUN_FORMATS):
        with pytest.raises(InputError, match="not Unicode"):
            write_run({"q": {"\ud800": 1.0}}, tmp_path / f"x{ending}")
    for ending in endings_of(QRELS_FORMATS):
        with pytest.raises(InputError, match="not Unicode"):
            write_qrels({"q": {"\ud800": 1}}, tmp_path / f"x{ending}")
    with pytest.raises(InputError, match="contains white space or a zero byte"):
        write_run({"\ufeffq": {"a": 1.0}}, tmp_path / "x.trec")
    assert list(tmp_path.iterdir()) == []


def test_duplicates_in_json_are_kept_for_evaluate_to_handle(tmp_path):
    path = write_file(tmp_path, '{"q": {"a": 1, "b": 2, "a": 3}}')
    result = evaluate({"q": {"a": 1}}, read_run(path), ["RR"], duplicates="first")
    assert (result["RR"], result.counted.duplicates) == (1, 1)


def test_an_empty_ranking_survives_in_json(tmp_path):
    write_run({"q1": {"d1": 1.0}, "q2": {}}, tmp_path / "r.json")
    assert read_run(tmp_path / "r.json").as_dict() == {"q1": {"d1": 1.0}, "q2": {}}


BAD_RUNS = {
    "qrels": ("q1 0 d1 1\nq1 0 d2 0\n", "the rank 'd1' is not a whole number"),
    "qrels with numbers for ids": ("q 0 7 1\nq 0 9 1\n", "look like TREC qrels"),
    "deep JSON lines": ("{" + "[" * 200_000, "not JSON|nested too deeply"),
    "scores of another length": (json_lines({"qid": "q", "docs": ["a"], "scores": []}), "as many"),
    "a listed document without a score": (
        json_lines({"qid": "q", "docs": [{"id": "a", "rank": 1}]}),
        "must have an id and a score, but it has 'id', 'rank'",
    ),
    "MS MARCO with a short line": ("q a 1 2\nq b 2\n", "line 2: 3 columns, expected 4"),
    "CSV with other names": (
        "qid,passage_text,score\nq,a,1\n",
        "line 1: the table has no column that is recognisably doc_id",
    ),
    "CSV with a short row": ("qid,docid,score\nq,a,1\nq,b\n", "line 3: 2 columns, expected 3"),
    "CSV with an empty id": ("qid,docid,score\nq,,1\n", "line 2: an id is empty"),
    "CSV with a score that is text": ("qid,docid,score\nq,a,x\n", "line 2: the score 'x'"),
    "CSV with an open quote": ('qid,docid,score\nq,"a,1\n', "not comma-separated values"),
    "CSV without rows": ("qid,docid,score\n", "no line below the header"),
    "broken JSON": ('{"q": {"a": 1}', "not JSON"),
    "the columns of a table": (
        '{"qid": ["q"],\n"docid": ["a"], "score": [1]}',
        "these are columns of a table",
    ),
    "a score that is text": ('{"q": {"a": "1"}}', "score of document 'a' for query 'q'"),
    "a score that is true": ('{"q": {"a": true}}', "is True; it must be a finite number"),
    "a score that is null": ('{"q": {"a": null}}', "a score for query 'q' is null"),
    "NaN": ('{"q": {"a": NaN}}', "is nan; it must be a finite number"),
    "a query twice": ('{"q": {"a": 1}, "q": {"b": 1}}', "the query 'q' is listed twice"),
    "an empty id": ('{"q": {"": 1}}', "an id is empty"),
    "an empty object": ("{}", "there is no query in it"),
    "a record without a query": (json_lines({"x": 1}, {"x": 2}), "line 1: the record has no query"),
    "a record without documents": (
        json_lines({"qid": "q", "x": 2}),
        "no docs .* it has 'qid', 'x'",
    ),
    "a record that is a list": ('{"qid": "q", "docs": ["a"]}\n[1]\n', "line 2: expected one obj"),
    "documents that are a number": (json_lines({"qid": "q", "docs": 5}), "not a number"),
    "scores for some": (json_lines({"qid": "q", "docs": ["a", ["b", 1]]}), "some have none"),
    "broken JSON lines": ('{"qid": "q", "docs": ["a"]}\n{"qid"\n', "line 2: not JSON"),
}
#: With the format that is stated.
BAD_FOR_A_FORMAT = {
    "TREC stated as MS MARCO": ("q Q0 a 1 1 t\n", "msmarco", "line 1: 6 columns, expected 3 or 4"),
    "MS MARCO stated as TREC": ("q a 1\n", "trec", "line 1: 3 columns, expected 6"),
    "an empty file stated as CSV": ("", "csv", "no column that is recognisably query_id"),
    "text stated as Parquet": ("q Q0 a 1 1 t\n", "parquet", "not a readable Parquet file"),
}


@pytest.mark.parametrize(("content", "problem"), BAD_RUNS.values(), ids=BAD_RUNS)
def test_a_malformed_run_file_is_refused(tmp_path, content, problem):
    path = write_file(tmp_path, content)
    with pytest.raises(FileFormatError, match=problem) as caught:
        read_run(path)
    assert caught.value.path == path


@pytest.mark.parametrize(
    ("content", "stated", "problem"), BAD_FOR_A_FORMAT.values(), ids=BAD_FOR_A_FORMAT
)
def test_a_file_of_another_format_than_the_stated_one_is_refused(
    tmp_path, content, stated, problem
):
    with pytest.raises(FileFormatError, match=problem):
        read_run(write_file(tmp_path, content), format=stated)


def test_an_unknown_format_is_refused_with_the_choices(tmp_path):
    path = write_file(tmp_path, "q Q0 a 1 1 t\n")
    with pytest.raises(SettingError, match="choose one of 'trec', 'msmarco', 'json'"):
        read_run(path, format="none of them")
    with pytest.raises(SettingError, match="choose one of 'trec', 'beir', 'json'"):
        read_qrels(path, format="none of them")


QRELS_FORMS = {
    "csv": "query-id,iteration,corpus-id,relevance\nq1,0,d1,1\nq1,0,d2,0\nq2,0,d3,2\n",
    "jsonl": json_lines(
        *(
            {"query_id": query, "doc_id": doc, "relevance": grade}
            for query, judged in QRELS.items()
            for doc, grade in judged.items()
        )
    ),
}


@pytest.mark.parametrize(("kind", "content"), QRELS_FORMS.items())
def test_the_format_of_judgements_is_detected_from_their_content_or_given(tmp_path, kind, content):
    path = write_file(tmp_path, content)
    assert read_qrels(path).as_dict() == read_qrels(path, format=kind).as_dict() == QRELS


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"q": {"a": "high"}}', "the grade of document 'a' for query 'q' is 'high'"),
        ('{"q": {"a": 1, "a": 2}}', "'a' is judged twice for query 'q'"),
        ('{"q": 1}', "found a number for 'q'"),
        ("{}", "no judgement in it"),
        (json_lines({"qid": "q", "docid": "a"}), "no doc_id and grade"),
        (json_lines({"qid": "q", "docid": "a", "label": None}), "no doc_id and grade"),
    ],
)
def test_a_malformed_qrels_file_is_refused(tmp_path, content, problem):
    with pytest.raises(FileFormatError, match=problem):
        read_qrels(write_file(tmp_path, content))


@pytest.mark.slow
@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_a_repeated_query_is_named_without_comparing_each_query_with_all_others(read, tmp_path):
    num_queries = 200_000  # a second or less; 20,000,000,000 comparisons take minutes
    queries = "".join(f'"q{query}": {{"a": 1}}, ' for query in range(num_queries))
    path = write_file(tmp_path, f'{{{queries}"q{num_queries - 1}": {{"b": 1}}}}')
    problem = f"the query 'q{num_queries - 1}' is listed twice"
    with time_limit(60), pytest.raises(FileFormatError, match=problem):
        read(path)


# Writing


@pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")  # made runs look like mistakes
@pytest.mark.hypothesis
@pytest.mark.parametrize("ending", [*endings_of(RUN_FORMATS), ".run.gz", ".json.zst"])
def test_a_written_run_is_read_back_exactly(ending, tmp_path_factory):
    @given(qrels_and_run(min_size=1), st.sampled_from(["score", "given"]))
    @settings(max_examples=settings.default.max_examples // 2)
    def check(case, order):
        qrels, run = case
        path = tmp_path_factory.mktemp("written") / f"run{ending}"
        write_run(run, path)
        assert read_run(path).as_dict() == run
        assert read_run(path).fingerprint() == Run(run).fingerprint()
        for ties in ("trec_eval9", "input"):
            assert evaluate(qrels, read_run(path), order=order, ties=ties) == evaluate(
                qrels, run, order=order, ties=ties
            )

    check()


@pytest.mark.hypothesis
@pytest.mark.parametrize("ending", [*endings_of(QRELS_FORMATS), ".tsv.gz"])
def test_written_judgements_are_read_back_exactly(ending, tmp_path_factory):
    @given(qrels_and_run(grade=st.one_of(st.integers(-2, 3), st.floats(-2, 5))))
    @settings(max_examples=settings.default.max_examples // 2)
    def check(case):
        path = tmp_path_factory.mktemp("written") / f"qrels{ending}"
        write_qrels(case[0], path)
        assert read_qrels(path).as_dict() == case[0]

    check()


def test_trec_ranks_count_from_1_in_the_order_of_trec_eval(tmp_path):
    write_run({"q": {"a": 1.0, "c": 2.0, "b": 2.0}}, tmp_path / "r.trec", tag="mine")
    assert (tmp_path / "r.trec").read_text() == (
        "q Q0 a 3 1.0 mine\nq Q0 c 1 2.0 mine\nq Q0 b 2 2.0 mine\n"
    )


def test_whole_grades_are_written_without_a_point(tmp_path):
    write_qrels({"q": {"a": 2, "b": 0.5}}, tmp_path / "q.tsv")
    assert (tmp_path / "q.tsv").read_text() == "query-id\tcorpus-id\tscore\nq\ta\t2\nq\tb\t0.5\n"


NO_ROWS = Run.from_columns([], [], [])


@pytest.mark.parametrize(
    ("write", "content", "name", "problem"),
    [
        (write_run, {"q": {"a b": 1.0}}, "x.trec", "'a b' contains white space"),
        (write_run, {"q": {"#a": 1.0}}, "x.trec", "begins with #"),
        (partial(write_run, tag="a b"), {"q": {"a": 1.0}}, "x.trec", "contains white space"),
        (write_run, NO_ROWS, "x.trec", "the run holds no document"),
        (write_run, NO_ROWS, "x.csv", "the run holds no document"),
        (write_run, {"q": {"a" * 200_000: 1.0}}, "x.csv", "a CSV file cannot"),
        (write_qrels, {"q": {"a\0": 1}}, "x.csv", "a CSV file cannot contain"),
        (write_qrels, {"q": {"a\tb": 1}}, "x.tsv", "contains a tab"),
        (write_run, {"q": {"a": 1.0}}, "x.doc", "does not say which format"),
        (partial(write_run, format="doc"), {"q": {"a": 1.0}}, "x", "format='doc'"),
        (write_qrels, {"q": {"a": 1}}, "x.gz", "does not say which format"),
        (
            write_run,
            Run.from_columns([*"qq"], [*"aa"], [1, 2]),
            "x.json",
            "'a' more than once",
        ),
    ],
)
def test_input_that_a_format_cannot_hold_is_refused_and_nothing_is_written(
    tmp_path, write, content, name, problem
):
    with pytest.raises((InputError, SettingError, RunError), match=problem):
        write(content, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_dataframes_and_qrels_objects_can_be_written(tmp_path):
    write_run(pl.DataFrame({"qid": ["q"], "docid": ["a"], "score": [1]}), tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text()) == {"q": {"a": 1.0}}
    write_qrels(Qrels({"q": {"a": 1}}), tmp_path / "q.json")
    assert json.loads((tmp_path / "q.json").read_text()) == {"q": {"a": 1.0}}


# The tables of formats


def rows_of(table):
    return [pytest.param(row, id=row.name) for row in table.formats]


@pytest.mark.parametrize(
    ("table", "write", "read", "content"),
    [(RUN_FORMATS, write_run, read_run, RUN), (QRELS_FORMATS, write_qrels, read_qrels, QRELS)],
    ids=["runs", "qrels"],
)
def test_each_format_that_is_written_is_read_by_its_name_and_by_its_content(
    table, write, read, content, tmp_path
):
    for row in filter(lambda row: row.write, table.formats):
        write(content, path := tmp_path / "file", format=row.name)
        assert read(path).as_dict() == read(path, format=row.name).as_dict() == content
        assert table.choose(FileContent(path), None) is row
        for ending in row.written_endings or row.endings:
            write(content, path := tmp_path / f"file{ending}")
            assert table.choose(FileContent(path), None) is row


@pytest.mark.parametrize("row", [*rows_of(RUN_FORMATS), *rows_of(QRELS_FORMATS)])
def test_the_reader_and_the_writer_of_each_format_name_it_in_their_docstrings(row):
    for origin in filter(None, (row.read, row.write)):
        assert f'"{row.name}"' in formats.load(origin, "a test").__doc__


def test_the_docstrings_for_users_describe_formats_of_the_tables_in_their_order():
    for read, table in ((read_run, RUN_FORMATS), (read_qrels, QRELS_FORMATS)):
        described = re.findall(r'^ *- "(\w+)":', read.__doc__, flags=re.MULTILINE)
        assert len(described) >= 5
        assert described == [row.name for row in table.formats if row.name in described]


def test_no_two_formats_share_a_name_or_an_ending():
    for table in (RUN_FORMATS, QRELS_FORMATS):
        names = [row.name for row in table.formats]
        written_endings = [
            ending
            for row in table.formats
            if row.write
            for ending in row.written_endings or row.endings
        ]
        for values in (names, table.endings, written_endings):
            assert len(set(values)) == len(values)
