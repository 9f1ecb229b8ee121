"""The steps of the GitHub Action: evaluate, compare with the baseline, gate, write a comment.

``action.yml`` runs ``python -m beir_eval.integrations.github_action``. Its settings come from the
environment, because text in a workflow's ``run`` would be executed. Everything that runs and files
can contain, such as ids and names, stands in a fenced block of the comment: there GitHub makes no
mention, link or image of it.

Public: ``main``.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from beir_eval.core.atomic_writes import write_atomically
from beir_eval.errors import BeirEvalError, InputError, one_line, shown
from beir_eval.evaluation.result import EvaluationResult

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["main"]

#: GitHub refuses a comment of more than 65,536 characters.
_LONGEST_TEXT = 60_000
_OUTCOMES = {0: "passed", 1: "failed", 2: "not decidable"}
_NO_BASELINE = "no baseline"
_MEANING = {
    "passed": "The gate has not shown that retrieval is worse than the baseline.",
    "failed": "The gate has failed: its reason is below.",
    "not decidable": "The gate could not decide: its reason is below.",
    _NO_BASELINE: "There is no baseline yet, so nothing was compared.",
}
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class _Settings:
    """What the action was told.

    Attributes:
        qrels: judgements; None if ``run`` is a saved result.
        run: a run file, or a saved result.
        baseline: the saved result of the main branch; it may be missing.
        measures: the measures of the gate.
        options: further options of ``beir-eval compare``.
        folder: where files are written.
        title: the title of the comment, which also says which comment is replaced.
    """

    qrels: str | None
    run: str
    baseline: Path
    measures: tuple[str, ...]
    options: tuple[str, ...]
    folder: Path
    title: str

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> _Settings:
        """Return the settings.

        Raises:
            InputError: one that is needed is missing, or has a value that it cannot have.
        """
        values = {
            name: environment.get(f"BEIR_EVAL_{name}", "").strip()
            for name in ("QRELS", "RUN", "BASELINE", "MEASURES", "MARGIN", "TITLE", "OUT")
        }
        for name in ("RUN", "BASELINE"):
            if not values[name]:
                msg = f"the input {name.lower()!r} of the action is empty; it must be a path"
                raise InputError(msg)
        options: list[str] = []
        non_inferior = environment.get("BEIR_EVAL_NON_INFERIOR", "false").strip()
        if non_inferior not in {"true", "false"}:
            msg = f"the input 'non-inferior' must be true or false, not {shown(non_inferior)}"
            raise InputError(msg)
        if non_inferior == "true":
            options.append("--non-inferior")
        if values["MARGIN"]:
            options.append(f"--margin={values['MARGIN']}")
        title = values["TITLE"] or "Retrieval"
        if not re.fullmatch(r"[\w .,()-]{1,80}", title):
            msg = f"the input 'title' must be letters, digits, blanks and .,()-, not {shown(title)}"
            raise InputError(msg)
        return cls(
            values["QRELS"] or None,
            values["RUN"],
            Path(values["BASELINE"]),
            tuple(values["MEASURES"].split()) or ("nDCG@10",),
            tuple(options),
            Path(values["OUT"] or "beir-eval"),
            title,
        )


def main(environment: Mapping[str, str] = os.environ) -> int:
    """Run the steps, and return the exit code of the gate.

    The folder ``BEIR_EVAL_OUT`` gets ``result.json.gz`` (the baseline of later pull requests),
    ``report.html`` if there is a baseline, and ``comment.md``.

    Args:
        environment: ``BEIR_EVAL_QRELS``, ``_RUN``, ``_BASELINE``, ``_MEASURES`` (separated by
            blanks), ``_NON_INFERIOR`` (true or false), ``_MARGIN``, ``_TITLE`` and ``_OUT``, and
            what GitHub sets: ``GITHUB_ACTIONS``, ``GITHUB_EVENT_PATH``, ``GITHUB_STEP_SUMMARY`` and
            ``GITHUB_OUTPUT``.

    Returns:
        0 if the gate passed or there is no baseline, 1 if it failed, 2 if it could not decide or
        an input is wrong.
    """
    try:
        settings = _Settings.from_environment(environment)
    except InputError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    settings.folder.mkdir(parents=True, exist_ok=True)
    outcome, code, printed = _compare(settings)
    sys.stdout.write(_without_commands(printed, environment))
    comment = _comment(settings.title, outcome, printed, _commit(environment))
    write_atomically(settings.folder / "comment.md", comment.encode())
    _append(environment.get("GITHUB_STEP_SUMMARY"), comment)
    # The outcome is one of our own words: no text of a file can add another output.
    _append(environment.get("GITHUB_OUTPUT"), f"outcome={outcome}\n")
    return code


def _without_commands(printed: str, environment: Mapping[str, str]) -> str:
    """Return a text for the log of a step, in which GitHub looks for no workflow commands.

    The name of a system could be ``::error::`` or ``##[error]`` with any words. Between the two
    lines around it, GitHub obeys nothing but the second one, whose word nobody can guess (GitHub's
    documentation of workflow commands, "Stopping and starting workflow commands").
    """
    if environment.get("GITHUB_ACTIONS") != "true":
        return printed
    word = secrets.token_hex(16)
    return f"::stop-commands::{word}\n{printed.rstrip()}\n::{word}::\n"


def _compare(settings: _Settings) -> tuple[str, int, str]:
    """Return the outcome, the exit code, and what the commands printed."""
    result = settings.folder / "result.json.gz"
    report = settings.folder / "report.html"
    report.unlink(missing_ok=True)
    result.unlink(missing_ok=True)
    if settings.qrels is None:
        code, printed = _copy_result(settings.run, result)
    else:
        measures = [f"--measure={measure}" for measure in settings.measures]
        code, printed = _beir_eval(
            "evaluate", *measures, f"--output={result}", "--", settings.qrels, settings.run
        )
    if code:
        return _OUTCOMES[2], 2, printed
    if not settings.baseline.is_file():
        return _NO_BASELINE, 0, printed
    gates = [f"--gate={measure}" for measure in settings.measures]
    code, compared = _beir_eval(
        "compare",
        *gates,
        *settings.options,
        f"--output={report}",
        "--",
        str(settings.baseline),
        str(result),
    )
    return _OUTCOMES.get(code, _OUTCOMES[2]), min(code, 2), compared


def _copy_result(source: str, target: Path) -> tuple[int, str]:
    """Save a result that was evaluated before, as the baseline of later pull requests.

    Returns:
        The exit code, and what to print: 2 and the error if it cannot be read.
    """
    try:
        EvaluationResult.load(Path(source)).save(target)
    except (BeirEvalError, OSError) as error:
        return 2, f"error: {one_line(str(error))}\n"
    return 0, ""


def _beir_eval(*arguments: str) -> tuple[int, str]:
    """Return the exit code of a command of ``beir-eval``, and all that it printed."""
    process = subprocess.run(  # noqa: S603 - no shell
        [sys.executable, "-m", "beir_eval", *arguments],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env=os.environ | {"COLUMNS": str(_WIDTH), "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
    )
    return process.returncode, process.stdout


def _commit(environment: Mapping[str, str]) -> str:
    """Return the commit that the event is about, as it says; "" if it does not say it."""
    path = environment.get("GITHUB_EVENT_PATH")
    if not path or not Path(path).is_file():
        return ""
    try:
        event = json.loads(Path(path).read_bytes())
        commit = event["pull_request"]["head"]["sha"] if "pull_request" in event else event["after"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return commit if isinstance(commit, str) and re.fullmatch(r"[0-9a-f]{40,64}", commit) else ""


def _comment(title: str, outcome: str, printed: str, commit: str) -> str:
    """Return the Markdown of the comment, which is the summary of the step too."""
    text = printed.strip("\n")
    if len(text) > _LONGEST_TEXT:
        text = text[:_LONGEST_TEXT].rpartition("\n")[0] + "\n... cut here: the log has all of it"
    # A fence ends with a line of at least as many backticks, so it is longer than any in the text.
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    of_commit = f" Commit {commit[:12]}." if commit else ""
    return (
        f"<!-- beir-eval: {title} -->\n### {title}: {outcome}\n\n{_MEANING[outcome]}{of_commit}\n\n"
        f"{fence}text\n{text}\n{fence}\n"
    )


def _append(path: str | None, text: str) -> None:
    """Append a text to a file that GitHub reads after the step."""
    if path:
        with Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(text)


if __name__ == "__main__":
    sys.exit(main())
