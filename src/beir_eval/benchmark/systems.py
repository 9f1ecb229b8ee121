"""``Task`` (a data set) and ``System`` (a retrieval system), and the names of data sets in MTEB."""

from __future__ import annotations

import operator
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval.adapters.dataset_folder import is_run_file
from beir_eval.adapters.readers import read_run
from beir_eval.core.files import as_path, file_sha256, file_stem
from beir_eval.core.imports import import_name
from beir_eval.core.qrels import highest_grades_of
from beir_eval.datasets.catalogue import DATASETS
from beir_eval.errors import FileFormatError, RunError, SettingError, check_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from beir_eval.core.qrels import Qrels
    from beir_eval.datasets.catalogue import DatasetInfo
    from beir_eval.datasets.dataset import Dataset
    from beir_eval.inspection.finding import Finding


#: The names of BEIR's data sets in MTEB.
MTEB_TASKS = {
    "msmarco": "MSMARCO",
    "trec-covid": "TRECCOVID",
    "nfcorpus": "NFCorpus",
    "nq": "NQ",
    "hotpotqa": "HotpotQA",
    "fiqa": "FiQA2018",
    "arguana": "ArguAna",
    "webis-touche2020": "Touche2020",
    "quora": "QuoraRetrieval",
    "dbpedia-entity": "DBPedia",
    "scidocs": "SCIDOCS",
    "fever": "FEVER",
    "climate-fever": "ClimateFEVER",
    "scifact": "SciFact",
    **{
        f"cqadupstack/{forum}": f"CQADupstack{forum.capitalize()}Retrieval"
        for forum in DATASETS["cqadupstack"].parts
    },
}


#: The score function that is passed to BEIR's retrievers.
_SCORE_FUNCTION = "cos_sim"


def _is_haystack_pipeline(system: object) -> bool:
    """Return whether this is a Haystack pipeline, without importing Haystack."""
    module = sys.modules.get("haystack.core.pipeline.base")
    return module is not None and isinstance(system, module.PipelineBase)


#: (test, "module:class") for the systems of each other tool: the test recognises a system, and the
#: class makes it a callable (queries, corpus) -> run. The module is imported only when needed.
_RETRIEVER_CLASSES: tuple[tuple[Callable[[object], bool], str], ...] = (
    (_is_haystack_pipeline, "beir_eval.integrations.haystack:PipelineRetriever"),
)


def _retriever_class(system: object) -> Callable[[Any], Any] | None:
    """Return the class that makes this system of another tool a callable, or None."""
    for is_supported, class_path in _RETRIEVER_CLASSES:
        if is_supported(system):
            retriever_class: Callable[[Any], Any] = import_name(class_path)
            return retriever_class
    return None


@dataclass(frozen=True, slots=True)
class Task:
    """A data set to evaluate on.

    Attributes:
        name: its name, which is also its folder's.
        qrels: its judgements.
        info: BEIR's conventions; None for a data set that is not BEIR's.
        dataset: its queries and corpus; None if only judgements were passed.
    """

    name: str
    qrels: Qrels
    info: DatasetInfo | None
    dataset: Dataset | None

    @property
    def split(self) -> str:
        """The split; judgements without a data set are assumed to be of the official split."""
        if self.dataset is not None:
            return self.dataset.split
        return "test" if self.info is None else self.info.split


