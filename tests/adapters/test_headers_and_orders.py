"""Headers that are none, columns in another order, and shapes of other tools."""

import json

import pandas as pd
import polars as pl
import pytest

from beir_eval import Qrels, Run, evaluate, read_qrels, read_run
from beir_eval.errors import FileFormatError, InputError
from beir_eval.validation import validate
from written_files import write_file

RUN_ROWS = "q1,d1,2.5\nq2,d1,0.5\nq2,d2,1.5\nq1,d3,3.5\n"
RUN = {"q1": {"d1": 2.5, "d3": 3.5}, "q2": {"d1": 0.5, "d2": 1.5}}
ALL_COLUMNS = {"query_id": "q1", "doc_id": "d1", "score": "2.5"}


@pytest.mark.parametrize("columns", [None, ALL_COLUMNS, {"doc_id": "d1"}])
def test_csv_without_a_header_is_refused_and_the_advice_gives_every_row(tmp_path, columns):
    path = write_file(tmp_path, RUN_ROWS)
    with pytest.raises(FileFormatError, match=r"line 1: no header: 'q1', 'd1', '2\.5' are values"):
        read_run(path, columns=columns)
    assert read_run(write_file(tmp_path, "query_id,doc_id,score\n" + RUN_ROWS)).as_dict() == RUN


def test_numbers_beside_names_that_are_known_are_a_header(tmp_path):
    path = write_file(tmp_path, "qid,docno,score,2024\nq1,d1,2.5,7\n")
    assert read_run(path).as_dict() == {"q1": {"d1": 2.5}}
    assert read_run(path, columns={"score": "2024"}).as_dict() == {"q1": {"d1": 7.0}}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame])
def test_a_frame_whose_first_row_became_its_header_is_not_to_be_renamed(tmp_path, make):
    frame = make({"q1": ["q2"], "d1": ["d2"], "2.5": [1.5]})
    with pytest.raises(InputError, match=r"no header: .* 'q1', 'd1', '2\.5', which are values"):
        Run.from_dataframe(frame)
    unnamed = make({"0": ["q2"], "1": ["d2"], "2": [1.5]})
    with pytest.raises(InputError, match="no column that is recognisably query_id"):
        Run.from_dataframe(unnamed)
    names = {"query_id": "0", "doc_id": "1", "score": "2"}
    assert Run.from_dataframe(unnamed, **names).as_dict() == {"q2": {"d2": 1.5}}


def test_a_stated_name_that_two_columns_have_is_refused(tmp_path):
    path = write_file(tmp_path, "qid,docno,points,points\nq1,d1,1,2\n")
    with pytest.raises(FileFormatError, match="several columns that could be score"):
        read_run(path, columns={"score": "points"})


HEADED_RUNS = {
    "the usual order": "qid Q0 docno rank score tag\nq1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.5 t\n",
    "another order": "docno qid score\nd1 q1 2.5\nd2 q1 1.5\n",
    "tabs": "qid\tQ0\tdocno\trank\tscore\ttag\nq1\tQ0\td1\t1\t2.5\tt\nq1\tQ0\td2\t2\t1.5\tt\n",
}


@pytest.mark.parametrize("content", HEADED_RUNS.values(), ids=HEADED_RUNS)
def test_a_header_above_the_columns_of_trec_names_them(tmp_path, content):
    assert read_run(write_file(tmp_path, content)).as_dict() == {"q1": {"d1": 2.5, "d2": 1.5}}


@pytest.mark.parametrize(
    "content",
    [
        "query_id iteration doc_id relevance\nq1 0 d1 2\nq1 0 d2 0\n",
        "query-id corpus-id score\nq1 d1 2\nq1 d2 0\n",
        "docno qid rel\nd1 q1 2\nd2 q1 0\n",
    ],
)
def test_a_header_above_judgements_between_blanks_names_them(tmp_path, content):
    assert read_qrels(write_file(tmp_path, content)).as_dict() == {"q1": {"d1": 2.0, "d2": 0.0}}


