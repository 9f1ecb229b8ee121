"""Options of the commands that run a retriever, ``haystack`` and ``retrieve``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from beir_eval.cli.option_sets import SPLIT, option
from beir_eval.integrations.retrieval.run_queries import DEFAULT_CHECKED


@dataclass(frozen=True, kw_only=True)
class RunningOptions:
    """How a retriever is run over the queries of a data set."""

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
