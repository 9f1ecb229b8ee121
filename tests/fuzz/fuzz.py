"""Search for files that a reader crashes on, reads wrongly or reads slowly.

    make fuzz SECONDS=600             every target, ten minutes each
    make fuzz SECONDS=600 TARGET=run  one target
    .venv/bin/python tests/fuzz/fuzz.py --target run --repeat FILE

Each target runs in a child process, guided by the coverage of the package's own code (atheris). A
third of the inputs are valid files or such files with a few changes; the others are libFuzzer's
mutations of the inputs that reached something new. A finding is written to ``.fuzz/findings`` with
the command that repeats it: an exception other than a BeirEvalError, a file that is accepted and
read as something else than it contains, a valid file that is refused, an input that takes more than
a second of processor time, or the end of the child process. ``.fuzz/corpus`` keeps the inputs from
which the next search begins. Seconds and minutes are processor time, so that a search beside other
work is as long as one on an idle machine; a target takes up to twice the seconds asked for while it
still reaches new code.
"""

import argparse
import contextlib
import hashlib
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "support"))  # pytest does the same
WORK = ROOT / ".fuzz"
SEEDS = Path(__file__).with_name("seeds")
#: Seconds of processor time above which an input is a finding; it has at most 256 KiB.
SLOWEST = 1.0
#: Seconds by the clock after which an input never ends. A machine may sleep for minutes meanwhile;
#: what is slow is measured in processor time (``SLOWEST``).
HANGS = 1_800
MOST_BYTES = 1 << 16
#: A target whose process has ended so often is given up.
MOST_ENDS = 20
#: One of so many inputs is also tried at 256 KiB; one of so many is replaced by a valid file.
ENLARGE_EVERY, VALID_EVERY = 400, 40
#: polars ends the process for some damaged Parquet files, which no caller can prevent; such ends
#: are counted, not reported.
ABORT = "memory allocation of"
#: A target goes on until it has reached nothing new for this share of its seconds, but no longer
#: than so many times its seconds.
QUIET_SHARE, MOST_TIMES = 1 / 3, 2
#: The environment of a child process: the same hashes every time, and one processor.
ONE_THREAD = {"PYTHONHASHSEED": "0", "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
#: Status of a child process that libFuzzer has ended because its time was over.
OUT_OF_TIME = (0, 72)
#: A line of libFuzzer's: "#1234 NEW cov: 321 ft: …".
PROGRESS = re.compile(rb"#(\d+)\s+\S+\s+cov: (\d+)")


class Finder:
    """Runs inputs of one target, and writes a file for each new kind of finding."""

    def __init__(self, name, folder):
        """Take the target's name, and a folder for the file that is read."""
        import fuzz_grammar  # noqa: PLC0415 - instrumented by the caller
        import fuzz_targets  # noqa: PLC0415

        self.name, self.path = name, folder / "input"
        self.grammar, self.targets = fuzz_grammar, fuzz_targets
        self.seen = set()
        self.count = 0

    def run(self, data):
        """Check one input; now and then also a large version of it, or a valid file."""
        self.count += 1
        rng = random.Random(zlib.crc32(data))
        self.path.write_bytes(data)
        self.watch("input", self.targets.TARGETS[self.name].check, self.path)
        if self.count % ENLARGE_EVERY == 0:
            self.path.write_bytes(self.grammar.enlarged(rng, data))
            self.watch("large input", self.targets.TARGETS[self.name].check, self.path)
        elif self.count % VALID_EVERY == 0:
            self.watch("valid file", self.targets.check_valid, self.name, rng, self.path)

    def warm_up(self, data):
        """Check one input unwatched: the first is slow, because modules are imported for it."""
        self.path.write_bytes(data)
        with contextlib.suppress(Exception):
            self.targets.TARGETS[self.name].check(self.path)

    def watch(self, kind, check, *args):
        """Call a check, and report what must not happen."""
        from beir_eval.errors import BeirEvalError  # noqa: PLC0415

        begin = time.process_time()
        try:
            check(*args)
        except BeirEvalError:
            pass
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - a PanicException is no Exception
            frames = traceback.extract_tb(error.__traceback__)
            where = next((f for f in reversed(frames) if "/src/" in f.filename), frames[-1])
            text = "".join(traceback.format_exception(error))
            self.report((kind, type(error).__name__, where.name, str(error)[:20]), text)
        seconds = time.process_time() - begin
        if seconds > SLOWEST and (alone := self.seconds_alone()) > SLOWEST:
            self.report(("slow", kind), f"{alone:.1f} s of processor time")

    def seconds_alone(self):
        """Return how long the input takes in a process that nothing watches, after a first call.

        Here every branch and comparison is traced, which may take more than twice as long.
        """
        command = [sys.executable, __file__, "--target", self.name, "--repeat", str(self.path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines()
        # Without a time the input raised an error, which is reported as such.
        return float(lines[-1].split()[0]) if done.returncode == 0 else 0.0

    def report(self, signature, text):
        """Write the file that was read, unless such a finding is known."""
        if signature not in self.seen:
            self.seen.add(signature)
            write_finding(self.name, self.path, f"{' '.join(signature)}\n{text}")


def write_finding(name, path, text):
    """Copy an input to the folder of findings, and write what happened beside it."""
    data = path.read_bytes() if path.exists() else b""
    folder = WORK / "findings" / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / hashlib.sha256(data).hexdigest()[:12]
    file.write_bytes(data)
    command = f"{sys.executable} tests/fuzz/fuzz.py --target {name} --repeat {file}"
    file.with_suffix(".txt").write_text(f"{command}\n{text}\n", errors="backslashreplace")
    print(f"FINDING {text.splitlines()[0]}\n    {command}", flush=True)


def search(name, seconds, folder):
    """Run one target with atheris in this process, which libFuzzer ends."""
    import atheris  # noqa: PLC0415 - in the group "fuzz"
    import fuzz_modules  # noqa: PLC0415

    with atheris.instrument_imports(include=list(fuzz_modules.MODULES[name])):
        finder = Finder(name, folder)
    warnings.simplefilter("ignore")
    example = finder.targets.TARGETS[name].example

    def mutate(data, most_bytes, seed):
        rng = random.Random(seed)
        choice = rng.randrange(6)
        if choice == 0:
            data = finder.grammar.mutate(rng, example(rng))
        elif choice == 1:
            data = finder.grammar.mutate(rng, data)
        else:
            data = atheris.Mutate(data, most_bytes)
        return data[:most_bytes]

    finder.warm_up(example(random.Random(0)))
    corpus = WORK / "corpus" / name
    corpus.mkdir(parents=True, exist_ok=True)
    for number in range(20):
        data = example(random.Random(number))
        (corpus / hashlib.sha256(data).hexdigest()[:12]).write_bytes(data)
    seeds = [str(SEEDS / name)] if (SEEDS / name).is_dir() else []
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={MOST_BYTES}",
        f"-timeout={HANGS}",
        "-rss_limit_mb=8192",
        f"-artifact_prefix={folder}/",
        "-report_slow_units=1000",
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus), *seeds], finder.run, custom_mutator=mutate)
    atheris.Fuzz()


