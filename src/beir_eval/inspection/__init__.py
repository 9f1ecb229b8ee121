"""Mistakes that can be seen in judgements and runs, before anybody believes the scores.

An ``Inspector`` looks at the judgements once, and at each run: first at a few rankings and at what
the evaluation counted anyway, then, only where one of these is unusual, at 60 rankings. A run of a
file has these looked at always, since to read it takes longer; ``validate`` passes whole runs to
``findings_of_run``.

Inside: ``inspect`` (the ``Inspector``, and the symptoms that start a search); ``finding``
(``Finding``, the thresholds of all, and their texts from ``texts.toml``); what is looked for in
``judgements``, ``rankings`` and ``scores`` (and the ranks beside them), in ``unmatched_ids``
(whether ids match, and the likely reason) and ``confused_inputs`` (one input for the other, or made
from it); ``spellings`` (how ids are written, and which ids of two lists are the same).

Public: nothing; ``beir_eval.validation`` exports ``Finding``.
"""
