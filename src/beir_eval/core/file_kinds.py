"""The kind of a file that was taken for another one, for messages that name the right call."""

from __future__ import annotations

from collections.abc import Mapping

from beir_eval.core.column_names import DOC_NAMES, QUERY_NAMES, matching_names

#: (what messages call the record, the class that loads it, fields that only it has).
#: ``core`` imports none of these classes; a test compares the rows with them.
SAVED_RECORDS = (
    ("result", "EvaluationResult", {"query_ids", "values", "provenance"}),
    ("comparison", "Comparison", {"systems", "scores", "differences"}),
    ("comparison by slices", "SlicedComparison", {"columns", "slices"}),
    ("curve of checkpoints", "CheckpointCurve", {"checkpoints", "points"}),
    ("result of stages", "StagedResult", {"stages", "losses"}),
    ("comparison over data sets", "AcrossDatasets", {"averages", "by_dataset"}),
    ("experiment power", "ExperimentPower", {"fewest_differing", "smallest_margin"}),
    ("validation", "Validation", {"inputs", "findings"}),
    ("score table", "TableFacts", {"max_grade", "ids_compared"}),
)
_TREC_COLUMNS = 6


def kind_of_json(content: object) -> tuple[str, str]:
    """Return what parsed JSON is, and the call that reads it; two empty texts if it is unknown.

    >>> kind_of_json({"q1": {"d1": 0.5}})
    ('JSON of a run or of judgements', 'read_run(path) or read_qrels(path)')
    """
    if isinstance(content, list) and content:
        kind, call = kind_of_json(content[0])
        if kind.startswith("a saved "):
            return (
                f"a list whose first entry is {kind}, as evaluate -o r.json writes it",
                f"{call.partition('.')[0]}.from_content(entry, path) for each entry",
            )
        return "", ""
    if not isinstance(content, Mapping) or not content:
        return "", ""
    for kind, name, fields in SAVED_RECORDS:
        if fields <= content.keys():
            return f"a saved {kind}", f"{name}.load(path)"
    if all(isinstance(value, Mapping) for value in content.values()):
        return "JSON of a run or of judgements", "read_run(path) or read_qrels(path)"
    return "", ""


def kind_of_text(text: str) -> tuple[str, str]:
    """Return what a text that is not JSON is, and the call that reads it; else two empty texts.

    Args:
        text: the text of a file, or its beginning.

    >>> kind_of_text("q1 Q0 d1 1 0.9 bm25")
    ('a TREC run', 'read_run(path)')
    """
    line = next((line for line in text.splitlines() if line.strip()), "")
    if line.lstrip().startswith("<"):
        return "an HTML page, such as a report", ""
    if len(line.split()) == _TREC_COLUMNS:
        return "a TREC run", "read_run(path)"
    names = [name.strip(' "') for name in line.split(",")]
    if matching_names(names, QUERY_NAMES) and matching_names(names, DOC_NAMES):
        return "CSV of a run or of judgements", "read_run(path) or read_qrels(path)"
    return "", ""
