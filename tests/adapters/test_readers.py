"""Files are read in every usual form, or refused with the number of the faulty line."""

import gzip
import sys
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beir_eval import read_qrels, read_run
from beir_eval.adapters.formats import text_runs
from beir_eval.errors import (
    BeirEvalError,
    BeirEvalWarning,
    FileFormatError,
    MissingExtraError,
    SettingError,
)
from written_files import write_file

RUN_LINES = ["q1 Q0 d1 1 3.5 tag", "q1 Q0 d2 2 2 tag", "q2 Q0 d1 1 -1e-3 tag"]
RUN = {"q1": {"d1": 3.5, "d2": 2.0}, "q2": {"d1": -0.001}}
QRELS = {"q1": {"d1": 1.0, "d2": 0.0}, "q2": {"d3": 2.0}}


RUN_FORMS = {
    "single blanks": "\n".join(RUN_LINES) + "\n",
    "no line end at the end": "\n".join(RUN_LINES),
    "tabs": "\n".join(RUN_LINES).replace(" ", "\t"),
    "repeated blanks": "\n".join(RUN_LINES).replace(" ", "   "),
    "blanks at the ends": "\n".join(f"  {line}  " for line in RUN_LINES),
    "a blank at the end of one line": "\n".join(RUN_LINES).replace("tag", "tag ", 1),
    "CRLF": "\r\n".join(RUN_LINES) + "\r\n",
    "blank lines": "\n\n" + "\n\n".join(RUN_LINES) + "\n\n",
    "comments": "# a comment\n" + "\n#another\n".join(RUN_LINES),
    "byte order mark": "\ufeff" + "\n".join(RUN_LINES),
    "ranks that are no numbers": "\n".join(RUN_LINES).replace(" 1 ", " - "),
    "queries that return": "\n".join([RUN_LINES[0], RUN_LINES[2], RUN_LINES[1]]),
    "quotes are letters": "\n".join(RUN_LINES).replace("tag", '"tag'),
}


@pytest.mark.parametrize("content", RUN_FORMS.values(), ids=RUN_FORMS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_a_run_file_is_read_in_every_usual_form(tmp_path, content, packed):
    data = content.encode()
    path = write_file(tmp_path, gzip.compress(data) if packed else data)
    assert read_run(path).as_dict() == RUN


FAST = ("single blanks", "no line end at the end", "tabs", "CRLF", "quotes are letters")


@pytest.mark.parametrize("form", FAST)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_plain_columns_are_read_fast_and_not_line_by_line(tmp_path, monkeypatch, form, packed):
    monkeypatch.setattr(text_runs, "_read_lines", None)
    data = RUN_FORMS[form].encode()
    path = write_file(tmp_path, gzip.compress(data) if packed else data)
    assert read_run(path).as_dict() == RUN


odd_text = st.text("ab1 \t\r\n\v\f\x1c\x85\xa0\u2028\u3000#\"'", max_size=4)
odd_number = st.sampled_from(
    ["1", "2", "+1", "-1", "0.5", ".5", "1e3", "", " 1", "nan", "1_0", "x"]
)
LAYOUTS = {
    "q Q0 d 1 1 t": [odd_text, odd_text, odd_text, odd_number, odd_number, odd_text],
    "q d 1": [odd_text, odd_text, odd_number],
    "q d 1 2.5": [odd_text, odd_text, odd_number, odd_number],
}


PART_LINES = ["q1 Q0 d1 1 2 t", "q1 Q0 d2 2 1 t", "q2 Q0 d1 1 3 t", "q1 Q0 d3 3 .5 t"]


@pytest.mark.parametrize("size", [1, 20, 40, 1000])
def test_a_run_file_that_is_read_in_parts_is_the_same_run(tmp_path, monkeypatch, size):
    monkeypatch.setattr(text_runs, "_read_lines", None)
    monkeypatch.setattr(text_runs, "_PART_SIZE", size)
    run = read_run(write_file(tmp_path, "\n".join(PART_LINES)))
    assert run.as_dict() == {"q1": {"d1": 2.0, "d2": 1.0, "d3": 0.5}, "q2": {"d1": 3.0}}
    assert list(run.query_ids) == ["q1", "q2"]


@pytest.mark.parametrize("id_start", ["x^", "\ufeff"])
def test_a_part_that_begins_like_packed_data_is_read_as_text(tmp_path, monkeypatch, id_start):
    monkeypatch.setattr(text_runs, "_PART_SIZE", 1)
    lines = [*PART_LINES, f"{id_start}q Q0 d1 1 1 t", "q9 Q0 d1 1 1 t"]
    run = read_run(write_file(tmp_path, "\n".join(lines)))
    assert list(run.query_ids) == ["q1", "q2", f"{id_start}q", "q9"]


@given(
    st.sampled_from(sorted(LAYOUTS)),
    st.sampled_from(" \t"),
    st.sampled_from([1, 12, 1 << 22]),
    st.data(),
)
@settings(max_examples=4 * settings.default.max_examples)
def test_both_readers_of_run_files_agree_on_every_byte_in_parts_of_every_size(
    tmp_path_factory, first_line, separator, part_size, data
):
    rows = data.draw(st.lists(st.tuples(*LAYOUTS[first_line]), min_size=1, max_size=4))
    extra_columns = data.draw(st.lists(odd_text, max_size=1))
    # The first line is valid, so that the fast reader starts.
    lines = [
        first_line.replace(" ", separator),
        *(separator.join([*row, *extra_columns]) for row in rows),
    ]
    path = write_file(tmp_path_factory.mktemp("odd"), "\n".join(lines))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_runs, "_PART_SIZE", part_size)
        fast = outcome_of(path)
        patch.setattr(text_runs.LineForm, "from_content", lambda *_: None)
        assert fast == outcome_of(path)


