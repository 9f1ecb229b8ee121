"""The command ``beir-eval haystack``: evaluate and compare serialised pipelines on a data set.

Haystack is imported when the command runs, so that the other commands start without it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from rich.text import Text

from beir_eval.cli.comparison_options import (
    GateOptions,
    SystemOptions,
    VerdictOptions,
    check_one_system,
    check_options,
    exit_code,
)
from beir_eval.cli.console import (
    console,
    print_as_typed,
    print_errors,
    print_table,
    print_warnings,
    show_in_messages,
)
from beir_eval.cli.option_sets import COMMON, SPLIT, option, stated_options, takes_options
from beir_eval.cli.options import (
    REL,
    check_outputs,
    measure_option,
    report_settings,
    system_names,
    write_html,
)
from beir_eval.cli.outputs import OutputFormats, print_notes, print_scores, write_data
from beir_eval.cli.pipelines import (
    check_arguments,
    evaluate_pipelines,
    index_stores,
    judged_result,
    load_retrievers,
    noting_warnings,
    runs_of_pipelines,
    values_of_pipelines,
)
from beir_eval.cli.stages import beside_results, print_stages
from beir_eval.comparison.records import ComparisonSettings
from beir_eval.display.document import section_markdown
from beir_eval.errors import check_choice, check_count
from beir_eval.evaluation.coverage import labelled_warnings
from beir_eval.evaluation.inputs import drops_identical_ids
from beir_eval.evaluation.tables import repeats_table, to_latex, to_markdown, usual_measures
from beir_eval.integrations.retrieval.documents import AUTO
from beir_eval.integrations.retrieval.run_queries import DEFAULT_CHECKED
from beir_eval.measures import DEFAULT_MEASURES, TEXT_MEASURES, parse_all, with_rel
from beir_eval.measures.names import names_as_typed
from beir_eval.significance.repeats import FEWEST_REPEATS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.cli.outputs import Outputs
    from beir_eval.cli.pipelines import EvaluatedPipelines, PipelineRuns
    from beir_eval.comparison.records import GateCheck
    from beir_eval.comparison.result import Comparison
    from beir_eval.comparison.stages import StagedResult
    from beir_eval.core.qrels import Qrels
    from beir_eval.datasets.dataset import Dataset
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.integrations.haystack.retriever import PipelineRetriever
    from beir_eval.integrations.retrieval.run_queries import Retrieved
    from beir_eval.measures import Measure
    from beir_eval.spans import SpanView

#: {whether spans are judged: what is compared unless measures are named, as in ``compare``}.
_COMPARED = {False: "nDCG@10", True: "Recall@2000"}
#: What is evaluated, likewise.
_EVALUATED = {False: DEFAULT_MEASURES, True: TEXT_MEASURES}
#: The value of --collapse that counts each chunk.
_NO_COLLAPSE = "none"
_FOR_ONE = "NAME=… is for the pipeline of this name"
#: What ``-o`` writes.
OUTPUTS = OutputFormats(
    html="a report to look at",
    json="all results, r.compare.json the comparison",
    md="comparison and means",
    tex="the means",
    csv="every query's scores",
    xml="the gate as JUnit",
)


@dataclass(frozen=True, kw_only=True)
class _PipelineOptions:
    SECTION: ClassVar[str] = "Pipelines"

    inputs: list[str] | None = option(
        f"An input that takes the query, as component.input; {_FOR_ONE}; repeat.",
        "--input",
        metavar="SOCKET",
    )
    documents_from: list[str] | None = option(
        f"The output of the ranking, as component.output; {_FOR_ONE}.", metavar="SOCKET"
    )
    field: list[str] | None = option(
        f"What identifies a document: id (default), content or meta.<key>; {_FOR_ONE}; repeat.",
        "--by",
        metavar="FIELD",
    )
    collapse: list[str] | None = option(
        "The field with the document that a chunk is a part of, for example meta.source_id; by "
        f"default meta.beir_doc_id, which --index writes; none: each chunk counts; {_FOR_ONE}.",
        metavar="FIELD",
    )
    allow: list[str] | None = option(
        "A module of your own components, for example my.parts.*", metavar="MODULE"
    )


@dataclass(frozen=True, kw_only=True)
class _CorpusOptions:
    SECTION: ClassVar[str] = "Corpus"

    index_corpus: bool = option(
        "Write the corpus to the pipelines' stores first, as text.", "--index", default=False
    )
    index_pipeline: Path | None = option(
        "Write the corpus to the pipelines' stores first, through this indexing pipeline: a YAML "
        "file, for example with a splitter or an embedder."
    )
    spans: Path | None = option(
        "Judge by these spans of the documents' text (JSON lines) in place of qrels: the chunks of "
        "any splitter are found in the corpus."
    )

    def __post_init__(self) -> None:
        """Check the combination."""
        check_options(
            {
                "--index writes text and --index-pipeline writes through a pipeline: state one": (
                    self.index_corpus and self.index_pipeline is not None
                ),
            }
        )

    def read(self, folder: Path, running: _RunOptions) -> tuple[Dataset, SpanView | None]:
        """Return the data set, and the spans that it is judged by, if it is not by its qrels."""
        from beir_eval.datasets.dataset import load_dataset  # noqa: PLC0415
        from beir_eval.integrations.retrieval.chunks import judged_by_spans  # noqa: PLC0415

        if self.spans is None:
            return load_dataset(folder, running.split), None
        check_options({"--stages are of documents, and --spans of text": running.stages})
        return judged_by_spans(folder, self.spans, "characters", None)

    def index(
        self, data: Dataset, retrievers: Mapping[str, PipelineRetriever], allowed: Sequence[str]
    ) -> None:
        """Write the corpus to the stores, if it is asked for, and print what was written.

        Args:
            data: the data set.
            retrievers: {name: retriever} of the pipelines.
            allowed: the modules of the user's own components.
        """
        if not self.index_corpus and self.index_pipeline is None:
            return
        for sentence in index_stores(
            data, retrievers, self.index_pipeline, allowed_modules=allowed
        ):
            console.print(Text(sentence))


@dataclass(frozen=True, kw_only=True)
class _RunOptions:
    SECTION: ClassVar[str] = "Running"

    limit: int | None = option("Only the first queries.")
    split: str | None = option(SPLIT, metavar="NAME")
    concurrency: int = option("How many queries at a time.", default=1)
    on_error: str = option(
        "A query that fails: stop, or count it as missing.", default="stop", metavar="NAME"
    )
    check_saved: int = option(
        "How many queries with saved answers to run again; if one is now ranked otherwise, they "
        "are refused; 0 checks none.",
        default=DEFAULT_CHECKED,
    )
    fresh: bool = option("Replace saved answers instead of reusing them.", "--fresh", default=False)
    save_run: Path | None = option(
        "Write the run here, and resume from it later; for several runs a folder, with a file "
        "NAME.trec for each pipeline and NAME_1.trec, … for repeats."
    )
    repeats: int | None = option(
        "Run each pipeline so many times, for pipelines whose rankings vary, such as those with a "
        "language model. Verdicts then hold for other runs of the pipelines too."
    )
    stages: bool = option(
        "Say which component lost the relevant documents.",
        "--stages",
        default=False,
        rich_help_panel=COMMON,
    )

    def __post_init__(self) -> None:
        """Check the combination."""
        check_options(
            {
                "--fresh replaces the answers of --save-run, which is not stated; leave it out": (
                    self.fresh and self.save_run is None
                ),
            }
        )


@takes_options
def haystack(  # noqa: PLR0913, PLR0917 - one parameter per set of options
    context: typer.Context,
    pipelines: Annotated[
        list[Path],
        typer.Argument(help="Pipelines as YAML (Pipeline.dump); several are compared."),
    ],
    dataset: Annotated[Path, typer.Argument(help="A BEIR data-set folder.")],
    measure: Annotated[
        list[str] | None,
        measure_option("A measure; repeat it for more.  [default to compare: nDCG@10]"),
    ] = None,
    rel: Annotated[float | None, REL] = None,
    output: Annotated[list[str] | None, OUTPUTS.option()] = None,
    *,
    of_corpus: _CorpusOptions,
    of_pipelines: _PipelineOptions,
    running: _RunOptions,
    systems: SystemOptions,
    gate: GateOptions,
    deciding: VerdictOptions,
) -> None:
    """Run PIPELINES for every judged query of DATASET, print the means, and compare them."""
    with print_errors():
        from beir_eval.integrations.haystack.documents import (  # noqa: PLC0415
            INDEX_CALL,
            INDEX_PIPELINE,
        )
        from beir_eval.integrations.retrieval.journal import FRESH  # noqa: PLC0415

        show_in_messages(INDEX_CALL, "--index")
        show_in_messages(INDEX_PIPELINE, "--index-pipeline indexing.yaml")
        show_in_messages(FRESH, "--fresh")
        check_arguments(pipelines, dataset)
        outputs, stated = OUTPUTS.files(output), stated_options(context)
        names = system_names(pipelines)
        named = [*(measure or ()), *gate.measures, *gate.floors]
        print_as_typed(names_as_typed(named, rel), names)
        requested = gate.with_rel(rel)
        requested.check_outputs(outputs)
        deterministic = systems.deterministic or []
        _check_combination(names, stated, requested, running.repeats, deterministic)
        runs = runs_of_pipelines(names, running.repeats, deterministic, running.save_run)
        beside = ["compare"] if len(names) > 1 else []
        beside += [beside_results(name, names) for name in names if running.stages]
        check_outputs(
            [*pipelines, dataset, *filter(None, [of_corpus.index_pipeline])],
            outputs,
            [
                None if runs[0].is_named else running.save_run,
                *(path for extra in beside for path in outputs.beside(extra, "json")),
            ],
        )
        _check_running(running.concurrency, running.on_error)
        data, view = of_corpus.read(dataset, running)
        are_spans = view is not None
        retriever_settings = _retriever_settings(
            names, of_pipelines, keep_stages=running.stages, returns_chunks=are_spans
        )
        compared = with_rel(parse_all(named or [_COMPARED[are_spans]]), rel)
        evaluated_measures = [
            *with_rel(parse_all(measure) if measure else _EVALUATED[are_spans], rel),
            *compared,
        ]
        task = _Task(
            data=data,
            limit=running.limit,
            runs=runs,
            measures=parse_all(evaluated_measures),
            settings={
                **asdict(deciding),
                "measures": compared,
                "baseline": _baseline(names, systems.baseline, requested),
                "repeats": None if running.repeats is None else "random",
                "deterministic": deterministic,
            },
            gate=requested,
        )
        given: set[str] = set()
        with noting_warnings(given):
            task.check_ahead(stages=running.stages)
        retrievers = load_retrievers(
            dict(zip(names, pipelines, strict=True)),
            retriever_settings,
            allowed_modules=of_pipelines.allow or (),
            concurrency=running.concurrency,
            check_saved=running.check_saved,
        )
        of_corpus.index(task.data, retrievers, of_pipelines.allow or ())
        for_report = ({"fingerprint": True} if outputs["json"] else {}) | report_settings(outputs)
        evaluated = evaluate_pipelines(
            runs,
            retrievers,
            task.data,
            task.measures,
            given=given,
            stages_of=task.stages_of if running.stages else None,
            limit=running.limit,
            on_error=running.on_error,
            fresh=running.fresh,
            view=view,
            **{"keep_top": 10, "fingerprint": False} | for_report,
        )
        # A look that is shown must be recorded, so it is recorded first.
        comparison, checks = task.compare(evaluated, for_report)
        _write(evaluated, comparison, checks, outputs)
        if outputs["html"]:
            in_report = comparison or evaluated.in_report()
            write_html(outputs, in_report, queries=task.data.queries, corpus=task.data.corpus)
        has_measures = bool(measure) or are_spans
        _print_means(evaluated, has_measures=has_measures, detail=systems.detail)
        _print_comparison(comparison, checks, task.data.queries, detail=systems.detail)
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
    """

    data: Dataset
    limit: int | None
    runs: list[PipelineRuns]
    measures: tuple[Measure, ...]
    settings: dict[str, Any]
    gate: GateOptions

    @property
    def _qrels(self) -> Qrels:
        """The judgements of the queries that are evaluated."""
        from beir_eval.integrations.retrieval.evaluate_dataset import (  # noqa: PLC0415
            evaluated_judgements,
        )

        return evaluated_judgements(self.data, self.limit, "the pipeline")

    def check_ahead(self, *, stages: bool) -> None:
        """Raise what comparison, gate and stages would raise, before a pipeline is run.

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
        if len(self.runs) > 1:
            results = {
                of_pipeline.name: [judged] * len(of_pipeline.names) for of_pipeline in self.runs
            }
            self.gate.checked(compare(results, **self.settings))
        elif self.gate.floors:
            self.gate.check_alone(judged, self.settings["alpha"])

    def stages_of(
        self, retriever: PipelineRetriever, retrieved: Retrieved, result: EvaluationResult
    ) -> StagedResult:
        """Return the stages of a pipeline that has run."""
        from beir_eval.integrations.haystack.evaluate_pipeline_stages import (  # noqa: PLC0415
            stages_of_pipeline,
        )

        settings = {key: self.settings[key] for key in ("alpha", "margin")}
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
            if not self.gate.floors:
                return None, []
            [result] = evaluated.all_results
            return None, self.gate.check_alone(result, self.settings["alpha"])
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
    from beir_eval.integrations.retrieval.run_queries import ON_ERROR_CHOICES  # noqa: PLC0415

    check_choice("on_error", on_error, ON_ERROR_CHOICES)
    check_count("concurrency", concurrency)


def _baseline(
    names: Sequence[str],
    baseline: str | None,
    requested: GateOptions,
) -> str | None:
    """Return the baseline of the comparison: the one stated, or of the gate.

    None compares all pairs.
    """
    if baseline is not None:
        return baseline
    return names[0] if requested.is_against_baseline else None


def _check_combination(
    names: Sequence[str],
    stated: set[str],
    requested: GateOptions,
    repeats: int | None,
    deterministic: Sequence[str],
) -> None:
    """Raise InputError if options do not go together, or have no effect on these pipelines."""
    useful = {"margin", "alpha", "detail"} if "stages" in stated else set()
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
            "--stages are those of one run of each pipeline; leave out --repeats": (
                "stages" in stated and repeats is not None
            ),
        }
    )
    if len(names) > 1:
        return
    check_one_system(stated, useful, "needs two pipelines or more")
    check_options(
        {
            "--floor checks one run of a single pipeline, not --repeats": (
                requested.floors and repeats is not None
            )
        }
    )


def _retriever_settings(
    names: Sequence[str], options: _PipelineOptions, *, keep_stages: bool, returns_chunks: bool
) -> dict[str, dict[str, Any]]:
    """Return the settings of ``PipelineRetriever`` of each pipeline, from the options."""
    from beir_eval.integrations.retrieval.chunks import CHUNK_FIELDS  # noqa: PLC0415

    inputs = values_of_pipelines("--input", options.inputs or (), names)
    fields = values_of_pipelines("--by", options.field or (), names)
    outputs = values_of_pipelines(
        "--documents-from", options.documents_from or (), names, is_single=True
    )
    collapsed = values_of_pipelines("--collapse", options.collapse or (), names, is_single=True)
    return {
        name: {
            "inputs": inputs[name] or None,
            "document_comparison_field": CHUNK_FIELDS if returns_chunks else fields[name] or "id",
            "documents_from": next(iter(outputs[name]), None),
            "collapse": (
                None
                if returns_chunks or collapsed[name] == [_NO_COLLAPSE]
                else next(iter(collapsed[name]), AUTO)
            ),
            "keep_stages": keep_stages,
        }
        for name in names
    }


def _write(
    evaluated: EvaluatedPipelines,
    comparison: Comparison | None,
    checks: Sequence[GateCheck],
    outputs: Outputs,
) -> None:
    """Write the results, the comparison and the checks of the gate to files.

    Args:
        evaluated: the pipelines.
        comparison: that of the pipelines; None for one pipeline.
        checks: those of the gate.
        outputs: the files.
    """
    from beir_eval.cli.comparison_output import markdown_summary  # noqa: PLC0415
    from beir_eval.comparison.gate_output import gate_document, to_junit  # noqa: PLC0415

    results = evaluated.all_results

    def markdown() -> str:
        of_stages = "".join(f"\n{staged.to_markdown()}" for staged in evaluated.stages.values())
        if comparison is None:
            gate = f"{gate_document(checks).titled_markdown()}\n" if checks else ""
            return f"{gate}{to_markdown(results)}{of_stages}"
        summary = markdown_summary(comparison)
        means = section_markdown("Means on all measures", to_markdown(results))
        return f"{summary}\n{means}{of_stages}"

    write_data(results, outputs)
    outputs.write(
        {
            "md": markdown,
            "tex": lambda: to_latex(results),
            "xml": lambda: to_junit(checks),
        }
    )
    if comparison is not None:
        outputs.write({"json": comparison.model_dump_json}, beside="compare")
    for name, staged in evaluated.stages.items():
        beside = beside_results(name, evaluated.runs)
        outputs.write({"json": staged.model_dump_json}, beside=beside)


def _print_means(evaluated: EvaluatedPipelines, *, has_measures: bool, detail: bool) -> None:
    """Print the means with their notes, and the stages of the pipelines.

    Args:
        evaluated: the pipelines.
        has_measures: whether measures were named.
        detail: whether all evidence on stages is printed.
    """
    results = evaluated.all_results
    if len(results) == len(evaluated.results):
        print_notes(results, print_scores(results, are_default_measures=not has_measures))
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
