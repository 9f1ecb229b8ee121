"""``Benchmark``: evaluate many systems on many data sets, with saved runs and results.

``Benchmark(datasets, systems, folder).run()`` returns a ``BenchmarkResult``. Run again after an
interruption, it resumes from what is saved.
"""

from __future__ import annotations

import hashlib
import json
import operator
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval._version import __version__
from beir_eval.adapters.dataset_folder import dataset_name, is_dataset
from beir_eval.adapters.readers import read_qrels
from beir_eval.benchmark.cache import CacheEntry, check_folder_name, locked
from beir_eval.benchmark.result import BenchmarkResult
from beir_eval.benchmark.systems import System, Task
from beir_eval.core.files import as_path, file_stem
from beir_eval.core.progress import progress_bar
from beir_eval.core.qrels import Qrels
from beir_eval.datasets.catalogue import find_info
from beir_eval.datasets.dataset import Dataset, load_datasets
from beir_eval.errors import NotEvaluatedError, SettingError, check_count, shown
from beir_eval.evaluation.coverage import warn_of_content
from beir_eval.evaluation.evaluator import Evaluator, evaluate_without_warning
from beir_eval.evaluation.records import Retrieval, Reused
from beir_eval.measures import DEFAULT_MEASURES, MeasureLike, parse_all, with_rel

if TYPE_CHECKING:
    from beir_eval.evaluation.result import EvaluationResult
    from beir_eval.measures import Measure


