"""Judged spans and ranked chunks as inputs of ``evaluate``, ``compare`` and ``validate``."""

import json
import random
import re

import pytest

from command_line import refusal, run, success

RNG = random.Random(1)
WORDS = ["".join(RNG.choices("abcdefghijklmnop", k=7)) for _ in range(400)]
SENTENCES = [f"{' '.join(WORDS[at : at + 7])}." for at in range(0, 280, 7)]
TEXT = " ".join(SENTENCES)


def lines(path, rows):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    lines(tmp_path / "corpus.jsonl", [{"_id": "d", "title": "", "text": TEXT}])
    gold = [
        {"query_id": f"q{number}", "doc_id": "d", "start": TEXT.index(sentence), "text": sentence}
        for number, sentence in enumerate(SENTENCES[:20])
    ]
    lines(tmp_path / "spans.jsonl", gold)
    for size in (60, 300):
        rows = [
            {"query_id": row["query_id"], "doc_id": "d", "start": at, "text": TEXT[at : at + size]}
            for number, row in enumerate(gold)
            for at in range(size * (number % 2), len(TEXT), size)
        ]
        lines(tmp_path / f"size{size}.jsonl", rows)
    ranked = [row | {"rank": rank} for rank, row in enumerate(rows, start=1)]
    lines(tmp_path / "ranked.jsonl", ranked)


def test_a_gold_file_and_two_chunkers_give_a_verdict_at_three_budgets(tmp_path):
    measures = [f"Recall@{budget}" for budget in (500, 1000, 1500)]
    options = ["--corpus", "corpus.jsonl", "-m", ",".join(measures)]
    options += ["-o", "c.json", "-o", "c.md", "-o", "c.html"]
    shown = success(run("compare", "spans.jsonl", "size60.jsonl", "size300.jsonl", *options))
    assert all(f"{measure} " in shown for measure in measures)
    assert "A rank is a character of the retrieved text" in shown
    assert " length " in shown
    assert "in no document" not in shown
    saved = json.loads((tmp_path / "c.json").read_text())
    [result] = saved["results"]["size60"]
    assert result["settings"]["ranks"] == "characters"
    assert result["counted"]["text"]["alignment"]["stated"] > 30
    page = (tmp_path / "c.html").read_text()
    assert re.search(r"d\[\d+:\d+\] gold \d+-\d+", page)
    assert "\u27e6" in page
    assert "A rank is a character of the retrieved text" in page
    assert "A rank is a character of the retrieved text" in (tmp_path / "c.md").read_text()


def test_the_questions_of_the_corpus_folder_stand_beside_the_queries(tmp_path):
    questions = [{"_id": f"q{number}", "text": f"question no. {number}?"} for number in range(20)]
    lines(tmp_path / "queries.jsonl", questions)
    options = ("--corpus", ".", "-m", "Recall@500", "-o", "r.html")
    done = run("compare", "spans.jsonl", "size60.jsonl", "size300.jsonl", *options)
    assert "question no. " in done.output
    assert "question no. 7?" in (tmp_path / "r.html").read_text()
    run("evaluate", "spans.jsonl", "size60.jsonl", *options)
    assert "question no. 7?" in (tmp_path / "r.html").read_text()


def test_evaluate_shows_the_budgets_and_how_chunks_were_found():
    shown = success(run("evaluate", "spans.jsonl", "size60.jsonl", "--corpus", ".", "-o", "r.json"))
    assert "Recall@500 Recall@1000 Recall@2000" in shown
    assert "at the stated offset" in shown
    assert "lost 0" in shown
    run("evaluate", "spans.jsonl", "size300.jsonl", "--corpus", ".", "-o", "s.json")
    assert "A rank is a character of the retrieved text" in success(
        run("compare", "r.json", "s.json", "-m", "Recall@500")
    )
    output = refusal(run("compare", "r.json", "s.json", "--corpus", "."))
    assert "--corpus and --ranks are for judgements and runs" in output


def test_chunks_have_ranks_if_asked_for_and_spans_count_as_a_whole():
    options = ["--corpus", ".", "--ranks", "chunks", "-m", "Recall@5"]
    done = success(run("evaluate", "spans.jsonl", "size60.jsonl", *options))
    assert "A rank is a chunk of the retrieved text, a span counts once 75% of it is read" in done


def test_without_a_corpus_a_warning_says_that_offsets_are_taken():
    output = success(run("evaluate", "spans.jsonl", "size60.jsonl"))
    assert "offsets of spans and chunks are taken as stated" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["corpus.jsonl", "size60.jsonl", "--corpus", "."], "--corpus and --ranks"),
        (["ranked.jsonl", "spans.jsonl", "--corpus", "."], "rankings of chunks after them"),
        (["spans.jsonl", "size60.jsonl", "--corpus", ".", "--format", "trec"], "--format"),
        (["spans.jsonl", "size60.jsonl", "--corpus", "nowhere.jsonl"], "nowhere.jsonl"),
        (["spans.jsonl", "size60.jsonl", "--ranks", "documents"], "--ranks documents is not known"),
        (["spans.jsonl", "corpus.jsonl", "--corpus", "."], "doc_id was expected"),
    ],
)
def test_inputs_that_do_not_fit_are_errors(arguments, message):
    assert message in refusal(run("evaluate", *arguments))


def test_validate_says_what_became_of_spans_and_fixes_those_that_moved(tmp_path):
    moved = TEXT.replace(SENTENCES[3], "").replace(SENTENCES[5], SENTENCES[5].upper())
    lines(tmp_path / "new.jsonl", [{"_id": "d", "title": "", "text": f"A notice. {moved}"}])
    done = run("validate", "spans.jsonl", "--corpus", "corpus.jsonl")
    assert (done.exit_code, done.output.splitlines()[0]) == (0, "20 of 20 spans are where they say")
    written = ["--fix", "fixed.jsonl", "-o", "drift.json"]
    done = run("validate", "spans.jsonl", "--corpus", "new.jsonl", *written)
    assert done.exit_code == 1
    assert "lost (nothing like it is in the document" in done.output
    spans = json.loads((tmp_path / "drift.json").read_text())["spans"]
    statuses = [span["status"] for span in spans]
    assert (statuses.count("moved"), statuses[3], statuses[5]) == (18, "lost", "changed")
    assert run("validate", "fixed.jsonl", "--corpus", "new.jsonl").exit_code == 0
    output = refusal(run("evaluate", "spans.jsonl", "size60.jsonl", "--corpus", "new.jsonl"))
    assert "validate SPANS --corpus CORPUS" in output
    assert "--corpus" in refusal(run("validate", "spans.jsonl", "--fix", "x.jsonl"))