def test_a_header_between_blanks_has_the_tag_of_several_systems(tmp_path):
    content = HEADED_RUNS["the usual order"] + "q1 Q0 d3 1 2.5 u\n"
    with pytest.raises(FileFormatError, match="the column 'tag' has the values 't', 'u'"):
        read_run(write_file(tmp_path, content))
    run = read_run(write_file(tmp_path, content), where={"tag": "u"})
    assert run.as_dict() == {"q1": {"d3": 2.5}}


@pytest.mark.parametrize("content", ["q1\td1\nq1\td2\nq2\td1\n", "q1 d1\nq1 d2\n\nq2 d1\n"])
def test_two_columns_are_queries_and_their_relevant_documents(tmp_path, content):
    expected = {"q1": {"d1": 1.0, "d2": 1.0}, "q2": {"d1": 1.0}}
    assert read_qrels(write_file(tmp_path, content)).as_dict() == expected
    assert read_qrels(write_file(tmp_path, content), format="beir").as_dict() == expected


AGREEING = "".join(f"q1 {topic} {doc} 1\n" for topic in (1, 2) for doc in ("d1", "d2"))


def test_subtopics_whose_grades_agree_are_called_so(tmp_path):
    path = write_file(tmp_path, AGREEING)
    with pytest.raises(FileFormatError, match=r"by subtopic, or by round: .* \('1', '2'\)"):
        read_qrels(path)
    [finding] = [f for f in validate(path).findings if f.code == "judgements-by-subtopic"]
    assert (finding.count, finding.total) == (2, 2)


def test_repeated_judgements_of_one_iteration_count_once(tmp_path):
    for content in ("q1 0 d1 1\nq1 0 d1 1\n", "q1 1 d1 1\nq1 1 d1 1\nq1 2 d2 1\n"):
        assert read_qrels(write_file(tmp_path, content)).repeated_judgements == 1


PERMUTED = {
    "kinds in the place of documents": "".join(
        f"q{n} d{n}{m} {kind} 1\n" for n in range(3) for m, kind in enumerate("ab")
    ),
    "numbers of documents before kinds": "".join(
        f"q{n} {7_000 + n} {kind} 1\n" for n in range(9) for kind in "ab"
    ),
    "documents in the place of grades": "".join(
        f"q{n} 0 {grade} {7_000 + 2 * n + grade}\n" for n in range(9) for grade in (0, 1)
    ),
    "documents behind the grades of BEIR": "".join(
        f"q{n}\t{grade}\t{7_000 + 2 * n + grade}\n" for n in range(9) for grade in (0, 1)
    ),
    "texts in the place of grades": "q1 0 1 d1\nq1 0 0 d2\n",
}


@pytest.mark.parametrize("content", PERMUTED.values(), ids=PERMUTED)
def test_judgements_with_permuted_columns_are_named(tmp_path, content):
    path = write_file(tmp_path, content)
    with pytest.raises(FileFormatError, match=r"columns (are )?permuted") as caught:
        read_qrels(path)
    assert "highest grade" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        "q1 0 d1 1\nq2 Q0 d1 1\n",
        "".join(f"q1 {assessor} d{n} 1\n" for n, assessor in enumerate(["ann", "bob", "ann"])),
        "".join(f"q{n} 0 d{n % 3} {n}\n" for n in range(101)),
    ],
)
def test_judgements_of_few_documents_are_not_permuted(tmp_path, content):
    assert len(read_qrels(write_file(tmp_path, content)).doc_ids) == content.count("\n")


def test_a_run_with_q0_in_the_third_column_is_permuted(tmp_path):
    path = write_file(tmp_path, "q1 d1 Q0 1 2.5 t\nq1 d2 Q0 2 1.5 t\n")
    with pytest.raises(FileFormatError, match="line 1: the third column is Q0"):
        read_run(path)


