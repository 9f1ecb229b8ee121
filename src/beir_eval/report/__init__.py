"""The report: one HTML file that shows a comparison, results or a benchmark, query by query."""

from beir_eval.report._page import check_installed
from beir_eval.report._writing import write_report

__all__ = ["check_installed", "write_report"]
