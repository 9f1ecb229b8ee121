"""Looks in a ledger: the commands ``beir-eval ledger add`` and ``show``, and those of ``haystack``.

A look is one at the test set during training. Settings, creation and output are the same for all.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from rich.text import Text

from beir_eval.cli.console import (
    VERDICT_COLOURS,
    console,
    naming_options,
    print_document,
    print_errors,
    print_warnings,
)
from beir_eval.cli.input_files import saved_results
from beir_eval.cli.option_sets import COMMON, option, takes_options
from beir_eval.cli.options import check_outputs, measure_option
from beir_eval.cli.outputs import OutputFormats
from beir_eval.errors import InputError, first_few, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
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


#: What ``-o`` of ``show`` writes.
OUTPUTS = OutputFormats(json="the settings and all looks", md="the looks and the notes")
_LEDGER = typer.Argument(help="The file of the ledger, JSON lines.")


@dataclass(frozen=True, kw_only=True)
class _LedgerOptions:
    """The settings of a new ledger, keywords of ``Ledger``; None: not stated."""

    SECTION: ClassVar[str] = "Settings of a new ledger"

    looks: str | None = looks_option()
    reserve: float | None = option(
        "The share of alpha that is kept for looks after the planned ones.  [default: 0]"
    )
    margin: float | None = option("The smallest difference that matters.  [default: 0.01]")
    alpha: float | None = option("The level of all looks together.  [default: 0.05]")
    alternative: str | None = option(
        "What can be decided: greater decides only better, and sooner.",
        choices=("two-sided", "greater"),
    )
    draws: int | None = option("The number of sign vectors.  [default: 100000]")
    rng: int | None = option("The seed of the sign vectors.  [default: 0]", "--seed")


@takes_options
def add(  # noqa: PLR0913 - one parameter per option
    ledger: Annotated[Path, _LEDGER],
    results: Annotated[
        list[Path],
        typer.Argument(
            help="The checkpoints: files of evaluate -o r.json, in the order of training."
        ),
    ],
    baseline: Annotated[
        Path | None,
        typer.Option(
            help="The file of evaluate -o r.json with the result that checkpoints are compared "
            "with. It and --measure create the ledger.",
            metavar="FILE",
            rich_help_panel=COMMON,
        ),
    ] = None,
    measure: Annotated[str | None, measure_option("The measure of a new ledger.")] = None,
    step: Annotated[
        str | None,
        typer.Option(
            help="The name of the checkpoint, if it is one; by default that of its run.",
            metavar="NAME",
            rich_help_panel=COMMON,
        ),
    ] = None,
    *,
    of_ledger: _LedgerOptions,
) -> None:
    """Record checkpoints in a ledger, and print the verdict of each look.

    The ledger is created at the first use, with --baseline and --measure. Later, these and the
    other settings may be left out; if they are stated, they must agree with the ledger. A
    checkpoint that is recorded already is printed again and not counted again. The verdicts hold
    only if training does not react to them.
    """
    with (
        print_errors(),
        naming_options(
            looks="--looks", reserve="--reserve", alternative="--alternative", draws="--draws"
        ),
    ):
        stated: dict[str, Any] = {
            name: value for name, value in asdict(of_ledger).items() if value is not None
        }
        if "looks" in stated:
            stated["looks"] = number_of_looks(stated["looks"])
        checkpoints = saved_results(results)
        if step is not None and len(checkpoints) > 1:
            msg = f"--step names one checkpoint, not {len(checkpoints)}; leave it out"
            raise InputError(msg)
        opened = open_or_create(
            ledger,
            _baseline_of(baseline),
            measure,
            stated,
            "--baseline RESULT and --measure NAME create it",
        )
        if not opened.looks:  # those of the baseline: each look prints its own
            print_warnings(opened.warnings())
        for checkpoint in checkpoints:
            print_looks("", [opened.record(checkpoint, step)])


@takes_options
def show(
    ledger: Annotated[Path, _LEDGER],
    output: Annotated[list[str] | None, OUTPUTS.option()] = None,
) -> None:
    """Print all looks of a ledger with their verdicts, and what these cover."""
    with print_errors():
        from beir_eval.comparison.ledger import Ledger  # noqa: PLC0415

        outputs = OUTPUTS.files(output)
        check_outputs([ledger], outputs)
        opened = Ledger.open(ledger)
        outputs.write({"json": lambda: _json_text(opened), "md": opened.to_markdown})
        print_document(opened.document())


def _baseline_of(path: Path | None) -> EvaluationResult | None:
    """Return the only result in the file of the baseline; None: no such option."""
    if path is None:
        return None
    results = saved_results([path])
    if len(results) != 1:
        msg = f"--baseline {path}: one result was expected, but the file has {len(results)}"
        raise InputError(msg)
    return results[0]


def _json_text(ledger: Ledger) -> str:
    """Return the settings and the looks as JSON; an infinite t is null."""
    looks = [
        {
            **look.model_dump(exclude={"spent", "scores_sha256"}),
            "t": look.t if math.isfinite(look.t) else None,
            "critical_t": look.critical_t,
        }
        for look in ledger.looks
    ]
    content = {
        "measure": ledger.measure,
        "baseline": ledger.baseline.name,
        "settings": asdict(ledger.settings),
        "looks": looks,
        "warnings": ledger.warnings(),
    }
    return json.dumps(content, ensure_ascii=False)
