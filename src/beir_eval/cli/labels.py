"""Labels of queries: the options ``--slices`` and ``--clusters``.

They are columns from a data set, or from a file of labels.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beir_eval.adapters.dataset_folder import missing_tables
from beir_eval.core.column_names import QUERY_NAMES, matching_names
from beir_eval.core.files import FileContent
from beir_eval.errors import FileFormatError, InputError, SettingError, first_few
from beir_eval.significance.validation import is_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from beir_eval.core.qrels import Qrels

#: How ``--slices`` may begin, besides the path of a file.
LENGTH, RELEVANT, METADATA = "length", "relevant", "metadata."
#: The values of ``--slices`` that are no file, for messages.
_KINDS = f"{LENGTH}, {RELEVANT} or {METADATA}KEY"


def slice_columns(
    requests: Sequence[str],
    *,
    folder: Path | None,
    split: str | None,
    qrels: Qrels | None,
) -> dict[str, dict[str, str]]:
    """Return {column name: {query_id: label}} of the values of ``--slices``.

    Args:
        requests: each is "length", "relevant", "metadata.KEY" or the path of a file with a header,
            all with "=1,2,5" at the end for the numbers at which a slice begins.
        folder: the data-set folder with the judgements; None if they are a file, or not known.
        split: the split of the folder.
        qrels: the judgements; None if saved results are compared.

    Raises:
        InputError: a request names nothing that can be read, or two columns have the same name.
        FileFormatError, OSError: a file cannot be read.
        SettingError: edges that do not ascend, or edges for labels that are not numbers.
    """
    columns: dict[str, dict[str, str]] = {}
    for request in requests:
        for name, column in _columns_from(
            *_source_and_edges(request), folder, split, qrels
        ).items():
            if name in columns:
                msg = f"--slices names two columns {name!r}; rename one or leave it out"
                raise InputError(msg)
            columns[name] = column
    return columns


def _source_and_edges(request: str) -> tuple[str, dict[str, list[float]]]:
    """Return the two parts of "SOURCE=1,2,5": the source, and the argument ``edges`` if stated."""
    source, separator, text = request.rpartition("=")
    if not separator or Path(request).is_file():
        return request, {}
    try:
        return source, {"edges": [float(edge) for edge in text.split(",")]}
    except ValueError:
        msg = f"--slices {request}: numbers were expected behind =, such as {source}=1,2,5"
        raise InputError(msg) from None


def _columns_from(
    source: str,
    cutting: Mapping[str, Any],
    folder: Path | None,
    split: str | None,
    qrels: Qrels | None,
) -> dict[str, dict[str, str]]:
    """Return {column name: {query_id: label}} of one value of ``--slices`` without its edges.

    Args:
        source: "length", "relevant", "metadata.KEY" or the path of a file.
        cutting: the argument ``edges`` of ``cut``, if it is set.
        folder: the data-set folder with the judgements, or None.
        split: the split of the folder.
        qrels: the judgements, or None.
    """
    from beir_eval.comparison.slices import by_length, by_metadata, by_num_relevant  # noqa: PLC0415

    if Path(source).is_file():
        return _columns_of_file(Path(source), cutting)
    if source == RELEVANT:
        if qrels is None:
            msg = f"--slices {RELEVANT} counts judgements: give them and runs, not saved results"
            raise InputError(msg)
        return {RELEVANT: by_num_relevant(qrels, **cutting)}
    if source != LENGTH and not source.startswith(METADATA):
        msg = f"--slices {source}: there is no such file; give a file of labels, {_KINDS}"
        raise InputError(msg)
    if folder is None or "queries" in missing_tables(folder):
        msg = (
            f"--slices {source} reads the queries of a data set: give its folder as judgements, or "
            "a file of labels"
        )
        raise InputError(msg)
    if source == LENGTH:
        from beir_eval.datasets.dataset import load_dataset  # noqa: PLC0415

        return {LENGTH: by_length(load_dataset(folder, split).queries, **cutting)}
    key = source.removeprefix(METADATA)
    return {key: _labels(f"--slices {source}", by_metadata(folder, key), cutting)}


def _columns_of_file(path: Path, cutting: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return {heading: {query_id: label}} of a file; numbers are cut into slices."""
    return {
        name: _labels(f"column {name!r} of {path}", _numbers_or_texts(column), cutting)
        for name, column in read_columns(path).items()
    }


