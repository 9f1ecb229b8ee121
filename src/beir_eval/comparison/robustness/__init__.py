"""What unjudged documents and ties could change about a comparison.

Inside: ``pair_trust`` (the record of every pair, and the documents most worth judging), ``bounds``
(how far unjudged documents can move a difference), ``flips`` (whether they could change a verdict),
``certificates`` (conditions under which they could not), ``expected`` (the difference if they were
relevant as often as judged ones), ``pool`` (judged and unjudged documents, ranked) and ``tables``
(the results as text). Public: nothing; ``beir_eval.comparison`` exports the records, ``PairTrust``
and ``DocumentToJudge``.
"""
