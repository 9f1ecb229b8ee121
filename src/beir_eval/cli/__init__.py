"""The command line: ``beir-eval``. It needs the extra ``cli``.

Inside: ``commands`` lists the commands, ``app`` is the application of all of them, and each has its
module: ``evaluate``, ``compare``, ``bench``, ``haystack``, ``validate``, ``power``, ``list`` (a
group of two), ``convert``, ``demo``. Shared by the commands: ``option_sets`` (options as fields of
dataclasses), ``options`` (run files, reports), ``comparison_options`` (options of a comparison and
its gate), ``input_files`` (what commands read: judgements and runs, results, spans, ``-``),
``labels`` (``--slices`` and ``--clusters``), ``damaged_runs``, ``outputs`` (``-o``, and results as
they are printed), ``comparison_output``, ``console`` (tables, errors, warnings), ``stages``
(``--stages``). Of ``haystack``: ``pipelines`` (pipelines as systems).
Nothing is public.
"""
