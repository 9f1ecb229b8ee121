"""Test the tests of measures and ranking: ``make mutants``, by hand, for an hour or more.

cosmic-ray makes mutants: copies of the package with one small change, such as ``<=`` for ``<``. A
mutant is killed if a test of ``tests/core`` or ``tests/measures`` fails for it. It survives if all
those tests pass that run the changed line. A survivor is a missing test, or a change that no test
can show; ``equivalent_mutants.toml`` lists the latter.

Steps, all by default: ``record`` finds out which tests run which lines, ``make`` lists the mutants,
``run`` tests those that have no result yet, ``report`` prints the result. The last commit is
tested, in clones below ``.mutants``, one for each processor.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter, defaultdict
from difflib import unified_diff
from importlib import import_module
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cosmic_ray.work_item import WorkItem, WorkResult

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".mutants"
CONFIGURATION, SESSION, TESTS = (
    FOLDER / name for name in ("cosmic-ray.toml", "session.sqlite", "tests.json")
)
#: The mutants that no test can kill, with reasons.
EQUIVALENT = ROOT / "scripts" / "equivalent_mutants.toml"
MUTATED = (
    "src/beir_eval/core/rank_counting.py",
    "src/beir_eval/core/ranking.py",
    "src/beir_eval/measures",
)
TEST_FOLDERS = ("tests/core", "tests/measures")
#: Of the replacements of an operator, those that PIT makes by default: the boundary of a comparison
#: and its negation, and for arithmetic the inverse. Others mostly raise a TypeError, and would only
#: raise the share of killed mutants.
OPERATORS = re.compile(
    "core/(NumberReplacer|AddNot|ReplaceTrueWithFalse|ReplaceFalseWithTrue|ReplaceAndWithOr"
    "|ReplaceOrWithAnd|RemoveDecorator|ZeroIterationForLoop|ExceptionReplacer"
    "|ReplaceBreakWithContinue|ReplaceContinueWithBreak"
    "|ReplaceUnaryOperator_(USub_UAdd|Delete_Not|Delete_Invert)"
    "|ReplaceBinaryOperator_(Add_Sub|Sub_Add|Mul_Div|Div_Mul|FloorDiv_Mul|Mod_Mul|Pow_Mul"
    "|BitAnd_BitOr|BitOr_BitAnd|LShift_RShift|RShift_LShift)"
    "|ReplaceComparisonOperator_(Eq_NotEq|NotEq_Eq|Lt_LtE|Lt_GtE|LtE_Lt|LtE_Gt|Gt_GtE|Gt_LtE"
    "|GtE_Gt|GtE_Lt|Is_IsNot|IsNot_Is|In_NotIn|NotIn_In))"
)
#: The share of mutants that must be killed, and how long the tests of a mutant may take in seconds.
LEAST_KILLED, TIMEOUT = 0.95, 240.0
MEMORY_BYTES = 8 << 30
#: What the tests import, besides this package.
PRELOADED = ("hypothesis.extra.numpy", "numpy", "polars", "pydantic", "scipy.stats")


# Which tests run which lines


class TestRecorder:
    """A pytest plugin that records which lines each test runs, and how long it takes."""

    __test__ = False

    def __init__(self, coverage: Any) -> None:
        self.coverage = coverage
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Run a test in a context of its own, with the package's caches empty."""
        for name, module in list(sys.modules.items()):
            for value in list(vars(module).values()) if name.startswith("beir_eval") else ():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
        self.coverage.switch_context(item.nodeid)
        start = time.perf_counter()
        result = yield
        self.seconds[item.nodeid] = time.perf_counter() - start
        self.coverage.switch_context("")
        return result


def record() -> None:
    """Run the tests, and write the seconds of each and the tests of each line to ``TESTS``."""
    import coverage  # noqa: PLC0415 - of the dependencies of the tests

    os.environ["BEIR_EVAL_HYPOTHESIS"] = "few"
    data_file = FOLDER / "coverage"
    data_file.unlink(missing_ok=True)
    measured = coverage.Coverage(data_file=str(data_file), source=["src/beir_eval"])
    measured.start()
    recorder = TestRecorder(measured)
    if pytest.main(["-q", "-p", "no:cacheprovider", *TEST_FOLDERS], plugins=[recorder]):
        sys.exit("the tests fail without mutants too")
    measured.stop()
    measured.save()
    lines = {
        str(path.relative_to(ROOT)): measured.get_data().contexts_by_lineno(str(path))
        for path in mutated_files()
    }
    TESTS.write_text(json.dumps({"seconds": recorder.seconds, "lines": lines}))


