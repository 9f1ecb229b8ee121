"""Objects in memory as the rankings of a ``Run``: one module per kind of object.

Inside: ``base`` (what every source provides), ``mapping``, ``lists``, ``topk_arrays`` and
``dataframe``; ``search``, ``scores`` and ``array_inputs`` are shared by them. Nothing is public:
``Run`` chooses the source.
"""
