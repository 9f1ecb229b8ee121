"""What unjudged documents and ties could change about a comparison.

Inside: ``analysis``, ``bounds`` (how far unjudged documents can move a difference), ``pool`` (the
unjudged documents, ranked) and ``tables``. Public: nothing; ``beir_eval.comparison`` exports the
records, ``PairTrust`` and ``DocumentToJudge``.
"""
