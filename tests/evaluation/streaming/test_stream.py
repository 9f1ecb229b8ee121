"""A run file that is evaluated part by part has every bit of the evaluation in memory."""

import gzip
import json
import random
import sys
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path

import polars as pl
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from beir_eval import (
    DEFAULT_MEASURES,
    BeirEvalWarning,
    evaluate,
    evaluate_stream,
    read_qrels,
    read_run,
    read_score_table,
)
from beir_eval.adapters import run_parts
from beir_eval.core.line_parts import unpacked_blocks
from beir_eval.errors import (
    BeirEvalError,
    DuplicateDocumentError,
    FileFormatError,
    InputError,
    QueryMismatchError,
    ResultError,
    SettingError,
)
from beir_eval.evaluation.streaming import judgements, partitions, stream
from beir_eval.measures import parse_all
from strategies import policies, qrels_and_rows, qrels_and_run

MEASURES = [
    *DEFAULT_MEASURES,
    *parse_all("RR bpref ERR@5 RBP AP nDCG Judged@3 Hole@2 nDCG(gain='exp')@3 gm_map num_ret"),
]
SIZES = (1, 7, 1000)
QRELS = {f"q{number}": {f"d{number}": 2, "x": 1, "z": -1} for number in range(40)}
RUN = {
    f"q{number}": {f"d{rank}": 5.0 - rank / 8 for rank in range(number % 6 + 1)}
    for number in range(45)
    if number != 13
}


def rows_of(run):
    return [(query, doc, score) for query, docs in run.items() for doc, score in docs.items()]


def write_trec(path, rows):
    path.write_text("".join(f"{query} Q0 {doc} 1 {score!r} tag\n" for query, doc, score in rows))
    return path


def write_parquet(path, rows, row_group_size=None):
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    frame.write_parquet(path, row_group_size=row_group_size)
    return path


def write_jsonl(path, rows):
    lines = [
        json.dumps({"query_id": query, "doc_id": doc, "score": score}) for query, doc, score in rows
    ]
    path.write_text("\n".join(lines))
    return path


WRITERS = {"trec": write_trec, "parquet": write_parquet, "jsonl": write_jsonl}


def assert_streamed_as_in_memory(qrels, path, folder, size=7, measures=MEASURES, **policy):
    """Compare everything with ``evaluate``; return the streamed result."""
    expected = evaluate(qrels, path, measures, name="run", **policy)
    table = folder / "scores.parquet"
    streamed = evaluate_stream(
        qrels, path, measures, table=table, name="run", part_queries=size, **policy
    )
    loaded = streamed.load()
    assert loaded == expected
    assert loaded.values.array.tobytes() == expected.values.array.tobytes()
    assert streamed.counted == expected.counted
    for queries in ("judged", "retrieved"):
        means, expected_means = streamed.mean_over(queries), expected.mean_over(queries)
        assert {name: repr(mean) for name, mean in means.items()} == {
            name: repr(mean) for name, mean in expected_means.items()
        }
    assert repr(streamed.aggregate) == repr(expected.aggregate)
    assert streamed.num_scored == expected.num_scored
    assert streamed.notes() == expected.notes()
    assert str(streamed) == str(expected)
    assert streamed.to_markdown() == expected.to_markdown()
    assert not (folder / "scores.parquet.parts").exists()
    return streamed


@pytest.fixture
def small_parts(monkeypatch):
    """Read a few lines or rows at a time, so that a query is spread over many parts."""
    monkeypatch.setattr(run_parts, "_PART_SIZE", 60)
    monkeypatch.setattr(run_parts, "_PART_ROWS", 3)
    monkeypatch.setattr(stream, "_BUCKET_ROWS", 1)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize("order", ["grouped", "shuffled", "one query comes back"])