class Benchmark:
    """An evaluation of every system on every data set, with saved runs and results.

    All systems are evaluated in the same way: ties are broken as in trec_eval 9
    (``ties="trec_eval9"``); judged queries that a run does not have count as empty rankings
    (``missing="zero"``); if a document is listed twice, only its best-ranked copy counts
    (``duplicates="first"``); documents whose id equals the query id are removed if the conventions
    of the data set say so (``drop_identical_ids``).

    Args:
        datasets: the data sets: one, a list of them, or {name: data set}. Each is one of

            - the folder of a data set, or a folder of several (such as CQADupStack's forums), which
              adds all of them;
            - a qrels file: judgements without queries and corpus, enough for systems that are run
              files;
            - a ``Dataset``;
            - ``Qrels``, in {name: data set} only.
        systems: {name: system}. Each system is one of

            - a run file, or a folder of run files that are named after the data sets;
            - a callable ``(queries, corpus) -> run`` that takes {query_id: text} and a ``Corpus``,
              and returns a ``Run`` or anything that ``Run`` takes;
            - a BEIR retriever: an object with ``search(corpus, queries, top_k, score_function)``;
            - a Haystack pipeline whose document store holds the corpus, or a ``PipelineRetriever``.

            Saved runs and results are used again only for the same system. A run file is identified
            by its content; another system by its attribute ``fingerprint`` (a text, for example of
            the checkpoint, or a function that returns one), else by its name here, the name of its
            class or function, and the file that defines it, but not the modules that this file
            imports. What a reused run is read from, and when it was saved, is a warning of its
            result.
        measures: a measure or a list of measures, each a name in any spelling that ``parse`` reads
            or a ``Measure``; by default nDCG, MAP, Recall, R_cap, Precision and MRR at 1, 3, 5, 10,
            100 and 1,000.
        folder: the folder of runs, results and logs: ``<folder>/<data set>/<system>/``.
        rel: the lowest grade that is relevant, for every measure that takes a ``rel`` and does not
            state it; as in ``evaluate``. Tables then list MAP as MAP(rel=2).
        top_k: how many documents a BEIR retriever returns. Other systems do not use
            it.
        keep_top: how many of the best documents of each query a result keeps (its ``top``); 0 for
            none. If it is above 0 and differs from that of the saved results, these are computed
            again from the saved runs; with 0, saved results are used without what they keep.
        progress: whether to show a progress bar, on a terminal or in a notebook. Without tqdm, none
            is shown.

    Attributes:
        folder: the folder of runs, results and logs.
        measures: the measures, in the order given.

    Raises:
        SettingError: a name cannot be that of a folder, two data sets have the same name, a data
            set or a system is none of the above, a run file does not exist, or ``top_k`` is below 1
            for a BEIR retriever.
        MeasureError: a measure does not exist (UnknownMeasureError), its parameter or cutoff is
            impossible, or no measure is named; or ``rel`` is not a finite number above 0.
        QrelsError: the judgements of a data set are empty or not valid.
        FileFormatError, OSError: a data set cannot be read.
        MissingExtraError: a data set is in Parquet files, and polars is not installed.
    """

    def __init__(  # noqa: PLR0913 - one keyword a setting
        self,
        datasets: Iterable[Any] | Mapping[str, Any],
        systems: Mapping[str, Any],
        measures: Iterable[MeasureLike] | MeasureLike | None = None,
        *,
        folder: str | Path = "benchmark",
        rel: float | None = None,
        top_k: int = 1000,
        keep_top: int = 0,
        progress: bool = False,
    ) -> None:
        """Read the judgements; check everything that needs no retrieval."""
        self.folder = as_path(folder, "the folder")
        check_count("keep_top", keep_top, least=0)
        parsed = DEFAULT_MEASURES if measures is None else parse_all(measures)
        self.measures: tuple[Measure, ...] = with_rel(parsed, rel)
        self._tasks = list(_read_tasks(datasets))
        if not systems:
            raise SettingError("there is no system; pass {name: system}")
        self._systems = {
            check_folder_name("system", name): System.from_object(name, system, top_k)
            for name, system in systems.items()
        }
        _check_distinct_folders([task.name for task in self._tasks], list(self._systems))
        self._keep_top = operator.index(keep_top)
        self._progress = progress

    @property
    def datasets(self) -> dict[str, Dataset]:
        """{name: data set}, for ``write_report``; data sets with only judgements are left out."""
        return {task.name: task.dataset for task in self._tasks if task.dataset is not None}

    def run_file(self, system: str, name: str) -> Path | None:
        """Return the run file of a system for a data set; None if there is none, or it retrieves.

        Args:
            system: the name of the system.
            name: the name of the data set.

        Raises:
            NotEvaluatedError: there is no such system or data set.
        """
        task = next((task for task in self._tasks if task.name == name), None)
        if system not in self._systems or task is None:
            msg = f"there is no system {shown(system)} with a data set {shown(name)}"
            raise NotEvaluatedError(msg)
        return self._systems[system].run_file(task)

    def run(self, *, measures: Sequence[str] | None = None) -> BenchmarkResult:
        """Retrieve and evaluate what is not saved yet, and return all results.

        It can be interrupted at any point and run again. Runs are saved, except those read from run
        files. A saved run is used if its file is intact and it is of the same data set and system;
        a saved result, if also the measures and the version of beir-eval are the same. Queries are
        not run again to check this. A system that fails on a data set is listed in
        ``BenchmarkResult.failures``, and the benchmark continues.

        Args:
            measures: the names of those that are looked at: no warning is about others. All by
                default.

        Raises:
            SettingError: another process uses the same folder.
            OSError: the folder cannot be made or locked.

        Warns:
            BeirEvalWarning: the document ids of a system do not match those of a data set's qrels,
                or there is a sign of a mistake in its rankings or in the judgements.
        """
        with locked(self.folder):
            result = self._run()
        for system, by_dataset in result.results.items():
            for name, evaluated in by_dataset.items():
                warn_of_content(evaluated, f"{system}, {name}", dataset=name, measures=measures)
        return result

    def _run(self) -> BenchmarkResult:
        """Evaluate every system on every data set; a failure is recorded and logged."""
        results: dict[str, dict[str, EvaluationResult]] = {name: {} for name in self._systems}
        failures: dict[str, dict[str, str]] = {}
        jobs = [(task, name) for task in self._tasks for name in self._systems]
        with progress_bar(shown=self._progress, total=len(jobs)) as advance:
            for task, name in jobs:
                advance(0, f"{task.name}: {name}")
                try:
                    results[name][task.name] = self._evaluate(task, self._systems[name])
                except Exception as error:  # noqa: BLE001 - a system may raise anything
                    file = self._systems[name].run_file(task)
                    is_named = file is None or str(file) in str(error)
                    problem = str(error) if is_named else f"{file}: {error}"
                    failures.setdefault(name, {})[task.name] = f"{type(error).__name__}: {problem}"
                    CacheEntry(self.folder / task.name / name, {}).log(
                        failed=failures[name][task.name]
                    )
                advance()
            advance(0, "done")
        infos = {task.name: task.info for task in self._tasks}
        splits = {task.name: task.split for task in self._tasks}
        return BenchmarkResult(results, failures, infos, splits)

    def _evaluate(self, task: Task, system: System) -> EvaluationResult:
        """Return the saved result of a system on a data set, or compute and save it."""
        entry = self._cache_entry(task, system)
        saved_result = entry.saved_result()
        if saved_result is not None:
            # For keep_top=0 a result that kept documents is used too, without these documents.
            if not self._keep_top:
                saved_result = saved_result.model_copy(update={"top": None})
            return _with_reused(saved_result, entry) if system.retrieves else saved_result
        run = entry.saved_run() if system.retrieves else system.run(task)
        is_saved = system.retrieves and run is not None
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
            result = evaluate_without_warning(evaluator, run, system.name)  # ``run`` warns
        except Exception:
            entry.discard()
            raise
        findings = system.findings(task)
        if findings:
            retrieval = Retrieval(seconds={}, findings=findings)
            result = result.model_copy(update={"retrieval": retrieval})
        entry.save_result(result)
        entry.log(result=True, seconds=round(time.perf_counter() - start, 3))
        return _with_reused(result, entry) if is_saved else result

    def _cache_entry(self, task: Task, system: System) -> CacheEntry:
        """Return the files of a system on a data set, and what they must be made from."""
        made_from: dict[str, Any] = {
            "dataset": _data_set_fingerprint(task, with_corpus=system.retrieves),
            "system": system.fingerprint(task),
            "measures": list(map(str, self.measures)),
            "package_version": __version__,
            **({"keep_top": self._keep_top} if self._keep_top else {}),
        }
        return CacheEntry(self.folder / task.name / system.name, made_from)


