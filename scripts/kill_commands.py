"""Kill each command that writes files many times, by hand: ``python scripts/kill_commands.py 60``.

Each command is run once to the end, which gives its files and how long it takes. Then it is killed
at random moments of its last two thirds, over the files of the run before. After each kill, every
file must be one that a complete run writes; after the next run, no other file may be left but
temporary ones, which a later day removes.
"""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from beir_eval.datasets import demo

QRELS = demo.FOLDER / "qrels" / "test.tsv"
#: {command: its arguments}. FIRST and SECOND stand for two runs: they are exchanged every other
#: time, so that other contents are written to the same files.
COMMANDS = {
    "evaluate": "evaluate QRELS FIRST -o r.json.gz -o r.csv -o r.html",
    "compare": "compare QRELS FIRST SECOND -o c.json -o c.md -o c.csv -o c.html",
    "convert": "convert FIRST run.parquet",
    "demo": "demo -o demo.html",
    "bench": "bench DEMO SECOND -o b.json -o b.md -o b.csv --keep cache",
    "power": "power QRELS -o p.json",
}
#: Times and hashes differ from run to run in the folder of a benchmark.
NOT_COMPARED = "cache"
TIME = re.compile(rb"\d{4}-\d\d-\d\d[ T]\d\d:\d\d")
WAITING, TEMPORARY = 0.3, ".beir-eval-"


def files_of(folder: Path) -> dict[str, bytes]:
    """Return {path in the folder: content} of all files, without the times in reports."""
    return {
        str(path.relative_to(folder)): TIME.sub(b"", path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.relative_to(folder).parts[0] != NOT_COMPARED
    }


def arguments_of(text: str, runs: tuple[Path, ...]) -> list[str]:
    """Return the arguments of a command on the bundled data set and two runs."""
    names = {"QRELS": QRELS, "DEMO": demo.FOLDER, "FIRST": runs[0], "SECOND": runs[1]}
    return [str(names.get(word, word)) for word in text.split()]


def start(arguments: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """Start a command in a folder."""
    command = [sys.executable, "-m", "beir_eval", *arguments]
    output = subprocess.DEVNULL
    return subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)


def run(arguments: list[str], folder: Path) -> float:
    """Run a command to its end and return how many seconds it took."""
    begin = time.perf_counter()
    if start(arguments, folder).wait() not in (0, 1):
        sys.exit(f"failed: {' '.join(arguments)}")
    return time.perf_counter() - begin


def kill_command(name: str, variants: list[list[str]], times: int) -> str:
    """Kill a command so many times and return a line about it; exit if a file is wrong."""
    rng, killed, interrupted = random.Random(name), 0, 0  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        complete, seconds = [], 0.0
        for arguments in variants:
            seconds = run(arguments, folder)
            complete.append(files_of(folder))
        while killed < times:
            arguments = variants[killed % 2]
            process = start(arguments, folder)
            try:
                process.wait(seconds * rng.uniform(WAITING, 1.05))
                continue  # it finished
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
            killed += 1
            for path, content in files_of(folder).items():
                if Path(path).name.startswith(TEMPORARY):
                    interrupted += 1
                elif content not in [files.get(path) for files in complete]:
                    sys.exit(f"{name}: {path} is neither the old file nor the new one")
        run(variants[0], folder)
        left = {path for path in files_of(folder) if not Path(path).name.startswith(TEMPORARY)}
        if left != set(complete[0]):
            sys.exit(f"{name}: left over: {left - set(complete[0])}")
    return f"{name}: killed {killed} times, {interrupted} while a file was written; no wrong file"


if __name__ == "__main__":
    for command, text in COMMANDS.items():
        variants = [arguments_of(text, runs) for runs in (demo.RUNS, demo.RUNS[::-1])]
        sys.stdout.write(f"{kill_command(command, variants, int(sys.argv[1]))}\n")
        sys.stdout.flush()