def test_a_comment_with_tabs_is_not_a_judgement(tmp_path):
    path = write_file(tmp_path, "# topic\tdoc\trel\nq1 0 d1 1\n")
    assert read_qrels(path).as_dict() == {"q1": {"d1": 1.0}}


def test_ids_with_quotes_and_commas_and_other_scripts_are_kept(tmp_path):
    docs = ['"d1"', "a,b", "'x", "日本", "d#1", "#hash", "\U0001f600", "1e5", "007", "null"]
    text = "".join(f"q Q0 {doc} 1 {number} t\n" for number, doc in enumerate(docs))
    assert read_run(write_file(tmp_path, text)).as_dict() == {
        "q": {doc: float(number) for number, doc in enumerate(docs)}
    }


BAD_RUNS = {
    "five columns on line 17": (
        "q Q0 d 1 1 t\n" * 16 + "q Q0 d 1 1\n",
        r"line 17: 5 columns, expected 6",
    ),
    "seven columns on line 3": ("q Q0 d 1 1 t\n" * 2 + "q Q0 d 1 1 t x\n", r"line 3: 7 columns"),
    "two columns on line 1": ("q d\n", r"line 1: 2 columns, expected 6 .* or, as MS MARCO"),
    "a score that is a word": ("q Q0 d 1 1 t\nq Q0 e 2 high t\n", r"line 2: the score 'high'"),
    "NaN": ("q Q0 d 1 nan t\n", r"line 1: the score 'nan' is not a finite number"),
    "an underscore": ("q Q0 d 1 1_0 t\n", r"line 1: the score '1_0'"),
    "nothing": ("", "there is no line in it"),
    "a binary file": (b"\x89PNG\r\n\x1a\n\0\0\0", "binary file"),
    "Latin-1": ("q Q0 d 1 1 t\nq Q0 caf\xe9 1 1 t\n".encode("latin-1"), "line 2: not UTF-8"),
}


