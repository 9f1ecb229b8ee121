"""What unjudged documents and ties could change about a comparison.

Inside: ``pair_trust`` (the record of every pair, and the documents most worth judging), ``pool``
(judged and unjudged documents, ranked), ``bounds`` (how far unjudged documents can move a
difference), ``flips`` (whether they could change a verdict), ``certificates`` (verdicts that they
certainly cannot change), ``expected`` (the difference to expect) and ``tables`` (the results as
text). Public: nothing; ``beir_eval.comparison`` exports the records, ``PairTrust`` and
``DocumentToJudge``.
"""