def _with_reused(result: EvaluationResult, entry: CacheEntry) -> EvaluationResult:
    """Return a result that says that the rankings of its run were read from a file."""
    at = entry.saved_at()
    num_queries = len(result.query_ids)
    findings = () if result.retrieval is None else result.retrieval.findings
    reused = Reused(
        file="/".join(entry.run_file.parts[-3:]),
        answers=num_queries,
        queries=num_queries,
        first_saved=at,
        last_saved=at,
    )
    return result.model_copy(
        update={"retrieval": Retrieval(seconds={}, reused=(reused,), findings=findings)}
    )


# Data sets


def _read_tasks(datasets: Iterable[Any] | Mapping[str, Any]) -> Iterator[Task]:
    """Yield every data set with its name, judgements and conventions."""
    if isinstance(datasets, (str, Path, Dataset, Qrels)):
        datasets = [datasets]
    named = (
        datasets.items()
        if isinstance(datasets, Mapping)
        else ((None, dataset) for dataset in datasets)
    )
    for given_name, source in named:
        for name, dataset in _read_data_sets(given_name, source):
            check_folder_name("data set", name, nested=True)
            if isinstance(dataset, Dataset):
                yield Task(name, dataset.qrels, dataset.info or find_info(name), dataset)
            else:
                yield Task(name, dataset, find_info(name), None)


def _read_data_sets(name: str | None, source: Any) -> Iterator[tuple[str, Any]]:
    """Yield (name, ``Dataset`` or ``Qrels``) of what a user passes as a data set."""
    if isinstance(source, Dataset):
        yield name or source.name, source
        return
    if isinstance(source, Qrels) and name is not None:
        yield name, source
        return
    path = as_path(source, "a data set (else a Dataset, or Qrels with a name)")
    if not path.is_dir():
        yield name or file_stem(path), read_qrels(path)
        return
    datasets = load_datasets(path)
    folder_name, is_single = name or dataset_name(path), is_dataset(path)
    for part, dataset in datasets.items():
        yield (folder_name if is_single else f"{folder_name}/{part}"), dataset


def _check_distinct_folders(datasets: list[str], systems: list[str]) -> None:
    """Raise SettingError unless the folders of all data sets and systems are distinct."""
    if not datasets or len(set(datasets)) < len(datasets):
        msg = f"data sets of different names were expected, not {datasets}"
        raise SettingError(msg)
    folders = {f"{name}/{system}" for name in datasets for system in systems}
    for name in datasets:
        clashes = {folder for folder in folders if f"{name}/".startswith(f"{folder}/")}
        if clashes:
            msg = f"the data set {name!r} and {clashes.pop()!r} would share a folder; rename one"
            raise SettingError(msg)


def _data_set_fingerprint(task: Task, *, with_corpus: bool) -> str:
    """Return the SHA-256 of the judgements and conventions; also of queries and corpus if asked."""
    digest = hashlib.sha256(task.qrels.fingerprint().encode())
    if task.info is not None and task.info.drop_identical_ids:
        digest.update(b"identical ids are left out")
    if with_corpus and task.dataset is not None:
        for text in (json.dumps(dict(task.dataset.queries)), task.dataset.corpus.fingerprint()):
            digest.update(text.encode(errors="surrogatepass"))
    return digest.hexdigest()
