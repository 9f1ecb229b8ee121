"""What unjudged documents and ties could change about a comparison.

Inside: ``pair_trust`` (the record of every pair, and the documents most worth judging), ``pool``
(judged and unjudged documents, ranked), ``bounds`` (how far unjudged documents can move a
difference), ``flips`` (whether they could change a verdict), ``certificates`` and
``max_t_certificate`` (verdicts that they certainly cannot change), ``ranges`` and
``extreme_statistics`` (the differences and statistics that are possible), ``expected`` (the
difference to expect) and ``tables`` (the results as text).

Public: nothing; ``beir_eval.comparison`` exports the records, ``PairTrust`` and
``DocumentToJudge``.
"""
