"""The GitHub Action evaluates, compares with the baseline, and writes what GitHub shows."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from beir_eval import EvaluationResult, evaluate
from beir_eval.datasets import demo

ROOT = Path(__file__).parents[2]
SHA = "0123456789abcdef0123456789abcdef01234567"
GOOD, POOR = demo.RUNS


ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
(GATE,) = [step for step in ACTION["runs"]["steps"] if step.get("id") == "gate"]
#: What the expressions of the workflow stand for, beside the inputs.
CONTEXT = {"github.event.pull_request.head.sha || github.sha": SHA}


@pytest.fixture
def run_action(tmp_path, monkeypatch):
    """Return a function that runs the step of the gate with these inputs, as GitHub does."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gate.sh").write_text(GATE["run"])

    def run(**inputs):
        given = {name: item.get("default", "") for name, item in ACTION["inputs"].items()}
        given |= {"qrels": str(demo.FOLDER), "baseline": "main.json.gz"}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        values = CONTEXT | {f"inputs.{name}": value for name, value in given.items()}
        environment = {
            name: re.sub(r"\$\{\{ (.+?) \}\}", lambda match: values[match[1]], text)
            for name, text in GATE["env"].items()
        }
        kept = {name: os.environ[name] for name in ("HOME", "PYTHONPATH") if name in os.environ}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "gate.sh"],  # noqa: S607 - as GitHub
            check=False,
            capture_output=True,
            text=True,
            env={
                **kept,
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "LANG": "C.UTF-8",
                "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
                "GITHUB_OUTPUT": str(tmp_path / "output"),
                **environment,
            },
        )

    return run


def fenced(comment):
    """Return the text of the fenced block, and what stands around it."""
    before, fence, text, after = re.fullmatch(
        r"(?s)(.*\n\n)(`{3,})text\n(.*)\n\2\n()", comment
    ).groups()
    assert fence not in text
    return text, before + after


@pytest.mark.slow
def test_without_a_baseline_the_result_is_kept_and_nothing_is_compared(run_action, tmp_path):
    process = run_action(run=str(GOOD))
    assert process.returncode == 0
    assert (tmp_path / "output").read_text() == "outcome=no baseline\n"
    comment = (tmp_path / "beir-eval/comment.md").read_text()
    assert comment == (tmp_path / "summary").read_text()
    for words in ("no baseline yet", "nothing was compared", "Commit 0123456789ab"):
        assert words in comment
    assert not (tmp_path / "beir-eval/report.html").exists()
    # The result is the baseline of the next change.
    shutil.move(tmp_path / "beir-eval/result.json.gz", tmp_path / "main.json.gz")
    assert run_action(run=str(GOOD)).returncode == 0
    assert (tmp_path / "output").read_text().splitlines()[-1] == "outcome=passed"


