"""Files are written whatever happens to the output; ``-`` is standard input; help has examples."""

import gzip
import json
import os
import shutil
import subprocess
import sys

import cli_text
import pytest

from beir_eval.cli.commands import EXAMPLES
from beir_eval.datasets import demo
from command_line import run

COMMAND = [sys.executable, "-m", "beir_eval"]
BM25, PLAIN = demo.RUNS


def run_with_input(content, *arguments):
    return subprocess.run(
        [*COMMAND, *map(str, arguments)], input=content, capture_output=True, check=False
    )


# Targets

#: {command: its arguments with input files that do not exist; its options that name a file}
TARGETS = {
    "evaluate": (
        ["q.trec", "r.trec"],
        ["-o json=", "-o csv=", "-o html=", "-o md=", "-o tex="],
    ),
    "compare": (
        ["q.trec", "a.trec", "b.trec", "--gate", "MRR"],
        [f"-o {name}=" for name in ("json", "csv", "queries", "md", "tex", "html", "xml")]
        + ["--to-judge="],
    ),
    "bench": (["sets", "runs"], ["-o md=", "-o tex=", "-o csv=", "-o json=", "-o html="]),
    "power": (["q.trec"], ["-o json="]),
    "convert": (["a.trec"], [""]),
    "demo": ([], ["-o html="]),
}
CASES = [(name, option) for name, (_, options) in TARGETS.items() for option in options]


@pytest.mark.parametrize(("command", "option"), CASES)
def test_a_target_that_cannot_be_written_is_refused_before_anything_is_read(
    tmp_path, monkeypatch, command, option
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "file").write_text("")
    arguments = TARGETS[command][0]
    for target, problem in {
        "folder.json": "is a folder",
        "none/r.json": "no folder none",
        "file/r.json": "no folder file",
    }.items():
        result = run(command, *arguments, *f"{option}{target}".split())
        assert result.exit_code == 2
        assert result.stderr.startswith(f"error: {target}")
        assert problem in result.stderr
        assert result.stderr.count("\n") == 1
        assert result.stdout == ""


def test_a_folder_without_permission_is_refused_before_anything_is_read(tmp_path):
    folder = tmp_path / "protected"
    folder.mkdir(mode=0o555)
    if os.access(folder, os.W_OK):
        folder = "/proc"  # the superuser may write anywhere else
        if not os.path.isdir(folder):  # noqa: PTH112 - of a text
            pytest.skip("no folder is protected from this user")
    result = run("evaluate", "absent.trec", "absent2.trec", "-o", f"{folder}/r.json")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {folder}/r.json: ")


def test_a_folder_that_cannot_be_made_is_refused_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    result = run("bench", "absent", "absent.trec", "--keep", "file/results")
    assert result.exit_code == 2
    assert "a folder was expected, but" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="Windows reports a closed pipe in another way")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["evaluate", demo.FOLDER, BM25, PLAIN, "-m", "MRR"], 0),
        (["compare", demo.FOLDER, BM25, PLAIN, "--draws", "99", "--detail"], 0),
        (["compare", demo.FOLDER, BM25, PLAIN, "--floor", "nDCG@10=0.9", "--draws", "99"], 1),
    ],
    ids=["evaluate", "compare", "a gate"],
)
def test_a_closed_pipe_loses_no_file_no_exit_code_and_prints_no_error(tmp_path, arguments, code):
    targets = [tmp_path / "r.json", tmp_path / "r.html"]
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [*COMMAND, *map(str, arguments), "-o", targets[0], "-o", targets[1]],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert process.stderr == ""
    assert process.returncode == code
    assert json.loads(targets[0].read_text())
    assert targets[1].stat().st_size > 1000


# Standard input


@pytest.mark.slow
def test_a_run_a_packed_run_and_judgements_are_read_from_standard_input(tmp_path):
    printed = run("evaluate", demo.FOLDER, BM25, "-m", "nDCG@10").stdout
    expected = printed.replace("─", "").replace("bm25", "stdin").split()
    for content in (BM25.read_bytes(), gzip.compress(BM25.read_bytes())):
        result = run_with_input(content, "evaluate", demo.FOLDER, "-", "-m", "nDCG@10")
        assert result.returncode == 0, result.stderr
        assert result.stdout.decode().replace("─", "").split() == expected
    qrels = (demo.FOLDER / "qrels" / "test.tsv").read_bytes()
    for command in (
        ["evaluate", "-", BM25, "-m", "nDCG@10"],
        ["compare", "-", BM25, PLAIN, "--draws", "99", "-o", tmp_path / "r.html"],
        ["power", "-"],
        ["convert", "--qrels", "-", tmp_path / "qrels.json"],
    ):
        result = run_with_input(qrels, *command)
        assert result.returncode == 0, result.stderr
    result = run_with_input(BM25.read_bytes(), "evaluate", demo.FOLDER, "-", PLAIN)
    assert result.returncode == 0, result.stderr


def test_saved_results_are_read_from_standard_input(tmp_path):
    saved = tmp_path / "saved.json"
    assert run("evaluate", demo.FOLDER, BM25, PLAIN, "-m", "MRR", "-o", saved).exit_code == 0
    result = run_with_input(saved.read_bytes(), "compare", "-", "--draws", "99")
    assert result.stdout.startswith(b"MRR, 30 queries: "), result.stderr


def test_a_message_about_standard_input_names_it_and_two_dashes_are_refused():
    result = run_with_input(b"a b\n", "evaluate", demo.FOLDER, "-")
    assert result.returncode == 2
    assert result.stderr.startswith(b"error: standard input, line 1: 2 columns")
    result = run_with_input(b"", "evaluate", "-", "-")
    assert result.returncode == 2
    assert b"- is named twice" in result.stderr


# Help and completion


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_help_of_a_command_ends_with_its_example(name):
    words = name.split()
    for help_text in (run(*words, "--help").stdout, run(*words, "-h").stdout):
        assert " ".join(help_text.split()).endswith(f"Example: {EXAMPLES[name]}")
        assert max(map(len, help_text.splitlines())) <= 80
    assert len(help_text.splitlines()) <= 40


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_option_has_a_section_and_the_short_help_names_it(name):
    words = name.split()
    explained, short = (run(*words, option).stdout for option in ("--help", "-h"))
    for parameter in cli_text.commands()[name].params:
        if parameter.param_type_name == "option":
            longest = max(parameter.opts, key=len)
            assert longest in explained
            assert longest in short
            assert parameter.rich_help_panel, longest


def test_every_command_has_an_example():
    assert set(cli_text.commands()) == set(EXAMPLES)


def test_the_shell_completes_commands_and_options():
    program = shutil.which("beir-eval", path=os.path.dirname(sys.executable))  # noqa: PTH120
    if program is None:
        pytest.skip("the command is not installed beside this Python")
    for words, completion in (
        ("beir-eval eval", "evaluate"),
        ("beir-eval compare --ba", "--baseline"),
    ):
        request = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
        request |= os.environ | {"_BEIR_EVAL_COMPLETE": "complete_bash"}
        done = subprocess.run([program], env=request, capture_output=True, check=False)
        assert completion in done.stdout.decode().split()
