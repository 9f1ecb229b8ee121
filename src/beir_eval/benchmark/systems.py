"""The two sides of a benchmark: data sets with their judgements, and what makes runs on them."""

from __future__ import annotations

import operator
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval.adapters.dataset_folder import is_run_file
from beir_eval.adapters.readers import read_run
from beir_eval.core.files import sha256_of, stem_of
from beir_eval.core.imports import import_name
from beir_eval.errors import FileFormatError, RunError, SettingError, check_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.core.qrels import Qrels
    from beir_eval.datasets.catalogue import DatasetInfo
    from beir_eval.datasets.dataset import Dataset


#: The score function that BEIR names to its retrievers.
_SCORE_FUNCTION = "cos_sim"


def _is_haystack_pipeline(system: object) -> bool:
    module = sys.modules.get("haystack.core.pipeline.base")
    return module is not None and isinstance(system, module.PipelineBase)


#: Systems of other tools: how one is recognised, and the "module:class" that makes it a callable
#: (queries, corpus) -> run. A host adds a row; it is imported for its own systems only.
_HOSTS: tuple[tuple[Callable[[object], bool], str], ...] = (
    (_is_haystack_pipeline, "beir_eval.integrations.haystack:PipelineRetriever"),
)


def _host_of(system: object) -> Callable[[Any], Any] | None:
    """Return the class that runs this system of another tool; None for any other."""
    for is_of_host, origin in _HOSTS:
        if is_of_host(system):
            host: Callable[[Any], Any] = import_name(origin)
            return host
    return None


@dataclass(frozen=True, slots=True)
class Task:
    """One data set: its judgements, and the rest of it where there is a rest."""

    name: str
    qrels: Qrels
    info: DatasetInfo | None
    dataset: Dataset | None

    @property
    def split(self) -> str:
        """Its split; that of a bare qrels file is taken for the official one."""
        if self.dataset is not None:
            return self.dataset.split
        return "test" if self.info is None else self.info.split


@dataclass(frozen=True, slots=True)
class System:
    """A named system: how it makes a run, and what tells it from another."""

    name: str
    system: Any
    top_k: int

    @classmethod
    def of(cls, name: str, system: Any, top_k: int) -> System:
        """Raise SettingError for what is no system."""
        if isinstance(system, (str, Path)):
            if not Path(system).exists():
                msg = f"system {name!r}: there is no run file or folder {str(system)!r}"
                raise SettingError(msg)
            system = Path(system)
        elif (host := _host_of(system)) is not None:
            try:
                system = host(system)
            except SettingError as error:
                msg = f"system {name!r}: {error}"
                raise SettingError(msg) from error
        elif hasattr(system, "search"):
            check_count(f"top_k of system {name!r}", top_k)
            top_k = operator.index(top_k)
        elif not callable(system):
            msg = (
                f"system {name!r} must be a run file, a folder of run files, a callable (queries, "
                f"corpus) -> run, a BEIR retriever or a Haystack pipeline, not "
                f"{type(system).__name__}"
            )
            raise SettingError(msg)
        return cls(name, system, top_k)

    @property
    def retrieves(self) -> bool:
        """Whether it makes runs from queries and corpus."""
        return not isinstance(self.system, Path)

    def run(self, task: Task) -> Any:
        """Return its run on a data set, in any form that ``Run`` takes."""
        if isinstance(self.system, Path):
            return read_run(_run_file(self.system, task.name))
        if task.dataset is None:
            msg = f"{task.name} has judgements only; {self.name} needs its queries and its corpus"
            raise RunError(msg)
        queries = dict(task.dataset.queries)
        if hasattr(self.system, "search"):
            corpus = task.dataset.corpus.as_dict()
            return self.system.search(corpus, queries, self.top_k, _SCORE_FUNCTION)
        call: Callable[..., Any] = self.system
        return call(queries, task.dataset.corpus)

    def fingerprint(self, task: Task) -> str:
        """Return what tells whether a saved run is this system's."""
        if isinstance(self.system, Path):
            try:
                return sha256_of(_run_file(self.system, task.name))
            except FileFormatError:
                return "no run file"
        stated = getattr(self.system, "fingerprint", None)
        kind = getattr(self.system, "__qualname__", type(self.system).__qualname__)
        known = (
            f"{self.name} ({kind})" if stated is None else stated() if callable(stated) else stated
        )
        return f"{known}, top {self.top_k}" if hasattr(self.system, "search") else str(known)


def _run_file(path: Path, name: str) -> Path:
    """Return the run file itself, or the one in a folder that is named after the data set."""
    if path.is_file():
        return path
    for stem in (name, name.replace("/", "-")):
        parent = path / Path(stem).parent
        found = sorted(
            file
            for file in parent.glob("[!.]*")
            if stem_of(file) == Path(stem).name and file.is_file() and is_run_file(file)
        )
        if len(found) > 1:
            problem = f"several run files for {name}: {', '.join(file.name for file in found)}"
            raise FileFormatError(path, problem)
        if found:
            return found[0]
    raise FileFormatError(path, f"no run file for {name}; expected {name}.trec or the like")