def mutated_files() -> list[Path]:
    """Return the files that are mutated."""
    paths = [ROOT / name for name in MUTATED]
    return [
        file for path in paths for file in (sorted(path.rglob("*.py")) if path.is_dir() else [path])
    ]


# Mutants


def make() -> None:
    """List the mutants in ``SESSION``, and skip those that are no change or not wanted."""
    from cosmic_ray.work_db import use_db  # noqa: PLC0415
    from cosmic_ray.work_item import WorkerOutcome, WorkResult  # noqa: PLC0415

    CONFIGURATION.write_text(
        f"[cosmic-ray]\nmodule-path = {json.dumps(MUTATED)}\ntimeout = {TIMEOUT}\n"
        'test-command = "not used"\n[cosmic-ray.distributor]\nname = "local"\n'
    )
    SESSION.unlink(missing_ok=True)
    cosmic_ray("init", CONFIGURATION, SESSION)
    files = {str(path.relative_to(ROOT)): path for path in mutated_files()}
    operations = {name: operations_of(path) for name, path in files.items()}
    lines = {name: path.read_text().splitlines() for name, path in files.items()}
    skipped = []
    with use_db(SESSION) as database:
        for item in database.pending_work_items:
            (mutation,) = item.mutations
            name, path = mutation.operator_name, str(mutation.module_path)
            is_binary = name.startswith("core/ReplaceBinaryOperator")
            # Only type checkers need what is imported there.
            is_for_types = lines[path][mutation.start_pos[0] - 1] == "if TYPE_CHECKING:"
            if (
                is_for_types
                or not OPERATORS.fullmatch(name)
                or (
                    is_binary
                    and not any(low <= mutation.start_pos < high for low, high in operations[path])
                )
            ):
                skipped.append(item.job_id)
        database.set_multiple_results(skipped, WorkResult(worker_outcome=WorkerOutcome.SKIPPED))


def operations_of(path: Path) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the ranges of (line, column) of the binary operators of a file.

    Left out are annotations, which are never evaluated, and the asterisks of arguments.
    """
    tree = ast.parse(path.read_text())
    annotations: set[ast.AST] = set()
    for node in ast.walk(tree):
        for field in ("annotation", "returns"):
            if isinstance(annotation := getattr(node, field, None), ast.AST):
                annotations |= set(ast.walk(annotation))
    ranges = []
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and node not in annotations:
            left, right = node.left, node.right
            begin = (left.end_lineno or 0, left.end_col_offset or 0)
            ranges.append((begin, (right.lineno, right.col_offset)))
        elif isinstance(node, ast.AugAssign):
            target = node.target
            begin = (target.end_lineno or 0, target.end_col_offset or 0)
            ranges.append((begin, (node.value.lineno, node.value.col_offset)))
    return ranges


def cosmic_ray(*arguments: object) -> None:
    """Run a command of cosmic-ray to its end."""
    subprocess.run(
        [sys.executable, "-m", "cosmic_ray.cli", *map(str, arguments)], cwd=ROOT, check=True
    )


def run() -> None:
    """Test the mutants without a result, with a worker for each processor."""
    from cosmic_ray.work_db import WorkDB, use_db  # noqa: PLC0415

    if git("status", "--porcelain", "--", "src", "tests", "scripts"):
        sys.exit("src, tests or scripts have changes that are not committed: commit them first")
    with use_db(SESSION, WorkDB.Mode.open) as database:
        items = list(database.pending_work_items)
    numbers = range(os.cpu_count() or 1)
    results: Queue[tuple[str, WorkResult]] = Queue()
    todo: Queue[WorkItem] = Queue()
    for item in items:
        todo.put(item)
    threads = [Thread(target=work, args=(number, todo, results), daemon=True) for number in numbers]
    for thread in threads:
        thread.start()
    with use_db(SESSION, WorkDB.Mode.open) as database:
        for number in range(1, len(items) + 1):
            job_id, result = results.get()
            database.set_result(job_id, result)
            sys.stderr.write(f"\r{number} of {len(items)}")


def work(number: int, todo: Queue[WorkItem], results: Queue[tuple[str, WorkResult]]) -> None:
    """Let a worker test mutants until none is left.

    Args:
        number: the number of the worker.
        todo: the mutants.
        results: where the results go, each with the id of its job.
    """
    clone = FOLDER / f"clone-{number}"
    shutil.rmtree(clone, ignore_errors=True)
    git("clone", "--quiet", str(ROOT), str(clone))
    # Compiled modules are used only if the text is equal: a mutant's never is.
    compile_all = "-m compileall -q --invalidation-mode checked-hash src"
    subprocess.run([sys.executable, *compile_all.split()], cwd=clone, check=True)
    worker = subprocess.Popen(
        [sys.executable, str(clone / "scripts" / "mutants.py"), "worker", str(TESTS)],
        cwd=clone,
        env=os.environ | {"BEIR_EVAL_HYPOTHESIS": "few", "PYTHONPATH": str(clone / "src")},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    if worker.stdin is None or worker.stdout is None:
        raise AssertionError
    while True:
        try:
            item = todo.get_nowait()
        except Empty:
            worker.stdin.close()
            return
        (mutation,) = item.mutations
        job = [
            str(mutation.module_path),
            mutation.operator_name,
            mutation.operator_args,
            mutation.occurrence,
        ]
        worker.stdin.write(json.dumps(job) + "\n")
        worker.stdin.flush()
        results.put((item.job_id, result_of(json.loads(worker.stdout.readline()))))


def result_of(answer: dict[str, str]) -> WorkResult:
    """Return the record of what a worker answered."""
    from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult  # noqa: PLC0415

    outcome = TestOutcome.SURVIVED if answer["outcome"] == "survived" else TestOutcome.KILLED
    return WorkResult(
        worker_outcome=WorkerOutcome.NORMAL,
        test_outcome=outcome,
        output=answer["outcome"],
        diff=answer["diff"],
    )


def git(*arguments: str) -> str:
    """Return what a git command prints."""
    command = ["git", *arguments]  # git is on the PATH of whoever made the clone
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# The tests of a mutant


class TestSelection:
    """A pytest plugin that runs some tests only, the fastest first."""

    __test__ = False

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds
        #: A mutant may change the parameters in a test's id.
        self.functions = {name.partition("[")[0]: cost for name, cost in seconds.items()}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Keep and order the selected tests."""
        known = {item.nodeid for item in items}
        names = self.seconds if self.seconds.keys() <= known else self.functions

        def cost(item: pytest.Item) -> float | None:
            name = item.nodeid if names is self.seconds else item.nodeid.partition("[")[0]
            return names.get(name)

        costs = {item: seconds for item in items if (seconds := cost(item)) is not None}
        config.hook.pytest_deselected(items=[item for item in items if item not in costs])
        items[:] = sorted(costs, key=costs.__getitem__)


