"""Many systems on many data sets, saved as they go, resumed where they stopped.

``Benchmark(datasets, systems, folder).run()`` returns a ``BenchmarkResult``: the table.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval._version import __version__
from beir_eval.adapters.dataset_folder import is_dataset, name_of
from beir_eval.adapters.readers import read_qrels
from beir_eval.benchmark.cache import Entry, check_name, locked
from beir_eval.benchmark.result import BenchmarkResult
from beir_eval.benchmark.systems import System, Task
from beir_eval.core.files import stem_of
from beir_eval.core.qrels import Qrels
from beir_eval.datasets.catalogue import known_info
from beir_eval.datasets.dataset import Dataset, load_datasets
from beir_eval.display.progress import progress_bar
from beir_eval.errors import SettingError
from beir_eval.evaluation.evaluator import Evaluator
from beir_eval.measures import DEFAULT_MEASURES, MeasureLike, parse_all

if TYPE_CHECKING:
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure


class Benchmark:
    """Evaluate every system on every data set.

    Args:
        datasets: folders of data sets, qrels files or ``Dataset`` objects, in a list or by name. A
            folder of several (CQADupStack's forums) is taken as all of them.
        systems: by name, each one of

            - a run file; or a folder of run files that are named after the data sets;
            - a callable ``(queries, corpus) -> run``, with {query_id: text} and a ``Corpus``, that
              returns anything ``Run`` takes;
            - a BEIR retriever: an object with ``search(corpus, queries, top_k, score_function)``;
            - a Haystack pipeline over a store that holds the corpus, or a ``PipelineRetriever``.

            Whether saved runs of a callable or a retriever are still those of the same system is
            told by its attribute ``fingerprint``, a text (of its checkpoint, say), else by its
            name here and that of its class.
        folder: where runs, results and logs are kept: ``<folder>/<data set>/<system>/``.
        measures: what to compute; by default BEIR's suite.
        top_k: how many documents a retriever is asked for.
        keep_top: as ``Evaluator``; for another number the results are made again, not the runs.
        progress: whether a progress bar is shown, on a terminal or in a notebook (with the package
            tqdm).

    Rules: ties as trec_eval, missing queries count as empty rankings, of a document that stands
    twice the better copy counts, documents whose id is that of their query are left out where the
    data set's conventions say so.

    Raises:
        SettingError: a name that cannot be a folder's, two data sets of one name, a system that is
            none of these, a ``top_k`` below 1 for a BEIR retriever.
        FileFormatError, OSError: a data set cannot be read.
    """

    def __init__(  # noqa: PLR0913 - one keyword a setting
        self,
        datasets: Iterable[Any] | Mapping[str, Any],
        systems: Mapping[str, Any],
        folder: str | Path = "benchmark",
        *,
        measures: Iterable[MeasureLike] | MeasureLike | None = None,
        top_k: int = 1000,
        keep_top: int = 0,
        progress: bool = False,
    ) -> None:
        """Check everything that can be checked before the first retrieval."""
        self.folder = Path(folder)
        self.measures: tuple[Measure, ...] = (
            DEFAULT_MEASURES if measures is None else parse_all(measures)  # type: ignore[arg-type]
        )
        self._tasks = list(_tasks(datasets))
        if not systems or not hasattr(systems, "items"):
            msg = f"systems must be {{name: system}}, not {systems!r}"
            raise SettingError(msg)
        self._systems = {
            check_name("system", name): System.of(name, system, top_k)
            for name, system in systems.items()
        }
        _check_folders([task.name for task in self._tasks], list(self._systems))
        self._keep_top = keep_top
        self._progress = progress

    @property
    def datasets(self) -> dict[str, Dataset]:
        """{name: data set} of those that are more than judgements, for ``write_report``."""
        return {task.name: task.dataset for task in self._tasks if task.dataset is not None}

    def run(self) -> BenchmarkResult:
        """Do what is not done yet, and return all results.

        Interrupted at any point, it goes on where it stopped when it is run again: a run or a
        result is taken from disk only if it is whole and was made from the same data set by the
        same system. What fails is named in ``BenchmarkResult.failures``; the others go on.

        Raises:
            SettingError: another process is at work in the same folder.
        """
        with locked(self.folder):
            return self._run()

    def _run(self) -> BenchmarkResult:
        results: dict[str, dict[str, EvaluationResult]] = {name: {} for name in self._systems}
        failures: dict[str, dict[str, str]] = {}
        jobs = [(task, name) for task in self._tasks for name in self._systems]
        with progress_bar(shown=self._progress, total=len(jobs)) as advance:
            for task, name in jobs:
                advance(0, f"{task.name}: {name}")
                try:
                    results[name][task.name] = self._evaluate(task, self._systems[name])
                except Exception as error:  # noqa: BLE001 - another's code; the others go on
                    failures.setdefault(name, {})[task.name] = f"{type(error).__name__}: {error}"
                    Entry(self.folder / task.name / name, {}).log(failed=failures[name][task.name])
                advance()
            advance(0, "done")
        infos = {task.name: task.info for task in self._tasks}
        splits = {task.name: task.split for task in self._tasks}
        return BenchmarkResult(results, failures, infos, splits)

    def _evaluate(self, task: Task, system: System) -> EvaluationResult:
        entry = self._entry(task, system)
        found = entry.saved_result()
        if found is not None:
            return found
        run = entry.saved_run() if system.retrieves else system.run(task)
        if run is None:
            start = time.perf_counter()
            run = entry.save_run(system.run(task))
            entry.log(run=True, seconds=round(time.perf_counter() - start, 3))
        start = time.perf_counter()
        evaluator = Evaluator(
            task.qrels,
            self.measures,
            duplicates="first",
            drop_identical_ids=task.info is not None and task.info.drop_identical_ids,
            keep_top=self._keep_top,
        )
        try:
            result = evaluator.evaluate(run, name=system.name)
        except Exception:
            entry.discard()
            raise
        entry.save_result(result)
        entry.log(result=True, seconds=round(time.perf_counter() - start, 3))
        return result

    def _entry(self, task: Task, system: System) -> Entry:
        made_from: dict[str, Any] = {
            "dataset": _fingerprint(task, with_corpus=system.retrieves),
            "system": system.fingerprint(task),
            "measures": list(map(str, self.measures)),
            "package_version": __version__,
            **({"keep_top": self._keep_top} if self._keep_top else {}),
        }
        return Entry(self.folder / task.name / system.name, made_from)


# Data sets


def _tasks(datasets: Iterable[Any] | Mapping[str, Any]) -> Iterator[Task]:
    if isinstance(datasets, (str, Path, Dataset, Qrels)):
        datasets = [datasets]
    if not isinstance(datasets, Iterable):
        msg = f"datasets must be folders, qrels files or Datasets in a list, not {datasets!r}"
        raise SettingError(msg)
    named = datasets.items() if isinstance(datasets, Mapping) else ((None, one) for one in datasets)
    for name, one in named:
        for found, dataset in _read(name, one):
            check_name("data set", found, nested=True)
            if isinstance(dataset, Dataset):
                yield Task(found, dataset.qrels, dataset.info or known_info(found), dataset)
            else:
                yield Task(found, dataset, known_info(found), None)


def _read(name: str | None, one: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(one, Dataset):
        yield name or one.name, one
        return
    if isinstance(one, Qrels) and name is not None:
        yield name, one
        return
    if not isinstance(one, (str, Path)):
        msg = f"a data set is a folder, a qrels file or a Dataset, not {one!r}"
        raise SettingError(msg)
    path = Path(one)
    if not path.is_dir():
        yield name or stem_of(path), read_qrels(path)
        return
    found = load_datasets(path)
    whole, is_single = name or name_of(path), is_dataset(path)
    for part, dataset in found.items():
        yield (whole if is_single else f"{whole}/{part}"), dataset


def _check_folders(datasets: list[str], systems: list[str]) -> None:
    """Raise SettingError unless every data set and system has a folder of its own."""
    if not datasets or len(set(datasets)) < len(datasets):
        msg = f"data sets of different names were expected, not {datasets}"
        raise SettingError(msg)
    folders = {f"{name}/{system}" for name in datasets for system in systems}
    for name in datasets:
        clash = {folder for folder in folders if f"{name}/".startswith(f"{folder}/")}
        if clash:
            msg = f"the data set {name!r} and {clash.pop()!r} would share a folder; rename one"
            raise SettingError(msg)


def _fingerprint(task: Task, *, with_corpus: bool) -> str:
    digest = hashlib.sha256(task.qrels.fingerprint().encode())
    if task.info is not None and task.info.drop_identical_ids:
        digest.update(b"identical ids are left out")
    if with_corpus and task.dataset is not None:
        for text in (json.dumps(dict(task.dataset.queries)), task.dataset.corpus.fingerprint()):
            digest.update(text.encode(errors="surrogatepass"))
    return digest.hexdigest()
