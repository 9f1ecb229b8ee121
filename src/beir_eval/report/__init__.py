"""The HTML report: one file with tables, figures and the rankings of each query.

It shows a comparison, evaluation results or a benchmark.

Inside: ``write`` (``write_report``, and the content of the page), ``means_table``,
``further_sections`` (slices, averages over data sets, checkpoints), ``dataset_views`` (scores, top
lists and texts by query), ``payload`` (the data inside the file, trimmed to a size), ``page``
(rendering the HTML, its figures and JSON).
``assets`` (our template, style and scripts), ``vendor`` (scripts of other projects).

Public: ``write_report``, ``check_installed``.
"""

from beir_eval.report.page import check_installed
from beir_eval.report.write import write_report

__all__ = ["check_installed", "write_report"]
