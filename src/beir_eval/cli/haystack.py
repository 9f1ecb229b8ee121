"""The command ``beir-eval haystack``: evaluate and compare serialised pipelines on a data set.

Haystack is imported when the command runs, so that the other commands start without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from beir_eval.cli.comparison_options import (
    ALLOW_MISSING,
    ALLOW_UNEQUAL_DEPTH,
    ALPHA,
    BASELINE,
    CLUSTERS,
    CORRECTION,
    DETAIL,
    DETERMINISTIC,
    FLOOR,
    FLOOR_INTERVAL,
    GATE,
    INTERVAL,
    JUNIT,
    MARGIN,
    NON_INFERIOR,
    SEED,
    TEST,
    Gate,
    check_options,
    exit_code,
)
from beir_eval.cli.console import (
    check_targets,
    console,
    naming_options,
    print_as_typed,
    print_errors,
    print_table,
    print_warnings,
    show_in_messages,
)
from beir_eval.cli.ledger_looks import LOOKS, PipelineLooks, number_of_looks, print_looks
from beir_eval.cli.options import (
    CHECK_SAVED,
    DRAWS,
    FRESH_OPTION,
    HTML,
    LATEX,
    PER_QUERY,
    REL,
    check_report,
    report_settings,
    write_html,
)
from beir_eval.cli.pipelines import (
    check_arguments,
    evaluate_pipelines,
    index_stores,
    judged_result,
    load_retrievers,
    noting_warnings,
    pipeline_names,
    runs_of_pipelines,
    values_of_pipelines,
)
from beir_eval.cli.results_output import (
    print_notes,
    print_scores,
    sibling,
    write_results,
    write_texts,
)
from beir_eval.cli.sampling_options import cluster_labels
from beir_eval.cli.stages import print_stages, stages_file
from beir_eval.comparison.records import (
    PERMUTATION_CORRECTIONS,
    TESTS_OVER_REPEATS,
    ComparisonSettings,
)
from beir_eval.errors import check_choice, check_count
from beir_eval.evaluation.coverage import labelled_warnings
from beir_eval.evaluation.inputs import drops_identical_ids
from beir_eval.evaluation.tables import repeats_table, to_markdown, usual_measures
from beir_eval.integrations.retrieval.documents import AUTO
from beir_eval.integrations.retrieval.retrieve_all import DEFAULT_CHECKED
from beir_eval.measures import DEFAULT_MEASURES, parse_all, with_rel
from beir_eval.measures.names import names_as_typed
from beir_eval.significance import PAIRED_TESTS
from beir_eval.significance.repeats import FEWEST_REPEATS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.cli.pipelines import EvaluatedPipelines, PipelineRuns
    from beir_eval.comparison.records import GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.stages import StagedResult
    from beir_eval.core.qrels import Qrels
    from beir_eval.datasets.dataset import Dataset
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.integrations.haystack.retriever import PipelineRetriever
    from beir_eval.integrations.retrieval.retrieve_all import Retrieved
    from beir_eval.measures import Measure

#: What is compared unless measures are named, as in ``beir-eval compare``.
_COMPARED = "nDCG@10"
#: The parameters that have an effect only on several pipelines.
_COMPARISON_OPTIONS = (
    "baseline",
    "margin",
    "alpha",
    "test",
    "correction",
    "interval",
    "draws",
    "seed",
    "clusters",
    "deterministic",
    "gate",
    "non_inferior",
    "detail",
)
#: {option: keyword of ``Ledger``} of the options that a comparison and a ledger share.
_LEDGER_SETTINGS = {"margin": "margin", "alpha": "alpha", "draws": "draws", "seed": "rng"}
#: The value of --collapse that counts each chunk.
_NO_COLLAPSE = "none"
_FOR_ONE = "NAME=… is for the pipeline of this name"


def haystack(  # noqa: PLR0913, PLR0917 - one parameter per option
    context: typer.Context,
    pipelines: Annotated[
        list[Path],
        typer.Argument(
            help="Pipelines as YAML, as Haystack's Pipeline.dump writes them; two or more are "
            "compared."
        ),
    ],
    dataset: Annotated[Path, typer.Argument(help="A BEIR data-set folder.")],
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measure",
            help="A measure, for example nDCG@10; repeat it for more. Without it, pipelines are "
            "compared on nDCG@10.",
        ),
    ] = None,
    rel: Annotated[float | None, REL] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            help=f"An input that takes the query, as component.input; {_FOR_ONE}; repeat.",
        ),
    ] = None,
    documents_from: Annotated[
        list[str] | None,
        typer.Option(help=f"The output of the ranking, as component.output; {_FOR_ONE}."),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            help="What identifies a document: id (default), content or meta.<key>; "
            f"{_FOR_ONE}; repeat.",
        ),
    ] = None,
    collapse: Annotated[
        list[str] | None,
        typer.Option(
            help="The field with the document that a chunk is a part of, for example "
            "meta.source_id; by default meta.beir_doc_id, which --index writes; none: each chunk "
            f"counts; {_FOR_ONE}."
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(
            help="The system's name; by default the file's. Repeat it for each of several "
            "pipelines, in their order."
        ),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first queries.")] = None,
    concurrency: Annotated[int, typer.Option(help="How many queries at a time.")] = 1,
    on_error: Annotated[
        str, typer.Option(help="A query that fails: stop, or count it as missing.")
    ] = "stop",
    save_run: Annotated[
        Path | None,
        typer.Option(
            help="Write the run here, and resume from it later; for several runs a folder, with a "
            "file NAME.trec for each pipeline and NAME_1.trec, … for repeats."
        ),
    ] = None,
    check_saved: Annotated[int, CHECK_SAVED] = DEFAULT_CHECKED,
    baseline: Annotated[str | None, BASELINE] = None,
    margin: Annotated[float, MARGIN] = 0.01,
    alpha: Annotated[float, ALPHA] = 0.05,
    test: Annotated[str, TEST] = "sign_flip",
    correction: Annotated[str | None, CORRECTION] = None,
    interval: Annotated[str, INTERVAL] = "test",
    draws: Annotated[int | None, DRAWS] = None,
    seed: Annotated[int, SEED] = 0,
    clusters: Annotated[str | None, CLUSTERS] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            help="Run each pipeline so many times, for pipelines whose rankings vary, such as "
            "those with a language model. Verdicts then hold for other runs of the pipelines too."
        ),
    ] = None,
    deterministic: Annotated[list[str] | None, DETERMINISTIC] = None,
    gate: Annotated[list[str] | None, GATE] = None,
    *,
    fresh: Annotated[bool, FRESH_OPTION] = False,
    non_inferior: Annotated[bool, NON_INFERIOR] = False,
    floor: Annotated[list[str] | None, FLOOR] = None,
    floor_interval: Annotated[bool, FLOOR_INTERVAL] = False,
    allow_missing: Annotated[bool, ALLOW_MISSING] = False,
    allow_unequal_depth: Annotated[bool, ALLOW_UNEQUAL_DEPTH] = False,
    detail: Annotated[bool, DETAIL] = False,
    ledger: Annotated[
        Path | None,
        typer.Option(
            help="Record each pipeline but the baseline as a look in this ledger; the baseline, by "
            "default the first pipeline, creates it."
        ),
    ] = None,
    looks: Annotated[str | None, LOOKS] = None,
    stages: Annotated[
        bool,
        typer.Option(
            "--stages",
            help="Say which component lost the relevant documents, whether each is worth it, and "
            "what it took; with --json also to r.stages.json.",
        ),
    ] = False,
    per_query: Annotated[Path | None, PER_QUERY] = None,
    json: Annotated[
        Path | None,
        typer.Option(
            help="Write the results of all runs, a JSON list, for example to r.json; a comparison "
            "with the gate goes to r.compare.json."
        ),
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            help="Write the comparison, the means on all measures and the notes as Markdown."
        ),
    ] = None,
    latex: Annotated[Path | None, LATEX] = None,
    html: Annotated[Path | None, HTML] = None,
    junit: Annotated[Path | None, JUNIT] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow", help="A module of your own components, for example my.parts.*"),
    ] = None,
    index_corpus: Annotated[
        bool,
        typer.Option("--index", help="Write the corpus to the pipelines' stores first, as text."),
    ] = False,
    index_pipeline: Annotated[
        Path | None,
        typer.Option(
            help="Write the corpus to the pipelines' stores first, through this indexing pipeline: "
            "a YAML file, for example with a splitter or an embedder."
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(help="The split; by default BEIR's for a data set of that name, else test."),
    ] = None,
) -> None:
    """Run PIPELINES for every judged query of DATASET, print the means, and compare them."""
    with print_errors():
        from beir_eval.datasets.dataset import load_dataset  # noqa: PLC0415
        from beir_eval.integrations.haystack.documents import (  # noqa: PLC0415
            INDEX_CALL,
            INDEX_PIPELINE,
        )
        from beir_eval.integrations.retrieval.journal import FRESH  # noqa: PLC0415

        show_in_messages(INDEX_CALL, "--index")
        show_in_messages(INDEX_PIPELINE, "--index-pipeline indexing.yaml")
        show_in_messages(FRESH, "--fresh")
        check_arguments(pipelines, dataset)
        names = pipeline_names(pipelines, name or [])
        as_typed = Gate.from_options(
            gate,
            floor,
            alpha=alpha,
            non_inferior=non_inferior,
            floor_interval=floor_interval,
            allow_missing=allow_missing,
            allow_unequal_depth=allow_unequal_depth,
            junit=junit,
        )
        named = [*(measure or ()), *as_typed.measures, *as_typed.floors]
        print_as_typed(names_as_typed(named, rel), names)
        requested = as_typed.with_rel(rel)
        _check_combination(names, _stated(context), requested, repeats, deterministic or [])
        _check_test_over_repeats(repeats, test, correction)
        check_options(
            {
                "--index writes text and --index-pipeline writes through a pipeline: state one": (
                    index_corpus and index_pipeline is not None
                ),
                "--fresh replaces the answers of --save-run, which is not stated; leave it out": (
                    fresh and save_run is None
                ),
            }
        )
        runs = runs_of_pipelines(names, repeats, deterministic or [], save_run)
        check_targets(
            [*pipelines, dataset, *([] if index_pipeline is None else [index_pipeline])],
            [
                None if runs[0].is_named else save_run,
                *(per_query, json, markdown, latex, html, junit, ledger),
                sibling(json, "compare") if len(names) > 1 else None,
                *(stages_file(json, name, names) for name in names if stages),
            ],
        )
        check_report(html)
        _check_running(concurrency, on_error)
        retriever_settings = {
            name: settings | {"keep_stages": stages}
            for name, settings in _retriever_settings(
                names, inputs, documents_from, field, collapse
            ).items()
        }
        compared = with_rel(parse_all(named or [_COMPARED]), rel)
        looks_of = _looks_of(context, ledger, looks, names, compared)
        measures = [
            *with_rel(parse_all(measure) if measure else DEFAULT_MEASURES, rel),
            *compared,
        ]
        if looks_of is not None:
            measures += parse_all(looks_of.measure)
        task = _Task(
            data=load_dataset(dataset, split),
            limit=limit,
            runs=runs,
            measures=parse_all(measures),
            settings={
                "measures": compared,
                "baseline": _baseline(names, baseline, requested, looks_of),
                "test": test,
                "correction": correction,
                "interval": interval,
                "alpha": alpha,
                "margin": margin,
                "draws": draws,
                "rng": seed,
                "repeats": None if repeats is None else "random",
                "deterministic": deterministic or (),
                "clusters": None if clusters is None else cluster_labels(clusters, dataset),
            },
            gate=requested,
            looks_of=looks_of,
        )
        given: set[str] = set()
        with noting_warnings(given):
            task.check_ahead(stages=stages)
        retrievers = load_retrievers(
            dict(zip(names, pipelines, strict=True)),
            retriever_settings,
            allowed_modules=allow or (),
            concurrency=concurrency,
            check_saved=check_saved,
        )
        if index_corpus or index_pipeline is not None:
            for sentence in index_stores(
                task.data, retrievers, index_pipeline, allowed_modules=allow or ()
            ):
                console.print(Text(sentence))
        for_report = report_settings(html)
        if json is not None or ledger is not None:
            for_report = {"fingerprint": True} | for_report
        evaluated = evaluate_pipelines(
            runs,
            retrievers,
            task.data,
            task.measures,
            given=given,
            stages_of=task.stages_of if stages else None,
            limit=limit,
            on_error=on_error,
            fresh=fresh,
            **{"keep_top": 10, "fingerprint": False} | for_report,
        )
        # A look that is shown must be recorded, so it is recorded first.
        recorded = None if looks_of is None else looks_of.record(evaluated.results)
        comparison, checks = task.compare(evaluated, for_report)
        targets = {"per_query": per_query, "json": json, "markdown": markdown, "latex": latex}
        _write(evaluated, comparison, checks, targets, junit)
        if html is not None:
            write_html(
                html,
                comparison or evaluated.in_report(),
                queries=task.data.queries,
                corpus=task.data.corpus,
            )
        _print_means(evaluated, has_measures=bool(measure), detail=detail)
        _print_comparison(comparison, checks, task.data.queries, detail=detail)
        if recorded is not None:
            print_looks(*recorded)
        if code := exit_code(checks):
            raise typer.Exit(code)


@dataclass(frozen=True, kw_only=True)
class _Task:
    """What the command evaluates, compares, checks and records.

    Attributes:
        data: the data set.
        limit: how many of its queries; None for all.
        runs: the runs to make of each pipeline.
        measures: what is evaluated.
        settings: the keywords of ``compare``.
        gate: the gate.
        looks_of: the looks to record; None without a ledger.
    """

    data: Dataset
    limit: int | None
    runs: list[PipelineRuns]
    measures: tuple[Measure, ...]
    settings: dict[str, Any]
    gate: Gate
    looks_of: PipelineLooks | None

    @property
    def _qrels(self) -> Qrels:
        """The judgements of the queries that are evaluated."""
        from beir_eval.integrations.retrieval.evaluate_dataset import (  # noqa: PLC0415
            evaluated_judgements,
        )

        return evaluated_judgements(self.data, self.limit, "pipeline")

    def check_ahead(self, *, stages: bool) -> None:
        """Raise what comparison, gate, ledger and stages would raise, before a pipeline is run.

        Each pipeline is taken to retrieve the judged documents.

        Args:
            stages: whether stages are asked for.
        """
        if stages:
            from beir_eval.comparison.stages.evaluate_stages import (  # noqa: PLC0415
                stage_measures,
            )

            stage_measures(self.settings["measures"], None)
        from beir_eval.comparison import compare  # noqa: PLC0415

        judged = judged_result(
            self._qrels,
            self.measures,
            self.runs[-1].name,
            drop_identical_ids=drops_identical_ids(self.data),
        )
        if self.looks_of is not None:
            self.looks_of.check(judged)
        if len(self.runs) > 1:
            results = {
                of_pipeline.name: [judged] * len(of_pipeline.names) for of_pipeline in self.runs
            }
            self.gate.checked(compare(results, **self.settings))
        elif self.gate.floors:
            self.gate.check_alone(judged)

    def stages_of(
        self, retriever: PipelineRetriever, retrieved: Retrieved, result: EvaluationResult
    ) -> StagedResult:
        """Return the stages of a pipeline that has run."""
        from beir_eval.integrations.haystack.evaluate_pipeline_stages import (  # noqa: PLC0415
            stages_of_pipeline,
        )

        settings = {key: self.settings[key] for key in ("alpha", "margin", "draws", "rng")}
        return stages_of_pipeline(
            retriever,
            retrieved,
            result,
            self._qrels,
            measures=self.settings["measures"],
            settings=ComparisonSettings(correction="holm", **settings),
        )

    def compare(
        self, evaluated: EvaluatedPipelines, for_report: Mapping[str, Any]
    ) -> tuple[Comparison | None, list[GateCheck]]:
        """Return the comparison, None for one pipeline, and the checks of the gate.

        Args:
            evaluated: the runs and results.
            for_report: arguments of ``compare_runs`` that keep what a report shows.
        """
        from beir_eval.comparison import compare_runs  # noqa: PLC0415

        if len(self.runs) == 1:
            result = evaluated.all_results[0]
            return None, self.gate.check_alone(result) if self.gate.floors else []
        comparison = compare_runs(
            self._qrels,
            evaluated.runs,
            drop_identical_ids=drops_identical_ids(self.data),
            **self.settings,
            **for_report,
        )
        comparison = self.gate.checked(
            comparison.with_retrieval(
                {
                    name: [result.retrieval for result in of_pipeline]
                    for name, of_pipeline in evaluated.results.items()
                }
            )
        )
        return comparison, list(comparison.gate)


def _check_running(concurrency: int, on_error: str) -> None:
    """Raise SettingError if the queries cannot be run so."""
    from beir_eval.integrations.retrieval.retrieve_all import ON_ERROR_CHOICES  # noqa: PLC0415

    check_choice("on_error", on_error, ON_ERROR_CHOICES)
    check_count("concurrency", concurrency)


def _looks_of(
    context: typer.Context,
    ledger: Path | None,
    looks: str | None,
    names: Sequence[str],
    compared: Sequence[Measure],
) -> PipelineLooks | None:
    """Return the looks to record in the ledger; None without one.

    The settings of the comparison that are stated are those of the ledger too.
    """
    if ledger is None:
        return None
    stated = _stated(context)
    settings = {
        keyword: context.params[option]
        for option, keyword in _LEDGER_SETTINGS.items()
        if option in stated
    }
    if looks is not None:
        settings["looks"] = number_of_looks(looks)
    baseline = context.params["baseline"]
    with naming_options(looks="--looks", draws="--draws"):
        return PipelineLooks.from_options(ledger, settings, names, compared, baseline)


def _baseline(
    names: Sequence[str], baseline: str | None, requested: Gate, looks_of: PipelineLooks | None
) -> str | None:
    """Return the baseline of the comparison: the one stated, of the ledger or of the gate.

    None compares all pairs.
    """
    if baseline is not None:
        return baseline
    if looks_of is not None and looks_of.baseline in names:
        return looks_of.baseline
    return names[0] if requested.is_against_baseline else None


def _stated(context: typer.Context) -> set[str]:
    """Return the names of the parameters that are stated on the command line."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {
        name
        for name, source in sources.items()
        if source is not None and source.name == "COMMANDLINE"
    }


