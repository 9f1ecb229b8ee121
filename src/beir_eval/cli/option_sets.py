"""Options as fields of dataclasses: a command takes a set of them as one parameter.

``setting`` takes default, choices and help from the settings class of the library that the option
sets; ``option`` states them. ``SECTION`` is the section of the help.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field, fields, is_dataclass, make_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

import typer

from beir_eval.adapters.formats import QRELS_FORMATS, RUN_FORMATS
from beir_eval.cli.console import parameters_of_command, print_errors
from beir_eval.core.ranking import EvaluationSettings
from beir_eval.core.saved import is_written_if_set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: What the help shows in place of a value of each type.
_VALUES = {Path: "FILE", float: "NUMBER", int: "N", str: "TEXT"}
#: The help of the option ``--split``.
SPLIT = "The split of a data-set folder; by default BEIR's official one, or test."
#: The section of the options that most people need, which ``-h`` explains.
COMMON = "Common"


def option(
    help_text: str, *names: str, default: Any = None, choices: Sequence[str] = (), **details: Any
) -> Any:
    """Return a field of a set that is an option.

    Args:
        help_text: what the option does.
        names: its names; by default that of the field. A flag needs it, else typer adds --no-….
        default: its default.
        choices: the values that it takes, for the help; the option does not check them.
        details: further arguments of ``typer.Option``; ``rich_help_panel`` is the section.
    """
    if choices:
        help_text = f"{help_text} One of: {', '.join(choices)}."
        details.setdefault("metavar", "NAME")
    return field(
        default=default, metadata={"option": typer.Option(*names, help=help_text, **details)}
    )


def setting(settings: Any, name: str, *names: str, **details: Any) -> Any:
    """Return a field of a set that is a setting of the library, with its default and choices.

    Args:
        settings: the class of the settings.
        name: the field of it.
        names: the names of the option, as in ``option``.
        details: as in ``option``.
    """
    [default] = [listed.default for listed in fields(settings) if listed.name == name]
    help_text = settings.SUMMARIES[name]
    if words := getattr(settings, "DEPENDENT_DEFAULTS", {}).get(name):
        default, help_text = None, f"{help_text}  [default: {words}]"
    choices = settings.CHOICES.get(name, ())
    return option(help_text, *names, default=default, choices=choices, **details)


def takes_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with an option for each field of its parameters that are sets of options.

    The command receives the sets; what a set refuses is printed as an error.
    """
    sets: dict[str, Any] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            sets[parameter.name] = parameter.annotation
            parameters += _options_of(parameter.annotation)
        else:
            for info in getattr(parameter.annotation, "__metadata__", ()):
                if isinstance(info, typer.models.OptionInfo):
                    info.metavar = info.metavar or _value_word(parameter.annotation.__origin__)
                    info.rich_help_panel = info.rich_help_panel or COMMON
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    def wrapper(**values: Any) -> None:
        parameters_of_command.update(values)
        try:
            with print_errors():
                for name, options in sets.items():
                    of_set = {listed.name: values.pop(listed.name) for listed in fields(options)}
                    values[name] = options(**of_set)
            command(**values)
        finally:
            parameters_of_command.clear()

    # Not functools.wraps: typer would follow it to the signature that still has the sets.
    wrapper.__name__, wrapper.__doc__ = command.__name__, command.__doc__
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapper.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapper


def _options_of(options: Any) -> Iterator[inspect.Parameter]:
    """Yield a keyword parameter, annotated with its option, for each field of a set."""
    kinds = get_type_hints(options)
    for listed in fields(options):
        info = listed.metadata["option"]
        info.rich_help_panel = info.rich_help_panel or options.SECTION
        info.metavar = info.metavar or _value_word(kinds[listed.name])
        yield inspect.Parameter(
            listed.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=listed.default,
            annotation=Annotated[kinds[listed.name], info],
        )


