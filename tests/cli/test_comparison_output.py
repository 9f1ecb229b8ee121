"""What ``compare`` prints: the verdict first, compact tables that fit, and the rest on request."""

import csv
import re

import pytest

from beir_eval import Run, write_run
from beir_eval.cli import console as console_module
from command_line import run

QUERIES = [f"q{number:02}" for number in range(30)]


@pytest.fixture
def terminal(monkeypatch):
    """Make the output as wide as a terminal of 80 columns."""
    monkeypatch.setattr(console_module.console, "_width", 80)


@pytest.fixture
def files(tmp_path):
    """Return qrels and nine runs with long names; run k finds the document at a rank below k."""
    (tmp_path / "qrels.trec").write_text("".join(f"{query} 0 a 1\n" for query in QUERIES))
    paths = [tmp_path / "qrels.trec"]
    for system in range(9):
        paths.append(tmp_path / f"re-ranker-checkpoint-{system}.trec")
        rankings = {}
        for number, query in enumerate(QUERIES):
            rank = (number * (system + 3)) % 7 if system % 2 else (number + system) % 3
            rankings[query] = [f"x{number}" for number in range(8)]
            rankings[query].insert(rank, "a")
        write_run(Run.from_rankings(rankings), paths[-1])
    return paths


MEASURES = ("-m", "nDCG@10", "-m", "MAP@100", "--draws", "500")
BASELINE = ("--baseline", "re-ranker-checkpoint-0")


@pytest.mark.parametrize("options", [BASELINE, ()], ids=["baseline", "all pairs"])
def test_nine_systems_on_two_measures_fit_into_45_lines_of_80_columns(files, terminal, options):
    result = run("compare", *files, *MEASURES, *options)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert len(lines) <= 45
    assert max(map(len, lines)) <= 80
    for system in range(9):
        rows = [line for line in lines if re.search(rf"checkpoint-{system} .*\b0\.\d", line)]
        assert len(rows) == (2 if options else 1)  # a row a measure, or both measures in a row


def test_the_evidence_judged_documents_and_likeness_are_printed_with_detail_only(files):
    titles = ("The evidence", "Judged documents", "Ranking similarity")
    brief = run("compare", *files[:3], *MEASURES).stdout
    assert not [title for title in titles if title in brief]
    assert brief.endswith("More: --detail\n")
    detailed = run("compare", *files[:3], *MEASURES, "--detail").stdout
    assert [title for title in titles if title not in detailed] == []
    for column in ("effect", "won/tied/lost", "top 10", "RBO"):
        assert column in detailed
    assert "--detail" not in detailed


def test_every_query_is_written_with_its_text_and_a_pair_names_those_that_lost_most(tmp_path):
    from beir_eval.cli import demo  # noqa: PLC0415

    output = tmp_path / "queries.csv"
    result = run("compare", demo.FOLDER, *sorted(demo.RUNS)[:2], "-o", f"queries={output}")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(output.open(encoding="utf-8")))
    assert len(rows) == 30
    assert all(row["text"] for row in rows)
    worst = min(rows, key=lambda row: float(row["difference"]))
    text = " ".join(result.stdout.split())
    assert f'loses most on {worst["query_id"]} "{worst["text"][:20]}' in text
