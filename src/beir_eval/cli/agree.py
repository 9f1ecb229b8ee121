"""The command ``beir-eval agree``: how similarly two runs rank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from beir_eval.adapters.readers import read_run
from beir_eval.cli.console import (
    check_targets,
    console,
    naming_options,
    new_table,
    print_errors,
    print_warnings,
)
from beir_eval.cli.options import RUN_FORMAT, choice, system_names
from beir_eval.cli.results_output import write_csv
from beir_eval.cli.standard_input import opened_inputs
from beir_eval.core.ranking import TIES_WITHOUT_GRADES, EvaluationSettings
from beir_eval.display.tables import score_text

if TYPE_CHECKING:
    from beir_eval.comparison.agreement import Agreement

CHOICES = EvaluationSettings.CHOICES
#: The measures that the command prints, in this order, with an explanation of their scales.
_SCALES = {
    "kendall_distance": "0 the same order, 1 reversed",
    "spearman": "1 the same order, -1 reversed",
    "rbo": "1 the same, 0 nothing shared; extrapolated",
    "rbo_lowest": "if nothing further down is shared",
    "rbo_residual": "what the rest could add to that",
    "overlap": "share of documents in both",
}


def agree(  # noqa: PLR0913, PLR0917 - one parameter per option
    first: Annotated[Path, typer.Argument(help="A run file, or - for standard input.")],
    second: Annotated[Path, typer.Argument(help="Another run file over the same queries.")],
    k: Annotated[int, typer.Option("-k", help="How many documents of each ranking.")] = 10,
    p: Annotated[float, typer.Option("-p", help="RBO's persistence.")] = 0.9,
    order: Annotated[str, choice("--order", CHOICES["order"], "What ranks.")] = "score",
    ties: Annotated[
        str, choice("--ties", TIES_WITHOUT_GRADES, "The order of equal scores.")
    ] = "trec_eval",
    duplicates: Annotated[
        str, choice("--duplicates", CHOICES["duplicates"][:2], "Documents listed twice.")
    ] = "error",
    per_query: Annotated[
        Path | None, typer.Option(help="Write every query's values to this CSV file.")
    ] = None,
    run_format: Annotated[str | None, RUN_FORMAT] = None,
) -> None:
    """Show how alike two runs rank: Kendall's distance, Spearman's rho, RBO, overlap."""
    from beir_eval.comparison import agreement  # noqa: PLC0415

    with print_errors(), opened_inputs([first, second]) as files:
        check_targets(files, [per_query])
        names = system_names(files)
        with naming_options(format="--format"):
            runs = [read_run(path, format=run_format) for path in files]
        result = agreement.agree(
            *runs,
            k=k,
            p=p,
            order=order,
            ties=ties,
            duplicates=duplicates,
            names=(names[0], names[1]),
        )
        if per_query is not None:
            _write_per_query(per_query, result)
        _print_agreement(result)


def _print_agreement(result: Agreement) -> None:
    """Print the warnings, the means and the number of queries behind each."""
    print_warnings(result.warnings())
    table = new_table()
    table.add_column(f"top {result.k}", no_wrap=True)
    table.add_column("mean", justify="right")
    table.add_column("queries", justify="right")
    table.add_column("scale")
    for name, scale in _SCALES.items():
        table.add_row(name, score_text(result.mean[name]), str(result.num_defined[name]), scale)
    console.print(Text(f"{result.first} and {result.second}"))
    console.print(table)


def _write_per_query(path: Path, result: Agreement) -> None:
    """Write a CSV file: query_id and one column per measure; undefined values are empty."""
    rows = zip(result.query_ids, *result.per_query.values(), strict=True)
    write_csv(path, ["query_id", *result.per_query], rows)