def test_streamed_equals_in_memory(form, order, size, tmp_path, small_parts):
    rows = rows_of(RUN)
    if order == "shuffled":
        random.Random(size).shuffle(rows)
    if order == "one query comes back":
        rows.append(("q3", "late", 0.125))
    path = WRITERS[form](tmp_path / "run", rows)
    streamed = assert_streamed_as_in_memory(QRELS, path, tmp_path, size)
    assert ("partitioned" in streamed.how) == (order != "grouped")


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=settings.default.max_examples // 4,
)
@given(
    case=qrels_and_rows(),
    policy=policies,
    how=st.tuples(st.sampled_from(SIZES), st.sampled_from(sorted(WRITERS)), st.booleans()),
)
def test_generated_runs_with_copies_are_streamed_as_in_memory(
    case, policy, how, tmp_path_factory, small_parts
):
    (qrels, rows), (size, form, grouped) = case, how
    if grouped:
        rows = sorted(rows, key=lambda row: row[0])
    folder = tmp_path_factory.mktemp("run")
    path = WRITERS[form](folder / "run", rows)
    assert_streamed_as_in_memory(qrels, path, folder, size, **policy)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=settings.default.max_examples // 6,
)
@given(
    case=qrels_and_run(min_size=1),
    size=st.sampled_from(SIZES),
    ties=st.sampled_from(["best", "worst"]),
)
def test_the_best_and_the_worst_order_of_ties_are_streamed(
    case, size, ties, tmp_path_factory, small_parts
):
    qrels, run = case
    folder = tmp_path_factory.mktemp("run")
    rows = rows_of(run)
    random.Random(0).shuffle(rows)
    path = write_trec(folder / "run", rows)
    assert_streamed_as_in_memory(qrels, path, folder, size, ["P@1", "num_ret"], ties=ties)


