"""The commands ``beir-eval ledger add`` and ``show``: the looks at one test set during training."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from beir_eval.cli.console import (
    naming_options,
    print_document,
    print_errors,
    print_warnings,
)
from beir_eval.cli.ledger_looks import looks_option, number_of_looks, open_or_create, print_looks
from beir_eval.cli.option_sets import COMMON, option, takes_options
from beir_eval.cli.options import check_outputs, measure_option
from beir_eval.cli.outputs import OutputFormats
from beir_eval.cli.saved_results import saved_results
from beir_eval.errors import InputError

if TYPE_CHECKING:
    from beir_eval.comparison.ledger import Ledger
    from beir_eval.evaluation.result import EvaluationResult

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