def _check_combination(
    names: Sequence[str],
    stated: set[str],
    requested: Gate,
    repeats: int | None,
    deterministic: Sequence[str],
) -> None:
    """Raise InputError if options do not go together, or have no effect on these pipelines."""
    useful = {*_LEDGER_SETTINGS} if stated & {"ledger", "stages"} else set()
    if "stages" in stated:
        useful.add("detail")
    if requested.floors:
        useful.add("alpha")
    check_options(
        {
            f"--repeats {repeats}: two or more were expected, since one run shows nothing about "
            "the noise of repeats; leave it out to run each pipeline once": (
                repeats is not None and repeats < FEWEST_REPEATS
            ),
            "--deterministic names every pipeline, so nothing is repeated; leave out --repeats": (
                repeats is not None and set(names) <= set(deterministic)
            ),
            "--ledger records one run of each pipeline, and its verdicts do not cover the chance "
            "of repeats; leave out --repeats": "ledger" in stated and repeats is not None,
            "--stages are those of one run of each pipeline; leave out --repeats": (
                "stages" in stated and repeats is not None
            ),
            "--looks is for a new ledger; add --ledger FILE": (
                "looks" in stated and "ledger" not in stated
            ),
        }
    )
    if len(names) > 1:
        return
    check_options(
        {
            f"--{option.replace('_', '-')} needs two pipelines or more": option in stated
            for option in _COMPARISON_OPTIONS
            if option not in useful
        }
        | {
            "--floor checks one run of a single pipeline, not --repeats": (
                requested.floors and repeats is not None
            )
        }
    )


