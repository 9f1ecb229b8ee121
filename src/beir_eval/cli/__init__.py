"""The command line: ``beir-eval``. It needs the extra ``cli``.

Inside: ``app`` registers the commands, one module per command: ``evaluate``, ``compare``,
``bench``, ``haystack``, ``agree``, ``measures``, ``datasets``, ``convert``, ``demo``. Shared:
``options``, ``console`` (terminal, errors), ``results_output``, ``comparison_output`` and
``saved_results`` (results as input). Nothing is public.
"""
