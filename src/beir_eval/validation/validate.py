"""``validate``: everything suspicious about qrels, runs, corpus and queries."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from beir_eval.core.column_names import USUAL_NAMES, StatedColumns
from beir_eval.errors import BeirEvalWarning, about_system
from beir_eval.inspection.finding import LEVELS, Finding, about
from beir_eval.measures import DEFAULT_MEASURES, parse_all
from beir_eval.validation.dataset_checks import check_corpus, check_folder, check_queries
from beir_eval.validation.inputs import (
    corpus_input,
    dataset_input,
    queries_input,
    run_inputs,
)
from beir_eval.validation.qrels_checks import check_qrels
from beir_eval.validation.result import InputSummary, Validation
from beir_eval.validation.run_checks import check_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from beir_eval.core.qrels import Qrels, QrelsMapping
    from beir_eval.core.run import Run, RunMapping
    from beir_eval.datasets import Corpus, Dataset
    from beir_eval.measures import Measure, MeasureLike


def validate(  # noqa: PLR0913 - one keyword an input
    qrels: str | Path | Dataset | Qrels | QrelsMapping,
    runs: str | Path | Sequence[str | Path] | Mapping[str, Any] | Run | RunMapping = (),
    measures: Iterable[MeasureLike] | MeasureLike | None = None,
    *,
    corpus: str | Path | Corpus | Mapping[str, Any] | None = None,
    queries: str | Path | Mapping[str, str] | None = None,
    split: str | None = None,
    format: str | None = None,  # noqa: A002
    qrels_format: str | None = None,
    columns: Mapping[str, str] | StatedColumns | None = None,
    where: Mapping[str, str] | None = None,
) -> Validation:
    """Return everything suspicious about judgements, runs, corpus and queries.

    Nothing is evaluated and no input is changed. Every kind of finding has a code, explained in the
    documentation on validation. Files are read as they are: judgements that disagree and lines that
    are not UTF-8 become findings, and the ranks of a run are compared with its scores.

    Args:
        qrels: the path of a file, or of a data-set folder, whose corpus and queries are then
            checked too; or a ``Dataset``, ``Qrels``, {query_id: {doc_id: grade}}, or a dataframe.
        runs: the path of a run or a list of paths; or {name: run}, where a run is a path, a
            ``Run``, {query_id: {doc_id: score}} or a dataframe; or one of these runs.
        measures: the measures that the runs are for, as for ``evaluate``: the largest cutoff of
            measures that are named is compared with the depth of the runs.
        corpus: the documents: a ``Corpus``, the path of a JSON-lines file, {doc_id: text} or
            {doc_id: {"title", "text"}}; by default those of the data set.
        queries: {query_id: text} or the path of a JSON-lines file; by default those of the data
            set.
        split: the split of a data-set folder; by default the official one of a BEIR data set, or
            "test".
        format: the name of the format of the run files, as for ``read_run``; None detects it.
        qrels_format: the name of the format of the judgements, as for ``read_qrels``; None detects
            it.
        columns: the names of columns in the files of runs and judgements, as for ``read_run`` and
            ``read_qrels``; each is used for the files that have such a column.
        where: {column: value} of the rows that count, as for these; each applies to the files that
            have such a column.

    Returns:
        The findings, errors first, and the size of each input.

    Raises:
        FileFormatError: a file cannot be read, or a run is a folder.
        QrelsError: the judgements are empty, or an id or a grade is not valid.
        RunError: a score is not a finite number, or an id is not valid.
        InputError: an argument has another type, or no file has a column of ``columns`` or
            ``where``.
        SettingError: ``split`` is not a name, or ``qrels`` is not a folder; an unknown format; or
            ``columns`` has another key.
        MeasureError: a measure does not exist.
        MissingExtraError: polars is needed for a file or a dataframe.
        OSError: a file cannot be read.

    >>> validation = validate({"q1": {"d1": 1, "d2": 0}}, {"q1": {"d1": 0.5, "d3": 0.5}})
    >>> [(finding.code, finding.level) for finding in validation.findings]
    [('constant-scores', 'error'), ('tied-scores', 'warning')]
    """
    chosen: tuple[Measure, ...] = DEFAULT_MEASURES if measures is None else parse_all(measures)
    names = StatedColumns.read(columns, tuple(USUAL_NAMES), where, is_shared=True)
    inputs: list[InputSummary] = []
    findings: list[Finding] = []
    with warnings.catch_warnings():
        # Each of these warnings is a finding.
        warnings.simplefilter("ignore", BeirEvalWarning)
        data = dataset_input(qrels, split, qrels_format, names)
        documents = data.corpus if corpus is None else corpus_input(corpus)
        texts = data.queries if queries is None else queries_input(queries)
        judged = data.judged.qrels
        inputs.append(
            InputSummary(
                role="qrels",
                name=data.judged.name,
                queries=len(judged),
                documents=len(judged.doc_ids),
            )
        )
        findings += about(data.judged.name, check_qrels(data.judged, chosen))
        if data.folder is not None:
            tables = {"corpus": documents, "queries": texts}
            missing = [name for name, table in tables.items() if table is None]
            findings += about(str(data.folder), check_folder(missing))
        if texts is not None:
            inputs.append(InputSummary(role="queries", name=texts.name, queries=len(texts.texts)))
            about_texts = check_queries(texts, judged, data.judged_elsewhere())
            findings += about(texts.name, about_texts)
        if documents is not None:
            known = {} if texts is None else texts.texts
            count, about_corpus = check_corpus(documents.documents, judged, known)
            inputs.append(InputSummary(role="corpus", name=documents.name, documents=count))
            findings += about(documents.name, about_corpus)
        for system in run_inputs(runs, format, names):
            with about_system(system.name):
                findings += about(system.name, check_run(system, judged, chosen))
            count, number = len(system.run), sum(len(docs) for _, docs, _ in system.run.rankings())
            summary = InputSummary(role="run", name=system.name, queries=count, documents=number)
            inputs.append(summary)
    names.refuse_unused()
    findings.sort(key=lambda finding: LEVELS.index(finding.level))
    return Validation(inputs=tuple(inputs), findings=tuple(findings))
