"""A run that is read in parts has every bit, count, warning and error of the run in memory."""

import gc
import gzip
import json
import operator
import random
import tempfile
import warnings
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
    Evaluator,
    Qrels,
    compare_runs,
    evaluate,
    read_run,
)
from beir_eval.adapters import run_parts, run_size
from beir_eval.core import EvaluationSettings, relate
from beir_eval.core.run_sources import parts as module
from beir_eval.errors import (
    BeirEvalError,
    DuplicateDocumentError,
    FileFormatError,
    InputError,
    QueryMismatchError,
    SettingError,
)
from beir_eval.measures import parse_all
from strategies import policies, qrels_and_rows
from written_files import write_file, write_table

MEASURES = [
    *DEFAULT_MEASURES,
    *parse_all("RR bpref ERR@5 RBP AP nDCG Judged@3 Hole@2 nDCG(gain='exp')@3 gm_map num_ret"),
]
QRELS = {f"q{number}": {f"d{number}": 2, "x": 1, "z": -1} for number in range(40)}
ROWS = [
    (f"q{number}", f"d{rank}", 5.0 - rank / 8)
    for number in range(45)
    if number != 13
    for rank in range((number + 3) % 6 + 1)
]


def ranked(rows):
    """Return {query: its documents} in the order of the rows."""
    rankings = {}
    for query, doc, _ in rows:
        rankings.setdefault(query, []).append(doc)
    return rankings


def ranks_of(rows):
    """Return the rank of each row in its query, by the scores; copies share none."""
    order = sorted(range(len(rows)), key=lambda row: -rows[row][2])
    counts, ranks = {}, [0] * len(rows)
    for row in order:
        counts[rows[row][0]] = ranks[row] = counts.get(rows[row][0], 0) + 1
    return ranks


def as_parquet(rows):
    folder = Path(tempfile.mkdtemp())
    schema = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
    pl.DataFrame(rows, schema=schema, orient="row").write_parquet(folder / "run")
    return (folder / "run").read_bytes()


TEXTS = {
    "trec": lambda rows: "".join(f"{q} Q0 {d} 1 {s!r} tag\n" for q, d, s in rows),
    "trec, odd lines": lambda rows: (
        "# a run\n\n" + "".join(f"{q}  Q0\t{d} 1 {s!r} tag\r\n" for q, d, s in rows)
    ),
    "trec, a tag with blanks": lambda rows: "".join(
        f"{q} Q0 {d} 1 {s!r} BM25 (k1=0.9)\n" for q, d, s in rows
    ),
    "trec, many tags": lambda rows: "".join(
        f"{q} Q0 {d} {rank} {s!r} part-{q}\n"
        for rank, (q, d, s) in zip(ranks_of(rows), rows, strict=True)
    ),
    "msmarco, ranks": lambda rows: "".join(
        f"{q}\t{d}\t{rank}\n" for rank, (q, d, _) in zip(ranks_of(rows), rows, strict=True)
    ),
    "msmarco, scores": lambda rows: "".join(f"{q} {d} {s!r}\n" for q, d, s in rows),
    "msmarco, both": lambda rows: "".join(f"{q}\t{d}\t7\t{s!r}\n" for q, d, s in rows),
    "csv": lambda rows: "query_id,doc_id,score\n" + "".join(f"{q},{d},{s!r}\n" for q, d, s in rows),
    "csv, quoted": lambda rows: (
        '# a run\nrank;"docno";qid;score\n'
        + "".join(f'"1\n";"{d}";{q};{s!r}\n' for q, d, s in rows)
    ),
    "tsv": lambda rows: (
        "qid\tdocid\tsim\n" + "".join(f"{q}\t{d}\t{s!r}\n" for q, d, s in rows)
    ).removesuffix("\n"),
}
FORMS = [*TEXTS, "parquet"]
PACKINGS = {"plain": bytes, "gzip": gzip.compress, "zstd": zstandard.compress}


def write(path, rows, form, packing="plain"):
    data = as_parquet(rows) if form == "parquet" else TEXTS[form](rows).encode()
    path.write_bytes(data if form == "parquet" else PACKINGS[packing](data))
    return path


