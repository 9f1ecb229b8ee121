"""How anything looks, whatever it is: text tables, and figures as Vega-Lite specifications.

Inside: ``tables``, ``figure`` (one drawing with its data), ``charts`` (the kinds of drawings) and
``chart_parts``.

Public: ``Table`` and its ``Cell``, ``Figure``.
"""

from beir_eval.display.figure import Figure
from beir_eval.display.tables import Cell, Table

__all__ = ["Cell", "Figure", "Table"]
