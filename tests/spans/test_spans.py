"""Judged spans: files, and spans that do not fit their corpus."""

import json
import re
import warnings

import pytest

from beir_eval import evaluate, load_dataset
from beir_eval.errors import FileFormatError, QrelsError, RunError, SettingError
from beir_eval.spans import Chunk, Chunks, Span, Spans, span_drift

CORPUS = {"d": "Ünder the 🌲 tree.\r\nThe second line\r\nends here."}


def write(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_files_of_spans_and_of_chunks_are_read(tmp_path):
    spans = write(
        tmp_path / "s.jsonl",
        [
            {"query_id": "q1", "doc_id": "d", "start": 10, "end": 16, "text": "🌲 tree"},
            {"qid": 2, "docid": "d", "text": "second line", "grade": 2},
        ],
    )
    ranked = write(
        tmp_path / "r.jsonl",
        [
            {"query_id": "q1", "doc_id": "d", "rank": 2, "start": 0, "end": 9},
            {"query_id": "q1", "doc_id": "d", "rank": 1, "start_index": 9, "text": " 🌲 tree."},
            {"query_id": 2, "doc_id": "d", "rank": 1, "text": "The second line ends"},
        ],
    )
    read = Spans.from_jsonl(spans, CORPUS)
    assert repr(read) == "Spans(2 queries, 2 spans)"
    view = read.view()
    chunks = Chunks.from_jsonl(ranked, CORPUS)
    assert chunks.alignment.white_space == 1
    result = evaluate(view.qrels, view.run(chunks), ["MRR", "Recall@7"])
    # The chunk is shorter than what it covers, and its places are scaled: 4 * 20/21 -> 3.
    assert result.scores("MRR").tolist() == [1 / 2, 1 / 4]
    assert result.scores("Recall@7")[0] == 1


@pytest.mark.parametrize(
    ("span", "reason"),
    [
        (Span("d", 10, 15, "🌲 tree"), "that of its last character"),
        (Span("d", 11, 20, "🌲 tree"), "bytes of UTF-8"),
        (Span("d", 10, 17, "🌲 tree"), "UTF-16 units"),
        (Span("d", 34, 43, "ends here"), r"\\r\\n was read as \\n"),
        (Span("d", 3, 9, "🌲 tree"), r"has 'er the' at 3 to 9, not"),
        (Span("d", text="not there at all"), "does not have its text"),
        (Span("x", 0, 3), "has no document 'x'"),
        (Span("d", 40, 90), "the end, 90, is beyond the text of document 'd', of 46 characters"),
        (Span("d", 5, 5), "not after the start"),
        (Span("d", -1, 5), "below 0"),
        (Span("d", 5), "both start and end"),
        (Span("d", text=" "), "the text is empty"),
        (Span("d", 0, 3, grade=float("nan")), "finite number"),
    ],
)
def test_a_span_that_does_not_fit_is_an_error_with_the_usual_cause(span, reason):
    with pytest.raises(QrelsError, match=reason):
        Spans({"q": [Span("d", 0, 5), span]}, CORPUS)


def test_a_corpus_with_other_ends_of_lines_is_named():
    unix = {"d": CORPUS["d"].replace("\r\n", "\n")}
    with pytest.raises(QrelsError, match=r"\\r\\n at the ends of lines, and the corpus has \\n"):
        Spans({"q": [Span("d", 36, 45, "ends here")]}, unix)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"doc_id": "d", "start": 0, "end": 3}, "query_id was expected"),
        ({"query_id": "q", "start": 0, "end": 3}, "doc_id was expected"),
        ({"query_id": "q", "doc_id": "d", "start": 0.5, "end": 3}, "whole numbers from 0"),
        ({"query_id": "q", "doc_id": "d", "end": 3}, "an end without a start"),
        (
            {"query_id": "q", "doc_id": "d", "start": 3, "end": 3},
            "the character after the last one",
        ),
        ({"query_id": "q", "doc_id": "d", "text": 7}, "text must be a text"),
        ({"query_id": "q", "doc_id": "d", "start": 0, "end": 3, "grade": "x"}, "finite number"),
        ({"query_id": "q", "doc_id": "d", "start": 0, "end": 3, "rank": 1}, "rankings of chunks"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, row, problem):
    good = {"query_id": "q", "doc_id": "d", "start": 0, "end": 5}
    with pytest.raises(FileFormatError, match=rf"s\.jsonl, line 2: .*{problem}"):
        Spans.from_jsonl(write(tmp_path / "s.jsonl", [good, row]), CORPUS)


def test_a_ranking_needs_places_and_one_way_to_rank(tmp_path):
    chunk = {"query_id": "q", "doc_id": "d", "start": 0, "end": 5}
    mixed = write(tmp_path / "m.jsonl", [chunk | {"score": 1}, chunk])
    with pytest.raises(FileFormatError, match="line 2: lines before have a score to rank by"):
        Chunks.from_jsonl(mixed)
    bare = write(tmp_path / "b.jsonl", [{"query_id": "q", "doc_id": "d"}])
    with pytest.raises(FileFormatError, match="line 1: a chunk needs start and end, or its text"):
        Chunks.from_jsonl(bare)
    with pytest.raises(RunError, match="query 'q', rank 1: a chunk needs"):
        Chunks({"q": [Chunk("d", 4)]})
    with pytest.raises(RunError, match="impossible offsets, 5 to 3"):
        Chunks({"q": [Chunk("d", 5, 3)]})


