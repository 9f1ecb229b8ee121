"""On real text: spans after edits of the corpus, and chunks after cleaners."""

import json
import re

import pytest

from beir_eval.spans import Spans, span_drift
from beir_eval.spans.locating import Part, locate_all
from beir_eval.spans.texts import DocumentTexts
from chunking_data import read

NOTICE = "A new notice, added today.\n\n"


@pytest.fixture(scope="module")
def data(realdata):
    return read(realdata / "chunking")


@pytest.fixture(scope="module")
def spans_file(data, tmp_path_factory):
    _, _, gold = data
    path = tmp_path_factory.mktemp("spans") / "spans.jsonl"
    rows = [
        {"query_id": query_id, **span._asdict()}
        for query_id, spans in gold.items()
        for span in spans
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def collapsed(text):
    """Return a text with single spaces, and where each of its characters is then."""
    at, previous, where = -1, False, []
    for character in text:
        at += not (character.isspace() and previous)
        previous = character.isspace()
        where.append(at)
    return re.sub(r"\s+", " ", text), where


def test_every_span_is_found_again_after_a_paragraph_on_top(data, spans_file):
    corpora, _, _ = data
    drift = span_drift(spans_file, {doc_id: NOTICE + text for doc_id, text in corpora.items()})
    assert drift.counts == {"moved": 790}
    assert all(span.new_start == span.start + len(NOTICE) for span in drift.spans)
    assert all(span.new_end == span.end + len(NOTICE) for span in drift.spans)


def test_every_span_is_found_again_after_white_space_was_collapsed(data, spans_file):
    corpora, _, _ = data
    new = {doc_id: collapsed(text) for doc_id, text in corpora.items()}
    drift = span_drift(spans_file, {doc_id: text for doc_id, (text, _) in new.items()})
    assert sum(drift.counts.values()) == 790
    assert set(drift.counts) <= {"same", "moved", "several places"}
    for span in drift.spans:
        where = new[span.doc_id][1]
        assert abs(span.new_start - where[span.start]) <= 1
        assert abs(span.new_end - 1 - where[span.end - 1]) <= 1


def test_no_span_is_anchored_where_the_text_differs(data, spans_file, tmp_path):
    corpora, _, _ = data
    lines = {doc_id: text.split("\n") for doc_id, text in corpora.items()}
    new = {
        doc_id: "\n".join(
            line.replace("the", "teh", 1) if number % 13 == 5 else line
            for number, line in enumerate(listed)
            if number % 20
        )
        for doc_id, listed in lines.items()
    }
    drift = span_drift(spans_file, new)
    assert drift.counts["lost"] > 10
    assert drift.counts["changed"] > 10
    drift.write_fixed(tmp_path / "fixed.jsonl")
    texts = {(span.query_id, span.new_start): span for span in drift.spans}
    for line in (tmp_path / "fixed.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        assert new[row["doc_id"]][row["start"] : row["end"]] == row["text"]
        old = texts[row["query_id"], row["start"]]
        before = corpora[row["doc_id"]][old.start : old.end]
        assert re.sub(r"\s", "", row["text"]) == re.sub(r"\s", "", before)
    assert len(Spans.from_jsonl(tmp_path / "fixed.jsonl", new)) > 300


@pytest.mark.parametrize("length", [15, 60])
def test_chunks_of_a_cleaned_text_are_placed_right_with_their_offsets(data, length):
    corpora, _, _ = data
    wrong = total = 0
    for doc_id, text in corpora.items():
        cleaned, where = collapsed(text)
        true_of = {}
        for original, at in enumerate(where):
            true_of.setdefault(at, original)
        parts, true = [], []
        words = [match.start() for match in re.finditer(r"\S+", cleaned)]
        for first in range(0, len(words), length):
            begin = words[first]
            end = words[first + length] if first + length < len(words) else len(cleaned)
            parts.append(Part(doc_id, begin, end, cleaned[begin:end]))
            true.append(true_of[begin])
        located, alignment = locate_all(parts, DocumentTexts({doc_id: text}))
        assert alignment.lost == 0
        wrong += sum(
            abs(located[part].start - start) > 3 for part, start in zip(parts, true, strict=True)
        )
        total += len(parts)
    assert total > (15_000 if length == 15 else 3_700)
    assert wrong <= 2
