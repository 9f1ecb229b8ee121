"""What those share who look for mistakes: evaluation, validation and the integrations.

Inside: ``texts`` (the level, meaning, consequence and remedy of each finding, from ``texts.toml``);
``ids`` (how two spellings of an id differ, and which ids of two lists are the same).

Public: nothing; ``beir_eval.validation`` exports ``FindingCode``.
"""