@pytest.mark.slow
def test_a_run_that_is_worse_fails_with_the_reason_and_the_report(run_action, tmp_path):
    evaluate(demo.FOLDER, GOOD, name="main", fingerprint=True).save(tmp_path / "main.json.gz")
    process = run_action(run=str(POOR), measures="nDCG@10 Recall@100")
    assert process.returncode == 1
    assert (tmp_path / "output").read_text() == "outcome=failed\n"
    text, frame = fenced((tmp_path / "beir-eval/comment.md").read_text())
    assert frame.startswith("<!-- beir-eval: Retrieval -->\n### Retrieval: failed\n")
    assert "gate failed: bm25-plain is worse than main (nDCG@10, 30 queries)" in text
    assert "Recall@100" in text
    assert text.strip() in process.stdout
    assert "<html" in (tmp_path / "beir-eval/report.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("non_inferior", ["false", "true"])
def test_the_gate_has_the_settings_of_the_inputs(run_action, tmp_path, non_inferior):
    evaluate(demo.FOLDER, POOR, name="main", fingerprint=True).save(tmp_path / "main.json.gz")
    process = run_action(run=str(GOOD), non_inferior=non_inferior, margin="0.02")
    assert process.returncode == 0
    assert ("not shown to be worse" in process.stdout) == (non_inferior == "false")


HOSTILE = "@octocat ![x](http://evil/x.png) <img src=x> ```` <!-- --> [a](javascript:x) | #1"


@pytest.mark.slow
def test_text_of_runs_stays_in_the_fenced_block(run_action, tmp_path):
    evaluate(demo.FOLDER, GOOD, name=HOSTILE, fingerprint=True).save(tmp_path / "main.json.gz")
    assert run_action(run=str(POOR)).returncode == 1
    text, frame = fenced((tmp_path / "beir-eval/comment.md").read_text())
    assert "@octocat" in text
    for part in ("octocat", "evil", "<img", "javascript"):
        assert part not in frame
    assert (tmp_path / "output").read_text() == "outcome=failed\n"


@pytest.mark.slow
def test_a_name_is_no_workflow_command_in_the_log(run_action, tmp_path):
    forged = "::error::the gate has passed ##[group]x"
    evaluate(demo.FOLDER, GOOD, name=forged).save(tmp_path / "main.json.gz")
    first_words = set()
    for _ in range(2):
        process = run_action(run=str(POOR))
        first, *printed, last = process.stdout.splitlines()
        assert any(line.startswith("::error::") for line in printed)
        word = re.fullmatch(r"::stop-commands::([0-9a-f]{32})", first)[1]
        assert last == f"::{word}::"
        assert not any(word in line for line in printed)
        first_words.add(first)
    assert len(first_words) == 2
    assert "stop-commands" not in (tmp_path / "beir-eval/comment.md").read_text()


@pytest.mark.slow
def test_files_that_cannot_be_read_are_not_decidable_and_the_comment_has_the_error(
    run_action, tmp_path
):
    (tmp_path / "bad.trec").write_text("q1 Q0 d1 1 many tag\n")
    process = run_action(run="bad.trec")
    assert process.returncode == 2
    text, frame = fenced((tmp_path / "beir-eval/comment.md").read_text())
    assert "### Retrieval: undecided" in frame
    assert "bad.trec" in text
    (tmp_path / "main.json.gz").write_text("no result")
    assert run_action(run=str(GOOD)).returncode == 2
    # A saved result in place of a run: that of an earlier call is not taken for it.
    (tmp_path / "new.json").write_text("{}")
    (tmp_path / "beir-eval/result.json.gz").write_bytes(b"of an earlier call")
    assert run_action(qrels="", run="new.json").returncode == 2
    assert "new.json" in (tmp_path / "beir-eval/comment.md").read_text()
    assert not (tmp_path / "beir-eval/result.json.gz").exists()


@pytest.mark.parametrize(
    ("inputs", "problem"),
    [
        ({}, "the input 'run' must be a path"),
        ({"run": "r", "measures": "\n"}, "the input 'measures' must be measures"),
        ({"run": "r", "non_inferior": "yes"}, "the input 'non-inferior' must be true or false"),
        ({"run": "r", "title": "--> @x"}, "the input 'title' must be letters"),
    ],
)
def test_wrong_inputs_are_named(run_action, tmp_path, inputs, problem):
    process = run_action(**inputs)
    assert (process.returncode, process.stdout) == (2, "")
    assert problem in process.stderr
    assert not (tmp_path / "output").exists()


def test_a_long_text_is_cut_at_a_line_and_says_so(run_action, tmp_path):
    # A package of the same name in the folder prints it.
    (tmp_path / "beir_eval").mkdir()
    (tmp_path / "beir_eval/__init__.py").touch()
    (tmp_path / "beir_eval/__main__.py").write_text("print('0123456789\\n' * 10_000)\n")
    assert run_action(run=str(GOOD)).returncode == 0
    comment = (tmp_path / "beir-eval/comment.md").read_text()
    assert len(comment) < 65_536
    *lines, last = fenced(comment)[0].splitlines()
    assert set(lines) == {"0123456789"}
    assert last == "... cut here: the log has all of it"


def test_the_action_passes_its_inputs_by_the_environment_only():
    steps = ACTION["runs"]["steps"]
    assert all("${{" not in step.get("run", "") for step in steps)
    read = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", str(steps)))
    assert read == set(ACTION["inputs"])
    for outcome in ("passed", "failed", "undecided", "no baseline"):
        assert f'"{outcome}"' in ACTION["outputs"]["outcome"]["description"]


def test_only_the_job_that_comments_may_write_and_it_runs_nothing_of_the_pull_request():
    workflow = yaml.safe_load((ROOT / "docs/examples/retrieval.yml").read_text())
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    assert "permissions" not in jobs["compare"]
    assert jobs["comment"]["permissions"] == {"pull-requests": "write"}
    uses = [step["uses"] for step in jobs["comment"]["steps"] if "uses" in step]
    assert uses == ["actions/download-artifact@v4"]
    checkout = jobs["compare"]["steps"][0]
    assert checkout["with"] == {"persist-credentials": False}
    assert all("${{" not in step.get("run", "") for job in jobs.values() for step in job["steps"])
    (action,) = [step for step in jobs["compare"]["steps"] if "beir-eval@" in step.get("uses", "")]
    assert action["with"].keys() <= ACTION["inputs"].keys()
    marker = jobs["comment"]["steps"][1]["env"]["MARKER"]
    assert marker == f"<!-- beir-eval: {ACTION['inputs']['title']['default']} -->"


@pytest.mark.skipif(not shutil.which("jq"), reason="needs jq, as GitHub's machines have it")
@pytest.mark.parametrize("is_first", [True, False])
def test_the_comment_is_made_once_and_then_replaced(tmp_path, is_first):
    workflow = yaml.safe_load((ROOT / "docs/examples/retrieval.yml").read_text())
    step = workflow["jobs"]["comment"]["steps"][1]
    bot, marker = {"login": "github-actions[bot]"}, step["env"]["MARKER"]
    comments = [
        {"user": {"login": "octocat"}, "body": f"{marker} copied", "url": "1"},
        {"user": bot, "body": "another", "url": "2"},
    ]
    if not is_first:
        comments.append({"user": bot, "body": f"{marker}\n### Retrieval", "url": "3"})
    (tmp_path / "comments.json").write_text(json.dumps(comments))
    (tmp_path / "comment.md").write_text(f"{marker}\n")
    gh = tmp_path / "gh"
    gh.write_text(
        '#!/bin/sh\necho "$*" >> calls\ncase "$*" in *--field*) ;; *) cat comments.json ;; esac\n'
    )
    gh.chmod(0o755)
    subprocess.run(
        ["bash", "-e", "-c", step["run"]],  # noqa: S607 - as GitHub runs it
        check=True,
        cwd=tmp_path,
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "MARKER": marker, "COMMENTS": "c"},
    )
    last = (tmp_path / "calls").read_text().splitlines()[-1]
    target = "c" if is_first else "--method PATCH 3"
    assert last == f"api {target} --field body=@comment.md"


def test_a_saved_result_in_place_of_a_run_is_copied_and_compared(run_action, tmp_path):
    evaluate(demo.FOLDER, POOR, ["nDCG@10"], name="old").save(tmp_path / "new.json")
    done = run_action(qrels="", run="new.json")
    assert done.returncode == 0
    copied = EvaluationResult.load(tmp_path / "beir-eval/result.json.gz")
    assert copied == EvaluationResult.load(tmp_path / "new.json")
