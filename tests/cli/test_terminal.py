"""What reaches the terminal: escapes for control characters, and names of any bytes."""

import os
import subprocess
import sys

import pytest

RUN = "q1 Q0 a 1 2 t\nq2 Q0 c 1 2 t\n"


@pytest.fixture
def folder(tmp_path):
    """Return a folder with qrels and two runs whose names a terminal or a file cannot take."""
    (tmp_path / "qrels.trec").write_text("q1 0 a 1\nq2 0 c 2\n")
    for name in (b"esc\x1b[2J.trec", b"bad\xff.trec"):
        try:
            with open(os.path.join(os.fsencode(tmp_path), name), "w") as file:  # noqa: PTH118, PTH123
                file.write(RUN)
        except OSError:
            pytest.skip("the file system refuses such names")
    return tmp_path


def run(folder, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "beir_eval", *arguments],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("locale", [{}, {"LC_ALL": "C"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
def test_names_of_any_bytes_are_printed_as_escapes_and_written_to_every_file(folder, locale):
    names = [b"qrels.trec", b"esc\x1b[2J.trec", b"bad\xff.trec"]
    written = [b"-o", b"o\xff.json", b"-o", b"o.csv", b"-o", b"o.html"]
    result = run(folder, b"evaluate", *names, b"-m", b"P@1", *written, **locale)
    assert result.returncode == 0, result.stderr
    assert rb"esc\x1b[2J" in result.stdout
    assert rb"bad\xff" in result.stdout
    assert b"\x1b[2J" not in result.stdout + result.stderr
    assert rb"bad\xff" in (folder / "o.csv").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="opens a terminal")
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_a_warning_reaches_standard_error_once_and_one_terminal_or_file_only_once(
    tmp_path, command
):
    queries = range(8)
    (tmp_path / "qrels.trec").write_text("".join(f"q{query} 0 a 1\n" for query in queries))
    for name, rows in (("all.trec", queries), ("half.trec", queries[:4])):
        (tmp_path / name).write_text("".join(f"q{query} Q0 a 1 2 t\n" for query in rows))
    gate = ["--gate", "nDCG@10"] if command == "compare" else []
    arguments = [sys.executable, "-m", "beir_eval", command, "qrels.trec", "all.trec", "half.trec"]
    for stderr in (subprocess.PIPE, subprocess.STDOUT):
        result = subprocess.run(
            [*arguments, *gate],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            check=False,
        )
        assert result.stdout.count("warning: half: 4 of 8 judged queries are missing") == 1
        if result.stderr is not None:
            assert result.stderr.startswith("warning: half: 4 of 8 judged queries are missing")
            assert result.stderr.count("\n") == 1
    ours, theirs = os.openpty()
    subprocess.run([*arguments, *gate], cwd=tmp_path, stdout=theirs, stderr=theirs, check=False)
    os.close(theirs)
    assert os.read(ours, 100_000).count(b"warning: ") == 1


@pytest.mark.skipif(os.name != "posix", reason="closes a stream with a shell")
def test_a_closed_stdout_does_not_prevent_the_files(folder):
    command = f"{sys.executable} -m beir_eval evaluate qrels.trec bad*.trec -m P@1 -o o.json"
    for closed in (">&-", ">&- 2>&-"):
        subprocess.run(f"{command} {closed}", shell=True, cwd=folder, check=True)  # noqa: S602
        assert (folder / "o.json").stat().st_size > 100
        (folder / "o.json").unlink()
