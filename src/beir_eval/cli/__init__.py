"""The command line: ``beir-eval``. It needs the extra ``cli``.

Inside: ``app`` (registration), a module for each large command, ``options`` (which commands share),
``console`` and ``comparison_output`` (what is printed). Nothing is public.
"""
