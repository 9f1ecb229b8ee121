"""What unjudged documents could change about a comparison.

A *completion* gives every unjudged document of the collection a grade from 0 to the highest of the
qrels, retrieved or not, alike in all systems. Nothing else is assumed about them.

Inside: ``analysis`` (the record of every pair, and the documents most worth judging), ``pool``
(judged and unjudged documents, ranked, and scores under a completion), ``formula`` (a measure as a
sum over documents), ``bounds`` (of the differences over all completions), ``verdict_changes``
(whether a completion could change a verdict) and ``tables`` (the results as text).

Public: nothing; ``beir_eval.comparison`` exports the records, ``UnjudgedEffect`` and
``DocumentToJudge``.
"""
