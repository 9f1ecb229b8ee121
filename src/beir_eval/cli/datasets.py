"""The command ``beir-eval list datasets``: list BEIR's data sets, or describe one."""

from __future__ import annotations

from typing import Annotated

import typer

from beir_eval.cli.console import console, print_errors, print_table
from beir_eval.display.tables import Table


def list_datasets(
    name: Annotated[str | None, typer.Argument(help="Show all that is known of this one.")] = None,
) -> None:
    """List BEIR's data sets and their conventions, or show one."""
    from beir_eval.datasets.catalogue import DATASETS, info_of  # noqa: PLC0415

    with print_errors():
        if name is not None:
            info = info_of(name)
            values = {field: getattr(info, field) for field in type(info).__slots__} | {
                "url": info.url
            }
            for field, value in values.items():
                console.print(f"{field}: {_value_text(value)}", markup=False)
            return
        columns = ("name", "split", "queries", "documents", "rel/query", "BM25 nDCG@10", "notes")
        rows = []
        for info in DATASETS.values():
            marks = {
                "graded": info.graded,
                "drop identical ids": info.drop_identical_ids,
                f"mean of {len(info.parts)}": info.parts,
                "not public": not info.url,
            }
            bm25 = "" if info.bm25[0] is None else f"{info.bm25[0]:.4f}"
            counts = (f"{info.queries:,}", f"{info.documents:,}", f"{info.relevant_per_query}")
            notes = ", ".join(mark for mark, applies in marks.items() if applies)
            rows.append((info.name, info.split, *counts, bm25, notes))
        print_table(Table(columns, rows))


def _value_text(value: object) -> str:
    """Return the value of a field as text; None and empty values become "-"."""
    if isinstance(value, tuple):
        return ", ".join("-" if item is None else str(item) for item in value) or "-"
    return "-" if value is None or value == "" else str(value)
