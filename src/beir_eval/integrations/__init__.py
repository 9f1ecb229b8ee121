"""Interfaces of other tools over this engine: one module or one folder per tool.

Inside: ``beir`` and ``pytrec_eval`` (drop-in replacements; the names of trec_eval's measures are in
``_trec_eval_names``), ``haystack`` (pipelines). Each lists what is public in it; none is imported
unless it is used.
"""
