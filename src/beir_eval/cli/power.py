"""The command ``beir-eval power``: what a set of judged queries can show, before any run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from beir_eval.cli.console import print_document, print_errors
from beir_eval.cli.input_files import opened_inputs
from beir_eval.cli.option_sets import SPLIT, takes_options
from beir_eval.cli.options import check_outputs, measure_option, read_judgements
from beir_eval.cli.outputs import OutputFormats

#: What ``-o`` writes.
OUTPUTS = OutputFormats(json="all numbers")


@takes_options
def power(
    qrels: Annotated[
        Path, typer.Argument(help="Judgements: a file, a data-set folder, or - for standard input.")
    ],
    measure: Annotated[
        list[str] | None,
        measure_option(
            "A measure; repeat it for more.  [default: nDCG@10, MAP@100, Recall@100, MRR@10, "
            "Precision@10]"
        ),
    ] = None,
    output: Annotated[list[str] | None, OUTPUTS.option()] = None,
    sd: Annotated[
        float | None,
        typer.Option(
            help="The standard deviation over queries of the differences that you expect; by "
            "default those of similar, usual and very different real systems.",
        ),
    ] = None,
    split: Annotated[str | None, typer.Option(help=SPLIT, metavar="NAME")] = None,
) -> None:
    """Show which differences a set of judged queries can detect, before any run exists."""
    with print_errors(), opened_inputs([qrels]) as [qrels_file]:
        from beir_eval.comparison.experiments import experiment_power  # noqa: PLC0415

        outputs = OUTPUTS.files(output)
        check_outputs([qrels_file], outputs)
        result = experiment_power(read_judgements(qrels_file, split), measure or None, sd=sd)
        outputs.write({"json": result.model_dump_json})
        print_document(result.document())