def test_scores_rank_before_the_order_of_the_file(tmp_path):
    rows = [
        {"query_id": "q", "doc_id": "d", "start": at, "end": at + 1, "score": score}
        for at, score in ((0, 1.0), (1, 3.0), (2, 3.0), (3, 2.0))
    ]
    chunks = Chunks.from_jsonl(write(tmp_path / "r.jsonl", rows))
    assert [chunk.start for chunk in chunks.by_query["q"]] == [1, 2, 3, 0]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"ranks": "documents"}, "ranks='documents'"),
        ({"ranks": "chunks"}, "needs an overlap"),
        ({"overlap": 0}, "above 0 and at most 1"),
        ({"overlap": 1.5}, "above 0 and at most 1"),
        ({"copies": "all"}, "copies='all'"),
        ({"repeated": "no"}, "repeated='no'"),
    ],
)
def test_a_view_with_another_setting_is_an_error(settings, problem):
    with pytest.raises(SettingError, match=problem):
        Spans({"q": [Span("d", 0, 5)]}).view(**settings)


# Drift

OLD = "First paragraph with words. Second paragraph with other words. Third one, quite different."


def spans_file(tmp_path):
    common = {"query_id": "q", "doc_id": "d", "note": "kept"}
    rows = [
        common | {"start": sentence.start(), "end": sentence.end(), "text": sentence[0]}
        for sentence in re.finditer(r"\w[^.]+\.", OLD)
    ]
    return write(tmp_path / "s.jsonl", rows)


@pytest.mark.parametrize(
    ("new", "statuses"),
    [
        (OLD, ["same", "same", "same"]),
        (f"A notice. {OLD}", ["moved", "moved", "moved"]),
        (OLD.replace(" ", "\n  "), ["moved", "moved", "moved"]),
        (OLD.replace("other words", "Other words"), ["same", "changed", "same"]),
        (OLD.replace("Second paragraph with other words. ", ""), ["same", "lost", "moved"]),
        ("Nothing is left of this text, whatever it was about.", ["lost"] * 3),
    ],
)
def test_what_became_of_each_span_is_found_and_fixed_only_where_the_text_is_the_same(
    tmp_path, new, statuses
):
    drift = span_drift(spans_file(tmp_path), {"d": new})
    assert [span.status for span in drift.spans] == statuses
    fixed = tmp_path / "fixed.jsonl"
    expected = [span for span in drift.spans if span.status in ("same", "moved")]
    if not expected:
        with pytest.raises(QrelsError, match="none to write"):
            drift.write_fixed(fixed)
        assert not fixed.exists()
        return
    assert drift.write_fixed(fixed) == len(expected)
    rows = [json.loads(line) for line in fixed.read_text(encoding="utf-8").splitlines()]
    assert {row["note"] for row in rows} == {"kept"}
    assert all(new[row["start"] : row["end"]] == row["text"] for row in rows)
    assert {span.status for span in span_drift(fixed, {"d": new}).spans} == {"same"}


def test_a_text_at_several_places_is_not_fixed_by_guessing(tmp_path):
    line = {"query_id": "q", "doc_id": "d", "start": 0, "end": 10, "text": "Same words"}
    path = write(tmp_path / "s.jsonl", [line])
    drift = span_drift(path, {"d": "New. Same words. Same words."})
    assert drift.counts == {"several places": 1}
    with pytest.raises(QrelsError, match="none to write"):
        drift.write_fixed(tmp_path / "fixed.jsonl")


def test_spans_without_a_text_are_not_checked_and_beyond_the_end_lost(tmp_path):
    rows = [{"query_id": "q", "doc_id": "d", "start": at, "end": at + 5} for at in (0, 200)]
    drift = span_drift(write(tmp_path / "s.jsonl", rows), {"d": OLD})
    assert drift.counts == {"lost": 1, "not checked": 1}


def test_documents_that_a_data_set_excludes_are_said_to_stay(tmp_path):
    query, document = {"_id": "q", "text": "x"}, {"_id": "d", "text": "The quick fox"}
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("q\td\t1\n")
    (tmp_path / "corpus.jsonl").write_text(json.dumps(document))
    for excluded in ({}, {"excluded_ids": ["d"]}):
        (tmp_path / "queries.jsonl").write_text(json.dumps(query | excluded))
        for corpus in (tmp_path, load_dataset(tmp_path)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                Spans({"q": [Span("d", 4, 9)]}, corpus)
            warned = ["stay in the rankings" in str(warning.message) for warning in caught]
            assert warned == [True] * bool(excluded)
