"""Mistakes that can be seen in judgements and runs: what evaluation and validation share.

Inside: ``texts`` (the level, meaning, consequence and remedy of each finding, from ``texts.toml``);
``ids`` (how two spellings of an id differ, and which ids of two lists are the same).

Public: nothing; ``beir_eval.validation`` exports ``FindingCode``.
"""