def test_json_arrays_of_rows_are_runs_and_judgements(tmp_path):
    ranked = [{"qid": "q1", "docno": "d1", "score": 2.5}, {"qid": "q1", "docno": "d2", "score": 1}]
    for indent in (None, 1):
        path = write_file(tmp_path, json.dumps(ranked, indent=indent))
        assert read_run(path).as_dict() == {"q1": {"d1": 2.5, "d2": 1.0}}
    judged = [{"query_id": "q1", "doc_id": "d1", "grade": 2}, {"query_id": "q1", "docs": ["d2"]}]
    assert read_qrels(write_file(tmp_path, json.dumps(judged))).as_dict() == {
        "q1": {"d1": 2.0, "d2": 1.0}
    }
    named = [{"qid": "q1", "hit": "d1", "points": 2.5}]
    columns = {"doc_id": "hit", "score": "points"}
    assert read_run(write_file(tmp_path, json.dumps(named)), columns=columns).as_dict() == {
        "q1": {"d1": 2.5}
    }


def test_ranks_in_an_array_of_rows_are_looked_at(tmp_path):
    rows = [{"qid": "q1", "docno": f"d{n}", "rank": 5 - n, "score": 9.0 - n} for n in range(5)]
    codes = {
        finding.code
        for finding in validate({"q1": {"d1": 1}}, write_file(tmp_path, json.dumps(rows))).findings
    }
    assert "ranks-against-scores" in codes
    assert read_run(write_file(tmp_path, json.dumps(rows * 2_000))).stated_ranks == []


HITS = {
    "ids": {"q1": ["d1", "d2"], "q2": []},
    "objects": {"q1": [{"doc_id": "d1", "score": 2}, {"doc_id": "d2", "score": 1}], "q2": []},
    "pairs": {"q1": [["d1", 2], ["d2", 1]], "q2": []},
    "objects and a dict": {"q1": [{"id": "d1", "score": 2}, {"id": "d2", "score": 1}], "q2": {}},
}


@pytest.mark.parametrize("content", HITS.values(), ids=HITS)
def test_json_lists_of_hits_are_rankings(tmp_path, content):
    run = read_run(write_file(tmp_path, json.dumps(content)))
    assert run.as_dict() == {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {}}
    assert evaluate({"q1": {"d2": 1}}, run, ["MRR"])["MRR"] == 1 / 2


def test_the_answers_of_lotte_are_relevant(tmp_path):
    lines = '{"qid": 0, "query": "x", "url": "u", "answer_pids": [7, 8]}\n{"qid": 1, "query": "y", '
    path = write_file(tmp_path, lines + '"url": "u", "answer_pids": [7]}\n')
    expected = {"0": {"7": 1.0, "8": 1.0}, "1": {"7": 1.0}}
    assert read_qrels(path, columns={"doc_id": "answer_pids"}).as_dict() == expected
    assert read_qrels(path).as_dict() == expected


def test_the_relevant_documents_of_llama_index_are_judgements(tmp_path):
    content = {
        "queries": {"q1": "what"},
        "corpus": {"d1": "that", "d2": "this"},
        "relevant_docs": {"q1": ["d1"]},
        "mode": "text",
    }
    for indent in (None, 4):
        path = write_file(tmp_path, json.dumps(content, indent=indent))
        assert read_qrels(path).as_dict() == Qrels({"q1": ["d1"]}).as_dict()


@pytest.mark.parametrize(
    ("read", "content"),
    [
        (read_run, "q1 Q0 d1 1 2,5 t\n"),
        (read_run, "q1\td1\t2,5\n"),
        (read_qrels, "q1 0 d1 0,5\n"),
        (read_qrels, "q1 0 7 0,5\n"),
        (read_qrels, "q1\td1\t0,5\n"),
        (read_run, "qid;docno;score\nq1;d1;2,5\n"),
    ],
)
def test_a_decimal_comma_has_its_hint_in_every_text(tmp_path, read, content):
    with pytest.raises(FileFormatError, match="write a decimal point, not a comma") as caught:
        read(write_file(tmp_path, content))
    assert "permuted" not in str(caught.value)
