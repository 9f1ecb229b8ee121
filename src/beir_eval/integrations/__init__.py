"""Interfaces of other tools, computed by this package, and what runs queries for them.

Inside: ``beir`` and ``pytrec_eval`` (drop-in replacements; the names of trec_eval's measures are in
``_trec_eval_names``), ``haystack`` (pipelines), ``retrieval`` (any function as a retriever; runs
the queries of pipelines too), ``sentence_transformers`` (evaluators for its trainers),
``ir_measures`` (a provider), ``spark`` (Apache Spark). Their tests are in ``tests/integrations``;
those that run inside the hosts are in ``tests/hosts`` and ``tests/spark``. Each lists its public
names; none is imported before it is used.
"""
