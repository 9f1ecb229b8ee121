"""The report: one HTML file that shows a comparison, results or a benchmark, query by query.

Inside: ``write`` (what is gathered), ``dataset_views`` (systems on the queries of a data set),
``payload``, ``query_view``, ``texts`` and ``json_text`` (the data inside the file, trimmed to a
size), ``means_table`` and ``narrative`` (tables and sentences), ``drawn`` (figures for a page),
``page`` (template, policy, licences); ``assets`` (template, style, scripts) and ``vendor`` (scripts
of others).

Public: ``write_report``, ``check_installed``.
"""

from beir_eval.report.page import check_installed
from beir_eval.report.write import write_report

__all__ = ["check_installed", "write_report"]