REAL_RUNS = [
    ("dl19", "dl19-passage.trec"),
    ("trec-covid", "trec-covid.trec"),
    ("scifact", "../scifact/qrels/test.tsv"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("runs", "qrels"), REAL_RUNS)
@pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")
def test_real_runs_are_streamed_as_in_memory(runs, qrels, realdata, tmp_path):
    judged = read_qrels(realdata / "qrels" / qrels)
    for number, path in enumerate(sorted((realdata / "runs" / runs).iterdir())):
        policy = {"duplicates": "first"} if path.stem == "kl_hybrid" else {}
        if path.stem == "david_e5":
            with pytest.raises(QueryMismatchError) as in_memory:
                evaluate(judged, path)
            with pytest.raises(QueryMismatchError) as streamed:
                evaluate_stream(judged, path, table=tmp_path / "scores.parquet")
            assert str(streamed.value) == str(in_memory.value)
            continue
        lines = path.read_bytes().splitlines(keepends=True)
        random.Random(0).shuffle(lines)
        shuffled = tmp_path / path.name
        shuffled.write_bytes(b"".join(lines))
        for size in SIZES if number == 0 else [1000]:
            assert_streamed_as_in_memory(judged, path, tmp_path, size, **policy)
        assert_streamed_as_in_memory(judged, shuffled, tmp_path, 7, **policy)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
@pytest.mark.parametrize("members", [1, 3])
def test_packed_files_are_unpacked_on_the_way(pack, members, tmp_path, small_parts):
    lines = write_trec(tmp_path / "plain", rows_of(RUN)).read_bytes().splitlines(keepends=True)
    step = -(-len(lines) // members)
    packed = b"".join(
        pack(b"".join(lines[begin : begin + step])) for begin in range(0, len(lines), step)
    )
    (tmp_path / "run.packed").write_bytes(packed)
    assert_streamed_as_in_memory(QRELS, tmp_path / "run.packed", tmp_path)
    (tmp_path / "cut.packed").write_bytes(packed[:-9])
    with pytest.raises(FileFormatError, match="truncated or damaged"):
        evaluate_stream(QRELS, tmp_path / "cut.packed")


MALFORMED = {
    "a column is missing": ("q1 Q0 d1 1 0.5\n", None),
    "a score is no number": ("q1 Q0 d1 1 high tag\n", None),
    "a score is infinite": ("q1 Q0 d1 1 inf tag\n", None),
    "a zero byte": ("q1 Q0 d\0 1 0.5 tag\n", None),
    "not UTF-8": (b"q1 Q0 d\xff 1 0.5 tag\n", None),
}


@pytest.mark.parametrize("problem", MALFORMED)
@pytest.mark.parametrize("size", [60, 1 << 22])
def test_malformed_lines_are_refused_with_the_line_as_in_memory(
    problem, size, tmp_path, monkeypatch
):
    monkeypatch.setattr(run_parts, "_PART_SIZE", size)
    line, _ = MALFORMED[problem]
    data = line if isinstance(line, bytes) else line.encode()
    good = [f"q{number} Q0 d1 1 0.5 tag\n".encode() for number in range(900)]
    path = tmp_path / "run.trec"
    path.write_bytes(b"".join([*good[:700], data, *good[700:]]))
    with pytest.raises(FileFormatError) as in_memory:
        read_run(path)
    with pytest.raises(FileFormatError) as streamed:
        evaluate_stream(QRELS, path)
    assert str(streamed.value) == str(in_memory.value)
    assert "line 701" in str(streamed.value)


def test_odd_lines_are_read_as_in_memory(tmp_path, small_parts):
    """Comments, blank lines, tabs, several blanks, CRLF, a byte order mark before an id."""
    lines = ["# a comment", "", "q1  Q0\td1 1 0.5 tag", "q1 Q0 d2 2 0.25 tag\r", "# another", ""]
    lines += ["\ufeffq2 Q0 d2 1 1.0 tag", "q3 Q0 d3 1 1e-3 tag", "   ", "q3 Q0 d4 1 7 tag"]
    (tmp_path / "run").write_text("\n".join(lines), encoding="utf-8", newline="")
    assert_streamed_as_in_memory(QRELS, tmp_path / "run", tmp_path)


def test_a_number_that_is_not_finite_in_parquet_is_refused_with_its_row(tmp_path, small_parts):
    path = write_parquet(tmp_path / "run", [*rows_of(RUN), ("q1", "late", float("nan"))])
    with pytest.raises(FileFormatError) as in_memory:
        read_run(path)
    with pytest.raises(FileFormatError) as streamed:
        evaluate_stream(QRELS, path)
    assert str(streamed.value) == str(in_memory.value)


def test_json_lines_may_hold_rankings_without_scores_and_empty_ones(tmp_path, small_parts):
    lines = [
        {"query_id": "q1", "docs": []},
        {"query_id": "q2", "docs": ["x", "d2"]},
        {"query_id": "q3", "docs": ["d3"]},
    ]
    for order in (lines, [*lines, {"query_id": "q2", "docs": ["late"]}]):
        (tmp_path / "run").write_text("\n".join(map(json.dumps, order)))
        streamed = assert_streamed_as_in_memory(QRELS, tmp_path / "run", tmp_path)
        assert streamed.counted.queries_empty == ("q1",)
    (tmp_path / "run").write_text(
        "\n".join(map(json.dumps, [*lines, {"query_id": "q9", "docs": {"a": 0.5}}]))
    )
    with pytest.raises(FileFormatError, match="some documents have scores and some have none"):
        evaluate_stream(QRELS, tmp_path / "run")


def test_policies_that_refuse_a_run_refuse_it_as_in_memory(tmp_path, small_parts):
    twice = write_trec(tmp_path / "twice", [*rows_of(RUN), ("q1", "d1", 0.5), ("q1", "d1", 0.5)])
    for path, error, policy in (
        (twice, DuplicateDocumentError, {}),
        (write_trec(tmp_path / "run", rows_of(RUN)), QueryMismatchError, {"missing": "error"}),
    ):
        with pytest.raises(error) as in_memory:
            evaluate(QRELS, path, **policy)
        with pytest.raises(error) as streamed:
            evaluate_stream(QRELS, path, **policy)
        assert str(streamed.value) == str(in_memory.value)
    with pytest.raises(DuplicateDocumentError):
        evaluate_stream(QRELS, twice, table=tmp_path / "scores.parquet")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["run", "twice"]


def test_document_ids_that_do_not_match_are_found_with_the_reason(tmp_path, small_parts):
    run = {
        query: {doc.upper(): score for doc, score in docs.items()} for query, docs in RUN.items()
    }
    qrels = {query: {f"d{number}": 1 for number in range(6)} for query in QRELS}
    rows = rows_of(run)
    for order in (rows, rows[::2] + rows[1::2], rows[::-1], rows[::-2] + rows[-2::-2]):
        path = write_trec(tmp_path / "run", order)
        with pytest.warns(BeirEvalWarning, match="upper and lower case"):
            assert_streamed_as_in_memory(qrels, path, tmp_path)


def test_queries_whose_hashes_are_equal_are_told_apart(tmp_path, monkeypatch, small_parts):
    """All hashes are equal: the file counts as not grouped, and ids decide."""
    path = write_trec(tmp_path / "run", rows_of(RUN))
    monkeypatch.setattr(
        pl.Series, "hash", lambda self, **_: pl.repeat(7, len(self), dtype=pl.UInt64, eager=True)
    )
    monkeypatch.setattr("beir_eval.core.run_sources.dataframe._hashes", _own_hashes)
    streamed = assert_streamed_as_in_memory(QRELS, path, tmp_path)
    assert "partitioned" in streamed.how


def _own_hashes(ids):
    numbers = {}
    return pl.Series([numbers.setdefault(text, len(numbers)) for text in ids.to_list()]).to_numpy()


def test_without_a_table_nothing_is_kept(tmp_path):
    path = write_trec(tmp_path / "run", rows_of(RUN))
    result = evaluate_stream(QRELS, path, "nDCG@10")
    assert result.table is None
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]
    with pytest.raises(ResultError, match="pass table="):
        result.load()


def test_a_format_that_is_not_read_in_parts_is_refused_with_the_remedy(tmp_path):
    (tmp_path / "run.csv").write_text("query_id,doc_id,score\nq1,d1,0.5\n")
    with pytest.raises(FileFormatError, match="Convert it"):
        evaluate_stream(QRELS, tmp_path / "run.csv")


def test_impossible_settings_are_refused(tmp_path):
    path = write_trec(tmp_path / "run", rows_of(RUN))
    for wrong in ({"part_queries": 0}, {"ties": "random"}, {"progress": 1}, {"name": 3}):
        with pytest.raises(SettingError):
            evaluate_stream(QRELS, path, **wrong)


@pytest.mark.parametrize("form", ["trec", "beir", "parquet"])
def test_large_qrels_are_read_into_columns_as_in_memory(form, tmp_path, monkeypatch, small_parts):
    monkeypatch.setattr("beir_eval.adapters.qrels_columns._LEAST_SIZE", 0)
    rows = [(query, doc, grade) for query, docs in QRELS.items() for doc, grade in docs.items()]
    rows = [*rows[::2], *rows[1::2], *rows[5:8]]
    qrels = tmp_path / "qrels"
    if form == "trec":
        qrels.write_text("".join(f"{query} 0 {doc} {grade}\n" for query, doc, grade in rows))
    elif form == "beir":
        lines = [f"{query}\t{doc}\t{grade}\n" for query, doc, grade in rows]
        qrels.write_text("".join(["query-id\tcorpus-id\tscore\n", *lines]))
    else:
        names = ["query_id", "doc_id", "grade"]
        pl.DataFrame(rows, schema=names, orient="row").write_parquet(qrels)
    read = judgements.Judgements.read(qrels)
    assert (read.repeated_judgements, len(read)) == (3, len(QRELS))
    path = write_trec(tmp_path / "run", rows_of(RUN))
    assert_streamed_as_in_memory(qrels, path, tmp_path)


def test_qrels_with_a_contradiction_are_refused_as_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("beir_eval.adapters.qrels_columns._LEAST_SIZE", 0)
    (tmp_path / "qrels").write_text("q1 0 a 1\nq1 0 b 1\nq1 0 a 2\n")
    path = write_trec(tmp_path / "run", rows_of(RUN))
    with pytest.raises(FileFormatError) as in_memory:
        evaluate(tmp_path / "qrels", path)
    with pytest.raises(FileFormatError) as streamed:
        evaluate_stream(tmp_path / "qrels", path)
    assert str(streamed.value) == str(in_memory.value)


def test_a_score_table_is_read_again(tmp_path):
    path = write_trec(tmp_path / "run", rows_of(RUN))
    evaluate_stream(QRELS, path, table=tmp_path / "scores.parquet", name="run")
    assert read_score_table(tmp_path / "scores.parquet") == evaluate(QRELS, path, name="run")
    with pytest.raises(ResultError, match="without the facts of a score table"):
        read_score_table(write_parquet(tmp_path / "run.parquet", rows_of(RUN)))


SEEDS = sorted((Path(__file__).parents[2] / "fuzz" / "seeds").glob("*/*"))


def outcome(evaluate_file):
    """Return means and counts, or the error."""
    try:
        result = evaluate_file()
    except BeirEvalError as error:
        return type(error), str(error)
    return repr(result.aggregate), result.counted


@pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")
@pytest.mark.parametrize("size", [20, 1 << 22])
def test_every_odd_file_of_the_fuzzer_has_the_outcome_that_it_has_in_memory(size, monkeypatch):
    monkeypatch.setattr(run_parts, "_PART_SIZE", size)
    compared = 0
    for path in SEEDS:
        try:
            run_parts.RunFile(path)
        except BeirEvalError:
            continue  # the format is not read in parts
        try:
            run = read_run(path)
            judged = {query: dict.fromkeys(docs[::2], 1) for query, docs, _ in run.rankings()}
        except BeirEvalError:
            judged = {}
        judged = {query: docs for query, docs in judged.items() if docs} or {"q": {"d": 1}}
        arguments = (judged, path, "MAP nDCG@2")
        in_memory = outcome(lambda: evaluate(*arguments, duplicates="keep"))  # noqa: B023
        streamed = outcome(lambda: evaluate_stream(*arguments, duplicates="keep"))  # noqa: B023
        # In small parts, another of several problems of a file may be met first.
        is_error = isinstance(in_memory[0], type)
        assert (streamed[0] if size == 20 and is_error else streamed) == (
            in_memory[0] if size == 20 and is_error else in_memory
        ), path
        compared += 1
    assert compared > 40


def test_a_packed_parquet_file_is_refused_with_the_remedy(tmp_path):
    path = write_parquet(tmp_path / "run.parquet", rows_of(RUN))
    path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(FileFormatError, match="unpack it"):
        evaluate_stream(QRELS, path)


def test_a_query_is_never_split_between_two_parts(tmp_path, small_parts, monkeypatch):
    monkeypatch.setattr(partitions, "PART_ROWS", 2)
    path = write_trec(tmp_path / "run", rows_of(RUN))
    assert_streamed_as_in_memory(QRELS, path, tmp_path, 1000)


def test_the_score_table_never_replaces_an_input_or_what_is_no_file(tmp_path):
    run = write_trec(tmp_path / "run.trec", rows_of(RUN))
    qrels = tmp_path / "qrels.trec"
    qrels.write_text("".join(f"q{number} 0 d{number} 2\n" for number in range(40)))
    link = tmp_path / "link"
    link.symlink_to(run)
    contents = run.read_bytes(), qrels.read_bytes()
    for table in (run, qrels, str(qrels), link):
        with pytest.raises(InputError, match="the score table would replace an input"):
            evaluate_stream(qrels, run, table=table)
    with pytest.raises(InputError, match="a file for the score table was expected"):
        evaluate_stream(qrels, run, table=tmp_path)
    assert (run.read_bytes(), qrels.read_bytes()) == contents
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link", "qrels.trec", "run.trec"]


def test_a_link_to_a_score_table_is_followed(tmp_path):
    run = write_trec(tmp_path / "run.trec", rows_of(RUN))
    (tmp_path / "elsewhere").mkdir()
    link, table = tmp_path / "scores", tmp_path / "elsewhere" / "scores.parquet"
    link.symlink_to(table)
    result = evaluate_stream(QRELS, run, table=link, name="run")
    assert link.is_symlink()
    assert result.load() == read_score_table(table) == evaluate(QRELS, run)


@pytest.mark.parametrize(
    ("form", "begin"), [("trec", b"# a comment\n"), ("trec", b"\n"), ("jsonl", b"\n")]
)
def test_a_file_may_begin_with_many_lines_without_a_document(form, begin, tmp_path):
    path = WRITERS[form](tmp_path / "run", rows_of(RUN))
    path.write_bytes(begin * 100_000 + path.read_bytes())
    assert_streamed_as_in_memory(QRELS, path, tmp_path)


def test_of_a_file_that_is_one_line_only_the_beginning_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(run_parts, "_LONGEST_HEAD", 1 << 17)
    path = tmp_path / "run.json"
    path.write_text(json.dumps({f"q{number}": {"d": 1.0} for number in range(50_000)}))
    blocks = []

    def counted(path, size):
        for block in unpacked_blocks(path, size):
            blocks.append(block)
            yield block

    monkeypatch.setattr(run_parts, "unpacked_blocks", counted)
    with pytest.raises(FileFormatError, match="format 'json' is not read in parts"):
        evaluate_stream(QRELS, path)
    assert len(blocks) == 2


@pytest.mark.parametrize("order", ["grouped", "shuffled"])
def test_the_progress_bar_ends_at_the_size_of_the_file(order, tmp_path, monkeypatch, small_parts):
    rows = rows_of(RUN)
    path = write_trec(tmp_path / "run", rows if order == "grouped" else rows[::2] + rows[1::2])
    steps = []

    @contextmanager
    def recorded(**settings):
        assert settings["total"] == path.stat().st_size
        yield lambda number=1, **_: steps.append(number)

    monkeypatch.setattr(stream, "progress_bar", recorded)
    evaluate_stream(QRELS, path)
    assert max(accumulate(steps)) == sum(steps) == path.stat().st_size


def test_rows_are_numbered_beyond_32_bits():
    frame = partitions.numbered(pl.DataFrame({"query_id": ["a", "b"]}), 2**32 + 7)
    assert frame["row_in_file"].to_list() == [2**32 + 7, 2**32 + 8]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_score_table_in_a_folder_that_polars_cannot_name_is_refused(tmp_path):
    folder = tmp_path / "caf\udce9"
    folder.mkdir()
    path = write_trec(folder / "run", rows_of(RUN))
    with pytest.raises(InputError, match="polars cannot write to a path that is not Unicode"):
        evaluate_stream(QRELS, path, table=folder / "scores")
    assert [entry.name for entry in folder.iterdir()] == ["run"]
    assert evaluate_stream(QRELS, path)["MRR@10"] == evaluate(QRELS, path)["MRR@10"]


def test_null_ids_in_parquet_are_refused_as_in_memory(tmp_path, small_parts):
    """Their number is not known before the whole file is read, so no message states it."""
    path = write_parquet(tmp_path / "run", [*rows_of(RUN), *[("q1", None, 0.5)] * 5])
    with pytest.raises(FileFormatError) as in_memory:
        read_run(path)
    with pytest.raises(FileFormatError) as streamed:
        evaluate_stream(QRELS, path)
    assert str(streamed.value) == str(in_memory.value)
