"""What unjudged documents and ties could change about a comparison.

Inside: ``analysis``, ``bounds`` (how far unjudged documents can move a difference), ``pool`` (the
unjudged documents, ranked), ``records`` and ``tables``. What is public of it is exported by
``beir_eval.comparison``.
"""
