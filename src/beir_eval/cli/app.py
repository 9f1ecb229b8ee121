"""The command line: ``beir-eval evaluate``, ``measures``, ``demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.text import Text

from beir_eval._version import __version__
from beir_eval.adapters.readers import read_qrels, read_run
from beir_eval.adapters.writers import write_qrels, write_run
from beir_eval.cli.bench import bench, list_datasets
from beir_eval.cli.compare import compare
from beir_eval.cli.console import (
    check_targets,
    clear_errors,
    console,
    measures_table,
    print_agreement,
    print_notes,
    print_scores,
    write_agreement,
    write_json,
    write_per_query,
)
from beir_eval.cli.haystack import haystack, print_demo_pipelines
from beir_eval.cli.options import (
    HTML,
    check_report,
    choice,
    evaluate_files,
    kept_for,
    system_names,
    texts_of,
    write_html,
)
from beir_eval.comparison import agreement
from beir_eval.core.ranking import DUPLICATES, ORDERS, TIES
from beir_eval.core.whole_order import PLAIN_TIES
from beir_eval.datasets import demo as data
from beir_eval.errors import MissingExtraError, check_choice
from beir_eval.evaluation.evaluator import MISSING, NO_RELEVANT, Evaluator
from beir_eval.measures import (
    DEFAULT_MEASURES,
    JUDGED_ONLY,
    TOOLS,
    Definition,
    definition_of,
    parse_all,
)

app = typer.Typer(
    help="Evaluate retrieval: the BEIR measures, exact, and honest about what was counted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

DEMO_MEASURES = ("nDCG@10", "MAP@100", "Recall@10", "R_cap@10", "Precision@10", "MRR@10")


@app.callback(invoke_without_command=True)
def _top(
    *, version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False
) -> None:
    if version:
        console.print(f"beir-eval {__version__}", highlight=False)
        raise typer.Exit


@app.command(short_help="Evaluate runs and print the means.")
def evaluate(  # noqa: PLR0913, PLR0917 - one option a policy
    qrels: Annotated[
        Path, typer.Argument(help="Judgements: a TREC or BEIR file, or a BEIR data-set folder.")
    ],
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Run files (TREC, JSON, Parquet, …); a system's name is its file's stem."
        ),
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measure",
            help="A measure, for example nDCG@10; repeat it for more.  [default: nDCG, MAP, "
            "Recall, R_cap, Precision and MRR at 1, 3, 5, 10, 100 and 1000]",
        ),
    ] = None,
    per_query: Annotated[
        Path | None, typer.Option(help="Write every query's scores to this CSV file.")
    ] = None,
    json: Annotated[
        Path | None, typer.Option(help="Write all results, a JSON list, to this file.")
    ] = None,
    html: Annotated[Path | None, HTML] = None,
    order: Annotated[str, choice("--order", ORDERS, "What ranks.")] = "score",
    ties: Annotated[str, choice("--ties", TIES, "The order of equal scores.")] = "trec_eval",
    missing: Annotated[
        str, choice("--missing", MISSING, "Judged queries that the run lacks.")
    ] = "zero",
    no_relevant: Annotated[
        str, choice("--no-relevant", NO_RELEVANT, "Queries with nothing relevant.")
    ] = "zero",
    duplicates: Annotated[
        str, choice("--duplicates", DUPLICATES, "Documents that stand twice.")
    ] = "error",
    *,
    judged_only: Annotated[
        bool, typer.Option("--judged-only", help="Drop unjudged documents before measuring.")
    ] = False,
    drop_identical_ids: Annotated[
        bool,
        typer.Option("--drop-identical-ids", help="Drop documents that have their query's id."),
    ] = False,
    split: Annotated[
        str | None, typer.Option(help="The split of a data-set folder; test by default.")
    ] = None,
    names: Annotated[
        str | None, typer.Option(help=f"Print measures as named by {', '.join(TOOLS)}.")
    ] = None,
) -> None:
    """Evaluate RUNS on QRELS and print the means, one system a row."""
    with clear_errors():
        if names is not None:
            check_choice("--names", names, TOOLS)
        check_targets([qrels, *runs], [per_query, json, html])
        check_report(html)
        measures = parse_all(measure) if measure else DEFAULT_MEASURES
        if judged_only:
            measures = tuple(one(judged_only=True) for one in measures)
        evaluator = Evaluator(
            read_qrels(qrels, split=split),
            measures,
            order=order,
            ties=ties,
            missing=missing,
            no_relevant=no_relevant,
            duplicates=duplicates,
            drop_identical_ids=drop_identical_ids,
            **kept_for(html),
        )
        results = evaluate_files(evaluator, runs)
        print_scores(results, names)
        print_notes(results)
        if per_query is not None:
            write_per_query(per_query, results)
        if json is not None:
            write_json(json, results)
        if html is not None:
            write_html(html, results, **texts_of(qrels, split))


@app.command(short_help="List the measures, or show one.")
def measures(
    name: Annotated[
        str | None, typer.Argument(help="Show this one: definition and source.")
    ] = None,
) -> None:
    """List the measures, or show one with its formula, source and an example."""
    with clear_errors():
        if name is None:
            console.print(measures_table())
            console.print("Parameters go in brackets, the cutoff behind @: Precision(rel=2)@5")
            return
        found = definition_of(name)
        console.print(f"[bold]{escape(found.name)}[/bold]  ({_parameters_of(found)})")
        console.print(found.documentation, markup=False)


@app.command(short_help="Write a run in another format.")
def convert(
    source: Annotated[Path, typer.Argument(help="The file to read; its content tells its format.")],
    target: Annotated[
        Path, typer.Argument(help="The file to write: .trec, .json, .parquet, also .gz or .zst.")
    ],
    *,
    qrels: Annotated[
        bool, typer.Option("--qrels", help="The file holds judgements, not a run.")
    ] = False,
    read_as: Annotated[
        str | None, typer.Option("--from", help="The format of SOURCE, if it is to be stated.")
    ] = None,
    write_as: Annotated[
        str | None, typer.Option("--to", help="The format of TARGET, if its name does not say.")
    ] = None,
) -> None:
    """Write a run (or judgements) in another format; no number changes."""
    with clear_errors():
        if qrels:
            judged = read_qrels(source, format=read_as)
            write_qrels(judged, target, format=write_as)
            console.print(
                Text(f"{target}: {len(judged.doc_ids)} judgements of {len(judged)} queries")
            )
        else:
            run = read_run(source, format=read_as)
            write_run(run, target, format=write_as)
            console.print(Text(f"{target}: {len(read_run(target))} queries"))


@app.command(short_help="Show how alike two runs rank.")
def agree(  # noqa: PLR0913, PLR0917 - one option a setting
    first: Annotated[Path, typer.Argument(help="A run file.")],
    second: Annotated[Path, typer.Argument(help="Another run file over the same queries.")],
    k: Annotated[int, typer.Option("-k", help="How many documents of each ranking.")] = 10,
    p: Annotated[float, typer.Option("-p", help="RBO's persistence.")] = 0.9,
    order: Annotated[str, choice("--order", ORDERS, "What ranks.")] = "score",
    ties: Annotated[str, choice("--ties", PLAIN_TIES, "The order of equal scores.")] = "trec_eval",
    duplicates: Annotated[
        str, choice("--duplicates", DUPLICATES[:2], "Documents that stand twice.")
    ] = "error",
    per_query: Annotated[
        Path | None, typer.Option(help="Write every query's values to this CSV file.")
    ] = None,
) -> None:
    """Show how alike two runs rank: Kendall's distance, Spearman's rho, RBO, overlap."""
    with clear_errors():
        check_targets([first, second], [per_query])
        names = system_names([first, second])
        result = agreement.agree(
            read_run(first),
            read_run(second),
            k=k,
            p=p,
            order=order,
            ties=ties,
            duplicates=duplicates,
            names=(names[0], names[1]),
        )
        print_agreement(result)
        if per_query is not None:
            write_agreement(per_query, result)


@app.command(short_help="Evaluate the bundled runs and write a report.")
def demo(
    html: Annotated[
        Path, typer.Option(help="The report to write; one that is there is replaced.")
    ] = Path("beir-eval-demo.html"),
) -> None:
    """Evaluate two bundled runs and two Haystack pipelines, and write a report on the runs."""
    with clear_errors():
        evaluator = Evaluator(read_qrels(data.FOLDER), DEMO_MEASURES)
        results = evaluate_files(evaluator, data.RUNS)
        queries = len(evaluator.qrels)
        console.print(
            f"Two BM25 settings over the bundled data set ({queries} queries about the solar "
            "system):"
        )
        print_scores(results, None)
        print_notes(results)
        print_demo_pipelines(DEMO_MEASURES)
        _write_demo_report(html, evaluator)


def _write_demo_report(html: Path, evaluator: Evaluator) -> None:
    """Compare the bundled runs and write the report; only a hint where an extra is missing."""
    try:
        check_report(html)
    except MissingExtraError as error:
        console.print(Text(f"\nThe report: not written. {error}"))
        return
    from beir_eval.comparison.compare import compare_runs  # noqa: PLC0415

    runs = dict(zip(system_names(data.RUNS), map(read_run, data.RUNS), strict=True))
    found = compare_runs(
        evaluator.qrels, runs, DEMO_MEASURES, baseline=next(reversed(runs)), **kept_for(html)
    )
    write_html(html, found, **texts_of(data.FOLDER))
    console.print(
        Text(f"\nThe report on the two BM25 runs, to look at in a browser: {html.resolve()}")
    )


def _parameters_of(definition: Definition) -> str:
    cutoff = {"none": "no cutoff", "optional": "cutoff optional"}
    named = ", ".join([*definition.defaults, JUDGED_ONLY])
    return f"parameters: {named}; {cutoff[definition.cutoff]}"


app.command(short_help="Evaluate many runs on many data sets.")(bench)
app.command(short_help="Compare systems: is one better?")(compare)
app.command("datasets", short_help="List BEIR's data sets, or show one.")(list_datasets)
app.command(short_help="Evaluate a Haystack pipeline.")(haystack)
#: What most people come for stands first.
_ORDER = (evaluate, compare, bench, haystack, agree, measures, list_datasets, convert, demo)
app.registered_commands.sort(key=lambda command: _ORDER.index(command.callback))