def ordered(rows, order):
    """Return rows grouped by query, shuffled, or grouped but for the first one."""
    rows = sorted(rows, key=lambda row: row[0])
    if order == "shuffled":
        random.Random(len(rows)).shuffle(rows)
    return [*rows[1:], rows[0]] if order == "one displaced" else rows


ORDERS = ("grouped", "shuffled", "one displaced")


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Yield the folder of temporary files; what is in memory before is not collected again."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    gc.freeze()
    yield folder
    gc.unfreeze()


@pytest.fixture
def small_parts(monkeypatch):
    """Read a few lines or rows at a time, so that a query is spread over many parts."""
    set_sizes(monkeypatch, 120, 5, 8)


def set_sizes(monkeypatch, num_bytes, num_read, num_gathered):
    monkeypatch.setattr(run_parts, "_PART_SIZE", num_bytes)
    monkeypatch.setattr(run_parts, "_PART_ROWS", num_read)
    monkeypatch.setattr(module, "_PART_ROWS", num_gathered)


def outcome(qrels, path, *, parts, measures=MEASURES, reading=(), **policy):
    """Return the result of a run, the class of an error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run = read_run(path, parts=parts, **dict(reading))
            assert run.is_in_parts == parts
            result = evaluate(qrels, run, measures, **policy)
        except BeirEvalError as error:
            result = type(error)
    return result, [str(warning.message) for warning in caught]


def assert_as_in_memory(qrels, path, **settings):
    """Compare everything with the run in memory; return the result."""
    expected = outcome(qrels, path, parts=False, **settings)
    result = outcome(qrels, path, parts=True, **settings)
    assert result == expected
    if not isinstance(result[0], type):
        assert result[0].values.array.tobytes() == expected[0].values.array.tobytes()
        assert result[0].notes() == expected[0].notes()
    return result[0]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("form", FORMS)
def test_a_run_in_parts_equals_the_run_in_memory(form, order, tmp_path, small_parts):
    path = write(tmp_path / "run", ordered(ROWS, order), form)
    result = assert_as_in_memory(QRELS, path, keep_top=3, fingerprint=True)
    assert result["num_ret"] == len([query for query, *_ in ROWS if query in QRELS])


#: Settings with which a run may be refused, or more is kept.
other_policies = st.fixed_dictionaries(
    {},
    optional={
        "ties": st.sampled_from(["best", "worst"]),
        "missing": st.just("error"),
        "duplicates": st.just("error"),
        "keep_top": st.sampled_from([1, 5]),
        "fingerprint": st.booleans(),
    },
)


@pytest.mark.slow
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=4 * settings.default.max_examples,
)
@given(
    case=qrels_and_rows(),
    policy=st.builds(operator.or_, policies, other_policies),
    how=st.tuples(
        st.sampled_from(FORMS),
        st.sampled_from(sorted(PACKINGS)),
        st.sampled_from(ORDERS),
        st.sampled_from([(60, 3, 5), (1, 1, 1), (200, 20, 37), (1 << 22, 1 << 20, 1 << 20)]),
    ),
)
def test_generated_runs_in_parts_equal_those_in_memory(
    case, policy, how, tmp_path_factory, monkeypatch
):
    (qrels, rows), (form, packing, order, sizes) = case, how
    set_sizes(monkeypatch, *sizes)
    if form == "msmarco, scores" and policy["duplicates"] == "error":
        policy["duplicates"] = "first"  # of a copy and whole numbers that rise, either is named
    measures = ["P@1", "num_ret"] if policy["ties"] in ("best", "worst") else MEASURES
    path = tmp_path_factory.mktemp("run") / "run"
    write(path, ordered(rows, order), form, packing)
    assert_as_in_memory(qrels, path, measures=measures, **policy)


# The two faults of a first version


def test_ranks_are_checked_when_all_rows_of_a_query_are_known(tmp_path, small_parts):
    """The first row of the file comes last: until then the ranks of its query begin at 2."""
    rows, path = ordered(ROWS, "grouped"), tmp_path / "run"
    lines = TEXTS["msmarco, ranks"](rows).splitlines(keepends=True)
    path.write_text("".join([*lines[1:], lines[0]]))
    assert not isinstance(assert_as_in_memory(QRELS, path), type)
    path.write_text("".join(lines[1:]))
    assert assert_as_in_memory(QRELS, path) is FileFormatError


def test_the_sample_of_rankings_is_that_of_the_run_in_memory(tmp_path, small_parts):
    """Warnings about ids name examples, whatever the order of the partitions."""
    qrels = {f"q{number}": {f"D{rank}": 1 for rank in range(6)} for number in range(40)}
    rows = ordered(ROWS, "shuffled")
    path = write(tmp_path / "run", rows, "trec")
    with pytest.warns(BeirEvalWarning, match="upper and lower case"):
        evaluate(qrels, path)
    assert assert_as_in_memory(qrels, path).counted.findings[0].examples
    same = [(query, f"d{rank}", 9.0 - rank) for query in QRELS for rank in range(10)]
    path = write(tmp_path / "run", ordered(same, "shuffled"), "trec")
    assert assert_as_in_memory(QRELS, path).counted.findings


@pytest.mark.filterwarnings("ignore::beir_eval.BeirEvalWarning")
def test_scores_that_tie_as_float32_are_read_once(tmp_path, small_parts, monkeypatch):
    rows = [(query, f"d{rank}", 1e9 - 5 * rank) for query in QRELS for rank in range(40)]
    path = write(tmp_path / "run", rows, "trec")
    assert assert_as_in_memory(QRELS, path).counted.double_precision
    reads = count_calls(monkeypatch, run_parts, "line_parts")
    evaluate(QRELS, read_run(path, parts=True))
    assert len(reads) == 1


def count_calls(monkeypatch, owner, name):
    """Return a list that gets an entry for each call of a function."""
    calls, function = [], getattr(owner, name)

    def counted(*arguments):
        calls.append(arguments)
        return function(*arguments)

    monkeypatch.setattr(owner, name, counted)
    return calls


@pytest.mark.parametrize(("order", "times"), [("grouped", 1), ("shuffled", 2)])
def test_a_file_that_is_not_grouped_is_read_twice_however_often_it_is_used(
    order, times, tmp_path, monkeypatch, small_parts
):
    path = write(tmp_path / "run", ordered(ROWS, order), "trec")
    reads = count_calls(monkeypatch, run_parts, "line_parts")
    run, evaluator = read_run(path, parts=True), Evaluator({query: {"d0": 1} for query in QRELS})
    assert not reads
    first = evaluator.evaluate(run)
    assert len(reads) == times
    assert len(run) == len(ranked(ROWS))
    assert evaluator.evaluate(run) == first
    assert len(reads) == 2


@pytest.mark.parametrize("form", FORMS)
def test_what_a_run_lists_is_what_the_file_lists(form, tmp_path, small_parts):
    path = write(tmp_path / "run", ordered(ROWS, "shuffled"), form)
    run, whole = read_run(path, parts=True), read_run(path, parts=False)
    assert run.as_dict() == whole.as_dict()
    assert run.fingerprint() == whole.fingerprint()
    assert sorted(run.query_ids) == sorted(whole.query_ids)
    if form != "msmarco, ranks":  # in memory its queries are in the order of their best documents
        assert tuple(run.query_ids) == tuple(whole.query_ids)
    assert repr(run) == "Run(44 queries)"


# Errors


MALFORMED = {
    "a column is missing": "q1 Q0 d1 1 0.5\n",
    "a score is no number": "q1 Q0 d1 1 high tag\n",
    "a score is infinite": "q1 Q0 d1 1 inf tag\n",
    "a zero byte": "q1 Q0 d\0 1 0.5 tag\n",
    "not UTF-8": b"q1 Q0 d\xff 1 0.5 tag\n",
    "an id is empty": "q1,,0.5\n",
    "a cell is no number": "q1,d1,high\n",
    "a cell has no end": 'q1,"d1,0.5\n',
    "the header again": "query_id,doc_id,score\n",
}


@pytest.mark.parametrize("problem", MALFORMED)
@pytest.mark.parametrize("size", [60, 1 << 22])
def test_malformed_lines_are_refused_with_the_words_of_a_run_in_memory(
    problem, size, tmp_path, monkeypatch
):
    set_sizes(monkeypatch, size, 20, 37)
    line = MALFORMED[problem]
    data = line if isinstance(line, bytes) else line.encode()
    is_csv = b"," in data
    good = [
        f"q{number},d1,0.5\n" if is_csv else f"q{number} Q0 d1 1 0.5 tag\n" for number in range(900)
    ]
    lines = [text.encode() for text in good]
    path = tmp_path / "run"
    path.write_bytes(
        b"query_id,doc_id,score\n" * is_csv + b"".join([*lines[:700], data, *lines[700:]])
    )
    with pytest.raises(FileFormatError) as in_memory:
        read_run(path, parts=False)
    with pytest.raises(FileFormatError) as in_parts:
        evaluate(QRELS, read_run(path, parts=True))
    assert str(in_parts.value) == str(in_memory.value)


SYSTEMS = {"dense": (("a", "1"), ("b", "2")), "bm25": (("b", "1"), ("a", "2"))}


def rows_of_systems(queries, systems=SYSTEMS):
    return [
        {"query_id": query, "doc_id": doc, "rank": rank, "score": 3 - int(rank), "system": system}
        for system, docs in systems.items()
        for query in queries
        for doc, rank in docs
    ]


def write_systems(path, rows, form):
    if form != "trec":
        return write_table(path, rows, form)
    line = "{query_id} Q0 {doc_id} {rank} {score} {system}\n"
    return write_file(path.parent, "".join(line.format(**row) for row in rows), path.name)


@pytest.mark.parametrize("order", ["by system", "by query", "shuffled"])
@pytest.mark.parametrize("form", ["trec", "csv", "parquet"])
def test_several_systems_in_a_file_are_told_apart_as_in_memory(form, order, tmp_path, small_parts):
    rows = rows_of_systems([f"q{number}" for number in range(30)])
    if order == "by query":
        rows.sort(key=lambda row: row["query_id"])
    elif order == "shuffled":
        random.Random(0).shuffle(rows)
    path = write_systems(tmp_path / "run", rows, form)
    for parts in (False, True):
        with pytest.raises(FileFormatError, match="several systems") as caught:
            evaluate(QRELS, read_run(path, parts=parts))
        assert "'dense'" in str(caught.value)
        assert "'bm25'" in str(caught.value)
    column = "tag" if form == "trec" else "system"
    qrels = {f"q{number}": {"a": 1} for number in range(30)}
    for system, mean in (("dense", 1.0), ("bm25", 0.5)):
        where = {"where": {column: system}}
        result = assert_as_in_memory(qrels, path, reading=where, measures=["MRR"])
        assert result["MRR"] == mean
    for where in ({column: "splade"}, {"fold": "1"}):
        assert assert_as_in_memory(qrels, path, reading={"where": where}) is FileFormatError


@pytest.mark.parametrize("num_tags", [2, 50, 51])
@pytest.mark.parametrize("shared", ["nothing", "a document", "a rank"])
@pytest.mark.parametrize("order", ORDERS)
def test_tags_are_those_of_systems_by_all_lines_of_the_file(
    num_tags, shared, order, tmp_path, small_parts
):
    """Two parts of one run may have other tags, if they list no document and no rank twice."""
    rows = [
        (f"q{number}", f"d{number}-{rank}", f"{rank} {9 - rank} t{number % num_tags}")
        for number in range(60)
        for rank in range(4)
    ]
    if shared != "nothing":
        document, rank = ("d7-0", 5) if shared == "a document" else ("other", 0)
        rows.append(("q7", document, f"{rank} 1 t0"))
    path = tmp_path / "run"
    path.write_text("".join(f"{q} Q0 {d} {rest}\n" for q, d, rest in ordered(rows, order)))
    result = assert_as_in_memory(QRELS, path, duplicates="first")
    assert (result is FileFormatError) == (shared != "nothing" and num_tags <= 50)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("last", ["2.5", "9", "-1", "1", "x"])
def test_a_third_column_is_told_by_all_lines_of_the_file(last, order, tmp_path, small_parts):
    """Whether it holds ranks or scores, or neither, may show in the last line only."""
    rows = [(f"q{number}", f"d{rank}", str(4 - rank)) for number in range(9) for rank in range(4)]
    rows = [*ordered(rows, order), ("q3", "late", last)]
    path = tmp_path / "run"
    path.write_text("".join("\t".join(row) + "\n" for row in rows))
    assert_as_in_memory(QRELS, path)


@pytest.mark.parametrize("form", ["tabs", "parquet", "trec"])
def test_stated_columns_are_read_as_in_memory(form, tmp_path, small_parts):
    schema = ["passage", "topic", "points", "score"]
    rows = [(doc, query, score, 1.0) for query, doc, score in ordered(ROWS, "shuffled")]
    frame, path = pl.DataFrame(rows, schema=schema, orient="row"), tmp_path / "run"
    write(path, ROWS, "trec") if form == "trec" else write_table(path, frame, form)
    stated = {"columns": {"score": "points"}}
    result = assert_as_in_memory(QRELS, path, reading=stated)
    assert result is SettingError if form == "trec" else result["MRR"] > 0
    for wrong in ({"score": "heat"}, {"grade": "points"}):
        assert isinstance(assert_as_in_memory(QRELS, path, reading={"columns": wrong}), type)


def test_what_cannot_be_read_in_parts_is_refused_with_the_reason(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"q1": {"d1": 1.0}}))
    (tmp_path / "run.gz").write_bytes(gzip.compress(as_parquet(ROWS)))
    trec = write(tmp_path / "run", ROWS, "trec")
    for name, problem in (
        ("run.json", "format 'json' is not read in parts, only those of trec, msmarco, csv"),
        ("run.gz", "'parquet' is not read in parts if it is packed; unpack it"),
        (".", "a folder, not a run file"),
    ):
        with pytest.raises(FileFormatError, match=problem):
            read_run(tmp_path / name, parts=True)
        read = read_run(tmp_path / name) if name != "." else None
        assert read is None or not read.is_in_parts
    with pytest.raises(SettingError, match="leave out parts= or collapse="):
        read_run(trec, parts=True, collapse="#")
    with pytest.raises(FileNotFoundError):
        read_run(tmp_path / "none", parts=True)


# Comparisons and the choice by size


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_runs_in_parts_are_compared_as_paths(order, tmp_path, small_parts):
    generator = random.Random(3)
    paths = {}
    for name in ("a", "b"):
        rows = [(query, f"d{rank}", generator.random()) for query in QRELS for rank in range(8)]
        rows += [(query, "x", generator.random()) for query in QRELS]
        paths[name] = write(tmp_path / name, ordered(rows, order), "trec")
    runs = {name: read_run(path, parts=True) for name, path in paths.items()}
    comparisons = [compare_runs(QRELS, systems, ["nDCG@10", "MRR@5"]) for systems in (paths, runs)]
    assert comparisons[0] == comparisons[1]
    documents = [comparison.documents_to_judge() for comparison in comparisons]
    assert documents[0] == documents[1]


def test_a_run_larger_than_half_of_the_free_memory_is_read_in_parts(tmp_path, monkeypatch):
    paths = [write(tmp_path / form, ROWS, form) for form in FORMS]
    for free, is_in_parts in ((None, False), (1 << 40, False), (1_000, True), (0, True)):
        monkeypatch.setattr(run_size, "free_memory", lambda free=free: free)
        for path in paths:
            assert read_run(path).is_in_parts == is_in_parts, path
            assert not read_run(path, parts=False).is_in_parts
            assert evaluate(QRELS, path, "MRR") == evaluate(
                QRELS, read_run(path, parts=False), "MRR"
            )


def test_packed_text_counts_with_its_content(tmp_path, monkeypatch):
    size = len(TEXTS["trec"](ROWS))
    packed = write(tmp_path / "run.gz", ROWS, "trec", "gzip")
    plain = write(tmp_path / "run", ROWS, "trec")
    monkeypatch.setattr(run_size, "free_memory", lambda: 2 * 5 * size - 1)
    assert read_run(plain).is_in_parts
    monkeypatch.setattr(run_size, "free_memory", lambda: 2 * 5 * 4 * packed.stat().st_size - 1)
    assert read_run(packed).is_in_parts
    monkeypatch.setattr(run_size, "free_memory", lambda: 2 * 5 * 4 * packed.stat().st_size + 9)
    assert not read_run(packed).is_in_parts


# Temporary files


@pytest.mark.parametrize("form", FORMS)
def test_temporary_files_are_gone_with_the_run(form, tmp_path, temporary, small_parts):
    path = write(tmp_path / "run", ordered(ROWS, "shuffled"), form)
    for entry in temporary.iterdir():  # of the writer
        (entry / "run").unlink()
        entry.rmdir()
    run = read_run(path, parts=True)
    evaluate(QRELS, run, "MRR")
    [folder] = temporary.iterdir()
    assert list(folder.rglob("*.parquet"))
    del run
    gc.collect()
    assert not list(temporary.iterdir())


@pytest.mark.parametrize(
    ("late", "error"),
    [
        (["q1 Q0 d1 1 0.5 tag", "q1 Q0 d1 1 0.5 tag"], DuplicateDocumentError),
        (["q1 Q0 d1 1 high tag"], FileFormatError),
        (["q1 Q0 d0 1 7 other"], FileFormatError),
        ([], QueryMismatchError),
    ],
)
def test_temporary_files_are_gone_after_an_error(late, error, tmp_path, temporary, small_parts):
    path = tmp_path / "run"
    path.write_text(TEXTS["trec"](ordered(ROWS, "shuffled")) + "\n".join(late))
    with pytest.raises(error):
        evaluate(QRELS, read_run(path, parts=True), missing="error")
    gc.collect()
    assert not list(temporary.iterdir())


def test_a_full_disk_is_said_and_leaves_nothing(tmp_path, temporary, small_parts, monkeypatch):
    path = write(tmp_path / "run", ordered(ROWS, "shuffled"), "trec")

    def fail(*_, **__):
        raise pl.exceptions.ComputeError("No space left on device (os error 28)")

    monkeypatch.setattr(pl.DataFrame, "write_parquet", fail)
    with pytest.raises(OSError, match="check that the disk has space"):
        evaluate(QRELS, read_run(path, parts=True))
    gc.collect()
    assert not list(temporary.iterdir())


@pytest.mark.parametrize("order", ["grouped", "shuffled"])
def test_the_progress_bar_ends_at_the_size_of_the_file(order, tmp_path, monkeypatch, small_parts):
    path = write(tmp_path / "run", ordered(ROWS, order), "trec")
    bars = []

    @contextmanager
    def recorded(**settings):
        assert settings["total"] == path.stat().st_size
        steps = []
        bars.append(steps)
        yield lambda number=1, **_: steps.append(number)

    monkeypatch.setattr(run_parts, "progress_bar", recorded)
    evaluate({query: {"d0": 1} for query in QRELS}, read_run(path, parts=True))
    assert len(bars) == (1 if order == "grouped" else 2)
    assert max(accumulate(bars[-1])) == sum(bars[-1]) == path.stat().st_size


def test_the_matrix_of_rows_in_any_order_is_that_of_the_run_in_memory(tmp_path, small_parts):
    write(tmp_path / "run.trec", random.Random(0).sample(ROWS, len(ROWS)), "trec")
    matrices = [
        relate(Qrels(QRELS), read_run(tmp_path / "run.trec", parts=parts), EvaluationSettings())[0]
        for parts in (True, False)
    ]
    assert matrices[0].num_retrieved.tolist() == matrices[1].num_retrieved.tolist()
    assert matrices[0].cells.rank.tolist() == matrices[1].cells.rank.tolist()


def test_a_reader_without_rows_is_a_run_without_queries():
    class Empty:
        num_rows, needs_all_rows = 0, False

        def frames(self):
            return iter(())

    source = module.PartsSource(Empty())
    assert source.query_ids == ()
    assert list(source.rankings()) == []


def test_a_file_that_changes_is_read_anew(tmp_path, small_parts):
    path = write(tmp_path / "run", ROWS, "trec")
    run = read_run(path, parts=True)
    assert evaluate(QRELS, run, "num_ret")["num_ret"] == evaluate(QRELS, path, "num_ret")["num_ret"]
    path.unlink()
    with pytest.raises((OSError, InputError)):
        evaluate(QRELS, run)