def worker() -> None:
    """Test the mutants that standard input names, in this clone; print the result of each.

    The packages that tests use are imported once. Each mutant is tested by a copy of the process
    (``fork``), which then imports this package, with its change.
    """
    from cosmic_ray.mutating import mutate_code  # noqa: PLC0415
    from cosmic_ray.plugins import get_operator  # noqa: PLC0415

    for name in PRELOADED:
        import_module(name)
    recorded = json.loads(Path(sys.argv[2]).read_text())
    sys.dont_write_bytecode = True
    for line in sys.stdin:
        path, operator, arguments, occurrence = json.loads(line)
        source = Path(path).read_text()
        mutated = mutate_code(source, get_operator(operator)(**arguments), occurrence)
        difference = list(unified_diff(source.splitlines(), mutated.splitlines(), lineterm="", n=0))
        Path(path).write_text(mutated)
        try:
            outcome = test(tests_of(path, changed_lines(difference), recorded["lines"]), recorded)
        finally:
            Path(path).write_text(source)
        print(json.dumps({"outcome": outcome, "diff": "\n".join(difference[2:])}), flush=True)


def test(names: set[str], recorded: dict[str, Any]) -> str:
    """Run tests in a copy of this process; return "killed", "survived" or "timeout".

    Args:
        names: the tests; all of them if empty.
        recorded: what ``record`` wrote.
    """
    seconds = {name: recorded["seconds"][name] for name in names or recorded["seconds"]}
    child = os.fork()
    if not child:
        status = 1
        try:
            output = os.open(os.devnull, os.O_WRONLY)
            os.dup2(output, 1)
            os.dup2(output, 2)
            resource = import_module("resource")
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            files = sorted({name.partition("::")[0] for name in seconds})
            arguments = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-n0", *files]
            status = int(pytest.main(arguments, plugins=[TestSelection(seconds)]))
        finally:
            os._exit(status)
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        finished, status = os.waitpid(child, os.WNOHANG)
        if finished:
            return "killed" if status else "survived"
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timeout"


def changed_lines(difference: list[str]) -> range:
    """Return the original numbers of the lines that a difference without context changes."""
    hunks = re.findall(r"^@@ -(\d+)(?:,(\d+))?", "\n".join(difference), re.MULTILINE)
    first = min(int(begin) for begin, _ in hunks)
    last = max(int(begin) + int(count or 1) - 1 for begin, count in hunks)
    return range(first, last + 1)