@dataclass(frozen=True, slots=True)
class System:
    """A retrieval system with its name.

    Attributes:
        name: its name, which is also its folder's.
        source: a path of run files, a callable (queries, corpus) -> run, or a BEIR retriever.
        top_k: how many documents a BEIR retriever returns.
    """

    name: str
    source: Any
    top_k: int

    @classmethod
    def from_object(cls, name: str, system: Any, top_k: int) -> System:
        """Return the system of what a user passes.

        Raises:
            SettingError: it is not a system, or the run does not exist.
            InputError: it is a path that cannot be the name of a file.
        """
        if isinstance(system, (str, Path)):
            system = as_path(system, f"the path of system {name!r}")
            if not system.exists():
                msg = f"system {name!r}: there is no run file or folder {str(system)!r}"
                raise SettingError(msg)
        elif (retriever_class := _retriever_class(system)) is not None:
            try:
                system = retriever_class(system)
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
        """Whether it retrieves from queries and corpus; run files do not."""
        return not isinstance(self.source, Path)

    def run(self, task: Task) -> Any:
        """Return its run on a data set, in any form that ``Run`` takes.

        Raises:
            FileFormatError: there is no run file for the data set, or it cannot be read.
            RunError: the system needs queries and corpus, and only judgements were passed.
        """
        if isinstance(self.source, Path):
            return read_run(_run_file(self.source, task))
        if task.dataset is None:
            msg = f"{task.name} has judgements only; {self.name} needs its queries and its corpus"
            raise RunError(msg)
        queries = dict(task.dataset.queries)
        if hasattr(self.source, "search"):
            corpus = task.dataset.corpus.as_dict()
            return self.source.search(corpus, queries, self.top_k, _SCORE_FUNCTION)
        retrieve: Callable[..., Any] = self.source
        return retrieve(queries, task.dataset.corpus)

    def run_file(self, task: Task) -> Path | None:
        """Return its run file for a data set; None if it has none, or retrieves."""
        if not isinstance(self.source, Path):
            return None
        try:
            return _run_file(self.source, task)
        except FileFormatError:
            return None

    def findings(self, task: Task) -> tuple[Finding, ...]:
        """Return what the system cannot find, if it can say so: a Haystack pipeline can."""
        find = getattr(self.source, "retrieval_findings", None)
        if find is None or task.dataset is None:
            return ()
        findings: tuple[Finding, ...] = find(highest_grades_of(task.qrels))
        return findings

    def fingerprint(self, task: Task) -> str:
        """Return a text that identifies the system, so that its saved runs can be used again."""
        if isinstance(self.source, Path):
            file = self.run_file(task)
            return "no run file" if file is None else file_sha256(file)
        stated = getattr(self.source, "fingerprint", None)
        kind = getattr(self.source, "__qualname__", type(self.source).__qualname__)
        if stated is None:
            from beir_eval.core.own_code import code_of  # noqa: PLC0415 - not for run files

            own_code = code_of([self.source]).own
            identity = f"{self.name} ({kind}) {own_code}"
        else:
            identity = stated() if callable(stated) else stated
        return f"{identity}, top {self.top_k}" if hasattr(self.source, "search") else str(identity)


def _run_file(path: Path, task: Task) -> Path:
    """Return the path if it is a file, else the run file in it that is named after the data set.

    The file of MTEB's predictions for the task of this data set counts too.

    Raises:
        FileFormatError: there is no such file, or there are several.
    """
    if path.is_file():
        return path
    name = task.name
    predictions = predictions_stem(name if task.info is None else task.info.name)
    for stem in (name, name.replace("/", "-"), predictions):
        parent = path / Path(stem).parent
        run_files = sorted(
            file
            for file in parent.glob("[!.]*")
            if file_stem(file) == Path(stem).name and file.is_file() and is_run_file(file)
        )
        if len(run_files) > 1:
            problem = f"several run files for {name}: {', '.join(file.name for file in run_files)}"
            raise FileFormatError(path, problem)
        if run_files:
            return run_files[0]
    raise FileFormatError(path, f"no run file for {name}; expected {name}.trec or the like")


def mteb_task(name: str) -> str:
    """Return the name of MTEB's task for a data set, which has BEIR's name or one of its own.

    >>> mteb_task("fiqa"), mteb_task("our-tickets")
    ('FiQA2018', 'our-tickets')
    """
    return MTEB_TASKS.get(name, name)


def predictions_stem(name: str) -> str:
    """Return the name, without its ending, of the file of MTEB's predictions for a data set.

    >>> predictions_stem("fiqa")
    'FiQA2018_predictions'
    """
    return f"{mteb_task(name)}_predictions"
