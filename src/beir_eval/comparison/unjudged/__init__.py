"""What unjudged documents could change about a comparison.

A *completion* gives every unjudged document of the collection a grade from 0 to the highest of the
qrels, retrieved or not, alike in all systems. Nothing else is assumed about them.

Inside: ``analysis`` (the record of every pair, whether a completion could change its verdict, and
the documents most worth judging), ``pool`` (judged and unjudged documents, ranked, and scores under
a completion), ``bounds`` (of the differences over all completions, by a measure as a sum over
documents) and ``tables`` (the results as text).

Public: nothing; ``beir_eval.comparison`` exports the records, ``UnjudgedEffect`` and
``DocumentToJudge``.
"""