@pytest.mark.parametrize(("content", "problem"), BAD_RUNS.values(), ids=BAD_RUNS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_a_bad_run_file_is_refused_with_its_line(tmp_path, content, problem, packed):
    data = content if isinstance(content, bytes) else content.encode()
    path = write_file(tmp_path, gzip.compress(data) if packed else data)
    with pytest.raises(FileFormatError, match=problem) as caught:
        read_run(path)
    assert caught.value.path == path
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_a_missing_file_raises_file_not_found_error(tmp_path, read):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nothing.trec")


def test_a_folder_is_refused_as_a_run(tmp_path):
    with pytest.raises(FileFormatError, match="a folder, not a run file; read each file in it"):
        read_run(tmp_path)


@pytest.fixture
def without_polars(monkeypatch):
    """Let the readers of run files be imported again, as if polars were not installed."""
    monkeypatch.setitem(sys.modules, "polars", None)
    for name in ("text_runs", "parquet"):
        module = f"beir_eval.adapters.formats.{name}"
        monkeypatch.delitem(sys.modules, module, raising=False)
        monkeypatch.delattr(sys.modules["beir_eval.adapters.formats"], name, raising=False)


def test_run_files_without_polars_are_read_line_by_line_and_the_extra_is_named_once(
    tmp_path, without_polars
):
    expected = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d3": 0.5}}
    path = write_file(tmp_path, "q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\nq2 Q0 d3 1 0.5 t\n")
    with pytest.warns(BeirEvalWarning, match=r"pip install 'beir-eval\[files\]'"):
        assert read_run(path).as_dict() == expected
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_run(path).as_dict() == expected
    assert read_qrels(write_file(tmp_path, "q1 0 d1 1\n")).as_dict() == {"q1": {"d1": 1.0}}
    parquet = write_file(tmp_path, b"PAR1 and so on", "run.parquet")
    with pytest.raises(MissingExtraError, match=r"pip install 'beir-eval\[files\]'"):
        read_run(parquet)


def outcome_of(path):
    """Return the rankings of a run file in their order, or the error."""
    try:
        rankings = read_run(path).rankings()
        return [
            (query, list(docs), None if scores is None else scores.tolist())
            for query, docs, scores in rankings
        ]
    except BeirEvalError as error:
        return type(error), str(error)


@pytest.mark.filterwarnings("ignore:polars is not installed")
def test_files_are_read_or_refused_without_polars_as_with_it(tmp_path, monkeypatch):
    contents = [*RUN_FORMS.values(), *(content for content, _ in BAD_RUNS.values())]
    contents += [
        "q2 d1 2\nq1 d1 1\nq2 d2 1\nq1 d2 0\n",  # MS MARCO, the best document first or last
        "q1 d1 1\nq1 d2 1\n",
        "q1 d1 3\nq1 d2 4\n",
        "q1 d1 1 0.5\nq2 d1 1 0.25\nq1 d2 2 0.5\n",
        "q1 0 d1 1\nq2 0 d2 1\n",
        "q1 d1 x\n",
        "q1 Q0 d1 1 1e400 t\n",
        "q1 Q0 d1 1 0.1234567890123456789 t\nq2 Q0 d1 1 5e-324 t\nq1 Q0 d1 2 1 t\n",
        "# nothing\n",
    ]
    paths = [
        write_file(tmp_path, content, f"file{number}") for number, content in enumerate(contents)
    ]
    expected = [outcome_of(path) for path in paths]
    monkeypatch.setattr(text_runs, "pl", None)
    for path, outcome in zip(paths, expected, strict=True):
        assert outcome_of(path) == outcome


QRELS_FORMS = {
    "TREC": "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n",
    "TREC with repeated blanks": "q1   0 d1\t1\n  q1 0 d2 0  \nq2 0  d3 2",
    "TREC with comments": "# judged by us\nq1 0 d1 1\nq1 0 d2 0\n#\nq2 0 d3 2\n",
    "TREC with fractions": "q1 0 d1 1.0\nq1 0 d2 0.0\nq2 0 d3 2e0\n",
    "BEIR": "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq2\td3\t2\n",
    "BEIR with CRLF": "query-id\tcorpus-id\tscore\r\nq1\td1\t1\r\nq1\td2\t0\r\nq2\td3\t2\r\n",
    "BEIR without a header": "q1\td1\t1\nq1\td2\t0\nq2\td3\t2\n",
    "a byte order mark": "\ufeffquery-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq2\td3\t2\n",
    "judgements given twice": "q1 0 d1 1\nq1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n",
}


@pytest.mark.parametrize("content", QRELS_FORMS.values(), ids=QRELS_FORMS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
def test_a_qrels_file_is_read_in_every_usual_form(tmp_path, content, packed):
    data = content.encode()
    path = write_file(tmp_path, gzip.compress(data) if packed else data)
    assert read_qrels(path).as_dict() == QRELS


def test_ids_of_beir_qrels_may_hold_blanks_and_hashes(tmp_path):
    path = write_file(tmp_path, "#1\tdoc one\t1\nq 2\t#2\t0.5\n")
    assert read_qrels(path).as_dict() == {"#1": {"doc one": 1.0}, "q 2": {"#2": 0.5}}


BAD_QRELS = {
    "a grade that is a word": ("q1 0 d1 1\nq1 0 d2 high\n", "line 2: the grade 'high'"),
    "a word in the first row": ("q1\td1\thigh\n", "line 1: the grade 'high'"),
    "NaN": ("q1 0 d1 nan\n", "line 1: the grade 'nan' is not a finite number"),
    "one column": ("q1\n", "line 1: 1 columns, expected 4"),
    "a grade after pairs": ("q1 d1\nq1 d2 1\n", "line 2: 3 columns, expected 2"),
    "texts of queries": ("q1\twhat is\n", "line 1: 2 columns, expected 3"),
    "a run": ("q1 Q0 d1 1 0.5 tag\n", "line 1: 6 columns, expected 4.* the qrels come first"),
    "a line that is too short": ("q1 0 d1 1\nq1 0 1\n", "line 2: 3 columns, expected 4"),
    "a line that is too long": ("q1\td1\t1\nq1\td2\t1\t5\n", "line 2: 4 columns, expected 3"),
    "a contradiction": ("q1 0 d1 1\nq1 0 d1 2\n", "'d1' is judged twice for query 'q1'"),
    "an empty id": ("q1\td1\t1\n\td2\t1\n", "line 2: an id is empty"),
    "nothing": ("", "there is no line in it"),
    "only a header": ("query-id\tcorpus-id\tscore\n", "no judgement in it"),
    "a binary file": (b"PK\x03\x04\0\0", "binary file"),
    "Latin-1": ("q 0 d 1\nq 0 caf\xe9 1\n".encode("latin-1"), "line 2: not UTF-8"),
}


@pytest.mark.parametrize(("content", "problem"), BAD_QRELS.values(), ids=BAD_QRELS)
def test_a_bad_qrels_file_is_refused_with_its_line(tmp_path, content, problem):
    path = write_file(tmp_path, content)
    with pytest.raises(FileFormatError, match=problem) as caught:
        read_qrels(path)
    assert caught.value.path == path


def test_a_data_set_folder_gives_the_judgements_of_a_split(tmp_path):
    (tmp_path / "qrels").mkdir()
    write_file(tmp_path, QRELS_FORMS["BEIR"], "qrels/test.tsv")
    write_file(tmp_path, gzip.compress(b"q9\td9\t1\n"), "qrels/train.tsv.gz")
    assert read_qrels(tmp_path).as_dict() == QRELS
    assert read_qrels(tmp_path, split="train").as_dict() == {"q9": {"d9": 1.0}}
    with pytest.raises(FileFormatError, match=r"no qrels/dev\.tsv .* has the splits test, train"):
        read_qrels(tmp_path, split="dev")
    with pytest.raises(SettingError, match="belongs to a data-set folder"):
        read_qrels(tmp_path / "qrels" / "test.tsv", split="test")


def test_a_folder_without_qrels_is_refused(tmp_path):
    with pytest.raises(FileFormatError, match="no qrels in this folder; a BEIR data set has"):
        read_qrels(tmp_path)


def test_errors_can_be_pickled():
    import pickle  # noqa: PLC0415

    for error in (
        FileFormatError("x", "bad", line=3),
        MissingExtraError("polars", "files", "reading"),
    ):
        copy = pickle.loads(pickle.dumps(error))  # noqa: S301 - made here
        assert (type(copy), str(copy)) == (type(error), str(error))