def _check_test_over_repeats(repeats: int | None, test: str, correction: str | None) -> None:
    """Raise InputError unless there is a test over queries and repeats, if pipelines repeat."""
    if repeats is None:
        return
    check_options(
        {
            f"--test {test} is over queries only; with --repeats choose --test "
            f"{' or '.join(TESTS_OVER_REPEATS)}": (
                test in PAIRED_TESTS and test not in TESTS_OVER_REPEATS
            ),
            f"--correction {correction} flips the signs of queries only; with --repeats choose "
            "--correction holm": correction in PERMUTATION_CORRECTIONS,
        }
    )


def _retriever_settings(
    names: Sequence[str],
    inputs: Sequence[str] | None,
    documents_from: Sequence[str] | None,
    field: Sequence[str] | None,
    collapse: Sequence[str] | None,
) -> dict[str, dict[str, Any]]:
    """Return the settings of ``PipelineRetriever`` of each pipeline, from the options."""
    by_option = {
        "inputs": values_of_pipelines("--input", inputs or (), names),
        "document_comparison_field": values_of_pipelines("--by", field or (), names),
    }
    documents_outputs = values_of_pipelines(
        "--documents-from", documents_from or (), names, is_single=True
    )
    collapse_fields = values_of_pipelines("--collapse", collapse or (), names, is_single=True)
    return {
        name: {
            "inputs": by_option["inputs"][name] or None,
            "document_comparison_field": by_option["document_comparison_field"][name] or "id",
            "documents_from": next(iter(documents_outputs[name]), None),
            "collapse": None if fields == [_NO_COLLAPSE] else next(iter(fields), AUTO),
        }
        for name, fields in collapse_fields.items()
    }


