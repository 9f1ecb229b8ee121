"""Tables and figures, without knowledge of what they show.

Inside: ``document`` (what a result shows, the same in every output), ``tables`` (Markdown, HTML,
LaTeX, CSV; marks and colours of verdicts), ``figure`` (a Vega-Lite specification with its data),
``charts`` (a function for each kind of figure).

Public: ``Table`` and its ``Cell``, ``Figure``.
"""

from beir_eval.display.figure import Figure
from beir_eval.display.tables import Cell, Table

__all__ = ["Cell", "Figure", "Table"]
