"""Objects in memory as the rankings of a ``Run``: one module per kind of object.

Inside: ``base`` (what every source provides); ``mapping`` (dicts of dicts); ``columns`` (rankings
one after the other, whatever holds the documents), and of that kind ``lists``, ``dataframe`` and
``topk_arrays`` with ``array_inputs``; ``search`` (documents that are known by number) and
``scores``. Nothing is public: ``Run`` chooses the source.
"""
