"""Mistakes that can be seen in judgements and runs: what evaluation and validation share.

Inside: ``texts`` (the level, meaning, consequence and remedy of each finding, from ``texts.toml``).

Public: nothing; ``beir_eval.validation`` exports ``FindingCode``.
"""
