"""Looking at one test set again and again: while a model trains, or while queries are judged.

Inside: ``ledger`` (the class ``Ledger``), ``ledger_file`` (its settings, first line and looks, and
the file: appended, locked, hashed), ``judge_until`` (the function, for two fixed systems).

Public: ``Ledger``, ``Look``, ``LedgerSettings``; ``judge_until``, ``SequentialComparison``.
"""

from beir_eval.comparison.ledger.judge_until import SequentialComparison, judge_until
from beir_eval.comparison.ledger.ledger import Ledger
from beir_eval.comparison.ledger.ledger_file import LedgerSettings, Look

__all__ = ["Ledger", "LedgerSettings", "Look", "SequentialComparison", "judge_until"]
