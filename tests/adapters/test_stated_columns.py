"""Names of columns are stated for one file, as ``columns=``, or for all, as ``--columns``."""

import json

import pytest

from beir_eval import read_qrels, read_run
from beir_eval.errors import FileFormatError, SettingError
from command_line import output_of, run
from written_files import SEPARATORS, write_table

RUN = {"question": ["q1", "q1"], "hit": ["d1", "d2"], "points": [2.5, 1.5], "score": [9.0, 1.0]}
QRELS = {"question": ["q1", "q1"], "hit": ["d1", "d2"], "gold": [2, 0]}
RUN_COLUMNS = {"query_id": "question", "doc_id": "hit", "score": "points"}
QRELS_COLUMNS = {"query_id": "question", "doc_id": "hit", "grade": "gold"}
KINDS = [*SEPARATORS, "parquet", "jsonl"]


def write(tmp_path, table, kind, name):
    return write_table(tmp_path / name, table, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_stated_columns_are_read(tmp_path, kind):
    run = read_run(write(tmp_path, RUN, kind, "run"), columns=RUN_COLUMNS)
    assert run.as_dict() == {"q1": {"d1": 2.5, "d2": 1.5}}
    qrels = read_qrels(write(tmp_path, QRELS, kind, "qrels"), columns=QRELS_COLUMNS)
    assert qrels.as_dict() == {"q1": {"d1": 2.0, "d2": 0.0}}


@pytest.mark.parametrize("kind", KINDS)
def test_one_of_several_columns_that_match_can_be_stated(tmp_path, kind):
    table = {"qid": ["q1"], "docno": ["d1"], "doc_id": ["x1"], "score": [1.5], "sim": [2.5]}
    path = write(tmp_path, table, kind, "run")
    with pytest.raises(FileFormatError, match="'docno'"):
        read_run(path)
    run = read_run(path, columns={"doc_id": "docno", "score": "sim"})
    assert run.as_dict() == {"q1": {"d1": 2.5}}


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_error_on_columns_that_are_not_recognised_names_the_argument(tmp_path, kind):
    with pytest.raises(FileFormatError, match="name it with columns= as query_id"):
        read_run(write(tmp_path, RUN, kind, "run"))
    table = {"qid": ["q1"], "docno": ["d1"], "doc_id": ["x1"], "score": [1.5]}
    with pytest.raises(FileFormatError, match=r"'docno', 'doc_id'.* with columns= as doc_id"):
        read_run(write(tmp_path, table, kind, "run"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_stated_column_that_the_file_lacks_is_refused_with_those_that_it_has(tmp_path, kind):
    path = write(tmp_path, {"qid": ["q1"], "hit": ["d1"], "score": [1.5]}, kind, "run")
    with pytest.raises(FileFormatError, match=r"'passage'.*'qid', 'hit', 'score'"):
        read_run(path, columns={"doc_id": "passage"})


@pytest.mark.parametrize(
    ("content", "format_name"),
    [("q1 Q0 d1 1 2.5 t\n", "trec"), ("q1\td1\t1\n", "msmarco"), ('{"q1": {"d1": 2}}', "json")],
)
def test_columns_for_a_format_without_names_are_refused(tmp_path, content, format_name):
    path = tmp_path / "run"
    path.write_text(content)
    with pytest.raises(
        SettingError, match=f"format '{format_name}', without names; leave columns="
    ):
        read_run(path, columns={"doc_id": "hit"})


def test_a_line_with_a_stated_document_has_one_document(tmp_path):
    path = tmp_path / "run.jsonl"
    lines = [{"qid": "q1", "hit": doc, "score": 1, "docs": ["x", "y"]} for doc in ("d1", "d2")]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_run(path, columns={"doc_id": "hit"}).as_dict() == {"q1": {"d1": 1.0, "d2": 1.0}}


def command(*arguments):
    result = run(*arguments)
    return result.exit_code, output_of(result)


@pytest.mark.parametrize("kind", KINDS)
def test_one_option_names_the_columns_of_judgements_and_runs(tmp_path, kind):
    two_queries = {"question": ["q1", "q2"]}
    qrels = write(tmp_path, {**QRELS, **two_queries}, kind, "q")
    run, other = (write(tmp_path, {**RUN, **two_queries}, kind, name) for name in "rs")
    option = "query_id=question,doc_id=hit,score=points,grade=gold"
    for arguments in (("evaluate", qrels, run), ("compare", qrels, run, other)):
        code, output = command(*arguments, "-m", "MRR", "--columns", option)
        assert (code, "0.5" in output) == (0, True), output
    code, output = command("validate", qrels, run, "--columns", option)
    assert code in {0, 1}, output
    names = option.removesuffix(",grade=gold")
    assert command("convert", run, tmp_path / "r.trec", "--columns", names)[0] == 0
    assert read_run(tmp_path / "r.trec").as_dict() == {"q1": {"d1": 2.5}, "q2": {"d2": 1.5}}
    names = option.replace("score=points,", "")
    assert command("convert", "--qrels", qrels, tmp_path / "q.trec", "--columns", names)[0] == 0
    assert read_qrels(tmp_path / "q.trec").as_dict() == {"q1": {"d1": 2.0}, "q2": {"d2": 0.0}}


@pytest.mark.parametrize("name", ["evaluate", "compare", "validate", "convert"])
def test_a_name_that_no_file_has_is_an_error(tmp_path, name):
    table = {"qid": ["q1"], "hit": ["d1"], "docno": ["d1"], "score": [1.5]}
    run = write(tmp_path, table, "csv", "run.csv")
    (tmp_path / "q.trec").write_text("q1 0 d1 1\n")
    files = (run, tmp_path / "o.trec") if name == "convert" else (tmp_path / "q.trec", run)
    code, output = command(name, *files, "--columns", "doc_id=passage")
    assert code == 2, output
    assert "--columns states doc_id=passage, but no file has the column 'passage'" in output
    assert "the tables have 'qid', 'hit', 'docno', 'score'" in output
