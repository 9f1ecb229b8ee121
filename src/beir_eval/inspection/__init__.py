"""Mistakes that can be seen in judgements and runs, before anybody believes the scores.

Arrays in, findings out: ``findings_of_qrels`` looks at the judgements once, ``findings_of_run`` at
a sample of a run's rankings, at the ranks of the judged documents, and at the ranks that its file
states. Every evaluation does so; ``validate`` passes whole runs to the same functions.

Inside: ``finding`` (``Finding`` and the thresholds of all) with its ``texts`` (level, meaning,
consequence and remedy of each, from ``texts.toml``); ``judgements``; ``rankings``, which calls
``scores`` (and the ranks beside them) and ``document_ids``; ``swapped_inputs``; ``unmatched_ids``
(whether ids match, and the likely reason); ``spellings`` (how two spellings of an id differ, and
which ids of two lists are the same).

Public: nothing; ``beir_eval.validation`` exports ``Finding`` and ``FindingCode``.
"""