def _write(
    evaluated: EvaluatedPipelines,
    comparison: Comparison | None,
    checks: Sequence[GateCheck],
    targets: Mapping[str, Path | None],
    junit: Path | None,
) -> None:
    """Write the results, the comparison and the checks of the gate to files.

    Args:
        evaluated: the pipelines.
        comparison: that of the pipelines; None for one pipeline.
        checks: those of the gate.
        targets: the files of ``write_results``.
        junit: the file of the checks; None: no such file.
    """
    from beir_eval.cli.comparison_output import markdown_summary  # noqa: PLC0415
    from beir_eval.comparison.gate_output import gate_markdown, to_junit  # noqa: PLC0415

    results = evaluated.all_results

    def markdown() -> str:
        of_stages = "".join(f"\n{staged.to_markdown()}" for staged in evaluated.stages.values())
        if comparison is None:
            gate = f"{gate_markdown(checks)}\n" if checks else ""
            return f"{gate}{to_markdown(results)}{of_stages}"
        summary = markdown_summary(comparison)
        return f"{summary}\n## Means on all measures\n\n{to_markdown(results)}{of_stages}"

    write_results(results, **{**targets, "markdown": None})
    texts = {targets["markdown"]: markdown, junit: lambda: to_junit(checks)}
    if comparison is not None:
        texts[sibling(targets["json"], "compare")] = comparison.model_dump_json
    for name, staged in evaluated.stages.items():
        texts[stages_file(targets["json"], name, evaluated.runs)] = staged.model_dump_json
    write_texts(texts)


