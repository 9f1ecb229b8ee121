"""Tables and figures that other packages fill: text tables, figures as Vega-Lite, progress bars.

Inside: ``tables``, ``figure`` (one drawing with its data), ``charts`` (the kinds of drawings),
``chart_parts`` and ``progress`` (the bar that all progress is shown with).

Public: ``Table`` and its ``Cell``, ``Figure``.
"""

from beir_eval.display.figure import Figure
from beir_eval.display.tables import Cell, Table

__all__ = ["Cell", "Figure", "Table"]