def tests_of(path: str, lines: range, recorded: dict[str, dict[str, list[str]]]) -> set[str]:
    """Return the tests that run a line, or else its function, or else anything in its file.

    A line that runs at import may change what every test of the file sees.
    """
    contexts = {int(line): set(names) for line, names in recorded[path].items()}

    def tests_in(selected: range) -> set[str]:
        return set().union(*(contexts.get(line, set()) for line in selected))

    names = tests_in(lines)
    if not names:  # the second line of an expression need not be recorded
        tree = ast.parse(git("show", f"HEAD:{path}"))
        bodies = [
            range(node.body[0].lineno, (node.end_lineno or 0) + 1)
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        ]
        around = [body for body in bodies if lines[0] in body and lines[-1] in body]
        names = tests_in(min(around, key=len)) if around else {""}
    if "" in names:
        names = set().union(*contexts.values())
    return names - {""}


# The result


def report() -> None:
    """Print the numbers of each file, and the survivors without a reason.

    Exits with 1 if there are any, or if less than ``LEAST_KILLED`` are killed.
    """
    from cosmic_ray.work_db import WorkDB, use_db  # noqa: PLC0415

    counts: dict[str, Counter[str]] = defaultdict(Counter)
    survivors: list[str] = []
    known = equivalent_mutants()
    with use_db(SESSION, WorkDB.Mode.open) as database:
        results = dict(database.results)
        for item in database.work_items:
            (mutation,) = item.mutations
            result = results.get(item.job_id)
            outcome = "open" if result is None else outcome_of(result)
            path = str(mutation.module_path)
            counts[path][outcome] += 1
            if outcome in {"survived", "error"}:
                code, change = (
                    next(filter(None, map(str.strip, lines)), "")
                    for lines in changes_of((result and result.diff) or "")
                )
                if outcome == "survived" and (path, code, change) in known:
                    counts[path]["explained"] += 1
                    continue
                survivors.append(
                    f"{path}:{mutation.start_pos[0]}: {outcome}, {mutation.operator_name}\n"
                    f"    {code}\n    {change}"
                )
    print("\n".join(sorted(survivors)))
    total = sum(counts.values(), Counter())
    for path, count in [*sorted(counts.items()), ("all", total)]:
        num_tested = count["killed"] + count["timeout"] + count["survived"]
        num_killed = count["killed"] + count["timeout"]
        share = f"{num_killed / num_tested:.1%}" if num_tested else "-"
        print(
            f"{path}: {num_killed} of {num_tested} killed ({share}), {count['timeout']} of them by "
            f"the time limit; {count['survived']} survived, {count['explained']} of them with a "
            f"reason; {count['open']} not tested yet, {count['error']} errors"
        )
    num_tested = total["killed"] + total["timeout"] + total["survived"]
    if survivors or total["open"] or total["survived"] > (1 - LEAST_KILLED) * num_tested:
        sys.exit(1)


def changes_of(difference: str) -> tuple[list[str], list[str]]:
    """Return the lines that a difference removes, and those that it adds, without comments."""
    return (
        re.findall(r"^-(?!-- |\s*#)(.*)$", difference, re.MULTILINE),
        re.findall(r"^\+(?!\+\+ |\s*#)(.*)$", difference, re.MULTILINE),
    )


def equivalent_mutants() -> set[tuple[str, str, str]]:
    """Return the file, line and change of the mutants that no test can kill."""
    lines = tomllib.loads(EQUIVALENT.read_text())["line"]
    return {
        (f"src/beir_eval/{line['file']}", line["code"], change)
        for line in lines
        for change in line["changes"]
    }


def outcome_of(result: Any) -> str:
    """Return "killed", "timeout", "survived", "skipped" or "error"."""
    if result.worker_outcome.value == "skipped":
        return "skipped"
    if result.worker_outcome.value != "normal" or result.test_outcome is None:
        return "error"
    if result.output == "timeout":
        return "timeout"
    outcome = str(result.test_outcome.value)
    return outcome if outcome in {"killed", "survived"} else "error"


STEPS = {step.__name__: step for step in (record, make, run, report)}


def main() -> None:
    """Run the steps that the command line names, or all."""
    FOLDER.mkdir(exist_ok=True)
    if sys.argv[1:2] == ["worker"]:
        worker()
        return
    for name in sys.argv[1:] or STEPS:
        STEPS[name]()


if __name__ == "__main__":
    main()
