"""``beir-eval evaluate --parts``, and runs that every command reads in parts by itself."""

import re

from beir_eval.adapters import run_size
from beir_eval.datasets import demo
from command_line import run as run_command

FILES = [str(demo.FOLDER), *map(str, demo.RUNS)]
REASON = "is read in parts: it would take more than half of the free memory"


def run(*arguments, expected=0):
    result = run_command(*arguments)
    assert result.exit_code == expected, result.output
    return result.output


def without_notes(output):
    return [line for line in output.splitlines() if "is read in parts" not in line]


def test_a_large_run_is_read_in_parts_by_itself_and_the_output_says_so(monkeypatch, tmp_path):
    compared = run("compare", *FILES)
    assert "in parts" not in run("evaluate", *FILES) + compared
    monkeypatch.setattr(run_size, "free_memory", lambda: 1000)
    assert run("evaluate", *FILES).count(REASON) == len(FILES) - 1
    in_parts = run("compare", *FILES)
    assert in_parts.count(REASON) == len(FILES) - 1
    assert without_notes(in_parts) == compared.splitlines()
    assert "in parts" not in run("evaluate", *FILES, "--no-parts")


def test_all_outputs_of_runs_in_parts_are_those_of_runs_in_memory(tmp_path):
    names = ("m.md", "t.tex", "s.csv", "r.json", "p.html")
    for option in ("--parts", "--no-parts"):
        folder = tmp_path / option
        folder.mkdir()
        written = [word for name in names for word in ("-o", folder / name)]
        run("evaluate", *FILES, option, *written)
    for name in names:
        first, second = (
            re.sub(r"\d\d:\d\d UTC", "", (tmp_path / option / name).read_text())
            for option in ("--parts", "--no-parts")
        )
        assert first == second, name


def test_what_is_read_into_memory_is_not_read_in_parts(tmp_path):
    spans = tmp_path / "spans.jsonl"
    spans.write_text('{"query_id": "q", "doc_id": "d", "start": 0, "end": 4}\n')
    chunks = tmp_path / "chunks.jsonl"
    chunks.write_text('{"query_id": "q", "doc_id": "d", "start": 0, "end": 4, "score": 1}\n')
    assert "leave out --parts" in run("evaluate", spans, chunks, "--parts", expected=2)
    assert "not read in parts, only" in run("evaluate", FILES[0], chunks, "--parts", expected=2)


def test_a_system_of_a_table_is_chosen_in_parts_too(tmp_path, monkeypatch):
    queries = [f"q{number}" for number in range(9)]
    (tmp_path / "q.trec").write_text("".join(f"{query} 0 a 1\n" for query in queries))
    rows = "system,qid,docno,score\n" + "".join(
        f"dense,{q},a,2\ndense,{q},b,1\nbm25,{q},b,2\nbm25,{q},a,1\n" for q in queries
    )
    (tmp_path / "r.csv").write_text(rows)
    monkeypatch.setattr(run_size, "free_memory", lambda: 0)
    files = (tmp_path / "q.trec", tmp_path / "r.csv")
    assert "choose one with --where system=dense" in run("evaluate", *files, expected=2)
    (tmp_path / "s.csv").write_text(rows.replace("bm25", "splade").replace("dense", "bm25"))
    for arguments in (("evaluate", *files), ("compare", *files, tmp_path / "s.csv")):
        output = run(*arguments, "-m", "MRR", "--where", "system=bm25")
        assert "0.5000" in output
        assert "r is read in parts" in output
