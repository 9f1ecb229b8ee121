"""All measures under their names, for the exports of this package and of ``beir_eval``.

Each module of measures lists its measures in its ``__all__``, so this file lists only modules.
"""
# ruff: noqa: F403 - each module lists its exports in __all__

from beir_eval.measures.binary import *
from beir_eval.measures.counts import *
from beir_eval.measures.graded import *
from beir_eval.measures.incomplete_judgements import *
from beir_eval.measures.interpolated import *
from beir_eval.measures.trec_eval_extras import *