def _value_word(kind: Any) -> str | None:
    """Return what the help shows in place of a value of this type; None for a flag."""
    inner = [part for part in get_args(kind) if part is not type(None)] or [kind]
    return _VALUES.get(get_args(inner[0])[0] if get_origin(inner[0]) is list else inner[0])


def stated_options(context: typer.Context) -> set[str]:
    """Return the names of the parameters that are stated on the command line."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source and source.name == "COMMANDLINE"}


@dataclass(frozen=True, kw_only=True)
class LatexOptions:
    """How the scores of a LaTeX table are written: ``ScoreFormat``."""

    SECTION: ClassVar[str] = "LaTeX"

    percent: bool = option(
        "Percent with two decimals in .tex, for measures from 0 to 1.", "--percent", default=False
    )


#: A set with an option for each setting of an evaluation.
_EVALUATION_OPTIONS: Any = make_dataclass(
    "_EVALUATION_OPTIONS",
    [
        (
            listed.name,
            type(listed.default),
            setting(EvaluationSettings, listed.name, f"--{listed.name.replace('_', '-')}"),
        )
        for listed in fields(EvaluationSettings)
        if not is_written_if_set(listed)  # the judgements and the run decide
    ],
    frozen=True,
    kw_only=True,
)


@dataclass(frozen=True, kw_only=True)
class CountingOptions(_EVALUATION_OPTIONS):  # type: ignore[misc]
    """What is counted: the keywords of ``Evaluator`` that set its ``EvaluationSettings``."""

    SECTION: ClassVar[str] = "Counting"

    # Three values: unless one of the two is given, the convention of the data set decides.
    drop_identical_ids: bool | None = option(
        f"{EvaluationSettings.SUMMARIES['drop_identical_ids']}  [default: drop for the folders of "
        "ArguAna and Quora, as BEIR does]",
        "--drop-identical-ids/--keep-identical-ids",
    )


@dataclass(frozen=True, kw_only=True)
class ColumnOptions:
    """How tables are read."""

    SECTION: ClassVar[str] = "Input"

    columns: list[str] | None = option(
        "The names of columns in CSV, Parquet or JSON lines if they are not recognised: "
        "doc_id=docno,grade=label. The keys are query_id, doc_id, score (runs) and grade "
        "(judgements). Repeatable.",
        metavar="KEY=COLUMN",
    )
    where: list[str] | None = option(
        "Only rows with this value, of files with this column (TREC runs: tag); repeatable.",
        metavar="COLUMN=VALUE",
    )


@dataclass(frozen=True, kw_only=True)
class FileOptions(ColumnOptions):
    """How the files of judgements and runs are read."""

    split: str | None = option(SPLIT, metavar="NAME")
    run_format: str | None = option(
        "The format of the run files; by default detected.",
        "--format",
        choices=[row.name for row in RUN_FORMATS.formats],
    )
    qrels_format: str | None = option(
        "The format of the judgements; by default detected.",
        choices=[row.name for row in QRELS_FORMATS.formats],
    )


@dataclass(frozen=True, kw_only=True)
class InputOptions(FileOptions):
    """How judgements and runs are read, and what the ids of a run are."""

    chunk_ids: str | None = option(
        "The ids of the runs are those of chunks: the separator after the document's id, for "
        "example '#', or a regular expression with one group, that id. The best chunk of each "
        "document counts."
    )
    exclude: Path | None = option(
        "Documents to leave out of the ranking of a query: a file of two columns, query and "
        "document.  [default: those that a data set lists]"
    )
    corpus: Path | None = option(
        "Judged are spans of text, ranked are chunks (JSON lines): the data-set folder or corpus "
        "file of their documents, in which both are found."
    )
    ranks: str | None = option(
        "What has a rank if spans are judged: a chunk costs as many ranks as it has characters, or "
        "one; a span then counts once 75% of it is read.  [default: characters]",
        choices=EvaluationSettings.CHOICES["ranks"][1:],
    )

    @property
    def files(self) -> list[Path]:
        """The files that the options name, which no output may replace."""
        return [path for path in (self.exclude, self.corpus) if path is not None]
