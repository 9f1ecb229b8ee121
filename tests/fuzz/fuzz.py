"""Search for files that a reader crashes on, reads wrongly or reads slowly.

    make fuzz SECONDS=600             every target, ten minutes each
    make fuzz SECONDS=600 TARGET=run  one target
    .venv/bin/python tests/fuzz/fuzz.py --target run --repeat FILE

An input is a valid file, or one with a few changes: a valid one, a seed, or an input whose outcome
was new. A finding is written to ``.fuzz/findings`` with the command that repeats it: an exception
other than a BeirEvalError, a file that is accepted and read as something else than it contains, a
valid file that is refused, an input that takes more than a second of processor time, or the end of
the process in which a target runs.
"""

import argparse
import contextlib
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "support"))  # pytest does the same

import fuzz_grammar as grammar  # noqa: E402
import fuzz_targets as targets  # noqa: E402

from beir_eval.errors import BeirEvalError  # noqa: E402

FINDINGS = ROOT / ".fuzz" / "findings"
SEEDS = Path(__file__).with_name("seeds")
#: Seconds of processor time above which an input is a finding; it has at most 256 KiB.
SLOWEST = 1.0
MOST_BYTES = 1 << 16
#: One of so many inputs is tried at 256 KiB; one of so many is a valid file.
ENLARGE_EVERY, VALID_EVERY = 400, 40
#: polars ends the process for some damaged Parquet files, which no caller can prevent.
ABORT = b"memory allocation of"


class Finder:
    """Runs inputs of one target, and writes a file for each new kind of finding."""

    def __init__(self, name, folder):
        """Take the target's name, and a folder for the file that is read."""
        self.name, self.path = name, folder / "input"
        self.check = targets.TARGETS[name].check
        self.seen, self.outcomes = set(), set()

    def run(self, kind, data):
        """Check one input; return whether its outcome is a new one."""
        self.path.write_bytes(data)
        return self.watch(kind, self.check, self.path)

    def watch(self, kind, check, *args):
        """Call a check, and report what must not happen; return whether the outcome is new."""
        outcome = "accepted"
        begin = time.process_time()
        try:
            check(*args)
        except BeirEvalError as error:
            outcome = re.sub(r"'.*?'|\d+", "", str(error).partition(str(self.path))[2])
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a PanicException is no Exception
            frames = traceback.extract_tb(error.__traceback__)
            where = next((f for f in reversed(frames) if "/src/" in f.filename), frames[-1])
            text = "".join(traceback.format_exception(error))
            self.report((kind, type(error).__name__, where.name, str(error)[:20]), text)
        seconds = time.process_time() - begin
        if seconds > SLOWEST and (again := self.seconds_of(lambda: check(*args))) > SLOWEST:
            self.report(("slow", kind), f"{again:.1f} s of processor time")
        is_new = outcome not in self.outcomes
        self.outcomes.add(outcome)
        return is_new

    @staticmethod
    def seconds_of(call):
        """Return the processor time of a call, whose errors are reported elsewhere."""
        begin = time.process_time()
        with contextlib.suppress(Exception):
            call()
        return time.process_time() - begin

    def report(self, signature, text):
        """Write the file that was read, unless such a finding is known."""
        if signature not in self.seen:
            self.seen.add(signature)
            write_finding(self.name, self.path, f"{' '.join(signature)}\n{text}")


def write_finding(name, path, text):
    """Copy an input to the folder of findings, and write what happened beside it."""
    folder = FINDINGS / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    shutil.copyfile(path, file)
    command = f"{sys.executable} tests/fuzz/fuzz.py --target {name} --repeat {file}"
    file.with_suffix(".txt").write_text(f"{command}\n{text}\n", errors="backslashreplace")
    print(f"FINDING {text.splitlines()[0]}\n    {command}", flush=True)


def search(name, seconds, folder, seed):
    """Run one target in this process for so many seconds; return the number of inputs."""
    warnings.simplefilter("ignore")
    finder, rng = Finder(name, folder), random.Random(seed)
    example = targets.TARGETS[name].example
    pool = [path.read_bytes() for path in sorted((SEEDS / name).iterdir())]
    with contextlib.suppress(Exception):  # the first call is slow: it imports modules
        finder.run("input", example(rng))
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        count += 1
        data = example(rng) if rng.random() < 1 / 2 else rng.choice(pool)
        data = grammar.mutate(rng, data)[:MOST_BYTES]
        if finder.run("input", data):
            pool.append(data)
        if count % ENLARGE_EVERY == 0:
            finder.run("large input", grammar.enlarged(rng, data))
        elif count % VALID_EVERY == 0:
            finder.watch("valid file", targets.check_valid, name, rng, finder.path)
    return count


def supervise(name, seconds):
    """Run one target in child processes for so long; return whether there is no finding."""
    started, end, seed = time.time(), time.monotonic() + seconds, 0
    environment = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
    while (left := end - time.monotonic()) > 1:
        with tempfile.TemporaryDirectory(prefix="beir-eval-fuzz-") as folder:
            command = [sys.executable, __file__, "--target", name, "--child", folder]
            command += ["--seconds", str(int(left)), "--seed", str(seed)]
            try:
                child = subprocess.run(
                    command, stderr=subprocess.PIPE, env=environment, check=False, timeout=left + 60
                )
                status, reason = child.returncode, child.stderr
            except subprocess.TimeoutExpired as error:
                status, reason = "no end", error.stderr or b""
            if status != 0 and ABORT not in reason:
                text = f"the process ended with {status}\n{reason[-3000:].decode(errors='replace')}"
                write_finding(name, Path(folder) / "input", text)
        seed += 1
    files = (FINDINGS / name).glob("*.txt")
    return not any(file.stat().st_mtime >= started for file in files)


def repeat(name, file):
    """Check one file again, with the traceback of what must not happen."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "input"
        shutil.copyfile(file, path)
        for _ in range(2):  # the first call imports modules
            begin = time.process_time()
            try:
                targets.TARGETS[name].check(path)
                outcome = "accepted"
            except BeirEvalError as error:
                outcome = f"refused: {error}"
        print(f"{outcome}\n{time.process_time() - begin:.2f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=targets.TARGETS, help="by default all")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--repeat", type=Path, metavar="FILE", help="check one file, and stop")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.repeat:
        repeat(options.target, options.repeat)
    elif options.child:
        count = search(options.target, options.seconds, options.child, options.seed)
        print(f"{options.target:<12}{count:>12,} inputs", flush=True)
    else:
        names = [options.target] if options.target else list(targets.TARGETS)
        is_clean = [supervise(name, options.seconds) for name in names]
        sys.exit(not all(is_clean))


if __name__ == "__main__":
    main()