def _print_means(evaluated: EvaluatedPipelines, *, has_measures: bool, detail: bool) -> None:
    """Print the means with their notes, and the stages of the pipelines.

    Args:
        evaluated: the pipelines.
        has_measures: whether measures were named.
        detail: whether all evidence on stages is printed.
    """
    results = evaluated.all_results
    if len(results) == len(evaluated.results):
        print_notes(results, print_scores(results, None, are_default_measures=not has_measures))
    else:
        _print_repeats(evaluated, results[0].measures if has_measures else usual_measures(results))
    print_stages(evaluated.stages, detail=detail)


def _print_comparison(
    comparison: Comparison | None,
    checks: Sequence[GateCheck],
    queries: Mapping[str, str],
    *,
    detail: bool,
) -> None:
    """Print the comparison and the checks of the gate.

    Args:
        comparison: that of the pipelines; None for one pipeline.
        checks: those of the gate.
        queries: {query_id: text}.
        detail: whether all evidence of the comparison is printed.
    """
    from beir_eval.cli import comparison_output as output  # noqa: PLC0415

    if comparison is not None:
        console.print(Text("\nThe comparison", style="bold"))
        output.print_comparison(comparison, detail=detail, queries=queries)
    output.print_gate(checks, () if comparison is None else comparison.differences)


def _print_repeats(evaluated: EvaluatedPipelines, measures: Sequence[str]) -> None:
    """Print the means over repeats with their spread, the notes, and which repeats are equal."""
    results = evaluated.all_results
    print_warnings(
        sentence for result in results for sentence in labelled_warnings(result, result.name)
    )
    print_table(repeats_table(evaluated.results, measures))
    number = max(map(len, evaluated.results.values()))
    console.print(
        Text(
            f"±: the standard deviation of the means of {number} repeats on the same queries; it "
            "does not cover the chance of the queries"
        )
    )
    print_notes(results, measures)
    for name, repeats in evaluated.results.items():
        if len(repeats) > 1 and all(result.values == repeats[0].values for result in repeats):
            console.print(
                Text(
                    f"{name}: its {len(repeats)} repeats have the same score for every query; if "
                    f"it always ranks alike, --deterministic {name} runs it once"
                )
            )
