"""The command ``beir-eval choose``: the best of several runs, and whether it is better."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from beir_eval.cli.console import (
    check_targets,
    print_document,
    print_errors,
    show_in_messages,
)
from beir_eval.cli.input_files import opened_inputs
from beir_eval.cli.option_sets import takes_options
from beir_eval.cli.options import RunReading, read_judgements, read_runs, run_files
from beir_eval.cli.outputs import OutputFormats
from beir_eval.errors import InputError, about_system
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning
from beir_eval.fusion import fusion_grid
from beir_eval.measures import parse, with_rel

if TYPE_CHECKING:
    from beir_eval.core.run import Run
    from beir_eval.evaluation.result import EvaluationResult

#: What ``-o`` writes.
OUTPUTS = OutputFormats(md="what is printed", json="all numbers")


@takes_options
def choose(  # noqa: PLR0913 - one parameter per option
    qrels: Annotated[Path, typer.Argument(help="Judgements: a file or a data-set folder.")],
    runs: Annotated[
        list[Path], typer.Argument(help="The candidates and the baseline: run files or a folder.")
    ],
    measure: Annotated[
        str, typer.Option("-m", "--measure", help="The measure that chooses.", metavar="NAME")
    ] = "nDCG@10",
    output: Annotated[list[str] | None, OUTPUTS.option()] = None,
    *,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            help="The system to beat; repeat it for several, of which each must be beaten. With "
            "--fuse by default both runs.",
            metavar="NAME",
        ),
    ] = None,
    dev: Annotated[
        Path | None,
        typer.Option(
            help="Judgements of other queries: choose on these, and compare on QRELS.",
            metavar="FILE",
        ),
    ] = None,
    dev_runs: Annotated[
        Path | None,
        typer.Option(
            help="The folder of the runs for --dev, with the same names.  [default: RUNS]",
            metavar="FOLDER",
        ),
    ] = None,
    fuse: Annotated[
        bool, typer.Option("--fuse", help="The candidates are 27 fusions of two runs.")
    ] = False,
) -> None:
    """Choose the best of RUNS, and test whether it is better than a baseline."""
    further = [path for path in (dev, dev_runs) if path is not None]
    with print_errors(), opened_inputs([qrels, *runs, *further]) as [qrels_file, *inputs]:
        from beir_eval.benchmark.choose import choose as choose_among  # noqa: PLC0415

        outputs = OUTPUTS.files(output)
        files = run_files(inputs[: len(runs)])
        check_targets([qrels_file, *files], [*outputs])
        rankings = read_runs(files, RunReading())
        show_in_messages("(rel=2)", f"(-m '{with_rel([parse(measure)], 2)[0]}')")
        others = rankings
        if dev_runs is not None:
            if dev is None:
                raise InputError("--dev-runs are the runs for --dev, which is missing")
            of_dev = read_runs(run_files([dev_runs]), RunReading())
            others = {name: of_dev[name] for name in rankings if name in of_dev}
        baselines = baseline or (list(rankings) if fuse else [])
        if not baselines:
            raise InputError("state the system to beat: --baseline NAME")
        chosen = choose_among(
            _results(qrels_file, rankings, measure, fuse=fuse),
            baselines,
            measure,
            dev=None if dev is None else _results(dev, others, measure, fuse=fuse),
        )
        outputs.write({"md": chosen.to_markdown, "json": chosen.model_dump_json})
        print_document(replace(chosen.document(), heading=""))


def _results(
    qrels: Path, runs: dict[str, Run], measure: str, *, fuse: bool
) -> dict[str, EvaluationResult]:
    """Return the results of the runs, and with ``fuse`` of their fusions."""
    evaluator = Evaluator(read_judgements(qrels, None), [parse(measure)])
    results = {}
    for name, run in (fusion_grid(runs) | runs if fuse else runs).items():
        with about_system(name):
            results[name] = evaluate_without_warning(evaluator, run, name)
    return results
