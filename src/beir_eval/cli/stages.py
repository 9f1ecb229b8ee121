"""The option ``--stages``: runs, or the components of a pipeline, as stages of one pipeline."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text

from beir_eval.cli.console import console, print_document
from beir_eval.cli.option_sets import option
from beir_eval.core.files import part_of_file_name
from beir_eval.errors import SettingError, one_line, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from beir_eval.comparison.stages import StagedResult
    from beir_eval.core.run import Run
    from beir_eval.measures import Measure


@dataclass(frozen=True, kw_only=True)
class StageOptions:
    """Runs that are stages of one pipeline."""

    SECTION: ClassVar[str] = "Stages"

    stages: bool = option(
        "The runs are stages of one pipeline, in the order of documents: say which of them lost "
        "the relevant ones. The last is the answer.",
        "--stages",
        default=False,
    )
    inputs: list[str] | None = option(
        "The stages that one gets its documents from, for example joiner=bm25,dense; repeat it for "
        "more.  [default: the one before]",
        metavar="STAGE=INPUT,INPUT",
    )


def read_stages(  # noqa: PLR0913 - one keyword a setting
    judgements: Any,
    runs: Mapping[str, Run],
    measures: Sequence[Measure] | None,
    options: StageOptions,
    *,
    others: Mapping[str, object],
    policies: Mapping[str, Any],
) -> StagedResult:
    """Return the result of runs that are stages of one pipeline.

    Args:
        judgements: the judgements.
        runs: {stage: its run}, in the order of documents.
        measures: the measures; None for nDCG@10.
        options: ``--inputs``.
        others: {option: its value} of those that stages do not have; None: not given.
        policies: the settings of ``evaluate``.

    Raises:
        SettingError: an option that stages do not have, or a value of ``--inputs`` without "=".
        InputError: as ``evaluate_stages``.
    """
    from beir_eval.comparison.stages import evaluate_stages  # noqa: PLC0415

    for other, value in others.items():
        if value is not None:
            msg = f"--stages goes with -o of .html, .json and .md; leave out {other}"
            raise SettingError(msg)
    by_stage: dict[str, list[str]] = {}
    for stage, names in map(_inputs_of, options.inputs or ()):
        by_stage[stage] = list(dict.fromkeys([*by_stage.get(stage, ()), *names]))
    return evaluate_stages(judgements, runs, measures, inputs=by_stage or None, **policies)


def _inputs_of(value: str) -> tuple[str, list[str]]:
    stage, equals, names = value.partition("=")
    if not equals or not stage or not names:
        msg = f"--inputs {shown(value)}: expected STAGE=INPUT,INPUT, for example joiner=bm25,dense"
        raise SettingError(msg)
    return stage.strip(), [name.strip() for name in names.split(",")]


def beside_results(name: str, names: Collection[str]) -> str:
    """Return the word of the file of a pipeline's stages beside that of the results.

    Args:
        name: the pipeline.
        names: all pipelines; of several, the word has the name of the pipeline in it.
    """
    return "stages" if len(names) == 1 else f"{part_of_file_name(name)}.stages"


def print_stages(stages: Mapping[str, StagedResult], *, detail: bool) -> None:
    """Print the stages of each pipeline.

    Args:
        stages: {name of the pipeline: its stages}.
        detail: whether the evidence of all pairs is printed.
    """
    for name, staged in stages.items():
        if len(stages) > 1:
            console.print(Text(f"\n{one_line(name)}", style="bold"))
        document = staged.document()
        # The result's own warnings stand above the means.
        own = [warning for warning in document.warnings if warning not in staged.result.warnings()]
        print_document(replace(document, warnings=own), detail=detail)
