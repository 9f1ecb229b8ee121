"""Judgements as lines of text: TREC's four columns, BEIR's three."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beir_eval.adapters.dataset_folder import header_of_qrels
from beir_eval.adapters.formats import BEIR_QRELS_COLUMNS, TREC_QRELS_COLUMNS
from beir_eval.core.files import read_number, split_fields
from beir_eval.errors import FileFormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from beir_eval.core.files import FileContent


def read(content: FileContent, kind: str) -> tuple[list[str], list[str], list[float]]:
    """Return query ids, document ids and grades, line by line.

    Raises:
        FileFormatError: a line with another number of columns, an empty id, a grade that is not a
            finite number, or no judgement at all.
    """
    queries: list[str] = []
    documents: list[str] = []
    grades: list[float] = []
    rows = _trec(content) if kind == "trec" else _beir(content)
    for number, fields in rows:
        if not fields[0] or not fields[-2]:
            raise FileFormatError(content.path, "an id is empty", line=number)
        queries.append(fields[0])
        documents.append(fields[-2])
        grades.append(read_number(content.path, number, "grade", fields[-1]))
    if kind == "trec":
        _refuse_run(content, queries, documents, grades)
    if not queries:
        problem = "no judgement in it; expected lines such as 'q1 0 d1 1' or 'q1<tab>d1<tab>1'"
        raise FileFormatError(content.path, problem)
    return queries, documents, grades


def _refuse_run(
    content: FileContent, queries: Sequence[str], documents: Sequence[str], grades: Sequence[float]
) -> None:
    """Raise FileFormatError for four columns of MS MARCO: query, document, rank, score."""
    first = [place for place, query in enumerate(queries) if query == queries[0]]
    ranks = [documents[place] for place in first]
    counted = [str(rank) for rank in range(1, len(first) + 1)]
    if ranks == counted and any(not grades[place].is_integer() for place in first):
        problem = (
            "the third column counts 1, 2, … and the fourth holds fractions: this looks like a run "
            "(query, document, rank, score), not like qrels; read it with read_run"
        )
        raise FileFormatError(content.path, problem)


def _trec(content: FileContent) -> Iterator[tuple[int, list[str]]]:
    for number, line in _lines(content):
        if line.startswith("#"):
            continue
        fields = split_fields(line)
        if len(fields) != TREC_QRELS_COLUMNS:
            problem = (
                f"{len(fields)} columns, expected 4 (query, iteration, document, grade) separated "
                "by blanks or tabs"
            )
            raise FileFormatError(content.path, problem, line=number)
        yield number, fields


def _beir(content: FileContent) -> Iterator[tuple[int, list[str]]]:
    """Split at tabs, where a line has any: ids may hold blanks. The first row may be a header."""
    is_first = True
    for number, line in _lines(content):
        by_tab = [field.strip(" ") for field in line.split("\t")]
        fields = by_tab if len(by_tab) > 1 else split_fields(line)
        if len(fields) != BEIR_QRELS_COLUMNS:
            found = f"{len(fields)} columns"
            problem = f"{found}, expected 3 (query, document, grade) separated by tabs"
            raise FileFormatError(content.path, problem, line=number)
        if not (is_first and header_of_qrels(fields)):
            yield number, fields
        is_first = False


def _lines(content: FileContent) -> Iterator[tuple[int, str]]:
    """Yield (1-based number, line without its end) of every line that is not blank."""
    for number, line in enumerate(content.text().split("\n"), start=1):
        bare = line.removesuffix("\r")
        if bare.strip():
            yield number, bare