def supervise(name, seconds):
    """Run one target in child processes for so long; return whether there is no finding."""
    begin = seconds_of_children()
    spent = newest = 0.0
    executions = coverage = ended = aborts = 0
    started = time.time()
    while (left := seconds_left(seconds, spent, newest)) > 1 and ended < MOST_ENDS:
        folder = Path(tempfile.mkdtemp(prefix="beir-eval-fuzz-", dir=memory_folder()))
        command = [sys.executable, __file__, "--target", name, "--child", str(folder)]
        command += ["--seconds", str(int(left))]
        environment = {**os.environ, "RUST_BACKTRACE": "0", **ONE_THREAD}
        runs, before = 0, spent
        with (folder / "log").open("wb") as log:
            child = subprocess.Popen(
                command, stderr=subprocess.PIPE, stdout=None, env=environment, cwd=ROOT
            )
            try:
                for line in child.stderr:
                    spent = before + processor_seconds(child.pid)
                    if progress := PROGRESS.match(line):
                        runs = int(progress[1])
                        if int(progress[2]) > coverage:
                            coverage, newest = int(progress[2]), spent
                    else:
                        log.write(line)
                        if runs_done := re.match(rb"Done (\d+) runs", line):
                            runs = int(runs_done[1])
            finally:
                child.terminate()
                status = child.wait()
                spent = seconds_of_children() - begin
        executions += runs
        if status not in OUT_OF_TIME and not executions:
            sys.exit(f"{name}: nothing ran\n{(folder / 'log').read_text(errors='replace')[-3000:]}")
        reason = (folder / "log").read_text(errors="replace")[-3000:]
        if status not in OUT_OF_TIME and name == "parquet" and ABORT in reason:
            aborts += 1
        elif status not in OUT_OF_TIME:
            ended += 1
            write_finding(name, folder / "input", f"the process ended with {status}\n{reason}")
        shutil.rmtree(folder, ignore_errors=True)
    findings = number_of_findings(name, started)
    print(
        f"{name:<12}{executions:>12,} executions{spent / 60:>8.1f} minutes"
        f"{coverage:>7,} branches{(spent - newest) / 60:>8.1f} minutes since the last new one"
        f"{findings:>5} findings{f', {aborts} aborts by polars' if aborts else ''}",
        flush=True,
    )
    return not findings


def seconds_left(seconds, spent, newest):
    """Return how long to go on: as asked, then while new code was reached a short time ago."""
    end = max(seconds, newest + seconds * QUIET_SHARE)
    return min(end, seconds * MOST_TIMES) - spent


def seconds_of_children():
    """Return the processor time of all child processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def processor_seconds(pid):
    """Return the processor time of a running process; 0 where Linux's /proc is missing."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def number_of_findings(name, since):
    """Return how many findings of a target were written after a time, for the first time or not."""
    files = (WORK / "findings" / name).glob("*.txt")
    return sum(file.stat().st_mtime >= since for file in files)


def memory_folder():
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - of a random name


def repeat(name, file):
    """Check one file again, with the traceback of what must not happen."""
    with tempfile.TemporaryDirectory() as folder:
        finder = Finder(name, Path(folder))
        shutil.copyfile(file, finder.path)
        for _ in range(2):  # the first call imports modules
            begin = time.process_time()
            try:
                finder.targets.TARGETS[name].check(finder.path)
                outcome = "accepted"
            except finder.targets.BeirEvalError as error:
                outcome = f"refused: {error}"
        print(f"{outcome}\n{time.process_time() - begin:.2f} s")


def main():
    import fuzz_modules  # noqa: PLC0415 - beside this file

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=fuzz_modules.MODULES, help="by default all")
    parser.add_argument("--seconds", type=int, default=60, help="for each target")
    parser.add_argument("--repeat", type=Path, metavar="FILE", help="check one file, and stop")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.repeat:
        repeat(options.target, options.repeat)
    elif options.child:
        search(options.target, options.seconds, options.child)
    else:
        names = [options.target] if options.target else list(fuzz_modules.MODULES)
        is_clean = [supervise(name, options.seconds) for name in names]
        sys.exit(not all(is_clean))


if __name__ == "__main__":
    main()
