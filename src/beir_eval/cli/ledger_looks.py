"""Looks in a ledger, which ``ledger add`` and ``haystack`` record: settings, creation, output."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rich.text import Text

from beir_eval.cli.console import VERDICT_COLOURS, console, print_warnings
from beir_eval.cli.option_sets import option
from beir_eval.errors import InputError, first_few, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from beir_eval.comparison.ledger import Ledger, Look
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure

#: The value of ``--looks`` for no planned number.
OPEN_ENDED = "open"


def looks_option() -> Any:
    """Return the field of a set that is the option ``--looks``."""
    return option(
        "The planned number of looks of a new ledger, or open for no planned number."
        "  [default: 50]",
        metavar="N",
    )


def number_of_looks(text: str) -> int | None:
    """Return the value of ``--looks``: a number, or None for "open"."""
    if text == OPEN_ENDED:
        return None
    try:
        return int(text)
    except ValueError as error:
        msg = f"--looks must be a whole number above 0 or {OPEN_ENDED}, not {shown(text)}"
        raise InputError(msg) from error


def open_or_create(
    path: Path,
    baseline: EvaluationResult | None,
    measure: str | None,
    stated: Mapping[str, Any],
    remedy: str,
) -> Ledger:
    """Return the ledger, created if its file does not exist.

    Args:
        path: the file.
        baseline: the result of the baseline; None: that of an existing ledger.
        measure: the measure; None: that of an existing ledger.
        stated: the settings on the command line, by their names in Python.
        remedy: what creates a ledger, for the message.

    Raises:
        InputError: there is no such ledger, and baseline or measure are not stated.
        SettingError, ResultError: what is stated is not what an existing ledger has.
    """
    from beir_eval.comparison.ledger import Ledger  # noqa: PLC0415

    if path.exists():
        existing = Ledger.open(path)
        settings = {**asdict(existing.settings), **stated}
        return Ledger(path, baseline or existing.baseline, measure or existing.measure, **settings)
    if baseline is None or measure is None:
        msg = f"{path}: there is no such ledger; {remedy}"
        raise InputError(msg)
    return Ledger(path, baseline, measure, **stated)


@dataclass(frozen=True)
class PipelineLooks:
    """The looks of ``beir-eval haystack`` in a ledger: a look for each pipeline but the baseline.

    Attributes:
        path: the file of the ledger.
        stated: the settings on the command line, by their names in Python.
        names: the names of the pipelines.
        measure: the measure of the ledger.
        baseline: the name of its baseline.
        existing: the ledger, if its file exists.
    """

    path: Path
    stated: Mapping[str, Any]
    names: Sequence[str]
    measure: str
    baseline: str
    existing: Ledger | None

    @classmethod
    def from_options(
        cls,
        path: Path,
        stated: Mapping[str, Any],
        names: Sequence[str],
        compared: Sequence[Measure],
        baseline: str | None,
    ) -> Self:
        """Return the looks that options ask for; the file is read, and not written.

        Args:
            path: the file of the ledger.
            stated: the settings on the command line, by their names in Python.
            names: the names of the pipelines.
            compared: the measures on which pipelines are compared.
            baseline: the value of ``--baseline``.

        Raises:
            InputError: the ledger has another baseline; or there is no such ledger, and no baseline
                for it, or not one measure.
            SettingError: a setting has no such value, or is not what the ledger has.
        """
        from beir_eval.comparison.ledger import LedgerSettings  # noqa: PLC0415

        if path.exists():
            existing = open_or_create(path, None, None, stated, "")
            of_ledger = existing.baseline.name
            if baseline not in {None, of_ledger}:
                msg = (
                    f"{path}: the baseline of the ledger is {shown(of_ledger)}, not "
                    f"{shown(baseline)}; leave out --baseline, or begin another ledger"
                )
                raise InputError(msg)
            return cls(path, stated, names, existing.measure, of_ledger, existing)
        if len(names) == 1:
            msg = (
                f"{path}: there is no such ledger; the baseline and another pipeline create it, or "
                "beir-eval ledger add with --baseline and a result of -o r.json"
            )
            raise InputError(msg)
        if len(compared) > 1:
            msg = (
                f"{path}: a new ledger has one measure, not {first_few(map(str, compared))}; name "
                "one with --measure, or create the ledger with beir-eval ledger add"
            )
            raise InputError(msg)
        LedgerSettings(**stated)
        return cls(path, stated, names, str(compared[0]), baseline or names[0], None)

    def check(self, judged: EvaluationResult) -> None:
        """Raise what ``record`` would raise for results like this one, whatever their scores."""
        if self.existing is not None:
            self.existing.check(judged, [name for name in self.names if name != self.baseline])

    def record(self, results: Mapping[str, Sequence[EvaluationResult]]) -> tuple[str, list[Look]]:
        """Record the results of all pipelines but the baseline, {name: its only result}.

        Returns:
            What the looks are about, and the looks.
        """
        baseline = results[self.baseline][0] if self.baseline in results else None
        ledger = open_or_create(self.path, baseline, self.measure, self.stated, "")
        looks = [
            ledger.record(result) for name, [result] in results.items() if name != self.baseline
        ]
        return f"Looks in {self.path}: {ledger.heading}", looks


def print_looks(heading: str, looks: Sequence[Look]) -> None:
    """Print a line for each look, after its warnings.

    Args:
        heading: what the looks are about; "" for no such line.
        looks: the looks.
    """
    if heading:
        console.print(Text(f"\n{heading}", style="bold"))
    for look in looks:
        print_warnings(look.warnings)
        style = f"bold {VERDICT_COLOURS[look.verdict]}"
        console.print(Text(f"{look.step}: {look}", style=style))