def read_columns(path: Path) -> dict[str, dict[str, str]]:
    """Return {heading: {query_id: text}} of a file of tab- or comma-separated values.

    Its first line is the header. The ids are in the column with a usual name of query ids.

    Raises:
        FileFormatError: there is no such column or no other, a line has another number of values,
            a value is longer than 128 KiB, or a query is listed twice.
    """
    text = FileContent(path).text().removeprefix("\ufeff")
    delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = [row for row in reader if row]
    except csv.Error as error:  # a value of more than 128 KiB, such as after a quote without an end
        problem = f"not a file of separated values ({error}); does a quote lack its end?"
        raise FileFormatError(path, problem, line=reader.line_num) from error
    header = [name.strip() for name in rows[0]] if rows else []
    id_names = matching_names(header, QUERY_NAMES)
    if len(id_names) != 1 or len(header) < 2:  # noqa: PLR2004 - ids and labels
        problem = (
            "a header was expected with query_id and a name for each column of labels, found "
            f"{first_few(header) or 'an empty file'}"
        )
        raise FileFormatError(path, problem, line=1)
    columns: dict[str, dict[str, str]] = {name: {} for name in header if name != id_names[0]}
    seen: set[str] = set()
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(header):
            problem = f"{len(header)} values were expected, found {len(row)}"
            raise FileFormatError(path, problem, line=number)
        values = dict(zip(header, map(str.strip, row), strict=True))
        query_id = values[id_names[0]]
        if not query_id or query_id in seen:
            problem = f"query {query_id!r} is listed twice" if query_id else "an empty query id"
            raise FileFormatError(path, problem, line=number)
        seen.add(query_id)
        for name, column in columns.items():
            if values[name]:
                column[query_id] = values[name]
    return columns


def _numbers_or_texts(column: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the column as numbers if all of its values are numbers, otherwise as it is."""
    if not all(value.isascii() and "_" not in value for value in column.values()):
        return column  # float() reads "1_0" as 10, and digits of other scripts
    try:
        return {query_id: float(value) for query_id, value in column.items()}
    except ValueError:
        return column


def _labels(what: str, column: Mapping[str, Any], cutting: Mapping[str, Any]) -> dict[str, str]:
    """Return {query_id: label}; numbers are cut into slices.

    Args:
        what: what messages call the column.
        column: {query_id: label or number}.
        cutting: the argument ``edges`` of ``cut``, if it is set.

    Raises:
        SettingError: edges for labels that are not numbers.
    """
    from beir_eval.comparison.slices import cut  # noqa: PLC0415

    if column and all(is_number(value) for value in column.values()):
        return cut(column, **cutting)
    if cutting:
        msg = f"{what}: its labels are not numbers, so they cannot be cut at numbers"
        raise SettingError(msg)
    return {query_id: str(value) for query_id, value in column.items()}


def cluster_labels(source: str, folder: Path | None) -> dict[str, str]:
    """Return {query_id: label} of the value of ``--clusters``.

    Args:
        source: "metadata.KEY", or the path of a file with a header, query ids and one column of
            labels.
        folder: the data-set folder with the judgements; None if they are a file, or not known.

    Raises:
        InputError: the source names nothing that can be read, or a file with several columns.
        FileFormatError, OSError: a file cannot be read.
    """
    path = Path(source)
    if path.is_file():
        columns = read_columns(path)
        if len(columns) > 1:
            msg = (
                f"--clusters {source}: one column of labels was expected besides the query ids, "
                f"found {first_few(columns)}"
            )
            raise InputError(msg)
        [labels] = columns.values()
        return labels
    if not source.startswith(METADATA):
        msg = f"--clusters {source}: there is no such file; give a file of labels or {METADATA}KEY"
        raise InputError(msg)
    if folder is None:
        msg = (
            f"--clusters {source} reads the queries of a data set: give its folder as judgements, "
            "or a file of labels"
        )
        raise InputError(msg)
    from beir_eval.comparison.slices import by_metadata  # noqa: PLC0415

    column = by_metadata(folder, source.removeprefix(METADATA))
    return {query_id: str(label) for query_id, label in column.items() if label is not None}
