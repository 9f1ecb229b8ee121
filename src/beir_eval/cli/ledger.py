"""The commands ``beir-eval ledger add`` and ``show``: the looks at one test set during training."""

from __future__ import annotations

import json as json_module
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beir_eval.cli.console import (
    check_targets,
    naming_options,
    print_document,
    print_errors,
    print_warnings,
)
from beir_eval.cli.ledger_looks import LOOKS, number_of_looks, open_or_create, print_looks
from beir_eval.cli.options import choice
from beir_eval.cli.results_output import write_texts
from beir_eval.cli.saved_results import saved_results
from beir_eval.errors import InputError

if TYPE_CHECKING:
    from beir_eval.comparison.ledger import Ledger
    from beir_eval.evaluation.result import EvaluationResult

_LEDGER = typer.Argument(help="The file of the ledger, JSON lines.")


def add(  # noqa: PLR0913, PLR0917 - one parameter per option
    ledger: Annotated[Path, _LEDGER],
    results: Annotated[
        list[Path],
        typer.Argument(help="The checkpoints: files of evaluate --json, in the order of training."),
    ],
    baseline: Annotated[
        Path | None,
        typer.Option(
            help="The file of evaluate --json with the result that checkpoints are compared with. "
            "It and --measure create the ledger."
        ),
    ] = None,
    measure: Annotated[
        str | None, typer.Option("-m", "--measure", help="The measure of a new ledger.")
    ] = None,
    looks: Annotated[str | None, LOOKS] = None,
    reserve: Annotated[
        float | None,
        typer.Option(
            help="The share of alpha that a new ledger keeps for looks after the planned ones."
            "  [default: 0]"
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(help="The smallest difference that matters in a new ledger.  [default: 0.01]"),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(help="The level of all looks of a new ledger together.  [default: 0.05]"),
    ] = None,
    alternative: Annotated[
        str | None,
        choice(
            "--alternative",
            ("two-sided", "greater"),
            "What a new ledger can decide: greater decides only better, and sooner.",
        ),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(help="The number of sign vectors of a new ledger.  [default: 100000]"),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="The seed of the sign vectors of a new ledger.  [default: 0]"),
    ] = None,
    step: Annotated[
        str | None,
        typer.Option(help="The name of the checkpoint, if it is one; by default that of its run."),
    ] = None,
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
        settings = {
            "reserve": reserve,
            "margin": margin,
            "alpha": alpha,
            "alternative": alternative,
            "draws": draws,
            "rng": seed,
        }
        stated: dict[str, Any] = {
            name: value for name, value in settings.items() if value is not None
        }
        if looks is not None:
            stated["looks"] = number_of_looks(looks)
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


def show(
    ledger: Annotated[Path, _LEDGER],
    json: Annotated[Path | None, typer.Option(help="Write the settings and all looks.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the looks and the notes as Markdown.")
    ] = None,
) -> None:
    """Print all looks of a ledger with their verdicts, and what these cover."""
    with print_errors():
        from beir_eval.comparison.ledger import Ledger  # noqa: PLC0415

        check_targets([ledger], [json, markdown])
        opened = Ledger.open(ledger)
        write_texts({json: lambda: _json_text(opened), markdown: opened.to_markdown})
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
    return json_module.dumps(content, ensure_ascii=False)
