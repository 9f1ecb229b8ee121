"""Columns are those that the caller states, or those with usual names."""

import pytest

from beir_eval.core.column_names import StatedColumns, choose_column, columns_of_role
from beir_eval.errors import InputError, SettingError


def test_the_other_names_count_only_where_there_is_no_usual_one():
    assert columns_of_role(["query", "qid"], "query_id") == ["qid"]
    assert columns_of_role(["query", "text"], "query_id") == ["query"]


def test_the_row_number_of_pyterrier_is_no_document_id():
    assert columns_of_role(["qid", "docid", "docno"], "doc_id") == ["docno"]


def test_a_table_whose_columns_are_named_by_values_has_no_header():
    with pytest.raises(InputError, match=r"the run has no header: .* named 'q1', 'd1', '2\.5'"):
        choose_column(["q1", "d1", "2.5"], "query_id", None, InputError, "the run")


@pytest.mark.parametrize("where", [["tag"], ["=bm25"], ["tag=a", "tag=b"]])
def test_rows_that_count_are_stated_as_pairs_each_column_once(where):
    with pytest.raises(SettingError, match="must be COLUMN=VALUE, each column once"):
        StatedColumns.parse(None, where)


@pytest.mark.parametrize("text", ["doc_id", "doc_id=", "doc_id=a,doc_id=b", ""])
def test_an_option_that_is_no_pairs_is_refused(text):
    with pytest.raises(SettingError, match="pairs such as"):
        StatedColumns.parse(text)


def test_an_unknown_role_and_a_name_that_is_no_text_are_refused():
    with pytest.raises(SettingError, match="not 'rank'"):
        StatedColumns.parse("rank=place")
    with pytest.raises(SettingError, match="must have a name, not 3"):
        StatedColumns.read({"doc_id": 3}, ("doc_id",))


def test_names_for_one_file_must_be_there_and_names_for_several_are_used_where_they_are():
    own = StatedColumns.read({"doc_id": "passage"}, ("doc_id",))
    assert own.name_of("doc_id", ["docno"]) == "passage"
    assert own.name_of("query_id", ["qid"]) is None
    shared = StatedColumns.parse("doc_id = passage, grade=label")
    assert StatedColumns.read(shared, ()) is shared
    assert shared.name_of("doc_id", ["docno"]) is None
    assert shared.name_of("doc_id", ["passage"]) == "passage"
    with pytest.raises(InputError, match="no file has the column 'label': the tables have 'docno'"):
        shared.refuse_unused()
    assert shared.name_of("grade", ["label"]) == "label"
    shared.refuse_unused()


def test_a_name_for_files_that_are_no_tables_is_refused():
    with pytest.raises(InputError, match="no file is a table with a column for doc_id"):
        StatedColumns.parse("doc_id=passage").refuse_unused()


def test_no_names_are_false():
    assert not StatedColumns.read(None, ("doc_id",))
    assert StatedColumns.parse("doc_id=docno")
