"""The sources of a ``Run``: one module per kind of object that holds rankings.

Inside: ``base`` (the interface of a source, the blocks it yields, checks of scores); ``mapping``
(dicts of dicts); ``columns`` (rankings in flat columns), which ``lists``, ``dataframe`` and
``topk_arrays`` use; ``array_inputs`` (checks of top-k arrays); ``chunks`` (chunks as their
documents); ``parts`` (rows that need not fit into memory). Nothing is public: ``Run`` chooses the
source.
"""
