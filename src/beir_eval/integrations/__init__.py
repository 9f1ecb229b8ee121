"""Interfaces of other tools over this engine: one module, or one folder, for each tool.

Inside: ``beir`` and ``pytrec_eval`` (drop-in replacements), ``haystack`` (pipelines). Each lists
what is public in it; none is imported unless it is used.
"""
