"""The command line: ``beir-eval``. It needs the extra ``cli``.

Inside: ``commands`` lists the commands, ``app`` is the application of all of them, and each has its
module: ``evaluate``, ``compare``, ``bench``, ``haystack``, ``retrieve``, ``validate``, ``power``,
``measures`` and ``datasets`` (the group ``list``), ``convert``, ``demo``, ``ledger`` (a group of
two). Shared by the commands: ``option_sets`` (options as fields of dataclasses), ``outputs``
(``-o``), ``options`` (run files, reports), ``comparison_options`` (options of a comparison and its
gate), ``running_options``, ``console`` (tables, errors, warnings), ``results_output``,
``comparison_output``, ``ledger_looks``, ``saved_results`` (result files as input) and
``streaming`` (run files read in parts). Of ``haystack``: ``pipelines`` (pipelines as systems). Of
``compare``: ``comparison_inputs`` (its files), ``sampling_options`` (``--repeats``, ``--clusters``
and ``--chosen-from``) and ``slice_columns`` (``--slices``). ``standard_input`` reads the argument
``-``. Nothing is public.
"""
