"""The corpus of ``beir-eval haystack``: the data set, judged spans of it, and the stores.

It does not import Haystack, so that the options can be shown without it.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text

from beir_eval.cli.comparison_options import check_options
from beir_eval.cli.console import console
from beir_eval.cli.haystack_pipelines import naming_run
from beir_eval.cli.option_sets import option
from beir_eval.errors import BeirEvalError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from beir_eval.datasets.dataset import Dataset
    from beir_eval.integrations.haystack.retriever import PipelineRetriever
    from beir_eval.spans import SpanView


@dataclass(frozen=True, kw_only=True)
class CorpusOptions:
    """What is searched: the corpus in the stores, and judged spans of it."""

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

    def read(self, folder: Path, split: str | None) -> tuple[Dataset, SpanView | None]:
        """Return the data set, and the spans that it is judged by, if it is not by its qrels."""
        from beir_eval.datasets.dataset import load_dataset  # noqa: PLC0415
        from beir_eval.integrations.retrieval.evaluate_dataset import judged_by_spans  # noqa: PLC0415

        if self.spans is None:
            return load_dataset(folder, split), None
        return judged_by_spans(folder, self.spans, "characters", None)

    def index(
        self, data: Dataset, retrievers: Mapping[str, PipelineRetriever], allowed: Sequence[str]
    ) -> None:
        """Write the corpus to the stores, if it is asked for, and print what was written.

        A store that several pipelines share is written once.

        Args:
            data: the data set.
            retrievers: {name: retriever} of the pipelines.
            allowed: the modules of the user's own components.

        Raises:
            SettingError: a pipeline has no store or several, or searches by embedding where text is
                written, or the indexing pipeline writes to another store; nothing is written then.
        """
        if not self.index_corpus and self.index_pipeline is None:
            return
        from beir_eval.integrations.haystack import index, load_pipeline  # noqa: PLC0415
        from beir_eval.integrations.haystack.indexing import store_key  # noqa: PLC0415
        from beir_eval.integrations.haystack.store_checks import (  # noqa: PLC0415
            check_text_is_enough,
        )

        through = self.index_pipeline
        stores: dict[str, Any] = {}
        owners: dict[str, list[str]] = {}
        for name, retriever in retrievers.items():
            with naming_run(name, is_named=len(retrievers) > 1):
                store = load_pipeline.document_store_of(retriever.pipeline)
                if through is None:
                    check_text_is_enough(retriever.pipeline)
            stores[store_key(store)] = store
            owners.setdefault(store_key(store), []).append(name)
        load_pipeline.check_not_shared({", ".join(owners[key]): stores[key] for key in stores})
        targets = stores
        if through is not None:
            targets = {
                key: load_pipeline.load_pipeline(through, allowed_modules=allowed) for key in stores
            }
            for key, pipeline in targets.items():
                load_pipeline.write_to_store(pipeline, stores[key], through)
        for key, target in targets.items():
            of_which = "the pipeline's store"
            if len(retrievers) > 1:
                of_which = f"the store of {', '.join(owners[key])}"
            with _naming_store(of_which, through):
                written = f"{index(data, target):,} documents written to {of_which}"
            if through is not None:
                written += f" through {through}: {stores[key].count_documents():,} in the store"
            console.print(Text(written))


@contextmanager
def _naming_store(store: str, index_pipeline: Path | None) -> Iterator[None]:
    """Name the store if a component raises while the corpus is written to it."""
    try:
        yield
    except (BeirEvalError, OSError):
        raise
    except Exception as error:  # whatever a component raises
        msg = f"the corpus cannot be written to {store}: {type(error).__name__}: {error}"
        if index_pipeline is not None:
            msg += (
                ". If the store has the documents already, let the writer of the indexing "
                "pipeline replace them (policy: overwrite), or leave out --index-pipeline"
            )
        raise InputError(msg) from error
