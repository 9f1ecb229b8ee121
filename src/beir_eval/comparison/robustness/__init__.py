"""What unjudged documents and ties could change about a comparison.

Inside: ``pair_trust`` (the record of every pair, and the documents most worth judging), ``bounds``
(how far unjudged documents can move a difference), ``pool`` (judged and unjudged documents, ranked)
and ``tables`` (the results as text). Public: nothing; ``beir_eval.comparison`` exports the records,
``PairTrust`` and ``DocumentToJudge``.
"""
